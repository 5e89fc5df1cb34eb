"""The kind of question "ordering": which measures order ranked lists as the participant does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from survey.core.studies.faults import Finding
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import Plan
from survey.core.studies.questions import BlindedQuestion, Blinding, Question, blind, draw_blinding
from survey.core.studies.rankings import Ranking
from survey.core.tasks.ordering_checks import ordering_findings
from survey.core.tasks.ordering_plan import OrderingPlan


@dataclass(frozen=True)
class OrderingPresentation:
    """How one participant is shown one question.

    ``label_order``, ``column_order``, ``list_order``: see ``Blinding``. ``shown``: for each label
    the values as printed, in the order of the letters. ``ranked_first``: the ranking given
    before the columns were shown, at ``ranked_at``, in studies that ask for one.
    """

    label_order: Sequence[str]
    column_order: Sequence[int]
    list_order: Sequence[str]
    shown: Sequence[Sequence[str]]
    ranked_first: Ranking | None = None
    ranked_at: datetime | None = None

    @property
    def blinding(self) -> Blinding:
        """The three orders as a ``Blinding``."""
        return Blinding(tuple(self.label_order), tuple(self.column_order), tuple(self.list_order))


@dataclass(frozen=True)
class OrderingAnswer:
    """The labels that were ticked, or an own ordering; raises ValueError for both or neither."""

    clicked: frozenset[int]
    own: Ranking | None

    def __post_init__(self) -> None:
        if bool(self.clicked) == (self.own is not None):
            raise ValueError("an answer ticks columns or gives an own ranking, one of the two")


class Ordering:
    """The kind of question "ordering", for the registry."""

    name = "ordering"
    plan: type[Plan] = OrderingPlan
    presentation: type[Any] = OrderingPresentation
    answer: type[Any] = OrderingAnswer
    generator_version = GENERATOR_VERSION

    def read_question(self, number: int, content: Mapping[str, Any]) -> Question:
        """Return the question that a row or a file holds."""
        return Question.from_json(number, content)

    def draw(self, plan: OrderingPlan, question: Question, chance: Random) -> OrderingPresentation:
        """Draw how one participant is shown a question."""
        blinding = draw_blinding(
            plan.measures, plan.letters, chance, shuffle_lists=plan.shuffle_lists
        )
        return OrderingPresentation(
            label_order=list(blinding.label_order),
            column_order=list(blinding.column_order),
            list_order=list(blinding.list_order),
            shown=[list(question.columns[name].shown) for name in blinding.label_order],
        )

    def show(self, question: Question, presentation: OrderingPresentation) -> BlindedQuestion:
        """Return all that the participant may see of the question."""
        return blind(question, presentation.blinding, presentation.shown)

    def facts(self, plan: OrderingPlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its questions."""
        return {
            "measures": " ".join(plan.measures),
            "lists": plan.lists,
            "relevant": plan.relevant,
            "collection_size": plan.collection_size,
            "generator": f"{plan.generator} (version {generator_version})",
        }

    def findings(self, plan: OrderingPlan, questions: Sequence[Question]) -> list[Finding]:
        """Return findings on how far the questions separate the measures, and on their marks."""
        return ordering_findings(plan, questions)

    def usual_variant(self, plan: OrderingPlan) -> str:
        """Name the label order in which the plan's first measure is Method 1, and so on."""
        return "".join(str(number) for number in range(1, len(plan.measures) + 1))

    def draw_variant(
        self, plan: OrderingPlan, question: Question, variant: str
    ) -> OrderingPresentation:
        """Return a presentation with this label order: "213" puts the second measure first."""
        usual = self.usual_variant(plan)
        if sorted(variant) != sorted(usual):
            raise ValueError(f"{variant!r} is no order of {usual}")
        labels = [plan.measures[int(label) - 1] for label in variant]
        return OrderingPresentation(
            label_order=labels,
            column_order=list(range(1, len(plan.measures) + 1)),
            list_order=plan.letters,
            shown=[question.columns[name].shown for name in labels],
        )

    def describe(
        self, plan: OrderingPlan, view: BlindedQuestion, presentation: OrderingPresentation
    ) -> dict[str, Any]:
        """Return what a participant was shown; the methods only once their page showed them."""
        hidden = plan.rank_first and presentation.ranked_at is None
        return {
            "lists": {letter: list(ranks) for letter, ranks in view.rows},
            "methods": [
                {"label": column.label, "values": dict(column.shown), "order": str(column.ranking)}
                for column in view.columns
                if not hidden
            ],
            "ranked_before": _notation(presentation.ranked_first),
            "ranked_before_at": presentation.ranked_at and presentation.ranked_at.isoformat(),
        }

    def describe_answer(self, answer: OrderingAnswer) -> dict[str, Any]:
        """Return the labels that were ticked, and the own ordering in notation."""
        return {"ticked": sorted(answer.clicked), "own_ordering": _notation(answer.own)}


def _notation(ranking: Ranking | None) -> str | None:
    return None if ranking is None else str(ranking)
