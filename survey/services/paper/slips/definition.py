"""Slips of Section 4, where MNRO is defined."""

import math

from survey.core.measures.mnro import B, C, mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon
from survey.services.paper.curves import order
from survey.services.paper.figures5_to_8 import IN_CAPTION, IN_TEXT
from survey.services.paper.slips.slip import Slip


def of_section_4() -> tuple[Slip, ...]:
    """Return the slips in the definition of MNRO."""
    return (_half_of_k(), _nmrrs_assumption(), _eq15(), _eq16(), _sizes())


def constants() -> tuple[float, float]:
    """Return b and c with exp(b exp(c)) = .95 and exp(b exp(c/2)) = .5, of Eq. 13 with t/K.

    ln .95 = b e^c and ln .5 = b e^(c/2), so e^(c/2) = ln .95 / ln .5.
    """
    root = math.log(0.95) / math.log(0.5)
    return math.log(0.5) / root, 2 * math.log(root)


def _half_of_k() -> Slip:
    b, c = constants()
    at_k, at_half = float(order(20, 20)), float(order(10, 20))
    return Slip(
        "Section 4, lines 564–578, and Eq. 17",
        "The constants are chosen so that NRO is .95 at K and .50 at K/2; Eq. 17 takes "
        "(Rank − 1)/(K − 1).",
        "NRO is .50 at (K + 1)/2, not at K/2; or the constants belong to Rank/K.",
        f"Solving Eq. 13 for .95 at K and .5 at K/2 gives b = −{-b:.4f} and c = −{-c:.4f}/K, the "
        f"printed ones. With them and Eq. 17, K = 20, NRO is {at_k:.4f} at K and {at_half:.4f} at "
        f"K/2; at (K + 1)/2 it is {float(order(10.5, 20)):.4f}.",
        "Constants and Eqs. 16–17 as printed: Table 1 comes out with them.",
        (round(b, 4), round(c, 4)) == (B, C) and round(at_half, 4) == 0.4516,
    )


def _nmrrs_assumption() -> Slip:
    relevant = 51
    ours, theirs = mnro_horizon(relevant, 1000), nmrr_horizon(relevant)
    return Slip(
        "Section 4, Eq. 14 and lines 573–574",
        "Above a generality of .01 “we adopt the NMRR assumption, (K = K)”.",
        "NMRR's K is 2 · NG where NG > 50 (line 324, repeated in line 570) and capped by GMT; "
        "Eq. 14 has 4 · NG always.",
        f"With NG = {relevant} of 1000, Eq. 14 gives K = {ours:.0f}, and Eq. 6 {theirs} before the "
        "cap.",
        "Eq. 14 for MNRO, Eq. 6 for NMRR.",
        ours != theirs,
    )


def _eq15() -> Slip:
    size = 500  # NG = 5: generality .01
    before = mnro_horizon(5, size, literal_eq15=True)
    literal, default = (mnro_horizon(5, size + 1, literal_eq15=one) for one in (True, False))
    return Slip(
        "Section 4, Eq. 15",
        "F[g(q)] = (0.04/g(q)) · NG(q).",
        "0.04/g(q): one NG too many, since Eq. 14 multiplies by NG again.",
        f"With NG = 5, K is {before:.0f} at N = {size}, where g = .01, and at N = {size + 1} "
        f"{literal:.1f} as printed, {default:.2f} without the second NG. Line 574 says that K "
        "increases linearly; for the printed form speaks line 786, where K takes the number of "
        "relevant images too. `survey paper table2` says how far Table 2 decides.",
        "F = 0.04/g; the printed form is an option.",
        literal > 4.9 * before and abs(default - before) < 0.1,
    )


def _eq16() -> Slip:
    return Slip(
        "Section 4, Eq. 16",
        "NRO(q) on the left side.",
        "NRO(k).",
        "The right side depends on the k-th image, and Eq. 18 adds NRO(k) over k.",
        "NRO is a value of each relevant item, MNRO of the query.",
    )


def _sizes() -> Slip:
    return Slip(
        "Section 4, lines 602–604, and the caption of Figure 6",
        "In the text N is 100, 1000, 10000 and one million; in the caption 1000, 10000, 100000 "
        "and 1000000.",
        "One of the two.",
        "They differ in one size. Which the drawing has cannot be seen from the text.",
        "Figure 6 is drawn with the caption's; its numbers have the text's too.",
        IN_CAPTION != IN_TEXT,
    )
