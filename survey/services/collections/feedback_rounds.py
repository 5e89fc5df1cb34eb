"""The gain of relevance feedback: the runs of its rounds beside that of round 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from survey.core.collections.runs import GroundTruth, Runs, ranking
from survey.core.measures.feedback import MEASURES, negative_examples, positive_examples
from survey.services.collections.run_evaluation import (
    Asked,
    OnProgress,
    Report,
    RequestError,
    run,
    run_name,
)

Examples = Mapping[str, Sequence[Sequence[str]]]
"""Query → the examples of round 1, 2, …"""


@dataclass(frozen=True)
class Feedback:
    """Rounds of feedback; the comparisons of ``report`` are with round 0.

    ``rounds``: the runs' names, round 0 first; ``examples``: empty where none were asked for.
    """

    report: Report
    rounds: tuple[str, ...]
    examples: Examples


def run_feedback(
    asked: Asked,
    kind: Literal["positive", "negative"] | None = None,
    images: int = 1,
    on_progress: OnProgress = lambda *_: None,
) -> Feedback:
    """Score the rounds of feedback, the runs asked for in their order, and compare with the first.

    ``kind``: whose examples are wanted beside; ``images``: m, positive examples a round.
    Raises what ``evaluating.run`` does, and RequestError for a single run.
    """
    if len(asked.runs) < 2:
        raise RequestError("one run given; a run of round 0 and one of each round are needed")
    measures = tuple(
        name for name in MEASURES if asked.weights is not None or not name.startswith("w")
    )
    rounds = tuple(map(run_name, asked.runs))
    report = run(replace(asked, measures=measures, baseline=rounds[0]), on_progress)
    examples = {
        topic: [
            _examples(kind, report.truth, report.runs, topic, number, images)
            for number in range(1, len(rounds))
        ]
        for topic in (report.evaluation.queries if kind else ())
    }
    return Feedback(report, rounds, examples)


def _examples(
    kind: Literal["positive", "negative"] | None,
    truth: GroundTruth,
    runs: Runs,
    topic: str,
    number: int,
    images: int,
) -> list[str]:
    relevant = truth.relevant(topic)
    if kind == "positive":
        weights = (truth.weights or {}).get(topic, {})
        # Sorting keeps the order of those alike: by grade, then by docid.
        by_weight = sorted(relevant, key=lambda document: -weights.get(document, 0))
        return positive_examples(by_weight, number, images)
    first = next(iter(runs.values()))
    return negative_examples(ranking(first.get(topic, {})), frozenset(relevant), number)
