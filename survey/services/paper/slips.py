"""The paper's misprints: where it contradicts itself, its sources or its own numbers.

``exhibits/slips.yaml`` lists them in the paper's order. Where an entry names a ``check``, the
function of that name in ``CHECKS`` recomputes it: it returns whether the computation confirms
the slip, and the values that replace the ``{placeholders}`` in the entry's text.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from survey.core.measures import nmrr
from survey.core.measures.mnro import B, C, mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon
from survey.services.analysis.sheets import Sheet
from survey.services.paper.curves import CAPPED, FULL, item_curve, nro
from survey.services.paper.figures1_to_8 import IN_CAPTION, IN_TEXT, figure1, figure2, figure4
from survey.services.paper.reproduction import (
    DOES_NOT_HOLD,
    HOLDS,
    IN_PART,
    Claim,
    Reproduction,
    exhibit_texts,
    join_words,
    printed_rows,
)
from survey.services.paper.table4 import PARTICIPANTS, read_table4
from survey.services.paper.tables5_to_8 import percentages, table8

REMARKS = (
    "Lines are those of the manuscript. Sentences that a table or figure contradicts, but that are "
    "not misprinted, are listed with that table or figure.",
)
Check = tuple[bool, Mapping[str, object]]


@dataclass(frozen=True)
class Slip:
    """A misprint: its ``source``, what is ``printed`` there, what is ``meant``, and ``why``.

    ``practice``: what this project does instead. ``confirmed``: the result of the slip's
    check, None where reading alone shows the slip.
    """

    source: str
    printed: str
    meant: str
    why: str
    practice: str
    confirmed: bool | None = None

    def as_json(self) -> dict[str, str | bool | None]:
        """Return the slip under the keys that ``survey paper slips --json`` promises."""
        return {
            "place": self.source,
            "printed": self.printed,
            "meant": self.meant,
            "why": self.why,
            "here": self.practice,
            "confirmed": self.confirmed,
        }


def all_slips() -> tuple[Slip, ...]:
    """Return the slips in the paper's order, with the results of their checks."""
    return tuple(map(_slip, exhibit_texts("slips")))


def _slip(entry: Mapping[str, str]) -> Slip:
    check = entry.get("check")
    confirmed, values = CHECKS[check]() if check else (None, {})
    texts = {name: text.format_map(values) for name, text in entry.items() if name != "check"}
    return Slip(**texts, confirmed=confirmed)


def slips() -> Reproduction:
    """Return all slips as a reproduction: passages to read, a table for files, JSON."""
    listing = all_slips()
    table = Sheet(
        "slips",
        "Printing slips",
        ("place", "printed", "meant", "why", "here", "known by"),
        tuple(
            (slip.source, slip.printed, slip.meant, slip.why, slip.practice, _source(slip))
            for slip in listing
        ),
    )
    return Reproduction(
        "slips",
        {"slips": [slip.as_json() for slip in listing]},
        passages=tuple((slip.source, _paragraphs(slip)) for slip in listing),
        remarks=REMARKS,
        table=table,
    )


def _source(slip: Slip) -> str:
    if slip.confirmed is None:
        return "found by reading"
    return "recomputed" if slip.confirmed else "recomputed, with another result"


def _paragraphs(slip: Slip) -> tuple[str, ...]:
    return (
        f"Printed: {slip.printed}",
        f"Meant: {slip.meant}",
        f"Because: {slip.why} ({_source(slip).capitalize()}.)",
        f"In this project: {slip.practice}",
    )


def _generality() -> Check:
    positions = [int(printed_rows("table1")[0][f"rank{k}"]) for k in range(1, 6)]
    at_two, generality = sum(rank <= 2 for rank in positions) / 100, len(positions) / 100
    return at_two != generality, {"at_two": at_two, "generality": generality}


def f_measure(precision: float, recall: float, weight: float, beta: float) -> float:
    """Return ``weight`` · P R / (β² P + R), Eq. 2 for its weight (1 + β)² or 1 + β²."""
    return weight * precision * recall / (beta**2 * precision + recall)


def _f_beta() -> Check:
    precision, recall = 0.5, 0.25
    eq1 = 2 * precision * recall / (precision + recall)
    as_printed, as_meant = (
        f_measure(precision, recall, weight, beta=1) for weight in ((1 + 1) ** 2, 1 + 1**2)
    )
    values = {"eq1": eq1, "as_printed": as_printed, "as_meant": as_meant}
    return as_meant == eq1 != as_printed, values


def _nar() -> Check:
    size, relevant = 100, 50
    excess = sum(range(size - relevant + 1, size + 1)) - sum(range(1, relevant + 1))
    worst = excess / (size * relevant)
    confirmed = abs(worst - (1 - relevant / size)) < 1e-12
    return confirmed, {"size": size, "relevant": relevant, "worst": worst}


def _gmt() -> Check:
    rows = printed_rows("table1")
    lists = np.array([[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows])
    uncapped, capped = (
        sum(
            f"{value:.4f}" == row["nmrr"]
            for value, row in zip(nmrr(lists, gmt).tolist(), rows, strict=True)
        )
        for gmt in (None, 5)
    )
    return uncapped == 5 > capped, {"uncapped": uncapped, "capped": capped}


def _claim(reproduction: Reproduction, name: str) -> Claim:
    return next(claim for claim in reproduction.claims if claim.name == name)


def _gmt_in_figure_1() -> Check:
    early, slopes = (_claim(figure1(), name) for name in ("stricter_before_k", "linear_up_to_k"))
    values = {"full": FULL, "capped": CAPPED, "early": early.why, "slopes": slopes.why}
    return early.verdict == slopes.verdict == IN_PART, values


def _nmrr_after_k() -> Check:
    at_k, after = item_curve("NMRR")[FULL - 1 : FULL + 1].tolist()
    return after == 1 > at_k, {"position": FULL + 1, "after": after, "at_k": at_k}


def _loops() -> Check:
    claim = _claim(figure2(), "combinations_tested")
    return claim.verdict == HOLDS, {"reason": claim.why}


def _lower_curve() -> Check:
    claim = _claim(figure4(), "approach_to_lower_curve")
    return claim.verdict == DOES_NOT_HOLD, {"reason": claim.why}


def constants() -> tuple[float, float]:
    """Return b and c with exp(b exp(c)) = .95 and exp(b exp(c/2)) = .5, of Eq. 13 with t/K.

    ln .95 = b e^c and ln .5 = b e^(c/2), so e^(c/2) = ln .95 / ln .5.
    """
    root = math.log(0.95) / math.log(0.5)
    return math.log(0.5) / root, 2 * math.log(root)


def _half_of_k() -> Check:
    b, c = constants()
    at_k, at_half, at_middle = (float(nro(rank, 20)) for rank in (20, 10, 10.5))
    values = {"b": -b, "c": -c, "at_k": at_k, "at_half": at_half, "at_middle": at_middle}
    return (round(b, 4), round(c, 4)) == (B, C) and round(at_half, 4) == 0.4516, values


def _nmrr_assumption() -> Check:
    relevant = 51
    eq14, eq6 = mnro_horizon(relevant, 1000), nmrr_horizon(relevant)
    return eq14 != eq6, {"relevant": relevant, "eq14": eq14, "eq6": eq6}


def _eq15() -> Check:
    size = 500  # NG = 5: generality .01
    before = mnro_horizon(5, size, literal_eq15=True)
    literal, default = (mnro_horizon(5, size + 1, literal_eq15=flag) for flag in (True, False))
    values = {"size": size, "before": before, "next": size + 1}
    confirmed = literal > 4.9 * before and abs(default - before) < 0.1
    return confirmed, {**values, "literal": literal, "default": default}


def _sizes() -> Check:
    return IN_CAPTION != IN_TEXT, {}


def _ap_of_list_c() -> Check:
    row = next(row for row in printed_rows("table1") if row["list"] == "C")
    ap, nmrr_value, mnro = (float(row[name]) for name in ("ap", "nmrr", "mnro"))
    confirmed = abs(1 - ap - mnro) < 0.05 < abs(ap - mnro)
    return confirmed, {"ap": ap, "complement": 1 - ap, "nmrr": nmrr_value, "mnro": mnro}


def _credits() -> Check:
    reading = read_table4()
    sets = len(reading.table.rows)
    credits, responses = sum(reading.table.totals.values()), PARTICIPANTS * sets
    of_credits, of_responses = (
        100 * (shares or {})["MNRO"]
        for shares in (reading.shares.of_credits, reading.shares.of_responses)
    )
    return (credits, responses) == (354, 300), {
        "participants": PARTICIPANTS,
        "sets": sets,
        "credits": credits,
        "responses": responses,
        "of_credits": of_credits,
        "of_responses": of_responses,
    }


def _text_only() -> Check:
    tables = [
        number
        for number in (5, 6, 7)
        if any(row["descriptor"] == "Text Only" for row in printed_rows(f"table{number}"))
    ]
    return tables == [7], {"tables": join_words(tables)}


def _stars() -> Check:
    claim = _claim(table8(), "example3")
    return claim.verdict == DOES_NOT_HOLD, {"reason": claim.why}


def _bases() -> Check:
    smaller = all(comparison.agrees for comparison in percentages())
    return smaller and not any(comparison.agrees for comparison in percentages(of_greater=True)), {}


CHECKS: Mapping[str, Callable[[], Check]] = {
    "generality": _generality,
    "f_beta": _f_beta,
    "nar": _nar,
    "gmt": _gmt,
    "gmt_in_figure_1": _gmt_in_figure_1,
    "nmrr_after_k": _nmrr_after_k,
    "loops": _loops,
    "lower_curve": _lower_curve,
    "half_of_k": _half_of_k,
    "nmrr_assumption": _nmrr_assumption,
    "eq15": _eq15,
    "sizes": _sizes,
    "ap_of_list_c": _ap_of_list_c,
    "credits": _credits,
    "text_only": _text_only,
    "stars": _stars,
    "bases": _bases,
}
