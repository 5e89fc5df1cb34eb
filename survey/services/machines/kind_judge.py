"""How a machine answers a kind of question that says nothing of machines: its declared fields."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.machines import EQUAL
from survey.core.collections.items import FindItems
from survey.core.kind import AnswerT, Declaration, PlanT, PresentationT, QuestionT
from survey.core.studies.fields import Choice, Whole, value_fields
from survey.core.text_input import Json
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.input_files import Files
from survey.services.exchange.tables import Content
from survey.services.machines.estimates import Estimates
from survey.services.machines.records import MachineRecord, read_records
from survey.services.machines.requests import Asked
from survey.services.machines.stored import machines_of, store

TYPES: dict[object, str] = {str: "string", int: "integer", bool: "boolean"}


class KindJudge(Declaration[PlanT, QuestionT, PresentationT, AnswerT]):
    """The answers of machines to a kind of question, and of people in the same words.

    An answer is a text, which is the same for the same answer however the question was shown.
    ``similarity``: how two answers are compared, see ``survey.core.agreement.machines``.
    ``has_sides``: whether a machine is by default asked in both orders, see ``draw_again``.
    """

    similarity: ClassVar[str] = EQUAL
    has_sides: ClassVar[bool] = False

    def topic_of(self, question: QuestionT) -> str:
        """Return the id of what was searched for, "" where a question has none."""
        source = getattr(question, "source", None)
        return str(getattr(question, "topic", "") or (source.topic if source else ""))

    def similarity_in(self, plan: PlanT) -> str:
        """Return how answers of a study are compared."""
        return self.similarity

    def side_of(self, drawn: PresentationT, answer: str) -> str:
        """Return which side an answer prefers, "left" or "right"; "" for neither."""
        return ""

    def runs_judged(
        self, content: Any, options: Any, machine: Mapping[tuple[int, str], Any]
    ) -> tuple[str, list[str], list[list[float]], list[list[float]]] | None:
        """Return a measure, the runs of a pool, and their values: topics × runs.

        By people's judgements, and by the machine's, which are by question and document. None for
        a study without runs of a pool.
        """
        return None

    def task_text(self, plan: PlanT) -> str:
        """Return the task in one sentence."""
        return plan.question_text

    def machine_units(
        self, content: Any, pool: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[QuestionT, str]]:
        """Yield the questions that count, each with the document that is asked about, or "".

        ``pool``: documents of topics, which only a kind has that asks about one by one.
        """
        if pool:
            raise SurveyError(
                f"A pool of documents is judged in labelling only; this study has {self.noun}."
            )
        for question in content.questions:
            if 1 <= question.number <= content.plan.questions:
                yield question, ""

    def machine_questions(self, content: Any) -> Sequence[QuestionT]:
        """Return the questions that a machine may be asked, by default those of people."""
        questions: Sequence[QuestionT] = content.questions
        return questions

    def document_units(
        self, content: Any, pool: Mapping[str, Iterable[str]]
    ) -> Iterator[tuple[QuestionT, str]]:
        """Yield the documents of topics, each with the question that a machine is asked."""
        for question in content.questions:
            for document in pool.get(self.topic_of(question), ()):
                yield question, document

    def machine_sees(
        self,
        plan: PlanT,
        asked: Asked,
        find: FindItems,
    ) -> Mapping[str, Any]:
        """Return what a participant sees, as plain values with ``Picture`` for pictures."""
        view = self.with_items(plan, asked.question, self.show(asked.question, asked.drawn), find)
        return self.describe(plan, view, asked.drawn)

    def reply_schema(self, plan: PlanT) -> Json:
        """Return the JSON Schema of a reply; all fields are required, as servers ask for that."""
        if self.step:
            raise SurveyError(f"Machines cannot judge {self.noun} of the kind {self.name!r}.")
        return reply_object(
            {
                field.name: _field_schema(field)
                for field in value_fields(self.answer)
                if not field.rule.asked_by or getattr(plan, field.rule.asked_by)
            }
        )

    def machine_answer(
        self,
        plan: PlanT,
        asked: Asked,
        reply: Mapping[str, Any],
    ) -> str:
        """Return a reply as an answer; raises ValueError, KeyError or TypeError for none."""
        known = {field.name for field in value_fields(self.answer)}
        return self.answer_text(
            plan,
            asked.question,
            asked.drawn,
            self.answer(**{name: reply[name] for name in reply if name in known}),
        )

    def answer_text(
        self, plan: PlanT, question: QuestionT, drawn: PresentationT, answer: AnswerT
    ) -> str:
        """Return an answer, of a person or a machine, as the text by which it is compared."""
        return json.dumps(self.describe_answer(answer), ensure_ascii=False, sort_keys=True)

    def read_machine_answer(
        self, plan: PlanT, question: QuestionT, document: str, text: str
    ) -> str:
        """Return an answer that a file gives as ``answer_text`` writes it; raises ValueError."""
        if document:
            raise ValueError(f"answers of {self.noun} are not about one document")
        try:
            return json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        except ValueError:
            raise ValueError("JSON with the fields of an answer is needed") from None

    def people_answers(self, content: Any, options: Any) -> dict[str, dict[tuple[int, str], str]]:
        """Return the answers of those who count: participant → (question, document) → text."""
        questions = {question.number: question for question in content.questions}
        answers: dict[str, dict[tuple[int, str], str]] = {}
        for row in content.answers.counted(content, options):
            if row.question <= content.plan.questions:
                question = questions[row.question]
                texts = self.answer_texts(content.plan, question, row.drawn, row.answer)
                answers.setdefault(row.participant, {}).update(texts)
        return answers

    def answer_texts(
        self, plan: PlanT, question: Any, drawn: PresentationT, answer: AnswerT
    ) -> dict[tuple[int, str], str]:
        """Return the texts of a person's answer by question and document."""
        return {(question.number, ""): self.answer_text(plan, question, drawn, answer)}

    def machine_estimates(
        self, content: Any, machine: MachineRecord, options: Any
    ) -> Estimates | None:
        """Return what few people and a machine's answers say together; None without a sample."""
        return None

    def machine_figures(self, content: Content, machine: MachineRecord) -> dict[str, Any]:
        """Return what a machine shows beside people, for a bundle."""
        from survey.services.machines.beside_people import figures_of

        return figures_of(content, machine, AnalysisOptions(include_test=content.include_test))

    def replay_machine(self, content: Content, machine: MachineRecord) -> str:
        """Parse a record's replies again; see ``judging.replayed``."""
        from survey.services.machines.judging import replayed

        return replayed(content, machine)

    def read_machines(self, files: Files) -> list[MachineRecord]:
        """Read the records of machines in a bundle; raises BundleError."""
        return read_records(files)

    def stored_machines(self, session: Session, study_id: int) -> list[MachineRecord]:
        """Return the records of machines in the database."""
        return machines_of(session, study_id)

    def store_machine(
        self, session: Session, study: Study, machine: MachineRecord, who: str
    ) -> None:
        """Store a record; see ``stored.store``."""
        store(session, study, machine, who)

    def simulated_reply(
        self,
        plan: PlanT,
        asked: Asked,
        preference: Any,
        chance: np.random.Generator,
    ) -> dict[str, Any]:
        """Return how a simulated machine replies: by chance, unless a kind has preferences."""
        reply: dict[str, Any] = {}
        for field in value_fields(self.answer):
            if isinstance(field.rule, Choice):
                reply[field.name] = [*field.rule.allowed][chance.integers(len(field.rule.allowed))]
            elif isinstance(field.rule, Whole):
                lowest, highest = field.rule.lowest or 0, field.rule.highest or 10
                reply[field.name] = int(chance.integers(lowest, highest, endpoint=True))
            else:
                reply[field.name] = None if field.optional else field.type()
        return reply


def reply_object(properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an object with these properties, all of them required."""
    return {
        "type": "object",
        "properties": {**properties},
        "required": [*properties],
        "additionalProperties": False,
    }


def _field_schema(field: Any) -> dict[str, Json]:
    schema: dict[str, Any] = {"type": TYPES.get(field.type, "string")}
    if isinstance(field.rule, Choice):
        schema["enum"] = [*field.rule.allowed]
    elif isinstance(field.rule, Whole):
        schema |= {"minimum": field.rule.lowest, "maximum": field.rule.highest}
    if field.optional:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    if field.rule.doc:
        schema["description"] = field.rule.doc
    return schema
