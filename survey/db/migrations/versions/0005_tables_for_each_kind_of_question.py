"""Tables for what belongs to one kind of question, apart from what all kinds share.

Revision: 0005, after 0004.
"""

import re
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# The statements below are put together of these and of the names of tables, nothing from outside.
SHOWN = "label_order, column_order, list_order, shown, ranked_first, ranked_at"
ANSWERED = "clicked, own"
QUESTION = ("lists", "columns", "marks")
CHECK = "(clicked = 0) = (own IS NOT NULL)"


def upgrade() -> None:
    op.create_table(
        "ordering_presentation",
        _key("ordering_presentation", "presentation"),
        sa.Column("label_order", sa.JSON(), nullable=False),
        sa.Column("column_order", sa.JSON(), nullable=False),
        sa.Column("list_order", sa.JSON(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("ranked_first", sa.JSON(), nullable=True),
        sa.Column("ranked_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_ordering_presentation")),
    )
    for part in ("response", "revision"):
        op.create_table(
            f"ordering_{part}",
            _key(f"ordering_{part}", part),
            sa.Column("clicked", sa.Integer(), nullable=False),
            sa.Column("own", sa.JSON(), nullable=True),
            sa.CheckConstraint(CHECK, name=op.f(f"ck_ordering_{part}_columns_or_own_ranking")),
            sa.PrimaryKeyConstraint(f"{part}_id", name=op.f(f"pk_ordering_{part}")),
        )
        op.execute(f"INSERT INTO ordering_{part} SELECT id, {ANSWERED} FROM {part}")  # nosec B608 # constants alone
        _drop_answers(part)
    op.execute(f"INSERT INTO ordering_presentation SELECT id, {SHOWN} FROM presentation")  # nosec B608 # constants alone
    for name in SHOWN.split(", "):
        op.drop_column("presentation", name)
    _change_questions(_join_questions)


def downgrade() -> None:
    _change_questions(_split_questions)
    op.add_column("presentation", sa.Column("ranked_first", sa.JSON(), nullable=True))
    op.add_column("presentation", sa.Column("ranked_at", sa.DateTime(), nullable=True))
    for name in ("label_order", "column_order", "list_order", "shown"):
        op.add_column(
            "presentation", sa.Column(name, sa.JSON(), nullable=False, server_default="[]")
        )
    op.execute(
        f"UPDATE presentation SET ({SHOWN}) = (SELECT {SHOWN} FROM ordering_presentation "  # nosec B608 # constants alone
        "WHERE presentation_id = presentation.id)"  # nosec B608 # constants alone
    )
    _drop_defaults("presentation", "label_order", "column_order", "list_order", "shown")
    for part in ("revision", "response"):
        _add_answers(part)
        op.drop_table(f"ordering_{part}")
    op.drop_table("ordering_presentation")


def _key(table: str, part: str) -> sa.Column[int]:
    name = op.f(f"fk_{table}_{part}_id")
    key = sa.ForeignKey(f"{part}.id", name=name, ondelete="CASCADE")
    return sa.Column(f"{part}_id", sa.Integer(), key, nullable=False)


def _on_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _stored_sql(name: str) -> str:
    """Return the statement with which SQLite made a table or a trigger."""
    stored = op.get_bind().execute(
        sa.text("SELECT sql FROM sqlite_master WHERE name = :name"), {"name": name}
    )
    return str(stored.scalar_one())


def _drop_answers(part: str) -> None:
    """Drop the columns of an answer and their CHECK; SQLite copies the table for that."""
    if not _on_sqlite():
        op.drop_column(part, "clicked")
        op.drop_column(part, "own")
        return
    sql = _stored_sql(part)
    sql = re.sub(r"\s+(clicked|own) (INTEGER NOT NULL|JSON),", "", sql)
    sql = re.sub(rf"\s*CONSTRAINT \S+ CHECK \({re.escape(CHECK)}\),?", "", sql)
    remaining = [name for name in _columns(part) if name not in ANSWERED.split(", ")]
    _copy_table(part, re.sub(r",(\s*\))\Z", r"\1", sql), ", ".join(remaining), ", ".join(remaining))


def _add_answers(part: str) -> None:
    check = f"CONSTRAINT ck_{part}_columns_or_own_ranking CHECK ({CHECK})"
    if not _on_sqlite():
        op.add_column(part, sa.Column("clicked", sa.Integer(), nullable=True))
        op.add_column(part, sa.Column("own", sa.JSON(), nullable=True))
        op.execute(
            f"UPDATE {part} SET clicked = o.clicked, own = o.own FROM ordering_{part} o "  # nosec B608 # constants alone
            f"WHERE o.{part}_id = {part}.id"  # nosec B608 # constants alone
        )
        op.alter_column(part, "clicked", nullable=False)
        op.execute(f"ALTER TABLE {part} ADD {check}")
        return
    names = _columns(part)
    sql = _stored_sql(part)
    sql = sql.replace("submitted_at", "clicked INTEGER NOT NULL, \n\town JSON, \n\tsubmitted_at", 1)
    sql = sql.replace("CONSTRAINT", f"{check}, \n\tCONSTRAINT", 1)
    chosen = (f"{part}.{name}" for name in names)
    source = f"{part} JOIN ordering_{part} ON ordering_{part}.{part}_id = {part}.id"
    _copy_table(
        part,
        sql,
        ", ".join([*names, "clicked", "own"]),
        ", ".join([*chosen, "clicked", "own"]),
        source,
    )


def _columns(table: str) -> list[str]:
    return [str(row[1]) for row in op.get_bind().execute(sa.text(f"PRAGMA table_info({table})"))]


def _copy_table(table: str, sql: str, names: str, chosen: str, source: str = "") -> None:
    """Make a table of SQLite again by another statement, with its rows, indexes and triggers."""
    rest = op.get_bind().execute(
        sa.text(
            "SELECT sql FROM sqlite_master "
            "WHERE tbl_name = :table AND type IN ('index', 'trigger') AND sql IS NOT NULL"
        ),
        {"table": table},
    )
    statements = rest.scalars().all()
    op.execute(re.sub(rf'CREATE TABLE "?{table}"?', f"CREATE TABLE {table}_copy", sql, count=1))
    op.execute(f"INSERT INTO {table}_copy ({names}) SELECT {chosen} FROM {source or table}")  # nosec B608 # constants alone
    op.execute(f"DROP TABLE {table}")
    op.execute(f"ALTER TABLE {table}_copy RENAME TO {table}")
    for statement in statements:
        op.execute(statement)


def _drop_defaults(table: str, *names: str) -> None:
    """Let columns have no default any more, which rows needed when the columns were added."""
    if not _on_sqlite():
        for name in names:
            op.alter_column(table, name, server_default=None)
        return
    columns = ", ".join(_columns(table))
    sql = re.sub(rf"\b({'|'.join(names)}) JSON DEFAULT '\S+'", r"\1 JSON", _stored_sql(table))
    _copy_table(table, sql, columns, columns)


def _change_questions(change: Callable[[], None]) -> None:
    """Change the questions of frozen studies as well: not what they say, but where it is."""
    if _on_sqlite():
        trigger = _stored_sql("question_frozen_update")
        op.execute("DROP TRIGGER question_frozen_update")
        change()
        op.execute(trigger)
    else:
        op.execute("ALTER TABLE question DISABLE TRIGGER question_frozen_update")
        change()
        op.execute("ALTER TABLE question ENABLE TRIGGER question_frozen_update")


def _join_questions() -> None:
    op.add_column("question", sa.Column("content", sa.JSON(), nullable=False, server_default="{}"))
    read = "json({})" if _on_sqlite() else "{}"
    build = "json_object" if _on_sqlite() else "json_build_object"
    pairs = ", ".join(f"'{name}', {read.format(name)}" for name in QUESTION)
    op.execute(f"UPDATE question SET content = {build}({pairs})")  # nosec B608 # constants alone
    for name in QUESTION:
        op.drop_column("question", name)
    _drop_defaults("question", "content")


def _split_questions() -> None:
    for name in QUESTION:
        column = sa.Column(
            name,
            sa.JSON(),
            nullable=name == "marks",
            server_default=None if name == "marks" else "{}",
        )
        op.add_column("question", column)
        value = (
            f"json_extract(content, '$.{name}')"
            if _on_sqlite()
            else f"NULLIF(content ->> '{name}', '')::json"
        )
        op.execute(f"UPDATE question SET {name} = {value}")  # nosec B608 # constants alone
    op.drop_column("question", "content")
    _drop_defaults("question", "lists", "columns")
