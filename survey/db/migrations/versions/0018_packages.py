"""Which packages brought the measures of a study when its lists were drawn, for its bundle.

Revision: 0018, after 0017.
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("study", sa.Column("packages", sa.JSON(), server_default="{}", nullable=False))


def downgrade() -> None:
    op.drop_column("study", "packages")
