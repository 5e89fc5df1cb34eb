"""A table for readers, and how it is written in LaTeX, Markdown and CSV."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from survey.core.agreement.verdicts import p_text, rounded
from survey.services.spreadsheets import escaped, line_of

Cell = str | int | float | None


class P(float):
    """A p value: printed as papers do, kept as a number where files are read by programs."""


class Starred(float):
    """A value with stars of significance, 0.512 (**); a plain number where programs read it.

    ``decimals``: where the number is printed with others than its table's.
    """

    stars: str
    decimals: int | None

    def __new__(cls, value: float, stars: str, decimals: int | None = None) -> "Starred":
        """Make a number that carries its stars."""
        made = super().__new__(cls, value)
        made.stars, made.decimals = stars, decimals
        return made


@dataclass(frozen=True)
class Sheet:
    """A table: ``name`` for its file, ``title`` above it, ``note`` below it.

    Cells are texts and numbers; None is printed as a dash and left empty in CSV.
    ``totals``: whether the last row adds the others up; ``decimals``: of numbers that are
    not whole.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    totals: bool = False
    decimals: int = 3


def text_of(cell: Cell, decimals: int = 3) -> str:
    """Print a cell for reading: whole numbers whole, others rounded."""
    if cell is None:
        return "–"
    if isinstance(cell, P):
        return p_text(cell).removeprefix("p ").removeprefix("= ")
    if isinstance(cell, Starred):
        number = rounded(cell, decimals if cell.decimals is None else cell.decimals)
        return f"{number} ({cell.stars})" if cell.stars else number
    if isinstance(cell, float):
        return rounded(cell, decimals)
    return str(cell)


def as_csv(sheet: Sheet) -> str:
    """Write a sheet as CSV, numbers in full."""
    return "".join(line_of(map(_raw, row)) for row in (sheet.columns, *sheet.rows))


def _raw(cell: Cell) -> str:
    if cell is None:
        return ""
    return escaped(cell) if isinstance(cell, str) else repr(cell)


def as_markdown(sheet: Sheet) -> str:
    """Write a sheet as a Markdown table under its title."""
    lines = [
        f"**{_markdown(sheet.title)}**",
        "",
        _row([_markdown(column) for column in sheet.columns]),
        _row(["---:" if right else "---" for right in numeric(sheet)]),
        *(_row([_markdown(text_of(cell, sheet.decimals)) for cell in row]) for row in sheet.rows),
    ]
    if sheet.note:
        lines += ["", _markdown(sheet.note)]
    return "\n".join(lines) + "\n"


def numeric(sheet: Sheet) -> list[bool]:
    """Tell which columns hold numbers, to be aligned at the right."""
    columns = zip(*sheet.rows, strict=True) if sheet.rows else [()] * len(sheet.columns)
    return [
        place > 0 and all(cell is None or isinstance(cell, (int, float)) for cell in cells)
        for place, cells in enumerate(columns)
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    for sign in "\\|*_`<>[]":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


# What LaTeX reads as a command, and the signs of our own that its fonts may lack.
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
        "χ": r"$\chi$",
        "τ": r"$\tau$",
        "²": r"\textsuperscript{2}",
        "“": "``",
        "”": "''",
        "’": "'",
    }
)


def as_latex(sheet: Sheet) -> str:
    """Write a sheet as a LaTeX table in the style of booktabs."""
    body = [_latex_row(row, sheet.decimals) for row in sheet.rows]
    if sheet.totals:
        body.insert(-1, r"\midrule")
    columns = "".join("r" if right else "l" for right in numeric(sheet))
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_latex(sheet.title)}}}",
        rf"  \label{{tab:{sheet.name}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        f"    {_latex_row(sheet.columns)}",
        r"    \midrule",
        *(f"    {line}" for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        *([rf"  \par\smallskip\footnotesize {_latex(sheet.note)}"] if sheet.note else []),
        r"\end{table}",
    ]
    return "% needs \\usepackage{booktabs}\n" + "\n".join(lines) + "\n"


def _latex_row(row: Sequence[Cell], decimals: int = 0) -> str:
    cells = [_latex(text_of(cell, decimals)) for cell in row]
    if cells[0].startswith(("[", "*")):  # it would be an argument of the line break before it
        cells[0] = "{}" + cells[0]
    return " & ".join(cells) + r" \\"


def _latex(text: str) -> str:
    return " ".join(text.split()).translate(LATEX)


FORMATS: Mapping[str, Callable[[Sheet], str]] = {
    "csv": as_csv,
    "md": as_markdown,
    "tex": as_latex,
}
