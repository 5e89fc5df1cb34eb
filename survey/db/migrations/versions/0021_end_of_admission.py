"""Since when a study admits no one new, while those under way finish.

Revision: 0021, after 0020.
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("study", sa.Column("admission_ended_at", sa.DateTime()))


def downgrade() -> None:
    op.drop_column("study", "admission_ended_at")
