"""A second factor of researchers: codes of an app, and recovery codes.

Revision: 0010, after 0009.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("researcher", sa.Column("second_factor", sa.String(64)))
    op.add_column("researcher", sa.Column("last_code_step", sa.Integer()))
    op.add_column(
        "researcher", sa.Column("recovery_codes", sa.JSON(), server_default="[]", nullable=False)
    )


def downgrade() -> None:
    for column in ("recovery_codes", "last_code_step", "second_factor"):
        op.drop_column("researcher", column)
