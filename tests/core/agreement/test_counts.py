"""Table 4: the paper's figures recomputed from its own counts, and small cases by hand."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.answers import Response
from survey.core.agreement.credits import credits_per_question, distinct_questions, shares
from survey.core.studies.rankings import Ranking
from survey.paper.set_level import PublishedCounts
from tests.core.agreement.random_votes import credits_of

CASE = json.loads((Path(__file__).parents[2] / "cases" / "table4.json").read_text())["table4"]
EXPECTED = CASE["expected"]
NAMES = ("AP", "NMRR", "MNRO")


@pytest.fixture(scope="module")
def paper():
    return PublishedCounts(
        measures=NAMES,
        votes=tuple(map(tuple, CASE["votes"])),
        identical={int(number): tuple(pair) for number, pair in CASE["identical_rankings"].items()},
        participants=30,
    )


@pytest.fixture(scope="module")
def published(paper):
    return credits_per_question(paper.credits(), paper.rankings())


def test_the_columns_add_up_to_90_109_135_and_20(published):
    assert list(published.totals.values()) == EXPECTED["col_totals"]
    assert sum(published.totals.values()) == EXPECTED["grand"] == 354


def test_the_rows_are_the_printed_counts(published):
    assert [list(row.votes.values()) for row in published.rows] == CASE["votes"]


def test_merging_identical_orders_makes_every_row_thirty(published):
    assert [sum(row.votes.values()) for row in published.rows] == EXPECTED["row_sums_raw"]
    assert [row.merged for row in published.rows] == EXPECTED["row_sums_merged"] == [30] * 10


def test_the_participants_choices_are_those_printed(published):
    assert [set(row.choice) for row in published.rows] == [set(w) for w in EXPECTED["winners"]]


def test_mnro_is_first_or_tied_in_nine_sets_and_outright_in_five(published):
    or_tied, outright = published.first_or_tied, published.first_outright
    assert or_tied == EXPECTED["first_or_tied"]
    assert outright == EXPECTED["outright"]
    assert (or_tied["MNRO"], outright["MNRO"]) == (9, 5)


def test_nmrr_exceeds_ap_in_seven_sets(published):
    assert sum(row.votes["NMRR"] > row.votes["AP"] for row in published.rows) == 7


def test_the_four_kinds_of_share(paper):
    found = shares(paper.credits(), distinct_questions(paper.rankings()))
    for kind, expected in (
        (found.of_credits, EXPECTED["pct354"]),
        (found.of_responses, EXPECTED["approval_share300"]),
        (found.split, EXPECTED["split_share"]),
        (found.distinct_questions, EXPECTED["untied7_share"]),
    ):
        assert [100 * share for share in kind.values()] == pytest.approx(expected, abs=1e-4)


def test_the_printed_percentages_of_the_354(paper):
    found = shares(paper.credits(), [])
    assert [f"{share:.2%}" for share in found.of_credits.values()] == [
        "25.42%",
        "30.79%",
        "38.14%",
        "5.65%",
    ]


def test_counts_that_contradict_their_identical_orders_are_refused():
    with pytest.raises(ValueError, match="set 1: AP has 2 votes and MNRO 3, though their orders"):
        PublishedCounts(NAMES, ((2, 1, 3, 0),), {1: ("AP", "MNRO")}, 5).credits()


def test_counts_that_do_not_add_up_to_the_participants_are_refused():
    with pytest.raises(ValueError, match="set 1: 6 votes after merging identical orders, but 5"):
        PublishedCounts(NAMES, ((2, 1, 3, 0),), {}, 5).credits()


ORDERS = {
    1: {name: Ranking.parse(text) for name, text in zip(NAMES, ("A>B", "B>A", "A=B"), strict=True)},
    2: {name: Ranking.parse(text) for name, text in zip(NAMES, ("A>B", "B>A", "A>B"), strict=True)},
}


def test_a_question_nobody_answered_has_a_row_of_zeros_and_no_choice():
    table = credits_per_question(credits_of([], ORDERS, NAMES), ORDERS)
    assert [row.question for row in table.rows] == [1, 2]
    assert table.rows[0].choice == ()
    assert table.rows[1].identical == (("AP", "MNRO"),)


def test_shares_without_votes_are_missing_rather_than_zero():
    found = shares(credits_of([], ORDERS, NAMES), [1])
    assert (found.of_credits, found.of_responses, found.split) == (None, None, None)


def test_two_ticks_split_one_vote_and_count_twice_among_credits():
    ticked = Response("p", 1, NAMES, frozenset({1, 2}))
    found = shares(credits_of([ticked], ORDERS, NAMES), [1])
    assert found.of_responses == {"AP": 1, "NMRR": 1, "MNRO": 0, "OTHER": 0}
    assert found.split == {"AP": 0.5, "NMRR": 0.5, "MNRO": 0, "OTHER": 0}
    assert found.of_credits == {"AP": 0.5, "NMRR": 0.5, "MNRO": 0, "OTHER": 0}


answers = st.lists(
    st.tuples(
        st.permutations(NAMES).map(tuple),
        st.one_of(st.sets(st.integers(1, 3), min_size=1).map(frozenset), st.none()),
        st.sampled_from([1, 2]),
    ),
    min_size=1,
    max_size=30,
)


@given(answers)
def test_split_shares_add_up_to_one_and_table_4_holds_every_credit(given_answers):
    responses = [
        Response(f"p{row}", question, order, clicked or frozenset(), None if clicked else OWN)
        for row, (order, clicked, question) in enumerate(given_answers)
    ]
    credits = credits_of(responses, ORDERS, NAMES)
    found = shares(credits, distinct_questions(ORDERS))
    assert sum(found.split.values()) == pytest.approx(1)
    assert sum(found.of_credits.values()) == pytest.approx(1)
    totals = credits_per_question(credits, ORDERS).totals
    assert sum(totals.values()) == credits.counts @ (credits.credited.sum(axis=1) + credits.other)


OWN = Ranking.parse("A>B")


def test_one_vote_each_makes_the_merged_row_the_number_of_participants():
    responses = [Response(f"p{k}", 2, NAMES, frozenset({1 + k % 3})) for k in range(9)]
    row = credits_per_question(credits_of(responses, ORDERS, NAMES), ORDERS).rows[1]
    assert row.votes == {"AP": 6, "NMRR": 3, "MNRO": 6, "OTHER": 0}
    assert row.merged == 9
