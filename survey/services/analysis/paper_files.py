"""Tables and figures as files for a paper, with the widths and the font that it needs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import nan

from survey import figures
from survey.errors import SurveyError
from survey.figures.exhibit import Exhibit
from survey.services.analysis.latex import COLUMN, as_figure, as_latex
from survey.services.analysis.sheets import Table, as_csv, as_markdown

SHEET_FORMATS = ("csv", "md", "tex")
FIGURES_FILE = "figures.tex"
FIGURE_INCHES = (2.5, 10.0)  # the narrowest and the widest figure
TABLE_POINTS = (160.0, 600.0)  # the narrowest and the widest column for tables


@dataclass(frozen=True)
class PaperLook:
    """How files for a paper look: figures' width in inches and font, a column's in points."""

    figure_width: float = 3.33
    font: str = "sans"
    table_width: float = COLUMN


PAPER = PaperLook()


def read_look(texts: Mapping[str, str]) -> PaperLook:
    """Return the look that texts name, as of a form; raise SurveyError for what is not allowed."""
    font = texts.get("font") or PAPER.font
    if font not in figures.FONTS:
        raise SurveyError(f"font is {font!r}; {' and '.join(figures.FONTS)} are allowed.")
    return PaperLook(
        figure_width=_number(texts, "figure-width", PAPER.figure_width, FIGURE_INCHES, "inches"),
        font=font,
        table_width=_number(texts, "table-width", PAPER.table_width, TABLE_POINTS, "points"),
    )


def _number(
    texts: Mapping[str, str], name: str, default: float, ends: tuple[float, float], unit: str
) -> float:
    """Return a number that a text holds, the default of an empty one."""
    text, (least, most) = texts.get(name) or str(default), ends
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not least <= number <= most:
        raise SurveyError(f"{name} is {text!r}; {least:g} to {most:g} {unit} are allowed.")
    return number


def table_text(table: Table, ending: str, slug: str = "", look: PaperLook = PAPER) -> str:
    """Return a table as the text of a file in a format of SHEET_FORMATS."""
    if ending == "tex":
        return as_latex(table, slug, look.table_width)
    return {"csv": as_csv, "md": as_markdown}[ending](table)


def figure_bytes(exhibit: Exhibit, ending: str, look: PaperLook = PAPER) -> bytes:
    """Return a figure as the content of a file."""
    return figures.render(exhibit, ending, figures.Look(look.figure_width, look.font))


def sheet_files(
    sheets: Iterable[Table], slug: str = "", look: PaperLook = PAPER
) -> Iterator[tuple[str, bytes]]:
    """Yield tables in each format, with their paths in the folder."""
    for sheet in sheets:
        for ending in SHEET_FORMATS:
            yield f"tables/{sheet.name}.{ending}", table_text(sheet, ending, slug, look).encode()


def figure_files(
    exhibits: Iterable[Exhibit], numbers: str, slug: str = "", look: PaperLook = PAPER
) -> Iterator[tuple[str, bytes]]:
    """Yield figures in each format, with their paths in the folder, then all captions.

    Empty figures are left out. ``numbers``: how many took part and answered, for the captions.
    """
    texts = ["% Needs \\usepackage{graphicx}. The folder of this file is that of figures/.\n"]
    for exhibit in exhibits:
        if not exhibit.why:
            for ending in figures.FIGURE_FORMATS:
                yield f"figures/{exhibit.name}.{ending}", figure_bytes(exhibit, ending, look)
            file = f"figures/{exhibit.name}.pdf"
            texts.append(as_figure(exhibit, file, look.figure_width, slug=slug, numbers=numbers))
    if len(texts) > 1:
        yield FIGURES_FILE, "\n".join(texts).encode()


def paper_file_count(tables: int, exhibits: Iterable[Exhibit]) -> int:
    """Return how many files tables and figures give, for a progress bar."""
    drawn = sum(not exhibit.why for exhibit in exhibits)
    return len(SHEET_FORMATS) * tables + len(figures.FIGURE_FORMATS) * drawn + bool(drawn)
