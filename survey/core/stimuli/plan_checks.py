"""What can be wrong with a plan, each fault with its place."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from survey.core.measures import MEASURES, measure_in, measure_named
from survey.core.stimuli.faults import (
    Fault,
    a_day,
    a_text,
    one_of,
    whole_number,
    yes_or_no,
)
from survey.core.stimuli.generators import GENERATORS
from survey.core.stimuli.marks import NAME_RULE, NO_MARKS, Marks
from survey.core.stimuli.questions import build_question
from survey.core.stimuli.words import placeholders

if TYPE_CHECKING:
    from survey.core.stimuli.plan import Plan

GIVEN = "given"
DESIGNS = ("all", "pool")
BOUNDS = {
    "questions": (1, 50),
    "lists": (3, 10),
    "relevant": (1, 10_000),
    "collection_size": (2, 100_000_000),
    "participants": (1, 10_000_000),
    "minutes": (1, 600),
    "seed": (0, 2**63 - 1),
}
SWITCHES = (
    *("literal_eq15", "shuffle_lists", "shuffle_questions"),
    *("practice", "rank_first", "positions_strip"),
)
# Texts that participants read: the longest each may be, and whether there must be one.
TEXTS = {
    "title": (200, True),
    "asked_by": (300, True),
    "purpose": (5_000, True),
    "consent": (20_000, True),
    "scenario": (10_000, True),
    "reminder": (1_000, False),
    "question_text": (500, True),
    "list_noun": (40, True),
    "contact": (300, False),
}
MOST_FIELDS = 20
# Texts in which {lists} and the like stand for the design's numbers.
FILLED = ("purpose", "consent", "scenario", "reminder", "question_text")

FEWEST_OWN_LISTS = 2  # of two systems, say; questions that are drawn have three at least


def faults_of(plan: "Plan", *, registered: bool) -> list[Fault]:
    """Return everything that is wrong with a plan; ``registered``: see ``Plan.from_json``."""
    faults = [*_about_texts(plan), *_about_design(plan)]
    faults += _about_measures(plan) if registered else ()
    if faults:
        return faults
    # What follows rests on the numbers and the measures.
    faults = [*_about_placeholders(plan), *_about_marks(plan)]
    return [*faults, *_about_needs(plan)] if registered else faults


def giveaways_of(plan: "Plan") -> list[Fault]:
    """Return what would tell participants a measure's name.

    Asked when a plan is made or changed, not when a stored one is read: a later version
    knows more measures, and a study that runs under its title goes on.
    """
    faults = [*giveaways_in_title(plan.title)]
    for place, marks in [(("marks", "clusters"), plan.marks), *_own_marks(plan)]:
        for name in sorted({name for row in marks.clusters for item in row for name in item}):
            if measure := measure_in(name.replace("_", " ")):
                faults.append(
                    Fault(
                        place,
                        f"the cluster {name} holds the name of a measure ({measure}), and "
                        "participants see it; choose another",
                    )
                )
    return faults


def giveaways_in_title(title: object) -> Iterable[Fault]:
    """Yield the fault of a title that names a measure, see ``giveaways_of``."""
    if isinstance(title, str) and (measure := measure_in(title)):
        yield Fault(
            ("title",),
            f"the title {title!r} holds the name of a measure ({measure}), and participants see "
            "it; choose another",
        )


def _own_marks(plan: "Plan") -> Iterable[tuple[tuple[str | int, ...], Marks]]:
    return ((("own_marks", index), marks) for index, marks in enumerate(plan.own_marks))


def _about_texts(plan: "Plan") -> Iterable[Fault]:
    for name, (longest, needed) in TEXTS.items():
        yield from a_text(name, getattr(plan, name), longest, needed=needed)
    if not (isinstance(plan.language, str) and re.fullmatch(r"[a-z]{2,3}", plan.language)):
        yield Fault(("language",), f"language is {plan.language!r}; two letters, like en")
    if plan.personal_until is not None:
        yield from a_day("personal_until", plan.personal_until)
    names = [field.name for field in plan.personal_fields]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Fault(
                ("personal_fields", index, "name"), f"the personal field {name} is there twice"
            )
    if len(names) > MOST_FIELDS:
        yield Fault(("personal_fields",), f"{len(names)} personal fields; {MOST_FIELDS} at most")


def _about_design(plan: "Plan") -> Iterable[Fault]:
    faults: list[Fault] = []
    for name, (lowest, highest) in BOUNDS.items():
        if name == "lists" and plan.own_lists:
            lowest = FEWEST_OWN_LISTS
        faults += whole_number(name, getattr(plan, name), lowest, highest)
    if not faults and plan.relevant > plan.collection_size:
        yield Fault(
            ("relevant",),
            f"relevant is {plan.relevant}, more than the collection_size {plan.collection_size}",
        )
    yield from faults
    for name in SWITCHES:
        yield from yes_or_no(name, getattr(plan, name))
    if plan.gmt is not None:
        yield from whole_number("gmt", plan.gmt, 1, 10_000)
    yield from one_of("generator", plan.generator, (*GENERATORS, GIVEN))
    yield from one_of("design", plan.design, DESIGNS)
    if not faults:
        yield from _about_pool(plan)
        yield from _about_own_lists(plan)


def _about_pool(plan: "Plan") -> Iterable[Fault]:
    asked = plan.per_participant
    if plan.design == "pool" and asked is None:
        yield Fault(
            ("per_participant",),
            "per_participant is empty; a pool needs to know how many questions each "
            "participant answers",
        )
    elif plan.design == "pool":
        yield from whole_number("per_participant", asked, 1, plan.questions)
    elif asked is not None:
        yield Fault(
            ("per_participant",),
            f"per_participant is {asked}, but the design is {plan.design}; "
            "leave it out, or choose the design pool",
        )


def _about_own_lists(plan: "Plan") -> Iterable[Fault]:
    if bool(plan.own_lists) != (plan.generator == GIVEN):
        yield Fault(
            ("generator",),
            f"generator is {plan.generator} and there are {len(plan.own_lists)} questions "
            "with lists of your own; own lists and the generator given belong together",
        )
    for number, lists in enumerate(plan.own_lists, 1):
        if not (isinstance(lists, tuple) and len(lists) == plan.lists):
            yield Fault(
                ("own_lists", number - 1), f"question {number} must have {plan.lists} lists"
            )
        elif _has_twins(plan, number):
            yield Fault(("own_lists", number - 1), f"question {number} has a list twice")
        else:
            yield from _about_question(plan, number)
    if plan.own_lists and len(plan.own_lists) != plan.questions:
        yield Fault(
            ("own_lists",), f"{len(plan.own_lists)} questions with lists, not {plan.questions}"
        )


def _has_twins(plan: "Plan", number: int) -> bool:
    """Tell whether two lists of a question look the same: equal positions and equal marks."""
    marks = plan.own_marks[number - 1 : number] or (NO_MARKS,)
    lists = plan.own_lists[number - 1]
    return len({(ranks, marks[0].of_list(index)) for index, ranks in enumerate(lists)}) < len(lists)


def _about_question(plan: "Plan", number: int) -> Iterable[Fault]:
    try:
        build_question(number, plan.own_lists[number - 1], ("AP",), plan.setting)
    except (ValueError, TypeError) as error:
        yield Fault(("own_lists", number - 1), f"question {number}: {error}")


def _about_measures(plan: "Plan") -> Iterable[Fault]:
    names = plan.measures
    known = True
    for name in names:
        try:
            found = measure_named(name).name
        except (ValueError, TypeError) as error:
            known = False
            yield Fault(("measures",), str(error))
        else:
            if found != name:
                known = False
                yield Fault(("measures",), f"the measure {name} is written {found}")
    if known and not 2 <= len(set(names)) == len(names) <= 6:
        yield Fault(
            ("measures",),
            f"measures is {', '.join(names) or 'empty'}; 2 to 6 different ones are allowed",
        )


def _about_marks(plan: "Plan") -> Iterable[Fault]:
    if plan.marks and plan.generator != "random":
        yield Fault(
            ("marks",),
            f"marks are dealt to drawn lists by the generator random; it is {plan.generator}",
        )
    if plan.own_marks and len(plan.own_marks) != len(plan.own_lists):
        yield Fault(
            ("own_marks",),
            f"{len(plan.own_marks)} questions with marks, {len(plan.own_lists)} with lists; "
            "both need the same number",
        )
        return
    if plan.marks:
        places = range(1, plan.relevant + 1)
        for kind in plan.marks.kinds:
            one = Marks(**{kind: getattr(plan.marks, kind)})
            place = ("marks", kind)
            yield from _faulty_marks(place, "marks", one, [places], plan.collection_size)
    for index, marks in enumerate(plan.own_marks):
        what = f"the marks of question {index + 1}"
        lists = plan.own_lists[index]
        yield from _faulty_marks(("own_marks", index), what, marks, lists, plan.collection_size)
        if marks.kinds != plan.own_marks[0].kinds:
            yield Fault(("own_marks", index), f"{what} are of other kinds than question 1's")


def _about_needs(plan: "Plan") -> Iterable[Fault]:
    for name in plan.measures:
        if "clusters" in MEASURES[name].needs and "clusters" not in plan.marked:
            yield Fault(
                ("measures",),
                f"{name} needs to know the clusters of the relevant items; "
                "give the lists clusters, or take another measure",
            )


def _faulty_marks(
    place: tuple[str | int, ...],
    what: str,
    marks: Marks,
    lists: Iterable[Iterable[int]],
    collection_size: int,
) -> Iterable[Fault]:
    try:
        marks.lists([list(ranks) for ranks in lists], collection_size)
    except ValueError as error:
        yield Fault(place, f"{what}: {error}")
    for name in {name for row in marks.clusters for item in row for name in item}:
        if not re.fullmatch(NAME_RULE, name):
            yield Fault(
                place,
                f"{what}: {name!r} is no name of a cluster; up to 40 characters without spaces, "
                "commas, brackets and +, and not - alone, are allowed",
            )


def _about_placeholders(plan: "Plan") -> Iterable[Fault]:
    numbers = plan.numbers
    for name in FILLED:
        yield from _placeholder_faults((name,), getattr(plan, name), numbers)


def _placeholder_faults(
    place: tuple[str, ...], text: str, numbers: Mapping[str, int]
) -> Iterable[Fault]:
    allowed = (*numbers, "letters")
    shown = ", ".join(f"{{{name}}}" for name in allowed)
    try:
        found = placeholders(text)
    except ValueError:
        yield Fault(place, f"{place[0]} holds a single {{ or }}; write {{{{ or }}}} for the sign")
        return
    for name in found:
        if name not in allowed:
            told = f"{{{name}}} found in {place[0]}; allowed are {shown}"
            if name == "relevant":
                told += (
                    " (the questions have different numbers of relevant items, so no text can "
                    "speak of one; the preset runs has texts that do not)"
                )
            yield Fault(place, told)
