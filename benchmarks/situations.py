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
from itertools import combinations
from random import Random
from typing import Protocol

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from survey.core.agreement.answers import Response
from survey.core.measures import Setting
from survey.core.studies.generators import discriminative_question, random_question
from survey.core.studies.questions import Blinding, Question, blind, draw_blinding
from survey.core.studies.rankings import Ranking, identical_groups
from survey.services.planning.ordering_bot import Preference, Vote, cast_vote, own_order

MEASURES = ("AP", "NMRR", "MNRO")
QUESTIONS_SEED = 1
DISCRIMINATIVE_STOCK = 60
STOCK = 300  # questions of the generator from which a study's are drawn

OWN = 0.07
SECOND_TICK = 0.03
DECIDED = 0.68  # for MNRO or NMRR alone: 204 of the 300 responses of Table 4
LABEL_TASTE = (0.45, 0.75)  # who ticks without looking: Method1 in .45, Method2 in .30

BETWEEN_QUESTIONS = 0.15  # of MNRO minus NMRR, as in Table 4
BETWEEN_PARTICIPANTS = 0.05

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

    def meet(
        self, participants: int, questions: Mapping[int, Question], chance: Generator, /
    ) -> tuple[CastVote, float]:
        """Return how they vote on these questions, and the true mean difference there.

        The difference is MNRO minus NMRR in credits per response, over a population of
        such participants; NaN where the study is not about it.
        """


@dataclass(frozen=True)
class Situation:
    """What is true in a simulated study; ``difference``: of MNRO and NMRR over all questions.

    ``distinct``: only questions on which all measures' orders differ; ``discriminative``: only
    those in which every two measures contradict each other.
    """

    voters: Voters
    distinct: bool
    difference: float = 0.0
    discriminative: bool = False


@dataclass(frozen=True)
class SimulatedStudy:
    """What a study leaves behind, and what was true in it.

    ``difference``: over all questions of the kind; ``difference_here``: over these.
    """

    responses: tuple[Response, ...]
    rankings: Mapping[int, Mapping[str, Ranking]]
    asked: int
    difference: float
    difference_here: float


@dataclass(frozen=True)
class Blind:
    """Tick a label without looking at what stands below it, Method1 more often."""

    def meet(
        self, _participants: int, questions: Mapping[int, Question], chance: Generator
    ) -> tuple[CastVote, float]:
        """Vote by the label alone; identical orders make the true difference unknown here."""

        def vote(_participant: int, number: int, _shown: Blinding) -> Vote:
            if chance.random() < OWN:
                return _own(questions[number], chance)
            return _ticked(1 + bisect(LABEL_TASTE, chance.random()), chance)

        return vote, float("nan")


@dataclass(frozen=True)
class Leaning:
    """Prefer MNRO to NMRR by δ + u_s + v_p in question s as participant p.

    P(d = 1) - P(d = -1) = δ + u_s + v_p, with δ = ``difference``, u_s ~ N(0, τ_s²) between
    questions and v_p ~ N(0, τ_p²) between participants, clipped to the possible range
    (with these τ in fewer than 2 of 1,000 responses). ``balanced``: u_s sum to zero in
    each study, so that there is a difference in some questions and none over these.
    Made for questions with distinct orders.
    """

    difference: float = 0.0
    between_questions: float = BETWEEN_QUESTIONS
    between_participants: float = BETWEEN_PARTICIPANTS
    balanced: bool = False

    def meet(
        self, participants: int, questions: Mapping[int, Question], chance: Generator
    ) -> tuple[CastVote, float]:
        """Draw the questions' and the participants' effects."""
        of_questions = chance.normal(0, self.between_questions, len(questions))
        of_questions -= of_questions.mean() if self.balanced else 0
        leans = (self.difference + of_questions).tolist()
        of_people = chance.normal(0, self.between_participants, participants).tolist()

        def vote(participant: int, number: int, shown: Blinding) -> Vote:
            lean = leans[number - 1] + of_people[participant]
            # A second tick on MNRO or NMRR undoes half of what it adds to.
            lean = min(max(lean / (1 - SECOND_TICK / 2), -DECIDED), DECIDED)
            place = bisect(((DECIDED + lean) / 2, DECIDED, 1 - OWN), chance.random())
            if place == len(MEASURES):
                return _own(questions[number], chance)
            return _ticked(1 + shown.label_order.index(("MNRO", "NMRR", "AP")[place]), chance)

        return vote, self.difference + float(of_questions.mean())


@dataclass(frozen=True)
class StrictOrders:
    """Hold an order without ties and tick the column that agrees on most pairs of lists.

    A tie agrees with no strict order; equally near columns are drawn from. ``late_hits``: the
    order is by the sum of a list's positions, so that late ones count most, plus noise as large
    as the lists' sums differ; else it is random and has nothing to do with the lists.
    """

    late_hits: bool = False

    def meet(
        self, _participants: int, questions: Mapping[int, Question], chance: Generator
    ) -> tuple[CastVote, float]:
        """Vote by the columns' orders."""

        def vote(_participant: int, number: int, shown: Blinding) -> Vote:
            question = questions[number]
            sums = {letter: sum(ranks) for letter, ranks in question.lists.items()}
            spread = float(np.std(list(sums.values())))
            order = {
                letter: total + chance.normal(0, spread) if self.late_hits else chance.random()
                for letter, total in sums.items()
            }
            agreeing = [
                sum(
                    (order[a] < order[b]) == (places[a] < places[b]) and places[a] != places[b]
                    for a, b in combinations(order, 2)
                )
                for places in (question.rankings[name].places for name in shown.label_order)
            ]
            nearest = [label for label, count in enumerate(agreeing, 1) if count == max(agreeing)]
            return Vote(clicked=frozenset({nearest[int(chance.integers(len(nearest)))]}))

        return vote, float("nan")


@dataclass(frozen=True)
class Planted:
    """Vote as the bots of ``survey simulate`` do, with the preference given to it."""

    preference: Preference

    def meet(
        self, _participants: int, questions: Mapping[int, Question], chance: Generator
    ) -> tuple[CastVote, float]:
        """Vote by the columns as a page shows them."""

        def vote(_participant: int, number: int, shown: Blinding) -> Vote:
            question = questions[number]
            printed = [question.columns[name].shown for name in shown.label_order]
            columns = blind(question, shown, printed).columns
            return cast_vote(self.preference, question, columns, chance)

        return vote, float("nan")


def _own(question: Question, chance: Generator) -> Vote:
    return Vote(own=own_order(tuple(question.lists), set(question.rankings.values()), chance))


def _ticked(label: int, chance: Generator) -> Vote:
    if chance.random() >= SECOND_TICK:
        return Vote(clicked=frozenset({label}))
    others = [other for other in range(1, len(MEASURES) + 1) if other != label]
    return Vote(clicked=frozenset({label, others[int(chance.integers(len(others)))]}))


@cache
def stock(*, distinct: bool, discriminative: bool = False) -> tuple[Question, ...]:
    """Return the generator's first questions for the paper's design, or those with distinct orders.

    5 lists of 5 relevant items among 100.
    """
    draw = discriminative_question if discriminative else random_question
    drawn = (
        draw(
            number,
            seed=QUESTIONS_SEED,
            lists=5,
            relevant=5,
            measures=MEASURES,
            setting=Setting(100, None, False),
        )
        for number in range(1, 1 + (DISCRIMINATIVE_STOCK if discriminative else STOCK))
    )
    return tuple(one for one in drawn if not (distinct and identical_groups(one.rankings)))


def simulate_study(situation: Situation, design: Design, stream: SeedSequence) -> SimulatedStudy:
    """Draw one study: its questions, who answers which, labels and votes."""
    chance = Generator(PCG64(stream))
    known = stock(distinct=situation.distinct, discriminative=situation.discriminative)
    drawn = chance.choice(len(known), design.questions, replace=False)
    questions = {number: known[place] for number, place in enumerate(drawn.tolist(), 1)}
    vote, difference_here = situation.voters.meet(design.participants, questions, chance)
    return SimulatedStudy(
        responses=tuple(_responses(design, questions, vote, chance)),
        rankings={number: question.rankings for number, question in questions.items()},
        asked=design.asked,
        difference=situation.difference,
        difference_here=difference_here,
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
