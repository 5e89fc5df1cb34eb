"""Score the runs of a test collection: tables and JSON.

Runs are read from files, scored, and compared with a baseline, or rounds of relevance
feedback with round 0.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Literal, TypeVar

from survey.core.collections.evaluation import (
    FEEDBACK_MEASURES,
    FEWEST_TOPICS,
    LEVELS,
    NO_QUERY,
    P_FIELDS,
    Evaluation,
    RunComparison,
    RunsCompared,
    compare_all,
    compare_runs,
    evaluate,
    negative_examples,
    pooled,
    positive_examples,
    queries_of,
    why_none_of_all,
)
from survey.core.collections.keywords import read_keywords, truth_by_keywords
from survey.core.collections.runs import (
    CLUSTERS_LINE,
    IN_NO_CLUSTER,
    Clusters,
    GroundTruth,
    Run,
    RunFacts,
    Runs,
    names_of_runs,
    ranking,
    read_clusters,
    read_judgements,
    read_run_and_facts,
    read_weights,
)
from survey.core.measures import Measure, measure_named
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.preflight import (
    FIRST_DOCUMENTS,
    KEYWORDS,
    Warned,
    changed_ids,
    clusters_checked,
    few_topics,
    marks_checked,
    none_relevant_fault,
    run_as_meant,
    runs_checked,
    scores_checked,
    share_judged,
    tables_checked,
    topics_fault,
)
from survey.core.statistics.significance import REPLICATES, SEED
from survey.core.text_input import FaultyFilesError, FileFaults, Json, lines_of, visible
from survey.core.text_input import split_names as split_names  # for the command
from survey.errors import SurveyError
from survey.services.analysis.sheets import Cell, P, Sheet, Starred, count_of
from survey.services.exchange.input_files import read_text

# In the order of tables; a measure that needs something is used where that is provided.
DEFAULT_MEASURES = (
    *("AP", "P@10", "P@20", "S-recall@20", "Rprec", "RR", "bpref", "nDCG@10"),
    *("NMRR", "MNRO", "NAR", "wP@10", "wP@10-100"),
)
# P_N', wP_N' and Pr_N' of the MiAlbum protocol, and its means, with keywords as weights.
KEYWORD_MEASURES = ("P@10", "wP@10", "rwP@10", "P@10-100", "wP@10-100")
DECIMALS = 4
ROUND = re.compile(r"round([0-9]{1,4})\.txt(\.gz)?", re.IGNORECASE)
OTHER_TESTS = (
    "p is the bootstrap's; t and randomisation are paired tests of the same tail, after Holm's "
    "correction; two-sided is the randomisation's, corrected for the runs of a measure. The last "
    "column: how many topics find such a difference in 80 of 100 experiments."
)

Content = TypeVar("Content")
Reader = Callable[[str, Iterable[str], FileFaults], Mapping[str, Content]]

ExampleType = Literal["positive", "negative"]
Examples = Mapping[str, Sequence[Sequence[str]]]
"""Query → the examples of round 1, 2, …"""

OnProgress = Callable[[str, int, int], object]
"""Called with the name of the step, how much of it is done, and its total."""

MOST_UNJUDGED = 8  # runs that a note names


class RequestError(ValueError):
    """A request that is invalid whatever the files hold."""


@dataclass(frozen=True)
class Request:
    """Files to evaluate, by which measures (the default ones where none is named), and options.

    ``names``: of runs, in their order, "" for those that are named by their file or tag.
    ``baseline``: the name of a run, or its path as in ``runs``. ``keywords``: in place of
    judgements and weights; topics are documents then. ``ids``: names in CHANGES, to read documents
    by; ``distances``: whether a run's scores are smaller for better documents; ``relevant_from``,
    ``columns``: see ``Setting``. ``paper_stars``: stars as in the MNRO paper; ``all_runs``:
    compare every two. ``complete``: see ``evaluate``.
    """

    qrels: Path | None
    runs: tuple[Path, ...]
    measures: tuple[str, ...] = ()
    collection_size: int | None = None
    gmt: int | Literal["max"] | None = None
    literal_eq15: bool = False
    weights: Path | None = None
    clusters: Path | None = None
    keywords: Path | None = None
    baseline: str | None = None
    resamples: int = REPLICATES
    seed: int = SEED
    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    distances: bool = False
    relevant_from: int = 1
    paper_stars: bool = False
    all_runs: bool = False
    complete: bool = False
    columns: int | None = None


@dataclass(frozen=True)
class Report:
    """The scores of a request's runs; ``baseline``: a run's name, None for no comparison.

    ``warnings``: what may be otherwise in the files than was meant. ``tags``: run → the tag in its
    file, "" without one.
    """

    request: Request
    truth: GroundTruth
    runs: Runs
    evaluation: Evaluation
    baseline: str | None
    comparisons: tuple[RunComparison, ...]
    warnings: tuple[Warned, ...] = ()
    all_pairs: tuple[RunsCompared, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


def evaluate_runs(
    request: Request,
    on_progress: OnProgress = lambda *_: None,
    read: Callable[[Path], str] = read_text,
    *,
    may_be_empty: bool = False,
) -> Report:
    """Read files, score the runs in them and compare them with the baseline.

    ``read``: a path → the text of that file. ``may_be_empty``: of ``evaluate``. Raises
    RequestError for an invalid request before any file is read, and FaultyFilesError for invalid
    files.
    """
    measures = chosen_measures(request)
    names = _run_names(request, read)
    baseline = _baseline_name(request, names)
    truth, runs, facts, known, warnings = _read_collection(
        *(request, measures, names, on_progress, read)
    )
    warnings += _compared(request, truth, runs, facts, known)
    if not may_be_empty:
        _raise_unmet(request, truth, runs, warnings, known)
        if not queries_of(truth, runs, measures, complete=request.complete):
            raise FaultyFilesError([_why_no_query(request, truth, runs)])
    evaluation = evaluate(
        truth,
        runs,
        measures,
        collection_size=request.collection_size,
        gmt=request.gmt,
        literal_eq15=request.literal_eq15,
        relevant_from=request.relevant_from,
        columns=request.columns,
        on_topic=partial(on_progress, "Scoring"),
        may_be_empty=may_be_empty,
        complete=request.complete,
    )
    compared: tuple[RunComparison, ...] = ()
    if baseline is not None:
        compared = _tested(evaluation, baseline, request)
    is_binary = any(measure.reads == "positions" for measure in measures)
    warnings += scores_checked(
        truth.judgements,
        _left_out(request),
        len(evaluation.queries) if compared or request.all_runs else None,
        request.relevant_from if is_binary else None,
        to_baseline=bool(compared),
    )
    all_pairs = compare_all(evaluation, **_resampling(request)) if request.all_runs else ()
    tags = {name: of_run.tag for name, of_run in facts.items()}
    scores = (evaluation, baseline, compared)
    return Report(request, truth, runs, *scores, (*warnings,), all_pairs, tags)


def _compared(
    request: Request,
    truth: GroundTruth,
    runs: Runs,
    facts: Mapping[str, RunFacts],
    known: Collection[str],
) -> list[Warned]:
    """Compare the documents of a request's files; ``known``: those with keywords."""
    if request.keywords is not None:
        topics = {topic: dict.fromkeys(known, 0) for run in runs.values() for topic in run}
        return runs_checked(topics, runs, facts, side=KEYWORDS)
    marks = {
        str(path): topics
        for path, topics in ((request.weights, truth.weights), (request.clusters, truth.clusters))
        if path is not None and topics is not None
    }
    clusters = clusters_checked(str(request.clusters), truth.clusters) if truth.clusters else []
    of_marks = marks_checked(truth.judgements, marks)
    of_runs = runs_checked(truth.judgements, runs, facts, complete=request.complete)
    return [*of_runs, *of_marks, *clusters]


def _raise_unmet(
    request: Request,
    truth: GroundTruth,
    runs: Runs,
    warnings: Iterable[Warned],
    known: Collection[str],
) -> None:
    """Raise FaultyFilesError where no topic is in both files, or weights are of other ids."""
    topics = {topic for run in runs.values() for topic in run}
    judged = (known, topics, "keywords") if known else (truth.judgements, topics)
    if fault := topics_fault(*judged):
        raise FaultyFilesError([fault])
    weights = str(request.weights)
    of_weights = [each.text for each in warnings if (each.code, each.of) == ("ids-differ", weights)]
    if of_weights:  # else there would be a fault for each document without a weight
        raise FaultyFilesError(of_weights)


def _why_no_query(request: Request, truth: GroundTruth, runs: Runs) -> str:
    """Say why no topic of the runs has a relevant document that counts."""
    relevant = [topic for topic in truth.judgements if truth.relevant(topic)]
    if not relevant and request.keywords is not None:
        shared = "no other document shares a keyword with a topic of the runs"
        return f"{request.keywords}: {shared}, so nothing is relevant"
    if fault := none_relevant_fault(str(request.qrels), truth.judgements):
        return fault
    clusters = truth.clusters or {}
    if clusters and not any(truth.has_cluster(topic) for topic in relevant):
        return _why_no_cluster(str(request.clusters), clusters, truth, relevant)
    pair = f"judgements: “{visible(relevant[0])}”, runs: “{visible(min(chain(*runs.values())))}”"
    return f"{NO_QUERY} ({pair})"


def _why_no_cluster(
    file: str, clusters: Clusters, truth: GroundTruth, relevant: Sequence[str]
) -> str:
    """Say why no relevant document is in a cluster of a file."""
    documents = [document for topic in clusters.values() for document in topic]
    names = {name for topic in clusters.values() for each in topic.values() for name in each}
    if len({*documents}) == 1 < len(names):  # a run, for example
        second = f"the second field of every line is “{visible(documents[0])}”"
        return f"{file}: {second}; a line of clusters is: {CLUSTERS_LINE}"
    topic = next((topic for topic in relevant if topic in clusters), "")
    if topic and not {*clusters[topic]}.isdisjoint(truth.relevant(topic)):
        return f"{file}: its relevant documents are all “{IN_NO_CLUSTER}”, which is no cluster"
    ids = (clusters[topic], truth.relevant(topic)) if topic else (clusters, relevant)
    pair = f"clusters: “{visible(min(ids[0]))}”, judgements: “{visible(min(ids[1]))}”"
    of_its = f"none of its {count_of(len(documents), 'document')}"
    return f"{file}: {of_its} is relevant in the judgements ({pair})"


def _left_out(request: Request) -> list[str]:
    """Return the default measures that are left out for lack of the collection's size."""
    if request.measures or request.keywords:
        return []
    known = map(measure_named, DEFAULT_MEASURES)
    return [each.name for each in known if _missing_needs(each, request) == ["collection size"]]


def evaluate_feedback(
    request: Request,
    example_type: ExampleType | None = None,
    images: int = 1,
    on_progress: OnProgress = lambda *_: None,
    rounds: Path | None = None,
) -> tuple[Report, Examples]:
    """Score the rounds of feedback, the request's runs in their order; compare with the first.

    ``example_type``: of the examples to return as well, none without; ``images``: m, positive
    examples a round. ``rounds``: a folder with a folder of rounds for each person, in place of
    the request's runs; a query's value is the mean over those who did it. Raises what
    ``evaluate_runs`` does, and RequestError for less than two runs or without judgements.
    """
    if request.qrels is None:
        raise RequestError("no judgements given; --qrels is needed")
    if rounds is not None:
        return _evaluate_rounds(request, rounds, example_type, on_progress), {}
    if len(request.runs) < 2:
        number = "one" if request.runs else "no"
        raise RequestError(
            f"{number} run given; --run is needed with a run of round 0 and one of each round"
        )
    measures = _feedback_measures(request)
    first = str(request.runs[0])
    report = evaluate_runs(replace(request, measures=measures, baseline=first), on_progress)
    numbers = range(1, len(request.runs))
    examples = {
        topic: [_examples(example_type, report, topic, number, images) for number in numbers]
        for topic in (report.evaluation.queries if example_type else ())
    }
    return report, examples


def _feedback_measures(request: Request) -> tuple[str, ...]:
    weighted = request.weights is not None
    return tuple(name for name in FEEDBACK_MEASURES if weighted or not name.startswith("w"))


def _evaluate_rounds(
    request: Request, folder: Path, example_type: ExampleType | None, on_progress: OnProgress
) -> Report:
    """Score the rounds in each person's folder, and compare the pooled ones with the first."""
    if request.runs or example_type:
        raise RequestError("--rounds replaces --run, and examples are those of people")
    folders = [each for each in sorted(folder.iterdir()) if each.is_dir() and each.name[0] != "."]
    people = {each: _rounds_in(each) for each in folders}
    if not any(people.values()):
        raise RequestError(f"{folder} has no folder with round0.txt, round1.txt, …")
    faults = [
        f"{person} has no {missing}, and the rounds count from 0 without a gap"
        for person, files in people.items()
        if (missing := _missing_round(files))
    ]
    if faults:
        raise RequestError("; ".join(faults))
    requests = [
        replace(
            request,
            runs=tuple(files.values()),
            names=tuple(f"round{number}" for number in files),
            measures=_feedback_measures(request),
        )
        for files in people.values()
    ]
    reports = [evaluate_runs(each, on_progress, may_be_empty=True) for each in requests]
    if not any(each.evaluation.queries for each in reports):
        raise FaultyFilesError([_why_no_query(request, reports[0].truth, reports[0].runs)])
    evaluation = pooled([each.evaluation for each in reports])
    baseline, *others = evaluation.values
    if not others:
        raise RequestError(f"{folder} has no second round, so nothing was refined")
    compared = _tested(evaluation, baseline, request)
    longest = max((each.runs for each in reports), key=len)
    return Report(request, reports[0].truth, longest, evaluation, baseline, compared)


def _rounds_in(folder: Path) -> dict[int, Path]:
    """Return the files of a person's rounds by their number, named in any case."""
    rounds: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := ROUND.fullmatch(path.name):
            other = rounds.setdefault(int(match[1]), path)
            if other != path:
                raise RequestError(f"{other} and {path.name} are both round {int(match[1])}")
    return dict(sorted(rounds.items()))


def _missing_round(rounds: Collection[int]) -> str:
    """Return the file of the first round that is missing, "" without a gap."""
    first = next(number for number in count() if number not in rounds)
    return f"round{first}.txt" if first <= max(rounds, default=0) else ""


def _examples(
    example_type: ExampleType | None, report: Report, topic: str, number: int, images: int
) -> list[str]:
    relevant = report.truth.relevant(topic)
    if example_type == "positive":
        weights = (report.truth.weights or {}).get(topic, {})
        # Sorting is stable: documents of equal weight remain sorted by grade, then by name.
        by_weight = sorted(relevant, key=lambda document: -weights.get(document, 0))
        return positive_examples(by_weight, number, images)
    first = next(iter(report.runs.values()))
    return negative_examples(ranking(first.get(topic, {})), frozenset(relevant), number)


def _read_collection(
    request: Request,
    measures: Sequence[Measure],
    names: Sequence[str],
    on_progress: OnProgress,
    read_file: Callable[[Path], str],
) -> tuple[GroundTruth, Runs, Mapping[str, RunFacts], Collection[str], list[Warned]]:
    """Read the files of a request; raise FaultyFilesError with every fault (20 at most).

    The last two of what is returned are the documents with keywords, and warnings about tables.
    """
    graded = any("grades" in measure.needs for measure in measures)
    read_qrels = partial(read_judgements, highest=HIGHEST_GRADE if graded else None)
    others = (request.qrels, request.keywords, request.weights, request.clusters)
    files = len(request.runs) + sum(each is not None for each in others)
    faults, done = FileFaults(), 0

    def read(reader: Reader[Content], path: Path) -> Mapping[str, Content]:
        nonlocal done
        content: Mapping[str, Content] = {}
        try:
            content = reader(str(path), lines_of(read_file(path)), faults)
        except SurveyError as error:
            faults.add(str(error).removesuffix("."))
        done += 1
        on_progress("Reading", done, files)
        return content

    def read_if(reader: Reader[Content], path: Path | None) -> Mapping[str, Content] | None:
        return None if path is None else read(reader, path)

    def read_ids(
        reader: Reader[Mapping[str, Content]], path: Path | None
    ) -> Mapping[str, Mapping[str, Content]] | None:
        content = read_if(reader, path)
        return content and changed_ids(content, request.ids, str(path))

    truth = GroundTruth(
        read_ids(read_qrels, request.qrels) or {},
        read_ids(read_weights, request.weights),
        read_ids(read_clusters, request.clusters),
    )
    keywords = read_if(read_keywords, request.keywords)
    facts: dict[str, RunFacts] = {}

    def read_noting(name: str, file: str, lines: Iterable[str], faults: FileFaults) -> Run:
        run, read_facts = read_run_and_facts(file, lines, faults)
        run, facts[name] = run_as_meant(run, read_facts, request.ids, name, request.distances)
        return run

    paths = zip(names, request.runs, strict=True)
    runs = {name: read(partial(read_noting, name), path) for name, path in paths}
    faults.raise_any()
    if keywords is not None:
        topics = dict.fromkeys(topic for run in runs.values() for topic in run)
        truth = replace(truth_by_keywords(keywords, topics), clusters=truth.clusters)
        runs = {name: _without_queries(run) for name, run in runs.items()}
    return truth, runs, facts, keywords or (), tables_checked(faults.columns_not_read)


def _without_queries(run: Run) -> Run:
    """Return a run without the document that each topic is."""
    return {
        topic: {document: score for document, score in scores.items() if document != topic}
        for topic, scores in run.items()
    }


def chosen_measures(request: Request) -> tuple[Measure, ...]:
    """Return the measures of a request, or the default ones whose needs it provides.

    Raises RequestError for an unknown name, and for a measure whose needs are not provided.
    """
    if not request.measures:
        names = KEYWORD_MEASURES if request.keywords else DEFAULT_MEASURES
        known = map(measure_named, names)
        return tuple(measure for measure in known if not _missing_needs(measure, request))
    try:
        named = [measure_named(name) for name in request.measures]
    except ValueError as error:
        raise RequestError(str(error)) from error
    for measure in named:
        for need in _missing_needs(measure, request):
            name = "the collection size" if need == "collection size" else need
            option = need.replace(" ", "-")
            raise RequestError(f"{measure.name} needs {name}; give --{option} as well")
    return tuple({measure.name: measure for measure in named}.values())


def _missing_needs(measure: Measure, request: Request) -> list[str]:
    """Return what the measure needs and the request lacks; grades are in the judgements."""
    provided = {"grades", "weights"} if request.keywords else {"grades"}
    needs = [need for need in measure.needs if need not in provided]
    return [need for need in needs if getattr(request, need.replace(" ", "_")) is None]


def _run_names(request: Request, read_file: Callable[[Path], str]) -> list[str]:
    """Return the names of a request's runs; raise RequestError where files are missing or equal."""
    by_keywords = request.keywords is not None
    if by_keywords and request.ids:
        raise RequestError("--ids changes documents of judgements; --keywords has none")
    for other in ("qrels", "weights"):
        if by_keywords and getattr(request, other) is not None:
            raise RequestError(f"--{other} and --keywords were both given; leave one out")
    if not by_keywords and request.qrels is None:
        raise RequestError("either --qrels, with --weights or without, or --keywords is needed")
    if not request.runs:
        raise RequestError("no run given; --run is needed")
    try:
        return names_of_runs(
            [*map(str, request.runs)],
            lambda index: lines_of(read_file(request.runs[index])),
            request.names,
        )
    except FaultyFilesError as error:
        raise RequestError("; ".join(error.faults)) from None


def _tested(evaluation: Evaluation, baseline: str, request: Request) -> tuple[RunComparison, ...]:
    stars = request.paper_stars
    return compare_runs(evaluation, baseline, **_resampling(request), paper_stars=stars)


def _resampling(request: Request) -> dict[str, int]:
    return {"resamples": request.resamples, "seed": request.seed}


def _baseline_name(request: Request, names: Sequence[str]) -> str | None:
    """Return the baseline's name; raise RequestError for a wrong one."""
    if request.baseline is None:
        return None
    by_path = dict(zip(map(str, request.runs), names, strict=True))
    baseline = by_path.get(request.baseline, request.baseline)
    if baseline not in names:
        raise RequestError(
            f"the baseline {baseline!r} is none of the runs; these are {', '.join(names)}"
        )
    if len(names) == 1:
        raise RequestError("a baseline is compared with other runs, and --run names one only")
    return baseline


def evaluation_json(report: Report) -> dict[str, Json]:
    """Return a report as JSON; ``why`` gives the reason of a p that is undefined."""
    evaluation, request = report.evaluation, report.request
    return {
        "queries": list(evaluation.queries),
        "runs": {
            run: {
                "mean": {name: evaluation.mean(run, name) for name in values},
                "per_query": {
                    query: {name: float(column[index]) for name, column in values.items()}
                    for index, query in enumerate(evaluation.queries)
                },
            }
            for run, values in evaluation.values.items()
        },
        "baseline": report.baseline,
        "significance": [_comparison_json(comparison) for comparison in report.comparisons],
        "mean_names": {measure.name: measure.mean_name for measure in evaluation.measures},
        "better": {measure.name: measure.better for measure in evaluation.measures},
        "settings": {
            "collection_size": request.collection_size,
            "gmt": evaluation.setting.gmt,
            "literal_eq15": request.literal_eq15,
            "resamples": request.resamples,
            "seed": request.seed,
            **({"columns": request.columns} if request.columns else {}),
        },
        "relevant_from": request.relevant_from,
        "complete": request.complete,
        "notes": list(evaluation.notes),
        "all_runs": [vars(each) for each in report.all_pairs],
        **_why_none_of_all(report),
        "unjudged": {
            "depth": FIRST_DOCUMENTS,
            "runs": {
                run: {"documents": total - judged, "of": total}
                for run, (judged, total) in _judged_shares(report).items()
            },
        },
        "warnings": [each.as_json() for each in report.warnings],
    }


def _judged_shares(report: Report) -> dict[str, tuple[int, int]]:
    """Return how many of each run's first documents are judged, and how many there are."""
    return {name: share_judged(report.truth.judgements, run) for name, run in report.runs.items()}


def _unjudged_note(report: Report) -> str:
    """Return how many of the first documents of runs are not judged, those with most first."""
    counts = {name: total - judged for name, (judged, total) in _judged_shares(report).items()}
    first = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    if not first:
        return ""
    totals = _judged_shares(report)
    named = [f"{name} {counts[name]:,} of {totals[name][1]:,}" for name in first[:MOST_UNJUDGED]]
    more = len(first) - MOST_UNJUDGED
    others = f" and {count_of(more, 'other run')}" if more > 0 else ""
    where = f"Not judged, of the first {FIRST_DOCUMENTS} documents of each topic"
    return f"{where}: {', '.join(named)}{others}."


def _why_none_of_all(report: Report) -> dict[str, str]:
    why = why_none_of_all(report.evaluation) if report.request.all_runs else None
    return {"all_runs_why": why} if why else {}


def _comparison_json(comparison: RunComparison) -> dict[str, Json]:
    figures = {**vars(comparison)}
    why = figures.pop("why")
    return figures if why is None else {**figures, "why": why}


def means_sheet(report: Report) -> Sheet:
    """Return the means under their own names (MAP, ANMRR), a row for each run."""
    evaluation = report.evaluation
    stars = {
        (comparison.run, comparison.measure): comparison.stars for comparison in report.comparisons
    }
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            run,
            *(
                Starred(evaluation.mean(run, measure.name), stars.get((run, measure.name), ""))
                for measure in evaluation.measures
            ),
        )
        for run in evaluation.values
    )
    lower = [measure.mean_name for measure in evaluation.measures if measure.better == "lower"]
    better = f"Lower is better in {', '.join(lower)}; elsewhere higher." if lower else ""
    return Sheet(
        name="means",
        title=f"Means over {count_of(len(evaluation.queries), 'query', 'queries')}",
        columns=("run", *(measure.mean_name for measure in evaluation.measures)),
        rows=rows,
        note=" ".join(
            [
                *(better, *([_stars(report)] if report.baseline else [])),
                *(*evaluation.notes, _unjudged_note(report)),
            ]
        ).strip(),
        decimals=DECIMALS,
    )


def comparisons_sheet(report: Report, difference: str = "difference") -> Sheet:
    """Return each run's differences from the baseline, also in per cent with stars, and their p."""
    means = {measure.name: measure.mean_name for measure in report.evaluation.measures}
    queries = count_of(len(report.evaluation.queries), "query", "queries")
    return Sheet(
        name="comparisons",
        title=f"Differences from {report.baseline} over {queries}",
        columns=(
            *("run", "mean", difference, "in %", "p", "p (Holm)"),
            *("t (Holm)", "randomisation (Holm)", "two-sided (Holm)", "topics for 80 %"),
        ),
        rows=tuple(
            (
                comparison.run,
                means[comparison.measure],
                comparison.difference,
                None
                if comparison.percent is None
                else Starred(comparison.percent, comparison.stars, 2),
                *(
                    None if p is None else P(p)
                    for p in (
                        *(comparison.p, comparison.p_holm),
                        *(comparison.p_t_holm, comparison.p_randomisation_holm),
                        comparison.p_two_sided_holm,
                    )
                ),
                comparison.topics_needed,
            )
            for comparison in report.comparisons
        ),
        note=" ".join([_stars(report), OTHER_TESTS, *_undefined(report.comparisons)]),
        decimals=DECIMALS,
    )


def queries_sheet(report: Report) -> Sheet:
    """Return all values, a row for each run and query and a column for each measure."""
    evaluation = report.evaluation
    return Sheet(
        name="queries",
        title="Values for each query",
        columns=("run", "query", *(measure.name for measure in evaluation.measures)),
        rows=tuple(
            (run, query, *(float(values[measure.name][index]) for measure in evaluation.measures))
            for run, values in evaluation.values.items()
            for index, query in enumerate(evaluation.queries)
        ),
        decimals=DECIMALS,
    )


def long_sheet(report: Report) -> Sheet:
    """Return means and comparisons for programs, a row for each run and measure."""
    evaluation = report.evaluation
    compared = {
        (comparison.run, comparison.measure): comparison for comparison in report.comparisons
    }
    compared_in = (
        *("difference", "percent", "p", "p_holm", "stars", "why", *P_FIELDS[2:]),
        *("p_two_sided", "p_two_sided_holm", "topics_needed"),
    )
    rows: list[tuple[Cell, ...]] = []
    for run in evaluation.values:
        for measure in evaluation.measures:
            comparison = compared.get((run, measure.name))
            cells: tuple[Cell, ...] = tuple(
                getattr(comparison, field) if comparison else None for field in compared_in
            )
            mean = evaluation.mean(run, measure.name)
            rows.append((run, measure.name, mean, len(evaluation.queries), *cells))
    return Sheet(
        name="runs",
        title="",
        columns=("run", "measure", "mean", "queries", *compared_in),
        rows=tuple(rows),
    )


def long_queries_sheet(report: Report) -> Sheet:
    """Return all values for programs, a row for each run, query and measure."""
    evaluation = report.evaluation
    return Sheet(
        name="queries",
        title="",
        columns=("run", "query", "measure", "value"),
        rows=tuple(
            (run, query, measure, float(value))
            for run, values in evaluation.values.items()
            for index, query in enumerate(evaluation.queries)
            for measure, value in ((name, column[index]) for name, column in values.items())
        ),
    )


def examples_sheet(examples: Examples) -> Sheet:
    """Return the examples of feedback, a row for each query and round."""
    return Sheet(
        name="examples",
        title="Examples given before each round",
        columns=("query", "round", "examples"),
        rows=tuple(
            (query, number, " ".join(documents) or None)
            for query, rounds in examples.items()
            for number, documents in enumerate(rounds, 1)
        ),
    )


def _stars(report: Report) -> str:
    request, queries = report.request, len(report.evaluation.queries)
    if queries < FEWEST_TOPICS:
        return f"No stars: {count_of(queries, 'topic')} are too few."
    levels = ", ".join(
        f"{f'{level:g}'.removeprefix('0')} ({'*' * stars})" for stars, level in enumerate(LEVELS, 1)
    )
    how = (
        f"a two-sided randomisation test of {request.resamples} resamples (seed {request.seed}), "
        "corrected for the runs of each measure (Holm)"
    )
    if request.paper_stars:
        how = (
            f"a one-tailed paired bootstrap of {request.resamples} resamples (seed {request.seed})"
            ", before Holm's correction, as in the MNRO paper"
        )
    return f"Stars: better than {report.baseline} at {levels}, by {how}.{_few(queries)}"


def _few(topics: int) -> str:
    text = few_topics(topics)
    return f" {text}." if text else ""


def all_runs_sheet(report: Report) -> Sheet:
    """Return every two runs compared at once, a row for each measure and pair."""
    why = why_none_of_all(report.evaluation)
    how = (
        "By a randomised Tukey HSD: two-sided, p corrected for all pairs of runs of a measure, "
        f"{report.request.resamples} resamples (seed {report.request.seed})."
        f"{_few(len(report.evaluation.queries))}"
    )
    means = {measure.name: measure.mean_name for measure in report.evaluation.measures}
    return Sheet(
        name="all-runs",
        title="Every two runs compared at once",
        columns=("mean", "first", "second", "difference", "p"),
        rows=tuple(
            (means[each.measure], each.first, each.second, each.difference, P(each.p))
            for each in report.all_pairs
        ),
        note=f"No two runs are compared: {why}." if why else how,
        decimals=DECIMALS,
    )


def _undefined(comparisons: Iterable[RunComparison]) -> Iterator[str]:
    """Yield sentences on comparisons without a p value, with the reason."""
    reasons: dict[str, list[str]] = {}
    for comparison in comparisons:
        if comparison.why is not None:
            undefined = f"{comparison.measure} of {comparison.run}"
            reasons.setdefault(comparison.why, []).append(undefined)
    for reason, names in reasons.items():
        yield f"No p for {', '.join(names)}: {reason}."
