"""What ``import survey`` offers in a notebook: score lists; read, analyse and check bundles.

Nothing here needs a database or a server. The package imports this module at first use, so that
``import survey`` itself takes no time.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from survey.core.measures import score as score  # the same function: one documentation
from survey.core.text_input import Json, parse_number, parse_whole
from survey.errors import SurveyError
from survey.paper.catalogue import REPRODUCTIONS
from survey.paper.reproduction import Reproduction
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle_reader, pooling
from survey.services.exchange.input_files import (
    CsvRow,
    Faults,
    Files,
    json_of,
    open_files,
    parse_rows,
    read_cells,
    read_lines,
    read_rows,
)
from survey.services.exchange.tables import CODEBOOK, STUDY_FILE

LIBRARIES = ("pandas", "polars")  # of tables; the first that is installed is used
CSV = ".csv"
OF_PAIRS = ("leads", "differences", "pairs")  # figures with a row for each pair
Library = Literal["pandas", "polars"]


class UnknownTableError(SurveyError, KeyError):
    """A name of no table; a KeyError too, so that ``tables.get(name)`` is None."""

    __str__ = Exception.__str__  # that of KeyError puts quotes around the sentence


class Tables(Mapping[str, list[dict[str, Any]]]):
    """The tables of a bundle by name, "responses" or "responses.csv"; each is read when it is used.

    A table is a list of rows, a row a dict of its columns. Numbers are int or float, times are
    datetime in UTC, as codebook.csv gives each column's type; an empty cell is None.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._read: dict[str, list[dict[str, Any]]] = {}

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        file = self._file(name)
        if file not in self._read:
            self._read[file] = _typed_rows(self._files, file)
        return self._read[file]

    def columns(self, name: str) -> list[str]:
        """Return the names of a table's columns, which one without rows has too."""
        file = self._file(name)
        return next(read_cells(read_lines(self._files, file), file), [])

    def _file(self, name: str) -> str:
        file = name if name.endswith(CSV) else name + CSV
        if file not in self._files:
            raise UnknownTableError(
                f"There is no table {name!r}; the tables are {', '.join(self)}."
            )
        return file

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(CSV) for name in sorted(self._files) if name.endswith(CSV))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.removesuffix(CSV) in set(self)


@dataclass(frozen=True)
class Bundle:
    """The files of a study: what ``survey export`` writes, a zip or the unpacked folder.

    Attributes
    ----------
    path : Path
        Where it was read.
    """

    path: Path

    @cached_property
    def files(self) -> Files:
        """The content of each file, as bytes, by its name."""
        return open_files(self.path, str(self.path))

    @cached_property
    def study(self) -> dict[str, Json]:
        """The values of study.json: digest, plan, versions."""
        return json_of(self.files, STUDY_FILE)

    @cached_property
    def tables(self) -> Tables:
        """The tables by name, each a list of rows."""
        return Tables(self.files)

    def frame(self, name: str, library: Library | None = None) -> Any:
        """Return a table as a DataFrame of pandas, or of polars where pandas is not installed.

        Parameters
        ----------
        name : str
            Of the table, like "responses".
        library : {"pandas", "polars"}, optional
            The library to use.

        Raises
        ------
        SurveyError
            If there is no such table or library.
        ImportError
            If the library is not installed.
        """
        return _frame(self.tables[name], library, self.tables.columns(name))

    def analyse(self, **options: Any) -> "Analysis":
        """Return the results; see ``survey.analyse``."""
        return analyse(self, **options)

    def replicate(self) -> list[str]:
        """Check the bundle; see ``survey.replicate``."""
        return replicate(self)


class Figures(ABC):
    """What was computed, by name: as values, and as tables."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, as the command prints them with ``--json``."""

    def frame(self, name: str = "", library: Library | None = None) -> Any:
        """Return the rows of a figure as a DataFrame; by default of the first that has rows.

        A value within another has both names, like "participants.p".

        Raises SurveyError for a name without rows, ImportError without pandas or polars.
        """
        figures = {key: rows for key, value in self.to_dict().items() if (rows := _rows(value))}
        name = name or next(iter(figures), "")
        if not figures:
            raise SurveyError("Nothing here has rows; to_dict() has what there is.")
        if name not in figures:
            raise SurveyError(f"There are no rows {name!r}; there are {', '.join(figures)}.")
        return _frame([dict(_flat(row)) for row in figures[name]], library)


@dataclass(frozen=True, repr=False)
class Analysis(Figures):
    """The results of a study; ``repr`` is its headline.

    Attributes
    ----------
    results : survey.services.analysis.results.Results
        The results as pages and reports use them.
    """

    results: Results

    @cached_property
    def _figures(self) -> dict[str, Any]:
        return self.results.all_json()

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name; undefined ones are None, with the reason beside them."""
        return self._figures

    @property
    def headline(self) -> str:
        """The answer to the study's question, in one sentence."""
        return self.results.nothing or self.results.headline

    @property
    def differences(self) -> list[dict[str, Any]]:
        """The figures of each pair of systems, if people compare them, then of measures.

        Of pooled studies, of each pair that they pool. Empty for a kind of question without pairs.
        """
        return [row for name in OF_PAIRS for row in _rows(self._figures.get(name))]

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """What the answers decide of each pair: its scope, and the sentence to quote."""
        return {row["pair"]: row["verdict"] for row in self.differences if row.get("verdict")}

    def __repr__(self) -> str:
        return self.headline


@dataclass(frozen=True, repr=False)
class Exhibit(Figures):
    """A table or figure of the MNRO paper, recomputed; ``repr`` says how much of it agrees."""

    reproduction: Reproduction

    @property
    def agrees(self) -> bool:
        """Whether every recomputed value agrees with the printed one."""
        return self.reproduction.agrees

    def to_dict(self) -> dict[str, Any]:
        """Return what ``survey paper NAME --json`` prints."""
        return self.reproduction.as_json()

    def __repr__(self) -> str:
        agreeing = [value.agrees for value in self.reproduction.comparisons]
        numbers = f"{sum(agreeing)} of {len(agreeing)}"
        return f"{self.reproduction.name}: {numbers} printed values agree."


def read_bundle(path: str | Path) -> Bundle:
    """Read a study's bundle: a zip, or the unpacked folder.

    Parameters
    ----------
    path : str or Path
        Of the zip or the folder.

    Returns
    -------
    Bundle
        ``.study``, ``.tables[name]``, ``.frame(name)``, ``.analyse()``, ``.replicate()``.

    Raises
    ------
    SurveyError
        If it is no bundle; the message says what it is and what to do.
    """
    bundle = Bundle(Path(path))
    bundle.study  # noqa: B018 - a file that is no bundle is reported here, not at first use
    return bundle


def analyse(
    bundle: "Bundle | str | Path",
    *,
    include_test: bool = False,
    exclude_flagged: bool = False,
    without_question: int | None = None,
    ties: Literal["kept", "split", "dropped"] = "kept",
) -> Analysis:
    """Analyse the answers of a bundle, as ``survey analyse`` does.

    Parameters
    ----------
    bundle : Bundle, str or Path
        A bundle or its path, or a folder or CSV with answers from elsewhere.
    include_test : bool
        Count simulated participants too.
    exclude_flagged : bool
        Leave out participants with a quality flag.
    without_question : int, optional
        The number of a question to leave out.
    ties : {"kept", "split", "dropped"}
        How an answer counts that credits several measures.

    Returns
    -------
    Analysis
        ``.headline``, ``.verdicts``, ``.differences``, ``.to_dict()``, ``.frame(name)``.

    Raises
    ------
    SurveyError
        With file, row and column of what cannot be read, or for an option that this kind of study
        does not have.
    """
    options = AnalysisOptions(
        include_test=include_test,
        exclude_flagged=exclude_flagged,
        without_question=without_question,
        ties=ties,
    )
    if isinstance(bundle, Bundle):
        return Analysis(bundle_reader.analyse_files(bundle.files, options))
    return Analysis(bundle_reader.analyse_path(Path(bundle), options))


def replicate(bundle: "Bundle | str | Path") -> list[str]:
    """Recompute everything in a bundle; return a sentence for each check that it passes.

    Raises
    ------
    SurveyError
        At the first check that fails: file, row, column, what it holds and what was recomputed.
    """
    bundle = bundle if isinstance(bundle, Bundle) else read_bundle(bundle)
    return [*bundle_reader.replicate(bundle.files)]


def pool(
    bundles: Sequence["Bundle | str | Path"],
    *,
    same_design: bool = False,
    include_test: bool = False,
) -> Analysis:
    """Pool the bundles of several studies, as ``survey pool`` does.

    Parameters
    ----------
    bundles : sequence of Bundle, str or Path
        Two or more, of one digest: the same questions.
    same_design : bool
        Pool studies of other questions that were drawn in the same way.
    include_test : bool
        Count simulated participants too.

    Returns
    -------
    Analysis
        ``.headline`` is the sentence to quote, ``.frame("pairs")`` has a row for each pair.

    Raises
    ------
    SurveyError
        With the reasons for each bundle that must not be pooled.
    """
    if isinstance(bundles, str | Path | Bundle):
        raise SurveyError("One bundle found; a list of two or more is needed.")
    read = [bundle if isinstance(bundle, Bundle) else read_bundle(bundle) for bundle in bundles]
    names = [bundle.path.name for bundle in read]
    files = [bundle.files for bundle in read]
    return Analysis(
        pooling.pool_bundles(files, names, same_design=same_design, include_test=include_test)
    )


def reproduce(name: str) -> Exhibit:
    """Recompute a table or figure of the MNRO paper, like "table4".

    Raises
    ------
    SurveyError
        If the paper has no such table or figure; the message lists those it has.
    """
    if name not in REPRODUCTIONS:
        raise SurveyError(f"{name!r} is not one of {', '.join(REPRODUCTIONS)}.")
    return Exhibit(REPRODUCTIONS[name]())


def _typed_rows(files: Files, name: str) -> list[dict[str, Any]]:
    """Return a table's rows with each cell in its column's type, as codebook.csv gives it."""
    codebook = read_rows(files, CODEBOOK, ["file", "column", "type"], Faults())
    types = {
        row.cells["column"]: row.cells["type"] for row in codebook if row.cells["file"] == name
    }

    def parse(row: CsvRow) -> dict[str, Any]:
        return {column: _typed_cell(row, column, types.get(column, "text")) for column in row.cells}

    return [*parse_rows(files, name, (), parse)]


def _typed_cell(row: CsvRow, column: str, value_type: str) -> Any:
    cell = row.optional_text(column)
    if cell is None:
        return None
    if value_type == "time":
        return row.optional_time(column)
    parsers: Mapping[str, Any] = {
        "whole number": lambda text: parse_whole(text, signed=True),
        "number": parse_number,
    }
    if value_type not in parsers:
        return cell
    number = parsers[value_type](cell)
    if number is None:
        raise row.fault(column, f"a {value_type} is needed")
    return number


def _frame(
    rows: Sequence[Mapping[str, Any]], library: Library | None, names: Sequence[str] = ()
) -> Any:
    """Return rows as a DataFrame of the library, by default of the first that is installed."""
    if library not in (None, *LIBRARIES):
        raise SurveyError(f"{library!r} is not one of {', '.join(LIBRARIES)}.")
    names = names or [*dict.fromkeys(name for row in rows for name in row)]
    columns = {name: [row.get(name) for row in rows] for name in names}
    for candidate in (library,) if library else LIBRARIES:
        try:
            return import_module(candidate).DataFrame(columns)
        except ImportError:
            continue
    needed = library or " or ".join(LIBRARIES)
    raise ImportError(f"Tables as DataFrames need {needed}: pip install {library or LIBRARIES[0]}")


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _rows(value: object) -> list[dict[str, Any]]:
    """Return the rows of a figure: a list of objects, or one within it; else none."""
    rows: Any = value
    if isinstance(value, Mapping):
        rows = value.get("rows", value.get("pairs"))
    is_table = isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows)
    return rows if is_table else []
