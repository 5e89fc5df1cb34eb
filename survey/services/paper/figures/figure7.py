"""Figure 7: MNRO beside 1 − AP and NMRR over all 190 pairs of ranks."""

import numpy as np

from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.figures.curves import HORIZON, moves
from survey.services.paper.figures.figure2 import combined, over_pairs
from survey.services.paper.figures.illustration import EPSILON
from survey.services.paper.reproduction import Reproduction


def figure7() -> Reproduction:
    """Return the three measures for all pairs."""
    exhibit = combined(
        "figure7",
        "Figure 7. 1-AP, NMRR and MNRO for NG = 2, N = 20",
        ("1-AP", "NMRR", "MNRO"),
        "As Figure 2, with MNRO: lowest of the three at first, close to NMRR later, and never "
        "quite 1.",
    )
    return over_pairs(exhibit, (_gradient(), _each_image()))


def _gradient() -> Claim:
    less = {last: np.less(moves("MNRO", last), moves("1-AP", last)) for last in (4, HORIZON)}
    told = "; ".join(
        f"within the first {last} positions in {less[last].sum()} of {less[last].size} moves"
        for last in less
    )
    return graded(
        "Section 4, lines 620–621",
        "MNRO's “gradient in the first results is smaller than the gradient of 1-AP”.",
        [bool(one) for one in less[HORIZON]],
        f"Moving one of the two images one position back adds less to MNRO than to 1-AP {told}.",
    )


def _each_image() -> Claim:
    kept = int(np.less(np.abs(moves("NMRR")), EPSILON).sum())
    gained = moves("MNRO")
    return computed(
        "Section 4, lines 621–622",
        "MNRO “is capable of evaluating each retrieved image, without disregarding any images”.",
        min(gained) > 0,
        f"Each of the {len(gained)} moves of an image one position back adds to MNRO; NMRR stays "
        f"the same in {kept} of them.",
    )
