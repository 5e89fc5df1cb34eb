"""Whether a machine may replace one annotator: conditions in order, and what would decide."""

import re

import numpy as np
import pytest

from survey.core.agreement.machine_replacement import replacement
from survey.core.agreement.machines import agreement, compare_labels
from tests.core.agreement.beside import PEOPLE, labelled, topics_of


def decided(people, machine, topics=None, epsilon=0.1, **options):
    comparison = compare_labels(people, machine, topics)
    return replacement(comparison, agreement(comparison), epsilon, **options)


def few_people():
    people, machine = labelled(11)
    return {name: people[name] for name in PEOPLE[:2]}, machine, None


def few_questions():
    return (*labelled(12, units=10), None)


def silent_machine():
    people, machine = labelled(13)
    return people, {unit: answer for unit, answer in machine.items() if unit % 10}, None


def worse_machine():
    return (*labelled(14, machine=0.2), None)


def worse_in_a_few_topics():
    people, machine = labelled(15, units=300, right=0.9, machine=0.93)
    topics = topics_of(300, 12)
    odd = {unit: 1 - machine[unit] for unit, topic in topics.items() if topic == "topic 3"}
    return people, machine | odd, topics


def few_topics():
    people, machine = labelled(16, units=300)
    return people, machine, topics_of(300, 4)


def constant_machine():
    people, machine = labelled(17, right=0.9, relevant=0.02)
    return people, dict.fromkeys(machine, 0), None


def people_who_guess():
    people, _ = labelled(18, units=400, right=0.0)
    votes = np.array([[*answers.values()] for answers in people.values()])
    chance = np.random.default_rng(1)
    # The machine says what most people say: it agrees with each by more than they do.
    most = (votes.mean(axis=0) + chance.uniform(-0.01, 0.01, 400) > 0.5).astype(int)
    return people, dict(enumerate(most.tolist())), None


@pytest.mark.parametrize(
    ("study", "unmet", "figures"),
    [
        (few_people, "three people", "2 people cannot test it (3 are needed)."),
        (
            few_questions,
            "50 questions each",
            "10 questions cannot test it (50 are needed).",
        ),
        (
            silent_machine,
            "at most 5 % missing",
            "the machine has no answer to 20 of 200 questions, and 5 % may be missing.",
        ),
        (
            worse_machine,
            "a winning rate of one half",
            "it is shown to do as well as 0 of 4 people, to within .10, and half are needed.",
        ),
        (
            worse_in_a_few_topics,
            "a winning rate of one half with errors clustered by topic",
            "with errors clustered by topic, it is shown to do as well as 0 of 4 people",
        ),
        (few_topics, "ten topics", "4 topics cannot test it (10 are needed)."),
        (
            constant_machine,
            "lower end of HM above 0",
            "machine and person are not shown to agree by more than chance: it always gives the "
            "same answer (kappa .00, .00 to .00).",
        ),
        (
            people_who_guess,
            "lower end of HH above 0",
            "people are not shown to agree by more than chance (kappa ",
        ),
    ],
)
def test_the_first_condition_that_is_not_met_is_named(study, unmet, figures):
    people, machine, topics = study()
    decision = decided(people, machine, topics, units="questions")
    assert not decision.may_replace
    assert decision.unmet == unmet
    start = "It is not shown that this machine may replace one annotator here: "
    assert decision.sentence.startswith(start + figures)
    assert decision.more


@pytest.mark.parametrize(
    ("study", "more", "answers"),
    [
        (few_people, "by 1 more person.", 200),
        (few_questions, "so that each person has 50 questions.", 120),
        (few_topics, "on 6 more topics.", 6 * 75 * 4),
    ],
)
def test_how_many_more_answers_would_decide_is_said(study, more, answers):
    people, machine, topics = study()
    decision = decided(people, machine, topics, units="questions")
    assert decision.more == f"About {answers:,} more answers of people would decide, {more}"
    assert decision.more_answers == answers


def test_with_the_answers_that_are_said_to_be_needed_the_test_does_pass():
    few_answers = labelled(24, units=60, machine=0.8)
    decision = decided(*few_answers)
    assert decision.unmet == "a winning rate of one half"
    needed = int(re.search(r"on (\d+) documents for each person", decision.more)[1])
    assert decision.more_answers == 4 * (needed - 60)
    # The same answers again, so that means and spreads stay as they are.
    times = -(-needed // 60)
    people, machine = few_answers

    def again(answers):
        return {
            (unit, number): answer for unit, answer in answers.items() for number in range(times)
        }

    more = decided({name: again(people[name]) for name in PEOPLE}, again(machine))
    assert more.test.passes


def test_a_machine_that_is_worse_by_more_than_the_margin_is_not_helped_by_answers():
    decision = decided(*labelled(14, machine=0.2))
    assert decision.more_answers is None
    assert decision.more.startswith("No number of answers would decide if these differences are")


def test_a_coin_that_agrees_by_kappa_and_not_by_alpha_replaces_nobody():
    chance = np.random.default_rng(8)  # one of the few coins that kappa lets pass
    truth = chance.random(300) < 0.05

    def answers(marked):
        return dict(enumerate(marked.astype(int).tolist()))

    people = {name: answers(truth ^ (chance.random(300) >= 0.85)) for name in PEOPLE}
    coin = answers(chance.random(300) < 0.05)
    agreed = agreement(compare_labels(people, coin))
    assert agreed.hm.ci95[0] > 0
    assert agreed.hh_alpha.ci95[0] > 0
    decision = decided(people, coin)
    assert decision.test.passes
    assert decision.unmet == "lower end of HM above 0"
    assert "by more than chance (alpha .002, −.06 to .06)." in decision.sentence


def test_a_machine_that_does_as_well_in_all_respects_may_replace_one():
    people, machine = labelled(20, units=300, right=0.9)
    decision = decided(people, machine, topics_of(300, 15))
    assert decision.may_replace
    assert decision.unmet is None
    assert re.fullmatch(
        r"This machine may replace one annotator for items like these: it does as well as 4 of 4 "
        r"people, to within \.10 \(300 documents or more each\); machine and person agree by kappa "
        r"\.\d\d, \.\d\d to \.\d\d, two people by \.\d\d, \.\d\d to \.\d\d\.",
        decision.sentence,
    )
