"""Preference between two lists.

Revision: 0015, after 0014.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

RULES = {
    "preferred_known": "preferred IN ('left', 'right', 'equal', 'neither')",
    "strength_from_1_to_3": "strength BETWEEN 1 AND 3",
    "strength_of_a_list": "strength IS NULL OR preferred IN ('left', 'right')",
    "left_from_1_to_5": "satisfaction_left BETWEEN 1 AND 5",
    "right_from_1_to_5": "satisfaction_right BETWEEN 1 AND 5",
    "satisfaction_with_both": "(satisfaction_left IS NULL) = (satisfaction_right IS NULL)",
}


def upgrade() -> None:
    op.create_table(
        "preference_presentation",
        *_key("preference_presentation", "presentation"),
        sa.Column("left_list", sa.String(16), nullable=False),
        sa.CheckConstraint(
            "left_list IN ('A', 'B')", name=op.f("ck_preference_presentation_left_is_a_list")
        ),
    )
    for part in ("response", "revision"):
        table = f"preference_{part}"
        op.create_table(
            table,
            *_key(table, part),
            sa.Column("preferred", sa.String(16), nullable=False),
            sa.Column("strength", sa.Integer()),
            sa.Column("satisfaction_left", sa.Integer()),
            sa.Column("satisfaction_right", sa.Integer()),
            *(
                sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}"))
                for name, rule in RULES.items()
            ),
        )


def downgrade() -> None:
    for part in ("revision", "response", "presentation"):
        op.drop_table(f"preference_{part}")


def _key(table: str, part: str) -> list[sa.schema.SchemaItem]:
    key = f"{part}_id"
    return [
        sa.Column(key, sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            [key], [f"{part}.id"], name=op.f(f"fk_{table}_{key}"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(key, name=op.f(f"pk_{table}")),
    ]
