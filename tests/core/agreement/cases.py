"""The small cross-checked case (agreement_small.json, S1) as responses."""

import json
from functools import cache
from pathlib import Path

from survey.core.agreement.answers import Response
from survey.core.measures import Setting
from survey.core.studies.questions import build_question
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
NAMES = {"A": "AP", "N": "NMRR", "M": "MNRO"}
S1 = json.loads((Path(__file__).parents[2] / "cases" / "agreement_small.json").read_text())["S1"]


@cache
def rankings():
    """Question → measure → order, from the case's lists."""
    built = [
        build_question(number, lists, MEASURES, Setting(100))
        for number, lists in enumerate(S1["lists"], 1)
    ]
    return {one.number: {name: one.columns[name].ranking for name in MEASURES} for one in built}


@cache
def responses():
    """Six participants, four questions, all answered."""
    return tuple(
        Response(
            participant=f"P{participant + 1}",
            question=question + 1,
            label_order=tuple(NAMES[letter] for letter in behind),
            clicked=frozenset(clicked),
            own=custom and Ranking.by_key(dict(zip("ABCDE", custom, strict=True))),
            column_order=tuple(map(int, columns)),
        )
        for participant, question, behind, columns, clicked, custom in S1["responses"]
    )
