"""Figure 4: the best and the worst pair for each Rank(i), of 1 − AP and NMRR."""

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.services.paper.claim import Claim, computed
from survey.services.paper.figures.curves import HORIZON, SIZE, Values, pairs
from survey.services.paper.figures.illustration import EPSILON, columns_as_series, illustrated
from survey.services.paper.reproduction import Reproduction

LATER = range(2, SIZE + 1)
SHOWN = ("1-AP", "NMRR")
EARLY = slice(1, HORIZON - 1)  # Rank(i) from 3 to K; at 2 every measure is 0
LATE = slice(HORIZON - 1, None)  # Rank(i) from K + 1


def lower(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image at 1."""
    return np.array([pairs().at(name, i, 1) for i in LATER])


def upper(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image just before it."""
    return np.array([pairs().at(name, i, i - 1) for i in LATER])


def figure4() -> Reproduction:
    """Return the two curves of 1 − AP and of NMRR."""
    curves = {
        f"{name}, {where}": curve(name).tolist()
        for name in SHOWN
        for where, curve in (("Rank(j) = 1", lower), ("Rank(j) = Rank(i) − 1", upper))
    }
    exhibit = Exhibit(
        "figure4",
        "Figure 4. Curves forming (a) 1-AP and (b) NMRR for NG = 2, N = 20",
        ("Rank(i)", *curves),
        tuple(zip(LATER, *curves.values(), strict=True)),
        "The lower curve of 1-AP rises towards .5, the upper one steeply at first to .92. NMRR's "
        "rise in straight lines, to .47 and to 1, and are level from K + 1 = 9 and 10 on.",
        "K = 8 for NMRR.",
        decimals=4,
    )
    claims = (_best_and_worst(), towards(), _early(), _late(), _linear(), _no_information())
    return illustrated(exhibit, columns_as_series(exhibit), claims)


def _over_j(name: str, i: int) -> Values:
    return np.array([pairs().at(name, i, j) for j in range(1, i)])


def _best_and_worst() -> Claim:
    ends = [
        (_over_j(name, i).min(), _over_j(name, i).max(), low, high)
        for name in SHOWN
        for i, low, high in zip(LATER, lower(name), upper(name), strict=True)
    ]
    return computed(
        "Section 3, lines 455–463",
        "The lower curve, Rank(j) = 1, is the best case for each Rank(i), and the upper curve, "
        "Rank(j) = Rank(i) − 1, the worst.",
        all(np.isclose(least, low) and np.isclose(most, high) for least, most, low, high in ends),
        f"So it is for each of the {len(LATER)} values of Rank(i), with 1-AP and with NMRR.",
    )


def towards() -> Claim:
    """Judge which curve is approached."""
    falls = all((np.diff(_over_j(name, i)) <= EPSILON).all() for name in SHOWN for i in LATER)
    rises = all((np.diff(_over_j(name, i)) >= -EPSILON).all() for name in SHOWN for i in LATER)
    last = [f"{name} from {lower(name)[-1]:.3f} to {upper(name)[-1]:.3f}" for name in SHOWN]
    return computed(
        "Section 3, lines 459–460",
        "“As Rank(j) increases, while i remains constant, the value of both 1-AP and NMRR "
        "approaches the lower curve.”",
        falls,
        f"Both {'never fall' if rises else 'rise and fall'} as Rank(j) increases: at Rank(i) = "
        f"{SIZE}, {' and '.join(last)}. They approach the upper curve.",
    )


def _early() -> Claim:
    ahead = [curve("1-AP") - curve("NMRR") for curve in (lower, upper)]
    return computed(
        "Section 3, lines 466–474",
        "“for small Rank(i), the value of NMRR is smaller than the corresponding 1-AP value”, "
        "1-AP being “much higher” where all is retrieved early.",
        all(bool((one[EARLY] > 0).all()) for one in ahead),
        f"For Rank(i) from 3 to K = {HORIZON} 1-AP is larger on both curves, by up to "
        f"{ahead[0].max():.3f} on the lower and {ahead[1].max():.3f} on the upper.",
    )


def _late() -> Claim:
    ap, found = lower("1-AP")[LATE], lower("NMRR")[LATE]
    return computed(
        "Section 3, lines 474–476",
        "After position K NMRR's lower curve “yields greater values than those for 1-AP”.",
        bool((found > ap).all()),
        f"It is {found[0]:.3f} there, 1-AP's {ap[0]:.3f} to {ap[-1]:.3f}.",
    )


def _linear() -> Claim:
    steps = {curve.__name__: np.diff(curve("NMRR")[: HORIZON - 1]) for curve in (lower, upper)}
    told = " and ".join(f"{one[0]:.4f} on the {name} curve" for name, one in steps.items())
    return computed(
        "Section 3, lines 486–487",
        "“NMRR increases linearly from the first to the Kth position.”",
        all(np.allclose(one, one[0]) for one in steps.values()),
        f"Each position adds {told}.",
    )


def _no_information() -> Claim:
    low, high = lower("NMRR")[LATE], upper("NMRR")[LATE]
    return computed(
        "Section 3, lines 515–516",
        "“From position K+1 there is no information about the ranks at which relevant items are "
        "retrieved.”",
        bool(np.allclose(low, low[0]) and np.allclose(high[1:], 1)),
        f"The lower curve stays at {low[0]:.3f} from {HORIZON + 1} on, the upper one at 1 from "
        f"{HORIZON + 2} on, where both images are beyond K.",
    )
