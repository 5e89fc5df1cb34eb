"""What several studies say together, in a sentence: numbers, signs, and what is not decided."""

from dataclasses import replace

import numpy as np
import pytest

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.credits import tally_values
from survey.core.agreement.differences import Pair
from survey.core.agreement.pooled_sites import PairOfSite, Site, number_word, pooled_pairs
from survey.core.statistics.significance import p_text

PAIR = Pair("MNRO", "AP")
START = "Studies"
QUESTIONS = [str(number) for number in range(1, 11)]


def of_site(mean, pair=PAIR, spread=0.2, **more):
    """A study with a difference; its questions are around it."""
    means = dict(zip(QUESTIONS, mean + spread * np.linspace(-1, 1, 10), strict=True))
    return PairOfSite(pair, mean, (0.05, 19), (0.08, 9), means, **more)


def pooled(means, *, is_shared=True, **more):
    """The first of the pairs of some studies named a, b, c, …"""
    sites = [
        Site("abcdefghij"[place], "Title", "0" * 64, 20, 10, [of_site(mean, **more)])
        for place, mean in enumerate(means)
    ]
    return pooled_pairs(sites, is_shared=is_shared, seed=1)[0]


def test_a_lead_is_told_with_what_it_holds_for():
    pair = pooled([0.17, 0.20, 0.18, 0.16, 0.19])
    assert pair.scope == "kind"
    assert pair.sentence(START) == (
        "Studies: MNRO is ahead of AP by 18.0 points at sites like these (95 % interval 16.0 to "
        "20.0); for questions of this kind 8.3 to 27.7. A new site may find 16 to 20. Without any "
        "one site the sign is the same."
    )
    assert str(pair.row) == "MNRO over AP: +18 points (16 to 20). Ahead in 5 of 5 studies."


def test_the_one_behind_is_turned_to_the_front_with_all_its_numbers():
    pair = pooled([-0.17, -0.20, -0.18, -0.16, -0.19])
    assert pair.sentence(START) == pooled([0.17, 0.20, 0.18, 0.16, 0.19]).sentence(START).replace(
        "MNRO is ahead of AP", "AP is ahead of MNRO"
    )
    assert pair.as_json()["mean"] == pytest.approx(-0.18)


def test_questions_of_their_own_are_a_sample_too():
    pair = pooled([0.17, 0.20, 0.18], is_shared=False)
    assert pair.scope == "kind"
    assert "points at sites like these, for questions of this kind (95 % interval" in pair.sentence(
        START
    )
    assert pair.kind is None
    assert "A new site" not in pair.sentence(START)


def test_three_studies_of_the_same_questions_say_nothing_of_the_kind():
    pair = pooled([0.17, 0.20, 0.18])
    assert pair.scope == "these"
    assert "questions of this kind" not in pair.sentence(START)


def test_questions_that_differ_much_leave_the_kind_open():
    pair = pooled([0.17, 0.20, 0.18, 0.16], spread=1.0)
    assert pair.scope == "these"
    assert "; for questions of this kind −" in pair.sentence(START)
    assert str(pair.row).endswith("Ahead in 4 of 4 studies. Only for these questions.")


def test_studies_that_contradict_each_other_decide_nothing():
    pair = pooled([0.4, -0.2, 0.1, -0.1])
    assert pair.scope == "none"
    assert pair.sentence(START).startswith(
        "Studies: it is not decided whether MNRO or AP is ahead; the difference, MNRO − AP, is 5.0 "
        "points at sites like these (95 % interval −37.1 to 47.1); for questions of this kind"
    )
    assert pair.sentence(START).endswith("Without a the sign is not the same.")
    assert "Ahead in 2 of 4 studies. Not decided (p =" in str(pair.row)


def test_every_site_without_which_the_sign_changes_is_named():
    pair = pooled([0.3, 0.3, -0.25, -0.3])
    assert pair.sentence(START).endswith("Without a or b the sign is not the same.")


def test_no_lead_has_no_sign():
    pair = pooled([0.1, -0.1, 0.0, 0.0])
    assert "is 0.0 points" in pair.sentence(START)
    assert "sign" not in pair.sentence(START)
    assert str(pair.row).startswith("MNRO over AP: 0 points (")


def test_of_two_studies_both_are_told_and_there_is_no_verdict():
    pair = pooled([0.30, 0.18])
    assert (pair.scope, pair.p_holm) == ("none", None)
    assert pair.sentence(START) == (
        "Studies: MNRO − AP is 30.0 points in a (95 % interval 19.5 to 40.5) and 18.0 points in b "
        "(95 % interval 7.5 to 28.5). a less b: 12.0 points (95 % interval −2.3 to 26.3). Two "
        "studies have no verdict together: it takes three."
    )
    assert "verdict" not in pair.as_json()


def test_an_interval_that_leaves_0_out_may_not_decide_among_several_pairs():
    pairs = [PAIR, Pair("MNRO", "NMRR"), Pair("NMRR", "AP")]
    means = {"a": (0.30, 0.02, 0.1), "b": (0.16, 0.05, -0.1), "c": (0.24, -0.03, 0.0)}
    sites = [
        Site(name, "", "", 20, 10, [of_site(*both) for both in zip(of, pairs, strict=True)])
        for name, of in means.items()
    ]
    first, *others = pooled_pairs(sites, is_shared=True, seed=1)
    assert first.figures["p"] < 0.05 < first.p_holm == pytest.approx(3 * first.figures["p"])
    assert f" by itself; {p_text(first.p_holm)}, corrected" in first.sentence(START)
    assert "corrected for 3 comparisons)" in first.sentence(START)
    assert {first.scope, *(pair.scope for pair in others)} == {"none"}


def test_what_random_clicks_give_is_no_lead():
    pair = pooled([0.17, 0.20, 0.18, 0.16], beyond_clicks=0.0)
    assert pair.scope == "none"
    assert "; what random clicking gives with identical orders explains it)" in pair.sentence(START)
    assert pooled([0.17, 0.20, 0.18], beyond_clicks=-0.1).scope == "none"
    sites = [
        Site(str(place), "", "", 20, 10, [of_site(mean, beyond_clicks=mean - 0.1)])
        for place, mean in enumerate((0.17, 0.20, 0.18))
    ]
    assert pooled_pairs(sites, is_shared=True, seed=1)[0].scope == "these"


def test_a_lead_that_may_be_for_showing_no_ties_says_so():
    may_be = pooled([0.17, 0.20, 0.18, 0.16], has_ties=True)
    assert may_be.may_be_ties
    assert "Whether for its order or for showing no ties stays open." in may_be.sentence(START)
    assert str(may_be.row).endswith("It may be for showing no ties.")
    sites = [
        Site(str(mean), "", "", 20, 10, [of_site(mean, has_ties=True, balanced=(mean, mean / 2))])
        for mean in (0.17, 0.20, 0.18, 0.16)
    ]
    assert not pooled_pairs(sites, is_shared=True, seed=1)[0].may_be_ties


def test_intervals_end_where_a_difference_must():
    pair = pooled([0.9, 0.95, 0.7, 1.0])
    assert pair.figures["prediction95"][1] == 1.0 == pair.kind["ci95"][1]
    unsure = [replace(of_site(mean), these=(2.0, 2)) for mean in (1.0, -1.0)]
    sites = [Site(str(place), "", "", 3, 10, [of_pair]) for place, of_pair in enumerate(unsure)]
    assert pooled_pairs(sites, is_shared=True, seed=1)[0].figures["ci95"] == (-2.0, 2.0)


def test_a_lead_without_an_interval_is_a_sentence_too():
    row = str(pooled([0.2, 0.2, 0.2]).row)
    assert row.startswith("MNRO over AP: +20 points. Ahead in 3 of 3 studies.")


def test_figures_of_a_study_are_those_of_its_own_analysis():
    answers = [
        (f"P-{person}", question, (person * question) % 3 - 1)
        for person in range(8)
        for question in range(1, 6)
    ]
    credits, values = tally_values(answers, PAIR)
    d = np.array(values, dtype=float)
    tests = MeanTests.of(d, credits)
    of_site = PairOfSite.of(PAIR, tests, d, credits, {1: "sea", 2: "sea"})
    assert of_site.mean == pytest.approx(np.mean([value for *_, value in answers]))
    assert of_site.these == (tests.participants.se, tests.participants.df)
    assert of_site.kind[0] == max(tests.components.se, tests.components.se_independent)
    assert [*of_site.by_question] == ["sea", "3", "4", "5"]
    of_sea = [value for _, question, value in answers if question < 3]
    assert of_site.by_question["sea"] == pytest.approx(np.mean(of_sea))
    of_person = [answer for answer in answers if answer[0] == "P-0"]
    credits, values = tally_values(of_person, PAIR)
    d = np.array(values, dtype=float)
    assert PairOfSite.of(PAIR, MeanTests.of(d, credits), d, credits) is None


def test_numbers_are_words_up_to_ten():
    assert [number_word(number) for number in (2, 5, 10, 11)] == ["two", "five", "ten", "11"]
