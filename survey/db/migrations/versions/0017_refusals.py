"""How often the form of a question was sent back, and why, to find participants who are stuck.

Revision: 0017, after 0016.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

IS_STUCK = "refusals >= 3"
COLUMNS = (
    "refusals INTEGER DEFAULT 0 NOT NULL "
    "CONSTRAINT ck_presentation_refusals_few CHECK (refusals BETWEEN 0 AND 9)",
    "last_refusal VARCHAR(16) CONSTRAINT ck_presentation_refusal_has_a_kind "
    "CHECK ((refusals = 0) = (last_refusal IS NULL))",
)


def upgrade() -> None:
    for column in COLUMNS:
        op.execute(f"ALTER TABLE presentation ADD COLUMN {column}")
    op.create_index(
        "ix_presentation_stuck",
        "presentation",
        ["participant_id"],
        sqlite_where=sa.text(IS_STUCK),
        postgresql_where=sa.text(IS_STUCK),
    )


def downgrade() -> None:
    op.drop_index("ix_presentation_stuck", "presentation")
    for column in ("last_refusal", "refusals"):
        op.drop_column("presentation", column)
