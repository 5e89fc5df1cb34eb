"""The rows of a study as they are stored, whatever its kind of question."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import MetaData, Select, Table, inspect, select
from sqlalchemy.orm import Session

from survey.db.export_queries import EXPORTED
from survey.db.models import Participant, Presentation, Revision, StoredQuestion, StoredResponse

KEY_COLUMNS = ("id", "participant_id", "question_id", "response_id")
FETCHED = 1_000  # rows at a time


def raw_rows(
    session: Session, study_id: int, kind: str, *, include_test: bool
) -> Iterator[tuple[str, list[str], Iterable[Sequence[object]]]]:
    """Yield the name of each table with rows of a study, its columns, and the rows.

    The kind's own tables are read as the database describes them: it need not be known here.
    """
    for name, headings, statement in _tables(session, study_id, kind):
        if not include_test and name != "question":
            statement = statement.where(Participant.is_test.is_(False))
        yield name, headings, session.execute(statement.execution_options(yield_per=FETCHED))


def _tables(
    session: Session, study_id: int, kind: str
) -> Iterator[tuple[str, list[str], Select[*tuple[Any, ...]]]]:
    """Yield the name of each table, its columns, and what selects its rows."""
    asked = StoredQuestion.study_id == study_id
    question = select(StoredQuestion.number, StoredQuestion.content).where(asked)
    yield "question", ["number", "content"], question.order_by(StoredQuestion.number)
    people = select(*EXPORTED.values()).where(Participant.study_id == study_id)
    yield "participant", [*EXPORTED], people.order_by(Participant.id)
    key: list[Any] = [
        Participant.public_id.label("participant"),
        StoredQuestion.number.label("question"),
    ]
    responses = select(*key).select_from(StoredResponse)
    responses = responses.join(Participant, Participant.id == StoredResponse.participant_id)
    responses = responses.join(StoredQuestion, StoredQuestion.id == StoredResponse.question_id)
    presentations = select(*key).select_from(Presentation)
    presentations = presentations.join(Participant).join(StoredQuestion)
    shared: list[tuple[Any, Any]] = [
        (Presentation, presentations),
        (StoredResponse, responses),
        (Revision, responses.join(Revision, Revision.response_id == StoredResponse.id)),
    ]
    for model, statement in shared:
        table = model.__table__
        columns = [column for column in table.columns if column.name not in KEY_COLUMNS]
        for own in _own_tables(session, kind, table.name):
            [of_shared] = [each.parent for each in own.foreign_keys]
            statement = statement.outerjoin(own, of_shared == table.c.id)
            columns += [column for column in own.columns if column is not of_shared]
        statement = statement.add_columns(*columns).where(asked).order_by(table.c.id)
        yield table.name, ["participant", "question", *(each.name for each in columns)], statement
    for step in _own_tables(session, kind, "step"):
        of_step = step.c.presentation_id == Presentation.id
        columns = [column for column in step.columns if column.name != "presentation_id"]
        statement = presentations.join(step, of_step).add_columns(*columns).where(asked)
        statement = statement.order_by(Presentation.id, step.c.number)
        yield "step", ["participant", "question", *(each.name for each in columns)], statement


def _own_tables(session: Session, kind: str, name: str) -> Iterator[Table]:
    """Yield the kind's table beside a shared one, as the database describes it, if it has one."""
    connection, own = session.connection(), f"{kind}_{name}"
    if own in inspect(connection).get_table_names():
        yield Table(own, MetaData(), autoload_with=connection, resolve_fks=False)
