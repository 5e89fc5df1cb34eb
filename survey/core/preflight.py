"""What a researcher should know of files that were taken: warnings, each with a code."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, reduce
from itertools import chain, combinations, pairwise
from typing import Any, NamedTuple, Self, TypeVar

from survey.core.collections.evaluation import ENOUGH_TOPICS, FEWEST_TOPICS
from survey.core.collections.runs import Clusters, Judgements, Run, RunFacts, Runs, ranking
from survey.core.text_input import FaultyFilesError, Json, visible

FIRST_DOCUMENTS = 10  # documents of a run, of which most should be judged
ENOUGH, MUCH_FEWER = 0.5, 0.2  # shares of judged documents
MANY_TIES = 0.05
LONGEST_EXAMPLE = 40  # characters of fields that are not read
CODES = (  # of warnings about runs, in the order in which they are told
    *("ids-differ", "no-document-judged", "blanks-in-ids", "spreadsheet-ids", "none-relevant"),
    *("few-judged", "topics-missing", "topics-not-judged"),
    *("columns-swapped", "ranks-reversed", "rank-conflict", "tied-scores", "comments"),
    *("fields-not-read", "measures-left-out", "few-topics", "level"),
)
STOPS_OF_STUDIES = ("no-document-judged", "columns-swapped", "ranks-reversed")
NO_TOPIC = "No topic is in both files"
ITEMS, TOPICS = "items", "topics"  # of which warnings are
NOTE, WARNING, STOP = "note", "warning", "stop"
MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
# What spreadsheets make of ids such as 6-1, JAN24 and 12E4.
CHANGED_BY_SPREADSHEETS = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2(\d{4}|\d\d)|\d{4}([./-])\d{1,2}\4\d{1,2})([ T][\d:.]+)?"
    rf"|\d{{1,2}}[-. ]+{MONTH}([-. ]+\d{{2,4}})?|{MONTH}-\d\d|\d([.,]\d+)?E[+-]\d+",
    re.ASCII | re.IGNORECASE,
)
AGAIN = " under another address, or give the files again in the plan"
SPECIAL_BLANK = re.compile(r"[^\S\x00-\x7f]")

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

    def as_json(self) -> dict[str, Json]:
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
    side: "Coverage | None" = None,
    complete: bool = False,
) -> list[Warned]:
    """Compare the ids, ranks and scores of runs with judgements; values do not change.

    ``facts``: of the runs whose files were read. ``of_study``: whether people will judge the lists,
    so that some warnings are stops; judgements are those of its topics then. ``side``: what
    takes the place of judgements: then it knows every document, and its topics are the runs'.
    ``complete``: see ``evaluate``.
    """
    is_judged = side is None
    found: list[Warned] = []
    if is_judged and not of_study:
        found += _topic_warnings(judgements, runs, complete=complete)
    if is_judged:
        words = ("Judgements", "judgements", "are in no run")
        found += _spreadsheet_ids(words, judgements, [*runs.values()])
    strange = set()  # runs whose ids do not meet: that few are judged says nothing more
    for name, run in runs.items():
        of_ids = [*_id_warnings(judgements, f"Run {name}", name, run, side or JUDGEMENTS)]
        strange |= {name for _ in of_ids}
        if not of_ids and is_judged:
            found += _none_relevant(judgements, name, run)
        found += of_ids
        if not any(each.code == "ids-differ" for each in of_ids):
            found += _blank_warnings(judgements, name, run, side or JUDGEMENTS)
        words = (f"Run {name}", name, (side or JUDGEMENTS).lack)
        found += _spreadsheet_ids(words, run, [judgements])
        if name in facts:
            found += _rank_warnings(name, run, facts[name], of_study=of_study)
        found += _tie_warnings(name, run)
    if is_judged:
        shares = {name: share_judged(judgements, run) for name, run in runs.items()}
        found += _few_judged(shares, strange)
    if of_study:
        stops = STOPS_OF_STUDIES
        found = [replace(each, level=STOP) if each.code in stops else each for each in found]
    return sorted(found, key=lambda each: CODES.index(each.code))


def few_topics(topics: int) -> str:
    """Return that tests of so few topics say little; "" of ENOUGH_TOPICS."""
    if topics >= ENOUGH_TOPICS:
        return ""
    return f"Only {topics} topic{'s' * (topics != 1)}: tests say little"


def scores_checked(
    judgements: Judgements,
    measures_left_out: Sequence[str],
    tested_topics: int | None,
    relevant_from: int | None,
    *,
    to_baseline: bool = True,
) -> list[Warned]:
    """Return what is to be known of the scores of runs.

    ``measures_left_out``: for lack of the collection's size. ``tested_topics``: None without a
    test; ``relevant_from``: None where no measure is binary, or each names its grade;
    ``to_baseline``: whether runs are tested against a baseline, which gives stars.
    """
    found = []
    if measures_left_out:
        text = f"{', '.join(measures_left_out)} left out: give --collection-size"
        found.append(Warned("measures-left-out", "", text, len(measures_left_out)))
    if tested_topics is not None and tested_topics < ENOUGH_TOPICS:
        missing = "there are no stars" if to_baseline else "runs are not compared"
        too_few = f", so {missing}" if tested_topics < FEWEST_TOPICS else ""
        text = f"{few_topics(tested_topics)}{too_few}"
        found.append(Warned("few-topics", "", text, tested_topics, ENOUGH_TOPICS))
    highest = max((grade for grades in judgements.values() for grade in grades.values()), default=0)
    if highest > 1 and relevant_from == 1:
        text = (
            f"Grades are 0 to {highest}. Binary measures count 1 and more; --relevant-from 2 "
            "changes it"
        )
        found.append(Warned("level", "", text, highest, level=NOTE))
    return found


class Showable(NamedTuple):
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


def items_checked(shown: Showable, *, needed: bool) -> list[Warned]:
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
        example, other = _first_with_cause(missing, {*shown.items} - listed, "items have")
        have = _agree(count, "of the lists have no item")
        text = f"{_of(count, len(listed), 'document')} {have} ({other})"
        text += "" if needed else " (not shown in this kind of study)"
        level = STOP if needed and count == len(listed) else WARNING
        found.append(Warned("items-missing", ITEMS, text, count, len(listed), example, level))
    unused = sorted({*shown.items} - listed - {*shown.other_items})
    if unused and listed:
        total = len(shown.items)
        are = _agree(len(unused), "are in no list")
        text = f"{_of(len(unused), total, 'item')} {are} (first: “{visible(unused[0])}”)"
        found.append(Warned("items-unused", ITEMS, text, len(unused), total, (unused[0],)))
    lacking = [topic for topic in shown.documents if topic not in shown.seen_topics]
    if lacking and (needed or shown.topics):
        others = {*shown.topics} - {*shown.documents}
        example, other = _first_with_cause(lacking, others, "topics have")
        total = len(shown.documents)
        have = _agree(len(lacking), "have no text or picture")
        text = f"{_of(len(lacking), total, 'topic')} {have} ({other})"
        text += "" if needed else " (not shown in this kind of study)"
        level = STOP if needed and len(lacking) == total else WARNING
        found.append(
            Warned("topics-without-text", TOPICS, text, len(lacking), total, example, level)
        )
    spare = sorted({*shown.topics} - {*shown.documents})
    if spare:
        total = len(shown.topics)
        are = _agree(len(spare), "are in no question")
        text = f"{_of(len(spare), total, 'topic')} {are} (first: “{visible(spare[0])}”)"
        found.append(Warned("topics-unused", TOPICS, text, len(spare), total, (spare[0],)))
    return found


def _first_with_cause(
    missing: Sequence[str], others: Collection[str], have: str
) -> tuple[tuple[str, ...], str]:
    """Return the first of the missing ids, with one of the others that a change makes equal.

    Also in words. ``have``: who has the others. If the first is like none, another may be.
    """
    first = f"first: “{visible(missing[0])}”"
    for words, change in CHANGES.values():
        changed = {change(other): other for other in sorted(others, reverse=True)}
        for name in missing:
            if (other := changed.get(change(name))) is not None:
                of_name = "" if name == missing[0] else f"for “{visible(name)}” "
                return (name, other), f"{first}; {of_name}{have} “{visible(other)}”: {words}"
    return (missing[0],), first


# Of sentences about several things, the words that differ in one about a single thing.
SINGULAR = {"are": "is", "have": "has", "They": "It", "their": "its", "ids": "id"}
SINGULAR |= {"count": "counts", "hold": "holds"}


def _agree(count: int, text: str) -> str:
    """Return a text about several things, or what it is about a single one."""
    words = SINGULAR if count == 1 else {}
    return re.sub(r"\w+", lambda word: words.get(word[0], word[0]), text)


def _counted(count: int, noun: str = "document") -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _of(count: int, total: int, noun: str) -> str:
    return f"{count} of {_counted(total, noun)}"


def marks_checked(
    judgements: Judgements, marks: Mapping[str, Mapping[str, Mapping[str, object]]]
) -> list[Warned]:
    """Compare the ids of documents with weights or clusters with those of the judgements.

    ``marks``: the name of a file → topic → document → anything.
    """
    found = []
    for file, topics in marks.items():
        of_ids = _id_warnings(judgements, f"File {file}", file, topics, JUDGEMENTS)
        found += [warning for warning in of_ids if warning.code == "ids-differ"]
        found += _spreadsheet_ids((f"File {file}", file, JUDGEMENTS.lack), topics, [judgements])
    return found


def clusters_checked(file: str, clusters: Clusters) -> list[Warned]:
    """Return whether clusters divide no topic: judgements and weights may have been given."""
    divided = [{*topic.values()} for topic in clusters.values()]
    if all(len(each) == 1 and all(map(len, each)) for each in divided) and any(
        len(topic) > 1 for topic in clusters.values()
    ):
        name, count = min(min(divided[0])), len(clusters)
        each = "the only topic" if count == 1 else f"each of {count} topics"
        text = f"Clusters: in {each} all documents are in one cluster (“{visible(name)}”), so "
        text += "measures of sub-topics say nothing"
        return [Warned("one-cluster", file, text, count, count, (name,))]
    return []


def _spreadsheet_ids(
    words: tuple[str, str, str],
    own: Mapping[str, Collection[str]],
    others: Sequence[Mapping[str, Collection[str]]],
) -> Iterator[Warned]:
    """Yield that ids look as spreadsheets change them, where no id of the other side does.

    ``words``: whose ids they are, ``of`` which the warning is, and what they lack. Ids of the two
    sides have to meet elsewhere.
    """
    subject, of, lack = words
    looks_changed = CHANGED_BY_SPREADSHEETS.fullmatch
    changed = [doc for topic in own for doc in own[topic] if looks_changed(doc)]
    if not changed or any(looks_changed(doc) for other in others for doc in chain(*other.values())):
        return
    if any(doc in other.get(topic, ()) for other in others for topic in own for doc in own[topic]):
        count, examples = len(changed), sorted({*changed})[:2]
        named = ", ".join(f"“{visible(each)}”" for each in examples)
        ids, them = (" has an id", "it") if count == 1 else ("s have ids", "them")
        text = (
            f"{subject}: {count} document{ids} like dates or numbers in scientific notation "
            f"({named}) and {_agree(count, lack)}. Did a spreadsheet change {them}? Look at the "
            "file in a text editor"
        )
        total = sum(map(len, own.values()))
        yield Warned("spreadsheet-ids", of, text, count, total, (*examples,))


def _blank_warnings(
    judgements: Judgements, name: str, run: Run, side: "Coverage"
) -> Iterator[Warned]:
    """Yield that documents are not judged whose ids hold a blank that is not ASCII."""
    pairs = [(topic, doc) for topic in run if topic in judgements for doc in run[topic]]
    unjudged = [doc for topic, doc in pairs if doc not in judgements[topic]]
    odd = [(doc, match[0]) for doc in unjudged if (match := SPECIAL_BLANK.search(doc))]
    if odd:
        count, (doc, blank) = len(odd), odd[0]
        blank_name = unicodedata.name(blank, "blank").lower()
        holds = f"a {blank_name}, U+{ord(blank):04X} (“{visible(doc)}”)"
        text = f"Run {name}: {_of(count, len(pairs), 'document')} {_agree(count, side.lack)}, and "
        text += f"{_agree(count, 'their ids hold')} {holds}"
        yield Warned("blanks-in-ids", name, text, count, len(pairs), (doc,))


def none_relevant_fault(file: str, judgements: Judgements) -> str:
    """Say that no document is relevant, "" if one is."""
    grades = [grade for of_topic in judgements.values() for grade in of_topic.values()]
    if not grades or max(grades) > 0:
        return ""
    grade = "0" if {*grades} == {0} else "0 or less"
    are = f"all {len(grades)} grades are" if len(grades) > 1 else "the only grade is"
    return f"{file}: no document is relevant ({are} {grade})"


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
        facts = replace(facts, distances=True)
        run = {
            topic: {document: -score for document, score in scores.items()}
            for topic, scores in run.items()
        }
    return run, facts


class Coverage(NamedTuple):
    """What documents of runs are compared with, and the words for those that are not in it."""

    name: str
    lack: str
    would: str
    none: str


JUDGEMENTS = Coverage("judgements", "are not judged", "would be", "is judged")
KEYWORDS = Coverage("keywords", "have no keywords", "would have some", "has keywords")


def _id_warnings(
    judgements: Judgements,
    subject: str,
    of: str,
    run: Mapping[str, Mapping[str, object]],
    side: Coverage,
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
            f"{subject}: {_of(count, total, 'document')} "
            f"{_agree(count, f'{side.lack} under their ids')}, and {side.would} without {words} "
            f"({subject.partition(' ')[0].lower()} “{visible(doc)}”, {side.name} "
            f"“{visible(other)}”). {_agree(count, 'They count')} as not relevant. "
            f"`--ids {' '.join(changes)}` reads them so",
            *(count, total, (doc, other)),
        )
    elif len(unjudged) == total:
        topic, doc = min(unjudged)
        other = min(judgements[topic])
        yield Warned(
            "no-document-judged",
            of,
            f"{subject}: none of its {_counted(total)} {side.none} (run “{visible(doc)}”, "
            f"{side.name} “{visible(other)}”). All values are 0",
            *(total, total, (doc, other)),
        )


def _met(
    judgements: Judgements,
    run: Mapping[str, Mapping[str, object]],
    unjudged: Iterable[tuple[str, str]],
    changes: Sequence[Callable[[str], str]],
) -> list[tuple[str, str, str]]:
    """Return (topic, document, judged document) that changes make equal; [] if they merge ids."""

    @cache  # the same documents come up in every topic
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
    return [*_topic_warnings(judgements, runs, of_study=True)]


def _none_relevant(judgements: Judgements, name: str, run: Run) -> Iterator[Warned]:
    """Yield that a run returned no relevant document at all, although some are judged."""
    grades = [
        judgements[topic].get(doc, 0) for topic in run if topic in judgements for doc in run[topic]
    ]
    if grades and max(grades) < 1:
        text = f"Run {name}: none of its {_counted(len(grades))} is relevant. All values are 0"
        yield Warned("none-relevant", name, text, len(grades), len(grades))


def _topic_warnings(
    judgements: Judgements, runs: Runs, *, of_study: bool = False, complete: bool = False
) -> Iterator[Warned]:
    """Yield which topics a run lacks, and which the judgements.

    A topic that no run has is left out, unless ``complete``. So is, ``of_study``, one that any run
    lacks.
    """
    judged = [topic for topic, grades in judgements.items() if any(g > 0 for g in grades.values())]
    returned = {topic for run in runs.values() for topic in run if run[topic]}
    of_none = [] if of_study else sorted({*judged} - returned)

    def lacking(subject: str, of: str, topics: Sequence[str], end: str) -> Iterator[Warned]:
        if topics:
            count, others = len(topics), {*(runs[of] if of else returned)} - {*judgements}
            example, first = _first_with_cause(topics, others, "the runs have")
            of_judged = f"{_of(count, len(judged), 'judged topic')} ({first})"
            text = f"{subject} for {of_judged}. {_agree(count, end)}"
            yield Warned("topics-missing", of, text, count, len(judged), example)

    if runs:
        only = next(iter(runs)) if len(runs) == 1 else ""
        subject = f"Run {only} returned nothing" if only else "No run returned anything"
        end = "They count as 0" if complete else "They are left out"
        yield from lacking(subject, only, of_none, end)
    for name, run in runs.items():
        missing = sorted(topic for topic in {*judged} - {*of_none} if not run.get(topic))
        end = "They are left out" if of_study else "They count as 0"
        yield from lacking(f"Run {name} returned nothing", name, missing, end)
        without = sorted(topic for topic in run if topic not in judgements)
        if without:
            unmet = {*judgements} - {*run}
            example, first = _first_with_cause(without, unmet, "the judgements have")
            yield Warned(
                "topics-not-judged",
                name,
                f"Run {name}: {_of(len(without), len(run), 'topic')} "
                f"{_agree(len(without), 'are not judged')} ({first}). "
                f"{_agree(len(without), 'They are')} left out",
                *(len(without), len(run), example),
            )


def _rank_warnings(name: str, run: Run, facts: RunFacts, *, of_study: bool) -> Iterator[Warned]:
    """Yield that ranks and scores disagree, are swapped, or that the list is read backwards."""
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
    if facts.swapped:
        ranks, scores_read = (", ".join(column) for column in zip(*facts.swapped, strict=True))
        text = (
            f"Run {name}: the rank column holds {ranks}, … and the score column {scores_read}, …. "
            "Are they swapped? The score column decides the order"
        )
        yield Warned("columns-swapped", name, text, example=facts.swapped[0])
    elif reversed_topics * 2 > topics:
        in_topics = f"in {_of(reversed_topics, topics, 'topic')}"
        if facts.distances:
            text = (
                f"Run {name}: with --scores distances its order is the opposite of its ranks "
                f"{in_topics}; the scores look like similarities. "
            )
            text += "Leave --scores distances out"
            text += f": make the study again without it{AGAIN}" if of_study else ""
        else:
            text = (
                f"Run {name}: scores rise with the ranks {in_topics}. The list is read backwards."
            )
            again = f"make the study again with `survey study new … --scores distances`{AGAIN}"
            text += f" For distances {again if of_study else 'give `--scores distances`'}"
        yield Warned("ranks-reversed", name, text, reversed_topics, topics, example[1:])
    elif conflicts:
        topic, first, second = example
        yield Warned(
            "rank-conflict",
            name,
            f"Run {name}: rank and score disagree in {_of(conflicts, pairs, 'neighbouring pair')} "
            f"(topic “{topic}”: “{first}”, “{second}”). The score decides",
            *(conflicts, pairs, (first, second)),
        )
    if facts.comments:
        one = facts.comments == 1
        lines = "1 line that starts" if one else f"{facts.comments} lines that start"
        text = f"{name}: {lines} with # {'was' if one else 'were'} skipped"
        yield Warned("comments", name, text, facts.comments)
    if facts.longer_lines:
        lines = _counted(facts.longer_lines, "line")
        first = visible(facts.after_tag[:LONGEST_EXAMPLE])
        text = f"{name}: fields after the tag were not read in {lines} (first: “{first}”)"
        yield Warned("fields-not-read", name, text, facts.longer_lines, level=NOTE)


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


def share_judged(judgements: Judgements, run: Run) -> tuple[int, int]:
    """Return how many of a run's first documents of judged topics are judged, and how many."""
    judged = total = 0
    for topic in run:
        if topic in judgements:
            first = ranking(run[topic])[:FIRST_DOCUMENTS]
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
        text = (
            f"Run {name}: {share:.0%} of its first {FIRST_DOCUMENTS} documents are judged{of_best}"
        )
        yield Warned("few-judged", name, text.replace("%", " %"), *shares[name])
