"""Figure 8: MNRO as a surface over the two ranks, with its enveloping curves A and B."""

from itertools import pairwise

import numpy as np

from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.figures.curves import HORIZON, SIZE, pairs
from survey.services.paper.figures.figure3 import grid, surface
from survey.services.paper.figures.figure4 import EARLY, LATE, lower, upper
from survey.services.paper.figures.illustration import Series, illustrated, surfaces
from survey.services.paper.reproduction import Reproduction

EARLIER = range(1, SIZE)  # Rank(j)


def figure8() -> Reproduction:
    """Return MNRO over the two ranks, and the curves A and B in it."""
    exhibit = surface(
        "figure8",
        "Figure 8. MNRO for NG = 2, N = 20, with its enveloping curves",
        ("MNRO",),
        "The surface rises with either rank and is flat near 1 beyond K = 8. A: Rank(i) = "
        "Rank(j) + 1; B: Rank(i) = 20.",
    )
    curves = [
        Series(name, list(map(float, later)), list(map(float, EARLIER)), _along(later))
        for name, later in (("curve A", range(2, SIZE + 1)), ("curve B", [SIZE] * (SIZE - 1)))
    ]
    early_and_late = (_very_high(), _more_is_higher(), _early(), _late())
    claims = (*early_and_late, _never_one(), _ap_smaller(), _envelopes(), _as_in_figure_4())
    return illustrated(exhibit, (*surfaces(exhibit), *curves), claims, grid(exhibit))


def _along(later: range | list[int]) -> list[float]:
    return [pairs().at("MNRO", i, j) for i, j in zip(later, EARLIER, strict=True)]


def _very_high() -> Claim:
    late = pairs().values["MNRO"][pairs().beyond(HORIZON)]
    return computed(
        "Section 4, lines 630–632",
        "“Systems which present their results in positions after position K, are evaluated with "
        "very high values.”",
        bool((late > 0.95).all()),
        f"With both images after K = {HORIZON}, MNRO is {late.min():.3f} or more.",
    )


def _more_is_higher() -> Claim:
    known = pairs()
    late = (known.i > HORIZON).astype(int) + (known.j > HORIZON)
    groups = [known.values["MNRO"][late == count] for count in range(3)]
    means = [group.mean() for group in groups]
    told = "; ".join(
        f"{count} after K: {group.min():.3f} to {group.max():.3f}, mean {group.mean():.3f}"
        for count, group in enumerate(groups)
    )
    apart = all(fewer.max() < more.min() for fewer, more in pairwise(groups))
    return graded(
        "Section 4, lines 632–633",
        "“The larger the number of results which appear after this position, the higher the value "
        "returned by the system.”",
        [means == sorted(means), apart],
        f"{told}. So on average, not in each case.",
    )


def _early() -> Claim:
    below = [curve("1-AP")[EARLY] - curve("MNRO")[EARLY] for curve in (lower, upper)]
    away = max(
        float(np.abs(curve("MNRO")[EARLY] - curve("NMRR")[EARLY]).max()) for curve in (lower, upper)
    )
    last = [3 + int((one > 0).sum()) - 1 for one in below]
    return graded(
        "Section 4, lines 634–636",
        "“In the early results, the value of MNRO is definitely smaller than the equivalent values "
        "of 1-AP, and approximately at the levels of the values for NMRR.”",
        [bool(one) for curve in below for one in curve > 0],
        f"It is smaller than 1-AP up to Rank(i) = {last[0]} on the lower and {last[1]} on the "
        f"upper curve, larger from there to K = {HORIZON}; from NMRR it is up to {away:.3f} away.",
    )


def _late() -> Claim:
    found, ap, level = (lower(name)[LATE] for name in ("MNRO", "1-AP", "NMRR"))
    return computed(
        "Section 4, lines 636–638",
        "“After position K the lower curve yields larger values than the corresponding ones for "
        "1-AP”, at similar levels to NMRR.",
        bool((found > ap).all() and np.abs(found - level).max() < 0.05),
        f"It is {found[0]:.3f} to {found[-1]:.3f} there, 1-AP {ap[0]:.3f} to {ap[-1]:.3f}, NMRR "
        f"{level[0]:.3f}.",
    )


def _never_one() -> Claim:
    late = pairs().values["MNRO"][pairs().beyond(HORIZON)]
    steps = np.diff(upper("MNRO")[HORIZON:])
    return graded(
        "Section 4, lines 638–641",
        "With both images after K, MNRO's values “increase linearly with a very small gradient, "
        "approaching a value of 1, without however ever becoming equal to a value of 1”.",
        [
            bool((late < 1).all() and (steps > 0).all()),
            bool(np.allclose(steps, steps[0], rtol=0.1)),
        ],
        f"They stay below 1, the greatest being {late.max():.6f}. The rise is not linear: along "
        f"the upper curve it falls from {steps[0]:.4f} to {steps[-1]:.6f} a position.",
    )


def _ap_smaller() -> Claim:
    late = pairs().beyond(HORIZON)
    ahead = (pairs().values["MNRO"] - pairs().values["1-AP"])[late]
    return computed(
        "Section 4, lines 641–642",
        "There, “the value of 1-AP is definitely smaller”.",
        bool((ahead > 0).all()),
        f"By {ahead.min():.3f} to {ahead.max():.3f} in all {late.sum()} pairs.",
    )


def _envelopes() -> Claim:
    over = [[pairs().at("MNRO", i, j) for i in range(j + 1, SIZE + 1)] for j in EARLIER]
    return computed(
        "Section 4, lines 643–649",
        "Curve A, Rank(i) = Rank(j) + 1, is the best case for each Rank(j), curve B, Rank(i) = N, "
        "the worst.",
        all(min(one) == one[0] and max(one) == one[-1] for one in over),
        f"So it is for each of the {len(over)} values of Rank(j).",
    )


def _as_in_figure_4() -> Claim:
    a = set(zip(range(2, SIZE + 1), EARLIER, strict=True))
    b = {(SIZE, j) for j in EARLIER}
    best, worst = {(i, 1) for i in range(2, SIZE + 1)}, {(i, i - 1) for i in range(2, SIZE + 1)}
    return graded(
        "Section 4, lines 627–629",
        "The two curves are those of precision and recall “exactly as in the case for NMRR and "
        "1-AP illustrated in Figure 4”.",
        [a == worst, b == best],
        "A holds the pairs of Figure 4's upper curve, where they are the worst for each Rank(i). B "
        "holds Rank(i) = N, not Rank(j) = 1, which is Figure 4's lower curve.",
    )
