"""The discriminative generator: what its sets satisfy, its balance, and when it gives up."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import Lists, Measure, Setting, measure_named, registry
from survey.core.studies import generators
from survey.core.studies.generators import (
    GENERATORS,
    MOST_DISCRIMINATIVE_DRAWS,
    MOST_DISCRIMINATIVE_POSITIONS,
    Positions,
    discriminative_question,
    most_draws,
)
from survey.core.studies.rankings import CONTRADICTING, contrast, is_balanced
from survey.kinds.ordering.plan import OrderingPlan
from tests.core.studies.test_questions import TEXTS

MEASURES = ("AP", "NMRR", "MNRO")
PAPER = Setting()


def draw(number=1, seed=2011, **design):
    design = {"lists": 5, "relevant": 5, "measures": MEASURES, "setting": PAPER, **design}
    return discriminative_question(number, seed=seed, **design)


def discordant(one, other):
    """On how many list pairs two rankings put opposite lists first."""
    return sum(
        (one.places[x] - one.places[y]) * (other.places[x] - other.places[y]) < 0
        for x, y in combinations(one.letters, 2)
    )


def odd_ones_out(question):
    """The measures with the largest sum of discordant pairs."""
    rankings = question.rankings
    sums = {
        name: sum(discordant(own, other) for other in rankings.values())
        for name, own in rankings.items()
    }
    return [name for name, total in sums.items() if total == max(sums.values())]


def assert_tells_all_measures_apart(question, setting=PAPER):
    assert len(set(question.lists.values())) == len(question.lists)
    rankings = question.rankings
    assert len(set(rankings.values())) == len(rankings)
    for one, other in combinations(rankings.values(), 2):
        assert discordant(one, other) > 0
    for name, ranking in rankings.items():
        assert all(len(group) == 1 for group in ranking.groups)
        ranks = np.array(list(question.lists.values()))
        shown = sorted(measure_named(name).shown(Lists(ranks), setting))
        assert all(high - low >= Fraction(5, 1000) for low, high in pairwise(shown))


@pytest.fixture(scope="module")
def thirty():
    return [draw(number) for number in range(1, 31)]


def test_golden_values_of_the_discriminative_generator():
    assert {number: draw(number).lists for number in GOLDEN} == GOLDEN


GOLDEN = {
    0: {
        "A": (3, 46, 62, 76, 90),
        "B": (11, 18, 25, 46, 64),
        "C": (8, 19, 56, 61, 99),
        "D": (5, 45, 58, 59, 61),
        "E": (21, 42, 44, 58, 87),
    },
    1: {
        "A": (4, 15, 27, 34, 46),
        "B": (17, 19, 53, 62, 80),
        "C": (8, 9, 34, 66, 72),
        "D": (17, 44, 46, 56, 77),
        "E": (1, 17, 56, 67, 95),
    },
    2: {
        "A": (8, 13, 39, 86, 94),
        "B": (5, 30, 38, 57, 67),
        "C": (43, 52, 70, 76, 94),
        "D": (13, 16, 68, 91, 98),
        "E": (8, 26, 40, 52, 84),
    },
    10: {
        "A": (22, 48, 62, 65, 86),
        "B": (17, 34, 58, 60, 86),
        "C": (5, 13, 16, 26, 69),
        "D": (1, 61, 62, 92, 99),
        "E": (7, 9, 36, 52, 71),
    },
}


@pytest.mark.slow
def test_thirty_questions_tell_all_measures_apart(thirty):
    for question in thirty:
        assert_tells_all_measures_apart(question)


@pytest.mark.slow
def test_all_questions_decide_between_the_orders_of_every_two_measures(thirty):
    for question in thirty:
        for first, second in combinations(question.rankings.values(), 2):
            assert contrast(first, second) == CONTRADICTING
            assert is_balanced(first, second)


def test_each_measure_is_the_odd_one_out_equally_often(thirty):
    assert Counter(name for q in thirty for name in odd_ones_out(q)) == dict.fromkeys(MEASURES, 10)


def test_the_measures_take_turns_in_the_order_of_the_plan():
    reverse = [draw(number, measures=MEASURES[::-1]) for number in (1, 2, 3, 4)]
    assert [odd_ones_out(q) for q in reverse] == [["MNRO"], ["NMRR"], ["AP"], ["MNRO"]]


def test_the_practice_question_takes_the_first_set_that_tells_all_measures_apart():
    questions = [draw(0, seed=seed) for seed in range(20)]
    for question in questions:
        assert_tells_all_measures_apart(question)
    assert {len(odd_ones_out(question)) for question in questions} > {1}


def test_two_measures_have_no_odd_one_out_and_are_told_apart():
    for pair in combinations(MEASURES, 2):
        question = draw(measures=pair)
        assert list(question.columns) == list(pair)
        assert_tells_all_measures_apart(question)


def test_a_question_does_not_depend_on_how_many_there_are():
    few, many = (OrderingPlan(**TEXTS, generator="discriminative", questions=n) for n in (3, 8))
    assert few.draw_questions() == many.draw_questions()[:4]
    assert many.draw_questions()[3] == draw(3, seed=1)


def test_a_question_does_not_depend_on_how_many_sets_are_measured_at_once(monkeypatch):
    expected = [draw(number) for number in (1, 2, 3)]
    for positions in (1, 60, 100_000):
        monkeypatch.setattr(generators, "BATCH_POSITIONS", positions)
        assert [draw(number) for number in (1, 2, 3)] == expected


def test_the_generators_of_a_seed_read_different_streams():
    own = Positions(2011, 1, generators.STREAM).sample(5, 100)
    assert own != Positions(2011, 1).sample(5, 100)
    assert GENERATORS["discriminative"] is discriminative_question


@pytest.mark.parametrize(
    ("step", "neighbours"),
    [(Fraction(1, 200), True), (Fraction(1, 200) - Fraction(1, 10**11), False)],
)
def test_the_least_difference_is_decided_on_exact_values(monkeypatch, step, neighbours):
    """With values of .005 times a position, neighbours are accepted even where floats differ
    by less; a little below .005 they never are.
    """
    ladders = {
        name: Measure(
            name=name,
            label=name,
            compute=lambda lists, _, place=place: lists.ranks[:, place] * float(step),
            exact=lambda ranks, _, place=place: ranks[place] * step,
            better="lower",
            mean_name=f"M{name}",
            source="this test",
        )
        for place, name in enumerate(("FIRST", "LAST"))
    }
    monkeypatch.setattr(registry, "MEASURES", registry.Registry([*ladders.values()]))
    design = {"lists": 4, "relevant": 2, "measures": tuple(ladders), "setting": Setting(40)}
    steps = set()
    for number in range(1, 16):
        columns = zip(*draw(number, **design).lists.values(), strict=True)
        steps.update(pair for column in columns for pair in pairwise(sorted(column)))
    missed = {(k, k + 1) for k in range(40) if (k + 1) * float(step) - k * float(step) < 0.005}
    assert bool(steps & missed) == neighbours


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (
            {"lists": 10, "relevant": 1},
            "no set of 10 lists of 1 positions among 100 came up in 200 draws in which the "
            "measures contradict one another .* ask for fewer lists",
        ),
        (
            {"lists": 3, "measures": ("AP", "P@5", "Rprec")},
            "on which P@5 and Rprec contradict each other, each tying as many pairs of lists as "
            "the other .* leave one of them out",
        ),
    ],
)
def test_a_design_that_leaves_no_set_is_refused_saying_what_to_change(few_draws, design, message):
    with pytest.raises(ValueError, match=f"{message}.*, or take the generator random$"):
        draw(**design)


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr(generators, "MOST_DISCRIMINATIVE_DRAWS", 300)
    monkeypatch.setattr(generators, "MOST_TIED_DRAWS", 200)
    generators._first_comes_up_untied.cache_clear()
    yield
    generators._first_comes_up_untied.cache_clear()


def test_where_no_draw_has_the_odd_one_out_the_rest_is_fulfilled(few_draws):
    question = draw(number=2, seed=1)
    assert_tells_all_measures_apart(question)
    assert odd_ones_out(question) != ["NMRR"]


@pytest.mark.parametrize(
    "measures", [("AP", "P@5", "MNRO"), ("nDCG@5", "RR", "P@5"), ("P@5", "P@10")], ids=" ".join
)
def test_measures_that_tie_most_lists_contradict_each_other_in_balance(measures):
    questions = [draw(number, measures=measures) for number in (1, 2, 3)]
    for question in questions:
        assert len(set(question.lists.values())) == len(question.lists)
        for one, other in combinations(question.rankings.values(), 2):
            assert contrast(one, other) == CONTRADICTING
            assert is_balanced(one, other)
        for name in measures:
            ranks = np.array(list(question.lists.values()))
            values = sorted(measure_named(name).shown(Lists(ranks), PAPER))
            assert all(not high - low or high - low >= 0.005 for low, high in pairwise(values))
    if "MNRO" in measures:
        assert [odd_ones_out(question) for question in questions] == [[name] for name in measures]
    again = OrderingPlan(**TEXTS, generator="discriminative", questions=3, measures=measures)
    assert [q.number for q in again.draw_questions()] == [0, 1, 2, 3]


def test_where_no_draw_decides_all_pairs_each_measure_in_turn_has_most(few_draws):
    measures = ("AP", "P@5", "P@10", "RR")
    for number in (1, 2, 3, 4):
        rankings = draw(number, measures=measures).rankings
        turn = measures[number - 1]
        decided = [
            contrast(rankings[turn], other) == CONTRADICTING and is_balanced(rankings[turn], other)
            for name, other in rankings.items()
            if name != turn
        ]
        assert any(decided), turn


def test_the_search_is_bounded_in_any_design():
    assert (
        most_draws(MOST_DISCRIMINATIVE_DRAWS, MOST_DISCRIMINATIVE_POSITIONS, 5, 5, 100) == 200_000
    )
    assert (
        most_draws(
            MOST_DISCRIMINATIVE_DRAWS, MOST_DISCRIMINATIVE_POSITIONS, 10, 10_000, 100_000_000
        )
        == 99
    )
    assert (
        most_draws(MOST_DISCRIMINATIVE_DRAWS, MOST_DISCRIMINATIVE_POSITIONS, 10, 10_000, 10_000)
        == 10
    )
    assert (
        1
        <= most_draws(
            MOST_DISCRIMINATIVE_DRAWS, MOST_DISCRIMINATIVE_POSITIONS, 10, 100_000, 100_000
        )
        <= 2
    )


@given(
    seed=st.integers(0, 2**63 - 1),
    number=st.integers(0, 50),
    lists=st.integers(3, 5),
    relevant=st.integers(5, 6),  # 8 of 30 are so crowded that no set may come up
    collection_size=st.integers(30, 60),
    gmt=st.sampled_from([None, 10]),
    measures=st.permutations(MEASURES).flatmap(
        lambda order: st.sampled_from([tuple(order), tuple(order[:2])])
    ),
)
@settings(max_examples=25)
def test_a_small_design_gives_what_was_asked_for(
    seed, number, lists, relevant, collection_size, gmt, measures
):
    setting = Setting(collection_size, gmt)
    question = draw(
        number, seed, lists=lists, relevant=relevant, measures=measures, setting=setting
    )
    assert question.number == number
    assert_tells_all_measures_apart(question, setting)
    if number and len(measures) > 2:
        assert odd_ones_out(question) == [measures[(number - 1) % 3]]
