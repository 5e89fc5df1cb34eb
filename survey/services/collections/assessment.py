"""Assessors' labels merged and clusterings joined: from their files to tables, JSON and files."""

import gzip
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from survey.core.collections.clusterings import SUFFICIENT as SUFFICIENT
from survey.core.collections.clusterings import (
    Comparison,
    clustering_lines,
    compare_clusters,
    members,
    read_clustering,
)
from survey.core.collections.gold import FLOOR as FLOOR
from survey.core.collections.gold import GoldTopic, gold_topic, spread
from survey.core.collections.labels import Labels, read_labels, sorted_topics
from survey.core.collections.runs import Clusters
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.analysis.label_results import MERGED as MERGED
from survey.services.analysis.label_results import Merged, OnTopic, counted, merged
from survey.services.analysis.label_results import agreement_sheet as agreement_sheet
from survey.services.analysis.label_results import merged_files as merged_files
from survey.services.analysis.label_results import merged_json as merged_json
from survey.services.analysis.sheets import Cell, Sheet, as_csv
from survey.services.exchange.input_files import read_text

MOST_NAMED = 20  # topics that a sentence names; JSON and files name all


Content = TypeVar("Content", Labels, Clusters)


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
        return [comparison.topic for comparison in self.topics if comparison.needs_third]


@dataclass(frozen=True)
class Gold:
    """Clusterings joined, topic by topic; ``only_third``: topics of the third alone."""

    topics: Sequence[GoldTopic]
    only_third: Sequence[str]

    @property
    def joined(self) -> list[GoldTopic]:
        """The topics that are not left out."""
        return [topic for topic in self.topics if topic.clusters]


def merge(paths: Sequence[Path], at_least: int | None, on_topic: OnTopic) -> Merged:
    """Merge the labels of all assessors; raises FaultyFilesError with every fault of the files."""
    return merged(_read_all(paths, read_labels), at_least, on_topic)


def compare(first: Path, second: Path, threshold: float, on_topic: OnTopic) -> Compared:
    """Compare two assessors' clusterings.

    Raises FaultyFilesError with every fault of the files, SurveyError without a common topic.
    """
    clusters = _read_all([first, second], read_clustering)
    common = sorted_topics(clusters[0].keys() & clusters[1].keys())
    if not common:
        raise SurveyError(f"{first} and {second} have no topic in common.")
    return Compared(
        threshold,
        [
            compare_clusters(topic, clusters[0][topic], clusters[1][topic], threshold)
            for topic in counted(common, on_topic)
        ],
        sorted_topics(clusters[0].keys() - clusters[1].keys()),
        sorted_topics(clusters[1].keys() - clusters[0].keys()),
    )


def gold(paths: Sequence[Path], threshold: float, floor: float, on_topic: OnTopic) -> Gold:
    """Join the clusterings of two or three assessors into one.

    Raises FaultyFilesError with every fault of the files, SurveyError where all topics are
    left out.
    """
    assessors = _read_all(paths, read_clustering)
    asked = assessors[0].keys() | assessors[1].keys()
    topics = [
        gold_topic(
            topic, [clusters.get(topic) for clusters in assessors], threshold=threshold, floor=floor
        )
        for topic in counted(sorted_topics(asked), on_topic)
    ]
    result = Gold(
        topics, sorted_topics({topic for clusters in assessors[2:] for topic in clusters} - asked)
    )
    if not result.joined:
        raise SurveyError(
            f"No topic is left for a gold standard ({topics[0].topic!r}: {topics[0].rule}); "
            "`survey assess compare` says where the assessors differ."
        )
    return result


def _read_all(
    paths: Sequence[Path], read: Callable[[str, Iterable[str], FileFaults], Content]
) -> list[Content]:
    faults = FileFaults()
    contents = [read(str(path), lines_of(read_text(path)), faults) for path in paths]
    faults.raise_any()
    return contents


def merged_sentences(merged: Merged) -> Iterable[str]:
    """Yield sentences on what was merged, and on topics to check."""
    topics = merged.agreements
    relevant, listed = (sum(topic[name] for topic in topics) for name in ("relevant", "documents"))
    rule = f"{merged.at_least} at least" if merged.at_least else "more than half of the assessors"
    yield (
        f"{merged.files} assessors, {len(topics)} topics: {relevant} of {listed} documents "
        f"listed are relevant, chosen by {rule}."
    )
    if fewer := [
        f"{topic['topic']} ({topic['assessors']} of {merged.files})"
        for topic in topics
        if topic["assessors"] < merged.files
    ]:
        yield f"Not judged by all assessors: {_topics_named(fewer)}."
    if empty := [topic["topic"] for topic in topics if not topic["relevant"]]:
        yield f"Without a relevant document: {_topics_named(empty)}."


BESIDE_GOLD = ("-topics.csv", "-statistics.csv")


def compared_sheet(compared: Compared) -> Sheet:
    """Return a table of two clusterings' agreement, a row for each topic."""
    columns = (
        *("topic", "documents", "only 1", "only 2", "clusters 1", "clusters 2", "granularity"),
        *("pairs agreed", "adjusted Rand", "B³ F1", "third, because"),
    )
    rows = tuple(
        (
            *(topic.topic, topic.documents, len(topic.only_first), len(topic.only_second)),
            *(*topic.clusters, topic.granularity),
            *(topic.pair_agreement, topic.adjusted_rand, topic.b_cubed, topic.reason),
        )
        for topic in compared.topics
    )
    note = (
        f"A third assessor is needed where the adjusted Rand index is below {compared.threshold}."
    )
    return Sheet("comparison", "Two assessors' clusters", columns, rows, note)


def compared_json(compared: Compared) -> dict[str, Any]:
    """Return two clusterings' agreement as JSON; ``why`` gives the reason of undefined figures."""
    topics = [
        {
            **asdict(topic),
            "granularity": topic.granularity,
            "needs_third": topic.needs_third,
            "why": "fewer than two common documents" if topic.adjusted_rand is None else None,
        }
        for topic in compared.topics
    ]
    topics_of = {name: getattr(compared, name) for name in ("third", "only_first", "only_second")}
    return {"threshold": compared.threshold, "topics": topics, **topics_of}


def compared_sentences(compared: Compared, first: str, second: str) -> Iterable[str]:
    """Yield sentences on topics that need a third assessor, and on missing documents."""
    for topic in compared.topics:
        if topic.only_first or topic.only_second:
            yield (
                f"Topic {topic.topic}: documents in {first} alone: {len(topic.only_first)}, "
                f"in {second} alone: {len(topic.only_second)}; the agreement is that of the others."
            )
    for name, topics in ((first, compared.only_first), (second, compared.only_second)):
        if topics:
            yield f"Only in {name}: {_topics_named(topics)}."
    if compared.third:
        yield f"For a third assessor: {' '.join(compared.third)}"
    else:
        yield "No topic needs a third assessor."


def gold_files(gold: Gold) -> tuple[str, str, str]:
    """Return the texts of the gold standard and of the two tables in BESIDE_GOLD."""
    lines = [
        line for topic in gold.joined for line in clustering_lines(topic.topic, topic.clusters)
    ]
    return "".join(lines), as_csv(gold_sheet(gold)), as_csv(statistics_sheet(gold))


def gold_sheet(gold: Gold) -> Sheet:
    """Return a table of topics: how the clusters were joined, or why it is left out."""
    columns = (
        *("topic", "rule", "clusters", "documents", "unknown", "only_first", "only_second"),
        *("pair_agreement", "rand_1_2", "rand_1_3", "rand_2_3", "reason"),
    )
    rows: list[tuple[Cell, ...]] = []
    for topic in gold.topics:
        two = topic.comparison
        clusters = topic.clusters
        unknown = sum(not names for names in clusters.values())
        missing = (len(two.only_first), len(two.only_second)) if two else (None, None)
        rows.append(
            (
                *(topic.topic, topic.rule, len(members(clusters)), len(clusters), unknown),
                *(*missing, two.pair_agreement if two else None),
                *(*topic.agreements, two.reason if two else ""),
            )
        )
    return Sheet("topics", "Rules and agreement per topic", columns, tuple(rows))


def statistics_sheet(gold: Gold) -> Sheet:
    """Return Table 3 of the ImageCLEF paper for the topics that are not left out."""
    counts = {
        "clusters per topic": [len(members(topic.clusters)) for topic in gold.joined],
        "relevant documents per topic": [len(topic.clusters) for topic in gold.joined],
    }
    rows = tuple((name, *spread(values).values()) for name, values in counts.items())
    columns = ("description", *spread([]))
    note = "Unknown documents count as relevant; they make no cluster. sd: of a sample."
    return Sheet("statistics", "The gold standard", columns, rows, note, decimals=1)


def gold_json(gold: Gold, files: Iterable[Path]) -> dict[str, Any]:
    """Return how the topics' clusters were joined, and their statistics, as JSON."""
    topics, statistics = gold_sheet(gold), statistics_sheet(gold)
    return {
        "topics": [dict(zip(topics.columns, row, strict=True)) for row in topics.rows],
        "statistics": [dict(zip(statistics.columns, row, strict=True)) for row in statistics.rows],
        "only_third": list(gold.only_third),
        "files": [str(file) for file in files],
    }


def gold_sentences(gold: Gold) -> Iterable[str]:
    """Yield sentences on how topics were joined, and on topics left out."""
    rules: dict[str, list[str]] = {}
    for topic in gold.topics:
        rules.setdefault(topic.rule, []).append(topic.topic)
    for rule, topics in sorted(rules.items()):
        yield f"{rule[0].upper()}{rule[1:]}: {_topics_named(topics)}."
    if unequal := [
        topic.topic
        for topic in gold.topics
        if (two := topic.comparison) and (two.only_first or two.only_second)
    ]:
        yield (
            "The first two clustered partly different documents, see -topics.csv: "
            f"{_topics_named(unequal)}."
        )
    if gold.only_third:
        yield f"The third assessor alone has {_topics_named(gold.only_third)}: not used."


def _topics_named(topics: Sequence[str]) -> str:
    more = len(topics) - MOST_NAMED
    named = ", ".join(topics[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"topic{'s' * (len(topics) != 1)} {named}"


def check_targets(targets: Iterable[Path], sources: Iterable[Path], *, replace: bool) -> None:
    """Raise SurveyError where a target is one of the sources, or a file not to be replaced."""
    resolved = {path.resolve() for path in sources}
    for target in targets:
        if target.resolve() in resolved:
            raise SurveyError(f"{target} is one of the assessors' files; name another.")
        if target.exists() and not replace:
            raise SurveyError(f"{target} is there already; --force replaces it.")


def write_files(files: Mapping[Path, str]) -> None:
    """Write texts, gzipped where the name ends in .gz, and make their folders.

    A file is written under another name first and renamed, so that it is never half written.
    """
    for path, text in files.items():
        content = text.encode()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # With a time in it, the same judgements would give other bytes each time.
            unfinished.write_bytes(
                gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
            )
            unfinished.replace(path)
        except OSError as error:
            raise SurveyError(f"{path} cannot be written: {error.strerror}.") from None
        finally:
            with suppress(OSError):
                unfinished.unlink()
