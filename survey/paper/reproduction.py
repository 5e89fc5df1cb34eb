"""What a reproduction of the paper consists of: printed values, comparisons, claims, files.

``printed/NAME.csv`` holds a table as the paper prints it; ``exhibits/NAME.yaml`` the paper's
claims about a table or figure with our reasons, whose {placeholders} a check fills in, and
the titles and columns of the tables that we print about it.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike

from survey import figures
from survey.core.agreement.credits import Table4Row
from survey.core.statistics.significance import MeanTest, p_text, rounded
from survey.core.studies.fields import list_words
from survey.figures.exhibit import Exhibit
from survey.services.analysis.sheets import P, Sheet, as_csv, as_markdown, text_of

PAPER_MEASURES = ("AP", "NMRR", "MNRO")
HOLDS, IN_PART = "holds", "holds in part"
NOT_SUPPORTED = "not supported"  # by the votes, though it may be true
DOES_NOT_HOLD = "does not hold"  # a computation contradicts it
CANNOT_BE_TOLD = "cannot be told"  # from what is printed
ROUNDING_NOTE = (
    "The printed values are rounded, so a recomputed percentage is an interval, in brackets. A "
    "printed percentage agrees when it can come from some values that print as the paper's do."
)
Interval = tuple[Fraction, Fraction]


@cache
def printed_rows(table: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a table as the paper prints them; all cells are strings."""
    source = files("survey.paper") / "printed" / f"{table}.csv"
    return tuple(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))


@cache
def exhibit_texts(name: str) -> Any:
    """Return the words about an exhibit: its claims; of a figure also title and note."""
    source = files("survey.paper") / "exhibits" / f"{name}.yaml"
    return yaml.safe_load(source.read_text(encoding="utf-8"))


def exhibit_remarks(exhibit: str, **values: object) -> tuple[str, ...]:
    """Return the limits of a recomputation, with these values in the placeholders."""
    return tuple(fill_in(remark, values) for remark in exhibit_texts(exhibit)["remarks"])


def exhibit_sheet(
    exhibit: str, name: str, rows: Iterable[Sequence[Any] | Mapping[str, Any]], **values: object
) -> Sheet:
    """Return these rows as the table that the exhibit's file declares under this name.

    A row is its cells, or the values that fill in the texts of the declared columns.
    """
    texts = exhibit_texts(exhibit)["sheets"][name]
    columns = [column if isinstance(column, list) else (column, "") for column in texts["columns"]]
    return Sheet(
        name,
        fill_in(texts["title"], values),
        tuple(heading for heading, _ in columns),
        tuple(
            tuple(fill_in(text, row) for _, text in columns)
            if isinstance(row, Mapping)
            else tuple(row)
            for row in rows
        ),
        fill_in(texts.get("note", ""), values),
        decimals=texts.get("decimals", 3),
    )


def fill_in(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with these values in its placeholders, formatted by ``VALUE_FORMATS`` too."""
    return _Words().vformat(text, (), values)


class _Words(Formatter):
    def format_field(self, value: Any, format_spec: str) -> Any:
        form = VALUE_FORMATS.get(format_spec)
        return super().format_field(value, format_spec) if form is None else form(value)


def _points(share: float | None) -> str:
    return "–" if share is None else rounded(100 * share)


def _votes(count: float) -> str:
    text = f"{count:+.1f}".removesuffix(".0").replace("-", "−")
    return "0" if text in {"+0", "−0"} else text


def _interval(test: MeanTest) -> str:
    return f"{_points(test.ci95[0])} to {_points(test.ci95[1])}" if test.ci95 else "–"


def name_sets(sets: Iterable[int | Table4Row]) -> str:
    """Name sets in a sentence: set 4; sets 3 and 9; no set."""
    numbers = [each.question if isinstance(each, Table4Row) else each for each in sets]
    return f"set{'s' if len(numbers) > 1 else ''} {join_words(numbers)}" if numbers else "no set"


def join_words(parts: Iterable[object]) -> str:
    """Join parts as a sentence does: 3, 4 and 9; none."""
    return list_words([*map(str, parts)]) or "none"


# What a placeholder may say behind its colon, beside Python's own formats.
VALUE_FORMATS: Mapping[str, Callable[[Any], str]] = {
    "p": p_text,  # p = .023
    "value of p": lambda p: text_of(None if p is None else P(p)),  # .023
    "percent": lambda share: f"{100 * share:.1f} %",
    "of 100": lambda share: f"{rounded(100 * share, 0)} of 100",
    "points": _points,  # of the responses, a dash where undefined
    "votes": _votes,  # a lead: +26, −8.7, 0
    "interval": _interval,  # 95 %, in points: −6.1 to 23.5
    "sets": name_sets,
    "list": join_words,
    "count": lambda values: str(len(values)),
}


def float_cells(row: Mapping[str, str], *columns: str) -> tuple[float, ...]:
    """Convert the cells of these columns to numbers."""
    return tuple(float(row[column]) for column in columns)


@dataclass(frozen=True)
class PrintComparison:
    """A recomputed value beside the printed one, both as text.

    ``interval``: where a percentage lies that is recomputed from rounded values; else None.
    """

    row: str
    name: str
    computed: str
    printed: str
    interval: Interval | None = None

    @property
    def agrees(self) -> bool:
        """Whether both are the same to every printed digit, or some value in the interval is."""
        if self.interval is None:
            return self.computed == self.printed
        low, high = rounding_interval(self.printed.removesuffix("%"))
        return low <= self.interval[1] and self.interval[0] <= high

    def as_json(self) -> dict[str, Any]:
        """Return the texts, ``agrees`` and the interval's ends as plain values."""
        ends = dict(zip(("lowest", "highest"), map(float, self.interval or ()), strict=False))
        texts = {name: getattr(self, name) for name in ("row", "name", "computed", "printed")}
        return {**texts, **ends, "agrees": self.agrees}


def compare_deviation(row: str, name: str, value: str, base: str, printed: str) -> PrintComparison:
    """Recompute a printed percentage as the deviation of ``value`` from ``base``."""
    decimals = len(printed.removesuffix("%").partition(".")[2])
    middle = 100 * abs(Fraction(value) / Fraction(base) - 1)
    interval = deviation_interval(value, base)
    texts = [f"{float(share):.{decimals}f}" for share in (middle, *interval)]
    computed = f"{texts[0]}% ({texts[1]} to {texts[2]})"
    return PrintComparison(row, name, computed, printed, interval)


def deviation_interval(value: str, base: str) -> Interval:
    """Return the least and greatest 100 · |value / base − 1| of two printed positive numbers.

    The ratio is greatest for the greatest value over the least base. Where the values can
    be equal before rounding, the least deviation is 0.
    """
    (least, greatest), (low, high) = rounding_interval(value), rounding_interval(base)
    ends = 100 * (least / high - 1), 100 * (greatest / low - 1)
    if ends[0] < 0 < ends[1]:
        return Fraction(0), max(-ends[0], ends[1])
    first, second = sorted(map(abs, ends))
    return first, second


def rounding_interval(printed: str) -> Interval:
    """Return the least and greatest number that print so: half a unit to either side."""
    value, decimals = Fraction(printed), len(printed.partition(".")[2])
    half = Fraction(1, 2 * 10**decimals)
    return value - half, value + half


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, quoted or in short, with our verdict on it.

    ``name``: of its check; ``source``: section and lines of the manuscript; ``why``: the
    numbers behind the verdict; ``condition``: "if …", under which alone it holds.
    """

    name: str
    source: str
    statement: str
    verdict: str
    why: str
    condition: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the claim under the keys that ``survey paper --json`` promises."""
        claim = {
            "place": self.source,
            "said": self.statement,
            "verdict": self.verdict,
            "why": self.why,
        }
        return {**claim, "condition": self.condition} if self.condition else claim


class Check:
    """Whether a sentence is true, in one case or in several, and the values in our reason.

    ``otherwise``: the verdict where no case is true, unless it is the exhibit's.
    """

    def __init__(self, cases: ArrayLike, otherwise: str = "", **values: object) -> None:
        self.cases = cases
        self.otherwise = otherwise
        self.values = values

    def verdict(self, otherwise: str) -> str:
        """Return whether all cases are true, some, or none, which is ``otherwise``."""
        if np.all(self.cases):
            return HOLDS
        return IN_PART if np.any(self.cases) else self.otherwise or otherwise


Checks = Mapping[str, Check]


def judge_claims(exhibit: str, checks: Checks, otherwise: str = DOES_NOT_HOLD) -> tuple[Claim, ...]:
    """Return the claims about an exhibit, each with the verdict of the check of its name.

    A claim holds where all cases of its check are true, and in part where some are;
    ``otherwise`` is the verdict where none is. Raises ValueError unless each claim has a check
    and each check a claim.
    """
    entries = exhibit_texts(exhibit)["claims"]
    if entries.keys() != checks.keys():
        raise ValueError(f"{exhibit}: claims or checks alone: {entries.keys() ^ checks.keys()}")
    return tuple(judged(name, checks[name], otherwise, **texts) for name, texts in entries.items())


def judged(name: str, check: Check, otherwise: str, **texts: str) -> Claim:
    """Return a claim with its check's verdict, and its values in the texts' placeholders."""
    words = {part: fill_in(text, check.values) for part, text in texts.items()}
    return Claim(name=name, verdict=check.verdict(otherwise), **words)


@dataclass(frozen=True)
class Reproduction:
    """A table, figure or passage of the paper, recomputed: what a name of ``survey paper`` gives.

    ``content``: values for JSON, without claims and comparisons; ``sheets``: tables to read;
    ``comparisons``: recomputed beside printed values; ``claims``: the paper's sentences about
    it; ``remarks``: limits of the recomputation; ``table``: the content of NAME.csv, by
    default the exhibit or the comparisons; ``exhibit``: what is drawn; ``documents``: further
    files by name; ``passages``: headings with their paragraphs.
    """

    name: str
    content: Mapping[str, Any]
    sheets: tuple[Sheet | Exhibit, ...] = ()
    comparisons: tuple[PrintComparison, ...] = ()
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    table: Sheet | None = None
    exhibit: Exhibit | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    passages: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether every recomputed value agrees with the printed one."""
        return all(comparison.agrees for comparison in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """Return content, claims and comparisons as plain values."""
        claims = {"claims": [claim.as_json() for claim in self.claims]} if self.claims else {}
        comparisons = [comparison.as_json() for comparison in self.comparisons]
        return {**self.content, **claims, "comparisons": comparisons}

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file; drawing is slow, so each is made when asked for."""
        yield (
            f"{self.name}.csv",
            as_csv(self.table or self.exhibit or self._comparison_sheet()).encode(),
        )
        for name, text in self.documents.items():
            yield name, text.encode()
        if self.exhibit is not None:
            for ending in figures.FIGURE_FORMATS:
                yield f"{self.name}.{ending}", figures.render(self.exhibit, ending)

    @property
    def file_count(self) -> int:
        """The number of files, for a progress bar."""
        return 1 + len(self.documents) + len(figures.FIGURE_FORMATS) * (self.exhibit is not None)

    def _comparison_sheet(self) -> Sheet:
        rows = [comparison.as_json() for comparison in self.comparisons]
        return Sheet(
            "comparisons",
            "Recomputed beside the print",
            tuple(rows[0]) if rows else (),
            tuple(tuple(row.values()) for row in rows),
        )


def claims_document(
    title: str, claims: Sequence[Claim], sheets: Sequence[Sheet], limits: Sequence[str]
) -> str:
    """Return the claims and the tables as a Markdown document."""
    listing = Sheet(
        "claims",
        "Claim by claim",
        ("source", "claim", "verdict", "why"),
        tuple(
            (
                *(claim.source, claim.statement),
                f"{claim.verdict} {claim.condition}".strip(),
                claim.why,
            )
            for claim in claims
        ),
    )
    tables = map(as_markdown, (listing, *sheets))
    listed = "\n".join(f"- {limit}" for limit in limits)
    return "\n".join([f"# {title}\n", *tables, f"## Limits\n\n{listed}\n"])
