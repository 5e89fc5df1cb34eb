"""The plan of a study: everything a researcher decides before it opens.

``Plan`` holds what every kind of study decides. A kind of question adds its own settings in a
subclass (survey.kinds). A field is declared once, with its rule, from which come its checks,
the researcher's form and the command. A study's digest covers its plan and what its questions
show.
"""

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, InitVar, asdict, dataclass, fields, replace
from datetime import date
from functools import lru_cache
from random import Random
from typing import Any, ClassVar, Protocol, Self, TypeVar

from survey.core.measures import mentioned_measure
from survey.core.studies.fields import (
    MOST_QUESTIONS,
    AskedField,
    Choice,
    ClosingQuestion,
    Day,
    Fault,
    Language,
    Lines,
    PersonalField,
    PlanError,
    Rule,
    Switch,
    Text,
    Whole,
    as_tuple,
    brace_faults,
    declared,
    rules_of,
    tidy_text,
    unknown_field,
)
from survey.core.studies.minutes import (
    FIELD,
    MOST_MINUTES,
    PICTURES,
    REASON,
    DocumentLoad,
    total_minutes,
)
from survey.core.text_input import Json, closest

MOST_FIELDS = 20
# What a plan asks for itself, by its field: of each participant, and beside each question.
FIELD_LISTS: dict[str, type[PersonalField]] = {
    "personal_fields": PersonalField,
    "closing_questions": ClosingQuestion,
    "ask": AskedField,
}
# Fields that release 0.2.0 does not know: plans are stored without them at their default.
LATER_FIELDS = (
    *("ask", "criterion", "ticks", "layout", "grid_columns", "show_ideal"),
    *("left_out", "annotate_categories"),
    *("other_topic", "asked_again", "known_pairs", "shown_again"),
    *("own_picture", "shown_twice"),
    *("pool", "judged", "documents_asked", "rejudge", "grades", "cannot_judge", "chunk", "judges"),
    *("overlap", "gold", "gold_share", "relevant_from"),
    *("smallest_lead", "sample", "expertise"),
    *("least_seconds", "flag_equal_answers", "ask_program", "machine_line"),
)
MOST_ARMS = 8
ARM_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9 -]{0,38}[A-Za-z0-9])?"
POOL = ("design", "pool")  # the choice with which some settings count
QUESTIONS_FIELD = Whole(
    "Questions", 1, MOST_QUESTIONS, help=f"1 to {MOST_QUESTIONS}, or the whole pool."
)
PER_PARTICIPANT = Whole(
    "Questions per participant",
    1,
    MOST_QUESTIONS,
    optional=True,
    help="Only for a pool.",
    only_with=POOL,
)
DESIGNS = {
    "all": "Everyone answers all questions",
    "pool": "A pool: everyone answers some, each question equally often",
}
CONSENT_HELP = (
    "Blank lines separate paragraphs. The text that a participant agreed to is stored with the "
    "answers."
)
CRITERION_HELP = (
    "Optional, below the scenario. For example: “A system does well when its matches come early.” "
    "It tells people what is good, on which measures disagree: an arm can show it to some people "
    "only."
)
SCENARIO_HELP = "The story behind the questions. In all texts, {questions} is their number."
CHECK_HELP = (
    "The practice asks in which of two lists the first match comes earlier. The first answer is "
    "stored in any case, and so are the answers of those who are left out."
)
DEBRIEFING_HELP = (
    "Optional, on the last page: what was compared, and where the results will appear. It names "
    "no measure while others still take part."
)
REASON_HELP = (
    "Optional, below each question's answer. For example: “Why? A few words are enough.” People "
    "may leave it empty. Empty here, no reason is asked for."
)
WANTED_HELP = "Once this many have finished, new visitors see that the study is full."
SEED_HELP = "The same seed and design give the same questions, on any machine."
PRACTICE = Switch("Begin with practice", help="It explains the task and never counts.")
MARK_QUERY_WORDS_HELP = (
    "Bold and underlined: whole words, whatever their case and accents. It helps to find them, and "
    "favours systems that match words."
)
UNTIL_HELP = (
    "Optional, a date like 2027-06-30. After it the answers to these questions, platforms' ids "
    "and the guest list are deleted. Reasons, closing answers and names of groups stay, as all "
    "answers do. Participants read this with the consent."
)


# Of the kinds that show documents.
MARK_QUERY_WORDS = Switch("Mark the words of the query in texts", help=MARK_QUERY_WORDS_HELP)

STRIP, GRID, LIST, NUMBERS = "strip", "grid", "list", "numbers"
LAYOUTS = {
    STRIP: "One after another, as many in a row as fit",
    GRID: "A grid with the same rows on every screen",
    LIST: "One below the other, as a search engine lists pages",
    NUMBERS: "Not at all: positions only, as in the paper",
}
LAYOUT_HELP = (
    "Of pictures. In a grid every participant sees the same rows, on a phone too, and measures "
    "that know rows read them."
)
LAYOUT = Choice("How the results are laid out", LAYOUTS, help=LAYOUT_HELP)
GRID_COLUMNS = Whole("Results in a row of the grid", 2, 10, only_with=("layout", GRID))

# By how much less often than a person a machine may be as near to the others as that person.
EPSILON = {"crowd": 0.1, "trained": 0.15, "experts": 0.2}
EXPERTISE = {
    "crowd": "Anyone (.10)",
    "trained": "People trained for the task (.15)",
    "experts": "Experts of the subject (.20)",
}
EXPERTISE_HELP = (
    "Only for a machine that judges beside people: the dearer their answers, the further it may "
    "fall short of one of them. The number is the margin of the alternative annotator test."
)
LEAST_SECONDS_HELP = (
    "Optional. Someone is flagged whose median time for a question is shorter: with the page in "
    "view, or without scripts by the server's clock."
)
EQUAL_ANSWERS_HELP = (
    "Two people are flagged whose answers coincide more than the shares of each question allow "
    "(p < .001 after Holm's method). It takes six people, and mostly 20 questions or more."
)
PROGRAM_HELP = (
    "A closing question, “Did a program answer for you?”, which says that it has no effect on "
    "payment. Someone is flagged who says yes."
)
LINE_HELP = (
    "A field on each question's page that browsers and screen readers do not show: “For programs "
    "only; people leave this empty”. Someone is flagged whose field was filled in; what was "
    "written is not stored. The consent page mentions it. It detects simple programs only: an "
    "agent passed 99.8 % of 6,000 attention checks (Westwood, PNAS 2025)."
)

REPEATED, OBVIOUS, OTHER_TOPIC = "repeated", "obvious", "other-topic"  # attention checks
# Columns of participants.csv in studies with attention checks.
ATTENTION_NAMES = ("checks_right", "checks_asked", "flagged")
FLAGS = "flags"  # and in those whose plan has other rules too: which rules flag someone

NO, YES = "No", "Yes"
# The closing question that a plan can switch on; ``survey.web`` has it in participants' languages.
PROGRAM_QUESTION: dict[str, Any] = {
    "name": "program_answered",
    "label": "Did a program answer for you?",
    "kind": "choice",
    "required": False,
    "help": "For example an AI model or a script. It has no effect on your payment.",
    "options": (NO, YES),
}


ON_PROGRAMS = ClosingQuestion(**PROGRAM_QUESTION)

SomePlan = TypeVar("SomePlan", bound="Plan")


@dataclass(frozen=True)
class Check:
    """An attention check, which is part of the plan.

    ``name``: in files and tables. ``text``: what is asked, for researchers; ``rule``: when an
    answer is right. ``by_chance``: the share of random answers that are right; None where that
    depends on how they are random. ``again``: the number of the question that it repeats, which
    comes first. ``is_question``: whether it is a question of its own, numbered on after those that
    count; else it is a part of these.
    """

    name: str
    text: str
    rule: str
    by_chance: float | None = None
    again: int | None = None
    is_question: bool = True


@dataclass(frozen=True)
class Plan(ABC):
    """A study's design and texts; frozen, with the questions, when the study opens.

    The rule of a field says what it may hold, and how researchers are asked for it. Texts have
    blank lines between paragraphs. With the ``design`` "pool", each participant answers
    ``per_participant`` of the questions, balanced. ``ask``: what is asked beside each question,
    practice apart, whatever its kind. ``looks``: the numbers of finished participants
    at which results are looked at before the end. ``arms``: participants are drawn evenly among
    them. ``arm_settings``: of each arm, the fields of the plan that differ there, and their values;
    a file has them with the arms' names. Others are compared with the first arm.

    Raises PlanError with all faults, each with its field. Settings that depend on others are
    checked once the others are valid.
    """

    kind: ClassVar[str]
    has_check: ClassVar[bool] = False  # whether the practice asks a check question
    varied: ClassVar[tuple[str, ...]] = ()  # the fields that may differ between arms
    one_each: ClassVar[str] = ""  # the field that has an item for each question, of some kinds
    of_runs: ClassVar[Mapping[str, bool]] = {}  # set where lists from runs are new, unless said

    title: str = declared(Text("Title", 200, help="It must not name a measure."))
    asked_by: str = declared(
        Text(
            "Who asks",
            300,
            needed=False,
            help="Like “the retrieval group of X”. The study cannot open without it.",
        )
    )
    purpose: str = declared(Text("Purpose", 5_000, filled=True, rows=4, help="On the first page."))
    consent: str = declared(Text("Consent text", 20_000, filled=True, rows=10, help=CONSENT_HELP))
    scenario: str = declared(Text("Scenario", 10_000, filled=True, rows=12, help=SCENARIO_HELP))
    reminder: str = declared(
        Text("Reminder", 1_000, needed=False, filled=True, rows=2, help="Above each question.")
    )
    question_text: str = declared(Text("The task, in one sentence", 500, filled=True))
    criterion: str = declared(
        Text("What is good", 1_000, needed=False, filled=True, rows=2, help=CRITERION_HELP), ""
    )
    reason_question: str = declared(
        Text("Ask for a reason", 300, needed=False, filled=True, help=REASON_HELP), ""
    )
    contact: str = declared(
        Text(
            "Where participants can ask",
            300,
            needed=False,
            help="Like ir@example.org. The study cannot open without it.",
        ),
        "",
    )
    debriefing: str = declared(
        Text("Debriefing", 5_000, needed=False, filled=True, rows=4, help=DEBRIEFING_HELP), ""
    )
    questions: int = declared(QUESTIONS_FIELD, 10)
    participants: int = declared(Whole("Participants wanted", 1, 10_000_000, help=WANTED_HELP), 30)
    minutes: int = declared(Whole("Minutes", 1, MOST_MINUTES), 20)
    seed: int = declared(Whole("Seed", 0, 2**63 - 1, help=SEED_HELP), 1)
    language: str = declared(Language("Language of the pages"), "en")
    personal_fields: tuple[PersonalField, ...] = ()
    closing_questions: tuple[ClosingQuestion, ...] = ()
    ask: tuple[AskedField, ...] = ()
    design: str = declared(Choice("Who answers what", DESIGNS), "all")
    per_participant: int | None = declared(PER_PARTICIPANT, None)
    shuffle_questions: bool = declared(Switch("Shuffle the questions for each participant"), False)
    practice: bool = declared(PRACTICE, True)
    exclude_failed_check: bool = declared(
        Switch("Leave out whose first answer to the check question is wrong", help=CHECK_HELP),
        False,
    )
    arms: tuple[str, ...] = ()
    arm_settings: tuple[Mapping[str, str | int | bool], ...] = ()
    looks: tuple[int, ...] = ()
    expertise: str = declared(Choice("Who the people are", EXPERTISE, help=EXPERTISE_HELP), "crowd")
    personal_until: str | None = declared(Day("Delete personal data after", help=UNTIL_HELP), None)
    least_seconds: int | None = declared(
        Whole("Least seconds for a question", 1, 3_600, optional=True, help=LEAST_SECONDS_HELP),
        None,
    )
    flag_equal_answers: bool = declared(
        Switch("Flag people whose answers coincide", help=EQUAL_ANSWERS_HELP), False
    )
    ask_program: bool = declared(
        Switch("Ask at the end whether a program answered", help=PROGRAM_HELP), False
    )
    machine_line: bool = declared(
        Switch("Show programs a line of their own", help=LINE_HELP), False
    )
    registered: InitVar[bool] = True

    def __post_init__(self, registered: bool) -> None:
        self._tidy()
        if faults := self._faults(registered=registered):
            raise PlanError(faults)

    def __init_subclass__(cls) -> None:
        # Else a dataclass would hash all fields, some of which may hold lists.
        cls.__hash__ = Plan.__hash__  # type: ignore[method-assign]

    def __hash__(self) -> int:
        # Hashing all own lists would be slow; equal plans share these fields.
        return hash((self.title, self.scenario, self.question_text, self.seed))

    def arm_for(self, counts: Mapping[str, int], chance: Random) -> str | None:
        """Draw the arm of who comes next, of those with the fewest participants; None without arms.

        ``counts``: participants by arm.
        """
        fewest = min((counts.get(arm, 0) for arm in self.arms), default=0)
        smallest = [arm for arm in self.arms if counts.get(arm, 0) == fewest]
        return chance.choice(smallest) if smallest else None

    @property
    def queue_arm(self) -> str | None:
        """The arm that is asked only what follows from others' answers; None by default."""
        return None

    def in_arm(self, arm: str | None) -> Self:
        """Return the plan as the participants of an arm meet it; unchanged for None."""
        settings = dict(zip(self.arms, self.arm_settings, strict=False)).get(arm or "")
        if settings is None:
            return self
        met: Self = changed(self, arms=(), arm_settings=(), **settings)
        return met

    @property
    def quota_fields(self) -> tuple[PersonalField, ...]:
        """The personal fields of which some groups have a quota."""
        return tuple(item for item in self.personal_fields if item.quotas)

    @property
    def origin(self) -> str:
        """Where the questions come from, in a sentence for researchers; "" by default."""
        return ""

    @property
    def story(self) -> str:
        """The scenario, and below it what is good, where the plan says so."""
        return "\n\n".join(filter(None, (self.scenario, self.criterion)))

    @property
    def has_items(self) -> bool:
        """Whether questions show pictures or texts of documents; kinds that do override it."""
        return False

    @property
    def counted(self) -> int:
        """How many of a participant's answers the analysis counts."""
        return self.per_participant or self.questions

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the questions of each participant, where a kind assigns them; else ()."""
        return ()

    @property
    def further_documents(self) -> frozenset[str]:
        """Documents that participants may be shown beside those that the questions name."""
        return frozenset()

    @property
    def pages_each(self) -> int:
        """How many pages a question has at most, for simulated participants."""
        return 3

    @property
    def checks(self) -> tuple[Check, ...]:
        """The attention checks; a kind may have some, of which its ``are_right`` judges answers."""
        return ()

    @property
    def has_flag_rules(self) -> bool:
        """Whether the plan flags people by more than attention checks."""
        others = self.flag_equal_answers or self.ask_program or self.machine_line
        return self.least_seconds is not None or others

    @property
    def asked_at_end(self) -> tuple[ClosingQuestion, ...]:
        """The closing questions, behind them the one on programs if it is asked."""
        return (*self.closing_questions, *([ON_PROGRAMS] if self.ask_program else []))

    @property
    def controls(self) -> tuple[str, ...]:
        """The names of the checks that are questions, numbered on after ``questions``."""
        return tuple(check.name for check in self.checks if check.is_question)

    @property
    def asked(self) -> int:
        """How many questions each participant answers, control questions included."""
        return self.counted + len(self.controls)

    @property
    def last_number(self) -> int:
        """The number of the study's last question, control questions included."""
        return self.questions + len(self.controls)

    def number_of(self, control: str) -> int | None:
        """Return the number of a control question; None where the plan has no such one."""
        controls = self.controls
        return self.questions + 1 + controls.index(control) if control in controls else None

    def for_question(self, number: int) -> Self:  # noqa: ARG002 - for subclasses
        """Return the plan as participants meet it at a question; unchanged by default."""
        return self

    def is_for_all(self, number: int) -> bool:
        """Return whether every participant of a pool is asked a question: one that is repeated."""
        return any(check.again == number for check in self.checks)

    def arrange(self, numbers: Iterable[int], chance: Random) -> list[int]:
        """Return the order in which a participant is asked questions, by their numbers.

        ``numbers``: of the questions that count. Each check is put at a random place, but not
        first; one that repeats a question comes after it, with another between them if there is.
        """
        order = self.shuffled(numbers, chance)
        checks = [check for check in self.checks if check.is_question]
        for number, check in enumerate(checks, self.questions + 1):
            first = order.index(check.again) + 2 if check.again in order else 1
            order.insert(chance.randint(min(first, len(order)), len(order)), number)
        return order

    def shuffled(self, numbers: Iterable[int], chance: Random) -> list[int]:
        """Return the numbers of questions in order, or shuffled where the plan says so.

        One that is repeated later is in the first half.
        """
        order = sorted(numbers)
        if self.shuffle_questions:
            chance.shuffle(order)
        half = (len(order) + 1) // 2
        for check in self.checks:
            if check.again in order[half:]:
                order.remove(check.again)
                order.insert(chance.randrange(half), check.again)
        return order

    def seconds_each(self, documents: DocumentLoad) -> float:  # noqa: ARG002 - for subclasses
        """Estimate how many seconds a question takes, without its reason; kinds override it."""
        return 30

    def seconds_with_reason(self, documents: DocumentLoad = PICTURES) -> float:
        """Estimate how many seconds a question takes with all that is asked beside it."""
        beside = REASON * bool(self.reason_question) + FIELD * len(self.ask)
        return self.seconds_each(documents) + beside

    def expected_minutes(
        self, documents: DocumentLoad = PICTURES, seconds: float | None = None
    ) -> int:
        """Estimate how many minutes a participant needs for all pages.

        ``seconds``: of one question with its reason, where they were measured.
        """
        if seconds is None:
            seconds = self.seconds_with_reason(documents)
        return total_minutes(self.asked, seconds)

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that texts may speak of, by the name in their braces."""
        return {"questions": self.asked}

    @property
    def placeholder_names(self) -> tuple[str, ...]:
        """The names that a text may have in braces."""
        return tuple(self.numbers)

    @abstractmethod
    def draw_questions(self) -> list[Any]:
        """Return the study's questions, the practice question (0) first if there is one.

        The same plan gives the same questions on every machine. Raises ValueError where
        they cannot be drawn.
        """

    def giveaways(self) -> list[Fault]:
        """Return faults of texts that would reveal a measure's name to participants.

        Only new and changed plans are checked. A stored title may name a measure that a later
        version adds, and its study must stay readable.
        """
        return [*giveaways_in_title(self.title)]

    def public_texts(self) -> Iterable[tuple[str, str]]:
        """Yield all that participants' pages show of the plan: (what, text)."""
        for name in text_rules(type(self)):
            yield name, getattr(self, name)
        for item in (*self.personal_fields, *self.closing_questions, *self.ask):
            words = (item.name, item.label, item.help, *item.options)
            yield f"{item.noun} {item.name}", "\n".join(words)
        for name, settings in zip(self.arms, self.arm_settings, strict=False):
            yield f"arm {name}", "\n".join([name, *map(str, settings.values())])

    def as_json(self) -> dict[str, Json]:
        """Return the plan as plain lists and dictionaries, for storage."""
        stored = {"kind": self.kind, **asdict(self)}
        for item in fields(self):
            if item.name in LATER_FIELDS and stored[item.name] in (item.default, []):
                del stored[item.name]
        for name in FIELD_LISTS.keys() & stored.keys():
            for field in stored[name]:
                if quotas := field.pop("quotas"):  # which release 0.2.0 does not know
                    field["quotas"] = dict(quotas)
        if settings := stored.pop("arm_settings"):
            arms = zip(self.arms, settings, strict=True)
            stored["arms"] = [{"name": name, **changes} for name, changes in arms]
        return stored

    def content(self) -> dict[str, Json]:
        """Return the plan as plain values, without fields at their default.

        The digest covers these values, so it stays the same when a later version adds a field.
        For the same reason a released default must not change.
        """
        stored = self.as_json()
        content = {name: stored[name] for name in without_defaults(self) if name in stored}
        for name in FIELD_LISTS.keys() & content.keys():
            content[name] = [without_defaults(item) for item in getattr(self, name)]
        return content

    @classmethod
    def from_json(cls, stored: Mapping[str, object], *, registered: bool = True) -> Self:
        """Make a plan of this kind from plain values; texts are tidied.

        ``registered``: whether its measures must be registered; a stored study can be shown,
        answered and counted without them.

        Raises PlanError with the unknown fields, the missing fields and all that the constructor
        finds.
        """
        known = {item.name for item in fields(cls)} - {"arm_settings"}
        unknown = [str(name) for name in stored if name not in known and name != "kind"]
        faults = [unknown_field(name, sorted(known), "a plan") for name in unknown]
        values: dict[str, Any] = {
            name: tidy_text(value) if isinstance(value, str) else value
            for name, value in stored.items()
            if name in known
        }
        if type(values.get("personal_until")) is date:  # as YAML reads it
            values["personal_until"] = values["personal_until"].isoformat()
        for item in fields(cls):
            if item.default is MISSING:
                values.setdefault(item.name, "")  # a needed text is then reported as empty
        for name in FIELD_LISTS:
            values[name] = read_personal_fields(name, values.get(name, ()), faults)
        values |= _read_arms(values.get("arms"), faults)
        if isinstance(items := values.get(cls.one_each), list | tuple):
            values.setdefault("questions", len(items))
        try:
            cls._read(values, faults)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # The kind has not checked them, as those of the survey do.
            text = f"the settings of kind {cls.kind!r} cannot be read: {error}"
            raise PlanError([*faults, Fault(("kind",), text)]) from error
        try:
            plan = cls(**values, registered=registered)
        except PlanError as error:
            # Misspelt, and so only seemingly missing.
            misspelt = {closest(name, known) for name in unknown} - stored.keys()
            others = [fault for fault in error.faults if not misspelt & {*fault.place[:1]}]
            raise PlanError([*faults, *others]) from None
        if faults:
            raise PlanError(faults)
        return plan

    @classmethod  # noqa: B027 - a kind may need none
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        """Parse the nested settings of this kind in place; add their faults.

        The values are as a file or a form gives them: of any type, and none is checked yet.
        """

    def _as_tuple(self, name: str) -> None:
        object.__setattr__(self, name, as_tuple(getattr(self, name)))

    def _tidy(self) -> None:
        """Normalise the settings; subclasses add this kind's."""
        for name in (*FIELD_LISTS, "arms", "arm_settings", "looks"):
            self._as_tuple(name)
        for name, rule in rules_of(type(self)).items():
            if isinstance(rule, Lines):
                lines = as_tuple(getattr(self, name))
                tidy = (tidy_text(line) if isinstance(line, str) else line for line in lines)
                object.__setattr__(self, name, tuple(tidy))

    def _faults(self, *, registered: bool) -> list[Fault]:
        """Return the faults of single fields, and, once numbers are valid, of what they limit.

        Without any, return the faults of settings that depend on others.
        """
        rules = self._rules()
        faults: list[Fault] = []
        for name, rule in rules.items():
            faults += rule.faults(name, getattr(self, name))
        faults += self._field_faults()
        faults += self._arm_faults()
        numbers = {name for name, rule in rules.items() if isinstance(rule, Whole)}
        if not any(fault.place[0] in numbers - {"per_participant"} for fault in faults):
            faults += [*self._pool_faults(), *self._look_faults(), *self._number_faults()]
        if registered:
            faults += self._registry_faults()
        return (
            faults
            or [*self._placeholder_faults(), *self._later_faults(registered=registered)]
            or [*self._met_faults(registered=registered)]
        )

    def _rules(self) -> dict[str, Rule]:
        """Return the rules of this plan's fields."""
        rules = rules_of(type(self))
        if self.design != "pool":
            del rules["per_participant"]  # its fault is that it is there at all
        elif not [*rules["questions"].faults("questions", self.questions)]:
            rules["per_participant"] = replace(PER_PARTICIPANT, highest=self.questions)
        return rules

    def _registry_faults(self) -> Iterable[Fault]:
        """Yield faults of names that are not registered."""
        return ()

    def _later_faults(self, *, registered: bool) -> Iterable[Fault]:  # noqa: ARG002 - for subclasses
        """Yield faults of settings that depend on others, once those are valid."""
        return ()

    def _field_faults(self) -> Iterable[Fault]:
        """Yield faults of the numbers and names of the fields of ``FIELD_LISTS``."""
        names: set[str] = set()
        taken = {*(ATTENTION_NAMES if self.checks else ()), *([FLAGS] * self.has_flag_rules)}
        taken |= {ON_PROGRAMS.name} if self.ask_program else set()
        for place, field_type in FIELD_LISTS.items():
            items = getattr(self, place)
            for index, item in enumerate(items):
                if item.name in names:
                    text = f"the {field_type.noun} {item.name} is there twice"
                    yield Fault((place, index, "name"), text)
                elif item.name in taken:
                    text = f"{item.name} is a column that attention checks have; choose another"
                    yield Fault((place, index, "name"), text)
                names.add(item.name)
            if len(items) > MOST_FIELDS:
                yield Fault((place,), f"{len(items)} {field_type.noun}s; {MOST_FIELDS} at most")

    def _arm_faults(self) -> Iterable[Fault]:
        """Yield faults of the arms; a kind may allow some by their names alone."""
        if self.arms and not self.varied:
            yield Fault(("arms",), f"arms is {', '.join(self.arms)}; {self.kind} studies have none")
        elif self.arms and not self.arm_settings:
            yield Fault(("arms",), "arms are names only; each needs a field that differs in it")
        elif self.arms and not 2 <= len(set(self.arms)) == len(self.arms) <= MOST_ARMS:
            text = f"arms are {', '.join(self.arms)}; 2 to {MOST_ARMS} different names are allowed"
            yield Fault(("arms",), text)
        else:
            for name, settings in zip(self.arms, self.arm_settings, strict=True):
                yield from self._settings_faults(name, settings)

    def _settings_faults(self, name: str, settings: Mapping[str, Json]) -> Iterable[Fault]:
        """Yield what is wrong with the name of an arm, or the fields that differ in it."""
        if not re.fullmatch(ARM_NAME, name):
            allowed = "up to 40 letters, digits, blanks and hyphens are allowed"
            yield Fault(("arms",), f"an arm cannot be named {name!r}; {allowed}")
        for field in settings.keys() - {*self.varied}:
            allowed = f"{', '.join(self.varied)} may differ between arms"
            yield Fault(("arms",), f"arm {name}: there is no field “{field}” of an arm; {allowed}")
        if settings.get("practice") and not self.practice:
            text = f"arm {name}: practice can be left out in an arm, and not added; begin with it"
            yield Fault(("arms",), text)

    def _met_faults(self, *, registered: bool) -> Iterable[Fault]:
        """Yield the faults of the plan as the participants of each arm would meet it."""
        for name, settings in zip(self.arms, self.arm_settings, strict=False):
            met: dict[str, Any] = {"arms": (), "arm_settings": (), **settings}
            try:
                replace(self, **met, registered=registered)
            except PlanError as error:
                for fault in error.faults:
                    yield Fault(("arms",), f"arm {name}: {fault.text}")

    def _number_faults(self) -> Iterable[Fault]:
        """Yield faults of this kind's settings, once all numbers are within bounds."""
        items = len(getattr(self, self.one_each)) if self.one_each else self.questions
        if items != self.questions:
            yield Fault(
                (self.one_each,), f"{items} {self.one_each} found; {self.questions} are needed"
            )

    def _look_faults(self) -> Iterable[Fault]:
        for index, look in enumerate(self.looks):
            least = self.looks[index - 1] + 1 if index else 1
            if type(look) is not int or not least <= look < self.participants:
                text = f"looks has {look!r}; {least} to {self.participants - 1} are allowed there"
                yield Fault(("looks",), text)
                return

    def _pool_faults(self) -> Iterable[Fault]:
        asked = self.per_participant
        if (self.design == "pool") == (asked is None):
            text = (
                "is empty; a pool needs to know how many questions each participant answers"
                if asked is None
                else f"is {asked}, but the design is {self.design}; leave it out, or choose the "
                "design pool"
            )
            yield Fault(("per_participant",), f"per_participant {text}")

    def _placeholder_faults(self) -> Iterable[Fault]:
        for name, rule in text_rules(type(self)).items():
            if rule.filled:
                text = getattr(self, name)
                yield from brace_faults(name, text, self.placeholder_names, self._why_not)

    def _why_not(self, placeholder: str) -> str:  # noqa: ARG002 - for subclasses
        """Return why a text must not hold a placeholder, to end a sentence; "" by default."""
        return ""


@lru_cache(maxsize=1000)
def changed(plan: SomePlan, **changes: Any) -> SomePlan:
    """Return the plan with changes, validated once rather than for each page."""
    return replace(plan, **changes, registered=False)


def _read_arms(stored: object, faults: list[Fault]) -> dict[str, object]:
    """Return the fields ``arms`` and ``arm_settings``; arms are names, or have settings too."""
    listed = stored if isinstance(stored, list | tuple) else ()
    if not any(isinstance(arm, Mapping) for arm in listed):
        return {} if stored is None else {"arms": stored}
    arms = [arm if isinstance(arm, Mapping) else {"name": arm} for arm in listed]
    if not all(isinstance(arm.get("name"), str) for arm in arms):
        faults.append(Fault(("arms",), "an arm has no name; each needs one, like name: early"))
    tidy = [
        {
            str(field): tidy_text(value) if isinstance(value, str) else value
            for field, value in arm.items()
            if field != "name"
        }
        for arm in arms
    ]
    return {"arms": [str(arm.get("name", "")) for arm in arms], "arm_settings": tidy}


def text_rules(plan: type[Plan]) -> dict[str, Text]:
    """Return the rules of the texts that participants read."""
    rules = rules_of(plan).items()
    return {name: rule for name, rule in rules if isinstance(rule, Text) and rule.shown}


def giveaways_in_title(title: object) -> Iterable[Fault]:
    """Yield the fault of a title that names a measure, see ``Plan.giveaways``."""
    if isinstance(title, str) and (measure := mentioned_measure(title)):
        yield Fault(
            ("title",),
            f"the title {title!r} holds the name of a measure ({measure}), and participants see "
            "it; choose another",
        )


def read_personal_fields(
    place: str, stored: object, faults: list[Fault]
) -> tuple[PersonalField, ...]:
    """Parse the fields of a plan that ``place`` names, and add their faults to ``faults``."""
    if not isinstance(stored, list | tuple):
        faults.append(Fault((place,), f"{place} is {stored!r}; a list is needed"))
        return ()
    items = []
    for index, item in enumerate(stored):
        try:
            items.append(FIELD_LISTS[place].from_json(item))
        except PlanError as error:
            faults += [fault.under(place, index) for fault in error.faults]
    return tuple(items)


def without_defaults(settings: Any) -> dict[str, Json]:
    """Return the fields of a dataclass that are not left at their default."""
    return {
        item.name: getattr(settings, item.name)
        for item in fields(settings)
        if getattr(settings, item.name) != item.default
    }


class TaskQuestion(Protocol):
    """A question of a study, the same for all participants; ``number`` 0 is practice."""

    @property
    def number(self) -> int:
        """1 for the first of the study; 0 for practice."""

    def as_json(self) -> dict[str, Json]:
        """Return all of it but its number as plain values, to be stored."""

    def as_shown(self) -> dict[str, Json]:
        """Return what the study's digest covers of it: texts as pages print them, no floats."""


# Raise it when the content below changes its form: it says which form a digest covers.
DIGEST_FORMAT = 1


def study_digest(
    plan: Plan, questions: Iterable[TaskQuestion], generator_version: int, items: str | None = None
) -> str:
    """Return the SHA-256 of a study's plan and of its questions as they are shown.

    Values are hashed as the text that a page prints, not as floats, so that the digest is the
    same on every machine. The plan names seed and generator; the version of the generator that
    drew the questions is added, and so is the digest of ``items``, where there are some. What was
    to be known of the files is left out: a later version may say it in other words.
    """
    settings = plan.content()
    if isinstance(files := settings.get("provenance"), Mapping):
        settings["provenance"] = {name: files[name] for name in files if name != "warnings"}
    content = {
        "format": DIGEST_FORMAT,
        "generator_version": generator_version,
        "plan": settings,
        "questions": [question.as_shown() for question in questions],
        **({"items": items} if items else {}),
    }
    return text_digest(json.dumps(content, sort_keys=True, ensure_ascii=False))


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal characters."""
    return hashlib.sha256(text.encode()).hexdigest()
