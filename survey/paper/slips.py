"""Misprints: where the paper, or another source, contradicts itself, its sources or its numbers.

``exhibits/slips.yaml`` lists the paper's in its order, ``exhibits/source_slips.yaml`` those of the
other documents. Where an entry names a ``check``, that check of ``slip_checks`` or
``checks_of_sources`` recomputes it: it says whether the computation confirms the slip, and gives
the values for the ``{placeholders}`` in the entry's text.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from operator import eq
from typing import Any

import numpy as np

from survey.core.measures import nmrr, score
from survey.core.measures.nmrr_mnro import B, C, mnro_horizon, nmrr_horizon
from survey.paper.figures1_to_8 import (
    FULL,
    IN_CAPTION,
    IN_TEXT,
    figure1,
    figure2,
    figure4,
    item_curve,
    nro,
)
from survey.paper.reproduction import (
    DOES_NOT_HOLD,
    HOLDS,
    IN_PART,
    Check,
    Checks,
    Reproduction,
    exhibit_texts,
    fill_in,
    float_cells,
    printed_rows,
)
from survey.paper.source_slips import checks_of_sources
from survey.paper.table4 import PAPER_PARTICIPANTS, published_counts, recount
from survey.paper.tables5_to_8 import percentages, table8
from survey.services.analysis.sheets import Sheet

PAPER = "The MNRO paper"
COLUMNS = ("place", "printed", "meant", "why", "here")
REMARKS = (
    "Lines are those of the manuscript. Sentences that a table or figure contradicts, but that are "
    "not misprinted, are listed with that table or figure.",
)


Slip = dict[str, Any]


def all_slips() -> list[Slip]:
    """Return the slips in the paper's order, under the keys of ``survey paper slips --json``.

    ``place``, what is ``printed`` there, what is ``meant``, ``why``, ``here``: what this
    project does instead, and ``confirmed``: the result of the slip's check, None where reading
    alone shows the slip.
    """
    return _with_checks(exhibit_texts("slips"), slip_checks())


def source_slips() -> dict[str, list[Slip]]:
    """Return the slips of each other document, under the same keys."""
    checks = checks_of_sources()
    return {
        document: _with_checks(entries, checks)
        for document, entries in exhibit_texts("source_slips").items()
    }


@cache
def slips_by_document() -> dict[str, list[Slip]]:
    """Return all slips; ``known_by`` says how each is known. None of them ever changes."""
    return {
        document: [{**slip, "known_by": _known_by(slip)} for slip in listing]
        for document, listing in {PAPER: all_slips(), **source_slips()}.items()
    }


def _with_checks(entries: Sequence[Mapping[str, str]], checks: Checks) -> list[Slip]:
    listing: list[Slip] = []
    for entry in entries:
        check = checks.get(entry.get("check", ""))
        values = check.values if check else {}
        texts = {name: fill_in(text, values) for name, text in entry.items() if name != "check"}
        listing.append({**texts, "confirmed": bool(check.cases) if check else None})
    return listing


def slips() -> Reproduction:
    """Return all slips as a reproduction: passages to read, a table for files, JSON."""
    documents = slips_by_document()
    listing = [(document, slip) for document, some in documents.items() for slip in some]
    return Reproduction(
        "slips",
        {"slips": all_slips(), "documents": source_slips()},
        passages=tuple(
            (
                slip["place"] if document == PAPER else f"{document}: {slip['place']}",
                _paragraphs(slip),
            )
            for document, slip in listing
        ),
        remarks=REMARKS,
        table=Sheet(
            "slips",
            "Printing slips",
            (*COLUMNS, "known by", "document"),
            tuple(
                (*(slip[name] for name in COLUMNS), slip["known_by"], document)
                for document, slip in listing
            ),
        ),
    )


def _paragraphs(slip: Slip) -> tuple[str, ...]:
    return (
        f"Printed: {slip['printed']}",
        f"Meant: {slip['meant']}",
        f"Because: {slip['why']} ({slip['known_by'].capitalize()}.)",
        f"In this project: {slip['here']}",
    )


def _known_by(slip: Slip) -> str:
    if slip["confirmed"] is None:
        return "found by reading"
    return "recomputed" if slip["confirmed"] else "recomputed, with another result"


def slip_checks() -> Checks:
    """Recompute what can be recomputed of the slips."""
    return {**_checks_of_formulas(), **_checks_of_figures(), **_checks_of_tables()}


def _checks_of_formulas() -> Checks:
    precision, recall = 0.5, 0.25
    eq1 = 2 * precision * recall / (precision + recall)
    as_printed, as_meant = (
        weighted_f_measure(precision, recall, weight, beta=1) for weight in ((1 + 1) ** 2, 1 + 1**2)
    )
    worst = score(["NAR"], np.arange(51, 101)[None], 100).item()
    b, c = constants()
    at_k, at_half, at_middle = (float(nro(rank, 20)) for rank in (20, 10, 10.5))
    eq14, eq6 = mnro_horizon(51, 1000), nmrr_horizon(51)
    before = mnro_horizon(5, 500, literal_eq15=True)  # generality .01
    literal, default = (mnro_horizon(5, 501, literal_eq15=flag) for flag in (True, False))
    return {
        "f_beta": Check(
            as_meant == eq1 != as_printed, eq1=eq1, as_printed=as_printed, as_meant=as_meant
        ),
        "nar": Check(abs(worst - (1 - 50 / 100)) < 1e-12, worst=worst),
        "half_of_k": Check(
            (round(b, 4), round(c, 4)) == (B, C) and round(at_half, 4) == 0.4516,
            b=-b,
            c=-c,
            at_k=at_k,
            at_half=at_half,
            at_middle=at_middle,
        ),
        "nmrr_assumption": Check(eq14 != eq6, eq14=eq14, eq6=eq6),
        "eq15": Check(
            literal > 4.9 * before and abs(default - before) < 0.1,
            before=before,
            literal=literal,
            default=default,
        ),
    }


def weighted_f_measure(precision: float, recall: float, weight: float, beta: float) -> float:
    """Return ``weight`` · P R / (β² P + R), Eq. 2 for its weight (1 + β)² or 1 + β²."""
    return weight * precision * recall / (beta**2 * precision + recall)


def constants() -> tuple[float, float]:
    """Return b and c with exp(b exp(c)) = .95 and exp(b exp(c/2)) = .5, of Eq. 13 with t/K.

    ln .95 = b e^c and ln .5 = b e^(c/2), so e^(c/2) = ln .95 / ln .5.
    """
    root = math.log(0.95) / math.log(0.5)
    return math.log(0.5) / root, 2 * math.log(root)


def _checks_of_figures() -> Checks:
    figures = (figure1(), figure2(), figure4())
    claims = {claim.name: claim for figure in figures for claim in figure.claims}
    early, slopes = claims["stricter_before_k"], claims["linear_up_to_k"]
    loops, lower_curve = claims["combinations_tested"], claims["approach_to_lower_curve"]
    at_k, after = item_curve("NMRR")[FULL - 1 : FULL + 1].tolist()
    return {
        "gmt_in_figure_1": Check(
            early.verdict == slopes.verdict == IN_PART, early=early, slopes=slopes
        ),
        "nmrr_after_k": Check(after == 1 > at_k, position=FULL + 1, after=after, at_k=at_k),
        "loops": Check(loops.verdict == HOLDS, claim=loops),
        "lower_curve": Check(lower_curve.verdict == DOES_NOT_HOLD, claim=lower_curve),
        "sizes": Check(IN_CAPTION != IN_TEXT),
    }


def _checks_of_tables() -> Checks:
    rows = printed_rows("table1")
    lists = np.array([[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows])
    at_two, generality = (lists[0] <= 2).sum() / 100, lists.shape[1] / 100
    printed = [row["nmrr"] for row in rows]
    uncapped, capped = (
        sum(map(eq, printed, (f"{value:.4f}" for value in nmrr(lists, gmt).tolist())))
        for gmt in (None, 5)
    )
    ap, nmrr_of_c, mnro = float_cells(rows[2], "ap", "nmrr", "mnro")
    table, of_votes = recount(published_counts())
    sets, credits = len(table.rows), sum(table.totals.values())
    responses = PAPER_PARTICIPANTS * sets
    with_text_only = [
        number
        for number in (5, 6, 7)
        if any(row["descriptor"] == "Text Only" for row in printed_rows(f"table{number}"))
    ]
    stars = table8().claims[-1]
    return {
        "generality": Check(at_two != generality, at_two=at_two, generality=generality),
        "gmt": Check(uncapped == 5 > capped, uncapped=uncapped, capped=capped),
        "ap_of_list_c": Check(
            abs(1 - ap - mnro) < 0.05 < abs(ap - mnro),
            ap=ap,
            complement=1 - ap,
            nmrr=nmrr_of_c,
            mnro=mnro,
        ),
        "credits": Check(
            (credits, responses) == (354, 300),
            participants=PAPER_PARTICIPANTS,
            sets=sets,
            credits=credits,
            responses=responses,
            of_credits=100 * (of_votes.of_credits or {})["MNRO"],
            of_responses=100 * (of_votes.of_responses or {})["MNRO"],
        ),
        "text_only": Check(with_text_only == [7], tables=with_text_only),
        "stars": Check(stars.verdict == DOES_NOT_HOLD, claim=stars),
        "bases": Check(
            all(comparison.agrees for comparison in percentages())
            and not any(comparison.agrees for comparison in percentages(of_greater=True))
        ),
    }
