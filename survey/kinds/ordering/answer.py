"""How a participant is shown an ordering question, their answer, and doubts about it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from survey.core.agreement.answers import DIFFERING_TICKS, REVERSED
from survey.core.studies.questions import BlindedColumn, BlindedQuestion, Blinding, reversed_pairs
from survey.core.studies.rankings import Ranking, differing_pairs
from survey.kinds.ordering.plan import OrderingPlan


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


UNUSED_ORDERING = "unused"  # a doubt that is not stored, as the choice settles it


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

    def orderings(
        self, orders: Mapping[str, Ranking], shown: OrderingPresentation
    ) -> frozenset[Ranking]:
        """Return the orderings that it stands for, by the measures' orders of the question."""
        ticked = (orders[shown.label_order[label - 1]] for label in self.clicked)
        return frozenset(ticked if self.own is None else [self.own])

    def credited(self, view: BlindedQuestion) -> "OrderingAnswer":
        """Return the answer with an own ordering that columns have credited to these columns."""
        same = frozenset(each.label for each in view.columns if each.ranking == self.own)
        return replace(self, clicked=same, own=None, typed=True) if same else self


@dataclass(frozen=True)
class OrderingDoubt:
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
    ) -> "OrderingDoubt | None":
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
    ) -> "OrderingDoubt | None":
        """Return the doubt about an own ordering beside ticks that all have one other ordering."""
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
        """Return the answer that a choice makes, None for a choice that does not decide.

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

    Only positions that the page shows, as numbers or by marks, count. See ``reversed_pairs``.
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
    """Return a function that tells whether an own ordering of a question contradicts itself.

    It does where it puts a list above one that the page shows to be earlier at every position.
    ``lists``: question → list → positions.
    """

    @lru_cache(4_096)  # millions of answers have few different orderings
    def contradicts(question: int, own: Ranking | None) -> bool:
        return own is not None and bool(reversed_in_view(plan, lists[question], own))

    return contradicts
