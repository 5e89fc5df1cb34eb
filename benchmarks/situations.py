"""Simulated studies in which the truth is known: real questions, blinded columns, votes.

A study is a list of ``Response`` objects, as the database gives them: a participant's
labels are drawn by the survey's own blinding, the columns are ticked, credits are left to
the analysis. In about 7 of 100 responses an order of one's own is given; in 3 of 100 of
the others a second column is ticked, any of the rest.
"""

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Protocol

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from survey.core.agreement.answers import Response
from survey.core.measures import Setting
from survey.core.studies.generators import random_question
from survey.core.studies.questions import Blinding, Question, blind, draw_blinding
from survey.core.studies.rankings import Ranking, identical_groups
from survey.kinds.ordering.bot import Preference, Vote, cast_vote, own_order

MEASURES = ("AP", "NMRR", "MNRO")
QUESTIONS_SEED = 1
STOCK = 300  # questions of the generator from which a study's are drawn

OWN = 0.07
SECOND_TICK = 0.03
LABEL_TASTE = (0.45, 0.75)  # who ticks without looking: Method1 in .45, Method2 in .30

CastVote = Callable[[int, int, Blinding], Vote]


@dataclass(frozen=True)
class Design:
    """So many ``participants`` answer ``asked`` of ``questions`` each, dealt evenly."""

    participants: int
    asked: int
    questions: int

    def __str__(self) -> str:
        pool = f" of {self.questions}" if self.asked < self.questions else ""
        return f"{self.participants} × {self.asked}{pool}"


class Voters(Protocol):
    """How a study's participants vote."""

    def meet(self, questions: Mapping[int, Question], chance: Generator, /) -> CastVote:
        """Return how they vote on these questions."""


@dataclass(frozen=True)
class Situation:
    """Who votes; ``distinct``: only on questions on which all measures' orders differ."""

    voters: Voters
    distinct: bool


@dataclass(frozen=True)
class SimulatedStudy:
    """What a study leaves behind."""

    responses: tuple[Response, ...]
    rankings: Mapping[int, Mapping[str, Ranking]]
    asked: int


@dataclass(frozen=True)
class Blind:
    """Tick a label without looking at what stands below it, Method1 more often."""

    def meet(self, questions: Mapping[int, Question], chance: Generator) -> CastVote:
        """Vote by the label alone."""

        def vote(_participant: int, number: int, _shown: Blinding) -> Vote:
            if chance.random() < OWN:
                return _own(questions[number], chance)
            return _ticked(1 + bisect(LABEL_TASTE, chance.random()), chance)

        return vote


@dataclass(frozen=True)
class Planted:
    """Vote as the bots of ``survey simulate`` do, with the preference given to it."""

    preference: Preference

    def meet(self, questions: Mapping[int, Question], chance: Generator) -> CastVote:
        """Vote by the columns as a page shows them."""

        def vote(_participant: int, number: int, shown: Blinding) -> Vote:
            question = questions[number]
            printed = [question.columns[name].shown for name in shown.label_order]
            columns = blind(question, shown, printed).columns
            return cast_vote(self.preference, question, columns, chance)

        return vote


def _own(question: Question, chance: Generator) -> Vote:
    return Vote(own=own_order(tuple(question.lists), set(question.rankings.values()), chance))


def _ticked(label: int, chance: Generator) -> Vote:
    if chance.random() >= SECOND_TICK:
        return Vote(clicked=frozenset({label}))
    others = [other for other in range(1, len(MEASURES) + 1) if other != label]
    return Vote(clicked=frozenset({label, others[int(chance.integers(len(others)))]}))


@cache
def stock(*, distinct: bool) -> tuple[Question, ...]:
    """Return the generator's first questions for the paper's design, or those with distinct orders.

    5 lists of 5 relevant items among 100.
    """
    drawn = (
        random_question(
            number,
            seed=QUESTIONS_SEED,
            lists=5,
            relevant=5,
            measures=MEASURES,
            setting=Setting(100, None, False),
        )
        for number in range(1, 1 + STOCK)
    )
    return tuple(one for one in drawn if not (distinct and identical_groups(one.rankings)))


def simulate_study(
    situation: Situation, design: Design, stream: SeedSequence | Generator
) -> SimulatedStudy:
    """Draw one study: its questions, who answers which, labels and votes."""
    chance = Generator(PCG64(stream)) if isinstance(stream, SeedSequence) else stream
    known = stock(distinct=situation.distinct)
    drawn = chance.choice(len(known), design.questions, replace=False)
    questions = {number: known[place] for number, place in enumerate(drawn.tolist(), 1)}
    vote = situation.voters.meet(questions, chance)
    return SimulatedStudy(
        responses=tuple(_responses(design, questions, vote, chance)),
        rankings={number: question.rankings for number, question in questions.items()},
        asked=design.asked,
    )


def _responses(
    design: Design, questions: Mapping[int, Question], vote: CastVote, chance: Generator
) -> Iterator[Response]:
    labels = Random(int(chance.integers(2**62)))  # noqa: S311 - nobody has to be kept blind
    for participant, numbers in enumerate(deal(design, chance)):
        for position, number in enumerate(numbers, 1):
            shown = draw_blinding(MEASURES, tuple(questions[number].lists), labels)
            cast = vote(participant, number, shown)
            yield Response(
                participant=f"p{participant:03}",
                question=number,
                label_order=shown.label_order,
                clicked=cast.clicked,
                own=cast.own,
                column_order=shown.column_order,
                position=position,
            )


def deal(design: Design, chance: Generator) -> Sequence[Sequence[int]]:
    """Give each participant the questions asked least often so far, chance among equals."""
    asked = np.zeros(design.questions, dtype=int)
    dealt = []
    for _ in range(design.participants):
        least = np.lexsort([chance.random(design.questions), asked])[: design.asked]
        asked[least] += 1
        dealt.append((1 + np.sort(least)).tolist())
    return dealt
