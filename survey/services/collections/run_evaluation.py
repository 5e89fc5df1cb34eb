"""Files of a test collection, gzipped or not, as judgements and runs.

Scoring the runs of a test collection, and comparing them with a baseline.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from survey.core.collections.bootstrap import Comparison, compare
from survey.core.collections.evaluation import Evaluation, evaluate, queries_of
from survey.core.collections.runs import (
    GroundTruth,
    Runs,
    read_clusters,
    read_judgements,
    read_run,
    read_weights,
)
from survey.core.file_lines import lines_of, stop_if_any
from survey.core.measures import Measure, measure_named
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.statistics.monte_carlo import REPLICATES as REPLICATES
from survey.core.statistics.monte_carlo import SEED as SEED
from survey.errors import SurveyError
from survey.services.text_files import text_of

Content = TypeVar("Content")
Reader = Callable[[str, Iterable[str], list[str]], Content]
"""A file's name, its lines and the list of faults → what it holds."""


def read_files(
    qrels: Path,
    runs: Sequence[Path],
    *,
    weights: Path | None = None,
    clusters: Path | None = None,
    highest: int | None = None,
    on_file: Callable[[], object] = lambda: None,
) -> tuple[GroundTruth, Runs]:
    """Read judgements and runs; ``highest``: the highest relevance, if there is one.

    A run is named by its file's stem, see ``run_name``; ``on_file`` is called after each
    file. Raises FaultyFilesError with every fault (20 at most), each naming file and line.
    """
    faults: list[str] = []

    def read(reader: Reader[Content], path: Path) -> Content | None:
        content = _read(reader, path, faults)
        on_file()
        return content

    judgements = read(partial(read_judgements, highest=highest), qrels)
    shares = None if weights is None else read(read_weights, weights)
    topics = None if clusters is None else read(read_clusters, clusters)
    read_runs = {run_name(path): read(read_run, path) or {} for path in runs}
    stop_if_any(faults)
    return GroundTruth(judgements or {}, shares, topics), read_runs


def run_name(path: Path) -> str:
    """Return a run's name: its file's name without .gz and without the last suffix after it."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    return name.stem


def _read(reader: Reader[Content], path: Path, faults: list[str]) -> Content | None:
    """Read one file; what keeps it from being read at all is a fault as well."""
    before = len(faults)
    try:
        content = reader(str(path), lines_of(text_of(path)), faults)
    except SurveyError as error:
        faults.append(str(error).removesuffix("."))
        return None
    if not content and len(faults) == before:
        faults.append(f"{path}: no line found; at least one is needed")
    return content


# What a measure needs → how it is given.
GIVEN_BY = {
    "collection size": ("collection_size", "--collection-size"),
    "weights": ("weights", "--weights"),
    "clusters": ("clusters", "--clusters"),
}
# In the order of tables; those that need something stand there where it is given.
DEFAULT_MEASURES = (
    *("AP", "P@10", "P@20", "S-recall@20", "Rprec", "RR", "bpref", "nDCG@10"),
    *("NMRR", "MNRO", "NAR", "wP@10", "wP@10-100"),
)

OnProgress = Callable[[str, int, int], object]
"""Called with what is being done, how much of it is done, and how much there is."""


class RequestError(ValueError):
    """Something asked for that cannot be, whatever the files hold."""


@dataclass(frozen=True)
class Asked:
    """What is asked for: files, measures (the default ones where none is named), options.

    ``baseline``: the name of a run, or its file as given.
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
    """What came out of which files; ``baseline``: a run's name, None where none was asked for."""

    asked: Asked
    truth: GroundTruth
    runs: Runs
    evaluation: Evaluation
    baseline: str | None
    comparisons: tuple[Comparison, ...]


def run(asked: Asked, on_progress: OnProgress = lambda *_: None) -> Report:
    """Read files, score the runs in them and compare them with the baseline.

    Raises RequestError for what cannot be asked for, before any file is read, and FaultyFilesError
    for what the files make impossible.
    """
    measures = chosen_measures(asked)
    _refuse_same_names(asked.runs)
    baseline = None if asked.baseline is None else _named(asked.baseline, asked.runs)
    if baseline is not None and len(asked.runs) == 1:
        raise RequestError("a baseline is compared with other runs, and --run names one only")
    truth, runs = _read_collection(asked, measures, on_progress)
    evaluation = evaluate(
        truth,
        runs,
        measures,
        collection_size=asked.collection_size,
        gmt=asked.gmt,
        literal_eq15=asked.literal_eq15,
        on_topic=_counter("Scoring", len(queries_of(truth, runs, measures)), on_progress),
    )
    if baseline is None:
        return Report(asked, truth, runs, evaluation, None, ())
    compared = compare(evaluation, baseline, resamples=asked.resamples, seed=asked.seed)
    return Report(asked, truth, runs, evaluation, baseline, compared)


def _read_collection(
    asked: Asked, measures: Sequence[Measure], on_progress: OnProgress
) -> tuple[GroundTruth, Runs]:
    graded = any("grades" in measure.needs for measure in measures)
    files = len(asked.runs) + 1 + (asked.weights is not None) + (asked.clusters is not None)
    return read_files(
        asked.qrels,
        asked.runs,
        weights=asked.weights,
        clusters=asked.clusters,
        highest=HIGHEST_GRADE if graded else None,
        on_file=_counter("Reading", files, on_progress),
    )


def chosen_measures(asked: Asked) -> tuple[Measure, ...]:
    """Return the measures asked for, or the default ones that what is given allows.

    Raises RequestError for an unknown name, and for a measure that needs more.
    """
    if not asked.measures:
        known = map(measure_named, DEFAULT_MEASURES)
        return tuple(measure for measure in known if not [*_missing(measure, asked)])
    try:
        named = [measure_named(name) for name in asked.measures]
    except ValueError as error:
        raise RequestError(str(error)) from error
    for measure in named:
        for need, option in _missing(measure, asked):
            what = "the collection size" if need == "collection size" else need
            raise RequestError(f"{measure.name} needs {what}; give {option} as well")
    return tuple({measure.name: measure for measure in named}.values())


def _missing(measure: Measure, asked: Asked) -> Iterable[tuple[str, str]]:
    for need, (field, option) in GIVEN_BY.items():
        if need in measure.needs and getattr(asked, field) is None:
            yield need, option


def _refuse_same_names(runs: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for path in runs:
        if (name := run_name(path)) in seen:
            raise RequestError(
                f"{seen[name]} and {path} would both be the run {name!r}; a run is named by its "
                "file without the last suffix, so rename one"
            )
        seen[name] = path


def _named(baseline: str, runs: Sequence[Path]) -> str:
    names = {str(path): run_name(path) for path in runs}
    name = names.get(baseline, baseline)
    if name not in names.values():
        raise RequestError(
            f"the baseline {baseline!r} is none of the runs; these are {', '.join(names.values())}"
        )
    return name


def _counter(what: str, total: int, on_progress: OnProgress) -> Callable[[], None]:
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        on_progress(what, done, total)

    return count
