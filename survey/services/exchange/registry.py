"""A registry of replications: a file of JSON Lines that anyone can host, and this site's copy.

Each line is a run of a study: the digest of what was asked, and where its bundle is. Runs of the
same digest asked the same questions. Pages read the copy in the instance folder, and fetch nothing.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml

from survey.core.text_input import Json, is_steering, shortened, without_repeats
from survey.errors import SurveyError
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle_reader import read_bundle, replicate, require_bundle
from survey.services.exchange.download import DownloadError, download
from survey.services.exchange.input_files import (
    LARGEST,
    BundleError,
    Faults,
    Files,
    file_text,
    stream_files,
)
from survey.services.exchange.tables import IDENTITIES
from survey.services.studies.citation import NO_AUTHOR, read_doi

LARGEST_REGISTRY = 5_000_000  # bytes
STORED = "registry.jsonl"  # this site's copy, in the instance folder
CITATION = "CITATION.cff"
LONGEST_TEXT, MOST_AUTHORS, MOST_PAIRS = 300, 100, 1_000
SHA256 = re.compile(r"[0-9a-f]{64}")
MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
DOI = re.compile(r"(10\.[0-9]{4,9}/[!-~]{1,200})?")
ROUNDED = 2  # decimals of points

OnBytes = Callable[[int], object]


@dataclass(frozen=True)
class Run:
    """A line: a run of the study with this digest.

    ``address``: of the bundle, https or relative to the registry; ``sha256``: of the bundle.
    ``results``: pair → lead of its first in points, the most important pair first. ``replicates``:
    as the last check said, None if it was not checked.
    """

    digest: str
    address: str
    sha256: str
    title: str
    authors: tuple[str, ...]
    month: str
    participants: int
    software: str
    licence: str
    doi: str
    results: Mapping[str, float]
    replicates: bool | None = None

    @property
    def line(self) -> str:
        """The run as a line of a registry."""
        values = asdict(self)
        if self.replicates is None:
            del values["replicates"]
        return json.dumps(values, ensure_ascii=False) + "\n"


def is_address(value: object) -> bool:
    """Return whether a value is an address of https, or a path below the registry's folder."""
    # What urlsplit leaves out of an address, such as control characters, is none of it.
    if (
        not isinstance(value, str)
        or not re.fullmatch(r"[!-~]+", value)
        or re.search(r'[\\"<>]', value)
    ):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    if parts.scheme or parts.netloc:
        return parts.scheme == "https" and bool(parts.hostname) and not parts.username
    # A local path is read as it is written, not as an address is parsed.
    return value[0] not in "/~" and not {".."} & {*value.split("/")} and not {*"?#:"} & {*value}


def _is_text(value: object, longest: int = LONGEST_TEXT) -> bool:
    return isinstance(value, str) and len(value) <= longest and not is_steering(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 100


# Of each field what it may hold, and that in words.
FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "digest": (lambda value: bool(SHA256.fullmatch(str(value))), "a SHA-256 of 64 digits 0 to f"),
    "address": (is_address, "an address that begins with https://, or a path beside the registry"),
    "sha256": (lambda value: bool(SHA256.fullmatch(str(value))), "a SHA-256 of 64 digits 0 to f"),
    "title": (_is_text, "a text in one line"),
    "authors": (
        lambda value: (
            isinstance(value, list) and len(value) <= MOST_AUTHORS and all(map(_is_text, value))
        ),
        "a list of texts",
    ),
    "month": (lambda value: bool(MONTH.fullmatch(str(value))), "a month like 2026-05"),
    "participants": (
        lambda value: type(value) is int and 0 <= value <= 10**9,
        "a whole number from 0 on",
    ),
    "software": (_is_text, "a text in one line"),
    "licence": (_is_text, "a text in one line, empty without a licence"),
    "doi": (
        lambda value: isinstance(value, str) and bool(DOI.fullmatch(value)),
        "a DOI like 10.5281/zenodo.1234567, or empty",
    ),
    "results": (
        lambda value: (
            isinstance(value, dict)
            and len(value) <= MOST_PAIRS
            and all(map(_is_text, value))
            and all(map(_is_number, value.values()))
        ),
        "an object of pairs, each with a lead from -100 to 100",
    ),
}


def read_runs(text: str, name: str) -> tuple[dict[int, Run], Faults]:
    """Return the runs of a registry by the number of their lines, and the faults of other lines."""
    faults = Faults()
    runs: dict[int, Run] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        with faults.collect(BundleError):
            run = _read_run(line, f"{name}, line {number}")
            for earlier, other in runs.items():
                if other.sha256 == run.sha256 or other.address == run.address:
                    raise BundleError(
                        f"{name}, line {number}: line {earlier} has this bundle already"
                    )
            runs[number] = run
    return runs, faults


def _read_run(line: str, place: str) -> Run:
    try:
        values = json.loads(line, object_pairs_hook=without_repeats)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{place}: cannot be read as JSON ({error})") from None
    if not isinstance(values, dict):
        raise BundleError(f"{place}: {shortened(line)} found; an object is needed")
    values = {"results": {}, **values}
    for name, (is_allowed, allowed) in FIELDS.items():
        if name not in values:
            raise BundleError(f"{place}, field {name}: it is missing; {allowed} is needed")
        if not is_allowed(values[name]):
            value = values[name]
            printed = shortened(value if isinstance(value, str) else json.dumps(value))
            raise BundleError(f"{place}, field {name}: {printed} found; {allowed} is needed")
    mark = values.get("replicates")
    if mark is not None and not isinstance(mark, bool):
        raise BundleError(f"{place}, field replicates: true or false is needed")
    known = {name: values[name] for name in FIELDS}
    return Run(**{**known, "authors": tuple(values["authors"])}, replicates=mark)


def read_registry(path: Path) -> dict[int, Run]:
    """Read a registry that may not exist yet; raise BundleError with every fault."""
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except UnicodeDecodeError:
        raise SurveyError(f"{path} cannot be read as UTF-8.") from None
    runs, faults = read_runs(text, path.name)
    faults.raise_any()
    return runs


class RunDetails(NamedTuple):
    """What a bundle may not say of itself: authors, DOI and month, each may be empty."""

    authors: Sequence[str] = ()
    doi: str = ""
    month: str = ""


NO_DETAILS = RunDetails()


def run_of_bundle(
    path: Path,
    name: str,
    address: str,
    details: RunDetails = NO_DETAILS,
    on_bytes: OnBytes = lambda _: None,
) -> Run:
    """Replicate a bundle and return its line; raises SurveyError where it does not replicate."""
    if path.is_dir():
        raise BundleError(f"{name} is a folder; the zip is needed, whose SHA-256 the line has")
    files = stream_files(path, name, on_bytes=on_bytes)
    require_bundle(files, name)
    if IDENTITIES in files:
        raise BundleError(f"{name} holds {IDENTITIES}, which are personal data; export it without")
    for _ in replicate(files):
        continue
    content, study = read_bundle(files)
    results = content.analysed(AnalysisOptions())
    cited = _citation_in(files)
    times = (study["closed_at"], study["opened_at"], cited.get("date-released"), details.month)
    month = details.month or next((str(time)[:7] for time in times if time), "")
    if not MONTH.fullmatch(month):
        raise SurveyError(f"{name} does not say when people took part; add --month YYYY-MM.")
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    run = Run(
        digest=content.digest,
        address=address,
        sha256=sha256,
        title=str(cited.get("title") or content.plan.title),
        authors=tuple(details.authors) or tuple(_authors(cited)),
        month=month,
        participants=len(results.participants),
        software=f"survey {study.get('versions', {}).get('survey', 'unknown')}",
        licence=str(cited.get("license") or ""),
        doi=details.doi or str(cited.get("doi") or ""),
        results={pair: round(points, ROUNDED) for pair, points in results.pair_points.items()},
    )
    return _read_run(run.line, name)  # what was typed, and the citation, may hold anything


def _citation_in(files: Files) -> dict[str, Any]:
    if CITATION not in files:
        return {}
    try:
        cited = yaml.safe_load(file_text(files, CITATION))
    except yaml.YAMLError:
        raise BundleError(f"{CITATION} cannot be read as YAML") from None
    return cited if isinstance(cited, dict) else {}


def _authors(cited: Mapping[str, Any]) -> Iterator[str]:
    for author in cited.get("authors") or ():
        if isinstance(author, dict):
            parts = author.get("name") or author.get("family-names"), author.get("given-names")
            if parts[0] != NO_AUTHOR:
                yield ", ".join(str(part) for part in parts if part)


def add_run(
    registry: Path,
    bundle: Path,
    address: str,
    details: RunDetails,
    on_bytes: OnBytes = lambda _: None,
) -> Run:
    """Append a bundle's line to a registry; refuse one that is there or does not replicate."""
    if not is_address(address):
        raise SurveyError(
            f"--address: {shortened(address)} found; {FIELDS['address'][1]} is needed."
        )
    if details.month and not MONTH.fullmatch(details.month):
        month = shortened(details.month)
        raise SurveyError(f"--month: {month} found; {FIELDS['month'][1]} is needed.")
    try:
        details = details._replace(doi=read_doi(details.doi))
    except ValueError as error:
        raise SurveyError(f"--doi: {error}") from None
    runs = read_registry(registry)
    run = run_of_bundle(bundle, bundle.name, address, details, on_bytes)
    for number, other in runs.items():
        if run.sha256 == other.sha256 or run.address == other.address:
            raise SurveyError(f"{registry.name}, line {number} has this bundle or address already.")
    before = registry.read_text(encoding="utf-8") if registry.exists() else ""
    with registry.open("a", encoding="utf-8") as file:
        file.write(("\n" if before and not before.endswith("\n") else "") + run.line)
    return run


def check_run(run: Run, folder: Path, on_bytes: OnBytes = lambda _: None) -> None:
    """Download a run's bundle, replicate it and compare; raises SurveyError naming what differs.

    ``folder``: of the registry, from which an address without a host is read.
    """
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        path = Path(file.name)
        if urlsplit(run.address).scheme:
            download(run.address, file, LARGEST, on_bytes)
            file.flush()
        else:
            path = folder / run.address
            if not path.is_file():
                raise DownloadError(f"{run.address}: there is no such file beside the registry.")
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != run.sha256:
            raise BundleError(f"{run.address}: its SHA-256 is {digest}, not {run.sha256}")
        details = RunDetails(run.authors, run.doi, run.month)
        recomputed_run = run_of_bundle(path, run.address, run.address, details, on_bytes)
    for name in ("digest", "participants", "results"):
        listed, recomputed = getattr(run, name), getattr(recomputed_run, name)
        if listed != recomputed and not (name == "results" and _are_close(listed, recomputed)):
            what = f"{shortened(str(listed))} found; recomputed {shortened(str(recomputed))}"
            raise BundleError(f"{run.address}, field {name}: {what}")


def _are_close(points: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Return whether leads are the same but for rounding, which may differ between machines."""
    step = 1.5 * 10**-ROUNDED
    return {*points} == {*others} and all(
        abs(points[pair] - others[pair]) < step for pair in points
    )


def mark_runs(registry: Path, marks: Mapping[int, bool]) -> None:
    """Store in a registry's lines whether their bundles replicate."""
    lines = registry.read_text(encoding="utf-8-sig").split("\n")
    for number, run in read_registry(registry).items():
        if number in marks:
            lines[number - 1] = replace(run, replicates=marks[number]).line.rstrip("\n")
    _replace(registry, "\n".join(lines))


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


# --- this site's copy ---


def update_copy(
    instance: Path,
    addresses: Sequence[str],
    fetch: Callable[[str, IO[bytes], int], None] = download,
) -> tuple[int, list[str]]:
    """Fetch registries and store their runs; return how many there are, and what went wrong.

    Of a registry that cannot be fetched the runs stay that were stored before.
    """
    before = _stored_lines(instance)
    lines: list[dict[str, Json]] = []
    faults: list[str] = []
    for address in addresses:
        try:
            with tempfile.TemporaryFile() as file:
                fetch(address, file, LARGEST_REGISTRY)
                file.seek(0)
                text = file.read().decode("utf-8-sig")
        except (SurveyError, UnicodeDecodeError) as error:
            faults.append(f"{address}: not fetched; its earlier lines stay. {error}")
            lines += [line for line in before if line.get("registry") == address]
            continue
        runs, of_lines = read_runs(text, address)
        faults += of_lines.sentences
        for run in runs.values():
            absolute = replace(run, address=urljoin(address, run.address))
            lines.append({**json.loads(absolute.line), "registry": address})
    _replace(
        instance / STORED, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    )
    return len(lines), faults


def _stored_lines(instance: Path) -> list[dict[str, Json]]:
    path = instance / STORED
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def copy_version(instance: Path) -> str:
    """Return a text that changes whenever the stored copy may have changed."""
    try:
        status = (instance / STORED).stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}"


def stored_runs(instance: Path, digest: str) -> list[Run]:
    """Return the runs of a study in the stored copy, each bundle once, by month.

    Registries may list several versions of a bundle: by one address or DOI they are one.
    """
    runs: list[Run] = []
    seen: set[str] = set()
    for run in _runs_by_digest(instance, copy_version(instance)).get(digest, ()):
        names = {run.sha256, run.address, run.doi.lower()} - {""}
        if not names & seen:
            runs.append(run)
        seen |= names
    return sorted(runs, key=lambda run: (run.month, run.sha256))


@lru_cache(maxsize=2)
def _runs_by_digest(instance: Path, version: str) -> Mapping[str, Sequence[Run]]:
    if not version:
        return {}
    text = (instance / STORED).read_text(encoding="utf-8")
    by_digest: dict[str, list[Run]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        with suppress(BundleError):  # another version may have written it; pages go on without it
            run = _read_run(line, f"{STORED}, line {number}")
            by_digest.setdefault(run.digest, []).append(run)
    return by_digest


class RunRow(NamedTuple):
    """A run as a page shows it; ``verdict``: "agrees", "differs", or why neither."""

    run: Run
    points: float | None
    verdict: str


@dataclass(frozen=True)
class RunsOfStudy:
    """The runs of a study elsewhere beside its own, whose leads are ``own``."""

    own: Mapping[str, float]
    runs: Sequence[Run]

    @property
    def pair(self) -> str:
        """The pair that is compared: the study's primary one, else that with the largest lead."""
        return next(iter(self.own), "")

    @property
    def rows(self) -> list[RunRow]:
        """The runs, with whether the same of the pair leads as here."""
        return [self._row(run) for run in self.runs]

    def _row(self, run: Run) -> RunRow:
        points, own = run.results.get(self.pair), self.own.get(self.pair, 0.0)
        if run.replicates is False:
            return RunRow(run, points, "does not replicate")
        if points is None or not points * own:
            return RunRow(run, points, "no lead to compare")
        return RunRow(run, points, "agrees" if points * own > 0 else "differs")

    @property
    def sentence(self) -> str:
        """How often the study was run, and how many runs agree, this one with itself too."""
        verdicts = [row.verdict for row in self.rows]
        agreeing = verdicts.count("agrees") + bool(self.own.get(self.pair))
        failed = verdicts.count("does not replicate")
        of_failed = f" {failed} of the bundles {'do' if failed > 1 else 'does'} not replicate."
        return (
            f"This study was run {len(verdicts) + 1} times; "
            f"{agreeing} agree{'s' * (agreeing == 1)}.{of_failed * bool(failed)}"
        )


def printed_points(points: float | None) -> str:
    """Return a lead as tables print it: +18.0, "" where there is none."""
    return "" if points is None else f"{points:+.1f}".replace("-", "−")


def runs_of_study(
    instance: Path, digest: str, own: Mapping[str, float], people: int, own_places: Iterable[str]
) -> RunsOfStudy | None:
    """Return the runs of a study elsewhere, None where no registry lists one.

    ``own``, ``people``: the study's own leads, and of how many participants they are. A bundle with
    the same ones is the study's own in an archive. ``own_places``: addresses and DOI of its bundle.
    """
    places = {place.lower() for place in own_places if place}
    runs = [
        run
        for run in stored_runs(instance, digest)
        if not places & {run.address.lower(), run.doi.lower()}
        and not (own and run.participants == people and _are_close(run.results, own))
    ]
    return RunsOfStudy(own, runs) if runs else None
