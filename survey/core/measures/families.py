"""Families: measures that differ by a number in their name, like P@5 and P@10."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from survey.core.measures.measure import Compute, Measure

CUTOFF = r"([1-9][0-9]{0,8})"
LEVEL = r"(0\.(?!0+$)[0-9]{1,4}|1(?:\.0{1,4})?)"
BETA = r"([0-9]{1,2}(?:\.[0-9]{1,2})?)"


@dataclass(frozen=True)
class Family:
    """Measures that differ by a number in their name.

    ``pattern``: matches their names, with the numbers as groups; ``make``: the numbers as
    texts → the measure; ``listed``: the names that lists of measures show; ``form``: how a
    message writes the name.
    """

    form: str
    pattern: str
    make: Callable[..., Measure]
    listed: tuple[str, ...]

    def find(self, name: str) -> Measure | None:
        """Return the measure of that name, if it is one of these."""
        match = re.fullmatch(self.pattern, name)
        return self.make(*match.groups()) if match else None


def by_cutoff(
    form: str,
    label: str,
    compute: Callable[[int], Compute],
    source: str,
    listed: Sequence[int],
    **more: Any,
) -> Family:
    """Return the family of a measure with a cut-off, of which higher is better.

    ``form``: like P@k; ``compute`` and ``more``: what a Measure has, each as a function of
    the cut-off.
    """
    prefix = form.partition("@")[0]

    def make(text: str) -> Measure:
        cutoff = int(text)
        return Measure(
            name=f"{prefix}@{cutoff}",
            label=f"{label} at {cutoff}",
            compute=compute(cutoff),
            better="higher",
            source=source,
            **{name: value(cutoff) for name, value in more.items()},
        )

    return Family(form, f"{prefix}@{CUTOFF}", make, tuple(f"{prefix}@{k}" for k in listed))
