"""Which measures a study of ranked lists cannot compare, since its questions lack their needs."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from survey.core.measures import MEASURES, Setting
from survey.core.studies.fields import Fault
from survey.core.studies.questions import Marks


def need_faults(
    measures: Iterable[str], marked: Collection[str], setting: Setting, remedy: str
) -> Iterator[Fault]:
    """Yield a fault for each measure whose clusters or whose rows of pictures are missing.

    ``marked``: the types of marks that there are; ``remedy``: how to add clusters.
    """
    for name in measures:
        needs = MEASURES[name].needs
        if "clusters" in needs and "clusters" not in marked:
            yield Fault(
                ("measures",),
                f"{name} needs to know the clusters of the relevant {remedy}, or take another "
                "measure",
            )
        if "columns" in needs and setting.columns is None:
            yield Fault(
                ("measures",),
                f"{name} needs pictures in rows of a fixed length: choose the layout grid, or take "
                "another measure",
            )


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
