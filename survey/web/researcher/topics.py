"""A study's topics as a table in the form of its plan, each with a tick."""

from collections.abc import Sequence

from wtforms import Field, SelectMultipleField

from survey.core.kind import TopicRow


class TopicsField(SelectMultipleField):  # type: ignore[misc] # WTForms has no type hints
    """The topics that are ticked; the page has a row for each topic that there is."""

    @classmethod
    def made(cls) -> Field:
        """Return the control of a plan's form."""
        return cls("Topics", choices=[], validate_choice=False)

    def rows(self, topics: Sequence[TopicRow]) -> list[TopicRow]:
        """Return a row for each topic, also for those that were sent and are not known."""
        known = {row.value for row in topics}
        others = [value for value in self.data or [] if value not in known]
        return [*topics, *(TopicRow(each, each.split()[0], "") for each in others if each.split())]
