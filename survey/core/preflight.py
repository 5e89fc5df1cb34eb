"""What a researcher should know of files that were taken: warnings, each with a code."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Self, TypeVar

from survey.core.collections.evaluation import ENOUGH_TOPICS, FEWEST_TOPICS
from survey.core.collections.runs import Judgements, Run, RunFacts, Runs, ranking
from survey.core.text_input import FaultyFilesError, visible

FIRST = 10  # documents of a run, of which most should be judged
ENOUGH, MUCH_FEWER = 0.5, 0.2  # shares of judged documents
MANY_TIES = 0.05
CODES = (  # of warnings about runs, in the order in which they are told
    *("ids-differ", "no-document-judged", "none-relevant", "few-judged"),
    *("topics-missing", "topics-not-judged"),
    *("ranks-reversed", "rank-conflict", "tied-scores", "comments"),
    *("measures-left-out", "few-topics", "level"),
)
STOPS_OF_STUDIES = ("no-document-judged", "ranks-reversed")
NO_TOPIC = "No topic is in both files"
ITEMS, TOPICS = "items", "topics"  # of which warnings are
NOTE, WARNING, STOP = "note", "warning", "stop"

Value = TypeVar("Value")


@dataclass(frozen=True)
class Warned:
    """A warning about a run or a file, ``of`` which it is.

    ``text``: a sentence without its full stop. ``count`` of ``total`` are concerned; ``example``:
    one of this side and one of the other. ``level``: NOTE, WARNING, or STOP: with it a study cannot
    open.
    """

    code: str
    of: str
    text: str
    count: int = 0
    total: int = 0
    example: tuple[str, ...] = ()
    level: str = WARNING

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "example": [*self.example]}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Return what ``as_json`` wrote; raises TypeError or ValueError for anything else."""
        warned = cls(**{**stored, "example": tuple(stored.get("example", ()))})
        texts = (warned.code, warned.of, warned.text, warned.level, *warned.example)
        numbers = (warned.count, warned.total)
        if not all(isinstance(text, str) for text in texts) or not all(
            isinstance(number, int) for number in numbers
        ):
            raise ValueError(f"{stored!r} found; a warning has texts and whole numbers")
        return warned


def columns_not_read(file: str, columns: Sequence[str]) -> list[Warned]:
    """Return the warning about columns of a file that are not read; none without any."""
    if not columns:
        return []
    text = f"{file}: columns not read: {', '.join(columns)}"
    return [Warned("columns-not-read", file, text, len(columns))]


def tables_checked(files: Mapping[str, Sequence[str]]) -> list[Warned]:
    """Return the warnings of several files; ``files``: a file → the columns that are not read."""
    return [each for file, columns in files.items() for each in columns_not_read(file, columns)]


def runs_checked(
    judgements: Judgements,
    runs: Runs,
    facts: Mapping[str, RunFacts],
    *,
    of_study: bool = False,
    side: "Side | None" = None,
) -> list[Warned]:
    """Compare the ids, ranks and scores of runs with judgements; values do not change.

    ``facts``: of the runs whose files were read. ``of_study``: whether people will judge the lists,
    so that some warnings are stops; judgements are those of its topics then. ``side``: what
    takes the place of judgements: then it knows every document, and its topics are the runs'.
    """
    is_judged = side is None
    found = [*_topic_warnings(judgements, runs)] if is_judged and not of_study else []
    strange = set()  # runs whose ids do not meet: that few are judged says nothing more
    for name, run in runs.items():
        of_ids = [*_id_warnings(judgements, f"Run {name}", name, run, side or JUDGEMENTS)]
        strange |= {name for _ in of_ids}
        if not of_ids and is_judged:
            found += _none_relevant(judgements, name, run)
        found += of_ids
        if name in facts:
            found += _rank_warnings(name, run, facts[name])
        found += _tie_warnings(name, run)
    if is_judged:
        shares = {name: _share_judged(judgements, run) for name, run in runs.items()}
        found += _few_judged(shares, strange)
    if of_study:
        stops = STOPS_OF_STUDIES
        found = [replace(each, level=STOP) if each.code in stops else each for each in found]
    return sorted(found, key=lambda each: CODES.index(each.code))


def scores_checked(
    judgements: Judgements,
    measures_left_out: Sequence[str],
    tested_topics: int | None,
    relevant_from: int | None,
) -> list[Warned]:
    """Return what is to be known of the scores of runs.

    ``measures_left_out``: for lack of the collection's size. ``tested_topics``: None without a
    test; ``relevant_from``: None where no measure is binary, or each names its grade.
    """
    found = []
    if measures_left_out:
        text = f"{', '.join(measures_left_out)} left out: give --collection-size"
        found.append(Warned("measures-left-out", "", text, len(measures_left_out)))
    if tested_topics is not None and tested_topics < ENOUGH_TOPICS:
        topics = "1 topic" if tested_topics == 1 else f"{tested_topics} topics"
        too_few = ", so there are no stars" if tested_topics < FEWEST_TOPICS else ""
        text = f"Only {topics}: tests say little{too_few}"
        found.append(Warned("few-topics", "", text, tested_topics, ENOUGH_TOPICS))
    highest = max((grade for grades in judgements.values() for grade in grades.values()), default=0)
    if highest > 1 and relevant_from == 1:
        text = (
            f"Grades are 0 to {highest}. Binary measures count 1 and more; --relevant-from 2 "
            "changes it"
        )
        found.append(Warned("level", "", text, highest, level=NOTE))
    return found


class Shown(NamedTuple):
    """What a study's questions name, and what there is to show of it.

    ``documents``: topic → documents of its lists; ``items``, ``topics``: what there is; those with
    a picture or text are ``seen_items`` and ``seen_topics``. ``other_items``: of topics' pictures.
    """

    documents: Mapping[str, Collection[str]]
    items: Collection[str]
    seen_items: Collection[str]
    topics: Collection[str]
    seen_topics: Collection[str]
    other_items: Collection[str] = ()


def items_checked(shown: Shown, *, needed: bool) -> list[Warned]:
    """Compare the documents and topics of a study's questions with its items and topics.

    ``needed``: whether questions show them; then it is a stop where none of them is there.
    """
    listed = {document for documents in shown.documents.values() for document in documents}
    missing = [
        document
        for topic in shown.documents
        for document in sorted({*shown.documents[topic]} - {*shown.seen_items})
    ]
    found = []
    count = len({*missing})
    if count:
        example = (missing[0], *_like(missing[0], shown.items))
        other = f"; items have “{visible(example[1])}”" if example[1:] else ""
        text = (
            f"{count} of {len(listed)} documents of the lists {_have(count)} no item (first: "
            f"“{visible(missing[0])}”{other})"
        )
        level = STOP if needed and count == len(listed) else WARNING
        found.append(Warned("items-missing", ITEMS, text, count, len(listed), example, level))
    unused = sorted({*shown.items} - listed - {*shown.other_items})
    if unused and listed:
        total = len(shown.items)
        text = f"{len(unused)} of {total} items {_are(len(unused))} in no list"
        text += f" (first: “{visible(unused[0])}”)"
        found.append(Warned("items-unused", ITEMS, text, len(unused), total, (unused[0],)))
    lacking = [topic for topic in shown.documents if topic not in shown.seen_topics]
    if lacking and (needed or shown.topics):
        example = (lacking[0], *_like(lacking[0], shown.topics))
        other = f"; topics have “{visible(example[1])}”" if example[1:] else ""
        total = len(shown.documents)
        text = (
            f"{len(lacking)} of {total} topics {_have(len(lacking))} no text or picture (first: "
            f"“{visible(lacking[0])}”{other})"
        )
        level = STOP if needed and len(lacking) == total else WARNING
        found.append(
            Warned("topics-without-text", TOPICS, text, len(lacking), total, example, level)
        )
    spare = sorted({*shown.topics} - {*shown.documents})
    if spare:
        total = len(shown.topics)
        text = f"{len(spare)} of {total} topics {_are(len(spare))} in no question"
        text += f" (first: “{visible(spare[0])}”)"
        found.append(Warned("topics-unused", TOPICS, text, len(spare), total, (spare[0],)))
    return found


def _like(name: str, others: Collection[str]) -> tuple[str, ...]:
    """Return the first of other ids that a change makes equal to an id, () without such a one."""
    for change in CHANGES.values():
        own = change.apply(name)
        alike = sorted(each for each in others if each != name and change.apply(each) == own)
        if alike:
            return (alike[0],)
    return ()


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def marks_checked(
    judgements: Judgements, marks: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> list[Warned]:
    """Compare the ids of documents with weights or clusters with those of the judgements.

    ``marks``: the name of a file → topic → document → anything.
    """
    return [
        warning
        for file, topics in marks.items()
        for warning in _id_warnings(judgements, f"File {file}", file, topics, JUDGEMENTS)
        if warning.code == "ids-differ"
    ]


def topics_fault(
    judged: Collection[str], of_runs: Collection[str], side: str = "judgements"
) -> str:
    """Say that no topic is in both, with one of each side and how they differ; "" if one is.

    ``side``: what the first are of.
    """
    if not judged or not of_runs or {*judged} & {*of_runs}:
        return ""
    one, other = min(of_runs), min(judged)
    for words, change in CHANGES.values():
        there = {change(topic): topic for topic in judged}
        met = sorted(topic for topic in of_runs if change(topic) in there)
        if met:
            pair = f"“{visible(met[0])}” and “{visible(there[change(met[0])])}”"
            return f"{NO_TOPIC}. Topics of runs and {side} differ by {words}: {pair}"
    return f"{NO_TOPIC}: “{one}” is one of the runs', “{other}” of the {side}'"


def _without_zeros(text: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)


def _without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


def _without_extension(text: str) -> str:
    return re.sub(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{0,4}\Z", "", text)


class IdChange(NamedTuple):
    """What ids of two files differ by, in words, and the function that takes it away."""

    words: str
    apply: Callable[[str], str]


CHANGES: Mapping[str, IdChange] = {
    "without-extension": IdChange("the extension", _without_extension),
    "without-folder": IdChange(
        "the folder", lambda text: text.replace("\\", "/").rpartition("/")[2]
    ),
    "without-zeros": IdChange("leading zeros", _without_zeros),
    "any-case": IdChange("upper and lower case", str.casefold),
    "without-blanks": IdChange("blanks that are not ASCII", _without_blanks),
}
"""By the name that --ids has for it."""


def changed_ids(
    topics: Mapping[str, Mapping[str, Value]], changes: Sequence[str], of: str
) -> dict[str, dict[str, Value]]:
    """Return documents under changed ids; raise FaultyFilesError where two become equal.

    ``topics``: topic → document → anything; ``changes``: names in CHANGES; ``of``: for the error.
    """
    changed: dict[str, dict[str, Value]] = {}
    for topic, documents in topics.items():
        before: dict[str, str] = {}
        for document in documents:
            name = reduce(lambda text, change: CHANGES[change].apply(text), changes, document)
            if (other := before.setdefault(name, document)) != document:
                both = f"“{other}” and “{document}” of topic “{topic}”"
                option = " ".join(changes)
                raise FaultyFilesError([f"{of}: --ids {option} makes {both} one document"])
        changed[topic] = {name: documents[document] for name, document in before.items()}
    return changed


def run_as_meant(
    run: Run, facts: RunFacts, ids: Sequence[str], name: str, distances: bool = False
) -> tuple[Run, RunFacts]:
    """Return a run and its facts with changed ids, and with distances as scores below 0."""
    if ids:
        by_rank = {
            topic: {document: rank for rank, document in enumerate(documents)}
            for topic, documents in facts.order.items()
        }
        order = changed_ids(by_rank, ids, f"run {name}")
        run = changed_ids(run, ids, f"run {name}")
        facts = replace(facts, order={topic: (*each,) for topic, each in order.items()})
    if distances:
        run = {
            topic: {document: -score for document, score in scores.items()}
            for topic, scores in run.items()
        }
    return run, facts


class Side(NamedTuple):
    """What documents of runs are compared with, and the words for those that are not in it."""

    name: str
    lack: str
    would: str
    none: str


JUDGEMENTS = Side("judgements", "are not judged", "would be", "is judged")
KEYWORDS = Side("keywords", "have no keywords", "would have some", "has keywords")


def _id_warnings(
    judgements: Judgements,
    subject: str,
    of: str,
    run: Mapping[str, Mapping[str, Any]],
    side: Side,
) -> Iterator[Warned]:
    """Yield that documents are judged under other ids, or that none is judged.

    ``subject``: whose documents they are, ``of`` which the warning is.
    """
    pairs = [(topic, doc) for topic in run if topic in judgements for doc in run[topic]]
    unjudged = [(topic, doc) for topic, doc in pairs if doc not in judgements[topic]]
    if not unjudged:
        return
    best: tuple[int, tuple[str, ...], tuple[str, ...]] = (0, (), ())
    singles: list[tuple[str, ...]] = [(name,) for name in CHANGES]
    for changes in (*singles, *combinations(CHANGES, 2)):
        met = _met(judgements, run, unjudged, [CHANGES[change].apply for change in changes])
        if len(met) > best[0]:
            best = len(met), changes, min(met)
    total = len(pairs)
    if best[0]:
        count, changes, (_, doc, other) = best
        words = " and ".join(CHANGES[change].words for change in changes)
        yield Warned(
            "ids-differ",
            of,
            f"{subject}: {count} of {total} documents {side.lack} under their ids, and "
            f"{side.would} without {words} ({subject.partition(' ')[0].lower()} “{visible(doc)}”, "
            f"{side.name} “{visible(other)}”). They count as not relevant. "
            f"`--ids {' '.join(changes)}` reads them so",
            *(count, total, (doc, other)),
        )
    elif len(unjudged) == total:
        topic, doc = min(unjudged)
        other = min(judgements[topic])
        yield Warned(
            "no-document-judged",
            of,
            f"{subject}: none of its {total} documents {side.none} (run “{visible(doc)}”, "
            f"{side.name} “{visible(other)}”). All values are 0",
            *(total, total, (doc, other)),
        )


def _met(
    judgements: Judgements,
    run: Mapping[str, Mapping[str, Any]],
    unjudged: Iterable[tuple[str, str]],
    changes: Sequence[Callable[[str], str]],
) -> list[tuple[str, str, str]]:
    """Return (topic, document, judged document) that changes make equal; [] if they merge ids."""

    def change(text: str) -> str:
        return reduce(lambda part, apply: apply(part), changes, text)

    met = []
    by_topic: dict[str, dict[str, str]] = {}
    for topic, doc in unjudged:
        if topic not in by_topic:
            judged = judgements[topic]
            by_topic[topic] = {change(other): other for other in judged}
            changed = {change(other) for other in run[topic]}
            if len(by_topic[topic]) < len(judged) or len(changed) < len(run[topic]):
                return []
        other = by_topic[topic].get(change(doc))
        if other is not None:
            met.append((topic, doc, other))
    return met


def topics_left_out(judgements: Judgements, runs: Runs) -> list[Warned]:
    """Return which topics are no questions of a study, since a run or the judgements lack them."""
    end = "They are left out"
    return [
        replace(each, text=f"{each.text.rpartition('. ')[0]}. {end}")
        for each in _topic_warnings(judgements, runs)
    ]


def _none_relevant(judgements: Judgements, name: str, run: Run) -> Iterator[Warned]:
    """Yield that a run returned no relevant document at all, although some are judged."""
    grades = [
        judgements[topic].get(doc, 0) for topic in run if topic in judgements for doc in run[topic]
    ]
    if grades and max(grades) < 1:
        text = f"Run {name}: none of its {len(grades)} documents is relevant. All values are 0"
        yield Warned("none-relevant", name, text, len(grades), len(grades))


def _topic_warnings(judgements: Judgements, runs: Runs) -> Iterator[Warned]:
    judged = [topic for topic, grades in judgements.items() if any(g > 0 for g in grades.values())]
    for name, run in runs.items():
        missing = sorted(topic for topic in judged if topic not in run)
        if missing:
            yield Warned(
                "topics-missing",
                name,
                f"Run {name} returned nothing for {len(missing)} of {len(judged)} judged topics "
                f"(first: “{missing[0]}”). They count as 0",
                *(len(missing), len(judged), (missing[0],)),
            )
        without = sorted(topic for topic in run if topic not in judgements)
        if without:
            yield Warned(
                "topics-not-judged",
                name,
                f"Run {name}: {len(without)} of {len(run)} topics are not judged (first: "
                f"“{without[0]}”). They are left out",
                *(len(without), len(run), (without[0],)),
            )


def _rank_warnings(name: str, run: Run, facts: RunFacts) -> Iterator[Warned]:
    """Yield that ranks and scores disagree, or that the list is read backwards."""
    pairs = conflicts = reversed_topics = 0
    example: tuple[str, ...] = ()
    orders = {topic: facts.order[topic] for topic in facts.order if topic in run}
    for topic, order in orders.items():
        scores = run.get(topic, {})
        known = [(doc, scores[doc]) for doc in order if doc in scores]
        rises = [(a, b) for (a, low), (b, high) in pairwise(known) if high > low]
        pairs += max(0, len(known) - 1)
        conflicts += len(rises)
        reversed_topics += len(known) > 1 and len(rises) == len(known) - 1
        example = example or ((topic, *rises[0]) if rises else ())
    topics = len(orders)
    if reversed_topics * 2 > topics:
        yield Warned(
            "ranks-reversed",
            name,
            f"Run {name}: scores rise with the ranks in {reversed_topics} of {topics} topics. The "
            "list is read backwards. For distances give `--scores distances`",
            *(reversed_topics, topics, example[1:]),
        )
    elif conflicts:
        topic, first, second = example
        yield Warned(
            "rank-conflict",
            name,
            f"Run {name}: rank and score disagree in {conflicts} of {pairs} neighbouring pairs "
            f"(topic “{topic}”: “{first}”, “{second}”). The score decides",
            *(conflicts, pairs, (first, second)),
        )
    if facts.comments:
        one = facts.comments == 1
        lines = "1 line that starts" if one else f"{facts.comments} lines that start"
        text = f"{name}: {lines} with # {'was' if one else 'were'} skipped"
        yield Warned("comments", name, text, facts.comments)


def _tie_warnings(name: str, run: Run) -> Iterator[Warned]:
    tied = total = 0
    for scores in run.values():
        counts = Counter(scores.values())
        tied += sum(count for count in counts.values() if count > 1)
        total += len(scores)
    if total and tied >= MANY_TIES * total:
        yield Warned(
            "tied-scores",
            name,
            f"Run {name}: {tied} of {total} documents share their score with another. Names decide "
            "their order",
            *(tied, total),
        )


def _share_judged(judgements: Judgements, run: Run) -> tuple[int, int]:
    """Return how many of a run's first documents of judged topics are judged, and how many."""
    judged = total = 0
    for topic in run:
        if topic in judgements:
            first = ranking(run[topic])[:FIRST]
            judged += sum(doc in judgements[topic] for doc in first)
            total += len(first)
    return judged, total


def _few_judged(
    shares: Mapping[str, tuple[int, int]], strange: Collection[str]
) -> Iterator[Warned]:
    known = {name: judged / total for name, (judged, total) in shares.items() if total}
    if not known:
        return
    best = max(known, key=lambda name: (known[name], name))
    for name, share in known.items():
        if name in strange or not (share < ENOUGH or share < known[best] - MUCH_FEWER):
            continue
        of_best = f", of {best}'s {known[best]:.0%}" if known[best] > share else ""
        text = f"Run {name}: {share:.0%} of its first {FIRST} documents are judged{of_best}"
        yield Warned("few-judged", name, text.replace("%", " %"), *shares[name])
