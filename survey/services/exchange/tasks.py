"""What each kind of question adds to a bundle, found by its name."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Any, Protocol

from sqlalchemy.orm import Session

from survey.core.studies.participant_fields import ParticipantRecord
from survey.core.studies.plan import Plan
from survey.core.tasks.ordering_plan import OrderingPlan
from survey.db.export_queries import identities_of, people_of
from survey.db.models import Study
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.input_files import Files
from survey.services.exchange.ordering import OrderingFiles
from survey.services.exchange.tables import (
    ConsentRecord,
    Content,
    IdentityRecord,
    Table,
    TaskContent,
)
from survey.services.participation.participants import PRACTICE
from survey.services.studies.lifecycle import current_digest, questions_of


class TaskFiles(Protocol):
    """The files of a kind of question: written, read, and recomputed.

    ``recomputed``: file → how ``survey replicate`` says that it agrees. ``answers_file``: the
    file of the answers, with the columns shown_at, submitted_at and active_seconds.
    """

    recomputed: Mapping[str, str]
    answers_file: str

    def data_tables(self, plan: Any) -> list[Table]:
        """Return the files of the questions, then those with a row or more for each answer."""

    def result_tables(self, plan: Any) -> list[Table]:
        """Return the files that are counted from the answers."""

    def lines_per_answer(self, plan: Any) -> int:
        """Return how many lines of the files an answer takes, for a progress bar."""

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> TaskContent:
        """Return the answers of a study in the database."""

    def read(
        self, files: Files, plan: Any, participants: Sequence[ParticipantRecord]
    ) -> tuple[Sequence[Any], TaskContent]:
        """Read the questions and the answers; raises BundleError with the place of each fault."""

    def check_derived(self, files: Files, content: Content) -> None:
        """Compare files that follow from the questions alone; raises BundleError."""

    def check_questions(self, content: Content) -> str:
        """Compare the questions with the plan's; return how they agree. Raises BundleError."""

    def read_practice(self, study: Mapping[str, Any], plan: Any) -> Any:
        """Return the practice question in study.json, None for none; raises BundleError."""

    def study_entries(self, plan: Any, practice: Any) -> dict[str, Any]:
        """Return what study.json holds of this kind of study, "practice" among it."""

    def why_different(self, study: Mapping[str, Any]) -> str:
        """Return why a plan or its digest may come out differently here, "" if unknown."""


TASK_FILES: dict[str, TaskFiles] = {"ordering": OrderingFiles()}


def files_of_kind(plan: Plan) -> TaskFiles:
    """Return the files of a plan's kind of question."""
    return TASK_FILES[plan.kind]


def is_ordering(study: Study) -> bool:
    """Return whether a study's analysis has a report, as ordering questions have."""
    return isinstance(study.plan, OrderingPlan)


def analyse_stored(
    session: Session, study: Study, options: AnalysisOptions
) -> tuple[Any, dict[str, Any]]:
    """Return the analysis of a study of any kind, and the same as analysis.json has it.

    Call it in a session after ``begin_reading``, so that answers do not wait for it.
    """
    content = content_of(session, study, include_test=options.include_test)
    analysis = content.answers.analyse(content, options)
    return analysis, content.answers.as_json(analysis)


def content_of(
    session: Session, study: Study, *, include_test: bool = False, with_identities: bool = False
) -> Content:
    """Return a study's content; call ``begin_reading`` for the session first."""
    plan, questions = study.plan, questions_of(study, practice=True)
    rows = partial(people_of, session, study.id, include_test=include_test)
    identities = partial(identities_of, session, study.id, include_test=include_test)
    return Content(
        slug=study.slug,
        status=study.status,
        digest=study.digest or current_digest(study),
        generator_version=study.generator_version,
        opened_at=study.opened_at,
        closed_at=study.closed_at,
        unblinded_at=study.unblinded_at,
        plan=plan,
        practice=next((each for each in questions if each.number == PRACTICE), None),
        questions=[each for each in questions if each.number != PRACTICE],
        consents=[
            ConsentRecord(each.version, each.text, each.digest) for each in study.consent_texts
        ],
        participants=lambda: starmap(ParticipantRecord, rows()),
        answers=files_of_kind(plan).stored(session, study.id, include_test=include_test),
        include_test=include_test,
        identities=(lambda: starmap(IdentityRecord, identities())) if with_identities else None,
    )
