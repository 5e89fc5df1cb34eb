"""The kind "grouping", from declaration to results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, zip_longest
from typing import Any

from survey.core.agreement.topic_alpha import FEWEST_TOPICS
from survey.core.collections.clusterings import Clustering, compare_clusters
from survey.core.collections.items import FindItems, Topic
from survey.core.collections.runs import IN_NO_CLUSTER
from survey.core.kind import TopicRow
from survey.core.studies.fields import Finding
from survey.core.studies.plan import Check
from survey.core.text_input import Json
from survey.core.ways_in import JUDGEMENTS, Sources
from survey.db.models.base import Base
from survey.kinds import Protocol, Record, Sheet
from survey.kinds.grouping.answer import (
    ASKED,
    MERGE,
    PUT,
    TAKE,
    UNKNOWN,
    Earlier,
    GroupingPresentation,
    GroupingShown,
    GroupingStep,
    GroupingView,
    ShownGroup,
    Tile,
    alike_tiles,
    earlier_clusters,
    finer_groups,
    groups_of,
)
from survey.kinds.grouping.bot import GroupingBot
from survey.kinds.grouping.machine import GroupingMachine
from survey.kinds.grouping.pages import GroupingForm, ends
from survey.kinds.grouping.plan import (
    FIRST,
    SHOWN_TWICE,
    TOGETHER,
    GroupingPlan,
    GroupingQuestion,
    is_again,
    original,
)
from survey.kinds.grouping.results import CORRECTION, TEST, Assessor, GroupResults
from survey.kinds.grouping.ways_in import WAYS_IN, begin, topic_rows
from survey.kinds.steps import STEPS_FILE, Done, KindInSteps, whole_seconds
from survey.services.analysis.joined_clusters import (
    cluster_lines,
    gold_files,
    gold_sheet,
    group_names,
)
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.answer_columns import (
    EARLIER_TOPIC,
    LATER_QUESTION,
    OF_TOPIC,
    OWN_TOPIC,
    answer_table,
)
from survey.services.exchange.input_files import JUDGEMENTS_FOLDER, BundleError
from survey.services.exchange.tables import Column, Content, Row, Table, row_lines
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.kind_pages import Doubt, PracticeScreen

MOST_PRACTISED, MOST_PRACTISED_OF_ONE = 8, 6  # documents of the practice; where there is one topic


class GroupingKind(
    GroupingBot, GroupingMachine, KindInSteps[GroupingPlan, GroupingQuestion, GroupingPresentation]
):
    """Put a topic's relevant documents into groups that one names."""

    name, noun = "grouping", "topics"
    plan, question = GroupingPlan, GroupingQuestion
    presentation, step = GroupingPresentation, GroupingStep
    asks = ASKED
    metadata = Base.metadata
    pace_note = "Pictures: put into groups or taken out; one that is moved counts again."
    ways_in, takes, preset = WAYS_IN, (JUDGEMENTS,), "groups"

    def begin(self, sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
        """See ``Declaration.begin``."""
        return begin(sources)

    def topic_rows(self, plan: GroupingPlan, topics: Sequence[Topic]) -> list[TopicRow]:
        """See ``Declaration.topic_rows``."""
        return topic_rows(plan, topics)

    def plan_form(self) -> type[Form]:
        """Return the form of the plans, with a table of topics."""
        from survey.kinds.grouping.plan_form import GroupingForm

        return GroupingForm

    def show(self, question: GroupingQuestion, presentation: GroupingPresentation) -> GroupingShown:
        """Return topic and steps; ``with_items`` makes of them what the page shows."""
        return GroupingShown(question, presentation)

    def with_items(
        self, plan: GroupingPlan, question: GroupingQuestion, view: GroupingShown, find: FindItems
    ) -> GroupingView:
        """Return documents and groups as they are now, and the earlier ones if they were shown."""
        state, order = view.presentation, view.order
        items, topic = find({*map(original, order)}, question.topic or None)
        groups = {
            number: ShownGroup(number, place, name, len(documents))
            for place, (number, (name, documents)) in enumerate(state.groups.items())
        }
        of_document: dict[str, list[ShownGroup]] = {}
        for number, shown in groups.items():
            for document in state.groups[number].documents:
                of_document.setdefault(document, []).append(shown)
        tiles = (
            Tile(number, items.get(original(document)), tuple(of_document.get(document, ())), alike)
            for number, (document, alike) in enumerate(
                zip(order, alike_tiles(find.pool(), order), strict=True), 1
            )
        )
        return GroupingView(
            topic=topic,
            cluster_type=(find.topic(question.topic) or Topic(question.topic)).cluster_type,
            tiles=tuple(tiles),
            groups=tuple(groups.values()),
            earlier=self._compared(view, find) if plan.show_earlier and state.has_looked else (),
            can_undo=bool(state.counted),
            steps=len(state.steps),
        )

    def _compared(self, view: GroupingShown, find: FindItems) -> tuple[Earlier, ...]:
        number_of = {document: number for number, document in enumerate(view.order, 1)}
        earlier = earlier_clusters(view, find)
        return tuple(
            Earlier(
                tuple(
                    (name, tuple(sorted(number_of[each] for each in documents)))
                    for name, documents in groups_of(clusters).items()
                ),
                tuple(finer_groups(clusters, other)),
            )
            for clusters, other in zip(earlier, earlier[::-1], strict=True)
        )

    def practice_question(
        self, plan: GroupingPlan, questions: Sequence[GroupingQuestion]
    ) -> GroupingQuestion:
        """Return a topic of the study's own documents: of some of its topics, or a few of one.

        It has no id, so that its page shows no topic.
        """
        ordered = sorted(questions, key=lambda each: each.number)[: MOST_PRACTISED // 2]
        in_turn = chain.from_iterable(zip_longest(*map(_documents_of, ordered)))
        several = MOST_PRACTISED if len(ordered) > 1 else MOST_PRACTISED_OF_ONE
        documents = [*dict.fromkeys(filter(None, in_turn))][:several]
        return GroupingQuestion(0, "", tuple(documents))

    def is_due(
        self,
        plan: GroupingPlan,
        question: GroupingQuestion,
        earlier: Sequence[GroupingPresentation],
    ) -> bool:
        """Return whether a topic needs a third assessor, from how the first two grouped it."""
        first, second = (state.clusters for state in earlier[:2])
        threshold = plan.sufficient_agreement / 100
        return compare_clusters(question.topic, first, second, threshold).needs_third

    def are_right(
        self,
        plan: GroupingPlan,
        check: Check,
        answers: Sequence[tuple[GroupingQuestion, Record[GroupingPresentation, Done]]],
    ) -> Iterator[bool]:
        """See ``Declaration.are_right``: of each topic's two tiles, or of each known pair."""
        if check.name == SHOWN_TWICE:
            for _, row in answers:
                placed = row.drawn.placed
                for tile in filter(is_again, placed):
                    groups, again = placed.get(original(tile), frozenset()), placed[tile]
                    yield groups == again or bool(groups & again)
            return
        clusters = {question.topic: row.drawn.clusters for question, row in answers}
        for topic, first, second, how in plan.known_pairs:
            if topic in clusters:
                both = (clusters[topic].get(each, frozenset()) for each in (first, second))
                yield bool(frozenset.intersection(*both)) == (how == TOGETHER)

    def comparable(
        self, question: GroupingQuestion, row: Record[GroupingPresentation, Done]
    ) -> Iterator[tuple[int, frozenset[frozenset[str]]]]:
        """See ``Declaration.comparable``: the groups of a topic, whatever their names.

        They are one value, since the documents of a group are in it together.
        """
        groups = row.drawn.groups.items()
        yield (
            question.number,
            frozenset(
                frozenset(each for each in group.documents if not is_again(each))
                for number, group in groups
                if number and group.documents
            ),
        )

    def protocol(self, plan: GroupingPlan) -> Protocol:
        """See ``Declaration.protocol``."""
        return Protocol(
            outcome="into which groups an assessor sorts the relevant documents of a topic",
            scope=f"topics of this kind if there are {FEWEST_TOPICS} or more, else these topics",
            test=f"{TEST}; {plan.sufficient_agreement} % is sufficient",
            correction=CORRECTION,
        )

    def facts(self, plan: GroupingPlan, generator_version: int) -> dict[str, Json]:
        """Return what a summary of the study says of its topics."""
        sizes = [len(documents) for _, documents in plan.topics]
        return {
            "topics": " ".join(topic for topic, _ in plan.topics),
            "documents of a topic": f"{min(sizes)} to {max(sizes)}",
        }

    def verdict(self, plan: GroupingPlan, questions: Sequence[GroupingQuestion]) -> str:
        """Say how many topics people sort."""
        return f"{len(questions)} topic{'s' * (len(questions) != 1)} to sort into groups"

    def findings(
        self, plan: GroupingPlan, questions: Sequence[GroupingQuestion]
    ) -> Iterator[Finding]:
        """Yield a finding where there are too few assessors."""
        if plan.participants < 3:
            text = f"{plan.participants} wanted; two first assessors and a third are needed"
            yield Finding(None, f"participants: {text}", mend="participants")

    def describe(
        self, plan: GroupingPlan, view: GroupingView, presentation: GroupingPresentation
    ) -> dict[str, object]:
        """Return the groups and every step, with numbers of pictures in place of ids."""
        return {
            "topic": view.topic and view.topic.text,
            "groups": {
                group.name or IN_NO_CLUSTER: [
                    tile.number for tile in view.tiles if group in tile.groups
                ]
                for group in view.groups
            },
            "steps": [
                {
                    "at": step.saved_at and step.saved_at.isoformat(),
                    "what": step.action,
                    **({} if step.group_number is None else {"group": step.group_number}),
                    **({} if step.name is None else {"name": step.name}),
                    **({} if step.documents is None else {"pictures": len(step.documents)}),
                }
                for step in presentation.steps
            ],
        }

    # --- files ---

    answers_file = "topics_done.csv"
    typed = "the names that participants gave to groups"
    recomputed: Mapping[str, str] = {
        "questions.csv": "the topics of the plan",
        "groups.csv": "follows from the steps",
        "agreement.csv": "recomputed from the steps",
    }

    def result_tables(self, plan: GroupingPlan) -> list[Table]:
        """Return groups.csv, and agreement.csv as `survey assess gold` makes it."""
        return [
            answer_table(
                *("groups.csv", _GROUPS, _groups, ["document", "group"]),
                question=LATER_QUESTION,
                topic=EARLIER_TOPIC,
            ),
            Table("agreement.csv", _AGREEMENT, row_lines(_agreement), ["topic"], OF_TOPIC),
        ]

    def judgement_files(self, content: Content) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield each assessor's groups, and the gold standard."""
        for each in content.results.assessors:
            yield f"{JUDGEMENTS_FOLDER}/{each.participant}.txt", cluster_lines(each.clusters)
        yield "gold.txt", [gold_files(content.results.gold)[0]]

    def lines_per_answer(self, plan: GroupingPlan) -> int:
        """Estimate how many lines of the files a topic takes."""
        return max((len(documents) for _, documents in plan.topics), default=1)

    def state_faults(self, state: GroupingPresentation) -> Iterator[str]:
        """Yield the faults of a topic's steps, which must be about groups that are there."""
        known = {UNKNOWN}
        if any(step.action in (PUT, TAKE) and not step.documents for step in state.steps):
            yield "a step moves no document"
        for step in state.counted:
            if step.groups is not None:
                known = {UNKNOWN, *range(1, len(step.groups.keys() - {IN_NO_CLUSTER}) + 1)}
            if step.action == PUT and step.name is not None and step.group_number is not None:
                known.add(step.group_number)
            for number in (step.group_number, step.merged_into):
                if number is not None and number not in known:
                    yield f"a step is of group {number}, which is not there"
            if step.action == MERGE:
                known.discard(step.group_number or UNKNOWN)

    def check_questions(self, content: Content) -> str:
        """Compare the topics with the plan's, and the documents of the steps with them."""
        super().check_questions(content)
        known = {each.number: {*each.documents} for each in content.questions}
        for row in content.answers.states():
            if unknown := sorted(row.drawn.placed.keys() - known[row.question]):
                place = f"{STEPS_FILE}, {row.participant}, question {row.question}"
                raise BundleError(f"{place}: the topic has no document {unknown[0]}")
        return f"the documents of {len(content.questions)} topics are the plan's"

    def without_typed(self, steps: Iterable[GroupingStep]) -> Iterator[GroupingStep]:
        """Yield the steps with a number in place of each name that a participant typed."""
        names = {IN_NO_CLUSTER: IN_NO_CLUSTER}
        return (_without_names(step, names) for step in steps)

    # --- results ---

    def analyse(
        self,
        content: Content,
        answers: Iterable[Record[GroupingPresentation, Done]],
        options: AnalysisOptions,
    ) -> GroupResults:
        """Return agreement and gold standard."""
        topics = {each.number: each.topic for each in content.questions}
        people = {each.public_id: each for each in content.counted(options)}
        clusters: dict[str, dict[str, Clustering]] = {name: {} for name in people}
        seconds = dict.fromkeys(people, 0)
        asked = Counter[str | None]()
        for row in answers:
            asked[row.asked] += 1
            clusters[row.participant][topics[row.question]] = row.drawn.clusters
            seconds[row.participant] += whole_seconds(row)
        order = sorted(people, key=lambda name: (_second(people[name].started_at), name))
        plan: Any = content.plan
        return GroupResults(
            [
                Assessor(name, people[name].arm or FIRST, clusters[name], seconds[name])
                for name in order
                if clusters[name]
            ],
            plan.sufficient_agreement / 100,
            plan.least_agreement / 100,
            {doubt: asked[doubt] for doubt in ASKED},
            {each.topic: each.cluster_type for each in content.topics if each.cluster_type},
            dict(plan.left_out),
            **content.known(options),
        )

    def tried(
        self,
        content: Content,
        number: int,
        rows: Sequence[Record[GroupingPresentation, Done]],
        drawn: GroupingPresentation,
        answer: Done,
    ) -> Sheet:
        """Return the group of each document in the gold standard, beside someone's groups."""
        topic = content.question(number).topic
        of_topic = (each for each in content.results.gold.topics if each.topic == topic)
        gold = next(of_topic, None)
        clusters: Mapping[str, Iterable[str]] = gold.clusters if gold else {}
        note = "Names of groups mean nothing here: look at what is together."
        if not clusters:
            why = f" ({gold.rule})" if gold else ""
            note = f"This topic is not in the gold standard{why}. {note}"
        names = content.names_of(drawn.clusters)
        return Sheet(
            name="tried",
            title="What participants made of it",
            columns=("document", "gold standard", "you"),
            rows=tuple(
                (
                    names[document],
                    group_names(clusters.get(document, ())) if clusters else None,
                    group_names(groups),
                )
                for document, groups in sorted(drawn.clusters.items())
            ),
            note=note,
        )

    # --- pages ---

    answer_form = GroupingForm
    work_template = "participant/grouping/_work.html"
    question_template = "participant/grouping/question.html"
    answer_template = "participant/grouping/_answer.html"

    def practice_screens(self, plan: GroupingPlan) -> Sequence[PracticeScreen]:
        """See ``KindPages``."""
        return (PracticeScreen("groups", "participant/grouping/practice.html"),)

    def leaves_practice(self, go: str) -> bool:
        """See ``KindPages``; Enter leaves it too, where it makes no group."""
        return ends(go)

    def doubt_of(
        self, plan: GroupingPlan, form: GroupingForm, shown: Callable[[], ShownQuestion]
    ) -> Doubt | None:
        """Return the doubt about a topic whose documents are all in the same place."""
        lumped = shown().view.lumped
        return Doubt(lumped) if lumped else None

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words how many tiles of a form are selected."""
        if "step_key" not in sent or "group" not in sent:
            return ""
        return gettext("%(count)s selected", count=len(sent.get("document", ())))


def _without_names(step: GroupingStep, names: dict[str, str]) -> GroupingStep:
    """Return a step with "group 1", "group 2", … for names; new ones are added to ``names``."""

    def number(name: str) -> str:
        return names.setdefault(name, f"group {len(names)}")

    groups = step.groups
    return replace(
        step,
        name=None if step.name is None else number(step.name),
        groups=groups and {number(name): documents for name, documents in groups.items()},
    )


def _second(moment: datetime | None) -> str:
    """Return a time as files tell it, so that the order is the same in the database."""
    return "" if moment is None else moment.replace(microsecond=0).isoformat()


def _groups(content: Content) -> Iterator[Row]:
    for row in content.answers.states():
        clusters = row.drawn.clusters
        for document in sorted(clusters):
            for group in sorted(clusters[document]) or [IN_NO_CLUSTER]:
                yield row.participant, row.question, document, group


def _agreement(content: Content) -> Iterable[Row]:
    return gold_sheet(content.results.gold).rows


_COUNTED = ("whole number", "0, 1, …")
_INDEX = ("number", "at most 1; empty where it is not defined")
_GROUPS = [
    Column("document", "id of a relevant document"),
    Column("group", "name of a group that it is in; unknown where it could not be placed"),
]
_AGREEMENT = [
    *(OWN_TOPIC, Column("rule", "how the topic's groups were chosen, or why it is left out")),
    Column("clusters", "how many groups the gold standard has", *_COUNTED),
    Column("documents", "how many documents the gold standard has", *_COUNTED),
    Column("unknown", "how many of them could not be placed", *_COUNTED),
    Column("only_first", "how many documents only the first assessor has", *_COUNTED),
    Column("only_second", "how many documents only the second assessor has", *_COUNTED),
    Column("pair_agreement", "share of pairs of documents on which the first two agree", *_INDEX),
    Column("rand_1_2", "adjusted Rand index of the first and the second assessor", *_INDEX),
    Column("rand_1_3", "adjusted Rand index of the first and the third assessor", *_INDEX),
    Column("rand_2_3", "adjusted Rand index of the second and the third assessor", *_INDEX),
    Column("reason", "why the first two do not agree; empty where they do"),
]


def _documents_of(question: GroupingQuestion) -> list[str]:
    return sorted(each for each in question.documents if not is_again(each))
