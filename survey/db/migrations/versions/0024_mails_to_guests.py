"""Where guests are written to, and what was sent.

Revision: 0024, after 0023
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

TEXTS = {"email": 200, "mail_due": 16, "mail_fault": 200}
TIMES = ("invited_at", "reminded_at")


def upgrade() -> None:
    """Add the columns to the guests."""
    for name, length in TEXTS.items():
        op.add_column("guest", sa.Column(name, sa.String(length=length), nullable=True))
    for name in TIMES:
        op.add_column("guest", sa.Column(name, sa.DateTime(), nullable=True))


def downgrade() -> None:
    """Drop them."""
    for name in (*TEXTS, *TIMES):
        op.drop_column("guest", name)
