"""The quality of answers: signs of careless participants, and of bias by label, column and time.

A quality flag alone excludes no participant.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import (
    ASKED_REASONS,
    DIFFERING_TICKS,
    EQUAL_COLUMN,
    REVERSED,
    TYPED,
    Answers,
    distinct_keys,
    first_rows,
    looked_up,
    sum_by_participant,
    tallied,
)
from survey.core.agreement.concordance import combined_order
from survey.core.agreement.differences import DESCRIPTIVE, T1
from survey.core.agreement.plan_flags import RuleFlags
from survey.core.statistics.rater_agreement import agreement_rate
from survey.core.statistics.significance import (
    MeanTest,
    Statistic,
    fit_conditional_logit,
    t_test,
    without_zeros,
)
from survey.core.studies.questions import reversed_pairs
from survey.core.studies.rankings import Ranking

FASTEST_SECONDS = 3.0
FASTEST_SHARE = 1 / 3
SAME_LABEL = 0.9  # 9 of 10 (protocol)
# In fewer answers the same label comes up again and again by chance.
FEWEST_ANSWERS = 5
HALF_OF_PAIRS = 0.5  # below it, a repeated answer reverses most pairs of lists of the first
CYCLE_BY_CHANCE = 1 / 1_000  # how often random clicks may go round in a cycle of a flagged length

TOO_FAST = "too fast"
SAME = "same label throughout"
SAME_COLUMN = "same column throughout"
PATTERN = "repeating pattern"
ALL_CUSTOM = "all custom"
MISUNDERSTOOD = "check question wrong"
OBVIOUS_WRONG = "obvious question wrong"
INCONSISTENT = "repeated question reversed"
INCOMPLETE = "incomplete"

RULES = {
    TOO_FAST: "the median time for an answer is below 3 seconds, or below a third of the "
    "median participant's",
    SAME: "one label was ticked in at least nine tenths of five or more answers",
    SAME_COLUMN: "the same place in the row of columns was ticked in at least nine tenths of five "
    "or more answers, under changing labels",
    PATTERN: "single ticks go round through labels or columns in a cycle, for so long that random "
    "clicks do it in fewer than one of 1,000 sessions",
    ALL_CUSTOM: "two or more answers, every one a custom ranking",
    MISUNDERSTOOD: "the first answer to the practice's check question was wrong",
    OBVIOUS_WRONG: "in the obvious question a list was put above one that is earlier at every "
    "position",
    INCONSISTENT: "the answers to a question and to its repetition agree on less than half of the "
    "pairs of lists",
    INCOMPLETE: "not all questions were answered",
}

EQUAL = 1e-12  # slopes that differ by less, relative to the largest, differ by rounding


# Participants' indices, each with the reason for the flag.
Reasons = Iterable[tuple[int, str]]


@dataclass(frozen=True)
class Flag:
    """A quality flag of a participant: its rule in ``kind``, the numbers in ``reason``."""

    participant: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Signs:
    """What else tells of participants' care, besides their votes: the ids of participants.

    ``misunderstood``: with a wrong first answer to the check question; ``without_columns``: who
    were shown none; ``wrong``: who failed the obvious question; ``reversed``: id → agreement rate
    of a question and its repetition, where it is below a half; ``rules``: whom the plan's other
    rules flag.
    """

    misunderstood: frozenset[str] = frozenset()
    without_columns: frozenset[str] = frozenset()
    wrong: frozenset[str] = frozenset()
    reversed: Mapping[str, float] = field(default_factory=dict)
    rules: tuple[RuleFlags, ...] = ()


def quality_flags(answers: Answers, asked: int, signs: Signs = Signs()) -> tuple[Flag, ...]:
    """Flag participants by ``RULES``; ``asked``: the questions each was to answer.

    Participants without a single answer are not judged.
    """
    typical = [np.zeros(0), *map(_typical_seconds, answers.blocks())]
    usual = _median(np.concatenate(typical))
    return tuple(
        flag
        for some, seconds in zip(answers.blocks(), typical[1:], strict=True)
        for flag in _flags_of_some(some, seconds, usual, asked, signs)
    )


def _flags_of_some(
    answers: Answers, typical: NDArray[np.float64], usual: float, asked: int, signs: Signs
) -> list[Flag]:
    """Flag some thousand participants; ``typical``: the seconds of each, ``usual``: of all."""
    columns = _ticked_columns(answers)
    reasons_by_rule = {
        TOO_FAST: _too_fast(typical, usual),
        SAME: _same(answers, answers.clicked, "Method{}"),
        SAME_COLUMN: () if columns is None else _same(answers, columns, "column {}"),
        PATTERN: _patterns(answers, columns),
        ALL_CUSTOM: _all_custom(answers, signs.without_columns),
        MISUNDERSTOOD: _named(answers, dict.fromkeys(signs.misunderstood, "first answer wrong")),
        OBVIOUS_WRONG: _named(answers, dict.fromkeys(signs.wrong, "two lists reversed at least")),
        INCONSISTENT: _named(
            answers,
            {
                person: f"the two agree on {100 * rate:.0f} % of the pairs"
                for person, rate in signs.reversed.items()
            },
        ),
        INCOMPLETE: _incomplete(answers, asked),
        **{rule.name: _named(answers, rule.reasons) for rule in signs.rules},
    }
    flags = [
        (person, Flag(str(answers.people[person]), rule, reason))
        for rule, reasons in reasons_by_rule.items()
        for person, reason in reasons
    ]
    # A person's flags stay in the order of the rules.
    return [flag for _, flag in sorted(flags, key=itemgetter(0))]


def asked_back(
    answers: Answers,
    rankings: Mapping[int, Mapping[str, Ranking]],
    contradicts: Callable[[int, Ranking], bool],
) -> dict[str, dict[str, int]]:
    """Count the answers before which the page asked back, by what was chosen.

    ``equal``: the own ordering was a column's; it counts as a match, or stays an own ordering
    (asked before version 0.2.0; ``typed`` counts those that are credited without being asked).
    ``differing``: the ticked columns had different orderings; columns with one ordering are
    ticked now, or with several, or an own ordering was given. ``reversed``: the own ordering put a
    list above one that is earlier at every position; such an ordering was kept, or the answer
    changed. ``rankings``: the orders of the measures, by question; ``contradicts``: whether an own
    ordering of a question does so.
    """
    is_equal, is_differing, is_reversed = (
        answers.asked % TYPED == code for code, _ in enumerate(ASKED_REASONS, 1)
    )
    is_own = answers.clicked == 0
    is_kept = np.zeros(len(is_own), dtype=bool)
    for row in np.flatnonzero(is_reversed & is_own):
        question = answers.question.values[answers.question.codes[row]]
        is_kept[row] = contradicts(question, answers.own.values[answers.own.codes[row]])
    is_one = np.zeros(len(is_own), dtype=bool)
    for row in np.flatnonzero(is_differing & ~is_own):
        orders = rankings[answers.question.values[answers.question.codes[row]]]
        labels = answers.label_order.values[answers.label_order.codes[row]]
        ticked = {
            orders[name] for bit, name in enumerate(labels) if answers.clicked[row] >> bit & 1
        }
        is_one[row] = len(ticked) == 1
    rows = {
        EQUAL_COLUMN: {"asked": is_equal, "match": is_equal & ~is_own, "own": is_equal & is_own},
        DIFFERING_TICKS: {
            "asked": is_differing,
            "one_ordering": is_differing & is_one,
            "several_orderings": is_differing & ~is_one & ~is_own,
            "own": is_differing & is_own,
        },
        REVERSED: {
            "asked": is_reversed,
            "kept": is_kept,
            "changed": is_reversed & ~is_kept,
        },
        "typed": {"credited": answers.asked >= TYPED},
    }
    return {
        rule: {name: int(mask.sum()) for name, mask in masks.items()}
        for rule, masks in rows.items()
    }


@dataclass(frozen=True)
class Repetition:
    """The participants ``ids`` who answered a question and its repetition, and how alike.

    ``same``: whether they ticked the same orderings, or gave the same own one; ``rates``: the
    agreement rates of the two orderings over the pairs of lists, in [0, 1]. All (participants,).
    """

    question: int
    ids: NDArray[np.str_]
    same: NDArray[np.bool_]
    rates: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        answers: Answers,
        rankings: Mapping[int, Mapping[str, Ranking]],
        question: int,
        again: int,
    ) -> "Repetition":
        """Compare the answers to a question with those to its repetition, number ``again``."""
        rows = np.array([_rows_of_question(answers, number) for number in (question, again)])
        both = (rows >= 0).all(axis=0)
        rows = rows[:, both]
        columns = (answers.label_order.codes, answers.clicked, answers.own.codes)
        # Few participants answer in a way of their own, so each way is looked at once.
        ways, index = np.unique(
            np.concatenate([column[rows].astype(np.int64) for column in columns]),
            axis=1,
            return_inverse=True,
        )
        pairs = [
            [_orderings(answers, rankings[question], *way[time::2]) for time in (0, 1)]
            for way in ways.T
        ]
        same = np.array([first == second for first, second in pairs], dtype=bool)
        orders = [[combined_order(orderings) for orderings in both] for both in pairs]
        rates = np.array([agreement_rate(*both) for both in orders], dtype=np.float64)
        return cls(question, answers.people[both], same[index.ravel()], rates[index.ravel()])

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the second answer reverses no more pairs of lists than it keeps."""
        return self.rates >= HALF_OF_PAIRS

    def of_people(self, ids: NDArray[np.str_]) -> dict[str, float | None]:
        """Summarise some participants: how many answered twice, how many alike, mean rate."""
        chosen = np.isin(self.ids, ids)
        asked = int(chosen.sum())
        return {
            "question": self.question,
            "asked": asked,
            "same": int(self.same[chosen].sum()),
            "agreement": float(self.rates[chosen].mean()) if asked else None,
        }


@dataclass(frozen=True)
class Obvious:
    """The participants ``ids`` who answered the obvious question, and who reversed no lists."""

    question: int
    ids: NDArray[np.str_]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, answers: Answers, lists: Mapping[str, Sequence[int]], number: int) -> "Obvious":
        """Check the own orderings that were given to question ``number`` with these lists."""
        rows = _rows_of_question(answers, number)
        right = [not reversed_pairs(lists, ranking) for ranking in answers.own.values]
        owns = answers.own.codes[rows[rows >= 0]]
        return cls(number, answers.people[rows >= 0], np.array([*right, False])[owns])

    def of_people(self, ids: NDArray[np.str_]) -> dict[str, float | None]:
        """Summarise some participants: how many answered, and how many reversed no lists."""
        chosen = np.isin(self.ids, ids)
        return {
            "question": self.question,
            "asked": int(chosen.sum()),
            "right": int(self.right[chosen].sum()),
        }


def _rows_of_question(answers: Answers, number: int) -> NDArray[np.int64]:
    """Return the row of each participant's answer to a question, −1 where there is none."""
    rows = np.full(len(answers.people), -1)
    if number in answers.question.values:
        answering = answers.question.codes == answers.question.values.index(number)
        people = np.repeat(np.arange(len(rows)), answers.answer_counts)
        rows[people[answering]] = np.flatnonzero(answering)
    return rows


def _orderings(
    answers: Answers, orders: Mapping[str, Ranking], labels: int, clicked: int, own: int
) -> frozenset[Ranking]:
    """Return the orderings of an answer: the ticked ones, or the own one."""
    if own >= 0:
        return frozenset([answers.own.values[own]])
    names = answers.label_order.values[labels]
    return frozenset(orders[name] for bit, name in enumerate(names) if clicked >> bit & 1)


def flagged_for_exclusion(flags: Sequence[Flag]) -> tuple[str, ...]:
    """Return the participants that "without flagged participants" leaves out, in order.

    The answers that an incomplete participant did give are sound, so that flag alone leaves
    no participant out.
    """
    return tuple(dict.fromkeys(flag.participant for flag in flags if flag.kind != INCOMPLETE))


def _median(seconds: NDArray[np.float64]) -> float:
    """Return the median of known times, NaN where there are none."""
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else math.nan


def _too_fast(typical: NDArray[np.float64], usual: float) -> Reasons:
    # An unknown time is NaN, which is below no number.
    for person in np.flatnonzero((typical < FASTEST_SECONDS) | (typical < FASTEST_SHARE * usual)):
        took = f"{typical[person]:.1f} s for an answer"
        yield int(person), f"{took}; the median participant took {usual:.1f} s"


def median_seconds(answers: Answers) -> NDArray[np.float64]:
    """Return each participant's median time for a question, NaN where none is known."""
    return np.concatenate([np.zeros(0), *map(_typical_seconds, answers.blocks())])


def orderings_of_people(
    answers: Answers, rankings: Mapping[int, Mapping[str, Ranking]]
) -> dict[str, dict[Hashable, Hashable]]:
    """Return the orderings of each participant by question: those of the ticked columns, or own."""
    people = np.repeat(np.arange(len(answers.people)), answers.answer_counts)
    orderings: dict[str, dict[Hashable, Hashable]] = {}
    labels, own = answers.label_order, answers.own
    columns = (answers.question.codes, labels.codes, answers.clicked, own.codes)
    for person, number, *way in zip(
        people.tolist(), *(each.tolist() for each in columns), strict=True
    ):
        question = answers.question.values[number]
        of_answer = _orderings(answers, rankings[question], *way)
        orderings.setdefault(str(answers.people[person]), {})[question] = of_answer
    return orderings


def _typical_seconds(answers: Answers) -> NDArray[np.float64]:
    """Return each participant's median time, NaN where none is known."""
    known = ~np.isnan(answers.seconds)
    seconds = answers.seconds[known]
    counts = sum_by_participant(known, answers.first_answer)
    first, typical = first_rows(counts), np.full(len(counts), np.nan)
    for count in set(counts.tolist()) - {0}:
        alike = counts == count
        rows = first[alike][:, np.newaxis] + np.arange(count)
        typical[alike] = np.median(seconds[rows], axis=1)
    return typical


def _ticked_columns(answers: Answers) -> NDArray[np.uint8] | None:
    """Return the columns ticked in each answer, as ``clicked`` has labels: 2^(column - 1).

    None where a column always has the same label. Unknown column orders have no ticks.
    """
    orders = answers.column_order.values
    if len(orders) < 2:
        return None
    table = np.zeros((len(orders) + 1, 256), dtype=np.uint8)  # the last row is of code −1
    ticks = np.arange(256)
    for code, order in enumerate(orders):
        for column, label in enumerate(order):
            table[code] |= ((ticks >> (label - 1) & 1) << column).astype(np.uint8)
    return looked_up(table, answers.column_order.codes, answers.clicked)


def _same(answers: Answers, ticked: NDArray[np.uint8], name: str) -> Reasons:
    labels = int(ticked.max(initial=0)).bit_length()
    clicks = np.array(
        [sum_by_participant(ticked >> label & 1, answers.first_answer) for label in range(labels)]
    ).reshape(labels, len(answers.people))
    most = clicks.max(axis=0, initial=0)
    counts = answers.answer_counts
    enough = (counts >= FEWEST_ANSWERS) & (most > 0)
    for person in np.flatnonzero(enough & (most >= SAME_LABEL * counts)).tolist():
        first = answers.first_answer[person]
        of_person = ticked[first : first + counts[person]]
        label = _first_ticked(of_person, np.flatnonzero(clicks[:, person] == most[person]))
        yield person, f"{name.format(label)} ticked in {most[person]} of {counts[person]} answers"


def _first_ticked(ticked: NDArray[np.uint8], labels: NDArray[np.int64]) -> int:
    """Return the number, from 1, of the label that was ticked first; ``labels`` are from 0."""
    first_ticks = [int(np.argmax(ticked >> label & 1)) for label in labels]
    return int(labels[np.argmin(first_ticks)]) + 1


def _patterns(answers: Answers, columns: NDArray[np.uint8] | None) -> Reasons:
    """Yield those whose single ticks, in the order of their session, go round in a cycle."""
    counts, labels = answers.answer_counts, max(map(len, answers.label_order.values), default=0)
    people = np.repeat(np.arange(len(counts)), counts)
    in_session = np.lexsort((answers.position.codes, people))
    bits = np.array([bits.bit_count() for bits in range(256)])
    flagged = np.zeros(len(counts), dtype=bool)
    for ticked, name in ((answers.clicked, "Method"), (columns, "column ")):
        if ticked is None:
            continue
        of_session = ticked[in_session]
        for count in sorted(set(counts.tolist())):
            alike = np.flatnonzero((counts == count) & ~flagged)
            ticks = of_session[answers.first_answer[alike][:, np.newaxis] + np.arange(count)]
            fits = (bits[ticks] == 1).all(axis=1) & (ticks != ticks[:, :1]).any(axis=1)
            for cycle in range(2, labels + 1):
                if labels ** (cycle - count) >= CYCLE_BY_CHANCE:
                    break
                found = fits & (ticks[:, cycle:] == ticks[:, :-cycle]).all(axis=1)
                fits &= ~found
                flagged[alike[found]] = True
                for row in np.flatnonzero(found).tolist():
                    order = "-".join(str(int(tick).bit_length()) for tick in ticks[row, :cycle])
                    yield int(alike[row]), f"{name}{order} again and again in {count} answers"


def _all_custom(answers: Answers, without_columns: frozenset[str]) -> Reasons:
    custom = sum_by_participant(answers.own.known, answers.first_answer)
    counts = answers.answer_counts
    for person in np.flatnonzero((counts > 1) & (custom == counts)).tolist():
        if answers.people[person] not in without_columns:
            yield person, f"a custom ranking in all {counts[person]} answers"


def _named(answers: Answers, reasons: Mapping[str, str]) -> Reasons:
    """Yield the participants among the answers who have a reason, by their ids."""
    if reasons:
        for person, participant in enumerate(answers.people.tolist()):
            if participant in reasons:
                yield person, reasons[participant]


def _incomplete(answers: Answers, asked: int) -> Reasons:
    for person in np.flatnonzero(answers.answer_counts < asked).tolist():
        yield person, f"{answers.answer_counts[person]} of {asked} answers"


@dataclass(frozen=True, kw_only=True)
class Logit(Statistic):
    """A conditional logit of which columns of a response were ticked.

    ``terms`` against the first measure, Method1 and column 1; without columns where all stood
    in the order of their labels, so that a label's term is its column's as well. ``coef``: log odds
    ratios, ``se``: their standard errors (from the information matrix, answers independent).
    """

    terms: tuple[str, ...] = ()
    coef: tuple[float, ...] | None = None
    se: tuple[float, ...] | None = None


@dataclass(frozen=True)
class PositionSummary:
    """The answers to a participant's first, second, … question.

    ``own``: custom rankings; ``several``: answers with more than one tick; ``seconds``:
    median time, None where unknown.
    """

    position: int
    responses: int
    own: int
    several: int
    seconds: float | None
    why: str | None


@dataclass(frozen=True)
class Bias:
    """Clicks by label and by column, their joint model, and the course of a session.

    ``column_clicks``: from left to right, None where no response has a column order.
    ``fatigue``: seconds for each further question, the mean over participants of the slopes of
    their times on position; negative: faster.
    """

    label_clicks: Mapping[str, int]
    column_clicks: tuple[int, ...] | None
    why: str | None
    conditional_logit: Logit
    positions: tuple[PositionSummary, ...]
    fatigue: MeanTest


def bias_of(answers: Answers, measures: Sequence[str]) -> Bias:
    """Count clicks by label and column, fit the logit, summarise times by position."""
    layouts = Layouts.of(answers, measures)
    clicks, by_column = layouts.counts @ layouts.ticked, _column_clicks(layouts)
    return Bias(
        label_clicks={f"Method{label}": n for label, n in enumerate(clicks.tolist(), 1)},
        column_clicks=by_column,
        why="no response says how its columns stood" if by_column is None else None,
        conditional_logit=conditional_logit(layouts, measures),
        positions=_by_position(answers),
        fatigue=_fatigue(answers),
    )


@dataclass(frozen=True)
class Layouts:
    """The distinct layouts of columns with their ticks, and how many answers have each.

    For each layout and each label: ``measures``, the index of the measure behind it;
    ``columns``, its column from 0, −1 where unknown; ``ticked``, whether it was. All three
    (layouts, labels). ``counts``: (layouts,).
    """

    measures: NDArray[np.int64]
    columns: NDArray[np.int64]
    ticked: NDArray[np.bool_]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, measures: Sequence[str]) -> "Layouts":
        """Group the answers by label order, column order and ticks."""
        sets, count = 1 << len(measures), len(measures)
        labels, orders = answers.label_order, answers.column_order
        behind = [[measures.index(name) for name in order] for order in labels.values]
        columns = [[order.index(label + 1) for label in range(count)] for order in orders.values]
        ways = len(orders.values) + 1
        space = len(behind) * ways * sets
        # In place: memory holds few columns of ten million whole numbers.
        keys: NDArray[np.integer] = labels.codes.astype(np.int64 if space > 2**31 else np.int32)
        keys *= ways
        keys += orders.codes
        keys += 1  # the code of unknown orders is −1
        keys *= sets
        keys += answers.clicked
        layouts, layout_index = distinct_keys(keys, space)
        way, clicked = layouts // sets, layouts % sets
        return cls(
            measures=np.array(behind, dtype=np.int64).reshape(-1, count)[way // ways],
            columns=np.array([[-1] * count, *columns])[way % ways],
            ticked=(clicked[:, np.newaxis] >> np.arange(count) & 1).astype(bool),
            counts=tallied(layout_index, len(layouts)),
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the layouts whose column order is known."""
        return self.columns[:, 0] >= 0

    @property
    def clicks(self) -> NDArray[np.int64]:
        """Number of columns ticked in each layout."""
        clicks: NDArray[np.int64] = self.ticked.sum(axis=1)
        return clicks

    def subset(self, chosen: NDArray[np.int64 | np.bool]) -> "Layouts":
        """Keep some of the layouts, by indices or a mask."""
        return Layouts(**{name: column[chosen] for name, column in vars(self).items()})

    def terms(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the indicator terms of some layouts' labels: (layouts, labels, terms)."""
        count = self.measures.shape[1]
        indicator = np.eye(count)[:, 1:]
        of_labels = np.broadcast_to(indicator, (len(chosen), *indicator.shape))
        return np.concatenate(
            [indicator[self.measures[chosen]], of_labels, indicator[self.columns[chosen]]], axis=2
        )


def conditional_logit(layouts: Layouts, measures: Sequence[str]) -> Logit:
    """Model which of a response's columns were ticked by measure, label and column.

    Every response with a tick and a known column order counts, unless all or none of its
    columns are ticked, which says nothing.
    """
    clicks, counts, every = layouts.clicks, layouts.counts, len(measures)
    used = layouts.subset(layouts.known & (clicks > 0) & (clicks < every))
    others = tuple(range(2, every + 1))
    left_out = {
        "custom rankings": int(counts[clicks == 0].sum()),
        "all columns ticked": int(counts[clicks == every].sum()),
        "columns unknown": int(counts[(clicks > 0) & ~layouts.known].sum()),
    }
    terms = (*measures[1:], *(f"Method{n}" for n in others))
    is_aligned = len(used.columns) > 0 and bool((used.columns == np.arange(every)).all())
    if not is_aligned:  # else a column is its label
        terms += tuple(f"column {n}" for n in others)
    n = int(used.counts.sum())
    result = partial(Logit, estimand=DESCRIPTIVE, n=n, unit="responses", terms=terms)
    result = partial(result, left_out=without_zeros(left_out))
    if not n:
        return result(why="no response ticks some of its columns in a known place")
    solved = fit_conditional_logit(
        lambda chosen: used.terms(chosen)[..., : len(terms)], len(terms), used.ticked, used.counts
    )
    if solved is None:
        return result(why="the votes do not determine the terms: too few, or separated")
    coef, se = solved
    return result(coef=tuple(coef.tolist()), se=tuple(se.tolist()))


def _column_clicks(layouts: Layouts) -> tuple[int, ...] | None:
    if not layouts.known.any():
        return None
    known = layouts.subset(layouts.known)
    totals = np.zeros(known.columns.shape[1], dtype=np.int64)
    np.add.at(totals, known.columns, known.counts[:, np.newaxis] * known.ticked)
    return tuple(totals.tolist())


def _by_position(answers: Answers) -> tuple[PositionSummary, ...]:
    several = looked_up(np.array([bits.bit_count() > 1 for bits in range(256)]), answers.clicked)
    summaries = []
    for code, position in enumerate(answers.position.values):  # they are sorted
        at_position = answers.position.codes == code
        seconds = answers.seconds[at_position]
        known = seconds[~np.isnan(seconds)]
        if len(seconds):
            summaries.append(
                PositionSummary(
                    position=position,
                    responses=len(seconds),
                    own=int(np.count_nonzero(answers.own.known & at_position)),
                    several=int(np.count_nonzero(several & at_position)),
                    seconds=float(np.median(known)) if len(known) else None,
                    why=None if len(known) else "no times are known",
                )
            )
    return tuple(summaries)


def _fatigue(answers: Answers) -> MeanTest:
    slopes = np.concatenate([np.zeros(0), *map(_slopes, answers.blocks())])
    result = partial(MeanTest, estimand=T1, n=len(slopes), unit="participants")
    if len(slopes) < 2 or np.ptp(slopes) <= EQUAL * np.abs(slopes).max():
        return result(why="it needs the times of two participants that differ")
    mean, sd = float(slopes.mean()), float(slopes.std(ddof=1))
    return result(**t_test(mean, sd / len(slopes) ** 0.5, len(slopes) - 1))


def _slopes(answers: Answers) -> NDArray[np.float64]:
    """Return the least-squares slope of seconds on position of all with times at two positions.

    Σ (x - x̄)(y - y₁) / Σ (x - x̄)² with each participant's first time y₁, so that a constant
    time gives exactly 0.
    """
    timed = answers.subset(answers.position.known & ~np.isnan(answers.seconds))
    counts, first = timed.answer_counts, timed.first_answer
    x = np.array([*timed.position.values, 0], dtype=np.float64)[timed.position.codes]
    x -= np.repeat(sum_by_participant(x, first) / counts, counts)
    y = timed.seconds - np.repeat(timed.seconds[first], counts)
    above, below = sum_by_participant(x * y, first), sum_by_participant(x * x, first)
    slopes: NDArray[np.float64] = above[below > 0] / below[below > 0]
    return slopes
