"""The form of a labelling study's plan: a table of its topics, and the order of a pool."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from wtforms import Field, RadioField, SelectChoice

from survey.core.collections.pools import ORDERS, RANDOM
from survey.core.studies.plan import Plan
from survey.web.researcher.plan import PLAN_STEPS, Part, PlanForm, PlanStep, TopicsField

ORDER = "pool_order"
POOLED = (
    *(ORDER, "documents_asked", "rejudge", "grades", "cannot_judge", "gold_share"),
    *("relevant_from", "chunk", "judges", "overlap"),
)
POOLED_HELP = (
    "Where people judge the first documents of runs, or those of a file. The files themselves come "
    "with a new study: pool, earlier judgements, gold documents."
)


def _steps() -> Iterator[tuple[str, PlanStep]]:
    for name, step in PLAN_STEPS.items():
        part = Part("Pooled documents", POOLED, True, POOLED_HELP)
        yield name, step._replace(parts=(*step.parts, part)) if name == "how" else step


class LabellingPlanForm(PlanForm):
    """All fields of a labelling plan but what comes from files: pool, judgements, gold.

    Its topics are ticked in a table.
    """

    steps: ClassVar[Mapping[str, PlanStep]] = dict(_steps())
    controls: ClassVar[dict[str, Callable[[], Field]]] = PlanForm.controls | {
        "topics": TopicsField.made,
        ORDER: partial(
            RadioField,
            "In which order",
            choices=[SelectChoice(*order) for order in ORDERS.items()],
            validate_choice=False,
        ),
    }

    @classmethod
    def data_of(cls, plan: Plan) -> dict[str, object]:
        """See ``PlanForm.data_of``."""
        pool = getattr(plan, "pool", None)
        topics = [*getattr(plan, "topics", ())]
        return super().data_of(plan) | {"topics": topics, ORDER: pool.order if pool else RANDOM}

    def values(self, current: Plan) -> dict[str, object]:
        """See ``PlanForm.values``; the pool stays, in the order that was chosen.

        A value of the topics may hold several ids, one in a line.
        """
        words = [word for value in self.topics.data or [] for word in value.split()]
        typed = super().values(current) | {"topics": words}
        typed.pop(ORDER, None)
        pool: Any = getattr(current, "pool", None)
        return typed | (
            {"pool": replace(pool, order=self[ORDER].data or pool.order)} if pool else {}
        )
