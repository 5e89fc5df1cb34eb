"""A count of each study's complete participants, and an index of those under way.

Revision: 0011, after 0010.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

UNDER_WAY = "consented_at IS NOT NULL AND completed_at IS NULL"
COUNTS = "({row}status = 'complete' AND NOT {row}excluded AND NOT {row}is_test)"
NEW, OLD = COUNTS.format(row="NEW."), COUNTS.format(row="OLD.")
FILL = (
    "INSERT INTO slot_count (study_id, complete) VALUES (NEW.study_id, 1) "
    "ON CONFLICT (study_id) DO UPDATE SET complete = slot_count.complete + 1;"
)
FREE = "UPDATE slot_count SET complete = complete - 1 WHERE study_id = OLD.study_id;"
CHANGE = "UPDATE OF status, excluded, is_test"
# No one is inserted complete but by an import, and imported studies have no slots.
TRIGGERS = (
    ("slot_filled", CHANGE, f"{NEW} AND NOT {OLD}", FILL),
    ("slot_freed", CHANGE, f"{OLD} AND NOT {NEW}", FREE),
    ("slot_erased", "DELETE", OLD, FREE),
)


def upgrade() -> None:
    op.create_index(
        "ix_participant_under_way",
        "participant",
        ["study_id", "last_seen_at"],
        sqlite_where=sa.text(UNDER_WAY),
        postgresql_where=sa.text(UNDER_WAY),
    )
    op.create_table(
        "slot_count",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_slot_count")),
        sa.ForeignKeyConstraint(
            ["study_id"], ["study.id"], name=op.f("fk_slot_count_study_id"), ondelete="CASCADE"
        ),
    )
    op.execute(
        "INSERT INTO slot_count (study_id, complete) SELECT study_id, count(*) "
        "FROM participant WHERE status = 'complete' AND NOT excluded AND NOT is_test "
        "GROUP BY study_id"
    )
    for name, change, condition, action in TRIGGERS:
        if op.get_bind().dialect.name == "sqlite":
            body = f"BEGIN {action} END"
        else:
            body = f"EXECUTE FUNCTION {name}()"
            op.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"{action} RETURN NULL; END $$"
            )
        op.execute(
            f"CREATE TRIGGER {name} AFTER {change} ON participant FOR EACH ROW "
            f"WHEN ({condition}) {body}"
        )


def downgrade() -> None:
    for name, *_ in TRIGGERS:
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER {name}")
        else:
            op.execute(f"DROP TRIGGER {name} ON participant")
            op.execute(f"DROP FUNCTION {name}()")
    op.drop_table("slot_count")
    op.drop_index("ix_participant_under_way", "participant")
