"""Tokens with which programs read the JSON of a study.

Revision: 0031, after 0030
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "read_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("made_by", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.Column("minute_began_at", sa.DateTime(), nullable=True),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            *(["study_id"], ["study.id"]),
            name=op.f("fk_read_token_study_id_study"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_read_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_read_token_token_hash")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_read_token_study_id_name")),
    )
    op.create_index(op.f("ix_read_token_study_id"), "read_token", ["study_id"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("read_token")
