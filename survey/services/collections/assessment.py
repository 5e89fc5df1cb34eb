"""Topics in a sentence.

Assessors' files as texts, and the files that results are written to.

Labels merged, clusterings compared and joined, each from assessors' files.

Merged labels as files, a table, JSON and sentences.

Clusterings compared and joined, as files, tables, JSON and sentences.
"""

import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from survey.core.collections.clusterings import SUFFICIENT as SUFFICIENT
from survey.core.collections.clusterings import (
    Comparison,
    as_lines,
    compare_clusters,
    members,
    read_clustering,
)
from survey.core.collections.gold import FLOOR as FLOOR
from survey.core.collections.gold import GoldTopic, gold_topic, spread
from survey.core.collections.labels import (
    ChoiceAgreement,
    Judgements,
    Labels,
    choice_agreement,
    in_order,
    merge_labels,
    read_labels,
)
from survey.core.collections.runs import Clusters
from survey.core.file_lines import lines_of, stop_if_any
from survey.errors import SurveyError
from survey.services.analysis.sheets import Cell, Sheet, as_csv
from survey.services.text_files import text_of

MOST_NAMED = 20  # in a sentence; JSON and files name all


def topics_named(topics: Sequence[str]) -> str:
    """Name topics, and count those for which there is no room."""
    more = len(topics) - MOST_NAMED
    named = ", ".join(topics[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"topic{'s' * (len(topics) != 1)} {named}"


def check_targets(targets: Iterable[Path], sources: Iterable[Path], *, replace: bool) -> None:
    """Raise SurveyError where a file to write is one to be read, or is there already."""
    read = {path.resolve() for path in sources}
    for target in targets:
        if target.resolve() in read:
            raise SurveyError(f"{target} is one of the assessors' files; name another.")
        if target.exists() and not replace:
            raise SurveyError(f"{target} is there already; --force replaces it.")


def write_files(files: Mapping[Path, str]) -> None:
    """Write texts, each complete or not at all, packed where the name ends in .gz.

    Makes the folders they lie in.
    """
    for path, text in files.items():
        content = text.encode()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Without a time and a name in it, the same judgements give the same bytes.
            unfinished.write_bytes(
                gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
            )
            unfinished.replace(path)
        except OSError as error:
            raise SurveyError(f"{path} cannot be written: {error.strerror}.") from None
        finally:
            with suppress(OSError):
                unfinished.unlink()


Read = TypeVar("Read", Labels, Clusters)
OnTopic = Callable[[int, int], object]
"""Is told after each topic how many are done, and of how many."""


@dataclass(frozen=True)
class Merged:
    """Labels of ``files`` assessors put together; ``at_least``: None for a majority."""

    files: int
    at_least: int | None
    topics: Sequence[Judgements]
    agreements: Sequence[ChoiceAgreement]


@dataclass(frozen=True)
class Compared:
    """Two clusterings compared; ``only_first``, ``only_second``: topics of one alone."""

    threshold: float
    topics: Sequence[Comparison]
    only_first: Sequence[str]
    only_second: Sequence[str]

    @property
    def third(self) -> list[str]:
        """The topics that need a third assessor."""
        return [one.topic for one in self.topics if one.needs_third]


@dataclass(frozen=True)
class Gold:
    """Clusterings joined, topic by topic; ``only_third``: topics of the third alone."""

    topics: Sequence[GoldTopic]
    only_third: Sequence[str]

    @property
    def kept(self) -> list[GoldTopic]:
        """The topics that the gold standard holds."""
        return [one for one in self.topics if one.clusters]


def merge(paths: Sequence[Path], at_least: int | None, on_topic: OnTopic) -> Merged:
    """Merge the labels of all assessors; raises FaultyFilesError with every fault of the files."""
    judged = merge_labels(_read_all(paths, read_labels))
    agreements = [choice_agreement(one) for one in _told(judged, on_topic)]
    return Merged(len(paths), at_least, judged, agreements)


def compare(first: Path, second: Path, threshold: float, on_topic: OnTopic) -> Compared:
    """Compare two assessors' clusterings.

    Raises FaultyFilesError with every fault of the files, SurveyError without a common topic.
    """
    one, other = _read_all([first, second], read_clustering)
    common = in_order(one.keys() & other.keys())
    if not common:
        raise SurveyError(f"{first} and {second} have no topic in common.")
    return Compared(
        threshold,
        [
            compare_clusters(topic, one[topic], other[topic], threshold)
            for topic in _told(common, on_topic)
        ],
        in_order(one.keys() - other.keys()),
        in_order(other.keys() - one.keys()),
    )


def gold(paths: Sequence[Path], threshold: float, floor: float, on_topic: OnTopic) -> Gold:
    """Join the clusterings of two or three assessors into one.

    Raises FaultyFilesError with every fault of the files, SurveyError where no topic is left.
    """
    assessors = _read_all(paths, read_clustering)
    asked = assessors[0].keys() | assessors[1].keys()
    topics = [
        gold_topic(topic, [one.get(topic) for one in assessors], threshold=threshold, floor=floor)
        for topic in _told(in_order(asked), on_topic)
    ]
    found = Gold(topics, in_order({topic for one in assessors[2:] for topic in one} - asked))
    if not found.kept:
        raise SurveyError(
            f"No topic is left for a gold standard ({topics[0].topic!r}: {topics[0].rule}); "
            "`survey assess compare` says where the assessors differ."
        )
    return found


Topic = TypeVar("Topic")


def _told(topics: Sequence[Topic], on_topic: OnTopic) -> Iterator[Topic]:
    for done, topic in enumerate(topics, 1):
        yield topic
        on_topic(done, len(topics))


def _read_all(
    paths: Sequence[Path], read: Callable[[str, Iterable[str], list[str]], Read]
) -> list[Read]:
    faults: list[str] = []
    found = [read(str(path), lines_of(text_of(path)), faults) for path in paths]
    stop_if_any(faults)
    return found


MERGED = ("weights.csv", "weights.txt", "qrels.txt", "agreement.csv")


def merged_files(merged: Merged) -> dict[str, str]:
    """Return the files of merged labels, name (of MERGED) → text.

    weights.txt holds only documents that somebody chose: the others are in no assessor's set.
    """
    rows: list[tuple[Cell, ...]] = []
    weights, qrels = [], []
    for topic in merged.topics:
        chosen, weight = topic.chosen.tolist(), topic.weights.tolist()
        relevance = topic.relevance(merged.at_least).tolist()
        for document, count, share, grade in zip(
            topic.documents, chosen, weight, relevance, strict=True
        ):
            rows.append((topic.topic, document, count, topic.assessors, share))
            qrels.append(f"{topic.topic} 0 {document} {grade}\n")
            if count:
                weights.append(f"{topic.topic} {document} {share!r}\n")
    columns = ("topic", "document", "chosen", "assessors", "weight")
    sheet = as_csv(Sheet("weights", "Weights", columns, tuple(rows)))
    texts = (sheet, "".join(weights), "".join(qrels), as_csv(agreement_sheet(merged)))
    return dict(zip(MERGED, texts, strict=True))


def agreement_sheet(merged: Merged) -> Sheet:
    """Return the assessors' agreement per topic."""
    columns = (
        *("topic", "assessors", "documents", "relevant", "chosen_by_all", "chosen_by_one"),
        *("jaccard", "fleiss_kappa", "krippendorff_alpha"),
    )
    rows = tuple(
        (
            *(one["topic"], one["assessors"], one["documents"], one["relevant"]),
            *(one["chosen_by_all"], one["chosen_by_one"]),
            *(one["jaccard"], one["fleiss_kappa"], one["krippendorff_alpha"]),
        )
        for one in _agreements(merged)
    )
    note = (
        "Documents: those that at least one assessor listed, on which kappa and alpha rest. "
        "Where files list chosen documents only, both are low by that alone; read Jaccard's index."
    )
    return Sheet("agreement", "How far the assessors chose the same documents", columns, rows, note)


def _agreements(merged: Merged) -> list[dict[str, Any]]:
    return [
        {**asdict(one), "relevant": int((topic.relevance(merged.at_least) > 0).sum())}
        for topic, one in zip(merged.topics, merged.agreements, strict=True)
    ]


def merged_json(merged: Merged) -> dict[str, Any]:
    """Return the assessors' agreement for scripts."""
    topics = _agreements(merged)
    return {"assessors": merged.files, "at_least": merged.at_least, "topics": topics}


def merged_sentences(merged: Merged) -> Iterable[str]:
    """Say what was merged, and what to look at."""
    topics = _agreements(merged)
    relevant, listed = (sum(one[name] for one in topics) for name in ("relevant", "documents"))
    rule = f"{merged.at_least} at least" if merged.at_least else "more than half of the assessors"
    yield (
        f"{merged.files} assessors, {len(topics)} topics: {relevant} of {listed} documents "
        f"listed are relevant, chosen by {rule}."
    )
    fewer = [one for one in topics if one["assessors"] < merged.files]
    if fewer:
        counted = [f"{one['topic']} ({one['assessors']} of {merged.files})" for one in fewer]
        yield f"Not judged by all assessors: {topics_named(counted)}."
    none = [one["topic"] for one in topics if not one["relevant"]]
    if none:
        yield f"Without a relevant document: {topics_named(none)}."


BESIDE_GOLD = ("-topics.csv", "-statistics.csv")


def compared_sheet(compared: Compared) -> Sheet:
    """Return two clusterings' agreement per topic."""
    columns = (
        *("topic", "documents", "only 1", "only 2", "clusters 1", "clusters 2", "granularity"),
        *("pairs agreed", "adjusted Rand", "B³ F1", "third, because"),
    )
    rows = tuple(
        (
            *(one.topic, one.documents, len(one.only_first), len(one.only_second)),
            *(*one.clusters, one.granularity),
            *(one.pair_agreement, one.adjusted_rand, one.b_cubed, one.reason),
        )
        for one in compared.topics
    )
    note = (
        f"A third assessor is needed where the adjusted Rand index is below {compared.threshold}."
    )
    return Sheet("comparison", "Two assessors' clusters", columns, rows, note)


def compared_json(compared: Compared) -> dict[str, Any]:
    """Return two clusterings' agreement for scripts; undefined figures say why."""
    topics = [
        {
            **asdict(one),
            "granularity": one.granularity,
            "needs_third": one.needs_third,
            "why": "fewer than two common documents" if one.adjusted_rand is None else None,
        }
        for one in compared.topics
    ]
    topics_of = {name: getattr(compared, name) for name in ("third", "only_first", "only_second")}
    return {"threshold": compared.threshold, "topics": topics, **topics_of}


def compared_sentences(compared: Compared, first: str, second: str) -> Iterable[str]:
    """Say which topics a third assessor is needed for, and where judgements are missing."""
    for one in compared.topics:
        if one.only_first or one.only_second:
            yield (
                f"Topic {one.topic}: documents in {first} alone: {len(one.only_first)}, "
                f"in {second} alone: {len(one.only_second)}; the agreement is that of the others."
            )
    for name, topics in ((first, compared.only_first), (second, compared.only_second)):
        if topics:
            yield f"Only in {name}: {topics_named(topics)}."
    if compared.third:
        yield f"For a third assessor: {' '.join(compared.third)}"
    else:
        yield "No topic needs a third assessor."


def gold_files(gold: Gold) -> tuple[str, str, str]:
    """Return the gold standard as text, then what comes beside it (BESIDE_GOLD)."""
    lines = [line for one in gold.kept for line in as_lines(one.topic, one.clusters)]
    return "".join(lines), as_csv(gold_sheet(gold)), as_csv(statistics_sheet(gold))


def gold_sheet(gold: Gold) -> Sheet:
    """Return how each topic's gold standard was found, or why there is none."""
    columns = (
        *("topic", "rule", "clusters", "documents", "unknown", "only_first", "only_second"),
        *("pair_agreement", "rand_1_2", "rand_1_3", "rand_2_3", "reason"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in gold.topics:
        two = one.comparison
        unknown = sum(not names for names in one.clusters.values())
        missing = (len(two.only_first), len(two.only_second)) if two else (None, None)
        rows.append(
            (
                *(one.topic, one.rule, len(members(one.clusters)), len(one.clusters), unknown),
                *(*missing, two.pair_agreement if two else None),
                *(*one.agreements, two.reason if two else ""),
            )
        )
    return Sheet("topics", "Rules and agreement per topic", columns, tuple(rows))


def statistics_sheet(gold: Gold) -> Sheet:
    """Return Table 3 of the ImageCLEF paper for the topics that were kept."""
    counts = {
        "clusters per topic": [len(members(one.clusters)) for one in gold.kept],
        "relevant documents per topic": [len(one.clusters) for one in gold.kept],
    }
    rows = tuple((name, *vars(spread(found)).values()) for name, found in counts.items())
    columns = ("description", "topics", "mean", "sd", "median", "smallest", "largest")
    note = "Unknown documents count as relevant; they make no cluster. sd: of a sample."
    return Sheet("statistics", "The gold standard", columns, rows, note, decimals=1)


def gold_json(gold: Gold, files: Iterable[Path]) -> dict[str, Any]:
    """Return how each topic's gold standard was found, and its statistics, for scripts."""
    topics, statistics = gold_sheet(gold), statistics_sheet(gold)
    return {
        "topics": [dict(zip(topics.columns, row, strict=True)) for row in topics.rows],
        "statistics": [dict(zip(statistics.columns, row, strict=True)) for row in statistics.rows],
        "only_third": list(gold.only_third),
        "files": [str(file) for file in files],
    }


def gold_sentences(gold: Gold) -> Iterable[str]:
    """Say by which rules topics were joined, and which are left out."""
    rules: dict[str, list[str]] = {}
    for one in gold.topics:
        rules.setdefault(one.rule, []).append(one.topic)
    for rule, topics in sorted(rules.items()):
        yield f"{rule[0].upper()}{rule[1:]}: {topics_named(topics)}."
    unequal = [one.topic for one in gold.topics if _is_unequal(one)]
    if unequal:
        told = "The first two clustered partly different documents"
        yield f"{told}, see -topics.csv: {topics_named(unequal)}."
    if gold.only_third:
        yield f"The third assessor alone has {topics_named(gold.only_third)}: not used."


def _is_unequal(topic: GoldTopic) -> bool:
    two = topic.comparison
    return two is not None and bool(two.only_first or two.only_second)
