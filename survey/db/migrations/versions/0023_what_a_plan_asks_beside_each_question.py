"""Answers to what a plan asks beside each question.

Revision: 0023, after 0022
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TABLES = ("response", "revision")


def upgrade() -> None:
    """Add the column to answers and to their versions."""
    for table in TABLES:
        op.add_column(table, sa.Column("beside", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    """Drop it."""
    for table in TABLES:
        op.drop_column(table, "beside")
