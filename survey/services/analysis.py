"""What votes support: one analysis, with the choices it was made under."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import TIES, Agreement, agree
from survey.core.agreement.answers import Answers
from survey.core.agreement.ballots import Rankings
from survey.core.agreement.participants import Table3
from survey.core.agreement.quality import Flag, flagged_for_exclusion, quality_flags
from survey.core.agreement.sensitivity import Variant, sensitivity
from survey.core.agreement.verdicts import Verdict, verdict
from survey.services.errors import SurveyError


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
    agreement = agree(votes.answers, votes.rankings, votes.measures, votes.asked, ties=choices.ties)
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
        there = int(given.answers.given[are_in(people.tolist(), given.answers)].sum())
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
