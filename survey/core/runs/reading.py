"""TREC's files, line by line: judgements and runs, and what two files of ours add to them.

Fields are separated by blanks. Empty lines and lines that start with # do not count. Every
reader takes the file's name and lines, and adds to ``faults`` a sentence for each line that
cannot be, with file and line number; what the other lines say is returned.
"""

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from survey.core.stimuli.own_lists import OwnListsError, shortened

Judgements = Mapping[str, Mapping[str, int]]
"""Topic → document → relevance, topics in the order of the file."""
Run = Mapping[str, Mapping[str, float]]
"""Topic → document → score."""
Runs = Mapping[str, Run]
"""Name → run, in the order of tables."""
Clusters = Mapping[str, Mapping[str, frozenset[str]]]
"""Topic → relevant document → its clusters; none for one that nobody could place."""
Weights = Mapping[str, Mapping[str, float]]
"""Topic → document → the share of annotators who chose it, above 0 and up to 1."""

QRELS_LINE = "topic iteration docid relevance"
RUN_LINE = "topic Q0 docid rank score tag"
WEIGHTS_LINE = "topic docid weight"
CLUSTERS_LINE = "topic docid cluster"
IN_NO_CLUSTER = "unknown"
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

Value = TypeVar("Value")


class RunsError(OwnListsError):
    """Judgements and runs that cannot be used; ``faults`` says why, as for own lists."""


def stop_if_any(faults: Sequence[str]) -> None:
    """Raise RunsError where something is wrong."""
    if faults:
        raise RunsError(faults)


@dataclass(frozen=True)
class _Form(Generic[Value]):
    """What a line holds: its fields, and the one that is read beside topic and document.

    ``value``: the field's name; ``read``: its text → the value, None where it cannot be;
    ``allowed`` and ``again`` end the sentences about a bad value and a second line.
    """

    line: str
    value: str
    read: Callable[[str], Value | None]
    allowed: str
    again: str


def read_judgements(
    file: str, lines: Iterable[str], faults: list[str], highest: int | None = None
) -> Judgements:
    """Read qrels, ``topic iteration docid relevance``; relevance up to ``highest``, if given.

    Above 0 is relevant, 0 judged not relevant, and what is below 0 counts as not judged.
    """
    bound = "" if highest is None else f" up to {highest}"

    def relevance(found: str) -> int | None:
        known = re.fullmatch(r"[+-]?[0-9]{1,9}", found) is not None
        return int(found) if known and (highest is None or int(found) <= highest) else None

    allowed = f"a whole number{bound} is allowed"
    again = "one judgement for each is allowed"
    form = _Form(QRELS_LINE, "relevance", relevance, allowed, again)
    return _read(form, file, lines, faults)


def read_run(file: str, lines: Iterable[str], faults: list[str]) -> Run:
    """Read a run, ``topic Q0 docid rank score tag``; only the score says what comes first."""
    again = "a run may return it once"
    form = _Form(RUN_LINE, "score", _number, "a number is allowed", again)
    return _read(form, file, lines, faults)


def read_weights(file: str, lines: Iterable[str], faults: list[str]) -> Weights:
    """Read weights, ``topic docid weight``: the share of annotators, 0 < weight ≤ 1."""

    def share(found: str) -> float | None:
        weight = _number(found)
        return weight if weight is not None and 0 < weight <= 1 else None

    allowed, again = "a share above 0 and up to 1 is allowed", "one weight for each is allowed"
    form = _Form(WEIGHTS_LINE, "weight", share, allowed, again)
    return _read(form, file, lines, faults)


def read_clusters(file: str, lines: Iterable[str], faults: list[str]) -> Clusters:
    """Read clusters, ``topic docid cluster``, where the cluster is the rest of the line.

    A document in several clusters has several lines. The cluster ``unknown`` stands for
    none: the document is relevant, and nobody could place it.
    """
    topics: dict[str, dict[str, frozenset[str]]] = {}
    for number, fields in _numbered(lines):
        if len(fields) < 3:
            where = f"{file}, line {number}"
            faults.append(_malformed(where, fields, CLUSTERS_LINE, "or more "))
            continue
        topic, document, *words = fields
        name = " ".join(words)
        documents = topics.setdefault(topic, {})
        known = documents.get(document, frozenset())
        documents[document] = known if name == IN_NO_CLUSTER else known | {name}
    return topics


def lines_of(text: str) -> Iterable[str]:
    """Split a text as a file is: at \\n, \\r\\n and \\r, and nowhere else."""
    return io.StringIO(text, newline=None)


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Give the fields of each line with its number; without empty lines and comments."""
    for number, line in enumerate(lines, 1):
        fields = (line.removeprefix("\ufeff") if number == 1 else line).split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _read(
    form: _Form[Value], file: str, lines: Iterable[str], faults: list[str]
) -> dict[str, dict[str, Value]]:
    names = form.line.split()
    place, at = names.index("docid"), names.index(form.value)
    topics: dict[str, dict[str, Value]] = {}
    for number, fields in _numbered(lines):
        where = f"{file}, line {number}"
        if len(fields) != len(names):
            faults.append(_malformed(where, fields, form.line))
            continue
        topic, document = fields[0], fields[place]
        documents = topics.setdefault(topic, {})
        if (value := form.read(fields[at])) is None:
            faults.append(f"{where}: {form.value} {shortened(fields[at])} found; {form.allowed}")
        elif document in documents:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                f"again; {form.again}"
            )
        else:
            documents[document] = value
    return topics


def _number(found: str) -> float | None:
    number = float(found) if NUMBER.fullmatch(found) else math.inf
    return number if math.isfinite(number) else None


def _malformed(where: str, fields: Sequence[str], allowed: str, more: str = "") -> str:
    count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
    found = shortened(" ".join(fields))
    needed = f"{len(allowed.split())} {more}are allowed"
    return f"{where}: {count} found, {found}; {needed}: {allowed}"
