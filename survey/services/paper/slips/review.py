"""Slips of Section 2, the measures there are, and Section 3, how AP and NMRR behave."""

import numpy as np

from survey.core.measures import nmrr
from survey.services.paper.curves import CAPPED, FULL, curve
from survey.services.paper.figures1_to_4 import combinations_tested, linear, stricter_early, towards
from survey.services.paper.reproduction import printed
from survey.services.paper.slips.slip import Slip


def of_section_2() -> tuple[Slip, ...]:
    """Return the slips in the definitions of measures."""
    return (
        Slip(
            "Section 2, list of performance measures",
            "“Receiver operating characteristic: A_k vs V_k”, “Relative operating "
            "characteristic: A_k vs F_k”.",
            "A_k vs B_k for the first; F_k is not defined anywhere.",
            "V_n is the relevance of one position, 0 or 1. Lines 236–237 say that these graphs "
            "show true positives and false positives, which are A_k and B_k.",
            "No such graph is drawn.",
        ),
        _generality(),
        _f_beta(),
        Slip(
            "Section 2, Eq. 4 and line 294",
            "MAP = (1/Q) Σ over q ∈ Q, “where Q is the set of queries”.",
            "1/|Q|, Q being a set here and a number in Eqs. 9, 11 and 19.",
            "One cannot divide by a set.",
            "Means divide by the number of queries.",
        ),
        Slip(
            "Section 2, line 311",
            "“ImageCLEF. uses the geometric mean of AP scores.”",
            "The beginning of the second sentence is missing.",
            "It has no subject. A mean of AP scores that is geometric is not MAP of Eq. 4.",
            "MAP is the arithmetic mean of Eq. 4.",
        ),
        _nar(),
        _gmt(),
    )


def of_section_3() -> tuple[Slip, ...]:
    """Return the slips in the study of AP and NMRR."""
    return (_gmt_in_figure_1(), _one_after_k(), _from_zero(), _loops(), _lower_curve())


def _generality() -> Slip:
    positions = [int(printed("table1")[0][f"rank{k}"]) for k in range(1, 6)]
    at_two = sum(rank <= 2 for rank in positions) / 100
    return Slip(
        "Section 2, generality",
        "g_k = A_k/N, “the fraction of relevant items in a database”.",
        "NG(q)/N, as in Eqs. 14 and 15.",
        "A_k counts the relevant items of the first k results only. For list A of Table 1, A_2/N "
        f"is {at_two:.2f}, and the relevant items are {len(positions) / 100:.2f} of the database.",
        "Generality is NG/N; the printed g_k is the measure g@k.",
        at_two != len(positions) / 100,
    )


def f_measure(precision: float, recall: float, weight: float, beta: float) -> float:
    """Return ``weight`` · P R / (β² P + R), Eq. 2 for its weight (1 + β)² or 1 + β²."""
    return weight * precision * recall / (beta**2 * precision + recall)


def _f_beta() -> Slip:
    precision, recall = 0.5, 0.25
    first = 2 * precision * recall / (precision + recall)  # Eq. 1
    as_printed, as_meant = (
        f_measure(precision, recall, weight, beta=1) for weight in ((1 + 1) ** 2, 1 + 1**2)
    )
    return Slip(
        "Section 2, Eq. 2",
        "F = (1 + β)² · P R / (β² P + R).",
        "1 + β² instead of (1 + β)².",
        "It is said to be the general form of Eq. 1, which is β = 1. With P = .5 and R = .25, "
        f"Eq. 1 gives {first:.4f}; Eq. 2 with β = 1 gives {as_printed:.4f} as printed, and "
        f"{as_meant:.4f} with 1 + β².",
        "F_β has 1 + β².",
        as_meant == first != as_printed,
    )


def _nar() -> Slip:
    size, relevant = 100, 50
    worst = sum(range(size - relevant + 1, size + 1)) - sum(range(1, relevant + 1))
    found = worst / (size * relevant)
    return Slip(
        "Section 2, below Eq. 10",
        "NAR “is 0 for perfect retrieval, and approaches 1 as performance worsens”.",
        "It approaches 1 − NG/N, which is near 1 only where few items are relevant.",
        f"With {relevant} of {size} items relevant and all of them last, NAR is {found:.2f}.",
        "NAR is Eq. 10, in 0 to 1 − NG/N.",
        abs(found - (1 - relevant / size)) < 1e-12,
    )


def _gmt() -> Slip:
    rows = printed("table1")
    lists = np.array([[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows])
    agreeing = {
        gmt: sum(
            f"{value:.4f}" == row["nmrr"]
            for value, row in zip(nmrr(lists, gmt).tolist(), rows, strict=True)
        )
        for gmt in (None, 5)
    }
    return Slip(
        "Section 2, Eq. 6, and Table 1",
        "K = min(X · NG(q), 2 · GMT), GMT being the largest NG of all queries.",
        "Table 1 has K = 4 · NG = 20, without the cap.",
        f"With K = 20, {agreeing[None]} of the 5 printed values of NMRR come out; with GMT = NG = "
        f"5, K is 10 and {agreeing[5]} do. Line 726 says “after the 20th position”.",
        "No cap unless a study sets GMT.",
        agreeing[None] == 5 > agreeing[5],
    )


def _gmt_in_figure_1() -> Slip:
    early, slopes = stricter_early(), linear()
    return Slip(
        "Section 3, Figure 1 and lines 399–416",
        "In the first K positions 1-AP is stricter than NMRR; the gradients before and after K "
        "are equal where NG = 1.",
        f"Both are so with K = 4 · NG = {FULL}. Eq. 6, repeated in line 407, would give K = "
        f"{CAPPED}, with GMT = 1.",
        f"{early.why} {slopes.why}",
        f"Figure 1 is drawn with K = {FULL}, and the curve of K = {CAPPED} beside it. What the "
        "printed drawing shows cannot be seen from the text.",
        early.verdict == slopes.verdict == "holds only in part",
    )


def _one_after_k() -> Slip:
    found = curve("NMRR")
    return Slip(
        "Section 3, Eq. 12 and line 409",
        "NMRR(q) = 1 for all Rank(q) > K + 1.",
        "For all Rank(q) > K.",
        "Eq. 5 counts a rank beyond K as 1.25 K, and line 415 says itself that NMRR is 1 from "
        f"K + 1 on. At K + 1 = {FULL + 1} it is {found[FULL]:.2f}, at K {found[FULL - 1]:.2f}.",
        "Rank > K.",
        bool(found[FULL] == 1 > found[FULL - 1]),
    )


def _from_zero() -> Slip:
    return Slip(
        "Section 3, line 413",
        "NMRR “increases linearly from position 0 to K”.",
        "From position 1.",
        "Ranks are counted from 1 in Section 2 and in the loops of lines 425–435.",
        "Ranks are counted from 1.",
    )


def _loops() -> Slip:
    claim = combinations_tested()
    return Slip(
        "Section 3, pseudo code, lines 427–429",
        "The loops' conditions are i=20 and j=i-1.",
        "i≤20 and j≤i-1.",
        f"A loop from 2 that runs while i = 20 does not run at all. {claim.why}",
        "All 190 pairs, in that order.",
        claim.verdict == "holds",
    )


def _lower_curve() -> Slip:
    claim = towards()
    return Slip(
        "Section 3, lines 459–460",
        "As Rank(j) increases, 1-AP and NMRR approach “the lower curve”.",
        "The upper curve.",
        f"{claim.why} The next sentence describes the upper curve so.",
        "Figure 4 says which curve is which.",
        claim.verdict == "does not hold",
    )
