"""Ordering questions in a bundle: their records, and all that a bundle does with them.

Their tables are in ``ordering_tables``, reading them in ``ordering_reading``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, People
from survey.core.measures import MEASURES
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.participant_fields import ParticipantRecord
from survey.core.studies.questions import Marks, Question, build_question
from survey.core.studies.texts import and_join
from survey.core.tasks.ordering import OrderingAnswer, OrderingPresentation
from survey.core.tasks.ordering_plan import OWN_LISTS, OrderingPlan, ordering_plan
from survey.db import export_queries, vote_queries
from survey.services.analysis import study_results
from survey.services.analysis.study_results import (
    Analysis,
    Choices,
    analyse_records,
    people_from,
    study_facts,
)
from survey.services.exchange import ordering_tables
from survey.services.exchange.input_files import BundleError, Files
from survey.services.exchange.ordering_reading import check_rankings, read_ordering
from survey.services.exchange.ordering_tables import (
    AnswerRecord,
    CountedAnswer,
    FirstRanking,
    rankings_of,
)
from survey.services.exchange.tables import PACKAGES, STUDY, Content, ImportedAnswer, Table


@dataclass(frozen=True)
class OrderingContent:
    """The answers to a study's ordering questions, read at each call.

    ``counted``: the part from which votes follow, without excluded participants. ``votes``:
    participants and answers in columns, as the analysis takes them.
    """

    rows: Callable[[], Iterator[AnswerRecord]]
    counted: Callable[[], Iterator[CountedAnswer]]
    first_rankings: Callable[[], Iterator[FirstRanking]]
    votes: Callable[[], tuple[People, Answers]]

    def count(self) -> int:
        """Count the answers."""
        return sum(1 for _ in self.rows())

    def analyse(self, content: Content, choices: Choices) -> Analysis:
        """Return the analysis of the answers."""
        plan = ordering_plan(content.plan)
        facts = study_facts(
            content.slug, content.status, content.digest, content.generator_version, plan
        )
        return analyse_records(facts, plan, rankings_of(content), *self.votes(), choices)

    def as_json(self, analysis: Analysis) -> dict[str, Any]:
        """Return an analysis as ``survey analyse --json`` prints it."""
        return study_results.as_json(analysis)

    def to_import(self, content: Content) -> Iterator[ImportedAnswer]:
        """Yield the answers as the database stores them."""
        shown = {
            question.number: {name: list(column.shown) for name, column in question.columns.items()}
            for question in content.questions
        }
        first = {(each.participant, each.question): each for each in self.first_rankings()}
        for answer in self.rows():
            ranked = first.get((answer.participant, answer.question))
            drawn = OrderingPresentation(
                label_order=list(answer.label_order),
                column_order=list(answer.column_order or ()),
                list_order=list(answer.list_order),
                shown=[shown[answer.question][name] for name in answer.label_order],
                ranked_first=None if ranked is None else ranked.ranking,
                ranked_at=None if ranked is None else ranked.submitted_at,
            )
            yield ImportedAnswer(
                participant=answer.participant,
                question=answer.question,
                position=answer.position or 0,
                shown_at=answer.shown_at,
                drawn=drawn,
                answer=OrderingAnswer(answer.clicked, answer.own),
                submitted_at=answer.submitted_at,
                active_seconds=answer.active_seconds,
                revisions=answer.revisions,
            )


class OrderingFiles:
    """The files of the kind of question "ordering", as the registry of files holds them."""

    recomputed: Mapping[str, str] = {
        "questions.csv": "the lists as the plan gives them",
        "rankings.csv": "values, printed values and orders recomputed",
        "votes.csv": "credits recomputed from what was ticked",
        "table3.csv": "recounted",
        "table4.csv": "recounted",
    }
    answers_file = "responses.csv"

    def question_tables(self, plan: OrderingPlan) -> list[Table]:
        """Return questions.csv and rankings.csv."""
        return ordering_tables.question_tables(plan)

    def answer_tables(self, plan: OrderingPlan) -> list[Table]:
        """Return the files that hold a row or more for each answer."""
        return ordering_tables.answer_tables(plan)

    def result_tables(self, plan: OrderingPlan) -> list[Table]:
        """Return the files of shares (table3.csv) and of differences (table4.csv)."""
        return ordering_tables.result_tables(plan)

    def lines_per_answer(self, plan: OrderingPlan) -> int:
        """Return how many lines of the files an answer takes."""
        return 1 + len(plan.measures)

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> OrderingContent:
        """Return the answers of a study in the database."""
        wanted = {"include_test": include_test}
        return OrderingContent(
            rows=lambda: map(
                AnswerRecord._make, export_queries.answers_of(session, study_id, **wanted)
            ),
            counted=lambda: map(
                CountedAnswer._make, export_queries.ballots_of(session, study_id, **wanted)
            ),
            first_rankings=lambda: starmap(
                FirstRanking, export_queries.first_rankings_of(session, study_id, **wanted)
            ),
            votes=lambda: _votes(session, study_id, **wanted),
        )

    def read(
        self, files: Files, plan: OrderingPlan, participants: Sequence[ParticipantRecord]
    ) -> tuple[Sequence[Question], OrderingContent]:
        """Read the questions and the answers; raises BundleError."""
        records = read_ordering(files, plan, participants)
        answers = records.answers
        return records.questions, OrderingContent(
            rows=lambda: iter(answers),
            counted=lambda: (answer.counted for answer in answers if not answer.excluded),
            first_rankings=lambda: iter(records.first_rankings),
            votes=lambda: (
                people_from(participants),
                Answers.of(answer.response for answer in answers),
            ),
        )

    def check_derived(self, files: Files, content: Content) -> None:
        """Compare rankings.csv, where it exists, with the lists; raises BundleError."""
        check_rankings(files, rankings_of(content), foreign=False)

    def practice_entries(self, practice: Question | None) -> dict[str, Any]:
        """Return what study.json holds of the practice question."""
        marks = {"practice_marks": practice.marks.as_json()} if practice and practice.marks else {}
        return {"practice": _lists_of(practice), **marks}

    def read_practice(self, study: Mapping[str, Any], plan: OrderingPlan) -> Question | None:
        """Return the practice question in study.json; raises BundleError for impossible lists."""
        lists = study["practice"]
        if lists is None:
            return None
        try:
            ordered = [lists[letter] for letter in sorted(lists)]
            marks = Marks.from_json(study.get("practice_marks", {}))
            return build_question(0, ordered, plan.measures, plan.setting, marks)
        except (ValueError, TypeError) as error:
            raise BundleError(f"{STUDY}, practice: {error}") from None

    def study_entries(self, plan: OrderingPlan) -> dict[str, Any]:
        """Return what else study.json holds: generator, measures, and the packages of these."""
        packages = {name: package for name in plan.measures if (package := MEASURES.package(name))}
        return {
            "generator": plan.generator,
            "measures": list(plan.measures),
            **({PACKAGES: packages} if packages else {}),
        }

    def why_not_read(self, study: Mapping[str, Any]) -> str:
        """Return which packages a plan lacks here, to be added to an error."""
        needed = [
            f"{name} comes with the package {package}"
            for name, package in study.get(PACKAGES, {}).items()
            if name not in MEASURES
        ]
        return f" ({'; '.join(needed)}, which is not installed here)" if needed else ""

    def why_other_digest(self, study: Mapping[str, Any]) -> str:
        """Return which measures come from another package than the bundle's, or version of it."""
        other = [
            f"{name} is of {package} there and of {MEASURES.package(name)} here"
            for name, package in study.get(PACKAGES, {}).items()
            if MEASURES.package(name) != package
        ]
        return f" ({and_join(other)})" if other else ""

    def check_questions(self, content: Content) -> str:
        """Compare the lists with those drawn from the seed or written in the plan; return which."""
        plan = ordering_plan(content.plan)
        if plan.generator != OWN_LISTS and content.generator_version != GENERATOR_VERSION:
            raise BundleError(
                f"{STUDY}, generator_version: {content.generator_version} found; this version of "
                f"the survey draws with version {GENERATOR_VERSION}, so it cannot draw these lists "
                "again"
            )
        try:
            drawn = {question.number: question for question in plan.draw_questions()}
        except ValueError as error:
            raise BundleError(f"{STUDY}, plan: {error}") from None
        practice = drawn.get(0)
        if _lists_of(practice) != _lists_of(content.practice) or (
            practice and content.practice and practice.marks != content.practice.marks
        ):
            raise BundleError(
                f"{STUDY}, practice: the seed gives other lists for the practice question"
            )
        for question in content.questions:
            if question.marks != drawn[question.number].marks:
                raise BundleError(
                    f"questions.csv, question {question.number}: the plan gives other "
                    f"{and_join(plan.marked or question.marks.kinds)}"
                )
            for letter, ranks in question.lists.items():
                expected = drawn[question.number].lists[letter]
                if ranks != expected:
                    raise BundleError(
                        f"questions.csv, question {question.number}, list {letter}: "
                        f"{' '.join(map(str, ranks))} found; the plan gives "
                        f"{' '.join(map(str, expected))}"
                    )
        if plan.generator == OWN_LISTS:
            return f"the lists of {plan.questions} questions are the plan's own"
        return f"the lists of {plan.questions} questions come out of the seed {plan.seed} again"


def _votes(session: Session, study_id: int, *, include_test: bool) -> tuple[People, Answers]:
    people, answers = vote_queries.votes_of(session, study_id)
    if not include_test:
        # A bundle without test data may not even tell how many test participants there were.
        people = people.subset(np.flatnonzero(~people.is_test))
    return people, answers


def _lists_of(question: Question | None) -> dict[str, list[int]] | None:
    if question is None:
        return None
    return {letter: list(ranks) for letter, ranks in question.lists.items()}
