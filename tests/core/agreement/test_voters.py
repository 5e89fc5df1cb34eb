"""Simulated voters: what is planted is what their votes credit, whatever the labels are."""

from random import Random

import numpy as np
import pytest
from scipy.stats import binomtest

from survey.core.agreement.credits import OTHER, credited_measures
from survey.core.measures import Setting
from survey.core.studies.generators import random_question
from survey.core.studies.questions import blind, draw_blinding
from survey.core.studies.rankings import identical_groups
from survey.kinds.ordering.bot import Preference, cast_vote

MEASURES = ("AP", "NMRR", "MNRO")
PLANTED = Preference({"MNRO": 0.5, "NMRR": 0.3, "AP": 0.1, OTHER: 0.1})
VOTES = 4_000

QUESTIONS = [
    random_question(
        number, seed=1, lists=5, relevant=5, measures=MEASURES, setting=Setting(100, None, False)
    )
    for number in range(1, 40)
]
ALIKE = {tuple(map(tuple, identical_groups(one.rankings))): one for one in QUESTIONS}


def columns_of(question, labels):
    """The columns as a page shows them, in an order of their own."""
    drawn = draw_blinding(MEASURES, tuple(question.lists), labels)
    shown = [question.columns[name].shown for name in drawn.label_order]
    return drawn.label_order, blind(question, drawn, shown).columns


@pytest.mark.parametrize("question", ALIKE.values(), ids=[str(groups) for groups in ALIKE])
def test_each_measure_is_credited_with_the_planted_share_of_the_measures_of_its_order(question):
    chance, labels = np.random.default_rng(7), Random(7)
    credited = dict.fromkeys((*MEASURES, OTHER), 0)
    for _ in range(VOTES):
        label_order, columns = columns_of(question, labels)
        vote = cast_vote(PLANTED, question, columns, chance)
        for name in credited_measures(label_order, vote.clicked, question.rankings) or {OTHER}:
            credited[name] += 1
    orders = question.rankings
    for name, votes in credited.items():
        alike = [one for one in MEASURES if orders[one] == orders.get(name)] or [OTHER]
        share = sum(PLANTED.shares[one] for one in alike)
        assert binomtest(votes, VOTES, min(share, 1)).pvalue > 1e-4, (name, votes, share)


def test_the_questions_of_these_tests_have_distinct_and_identical_orders():
    assert {(), (("AP", "MNRO"),), (("NMRR", "MNRO"),), (MEASURES,)} <= set(ALIKE)


def test_where_orders_are_identical_one_column_or_all_of_them_are_ticked():
    question, chance, labels = ALIKE[MEASURES,], np.random.default_rng(3), Random(3)
    preference = Preference({"NMRR": 1.0})
    ticks = [
        len(cast_vote(preference, question, columns_of(question, labels)[1], chance).clicked)
        for _ in range(1_000)
    ]
    assert set(ticks) == {1, 3}
    assert binomtest(ticks.count(3), 1_000, 0.3).pvalue > 1e-4


def test_an_own_order_is_never_an_offered_one_and_ticks_nothing():
    question, chance = ALIKE[()], np.random.default_rng(5)
    _, columns = columns_of(question, Random(5))
    for _ in range(500):
        vote = cast_vote(Preference({OTHER: 1.0}), question, columns, chance)
        assert not vote.clicked
        assert vote.own not in question.rankings.values()


def test_a_page_without_the_preferred_column_is_refused():
    question = ALIKE[()]
    _, columns = columns_of(question, Random(5))
    without = [one for one in columns if one.ranking != question.rankings["AP"]]
    with pytest.raises(ValueError, match="no column is that of AP"):
        cast_vote(Preference({"AP": 1.0}), question, without, np.random.default_rng(5))
