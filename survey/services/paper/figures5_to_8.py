"""Figures 5 to 8 (Section 4): how MNRO behaves."""

from itertools import pairwise

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import mnro
from survey.core.measures.mnro import mnro_horizon
from survey.services.paper.curves import (
    EARLY,
    EPSILON,
    FULL,
    HORIZON,
    LATE,
    SIZE,
    Series,
    Values,
    columns_as_series,
    combined,
    curve,
    grid,
    illustrated,
    known_item,
    lower,
    moves,
    order,
    over_pairs,
    pairs,
    surface,
    surfaces,
    upper,
)
from survey.services.paper.reproduction import Claim, Reproduction, computed, graded
from survey.services.reporting.sheets import Sheet


def figure5() -> Reproduction:
    """Return 1 − AP, NMRR and MNRO for a known item."""
    exhibit = known_item(
        "figure5",
        "Figure 5. 1-AP, NMRR and MNRO for NG = 1, N = 20",
        ("1-AP", "NMRR", "MNRO"),
        f"K = {FULL} for NMRR and MNRO.",
        f"MNRO is an S: flat to position 2, .95 at {FULL}, then ever closer to 1, where NMRR is 1 "
        "and 1-AP still lower.",
    )
    claims = (_mnro_rises_least(), _level_at_k(), _level_at_half(), _approaches(), _each_place())
    return illustrated(exhibit, columns_as_series(exhibit), claims)


def _mnro_rises_least() -> Claim:
    steps = {name: np.diff(curve(name))[: FULL - 1] for name in ("1-AP", "NMRR", "MNRO")}
    cases = (steps["MNRO"] < np.minimum(steps["1-AP"], steps["NMRR"])).tolist()
    told = "; ".join(
        f"to {place}: " + ", ".join(f"{name} {step[place - 2]:.3f}" for name, step in steps.items())
        for place in range(2, FULL + 1)
    )
    return graded(
        "Section 4, lines 590–591",
        "“In the first results the gradient of the NRO is smaller than the gradients of 1-AP and "
        "NMRR.”",
        cases,
        f"Rises by position: {told}. It is so up to position 2 only: K = {FULL} is too near for "
        "more.",
    )


def _level_at_k() -> Claim:
    level = curve("MNRO")[FULL - 1]
    return computed(
        "Section 4, lines 564–566 and 593",
        "At position K, NRO is .95.",
        bool(abs(level - 0.95) < 5e-5),
        f"At K = {FULL} it is {level:.6f}.",
    )


def _level_at_half() -> Claim:
    found = {k: float(order(k / 2, k)) for k in (4, 8, 20, 100)}
    told = ", ".join(f"{level:.4f} for K = {k}" for k, level in found.items())
    return computed(
        "Section 4, lines 567–568",
        "At position K/2, NRO is .50.",
        all(abs(level - 0.5) < 5e-3 for level in found.values()),
        f"It is {told}: with (Rank − 1)/(K − 1) of Eq. 17, K/2 is less than half of the way.",
    )


def _approaches() -> Claim:
    late = curve("MNRO")[FULL - 1 :]
    return computed(
        "Section 4, lines 593–594",
        "From position K onwards NRO “increases with a very small gradient, approaching the value "
        "1”.",
        bool((np.diff(late) > 0).all() and 1 - 1e-13 < late[-1] < 1),
        f"It rises at every position after K, by {np.diff(late)[0]:.3f}, "
        f"{np.diff(late)[1]:.4f}, {np.diff(late)[2]:.4f}, …; at {SIZE} it lacks less than 1e-13.",
    )


def _each_place() -> Claim:
    level = int(np.isclose(curve("NMRR"), 1).sum())
    return computed(
        "Section 4, lines 594–597",
        "NRO can “accurately evaluate each specific retrieval location, even after the first K "
        "positions”.",
        len(set(curve("MNRO").tolist())) == SIZE,
        f"Its {SIZE} values all differ. NMRR gives {level} positions the same.",
    )


IN_CAPTION = (1_000, 10_000, 100_000, 1_000_000)
IN_TEXT = (100, 1_000, 10_000, 1_000_000)
SIZES = tuple(sorted({*IN_CAPTION, *IN_TEXT}))
UNITS = range(1, 101)  # thousandths of the collection
READ = (1, 5, 10, 20, 40, 60, 100)
CLOSE = 0.05


def at_shares(size: int) -> dict[int, float]:
    """Return MNRO at each whole number of thousandths of the collection that is a rank."""
    ranks = {unit: size * unit // 1000 for unit in UNITS if size * unit % 1000 == 0}
    found = mnro(np.array([[rank] for rank in ranks.values()]), size)
    return dict(zip(ranks, found.tolist(), strict=True))


def figure6() -> Reproduction:
    """Return MNRO over the position as a share of the collection, for each size."""
    rows = tuple(
        (size, size * unit // 1000, unit / 10, value)
        for size in SIZES
        for unit, value in at_shares(size).items()
    )
    exhibit = Exhibit(
        "figure6",
        "Figure 6. MNRO for NG = 1 in growing collections",
        ("N", "Rank(q)", "share of N in %", "MNRO"),
        rows,
        "The same S in each collection: near 0 at the first position, .95 at 4 % of the "
        "collection, then ever closer to 1.",
        "The first tenth of each collection. K = .04·N in either reading of Eq. 15, since NG = 1. "
        "Drawn are the caption's sizes; the text has N = 100 instead of 100000.",
        decimals=4,
    )
    return illustrated(exhibit, _series(), (_same(), _level(), _sizes()), _read())


def _series() -> list[Series]:
    return [
        Series(f"N = {size}", [size * unit / 1000 for unit in found], list(found.values()))
        for size, found in ((size, at_shares(size)) for size in SIZES)
    ]


def _read() -> Sheet:
    return Sheet(
        "figure6",
        "Figure 6. MNRO for NG = 1 at some shares of growing collections",
        ("N", "K", *(f"{unit / 10} % of N" for unit in READ)),
        tuple(
            (size, int(mnro_horizon(1, size)), *(at_shares(size).get(unit) for unit in READ))
            for size in SIZES
        ),
        "–: no whole position. K = .04·N in either reading of Eq. 15, since NG = 1.",
        decimals=4,
    )


def spread(sizes: tuple[int, ...]) -> float:
    """Return the most by which MNRO differs between collections at the same share of each."""
    shared = set.intersection(*(set(at_shares(size)) for size in sizes))
    levels: Values = np.array([[at_shares(size)[unit] for unit in shared] for size in sizes])
    return float(np.ptp(levels, axis=0).max())


def _same() -> Claim:
    caption, text = spread(IN_CAPTION), spread(IN_TEXT)
    return graded(
        "Section 4, lines 608–610",
        "F[g(q)] lets MNRO “adjust itself in order to keep the same behavior over different "
        "database sizes”.",
        [caption < CLOSE, text < CLOSE],
        f"At the same share of the collection MNRO differs by at most {caption:.3f} between the "
        f"caption's sizes, and by up to {text:.3f} between the text's, since K = 4 leaves few "
        "positions at N = 100.",
    )


def _level() -> Claim:
    levels = [at_shares(size)[40] for size in SIZES]
    return computed(
        "Section 4, lines 564–566",
        "At position K, NRO is .95.",
        all(abs(level - 0.95) < 5e-5 for level in levels),
        f"So it is at 4 % of each of the {len(SIZES)} collections.",
    )


def _sizes() -> Claim:
    return computed(
        "Section 4, lines 602–604, and the caption",
        "The four databases have “100 images”, “1000 images”, “10000 images” and “one million "
        "images”; in the caption they have 1000, 10000, 100000 and 1000000.",
        IN_CAPTION == IN_TEXT,
        "The two disagree.",
    )


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
