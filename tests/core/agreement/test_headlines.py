"""The sentence and the rows that a researcher may quote: every clause, word for word."""

import re
from itertools import combinations

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.differences import T1, T2, Pair
from survey.core.agreement.headlines import (
    AGREEMENT,
    NEW_QUESTIONS,
    NOT_DECIDED,
    ORDERINGS,
    RUN_WORDS,
    THESE_QUESTIONS,
    Row,
    answer_rows,
    chip,
    circle_headline,
    headline,
)
from survey.core.agreement.verdicts import BY_CHANCE, BY_LOOKS, Verdict, verdict
from tests.core.agreement.test_verdicts import (
    DIFFERENT,
    FOR_AP,
    FOR_MNRO,
    MEASURES,
    MNRO_BREAKS_TIES,
    answers_of,
)

QUESTIONS = 10
FOR_ORDERS = ("kind", "MNRO", "orders")


def a_verdict(
    pair,
    scope="none",
    winner=None,
    preferred_for=None,
    *,
    population=None,
    doubt=False,
    stopped="",
):
    known = {"kind": T2, "these": T1, "equal": population or T2}
    names = Pair(*pair.split("-"))
    return Verdict(names, scope, winner, preferred_for, known.get(scope), "", doubt, stopped)


def row(pair, lead, *of_verdict, together=True, tied="", **more):
    """A row whose interval reaches 10 points to either side."""
    interval = None if lead is None else (lead - 0.1, lead + 0.1)
    return Row(a_verdict(pair, *of_verdict, **more), lead, interval, together, 0.1, tied)


OPEN_PAIR = row("NMRR-AP", 0.1)
AGREE = "People's answers agree with MNRO more than with "
WORD_FOR_WORD = [
    (
        [row("MNRO-NMRR", 0.2, *FOR_ORDERS), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        f"{AGREE}NMRR (+20 points, 10 to 30) and than with AP (+30 points, 20 to 40).",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3, "these", "MNRO", "orders")],
        "In these 10 questions people's answers agreed with MNRO more than with AP (+30 points, 20 "
        "to 40). Between MNRO and NMRR the answers do not decide.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "these", "MNRO", "orders"), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        f"{AGREE}AP (+30 points, 20 to 40). In these 10 questions people's answers agreed with "
        "MNRO more than with NMRR (+20 points, 10 to 30).",
    ),
    (
        [
            row("MNRO-NMRR", 0.2, "kind", "MNRO", "ties", tied="NMRR"),
            row("MNRO-AP", 0.3, *FOR_ORDERS),
        ],
        f"{AGREE}AP (+30 points, 20 to 40); the lead over NMRR may come from NMRR's ties alone.",
    ),
    (
        [
            row("MNRO-NMRR", 0.2, "kind", "MNRO", "ties"),
            row("MNRO-AP", 0.3, "kind", "MNRO", "open", tied="AP"),
        ],
        "MNRO's lead over NMRR (+20 points, 10 to 30) may come from ties alone. MNRO's lead over "
        "AP (+30 points, 20 to 40) may come from AP's ties alone.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "equal"), row("MNRO-AP", 0.3)],
        "MNRO and NMRR are equal to within 10 points. Between MNRO and AP the answers do not "
        "decide.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "equal"), row("MNRO-AP", 0.3, "equal")],
        "MNRO and NMRR are equal to within 10 points. MNRO and AP are equal to within 10 points.",
    ),
    (  # equalities that are not corrected are never joined
        [
            row("MNRO-NMRR", 0.2, "equal", together=False),
            row("MNRO-AP", 0.3, "equal", together=False),
        ],
        "MNRO and NMRR are equal to within 10 points, by the test of this pair by itself. MNRO and "
        "AP are equal to within 10 points, by the test of this pair by itself.",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3, *FOR_ORDERS, doubt=True)],
        f"{AGREE}AP (+30 points, 20 to 40), though identical orders may have made the lead. "
        "Between MNRO and NMRR the answers do not decide.",
    ),
    (  # the leader by the sum of leads may lose to another
        [row("MNRO-NMRR", -0.1, "kind", "NMRR", "orders"), row("MNRO-AP", 0.8, *FOR_ORDERS)],
        f"{AGREE}AP (+80 points, 70 to 90). People's answers agree with NMRR more than with MNRO "
        "(+10 points, 0 to 20).",
    ),
    (
        [row("MNRO-NMRR", -0.1, "kind", "NMRR", "open"), row("MNRO-AP", 0.8, *FOR_ORDERS)],
        f"{AGREE}AP (+80 points, 70 to 90). NMRR's lead over MNRO (+10 points, 0 to 20) may come "
        "from ties alone.",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3)],
        "The answers do not show which measure people agree with.",
    ),
    (
        [row("MNRO-NMRR", 0.2, stopped=BY_CHANCE), row("MNRO-AP", 0.3, stopped=BY_LOOKS)],
        "The answers do not show which measure people agree with: random clicks may give as much "
        "and planned looks leave a lower level.",
    ),
    (
        [row("MNRO-NMRR", 0.2, stopped=BY_CHANCE), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        f"{AGREE}AP (+30 points, 20 to 40). Between MNRO and NMRR the answers do not decide, as "
        "random clicks may give as much.",
    ),
]


@pytest.mark.parametrize(("rows", "sentence"), WORD_FOR_WORD)
def test_a_headline_says_which_measure_people_agree_with(rows, sentence):
    assert headline([*rows, OPEN_PAIR], QUESTIONS) == sentence


@pytest.mark.parametrize("lead", [0.0, None])
def test_no_leader_is_named_where_nothing_differs_or_is_known(lead):
    nothing = [row(pair, lead) for pair in ("MNRO-NMRR", "MNRO-AP", "NMRR-AP")]
    sentence = "The answers do not show which measure people agree with."
    assert headline(nothing, QUESTIONS) == sentence


def test_a_measure_that_is_equally_far_ahead_is_named():
    decided = [row("MNRO-AP", 0.3, "kind", "MNRO"), row("NMRR-AP", 0.3, "kind", "NMRR")]
    assert headline([row("MNRO-NMRR", 0.0), *decided], QUESTIONS) == (
        f"{AGREE}AP (+30 points, 20 to 40). Between MNRO and NMRR the answers do not decide. NMRR "
        "is as far ahead."
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (RUN_WORDS, "People prefer dense to rerank."),
        (
            ORDERINGS,
            "People's own orderings are nearer to dense's orders than to rerank's (+23 points, 13 "
            "to 33).",
        ),
        (
            AGREEMENT,
            "People's preferences agree with dense more often than with rerank (+23 points, 13 to "
            "33).",
        ),
    ],
)
def test_each_kind_of_comparison_has_its_words(words, sentence):
    rows = [row("rerank-dense", -0.23, "kind", "dense")]
    assert headline(rows, QUESTIONS, words) == sentence


RUNS_IN_WORDS = [
    (("kind", "rerank"),) * 2 + (("kind", "dense"),),
    "People prefer rerank to dense and to bm25, and dense to bm25.",
    ((), ("kind", "rerank"), ()),
    "People prefer rerank to bm25. Between rerank and dense the answers do not decide.",
    (("these", "rerank"), ("these", "rerank"), ()),
    "In these 40 questions people preferred rerank to dense and to bm25.",
    (("these", "rerank"), ("kind", "rerank"), ("kind", "dense")),
    "People prefer rerank to bm25, and dense to bm25. In these 40 questions people preferred "
    "rerank to dense.",
    ((), (), ()),
    "The answers do not show which system people prefer.",
    (("equal",), ("kind", "rerank"), ("kind", "dense")),
    "People prefer rerank to bm25, and dense to bm25. People find rerank and dense equally good, "
    "to within 10 points.",
    (("equal",), ("equal",), ("equal",)),
    "People find rerank, dense and bm25 equally good, to within 10 points.",
]


@pytest.mark.parametrize(
    ("found", "sentence"), [*zip(RUNS_IN_WORDS[::2], RUNS_IN_WORDS[1::2], strict=True)]
)
def test_a_headline_of_runs_has_no_figures_and_names_all_that_is_decided(found, sentence):
    pairs = [("rerank-dense", 0.3), ("rerank-bm25", 0.5), ("dense-bm25", 0.2)]
    rows = [row(*pair, *verdict) for pair, verdict in zip(pairs, found, strict=True)]
    assert headline(rows, 40, RUN_WORDS) == sentence


def test_of_five_runs_the_headline_tells_of_the_best():
    rows = [
        row(f"{first}-{second}", 0.1 * (ord(second) - ord(first)), "kind", first)
        for first, second in combinations("abcde", 2)
    ]
    assert headline(rows, QUESTIONS, RUN_WORDS) == ("People prefer a to b, to c, to d and to e.")
    four = [row for row in rows if "e" not in row.verdict.pair]
    assert headline(four, QUESTIONS, RUN_WORDS) == (
        "People prefer a to b, to c and to d, b to c and to d, and c to d."
    )


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ("kind", "People prefer A to B, B to C and C to A: no system is best."),
        (
            "these",
            "In these 40 topics people preferred A to B, B to C and C to A: no system was best.",
        ),
    ],
)
def test_a_circle_has_its_words(scope, sentence):
    assert circle_headline("ABC", scope, 40, "topics") == sentence


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([("kind", "A"), ("kind", "A")], (NEW_QUESTIONS, "holds", "This holds for all 2 leads.")),
        (
            [("kind", "A"), ("these", "A")],
            (NEW_QUESTIONS, "holds", "This holds for A over B alone."),
        ),
        ([("these", "A"), ()], (THESE_QUESTIONS, "holds", "This holds for A over B alone.")),
        ([("kind", "A", "ties"), ()], (NOT_DECIDED, "open", "")),
        (
            [("equal",), ()],
            ("Equal to within 10 points", "holds", "This holds for 1 of 2 comparisons."),
        ),
        ([(), ()], (NOT_DECIDED, "open", "")),
        ([("kind", "A")], (NEW_QUESTIONS, "holds", "")),
    ],
)
def test_the_chip_says_how_far_the_answer_holds(found, expected):
    rows = [row(pair, 0.2, *verdict) for pair, verdict in zip(("A-B", "A-C"), found, strict=False)]
    assert (chip(rows).text, chip(rows).tone, chip(rows).note) == expected


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (row("A-B", 0.23, "kind", "A", "orders"), "A over B: +23 points (13 to 33)."),
        (row("A-B", -0.23, "these", "B", "orders"), "B over A: +23 points (13 to 33)."),
        (
            row("A-B", 0.2, "kind", "A", "orders", doubt=True),
            "A over B: +20 points (10 to 30). Identical orders may have made the lead.",
        ),
        (
            row("A-B", 0.2, "kind", "A", "ties", tied="B"),
            "A over B: +20 points (10 to 30). This may come from B's ties alone.",
        ),
        (row("A-B", 0.0, "equal"), "A over B: 0 points (−10 to 10)."),
        (
            row("A-B", 0.2, stopped=BY_LOOKS),
            "A over B: +20 points (10 to 30). Not decided: planned looks leave a lower level.",
        ),
        (row("A-B", -0.05), "B over A: +5 points (−5 to 15)."),
        (row("A-B", 0.01), "A over B: +1 point (−9 to 11)."),
        (row("A-B", None), "A over B:"),
    ],
)
def test_a_row_names_the_winner_first_and_its_number_is_positive(found, text):
    [answer] = answer_rows([found])
    assert str(answer).strip() == text


def test_a_row_says_what_differs_from_the_chip_and_how_many_answers_are_for_which():
    rows = [row("A-B", 0.3, "kind", "A"), row("A-C", 0.2, "these", "A"), row("B-C", 0.1)]
    counts = ["Of 100 answers 60 prefer A, 30 B, 10 no list.", "", ""]
    assert [*map(str, answer_rows(rows, RUN_WORDS, counts))] == [
        "A over B: +30 points (20 to 40). Of 100 answers 60 prefer A, 30 B, 10 no list.",
        "A over C: +20 points (10 to 30). Only for these questions.",
        "B over C: +10 points (0 to 20). Not decided.",
    ]


def rows_of(votes, orders):
    questions = len(votes[0])
    rankings = dict.fromkeys(range(1, questions + 1), orders)
    agreement = analyse_answers(answers_of(*votes), rankings, MEASURES, questions)
    differences = agreement.differences
    verdicts = [verdict(each, questions) for each in differences]
    return differences, [*map(Row.of, verdicts, differences)]


@pytest.mark.parametrize("orders", [DIFFERENT, MNRO_BREAKS_TIES])
@pytest.mark.parametrize("votes", [FOR_MNRO, FOR_AP])
def test_the_numbers_are_those_of_the_statistics(votes, orders):
    differences, rows = rows_of(votes, orders)
    leader = "MNRO" if votes == FOR_MNRO else "AP"
    sentence = headline(rows, len(votes[0]))
    figures = re.findall(r"\(\+(\d+) points, (−?\d+) to (\d+)\)", sentence)
    by_ties = [row.verdict.pair for row in rows if row.standing == "ties"]
    of_leader = [
        difference
        for difference in differences
        if leader in difference.pair and difference.pair not in by_ties
    ]
    expected = []
    for difference in of_leader:
        interval = difference.kind.ci95 if difference.kind.p < 0.05 else difference.these.ci95
        sign = 1 if difference.pair.first == leader else -1
        ends = sorted(round(100 * sign * end) for end in interval)
        expected.append(tuple(map(str, (round(100 * sign * difference.mean), *ends))))
    assert sorted(figures) == sorted(expected)
    assert len(figures) == 2 - (orders is MNRO_BREAKS_TIES)  # what ties may give has no figure
    for difference, row in zip(differences, rows, strict=True):
        assert row.lead == difference.mean
        test = difference.these if row.verdict.scope == "these" else difference.kind
        assert row.interval == test.ci95
