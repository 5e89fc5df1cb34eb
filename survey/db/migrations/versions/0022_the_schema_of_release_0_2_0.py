"""The schema of release 0.2.0: the first that later versions migrate from.

Revision: 0022, the first. Its number continues those of the versions before the first release.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = None
branch_labels = None
depends_on = None

# Nothing of a study changes once it has opened, and events are only ever added.
FROZEN = "a study that was opened cannot change; copy it to change it"
STUDY_CHANGES = (
    "OLD.status <> 'draft' AND (NEW.status = 'draft' OR CAST(NEW.plan AS TEXT) <> "
    "CAST(OLD.plan AS TEXT) OR NEW.digest <> OLD.digest OR NEW.digest IS NULL "
    "OR NEW.slug <> OLD.slug OR NEW.generator_version <> OLD.generator_version)"
)
OTHER_ITEMS = (
    "OLD.status <> 'draft' AND COALESCE(NEW.items_digest, '') <> COALESCE(OLD.items_digest, '')"
)
PARTS = ("consent_text", "question", "picture", "item", "topic", "vector")
IS_FROZEN = "EXISTS (SELECT 1 FROM study WHERE id = {row}.study_id AND status <> 'draft')"
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD"))
ADDED = "events are never changed or removed"
OTHER_THAN_ERASED = (
    "NOT (NEW.id = OLD.id AND NEW.slug = OLD.slug AND NEW.who = OLD.who AND NEW.at = OLD.at "
    "AND NEW.kind = OLD.kind AND NEW.detail = 'a participant who was erased')"
)

# Each study's complete participants are counted as they change, so that a page counts none. No
# participant is inserted complete but by an import, and imported studies have no slots.
COUNTS = "({row}status = 'complete' AND NOT {row}excluded AND NOT {row}is_test)"
NEW, OLD = COUNTS.format(row="NEW."), COUNTS.format(row="OLD.")
FILL = (
    "INSERT INTO slot_count (study_id, complete) VALUES (NEW.study_id, 1) "
    "ON CONFLICT (study_id) DO UPDATE SET complete = slot_count.complete + 1;"
)
FREE = "UPDATE slot_count SET complete = complete - 1 WHERE study_id = OLD.study_id;"
CHANGE = "UPDATE OF status, excluded, is_test"
COUNTING = (
    ("slot_filled", CHANGE, f"{NEW} AND NOT {OLD}", FILL),
    ("slot_freed", CHANGE, f"{OLD} AND NOT {NEW}", FREE),
    ("slot_erased", "DELETE", OLD, FREE),
)


def upgrade() -> None:
    _create_tables()
    for name, table, change, condition, message in _guards():
        _create_guard(name, table, change, condition, message)
    for name, change, condition, action in COUNTING:
        _create_count(name, change, condition, action)


def _guards() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield name, table, change, condition and message of the triggers that refuse changes."""
    yield "study_frozen_update", "study", "UPDATE", STUDY_CHANGES, FROZEN
    yield "study_items_frozen_update", "study", "UPDATE", OTHER_ITEMS, FROZEN
    for part in PARTS:
        for change, row in CHANGES:
            condition = IS_FROZEN.format(row=row)
            yield f"{part}_frozen_{change.lower()}", part, change, condition, FROZEN
    yield "event_kept_update", "event", "UPDATE", OTHER_THAN_ERASED, ADDED
    yield "event_kept_delete", "event", "DELETE", "TRUE", ADDED


def _create_guard(name: str, table: str, change: str, condition: str, message: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {change} ON {table} WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    result = "OLD" if change == "DELETE" else "NEW"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {condition} THEN RAISE EXCEPTION '{message}' "
        "USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {result}; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()"
    )


def _create_count(name: str, change: str, condition: str, action: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        body = f"BEGIN {action} END"
    else:
        body = f"EXECUTE FUNCTION {name}()"
        op.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"{action} RETURN NULL; END $$"
        )
    op.execute(
        f"CREATE TRIGGER {name} AFTER {change} ON participant FOR EACH ROW WHEN ({condition}) "
        f"{body}"
    )


def _create_tables() -> None:
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("erased_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
        sa.UniqueConstraint("token", name=op.f("uq_erasure_token")),
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("who", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_slug"), "event", ["slug"], unique=False)
    op.create_table(
        "researcher",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("second_factor", sa.String(length=64), nullable=True),
        sa.Column("last_code_step", sa.Integer(), nullable=True),
        sa.Column("recovery_codes", sa.JSON(), server_default="[]", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_researcher")),
        sa.UniqueConstraint("name", name=op.f("uq_researcher_name")),
    )
    op.create_table(
        "sign_in_throttle",
        sa.Column("name_hash", sa.String(length=64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failed_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name_hash", name=op.f("pk_sign_in_throttle")),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("items_digest", sa.String(length=64), nullable=True),
        sa.Column("vectors_digest", sa.String(length=64), nullable=True),
        sa.Column("generator_version", sa.Integer(), nullable=False),
        sa.Column("packages", sa.JSON(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("opened_at", sa.DateTime(), nullable=True),
        sa.Column("closed_at", sa.DateTime(), nullable=True),
        sa.Column("admission_ended_at", sa.DateTime(), nullable=True),
        sa.Column("archived_at", sa.DateTime(), nullable=True),
        sa.Column("unblinded_at", sa.DateTime(), nullable=True),
        sa.Column("looks", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("imported_from", sa.String(length=200), nullable=True),
        sa.Column("recruitment", sa.JSON(), server_default="{}", nullable=False),
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
        "item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("snippet", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("html", sa.Text(), nullable=True),
        sa.Column("alt", sa.Text(), nullable=True),
        sa.Column("lang", sa.String(length=64), nullable=True),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_item_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
        sa.UniqueConstraint("name", name=op.f("uq_item_name")),
        sa.UniqueConstraint("study_id", "document", name=op.f("uq_item_study_id_document")),
    )
    op.create_table(
        "membership",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.CheckConstraint("role IN ('owner', 'viewer')", name=op.f("ck_membership_role_known")),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researcher.id"],
            name=op.f("fk_membership_researcher_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_membership_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_membership")),
        sa.UniqueConstraint(
            "study_id", "researcher_id", name=op.f("uq_membership_study_id_researcher_id")
        ),
    )
    op.create_index(
        op.f("ix_membership_researcher_id"), "membership", ["researcher_id"], unique=False
    )
    op.create_table(
        "picture",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("thumbnail", sa.LargeBinary(), nullable=False),
        sa.Column("larger", sa.LargeBinary(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_picture_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_picture")),
        sa.UniqueConstraint("name", name=op.f("uq_picture_name")),
        sa.UniqueConstraint("study_id", "sha256", name=op.f("uq_picture_study_id_sha256")),
    )
    op.create_table(
        "publication",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("authors", sa.JSON(), nullable=False),
        sa.Column("licence", sa.String(length=32), nullable=False),
        sa.Column("published_by", sa.String(length=64), nullable=False),
        sa.Column("published_at", sa.DateTime(), nullable=False),
        sa.Column("taken_back_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_publication_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_publication")),
    )
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.CheckConstraint("number >= 0", name=op.f("ck_question_number_counts_from_0")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_question_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_question")),
        sa.UniqueConstraint("study_id", "number", name=op.f("uq_question_study_id_number")),
    )
    op.create_table(
        "sign_in",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researcher.id"],
            name=op.f("fk_sign_in_researcher_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sign_in_token_hash")),
    )
    op.create_index(op.f("ix_sign_in_researcher_id"), "sign_in", ["researcher_id"], unique=False)
    op.create_table(
        "sign_in_link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.Column("used_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researcher.id"],
            name=op.f("fk_sign_in_link_researcher_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_link")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sign_in_link_token_hash")),
    )
    op.create_table(
        "slot_count",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_slot_count_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_slot_count")),
    )
    op.create_table(
        "topic",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("cluster_type", sa.String(length=200), nullable=True),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("narrative", sa.Text(), nullable=True),
        sa.Column("lang", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_topic_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
        sa.UniqueConstraint("study_id", "topic", name=op.f("uq_topic_study_id_topic")),
    )
    op.create_table(
        "vector",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_vector_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vector")),
        sa.UniqueConstraint("study_id", "document", name=op.f("uq_vector_study_id_document")),
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
        sa.Column("understood", sa.Boolean(), nullable=True),
        sa.Column("arm", sa.String(length=16), nullable=True),
        sa.Column("personal", sa.JSON(), nullable=False),
        sa.Column("closing", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("consent_id", sa.Integer(), nullable=True),
        sa.Column("receipt", sa.String(length=16), nullable=True),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("consented_at", sa.DateTime(), nullable=True),
        sa.Column("described_at", sa.DateTime(), nullable=True),
        sa.Column("informed_at", sa.DateTime(), nullable=True),
        sa.Column("completed_at", sa.DateTime(), nullable=True),
        sa.Column("last_seen_at", sa.DateTime(), nullable=True),
        sa.CheckConstraint(
            "(status = 'complete') = (completed_at IS NOT NULL)",
            name=op.f("ck_participant_complete_has_a_time"),
        ),
        sa.CheckConstraint(
            "status IN ('started', 'declined', 'screened_out', 'stopped', 'complete')",
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
        sa.UniqueConstraint("receipt", name=op.f("uq_participant_receipt")),
        sa.UniqueConstraint("resume_hash", name=op.f("uq_participant_resume_hash")),
        sa.UniqueConstraint(
            "study_id", "public_id", name=op.f("uq_participant_study_id_public_id")
        ),
    )
    op.create_index(op.f("ix_participant_study_id"), "participant", ["study_id"], unique=False)
    op.create_index(
        "ix_participant_under_way",
        "participant",
        ["study_id", "last_seen_at"],
        unique=False,
        sqlite_where=sa.text("consented_at IS NOT NULL AND completed_at IS NULL"),
        postgresql_where=sa.text("consented_at IS NOT NULL AND completed_at IS NULL"),
    )
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
    op.create_index(op.f("ix_browser_participant_id"), "browser", ["participant_id"], unique=False)
    op.create_table(
        "guest",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("nonce", sa.String(length=16), nullable=False),
        sa.Column("arm", sa.String(length=32), nullable=True),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name=op.f("fk_guest_participant_id"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_guest_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guest")),
        sa.UniqueConstraint("nonce", name=op.f("uq_guest_nonce")),
        sa.UniqueConstraint("participant_id", name=op.f("uq_guest_participant_id")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_guest_study_id_name")),
    )
    op.create_index(op.f("ix_guest_study_id"), "guest", ["study_id"], unique=False)
    op.create_table(
        "identity",
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("arrived_at", sa.DateTime(), nullable=True),
        sa.Column("earlier", sa.JSON(), server_default="[]", nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participant.id"],
            name=op.f("fk_identity_participant_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_identity_study_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("participant_id", name=op.f("pk_identity")),
        sa.UniqueConstraint(
            "study_id", "external_id", name=op.f("uq_identity_study_id_external_id")
        ),
    )
    op.create_table(
        "presentation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("shown_at", sa.DateTime(), nullable=True),
        sa.Column("refusals", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_refusal", sa.String(length=16), nullable=True),
        sa.Column("asked_back", sa.String(length=16), nullable=True),
        sa.CheckConstraint(
            "(refusals = 0) = (last_refusal IS NULL)",
            name=op.f("ck_presentation_refusal_has_a_kind"),
        ),
        sa.CheckConstraint("refusals BETWEEN 0 AND 9", name=op.f("ck_presentation_refusals_few")),
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
    op.create_index(
        "ix_presentation_stuck",
        "presentation",
        ["participant_id"],
        unique=False,
        sqlite_where=sa.text("refusals >= 3"),
        postgresql_where=sa.text("refusals >= 3"),
    )
    op.create_table(
        "grouping_presentation",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("order_seed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_grouping_presentation_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_grouping_presentation")),
    )
    op.create_table(
        "grouping_step",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("group_number", sa.Integer(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("merged_into", sa.Integer(), nullable=True),
        sa.Column("documents", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("groups", sa.JSON(none_as_null=True), nullable=True),
        sa.CheckConstraint(
            "(documents IS NOT NULL) = (action IN ('put', 'take'))",
            name=op.f("ck_grouping_step_moves_have_documents"),
        ),
        sa.CheckConstraint(
            "(group_number IS NOT NULL) = (action IN ('put', 'take', 'rename', 'merge'))",
            name=op.f("ck_grouping_step_group_is_named"),
        ),
        sa.CheckConstraint(
            "(groups IS NOT NULL) = (action = 'adopt')",
            name=op.f("ck_grouping_step_adopted_has_groups"),
        ),
        sa.CheckConstraint(
            "action IN ('put', 'take', 'rename', 'merge', 'adopt', 'undo', 'look')",
            name=op.f("ck_grouping_step_action_known"),
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_grouping_step_counts_from_1")),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_grouping_step_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", "number", name=op.f("pk_grouping_step")),
    )
    op.create_table(
        "labelling_presentation",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("order_seed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_labelling_presentation_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_labelling_presentation")),
    )
    op.create_table(
        "labelling_step",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=True),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("documents", sa.JSON(none_as_null=True), nullable=True),
        sa.CheckConstraint(
            "(action IN ('next', 'refine', 'seen', 'shown')) = (documents IS NOT NULL)",
            name=op.f("ck_labelling_step_batch_has_documents"),
        ),
        sa.CheckConstraint(
            "(document IS NULL) = (action <> 'mark') AND (grade IS NULL) = (action <> 'mark')",
            name=op.f("ck_labelling_step_mark_has_a_grade"),
        ),
        sa.CheckConstraint(
            "action IN ('mark', 'next', 'refine', 'turn', 'seen', 'shown')",
            name=op.f("ck_labelling_step_action_known"),
        ),
        sa.CheckConstraint("grade BETWEEN 0 AND 3", name=op.f("ck_labelling_step_grade_known")),
        sa.CheckConstraint(
            "number >= 1 AND batch >= 1", name=op.f("ck_labelling_step_counts_from_1")
        ),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_labelling_step_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", "number", name=op.f("pk_labelling_step")),
    )
    op.create_table(
        "ordering_presentation",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("label_order", sa.JSON(), nullable=False),
        sa.Column("column_order", sa.JSON(), nullable=False),
        sa.Column("list_order", sa.JSON(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("ranked_first", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("ranked_at", sa.DateTime(), nullable=True),
        sa.Column("ranked_asked", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_ordering_presentation_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_ordering_presentation")),
    )
    op.create_table(
        "preference_presentation",
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("left_list", sa.String(length=16), nullable=False),
        sa.CheckConstraint(
            "left_list IN ('A', 'B')", name=op.f("ck_preference_presentation_left_is_a_list")
        ),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f("fk_preference_presentation_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", name=op.f("pk_preference_presentation")),
    )
    op.create_table(
        "response",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(), nullable=False),
        sa.Column("active_seconds", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("asked", sa.String(length=16), nullable=True),
        sa.Column("revisions", sa.Integer(), nullable=False),
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
        "grouping_response",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.CheckConstraint("steps >= 1", name=op.f("ck_grouping_response_steps_count_from_1")),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_grouping_response_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_grouping_response")),
    )
    op.create_table(
        "labelling_response",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.CheckConstraint("steps >= 1", name=op.f("ck_labelling_response_steps_count_from_1")),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_labelling_response_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_labelling_response")),
    )
    op.create_table(
        "ordering_response",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("own", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("typed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("scores_seen", sa.Boolean(), nullable=True),
        sa.CheckConstraint(
            "(clicked = 0) = (own IS NOT NULL)",
            name=op.f("ck_ordering_response_columns_or_own_ranking"),
        ),
        sa.CheckConstraint(
            "NOT typed OR clicked <> 0", name=op.f("ck_ordering_response_typed_as_a_column")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_ordering_response_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_ordering_response")),
    )
    op.create_table(
        "preference_response",
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("preferred", sa.String(length=16), nullable=False),
        sa.Column("strength", sa.Integer(), nullable=True),
        sa.Column("satisfaction_left", sa.Integer(), nullable=True),
        sa.Column("satisfaction_right", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "preferred IN ('left', 'right', 'equal', 'neither')",
            name=op.f("ck_preference_response_preferred_known"),
        ),
        sa.CheckConstraint(
            "strength IS NULL OR preferred IN ('left', 'right')",
            name=op.f("ck_preference_response_strength_of_a_list"),
        ),
        sa.CheckConstraint(
            "(satisfaction_left IS NULL) = (satisfaction_right IS NULL)",
            name=op.f("ck_preference_response_satisfaction_with_both"),
        ),
        sa.CheckConstraint(
            "satisfaction_left BETWEEN 1 AND 5",
            name=op.f("ck_preference_response_left_from_1_to_5"),
        ),
        sa.CheckConstraint(
            "satisfaction_right BETWEEN 1 AND 5",
            name=op.f("ck_preference_response_right_from_1_to_5"),
        ),
        sa.CheckConstraint(
            "strength BETWEEN 1 AND 3", name=op.f("ck_preference_response_strength_from_1_to_3")
        ),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_preference_response_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("response_id", name=op.f("pk_preference_response")),
    )
    op.create_table(
        "revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("response_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(), nullable=False),
        sa.Column("active_seconds", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("asked", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(
            ["response_id"],
            ["response.id"],
            name=op.f("fk_revision_response_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revision")),
        sa.UniqueConstraint("response_id", "number", name=op.f("uq_revision_response_id_number")),
    )
    op.create_table(
        "grouping_revision",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.CheckConstraint("steps >= 1", name=op.f("ck_grouping_revision_steps_count_from_1")),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["revision.id"],
            name=op.f("fk_grouping_revision_revision_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", name=op.f("pk_grouping_revision")),
    )
    op.create_table(
        "labelling_revision",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.CheckConstraint("steps >= 1", name=op.f("ck_labelling_revision_steps_count_from_1")),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["revision.id"],
            name=op.f("fk_labelling_revision_revision_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", name=op.f("pk_labelling_revision")),
    )
    op.create_table(
        "ordering_revision",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("own", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("typed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("scores_seen", sa.Boolean(), nullable=True),
        sa.CheckConstraint(
            "(clicked = 0) = (own IS NOT NULL)",
            name=op.f("ck_ordering_revision_columns_or_own_ranking"),
        ),
        sa.CheckConstraint(
            "NOT typed OR clicked <> 0", name=op.f("ck_ordering_revision_typed_as_a_column")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["revision.id"],
            name=op.f("fk_ordering_revision_revision_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", name=op.f("pk_ordering_revision")),
    )
    op.create_table(
        "preference_revision",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("preferred", sa.String(length=16), nullable=False),
        sa.Column("strength", sa.Integer(), nullable=True),
        sa.Column("satisfaction_left", sa.Integer(), nullable=True),
        sa.Column("satisfaction_right", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "preferred IN ('left', 'right', 'equal', 'neither')",
            name=op.f("ck_preference_revision_preferred_known"),
        ),
        sa.CheckConstraint(
            "strength IS NULL OR preferred IN ('left', 'right')",
            name=op.f("ck_preference_revision_strength_of_a_list"),
        ),
        sa.CheckConstraint(
            "(satisfaction_left IS NULL) = (satisfaction_right IS NULL)",
            name=op.f("ck_preference_revision_satisfaction_with_both"),
        ),
        sa.CheckConstraint(
            "satisfaction_left BETWEEN 1 AND 5",
            name=op.f("ck_preference_revision_left_from_1_to_5"),
        ),
        sa.CheckConstraint(
            "satisfaction_right BETWEEN 1 AND 5",
            name=op.f("ck_preference_revision_right_from_1_to_5"),
        ),
        sa.CheckConstraint(
            "strength BETWEEN 1 AND 3", name=op.f("ck_preference_revision_strength_from_1_to_3")
        ),
        sa.ForeignKeyConstraint(
            ["revision_id"],
            ["revision.id"],
            name=op.f("fk_preference_revision_revision_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("revision_id", name=op.f("pk_preference_revision")),
    )


def downgrade() -> None:
    tables = sa.MetaData()
    tables.reflect(op.get_bind())
    for table in reversed(tables.sorted_tables):
        if table.name != "alembic_version":
            op.drop_table(table.name)
    if op.get_bind().dialect.name == "postgresql":
        for name, *_ in (*_guards(), *COUNTING):
            op.execute(f"DROP FUNCTION {name}()")
