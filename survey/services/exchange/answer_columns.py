"""The columns of every table of answers: whose, to which question, and whether it counts.

Format 1 of a bundle has but few of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.plan import Plan
from survey.db.models import Participant
from survey.services.exchange.tables import (
    PARTICIPANT,
    PARTICIPANTS_FILE,
    QUESTION,
    QUESTIONS_FILE,
    Column,
    Content,
    Row,
    Table,
    cell_of,
    csv_cell,
    personal_column,
)

BESIDE_FILE = "beside.csv"
STUDY = Column("study", "address of the study", since=2)
TOPIC = Column(
    "topic", "id of what was searched for", allowed="empty where there is no topic", since=2
)
# Of a table that format 1 has without numbers of questions.
LATER_QUESTION = replace(QUESTION, since=2)
OWN_TOPIC = Column("topic", "id of the topic")  # of a row about a topic, not about an answer
EARLIER_TOPIC = replace(TOPIC, since=1)  # of a table that has it in format 1
FLAGGED = Column(
    "flagged",
    "whether an analysis without flagged participants leaves the participant out",
    "whole number",
    "0 or 1",
    since=2,
)
COUNTING = [
    Column("is_test", source=Participant.is_test, since=2),
    Column("excluded", source=Participant.excluded, since=2),
    FLAGGED,
    Column("arm", source=Participant.arm, since=2),
]
ANSWER_KEY = ("participant", "question")
ANSWER_REFERENCES = {"participant": PARTICIPANTS_FILE, "question": QUESTIONS_FILE}
OF_TOPIC = {"topic": QUESTIONS_FILE}


def topic_of(question: object) -> str:
    """Return the id of what a question searches for, "" for nothing."""
    return getattr(question, "topic", None) or ""


class AnswerCells:
    """The shared cells of answers, as texts of lines.

    ``questions``: by a question's number its cells, number and topic. Each participant is read
    once if answers come in the order of participants' ids.
    """

    def __init__(self, content: Content) -> None:
        self._content, self._flagged = content, content.results.flagged_ids
        self._people = content.participants()
        self._elsewhere: dict[str, tuple[str, ...]] = {}
        self._study = csv_cell(content.slug)
        self._texts = "", "", ""
        self.questions = {
            question.number: f"{question.number},{csv_cell(topic_of(question))}"
            for question in content.questions
        }

    def of(self, participant: str) -> tuple[str, str]:
        """Return a line's beginning, before the question, and its end with the line break."""
        if participant != self._texts[0]:
            start = f"{self._study},{csv_cell(participant)},"
            end = "".join(f",{cell}" for cell in map(csv_cell, self.counting(participant)))
            self._texts = participant, start, f"{end}\n"
        return self._texts[1:]

    def counting(self, participant: str) -> tuple[str, ...]:
        """Return the cells of COUNTING, before they are escaped."""
        for person in self._people:
            if person.public_id == participant:
                return self._cells(person)
        if not self._elsewhere:  # answers in another order
            people = self._content.participants()
            self._elsewhere = {person.public_id: self._cells(person) for person in people}
        return self._elsewhere[participant]

    def _cells(self, person: ParticipantRecord) -> tuple[str, ...]:
        is_flagged = person.public_id in self._flagged
        return f"{person.is_test:d}", f"{person.excluded:d}", f"{is_flagged:d}", person.arm or ""


def answer_table(
    name: str,
    columns: Sequence[Column],
    rows: Callable[[Content], Iterable[Row]],
    key: Sequence[str] = (),
    *,
    question: Column = QUESTION,
    topic: Column = TOPIC,
    questions_file: str = QUESTIONS_FILE,
    is_twin: bool = False,
) -> Table:
    """Return a table of answers, or of parts of answers, which ``key`` tells apart.

    ``rows``: participant and question of each, then the cells of ``columns``, by participant.
    """

    def lines(content: Content) -> Iterator[str]:
        cells = AnswerCells(content)
        for participant, number, *own in rows(content):
            start, end = cells.of(str(participant))
            yield f"{start}{cells.questions[number]},{','.join(map(cell_of, own))}{end}"

    return Table(
        name,
        [STUDY, PARTICIPANT, question, topic, *columns, *COUNTING],
        lines,
        [*ANSWER_KEY, *key],
        ANSWER_REFERENCES | {"question": questions_file},
        is_twin=is_twin,
    )


def beside_tables(plan: Plan, questions_file: str) -> list[Table]:
    """Return beside.csv, with a column for each field, where the plan asks something."""

    def rows(content: Content) -> Iterator[Row]:
        for answer in content.beside():
            values = (answer.values.get(field.name) for field in plan.ask)
            yield (answer.participant, answer.question, *values)

    columns = [
        replace(personal_column(field), name=beside_name(field.name), former=field.name)
        for field in plan.ask
    ]
    table = answer_table(BESIDE_FILE, columns, rows, questions_file=questions_file)
    return [table] if plan.ask else []


def beside_name(field: str) -> str:
    """Return the column of a field in beside.csv, where the survey's own columns come first."""
    return f"asked_{field}" if field in _OWN_NAMES else field


_OWN_NAMES = {column.name for column in (STUDY, TOPIC, *COUNTING)}
