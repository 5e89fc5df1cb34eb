"""The classes of items, by which queries of keywords find them.

Revision: 0026, after 0025
"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("item", sa.Column("keywords", sa.Text(), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("item", "keywords")
