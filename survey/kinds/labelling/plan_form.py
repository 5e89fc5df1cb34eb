"""The form of a labelling study's plan, with a table of its topics."""

from typing import ClassVar

from survey.core.studies.plan import Plan
from survey.web.researcher.plan import PlanForm
from survey.web.researcher.topics import TopicsField


class LabellingForm(PlanForm):
    """All fields of a labelling plan; its topics are ticked in a table."""

    controls: ClassVar = PlanForm.controls | {"topics": TopicsField.made}

    @classmethod
    def data_of(cls, plan: Plan) -> dict[str, object]:
        """See ``PlanForm.data_of``."""
        return super().data_of(plan) | {"topics": [*getattr(plan, "topics", ())]}

    def values(self, current: Plan) -> dict[str, object]:
        """See ``PlanForm.values``; a value may hold several ids, one in a line."""
        words = [word for value in self.topics.data or [] for word in value.split()]
        return super().values(current) | {"topics": words}
