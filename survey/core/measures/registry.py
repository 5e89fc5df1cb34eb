"""The registry: every measure by its name, those of other packages included."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

from survey.core.measures.catalogue import OURS
from survey.core.measures.families import Family
from survey.core.measures.measure import Measure
from survey.core.measures.naming import SpokenNames
from survey.core.measures.plugins import GROUP, PluginError, measures_of, package_of


@dataclass(frozen=True)
class Others:
    """What other packages register: ``measures`` by name, the ``packages`` they come from
    ("screens 1.0"), and ``faults``, saying what kept some away.
    """

    measures: Mapping[str, Measure]
    packages: Mapping[str, str]
    faults: tuple[str, ...]


NO_OTHERS = Others({}, {}, ())


class Registry(Mapping[str, Measure]):
    """Name → Measure. It is asked for any name, P@7 as well; iterating gives the listed ones.

    ``entries``: measures and families, in the order of tables. ``others`` is called when
    somebody first asks for more than these: it finds what other packages register.
    """

    def __init__(
        self, entries: Sequence[Measure | Family], others: Callable[[], Others] = lambda: NO_OTHERS
    ) -> None:
        self._entries, self._find_others = entries, others
        self._made: dict[str, tuple[int, Measure]] = {}  # so that P@5 is made once

    def __getitem__(self, name: str) -> Measure:
        return self._found(name)[1]

    def __iter__(self) -> Iterator[str]:
        for entry in self._entries:
            yield from entry.listed if isinstance(entry, Family) else (entry.name,)
        yield from self._others.measures

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def place(self, name: str) -> tuple[int, tuple[float, ...]]:
        """Return where a measure stands in tables: families in order, small cut-offs first."""
        index, measure = self._found(name)
        return index, _numbers_in(measure.name)

    @property
    def forms(self) -> str:
        """The names as a message lists them: AP, NMRR, …, P@k, …"""
        ours = [one.form if isinstance(one, Family) else one.name for one in self._entries]
        return ", ".join((*ours, *self._others.measures))

    @property
    def faults(self) -> tuple[str, ...]:
        """Which measures of other packages could not be registered, and why."""
        return self._others.faults

    def package(self, name: str) -> str | None:
        """The package that registers a measure, with its version; None for the survey's own."""
        return self._others.packages.get(name) if name in self._others.measures else None

    @cached_property
    def spoken(self) -> SpokenNames:
        """The names by which texts speak of the listed measures."""
        return SpokenNames(self.values())

    @cached_property
    def _others(self) -> Others:
        return self._find_others()

    def _found(self, name: str) -> tuple[int, Measure]:
        if not isinstance(name, str):
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._find(name)
        return self._made[name]

    def _find(self, name: str) -> tuple[int, Measure]:
        for index, entry in enumerate(self._entries):
            if isinstance(entry, Family):
                if (made := entry.find(name)) is not None:
                    return index, made
            elif entry.name == name:
                return index, entry
        others = self._others.measures
        if name in others:
            return len(self._entries) + list(others).index(name), others[name]
        raise KeyError(name)


def _numbers_in(name: str) -> tuple[float, ...]:
    parts = name.replace("@", " ").lstrip("F").split()
    return tuple(float(part) for part in parts if part.replace(".", "", 1).isdecimal())


def others_of(points: Iterable[EntryPoint], ours: Registry) -> Others:
    """Load measures from entry points; one that fails, or whose name is taken, stays away."""
    loaded: dict[str, Measure] = {}
    packages: dict[str, str] = {}
    faults = []
    for point in sorted(points, key=lambda point: point.name):
        try:
            for measure in measures_of(point):
                if measure.name in loaded or measure.name in ours:
                    raise PluginError(point, f"there is a measure {measure.name!r} already")
                loaded[measure.name] = measure
                packages[measure.name] = package_of(point)
        except PluginError as error:
            faults.append(str(error))
    return Others(loaded, packages, tuple(faults))


MEASURES = Registry(OURS, lambda: others_of(entry_points(group=GROUP), Registry(OURS)))
"""The registry: name → Measure, in the order in which tables list them.

Entry points of the group ``survey.measures`` add to it, each a Measure or several.
"""


def measure_named(name: str) -> Measure:
    """Return a registered measure, or raise ValueError listing the names there are."""
    try:
        return MEASURES[name]
    except KeyError:
        faults = "".join(f"; {fault}" for fault in MEASURES.faults)
        raise ValueError(
            f"there is no measure {name!r}{_meant(name)}; registered are {MEASURES.forms}{faults}"
        ) from None


def _meant(name: object) -> str:
    """Return the name that was meant, where it differs in capitals or is that of the mean."""
    prefix, at, cutoff = str(name).partition("@")
    for measure in MEASURES.values():
        if str(name).lower() == measure.mean_name.lower():
            return f" ({measure.mean_name} is the mean of {measure.name})"
        known = measure.name.partition("@")[0]
        if prefix.lower() == known.lower() and f"{known}{at}{cutoff}" in MEASURES:
            return f" (did you mean {known}{at}{cutoff}?)"
    return ""


def measure_in(text: str) -> str | None:
    """Return the registered measure (or mean) that a text names, see ``SpokenNames``."""
    return MEASURES.spoken.first_in(text)
