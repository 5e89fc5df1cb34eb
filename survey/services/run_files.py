"""Files of a test collection, gzipped or not, as judgements and runs."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from survey.core.file_lines import lines_of, stop_if_any
from survey.core.runs.lists import GroundTruth
from survey.core.runs.reading import Runs, read_clusters, read_judgements, read_run, read_weights
from survey.services.errors import SurveyError
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
