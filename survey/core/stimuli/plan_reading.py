"""A plan's nested values, read from plain lists and dictionaries."""

from dataclasses import replace
from typing import Any

from survey.core.stimuli.faults import Fault, PlanError
from survey.core.stimuli.marks import KINDS, Marks
from survey.core.stimuli.personal import PersonalField
from survey.core.stimuli.plan_checks import GIVEN


def read_fields(found: object, faults: list[Fault]) -> tuple[PersonalField, ...]:
    """Read personal fields; what is wrong is added to ``faults``."""
    if not isinstance(found, list | tuple):
        faults.append(
            Fault(("personal_fields",), f"personal_fields is {found!r}; a list is needed")
        )
        return ()
    made = []
    for index, one in enumerate(found):
        try:
            made.append(PersonalField.from_json(one))
        except PlanError as error:
            faults += [fault.under("personal_fields", index) for fault in error.faults]
    return tuple(made)


def read_own_lists(found: object, *, sort: bool, faults: list[Fault]) -> dict[str, Any]:
    """Read nested lists of positions; the design's counts follow from them.

    ``sort``: whether positions may come in any order; not where marks stand beside them.
    """
    try:
        own = tuple(
            tuple(tuple(_positions(ranks, sort=sort)) for ranks in lists)
            for lists in found  # type: ignore[attr-defined] # what is no list raises TypeError
        )
        sizes = {"questions": len(own), "lists": len(own[0]), "relevant": len(own[0][0])}
    except (TypeError, IndexError):
        faults.append(
            Fault(("own_lists",), "own_lists is no list of questions with lists of positions")
        )
        return {"own_lists": (), "generator": "random"}
    return {"own_lists": own, "generator": GIVEN, **sizes}


def _positions(found: object, *, sort: bool) -> list[int]:
    if not isinstance(found, list | tuple) or not all(type(one) is int for one in found):
        raise TypeError
    return sorted(found) if sort else list(found)


def read_marks(found: object, faults: list[Fault]) -> Marks:
    """Read the marks that are dealt to drawn lists: for each kind one list's, or its words."""
    made = Marks()
    if not isinstance(found, dict) or not set(found) <= set(KINDS):
        faults.append(
            Fault(
                ("marks",),
                f"marks is {found!r}; {', '.join(KINDS)} are allowed, each with a word for every "
                "relevant item, like grades: 2 1 1",
            )
        )
        return made
    for kind, words in found.items():
        try:
            one = Marks.of_one_list({kind: words})
            made = replace(made, **{kind: getattr(one, kind)})
        except (OverflowError, TypeError, ValueError):
            allowed = "a name" if kind == "clusters" else "a number"
            faults.append(
                Fault(
                    ("marks", kind),
                    f"{kind} is {words!r}; {allowed} for every relevant item is allowed",
                )
            )
    return made


def read_own_marks(found: object, faults: list[Fault]) -> tuple[Marks, ...]:
    """Read the marks of own lists: for each question its kinds, for each list its items'."""
    try:
        if not isinstance(found, list | tuple):
            raise TypeError
        return tuple(Marks.from_json(_kinds(one)) for one in found)
    except (OverflowError, TypeError, ValueError):
        faults.append(
            Fault(
                ("own_marks",),
                "own_marks is no list of questions with grades, weights or clusters of every list",
            )
        )
        return ()


def _kinds(found: object) -> dict[str, Any]:
    if not isinstance(found, dict) or not set(found) <= set(KINDS):
        raise TypeError
    return found
