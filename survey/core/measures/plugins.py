"""Measures of other packages, found through Python's entry points."""

import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint

from survey.core.measures.measure import Measure

GROUP = "survey.measures"

# Names stand in CSV cells separated by spaces, in addresses and in options.
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
    except Exception as error:
        # Whatever a package of someone else's does, the survey goes on without its measure.
        raise PluginError(point, f"{type(error).__name__}: {error}") from error
    offered = [*found] if isinstance(found, Iterable) else [found]
    for one in offered:
        if not isinstance(one, Measure):
            raise PluginError(point, f"it is {one!r}, not a Measure")
        if not re.fullmatch(NAME, one.name):
            raise PluginError(
                point,
                f"its name is {one.name!r}; a letter, then letters, digits, . @ - are allowed",
            )
    return offered
