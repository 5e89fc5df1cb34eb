"""Collections with secret judgements, their groups and what these sent.

Revision: 0032, after 0031
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("published_at", sa.DateTime(), nullable=False),
        sa.Column("closes", sa.Date(), nullable=True),
        sa.Column("closed_at", sa.DateTime(), nullable=True),
        sa.Column("is_revealed", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("seed", sa.String(length=64), nullable=False),
        sa.Column("measures", sa.JSON(), nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("open_topics", sa.JSON(), nullable=False),
        sa.Column("final_topics", sa.JSON(), nullable=False),
        sa.Column("judgements", sa.JSON(), nullable=False),
        sa.Column("baselines", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection")),
        sa.UniqueConstraint("name", name=op.f("uq_collection_name")),
    )
    op.create_table(
        "collection_group",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("added_at", sa.DateTime(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.Column("faulty_on", sa.Date(), nullable=True),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_collection_group_collection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection_group")),
        sa.UniqueConstraint(
            "collection_id", "name", name=op.f("uq_collection_group_collection_id_name")
        ),
        sa.UniqueConstraint("token_hash", name=op.f("uq_collection_group_token_hash")),
    )
    op.create_table(
        "submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("group_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("run_sha256", sa.String(length=64), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("receipt", sa.JSON(), nullable=False),
        sa.CheckConstraint("number BETWEEN 1 AND 10", name=op.f("ck_submission_number_in_range")),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["collection_group.id"],
            name=op.f("fk_submission_group_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint("group_id", "day", name=op.f("uq_submission_group_id_day")),
        sa.UniqueConstraint("group_id", "number", name=op.f("uq_submission_group_id_number")),
        sa.UniqueConstraint(
            "group_id", "run_sha256", name=op.f("uq_submission_group_id_run_sha256")
        ),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("submission")
    op.drop_table("collection_group")
    op.drop_table("collection")
