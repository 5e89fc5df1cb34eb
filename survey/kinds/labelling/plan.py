"""The plan of a labelling study, and its queries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, ClassVar, Self
from zlib import crc32

from survey.core.collections.labels import HIGHEST_GRADE
from survey.core.collections.pools import (
    RANDOM,
    StudyPool,
    assigned_chunks,
    by_chance,
    split_pool,
)
from survey.core.kind import DeclaredQuestion
from survey.core.studies.fields import (
    Choice,
    Fault,
    Nested,
    PlanError,
    Rule,
    Share,
    Switch,
    Text,
    Whole,
    Words,
    declared,
)
from survey.core.studies.minutes import PICTURE, TEXT, DocumentLoad
from survey.core.studies.plan import MARK_QUERY_WORDS, PER_PARTICIPANT, POOL, PRACTICE, Check, Plan
from survey.core.studies.provenance import twice_faults, why_no_id
from survey.core.studies.sample import (
    SampleRule,
    drawn,
    read_sample,
    refused_beside,
    sample_sentence,
    size_faults,
)
from survey.core.text_input import Json
from survey.kinds.labelling.checks import checks_of
from survey.kinds.labelling.plan_files import (
    Gold,
    Grade,
    Judged,
    read_gold,
    read_grades,
    read_judged,
    read_pool,
)

MOST_QUERIES, MOST_CHUNKS = 500, 5_000
USUAL_BATCH = 30
USUAL_BATCHES = 3  # that annotators look at before they go on to the next query
TERNARY = 3  # the highest of the grades without names
ALL, UNJUDGED = "all", "unjudged"
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
OWN_HELP = (
    "An attention check, at a random place of the first batch, in queries by a picture. An "
    "annotator is flagged who does not mark more than a third of them. It counts nowhere else."
)
AGAIN_HELP = (
    "An attention check, at a random place of the second batch. An annotator is flagged whose two "
    "answers differ for more than a third of them. The second answer counts nowhere else."
)
NEGATIVE_HELP = (
    "In per cent of what is marked as relevant: how much unmarked pictures count against "
    "others like them when an annotator refines. 0: they do not count."
)
GRADES_HELP = (
    "Of pooled documents, two to six. A line for each, like - {value: 1, name: Relevant}. Without "
    "them people mark what is relevant."
)
ASKED = Choice(
    "Which documents of the pools are asked",
    {ALL: "All", UNJUDGED: "Those without an earlier judgement"},
)
REJUDGE = Whole("Judged documents asked again", 0, 1_000, help="In all, as a check.")
CHUNK = Whole(
    "Documents in a chunk", 2, 1_000, optional=True, help="Larger pools are split.", step="who"
)
JUDGES = Whole(
    "Annotators of each chunk",
    1,
    100,
    optional=True,
    help="Pairs of annotators share about equally many documents. Empty: everybody judges all.",
    step="who",
)
OVERLAP = Whole(
    "Documents that all annotators of a topic judge", 0, 500, help="With chunks.", step="who"
)
GOLD_SHARE = Share("Share of gold documents", help="Of the documents that a person judges.")
DOCUMENTS, TOPICS = "documents", "topics"
SAMPLE_UNITS = (DOCUMENTS, TOPICS)
SAMPLE = SampleRule(
    "Sample that people judge",
    help="Where a machine judges the whole pool (`survey judge`): what people judge of it, drawn "
    "at random, like “documents: 200”, or “topics: 25” to compare runs. Empty: people judge all.",
    step="who",
    units=SAMPLE_UNITS,
)
RELEVANT_FROM = Whole("Relevant from grade", 1, HIGHEST_GRADE, help="For binary measures.")


@dataclass(frozen=True)
class LabellingPlan(Plan):
    """The settings of a study whose questions are queries.

    ``topics``: their ids in topics.csv. ``batch``: documents shown at once. With a ``pool`` only
    its documents are judged: those of a topic are a query, or several where they are split into
    chunks. ``judged``: earlier judgements of the pool. ``gold``: documents with known answers.
    ``sample``: which part of the pool people judge, drawn at random; a machine judges all.
    """

    kind: ClassVar[str] = "labelling"

    question_text: str = declared(QUESTION_TEXT, "")
    topics: tuple[str, ...] = declared(Words("Topics", rows=6, help=TOPICS_HELP, step="what"), ())
    questions: int = declared(Whole("Queries", 1, MOST_CHUNKS), 10)
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
    batch: int = declared(Whole("Documents on a page", 6, 60), USUAL_BATCH)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    other_topic: bool = declared(
        Switch("Show a document of another topic in each query", help=OTHER_HELP), False
    )
    own_picture: bool = declared(
        Switch("Show the query's own picture among its documents", help=OWN_HELP), False
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
    pool: StudyPool | None = None
    judged: Judged | None = None
    documents_asked: str = declared(ASKED, ALL)
    rejudge: int = declared(REJUDGE, 0)
    grades: tuple[Grade, ...] = declared(Nested("Named grades", help=GRADES_HELP), ())
    cannot_judge: bool = declared(Switch("Offer “I cannot judge this”"), False)
    chunk: int | None = declared(CHUNK, None)
    judges: int | None = declared(JUDGES, None)
    overlap: int = declared(OVERLAP, 0)
    gold: tuple[Gold, ...] = ()
    gold_share: float = declared(GOLD_SHARE, 0.05)
    relevant_from: int = declared(RELEVANT_FROM, 1)
    sample: Mapping[str, int] | None = declared(SAMPLE, None)

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
        if self.pool:
            count = sum(len(query.documents or ()) for query in self._drawn) / len(self._drawn)
        else:
            count = USUAL_BATCHES * self.batch
            if documents.count is not None:
                count = min(count, documents.count)
        return count * (TEXT if documents.texts else PICTURE)

    @property
    def highest(self) -> int:
        """The highest mark that a document may get: a grade, or 1 for chosen."""
        if self.grades:
            return max(grade.value for grade in self.grades)
        return TERNARY if self.graded else 1

    @property
    def counted(self) -> int:
        """How many queries a participant is asked at most."""
        return max(map(len, self.blocks)) if self.judges else super().counted

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """See ``Plan.blocks``: of each annotator, where ``judges`` of them judge a chunk."""
        if not self.judges:
            return ()
        topics = [query.topic for query in self._drawn]
        sizes = [len(query.documents or ()) for query in self._drawn]
        return assigned_chunks(topics, sizes, self.judges, self.participants)

    @property
    def further_documents(self) -> frozenset[str]:
        """The gold documents; with a sample the whole pool, which a machine judges."""
        pool = self.population if self.sample else ()
        return frozenset(
            [*(gold.document for gold in self.gold), *(document for _, document in pool)]
        )

    @property
    def pages_each(self) -> int:
        """See ``Plan.pages_each``: a page for each batch of a pool, and the questions asked."""
        largest = max((len(query.documents or ()) for query in self._drawn), default=0)
        return 3 + ceil(2 * largest / self.batch)

    def gold_of(self, topic: str) -> dict[str, Gold]:
        """Return the gold documents of a topic."""
        return self._gold.get(topic, {})

    @cached_property
    def _gold(self) -> dict[str, dict[str, Gold]]:
        topics: dict[str, dict[str, Gold]] = {}
        for gold in self.gold:
            topics.setdefault(gold.topic, {})[gold.document] = gold
        return topics

    def is_for_all(self, number: int) -> bool:
        """Return whether every annotator of a pool is asked a query."""
        return number <= self.queries_for_all

    @cached_property
    def population(self) -> tuple[tuple[str, str], ...]:
        """Each topic with each document of the pool, gold documents left out."""
        return tuple(
            (topic, each)
            for topic in self.topics
            for each in (self.pool.of_topic(topic) if self.pool else ())
            if each not in self.gold_of(topic)
        )

    @property
    def population_topics(self) -> tuple[str, ...]:
        """The topics that have a pooled document which is not gold."""
        return tuple(dict.fromkeys(topic for topic, _ in self.population))

    @cached_property
    def sampled(self) -> frozenset[tuple[str, str]] | None:
        """The documents, with their topics, that people judge; None where that is no sample."""
        if not self.sample:
            return None
        [(unit, number)] = self.sample.items()
        if unit == TOPICS:
            chosen = drawn(self.population_topics, number, self.seed)
            return frozenset(pair for pair in self.population if pair[0] in chosen)
        pairs = {" ".join(pair): pair for pair in self.population}
        return frozenset(pairs[name] for name in drawn(pairs, number, self.seed))

    @property
    def sample_sentence(self) -> str:
        """What people judge and what a machine does, without a full stop; "" without a sample."""
        return sample_sentence(self.sample, self._sample_size) if self.sample else ""

    @property
    def _sample_size(self) -> int:
        """How many units a sample is drawn from."""
        is_of_topics = TOPICS in (self.sample or ())
        return len(self.population_topics if is_of_topics else self.population)

    def machine_questions(self) -> list["LabellingQuestion"]:
        """Return the questions, and of a sample one for each topic that people are not asked."""
        questions = self.draw_questions()
        if self.sampled is not None:
            asked = {each.topic for each in questions}
            others = [topic for topic in self.topics if topic not in asked]
            questions += [
                LabellingQuestion(number, topic, ())
                for number, topic in enumerate(others, self.last_number + 1)
            ]
        return questions

    def draw_questions(self) -> list["LabellingQuestion"]:
        """Return a question for each query, numbered from 1; the chunks of pools are drawn."""
        return [*self._drawn]

    @cached_property
    def _drawn(self) -> tuple["LabellingQuestion", ...]:
        pool = self.pool
        if pool is None:
            queries = enumerate(self.topics, 1)
            return tuple(LabellingQuestion(number, topic) for number, topic in queries)
        again = self.rejudged
        made: list[LabellingQuestion] = []
        for topic in self.topics:
            skipped = {*self.gold_of(topic)}
            if self.documents_asked == UNJUDGED:
                judged = (self.judged or {}).get(topic, {})
                skipped |= {document for document in judged if (topic, document) not in again}
            asked = [
                document
                for document in pool.of_topic(topic)
                if document not in skipped
                and (self.sampled is None or (topic, document) in self.sampled)
            ]
            stream = crc32(topic.encode())
            for part in split_pool(asked, self.chunk, self.overlap, self.seed, stream):
                if part:
                    made.append(LabellingQuestion(len(made) + 1, topic, tuple(part)))
        return tuple(made)

    @cached_property
    def rejudged(self) -> frozenset[tuple[str, str]]:
        """The judged documents, with their topics, that are asked again as a check."""
        if not self.rejudge:
            return frozenset()
        pairs = {
            f"{topic} {document}": (topic, document)
            for topic, documents in (self.judged or {}).items()
            for document in documents
            if topic in self.topics and document not in self.gold_of(topic)
        }
        return frozenset(pairs[name] for name in by_chance(pairs, self.seed)[: self.rejudge])

    def as_json(self) -> dict[str, Json]:
        """See ``Plan.as_json``; of the pool without what is empty."""
        stored = super().as_json()
        if self.pool:
            pool: Any = stored["pool"]
            stored["pool"] = {name: value for name, value in pool.items() if value}
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, object], *, registered: bool = True) -> Self:
        """See ``Plan.from_json``; ``ask: unjudged`` says which documents are asked."""
        ask = stored.get("ask")
        if not isinstance(ask, str):
            return super().from_json(stored, registered=registered)
        if ask not in ASKED.allowed:
            raise PlanError([Fault(("ask",), f"ask {ASKED.breach(ask)}, or a list of fields")])
        others = {name: value for name, value in stored.items() if name != "ask"}
        return super().from_json({**others, "documents_asked": ask}, registered=registered)

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        values["pool"] = pool = read_pool(values.get("pool"), faults)
        values["judged"] = read_judged(values.get("judged"), pool, faults)
        values["gold"] = read_gold(values.get("gold"), faults)
        values["grades"] = read_grades(values.get("grades"), faults)
        values["sample"] = read_sample(values.get("sample"), SAMPLE_UNITS, faults)
        topics = values.get("topics") or (pool.topics if pool else ())
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

    def _tidy(self) -> None:
        super()._tidy()
        numbers = (self.chunk, self.overlap, self.rejudge, self.seed)
        are_valid = all(type(number) is int or number is None for number in numbers)
        if self.pool and are_valid and (self.chunk is None or 0 <= self.overlap < self.chunk):
            object.__setattr__(self, "questions", len(self._drawn))

    def _number_faults(self) -> Iterable[Fault]:
        if not self.topics:
            yield Fault(("topics",), "topics is empty; the id of a topic for each query is needed")
        if len(self.topics) > MOST_QUERIES:
            text = f"topics has {len(self.topics)} ids; {MOST_QUERIES} are allowed"
            yield Fault(("topics",), text)
        yield from twice_faults(self.topics)
        if self.queries_for_all > (self.per_participant or 0):
            yield Fault(
                ("queries_for_all",),
                f"queries_for_all is {self.queries_for_all}; a pool with as many queries per "
                "annotator is needed",
            )
        yield from self._without_pool_faults() if self.pool is None else self._pooled_faults()

    def _without_pool_faults(self) -> Iterable[Fault]:
        """Yield the faults of settings that only a study with pooled documents can have."""
        needs = "pooled documents are needed (--run with --pool-depth, or --pool)"
        names = ("judged", "rejudge", "grades", "cannot_judge", "chunk", "judges", "overlap")
        for name in (*names, "sample"):
            if getattr(self, name):
                yield Fault((name,), f"{name} is set; {needs}")
        if self.gold:
            yield Fault(("gold",), f"gold is set; {needs}")
        if self.documents_asked != ALL:
            yield Fault(("documents_asked",), f"documents_asked is unjudged; {needs}")

    def _pooled_faults(self) -> Iterable[Fault]:
        without = [topic for topic in self.topics if self.pool and not self.pool.of_topic(topic)]
        if without:
            text = f"topic {without[0]} has no pooled document; take it out of topics"
            yield Fault(("topics",), text)
        yield from self._chunk_faults()
        yield from self._grade_faults()
        yield from self._gold_faults()
        yield from self._sample_faults()
        if self.documents_asked == UNJUDGED and self.judged is None:
            yield Fault(("judged",), "judged is empty; ask: unjudged needs the judgements")
        if self.rejudge and self.documents_asked != UNJUDGED:
            text = f"rejudge is {self.rejudge}; it counts with ask: unjudged only"
            yield Fault(("rejudge",), text)
        if not self._drawn and not without:
            yield Fault(("judged",), "all pooled documents are judged; nothing is left to ask")

    def _sample_faults(self) -> Iterable[Fault]:
        if not self.sample or not self.pool:
            return
        yield from size_faults(self.sample, self._sample_size)
        order = {"order": self.pool.order} if self.pool.order != RANDOM else {}
        yield from refused_beside(order, "people meet a sample in random order")
        asked = {"ask": UNJUDGED} if self.documents_asked == UNJUDGED else {}
        yield from refused_beside(asked, "people judge all of a sample, whatever was judged before")

    def _chunk_faults(self) -> Iterable[Fault]:
        if self.judges and self.design != "all":
            yield Fault(("design",), f"design is {self.design}; judges deals the chunks out itself")
        if self.judges and self.judges > self.participants:
            text = f"judges is {self.judges}; there are {self.participants} annotators"
            yield Fault(("judges",), text)
        if not self.overlap:
            return
        if not self.chunk or not self.judges:
            text = f"overlap is {self.overlap}; it needs chunk and judges"
            yield Fault(("overlap",), text)
        elif self.overlap >= self.chunk:
            text = f"overlap is {self.overlap}; it has to be below chunk, {self.chunk}"
            yield Fault(("overlap",), text)
        else:
            counts = [query.topic for query in self._drawn]
            topic = max(counts, key=counts.count, default="")
            needed = counts.count(topic) * self.judges
            if needed > self.participants:
                text = f"overlap is {self.overlap}; topic {topic} has {counts.count(topic)} chunks"
                text = f"{text}, and each annotator gets one of them: {needed} annotators needed"
                yield Fault(("overlap",), f"{text}, {self.participants} planned")

    def _grade_faults(self) -> Iterable[Fault]:
        if self.grades and self.graded:
            yield Fault(("graded",), "graded is true; the named grades say which grades there are")
        if self.cannot_judge and not self.grades:
            yield Fault(("cannot_judge",), "cannot_judge is true; it needs named grades")
        if self.relevant_from > self.highest:
            text = f"relevant_from is {self.relevant_from}; the highest grade is {self.highest}"
            yield Fault(("relevant_from",), text)

    def _gold_faults(self) -> Iterable[Fault]:
        allowed = {grade.value for grade in self.grades} or {*range(self.highest + 1)}
        seen: set[tuple[str, str]] = set()
        for index, gold in enumerate(self.gold):
            text = ""
            if gold.topic not in self.topics:
                text = f"topic {gold.topic} is no topic of the plan"
            elif (gold.topic, gold.document) in seen:
                text = f"document {gold.document} of topic {gold.topic} is there twice"
            elif gold.relevance not in allowed:
                grades = ", ".join(map(str, sorted(allowed)))
                text = f"relevance is {gold.relevance}; {grades} are the grades of the plan"
            seen.add((gold.topic, gold.document))
            if text:
                yield Fault(("gold", index), text)


@dataclass(frozen=True)
class LabellingQuestion(DeclaredQuestion):
    """A query, by the id of its topic; the digest of the items covers what it stands for.

    ``documents``: those to be judged; None for all of the collection.
    """

    topic: str = declared(Rule(doc="id of the topic"))
    documents: tuple[str, ...] | None = declared(
        Words(doc="the pooled documents to be judged, with spaces between"), None
    )

    def as_json(self) -> dict[str, Json]:
        """Return all of it but its number, and documents only of a pool."""
        return {name: value for name, value in super().as_json().items() if value is not None}
