"""The form of a grouping study's plan, with a table of its topics."""

import re
from typing import ClassVar

from survey.core.studies.plan import Plan
from survey.services.studies import plans
from survey.web.researcher.plan import PlanForm, TopicsField

YAML = re.compile(r"\A\s*(- |\S+:(\s|\Z)|\S+\s*\Z)")


class GroupingForm(PlanForm):
    """All fields of a grouping plan; a ticked topic brings its documents along."""

    controls: ClassVar = PlanForm.controls | {"topics": TopicsField.made}

    @classmethod
    def data_of(cls, plan: Plan) -> dict[str, object]:
        """See ``PlanForm.data_of``."""
        topics = getattr(plan, "topics", ())
        values = [" ".join([topic, *documents]) for topic, documents in topics]
        return super().data_of(plan) | {"topics": values}

    def values(self, current: Plan) -> dict[str, object]:
        """See ``PlanForm.values``; a single value may be a plan file's text of topics."""
        values: object = self.topics.data or []
        if len(self.topics.data or []) == 1 and YAML.search(self.topics.data[0]):
            values = plans.parse_nested("topics", self.topics.data[0])
        elif self.topics.data:
            words = (value.split() for value in self.topics.data)
            values = [(topic, documents) for topic, *documents in filter(None, words)]
        return super().values(current) | {"topics": values}
