"""The public page of a closed study: who published it, and how it is cited.

Revision: 0016, after 0015.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "publication",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("authors", sa.JSON(), nullable=False),
        sa.Column("licence", sa.String(32), nullable=False),
        sa.Column("published_by", sa.String(64), nullable=False),
        sa.Column("published_at", sa.DateTime(), nullable=False),
        sa.Column("taken_back_at", sa.DateTime()),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_publication_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_publication")),
    )


def downgrade() -> None:
    op.drop_table("publication")
