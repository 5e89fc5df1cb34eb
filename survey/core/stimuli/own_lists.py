"""A researcher's own ranked lists: their type and their bounds."""

from dataclasses import dataclass

from survey.core.stimuli.marks import Marks

QUESTIONS = (1, 50)
LISTS = (2, 10)  # two suffice for lists of one's own, say two systems' runs
COLLECTION_SIZE = (2, 100_000_000)


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
