"""The plan of a labelling study, and its queries."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from survey.core.collections.labels import HIGHEST
from survey.core.kind import DeclaredQuestion
from survey.core.studies.attention import Check
from survey.core.studies.fields import Fault, Rule, Switch, Text, Whole, Words, declared
from survey.core.studies.minutes import DocumentLoad
from survey.core.studies.plan import MARK_QUERY_WORDS, PER_PARTICIPANT, POOL, PRACTICE, Plan
from survey.core.studies.provenance import twice_faults, why_no_id
from survey.kinds.labelling.checks import checks_of

MOST_QUERIES = 500
USUAL_BATCH = 30
USUAL_BATCHES = 3  # that annotators look at before they go on to the next query
TOPICS_HELP = "The id of each in topics.csv, one per line. Each topic is a query."
FOR_ALL_HELP = (
    "Only for a pool. The first queries of the plan go to everybody, so that agreement can be "
    "computed; the others are dealt evenly."
)
QUESTION_TEXT = Text(
    "The task, in one sentence",
    500,
    needed=False,
    filled=True,
    help="Empty: “Tap all that match this picture”, or what fits a search by words.",
)
CATEGORIES_HELP = (
    "In searches by a word. Classes are the column keywords of items.csv, which survey collect "
    "writes. Only what was in view counts as confirmed."
)
OTHER_HELP = (
    "An attention check, at a random place of the first batch. An annotator is flagged who marks "
    "more than a third of them. The marks count nowhere else."
)
AGAIN_HELP = (
    "An attention check, at a random place of the second batch. An annotator is flagged whose two "
    "answers differ for more than a third of them. The second answer counts nowhere else."
)
NEGATIVE_HELP = (
    "In per cent of what is marked as relevant: how much unmarked pictures count against "
    "others like them when an annotator refines. 0: they do not count."
)


@dataclass(frozen=True)
class LabellingPlan(Plan):
    """The settings of a study whose questions are queries.

    ``topics``: their ids in topics.csv, a query each. ``batch``: documents shown at once.
    """

    kind: ClassVar[str] = "labelling"

    question_text: str = declared(QUESTION_TEXT, "")
    topics: tuple[str, ...] = declared(Words("Topics", rows=6, help=TOPICS_HELP, step="what"), ())
    questions: int = declared(Whole("Queries", 1, MOST_QUERIES), 10)
    per_participant: int | None = declared(
        replace(PER_PARTICIPANT, label="Queries per annotator", highest=MOST_QUERIES), None
    )
    shuffle_questions: bool = declared(Switch("Shuffle the queries for each annotator"), True)
    practice: bool = declared(PRACTICE, False)  # as released; the preset turns it on
    queries_for_all: int = declared(
        Whole(
            *("Queries that everybody labels", 0, MOST_QUERIES),
            help=FOR_ALL_HELP,
            step="who",
            only_with=POOL,
        ),
        0,
    )
    batch: int = declared(Whole("Pictures in a batch", 24, 60), USUAL_BATCH)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    other_topic: bool = declared(
        Switch("Show a document of another topic in each query", help=OTHER_HELP), False
    )
    shown_again: bool = declared(
        Switch("Show a document again in each query", help=AGAIN_HELP), False
    )
    graded: bool = declared(Switch("Ask for grades from 0 to 3"), False)
    annotate_categories: bool = declared(
        Switch("Mark what has the keyword as its class, to be confirmed", help=CATEGORIES_HELP),
        False,
    )
    negative_share: int = declared(
        Whole("Weight of what is not relevant", 0, 100, help=NEGATIVE_HELP), 25
    )

    @property
    def checks(self) -> tuple[Check, ...]:
        """See ``Plan.checks``."""
        return checks_of(self)

    @property
    def has_items(self) -> bool:
        """Whether questions show documents: always."""
        return True

    def seconds_each(self, documents: DocumentLoad) -> float:
        """See ``Plan.seconds_each``; by the documents of the batches that people look at."""
        count = USUAL_BATCHES * self.batch
        if documents.count is not None:
            count = min(count, documents.count)
        return count * (5 if documents.texts else 1.2)

    @property
    def highest(self) -> int:
        """The highest mark that a picture may get: a grade, or 1 for chosen."""
        return HIGHEST if self.graded else 1

    def is_for_all(self, number: int) -> bool:
        """Return whether every annotator of a pool is asked a query."""
        return number <= self.queries_for_all

    def draw_questions(self) -> list["LabellingQuestion"]:
        """Return a question for each query, numbered from 1; nothing is drawn."""
        return [LabellingQuestion(number, topic) for number, topic in enumerate(self.topics, 1)]

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        topics = values.get("topics") or ()
        if not isinstance(topics, list | tuple):
            text = f"topics is {topics!r}; a list of topics' ids is needed, like [t1, t2]"
            wrong, topics = [Fault(("topics",), text)], [topics]
        else:
            why = map(why_no_id, topics)
            wrong = [Fault(("topics", index), text) for index, text in enumerate(why) if text]
        if wrong:
            topics = map(str, range(len(topics)))  # as many, so that nothing else is wrong
        faults += wrong
        values["topics"] = tuple(topics)
        if values["topics"]:
            values["questions"] = len(values["topics"])

    def _number_faults(self) -> Iterable[Fault]:
        if not self.topics:
            yield Fault(("topics",), "topics is empty; the id of a topic for each query is needed")
        yield from twice_faults(self.topics)
        if self.queries_for_all > (self.per_participant or 0):
            yield Fault(
                ("queries_for_all",),
                f"queries_for_all is {self.queries_for_all}; a pool with as many queries per "
                "annotator is needed",
            )


@dataclass(frozen=True)
class LabellingQuestion(DeclaredQuestion):
    """A query, by the id of its topic; the digest of the items covers what it stands for."""

    topic: str = declared(Rule(doc="id of the topic"))
