"""One set of votes under different choices: what is counted, and what is said to be missing."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from survey.core.agreement.answers import Answers
from survey.core.agreement.differences import pairs
from survey.core.studies.plan import study_digest
from survey.kinds.ordering.analysis import Votes, analyse_votes, analysis_json
from survey.kinds.ordering.results import OrderingResults
from survey.kinds.ordering.sheets import tables_of
from survey.services.analysis.study_results import AnalysisOptions, LeftOut
from survey.services.studies import lifecycle
from tests.analyses import analyse_study, report_of
from tests.builders import a_plan
from tests.core.agreement.random_votes import MEASURES, random_rankings, random_responses
from tests.databases import ON_SQLITE

NOBODY = LeftOut(test=0, excluded=0, flagged=0)


def some_votes(questions=6, asked=6):
    """Twelve participants, of whom P1 takes a second for each answer; in a pool, asked in turn."""
    chance = np.random.default_rng(1)
    rankings = random_rankings(chance, questions)
    responses = [
        replace(one, seconds=1.0) if one.participant == "P1" else replace(one, seconds=20.0)
        for one in random_responses(chance, rankings, 12)
        if (one.question + int(one.participant[1:])) % questions < asked
    ]
    return Votes({}, MEASURES, rankings, asked, Answers.of(responses))


def analysed(votes, **chosen):
    return analyse_votes(votes, NOBODY, AnalysisOptions(**chosen))


def test_equality_is_tested_only_where_the_plan_names_a_smallest_difference():
    assert "equivalence" not in analysis_json(analysed(some_votes()))["differences"][0]
    named = replace(some_votes(), smallest_difference=0.25)
    for pair in analysis_json(analysed(named))["differences"]:
        assert pair["equivalence"]["smallest_difference"] == 0.25
        assert pair["equivalence"]["these"]["p"] <= pair["equivalence"]["kind"]["p"]
    names = [sheet.name for sheet in tables_of(analysed(named))]
    assert "equivalence" in names
    assert "equivalence" not in [sheet.name for sheet in tables_of(analysed(some_votes()))]


@pytest.mark.parametrize("only_ordered", [False, True])
def test_a_primary_pair_is_tested_first_and_said_in_every_sentence(only_ordered):
    facts = {"digest": None, "generator": None}
    votes = replace(some_votes(), study=facts, only_ordered=only_ordered)
    first = analysed(replace(votes, primary=pairs(MEASURES)[1]))
    content, plain = analysis_json(first), analysis_json(analysed(votes))
    for now, before in zip(content["differences"], plain["differences"], strict=True):
        is_primary = now["pair"] == "MNRO-AP"
        assert now["correction"] == {"comparisons": 1 if is_primary else 3, "primary": "MNRO-AP"}
        assert before["correction"] == {"comparisons": 3, "primary": ""}
    sentences = [each.sentence for each in first.verdicts]
    together = ["for all 3 comparisons together" in sentence for sentence in sentences]
    assert together == [True, False, True]
    page = report_of(first)
    assert "primary pair, MNRO − AP, is tested first" in page
    assert "The plan's primary pair" not in report_of(analysed(votes))


@pytest.mark.parametrize(
    ("scores", "only_ordered", "sentence"),
    [
        ("shown", False, "Participants saw the methods' scores. By its scores, a method can"),
        ("rescaled", False, "the methods' scores, rescaled to 0–100 in each question. By its"),
        (None, False, ""),
        ("shown", True, ""),  # no participant saw a method
    ],
)
def test_results_say_that_scores_were_shown_where_participants_saw_them(
    scores, only_ordered, sentence
):
    facts = {"digest": None, "generator": None}
    study = facts | ({"scores": scores} if scores else {})
    analysis = analysed(replace(some_votes(), study=study, only_ordered=only_ordered))
    page = report_of(analysis)
    assert sentence in analysis.shown_scores
    assert bool(sentence) == bool(analysis.shown_scores) == ("By its scores, a method" in page)


@ON_SQLITE
def test_the_plans_smallest_difference_and_primary_pair_are_frozen_with_it_and_used(session):
    plan = a_plan(smallest_difference=10, primary="MNRO-AP")
    assert study_digest(plan, (), 1) != study_digest(a_plan(smallest_difference=10), (), 1)
    assert study_digest(plan, (), 1) != study_digest(a_plan(primary="MNRO-AP"), (), 1)
    study = lifecycle.create_study(session, "three", plan)
    analysis = analyse_study(session, study)
    assert analysis.agreement.differences[0].equivalence.smallest_difference == 0.1
    assert str(analysis.agreement.differences[1].correction) == "the primary pair by itself"
    assert analysis.study["primary"] == "MNRO-AP"
    texts = [finding.text for finding in lifecycle.check_study(session, study)]
    assert "primary pair: MNRO-AP is tested first, and by itself" in texts
    assert not any("name of a measure" in text for text in texts)  # participants never read it


@dataclass
class Marks:
    is_test: np.ndarray
    excluded: np.ndarray


def test_whoever_is_left_out_is_counted_once():
    everyone = Marks(np.array([False, False, True, True]), np.array([False, True, False, True]))
    assert LeftOut.of(everyone, AnalysisOptions()) == LeftOut(test=2, excluded=1, flagged=0)
    with_test = AnalysisOptions(include_test=True)
    assert LeftOut.of(everyone, with_test) == LeftOut(test=0, excluded=2, flagged=0)


def test_the_differences_under_other_choices_are_of_all_the_votes():
    expected = analysed(some_votes()).sensitivity
    assert [one.responses for one in expected[:3]] == [72, 72, 66]
    for chosen in ({"exclude_flagged": True}, {"without_question": 2}, {"ties": "dropped"}):
        assert analysed(some_votes(), **chosen).sensitivity == expected


@pytest.mark.parametrize(("questions", "asked"), [(6, 6), (6, 3)], ids=["all", "pool"])
def test_an_answer_that_was_given_is_not_missing_because_it_is_left_out(questions, asked):
    votes = some_votes(questions, asked)
    assert analysed(votes).missing == 0
    assert analysed(votes, without_question=2).missing == 0
    assert analysed(votes, exclude_flagged=True).missing == 0
    fewer = replace(votes, answers=votes.answers.without_question(3))
    gone = len(votes.answers) - len(fewer.answers)
    assert analysed(fewer, without_question=2).missing == gone


def test_simulated_participants_are_not_flagged_and_test_data_are_the_callers_to_leave_out():
    votes = some_votes()
    assert {flag.participant for flag in analysed(votes).flags} == {"P1"}
    simulated = replace(votes, simulated_ids=frozenset({"P1", "P2"}))
    for include_test in (False, True):
        analysis = analysed(simulated, include_test=include_test)
        assert "P1" not in {flag.participant for flag in analysis.flags}
        assert (analysis.participants, analysis.simulated) == (12, 2)


def test_notes_of_one_question_and_one_participant_are_sentences():
    sheets = {sheet.name: sheet for sheet in tables_of(analysed(some_votes(1, 1)))}
    assert "1 question" in [row[1] for row in sheets["raters"].rows]
    assert "1 questions" not in str(sheets["raters"].rows)
    assert sheets["bias"].note.endswith(
        "Seconds for each further question: undefined, as it needs the times of two participants "
        "that differ."
    )
    assert sheets["second-opinion"].note.startswith(
        "Not fitted for MNRO − NMRR, MNRO − AP and NMRR − AP: it needs answers of two participants "
        "to two questions that decide. "
    )


@pytest.mark.parametrize(
    ("simulated", "participants", "sentence"),
    [
        (1, 1, "1 of 1 participant is simulated."),
        (1, 12, "1 of 12 participants is simulated."),
        (2, 12, "2 of 12 participants are simulated."),
        (0, 12, ""),
    ],
)
def test_the_sentence_on_simulated_participants_agrees_with_their_number(
    simulated, participants, sentence
):
    chance = np.random.default_rng(1)
    rankings = random_rankings(chance, 1)
    responses = random_responses(chance, rankings, participants)
    votes = Votes({}, MEASURES, rankings, 1, Answers.of(responses))
    people = [each.participant for each in responses]
    simulated_ids = frozenset(people[:simulated])
    analysis = analysed(replace(votes, simulated_ids=simulated_ids))
    assert OrderingResults.of(analysis).simulated == sentence
