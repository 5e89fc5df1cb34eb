"""The sentence and the rows that a researcher may quote: every clause, word for word."""

import re

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.differences import T1, T2, Pair
from survey.core.agreement.headlines import (
    AGREEMENT,
    CLAUSES,
    ORDERINGS,
    RUN_WORDS,
    TOPIC_RUN_WORDS,
    Row,
    headline,
    row_texts,
    standing,
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


def row(pair, lead, *of_verdict, together=True, **more):
    """A row whose interval reaches 10 points to either side."""
    interval = None if lead is None else (lead - 0.1, lead + 0.1)
    return Row(a_verdict(pair, *of_verdict, **more), lead, interval, together, 0.1)


OPEN_PAIR = row("NMRR-AP", 0.1)
WORD_FOR_WORD = [
    (
        [row("MNRO-NMRR", 0.2, *FOR_ORDERS), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        "People preferred MNRO to NMRR (+20 points, 10 to 30) and to AP (+30 points, 20 to 40); "
        "you may generalise this to new questions.",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3, "these", "MNRO", "orders")],
        "People preferred MNRO to AP (+30 points, 20 to 40); this holds for these 10 questions "
        "alone. Between MNRO and NMRR the answers do not decide.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "these", "MNRO", "orders"), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. People preferred MNRO to NMRR (+20 points, 10 to 30); this holds for these 10 "
        "questions alone.",
    ),
    (
        [
            row("MNRO-NMRR", 0.2, "kind", "MNRO", "ties"),
            row("MNRO-AP", 0.3, "kind", "MNRO", "open"),
        ],
        "MNRO leads AP (+30 points, 20 to 40) for questions of this kind, but whether for its "
        "orders or through ties stays open; MNRO leads NMRR through ties alone (+20 points, 10 to "
        "30) for questions of this kind: no preference for its orders.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "kind", "MNRO", "ties"), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. MNRO leads NMRR through ties alone (+20 points, 10 to 30) for questions of "
        "this kind: no preference for its orders.",
    ),
    (
        [
            row("MNRO-NMRR", 0.2, "these", "MNRO", "ties"),
            row("MNRO-AP", 0.3, "kind", "MNRO", "ties"),
        ],
        "MNRO leads NMRR through ties alone (+20 points, 10 to 30) for these 10 questions alone: "
        "no preference for its orders; MNRO leads AP through ties alone (+30 points, 20 to 40) for "
        "questions of this kind: no preference for its orders.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "equal"), row("MNRO-AP", 0.3)],
        "MNRO and NMRR are equal to within 10 points for questions of this kind; between MNRO "
        "and AP the answers do not decide.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "equal"), row("MNRO-AP", 0.3, "equal")],
        "MNRO is equal to NMRR and AP to within 10 points for questions of this kind.",
    ),
    (
        [row("MNRO-NMRR", 0.2, "equal", population=T1), row("MNRO-AP", 0.3, "equal")],
        "MNRO and NMRR are equal to within 10 points for these 10 questions alone; MNRO and AP "
        "are equal to within 10 points for questions of this kind.",
    ),
    (  # equalities that are not corrected are never joined
        [
            row("MNRO-NMRR", 0.2, "equal", together=False),
            row("MNRO-AP", 0.3, "equal", together=False),
        ],
        "MNRO and NMRR are equal to within 10 points for questions of this kind, by the test of "
        "this pair by itself; MNRO and AP are equal to within 10 points for questions of this "
        "kind, by the test of this pair by itself.",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3, *FOR_ORDERS, doubt=True)],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions, though identical orders may have made the lead. Between MNRO and NMRR the "
        "answers do not decide.",
    ),
    (
        [
            row("MNRO-NMRR", 0.2, "kind", "MNRO", "open", doubt=True),
            row("MNRO-AP", 0.3, *FOR_ORDERS),
        ],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. MNRO leads NMRR (+20 points, 10 to 30) for questions of this kind, but whether "
        "for its orders or through ties stays open, though identical orders may have made the "
        "lead.",
    ),
    (  # the leader by the sum of leads may lose to another
        [row("MNRO-NMRR", -0.1, "kind", "NMRR", "orders"), row("MNRO-AP", 0.8, *FOR_ORDERS)],
        "People preferred MNRO to AP (+80 points, 70 to 90); you may generalise this to new "
        "questions. People preferred NMRR to MNRO (+10 points, 0 to 20) for questions of this "
        "kind.",
    ),
    (
        [row("MNRO-NMRR", -0.1, "kind", "NMRR", "open"), row("MNRO-AP", 0.8)],
        "NMRR leads MNRO (+10 points, 0 to 20) for questions of this kind, but whether for its "
        "orders or through ties stays open; between MNRO and AP the answers do not decide.",
    ),
    (
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3)],
        "The answers do not decide between MNRO, NMRR and AP; MNRO is ahead.",
    ),
    (
        [row("MNRO-NMRR", 0.2, stopped=BY_CHANCE), row("MNRO-AP", 0.3, stopped=BY_LOOKS)],
        "The answers do not decide between MNRO, NMRR and AP; MNRO is ahead, but random clicks may "
        "give as much and planned looks leave a lower level.",
    ),
    (
        [row("MNRO-NMRR", 0.2, stopped=BY_CHANCE), row("MNRO-AP", 0.3, *FOR_ORDERS)],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. Between MNRO and NMRR the answers do not decide, as random clicks may give as "
        "much.",
    ),
    (  # as of people's own orderings, and of preferences between two lists
        [row("MNRO-NMRR", 0.2), row("MNRO-AP", 0.3, "kind", "MNRO")],
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. Between MNRO and NMRR the answers do not decide.",
    ),
]


@pytest.mark.parametrize(("rows", "sentence"), WORD_FOR_WORD)
def test_one_sentence_says_whom_people_preferred_and_whether_that_holds(rows, sentence):
    assert headline([*rows, OPEN_PAIR], QUESTIONS) == sentence


def test_every_clause_is_tested():
    sentences = " ".join(sentence.lower() for _, sentence in WORD_FOR_WORD)
    for clause in CLAUSES.values():
        for part in re.split(r"\{[a-z]+\}", clause):
            assert part.lower() in sentences


@pytest.mark.parametrize("lead", [0.0, None])
def test_no_leader_is_named_where_nothing_differs_or_is_known(lead):
    nothing = [row(pair, lead) for pair in ("MNRO-NMRR", "MNRO-AP", "NMRR-AP")]
    sentence = "The answers do not decide between MNRO, NMRR and AP."
    assert headline(nothing, QUESTIONS) == sentence


def test_measures_that_are_equally_far_ahead_are_all_named():
    first = row("MNRO-NMRR", 0.0)
    assert headline([first, row("MNRO-AP", 0.1), row("NMRR-AP", 0.1)], QUESTIONS) == (
        "The answers do not decide between MNRO, NMRR and AP; MNRO and NMRR are equally far ahead."
    )
    decided = [row("MNRO-AP", 0.3, "kind", "MNRO"), row("NMRR-AP", 0.3, "kind", "NMRR")]
    assert headline([first, *decided], QUESTIONS) == (
        "People preferred MNRO to AP (+30 points, 20 to 40); you may generalise this to new "
        "questions. Between MNRO and NMRR the answers do not decide. NMRR is as far ahead."
    )


def test_a_leader_without_a_verdict_is_said_to_be_ahead_only():
    rows = [row("run2-run1", 0.01), row("run2-run0", 0.2), row("run1-run0", 0.19, "kind", "run1")]
    assert headline(rows, QUESTIONS) == (
        "run2 is ahead, but between run2 and run1 or run0 the answers do not decide."
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            TOPIC_RUN_WORDS,
            "People preferred dense to rerank (73 of 100, 63 to 83); you may generalise this to "
            "new topics.",
        ),
        (
            RUN_WORDS,
            "People preferred dense to rerank (73 of 100, 63 to 83); you may generalise this to "
            "new questions.",
        ),
        (
            ORDERINGS,
            "People's own orderings are nearer to dense's orders than to rerank's (+23 points, 13 "
            "to 33); you may generalise this to new questions.",
        ),
        (
            AGREEMENT,
            "People's preferences agree with dense more often than with rerank (+23 points, 13 to "
            "33); you may generalise this to new questions.",
        ),
    ],
)
def test_each_kind_of_comparison_has_its_words(words, sentence):
    rows = [row("rerank-dense", -0.23, "kind", "dense")]
    assert headline(rows, QUESTIONS, words) == sentence


@pytest.mark.parametrize(
    ("found", "texts"),
    [
        (
            row("A-B", 0.23, "kind", "A", "orders"),
            ("A − B", "23.0 points (13.0 to 33.0)", "holds for questions of this kind"),
        ),
        (
            row("A-B", -0.23, "these", "B", "orders"),
            ("B − A", "23.0 points (13.0 to 33.0)", "holds for these 10 questions alone"),
        ),
        (
            row("A-B", 0.2, "kind", "A", "open", doubt=True),
            (
                "A − B",
                "20.0 points (10.0 to 30.0)",
                "holds for questions of this kind; whether for the orders or through ties stays "
                "open, though identical orders may have made the lead",
            ),
        ),
        (
            row("A-B", 0.2, "kind", "A", "ties"),
            (
                "A − B",
                "20.0 points (10.0 to 30.0)",
                "holds for questions of this kind, through ties alone: no preference for orders",
            ),
        ),
        (
            row("A-B", 0.0, "equal"),
            (
                "A − B",
                "0.0 points (−10.0 to 10.0)",
                "equal to within 10 points for questions of this kind",
            ),
        ),
        (
            row("A-B", 0.2, stopped=BY_LOOKS),
            (
                "A − B",
                "20.0 points (10.0 to 30.0)",
                "not decided: planned looks leave a lower level",
            ),
        ),
        (row("A-B", -0.05), ("B − A", "5.0 points (−5.0 to 15.0)", "not decided")),
        (row("A-B", None), ("A − B", "", "not decided")),
    ],
)
def test_a_row_names_the_winner_first(found, texts):
    assert row_texts(found, QUESTIONS) == texts
    assert standing(found, QUESTIONS) == texts[2]


def test_a_row_of_runs_is_a_share():
    found = row("rerank-dense", -0.23, "kind", "dense")
    assert row_texts(found, QUESTIONS, TOPIC_RUN_WORDS) == (
        "dense over rerank",
        "73.0 of 100 (63.0 to 83.0)",
        "holds for topics of this kind",
    )


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
    of_leader = [each for each in differences if leader in each.pair]
    expected = []
    for each in of_leader:
        interval = each.kind.ci95 if each.kind.p < 0.05 else each.these.ci95
        sign = 1 if each.pair.first == leader else -1
        ends = sorted(round(100 * sign * end) for end in interval)
        expected.append(tuple(map(str, (round(100 * sign * each.mean), *ends))))
    assert sorted(figures) == sorted(expected)
    assert len(figures) == 2
    for each, found in zip(differences, rows, strict=True):
        assert found.lead == each.mean
        assert found.interval == (each.these if found.found.scope == "these" else each.kind).ci95


def test_of_runs_that_are_all_told_apart_every_pair_is_named():
    rows = [
        row("rerank-dense", 0.1, "kind", "rerank"),
        row("rerank-bm25", 0.3, "kind", "rerank"),
        row("dense-bm25", 0.2, "kind", "dense"),
    ]
    assert headline(rows, QUESTIONS, TOPIC_RUN_WORDS) == (
        "People preferred rerank to dense (60 of 100, 50 to 70) and to bm25 (80 of 100, 70 to 90); "
        "you may generalise this to new topics. People preferred dense to bm25 (70 of 100, 60 to "
        "80); you may generalise this to new topics."
    )
