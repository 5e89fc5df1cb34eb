"""From stored answers to Tables 3 and 4."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from survey.db.models import Participant, Study
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


def analyse_study(session: Session, study: Study, *, include_test: bool = False) -> Analysis:
    """Count a study's answers; test data only if asked for, excluded participants never.

    Call it in a session that is ``only_reading``, so that nobody's vote waits for it.
    """
    rankings = {question.number: question.rankings for question in questions_of(study)}
    everyone = queries.participants_of(session, study.id)
    counted = {one.id for one in everyone if not one.excluded and (include_test or not one.is_test)}
    responses = [
        Response(
            participant=participant.public_id,
            question=presentation.question.number,
            label_order=tuple(presentation.label_order),
            clicked=response.clicked,
            own=response.own,
        )
        for participant, presentation, response in queries.responses_for_analysis(session, study.id)
        if participant.id in counted
    ]
    answering = {response.participant for response in responses}
    return _analyse(
        study,
        [one for one in everyone if one.public_id in answering],
        responses,
        rankings,
        LeftOut(
            test=sum(one.is_test and not include_test for one in everyone),
            excluded=sum(one.excluded for one in everyone),
        ),
    )


def _analyse(
    study: Study,
    participants: Sequence[Participant],
    responses: Sequence[Response],
    rankings: Mapping[int, Mapping[str, Ranking]],
    left_out: LeftOut,
) -> Analysis:
    plan = study.plan
    credits = tally_credits(responses, rankings, plan.measures)
    table = table4(credits, rankings)
    or_tied, outright = first_places(table)
    return Analysis(
        study={
            "slug": study.slug,
            "title": plan.title,
            "status": study.status,
            "digest": study.digest,
            "generator": plan.generator,
            "generator_version": study.generator_version,
            "seed": plan.seed,
            "collection_size": plan.collection_size,
            "measures": list(plan.measures),
        },
        participants=len(participants),
        questions=len(rankings),
        responses=len(responses),
        missing=len(participants) * len(rankings) - len(responses),
        left_out=left_out,
        table3=_table3(plan, participants),
        table4=table,
        shares=shares(credits, distinct_questions(rankings)),
        first_or_tied=or_tied,
        first_outright=outright,
    )


def _table3(plan: Plan, participants: Sequence[Participant]) -> Table3:
    told = [one.personal for one in participants]
    return Table3(
        participants=len(participants),
        completed=sum(one.status == "complete" for one in participants),
        questions_per_participant=plan.questions,
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


def minutes_taken(participant: Participant) -> float:
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished."""
    if participant.completed_at is None:
        return math.nan
    return (participant.completed_at - participant.started_at).total_seconds() / 60
