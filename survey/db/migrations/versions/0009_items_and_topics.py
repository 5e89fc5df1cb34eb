"""Pictures, items and topics of a study; its digest covers them, so they are frozen with it.

Revision: 0009, after 0008.
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

FROZEN = "a study that was opened cannot change; copy it to change it"
IS_FROZEN = "EXISTS (SELECT 1 FROM study WHERE id = {row}.study_id AND status <> 'draft')"
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD"))
TABLES = ("picture", "item", "topic")
OTHER_DIGEST = (
    "OLD.status <> 'draft' AND COALESCE(NEW.items_digest, '') <> COALESCE(OLD.items_digest, '')"
)
TRIGGERS = [
    ("study_items_frozen_update", "study", "UPDATE", OTHER_DIGEST),
    *(
        (f"{table}_frozen_{change.lower()}", table, change, IS_FROZEN.format(row=row))
        for table in TABLES
        for change, row in CHANGES
    ),
]


def upgrade() -> None:
    op.add_column("study", sa.Column("items_digest", sa.String(64)))
    op.create_table(
        "picture",
        *_columns("picture"),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("thumbnail", sa.LargeBinary(), nullable=False),
        sa.Column("larger", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("name", name=op.f("uq_picture_name")),
        sa.UniqueConstraint("study_id", "sha256", name=op.f("uq_picture_study_id_sha256")),
    )
    op.create_table(
        "item",
        *_columns("item"),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("file", sa.String(200)),
        sa.Column("sha256", sa.String(64)),
        sa.Column("text", sa.Text()),
        sa.Column("alt", sa.Text()),
        sa.UniqueConstraint("study_id", "document", name=op.f("uq_item_study_id_document")),
    )
    op.create_table(
        "topic",
        *_columns("topic"),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("image", sa.Text()),
        sa.Column("sha256", sa.String(64)),
        sa.Column("text", sa.Text()),
        sa.Column("cluster_type", sa.String(200)),
        sa.UniqueConstraint("study_id", "topic", name=op.f("uq_topic_study_id_topic")),
    )
    for trigger in TRIGGERS:
        _create_trigger(*trigger)


def downgrade() -> None:
    for name, table, _, _ in TRIGGERS:
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER {name}")
        else:
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
    for table in reversed(TABLES):
        op.drop_table(table)
    op.drop_column("study", "items_digest")


def _columns(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f(f"fk_{table}_study_id"), ondelete="CASCADE"
        ),
    ]


def _create_trigger(name: str, table: str, change: str, condition: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {change} ON {table} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{FROZEN}'); END"
        )
        return
    result = "OLD" if change == "DELETE" else "NEW"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {condition} THEN RAISE EXCEPTION '{FROZEN}' "
        "USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {result}; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
