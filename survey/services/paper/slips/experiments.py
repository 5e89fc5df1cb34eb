"""Slips of Section 5, the experiments, and of names throughout."""

from survey.services.paper.recount import PARTICIPANTS, recount_table4
from survey.services.paper.reproduction import listed, printed
from survey.services.paper.slips.slip import Slip
from survey.services.paper.tables5_to_8 import from_the_greater, percentages, table8


def of_section_5() -> tuple[Slip, ...]:
    """Return the slips in the experiments."""
    cedd = Slip(
        "Section 5.2, line 760",
        "“Color and Edge Directivity Descriptor (CEDD)[45]”.",
        "[47].",
        "Line 380 and Table 5 cite [47], which the references give as the paper on CEDD.",
        "No reference is kept.",
    )
    return (_ap_of_list_c(), cedd, _credits(), _four_digits(), _same_table(), _stars(), _bases())


def _ap_of_list_c() -> Slip:
    row = next(row for row in printed("table1") if row["list"] == "C")
    ap, found, mnro = (float(row[name]) for name in ("ap", "nmrr", "mnro"))
    return Slip(
        "Section 5.1, lines 714–716",
        "In example C, MNRO is “in the same order of magnitude with that given by AP and NMRR”.",
        "By 1-AP and NMRR.",
        f"Table 1 has AP = {ap:.4f}, so 1-AP = {1 - ap:.4f}, beside NMRR = {found:.4f} and MNRO = "
        f"{mnro:.4f}.",
        "Where measures are shown together, 1-AP is.",
        abs(1 - ap - mnro) < 0.05 < abs(ap - mnro),
    )


def _credits() -> Slip:
    found = recount_table4()
    credits = sum(found.table.totals.values())
    responses = PARTICIPANTS * len(found.table.rows)
    of_credits, of_responses = (
        (getattr(found.shares, kind) or {})["MNRO"] for kind in ("of_credits", "of_responses")
    )
    return Slip(
        "Section 5.3, Table 4 and lines 857–859",
        "“AP was the participant's choice 25.42% of the times, NMRR 30.79% and the MNRO 38.14%.”",
        "These are shares of all credits, not of the times that someone chose.",
        f"{PARTICIPANTS} people and {len(found.table.rows)} sets make {responses} responses; the "
        f"totals add up to {credits:.0f}, since a vote for an order that two measures share is "
        f"counted for both. MNRO has {100 * of_credits:.2f} % of the credits and "
        f"{100 * of_responses:.1f} % of the responses.",
        "Shares say what they are shares of (`survey paper table4`).",
        (credits, responses) == (354, 300),
    )


def _four_digits() -> Slip:
    row = next(row for row in printed("table5") if row["descriptor"] == "Color Histograms")
    return Slip(
        "Section 5.4, Table 5, Color Histograms",
        "P(10) = 0.400.",
        f"{row['P10']}, as all others have four decimals.",
        "With 20 queries P(10) is a multiple of .005, so it is a zero that is missing.",
        f"{row['P10']}.",
    )


def _same_table() -> Slip:
    tables = [f"table{n}" for n in (5, 6, 7)]
    found = [one for one in tables if any(row["descriptor"] == "Text Only" for row in printed(one))]
    return Slip(
        "Section 5.4, line 942",
        "“In the same table, the results of a 'Text Only' run were included”.",
        "In Table 7.",
        f"No table was named before. That row stands in Table {listed(name[-1] for name in found)} "
        "only.",
        "The row is kept with Table 7.",
        found == ["table7"],
    )


def _stars() -> Slip:
    claim = table8().claims[2]
    return Slip(
        "Section 5.4, lines 960–964",
        "In example 3 “AMNRO and ANMRR consider that the deviation is significant at level 0.01, "
        "while ANMRR, assumed that the deviation is significant at level 0.05”.",
        "AMNRO and MAP at level 0.01.",
        f"ANMRR stands on both sides and MAP on neither. {claim.why}",
        "The table is kept as printed.",
        claim.verdict == "does not hold",
    )


def _bases() -> Slip:
    return Slip(
        "Section 5.4, Table 8",
        "Percentages of deviation, without saying of what.",
        "Of the smaller value: for MAP of the worse descriptor, for ANMRR and AMNRO of the better.",
        "Recomputed from Table 5 all nine come out so, and none from the greater value. The three "
        "of a row are therefore not of the same thing; Table 2 has one base, set A.",
        "Table 8 is shown with the bases, and from the first descriptor too.",
        all(one.agrees for one in percentages())
        and not any(one.agrees for one in from_the_greater()),
    )


def of_names() -> Slip:
    """Return the misprinted names and doubled words."""
    return Slip(
        "Lines 385, 571, 684, 694, 699, 903 and 972",
        "“Know-Item”, “method method”, “AP” among the means, “MNOR”, “ANMRR=ANMRO=0”, “ANMRO”, "
        "“performance performance”.",
        "Known-Item, method, MAP, MNRO, NMRR=MNRO=0 (of one query), AMNRO, performance.",
        "The same names stand elsewhere as given here.",
        "MNRO and AMNRO throughout.",
    )
