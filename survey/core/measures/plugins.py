"""Measures of other packages, found through Python's entry points."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint
from typing import get_args

from survey.core.measures.measure import Measure, Need

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
