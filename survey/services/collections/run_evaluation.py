"""Score lists that a user types in, and the runs of a test collection.

Runs are read from files, scored, and compared with a baseline, or rounds of relevance
feedback with round 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from survey.core.collections.evaluation import (
    FEEDBACK_MEASURES,
    Comparison,
    Evaluation,
    compare,
    evaluate,
    negative_examples,
    positive_examples,
    queries_of,
)
from survey.core.collections.runs import (
    GroundTruth,
    Runs,
    ranking,
    read_clusters,
    read_judgements,
    read_run,
    read_weights,
)
from survey.core.measures import Measure, Setting, measure_named
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.measures.measure import COMPARED_DECIMALS
from survey.core.statistics.significance import REPLICATES, SEED
from survey.core.studies.questions import (
    MarkedRow,
    Question,
    build_question,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import printed
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.text_files import read_text

Content = TypeVar("Content")
Reader = Callable[[str, Iterable[str], FileFaults], Content]
"""(file name, lines, faults) → the file's content."""

# What a measure needs → the field of Request and the option that provide it.
PROVIDED_BY = {
    "collection size": ("collection_size", "--collection-size"),
    "weights": ("weights", "--weights"),
    "clusters": ("clusters", "--clusters"),
}
# In the order of tables; a measure that needs something is used where that is provided.
DEFAULT_MEASURES = (
    *("AP", "P@10", "P@20", "S-recall@20", "Rprec", "RR", "bpref", "nDCG@10"),
    *("NMRR", "MNRO", "NAR", "wP@10", "wP@10-100"),
)

OnProgress = Callable[[str, int, int], object]
"""Called with the name of the step, how much of it is done, and its total."""


class RequestError(ValueError):
    """A request that is invalid whatever the files hold."""


@dataclass(frozen=True)
class Request:
    """Files to evaluate, by which measures (the default ones where none is named), and options.

    ``baseline``: the name of a run, or its path as in ``runs``.
    """

    qrels: Path
    runs: tuple[Path, ...]
    measures: tuple[str, ...] = ()
    collection_size: int | None = None
    gmt: int | Literal["max"] | None = None
    literal_eq15: bool = False
    weights: Path | None = None
    clusters: Path | None = None
    baseline: str | None = None
    resamples: int = REPLICATES
    seed: int = SEED


@dataclass(frozen=True)
class Report:
    """The scores of a request's runs; ``baseline``: a run's name, None for no comparison."""

    request: Request
    truth: GroundTruth
    runs: Runs
    evaluation: Evaluation
    baseline: str | None
    comparisons: tuple[Comparison, ...]


def evaluate_runs(request: Request, on_progress: OnProgress = lambda *_: None) -> Report:
    """Read files, score the runs in them and compare them with the baseline.

    Raises RequestError for an invalid request before any file is read, and FaultyFilesError
    for invalid files.
    """
    measures = chosen_measures(request)
    _check_names(request.runs)
    baseline = None if request.baseline is None else _baseline_name(request.baseline, request.runs)
    if baseline is not None and len(request.runs) == 1:
        raise RequestError("a baseline is compared with other runs, and --run names one only")
    truth, runs = _read_collection(request, measures, on_progress)
    evaluation = evaluate(
        truth,
        runs,
        measures,
        collection_size=request.collection_size,
        gmt=request.gmt,
        literal_eq15=request.literal_eq15,
        on_topic=_counter("Scoring", len(queries_of(truth, runs, measures)), on_progress),
    )
    if baseline is None:
        return Report(request, truth, runs, evaluation, None, ())
    compared = compare(evaluation, baseline, resamples=request.resamples, seed=request.seed)
    return Report(request, truth, runs, evaluation, baseline, compared)


def read_files(
    qrels: Path,
    runs: Sequence[Path],
    *,
    weights: Path | None = None,
    clusters: Path | None = None,
    highest: int | None = None,
    on_file: Callable[[], object] = lambda: None,
) -> tuple[GroundTruth, Runs]:
    """Read judgements and runs; ``highest``: the highest relevance allowed, if there is a limit.

    A run is named by its file's stem, see ``run_name``; ``on_file`` is called after each
    file. Raises FaultyFilesError with every fault (20 at most), each naming file and line.
    """
    faults = FileFaults()

    def read(reader: Reader[Content], path: Path) -> Content | None:
        content = _read_file(reader, path, faults)
        on_file()
        return content

    judgements = read(partial(read_judgements, highest=highest), qrels)
    shares = None if weights is None else read(read_weights, weights)
    topics = None if clusters is None else read(read_clusters, clusters)
    contents = {run_name(path): read(read_run, path) or {} for path in runs}
    faults.raise_any()
    return GroundTruth(judgements or {}, shares, topics), contents


def run_name(path: Path) -> str:
    """Return a run's name: its file's name without .gz and without the last suffix after it."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    return name.stem


def _read_file(reader: Reader[Content], path: Path, faults: FileFaults) -> Content | None:
    """Read one file; a file that cannot be opened is a fault as well."""
    before = len(faults)
    try:
        content = reader(str(path), lines_of(read_text(path)), faults)
    except SurveyError as error:
        faults.add(str(error).removesuffix("."))
        return None
    if not content and len(faults) == before:
        faults.add(f"{path}: no line found; at least one is needed")
    return content


def _read_collection(
    request: Request, measures: Sequence[Measure], on_progress: OnProgress
) -> tuple[GroundTruth, Runs]:
    graded = any("grades" in measure.needs for measure in measures)
    files = len(request.runs) + 1 + (request.weights is not None) + (request.clusters is not None)
    return read_files(
        request.qrels,
        request.runs,
        weights=request.weights,
        clusters=request.clusters,
        highest=HIGHEST_GRADE if graded else None,
        on_file=_counter("Reading", files, on_progress),
    )


def chosen_measures(request: Request) -> tuple[Measure, ...]:
    """Return the measures of a request, or the default ones whose needs it provides.

    Raises RequestError for an unknown name, and for a measure whose needs are not provided.
    """
    if not request.measures:
        known = map(measure_named, DEFAULT_MEASURES)
        return tuple(measure for measure in known if not [*_missing_options(measure, request)])
    try:
        named = [measure_named(name) for name in request.measures]
    except ValueError as error:
        raise RequestError(str(error)) from error
    for measure in named:
        for need, option in _missing_options(measure, request):
            name = "the collection size" if need == "collection size" else need
            raise RequestError(f"{measure.name} needs {name}; give {option} as well")
    return tuple({measure.name: measure for measure in named}.values())


def _missing_options(measure: Measure, request: Request) -> Iterable[tuple[str, str]]:
    for need, (field, option) in PROVIDED_BY.items():
        if need in measure.needs and getattr(request, field) is None:
            yield need, option


def _check_names(runs: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for path in runs:
        if (name := run_name(path)) in seen:
            raise RequestError(
                f"{seen[name]} and {path} would both be the run {name!r}; a run is named by its "
                "file without the last suffix, so rename one"
            )
        seen[name] = path


def _baseline_name(baseline: str, runs: Sequence[Path]) -> str:
    names = {str(path): run_name(path) for path in runs}
    name = names.get(baseline, baseline)
    if name not in names.values():
        raise RequestError(
            f"the baseline {baseline!r} is none of the runs; these are {', '.join(names.values())}"
        )
    return name


def _counter(step: str, total: int, on_progress: OnProgress) -> Callable[[], None]:
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        on_progress(step, done, total)

    return count


THE_PAPERS = ("AP", "NMRR", "MNRO")


def score_lists(
    ranks: Sequence[Sequence[int]],
    collection_size: int,
    measures: Sequence[str] = THE_PAPERS,
    marks: Sequence[Mapping[str, str]] = (),
    gmt: int | None = None,
    *,
    literal_eq15: bool = False,
) -> Question:
    """Score and order lists by measures, as a question of a study does.

    ``marks``: for each list its grades, weights and clusters as words, one for each rank.
    Raises ValueError naming the row and the fault.
    """
    setting = Setting(collection_size, gmt, literal_eq15)
    names = [measure_named(name).name for name in measures]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"measures are {', '.join(names) or 'none'}; different ones are needed")
    rows = [_marked(*row) for row in enumerate(zip(ranks, marks, strict=True), 1)] if marks else []
    return build_question(1, ranks, names, setting, marks_of(rows))


def _marked(number: int, row: tuple[Sequence[int], Mapping[str, str]]) -> MarkedRow:
    try:
        return sorted_with_marks(*row)
    except ValueError as error:
        raise ValueError(f"row {number}: {error}") from None


def printed_values(question: Question) -> dict[str, tuple[str, ...]]:
    """Return each measure's values as texts, with decimals enough that unequal values differ."""
    return {
        name: printed([Fraction(round(value, COMPARED_DECIMALS)) for value in column.values])
        for name, column in question.columns.items()
    }


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
        name
        for name in FEEDBACK_MEASURES
        if request.weights is not None or not name.startswith("w")
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
