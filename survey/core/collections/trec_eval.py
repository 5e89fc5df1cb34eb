"""What trec_eval computes: its measures, their values and means, and where ours differ.

It is version 10 of trec_eval, https://github.com/usnistgov/trec_eval.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from survey.core.collections.runs import GroundTruth, Run, ranking
from survey.core.text_input import closest

CUTOFFS = tuple(map(str, (5, 10, 15, 20, 30, 100, 200, 500, 1000)))
LEVELS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
SUCCESS_CUTOFFS = ("1", "5", "10")
OFFICIAL = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "iprec_at_recall", "P"),
)
"""The measures that trec_eval prints if none is named."""
WHOLE_LIST = "999999999"  # as k
LEAST_OF_GEOMETRIC_MEAN = 0.00001
OF_ALL_TOPICS = ("runid", "num_q", "gm_map", "gm_bpref")  # no value for a single topic

# Families of our measures, how trec_eval's differ, and whether they do so with grades above 1 only.
DIFFERENCES = (
    (
        r"AP@\d+",
        "divided by the relevant documents among the first k. trec_eval's map_cut_k is divided by "
        "all relevant documents: for each topic it is AP@k × R@k",
        False,
    ),
    (
        "AP11",
        "recall levels are exact. trec_eval 10 rounds a level's number of documents to the nearest "
        "whole number in 11pt_avg",
        False,
    ),
    (
        r"nDCG@\d+",
        "the gain is 2^grade − 1. trec_eval's ndcg_cut_k takes the grade as the gain, as nDCGlin@k "
        "does",
        True,
    ),
    (
        r"nDCGlog2@\d+",
        "the gain at rank i is divided by log2 i. trec_eval's ndcg_cut_k divides it by "
        "log2 (i + 1), as nDCGlin@k does",
        False,
    ),
    (
        r"RBP@[\d.]+",
        "a document is relevant or not. trec_eval 10's rbp takes the grade as the gain, divided by "
        "the topic's highest grade",
        True,
    ),
)


def differences(measures: Iterable[str], highest_grade: int) -> Iterator[str]:
    """Yield a sentence for each family of measures that trec_eval computes otherwise."""
    names = [*measures]
    for pattern, text, only_graded in DIFFERENCES:
        family = [name for name in names if re.fullmatch(pattern, name)]
        if family and (highest_grade > 1 or not only_graded):
            yield f"{', '.join(family)}: {text}."


@dataclass(frozen=True)
class TopicResult:
    """What a run returned for a topic.

    ``ranks``: the positions of relevant documents that were returned; ``relevant``: how many
    relevant documents there are; ``returned``: how many documents came back. ``values``: our
    measures by name, without those that are 0. ``added``: what the topic adds to the number of
    relevant documents of all topics.
    """

    ranks: Sequence[int]
    relevant: int
    returned: int
    values: Mapping[str, float]
    added: int

    def value(self, measure: str) -> float:
        """Return the value of one of our measures."""
        return self.values.get(measure, 0.0)


def interpolated_precision(ranks: Sequence[int], relevant: int, level: float) -> float:
    """Compute iprec_at_recall: the highest precision at this level of recall or a higher one.

    The level times the number of relevant documents is rounded to the nearest whole number.

    Source: trec_eval 10, m_iprec_at_recall.c. Before version 10 it was ⌊level · relevant + .9⌋.
    """
    needed = math.floor(level * relevant + 0.5)
    precisions = (number / rank for number, rank in enumerate(ranks, 1) if number >= needed)
    return max(precisions, default=0.0)


def _average_precision_cut(result: TopicResult, cutoff: int) -> float:
    precisions = [number / rank for number, rank in enumerate(result.ranks, 1) if rank <= cutoff]
    return _sum(precisions) / result.relevant if precisions else 0.0


def _eleven_points(result: TopicResult) -> float:
    values = [interpolated_precision(result.ranks, result.relevant, float(at)) for at in LEVELS]
    return _sum(values) / len(values)


def _sum(values: Iterable[float]) -> float:
    """Add in order, as trec_eval does; newer versions of ``sum`` differ in the last digit."""
    return reduce(add, values, 0.0)


@dataclass(frozen=True)
class Family:
    """Measures of trec_eval that share a name; ``parameters``: those that it has by default.

    ``compute``: a topic's result and the parameter → the value. ``reads``: our measures that it
    reads, with {} for the parameter.
    """

    compute: Callable[[TopicResult, str], float]
    reads: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ("",)


def _ours(measure: str, parameters: tuple[str, ...] = ("",)) -> Family:
    """Return a family whose values are those of our measure."""
    return Family(lambda result, k: result.value(measure.format(k)), (measure,), parameters)


FAMILIES: Mapping[str, Family] = {
    "runid": Family(lambda *_: 0),
    "num_q": Family(lambda *_: 1),
    "num_ret": Family(lambda result, _: result.returned),
    "num_rel": Family(lambda result, _: result.relevant),
    "num_rel_ret": Family(lambda result, _: len(result.ranks)),
    "map": _ours("AP"),
    "gm_map": _ours("AP"),
    "Rprec": _ours("Rprec"),
    "bpref": _ours("bpref"),
    "recip_rank": _ours("RR"),
    "iprec_at_recall": Family(
        lambda result, level: interpolated_precision(result.ranks, result.relevant, float(level)),
        parameters=LEVELS,
    ),
    "P": _ours("P@{}", CUTOFFS),
    "recall": _ours("R@{}", CUTOFFS),
    "gm_bpref": _ours("bpref"),
    "11pt_avg": Family(lambda result, _: _eleven_points(result)),
    "ndcg": _ours(f"nDCGlin@{WHOLE_LIST}"),
    "ndcg_cut": _ours("nDCGlin@{}", CUTOFFS),
    "map_cut": Family(lambda result, k: _average_precision_cut(result, int(k)), parameters=CUTOFFS),
    "success": Family(
        lambda result, k: float(min(result.ranks, default=math.inf) <= int(k)),
        parameters=SUCCESS_CUTOFFS,
    ),
}
"""The measures of trec_eval that are here, in the order in which it prints them."""

SETS = {"official": OFFICIAL, "all_trec": tuple(FAMILIES)}


@dataclass(frozen=True)
class TrecEvalMeasure:
    """A measure of trec_eval: its family and its parameter, "" without one."""

    family: str
    parameter: str

    @property
    def name(self) -> str:
        """Its name as trec_eval prints it: P_10."""
        return f"{self.family}_{self.parameter}" if self.parameter else self.family

    @property
    def reads(self) -> list[str]:
        """The names of our measures that it reads."""
        return [measure.format(self.parameter) for measure in FAMILIES[self.family].reads]


def measures_named(names: Sequence[str]) -> list[TrecEvalMeasure]:
    """Return measures in trec_eval's order; the official ones without names.

    A name is a family, with all its parameters, a measure such as P_10, or one of SETS. Raises
    ValueError for another.
    """
    families = [*FAMILIES]
    measures = {
        measure
        for name in names or ("official",)
        for family in SETS.get(name, (name,))
        for measure in _measures_named(family)
    }

    def place(measure: TrecEvalMeasure) -> tuple[int, float]:
        return families.index(measure.family), float(measure.parameter or 0)

    return sorted(measures, key=place)


def _measures_named(name: str) -> list[TrecEvalMeasure]:
    if family := FAMILIES.get(name):
        return [TrecEvalMeasure(name, parameter) for parameter in family.parameters]
    stem, _, parameter = name.rpartition("_")
    parameters = FAMILIES[stem].parameters if stem in FAMILIES else ()
    has_cutoff = parameters in (CUTOFFS, SUCCESS_CUTOFFS)
    if has_cutoff and re.fullmatch(r"[1-9][0-9]{0,8}", parameter):
        return [TrecEvalMeasure(stem, parameter)]
    if parameter and parameter in parameters:
        return [TrecEvalMeasure(stem, parameter)]
    alike = closest(name, [*SETS, *FAMILIES])
    hint = f"did you mean {alike}?" if alike else f"there are {', '.join((*SETS, *FAMILIES))}"
    raise ValueError(f"{name} is not one of trec_eval's measures that are here ({hint})")


def topics_of(truth: GroundTruth, run: Run, *, complete: bool) -> list[str]:
    """Return the topics that trec_eval counts, in its order.

    They are the judged topics for which the run returned something, also those without a
    relevant document; with ``complete`` (-c) all judged topics.
    """
    return sorted(topic for topic in truth.judgements if complete or run.get(topic))


def topic_result(
    truth: GroundTruth,
    run: Run,
    topic: str,
    level: int,
    values: Mapping[str, float],
    *,
    complete: bool,
) -> TopicResult:
    """Return a topic's result, where documents of this grade or a higher one are relevant.

    With ``complete`` (-c), trec_eval takes the level 1 for the num_rel of all topics.
    """
    grades = truth.judgements[topic]
    order = ranking(run.get(topic, {}))
    ranks = [rank for rank, name in enumerate(order, 1) if grades.get(name, -1) >= level]
    relevant = sum(grade >= level for grade in grades.values())
    added = sum(grade > 0 for grade in grades.values()) if complete else relevant
    return TopicResult(ranks, relevant, len(order), values, added)


def value_lines(
    measures: Iterable[TrecEvalMeasure],
    results: Mapping[str, TopicResult],
    tag: str,
    *,
    per_topic: bool,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints, with ``per_topic`` (-q) also those of each topic."""
    values = {
        measure: [
            FAMILIES[measure.family].compute(result, measure.parameter)
            for result in results.values()
        ]
        for measure in measures
    }
    for place, topic in enumerate(results if per_topic else ()):
        for measure, column in values.items():
            if measure.family not in OF_ALL_TOPICS:
                yield _line(measure.name, topic, column[place])
    for measure, column in values.items():
        if measure.family == "runid":
            yield _line(measure.name, "all", tag)
        elif measure.family == "num_rel":
            yield _line(measure.name, "all", sum(result.added for result in results.values()))
        else:
            yield _line(measure.name, "all", _mean(measure, column))


def _line(name: str, topic: str, value: float | str) -> str:
    text = f"{value:6.4f}" if isinstance(value, float) else value
    return f"{name:<22}\t{topic}\t{text}"


def _mean(measure: TrecEvalMeasure, values: Sequence[float]) -> float:
    """Return a sum of counts, or a mean: of some measures the geometric one."""
    if measure.family.startswith("num_"):
        return sum(values)
    if measure.family in OF_ALL_TOPICS:
        logs = (math.log(max(value, LEAST_OF_GEOMETRIC_MEAN)) for value in values)
        return math.exp(_sum(logs) / len(values))
    return _sum(values) / len(values)
