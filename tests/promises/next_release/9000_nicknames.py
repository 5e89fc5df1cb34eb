"""A migration that a later release may have: it copies a table to which others refer.

Revision: 9000, after the newest that there is.
"""

import sqlalchemy as sa
from alembic import op

from survey.db.migration import VERSIONS

revision = "9000"
down_revision = max(path.name[:4] for path in VERSIONS[0].glob("0*.py"))
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("researcher") as researcher:
        researcher.add_column(sa.Column("nickname", sa.String(64)))
    op.execute("UPDATE researcher SET nickname = lower(name)")
    with op.batch_alter_table("researcher") as researcher:
        researcher.alter_column("nickname", nullable=False, server_default="")
        researcher.create_check_constraint(op.f("ck_researcher_short"), "length(nickname) < 60")


def downgrade() -> None:
    with op.batch_alter_table("researcher") as researcher:
        researcher.drop_constraint(op.f("ck_researcher_short"), type_="check")
        researcher.drop_column("nickname")
