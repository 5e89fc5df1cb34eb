"""Kinds of question ("tasks"), and the registry that finds them by name.

A kind defines here, without database or pages, its settings in a plan, its questions, how one
participant is shown a question, and its answers. Its tables in the database are registered in
survey.db.models, its files and its analysis in survey.services.exchange.bundle, its bot in
survey.services.planning.simulation, its pages in survey.web.participant.visit, each under the
same name.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Protocol, runtime_checkable

from survey.core.collections.items import FindItems, Item, Topic
from survey.core.studies.fields import Fault, Finding, UnreadablePlanError
from survey.core.studies.plan import Plan, TaskQuestion
from survey.core.tasks.grouping import Grouping
from survey.core.tasks.labelling import Labelling
from survey.core.tasks.ordering import Ordering
from survey.core.tasks.preference import Preference


class Task(Protocol):
    """A kind of question.

    ``plan``: the settings, a subclass of Plan. ``presentation``, ``answer``: frozen dataclasses
    that reject invalid values; their fields are named as the columns of the kind's tables.
    ``generator_version``: of the code that draws questions; raised when it draws different ones.
    """

    name: str
    plan: type[Plan]
    presentation: type[Any]
    answer: type[Any]
    generator_version: int

    def read_question(self, number: int, content: Mapping[str, Any]) -> TaskQuestion:
        """Return the question that ``as_json`` wrote."""

    def draw(self, plan: Any, question: Any, chance: Random) -> Any:
        """Draw how one participant is shown a question.

        ``chance``: not seeded with what a participant knows, as they can read the source.
        """

    def show(self, question: Any, presentation: Any) -> Any:
        """Return all that the participant may see: blinded, and hashable."""

    def with_items(self, plan: Any, question: Any, view: Any, find: FindItems) -> Any:
        """Add to a view what its documents and topic stand for; plans with ``has_items`` need it.

        What participants get tells neither a document's id nor its file.
        """

    def facts(self, plan: Any, generator_version: int) -> dict[str, Any]:
        """Return facts about the questions for a summary of the study, as plain values."""

    def verdict(self, plan: Any, questions: Sequence[Any]) -> str:
        """Return in half a sentence what the questions can tell, for the top of a check."""

    def findings(self, plan: Any, questions: Sequence[Any]) -> Iterable[Finding]:
        """Return findings on the questions, for researchers before the study opens."""

    def usual_variant(self, plan: Any) -> str:
        """Name the variant in which a preview shows questions by default."""

    def draw_variant(self, plan: Any, question: Any, variant: str) -> Any:
        """Return the presentation of a named variant; raises ValueError for an unknown one."""

    def describe(self, plan: Any, view: Any, presentation: Any) -> dict[str, Any]:
        """Return what a participant was shown as plain values, for their own data."""

    def describe_answer(self, answer: Any) -> dict[str, Any]:
        """Return an answer as plain values, for the participant's own data."""


@runtime_checkable
class WithQueue(Protocol):
    """A kind whose plan has a ``queue_arm``: its questions depend on the others' answers."""

    def is_due(self, plan: Any, question: Any, earlier: Sequence[Any]) -> bool:
        """Return whether that arm is asked a question, from the first two presentations of it."""


@runtime_checkable
class WithItemFindings(Protocol):
    """A kind that not every collection of documents suits, though all of it can be shown."""

    def item_findings(
        self, plan: Any, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterable[Finding]:
        """Return findings on a study's documents and topics, before it opens."""


TASKS: dict[str, Task] = {
    "ordering": Ordering(),
    "labelling": Labelling(),
    "grouping": Grouping(),
    "preference": Preference(),
}
DEFAULT = "ordering"


def plan_from_json(stored: Mapping[str, Any], *, registered: bool = True) -> Plan:
    """Make a plan of the kind that its values name, ordering by default.

    Raises UnreadablePlanError, or PlanError as ``Plan.from_json`` does, which also explains
    ``registered``.
    """
    kind = stored.get("kind", DEFAULT)
    if not has_known_kind(stored):
        known = ", ".join(TASKS)
        text = (
            f"kind is {kind!r}; allowed is {known}; a kind of another package needs that "
            "package's program"
        )
        raise UnreadablePlanError([Fault(("kind",), text)])
    return TASKS[kind].plan.from_json(stored, registered=registered)


def has_known_kind(stored: Mapping[str, Any]) -> bool:
    """Return whether the kind that a plan's values name is registered."""
    kind = stored.get("kind", DEFAULT)
    return isinstance(kind, str) and kind in TASKS


@lru_cache(maxsize=100)
def read_stored_plan(text: str) -> Plan:
    """Return the plan whose values a database stores as JSON; it may name missing measures."""
    return plan_from_json(json.loads(text), registered=False)


def task_of(plan: Plan) -> Task:
    """Return the kind of a plan's questions."""
    return TASKS[plan.kind]
