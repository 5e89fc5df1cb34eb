"""Figure 1: what 1 − AP and NMRR make of one relevant item, position by position."""

import numpy as np

from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.figures.curves import SIZE, Values
from survey.services.paper.figures.illustration import EPSILON, columns_as_series, illustrated
from survey.services.paper.figures.known_item import (
    CAPPED,
    CAPPED_NMRR,
    FULL,
    RANKS,
    curve,
    known_item,
)
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.table4.evidence import listed


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
