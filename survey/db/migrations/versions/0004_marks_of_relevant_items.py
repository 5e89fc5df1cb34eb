"""Grades, weights and clusters of the relevant items of a question's lists.

Revision: 0004, after 0003.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("question", sa.Column("marks", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("question", "marks")
