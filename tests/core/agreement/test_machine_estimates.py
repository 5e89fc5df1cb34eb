"""A ranking of runs by a machine's judgements, and the sentences of estimates."""

import re

import numpy as np
import pytest
from scipy import stats

from survey.core.agreement.machine_estimates import assumptions, estimate_sentence, rank_runs
from survey.core.statistics.beside_people import (
    prediction_powered_mean,
    preference_crossed,
    preference_share,
    relevant_count,
)


def ranked(seed, topics=40, runs=8, noise=0.02):
    chance = np.random.default_rng(seed)
    people = 0.3 + 0.05 * np.arange(runs) + 0.1 * chance.normal(size=(topics, runs))
    return (
        [f"run {number}" for number in range(runs)],
        people,
        people + noise * chance.normal(size=people.shape),
    )


def test_runs_are_ranked_by_both():
    runs, people, machine = ranked(1)
    ranking = rank_runs(runs, people, machine)
    expected = stats.kendalltau(people.mean(axis=0), machine.mean(axis=0)).statistic
    assert ranking.all_runs.value == pytest.approx(expected)
    assert ranking.all_runs.ci95[0] <= expected <= ranking.all_runs.ci95[1]
    best = np.argsort(-people.mean(axis=0))[:4]
    top = stats.kendalltau(people.mean(axis=0)[best], machine.mean(axis=0)[best]).statistic
    assert (ranking.top.value, ranking.top_runs) == (pytest.approx(top), 4)
    assert ranking.separated > 10
    assert ranking.reversed_pairs == ()


def test_a_machine_that_turns_the_ranking_round_reverses_all_pairs():
    runs, people, _ = ranked(2)
    ranking = rank_runs(runs, people, 1 - people)
    assert ranking.all_runs.value == -1
    assert len(ranking.reversed_pairs) == ranking.separated > 10
    assert ("run 7", "run 0") in ranking.reversed_pairs


def test_few_runs_or_topics_have_no_ranking():
    runs, people, machine = ranked(3, topics=9)
    ranking = rank_runs(runs, people, machine)
    assert ranking.why == "8 runs and 9 topics; a ranking needs 5 runs and 10 topics"
    assert ranking.all_runs.value is None
    with pytest.raises(ValueError, match=r"people: \(9, 8\), machine: \(9, 7\) found"):
        rank_runs(runs, people, machine[:, :7])


def test_a_sentence_has_both_intervals():
    figures = relevant_count(pool=[1000, 3000], judged=[30, 90], relevant=[27, 45])
    sentence = estimate_sentence(figures, human=120, machine=4000)
    assert re.fullmatch(
        r"With 120 human and 4,000 machine judgements 60 % \(\d\d to \d\d\); with people alone "
        r"60 % \(\d\d to \d\d\)\.",
        sentence,
    )
    assert assumptions(figures)[0] == (
        "The 120 units that people judged are a simple random sample of the 4,000, drawn by the "
        "plan's seed."
    )


def test_below_a_minimum_peoples_interval_and_what_is_missing_are_said():
    figures = relevant_count(pool=[1000, 3000], judged=[10, 30], relevant=[9, 15])
    sentence = estimate_sentence(figures, human=40, machine=4000)
    assert sentence == (
        "With 40 human judgements 60 % (45 to 74). The machine's 4,000 judgements add nothing yet: "
        "100 documents that people judged are needed, there are 40."
    )


def test_every_estimate_has_a_sentence():
    chance = np.random.default_rng(4)
    machine, sample = chance.random(200), list(range(40))
    mean = prediction_powered_mean(labelled=sample, people=machine[:40] / 2, machine=machine)
    sentence = estimate_sentence(mean, human=40, machine=200, population="kind", percent=False)
    assert f"machine judgements {mean['estimate']:.3f}".replace(" 0.", " .") in sentence
    agree, prefer = (machine > 0.5).astype(float), np.ones(200)
    share = preference_share(
        people_agree=agree[:40],
        people_prefer=prefer[:40],
        machine_agree=agree,
        machine_prefer=prefer,
        labelled=sample,
    )
    both = estimate_sentence(share, human=40, machine=200)
    assert both.count("%") == 2
    answers = np.sign(machine[:40] - 0.4 + 0.3 * chance.normal(size=(8, 40)))
    lead = preference_crossed(people=answers.tolist(), machine=agree, labelled=sample)
    assert "with people alone" in estimate_sentence(lead, human=320, machine=200, percent=False)
