"""The parts of a labelling plan that come from files: pools, judgements, gold, named grades."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from survey.core.collections.labels import HIGHEST_GRADE
from survey.core.collections.pools import DEEPEST_POOL, ORDERS, RANDOM, StudyPool
from survey.core.studies.fields import Fault, is_storable, unknown_field
from survey.core.studies.provenance import why_no_id
from survey.core.text_input import parse_whole

FEWEST_GRADES, MOST_GRADES = 2, 6
LONGEST_GRADE_NAME, LONGEST_REASON = 60, 2_000
POOL_KEYS = ("order", "depth", "runs", "documents", "sources")

Judged = Mapping[str, Mapping[str, int]]
"""Topic → document → grade."""


@dataclass(frozen=True)
class Grade:
    """A named grade."""

    value: int
    name: str


@dataclass(frozen=True)
class Gold:
    """A document whose relevance is known, and why."""

    topic: str
    document: str
    relevance: int
    reason: str = ""

    def is_right(self, grade: int, level: int) -> bool:
        """Return whether a grade is on the known side of the level at which relevance begins."""
        return (grade >= level) == (self.relevance >= level)


def read_pool(stored: object, faults: list[Fault]) -> StudyPool | None:
    """Parse the pool of a plan and add its faults."""
    place = ("pool",)
    if isinstance(stored, StudyPool):
        faults += _order_faults(stored.order)
        return stored
    if not stored:
        return None
    if not isinstance(stored, Mapping):
        faults.append(Fault(place, f"pool is {stored!r}; depth and order are needed"))
        return None
    unknown = [str(key) for key in stored if key not in POOL_KEYS]
    wrong = [unknown_field(key, POOL_KEYS, "a pool").under("pool") for key in unknown]
    order, depth = stored.get("order", RANDOM), stored.get("depth")
    wrong += _order_faults(order)
    if depth is not None and (type(depth) is not int or not 1 <= depth <= DEEPEST_POOL):
        text = f"depth is {depth!r}; 1 to {DEEPEST_POOL} are allowed"
        wrong.append(Fault((*place, "depth"), text))
    runs: dict[str, dict[str, tuple[str, ...]]] = {}
    named = stored.get("runs") or {}
    if not isinstance(named, Mapping):
        text = "runs cannot be read; each run needs its documents by topic"
        wrong.append(Fault((*place, "runs"), text))
        named = {}
    for name, topics in named.items():
        runs[str(name)] = _topics((*place, "runs", str(name)), topics, wrong)
    documents = _topics((*place, "documents"), stored.get("documents") or {}, wrong)
    sources = stored.get("sources") or ()
    pairs: tuple[Any, ...] = tuple(sources) if isinstance(sources, list | tuple) else (sources,)
    if not all(map(_is_source, pairs)):
        text = f"sources is {sources!r}; a list of pairs of a file's name and SHA-256 is needed"
        wrong.append(Fault((*place, "sources"), text))
    if not wrong and not runs and not documents:
        text = "pool has no documents; --run with --pool-depth, or --pool, gives them"
        wrong.append(Fault(place, text))
    faults += wrong
    if wrong:
        return None
    named_files = tuple((name, digest) for name, digest in pairs)
    return StudyPool(order, depth, runs, documents, named_files)


def _order_faults(order: object) -> list[Fault]:
    if isinstance(order, str) and order in ORDERS:
        return []
    return [Fault(("pool", "order"), f"order is {order!r}; allowed is {', '.join(ORDERS)}")]


def _is_source(pair: object) -> bool:
    return (
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and all(isinstance(part, str) for part in pair)
    )


def _topics(
    place: tuple[str, ...], topics: object, faults: list[Fault]
) -> dict[str, tuple[str, ...]]:
    """Return the documents of each topic, and add the faults of ids."""
    if not isinstance(topics, Mapping):
        text = f"{place[-1]} cannot be read; each topic needs a list of documents"
        faults.append(Fault(place, text))
        return {}
    made = {}
    for topic, documents in topics.items():
        listed: tuple[Any, ...] = tuple(documents) if isinstance(documents, list | tuple) else ()
        reasons = [why_no_id(name) for name in (topic, *listed)]
        if not listed:
            reasons.append("a list of documents is needed")
        if len({*map(str, listed)}) < len(listed):
            reasons.append("a document is there twice")
        if text := next(filter(None, reasons), ""):
            faults.append(Fault((*place, str(topic)), text))
        made[str(topic)] = listed
    return made


def read_judged(stored: object, pool: StudyPool | None, faults: list[Fault]) -> Judged | None:
    """Parse earlier judgements, of the pool's documents alone, and add their faults."""
    if stored in (None, "", (), [], {}):
        return None
    if not isinstance(stored, Mapping):
        faults.append(Fault(("judged",), f"judged is {stored!r}; {_file_words('judgements')}"))
        return None
    pairs = pool.pairs if pool else frozenset()
    judged: dict[str, dict[str, int]] = {}
    for topic, documents in stored.items():
        if not isinstance(documents, Mapping):
            text = f"{documents!r} found; a grade for each document is needed, like {{d1: 1}}"
            faults.append(Fault(("judged", str(topic)), text))
            continue
        for document, written in documents.items():
            grade = _whole(written)
            if grade is None:
                text = f"{written!r} found for {document}; a whole number is needed"
                faults.append(Fault(("judged", str(topic)), text))
            elif grade >= 0 and (topic, document) in pairs:
                judged.setdefault(str(topic), {})[str(document)] = grade
    return judged


def read_gold(stored: object, faults: list[Fault]) -> tuple[Gold, ...]:
    """Parse documents with known answers and add their faults."""
    if not stored:
        return ()
    if not isinstance(stored, list | tuple):
        faults.append(Fault(("gold",), f"gold is {stored!r}; {_file_words('gold documents')}"))
        return ()
    made = []
    for index, row in enumerate(stored):
        if isinstance(row, Gold):
            made.append(row)
            continue
        place = ("gold", index)
        if not isinstance(row, Mapping) or {*row} - {"topic", "document", "relevance", "reason"}:
            faults.append(Fault(place, f"{row!r} found; topic, document and relevance needed"))
            continue
        relevance, reason = _whole(row.get("relevance")), row.get("reason") or ""
        wrong = [why_no_id(row.get(name)) for name in ("topic", "document")]
        if relevance is None:
            wrong.append(f"relevance is {row.get('relevance')!r}; a whole number is needed")
        if not isinstance(reason, str) or not is_storable(reason) or len(reason) > LONGEST_REASON:
            wrong.append(f"reason needs a text of at most {LONGEST_REASON} characters")
        faults += [Fault(place, text) for text in wrong if text]
        if not any(wrong):
            made.append(Gold(row["topic"], row["document"], relevance or 0, reason))
    return tuple(made)


def read_grades(stored: object, faults: list[Fault]) -> tuple[Grade, ...]:
    """Parse named grades and add their faults."""
    if not stored:
        return ()
    made: list[Grade] = []
    wrong: list[Fault] = []
    for index, row in enumerate(stored if isinstance(stored, list | tuple) else [stored]):
        if isinstance(row, Grade):
            made.append(row)
            continue
        is_grade = isinstance(row, Mapping) and {*row} == {"value", "name"}
        value, name = (row["value"], row["name"]) if is_grade else (None, "")
        if type(value) is not int or not 0 <= value <= HIGHEST_GRADE or not _is_name(name):
            text = f"{row!r} found; a value from 0 to {HIGHEST_GRADE} and a name of at most "
            text += f"{LONGEST_GRADE_NAME} characters are needed, like {{value: 1, name: Relevant}}"
            wrong.append(Fault(("grades", index), text))
        else:
            made.append(Grade(value, name.strip()))
    if not wrong and not FEWEST_GRADES <= len(made) <= MOST_GRADES:
        text = f"grades has {len(made)}; {FEWEST_GRADES} to {MOST_GRADES} are allowed"
        wrong.append(Fault(("grades",), text))
    for what in ("value", "name"):
        if not wrong and len({getattr(grade, what) for grade in made}) < len(made):
            wrong.append(Fault(("grades",), f"grades has a {what} twice; each is allowed once"))
    faults += wrong
    return () if wrong else tuple(sorted(made, key=lambda grade: grade.value))


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name.strip()) <= LONGEST_GRADE_NAME
        and is_storable(name)
        and "\n" not in name
    )


def _whole(written: object) -> int | None:
    if isinstance(written, str):
        return parse_whole(written, signed=True)
    return written if type(written) is int else None


def _file_words(what: str) -> str:
    return f"`survey study new --from` reads a file beside the plan; here the {what} are needed"
