"""Studies in which many have finished, and what a query costs there, counted and not timed."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.orm import Session

from survey.db.models import SlotCount, Study
from tests.builders import a_ready_participant

NUMBERS = {
    "sqlite": "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < :rows) "
    "SELECT n FROM c) AS number",
    "postgresql": "generate_series(1, :rows) AS number(n)",
}
FINISHED = (
    "INSERT INTO participant (study_id, public_id, resume_hash, status, is_test, excluded, "
    "personal, consent_id, started_at, consented_at, completed_at, last_seen_at) "
    "SELECT study_id, 'X-' || number.n, study_id || 'x' || number.n, 'complete', is_test, "
    "excluded, personal, consent_id, started_at, consented_at, last_seen_at, last_seen_at "
    "FROM participant, {numbers} WHERE participant.id = :id"
)


def add_finished(session: Session, study: Study, finished: int) -> None:
    """Add this many participants who have finished, beside one who is under way."""
    participant = a_ready_participant(session, study, f"browser of {study.slug}")
    numbers = NUMBERS[session.get_bind().dialect.name]
    values = {"id": participant.id, "rows": finished}
    session.execute(text(FINISHED.format(numbers=numbers)), values)
    session.add(SlotCount(study_id=study.id, complete=finished))
    session.commit()
    session.execute(text("ANALYZE"))
    session.commit()


def cost_of(session: Session, read: Callable[[], object]) -> int:
    """Return SQLite's steps, or the blocks that PostgreSQL reads, of what a function reads."""
    read()
    session.rollback()
    if session.get_bind().dialect.name == "sqlite":
        return _steps(session, read)
    return _blocks(session, read)


def _steps(session: Session, read: Callable[[], object]) -> int:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection = session.connection().connection.dbapi_connection
    connection.set_progress_handler(count, 1)
    read()
    connection.set_progress_handler(None, 0)
    return steps


def _blocks(session: Session, read: Callable[[], object]) -> int:
    statements: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        statements.append((statement, parameters))

    connection = session.connection()
    event.listen(connection, "before_cursor_execute", note)
    read()
    event.remove(connection, "before_cursor_execute", note)
    assert statements
    plans = [
        connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
        for statement, values in statements
    ]
    tops = [plan.scalar()[0]["Plan"] for plan in plans]
    return sum(top["Shared Hit Blocks"] + top["Shared Read Blocks"] for top in tops)
