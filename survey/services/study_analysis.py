"""From a study's stored answers to their analysis: who counts, Table 3, times."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, Coded
from survey.core.agreement.ballots import Rankings
from survey.core.agreement.participants import People, Table3, option_counts, spread
from survey.core.agreement.times import seconds_between
from survey.core.stimuli.plan import Plan
from survey.db import vote_queries
from survey.db.models import Study
from survey.services.analysis import (
    Choices,
    LeftOut,
    StudyAnalysis,
    Votes,
    analyse_votes,
    counted,
)
from survey.services.languages import ENGLISH
from survey.services.studies import questions_of


class Taker(Protocol):
    """What the analysis needs of a participant's record."""

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


def analyse_study(session: Session, study: Study, choices: Choices | None = None) -> StudyAnalysis:
    """Analyse a study's answers; test data only if chosen, excluded participants never.

    Call it in a session that is ``only_reading``, so that nobody's vote waits for it.
    """
    people, answers = vote_queries.votes_of(session, study.id)
    return analyse_records(
        study_facts(study.slug, study.status, study.digest, study.generator_version, study.plan),
        study.plan,
        {question.number: question.rankings for question in questions_of(study)},
        people,
        answers,
        choices or Choices(),
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
        # Of its texts, the title among them; English goes without saying.
        **({"language": plan.language} if plan.language != ENGLISH else {}),
    }


def analyse_records(
    facts: Mapping[str, Any],
    plan: Plan,
    rankings: Rankings,
    everyone: People,
    answers: Answers,
    choices: Choices,
) -> StudyAnalysis:
    """Analyse answers of known participants, from a database or a bundle.

    Raises ValueError for an answer that does not belong to the study.
    """
    places = everyone.places_of(answers.people)
    counting = places >= 0
    counting[counting] = counted(everyone, choices)[places[counting]]
    given = answers.of_people(counting)
    simulated = frozenset(everyone.ids[everyone.is_test].tolist())
    votes = Votes(facts, plan.measures, rankings, plan.asked, given, simulated)
    analysis = analyse_votes(votes, LeftOut.of(everyone, choices), choices)
    answering = everyone.within(everyone.places_of(analysis.votes.answers.people))
    return StudyAnalysis(**vars(analysis), table3=_table3(plan, answering))


def people_from(everyone: Iterable[Taker]) -> People:
    """Lay out participants' records in columns."""
    takers = list(everyone)
    texts = Coded.of(json.dumps(one.personal, sort_keys=True) for one in takers)
    return People(
        ids=np.array([one.public_id for one in takers], dtype=str),
        is_test=np.array([one.is_test for one in takers], dtype=bool),
        excluded=np.array([one.excluded for one in takers], dtype=bool),
        complete=np.array([one.status == "complete" for one in takers], dtype=bool),
        minutes=np.array([minutes_taken(one) for one in takers], dtype=np.float64),
        personal=Coded(tuple(map(json.loads, texts.values)), texts.codes),
    )


def _table3(plan: Plan, people: People) -> Table3:
    return Table3(
        participants=len(people),
        completed=int(people.complete.sum()),
        questions_per_participant=plan.asked,
        numbers={
            field.name: spread(people.said(field.name))
            for field in plan.personal_fields
            if field.kind == "number"
        },
        counts={
            field.name: option_counts(people.said(field.name), field.options)
            for field in plan.personal_fields
            if field.kind == "choice"
        },
        minutes=spread(people.minutes.tolist()),
    )


def minutes_taken(participant: Taker) -> float:
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished."""
    seconds = seconds_between(participant.started_at, participant.completed_at)
    return math.nan if seconds is None else seconds / 60
