"""Labelling, and the numbers by which pictures are compared.

Revision: 0012, after 0011.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("picture", sa.Column("vector", sa.LargeBinary()))
    op.create_table(
        "labelling_presentation",
        *_key("labelling_presentation", "presentation"),
        sa.Column("order_seed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_labelling_presentation")),
    )
    op.create_table(
        "labelling_step",
        *_key("labelling_step", "presentation"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text()),
        sa.Column("grade", sa.Integer()),
        sa.Column("documents", sa.JSON()),
        sa.PrimaryKeyConstraint("presentation_id", "number", name=op.f("pk_labelling_step")),
        _check("step", "counts_from_1", "number >= 1 AND batch >= 1"),
        _check("step", "action_known", "action IN ('mark', 'next', 'refine', 'turn')"),
        _check(
            "step",
            "mark_has_a_grade",
            "(document IS NULL) = (action <> 'mark') AND (grade IS NULL) = (action <> 'mark')",
        ),
        _check("step", "grade_known", "grade BETWEEN 0 AND 3"),
        _check(
            "step",
            "batch_has_documents",
            "(action IN ('next', 'refine')) = (documents IS NOT NULL)",
        ),
    )
    for part in ("response", "revision"):
        op.create_table(
            f"labelling_{part}",
            *_key(f"labelling_{part}", part),
            sa.Column("steps", sa.Integer(), nullable=False),
            sa.PrimaryKeyConstraint(f"{part}_id", name=op.f(f"pk_labelling_{part}")),
            _check(part, "steps_count_from_1", "steps >= 1"),
        )


def downgrade() -> None:
    for part in ("revision", "response", "step", "presentation"):
        op.drop_table(f"labelling_{part}")
    op.drop_column("picture", "vector")


def _key(table: str, part: str) -> list[sa.schema.SchemaItem]:
    key = f"{part}_id"
    return [
        sa.Column(key, sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            [key], [f"{part}.id"], name=op.f(f"fk_{table}_{key}"), ondelete="CASCADE"
        ),
    ]


def _check(part: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_labelling_{part}_{name}"))
