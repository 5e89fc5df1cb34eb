"""Assessors' labels merged and clusterings joined: from their files to tables, JSON and files."""

import gzip
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from survey.core.collections.clusterings import SUFFICIENT as SUFFICIENT
from survey.core.collections.clusterings import read_clustering
from survey.core.collections.gold import FLOOR as FLOOR
from survey.core.collections.labels import NOT_JUDGED, Labels, read_labels
from survey.core.collections.runs import Clusters
from survey.core.given_tables import OTHER_NAMES_OF_TOPIC, Columns, GivenRow, read_table
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.analysis.joined_clusters import (
    Compared,
    Gold,
    cluster_comparison,
    joined,
    pairs_reliability,
    reliability_sentences,
)
from survey.services.analysis.joined_clusters import compared_json as compared_json
from survey.services.analysis.joined_clusters import compared_sheet as compared_sheet
from survey.services.analysis.joined_clusters import gold_files as gold_files
from survey.services.analysis.joined_clusters import gold_json as gold_json
from survey.services.analysis.joined_clusters import statistics_sheet as statistics_sheet
from survey.services.analysis.label_agreement import agreement_headline, agreement_rows
from survey.services.analysis.merged_labels import MERGED as MERGED
from survey.services.analysis.merged_labels import Merged, OnTopic, merged
from survey.services.analysis.merged_labels import agreement_sheet as agreement_sheet
from survey.services.analysis.merged_labels import merged_json as merged_json
from survey.services.analysis.merged_labels import merged_lines as merged_lines
from survey.services.exchange.input_files import read_text

MOST_TOPICS_IN_TEXT = 20  # topics that a sentence names; JSON and files name all
BESIDE_GOLD = ("-topics.csv", "-statistics.csv")

Content = TypeVar("Content", Labels, Clusters)


def merge(
    paths: Sequence[Path], at_least: int | None, on_topic: OnTopic, *, pooled: bool = False
) -> Merged:
    """Merge the labels of all assessors; raises FaultyFilesError with every fault of the files.

    ``pooled``: who has no line for a document did not judge it.
    """
    names = [written_name(path) for path in paths]
    unlisted = NOT_JUDGED if pooled else 0
    return merged(_read_all(paths, read_labels), names, at_least, on_topic, unlisted)


def written_name(path: Path) -> str:
    """Return an assessor's name: the file's, without endings."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


def compare_clusterings(first: Path, second: Path, threshold: float, on_topic: OnTopic) -> Compared:
    """Compare two assessors' clusterings.

    Raises FaultyFilesError with every fault of the files, SurveyError without a common topic.
    """
    clusters = _read_all([first, second], read_clustering)
    if not clusters[0].keys() & clusters[1].keys():
        raise SurveyError(f"{first} and {second} have no topic in common.")
    reliability = pairs_reliability([written_name(first), written_name(second)], clusters)
    return cluster_comparison(clusters[0], clusters[1], threshold, reliability, on_topic)


def gold(
    paths: Sequence[Path],
    threshold: float,
    floor: float,
    on_topic: OnTopic,
    topics_file: Path | None = None,
) -> Gold:
    """Join the clusterings of two or three assessors into one.

    ``topics_file``: a table with the topics' cluster types, and why some are left out.

    Raises FaultyFilesError with every fault of the files, SurveyError where all topics are
    left out.
    """
    assessors = _read_all(paths, read_clustering)
    rows = [] if topics_file is None else _topic_rows(topics_file)
    result = joined(
        *(assessors, threshold, floor, on_topic),
        cluster_types={row["topic"]: row["cluster_type"] for row in rows if row["cluster_type"]},
        left_out={row["topic"]: row["left_out"] for row in rows if row["left_out"]},
    )
    if not result.joined:
        first = result.topics[0]
        raise SurveyError(
            f"No topic is left for a gold standard ({first.topic!r}: {first.rule}); "
            "`survey assess compare` says where the assessors differ."
        )
    return result


def _topic_rows(path: Path) -> Sequence[GivenRow]:
    columns = Columns(("topic",), ("cluster_type", "left_out"), OTHER_NAMES_OF_TOPIC)
    return read_table(path.read_bytes(), path.name, columns).rows


def _read_all(
    paths: Sequence[Path], read: Callable[[str, Iterable[str], FileFaults], Content]
) -> list[Content]:
    faults = FileFaults()
    contents = [read(str(path), lines_of(read_text(path)), faults) for path in paths]
    faults.raise_any()
    return contents


def merged_reliability(merged: Merged) -> Iterable[str]:
    """Yield how far the assessors can be relied on, and what further ones would bring."""
    yield agreement_headline(merged.over_topics, merged.files)
    yield from map(str, agreement_rows(merged.over_topics))


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


def compared_reliability(compared: Compared) -> Iterable[str]:
    """Yield how far the two can be relied on."""
    return reliability_sentences(compared.reliability, 2)


def compared_sentences(compared: Compared, first: str, second: str) -> Iterable[str]:
    """Yield missing documents, and topics that need a third assessor."""
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
    more = len(topics) - MOST_TOPICS_IN_TEXT
    named = ", ".join(topics[:MOST_TOPICS_IN_TEXT]) + (f" and {more} more" if more > 0 else "")
    return f"topic{'s' * (len(topics) != 1)} {named}"


def check_targets(targets: Iterable[Path], sources: Iterable[Path], *, replace: bool) -> None:
    """Raise SurveyError where a target is one of the sources, or a file not to be replaced."""
    resolved = {path.resolve() for path in sources}
    for target in targets:
        if target.resolve() in resolved:
            raise SurveyError(f"{target} is one of the assessors' files; name another.")
        if target.exists() and not replace:
            raise SurveyError(f"{target} is there already; --force replaces it.")


def write_texts(files: Mapping[Path, str], private: Collection[Path] = ()) -> None:
    """Write texts, gzipped where the name ends in .gz, and make their folders.

    A file is written under another name first and renamed, so that it is never half written.
    Other users of the machine cannot read the ``private`` files.
    """
    for path, text in files.items():
        content = text.encode()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path in private:
                unfinished.touch(mode=0o600)
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
