"""From stored answers to Tables 3 and 4."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy.orm import Session

from survey.core.agreement.counts import (
    Shares,
    Table4,
    distinct_questions,
    first_places,
    shares,
    table4,
)
from survey.core.agreement.credits import Response, tally_credits
from survey.core.agreement.participants import Table3, option_counts, spread
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.rankings import Ranking
from survey.db import queries
from survey.db.models import Study
from survey.services.studies import questions_of


@dataclass(frozen=True)
class LeftOut:
    """Participants whose answers are not counted, and why."""

    test: int
    excluded: int


@dataclass(frozen=True)
class Analysis:
    """A study's tables, with how many they rest on.

    ``participants``: those with at least one counted answer. ``missing``: answers
    that these participants have not given.
    """

    study: Mapping[str, Any]
    participants: int
    questions: int
    responses: int
    missing: int
    left_out: LeftOut
    table3: Table3
    table4: Table4
    shares: Shares
    first_or_tied: Mapping[str, int]
    first_outright: Mapping[str, int]


class Taker(Protocol):
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
    @property
    def is_test(self) -> bool: ...  # noqa: D102
    @property
    def excluded(self) -> bool: ...  # noqa: D102


def analyse_study(session: Session, study: Study, *, include_test: bool = False) -> Analysis:
    """Count a study's answers; test data only if asked for, excluded participants never.

    Call it in a session that is ``only_reading``, so that nobody's vote waits for it.
    """
    responses = [
        Response(
            participant=participant.public_id,
            question=presentation.question.number,
            label_order=tuple(presentation.label_order),
            clicked=response.clicked,
            own=response.own,
        )
        for participant, presentation, response in queries.responses_of(session, study.id)
    ]
    return analyse_records(
        study_facts(study.slug, study.status, study.digest, study.generator_version, study.plan),
        study.plan,
        {question.number: question.rankings for question in questions_of(study)},
        queries.participants_of(session, study.id),
        responses,
        include_test=include_test,
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
    rankings: Mapping[int, Mapping[str, Ranking]],
    everyone: Sequence[Taker],
    answers: Sequence[Response],
    *,
    include_test: bool = False,
) -> Analysis:
    """Count answers, wherever they come from; ``rankings``: question → measure → order.

    Raises ValueError for an answer that does not belong to the study.
    """
    counted = {
        one.public_id for one in everyone if not one.excluded and (include_test or not one.is_test)
    }
    responses = [one for one in answers if one.participant in counted]
    answering = {response.participant for response in responses}
    participants = [one for one in everyone if one.public_id in answering]
    credits = tally_credits(responses, rankings, plan.measures)
    table = table4(credits, rankings)
    or_tied, outright = first_places(table)
    return Analysis(
        study=facts,
        participants=len(participants),
        questions=len(rankings),
        responses=len(responses),
        missing=len(participants) * plan.asked - len(responses),
        left_out=LeftOut(
            test=sum(one.is_test and not include_test for one in everyone),
            excluded=sum(one.excluded for one in everyone),
        ),
        table3=_table3(plan, participants),
        table4=table,
        shares=shares(credits, distinct_questions(rankings)),
        first_or_tied=or_tied,
        first_outright=outright,
    )


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
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished.

    Counted in whole seconds, as files give the times, so that a bundle's figures are
    the database's.
    """
    if participant.completed_at is None:
        return math.nan
    begun, ended = (
        int(moment.timestamp()) for moment in (participant.started_at, participant.completed_at)
    )
    return (ended - begun) / 60
