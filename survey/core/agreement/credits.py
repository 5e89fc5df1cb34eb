"""From ticks to credits: the distinct ballots, whom they credit, Table 4 and the shares.

A ballot is a question with the measures behind the ticked labels, or with a custom ranking.
Ten million answers to ten questions are some thousand such ballots, so credits, orders and
their agreement are computed once for each.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import (
    PEOPLE_AT_ONCE,
    Answers,
    distinct_keys,
    first_rows,
    looked_up,
    sum_by_participant,
    tallied,
)
from survey.core.studies.rankings import Ranking, identical_groups

OTHER = "OTHER"

# Every share of a split vote among 2 to 6 measures is a multiple of 1/60, and its mean over
# redrawn labels, 60 sets of labels or a divisor of 60, one of 1/3600.
UNITS_OF_A_VOTE = 3600

NO_UNIT = 1e-6  # less than that from a whole unit is an error of rounding

Rankings = Mapping[int, Mapping[str, Ranking]]
"""Question number → measure → its order of the lists."""


@dataclass(frozen=True)
class Ballots:
    """The K distinct ballots of a study, and which of them each answer is.

    For each ballot: its question in ``questions`` (K,), the measures ``ticked``
    (K, measures), the custom ranking or None in ``owns``, and in ``counts`` (K,) how many
    answers it is. ``ballot_index``: for each answer the index of its ballot;
    ``first_answer``: for each participant the row of the first answer.
    """

    measures: tuple[str, ...]
    rankings: Rankings
    questions: NDArray[np.int64]
    ticked: NDArray[np.bool_]
    owns: tuple[Ranking | None, ...]
    ballot_index: NDArray[np.signedinteger]
    first_answer: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, rankings: Rankings, measures: Sequence[str]) -> "Ballots":
        """Group the answers into distinct ballots.

        Raises ValueError for an answer to a question that has no rankings, or shown
        with other measures than the study's.
        """
        _require_of_the_study(answers, rankings, measures)
        subsets, owns = 1 << len(measures), answers.own.values
        width = subsets + len(owns)
        space = width * len(answers.question.values)
        behind = _ticked_measures(answers, measures)
        choices = looked_up(behind, answers.label_order.codes, answers.clicked)
        own = answers.own.known
        choices[own] = answers.own.codes[own].astype(np.int32) + subsets
        of_answers: NDArray[np.integer] = answers.question.codes.astype(
            np.int64 if space > 2**31 else np.int32
        )
        of_answers *= width
        of_answers += choices
        keys, ballot_index = distinct_keys(of_answers, space)
        choices = keys % width
        return cls(
            measures=tuple(measures),
            rankings=rankings,
            questions=np.array(answers.question.values, dtype=np.int64)[keys // width],
            ticked=(choices[:, np.newaxis] >> np.arange(len(measures)) & 1).astype(bool)
            & (choices < subsets)[:, np.newaxis],
            owns=tuple(
                owns[number - subsets] if number >= subsets else None for number in choices.tolist()
            ),
            ballot_index=ballot_index,
            first_answer=answers.first_answer,
            counts=tallied(ballot_index, len(keys)),
        )

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def custom(self) -> NDArray[np.bool_]:
        """Mask of the ballots that are custom rankings, (K,)."""
        return np.array([own is not None for own in self.owns], dtype=bool)

    @property
    def clicks(self) -> NDArray[np.int64]:
        """Number of columns ticked in each ballot, (K,)."""
        clicks: NDArray[np.int64] = self.ticked.sum(axis=1)
        return clicks

    @cached_property
    def answer_counts(self) -> NDArray[np.int64]:
        """Number of answers of each participant."""
        return np.diff(self.first_answer, append=len(self.ballot_index))

    def sum_by_participant(self, values: NDArray[np.number | np.bool]) -> NDArray[Any]:
        """Add up values of ballots, (K,), over each participant's answers."""
        key = values.dtype.str.encode() + values.tobytes()
        if key not in self._latest_sums:
            self._latest_sums.clear()
            self._latest_sums[key] = self._sum_by_participant(values)
        return self._latest_sums[key]

    @cached_property
    def _latest_sums(self) -> dict[bytes, NDArray[Any]]:
        """The sums of one array of values: two tests in a row need the same."""
        return {}

    def _sum_by_participant(self, values: NDArray[np.number | np.bool]) -> NDArray[Any]:
        # In blocks that stay in the processor's cache, in memory that is taken once.
        edges = np.append(self.first_answer[::PEOPLE_AT_ONCE], len(self.ballot_index))
        of_answers = np.empty(np.diff(edges).max(initial=0), dtype=values.dtype)
        sums = [sum_by_participant(values[:0], self.first_answer[:0])]
        for block, (start, end) in enumerate(pairwise(edges.tolist())):
            people = slice(block * PEOPLE_AT_ONCE, (block + 1) * PEOPLE_AT_ONCE)
            block_values = of_answers[: end - start]
            values.take(self.ballot_index[start:end], out=block_values, mode="wrap")
            sums.append(sum_by_participant(block_values, self.first_answer[people] - start))
        return np.concatenate(sums)

    def of_people(self, chosen: NDArray[np.bool_]) -> "Ballots":
        """Count the answers of some participants only; ``chosen``: a mask over them."""
        ballot_index = self.ballot_index[np.repeat(chosen, self.answer_counts)]
        return replace(
            self,
            ballot_index=ballot_index,
            first_answer=first_rows(self.answer_counts[chosen]),
            counts=tallied(ballot_index, len(self)),
        )


def _ticked_measures(answers: Answers, measures: Sequence[str]) -> NDArray[np.int32]:
    """Return for each label order and each set of labels the measures behind it, as bits."""
    sets = np.arange(1 << len(measures))
    behind = np.zeros((len(answers.label_order.values), len(sets)), dtype=np.int32)
    for row, label_order in zip(behind, answers.label_order.values, strict=True):
        for label, name in enumerate(label_order):
            row += (sets >> label & 1) << measures.index(name)
    return behind


def _require_of_the_study(answers: Answers, rankings: Rankings, measures: Sequence[str]) -> None:
    known = np.array([question in rankings for question in answers.question.values], dtype=bool)
    orders = [sorted(order) == sorted(measures) for order in answers.label_order.values]
    shown = np.array(orders, dtype=bool)
    if known.all() and shown.all():
        return
    codes, labels = answers.question.codes, answers.label_order.codes
    fits = known[codes] & shown[labels]
    if fits.all():
        return
    row = int(np.argmin(fits))
    participant = answers.people[np.searchsorted(answers.first_answer, row, side="right") - 1]
    question = answers.question.values[codes[row]]
    if question not in rankings:
        raise ValueError(
            f"participant {participant} answered question {question}, which the study does not have"
        )
    raise ValueError(
        f"participant {participant}, question {question}: shown were "
        f"{' '.join(answers.label_order.values[labels[row]])}; the study compares "
        f"{' '.join(measures)}"
    )


@dataclass(frozen=True)
class Credits:
    """Which measures each of a study's K ballots credits.

    ``credited``: bool (K, measures); ``weight``: float (K,), what each credit of a ballot
    counts; ``counted``: bool (K,), whether it is counted; ``shared``: how votes that credit
    several measures were treated, which redrawn labels have to repeat. ``clusters``: int (K,),
    which ballots' questions belong together, as those of a topic; None if each is by itself.
    """

    ballots: Ballots
    credited: NDArray[np.bool_]
    weight: NDArray[np.float64]
    counted: NDArray[np.bool_]
    shared: Literal["kept", "split", "dropped"] = "kept"
    clusters: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Return the number of responses that are counted."""
        return int(self.counts.sum())

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.ballots.measures

    @property
    def questions(self) -> NDArray[np.int64]:
        """Question of each ballot, (K,)."""
        return self.ballots.questions

    @property
    def other(self) -> NDArray[np.bool_]:
        """Mask of the ballots that are custom rankings, (K,)."""
        return self.ballots.custom

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of counted responses of each ballot, (K,)."""
        return self.ballots.counts * self.counted

    @property
    def votes(self) -> NDArray[np.float64]:
        """Credits times their weight, shape (K, measures)."""
        weighed: NDArray[np.float64] = self.credited * self.weight[:, np.newaxis]
        return weighed

    @cached_property
    def answer_counts(self) -> NDArray[np.int64]:
        """Number of counted responses of each participant."""
        if self.counted.all():
            return self.ballots.answer_counts
        counts: NDArray[np.int64] = self.ballots.sum_by_participant(self.counted)
        return counts

    @cached_property
    def answered(self) -> NDArray[np.bool_] | slice:
        """What selects participants with a counted response from a column of all."""
        has_response = self.answer_counts > 0
        return slice(None) if has_response.all() else has_response

    def units_by_participant(self, values: NDArray[np.number]) -> NDArray[np.int64]:
        """Add up values (K,) in units over each participant's counted responses."""
        sums: NDArray[np.int64] = self.ballots.sum_by_participant(in_units(values) * self.counted)
        return sums

    def sum_by_participant(self, values: NDArray[np.number]) -> NDArray[np.float64]:
        """Add up values (K,) over each participant's counted responses; whole units exactly."""
        if is_whole(values):
            return self.units_by_participant(values) / UNITS_OF_A_VOTE
        sums: NDArray[np.float64] = self.ballots.sum_by_participant(values * self.counted)
        return sums

    def sum_by_cluster(self, values: NDArray[np.number]) -> NDArray[np.float64]:
        """Add up values (K,) over the counted responses to the questions of each cluster."""
        units: NDArray[np.number] = values * UNITS_OF_A_VOTE
        if is_whole(values):
            units = np.rint(units)
        counted = self.counts > 0
        clusters = self.questions if self.clusters is None else self.clusters
        _, index = np.unique(clusters[counted], return_inverse=True)
        return np.bincount(index, (self.counts * units)[counted]) / UNITS_OF_A_VOTE

    def sum_by_question(self, values: NDArray[np.number]) -> NDArray[Any]:
        """Add up values (K,) over the counted responses to each question that has any."""
        counted = self.counts > 0
        _, index = np.unique(self.questions[counted], return_inverse=True)
        return np.bincount(index, (self.counts * values)[counted])

    def question_weights_of_people(self) -> NDArray[np.float64]:
        """Return each answered question's weight in the mean of participants' means; the sum is 1.

        A participant's responses have the same weight, together 1 / participants.
        """
        counts = self.answer_counts
        weight = np.repeat(1 / np.maximum(counts, 1), self.ballots.answer_counts)
        index = self.ballots.ballot_index
        of_ballots = np.bincount(index, weight * self.counted[index], len(self.questions))
        counted = self.counts > 0
        _, question = np.unique(self.questions[counted], return_inverse=True)
        return np.bincount(question, of_ballots[counted]) / np.count_nonzero(counts)

    def subset(self, chosen: NDArray[np.bool_]) -> "Credits":
        """Count only some of the ballots; ``chosen``: a mask over them."""
        return replace(self, counted=self.counted & chosen)

    def in_clusters(self, clusters: NDArray[np.int64]) -> "Credits":
        """Let the questions of a cluster belong together; ``clusters``: (K,)."""
        return replace(self, clusters=clusters)

    def split(self) -> "Credits":
        """Share one vote for each response equally among the measures credited."""
        weight = 1 / np.maximum(self.credited.sum(axis=1), 1)
        return replace(self, weight=weight, shared="split")

    def single(self) -> "Credits":
        """Count only the responses that credit one measure or none."""
        return replace(self.subset(self.credited.sum(axis=1) < 2), shared="dropped")


def tally_credits(ballots: Ballots) -> Credits:
    """Credit every ballot; each counts, and each credit counts 1."""
    measures = ballots.measures
    credited = np.zeros(ballots.ticked.shape, dtype=bool)
    for row, question, ticked in zip(
        credited, ballots.questions.tolist(), ballots.ticked, strict=True
    ):
        # The measures' own order serves as label order, so that measure and label agree.
        labels = (np.flatnonzero(ticked) + 1).tolist()
        names = credited_measures(measures, labels, ballots.rankings[question])
        row[:] = [name in names for name in measures]
    every = np.ones(len(ballots), dtype=bool)
    return Credits(ballots, credited, weight=np.ones(len(ballots)), counted=every)


def tally_values(
    answers: Iterable[tuple[str, int, Any]], measures: Sequence[str]
) -> tuple[Credits, list[Any]]:
    """Group answers of a kind of question without ticks into ballots, for the tests of credits.

    Each answer is (participant, question, value); equal values of a question are a ballot. Returns
    the credits, all counted and none given to a measure, and the value of each ballot, sorted by
    question and value.
    """
    ordered = sorted(answers)
    keys = sorted({(question, value) for _, question, value in ordered})
    index = {key: place for place, key in enumerate(keys)}
    ballot_index = np.array([index[each[1:]] for each in ordered], dtype=np.int32)
    people = [participant for participant, *_ in ordered]
    first = [row for row, name in enumerate(people) if row == 0 or name != people[row - 1]]
    nothing = np.zeros((len(keys), len(measures)), dtype=bool)
    ballots = Ballots(
        measures=tuple(measures),
        rankings={},
        questions=np.array([question for question, _ in keys], dtype=np.int64),
        ticked=nothing,
        owns=(None,) * len(keys),
        ballot_index=ballot_index,
        first_answer=np.array(first, dtype=np.int64),
        counts=np.bincount(ballot_index, minlength=len(keys)),
    )
    every = np.ones(len(keys), dtype=bool)
    return Credits(ballots, nothing, np.ones(len(keys)), every), [value for _, value in keys]


def credited_measures(
    label_order: Sequence[str], clicked: Collection[int], rankings: Mapping[str, Ranking]
) -> frozenset[str]:
    """Return the measures whose order equals that of a clicked column.

    A vote for either of two identical orders counts for both. Labels are read
    through this response's own ``label_order`` and never through another's. With
    nothing clicked (a custom ranking, even one that equals an offered order) no
    measure is credited.
    """
    approved = {rankings[label_order[label - 1]] for label in clicked}
    return frozenset(measure for measure in label_order if rankings[measure] in approved)


def answered_questions(ballots: Ballots) -> list[int]:
    """Return the numbers of the questions with an answer, in order."""
    numbers: list[int] = np.unique(ballots.questions[ballots.counts > 0]).tolist()
    return numbers


def chance_credits(rankings: Rankings, measures: Sequence[str]) -> dict[str, float]:
    """Return each measure's credits per response when one column is clicked at random.

    1 / (number of measures) where all orders differ; a measure that shares its order
    with another is credited for the other's clicks too, so identical orders give it an
    advantage that has nothing to do with agreement. In [0, 1]; the null mean of the
    label-permutation test for single clicks.
    """
    label_order = tuple(measures)
    credited = [
        credited_measures(label_order, [label], orders)
        for orders in rankings.values()
        for label in range(1, len(label_order) + 1)
    ]
    return {name: sum(name in names for names in credited) / len(credited) for name in measures}


def in_units(values: NDArray[np.number]) -> NDArray[np.int64]:
    """Convert votes, or differences of votes, to whole numbers of 1/3600."""
    units: NDArray[np.int64] = np.rint(values * UNITS_OF_A_VOTE).astype(np.int64)
    return units


def is_whole(values: NDArray[np.number]) -> bool:
    """Return whether all values are whole units, so that their sums are exact."""
    units = values * UNITS_OF_A_VOTE
    return bool(np.abs(units - np.rint(units)).max(initial=0.0) < NO_UNIT)


def whole(votes: float) -> float:
    """Convert a whole number of votes to int; others are rounded, so that equal sums tie."""
    return int(votes) if float(votes).is_integer() else round(float(votes), 9)


@dataclass(frozen=True)
class Table4Row:
    """One question of Table 4: credits per measure and custom rankings.

    ``choice``: the measures with the most credits, in the measures' order, empty
    where no vote was for a measure; ``identical``: groups of measures whose orders of the
    lists are equal, so that a vote for one counts for all of the group.
    """

    question: int
    votes: Mapping[str, float]
    choice: tuple[str, ...]
    identical: tuple[tuple[str, ...], ...]

    @property
    def merged(self) -> float:
        """The row's sum with each group of identical orders counted once.

        It is the number of participants, as long as no participant ticked two columns with
        different orders.
        """
        repeated = sum(self.votes[name] for group in self.identical for name in group[1:])
        return sum(self.votes.values()) - repeated


@dataclass(frozen=True)
class Table4:
    """Votes per question, as in the paper's Table 4."""

    measures: tuple[str, ...]
    rows: tuple[Table4Row, ...]

    @property
    def totals(self) -> dict[str, float]:
        """Column sums; their sum (354 in the paper) counts credits, not people."""
        names = (*self.measures, OTHER)
        return {name: sum(row.votes[name] for row in self.rows) for name in names}

    @property
    def first_or_tied(self) -> dict[str, int]:
        """In how many questions each measure has the most credits, or as many as another."""
        return {name: sum(name in row.choice for row in self.rows) for name in self.measures}

    @property
    def first_outright(self) -> dict[str, int]:
        """In how many questions each measure has more credits than any other."""
        return {name: sum(row.choice == (name,) for row in self.rows) for name in self.measures}


@dataclass(frozen=True)
class Shares:
    """Shares of the votes in [0, 1], with four denominators; None where there are no votes.

    ``of_credits``: of all credits and custom rankings (the paper's 354), sums to 1.
    ``of_responses``: of the responses; identical orders and several ticks make it
    sum to more than 1. ``split``: of the responses, one vote each, shared among the
    measures credited. ``distinct_questions``: ``of_responses`` over the questions
    whose measures' orders all differ.
    """

    of_credits: Mapping[str, float] | None
    of_responses: Mapping[str, float] | None
    split: Mapping[str, float] | None
    distinct_questions: Mapping[str, float] | None
    why: str | None


def credits_per_question(credits: Credits, rankings: Rankings) -> Table4:
    """Count credits per question (MNRO paper, Table 4); every question has a row."""
    rows = []
    for question in sorted(rankings):
        counts = credits.counts * (credits.questions == question)
        sums = counts @ in_units(credits.votes) / UNITS_OF_A_VOTE
        votes = dict(zip(credits.measures, map(whole, sums), strict=True))
        most = max(votes.values())
        rows.append(
            Table4Row(
                question=question,
                votes={**votes, OTHER: int(counts @ credits.other)},
                choice=tuple(name for name, count in votes.items() if count == most and most > 0),
                identical=tuple(map(tuple, identical_groups(rankings[question]))),
            )
        )
    return Table4(credits.measures, tuple(rows))


def shares(credits: Credits, distinct: Sequence[int]) -> Shares:
    """Compute shares under four denominators; ``distinct``: questions whose orders all differ."""
    each = np.column_stack([credits.votes, credits.other])
    one_vote = np.column_stack([credits.split().votes, credits.other])
    where_distinct = credits.counts * np.isin(credits.questions, distinct)
    names = (*credits.measures, OTHER)
    why = "there are no responses"
    if len(credits):
        why = "no response was given to a question whose orders all differ"

    def divided(votes: NDArray[np.number], denominator: float) -> dict[str, float] | None:
        if not denominator:
            return None
        return dict(zip(names, (votes / denominator).tolist(), strict=True))

    return Shares(
        of_credits=divided(credits.counts @ each, (credits.counts @ each).sum()),
        of_responses=divided(credits.counts @ each, len(credits)),
        split=divided(credits.counts @ one_vote, len(credits)),
        distinct_questions=divided(where_distinct @ each, where_distinct.sum()),
        why=None if where_distinct.any() else why,
    )


def distinct_questions(rankings: Rankings) -> list[int]:
    """Return the numbers of the questions whose measures' orders all differ."""
    return [number for number, orders in rankings.items() if not identical_groups(orders)]
