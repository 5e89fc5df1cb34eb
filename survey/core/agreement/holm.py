"""Several p values together."""

from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p values by Holm's (1979) step-down method, in the given order; None stays None.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than those
    before it. An undefined p counts in m: its comparison was meant to be made, and what
    is undefined in these answers must not make the others easier to pass.
    (statsmodels' multipletests collects garbage at each call: 50 ms.)
    """
    known = sorted((value, place) for place, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for before, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(p) - before)))
        adjusted[place] = largest
    return adjusted
