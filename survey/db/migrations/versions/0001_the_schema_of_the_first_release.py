"""The schema of the first release.

Revision: 0001, the first.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("generator_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("opened_at", sa.DateTime(), nullable=True),
        sa.Column("closed_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "status = 'draft' OR digest IS NOT NULL", name=op.f("ck_study_frozen_has_digest")
        ),
        sa.CheckConstraint(
            "status IN ('draft', 'open', 'closed')", name=op.f("ck_study_status_known")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("slug", name=op.f("uq_study_slug")),
    )
    op.create_table(
        "consent_text",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_consent_text_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_consent_text")),
        sa.UniqueConstraint("study_id", "version", name=op.f("uq_consent_text_study_id_version")),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("lists", sa.JSON(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.CheckConstraint("number >= 0", name=op.f("ck_question_number_counts_from_0")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_question_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
        sa.UniqueConstraint("study_id", "number", name=op.f("uq_question_study_id_number")),
    )
    op.create_table(
        "participant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=16), nullable=False),
        sa.Column("resume_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("excluded", sa.Boolean(), nullable=False),
        sa.Column("exclude_reason", sa.Text(), nullable=True),
        sa.Column("personal", sa.JSON(), nullable=False),
        sa.Column("consent_id", sa.Integer(), nullable=True),
        sa.Column("receipt", sa.String(length=16), nullable=True),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("consented_at", sa.DateTime(), nullable=True),
        sa.Column("described_at", sa.DateTime(), nullable=True),
        sa.Column("informed_at", sa.DateTime(), nullable=True),
        sa.Column("completed_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "(status = 'complete') = (completed_at IS NOT NULL)",
            name=op.f("ck_participant_complete_has_a_time"),
        ),
        sa.CheckConstraint(
            "status IN ('started', 'declined', 'complete')",
            name=op.f("ck_participant_status_known"),
        ),
        sa.CheckConstraint(
            "(consented_at IS NULL) = (consent_id IS NULL)",
            name=op.f("ck_participant_consent_names_its_text"),
        ),
        sa.CheckConstraint(
            "NOT excluded OR exclude_reason IS NOT NULL",
            name=op.f("ck_participant_exclusion_has_a_reason"),
        ),
        sa.CheckConstraint(
            "informed_at IS NULL OR consented_at IS NOT NULL",
            name=op.f("ck_participant_no_questions_before_consent"),
        ),
        sa.ForeignKeyConstraint(
            ["consent_id"], ["consent_text.id"], name=op.f("fk_participant_consent_id")
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_participant_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participant")),
        sa.UniqueConstraint("public_id", name=op.f("uq_participant_public_id")),
        sa.UniqueConstraint("receipt", name=op.f("uq_participant_receipt")),
        sa.UniqueConstraint("resume_hash", name=op.f("uq_participant_resume_hash")),
    )
    op.create_index("ix_participant_study_id", "participant", ["study_id"])

    op.create_table(
        "browser",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name=op.f("fk_browser_participant_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_browser_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_browser")),
        sa.UniqueConstraint("study_id", "token_hash", name=op.f("uq_browser_study_id_token_hash")),
    )
    op.create_index("ix_browser_participant_id", "browser", ["participant_id"])

    op.create_table(
        "presentation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("label_order", sa.JSON(), nullable=False),
        sa.Column("column_order", sa.JSON(), nullable=False),
        sa.Column("list_order", sa.JSON(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("shown_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name=op.f("fk_presentation_participant_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name=op.f("fk_presentation_question_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_presentation")),
        sa.UniqueConstraint(
            "participant_id", "position", name=op.f("uq_presentation_participant_id_position")
        ),
        sa.UniqueConstraint(
            "participant_id", "question_id", name=op.f("uq_presentation_participant_id_question_id")
        ),
    )
    op.create_table(
        "response",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("own", sa.JSON(), nullable=True),
        sa.Column("submitted_at", sa.DateTime(), nullable=False),
        sa.Column("active_seconds", sa.Double(), nullable=True),
        sa.Column("revisions", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "(clicked = 0) = (own IS NOT NULL)", name=op.f("ck_response_columns_or_own_ranking")
        ),
        sa.CheckConstraint("revisions >= 0", name=op.f("ck_response_revisions_count_from_0")),
        sa.ForeignKeyConstraint(
            ["participant_id", "question_id"],
            ["presentation.participant_id", "presentation.question_id"],
            name="fk_response_presentation",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_response")),
        sa.UniqueConstraint(
            "participant_id", "question_id", name=op.f("uq_response_participant_id_question_id")
        ),
    )
    op.create_table(
        "revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("own", sa.JSON(), nullable=True),
        sa.Column("submitted_at", sa.DateTime(), nullable=False),
        sa.Column("active_seconds", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "(clicked = 0) = (own IS NOT NULL)", name=op.f("ck_revision_columns_or_own_ranking")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_revision_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision")),
        sa.UniqueConstraint("response_id", "number", name=op.f("uq_revision_response_id_number")),
    )


def downgrade() -> None:
    op.drop_table("revision")
    op.drop_table("response")
    op.drop_table("presentation")
    op.drop_table("browser")
    op.drop_table("participant")
    op.drop_table("question")
    op.drop_table("consent_text")
    op.drop_table("study")
