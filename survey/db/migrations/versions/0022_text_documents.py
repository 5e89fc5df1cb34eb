"""Title, address, snippet, HTML and language of documents; what counts as relevant of topics.

Revision: 0022, after 0021.
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

FROZEN = "a study that was opened cannot change; copy it to change it"
IS_FROZEN = "EXISTS (SELECT 1 FROM study WHERE id = {row}.study_id AND status <> 'draft')"
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD"))
TEXTS = {"item": ("title", "url", "snippet", "html"), "topic": ("description", "narrative")}
AT_ONCE = 1_000


def upgrade() -> None:
    for table, names in TEXTS.items():
        for name in names:
            op.add_column(table, sa.Column(name, sa.Text()))
        op.add_column(table, sa.Column("lang", sa.String(64)))
    op.add_column("item", sa.Column("name", sa.String(64)))
    _drop_triggers()  # else items of opened studies could get no name; SQLite copies the table
    _name_items()
    with op.batch_alter_table("item", copy_from=_whole_table()) as batch:
        batch.alter_column("name", existing_type=sa.String(64), nullable=False)
        batch.create_unique_constraint(op.f("uq_item_name"), ["name"])
    _create_triggers()


def downgrade() -> None:
    _drop_triggers()
    with op.batch_alter_table("item", copy_from=_whole_table(is_named=True)) as batch:
        batch.drop_constraint(op.f("uq_item_name"))
        for name in ("name", "lang", *TEXTS["item"]):
            batch.drop_column(name)
    _create_triggers()
    for name in ("lang", *TEXTS["topic"]):
        op.drop_column("topic", name)


def _name_items() -> None:
    """Give each item the random name of its text's address."""
    item = sa.table("item", sa.column("id"), sa.column("name"))
    connection = op.get_bind()
    ids = connection.scalars(sa.select(item.c.id)).all()
    statement = (
        sa.update(item).where(item.c.id == sa.bindparam("row")).values(name=sa.bindparam("random"))
    )
    for start in range(0, len(ids), AT_ONCE):
        rows = ids[start : start + AT_ONCE]
        connection.execute(
            statement, [{"row": row, "random": secrets.token_urlsafe(12)} for row in rows]
        )


def _whole_table(*, is_named: bool = False) -> sa.Table:
    """Return the table of items, with its rules, for the copy that SQLite needs."""
    name = sa.Column("name", sa.String(64), nullable=not is_named)
    rules = [sa.UniqueConstraint("name", name=op.f("uq_item_name"))] if is_named else []
    return sa.Table(
        "item",
        sa.MetaData(),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("file", sa.String(200)),
        sa.Column("sha256", sa.String(64)),
        sa.Column("text", sa.Text()),
        sa.Column("alt", sa.Text()),
        *(sa.Column(text, sa.Text()) for text in TEXTS["item"]),
        sa.Column("lang", sa.String(64)),
        name,
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_item_study_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("study_id", "document", name=op.f("uq_item_study_id_document")),
        *rules,
    )


def _drop_triggers() -> None:
    for change, _ in CHANGES:
        name = f"item_frozen_{change.lower()}"
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER {name}")
        else:
            op.execute(f"DROP TRIGGER {name} ON item")
            op.execute(f"DROP FUNCTION {name}()")


def _create_triggers() -> None:
    for change, row in CHANGES:
        name, condition = f"item_frozen_{change.lower()}", IS_FROZEN.format(row=row)
        if op.get_bind().dialect.name == "sqlite":
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {change} ON item WHEN {condition} "
                f"BEGIN SELECT RAISE(ABORT, '{FROZEN}'); END"
            )
            continue
        result = "OLD" if change == "DELETE" else "NEW"
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF {condition} THEN RAISE EXCEPTION '{FROZEN}' "
            "USING ERRCODE = 'integrity_constraint_violation'; "
            f"END IF; RETURN {result}; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {change} ON item FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
