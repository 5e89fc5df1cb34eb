"""Reading responses.csv of a folder made elsewhere."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from survey.core.measures import MEASURES
from survey.services.exchange.faults import Faults
from survey.services.exchange.foreign_lists import QUESTIONS, ForeignLists
from survey.services.exchange.foreign_records import ForeignAnswer, in_order
from survey.services.exchange.foreign_sheets import filled_rows, from_one, moment, yes
from survey.services.exchange.opening import Files
from survey.services.exchange.responses import NAME
from survey.services.exchange.sheets import BundleError, SheetRow

FIRST_COLUMNS = (
    *("participant", "question", "position", "label_order", "column_order"),
    *("list_order", "clicked", "custom_ranking"),
)
MEASURES_COMPARED = (2, 6)

Named = TypeVar("Named", int, str)
Answers = list[tuple[SheetRow, ForeignAnswer]]


def read_foreign_answers(files: Files, lists: ForeignLists) -> tuple[ForeignAnswer, ...]:
    """Read responses.csv; a row with neither label nor ranking is a missing answer.

    All answers were shown with the same measures. Raises BundleError with the faults of
    all rows, the first fault of each.
    """
    faults = Faults()
    answers: Answers = []
    seen: dict[tuple[str, int], int] = {}
    for row in filled_rows(files, NAME, FIRST_COLUMNS, faults):
        with faults.noted():
            _check_question(row, lists, seen)
            if row.optional("clicked") or row.optional("custom_ranking"):
                answers.append((row, _answer(row, tuple(lists[row.whole("question")]))))
    for row, fault in (*_other_measures(answers), *_changed_flags(answers)):
        with faults.noted():
            raise row.fault(*fault)
    faults.stop_if_any()
    if not answers:
        raise BundleError(f"{NAME} holds no answer; one with its label_order is needed")
    return in_order([one for _, one in answers])


def _check_question(row: SheetRow, lists: ForeignLists, seen: dict[tuple[str, int], int]) -> None:
    """Note which question a row is about; ``seen``: the row of each so far."""
    participant, question = row.text("participant"), row.whole("question")
    if question not in lists:
        raise row.fault("question", f"{QUESTIONS} has the questions {_some(list(lists))}")
    there = seen.setdefault((participant, question), row.number)
    if there != row.number:
        raise row.fault("question", f"row {there} has {participant!r} answer it already")


def _some(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - 20} more" if len(numbers) > 20 else ""
    return " ".join(map(str, numbers[:20])) + more


def _answer(row: SheetRow, letters: tuple[str, ...]) -> ForeignAnswer:
    labels = _labels(row)
    own, numbers = row.ranking("custom_ranking", letters), tuple(range(1, len(labels) + 1))
    clicked = frozenset(row.wholes("clicked"))
    if not clicked <= set(numbers):
        raise row.fault("clicked", f"label numbers from 1 to {len(labels)} are needed")
    if clicked and own:
        raise row.fault("custom_ranking", "clicked holds labels; an answer is one of the two")
    return ForeignAnswer(
        participant=row.text("participant"),
        question=row.whole("question"),
        position=None if row.optional("position") is None else from_one(row, "position"),
        label_order=labels,
        column_order=_order(row, "column_order", row.wholes("column_order"), numbers),
        list_order=_order(row, "list_order", _words(row, "list_order"), letters) or letters,
        clicked=clicked,
        own=own,
        shown_at=moment(row, "shown_at"),
        submitted_at=moment(row, "submitted_at"),
        active_seconds=row.real("active_seconds"),
        revisions=row.optional_whole("revisions"),
        is_test=yes(row, "is_test"),
        excluded=yes(row, "excluded"),
    )


def _words(row: SheetRow, column: str) -> tuple[str, ...]:
    return tuple((row.optional(column) or "").split())


def _labels(row: SheetRow) -> tuple[str, ...]:
    """Return the measures behind the labels."""
    labels, (fewest, most) = _words(row, "label_order"), MEASURES_COMPARED
    for name in labels:
        if name not in MEASURES or MEASURES[name].name != name:
            raise row.fault("label_order", f"{name!r} is no measure; known are {MEASURES.forms}")
    if not fewest <= len(labels) <= most:
        raise row.fault("label_order", f"{fewest} to {most} measures are needed")
    if len(set(labels)) < len(labels):
        raise row.fault("label_order", "each measure may stand behind one label")
    return labels


def _order(
    row: SheetRow, column: str, found: tuple[Named, ...], allowed: tuple[Named, ...]
) -> tuple[Named, ...] | None:
    """Return an order of what is allowed, None where the cell is empty."""
    if found and sorted(found) != list(allowed):
        raise row.fault(column, f"an order of {' '.join(map(str, allowed))} is needed")
    return found or None


def _other_measures(answers: Answers) -> Iterator[tuple[SheetRow, tuple[str, str]]]:
    """Give the rows that were shown with other measures than the first answer."""
    for row, one in answers:
        first_row, first = answers[0]
        if sorted(one.label_order) != sorted(first.label_order):
            allowed = f"an order of {' '.join(first.label_order)} is needed"
            yield row, ("label_order", f"{allowed}, as in row {first_row.number}")


def _changed_flags(answers: Answers) -> Iterator[tuple[SheetRow, tuple[str, str]]]:
    """Give the rows that say of a participant what an earlier one does not."""
    first: dict[str, tuple[SheetRow, ForeignAnswer]] = {}
    for row, one in answers:
        first_row, other = first.setdefault(one.participant, (row, one))
        for column in ("is_test", "excluded"):
            if getattr(one, column) != getattr(other, column):
                allowed = f"it is the participant's, and row {first_row.number} says otherwise"
                yield row, (column, allowed)
