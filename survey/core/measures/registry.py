"""Measures of other packages, found through Python's entry points.

Finding a measure's name in a text that participants read.

The registry: every measure by its name, those of other packages included.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

from survey.core.measures.catalogue import OURS
from survey.core.measures.measure import Family, Measure, Need

GROUP = "survey.measures"

# Names stand in CSV cells separated by spaces, in addresses and in options.
RESERVED = ("OTHER", "OWN", "TOTAL", "CHOICE", "QUESTION")
NAME = r"[A-Za-z][A-Za-z0-9.@-]{0,39}"


class PluginError(ValueError):
    """A package's measure that cannot be registered; says which package and why."""

    def __init__(self, point: EntryPoint, why: str) -> None:
        super().__init__(
            f"the measure {point.name!r} of {package_of(point)} is not registered: {why}"
        )


def package_of(point: EntryPoint) -> str:
    """Return the package that an entry point belongs to, with its version."""
    dist = point.dist
    return "an unknown package" if dist is None else f"{dist.name} {dist.version}"


def measures_of(point: EntryPoint) -> list[Measure]:
    """Load an entry point: a Measure, or several of them.

    Raises PluginError where the package fails, or offers something else.
    """
    try:
        found = point.load()
        offered = [*found] if isinstance(found, Iterable) else [found]
    except Exception as error:
        # Whatever a package of someone else's does, the survey goes on without its measure.
        raise PluginError(point, f"{type(error).__name__}: {error}") from error
    for one in offered:
        if not isinstance(one, Measure):
            raise PluginError(point, f"it is {one!r}, not a Measure")
        for fault in _faults(one):
            raise PluginError(point, fault)
    return offered


def _faults(measure: Measure) -> Iterator[str]:
    """Say what is wrong with a measure, so far as that can be seen without computing it."""
    name = measure.name
    if not (isinstance(name, str) and re.fullmatch(NAME, name)):
        yield f"its name is {name!r}; a letter, then letters, digits, . @ - are allowed"
    elif name.upper() in RESERVED:
        yield f"its name is {name!r}, which stands for something else in files"
    for field in ("label", "source", "mean_name"):
        if not (isinstance(text := getattr(measure, field), str) and len(text.strip()) > 1):
            yield f"its {field} is {text!r}; a text of two letters or more is needed"
    if measure.better not in ("higher", "lower"):
        yield f"its better is {measure.better!r}; higher or lower is allowed"
    if unknown := [need for need in measure.needs if need not in get_args(Need)]:
        yield f"it needs {unknown[0]!r}; {', '.join(get_args(Need))} can be needed"
    if not callable(measure.compute):
        yield f"its compute is {measure.compute!r}; a function of (lists, setting) is needed"
    if measure.better == "higher" and measure.highest != 1 and measure.largest is None:
        yield (
            f"its highest is {measure.highest!r}; pages show 1 − value where higher is better, so "
            "another bound needs `largest`, a function of (lists, setting)"
        )


SHORTEST_ANYWHERE = 4  # letters of a name that is found inside a word as well
NUMBER = r"[0-9.]+"


class SpokenNames:
    """The names by which texts speak of measures, ready to be looked for.

    Found are whole words of letters (ap, "AP2"), capitals within a word (mAPs), names of
    four letters and more anywhere (mymnrostudy; of means only as words, since "anar" is in
    canary), and labels in running text. What stands before a cut-off counts as the name,
    whatever the cut-off: nDCG, S-recall, F1, "precision at 3", P@3. A single letter alone
    does not.
    """

    def __init__(self, measures: Iterable[Measure]) -> None:
        self._words: dict[str, str] = {}
        parts: dict[str, str] = {}
        for measure in measures:
            stem, at, _ = measure.name.lower().partition("@")
            shown = f"{measure.name.partition('@')[0]}@k" if at else measure.name
            mean = measure.mean_name.lower().partition("@")[0]
            if stem.isalpha() and len(stem) > 1:
                self._words.setdefault(stem, shown)
                if len(stem) >= SHORTEST_ANYWHERE:
                    parts.setdefault(re.escape(stem), shown)
            elif len(stem) > 1:  # S-recall, F0.5
                parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", shown)
            if at:
                parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}@{NUMBER}", shown)
            if mean.isalpha() and len(mean) > 1:
                self._words.setdefault(mean, measure.mean_name)
            parts.setdefault(_label(measure.label.lower()), shown)
        self._names = [*parts.values()]
        self._anywhere = re.compile("|".join(f"({part})" for part in parts) or r"(?!)")

    def first_in(self, text: str) -> str | None:
        """Return a name that a text holds, None if it holds none."""
        lowered = " ".join(text.lower().split())
        words = [*re.findall(r"[a-z]+", lowered)]
        words += [run.lower() for run in re.findall(r"[A-Z]{2,}", text)]
        for word in words:
            if word in self._words:
                return self._words[word]
        found = self._anywhere.search(lowered)
        return self._names[found.lastindex - 1] if found and found.lastindex else None


def _label(label: str) -> str:
    """Return the pattern of a label, whatever its cut-off: precision at 10, at 3."""
    return re.sub(rf" at {NUMBER}$", f" at {NUMBER}", re.escape(label).replace(r"\ ", " "))


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
