"""Which measures a study of ranked lists cannot compare, since its questions lack their needs."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from survey.core.measures import MEASURES, Setting
from survey.core.preflight import Warned
from survey.core.studies.fields import Fault
from survey.core.studies.questions import Marks


def need_faults(
    measures: Iterable[str],
    marked: Collection[str],
    setting: Setting,
    remedy: str,
    *,
    size_unknown: bool = False,
) -> Iterator[Fault]:
    """Yield a fault for each measure whose clusters, rows of pictures or size are missing.

    ``marked``: the types of marks that there are; ``remedy``: how to add clusters;
    ``size_unknown``: whether the number of documents that the runs searched is unknown.
    """
    for name in measures:
        needs = MEASURES[name].needs
        if "clusters" in needs and "clusters" not in marked:
            yield Fault(
                ("measures",),
                f"{name} needs to know the clusters of the relevant {remedy}, or take another "
                "measure",
            )
        if size_unknown and needs_size(name):
            yield Fault(
                ("measures",),
                f"{name} needs to know how many documents the runs searched: make the study again "
                "with that number, or take another measure",
            )
        if "columns" in needs and setting.columns is None:
            yield Fault(
                ("measures",),
                f"{name} needs pictures in rows of a fixed length: choose the layout grid, or take "
                "another measure",
            )


def needs_size(name: str) -> bool:
    """Return whether a measure reads how many documents the runs searched."""
    return name in MEASURES and "collection size" in MEASURES[name].needs


def left_out(measures: Iterable[str]) -> tuple[tuple[str, ...], list[Warned]]:
    """Return the measures that do not read the collection's size, and a warning of the others."""
    measures = [*measures]
    without = [name for name in measures if needs_size(name)]
    text = (
        f"{', '.join(without)} left out: the number of documents that the runs searched is unknown"
    )
    warned = [Warned("measures-left-out", "", text, len(without))] if without else []
    return tuple(name for name in measures if name not in without), warned


def can_order(name: str) -> bool:
    """Return whether a measure can order lists of equal length; RBU charges for their length."""
    return not name.startswith("RBU")


def ordering_faults(measures: Iterable[str], marks: Sequence[Marks]) -> Iterator[Fault]:
    """Yield a fault for each measure whose orders of lists say nothing in some question.

    ``marks``: of each question, or of all together.
    """
    for name in measures:
        if not can_order(name):
            yield Fault(
                ("measures",),
                f"{name} charges for each item that is looked at, and the lists of a question are "
                "equally long; take iRBU or ERR-IA, or ask for preferences between runs",
            )
        level = MEASURES[name].level
        for number, of_question in enumerate(marks, 1):
            grades = [grade for row in of_question.grades for grade in row]
            if max(grades, default=1) < level:
                where = f"question {number} has" if len(marks) > 1 else "the lists have"
                yield Fault(
                    ("measures",),
                    f"{name} counts grades from {level} on, and {where} no item of such a grade; "
                    "take a lower grade, other lists or another measure",
                )
                break
