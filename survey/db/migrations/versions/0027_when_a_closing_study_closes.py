"""When a study that admits no one new closes at the latest, after 48 hours until now.

Revision: 0027, after 0026
"""

from datetime import timedelta

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and fill it for studies that admit no one new already."""
    op.add_column("study", sa.Column("closes_at", sa.DateTime(), nullable=True))
    study = sa.table(
        "study",
        *(sa.column(name, sa.DateTime()) for name in ("admission_ended_at", "closes_at")),
        sa.column("id", sa.Integer()),
    )
    ended = sa.select(study.c.id, study.c.admission_ended_at)
    for row in op.get_bind().execute(ended.where(study.c.admission_ended_at.is_not(None))).all():
        closes_at = row.admission_ended_at + timedelta(hours=48)
        op.execute(study.update().where(study.c.id == row.id).values(closes_at=closes_at))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("study", "closes_at")
