"""Whether the field for programs was filled in.

Revision: 0027, after 0026
"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
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
