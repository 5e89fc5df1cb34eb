"""Both experiments, from images to what the page is written from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.digits.comparison import Comparison, compare
from benchmarks.digits.descriptors import DESCRIPTORS, FLOOR, Describe
from benchmarks.digits.designs import DESIGNS, Design
from benchmarks.digits.generality import repeat
from benchmarks.digits.outcome import Outcome
from benchmarks.digits.retrieval import Digits, distances, shifted

FROM_GOOD_TO_BAD = (
    *("pixels", "gradients in cells", "projections", "ellipse", "intensities", FLOOR),
)
"""The descriptors that are tried on growing collections; the tables show the first."""


@dataclass(frozen=True)
class Findings:
    """``outcomes``: one of each design, for each of the descriptors ``growing``."""

    comparison: Comparison
    outcomes: tuple[Outcome, ...]
    growing: tuple[str, ...]
    draws: int
    seed: int

    def outcome(self, design: Design, descriptor: str) -> Outcome:
        """Return what came of one descriptor in one design."""
        return next(
            one for one in self.outcomes if (one.design, one.descriptor) == (design, descriptor)
        )

    def of(self, design: Design) -> list[Outcome]:
        """Return what came of every descriptor in one design."""
        return [one for one in self.outcomes if one.design == design]

    def span_moved(self, design: Design, name: str) -> float:
        """How far a measure moves from A to C, in per cent of what it tells apart in A.

        The change of the first descriptor's mean over the distance of that mean from the
        random order's. Unlike a deviation it does not depend on where a measure has its
        zero: MAP and 1 − MAP move equally far.
        """
        best, floor = self.of(design)[0], self.outcome(design, FLOOR)
        moved = best.mean(name, -1) - best.mean(name, 0)
        return 100 * moved / abs(best.mean(name, 0) - floor.mean(name, 0))


def steps(draws: int) -> int:
    """Return how many steps ``find`` reports if nothing is left out."""
    return len(DESCRIPTORS) + len(FROM_GOOD_TO_BAD) * len(DESIGNS) * draws


def find(
    digits: Digits,
    *,
    draws: int,
    seed: int,
    descriptors: Mapping[str, Describe] = DESCRIPTORS,
    growing: tuple[str, ...] = FROM_GOOD_TO_BAD,
    on_step: Callable[[], object] = lambda: None,
) -> Findings:
    """Run both experiments; ``on_step`` is called ``steps(draws)`` times."""
    comparison = compare(digits, descriptors, seed=seed, on_done=on_step)
    copied = shifted(digits)
    outcomes = []
    for name in growing:
        features = descriptors[name](copied.images)
        apart = distances(features[: len(digits.labels)], features)
        for design in DESIGNS:
            found = repeat(
                design,
                copied if design.copies else digits,
                apart,
                draws=draws,
                seed=seed,
                on_drawn=on_step,
            )
            outcomes.append(Outcome(design, name, found, seed))
    return Findings(comparison, tuple(outcomes), growing, draws, seed)
