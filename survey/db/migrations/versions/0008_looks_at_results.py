"""When results could be seen before the last answers came, and why.

Revision: 0008, after 0007.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("study", sa.Column("looks", sa.JSON(), server_default="[]", nullable=False))


def downgrade() -> None:
    op.drop_column("study", "looks")
