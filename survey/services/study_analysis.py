"""From a study's stored answers to their analysis: who counts, Table 3, times."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy.orm import Session

from survey.core.agreement.agreement import Rankings
from survey.core.agreement.credits import Response
from survey.core.agreement.participants import Table3, option_counts, spread
from survey.core.stimuli.plan import Plan
from survey.db import queries
from survey.db.models import Participant, Presentation, StoredResponse, Study
from survey.services.analysis import (
    Choices,
    LeftOut,
    Marked,
    StudyAnalysis,
    Votes,
    analyse_votes,
    counts,
)
from survey.services.studies import questions_of


class Taker(Marked, Protocol):
    """What the analysis needs of a participant, from a database or from a file."""

    @property
    def public_id(self) -> str: ...  # noqa: D102 - the names say it
    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def personal(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def started_at(self) -> datetime: ...  # noqa: D102
    @property
    def completed_at(self) -> datetime | None: ...  # noqa: D102


def analyse_study(session: Session, study: Study, choices: Choices | None = None) -> StudyAnalysis:
    """Analyse a study's answers; test data only if chosen, excluded participants never.

    Call it in a session that is ``only_reading``, so that nobody's vote waits for it.
    """
    answers = queries.responses_of(session, study.id)
    return analyse_records(
        study_facts(study.slug, study.status, study.digest, study.generator_version, study.plan),
        study.plan,
        {question.number: question.rankings for question in questions_of(study)},
        queries.participants_of(session, study.id),
        [_response(*answer) for answer in answers],
        choices or Choices(),
    )


def _response(who: Participant, shown: Presentation, answer: StoredResponse) -> Response:
    return Response(
        participant=who.public_id,
        question=shown.question.number,
        label_order=tuple(shown.label_order),
        clicked=answer.clicked,
        own=answer.own,
        column_order=tuple(shown.column_order),
        position=shown.position,
        seconds=seconds_taken(answer.active_seconds, shown.shown_at, answer.submitted_at),
    )


def study_facts(
    slug: str, status: str, digest: str | None, generator_version: int, plan: Plan
) -> dict[str, Any]:
    """Return what an analysis says of the study it is about."""
    return {
        "slug": slug,
        "title": plan.title,
        "status": status,
        "digest": digest,
        "generator": plan.generator,
        "generator_version": generator_version,
        "seed": plan.seed,
        "collection_size": plan.collection_size,
        "measures": list(plan.measures),
    }


def analyse_records(
    facts: Mapping[str, Any],
    plan: Plan,
    rankings: Rankings,
    everyone: Sequence[Taker],
    answers: Sequence[Response],
    choices: Choices,
) -> StudyAnalysis:
    """Analyse answers of known participants, from a database or a bundle.

    Raises ValueError for an answer that does not belong to the study.
    """
    counted = {one.public_id for one in everyone if counts(one, choices)}
    responses = [one for one in answers if one.participant in counted]
    simulated = frozenset(one.public_id for one in everyone if one.is_test)
    votes = Votes(facts, plan.measures, rankings, plan.asked, responses, simulated)
    analysis = analyse_votes(votes, LeftOut.of(everyone, choices), choices)
    answering = {response.participant for response in analysis.votes.responses}
    participants = [one for one in everyone if one.public_id in answering]
    return StudyAnalysis(**vars(analysis), table3=_table3(plan, participants))


def _table3(plan: Plan, participants: Sequence[Taker]) -> Table3:
    told = [one.personal for one in participants]
    return Table3(
        participants=len(participants),
        completed=sum(one.status == "complete" for one in participants),
        questions_per_participant=plan.asked,
        numbers={
            field.name: spread([answers[field.name] for answers in told if field.name in answers])
            for field in plan.personal_fields
            if field.kind == "number"
        },
        counts={
            field.name: option_counts(
                [answers[field.name] for answers in told if field.name in answers], field.options
            )
            for field in plan.personal_fields
            if field.kind == "choice"
        },
        minutes=spread([minutes_taken(one) for one in participants]),
    )


def minutes_taken(participant: Taker) -> float:
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished."""
    seconds = seconds_between(participant.started_at, participant.completed_at)
    return math.nan if seconds is None else seconds / 60


def seconds_taken(
    active: float | None, shown_at: datetime | None, submitted_at: datetime | None
) -> float | None:
    """Return the seconds an answer took: in view, by the browser, else by the server's clock."""
    return active if active is not None else seconds_between(shown_at, submitted_at)


def seconds_between(begun: datetime | None, ended: datetime | None) -> float | None:
    """Count in whole seconds, as files give the times, so that a bundle's figures are
    the database's; None where a time is missing.
    """
    if begun is None or ended is None:
        return None
    return float(int(ended.timestamp()) - int(begun.timestamp()))
