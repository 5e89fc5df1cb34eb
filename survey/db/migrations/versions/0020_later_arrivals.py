"""With which parameters a platform sent a person again, and what a page asked back.

Revision: 0020, after 0019.
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("identity", sa.Column("arrived_at", sa.DateTime()))
    op.add_column("presentation", sa.Column("asked_back", sa.String(16)))
    op.execute("ALTER TABLE identity ADD COLUMN earlier JSON DEFAULT '[]' NOT NULL")


def downgrade() -> None:
    op.drop_column("presentation", "asked_back")
    for name in ("earlier", "arrived_at"):
        op.drop_column("identity", name)
