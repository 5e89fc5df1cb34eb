"""With which parameters a platform sent a person again, and when.

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
    op.execute("ALTER TABLE identity ADD COLUMN earlier JSON DEFAULT '[]' NOT NULL")


def downgrade() -> None:
    for name in ("earlier", "arrived_at"):
        op.drop_column("identity", name)
