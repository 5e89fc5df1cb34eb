"""Rounds of relevance feedback, compared with round 0."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from survey.core.collections.runs import GroundTruth, Runs, ranking
from survey.core.measures.feedback import MEASURES, negative_examples, positive_examples
from survey.services.collections.run_evaluation import (
    OnProgress,
    Report,
    Request,
    RequestError,
    evaluate_runs,
    run_name,
)

Examples = Mapping[str, Sequence[Sequence[str]]]
"""Query → the examples of round 1, 2, …"""


@dataclass(frozen=True)
class Feedback:
    """The rounds' scores; the comparisons of ``report`` are with round 0.

    ``rounds``: the runs' names, round 0 first; ``examples``: empty where none were requested.
    """

    report: Report
    rounds: tuple[str, ...]
    examples: Examples


def evaluate_feedback(
    request: Request,
    kind: Literal["positive", "negative"] | None = None,
    images: int = 1,
    on_progress: OnProgress = lambda *_: None,
) -> Feedback:
    """Score the rounds of feedback, the request's runs in their order; compare with the first.

    ``kind``: of the examples to return as well; ``images``: m, positive examples a round.
    Raises what ``evaluate_runs`` does, and RequestError for a single run.
    """
    if len(request.runs) < 2:
        raise RequestError("one run given; a run of round 0 and one of each round are needed")
    measures = tuple(
        name for name in MEASURES if request.weights is not None or not name.startswith("w")
    )
    rounds = tuple(map(run_name, request.runs))
    report = evaluate_runs(replace(request, measures=measures, baseline=rounds[0]), on_progress)
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
        # Sorting is stable: documents of equal weight remain sorted by grade, then by docid.
        by_weight = sorted(relevant, key=lambda document: -weights.get(document, 0))
        return positive_examples(by_weight, number, images)
    first = next(iter(runs.values()))
    return negative_examples(ranking(first.get(topic, {})), frozenset(relevant), number)
