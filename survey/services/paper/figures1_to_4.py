"""Figures 1 to 4 (Section 3): how 1 − AP and NMRR behave, and what the paper says of it."""

import numpy as np

from survey.core.measures import average_precision, nmrr
from survey.figures.exhibit import Exhibit
from survey.services.paper.curves import (
    CAPPED,
    CAPPED_NMRR,
    EARLY,
    EPSILON,
    FULL,
    HORIZON,
    LATE,
    LATER_RANKS,
    RANKS,
    SIZE,
    Values,
    curve_series,
    figure_reproduction,
    item_curve,
    item_exhibit,
    lower_curve,
    pairs_exhibit,
    rank_pairs,
    sampled_rows,
    sampled_surface,
    surface_exhibit,
    surface_series,
    upper_curve,
)
from survey.services.paper.reproduction import Claim, Reproduction, join_words, judge, judge_cases

SHOWN = ("1-AP", "NMRR")


def figure1() -> Reproduction:
    """Return 1 − AP and NMRR for a known item."""
    exhibit = item_exhibit(
        "figure1",
        "Figure 1. 1-AP and NMRR for NG = 1, N = 20",
        ("1-AP", "NMRR", CAPPED_NMRR),
        f"NMRR with K = 4·NG = {FULL}, as in Table 1. Eq. 6 with GMT = 1 gives K = {CAPPED}, the "
        "third curve. What the paper says of its figure holds with the first.",
        f"1-AP rises steeply at first and stays below 1; NMRR rises in a straight line and is 1 "
        f"after position {FULL}, or {CAPPED} with the cap.",
    )
    claims = (
        _gradient_falls(),
        stricter_before_k(),
        _stricter_after_k(),
        _level_after_k(),
        linear_up_to_k(),
        _all_positions_differ(),
    )
    return figure_reproduction(exhibit, curve_series(exhibit), claims)


def _nmrr_curves() -> tuple[tuple[int, Values], ...]:
    """Return K and the curve, without and with the cap of GMT."""
    return (FULL, item_curve("NMRR")), (CAPPED, item_curve(CAPPED_NMRR))


def _gradient_falls() -> Claim:
    steps = np.diff(item_curve("1-AP"))
    return judge(
        "Section 3, lines 397–399",
        "The gradient of 1-AP “is larger in the first Rank(q) values and then becomes gradually "
        "smaller”.",
        bool((np.diff(steps) < 0).all()),
        f"From one position to the next it rises by {steps[0]:.3f}, {steps[1]:.3f}, "
        f"{steps[2]:.3f}, … {steps[-1]:.3f}.",
    )


def stricter_before_k() -> Claim:
    """Judge that 1-AP is stricter than NMRR up to K, which holds without the cap only."""
    ap, capped = item_curve("1-AP"), item_curve(CAPPED_NMRR)
    lead = ap[:FULL] - item_curve("NMRR")[:FULL]
    larger = join_words(RANKS[:FULL][lead > EPSILON].tolist())
    return judge_cases(
        "Section 3, lines 399–402",
        "“In the first K Rank(q) positions, 1-AP appears stricter than NMRR because it takes "
        "larger values”.",
        [bool((ap[:k] >= curve[:k] - EPSILON).all()) for k, curve in _nmrr_curves()],
        f"With K = {FULL}, 1-AP is larger at positions {larger} and as large at 1 and {FULL}. With "
        f"the cap, K = {CAPPED}, it is smaller: {ap[1]:.3f} against {capped[1]:.3f} at 2.",
    )


def _stricter_after_k() -> Claim:
    ap = item_curve("1-AP")
    return judge_cases(
        "Section 3, lines 403–405",
        "NMRR is stricter than 1-AP “when Rank(q) > K”.",
        [bool((curve[k:] > ap[k:]).all()) for k, curve in _nmrr_curves()],
        f"NMRR is 1 there, 1-AP at most {ap[-1]:.2f}, whichever K.",
    )


def _level_after_k() -> Claim:
    cases = [bool(np.isclose(curve[k + 1 :], 1).all()) for k, curve in _nmrr_curves()]
    already = all(np.isclose(curve[k], 1) and curve[k - 1] < 1 for k, curve in _nmrr_curves())
    return judge_cases(
        "Section 3, Eq. 12",
        "“NMRR(q) = 1, ∀ Rank(q) > (K + 1)”.",
        cases,
        f"It is 1 {'at K + 1 already, and not at K' if already else 'only after K + 1'}: Rank > K "
        "is meant.",
    )


def linear_up_to_k() -> Claim:
    """Judge that NMRR's gradients up to K and after it are equal, which holds with one K only."""
    gradients = [(np.diff(curve[:k]), curve[k] - curve[k - 1]) for k, curve in _nmrr_curves()]
    values = [f"α is {before[0]:.3f} and β {after:.3f}" for before, after in gradients]
    return judge_cases(
        "Section 3, lines 412–416",
        "NMRR “increases linearly from position 0 to K with a gradient of α, it increases from "
        "point K to K + 1 with a gradient of β (when NG(q) = 1 the two gradients are equal)”.",
        [bool(np.allclose(before, after)) for before, after in gradients],
        f"With K = {FULL}, {values[0]}. With the cap, K = {CAPPED}, {values[1]}: the sentence "
        f"fits K = {FULL}.",
    )


def _all_positions_differ() -> Claim:
    return judge(
        "Section 3, lines 410–411",
        "1-AP “considers that each image contributes to the retrieval evaluation process for each "
        "Rank(q)”.",
        len(set(item_curve("1-AP").tolist())) == SIZE,
        f"Its {SIZE} values all differ.",
    )


def figure2() -> Reproduction:
    """Return 1 − AP and NMRR for all pairs of ranks, in the order of the pseudo code."""
    exhibit = pairs_exhibit(
        "figure2",
        "Figure 2. 1-AP and NMRR for NG = 2, N = 20",
        SHOWN,
        "Nineteen teeth, one for each Rank(i), rising with Rank(j). NMRR starts below 1-AP and "
        "reaches 1 from Rank(i) = 10 on.",
    )
    series, claims = curve_series(exhibit, 3), (combinations_tested(),)
    return figure_reproduction(exhibit, series, claims, sampled_rows(exhibit))


def combinations_tested() -> Claim:
    """Judge the number of pairs that the pseudo code's loops give."""
    pairs = rank_pairs()
    distinct = set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))
    return judge(
        "Section 3, lines 436–439",
        "“In total, 190 ordering combinations are tested”, each with a Combined_Rank of its own.",
        len(pairs.i) == len(distinct) == 190,
        f"With i≤{SIZE} and j≤i-1 the loops give {SIZE}·{SIZE - 1}/2 = {len(distinct)}.",
    )


def figure3() -> Reproduction:
    """Return 1 − AP and NMRR as surfaces over the two ranks."""
    exhibit = surface_exhibit(
        "figure3",
        "Figure 3. (a) 1-AP and (b) NMRR for NG = 2, N = 20",
        SHOWN,
        "Both surfaces rise with either rank: 1-AP steeply at the early ranks, NMRR evenly up to "
        "K = 8, with a level part at 1 where both ranks are beyond.",
    )
    claims = (_nmrr_level_when_both_late(), _ap_smaller_when_both_late(), _nmrr_blind_after_k())
    return figure_reproduction(exhibit, surface_series(exhibit), claims, sampled_surface(exhibit))


def _nmrr_level_when_both_late() -> Claim:
    pairs = rank_pairs()
    late = pairs.beyond(HORIZON)
    level = pairs.values["NMRR"] > 1 - EPSILON
    return judge(
        "Section 3, lines 478–479",
        "“For min(Rank(i), Rank(j)) > K we have NMRR=1.”",
        bool((late == level).all()),
        f"This holds for all {late.sum()} of these pairs, and for no other of the {len(late)}.",
    )


def _ap_smaller_when_both_late() -> Claim:
    late = rank_pairs().values["1-AP"][rank_pairs().beyond(HORIZON)]
    return judge(
        "Section 3, lines 479–481",
        "“For the same Rank(i) and Rank(j) positions, 1-AP grades the system with a much smaller "
        "value.”",
        bool((late < 1 - EPSILON).all()),
        f"It is {late.min():.3f} to {late.max():.3f} there; the paper does not say how "
        "much smaller than 1 is “much smaller”.",
    )


def _nmrr_blind_after_k() -> Claim:
    lists = np.array([[1, 100], [1, 1000]])
    (nmrr_first, nmrr_second), (ap_first, ap_second) = nmrr(lists), average_precision(lists)
    return judge(
        "Section 3, lines 515–522",
        "With two relevant images, at 1 and 100 in one system and at 1 and 1000 in another, "
        "“under ANMRR, however, the systems perform equivalently”.",
        bool(abs(nmrr_first - nmrr_second) < EPSILON),
        f"NMRR is {nmrr_first:.4f} for both; AP is {ap_first:.4f} and {ap_second:.4f}.",
    )


def figure4() -> Reproduction:
    """Return the best and the worst pair for each Rank(i), by 1 − AP and by NMRR."""
    curves = {
        f"{name}, {where}": curve(name).tolist()
        for name in SHOWN
        for where, curve in (
            ("Rank(j) = 1", lower_curve),
            ("Rank(j) = Rank(i) − 1", upper_curve),
        )
    }
    exhibit = Exhibit(
        "figure4",
        "Figure 4. Curves forming (a) 1-AP and (b) NMRR for NG = 2, N = 20",
        ("Rank(i)", *curves),
        tuple(zip(LATER_RANKS, *curves.values(), strict=True)),
        "The lower curve of 1-AP rises towards .5, the upper one steeply at first to .92. NMRR's "
        "rise in straight lines, to .47 and to 1, and are level from K + 1 = 9 and 10 on.",
        "K = 8 for NMRR.",
        decimals=4,
    )
    claims = (
        _curves_are_bounds(),
        approach_to_lower_curve(),
        _ap_larger_early(),
        _nmrr_larger_late(),
        _nmrr_rises_evenly(),
        _nmrr_curves_level_late(),
    )
    return figure_reproduction(exhibit, curve_series(exhibit), claims)


def _values_over_j(name: str, i: int) -> Values:
    return np.array([rank_pairs().value(name, i, j) for j in range(1, i)])


def _curves_are_bounds() -> Claim:
    bounds = [
        (_values_over_j(name, i).min(), _values_over_j(name, i).max(), low, high)
        for name in SHOWN
        for i, low, high in zip(LATER_RANKS, lower_curve(name), upper_curve(name), strict=True)
    ]
    return judge(
        "Section 3, lines 455–463",
        "The lower curve, Rank(j) = 1, is the best case for each Rank(i), and the upper curve, "
        "Rank(j) = Rank(i) − 1, the worst.",
        all(np.isclose(least, low) and np.isclose(most, high) for least, most, low, high in bounds),
        f"This holds for each of the {len(LATER_RANKS)} values of Rank(i), by 1-AP and by NMRR.",
    )


def approach_to_lower_curve() -> Claim:
    """Judge that both measures approach the lower curve as Rank(j) increases."""
    steps = [np.diff(_values_over_j(name, i)) for name in SHOWN for i in LATER_RANKS]
    falls = all((step <= EPSILON).all() for step in steps)
    rises = all((step >= -EPSILON).all() for step in steps)
    ranges = [
        f"{name} from {lower_curve(name)[-1]:.3f} to {upper_curve(name)[-1]:.3f}" for name in SHOWN
    ]
    return judge(
        "Section 3, lines 459–460",
        "“As Rank(j) increases, while i remains constant, the value of both 1-AP and NMRR "
        "approaches the lower curve.”",
        falls,
        f"Both {'never fall' if rises else 'rise and fall'} as Rank(j) increases: at Rank(i) = "
        f"{SIZE}, {' and '.join(ranges)}. They approach the upper curve.",
    )


def _ap_larger_early() -> Claim:
    lower, upper = (curve("1-AP") - curve("NMRR") for curve in (lower_curve, upper_curve))
    return judge(
        "Section 3, lines 466–474",
        "“for small Rank(i), the value of NMRR is smaller than the corresponding 1-AP value”, "
        "1-AP being “much higher” where all is retrieved early.",
        bool((lower[EARLY] > 0).all() and (upper[EARLY] > 0).all()),
        f"For Rank(i) from 3 to K = {HORIZON} 1-AP is larger on both curves, by up to "
        f"{lower.max():.3f} on the lower and {upper.max():.3f} on the upper.",
    )


def _nmrr_larger_late() -> Claim:
    ap, level = lower_curve("1-AP")[LATE], lower_curve("NMRR")[LATE]
    return judge(
        "Section 3, lines 474–476",
        "After position K NMRR's lower curve “yields greater values than those for 1-AP”.",
        bool((level > ap).all()),
        f"It is {level[0]:.3f} there, 1-AP's {ap[0]:.3f} to {ap[-1]:.3f}.",
    )


def _nmrr_rises_evenly() -> Claim:
    lower, upper = (np.diff(curve("NMRR")[: HORIZON - 1]) for curve in (lower_curve, upper_curve))
    return judge(
        "Section 3, lines 486–487",
        "“NMRR increases linearly from the first to the Kth position.”",
        bool(np.allclose(lower, lower[0]) and np.allclose(upper, upper[0])),
        f"Each position adds {lower[0]:.4f} on the lower curve and {upper[0]:.4f} on the upper "
        "curve.",
    )


def _nmrr_curves_level_late() -> Claim:
    low, high = lower_curve("NMRR")[LATE], upper_curve("NMRR")[LATE]
    return judge(
        "Section 3, lines 515–516",
        "“From position K+1 there is no information about the ranks at which relevant items are "
        "retrieved.”",
        bool(np.allclose(low, low[0]) and np.allclose(high[1:], 1)),
        f"The lower curve stays at {low[0]:.3f} from {HORIZON + 1} on, the upper one at 1 from "
        f"{HORIZON + 2} on, where both images are beyond K.",
    )
