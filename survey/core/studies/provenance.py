"""Where a study's lists come from: topics, runs, the documents that these returned, and files.

Participants see none of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, NamedTuple, Self

from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.preflight import CHANGES, Warned
from survey.core.studies.fields import Fault, is_storable
from survey.core.text_input import Json

MOST_STORED_RESULTS = 20  # first results of a list that are stored
LONGEST_SOURCE_NAME = 1_000  # characters of a topic, a run or a document
JUDGEMENTS, RUN, CLUSTERS = "judgements", "run", "clusters"  # what a file is
SHA256 = re.compile(r"[0-9a-f]{64}")


class SourceFile(NamedTuple):
    """A file that lists were read from; ``role``: JUDGEMENTS, RUN or CLUSTERS."""

    role: str
    name: str
    sha256: str


@dataclass(frozen=True)
class QuestionSource:
    """A question's topic, and for each letter the list's run and its first documents.

    ``unreturned``: letter → how many relevant documents the run did not return, where there are
    some; these have the list's last positions.
    """

    topic: str
    runs: Mapping[str, str]
    documents: Mapping[str, tuple[str, ...]]
    unreturned: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """Return all of it as plain values."""
        content: dict[str, Json] = {"topic": self.topic, "runs": {**self.runs}}
        content["documents"] = {**self.documents}
        if self.unreturned:
            content["unreturned"] = {**self.unreturned}
        return content

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what ``as_json`` wrote."""
        documents = {letter: tuple(row) for letter, row in sorted(stored["documents"].items())}
        runs = dict(sorted(stored["runs"].items()))
        return cls(stored["topic"], runs, documents, stored.get("unreturned", {}))


@dataclass(frozen=True)
class Provenance:
    """The topic of each question, the runs of its lists, and the files they were read from.

    ``documents``: question → run → its first documents, MOST_STORED_RESULTS at most. How the files
    were read: ``ids``, names of changes to documents' ids; ``distances``, whether smaller scores
    are better; ``relevant_from``, see ``Setting``. ``warnings``: what was to be known of the files.
    ``unreturned``: question → run → how many relevant documents it did not return, () where all
    were. ``size_unknown``: whether the size of the collection is only the smallest that is
    possible.
    """

    topics: tuple[str, ...]
    runs: tuple[str, ...]
    documents: tuple[tuple[tuple[str, ...], ...], ...]
    sources: tuple[SourceFile, ...]
    ids: tuple[str, ...] = ()
    distances: bool = False
    relevant_from: int = 1
    warnings: tuple[Warned, ...] = ()
    unreturned: tuple[tuple[int, ...], ...] = ()
    size_unknown: bool = False

    def of_question(
        self, number: int, letters: Sequence[str], order: Sequence[int], depth: int
    ) -> QuestionSource:
        """Return the source of a question; ``order``: for each letter the index of its run."""
        documents, run_of = self.documents[number - 1], dict(zip(letters, order, strict=True))
        return QuestionSource(
            topic=self.topics[number - 1],
            runs={letter: self.runs[run] for letter, run in run_of.items()},
            documents={letter: documents[run][:depth] for letter, run in run_of.items()},
            unreturned={
                letter: count
                for letter, run in run_of.items()
                if self.unreturned and (count := self.unreturned[number - 1][run])
            },
        )

    @property
    def sentence(self) -> str:
        """Where the lists come from: runs, topics, and the files' names."""
        judged = ", ".join(each.name for each in self.sources if each.role == JUDGEMENTS)
        runs, topics = ", ".join(self.runs), len(self.topics)
        of_topics = f"{topics} topic{'s' * (topics != 1)}"
        return f"Its lists are those of the runs {runs} for {of_topics}, judged in {judged}."

    def as_json(self) -> dict[str, Json]:
        """Return all of it as plain values, without what has its default."""
        defaults = {each.name: each.default for each in fields(self)}
        content: dict[str, Json] = {
            name: value for name, value in vars(self).items() if value != defaults[name]
        }
        content["sources"] = [source._asdict() for source in self.sources]
        if self.warnings:
            content["warnings"] = [warning.as_json() for warning in self.warnings]
        return content

    @classmethod
    def from_json(cls, stored: object) -> Self:
        """Return what ``as_json`` wrote; raises TypeError or ValueError for anything else."""
        needed = [each.name for each in fields(cls) if each.default is MISSING]
        if not isinstance(stored, Mapping) or not {*needed} <= {*stored} <= {*cls.__annotations__}:
            raise ValueError(f"the keys {', '.join(needed)} are needed")
        provenance = cls(
            topics=_names(stored["topics"]),
            runs=_names(stored["runs"], with_blanks=True),
            documents=tuple(tuple(map(_names, lists)) for lists in stored["documents"]),
            sources=tuple(SourceFile(**source) for source in stored["sources"]),
            ids=tuple(stored.get("ids", ())),
            distances=stored.get("distances", False),
            relevant_from=stored.get("relevant_from", 1),
            warnings=tuple(map(Warned.from_json, stored.get("warnings", ()))),
            unreturned=tuple(map(_counts, stored.get("unreturned", ()))),
            size_unknown=stored.get("size_unknown", False) is True,
        )
        if not {*provenance.ids} <= {*CHANGES}:
            raise ValueError(f"ids has {provenance.ids}; {', '.join(CHANGES)} are allowed")
        if not isinstance(provenance.distances, bool):
            raise ValueError(f"distances is {provenance.distances!r}; true or false is needed")
        if provenance.relevant_from not in range(1, HIGHEST_GRADE + 1):
            raise ValueError(f"relevant_from is {provenance.relevant_from!r}; 1 to 30 is allowed")
        for role, name, digest in provenance.sources:
            known = role in (JUDGEMENTS, RUN, CLUSTERS) and SHA256.fullmatch(digest)
            if not known or not is_storable(name) or not 0 < len(name) <= LONGEST_SOURCE_NAME:
                raise ValueError(f"the source {name!r} needs a role, a name and a SHA-256")
        return provenance

    def faults(self, questions: int, lists: int) -> Iterator[Fault]:
        """Yield a fault where it does not fit a study of so many questions and lists."""
        place = ("provenance",)
        if len(self.topics) != questions or len(self.documents) != questions:
            yield Fault(place, f"provenance has {len(self.topics)} topics, not {questions}")
        elif len(self.runs) != lists or {len(each) for each in self.documents} != {lists}:
            yield Fault(place, f"provenance has {len(self.runs)} runs, not {lists}")
        elif self.unreturned and [*map(len, self.unreturned)] != [lists] * questions:
            yield Fault(place, "provenance counts unreturned documents of other lists")
        for what, names in (("topic", self.topics), ("run", self.runs)):
            if len({*names}) < len(names):
                yield Fault(place, f"provenance names a {what} twice")
        if any(len(row) > MOST_STORED_RESULTS for each in self.documents for row in each):
            yield Fault(
                place, f"provenance has more than {MOST_STORED_RESULTS} documents of a list"
            )


def _counts(values: Iterable[Any]) -> tuple[int, ...]:
    counts = tuple(values)
    if any(type(count) is not int or count < 0 for count in counts):
        raise ValueError(f"unreturned has {counts}; whole numbers from 0 on are needed")
    return counts


def why_no_id(value: object) -> str:
    """Return why a value cannot be the id of a topic or a document, "" where it can."""
    if value is None:
        return "nothing found; an id is needed, and in YAML null and ~ need quotes to be one"
    if not isinstance(value, str):
        return f"{value!r} found; an id is needed, and a number needs quotes to be one"
    if value.split() != [value] or not is_storable(value):
        return f"{value!r} found; an id has no blanks"
    if len(value) > LONGEST_SOURCE_NAME:
        return f"an id of {len(value)} characters found; {LONGEST_SOURCE_NAME} are allowed"
    return ""


def twice_faults(topics: Iterable[str]) -> Iterator[Fault]:
    """Yield a fault for each topic that a plan has more than once."""
    for topic, count in Counter(topics).items():
        if count > 1:
            yield Fault(("topics",), f"topics has {topic!r} {count} times; once is allowed")


def _names(names: Iterable[Any], *, with_blanks: bool = False) -> tuple[str, ...]:
    """Return names that databases can store; a cell holds several, separated by blanks."""
    if isinstance(names, str):
        raise TypeError(f"{names!r} found; a list is needed")
    checked = tuple(names)
    for name in checked:
        if not isinstance(name, str) or not is_storable(name) or not name.strip():
            raise ValueError(f"{name!r} found; a name that can be stored is needed")
        if name.split() != [name] and not with_blanks:
            raise ValueError(f"{name!r} found; a name without blanks is needed")
        if len(name) > LONGEST_SOURCE_NAME:
            raise ValueError(
                f"a name of {len(name)} characters found; {LONGEST_SOURCE_NAME} are allowed"
            )
    return checked
