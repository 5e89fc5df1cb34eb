"""Grouping, and the role that a personal link gives.

Revision: 0013, after 0012.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("guest", sa.Column("arm", sa.String(32)))
    op.create_table(
        "grouping_presentation",
        *_key("grouping_presentation", "presentation"),
        sa.Column("order_seed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_grouping_presentation")),
    )
    op.create_table(
        "grouping_step",
        *_key("grouping_step", "presentation"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("group_number", sa.Integer()),
        sa.Column("name", sa.Text()),
        sa.Column("merged_into", sa.Integer()),
        sa.Column("documents", sa.JSON()),
        sa.Column("groups", sa.JSON()),
        sa.PrimaryKeyConstraint("presentation_id", "number", name=op.f("pk_grouping_step")),
        _check("step", "counts_from_1", "number >= 1"),
        _check(
            "step",
            "action_known",
            "action IN ('put', 'take', 'rename', 'merge', 'adopt', 'undo', 'look')",
        ),
        _check(
            "step",
            "moves_have_documents",
            "(documents IS NOT NULL) = (action IN ('put', 'take'))",
        ),
        _check("step", "adopted_has_groups", "(groups IS NOT NULL) = (action = 'adopt')"),
        _check(
            "step",
            "group_is_named",
            "(group_number IS NOT NULL) = (action IN ('put', 'take', 'rename', 'merge'))",
        ),
    )
    for part in ("response", "revision"):
        op.create_table(
            f"grouping_{part}",
            *_key(f"grouping_{part}", part),
            sa.Column("steps", sa.Integer(), nullable=False),
            sa.PrimaryKeyConstraint(f"{part}_id", name=op.f(f"pk_grouping_{part}")),
            _check(part, "steps_count_from_1", "steps >= 1"),
        )


def downgrade() -> None:
    for part in ("revision", "response", "step", "presentation"):
        op.drop_table(f"grouping_{part}")
    op.drop_column("guest", "arm")


def _key(table: str, part: str) -> list[sa.schema.SchemaItem]:
    key = f"{part}_id"
    return [
        sa.Column(key, sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            [key], [f"{part}.id"], name=op.f(f"fk_{table}_{key}"), ondelete="CASCADE"
        ),
    ]


def _check(part: str, name: str, rule: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(rule, name=op.f(f"ck_grouping_{part}_{name}"))
