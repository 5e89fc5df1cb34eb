"""The DOI of a publication.

Revision: 0030, after 0029
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "publication", sa.Column("doi", sa.String(length=200), nullable=False, server_default="")
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_column("publication", "doi")
