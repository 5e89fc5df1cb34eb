"""Vectors that a researcher gives, by which documents are compared; frozen with the study.

Revision: 0014, after 0013.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

FROZEN = "a study that was opened cannot change; copy it to change it"
IS_FROZEN = "EXISTS (SELECT 1 FROM study WHERE id = {row}.study_id AND status <> 'draft')"
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD"))


def upgrade() -> None:
    op.add_column("study", sa.Column("vectors_digest", sa.String(64)))
    op.create_table(
        "vector",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vector")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_vector_study_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("study_id", "document", name=op.f("uq_vector_study_id_document")),
    )
    for change, row in CHANGES:
        _create_trigger(change, IS_FROZEN.format(row=row))


def downgrade() -> None:
    for change, _ in CHANGES:
        name = f"vector_frozen_{change.lower()}"
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER {name}")
        else:
            op.execute(f"DROP TRIGGER {name} ON vector")
            op.execute(f"DROP FUNCTION {name}()")
    op.drop_table("vector")
    op.drop_column("study", "vectors_digest")


def _create_trigger(change: str, condition: str) -> None:
    name = f"vector_frozen_{change.lower()}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {change} ON vector WHEN {condition} "
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
        f"CREATE TRIGGER {name} BEFORE {change} ON vector FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
