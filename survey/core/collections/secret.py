"""Secret judgements: which topics give feedback, what is promised of them, and what is shown.

Half of the secret topics are open: their means are the feedback on a run. The others are final, and
are scored once, so that nothing that is learned from feedback can raise a final score.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal

import numpy as np

from survey.core.collections.evaluation import (
    FEWEST_TOPICS,
    Evaluation,
    compare_runs,
    evaluate,
)
from survey.core.collections.runs import GroundTruth, Judgements, Run, read_run
from survey.core.measures import Measure, Setting, Values
from survey.core.text_input import FileFaults, lines_of, shortened

MOST_MEASURES = 3
FEWEST_SECRET = 2 * FEWEST_TOPICS  # so that either half is enough for stars
MOST_DOCUMENTS = 1_000  # that a run may return for a topic
DECIMALS = 2  # of means as they are shown
SMALLEST = 1e-9  # difference that is more than an error of rounding

RunValues = Mapping[str, Sequence[float]]
"""Measure → a run's value for each topic."""


def split_topics(topics: Collection[str], seed: int) -> tuple[list[str], list[str]]:
    """Return the open and the final topics: one half each, the larger one final.

    Topics are sorted by the SHA-256 of “seed:topic”, so that anyone can repeat it with a seed that
    is published later. Both parts are in the order of ``topics``.
    """
    drawn = sorted(topics, key=lambda topic: sha256(f"{seed}:{topic}".encode()).digest())
    is_open = {*drawn[: len(drawn) // 2]}
    return [name for name in topics if name in is_open], [
        name for name in topics if name not in is_open
    ]


def read_complete_run(file: str, text: str, topics: Sequence[str]) -> Run:
    """Return what a run has for the secret topics; raises FaultyFilesError with every fault.

    A fault never depends on the judgements, nor the order of faults on which topics are open:
    otherwise files with faults would tell of them.
    """
    faults = FileFaults()
    run = read_run(file, lines_of(text), faults)
    faults.raise_any()
    for topic in sorted(topics):
        documents = len(run.get(topic, ()))
        if not documents:
            fault = "no document is returned; a run needs some for each secret topic"
            faults.add(f"{file}, topic {shortened(topic)}: {fault}")
        elif documents > MOST_DOCUMENTS:
            fault = f"{documents:,} documents found; {MOST_DOCUMENTS:,} at most are allowed"
            faults.add(f"{file}, topic {shortened(topic)}: {fault}")
    faults.raise_any()
    return {topic: run[topic] for topic in topics}


def values_of(
    judgements: Judgements, topics: Sequence[str], measures: Sequence[Measure], run: Run
) -> dict[str, list[float]]:
    """Return a run's value for each secret topic, by measure."""
    truth = GroundTruth({topic: judgements[topic] for topic in topics})
    values = evaluate(truth, {"": run}, measures, complete=True).values[""]
    return {name: column.tolist() for name, column in values.items()}


def beats(
    values: Sequence[float], best: Sequence[float], better: Literal["higher", "lower"] = "higher"
) -> bool:
    """Return whether a run is better than the best one by more than a standard error.

    ``values``, ``best``: their values for the same topics, two at least. The standard error is that
    of the mean of the paired differences, s/√n with n − 1. A change of one topic alone is exactly
    one standard error, and so never enough: feedback does not tell topics apart.

    Source: the parameter-free Ladder of Blum, Hardt, The Ladder, ICML 2015, Section 4.
    """
    gains = np.subtract(values, best) * (1 if better == "higher" else -1)
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() - error > SMALLEST)


def shown_mean(values: Sequence[float]) -> float:
    """Return a mean as it is shown: rounded, so that it tells little of single topics."""
    return round(float(np.mean(values)), DECIMALS)


def feedback(
    values: Sequence[float],
    best: Sequence[float] | None,
    better: Literal["higher", "lower"] = "higher",
) -> tuple[float, bool]:
    """Return the mean to show, and whether it is that of a new best run.

    ``best``: the values of the best run before, None of a first run. Where a run does not beat it,
    the mean is the best run's, which is known already: nothing more is told of the topics.
    """
    if best is None or beats(values, best, better):
        return shown_mean(values), True
    return shown_mean(best), False


def starred(
    measures: Sequence[Measure],
    runs: Mapping[str, RunValues],
    baselines: Mapping[str, RunValues],
    topics: Sequence[str],
) -> dict[str, tuple[str, dict[str, str]]]:
    """Return for each measure its best baseline, and the stars of runs that are better than it.

    ``runs``, ``baselines``: name → values for ``topics``. The tests are those of ``compare_runs``,
    corrected for the number of runs. Without baselines there are no stars.
    """
    stars: dict[str, tuple[str, dict[str, str]]] = {}
    for measure in measures if baselines else ():
        sign = 1 if measure.better == "higher" else -1
        name = max(baselines, key=lambda run: sign * np.mean(baselines[run][measure.name]))
        # Under a name that no run has: a group may be called as the baseline is.
        named = {"": baselines[name], **runs}
        columns = {run: {measure.name: _column(of[measure.name])} for run, of in named.items()}
        compared = compare_runs(Evaluation((*topics,), (measure,), columns, Setting()), "")
        stars[measure.name] = name, {result.run: result.stars for result in compared}
    return stars


def _column(values: Sequence[float]) -> Values:
    return np.array(values, dtype=float)


def commitment(
    judgements: Judgements, parts: tuple[Sequence[str], Sequence[str]], facts: Mapping[str, str]
) -> str:
    """Return the secret judgements as a file whose SHA-256 is published before any run is scored.

    It is TREC's format behind comments: ``facts``, among them the salt, without which the SHA-256
    would let others try out guesses, and which topics are open and final (``parts``).
    """
    return "".join(f"{line}\n" for line in _lines(judgements, parts, facts))


def _lines(
    judgements: Judgements, parts: tuple[Sequence[str], Sequence[str]], facts: Mapping[str, str]
) -> Iterator[str]:
    for name, fact in facts.items():
        yield f"# {name}: {fact}"
    for name, topics in zip(("open", "final"), parts, strict=True):
        yield f"# {name}: {' '.join(topics)}"
    for topic in (*parts[0], *parts[1]):
        for document, grade in sorted(judgements[topic].items()):
            yield f"{topic} 0 {document} {grade}"
