"""What is simulated, what should come out of it, and how a rate is judged."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from zlib import crc32

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from survey.core.statistics.rater_agreement import QUANTILE, wilson

REPLICATES = 8_000

Happened = Mapping[str, NDArray[np.bool_] | NDArray[np.int64]]
"""Name → in which replicates it happened, of those in which it is defined.

Or its size in each, in ten-thousandths: whole numbers, so that no sum depends on its order.
"""

Tally = Counter[tuple[str, str]]
Answer = Literal["met", "not met", "not decided"]


@dataclass(frozen=True)
class Target:
    """The rate that should come out, in per cent: ``least``, ``most``, or both.

    ``why``: the rule or sentence that rests on it; ``follows``: what follows where it is not met.
    """

    least: float | None = None
    most: float | None = None
    follows: str = ""

    def __str__(self) -> str:
        if self.most is None:
            return f"≥ {self.least:g}"
        if self.least is None:
            return f"≤ {self.most:g}"
        return f"{self.least:g} to {self.most:g}"

    def judge(self, rate: "Rate | Mean") -> Answer:
        """Return whether a rate is as it should be, as far as its replicates can say."""
        low, high = (100 * end for end in rate.interval)
        least = -1.0 if self.least is None else self.least
        most = 101.0 if self.most is None else self.most
        if least <= low and high <= most:
            return "met"
        return "not met" if high < least or low > most else "not decided"


@dataclass(frozen=True)
class Rate:
    """How often something happened, with its Monte Carlo 95 % interval (Wilson 1927)."""

    times: int
    of: int

    @property
    def share(self) -> float:
        """The rate, in [0, 1]."""
        return self.times / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The Monte Carlo interval."""
        low, high = wilson(self.times, self.of)
        return float(low), float(high)


PARTS_OF_ONE = 10_000


@dataclass(frozen=True)
class Mean:
    """The mean size of something, with its Monte Carlo 95 % interval.

    ``total``, ``squares``: of the sizes in ten-thousandths, and of their squares.
    """

    total: int
    of: int
    squares: int

    @property
    def share(self) -> float:
        """The mean."""
        return self.total / self.of / PARTS_OF_ONE

    @property
    def interval(self) -> tuple[float, float]:
        """The Monte Carlo interval."""
        variance = max(0.0, self.squares / self.of / PARTS_OF_ONE**2 - self.share**2)
        reach = QUANTILE * math.sqrt(variance / self.of)
        return self.share - reach, self.share + reach


def rate_of(counts: Sequence[int]) -> Rate | Mean:
    """Return the rate, or the mean, of counts as they are stored."""
    return Rate(*counts) if len(counts) == 2 else Mean(*counts)


@dataclass(frozen=True)
class Cell:
    """A study that is simulated many times: a part of the page, and one or several of its rows.

    ``finding``: the part; ``truth``: the design and what is true, in plain words; ``targets``: what
    is counted → the rate that should come out; ``simulate``: from a random stream for each
    replicate to what happened in them.
    """

    finding: str
    truth: str
    targets: Mapping[str, Target]
    simulate: Callable[[Sequence[Generator]], Happened] = field(compare=False)
    replicates: int = REPLICATES

    @property
    def name(self) -> str:
        """The name under which results are stored; it also seeds the cell's random streams."""
        return f"{self.finding}: {self.truth}"

    def tally(self, seed: int, first: int, last: int) -> Tally:
        """Count what happened in the replicates from ``first`` to before ``last``.

        Each has a stream of its own, from the seed, the cell's name and its own number: however
        they are shared out, the counts are the same.
        """
        key = crc32(self.name.encode())
        streams = [
            Generator(PCG64(SeedSequence(seed, spawn_key=(key, number))))
            for number in range(first, last)
        ]
        counted: Tally = Counter()
        for what, happened in self.simulate(streams).items():
            counted[what, "of"] += len(happened)
            counted[what, "times"] += int(happened.sum())
            if happened.dtype != np.bool_:
                counted[what, "squares"] += int((happened**2).sum())
        return counted

    def counts(self, tally: Tally) -> dict[str, list[int]]:
        """Return the counts of each target, as they are stored."""
        sizes = ("times", "of", "squares")
        return {
            what: [
                tally[what, size] for size in sizes if size != "squares" or (what, size) in tally
            ]
            for what in self.targets
        }

    def rates(self, tally: Tally) -> dict[str, Rate | Mean]:
        """Return the rate of each target."""
        return {what: rate_of(counts) for what, counts in self.counts(tally).items()}


def by_replicate(
    study: Callable[[Generator], Mapping[str, bool | int | None]],
) -> Callable[[Sequence[Generator]], Happened]:
    """Simulate replicates one after the other; None where something is not defined."""

    def simulate(streams: Sequence[Generator]) -> Happened:
        happened: dict[str, list[bool | int]] = {}
        for stream in streams:
            for what, value in study(stream).items():
                values = happened.setdefault(what, [])
                if value is not None:
                    values.append(value)
        return {
            what: np.array(values, dtype=np.int64 if _are_sizes(values) else bool)
            for what, values in happened.items()
        }

    return simulate


def _are_sizes(values: Sequence[bool | int]) -> bool:
    return bool(values) and type(values[0]) is int
