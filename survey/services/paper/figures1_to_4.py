"""Figures 1 to 4 (Section 3): how 1 − AP and NMRR behave."""

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import average_precision, nmrr
from survey.services.paper.curves import (
    CAPPED,
    CAPPED_NMRR,
    EARLY,
    EPSILON,
    FULL,
    HORIZON,
    LATE,
    LATER,
    RANKS,
    SIZE,
    Values,
    columns_as_series,
    combined,
    curve,
    grid,
    illustrated,
    known_item,
    lower,
    over_pairs,
    pairs,
    surface,
    surfaces,
    upper,
)
from survey.services.paper.reproduction import Claim, Reproduction, computed, graded, listed


def figure1() -> Reproduction:
    """Return 1 − AP and NMRR for a known item."""
    exhibit = known_item(
        "figure1",
        "Figure 1. 1-AP and NMRR for NG = 1, N = 20",
        ("1-AP", "NMRR", CAPPED_NMRR),
        f"NMRR with K = 4·NG = {FULL}, as in Table 1. Eq. 6 with GMT = 1 gives K = {CAPPED}, the "
        "third curve. What the paper says of its figure holds with the first.",
        f"1-AP rises steeply at first and stays below 1; NMRR rises in a straight line and is 1 "
        f"after position {FULL}, or {CAPPED} with the cap.",
    )
    claims = (_gradient_falls(), stricter_early(), _stricter_late(), _one_after_k(), linear())
    return illustrated(exhibit, columns_as_series(exhibit), (*claims, _every_position()))


def _both() -> tuple[tuple[int, Values], ...]:
    return (FULL, curve("NMRR")), (CAPPED, curve(CAPPED_NMRR))


def _gradient_falls() -> Claim:
    steps = np.diff(curve("1-AP"))
    return computed(
        "Section 3, lines 397–399",
        "The gradient of 1-AP “is larger in the first Rank(q) values and then becomes gradually "
        "smaller”.",
        bool((np.diff(steps) < 0).all()),
        f"From one position to the next it rises by {steps[0]:.3f}, {steps[1]:.3f}, "
        f"{steps[2]:.3f}, … {steps[-1]:.3f}.",
    )


def stricter_early() -> Claim:
    """Judge a sentence that holds with one K and not with the other."""
    ap = curve("1-AP")
    cases = [bool((ap[:k] >= found[:k] - EPSILON).all()) for k, found in _both()]
    by = ap[:FULL] - curve("NMRR")[:FULL]
    larger = listed(RANKS[:FULL][by > EPSILON].tolist())
    return graded(
        "Section 3, lines 399–402",
        "“In the first K Rank(q) positions, 1-AP appears stricter than NMRR because it takes "
        "larger values”.",
        cases,
        f"With K = {FULL}, 1-AP is larger at positions {larger} and as large at 1 and {FULL}. With "
        f"the cap, K = {CAPPED}, it is smaller: {ap[1]:.3f} against {_both()[1][1][1]:.3f} at 2.",
    )


def _stricter_late() -> Claim:
    ap = curve("1-AP")
    return graded(
        "Section 3, lines 403–405",
        "NMRR is stricter than 1-AP “when Rank(q) > K”.",
        [bool((found[k:] > ap[k:]).all()) for k, found in _both()],
        f"NMRR is 1 there, 1-AP at most {ap[-1]:.2f}, whichever K.",
    )


def _one_after_k() -> Claim:
    cases = [bool(np.isclose(found[k + 1 :], 1).all()) for k, found in _both()]
    already = all(np.isclose(found[k], 1) and found[k - 1] < 1 for k, found in _both())
    return graded(
        "Section 3, Eq. 12",
        "“NMRR(q) = 1, ∀ Rank(q) > (K + 1)”.",
        cases,
        f"It is 1 {'at K + 1 already, and not at K' if already else 'only after K + 1'}: Rank > K "
        "is meant.",
    )


def linear() -> Claim:
    """Judge the two gradients of NMRR, which are equal with one K only."""
    slopes = [(np.diff(found[:k]), found[k] - found[k - 1]) for k, found in _both()]
    cases = [bool(np.allclose(first, last)) for first, last in slopes]
    both = [f"α is {first[0]:.3f} and β {last:.3f}" for first, last in slopes]
    return graded(
        "Section 3, lines 412–416",
        "NMRR “increases linearly from position 0 to K with a gradient of α, it increases from "
        "point K to K + 1 with a gradient of β (when NG(q) = 1 the two gradients are equal)”.",
        cases,
        f"With K = {FULL}, {both[0]}. With the cap, K = {CAPPED}, {both[1]}: the sentence speaks "
        f"for K = {FULL}.",
    )


def _every_position() -> Claim:
    return computed(
        "Section 3, lines 410–411",
        "1-AP “considers that each image contributes to the retrieval evaluation process for each "
        "Rank(q)”.",
        len(set(curve("1-AP").tolist())) == SIZE,
        f"Its {SIZE} values all differ.",
    )


def figure2() -> Reproduction:
    """Return 1 − AP and NMRR for all pairs."""
    exhibit = combined(
        "figure2",
        "Figure 2. 1-AP and NMRR for NG = 2, N = 20",
        ("1-AP", "NMRR"),
        "Nineteen teeth, one for each Rank(i), rising with Rank(j). NMRR starts below 1-AP and "
        "reaches 1 from Rank(i) = 10 on.",
    )
    return over_pairs(exhibit, (combinations_tested(),))


def combinations_tested() -> Claim:
    """Judge the number of pairs."""
    known = pairs()
    places = set(zip(known.i.tolist(), known.j.tolist(), strict=True))
    return computed(
        "Section 3, lines 436–439",
        "“In total, 190 ordering combinations are tested”, each with a Combined_Rank of its own.",
        len(known.i) == len(places) == 190,
        f"With i≤{SIZE} and j≤i-1 the loops give {SIZE}·{SIZE - 1}/2 = {len(places)}.",
    )


def figure3() -> Reproduction:
    """Return 1 − AP and NMRR over the two ranks."""
    exhibit = surface(
        "figure3",
        "Figure 3. (a) 1-AP and (b) NMRR for NG = 2, N = 20",
        ("1-AP", "NMRR"),
        "Both surfaces rise with either rank: 1-AP steeply at the early ranks, NMRR evenly up to "
        "K = 8, with a level part at 1 where both ranks are beyond.",
    )
    claims = (_one_where_both_are_late(), _smaller_there(), _no_ranks_after_k())
    return illustrated(exhibit, surfaces(exhibit), claims, grid(exhibit))


def _one_where_both_are_late() -> Claim:
    known = pairs()
    late = known.beyond(HORIZON)
    ones = known.values["NMRR"] > 1 - EPSILON
    return computed(
        "Section 3, lines 478–479",
        "“For min(Rank(i), Rank(j)) > K we have NMRR=1.”",
        bool((late == ones).all()),
        f"So it is in all {late.sum()} of these pairs, and in no other of the {len(late)}.",
    )


def _smaller_there() -> Claim:
    late = pairs().values["1-AP"][pairs().beyond(HORIZON)]
    return computed(
        "Section 3, lines 479–481",
        "“For the same Rank(i) and Rank(j) positions, 1-AP grades the system with a much smaller "
        "value.”",
        bool((late < 1 - EPSILON).all()),
        f"It is {late.min():.3f} to {late.max():.3f} there; whether that is much smaller than 1 "
        "is a matter of taste.",
    )


def _no_ranks_after_k() -> Claim:
    lists = np.array([[1, 100], [1, 1000]])
    (first, second), (one, other) = nmrr(lists).tolist(), average_precision(lists).tolist()
    return computed(
        "Section 3, lines 515–522",
        "With two relevant images, at 1 and 100 in one system and at 1 and 1000 in another, "
        "“under ANMRR, however, the systems perform equivalently”.",
        abs(first - second) < EPSILON,
        f"NMRR is {first:.4f} for both; AP is {one:.4f} and {other:.4f}.",
    )


SHOWN = ("1-AP", "NMRR")


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
