"""Participants who stop, and participants who are erased.

Revision: 0003, after 0002.
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BEFORE = "'started', 'declined', 'screened_out', 'complete'"
AFTER = "'started', 'declined', 'screened_out', 'stopped', 'complete'"
# An event stays as it was written; but whom it names may have been erased.
ONLY_ERASED = (
    "NOT (NEW.id = OLD.id AND NEW.slug = OLD.slug AND NEW.who = OLD.who AND NEW.at = OLD.at "
    "AND NEW.kind = OLD.kind AND NEW.detail = 'a participant who was erased')"
)
MESSAGE = "events are never changed or removed"


def upgrade() -> None:
    op.create_table(
        "erasure",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=64), nullable=False),
        sa.Column("erased_on", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
        sa.UniqueConstraint("token", name=op.f("uq_erasure_token")),
    )
    _allow_statuses(AFTER)
    _guard_events(ONLY_ERASED)


def downgrade() -> None:
    _guard_events("TRUE")
    op.execute("UPDATE participant SET status = 'started' WHERE status = 'stopped'")
    _allow_statuses(BEFORE)
    op.drop_table("erasure")


def _allow_statuses(statuses: str) -> None:
    """Change the CHECK on a participant's status; SQLite copies the table for that."""
    name, check = "ck_participant_status_known", f"status IN ({statuses})"
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"ALTER TABLE participant DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE participant ADD CONSTRAINT {name} CHECK ({check})")
        return
    stored = op.get_bind().execute(
        sa.text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'participant'")
    )
    copy = re.sub(r"status IN \([^)]*\)", check, stored.scalar_one(), count=1)
    op.execute(re.sub(r'CREATE TABLE "?participant"?', "CREATE TABLE participant_copy", copy))
    op.execute("INSERT INTO participant_copy SELECT * FROM participant")
    op.execute("DROP TABLE participant")
    op.execute("ALTER TABLE participant_copy RENAME TO participant")
    op.create_index("ix_participant_study_id", "participant", ["study_id"])


def _guard_events(condition: str) -> None:
    """Refuse changes of events under this condition."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER event_kept_update")
        op.execute(
            f"CREATE TRIGGER event_kept_update BEFORE UPDATE ON event WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION event_kept_update() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN IF {condition} THEN RAISE EXCEPTION '{MESSAGE}' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $$"
    )
