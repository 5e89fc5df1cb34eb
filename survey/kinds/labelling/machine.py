"""How a machine labels: one document at a time, with the grades of the plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from survey.core.agreement.machines import EQUAL, GRADED
from survey.core.collections.items import FindItems
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.kinds.labelling.bot import BotAnnotator
from survey.kinds.labelling.estimates import LabelEstimates
from survey.kinds.labelling.plan import LabellingPlan, LabellingQuestion
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.machines.estimates import Estimates
from survey.services.machines.kind_judge import reply_object
from survey.services.machines.records import MachineRecord
from survey.services.machines.requests import Asked, seen_item

BINARY = 2  # grades
OF_TWENTY = 20  # where no judgements are known, so many of each twenty documents are relevant


class LabellingMachine:
    """The answers of machines to labelling questions, see ``KindJudge``."""

    similarity = GRADED

    def similarity_in(self, plan: LabellingPlan) -> str:
        """See ``KindJudge``: two grades are equal or not."""
        return GRADED if len(_grades(plan)) > BINARY else EQUAL

    def task_text(self, plan: LabellingPlan) -> str:
        """Return the task, or what pages say in its place; these speak of tapping."""
        return plan.question_text or "Is the document relevant to the query?"

    def machine_questions(self, content: Any) -> Sequence[LabellingQuestion]:
        """Return the questions, and one for each topic that only the machine judges."""
        plan: LabellingPlan = content.plan
        return plan.machine_questions()

    def machine_units(
        self, content: Any, pool: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[LabellingQuestion, str]]:
        """Yield each document of the pool; without one, of the whole pool of a plan's sample, else
        of the study's, or what people looked at.

        Raises SurveyError for a pool with a topic or document that the study does not have.
        """
        plan = content.plan
        if not pool and plan.sample:
            whole: dict[str, list[str]] = {}
            for topic, document in plan.population:
                whole.setdefault(topic, []).append(document)
            pool = whole
        if not pool:
            looked_at = self._looked_at(content)
            for question in content.questions:
                if 1 <= question.number <= plan.questions:
                    own = question.documents
                    documents = looked_at.get(question.number, ()) if own is None else own
                    for document in dict.fromkeys(documents):
                        yield question, document
            return
        known = {item.document for item in content.items}
        for topic, documents in pool.items():
            if topic not in {question.topic for question in plan.machine_questions()}:
                raise SurveyError(f"The pool has the topic {topic}, which the study does not have.")
            if unknown := sorted({*documents} - known):
                raise SurveyError(
                    f"The pool has the document {unknown[0]} of topic {topic}, of which the study "
                    "has neither picture nor text."
                )
        yield from self.document_units(content, pool)

    def document_units(
        self, content: Any, pool: Mapping[str, Iterable[str]]
    ) -> Iterator[tuple[LabellingQuestion, str]]:
        """Yield the documents of a pool, each with the questions that ask about it.

        One that people are not asked about is with the first question of its topic.
        """
        plan: LabellingPlan = content.plan
        by_topic: dict[str, list[LabellingQuestion]] = {}
        for question in plan.machine_questions():
            by_topic.setdefault(question.topic, []).append(question)
        for topic, questions in by_topic.items():
            asked = {each for question in questions for each in question.documents or ()}
            for question in questions:
                own = {*(question.documents or ())}
                for document in dict.fromkeys(pool.get(topic, ())):
                    if document in own or (document not in asked and question is questions[0]):
                        yield question, document

    def _looked_at(self, content: Any) -> dict[int, list[str]]:
        options = AnalysisOptions(include_test=content.include_test)
        found: dict[int, set[str]] = {}
        for row in content.answers.counted(content, options):
            found.setdefault(row.question, set()).update(row.drawn.counted)
        return {number: sorted(documents) for number, documents in found.items()}

    def machine_sees(
        self,
        plan: LabellingPlan,
        asked: Asked,
        find: FindItems,
    ) -> Mapping[str, Any]:
        """Return query and document, with the whole text, which a participant can unfold."""
        items, topic = find([asked.document], asked.question.topic)
        whole_text: Any = getattr(find, "whole_text", lambda _: "")
        sees: dict[str, Any] = {"query": seen_item(topic)}
        sees["document"] = seen_item(items.get(asked.document), whole_text(asked.document))
        if plan.grades:
            sees["grades"] = {str(grade.value): grade.name for grade in plan.grades}
        elif plan.highest > 1:
            sees["grades"] = f"0, not relevant, to {plan.highest}, most relevant"
        else:
            sees["grades"] = {"0": "not relevant", "1": "relevant"}
        return sees

    def reply_schema(self, plan: LabellingPlan) -> Json:
        """Return the schema of a grade."""
        return reply_object({"grade": {"type": "integer", "enum": _grades(plan)}})

    def machine_answer(
        self,
        plan: LabellingPlan,
        asked: Asked,
        reply: Mapping[str, Any],
    ) -> str:
        """Return the grade; raises ValueError for one that the plan does not have."""
        grade = reply["grade"]
        if type(grade) is not int or grade not in _grades(plan):
            raise ValueError(f"{grade!r} is not a grade of the plan")
        return str(grade)

    def read_machine_answer(
        self, plan: LabellingPlan, question: LabellingQuestion, document: str, text: str
    ) -> str:
        """See ``KindJudge``: a grade of a document."""
        if not document:
            raise ValueError("the document is missing")
        if text not in map(str, _grades(plan)):
            raise ValueError(f"{text!r} is not a grade; allowed are {_grades(plan)}")
        return text

    def answer_texts(
        self, plan: LabellingPlan, question: LabellingQuestion, drawn: Any, answer: object
    ) -> dict[tuple[int, str], str]:
        """Return the grade of each document that was looked at, checks and gold left out."""
        gold = plan.gold_of(question.topic)
        grades = drawn.counted.items()
        return {(question.number, name): str(grade) for name, grade in grades if name not in gold}

    def runs_judged(
        self, content: Any, options: AnalysisOptions, machine: Mapping[tuple[int, str], Any]
    ) -> tuple[str, list[str], list[list[float]], list[list[float]]] | None:
        """See ``KindJudge``: of topics with a relevant document that the machine judged too."""
        pool = content.plan.pool
        if pool is None or not pool.runs:
            return None
        topics = {question.number: question.topic for question in content.questions}
        grades: dict[str, dict[str, int]] = {}
        for (number, document), grade in machine.items():
            grades.setdefault(topics[number], {})[document] = int(grade)
        is_usual = options == AnalysisOptions(include_test=content.include_test)
        results = content.results if is_usual else content.analysed(options)
        return results.pool.values_beside(grades)  # type: ignore[no-any-return]

    def machine_estimates(
        self, content: Any, machine: MachineRecord, options: AnalysisOptions
    ) -> Estimates | None:
        """Return what a sample of the pool and the machine's grades say of all of it."""
        if content.plan.sampled is None:
            return None
        topics = {each.question: each.topic for each in machine.answers}
        asked = frozenset((topics[number], document) for number, document in machine.by_unit)
        grades = {
            (topics[number], document): int(grade)
            for (number, document), grade in machine.verdicts("").items()
        }
        return LabelEstimates(content.analysed(options).pool, asked, grades).estimates()

    def simulated_reply(
        self,
        plan: LabellingPlan,
        asked: Asked,
        preference: BotAnnotator,
        chance: np.random.Generator,
    ) -> dict[str, Any]:
        """Return the grade of the judgements, or another with the share of errors."""
        if preference.judgements is None:
            is_relevant = sum(asked.document.encode()) % OF_TWENTY < preference.first
            true = plan.highest * is_relevant
        else:
            true = preference.grade(asked.question.topic, 0, asked.document, is_first=True)
        grades = _grades(plan)
        grade = max((value for value in grades if value <= true), default=grades[0])
        if chance.random() < preference.error:
            grade = int(chance.choice([value for value in grades if value != grade]))
        return {"grade": grade}


def _grades(plan: LabellingPlan) -> list[int]:
    return [grade.value for grade in plan.grades] or [*range(plan.highest + 1)]
