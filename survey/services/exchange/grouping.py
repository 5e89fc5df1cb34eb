"""Grouping in a bundle: topics, the topics that are done with each step, the gold standard."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from survey.core.collections.runs import IN_NO_CLUSTER
from survey.core.tasks.grouping import (
    ASKED,
    FIRST,
    MERGE,
    PUT,
    UNKNOWN,
    GroupingPlan,
    GroupingPresentation,
    GroupingQuestion,
    GroupingStep,
)
from survey.core.tasks.steps import Done
from survey.db.models.grouping import (
    StoredGroupingAnswer,
    StoredGroupingPresentation,
    StoredGroupingStep,
)
from survey.services.analysis.group_results import (
    Assessor,
    GroupResults,
    cluster_lines,
    gold_files,
    gold_sheet,
    group_names,
)
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.input_files import JUDGEMENTS, BundleError, CsvRow
from survey.services.exchange.steps import (
    QUESTION,
    QUESTIONS,
    STEPS,
    TOPIC,
    StepContent,
    StepFiles,
    StepRow,
)
from survey.services.exchange.tables import PARTICIPANT, Column, Content, Row, Table, lines_of

TOPICS_DONE = "topics_done.csv"


@dataclass(frozen=True)
class GroupingContent(StepContent):
    """The topics that are done, and their steps."""

    presentation = GroupingPresentation

    def analyse(self, content: Content, options: AnalysisOptions) -> GroupResults:
        """Return agreement and gold standard; excluded participants are left out."""
        topics = {each.number: each.topic for each in content.questions}
        people = {each.public_id: each for each in content.counted(options)}
        clusters: dict[str, dict[str, Any]] = {name: {} for name in people}
        seconds = dict.fromkeys(people, 0)
        asked = Counter[str | None]()
        for row, state in self.states():
            if row.participant in people:
                asked[row.asked] += 1
                clusters[row.participant][topics[row.question]] = state.clusters
                seconds[row.participant] += row.seconds
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
            {kind: asked[kind] for kind in ASKED},
            **content.known(options),
        )

    def tried_sheet(
        self, content: Content, number: int, drawn: GroupingPresentation, answer: Done
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

    def public_steps(self) -> Iterator[StepRow]:
        """Yield the steps with a number in place of each name that a participant typed."""
        for _, rows in groupby(self.steps(), itemgetter(0, 1)):
            names = {IN_NO_CLUSTER: IN_NO_CLUSTER}
            for participant, question, step in rows:
                yield participant, question, _without_names(step, names)


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


class GroupingFiles(StepFiles):
    """The files of the kind of question "grouping", as the registry of files holds them."""

    recomputed: Mapping[str, str] = {
        QUESTIONS: "the topics of the plan",
        "groups.csv": "follows from the steps",
        "agreement.csv": "recomputed from the steps",
    }
    kind = "grouping"
    asks = ASKED
    content = GroupingContent
    answers_file = TOPICS_DONE
    typed = "the names that participants gave to groups"
    has_options = False
    models = StoredGroupingPresentation, StoredGroupingAnswer, StoredGroupingStep
    question_columns = (
        *(QUESTION, TOPIC),
        Column("documents", "the topic's relevant documents, with spaces between"),
    )
    step_names = ("action", "group_number", "name", "merged_into", "documents", "groups")

    def result_tables(self, plan: GroupingPlan) -> list[Table]:
        """Return groups.csv, and agreement.csv as `survey assess gold` makes it."""
        return [
            Table("groups.csv", _GROUPS, lines_of(_groups)),
            Table("agreement.csv", _AGREEMENT, lines_of(_agreement)),
        ]

    def judgement_files(self, content: Content) -> Iterator[tuple[str, Iterable[str]]]:
        """See ``TaskFiles``: each assessor's groups, and the gold standard."""
        for each in content.results.assessors:
            yield f"{JUDGEMENTS}/{each.participant}.txt", cluster_lines(each.clusters)
        yield "gold.txt", [gold_files(content.results.gold)[0]]

    def lines_per_answer(self, plan: GroupingPlan) -> int:
        """Estimate how many lines of the files a topic takes."""
        return max((len(documents) for _, documents in plan.topics), default=1)

    def question_from(self, row: CsvRow) -> GroupingQuestion:
        """Return the topic that a row holds; raises BundleError with its place."""
        topic = row.whole_number("question", 1), row.text("topic")
        return GroupingQuestion(*topic, row.words("documents"))

    def step_from(self, row: CsvRow, saved_at: datetime | None) -> GroupingStep:
        """Return the step that a row holds; raises BundleError with its place."""
        try:
            groups = row.optional_text("groups")
            return GroupingStep(
                action=row.text("action"),
                group_number=row.optional_whole_number("group_number"),
                name=row.optional_text("name"),
                merged_into=row.optional_whole_number("merged_into"),
                documents=list(row.words("documents")) or None,
                groups=None if groups is None else _groups_in(groups),
                saved_at=saved_at,
            )
        except ValueError as error:
            allowed = "put, take, rename, merge, adopt, undo, look with their values are allowed"
            raise row.fault("action", allowed) from error

    def state_faults(self, state: GroupingPresentation) -> Iterator[str]:
        """Yield the faults of a topic's steps, which must be about groups that are there."""
        known = {UNKNOWN}
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
        if list(content.questions) != content.plan.draw_questions():
            raise BundleError(f"{QUESTIONS} has other topics or documents than the plan")
        known = {each.number: {*each.documents} for each in content.questions}
        for row, state in content.answers.states():
            if unknown := sorted(state.clusters.keys() - known[row.question]):
                place = f"{STEPS}, {row.participant}, question {row.question}"
                raise BundleError(f"{place}: the topic has no document {unknown[0]}")
        return f"the documents of {len(content.questions)} topics are the plan's"


def _groups_in(text: str) -> dict[str, list[str]]:
    """Return the groups in a cell; raises ValueError for what is no object of lists of ids."""
    groups = json.loads(text)
    if not isinstance(groups, dict) or not all(
        isinstance(each, list) and all(isinstance(document, str) for document in each)
        for each in groups.values()
    ):
        raise ValueError("no groups")
    return groups


def _groups(content: Content) -> Iterator[Row]:
    topics = {each.number: each.topic for each in content.questions}
    for row, state in content.answers.states():
        for document in sorted(state.clusters):
            for group in sorted(state.clusters[document]) or [IN_NO_CLUSTER]:
                yield row.participant, topics[row.question], document, group


def _agreement(content: Content) -> Iterable[Row]:
    return gold_sheet(content.results.gold).rows


_COUNTED = ("whole number", "0, 1, …")
_INDEX = ("number", "at most 1; empty where it is not defined")
_GROUPS = [
    *(PARTICIPANT, TOPIC, Column("document", "id of a relevant document")),
    Column("group", "name of a group that it is in; unknown where it could not be placed"),
]
_AGREEMENT = [
    *(TOPIC, Column("rule", "how the topic's groups were chosen, or why it is left out")),
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
