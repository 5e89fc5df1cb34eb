"""The registry: every measure by its name, those of other packages included.

Other packages register measures with an entry point of the group ``survey.measures``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from survey.core.measures.catalogue import BUILT_IN_MEASURES
from survey.core.measures.measure import Family, Measure, Need
from survey.core.text_input import closest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

MEASURE_ENTRY_POINTS = "survey.measures"

# A name is a word in CSV cells separated by spaces, in addresses and in options.
MEASURE_NAME = r"[A-Za-z][A-Za-z0-9.@-]{0,39}"
RESERVED = ("OTHER", "OWN", "TOTAL", "CHOICE", "QUESTION")

# For ``mentioned_measure``. The fewest letters of a name that is also searched inside longer words.
SHORTEST_ANYWHERE = 4
# Names that are not searched inside longer words: "inst" is a part of "institute" and "against",
# "compat" of "compatible", "irbu" of "airburst".
INSIDE_WORDS = ("inst", "compat", "irbu")
# English words that are also names of measures, but only when written cAP and gAP.
ENGLISH_WORDS = ("cap", "gap")
NUMBER_PATTERN = r"[0-9.]+"
# AP(rel=2), RBP(p=0.8,rel=2), P(rel=2)@10 and ERR_IA@10, as ir-measures writes them.
IR_MEASURES = re.compile(
    r"([A-Za-z0-9_.#♯-]+)(?:\(([a-z]+=[0-9.]+(?:,[a-z]+=[0-9.]+)*)\))?(@[0-9.]+)?"
)
OTHER_STEMS = {"Bpref": "bpref", "D#-nDCG": "Dsharp-nDCG", "D♯-nDCG": "Dsharp-nDCG"}
OTHER_STEMS |= {"I-rec": "S-recall"}


@dataclass(frozen=True)
class Plugins:
    """The measures that other packages register.

    ``measures``: by name. ``packages``: by the measure's name, with the version ("screens
    1.0"). ``faults``: a sentence for each entry point that could not be registered.
    """

    measures: Mapping[str, Measure]
    packages: Mapping[str, str]
    faults: tuple[str, ...]


NO_PLUGINS = Plugins({}, {}, ())


class Registry(Mapping[str, Measure]):
    """Name → measure.

    A lookup finds every name of a family, such as P@7; iteration gives only the listed names.
    ``entries``: measures and families, in the order of tables. ``load_plugins`` loads what other
    packages register. It is called once: when a name is none of the entries', or all are listed.
    """

    def __init__(
        self,
        entries: Sequence[Measure | Family],
        load_plugins: Callable[[], Plugins] = lambda: NO_PLUGINS,
    ) -> None:
        self._entries, self._load_plugins = entries, load_plugins
        self._cache: dict[str, tuple[int, Measure]] = {}

    def __getitem__(self, name: str) -> Measure:
        return self._lookup(name)[1]

    def __iter__(self) -> Iterator[str]:
        for entry in self._entries:
            yield from entry.listed if isinstance(entry, Family) else (entry.name,)
        yield from self._plugins.measures

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def sort_key(self, name: str) -> tuple[int, tuple[float, ...]]:
        """Return the key that sorts measures as tables do: by family, small cut-offs first."""
        index, measure = self._lookup(name)
        numbers = re.findall(r"[0-9]+(?:\.[0-9]+)?", measure.name)
        return index, tuple(map(float, numbers))

    def in_order(self, names: Sequence[str]) -> Sequence[str]:
        """Return canonical names as tables sort them; unchanged where one is no registered name."""
        if not all(isinstance(name, str) and name in self for name in names):
            return names
        return tuple(sorted(map(self.canonical, names), key=self.sort_key))

    def canonical(self, name: str) -> str:
        """Return the name of a measure in the notation of ir-measures; any other text as it is."""
        is_other = isinstance(name, str) and _other_spelling(name) != name and name in self
        return self[name].name if is_other else name

    @property
    def forms(self) -> str:
        """The names as a message lists them: AP, NMRR, …, P@k, …"""
        built_in = [
            entry.form if isinstance(entry, Family) else entry.name for entry in self._entries
        ]
        return ", ".join((*built_in, *self._plugins.measures))

    @property
    def faults(self) -> tuple[str, ...]:
        """A sentence for each measure of another package that could not be registered."""
        return self._plugins.faults

    def package(self, name: str) -> str | None:
        """Return the package that registers a measure, with its version; None for a built-in."""
        return self._plugins.packages.get(name)

    @cached_property
    def mentions(self) -> tuple[Mapping[str, str], Sequence[str], re.Pattern[str]]:
        """The words, the names and the pattern that ``mentioned_measure`` looks for."""
        return _mentions(self.values())

    @cached_property
    def _plugins(self) -> Plugins:
        return self._load_plugins()

    def _lookup(self, name: str) -> tuple[int, Measure]:
        if not isinstance(name, str):
            raise KeyError(name)
        if name not in self._cache:
            self._cache[name] = self._find(name)
        return self._cache[name]

    def _find(self, name: str) -> tuple[int, Measure]:
        for index, entry in enumerate(self._entries):
            if isinstance(entry, Family):
                if (measure := entry.find(name)) is not None:
                    return index, measure
            elif entry.name == name:
                return index, entry
        if (other := _other_spelling(name)) != name:
            return self._find(other)
        plugins = self._plugins.measures
        if name in plugins:
            return len(self._entries) + list(plugins).index(name), plugins[name]
        raise KeyError(name)


def load_plugins(points: "Iterable[EntryPoint]", built_in: Registry) -> Plugins:
    """Load measures from entry points, leaving out those that fail or whose name is taken."""
    measures: dict[str, Measure] = {}
    packages: dict[str, str] = {}
    faults = []
    for point in sorted(points, key=lambda point: point.name):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
        try:
            loaded: dict[str, Measure] = {}  # all of an entry point are registered, or none
            for measure in _load(point):
                if measure.name in measures | loaded or measure.name in built_in:
                    raise ValueError(f"there is a measure {measure.name!r} already")
                loaded[measure.name] = measure
            measures |= loaded
            packages |= dict.fromkeys(loaded, package)
        except ValueError as error:
            faults.append(f"the measure {point.name!r} of {package} is not registered: {error}")
    return Plugins(measures, packages, tuple(faults))


def _load_installed() -> Plugins:
    """Load the measures of all installed packages."""
    from importlib.metadata import entry_points  # slow, and mostly no other measures are needed

    return load_plugins(entry_points(group=MEASURE_ENTRY_POINTS), Registry(BUILT_IN_MEASURES))


MEASURES = Registry(BUILT_IN_MEASURES, _load_installed)
"""Every measure by name, in the order in which tables list them."""


def _other_spelling(name: str) -> str:
    """Return the name of a measure in the notation of ir-measures; any other name as it is."""
    if (match := IR_MEASURES.fullmatch(name)) is None:
        return name
    stem, parameters, cutoff = match[1].replace("_", "-"), match[2], match[3] or ""
    values = dict(pair.split("=") for pair in parameters.split(",")) if parameters else {}
    stem = OTHER_STEMS.get(stem, stem)
    if stem == "RBP" and not cutoff and "p" in values:
        cutoff = f"@{values.pop('p')}"
    if values.get("rel") == "1":  # the default
        del values["rel"]
    return "-".join([stem, *(f"{name}{value}" for name, value in values.items())]) + cutoff


def measure_named(name: str) -> Measure:
    """Return a registered measure, or raise ValueError listing the registered names."""
    try:
        return MEASURES[name]
    except KeyError:
        if fault := _cutoff_fault(name):
            raise ValueError(fault) from None
        faults = "".join(f"; {fault}" for fault in MEASURES.faults)
        raise ValueError(
            f"there is no measure {name!r}{_suggestion(name)}; known are {MEASURES.forms}{faults}"
        ) from None


def name_faults(names: Iterable[str]) -> list[str]:
    """Return what is wrong with the names of measures: unknown ones, and other spellings."""
    faults = []
    for name in names:
        try:
            registered = measure_named(name).name
        except (ValueError, TypeError) as error:
            faults.append(str(error))
        else:
            if registered != name:
                faults.append(f"the measure {name} is written {registered}")
    return faults


def mentioned_measure(text: str) -> str | None:
    """Return the measure that a text mentions, such as "MNRO" or "P@k", or None.

    What participants read may not mention any. A mention is

    - a whole word, in capitals or not: "ap", "AP2", the name of a mean, "nDCG" without a cut-off;
      cap and gap only as cAP and gAP, and no single letter;
    - capitals inside a word: "mAPs";
    - the name of a measure inside a word, if it has four letters or more: "mymnrostudy";
    - a name with a cut-off: "P@3";
    - a label: "precision at 3".
    """
    by_word, names, anywhere = MEASURES.mentions
    lowered = " ".join(text.lower().split())
    words = [*re.findall(r"[a-z]+", lowered)]
    words += [capitals.lower() for capitals in re.findall(r"[A-Z]{2,}", text)]
    exact = {*re.findall(r"[A-Za-z]+", text)}
    for word in words:
        if word in by_word and (word not in ENGLISH_WORDS or by_word[word] in exact):
            return by_word[word]
    match = anywhere.search(lowered)
    return names[match.lastindex - 1] if match and match.lastindex else None


def _mentions(
    measures: Iterable[Measure],
) -> tuple[Mapping[str, str], Sequence[str], re.Pattern[str]]:
    """Return word → name, the name of each group of the pattern, and the pattern for all else."""
    by_word: dict[str, str] = {}
    parts: dict[str, str] = {}
    for measure in measures:
        stem, at, _ = measure.name.lower().partition("@")
        shown = f"{measure.name.partition('@')[0]}@k" if at else measure.name
        mean = measure.mean_name.lower().partition("@")[0]
        if stem.isalpha() and len(stem) > 1:
            by_word.setdefault(stem, shown)
            if len(stem) >= SHORTEST_ANYWHERE and stem not in INSIDE_WORDS:
                parts.setdefault(re.escape(stem), shown)
        elif len(stem) > 1:  # S-recall, F0.5
            parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}(?![a-z0-9])", shown)
        if at:
            parts.setdefault(rf"(?<![a-z0-9]){re.escape(stem)}@{NUMBER_PATTERN}", shown)
        if mean.isalpha() and len(mean) > 1:
            by_word.setdefault(mean, measure.mean_name)
        elif len(stem) == 1 and not at:  # mean Q
            parts.setdefault(rf"(?<![a-z0-9]){re.escape(mean)}(?![a-z0-9])", measure.mean_name)
        label = re.escape(measure.label.lower()).replace(r"\ ", " ")  # with any cut-off
        parts.setdefault(re.sub(rf" at {NUMBER_PATTERN}$", f" at {NUMBER_PATTERN}", label), shown)
    anywhere = "|".join(f"({part})" for part in parts) or r"(?!)"
    return by_word, [*parts.values()], re.compile(anywhere)


def _load(point: "EntryPoint") -> list[Measure]:
    """Return an entry point's measures; raise ValueError where it fails or is no measure."""
    try:
        loaded = point.load()
        measures = [*loaded] if isinstance(loaded, Iterable) else [loaded]
    except Exception as error:
        # An error in another package's code must cost its measure only, not the survey.
        raise ValueError(f"{type(error).__name__}: {error}") from error
    for measure in measures:
        if not isinstance(measure, Measure):
            raise ValueError(f"it is {measure!r}, not a Measure")
        for fault in _definition_faults(measure):
            raise ValueError(fault)
    return measures


def _definition_faults(measure: Measure) -> Iterator[str]:
    """Yield what is wrong with a measure's fields; its function is not called."""
    name = measure.name
    if not (isinstance(name, str) and re.fullmatch(MEASURE_NAME, name)):
        yield f"its name is {name!r}; a letter, then letters, digits, . @ - are allowed"
    elif name.upper() in RESERVED:
        yield f"its name is {name!r}, which means something else in files"
    for field in ("label", "source", "mean_name"):
        if not (isinstance(text := getattr(measure, field), str) and len(text.strip()) > 1):
            yield f"its {field} is {text!r}; a text of two letters or more is needed"
    if measure.better not in ("higher", "lower"):
        yield f"its better is {measure.better!r}; higher or lower is allowed"
    if not isinstance(measure.needs, tuple):
        yield f"its needs is {measure.needs!r}; a tuple is needed"
    if unknown := [need for need in measure.needs if need not in get_args(Need)]:
        yield f"it needs {unknown[0]!r}; {', '.join(get_args(Need))} can be needed"
    if not callable(measure.compute):
        yield f"its compute is {measure.compute!r}; a function of (lists, setting) is needed"
    if measure.better == "higher" and measure.highest != 1 and measure.largest is None:
        yield (
            f"its highest is {measure.highest!r}; pages show 1 − value where higher is better, so "
            "another bound needs `largest`, a function of (lists, setting)"
        )


def _suggestion(name: object) -> str:
    """Return a hint where another name was probably meant, or it is a mean's; else ""."""
    # trec_eval's ndcg_cut_10, P_10 and recall_10.
    prefix, at, cutoff = str(name).replace("_cut_", "@").replace("_", "@").partition("@")
    for measure in MEASURES.values():
        if str(name).lower() == measure.mean_name.lower():
            mean = f"{measure.mean_name} is the mean of {measure.name}"
            return f" (did you mean {measure.name}? {mean})"
        known = measure.name.partition("@")[0]
        if prefix.lower() == known.lower():
            for meant in (f"{known}{at}{cutoff}", f"{known}@10"):
                if meant in MEASURES:
                    return f" (did you mean {meant}?)"
    alike = closest(str(name), MEASURES)
    return f" (did you mean {alike}?)" if alike else ""


def _cutoff_fault(name: object) -> str:
    """Return what is wrong with the k of a measure that has one, "" where that is not the fault."""
    stem, at, cutoff = str(name).partition("@")
    if not at or f"{stem}@10" not in MEASURES:
        return ""
    if not cutoff:
        return f"{name}: k is missing, like {stem}@10"
    return f"{name}: k must be 1 or more" if re.fullmatch(r"0+|-[0-9.]+", cutoff) else ""
