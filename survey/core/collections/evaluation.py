"""Runs of a test collection scored with measures, query by query, and compared with a baseline.

In the MiAlbum protocol of relevance feedback, a system ranks the collection for a query
(round 0), is given examples, and ranks again (round 1, 2, …). The gain of a round is
M(round) − M(round 0), averaged over queries, for each measure M of ``FEEDBACK_MEASURES``: it
can be negative, and higher is better (MiAlbum protocol, Section 2.2).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from statistics import fmean
from typing import Literal

import numpy as np

from survey.core.collections import trec_eval
from survey.core.collections.runs import GroundTruth, Runs, lists_of, ranking
from survey.core.measures import Measure, Setting, Values
from survey.core.measures.measure import COMPARED_DECIMALS
from survey.core.measures.subtopics import is_exact
from survey.core.statistics.significance import (
    REPLICATES,
    SEED,
    bootstrap_p,
    holm,
    paired_t_p,
    randomisation_p,
    topics_needed,
    tukey_hsd_p,
)
from survey.core.text_input import FaultyFilesError, FileFaults, shortened

# MiAlbum takes a document that any annotator chose as relevant.
MERGE = " `survey assess merge --at-least 1` takes a document as relevant that any assessor chose."
MOST_LISTED_TOPICS = 5  # topics that a sentence lists by name

LEVELS = (0.05, 0.01, 0.001)  # *, ** and ***, as in the MNRO paper's Table 8
FEWEST_TOPICS = 5  # for which a comparison gets stars
# TREC's organisers: system rankings become unstable with fewer topics (Clough et al. 2008, 2.3).
ENOUGH_TOPICS = 25

P_FIELDS = ("p", "p_holm", "p_t", "p_t_holm", "p_randomisation", "p_randomisation_holm")
"""The fields of a comparison that hold a p value: of the bootstrap first."""

FEEDBACK_MEASURES = ("P@10-100", "wP@10-100", "R@100")
"""Average Precision, Weighted Average Precision and R100 of the MiAlbum protocol, by their names
in the registry."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of runs.

    ``queries``: the topics that count; ``values``: run → measure → its value for each
    query, in their order. ``setting``: what the measures read besides the lists. ``notes``:
    a sentence for everything that was left out.
    """

    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Mapping[str, Mapping[str, Values]]
    setting: Setting
    notes: tuple[str, ...] = ()

    def mean(self, run: str, measure: str) -> float:
        """Average a measure over the queries: MAP for AP, ANMRR for NMRR."""
        return float(self.values[run][measure].mean())


@dataclass(frozen=True)
class RunComparison:
    """A run compared with the baseline in one measure.

    ``difference``: the run's mean less the baseline's; ``percent``: of the baseline's mean,
    None where that is 0. ``p`` is the bootstrap's, ``p_t`` and ``p_randomisation`` those of
    the paired t test and of the randomisation test, each of one tail and with Holm's correction of
    its own over all comparisons; all None where undefined, of which ``why`` gives the reason.
    ``p_two_sided``: of the randomisation test, twice that of the smaller tail, and corrected by
    Holm's method over the runs of a measure. ``stars``: of a run that is better, one for each of
    the levels .05, .01, .001 that the last does not exceed (of the paper: ``p``); none with fewer
    topics than FEWEST_TOPICS. ``topics_needed``: with how many topics such a difference is found
    in 80 of 100 experiments.
    """

    run: str
    measure: str
    difference: float
    percent: float | None
    p: float | None
    p_holm: float | None
    p_t: float | None
    p_t_holm: float | None
    p_randomisation: float | None
    p_randomisation_holm: float | None
    why: str | None
    stars: str = ""
    p_two_sided: float | None = None
    p_two_sided_holm: float | None = None
    topics_needed: int | None = None


@dataclass(frozen=True)
class RunsCompared:
    """Two of all runs compared in a measure, corrected for all pairs of runs (Tukey's HSD)."""

    measure: str
    first: str
    second: str
    difference: float
    p: float


NO_QUERY = "no run returned anything for a topic with a relevant document; one such topic is needed"


def evaluate(
    truth: GroundTruth,
    runs: Runs,
    measures: Sequence[Measure],
    *,
    collection_size: int | None = None,
    gmt: int | Literal["max"] | None = None,
    literal_eq15: bool = False,
    relevant_from: int = 1,
    columns: int | None = None,
    on_topic: Callable[[int, int], object] = lambda *_: None,
    may_be_empty: bool = False,
    complete: bool = False,
) -> Evaluation:
    """Score each run with each measure for each query.

    Queries are the topics with a relevant document for which some run returned anything.
    A run that returned nothing for a query is scored as having retrieved nothing, as trec_eval
    does with -c; so all runs are averaged over the same queries. With ``complete``, so is a topic
    that no run returned anything for. Other topics are left out, and the notes say so.

    ``collection_size``: None where no measure needs it; with it, every run must fit in.
    ``gmt``: see ``Setting``; "max" takes the largest number of relevant documents of these
    queries. ``relevant_from``, ``columns``: see ``Setting``. ``on_topic`` is called after each
    query with the number of those done and of all. ``may_be_empty``: whether no query is enough,
    as of someone whose topics have nothing relevant.

    Raises FaultyFilesError when there are no queries, a run does not fit into the
    collection, a relevant document has no weight where there are weights, GMT is below a
    query's number of relevant documents, or a measure gives anything but a number.
    """
    queries = queries_of(truth, runs, measures, complete=complete)
    most = max((len(truth.relevant(topic)) for topic in queries), default=None)
    gmt = most if gmt == "max" else gmt
    faults = FileFaults(_faults(truth, runs, queries, measures, collection_size, gmt))
    if not queries and not may_be_empty:
        faults.add(NO_QUERY)
    faults.raise_any()
    # Without a collection size no measure reads it: each that does says so in ``needs``.
    size = Setting.collection_size if collection_size is None else collection_size
    setting = Setting(size, gmt, literal_eq15, relevant_from=relevant_from, columns=columns)
    scored = np.empty((len(runs), len(measures), len(queries)))
    for index, topic in enumerate(queries):
        orders = [ranking(run.get(topic, {})) for run in runs.values()]
        lists = lists_of(truth, topic, orders)
        try:
            values = [measure.checked(lists, setting) for measure in measures]
        except ValueError as error:
            raise FaultyFilesError([f"topic {shortened(topic)}: {error}"]) from error
        scored[:, :, index] = np.column_stack(values)
        on_topic(index + 1, len(queries))
    names = [measure.name for measure in measures]
    by_run = {
        run: dict(zip(names, rows, strict=True)) for run, rows in zip(runs, scored, strict=True)
    }
    notes = [
        *_notes(truth, runs, queries, measures),
        *_level_notes(truth, queries, measures, setting),
        *trec_eval.differences(names, _highest_grade(truth, queries)),
    ]
    return Evaluation(queries, tuple(measures), by_run, setting, tuple(notes))


def pooled(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Average the rounds of several people, query by query, over those who did the query.

    Who refined less often than others stays at their last round. Raises FaultyFilesError where
    no evaluation has a query.
    """
    if not any(each.queries for each in evaluations):
        raise FaultyFilesError([NO_QUERY])
    rounds = max((each.values for each in evaluations), key=len)
    queries = tuple(dict.fromkeys(query for each in evaluations for query in each.queries))
    values: dict[str, dict[str, Values]] = {}
    for number, name in enumerate(rounds):
        columns: dict[str, dict[str, list[float]]] = {}
        for each in evaluations:
            of_round = [*each.values.values()][: number + 1][-1]
            for measure, column in of_round.items():
                by_query = columns.setdefault(measure, {})
                for query, value in zip(each.queries, column.tolist(), strict=True):
                    by_query.setdefault(query, []).append(value)
        values[name] = {
            measure: np.array([fmean(by_query[query]) for query in queries])
            for measure, by_query in columns.items()
        }
    first = evaluations[0]
    notes = dict.fromkeys(note for each in evaluations for note in each.notes)
    return Evaluation(queries, first.measures, values, first.setting, tuple(notes))


def queries_of(
    truth: GroundTruth, runs: Runs, measures: Iterable[Measure], *, complete: bool = False
) -> tuple[str, ...]:
    """Return the topics that have a relevant document and are returned by some run.

    With ``complete``, the other topics with a relevant document count too. Where a measure needs
    clusters, only topics with a relevant document in a cluster count, so that all measures are
    averaged over the same queries.
    """
    clustered = any("clusters" in measure.needs for measure in measures)
    return tuple(
        topic
        for topic in truth.judgements
        if truth.relevant(topic)
        and (complete or any(run.get(topic) for run in runs.values()))
        and (not clustered or truth.has_cluster(topic))
    )


def _faults(
    truth: GroundTruth,
    runs: Runs,
    queries: Sequence[str],
    measures: Iterable[Measure],
    collection_size: int | None,
    gmt: int | None,
) -> Iterator[str]:
    """Yield a sentence for each reason why these runs cannot be scored."""
    names = {measure.name for measure in measures}
    capped = None if names.isdisjoint(("NMRR", "cNMRR", "gNMRR")) else gmt
    for topic in queries:
        relevant = truth.relevant(topic)
        place = f"topic {shortened(topic)}"
        if capped is not None and capped < len(relevant):
            yield (
                f"{place}: {len(relevant)} relevant documents found, and GMT is {capped}; GMT is "
                "the largest such number over all queries"
            )
        for document in relevant:
            if truth.weights is not None and document not in truth.weights.get(topic, {}):
                fault = f"relevant document {shortened(document)} has no weight; each needs one"
                yield f"{place}: {fault}"
        if collection_size is not None:
            for name, run in runs.items():
                if fault := _size_fault(run.get(topic, {}), relevant, collection_size):
                    yield f"{place}, run {name}: {fault}"


def _size_fault(returned: Collection[str], relevant: Iterable[str], collection_size: int) -> str:
    missing = sum(document not in returned for document in relevant)
    if len(returned) + missing <= collection_size:
        return ""
    ones = "one" if missing == 1 else "ones"
    also = f" and {missing} relevant {ones} missing" if missing else ""
    return (
        f"{len(returned)} documents found{also}; the collection size is {collection_size}, and "
        f"{len(returned) + missing} at least is needed"
    )


def _notes(
    truth: GroundTruth, runs: Runs, queries: Sequence[str], measures: Iterable[Measure]
) -> Iterator[str]:
    """Yield sentences about topics left out, results missing, and values that are bounds."""
    counted = frozenset(queries)
    judged = [topic for topic in truth.judgements if topic not in counted]
    relevant = [topic for topic in judged if truth.relevant(topic)]
    returned = [topic for topic in relevant if any(run.get(topic) for run in runs.values())]
    topics = dict.fromkeys(topic for run in runs.values() for topic in run)
    left_out = {
        "without a relevant document; trec_eval counts such topics as 0": [
            topic for topic in judged if topic not in relevant
        ],
        "that no run returned anything for; --complete counts such topics, as trec_eval -c does": [
            topic for topic in relevant if topic not in returned
        ],
        "without a relevant document in a cluster": returned,
        "without judgements": [topic for topic in topics if topic not in truth.judgements],
    }
    for reason, names in left_out.items():
        if names:
            yield f"Left out: {_topics(names)} {reason}."
    yield from _irrelevant(truth, queries)
    for name, run in runs.items():
        if missing := [topic for topic in queries if not run.get(topic)]:
            yield (
                f"Run {name} returned nothing for {_topics(missing)}; scored as having retrieved "
                "nothing, as by trec_eval -c."
            )
    if any(measure.name.startswith("S-precision@") for measure in measures):
        bounded = [topic for topic in queries if not is_exact(_items(truth, topic))]
        if bounded:
            yield (
                f"S-precision of {_topics(bounded)} rests on a greedy cover, which may take more "
                "documents than the smallest; these are too many for an exact one."
            )
    if any(measure.name.startswith("alpha") for measure in measures):
        several = [topic for topic in queries if max(map(len, _items(truth, topic))) > 1]
        if several:
            yield (
                "The ideal list of alpha-nDCG is greedy, and may gain less than the best for "
                f"{_topics(several)}, where documents are in several clusters."
            )


def _level_notes(
    truth: GroundTruth, queries: Sequence[str], measures: Iterable[Measure], setting: Setting
) -> Iterator[str]:
    """Yield which grades binary measures count, and topics without a document of such a grade."""
    levels = {measure.level if measure.level > 1 else setting.relevant_from for measure in measures}
    if setting.relevant_from > 1:
        yield f"Binary measures take documents as relevant from grade {setting.relevant_from} on."
    for level in sorted(levels - {1}):
        lower = [topic for topic in queries if max(truth.judgements[topic].values()) < level]
        if lower:
            yield (
                f"No document of {_topics(lower)} has a grade of {level} or more, so such measures "
                "have their worst value there."
            )


def _highest_grade(truth: GroundTruth, queries: Sequence[str]) -> int:
    return max((max(truth.judgements[topic].values()) for topic in queries), default=0)


def _irrelevant(truth: GroundTruth, queries: Sequence[str]) -> Iterator[str]:
    """Yield how many documents of weights and clusters are not relevant."""
    for what, known, advice in (
        ("weights", truth.weights, MERGE),
        ("clusters", truth.clusters, ""),
    ):
        named = [known.get(topic, {}).keys() for topic in queries] if known else []
        irrelevant = sum(
            len(documents - {*truth.relevant(topic)})
            for topic, documents in zip(queries, named, strict=False)
        )
        if irrelevant:
            yield (
                f"{irrelevant} of {sum(map(len, named))} documents in the {what} are not relevant "
                f"in the judgements, so they count for nothing.{advice}"
            )


def _items(truth: GroundTruth, topic: str) -> frozenset[frozenset[str]]:
    return frozenset(truth.clusters_of(topic, document) for document in truth.relevant(topic))


def _topics(topics: Sequence[str]) -> str:
    named = ", ".join(topics[:MOST_LISTED_TOPICS])
    more = ", …" if len(topics) > MOST_LISTED_TOPICS else ""
    return f"{len(topics)} topic{'' if len(topics) == 1 else 's'} ({named}{more})"


def why_none_of_all(evaluation: Evaluation) -> str | None:
    """Return the reason why no two runs are compared at once, or None where they are."""
    topics = len(evaluation.queries)
    if topics < FEWEST_TOPICS:
        return f"{topics} topic{'s' * (topics != 1)}; it takes {FEWEST_TOPICS}"
    return "there is one run only" if len(evaluation.values) < 2 else None


def compare_all(
    evaluation: Evaluation, *, resamples: int = REPLICATES, seed: int = SEED
) -> tuple[RunsCompared, ...]:
    """Compare every two runs in every measure; none where ``why_none_of_all`` has a reason."""
    if why_none_of_all(evaluation):
        return ()
    compared = []
    for measure in evaluation.measures:
        values = np.column_stack([of[measure.name] for of in evaluation.values.values()])
        p = tukey_hsd_p(values, resamples, seed)
        for first, second in combinations(range(len(evaluation.values)), 2):
            names = [*evaluation.values]
            difference = float(values[:, first].mean() - values[:, second].mean())
            of_pair = (measure.name, names[first], names[second])
            compared.append(RunsCompared(*of_pair, difference, float(p[first, second])))
    return tuple(compared)


def compare_runs(
    evaluation: Evaluation,
    baseline: str,
    *,
    resamples: int = REPLICATES,
    seed: int = SEED,
    paper_stars: bool = False,
) -> tuple[RunComparison, ...]:
    """Compare every other run with the baseline in every measure.

    Every p of one tail is of the differences in the direction in which the run would be better
    than the baseline: see ``bootstrap_p``, ``paired_t_p`` and ``randomisation_p``; the two-sided p
    is twice the smaller of both tails of the same randomisation. Holm's correction is over all
    comparisons of this call, of the two-sided p over the runs of a measure.
    ``paper_stars``: by the bootstrap's p, of one tail and without correction (MNRO paper, Table 8).
    """
    pairs = [
        (run, measure)
        for run in evaluation.values
        if run != baseline
        for measure in evaluation.measures
    ]
    gains = [
        (evaluation.values[run][measure.name] - evaluation.values[baseline][measure.name])
        * (1 if measure.better == "higher" else -1)
        for run, measure in pairs
    ]
    reasons = [why_none(gain) for gain in gains]
    tested = [gain for gain, why in zip(gains, reasons, strict=True) if why is None]
    columns: list[list[float | None]] = []
    for test in (
        partial(bootstrap_p, resamples=resamples, seed=seed),
        paired_t_p,
        partial(randomisation_p, resamples=resamples, seed=seed),
    ):
        values = iter(test(np.column_stack(tested)).tolist() if tested else ())
        p = [next(values) if why is None else None for why in reasons]
        columns += [p, holm(p)]
    randomised = partial(randomisation_p, resamples=resamples, seed=seed)
    worse = iter(randomised(-np.column_stack(tested)).tolist() if tested else ())
    two_sided = [
        None if better is None else min(1.0, 2 * min(better, next(worse))) for better in columns[4]
    ]
    corrected: list[float | None] = [None] * len(pairs)
    for measure in evaluation.measures:
        places = [place for place, (_, of) in enumerate(pairs) if of is measure]
        of_measure = holm([two_sided[place] for place in places])
        for place, of_run in zip(places, of_measure, strict=True):
            corrected[place] = of_run
    enough = len(evaluation.queries) >= FEWEST_TOPICS
    comparisons = []
    for place, ((run, measure), *tests, why) in enumerate(
        zip(pairs, *columns, reasons, strict=True)
    ):
        base = evaluation.mean(baseline, measure.name)
        difference = evaluation.mean(run, measure.name) - base
        percent = 100 * difference / base if base else None
        known = dict(zip(P_FIELDS, tests, strict=True))
        decides = known["p"] if paper_stars else corrected[place]
        stars = "*" * sum(decides is not None and decides <= level for level in LEVELS)
        gain = gains[place]
        is_starred = enough and float(gain.mean()) > 0
        needed = topics_needed(float(gain.mean()), float(gain.std(ddof=1))) if not why else None
        comparisons.append(
            RunComparison(
                *(run, measure.name, difference, percent),
                **known,
                why=why,
                stars=stars * is_starred,
                p_two_sided=two_sided[place],
                p_two_sided_holm=corrected[place],
                topics_needed=needed,
            )
        )
    return tuple(comparisons)


def why_none(differences: Values) -> str | None:
    """Return the reason why differences have no p value, or None where they have one."""
    if len(differences) < 2:
        return "one query only; the bootstrap needs at least 2"
    rounded = np.round(differences, COMPARED_DECIMALS)
    if not rounded.any():
        return "the two runs have the same value for every query"
    if (rounded == rounded[0]).all():
        return "the difference is the same for every query, so its standard error is 0"
    return None


def positive_examples(ground_truth: Sequence[str], round_number: int, images: int) -> list[str]:
    """Return r_{(t−1)m+1} … r_{tm}, the positive examples added in round t.

    ``ground_truth``: the query's relevant items r_1, r_2, …, the most relevant first (by
    weight, then by grade); ``round_number``: t ≥ 1; ``images``: m ≥ 1. Fewer than m, or
    none, when the ground truth is used up.

    The protocol puts r_1 … r_m into the system first, "then … r_{m+1} … r_{2m} as the second
    positive example set". We read that as examples taken from the ground truth, not from
    what the system retrieved, and of each round as an addition to those of the rounds before.

    Source: MiAlbum protocol, Section 2.2, positive feedback.
    """
    return list(ground_truth[(round_number - 1) * images : round_number * images])


def negative_examples(
    ranked: Sequence[str], relevant: Collection[str], round_number: int
) -> list[str]:
    """Return the first t items of a list that are not relevant: round t's negative examples.

    ``ranked``: the list of round 0, best first; ``relevant``: the query's relevant items;
    ``round_number``: t ≥ 1. Fewer than t where the list ends before.

    The protocol takes the first item that is not in the ground truth; "after the first
    round … the first two negative examples from the result list", then 3, 4 and so on. We
    read "the result list" as the one it defined, L(q) of round 0, so that each round's
    examples contain those of the round before. An item without a judgement is not in the
    ground truth, and so counts as not relevant.

    Source: MiAlbum protocol, Section 2.2, negative feedback.
    """
    return list(islice((item for item in ranked if item not in relevant), round_number))
