"""Researchers and their studies; recruitment; nothing frozen can change.

Revision: 0002, after 0001.
"""

import re
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

FROZEN = "a study that was opened cannot change; copy it to change it"
STUDY_CHANGES = (
    "OLD.status <> 'draft' AND (NEW.status = 'draft' OR CAST(NEW.plan AS TEXT) <> "
    "CAST(OLD.plan AS TEXT) OR NEW.digest <> OLD.digest OR NEW.digest IS NULL "
    "OR NEW.slug <> OLD.slug OR NEW.generator_version <> OLD.generator_version)"
)
IS_FROZEN = "EXISTS (SELECT 1 FROM study WHERE id = {row}.study_id AND status <> 'draft')"
CHANGES = (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD"))
PARTS = ("question", "consent_text")
UNIQUE = ("uq_participant_public_id", "uq_participant_study_id_public_id")


def upgrade() -> None:
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
    op.create_index("ix_event_slug", "event", ["slug"])

    op.create_table(
        "researcher",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
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
    op.create_index("ix_membership_researcher_id", "membership", ["researcher_id"])

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
    op.create_index("ix_sign_in_researcher_id", "sign_in", ["researcher_id"])

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
        "guest",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("nonce", sa.String(length=16), nullable=False),
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
    op.create_index("ix_guest_study_id", "guest", ["study_id"])

    op.create_table(
        "identity",
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(length=200), nullable=True),
        sa.Column("parameters", sa.JSON(), nullable=False),
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
    op.add_column("participant", sa.Column("last_seen_at", sa.DateTime(), nullable=True))

    op.add_column(
        "presentation", sa.Column("ranked_first", sa.JSON(none_as_null=True), nullable=True)
    )
    op.add_column("presentation", sa.Column("ranked_at", sa.DateTime(), nullable=True))

    op.add_column("study", sa.Column("archived_at", sa.DateTime(), nullable=True))
    op.add_column("study", sa.Column("unblinded_at", sa.DateTime(), nullable=True))
    op.add_column("study", sa.Column("imported_from", sa.String(length=200), nullable=True))
    op.add_column("study", sa.Column("recruitment", sa.JSON(), server_default="{}", nullable=False))

    statuses = "'started', 'declined', 'screened_out', 'complete'"
    _change_participant(statuses, UNIQUE[1], "study_id, public_id")
    for name, table, change, condition in _triggers():
        _create_trigger(name, table, change, condition)


def _change_participant(statuses: str, unique_name: str, unique: str) -> None:
    """Allow other statuses, and make the public id unique elsewhere; SQLite copies the table."""
    name, check = "ck_participant_status_known", f"status IN ({statuses})"
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"ALTER TABLE participant DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE participant ADD CONSTRAINT {name} CHECK ({check})")
        for old in UNIQUE:
            op.execute(f"ALTER TABLE participant DROP CONSTRAINT IF EXISTS {old}")
        op.execute(f"ALTER TABLE participant ADD CONSTRAINT {unique_name} UNIQUE ({unique})")
        return
    stored = op.get_bind().execute(
        sa.text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'participant'")
    )
    copy = re.sub(r"status IN \([^)]*\)", check, stored.scalar_one(), count=1)
    copy = re.sub(
        rf"CONSTRAINT ({'|'.join(UNIQUE)}) UNIQUE \([^)]*\)",
        f"CONSTRAINT {unique_name} UNIQUE ({unique})",
        copy,
    )
    op.execute(re.sub(r'CREATE TABLE "?participant"?', "CREATE TABLE participant_copy", copy))
    op.execute("INSERT INTO participant_copy SELECT * FROM participant")
    op.execute("DROP TABLE participant")
    op.execute("ALTER TABLE participant_copy RENAME TO participant")
    op.create_index("ix_participant_study_id", "participant", ["study_id"])


def _triggers() -> Iterator[tuple[str, str, str, str]]:
    """Yield name, table, change and condition of the triggers that keep studies frozen."""
    yield "study_frozen_update", "study", "UPDATE", STUDY_CHANGES
    for part in PARTS:
        for change, row in CHANGES:
            condition = IS_FROZEN.format(row=row)
            yield f"{part}_frozen_{change.lower()}", part, change, condition
    # Events are only ever added.
    yield "event_kept_update", "event", "UPDATE", "TRUE"
    yield "event_kept_delete", "event", "DELETE", "TRUE"


def _create_trigger(name: str, table: str, change: str, condition: str) -> None:
    message = FROZEN if table != "event" else "events are never changed or removed"
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


def _drop_trigger(name: str, table: str) -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"DROP TRIGGER {name}")
    else:
        op.execute(f"DROP TRIGGER {name} ON {table}")
        op.execute(f"DROP FUNCTION {name}()")


def downgrade() -> None:
    for name, table, _, _ in _triggers():
        _drop_trigger(name, table)
    _change_participant("'started', 'declined', 'complete'", UNIQUE[0], "public_id")
    op.drop_column("study", "recruitment")
    op.drop_column("study", "imported_from")
    op.drop_column("study", "unblinded_at")
    op.drop_column("study", "archived_at")

    op.drop_column("presentation", "ranked_at")
    op.drop_column("presentation", "ranked_first")

    op.drop_column("participant", "last_seen_at")

    op.drop_table("identity")
    op.drop_table("guest")
    op.drop_table("sign_in_link")
    op.drop_table("sign_in")
    op.drop_table("membership")
    op.drop_table("sign_in_throttle")
    op.drop_table("researcher")
    op.drop_table("event")
