"""Labels merged, clusterings compared and joined, each from assessors' files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from survey.core.assessors.choices import ChoiceAgreement, choice_agreement
from survey.core.assessors.clusterings import read_clustering
from survey.core.assessors.comparison import SUFFICIENT, Comparison, compare_clusters
from survey.core.assessors.gold import FLOOR, GoldTopic, gold_topic
from survey.core.assessors.labels import Judgements, Labels, merge_labels, read_labels
from survey.core.assessors.topics import in_order
from survey.core.file_lines import lines_of, stop_if_any
from survey.core.runs.reading import Clusters
from survey.services.errors import SurveyError
from survey.services.text_files import text_of

__all__ = ["FLOOR", "SUFFICIENT", "compare", "gold", "merge"]

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
