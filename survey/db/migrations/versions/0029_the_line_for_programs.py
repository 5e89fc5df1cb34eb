"""Whether the field for programs was filled in.

Revision: 0029, after 0028
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "participant",
        sa.Column("machine_line", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_column("participant", "machine_line")
