"""Clusterings compared and joined, as files, tables, JSON and sentences."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from survey.core.assessors.clusterings import as_lines, members
from survey.core.assessors.gold import GoldTopic, spread
from survey.services.assessing.judgements import Compared, Gold
from survey.services.assessing.naming import topics_named
from survey.services.reporting.sheets import Cell, Sheet, as_csv

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
