"""What votes support: one analysis, with the choices it was made under.

From a study's stored answers to their analysis: who counts, Table 3, times.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from survey.core.agreement.agreement import TIES, Agreement, Variant, analyse_answers, sensitivity
from survey.core.agreement.answers import (
    Answers,
    Coded,
    People,
    Table3,
    option_counts,
    seconds_between,
    spread,
)
from survey.core.agreement.credits import Rankings
from survey.core.agreement.quality import Flag, flagged_for_exclusion, quality_flags
from survey.core.agreement.verdicts import Verdict, verdict
from survey.core.studies.plan import Plan
from survey.db import vote_queries
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services.studies.languages import ENGLISH
from survey.services.studies.lifecycle import questions_of


@dataclass(frozen=True)
class Choices:
    """What is counted, and how; every output says so.

    ``include_test``: simulated participants too; ``exclude_flagged``: without those whom
    a quality flag marks; ``without_question``: all but one; ``ties``: whether a vote that
    credits several measures is kept, split or dropped.
    """

    include_test: bool = False
    exclude_flagged: bool = False
    without_question: int | None = None
    ties: str = "kept"

    @property
    def as_planned(self) -> bool:
        """Whether this is the analysis of the protocol, test data apart."""
        return replace(self, include_test=False) == Choices()


class Marked(Protocol):
    """What decides whether someone's answers count, of many participants."""

    @property
    def is_test(self) -> NDArray[np.bool_]: ...  # noqa: D102 - the names say it
    @property
    def excluded(self) -> NDArray[np.bool_]: ...  # noqa: D102


def counted(people: Marked, choices: Choices) -> NDArray[np.bool_]:
    """Tell whose answers count: test data only if chosen, excluded participants' never."""
    return ~people.excluded & (choices.include_test | ~people.is_test)


@dataclass(frozen=True)
class LeftOut:
    """Participants whose answers are not counted, each once: as test data, or why else."""

    test: int
    excluded: int
    flagged: int

    @classmethod
    def of(cls, people: Marked, choices: Choices) -> "LeftOut":
        """Count those who do not count, before anybody is flagged."""
        left_out = int((~counted(people, choices)).sum())
        test = 0 if choices.include_test else int(people.is_test.sum())
        return cls(test=test, excluded=left_out - test, flagged=0)


@dataclass(frozen=True)
class Votes:
    """Answers to be analysed, with what they are answers to.

    ``rankings``: question → measure → order; ``asked``: questions for each participant;
    ``simulated``: those of the participants who are test data.
    """

    study: Mapping[str, Any]
    measures: tuple[str, ...]
    rankings: Rankings
    asked: int
    answers: Answers
    simulated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Analysis:
    """What the votes say, with how many it rests on.

    ``given``: all the votes, before the choices; ``votes``: those that are counted.
    ``participants``: those with at least one counted answer; ``missing``: answers that
    these have not given; ``flags``: quality flags of everyone who counts, whether or not
    they are left out here.
    """

    given: Votes
    votes: Votes
    choices: Choices
    participants: int
    responses: int
    missing: int
    left_out: LeftOut
    agreement: Agreement
    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...]

    @property
    def study(self) -> Mapping[str, Any]:
        """What the analysis is about."""
        return self.votes.study

    @property
    def simulated(self) -> int:
        """How many of the participants counted are simulated."""
        return int(are_in(self.votes.simulated, self.votes.answers).sum())

    @property
    def questions(self) -> int:
        """How many questions the analysis covers."""
        return len(self.votes.rankings)

    @cached_property
    def sensitivity(self) -> tuple[Variant, ...]:
        """The differences under each choice, of all the votes; computed when asked for."""
        given = self.given
        flagged = are_in(flagged_for_exclusion(self.flags), given.answers)
        return sensitivity(given.answers, given.rankings, given.measures, flagged)


@dataclass(frozen=True)
class StudyAnalysis(Analysis):
    """The analysis of a study whose participants are known: with Table 3."""

    table3: Table3


def are_in(people: Collection[str], answers: Answers) -> NDArray[np.bool_]:
    """Tell of each participant whether they are among these people."""
    if not people:
        return np.zeros(len(answers.people), dtype=bool)
    these = frozenset(people)
    return np.array([one in these for one in answers.people.tolist()], dtype=bool)


def analyse_votes(given: Votes, left_out: LeftOut, choices: Choices) -> Analysis:
    """Analyse votes of which nothing else is known, as the choices say."""
    if choices.ties not in TIES:
        raise SurveyError(f"Ties are {', '.join(TIES)}; {choices.ties!r} was found.")
    # Flags judge people; bots take no time at all.
    people = given.answers.of_people(~are_in(given.simulated, given.answers))
    flags, votes = quality_flags(people, given.asked), given
    if choices.exclude_flagged:
        flagged = flagged_for_exclusion(flags)
        kept = given.answers.of_people(~are_in(flagged, given.answers))
        votes = replace(votes, answers=kept)
        left_out = replace(left_out, flagged=len(flagged))
    votes = _without(votes, choices.without_question)
    agreement = analyse_answers(
        votes.answers, votes.rankings, votes.measures, votes.asked, ties=choices.ties
    )
    return Analysis(
        given=given,
        votes=votes,
        choices=choices,
        participants=agreement.participants,
        responses=agreement.responses,
        missing=_missing(given, votes),
        left_out=left_out,
        agreement=agreement,
        verdicts=tuple(
            verdict(one, len(agreement.differences), len(votes.rankings))
            for one in agreement.differences
        ),
        flags=flags,
    )


def _missing(given: Votes, votes: Votes) -> int:
    """Count what participants who count have not answered.

    Of a pool nobody knows who was to be asked a question that is left out: answers to it
    are not missing, they are only not counted.
    """
    people = votes.answers.people
    there = len(votes.answers)
    if votes.asked == given.asked and votes.answers is not given.answers:
        there = int(given.answers.answer_counts[are_in(people.tolist(), given.answers)].sum())
    return len(people) * votes.asked - there


def _without(votes: Votes, question: int | None) -> Votes:
    """Leave a question out; in a pool not everybody was asked it, so nobody is owed one less."""
    if question is None:
        return votes
    if question not in votes.rankings or len(votes.rankings) == 1:
        raise SurveyError(f"There is no question {question} that could be left out.")
    everyone_is_asked_all = votes.asked == len(votes.rankings)
    return replace(
        votes,
        rankings={number: of for number, of in votes.rankings.items() if number != question},
        answers=votes.answers.without_question(question),
        asked=votes.asked - everyone_is_asked_all,
    )


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

    Call it in a session that is ``begin_reading``, so that nobody's vote waits for it.
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
    places = everyone.index_of(answers.people)
    counting = places >= 0
    counting[counting] = counted(everyone, choices)[places[counting]]
    given = answers.of_people(counting)
    simulated = frozenset(everyone.ids[everyone.is_test].tolist())
    votes = Votes(facts, plan.measures, rankings, plan.asked, given, simulated)
    analysis = analyse_votes(votes, LeftOut.of(everyone, choices), choices)
    answering = everyone.subset(everyone.index_of(analysis.votes.answers.people))
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
            field.name: spread(people.personal_answers(field.name))
            for field in plan.personal_fields
            if field.kind == "number"
        },
        counts={
            field.name: option_counts(people.personal_answers(field.name), field.options)
            for field in plan.personal_fields
            if field.kind == "choice"
        },
        minutes=spread(people.minutes.tolist()),
    )


def minutes_taken(participant: Taker) -> float:
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished."""
    seconds = seconds_between(participant.started_at, participant.completed_at)
    return math.nan if seconds is None else seconds / 60
