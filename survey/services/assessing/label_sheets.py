"""Merged labels as files, a table, JSON and sentences."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from survey.services.assessing.judgements import Merged
from survey.services.assessing.naming import topics_named
from survey.services.reporting.sheets import Cell, Sheet, as_csv

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
