"""Timing contestants in turn, so that whatever slows the machine slows them all alike."""

import time
from collections.abc import Callable, Mapping, Sequence


def in_turn(
    contestants: Mapping[str, Callable[[], object]], rounds: int = 7
) -> dict[str, list[float]]:
    """Run each contestant once a round, after one round that does not count; seconds each."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, run in contestants.items():
            begun = time.perf_counter()
            run()
            if number:
                seconds[name].append(time.perf_counter() - begun)
    return seconds


def ratios(these: Sequence[float], those: Sequence[float]) -> list[float]:
    """Divide round by round."""
    return [one / other for one, other in zip(these, those, strict=True)]
