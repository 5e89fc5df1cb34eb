"""The registration of a study, as written when it was preregistered.

Revision: 0033, after 0032
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("study", sa.Column("registration", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("study", "registration")
