"""Files of a test collection, gzipped or not, as judgements and runs."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from survey.core.file_lines import stop_if_any
from survey.core.runs.lists import GroundTruth
from survey.core.runs.reading import Runs, read_clusters, read_judgements, read_run, read_weights
from survey.services.text_files import GZIPPED

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
    content = None
    try:
        with _lines(path) as lines:
            content = reader(str(path), lines, faults)
    except UnicodeDecodeError:
        faults.append(f"{path}: something else than text found; text in UTF-8 is allowed")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        faults.append(f"{path}: it is gzipped, and broken ({error})")
    if not content and len(faults) == before:
        faults.append(f"{path}: no line found; at least one is needed")
    return content


@contextmanager
def _lines(path: Path) -> Iterator[Iterable[str]]:
    """Open a file as lines; whether it is gzipped is told by its first bytes."""
    with path.open("rb") as raw:
        packed = raw.peek(len(GZIPPED)).startswith(GZIPPED)
        with io.TextIOWrapper(gzip.open(raw) if packed else raw, encoding="utf-8") as lines:
            yield lines
