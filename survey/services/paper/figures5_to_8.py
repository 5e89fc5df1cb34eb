"""Figures 5 to 8 (Section 4): how MNRO behaves, and what the paper says of it."""

from itertools import pairwise

import numpy as np

from survey.core.measures import mnro
from survey.core.measures.mnro import mnro_horizon
from survey.figures.exhibit import Exhibit
from survey.services.analysis.sheets import Sheet
from survey.services.paper.curves import (
    EARLY,
    EPSILON,
    FULL,
    HORIZON,
    LATE,
    SIZE,
    Series,
    Values,
    curve_series,
    figure_reproduction,
    item_curve,
    item_exhibit,
    lower_curve,
    move_gains,
    nro,
    pairs_exhibit,
    rank_pairs,
    sampled_rows,
    sampled_surface,
    surface_exhibit,
    surface_series,
    upper_curve,
)
from survey.services.paper.reproduction import Claim, Reproduction, judge, judge_cases

ALL_THREE = ("1-AP", "NMRR", "MNRO")

# Figure 6
IN_CAPTION = (1_000, 10_000, 100_000, 1_000_000)
IN_TEXT = (100, 1_000, 10_000, 1_000_000)
SIZES = tuple(sorted({*IN_CAPTION, *IN_TEXT}))
THOUSANDTHS = range(1, 101)  # of the collection: its first tenth
SAMPLE = (1, 5, 10, 20, 40, 60, 100)  # thousandths in the table to read
CLOSE = 0.05

# Figure 8
EARLIER_RANKS = range(1, SIZE)  # Rank(j)
CURVE_A = tuple((j + 1, j) for j in EARLIER_RANKS)  # Rank(i) and Rank(j)
CURVE_B = tuple((SIZE, j) for j in EARLIER_RANKS)


def figure5() -> Reproduction:
    """Return 1 − AP, NMRR and MNRO for a known item."""
    exhibit = item_exhibit(
        "figure5",
        "Figure 5. 1-AP, NMRR and MNRO for NG = 1, N = 20",
        ALL_THREE,
        f"K = {FULL} for NMRR and MNRO.",
        f"MNRO is an S: flat to position 2, .95 at {FULL}, then ever closer to 1, where NMRR is 1 "
        "and 1-AP still lower.",
    )
    claims = (
        _mnro_rises_least(),
        _level_at_k(),
        _level_at_half_k(),
        _approaches_one(),
        _all_positions_differ(),
    )
    return figure_reproduction(exhibit, curve_series(exhibit), claims)


def _mnro_rises_least() -> Claim:
    steps = {name: np.diff(item_curve(name))[: FULL - 1] for name in ALL_THREE}
    rises = "; ".join(
        f"to {rank}: " + ", ".join(f"{name} {step[rank - 2]:.3f}" for name, step in steps.items())
        for rank in range(2, FULL + 1)
    )
    return judge_cases(
        "Section 4, lines 590–591",
        "“In the first results the gradient of the NRO is smaller than the gradients of 1-AP and "
        "NMRR.”",
        (steps["MNRO"] < np.minimum(steps["1-AP"], steps["NMRR"])).tolist(),
        f"Rises by position: {rises}. It is so up to position 2 only: K = {FULL} is too near for "
        "more.",
    )


def _level_at_k() -> Claim:
    level = item_curve("MNRO")[FULL - 1]
    return judge(
        "Section 4, lines 564–566 and 593",
        "At position K, NRO is .95.",
        bool(abs(level - 0.95) < 5e-5),
        f"At K = {FULL} it is {level:.6f}.",
    )


def _level_at_half_k() -> Claim:
    levels = {k: float(nro(k / 2, k)) for k in (4, 8, 20, 100)}
    listing = ", ".join(f"{level:.4f} for K = {k}" for k, level in levels.items())
    return judge(
        "Section 4, lines 567–568",
        "At position K/2, NRO is .50.",
        all(abs(level - 0.5) < 5e-3 for level in levels.values()),
        f"It is {listing}: with (Rank − 1)/(K − 1) of Eq. 17, K/2 is less than half of the way.",
    )


def _approaches_one() -> Claim:
    late = item_curve("MNRO")[FULL - 1 :]
    steps = np.diff(late)
    return judge(
        "Section 4, lines 593–594",
        "From position K onwards NRO “increases with a very small gradient, approaching the value "
        "1”.",
        bool((steps > 0).all() and 1 - 1e-13 < late[-1] < 1),
        f"It rises at every position after K, by {steps[0]:.3f}, {steps[1]:.4f}, {steps[2]:.4f}, "
        f"…; at {SIZE} it is less than 1e-13 below 1.",
    )


def _all_positions_differ() -> Claim:
    level = int(np.isclose(item_curve("NMRR"), 1).sum())
    return judge(
        "Section 4, lines 594–597",
        "NRO can “accurately evaluate each specific retrieval location, even after the first K "
        "positions”.",
        len(set(item_curve("MNRO").tolist())) == SIZE,
        f"Its {SIZE} values all differ. NMRR gives {level} positions the same value.",
    )


def figure6() -> Reproduction:
    """Return MNRO of one relevant item in growing collections, over its share of each."""
    rows = tuple(
        (size, size * unit // 1000, unit / 10, value)
        for size in SIZES
        for unit, value in mnro_by_share(size).items()
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
    series = [
        Series(f"N = {size}", [size * unit / 1000 for unit in values], list(values.values()))
        for size, values in ((size, mnro_by_share(size)) for size in SIZES)
    ]
    claims = (_same_in_all_sizes(), _level_at_k_in_all_sizes(), _sizes_in_text_and_caption())
    return figure_reproduction(exhibit, series, claims, _sampled_shares())


def mnro_by_share(size: int) -> dict[int, float]:
    """Return thousandths of the collection → MNRO there, where that is a whole rank."""
    ranks = {unit: size * unit // 1000 for unit in THOUSANDTHS if size * unit % 1000 == 0}
    values = mnro(np.array([[rank] for rank in ranks.values()]), size)
    return dict(zip(ranks, values.tolist(), strict=True))


def _sampled_shares() -> Sheet:
    return Sheet(
        "figure6",
        "Figure 6. MNRO for NG = 1 at some shares of growing collections",
        ("N", "K", *(f"{unit / 10} % of N" for unit in SAMPLE)),
        tuple(
            (size, int(mnro_horizon(1, size)), *(mnro_by_share(size).get(unit) for unit in SAMPLE))
            for size in SIZES
        ),
        "–: no whole position. K = .04·N in either reading of Eq. 15, since NG = 1.",
        decimals=4,
    )


def largest_gap(sizes: tuple[int, ...]) -> float:
    """Return the largest difference in MNRO between collections at the same share of each."""
    shared = set.intersection(*(set(mnro_by_share(size)) for size in sizes))
    levels: Values = np.array([[mnro_by_share(size)[unit] for unit in shared] for size in sizes])
    return float(np.ptp(levels, axis=0).max())


def _same_in_all_sizes() -> Claim:
    caption, text = largest_gap(IN_CAPTION), largest_gap(IN_TEXT)
    return judge_cases(
        "Section 4, lines 608–610",
        "F[g(q)] lets MNRO “adjust itself in order to keep the same behavior over different "
        "database sizes”.",
        [caption < CLOSE, text < CLOSE],
        f"At the same share of the collection MNRO differs by at most {caption:.3f} between the "
        f"caption's sizes, and by up to {text:.3f} between the text's, since K = 4 leaves few "
        "positions at N = 100.",
    )


def _level_at_k_in_all_sizes() -> Claim:
    levels = [mnro_by_share(size)[40] for size in SIZES]
    return judge(
        "Section 4, lines 564–566",
        "At position K, NRO is .95.",
        all(abs(level - 0.95) < 5e-5 for level in levels),
        f"This holds at 4 % of each of the {len(SIZES)} collections.",
    )


def _sizes_in_text_and_caption() -> Claim:
    return judge(
        "Section 4, lines 602–604, and the caption",
        "The four databases have “100 images”, “1000 images”, “10000 images” and “one million "
        "images”; in the caption they have 1000, 10000, 100000 and 1000000.",
        IN_CAPTION == IN_TEXT,
        "The two disagree.",
    )


def figure7() -> Reproduction:
    """Return the three measures for all pairs of ranks, in the order of the pseudo code."""
    exhibit = pairs_exhibit(
        "figure7",
        "Figure 7. 1-AP, NMRR and MNRO for NG = 2, N = 20",
        ALL_THREE,
        "As Figure 2, with MNRO: lowest of the three at first, close to NMRR later, and never "
        "quite 1.",
    )
    series, claims = curve_series(exhibit, 3), (_moves_cost_less_early(), _every_move_counts())
    return figure_reproduction(exhibit, series, claims, sampled_rows(exhibit))


def _moves_cost_less_early() -> Claim:
    smaller = {
        last: np.less(move_gains("MNRO", last), move_gains("1-AP", last)) for last in (4, HORIZON)
    }
    counts = "; ".join(
        f"within the first {last} positions in {cases.sum()} of {cases.size} moves"
        for last, cases in smaller.items()
    )
    return judge_cases(
        "Section 4, lines 620–621",
        "MNRO's “gradient in the first results is smaller than the gradient of 1-AP”.",
        smaller[HORIZON].tolist(),
        f"Moving one of the two images one position back adds less to MNRO than to 1-AP {counts}.",
    )


def _every_move_counts() -> Claim:
    unchanged = int(np.less(np.abs(move_gains("NMRR")), EPSILON).sum())
    gains = move_gains("MNRO")
    return judge(
        "Section 4, lines 621–622",
        "MNRO “is capable of evaluating each retrieved image, without disregarding any images”.",
        min(gains) > 0,
        f"Each of the {len(gains)} moves of an image one position back adds to MNRO; NMRR stays "
        f"the same in {unchanged} of them.",
    )


def figure8() -> Reproduction:
    """Return MNRO as a surface over the two ranks, with its enveloping curves A and B."""
    exhibit = surface_exhibit(
        "figure8",
        "Figure 8. MNRO for NG = 2, N = 20, with its enveloping curves",
        ("MNRO",),
        "The surface rises with either rank and is flat near 1 beyond K = 8. A: Rank(i) = "
        "Rank(j) + 1; B: Rank(i) = 20.",
    )
    curves = [
        Series(
            name,
            [float(i) for i, _ in ranks],
            [float(j) for _, j in ranks],
            [rank_pairs().value("MNRO", i, j) for i, j in ranks],
        )
        for name, ranks in (("curve A", CURVE_A), ("curve B", CURVE_B))
    ]
    claims = (
        _very_high_after_k(),
        _higher_with_more_after_k(),
        _smaller_than_ap_early(),
        _larger_than_ap_late(),
        _never_one(),
        _ap_smaller_when_both_late(),
        _curves_are_bounds(),
        _same_curves_as_figure_4(),
    )
    series = (*surface_series(exhibit), *curves)
    return figure_reproduction(exhibit, series, claims, sampled_surface(exhibit))


def _very_high_after_k() -> Claim:
    late = rank_pairs().values["MNRO"][rank_pairs().beyond(HORIZON)]
    return judge(
        "Section 4, lines 630–632",
        "“Systems which present their results in positions after position K, are evaluated with "
        "very high values.”",
        bool((late > 0.95).all()),
        f"With both images after K = {HORIZON}, MNRO is {late.min():.3f} or more.",
    )


def _higher_with_more_after_k() -> Claim:
    pairs = rank_pairs()
    late = (pairs.i > HORIZON).astype(int) + (pairs.j > HORIZON)
    groups = [pairs.values["MNRO"][late == count] for count in range(3)]
    means = [group.mean() for group in groups]
    ranges = "; ".join(
        f"{count} after K: {group.min():.3f} to {group.max():.3f}, mean {group.mean():.3f}"
        for count, group in enumerate(groups)
    )
    apart = all(fewer.max() < more.min() for fewer, more in pairwise(groups))
    return judge_cases(
        "Section 4, lines 632–633",
        "“The larger the number of results which appear after this position, the higher the value "
        "returned by the system.”",
        [means == sorted(means), apart],
        f"{ranges}. So it holds on average, not in each case.",
    )


def _smaller_than_ap_early() -> Claim:
    curves = (lower_curve, upper_curve)
    below = [curve("1-AP")[EARLY] - curve("MNRO")[EARLY] for curve in curves]
    away = max(float(np.abs(curve("MNRO")[EARLY] - curve("NMRR")[EARLY]).max()) for curve in curves)
    last_lower, last_upper = (2 + int((lead > 0).sum()) for lead in below)
    return judge_cases(
        "Section 4, lines 634–636",
        "“In the early results, the value of MNRO is definitely smaller than the equivalent values "
        "of 1-AP, and approximately at the levels of the values for NMRR.”",
        [bool(value > 0) for lead in below for value in lead],
        f"It is smaller than 1-AP up to Rank(i) = {last_lower} on the lower and {last_upper} on "
        f"the upper curve, larger from there to K = {HORIZON}; from NMRR it is up to {away:.3f} "
        "away.",
    )


def _larger_than_ap_late() -> Claim:
    level, ap, nmrr = (lower_curve(name)[LATE] for name in ("MNRO", "1-AP", "NMRR"))
    return judge(
        "Section 4, lines 636–638",
        "“After position K the lower curve yields larger values than the corresponding ones for "
        "1-AP”, at similar levels to NMRR.",
        bool((level > ap).all() and np.abs(level - nmrr).max() < 0.05),
        f"It is {level[0]:.3f} to {level[-1]:.3f} there, 1-AP {ap[0]:.3f} to {ap[-1]:.3f}, NMRR "
        f"{nmrr[0]:.3f}.",
    )


def _never_one() -> Claim:
    late = rank_pairs().values["MNRO"][rank_pairs().beyond(HORIZON)]
    steps = np.diff(upper_curve("MNRO")[HORIZON:])
    return judge_cases(
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


def _ap_smaller_when_both_late() -> Claim:
    late = rank_pairs().beyond(HORIZON)
    lead = (rank_pairs().values["MNRO"] - rank_pairs().values["1-AP"])[late]
    return judge(
        "Section 4, lines 641–642",
        "There, “the value of 1-AP is definitely smaller”.",
        bool((lead > 0).all()),
        f"By {lead.min():.3f} to {lead.max():.3f} in all {late.sum()} pairs.",
    )


def _curves_are_bounds() -> Claim:
    value = rank_pairs().value
    over_i = [[value("MNRO", i, j) for i in range(j + 1, SIZE + 1)] for j in EARLIER_RANKS]
    return judge(
        "Section 4, lines 643–649",
        "Curve A, Rank(i) = Rank(j) + 1, is the best case for each Rank(j), curve B, Rank(i) = N, "
        "the worst.",
        all(min(values) == values[0] and max(values) == values[-1] for values in over_i),
        f"This holds for each of the {len(over_i)} values of Rank(j).",
    )


def _same_curves_as_figure_4() -> Claim:
    later = range(2, SIZE + 1)
    lower, upper = {(i, 1) for i in later}, {(i, i - 1) for i in later}
    return judge_cases(
        "Section 4, lines 627–629",
        "The two curves are those of precision and recall “exactly as in the case for NMRR and "
        "1-AP illustrated in Figure 4”.",
        [set(CURVE_A) == upper, set(CURVE_B) == lower],
        "A holds the pairs of Figure 4's upper curve, where they are the worst for each Rank(i). B "
        "holds Rank(i) = N, not Rank(j) = 1, which is Figure 4's lower curve.",
    )
