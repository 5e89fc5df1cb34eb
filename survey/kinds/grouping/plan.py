"""The plan of a grouping study, and its topics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Self

from survey.core.kind import DeclaredQuestion
from survey.core.studies.fields import (
    Fault,
    Nested,
    Rule,
    Switch,
    Whole,
    Words,
    declared,
    tidy_text,
)
from survey.core.studies.generators import Positions
from survey.core.studies.minutes import TEXT, DocumentLoad
from survey.core.studies.plan import MARK_QUERY_WORDS, PRACTICE, Check, Plan
from survey.core.studies.provenance import twice_faults, why_no_id

MOST_TOPICS, MOST_DOCUMENTS = 500, 500
LONGEST_REASON = 200  # characters
PICTURE_SECONDS = 5  # to put a picture into a group
KNOWN_PAIRS, SHOWN_TWICE = "known-pairs", "shown-twice"
AGAIN = "check:again:"  # before the id of a document that a topic shows a second time
CHECK_STREAM = 0x6368_6563  # as of labelling: random numbers unrelated to those of other draws
TOGETHER, APART = "together", "apart"
FIRST, THIRD = "first", "third"  # arms
TOPICS_HELP = (
    "A line for each topic, like - [near, [brick-2, brick-3]]: its id in topics.csv, and the ids "
    "of its relevant documents."
)
LEFT_OUT_HELP = (
    "A line for each topic that is not asked, like - [near, too specific]: its id and your reason, "
    "which the results state."
)
AGREEMENT_HELP = (
    "In per cent, of the adjusted Rand index. A topic on which the first two agree less goes to "
    "the third assessor."
)
FLOOR_HELP = (
    "In per cent, of the mean index with the other two. Where no assessor reaches it, the topic "
    "is left out of the gold standard."
)
KNOWN_HELP = (
    "Attention checks. A line for each pair of a topic's documents, like - [near, brick-2, "
    "brick-3, together]: the topic, both documents, and together or apart. An assessor is flagged "
    "who has more than a third of the pairs wrong. Their groups count as all others."
)
TWICE_HELP = (
    "An attention check: each topic has two tiles of one document, drawn by the seed. An assessor "
    "is flagged who puts more than a third of them into different groups. The second tile counts "
    "nowhere else."
)
EARLIER_HELP = "After an own grouping, without names of people. They may correct theirs, or agree."


@dataclass(frozen=True)
class GroupingPlan(Plan):
    """The settings of a study whose questions are topics with their relevant documents.

    ``topics``: for each topic, its id in topics.csv and its relevant documents; ``left_out``: the
    ids of others, which are taken out of them, and why. The arms are
    the roles of assessors: FIRST for two, THIRD for others.
    """

    kind: ClassVar[str] = "grouping"

    topics: tuple[tuple[str, tuple[str, ...]], ...] = declared(
        Nested("Topics and their documents", help=TOPICS_HELP, step="what"), ()
    )
    left_out: tuple[tuple[str, str], ...] = declared(
        Nested("Topics left out, with the reason", help=LEFT_OUT_HELP, step="what"), ()
    )
    questions: int = declared(Whole("Topics", 1, MOST_TOPICS), 10)
    participants: int = declared(Whole("Assessors wanted", 1, 10_000, help="Two, and a third."), 3)
    shuffle_questions: bool = declared(Switch("Shuffle the topics for each assessor"), True)
    practice: bool = declared(PRACTICE, False)  # as released; the preset turns it on
    design: str = "all"
    sufficient_agreement: int = declared(
        Whole("Agreement that is sufficient", 0, 100, help=AGREEMENT_HELP), 80
    )
    least_agreement: int = declared(Whole("Least agreement of three", 0, 100, help=FLOOR_HELP), 50)
    mark_query_words: bool = declared(MARK_QUERY_WORDS, False)
    known_pairs: tuple[tuple[str, str, str, str], ...] = declared(
        Nested("Pairs that belong together or apart", help=KNOWN_HELP), ()
    )
    shown_twice: bool = declared(
        Switch("Show a document of each topic twice", help=TWICE_HELP), False
    )
    show_earlier: bool = declared(
        Switch("Show the third assessor both earlier groupings", help=EARLIER_HELP), True
    )

    @property
    def checks(self) -> tuple[Check, ...]:
        """Those that the plan has; random groups are of unknown sizes."""
        count = len(self.known_pairs)
        text = f"{count} pair{'s' * (count != 1)} of documents that belong together or apart"
        known = Check(KNOWN_PAIRS, text, "it is so in the groups", is_question=False)
        both = "both are in the same group"
        twice = Check(SHOWN_TWICE, "a document of each topic twice", both, is_question=False)
        return (*([twice] if self.shown_twice else []), *([known] if count else []))

    @property
    def has_items(self) -> bool:
        """Whether questions show documents: always."""
        return True

    def seconds_each(self, documents: DocumentLoad) -> float:
        """See ``Plan.seconds_each``; by the mean number of a topic's documents."""
        mean = sum(len(each) for _, each in self.topics) / len(self.topics)
        return (TEXT if documents.texts else PICTURE_SECONDS) * mean

    @property
    def origin(self) -> str:
        """See ``Plan.origin``."""
        count = sum(len(documents) for _, documents in self.topics)
        return f"Its {len(self.topics)} topics with {count} documents are those of your judgements."

    @property
    def queue_arm(self) -> str | None:
        """The arm whose questions depend on the answers of the others."""
        return THIRD

    def arm_for(self, counts: Mapping[str, int], chance: Random) -> str | None:
        """Return the role of who comes next: the first two are first assessors."""
        return FIRST if counts.get(FIRST, 0) < 2 else THIRD

    def in_arm(self, arm: str | None) -> Self:
        """Return the plan as an assessor of a role meets it: the third may see the earlier two."""
        return self if arm in (None, THIRD) else replace(self, show_earlier=False)

    def draw_questions(self) -> list["GroupingQuestion"]:
        """Return a question for each topic, numbered from 1; only a second tile is drawn."""
        return [
            GroupingQuestion(number, topic, (*documents, *self._again(number, documents)))
            for number, (topic, documents) in enumerate(self.topics, 1)
        ]

    def _again(self, number: int, documents: tuple[str, ...]) -> list[str]:
        if not self.shown_twice:
            return []
        drawn = Positions(self.seed, number, CHECK_STREAM).below(len(documents))
        return [AGAIN + documents[drawn]]

    @classmethod
    def _read(cls, values: dict[str, Any], faults: list[Fault]) -> None:
        topics: Any = values.get("topics") or ()
        is_mapping = isinstance(topics, Mapping)
        pairs = topics.items() if is_mapping else topics
        wrong: list[Fault] = []
        try:
            read = [(topic, _documents(documents)) for topic, documents in pairs]
        except (TypeError, ValueError):
            text = "topics cannot be read; each topic needs a list of documents"
            wrong.append(Fault(("topics",), f"{text}, like - [near, [brick-2, brick-3]]"))
            read = []
        for index, (topic, documents) in enumerate(read):
            place = ("topics", topic if is_mapping else index)
            reasons = map(why_no_id, (topic, *documents))
            wrong += [Fault(place, text) for text in reasons if text]
        if wrong:  # as many, so that nothing else is wrong
            read = [(str(index), ("a", "b")) for index in range(len(read) or 1)]
        faults += wrong
        values["left_out"], wrong = _reasons(values.get("left_out") or ())
        faults += wrong
        left_out = dict(values["left_out"])
        read = [each for each in read if each[0] not in left_out]
        values["topics"] = tuple(read)
        if read:
            values["questions"] = len(read)
        try:
            values["known_pairs"] = tuple(map(_known_pair, values.get("known_pairs") or ()))
        except (TypeError, ValueError):
            text = "known_pairs cannot be read; each pair needs a topic, two documents, and"
            text = f"{text} together or apart, like - [near, brick-2, brick-3, together]"
            faults.append(Fault(("known_pairs",), text))
            values["known_pairs"] = ()

    def _tidy(self) -> None:
        super()._tidy()
        object.__setattr__(self, "arms", (FIRST, THIRD))

    def _arm_faults(self) -> Iterable[Fault]:
        return ()

    def _number_faults(self) -> Iterable[Fault]:
        if not self.topics:
            yield Fault(("topics",), "topics is empty; judgements with a relevant document fill it")
        yield from twice_faults(topic for topic, _ in self.topics)
        for topic, documents in self.topics:
            if len({*documents}) < len(documents):
                yield Fault(("topics", topic), f"topic {topic} has a document twice")
            if self.shown_twice and any(each.startswith(AGAIN) for each in documents):
                text = f"topic {topic} has a document whose id begins with {AGAIN}"
                yield Fault(("topics", topic), f"{text}; with shown_twice none may")
            if not 2 <= len(documents) <= MOST_DOCUMENTS:
                text = f"topic {topic} has {len(documents)} documents; 2 to {MOST_DOCUMENTS} can be"
                yield Fault(("topics", topic), f"{text} grouped")
        documents_of = {topic: {*documents} for topic, documents in self.topics}
        for topic, first, second, how in self.known_pairs:
            unknown = {first, second} - documents_of.get(topic, set())
            text = f"the pair {first}, {second} of topic {topic}"
            if unknown or first == second:
                why = f"not of this topic: {', '.join(sorted(unknown))}" if unknown else "the same"
                yield Fault(("known_pairs",), f"{text}: {why}; two documents of it are needed")
            elif how not in (TOGETHER, APART):
                allowed = f"{TOGETHER} or {APART} is allowed"
                yield Fault(("known_pairs",), f"{text}: {how!r} found; {allowed}")
        if self.design != "all":
            yield Fault(("design",), f"design is {self.design}; first assessors group all topics")


def is_again(tile: str) -> bool:
    """Return whether a tile shows a document a second time, as an attention check."""
    return tile.startswith(AGAIN)


def original(tile: str) -> str:
    """Return the document that a tile shows."""
    return tile.removeprefix(AGAIN)


def _reasons(given: Any) -> tuple[tuple[tuple[str, str], ...], list[Fault]]:
    """Return the topics that are left out with their reasons, and the faults of what was given."""
    pairs = [*given.items()] if isinstance(given, Mapping) else given
    try:
        read = (*{topic: tidy_text(reason) for topic, reason in pairs}.items(),)
    except (TypeError, ValueError, AttributeError):
        read = (("", ""),)
    if all(reason and len(reason) <= LONGEST_REASON for _, reason in read):
        wrong = [text for topic, _ in read if (text := why_no_id(topic))]
    else:
        wrong = [
            f"left_out cannot be read; each topic needs a reason of at most {LONGEST_REASON} "
            "characters, like - [near, too specific]"
        ]
    return () if wrong else read, [Fault(("left_out",), text) for text in wrong]


def _known_pair(pair: Iterable[object]) -> tuple[str, str, str, str]:
    """Return a pair as a plan holds it; raises TypeError or ValueError for anything else."""
    topic, first, second, how = _documents(pair)
    return str(topic), str(first), str(second), str(how)


def _documents(documents: Iterable[object]) -> tuple[object, ...]:
    if isinstance(documents, str):
        raise TypeError("a text, which would be read letter by letter")
    return (*documents,)


@dataclass(frozen=True)
class GroupingQuestion(DeclaredQuestion):
    """A topic and its relevant documents; the digest of the items covers what the ids stand for."""

    topic: str = declared(Rule(doc="id of the topic"))
    documents: tuple[str, ...] = declared(
        Words(doc="the topic's relevant documents, with spaces between")
    )
