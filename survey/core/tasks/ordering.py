"""The kind of question "ordering": which measures order ranked lists as the participant does."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import combinations
from math import comb
from random import Random
from typing import Any

from survey.core.agreement.answers import DIFFERING_TICKS, REVERSED
from survey.core.agreement.credits import chance_credits
from survey.core.agreement.fewest import too_few_to_decide
from survey.core.collections.items import FindItems, Result
from survey.core.measures import MEASURES, measure_named
from survey.core.measures.nmrr_mnro import mnro_horizon, nmrr_horizon
from survey.core.studies.fields import Finding, and_join
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import Plan
from survey.core.studies.questions import (
    BlindedColumn,
    BlindedQuestion,
    Blinding,
    Question,
    blind,
    draw_blinding,
    rankings_of,
    reversed_pairs,
)
from survey.core.studies.rankings import (
    Ranking,
    contradictions,
    differing_pairs,
    identical_groups,
    is_balanced,
)
from survey.core.tasks.ordering_plan import AFTER, NEVER, OBVIOUS, REPEATED, OrderingPlan


@dataclass(frozen=True)
class OrderingPresentation:
    """How one participant is shown one question.

    ``label_order``, ``column_order``, ``list_order``: see ``Blinding``. ``shown``: for each label
    the values as printed, in the order of the letters. ``ranked_first``: the ranking given
    before the columns were shown, at ``ranked_at``, in studies that ask for one; ``ranked_asked``:
    REVERSED where the page asked back before it saved that ranking.
    """

    label_order: Sequence[str]
    column_order: Sequence[int]
    list_order: Sequence[str]
    shown: Sequence[Sequence[str]]
    ranked_first: Ranking | None = None
    ranked_at: datetime | None = None
    ranked_asked: str | None = None

    @property
    def blinding(self) -> Blinding:
        """The three orders as a ``Blinding``."""
        return Blinding(tuple(self.label_order), tuple(self.column_order), tuple(self.list_order))


# What a participant can choose when a page asks back, besides a label.
MATCH, OWN, SEVERAL = "match", "own", "several"
UNUSED_ORDERING = "unused"  # a kind of Doubt that is not stored: either choice says what it means


@dataclass(frozen=True)
class OrderingAnswer:
    """The labels that were ticked, or an own ordering; raises ValueError for both or neither.

    ``typed``: whether the ordering of the ticked columns was given as the participant's own, see
    ``credited``. ``scores_seen``: whether the methods' scores were in view, None where that is
    unknown or there are none.
    """

    clicked: frozenset[int]
    own: Ranking | None
    typed: bool = False
    scores_seen: bool | None = None

    def __post_init__(self) -> None:
        if bool(self.clicked) == (self.own is not None):
            raise ValueError("an answer ticks columns or gives an own ranking, one of the two")
        if self.typed and not self.clicked:
            raise ValueError("only an ordering that is a column's can be typed in its place")

    def credited(self, view: BlindedQuestion) -> "OrderingAnswer":
        """Return the answer with an own ordering that columns have credited to these columns."""
        same = frozenset(each.label for each in view.columns if each.ranking == self.own)
        return replace(self, clicked=same, own=None, typed=True) if same else self


@dataclass(frozen=True)
class Doubt:
    """An answer that may not mean what it says; the page asks back before it saves it.

    ``kind``: REVERSED, where an own ordering puts the second list of ``pair`` above the first,
    which is earlier at every position; DIFFERING_TICKS, where the ticked ``columns`` have different
    orderings, so that not all can be the participant's; UNUSED_ORDERING, where all lists were
    placed in another order than that of the ticked ``columns``.
    """

    kind: str
    columns: tuple[BlindedColumn, ...] = ()
    pair: tuple[str, str] | None = None

    @classmethod
    def of(
        cls, plan: OrderingPlan, view: BlindedQuestion, answer: OrderingAnswer
    ) -> "Doubt | None":
        """Return the doubt about an answer to a question, None for an answer without one."""
        if answer.own is not None:
            lists = {letter: [rank for rank, _ in items] for letter, items in view.rows}
            pairs = reversed_in_view(plan, lists, answer.own)
            return cls(REVERSED, pair=pairs[0]) if pairs else None
        ticked = [column for column in view.columns if column.label in answer.clicked]
        differ = len({column.ranking for column in ticked}) > 1
        return cls(DIFFERING_TICKS, _by_label(ticked)) if differ else None

    @classmethod
    def of_unused(
        cls, view: BlindedQuestion, clicked: frozenset[int], own: Ranking
    ) -> "Doubt | None":
        """Return the doubt about an own ordering beside ticks that have another one ordering."""
        ticked = [column for column in view.columns if column.label in clicked]
        orderings = {column.ranking for column in ticked}
        differs = len(orderings) == 1 and own not in orderings
        return cls(UNUSED_ORDERING, _by_label(ticked)) if differs else None

    @property
    def letters(self) -> tuple[str, ...]:
        """The lists in pairs that the columns order differently."""
        first, *others = (column.ranking for column in self.columns)
        pairs = [pair for other in others for pair in differing_pairs(first, other)]
        return tuple(sorted({letter for pair in pairs for letter in pair}))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The labels of the columns, those with the same ordering together."""
        groups: dict[Ranking, list[int]] = {}
        for column in self.columns:
            groups.setdefault(column.ranking, []).append(column.label)
        return tuple(map(tuple, groups.values()))

    def settle(self, answer: OrderingAnswer, choice: str) -> OrderingAnswer | None:
        """Return the answer that a choice makes, None for a choice that makes none.

        ``choice``, for DIFFERING_TICKS: SEVERAL, or a label, which selects all ticked columns with
        its ordering.
        """
        if self.kind == DIFFERING_TICKS and choice == SEVERAL:
            return answer
        for group in self.groups if self.kind == DIFFERING_TICKS else ():
            if choice in map(str, group):
                return replace(answer, clicked=frozenset(group))
        return None

    def wants_own_ordering(self, choice: str) -> bool:
        """Return whether a choice is to give an own ordering instead of ticks."""
        return self.kind == DIFFERING_TICKS and choice == OWN


def reversed_in_view(
    plan: OrderingPlan, lists: Mapping[str, Sequence[int]], ranking: Ranking
) -> list[tuple[str, str]]:
    """Return the pairs (better, worse) of which a ranking puts the worse list first.

    By the positions that the page shows: as numbers, by marks, or none. See ``reversed_pairs``.
    """
    if plan.show_positions or not plan.has_items:
        return reversed_pairs(lists, ranking)
    if not plan.mark_relevant:
        return []
    marked = {letter: [rank for rank in lists[letter] if rank <= plan.depth] for letter in lists}
    return reversed_pairs(marked, ranking)


def _by_label(columns: Iterable[BlindedColumn]) -> tuple[BlindedColumn, ...]:
    return tuple(sorted(columns, key=lambda column: column.label))


def contradiction_of(
    plan: OrderingPlan, lists: Mapping[int, Mapping[str, Sequence[int]]]
) -> Callable[[int, Ranking | None], bool]:
    """Return what says whether an own ordering of a question contradicts itself.

    It does where it puts a list above one that the page shows to be earlier at every position.
    ``lists``: question → list → positions.
    """

    @lru_cache(4_096)  # few orderings are different
    def contradicts(question: int, own: Ranking | None) -> bool:
        return own is not None and bool(reversed_in_view(plan, lists[question], own))

    return contradicts


class Ordering:
    """The kind of question "ordering", for the registry."""

    name = "ordering"
    plan: type[Plan] = OrderingPlan
    presentation: type[Any] = OrderingPresentation
    answer: type[Any] = OrderingAnswer
    generator_version = GENERATOR_VERSION
    has_power = True

    def question_checks(self, questions: Iterable[Question]) -> list["QuestionCheck"]:
        """See ``Declaration.question_checks``."""
        return question_checks(questions)

    def headings(self, plan: OrderingPlan) -> dict[str, str]:
        """Return the heading of each measure's values: 1-AP for AP, so that lower is better."""
        return headings(plan)

    def chance_advantage(
        self, plan: OrderingPlan, questions: Sequence[Question]
    ) -> dict[str, float]:
        """Return the expected credits per response if participants click columns at random."""
        return chance_advantage(plan, questions)

    def read_question(self, number: int, content: Mapping[str, Any]) -> Question:
        """Return the question that a row or a file holds."""
        return Question.from_json(number, content)

    def draw(self, plan: OrderingPlan, question: Question, chance: Random) -> OrderingPresentation:
        """Draw how one participant is shown a question."""
        blinding = draw_blinding(
            plan.measures,
            plan.letters,
            chance,
            shuffle_columns=plan.shuffle_columns,
            shuffle_lists=plan.shuffle_lists,
        )
        return OrderingPresentation(
            label_order=list(blinding.label_order),
            column_order=list(blinding.column_order),
            list_order=list(blinding.list_order),
            shown=[list(question.columns[name].shown) for name in blinding.label_order],
        )

    def show(self, question: Question, presentation: OrderingPresentation) -> BlindedQuestion:
        """Return all that the participant may see of the question."""
        return blind(question, presentation.blinding, presentation.shown)

    def with_items(
        self, plan: OrderingPlan, question: Question, view: BlindedQuestion, find: FindItems
    ) -> BlindedQuestion:
        """See ``Task.with_items``. Practice has tiles in place of pictures."""
        source = question.source
        if source is None and not plan.shows_tiles:
            return view
        documents = source.documents if source else dict.fromkeys(view.letters, ())
        items, topic = find(
            {each for row in documents.values() for each in row}, source.topic if source else None
        )
        return replace(
            view,
            results=tuple(
                tuple(
                    Result(
                        rank,
                        items.get(document),
                        rank in question.lists[letter] if plan.mark_relevant else None,
                    )
                    for rank, document in enumerate(documents[letter] or [""] * plan.depth, 1)
                )
                for letter in view.letters
            ),
            topic=topic,
        )

    def facts(self, plan: OrderingPlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its questions."""
        return {
            "measures": " ".join(plan.measures),
            "lists": plan.lists,
            "relevant": plan.relevant,
            "collection_size": plan.collection_size,
            "generator": f"{plan.generator} (version {generator_version})",
        }

    def verdict(self, plan: OrderingPlan, questions: Sequence[Question]) -> str:
        """Say in how many of the questions that count all measures order the lists differently."""
        separated = [
            check.separated
            for check in question_checks(questions)
            if 0 < check.question.number <= plan.questions
        ]
        counts = {name: separated.count(name) for name in ("all", "some", "none")}
        less = f"; in {counts['some']} only some of them do" if counts["some"] else ""
        less += f"; in {counts['none']} all order them alike" if counts["none"] else ""
        of_all = f"{counts['all']} of {len(separated)} question{'s' * (len(separated) != 1)}"
        return f"{and_join(plan.measures)} order the lists differently in {of_all}{less}"

    def findings(self, plan: OrderingPlan, questions: Sequence[Question]) -> list[Finding]:
        """Return findings on horizons, orders, marks, sizes, printed values and controls."""
        counted = [question for question in questions if question.number <= plan.questions]
        printing = (finding for question in counted for finding in _printing_findings(question))
        return [
            *_horizon_findings(plan),
            *_order_findings(plan, counted),
            *_size_findings(plan),
            *_design_findings(plan),
            *printing,
            *_control_findings(plan, questions),
        ]

    def usual_variant(self, plan: OrderingPlan) -> str:
        """Name the label order in which the plan's first measure is Method 1, and so on."""
        return "".join(str(number) for number in range(1, len(plan.measures) + 1))

    def draw_variant(
        self, plan: OrderingPlan, question: Question, variant: str
    ) -> OrderingPresentation:
        """Return a presentation with this label order: "213" puts the second measure first."""
        usual = self.usual_variant(plan)
        if sorted(variant) != sorted(usual):
            raise ValueError(f"{variant!r} is no order of {usual}")
        labels = [plan.measures[int(label) - 1] for label in variant]
        return OrderingPresentation(
            label_order=labels,
            column_order=list(range(1, len(plan.measures) + 1)),
            list_order=plan.letters,
            shown=[question.columns[name].shown for name in labels],
        )

    def describe(
        self, plan: OrderingPlan, view: BlindedQuestion, presentation: OrderingPresentation
    ) -> dict[str, Any]:
        """Return what a participant was shown; the methods only once their page showed them."""
        hidden = plan.columns == NEVER or (plan.columns == AFTER and presentation.ranked_at is None)
        return {
            "lists": {letter: _ranks_shown(plan, view, ranks) for letter, ranks in view.rows},
            "methods": [
                {"label": column.label, "order": str(column.ranking)}
                | ({"values": dict(column.shown)} if plan.show_values else {})
                for column in view.columns
                if not hidden
            ],
            "ranked_before": _notation(presentation.ranked_first),
            "ranked_before_at": presentation.ranked_at and presentation.ranked_at.isoformat(),
            "ranked_before_asked": presentation.ranked_asked,
        }

    def describe_answer(self, answer: OrderingAnswer) -> dict[str, Any]:
        """Return the labels that were ticked, and the own ordering in notation."""
        return {
            "ticked": sorted(answer.clicked),
            "own_ordering": _notation(answer.own),
            "typed": answer.typed,
            "scores_seen": answer.scores_seen,
        }


def _ranks_shown(
    plan: OrderingPlan, view: BlindedQuestion, ranks: Sequence[tuple[int, str]]
) -> list[tuple[int, str]]:
    """Return the positions of a list that its page tells: as numbers, by marks, or none."""
    if plan.show_positions or not view.results:
        return [*ranks]
    return [(rank, "") for rank, _ in ranks if plan.mark_relevant and rank <= plan.depth]


def _notation(ranking: Ranking | None) -> str | None:
    return None if ranking is None else str(ranking)


# A phone shows no more columns beside the lists.
PHONE_COLUMNS = 3


@dataclass(frozen=True)
class Pair:
    """A comparison of two measures' orders of a question's lists.

    ``contradictions``: how many pairs of lists they put in opposite orders. If there are none
    and the orders differ, a measure only breaks ties of the other. ``balanced``: whether they
    contradict each other and tie as many lists, so that no tie explains a preference.
    """

    names: tuple[str, str]
    identical: bool
    contradictions: int
    balanced: bool

    @property
    def summary(self) -> str:
        """The comparison in a few words, for a table."""
        if self.identical:
            return "identical"
        return f"contradict on {self.contradictions}" if self.contradictions else "ties only"


@dataclass(frozen=True)
class QuestionCheck:
    """A question with comparisons of its measures, and findings."""

    question: Question
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]

    @property
    def separated(self) -> str:
        """Which measures the question can tell apart: "all", "some" or "none"."""
        identical = sum(pair.identical for pair in self.pairs)
        return "all" if not identical else "none" if identical == len(self.pairs) else "some"

    @property
    def outlier(self) -> str | None:
        """The measure that contradicts the others most; None among two, or if several do."""
        sums = {
            name: sum(pair.contradictions for pair in self.pairs if name in pair.names)
            for name in self.question.columns
        }
        most = [name for name, count in sums.items() if count == max(sums.values())]
        return most[0] if len(sums) > 2 and len(most) == 1 else None


def question_checks(questions: Iterable[Question]) -> list[QuestionCheck]:
    """Compare the measures' orders question by question."""
    checks = []
    for question in questions:
        pairs = tuple(
            Pair((first, second), a == b, opposed, opposed > 0 and is_balanced(a, b))
            for (first, a), (second, b) in combinations(question.rankings.items(), 2)
            for opposed in (contradictions(a, b),)
        )
        checks.append(QuestionCheck(question, pairs, tuple(_printing_findings(question))))
    return checks


@dataclass(frozen=True)
class PairCounts:
    """In how many ``questions`` a pair's orders contradict each other, and how else they differ.

    ``balanced``: of the contradicting ones; these alone say whether a lead is for the order.
    ``smallest``: the smallest lead for the order that they show in most studies of this size, in
    [0, 1], None where they show none.
    """

    pair: str
    names: tuple[str, str]
    questions: int
    contradicting: int
    balanced: int
    ties_only: int
    identical: int
    smallest: float | None
    why: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the counts and the sentence; ``why`` only where there is no smallest lead."""
        counts = {name: value for name, value in vars(self).items() if name != "why" or value}
        return {**counts, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What the questions can tell of the pair; empty where all its orders are identical."""
        if not self.contradicting and not self.ties_only:
            return ""
        text = (
            f"{and_join(self.names)} contradict each other in {self.contradicting} of "
            f"{self.questions} question{'s' * (self.questions != 1)}"
        )
        text += self._for_order if self.contradicting else ""
        if self.ties_only:
            text += f"; in {self.ties_only} they differ only in lists that one of them ties"
        if self.ties_only > self.contradicting:
            text += ", so people may favour one of them only because it shows no ties"
        return text

    @property
    def _for_order(self) -> str:
        """What the balanced questions can find."""
        number = {0: "none", self.contradicting: "all"}.get(self.balanced, str(self.balanced))
        in_these = f", in {number} of which both tie as many lists"
        if self.balanced + self.identical == self.questions:
            return f"{in_these}: a lead is one for the order"
        if not self.balanced:
            return f"{in_these}: whether a lead is for the order or for showing no ties stays open"
        if self.smallest is None:
            return f"{in_these}: too few to show whether a lead is for the order"
        return (
            f"{in_these}: these show in most studies of this size that a lead is for the order if "
            f"it is {100 * self.smallest:.0f} points or more there"
        )


def pair_counts(
    checks: Sequence[QuestionCheck], smallest: Callable[[int], float | None]
) -> list[PairCounts]:
    """Count the kinds of question of each pair of measures.

    ``smallest``: of a number of balanced questions, as ``PairCounts`` has it.
    """
    counted = []
    for pairs in zip(*(check.pairs for check in checks if check.question.number), strict=True):
        contradicting = sum(pair.contradictions > 0 for pair in pairs)
        balanced, identical = (
            sum(getattr(pair, name) for pair in pairs) for name in ("balanced", "identical")
        )
        least = smallest(balanced)
        counted.append(
            PairCounts(
                pair="-".join(pairs[0].names),
                names=pairs[0].names,
                questions=len(pairs),
                contradicting=contradicting,
                balanced=balanced,
                ties_only=len(pairs) - contradicting - identical,
                identical=identical,
                smallest=least,
                why="too few balanced questions" if least is None else None,
            )
        )
    return counted


def headings(plan: OrderingPlan) -> dict[str, str]:
    """Return the column heading of each measure's values: 1-AP for AP, so that lower is better."""
    return {name: MEASURES[name].shown_as if name in MEASURES else name for name in plan.measures}


def chance_advantage(plan: OrderingPlan, questions: Iterable[Question]) -> dict[str, float]:
    """Return the expected credits per response if participants click columns at random."""
    return chance_credits(rankings_of(questions), plan.measures)


def _design_findings(plan: OrderingPlan) -> Iterator[Finding]:
    """Yield findings on marks that measures lack or that none reads, and on width and sizes."""
    if missing := [name for name in plan.measures if name not in MEASURES]:
        fault = f"{and_join(missing)}: not registered here, so nothing can be drawn or recomputed"
        text = f"{fault}; install the package that brings it"
        yield Finding(None, text, failed=True, mend="measures")
    else:
        kinds = {name: measure_named(name).reads for name in plan.measures}
        for name, kind in kinds.items():
            if kind not in ("positions", *plan.marked):
                yield Finding(
                    None,
                    f"the lists have no {kind} for {name} to read, so it takes every match as "
                    "equally relevant",
                    mend="lists" if plan.own_lists else kind,
                )
        if unread := [kind for kind in plan.marked if kind not in kinds.values()]:
            text = f"participants see {and_join(unread)}, which no measure reads"
            yield Finding(None, text, mend="measures")
    if len(plan.measures) > PHONE_COLUMNS:
        yield Finding(
            None,
            f"{len(plan.measures)} columns and one's own do not fit on phones and tablets: the "
            "table scrolls sideways there, and a column that is not seen is not ticked",
            mend="measures",
        )
    if plan.primary:
        yield Finding(None, f"primary pair: {plan.primary} is tested first, and by itself")
    if plan.provenance and not plan.shuffle_letters:
        named = zip(plan.letters, plan.provenance.runs, strict=True)
        letters = and_join([f"{letter} is {run}" for letter, run in named])
        yield Finding(
            None,
            f"letters are the same in every question ({letters}), so people can learn which run "
            "is good; shuffle_letters in the plan deals them by chance",
            mend="shuffle_letters",
        )
    if len(plan.sizes) > 1:
        yield Finding(
            None,
            f"the questions have from {plan.sizes[0]} to {plan.sizes[-1]} relevant items per list; "
            f"look whether a text names one number, such as “the {plan.sizes[-1]} relevant items”",
        )


def _size_findings(plan: OrderingPlan) -> Iterator[Finding]:
    """Yield what so few questions and participants can never decide."""
    comparisons = 1 if plan.primary else comb(len(plan.measures), 2)
    mend = "lists" if plan.own_lists else "questions"
    yield from too_few_to_decide(plan.participants, plan.questions, comparisons, mend)


def _control_findings(plan: OrderingPlan, questions: Sequence[Question]) -> Iterator[Finding]:
    if again := plan.number_of(REPEATED):
        yield Finding(again, f"question {plan.repeated} once more; it is no vote")
    for question in questions:
        if question.number == plan.number_of(OBVIOUS):
            text = f"obvious, without methods: {obvious_order(question)}; it is no vote"
            yield Finding(question.number, text)


def obvious_order(question: Question) -> Ranking:
    """Return the order of lists of which each beats the next at every position."""
    return Ranking.by_key({letter: ranks[0] for letter, ranks in question.lists.items()})


def _horizon_findings(plan: OrderingPlan) -> Iterator[Finding]:
    size, gmt, literal = plan.collection_size, plan.gmt, plan.literal_eq15
    horizons: dict[str, Callable[[int], float]] = {
        "NMRR": lambda relevant: nmrr_horizon(relevant, gmt),
        "MNRO": lambda relevant: mnro_horizon(relevant, size, literal_eq15=literal),
    }
    for name in [name for name in horizons if name in plan.measures]:
        values = [horizons[name](relevant) for relevant in plan.sizes]
        least, most = min(values), max(values)
        horizon = (
            f"{least:g}" if least == most else f"{least:g} to {most:g}, by the relevant items,"
        )
        beyond = ", so every position counts as retrieved" if least >= size else ""
        yield Finding(None, f"{name}: K = {horizon} of {size} positions{beyond}")


def _order_findings(plan: OrderingPlan, questions: Sequence[Question]) -> Iterator[Finding]:
    so = (
        "people's orders agree with them equally"
        if plan.columns == NEVER
        else "a vote for one counts for each"
    )
    same = {
        pair: sum(each.rankings[pair[0]] == each.rankings[pair[1]] for each in questions)
        for pair in combinations(questions[0].rankings, 2)
    }
    ways = "Use other runs or topics" if plan.own_lists else "Use another seed or generator"
    for (first, second), count in same.items():
        text = f"{first} and {second} put the lists in the same order in "
        if count == len(questions):
            where = {1: "the only question", 2: "both questions"}.get(
                count, f"all {count} questions"
            )
            text += f"{where}, so this study cannot compare {first} with {second}"
        else:
            text += f"{count} of {len(questions)} questions, which cannot compare them"
        if count and plan.draws_as_the_paper:  # it is what the paper's sets were like
            yield Finding(None, f"{text}, as in the paper")
        elif count:
            mend = "lists" if plan.own_lists else "generator"
            yield Finding(None, f"{text}. {ways}, or leave one out", mend=mend)
    if not any(same.values()):
        yield Finding(None, "in every question all the measures' orders differ")
    for question in questions:
        for group in identical_groups(question.rankings):
            if any(same[pair] < len(questions) for pair in combinations(group, 2)):
                alike = f"{and_join(group)} order the lists alike ({question.rankings[group[0]]})"
                yield Finding(question.number, f"{alike}: {so}")


def _printing_findings(question: Question) -> Iterator[Finding]:
    for name, column in question.columns.items():
        texts = zip(column.ranking.letters, column.shown, strict=True)
        if longer := [letter for letter, text in texts if len(text.partition(".")[2]) > 4]:
            yield Finding(
                question.number,
                f"{name}: {and_join(longer)} would print alike at 4 decimals though they rank "
                "apart, so they are printed with more",
            )
        if tied := ["=".join(group) for group in column.ranking.groups if len(group) > 1]:
            yield Finding(question.number, f"{name} ties {and_join(tied)}")
