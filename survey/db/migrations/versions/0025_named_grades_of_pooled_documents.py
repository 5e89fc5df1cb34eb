"""Grades up to 9 in labelling, and documents that an annotator cannot judge.

Revision: 0025, after 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

TABLE = "labelling_step"
MARK = "(document IS NULL) = (action <> 'mark') AND (grade IS NULL) = (action <> 'mark')"
ACTIONS = "'mark', 'next', 'refine', 'turn', 'seen', 'shown'"
BEFORE = {
    "mark_has_a_grade": MARK,
    "action_known": f"action IN ({ACTIONS})",
    "grade_known": "grade BETWEEN 0 AND 3",
}
AFTER = {
    "mark_has_a_grade": (
        "(document IS NULL) = (action NOT IN ('mark', 'cannot')) "
        "AND (grade IS NULL) = (action <> 'mark')"
    ),
    "action_known": f"action IN ({ACTIONS}, 'cannot')",
    "grade_known": "grade BETWEEN 0 AND 9",
}
KEPT = {
    "batch_has_documents": (
        "(action IN ('next', 'refine', 'seen', 'shown')) = (documents IS NOT NULL)"
    ),
    "counts_from_1": "number >= 1 AND batch >= 1",
}


def upgrade() -> None:
    """Allow them."""
    _replace_checks(AFTER)


def downgrade() -> None:
    """Allow grades up to 3 only."""
    _replace_checks(BEFORE)


def _replace_checks(checks: dict[str, str]) -> None:
    """Replace the checks of the steps; SQLite has to copy the table, which has no trigger."""
    if op.get_bind().dialect.name == "sqlite":
        with op.batch_alter_table(TABLE, copy_from=_table({**KEPT, **checks}), recreate="always"):
            pass
        return
    for name, check in checks.items():
        op.drop_constraint(op.f(f"ck_{TABLE}_{name}"), TABLE, type_="check")
        op.create_check_constraint(op.f(f"ck_{TABLE}_{name}"), TABLE, check)


def _table(checks: dict[str, str]) -> sa.Table:
    return sa.Table(
        TABLE,
        sa.MetaData(),
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=True),
        sa.Column("grade", sa.Integer(), nullable=True),
        sa.Column("documents", sa.JSON(none_as_null=True), nullable=True),
        *(
            sa.CheckConstraint(check, name=op.f(f"ck_{TABLE}_{name}"))
            for name, check in checks.items()
        ),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name=op.f(f"fk_{TABLE}_presentation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("presentation_id", "number", name=op.f(f"pk_{TABLE}")),
    )
