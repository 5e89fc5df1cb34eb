"""The registry: every kind of question by its name, those of other packages included.

Other packages register kinds with an entry point of the group ``survey.kinds``. One object of a
kind serves core, database, services and pages, see ``survey.kinds``. Its module is imported when
the kind is first looked up, as it imports those layers, which core itself must not.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from survey.core.kind import AnyKind, Declaration
from survey.core.studies.fields import Fault, UnreadablePlanError
from survey.core.studies.plan import Plan

KIND_ENTRY_POINTS = "survey.kinds"
DEFAULT = "ordering"
BUILT_IN_KINDS = {
    "ordering": "survey.kinds.ordering.kind:OrderingKind",
    "labelling": "survey.kinds.labelling.kind:LabellingKind",
    "grouping": "survey.kinds.grouping.kind:GroupingKind",
    "preference": "survey.kinds.preference.kind:PreferenceKind",
}
KIND_NAME = re.compile("[a-z][a-z0-9_]{0,23}")  # the beginning of its tables' names, too
KIND_KEY = "kind of question"  # a key beside names of measures, none of which has a blank
DECLARED = ("plan", "question", "presentation", "answer")


class Kinds(MutableMapping[str, Any]):
    """Name → kind, the survey's own first.

    ``built_in``: name → "module:class". ``find_others``: returns the entry points of other
    packages; it is called once, when they are first needed.
    """

    def __init__(
        self, built_in: Mapping[str, str], find_others: Callable[[], Iterable[EntryPoint]]
    ) -> None:
        self._paths, self._find_others = dict(built_in), find_others
        self._loaded: dict[str, Any] = {}
        self._removed: set[str] = set()
        self._packages: dict[str, str] | None = None
        self._faults: list[str] = []

    def __getitem__(self, name: str) -> Any:
        if name in self._removed:
            raise KeyError(name)
        if name not in self._loaded and name in self._paths:
            module, _, attribute = self._paths[name].partition(":")
            self._loaded[name] = getattr(import_module(module), attribute)()
        if name not in self._loaded:
            self._load_others()
        return self._loaded[name]

    def __setitem__(self, name: str, kind: object) -> None:
        self._loaded[name] = kind
        self._removed.discard(name)

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]
        self._removed.add(name)

    def __iter__(self) -> Iterator[str]:
        self._load_others()
        names = dict.fromkeys([*self._paths, *self._loaded])
        yield from [name for name in names if name not in self._removed]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def faults(self) -> list[str]:
        """A sentence for each kind of another package that could not be registered."""
        self._load_others()
        return self._faults

    @property
    def packages(self) -> Mapping[str, str]:
        """The package, with its version, that registers a kind, by the kind's name."""
        self._load_others()
        return self._packages or {}

    def _load_others(self) -> None:
        """Load the kinds of other packages, leaving out those that fail or whose name is taken."""
        if self._packages is not None:
            return
        self._packages = {}
        for point in sorted(self._find_others(), key=lambda point: point.name):
            package = f"{point.dist.name} {point.dist.version}" if point.dist else "a package"
            try:
                kind = _load(point)
                if kind.name in {**self._paths, **self._loaded}:
                    raise ValueError(f"there is a kind {kind.name!r} already")
            except ValueError as error:
                place = f"the kind {point.name!r} of {package}"
                self._faults.append(f"{place} is not registered: {error}")
            else:
                self._loaded[kind.name], self._packages[kind.name] = kind, package


def _load(point: EntryPoint) -> Any:
    """Import an entry point's class, and return its kind; raises ValueError if that fails."""
    try:
        kind_class = point.load()
    except Exception as error:  # another package's code may raise anything
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if not (isinstance(kind_class, type) and issubclass(kind_class, Declaration)):
        raise ValueError(f"{point.value} is no subclass of survey.kinds.Kind")
    name = getattr(kind_class, "name", None)
    if not (isinstance(name, str) and KIND_NAME.fullmatch(name)):
        raise ValueError(f"name is {name!r}; up to 24 lower-case letters, digits and _ are allowed")
    if missing := [each for each in DECLARED if not hasattr(kind_class, each)]:
        raise ValueError(f"it does not declare {', '.join(missing)}")
    try:
        return kind_class()
    except ValueError:
        raise
    except Exception as error:  # such as a TypeError that names a method it has to have
        raise ValueError(f"{type(error).__name__}: {error}") from error


KINDS = Kinds(BUILT_IN_KINDS, lambda: entry_points(group=KIND_ENTRY_POINTS))


def kind_of(plan: Plan) -> AnyKind:
    """Return the kind of a plan's questions."""
    kind: AnyKind = KINDS[plan.kind]
    return kind


def kind_name(values: Mapping[str, Any]) -> Any:
    """Return which kind the values of a plan name; those that name none are of the usual one."""
    return values.get("kind", DEFAULT)


def written_kind(plan: Plan) -> dict[str, str]:
    """Return what a plan's file says of its kind: of the usual one nothing."""
    return {} if plan.kind == kind_name({}) else {"kind": plan.kind}


def plan_from_json(stored: Mapping[str, object], *, registered: bool = True) -> Plan:
    """Make a plan of the kind that its values name, ordering by default.

    Raises UnreadablePlanError for a kind that is not registered, and PlanError as
    ``Plan.from_json`` does, which also explains ``registered``.
    """
    kind = kind_name(stored)
    if not has_known_kind(stored):
        text = (
            f"kind is {kind!r}; allowed is {', '.join(KINDS)}; a kind of another package needs "
            "that package, installed beside the survey"
        )
        text = "; ".join([text, *KINDS.faults])
        raise UnreadablePlanError([Fault(("kind",), text)])
    plan: Plan = KINDS[str(kind)].plan.from_json(stored, registered=registered)
    return plan


def has_known_kind(stored: Mapping[str, object]) -> bool:
    """Return whether the kind that a plan's values name is registered."""
    kind = kind_name(stored)
    return isinstance(kind, str) and kind in KINDS


@lru_cache(maxsize=100)
def read_stored_plan(text: str) -> Plan:
    """Parse a plan that a database stores as JSON, with a cache; its measures may be missing."""
    return plan_from_json(json.loads(text), registered=False)
