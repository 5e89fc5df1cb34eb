"""What can be wrong with a plan, each fault with its place.

A plan's nested values, read from plain lists and dictionaries.

The plan of a study: everything a researcher decides before the first participant comes.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import InitVar, asdict, dataclass, fields, replace
from datetime import date
from typing import Any

from survey.core.measures import MEASURES, Setting, measure_named, mentioned_measure
from survey.core.studies.faults import (
    Fault,
    PlanError,
    boolean_faults,
    choice_faults,
    date_faults,
    text_faults,
    whole_number_faults,
)
from survey.core.studies.generators import GENERATORS
from survey.core.studies.marks import KINDS, NAME_RULE, NO_MARKS, Marks
from survey.core.studies.personal_fields import PersonalField, tidy_text
from survey.core.studies.questions import Question, build_question
from survey.core.studies.rankings import letters_for
from survey.core.studies.texts import placeholders

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
            if measure := mentioned_measure(name.replace("_", " ")):
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
    if isinstance(title, str) and (measure := mentioned_measure(title)):
        yield Fault(
            ("title",),
            f"the title {title!r} holds the name of a measure ({measure}), and participants see "
            "it; choose another",
        )


def _own_marks(plan: "Plan") -> Iterable[tuple[tuple[str | int, ...], Marks]]:
    return ((("own_marks", index), marks) for index, marks in enumerate(plan.own_marks))


def _about_texts(plan: "Plan") -> Iterable[Fault]:
    for name, (longest, needed) in TEXTS.items():
        yield from text_faults(name, getattr(plan, name), longest, needed=needed)
    if not (isinstance(plan.language, str) and re.fullmatch(r"[a-z]{2,3}", plan.language)):
        yield Fault(("language",), f"language is {plan.language!r}; two letters, like en")
    if plan.personal_until is not None:
        yield from date_faults("personal_until", plan.personal_until)
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
        faults += whole_number_faults(name, getattr(plan, name), lowest, highest)
    if not faults and plan.relevant > plan.collection_size:
        yield Fault(
            ("relevant",),
            f"relevant is {plan.relevant}, more than the collection_size {plan.collection_size}",
        )
    yield from faults
    for name in SWITCHES:
        yield from boolean_faults(name, getattr(plan, name))
    if plan.gmt is not None:
        yield from whole_number_faults("gmt", plan.gmt, 1, 10_000)
    yield from choice_faults("generator", plan.generator, (*GENERATORS, GIVEN))
    yield from choice_faults("design", plan.design, DESIGNS)
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
        yield from whole_number_faults("per_participant", asked, 1, plan.questions)
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


OLDEST_MEASURES = frozenset({"AP", "NMRR", "MNRO"})

# So many sets are tried for a practice question beside own lists.
PRACTICE_DRAWS = 100

ListsPerQuestion = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True)
class Plan:
    """A study's design and texts; frozen, with the lists, when the study opens.

    ``title``, ``asked_by``, ``purpose``, ``contact``, ``minutes``: the entry page.
    ``consent``, ``scenario``, ``reminder``, ``question_text``: shown texts, with blank
    lines between paragraphs. ``list_noun``: what a ranked list stands for ("system").
    ``language``: of the pages. ``personal_fields``: the page "About you".

    The design: ``measures``, kept in the registry's order; ``questions``, ``lists`` per
    question, ``relevant`` items per list among ``collection_size``; ``generator`` and
    ``seed``, or the generator "given" with ``own_lists`` (question → list → positions).
    ``marks``: grades, weights or clusters that the generator random deals to the positions
    of each list it draws; ``own_marks``: those of own lists, for each question.
    ``gmt`` and ``literal_eq15``: see ``Setting``. ``design``: "all" asks everyone every
    question, "pool" asks ``per_participant`` of them, balanced. ``shuffle_lists``,
    ``shuffle_questions``: rows and questions in an order of each participant's own.
    ``practice``: a practice question comes first. ``rank_first``: one's own ranking is
    asked before the columns are shown. ``positions_strip``: a small picture beside each list of
    where on 1…N its relevant items came. ``participants``: how many are wanted.
    ``personal_until``: the day, as 2027-06-30, after which what could identify people is
    deleted.

    The texts in ``FILLED`` may hold {lists}, {relevant}, {collection_size}, {questions} and
    {letters}.
    Raises PlanError with everything that is wrong, each fault with its place.
    """

    title: str
    asked_by: str
    purpose: str
    consent: str
    scenario: str
    reminder: str
    question_text: str
    list_noun: str = "system"
    contact: str = ""
    minutes: int = 20
    language: str = "en"
    personal_fields: tuple[PersonalField, ...] = ()
    measures: tuple[str, ...] = ("AP", "NMRR", "MNRO")
    questions: int = 10
    lists: int = 5
    relevant: int = 5
    collection_size: int = 100
    generator: str = "random"
    seed: int = 1
    own_lists: ListsPerQuestion = ()
    marks: Marks = NO_MARKS
    own_marks: tuple[Marks, ...] = ()
    gmt: int | None = None
    literal_eq15: bool = False
    design: str = "all"
    per_participant: int | None = None
    shuffle_lists: bool = False
    shuffle_questions: bool = False
    practice: bool = True
    rank_first: bool = False
    positions_strip: bool = False
    participants: int = 30
    personal_until: str | None = None
    registered: InitVar[bool] = True

    def __post_init__(self, registered: bool) -> None:
        for name in ("measures", "personal_fields", "own_lists", "own_marks"):
            value = getattr(self, name)
            object.__setattr__(
                self, name, tuple(value) if isinstance(value, list | tuple) else (value,)
            )
        if all(isinstance(name, str) and name in MEASURES for name in self.measures):
            # In the registry's order, so that a plan does not depend on how it was ticked.
            ordered = sorted(self.measures, key=MEASURES.sort_key)
            object.__setattr__(self, "measures", tuple(ordered))
        if not any(self.own_marks):
            object.__setattr__(self, "own_marks", ())
        faults = faults_of(self, registered=registered)
        if faults:
            raise PlanError(faults)

    def __hash__(self) -> int:
        # Equal plans have these in common; to hash long lists would take long.
        return hash((self.title, self.scenario, self.question_text, self.seed))

    @property
    def setting(self) -> Setting:
        """What the measures may know beside the ranks."""
        return Setting(self.collection_size, self.gmt, self.literal_eq15)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the lists of a question."""
        return letters_for(self.lists)

    @property
    def marked(self) -> tuple[str, ...]:
        """Which marks stand beside positions: "grades", "weights", "clusters"."""
        return (self.own_marks[0] if self.own_marks else self.marks).kinds

    @property
    def marks_lacking(self) -> bool:
        """Whether some relevant item is in no cluster, although others are."""
        return any(
            not item
            for one in (self.marks, *self.own_marks)
            for row in one.clusters
            for item in row
        )

    @property
    def asked(self) -> int:
        """How many questions each participant answers."""
        return self.per_participant or self.questions

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that texts may speak of; {relevant} only where all questions share it."""
        sizes = {len(lists[0]) for lists in self.own_lists} or {self.relevant}
        numbers = {
            "lists": self.lists,
            "collection_size": self.collection_size,
            "questions": self.asked,
        }
        return numbers | ({"relevant": self.relevant} if len(sizes) == 1 else {})

    def draw_questions(self) -> list[Question]:
        """Draw the study's questions from its seed, the practice question (0) first if any."""
        if self.generator == GIVEN:
            practice = [self._practice_beside_own_lists()] if self.practice else []
            marks = self.own_marks or (NO_MARKS,) * len(self.own_lists)
            return practice + [
                build_question(number, lists, self.measures, self.setting, marked)
                for number, (lists, marked) in enumerate(zip(self.own_lists, marks, strict=True), 1)
            ]
        numbers = range(0 if self.practice else 1, self.questions + 1)
        return [self._draw(number, self.generator) for number in numbers]

    def _practice_beside_own_lists(self) -> Question:
        """Draw a practice question, marked like the first list, that the measures can order.

        In a large collection nothing relevant would come early by chance, and P@10, say,
        would tie all lists; so positions are drawn nearer to the front if need be.
        """
        if not self.own_marks and {*self.measures} <= OLDEST_MEASURES:
            # As the first release drew it, so that its bundles replicate.
            with suppress(ValueError):
                return self._draw(0, "random")
        marks = self.own_marks[0].of_list(0) if self.own_marks else NO_MARKS
        for within in (None, 20 * self.relevant, 4 * self.relevant):
            if within is None or within < self.collection_size:
                with suppress(ValueError):
                    return self._draw(0, "random", marks=marks, within=within, draws=PRACTICE_DRAWS)
        raise ValueError(
            "no practice question came up that every measure can order; leave the practice "
            "question out, or take other measures"
        )

    def _draw(self, number: int, generator: str, **more: Any) -> Question:
        if self.marks:
            more["marks"] = self.marks
        return GENERATORS[generator](
            number,
            seed=self.seed,
            lists=self.lists,
            relevant=self.relevant,
            measures=self.measures,
            setting=self.setting,
            **more,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage."""
        return asdict(self) | {
            "marks": self.marks.one_list_as_json(),
            "own_marks": [marks.as_json() for marks in self.own_marks],
        }

    def content(self) -> dict[str, Any]:
        """Return the plan as plain values without what is left at its default.

        The digest is made of this, so that it stays the same when a later version
        adds a field. Hence a default, once released, is never changed.
        """
        return _without_defaults(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], *, registered: bool = True) -> "Plan":
        """Make a plan from plain values; texts are tidied, counts taken from own lists.

        ``registered``: whether all its measures have to be registered here. A stored study
        can be shown, answered and counted without: its values and orders are stored too.

        Raises PlanError with every fault: fields that no plan has, fields that are
        missing, and what the plan itself refuses.
        """
        known = {one.name for one in fields(cls)}
        faults = [
            Fault((str(name),), f"a plan has no field {name!r}; it has {', '.join(sorted(known))}")
            for name in stored
            if name not in known
        ]
        values: dict[str, Any] = {
            name: tidy_text(value) if isinstance(value, str) else value
            for name, value in stored.items()
            if name in known
        }
        if type(values.get("personal_until")) is date:  # as YAML reads it
            values["personal_until"] = values["personal_until"].isoformat()
        for name in TEXTS:
            if name not in values and name != "list_noun":
                values[name] = ""  # where one is needed, the plan says so
        values["personal_fields"] = read_fields(values.get("personal_fields", ()), faults)
        values["marks"] = read_marks(values.get("marks") or {}, faults)
        values["own_marks"] = read_own_marks(values.get("own_marks") or (), faults)
        if values.get("own_lists"):
            sort = not any(values["own_marks"])
            values |= read_own_lists(values["own_lists"], sort=sort, faults=faults)
        try:
            plan = cls(**values, registered=registered)
        except PlanError as error:
            raise PlanError([*faults, *error.faults]) from None
        if faults:
            raise PlanError(faults)
        return plan


def _without_defaults(one: Plan | PersonalField) -> dict[str, Any]:
    content = {
        field.name: getattr(one, field.name)
        for field in fields(one)
        if getattr(one, field.name) != field.default
    }
    if "personal_fields" in content:
        content["personal_fields"] = [
            _without_defaults(each) for each in content["personal_fields"]
        ]
    if "marks" in content:
        content["marks"] = content["marks"].one_list_as_json()
    if "own_marks" in content:
        content["own_marks"] = [marks.as_json() for marks in content["own_marks"]]
    return content
