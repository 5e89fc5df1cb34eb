"""The kind of question "ordering": which measures order ranked lists as the participant does."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any

from survey.core.agreement.concordance import combined_order
from survey.core.agreement.credits import chance_credits
from survey.core.agreement.differences import pairs
from survey.core.agreement.quality import HALF_OF_PAIRS
from survey.core.collections.items import FindItems, Item, Result, Topic
from survey.core.measures import MEASURES, Setting
from survey.core.statistics.rater_agreement import agreement_rate
from survey.core.studies.fields import Finding, list_words
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import OBVIOUS, Check
from survey.core.studies.question_checks import (
    QuestionCheck,
    compare_orders,
    printing_findings,
    texts_in_grid,
)
from survey.core.studies.questions import (
    BlindedQuestion,
    Marks,
    MeasureColumn,
    Question,
    blind,
    build_question,
    draw_blinding,
    rankings_of,
    reversed_pairs,
)
from survey.core.studies.rankings import Ranking
from survey.core.ways_in import JUDGEMENTS, LISTS, RUNS, Sources
from survey.kinds import Kind, Protocol, Results
from survey.kinds.ordering import findings
from survey.kinds.ordering.answer import OrderingAnswer, OrderingPresentation
from survey.kinds.ordering.bot import OrderingBot
from survey.kinds.ordering.departures import departures_of
from survey.kinds.ordering.files import OrderingFiles
from survey.kinds.ordering.findings import obvious_order
from survey.kinds.ordering.machine import OrderingMachine
from survey.kinds.ordering.models import TABLES
from survey.kinds.ordering.pages import OrderingPages
from survey.kinds.ordering.plan import AFTER, CORRECTION, NEVER, SCOPE, TEST, OrderingPlan
from survey.kinds.ordering.practice import practice_lists, with_documents
from survey.kinds.ordering.ways_in import WAYS_IN, begin
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.tables import Content
from survey.services.studies.plans import preset_values

# Without other values of these a study shows the paper's scores.
OF_PAPER = ("measures", "generator", "own_lists", "marks")


class OrderingKind(  # type: ignore[misc] # each part has types of its own
    OrderingFiles, OrderingBot, OrderingMachine, OrderingPages, Kind[Any, Any, Any, Any]
):
    """Participants tick the orders that equal their own, or give their own.

    Tables, files, simulated answers and pages do not follow from declared fields here: each of them
    is written out in a module of this package.
    """

    name = "ordering"
    plan = OrderingPlan
    question = Question
    presentation = OrderingPresentation
    answer = OrderingAnswer
    generator_version = GENERATOR_VERSION
    has_power = True
    tables = TABLES
    ways_in, takes, preset = WAYS_IN, (JUDGEMENTS, RUNS, LISTS), "mnro"

    def begin(self, sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
        """See ``Declaration.begin``."""
        return begin(sources, changes)

    def preset_for(self, sources: Sources, changes: Mapping[str, object]) -> str:
        """See ``Declaration.preset_for``."""
        if not sources.names & {*self.takes}:
            return self.preset
        return "pictures" if sources.shows_documents else "runs"

    def unless_preset(self, changes: Mapping[str, object]) -> dict[str, Any]:
        """Hide the scores, unless all else is the paper's: they could tell the methods."""
        paper = preset_values(self.preset)
        is_as_paper = all(
            changes.get(each, paper.get(each)) == paper.get(each) for each in OF_PAPER
        )
        return {} if is_as_paper else {"show_values": False}

    def fitted_preset(self, plan: OrderingPlan) -> str:
        """See ``Declaration.fitted_preset``; texts about drawn lists stay as they are."""
        return "runs" if plan.own_lists else ""

    def protocol(self, plan: OrderingPlan) -> Protocol:
        """See ``Declaration.protocol``."""
        outcome = (
            "which measures a participant's answer credits: those whose order of a question's "
            "lists equals that of a ticked method; an order of one's own credits none"
        )
        if plan.only_ordered:
            outcome = (
                "on how many pairs of lists a measure's order agrees with the participant's own"
            )
        drawn = ["which measure stands behind which label"]
        drawn += ["the order of the columns"] if plan.shuffle_columns else []
        drawn += ["the order of the lists"] if plan.shuffle_lists else []
        return Protocol(
            outcome=outcome,
            conditions=f"the measure ({', '.join(plan.measures)}) by which the lists are ordered",
            randomised="; ".join(drawn),
            pairs=tuple(map(str, pairs(plan.measures))),
            primary=plan.primary,
            smallest=plan.smallest_difference,
            scope=SCOPE,
            test=TEST,
            correction=CORRECTION,
        )

    def question_checks(self, questions: Iterable[Question]) -> list[QuestionCheck]:
        """See ``Declaration.question_checks``."""
        return compare_orders(questions)

    def headings(self, plan: OrderingPlan) -> dict[str, str]:
        """Return the heading of each measure's values: 1-AP for AP, so that lower is better."""
        return {
            name: MEASURES[name].shown_as if name in MEASURES else name for name in plan.measures
        }

    def chance_advantage(
        self, plan: OrderingPlan, questions: Sequence[Question]
    ) -> dict[str, float]:
        """Return the expected credits per response if participants click columns at random."""
        return chance_credits(rankings_of(questions), plan.measures)

    def read_question(self, number: int, content: Mapping[str, Any]) -> Question:
        """Return the question that a row or a file holds."""
        return Question.from_json(number, content)

    def draw(self, plan: OrderingPlan, question: Question, chance: Random) -> OrderingPresentation:
        """Draw how one participant is shown a question."""
        blinding = draw_blinding(
            plan.measures,
            plan.letters,
            chance,
            shuffle_columns=plan.shuffle_columns,
            shuffle_lists=plan.shuffle_lists,
        )
        return OrderingPresentation(
            label_order=list(blinding.label_order),
            column_order=list(blinding.column_order),
            list_order=list(blinding.list_order),
            shown=[*map(list, _printed(plan, question, blinding.label_order))],
        )

    def show(self, question: Question, presentation: OrderingPresentation) -> BlindedQuestion:
        """Return all that the participant may see of the question."""
        return blind(question, presentation.blinding, presentation.shown)

    def with_items(
        self, plan: OrderingPlan, question: Question, view: BlindedQuestion, find: FindItems
    ) -> BlindedQuestion:
        """See ``Declaration.with_items``."""
        source = question.source
        if source is None:  # the question of the practice is drawn without documents
            return with_documents(plan, view, find) if question.number == 0 else view
        documents = source.documents
        items, topic = find(
            {document for row in documents.values() for document in row}, source.topic
        )
        return replace(
            view,
            results=tuple(
                tuple(
                    Result(
                        rank,
                        items.get(document),
                        rank in question.lists[letter] if plan.mark_relevant else None,
                    )
                    for rank, document in enumerate(documents[letter], 1)
                )
                for letter in view.letters
            ),
            topic=topic,
        )

    def practice_view(self, plan: OrderingPlan, view: BlindedQuestion) -> BlindedQuestion:
        """See ``Declaration.practice_view``."""
        return practice_lists(view)

    def facts(self, plan: OrderingPlan, generator_version: int) -> dict[str, Any]:
        """Return what a summary of the study says of its questions."""
        return {
            "measures": " ".join(plan.measures),
            "lists": plan.lists,
            "relevant": plan.relevant,
            "collection_size": plan.collection_size,
            "generator": f"{plan.generator} (version {generator_version})",
        }

    def verdict(self, plan: OrderingPlan, questions: Sequence[Question]) -> str:
        """Return in how many questions that count all measures order the lists differently."""
        separated = [
            check.separated
            for check in compare_orders(questions)
            if 0 < check.question.number <= plan.questions
        ]
        counts = {name: separated.count(name) for name in ("all", "some", "none")}
        less = f"; in {counts['some']} only some of them do" if counts["some"] else ""
        less += f"; in {counts['none']} all order them alike" if counts["none"] else ""
        of_all = f"{counts['all']} of {len(separated)} question{'s' * (len(separated) != 1)}"
        return f"{list_words(plan.measures)} order the lists differently in {of_all}{less}"

    def findings(self, plan: OrderingPlan, questions: Sequence[Question]) -> list[Finding]:
        """Return findings on horizons, orders, marks, sizes and printed values."""
        counted = [question for question in questions if question.number <= plan.questions]
        printing = (finding for question in counted for finding in printing_findings(question))
        return [
            *findings.horizons(plan),
            *findings.measures_alike(plan, counted),
            *findings.sizes(plan),
            *findings.design(plan),
            *printing,
        ]

    def check_in_words(
        self, plan: OrderingPlan, check: Check, questions: Mapping[int, Question]
    ) -> str:
        """See ``Declaration.check_in_words``; of the obvious question with its order."""
        if check.name != OBVIOUS:
            return check.text
        return f"{check.text}: {obvious_order(questions[plan.last_number])}"

    def are_right(
        self, plan: OrderingPlan, check: Check, answers: Sequence[tuple[Question, Any]]
    ) -> Sequence[bool]:
        """See ``Declaration.are_right``; the analysis does the same for all people at once."""
        if check.name == OBVIOUS:
            [(question, row)] = answers
            own = row.answer.own
            return [own is not None and not reversed_pairs(question.lists, own)]
        first, second = (
            combined_order(row.answer.orderings(question.rankings, row.drawn))
            for question, row in answers
        )
        return [bool(agreement_rate(first, second) >= HALF_OF_PAIRS)]

    def departures(self, plan: OrderingPlan) -> Sequence[tuple[str, str, str]]:
        """See ``Declaration.departures``."""
        return departures_of(plan)

    def item_findings(
        self, plan: OrderingPlan, items: Iterable[Item], topics: Iterable[Topic]
    ) -> Iterator[Finding]:
        """Yield how many documents a grid, which is for pictures, would show as texts."""
        return texts_in_grid(plan.layout, items)

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
            shown=[*_printed(plan, question, labels)],
        )

    def describe(
        self, plan: OrderingPlan, view: BlindedQuestion, presentation: OrderingPresentation
    ) -> dict[str, Any]:
        """Return what a participant was shown; the methods only once their page showed them."""
        hidden = plan.columns == NEVER or (plan.columns == AFTER and presentation.ranked_at is None)
        return {
            "lists": {letter: _ranks_shown(plan, view, ranks) for letter, ranks in view.rows},
            "methods": [
                {"label": column.label, "order": str(column.ranking)}
                | ({"values": dict(column.shown)} if plan.show_values else {})
                for column in view.columns
                if not hidden
            ],
            "ranked_before": _notation(presentation.ranked_first),
            "ranked_before_at": presentation.ranked_at and presentation.ranked_at.isoformat(),
            "ranked_before_asked": presentation.ranked_asked,
        }

    def describe_answer(self, answer: OrderingAnswer) -> dict[str, Any]:
        """Return the labels that were ticked, and the own ordering in notation."""
        return {
            "ticked": sorted(answer.clicked),
            "own_ordering": _notation(answer.own),
            "typed": answer.typed,
            "scores_seen": answer.scores_seen,
        }

    def analyse(
        self, content: Content, answers: Sequence[Any], options: AnalysisOptions
    ) -> Results:
        """Return the results of the study's answers."""
        results: Results = content.answers.analyse(content, options)
        return results


def _ranks_shown(
    plan: OrderingPlan, view: BlindedQuestion, ranks: Sequence[tuple[int, str]]
) -> list[tuple[int, str]]:
    """Return those positions of a list that its page shows, as numbers or by marks."""
    if plan.show_positions or not view.results:
        return [*ranks]
    return [(rank, "") for rank, _ in ranks if plan.mark_relevant and rank <= plan.depth]


def _notation(ranking: Ranking | None) -> str | None:
    return None if ranking is None else str(ranking)


def _printed(
    plan: OrderingPlan, question: Question, labels: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield the values that a page prints for each label; an arm may rescale them."""
    columns = question.columns
    if plan.rescale_values:
        lists = tuple(question.lists.values())
        columns = _rescaled(lists, plan.measures, plan.setting, question.marks)
    return (columns[name].shown for name in labels)


@lru_cache(maxsize=1000)
def _rescaled(
    lists: Sequence[Sequence[int]], measures: Sequence[str], setting: Setting, marks: Marks
) -> Mapping[str, MeasureColumn]:
    return build_question(1, lists, measures, setting, marks).columns
