"""Giving a plan ranked lists of the researcher's own."""

from collections.abc import Sequence
from typing import Any

from survey.core.file_lines import FaultyFilesError
from survey.core.stimuli.lists_csv import read_lists_csv
from survey.core.stimuli.own_lists import OwnLists
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.trec import read_trec

__all__ = ["FaultyFilesError", "OwnLists", "as_fields", "from_csv", "from_trec", "with_lists"]


def from_csv(text: str, file: str) -> OwnLists:
    """Read lists from a CSV; raises FaultyFilesError with every fault's row and column."""
    return read_lists_csv(text, file)


def from_trec(
    qrels: tuple[str, str],
    runs: Sequence[tuple[str, str]],
    *,
    topics: Sequence[str],
    collection_size: str,
    missing_last: bool,
    graded: bool = False,
    clusters: tuple[str, str] | None = None,
) -> OwnLists:
    """Read lists from (file name, text) pairs; raises FaultyFilesError with every fault."""
    size = collection_size.strip()
    if not (size.isascii() and size.isdecimal() and len(size) < 10):
        raise FaultyFilesError(
            [f"collection size: {size or 'nothing'!r} found; how many documents the runs searched"]
        )
    return read_trec(
        qrels,
        runs,
        topics=topics,
        collection_size=int(size),
        missing_last=missing_last,
        graded=graded,
        clusters=clusters,
    )


def as_fields(lists: OwnLists) -> dict[str, Any]:
    """Return lists as the fields of a plan that they fill."""
    return {
        "own_lists": lists.questions,
        "collection_size": lists.collection_size,
        "own_marks": [marks.as_json() for marks in lists.marks],
        "marks": {},
    }


def with_lists(plan: Plan, lists: OwnLists) -> Plan:
    """Return the plan with these lists in the place of drawn ones.

    Raises PlanError where plan and lists do not fit together.
    """
    return Plan.from_json({**plan.as_json(), **as_fields(lists)})
