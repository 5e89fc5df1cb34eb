"""Closed ordering studies with planned votes: a clear lead, a lead through ties, or nothing."""

from typing import Any

from sqlalchemy.orm import Session

from survey.core.measures.measure import Setting
from survey.core.studies.generators import random_question
from survey.core.studies.rankings import CONTRADICTING, TIES_ONLY, contrast
from survey.db.models import Researcher, Study
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services.participation import answers
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan, a_ready_participant, save_answer

MEASURES = ("AP", "NMRR", "MNRO")
INITIALS = dict(zip("ANM", MEASURES, strict=True))
# A row for each person, a letter for each question: the measure that the person ticks.
CLEAR = ("MMMNMMMM", "MMAMMMMM", "MMMMNMMM", "MMMMMMAM", "MNMMMMMM", "MMMMMAMM", "MMMMMMMN")
UNDECIDED = ("MNAMNANM", "NAMNAMAN", "AMNAMNMA", "NMAMANNM", "AANMMNAM", "MAMNNAMN")


QUESTIONS = len(CLEAR[0])


def a_closed_study(
    session: Session,
    owner: Researcher,
    slug: str,
    votes: tuple[str, ...] = (),
    *,
    ties: bool = False,
    **changes: Any,
) -> Study:
    """A closed study with these votes.

    Its measures contradict each other in every question; with ``ties``, MNRO only breaks NMRR's.
    ``changes``: of the plan.
    """
    lists = {"own_lists": lists_with_ties()} if ties else {"generator": "discriminative"}
    plan = a_plan(questions=QUESTIONS, practice=False, **lists, **changes)
    study = lifecycle.create_owned_study(session, owner, slug, plan, Recruitment())
    lifecycle.open_study(session, study)
    for number, row in enumerate(votes):
        participant = a_ready_participant(session, study, f"{slug} {number}")
        for shown in answers.all_presentations(session, plan, participant):
            label = shown.drawn.label_order.index(INITIALS[row[shown.number - 1]]) + 1
            answer = OrderingAnswer(frozenset({label}), None)
            save_answer(session, participant, shown.position, answer, 30.0)
    lifecycle.close_study(session, study, owner.name)
    session.commit()
    return study


def lists_with_ties() -> list[list[tuple[int, ...]]]:
    """Draw lists that MNRO and AP order in contradiction, and NMRR as MNRO but for ties."""
    found: list[list[tuple[int, ...]]] = []
    for number in range(1, 10_000):
        question = random_question(
            number, seed=5, lists=4, relevant=5, measures=MEASURES, setting=Setting(100)
        )
        of = question.rankings
        if (
            contrast(of["MNRO"], of["NMRR"]) == TIES_ONLY
            and contrast(of["MNRO"], of["AP"]) == CONTRADICTING
        ):
            found.append([question.lists[letter] for letter in sorted(question.lists)])
        if len(found) == QUESTIONS:
            return found
    raise AssertionError("too few such questions")
