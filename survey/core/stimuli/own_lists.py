"""A researcher's own ranked lists: their type, their bounds, their error."""

from collections.abc import Iterable
from dataclasses import dataclass

from survey.core.stimuli.marks import Marks

QUESTIONS = (1, 50)
LISTS = (2, 10)  # two suffice for lists of one's own, say two systems' runs
COLLECTION_SIZE = (2, 100_000_000)
MOST_FAULTS = 20


@dataclass(frozen=True)
class OwnLists:
    """Ranked lists that a researcher brings for a study.

    ``questions``: question → list (A, B, C, …) → sorted 1-based positions of its
    relevant items. ``marks``: of each question, empty where there are none. ``topics``:
    where the lists come from a test collection, the topic of each question; else empty.
    """

    questions: tuple[tuple[tuple[int, ...], ...], ...]
    collection_size: int
    topics: tuple[str, ...] = ()
    marks: tuple[Marks, ...] = ()


class OwnListsError(ValueError):
    """Lists that cannot be used; ``faults`` says everything that is wrong, a sentence each.

    Of more than 20 faults the first 19 are kept, and the last sentence counts the rest.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        found = tuple(faults)
        if len(found) > MOST_FAULTS:
            kept = found[: MOST_FAULTS - 1]
            found = (*kept, f"and {len(found) - len(kept)} more faults like these")
        self.faults: tuple[str, ...] = found
        super().__init__("\n".join(found))


def shortened(found: str) -> str:
    """Quote what was found, as much of it as a message has room for."""
    return repr(found if len(found) <= 40 else f"{found[:39]}…")
