"""A reason in words for each answer; answers to closing questions.

Revision: 0007, after 0006.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ANSWERS = ("response", "revision")


def upgrade() -> None:
    op.add_column("participant", sa.Column("closing", sa.JSON()))
    for table in ANSWERS:
        op.add_column(table, sa.Column("reason", sa.Text()))


def downgrade() -> None:
    for table in ANSWERS:
        op.drop_column(table, "reason")
    op.drop_column("participant", "closing")
