"""What a page asked back, for all kinds; typed orderings, scores seen; documents that were in view.

Revision: 0019, after 0018.
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

PARTS = ("response", "revision")
RULES = {
    "action_known": (
        "action IN ('mark', 'next', 'refine', 'turn')",
        "action IN ('mark', 'next', 'refine', 'turn', 'seen', 'shown')",
    ),
    "batch_has_documents": (
        "(action IN ('next', 'refine')) = (documents IS NOT NULL)",
        "(action IN ('next', 'refine', 'seen', 'shown')) = (documents IS NOT NULL)",
    ),
}


def upgrade() -> None:
    op.add_column("ordering_presentation", sa.Column("ranked_asked", sa.String(16)))
    for part in PARTS:
        own = f"ordering_{part}"
        shared, ordering = _tables(part)
        op.add_column(part, sa.Column("asked", sa.String(16)))
        of_ordering = sa.select(ordering.c.asked).where(ordering.c[f"{part}_id"] == shared.c.id)
        op.execute(shared.update().values(asked=of_ordering.scalar_subquery()))
        op.execute(
            f"ALTER TABLE {own} ADD COLUMN typed BOOLEAN DEFAULT false NOT NULL "
            f"CONSTRAINT ck_{own}_typed_as_a_column CHECK (NOT typed OR clicked <> 0)"
        )
        is_match = (ordering.c.asked == "equal") & (ordering.c.clicked != 0)
        op.execute(ordering.update().values(typed=sa.true()).where(is_match))
        op.add_column(own, sa.Column("scores_seen", sa.Boolean()))
        op.drop_column(own, "asked")
    _restrict_steps(1)


def downgrade() -> None:
    op.execute("DELETE FROM labelling_step WHERE action IN ('seen', 'shown')")
    _restrict_steps(0)
    for part in PARTS:
        own = f"ordering_{part}"
        shared, ordering = _tables(part)
        op.execute(
            f"ALTER TABLE {own} ADD COLUMN asked VARCHAR(9) CONSTRAINT ck_{own}_asked_known "
            "CHECK (asked IN ('equal', 'differing'))"
        )
        known_before = sa.select(shared.c.asked).where(
            shared.c.id == ordering.c[f"{part}_id"], shared.c.asked.in_(("equal", "differing"))
        )
        op.execute(ordering.update().values(asked=known_before.scalar_subquery()))
        op.drop_column(own, "scores_seen")
        op.drop_column(own, "typed")
        op.drop_column(part, "asked")
    op.drop_column("ordering_presentation", "ranked_asked")


def _tables(part: str) -> tuple[sa.TableClause, sa.TableClause]:
    """Return a table that all kinds share and that of ordering, as far as is needed here."""
    columns = (f"{part}_id", "asked", "clicked", "typed")
    return (
        sa.table(part, sa.column("id"), sa.column("asked")),
        sa.table(f"ordering_{part}", *map(sa.column, columns)),
    )


def _restrict_steps(version: int) -> None:
    """Give the steps of labelling the rules of a version; SQLite needs a copy of the table."""
    if op.get_bind().dialect.name != "sqlite":
        for name, both in RULES.items():
            rule = op.f(f"ck_labelling_step_{name}")
            op.drop_constraint(rule, "labelling_step")
            op.create_check_constraint(rule, "labelling_step", both[version])
        return
    rules = {
        "counts_from_1": "number >= 1 AND batch >= 1",
        "mark_has_a_grade": (
            "(document IS NULL) = (action <> 'mark') AND (grade IS NULL) = (action <> 'mark')"
        ),
        "grade_known": "grade BETWEEN 0 AND 3",
        **{name: both[version] for name, both in RULES.items()},
    }
    table = sa.Table(
        "labelling_step",
        sa.MetaData(),
        sa.Column("presentation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("saved_at", sa.DateTime(), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text()),
        sa.Column("grade", sa.Integer()),
        sa.Column("documents", sa.JSON()),
        sa.PrimaryKeyConstraint("presentation_id", "number", name="pk_labelling_step"),
        sa.ForeignKeyConstraint(
            ["presentation_id"],
            ["presentation.id"],
            name="fk_labelling_step_presentation_id",
            ondelete="CASCADE",
        ),
        *(
            sa.CheckConstraint(rule, name=op.f(f"ck_labelling_step_{name}"))
            for name, rule in rules.items()
        ),
    )
    with op.batch_alter_table("labelling_step", copy_from=table, recreate="always"):
        pass  # the table is copied into one with the rules above
