"""What a page asked back before it saved an answer; who understood the practice; arms.

Revision: 0006, after 0005.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ANSWERS = ("ordering_response", "ordering_revision")


def upgrade() -> None:
    op.add_column("participant", sa.Column("understood", sa.Boolean()))
    op.add_column("participant", sa.Column("arm", sa.String(length=16)))
    for table in ANSWERS:
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN asked VARCHAR(9) CONSTRAINT ck_{table}_asked_known "
            "CHECK (asked IN ('equal', 'differing'))"
        )


def downgrade() -> None:
    for table in ANSWERS:
        op.drop_column(table, "asked")
    op.drop_column("participant", "arm")
    op.drop_column("participant", "understood")
