"""A kind of question that only the tests know: pick one of two words.

All of it is here, one class for each floor of the house; ``register`` brings it in.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pytest
from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Integer, MetaData, Table
from wtforms import RadioField, SelectChoice
from wtforms.validators import InputRequired

from survey.core.studies.fields import Fault, Finding, Nested, ruled
from survey.core.studies.plan import Plan
from survey.core.tasks import TASKS
from survey.db import export_queries
from survey.db.models import TASK_TABLES, Participant, Presentation, Revision, StoredResponse
from survey.db.models.base import TaskTables
from survey.services.analysis.results import Results
from survey.services.analysis.sheets import Sheet
from survey.services.exchange import tables
from survey.services.exchange.bundle import TASK_FILES
from survey.services.exchange.input_files import BundleError, Faults, parse_rows, read_rows
from survey.services.planning.simulation import TASK_BOTS
from survey.web.forms import AnswerForm
from survey.web.participant.single_page import SinglePage
from survey.web.participant.visit import TASK_PAGES

# --- the pure part: plan, question, presentation, answer -----------------------------------


@dataclass(frozen=True)
class WordsPlan(Plan):
    """Pairs of words, one for each question."""

    kind: ClassVar[str] = "words"

    pairs: tuple[tuple[str, str], ...] = ruled(Nested("Pairs of words", step="what"), ())

    __hash__ = Plan.__hash__

    def draw_questions(self):
        practice = [WordsQuestion(0, "cat", "dog")] if self.practice else []
        asked = [WordsQuestion(number, *pair) for number, pair in enumerate(self.pairs, 1)]
        return [*practice, *asked]

    @classmethod
    def _read(cls, values, faults):
        pairs = values.get("pairs", ())
        if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
            text = f"pairs is {str(pairs)[:40]!r}; a list of lists of two words is allowed"
            faults.append(Fault(("pairs",), text))
            pairs = ()
        values["pairs"] = tuple(map(tuple, pairs))

    def _number_faults(self):
        if len(self.pairs) != self.questions:
            yield Fault(("pairs",), f"{len(self.pairs)} pairs found; {self.questions} are needed")


def _is_pair(value):
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    return all(isinstance(word, str) and word for word in value)


class WordsQuestion(NamedTuple):
    number: int
    first: str
    second: str

    def as_json(self):
        return {"words": [self.first, self.second]}

    def as_shown(self):
        return {"number": self.number, **self.as_json()}


@dataclass(frozen=True)
class WordsPresentation:
    """``swapped``: the second word is shown above the first."""

    swapped: bool


@dataclass(frozen=True)
class WordsAnswer:
    """``side``: 1 for the upper word, 2 for the lower."""

    side: int

    def __post_init__(self):
        if self.side not in (1, 2):
            raise ValueError(f"side is {self.side}; 1 or 2 is allowed")


class Words:
    name = "words"
    plan = WordsPlan
    presentation = WordsPresentation
    answer = WordsAnswer
    generator_version = 1

    def read_question(self, number, content):
        return WordsQuestion(number, *content["words"])

    def draw(self, plan, question, chance):
        return WordsPresentation(chance.random() < 0.5)

    def show(self, question, presentation):
        words = (question.first, question.second)
        return words[::-1] if presentation.swapped else words

    def facts(self, plan, generator_version):
        return {"pairs": len(plan.pairs)}

    def verdict(self, plan, questions):
        return f"{len(questions)} pairs of words"

    def findings(self, plan, questions):
        return [
            Finding(each.number, "the words are equal")
            for each in questions
            if each.first == each.second
        ]

    def usual_variant(self, plan):
        return "as-planned"

    def draw_variant(self, plan, question, variant):
        if variant != "as-planned":
            raise ValueError(f"{variant!r} is no variant; as-planned is")
        return WordsPresentation(False)

    def describe(self, plan, view, presentation):
        return {"words": list(view)}

    def describe_answer(self, answer):
        return {"side": answer.side}


# --- the tables ----------------------------------------------------------------------------

METADATA = MetaData()  # of its own: the survey's migrations know nothing of it


def _table(name, shared, *columns):
    key = ForeignKey(shared.__table__.c.id, ondelete="CASCADE")
    return Table(name, METADATA, Column("id", Integer, key, primary_key=True), *columns)


def _side(name):
    check = CheckConstraint("side IN (1, 2)", name=f"ck_{name}_side")
    return Column("side", Integer, nullable=False), check


TABLES = TaskTables(
    presentation=_table("words_presentation", Presentation, Column("swapped", Boolean)),
    response=_table("words_response", StoredResponse, *_side("words_response")),
    revision=_table("words_revision", Revision, *_side("words_revision")),
)

# --- the bundle ----------------------------------------------------------------------------


class Choice(NamedTuple):
    participant: str
    question: int
    position: int
    swapped: bool
    side: int
    shown_at: Any
    submitted_at: Any
    active_seconds: float | None
    revisions: int | None
    asked: str | None
    reason: str | None


@dataclass(frozen=True)
class WordsResults(Results):
    """How often each word was picked, and by whom."""

    picked: Counter[str]
    people: Sequence[str]

    @property
    def participants(self):
        return self.people

    @property
    def headline(self):
        [(word, count)] = self.picked.most_common(1) or [("no word", 0)]
        return f"Most often picked: {word}, {count} times."

    def as_json(self):
        return {"picked": dict(sorted(self.picked.items()))}


class WordsContent:
    def __init__(self, rows):
        self.rows = rows

    def count(self):
        return sum(1 for _ in self.rows())

    def analyse(self, content, choices):
        words = {each.number: each for each in content.questions}
        picked, people = Counter(), {}
        counted = {each.public_id for each in content.counted(choices)}
        for row in self.rows():
            if row.participant in counted:
                question = words[row.question]
                picked[(question.first, question.second)[(row.side == 2) != row.swapped]] += 1
                people[row.participant] = True
        return WordsResults(picked, [*people], **content.known(choices))

    def public(self, move):
        return WordsContent(lambda: (tables.public_record(row, move) for row in self.rows()))

    def tried_sheet(self, content, number, drawn, answer):
        rows = tuple(content.results.picked.items())
        return Sheet("tried", "What was picked", ("word", "participants"), rows)

    def to_import(self, content):
        for row in self.rows():
            yield row, WordsPresentation(row.swapped), WordsAnswer(row.side)


CHOICES = "choices.csv"


class WordsFiles:
    recomputed: ClassVar = {"words.csv": "the words of the plan"}
    answers_file = CHOICES
    typed = ""
    has_options = False

    def data_tables(self, plan):
        def named(*names):
            return [tables.Column(name, name) for name in names]

        @tables.lines_of
        def pairs(content) -> Iterator[Sequence[Any]]:
            yield from content.questions

        columns = [tables.PARTICIPANT, *named(*Choice._fields[1:-1]), *tables.reason_columns(plan)]

        @tables.lines_of
        def choices(content):
            for row in content.answers.rows():
                yield row[: len(columns)]

        return [
            tables.Table("words.csv", named("question", "first", "second"), pairs),
            tables.Table(CHOICES, columns, choices),
        ]

    def result_tables(self, plan):
        return []

    def lines_per_answer(self, plan):
        return 1

    def stored(self, session, study_id, *, include_test):
        columns = (
            *(Presentation.position, TABLES.presentation.c.swapped, TABLES.response.c.side),
            *(Presentation.shown_at, StoredResponse.submitted_at),
            *(StoredResponse.active_seconds, StoredResponse.revisions),
            *(StoredResponse.asked, StoredResponse.reason),
        )

        def rows():
            found = export_queries.answered(session, study_id, TABLES, *columns)
            if not include_test:
                found = found.where(Participant.is_test.is_(False))
            return map(Choice._make, session.execute(found))

        return WordsContent(rows)

    def read(self, files, plan, participants):
        faults = Faults()
        words = [
            WordsQuestion(row.whole_number("question"), row.text("first"), row.text("second"))
            for row in read_rows(files, "words.csv", ("question", "first", "second"), faults)
        ]
        people, numbers = (
            {each.public_id for each in participants()},
            {each.number for each in words},
        )
        seen = set()

        def choice(row):
            """Return a row's answer: of a participant and a question that there are, once."""
            key = row.text("participant"), row.whole_number("question")
            if key[0] not in people or key[1] not in numbers:
                raise row.fault("participant", "no such participant or question")
            if key in seen:
                raise row.fault("question", "one answer of each participant to each is allowed")
            seen.add(key)
            side = row.whole_number("side")
            if side not in (1, 2):
                raise row.fault("side", "1 or 2 is allowed")
            return Choice(
                *key,
                position=row.whole_number("position"),
                swapped=row.flag("swapped"),
                side=side,
                shown_at=row.optional_time("shown_at"),
                submitted_at=row.optional_time("submitted_at"),
                active_seconds=row.optional_number("active_seconds"),
                revisions=row.whole_number("revisions"),
                asked=tables.read_asked(row, ()),
                reason=tables.read_reason(row, plan),
            )

        faults.raise_any()
        answers = [*parse_rows(files, CHOICES, Choice._fields[:-1], choice)]
        return words, WordsContent(lambda: iter(answers))

    def check_derived(self, files, content):
        """Nothing follows from words."""

    def check_questions(self, content):
        if list(content.questions) != content.plan.draw_questions():
            raise BundleError("words.csv has other words than the plan")
        return "the words are the plan's"

    def read_practice(self, study, plan):
        return None

    def study_entries(self, plan, practice):
        return {"practice": None}


class WordsBot:
    def preference(self, plan, text, shown):
        return None

    def answer(self, form, plan, preference, chance):
        sides = [str(box.attributes["value"]) for box in form.css("[name=side]")]
        return {"side": str(chance.choice(sides))} if sides else None


# --- the pages -----------------------------------------------------------------------------


class WordsForm(AnswerForm):
    side = RadioField(
        choices=[SelectChoice("1"), SelectChoice("2")], validators=[InputRequired("Pick a word.")]
    )

    @property
    def answer(self):
        return WordsAnswer(int(self.side.data))

    @property
    def filled_in(self):
        return self.side.data

    def add_error(self, sentence):
        self.side.errors = [*self.side.errors, sentence]


class WordsPages(SinglePage):
    answer_form = WordsForm
    variant_words = ("Order of words", "as-planned.")
    work_template = "words/_work.html"
    question_template = practice_template = "words/question.html"
    answer_template = "words/_answer.html"

    def filled_in(self, plan, shown):
        return str(shown.stored.answer.side) if shown.stored else None

    def in_words(self, answer):
        return f"word {answer.side}"

    def sent_in_words(self, sent):
        return f"word {sent['side'][0]}" if "side" in sent else ""

    def example_answer(self):
        return WordsAnswer(1)


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring the kind in, on each floor."""
    monkeypatch.setitem(TASKS, "words", Words())
    monkeypatch.setitem(TASK_TABLES, "words", TABLES)
    monkeypatch.setitem(TASK_FILES, "words", WordsFiles())
    monkeypatch.setitem(TASK_BOTS, "words", WordsBot())
    monkeypatch.setitem(TASK_PAGES, "words", WordsPages())
