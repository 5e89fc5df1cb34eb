"""Tables and figures in LaTeX: as wide as a column of a paper, else as its page.

Whether a table fits is decided by the widths of Computer Modern, LaTeX's own font, which is wider
than the fonts of most publishers. Ways to fit, in this order: headings and cells of several lines;
letters of 9, 8 or 7 points; ``table*`` across both columns; a table in parts.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from survey.figures.exhibit import Exhibit
from survey.services.analysis.sheets import UNDEFINED, Table, printed_table

COLUMN = 241.0  # points: a column of ACM's styles
PAGE = 506.0  # points: both of its columns
WIDEST_OF_TWO = 300.0  # points: a wider column is alone on its page
POINTS_PER_INCH = 72.27
MOST_ROWS = 40  # of a table that floats
MOST_HEIGHT = 560.0  # points, of the rows of a table that floats
SIZES = {9: 1.028, 8: 1.063, 7: 1.145}  # points: how much wider letters are than at 10 points
GAPS = {9: 6.0, 8: 5.0, 7: 4.0}  # points between columns, by the letters' size
MOST_HEADING_LINES = 4  # of a table that could be wider
CELL_LINES = (1, 2, 3)  # smaller letters are better than cells of more lines
LONGEST_WORD = 14  # letters; a longer one, such as a document's id, may be broken
SPACE = "\N{NO-BREAK SPACE}"

# Of cmr10 and, for mathematical signs, cmsy10 and cmmi10, in thousandths of the letters' size.
WIDTHS = {
    sign: width
    for width, signs in (
        (278, "!',.:;[]il|’‘·"),
        (306, "fj"),
        (333, f"- {SPACE}"),
        (361, "I"),
        (389, "()t"),
        (392, "r"),
        (394, "s"),
        (438, "τ"),
        (444, "cez_"),
        (472, "?"),
        (500, '$*/0123456789ago"^~\\{}–“”²³'),
        (514, "J"),
        (528, "kqvxy"),
        (556, "Sbdhnpu"),
        (611, "Z"),
        (626, "Lχ"),
        (653, "F"),
        (667, "∩∪"),
        (681, "EP"),
        (708, "B"),
        (722, "CTw"),
        (736, "R"),
        (750, "AGHNUVXY"),
        (764, "D"),
        (778, "&+<=>@KOQ−×"),
        (785, "G"),
        (833, "#%m"),
        (917, "M"),
        (1028, "W"),
        (1334, "…"),
    )
    for sign in signs
}
WIDEST = 1028

# Signs that LaTeX reads as commands, and signs in our texts that its fonts may lack.
LATEX_SIGNS = str.maketrans(
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
        "Σ": r"$\Sigma$",
        "χ": r"$\chi$",
        "τ": r"$\tau$",
        "²": r"\textsuperscript{2}",
        "³": r"\textsuperscript{3}",
        "∩": r"$\cap$",
        "∪": r"$\cup$",
        "½": r"1/2",
        "|": r"\textbar{}",
        "…": r"\ldots{}",
        "“": "``",
        "”": "''",
        "’": "'",
        "`": r"\textasciigrave{}",
        SPACE: r"\nobreakspace{}",
    }
)
_NUMBER = r"−?\d[\d.]*"
_WORDED_INTERVAL = re.compile(rf"((?:{_NUMBER} )?)\(?({_NUMBER}) to ({_NUMBER})\)?")
_INTERVAL = re.compile(rf"(?:{_NUMBER}{SPACE})?\[{_NUMBER},{SPACE}{_NUMBER}\]")
_PIECES = re.compile(rf"[^-_/.:@]{{1,{LONGEST_WORD}}}[-_/.:@]?|[-_/.:@]")
_BLANKS = re.compile(rf"[^\S{SPACE}]+")


class Column(NamedTuple):
    """A column's heading and cells; ``numeric``: they are numbers, which have one line each."""

    heading: str
    cells: Sequence[str]
    numeric: bool

    def widths(self, size: int) -> tuple[float, float, float]:
        """Return the least width, that with each cell on one line, and that with the heading so."""
        words = max((text_width(word, size) for word in _words(self.heading)), default=0.0)
        cells = max((text_width(cell, size) for cell in self.cells), default=0.0)
        pieces = (text_width(word, size) for cell in self.cells for word in _words(cell))
        least = cells if self.numeric else max(pieces, default=0.0)
        one_line = max(words, cells)
        return max(words, least), one_line, max(one_line, text_width(self.heading, size))


Part = Sequence[tuple[Column, float]]


class Layout(NamedTuple):
    """How a table is set: the letters' size, across which width, and its columns with widths.

    ``parts``: one, unless the table is too wide for a page.
    """

    size: int
    limit: float
    parts: Sequence[Part]

    @property
    def height(self) -> float:
        """The height of all rows, in points."""
        lines = sum(
            max(
                len(_lines(cell, width, self.size)) for cell, width in zip(row, widths, strict=True)
            )
            for part in self.parts
            for widths in [[width for _, width in part]]
            for row in zip(*(column.cells for column, _ in part), strict=True)
        )
        return 1.2 * self.size * lines


def text_width(text: str, size: int) -> float:
    """Return how wide a text is in Computer Modern of this size, in points."""
    signs = (sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))
    return size * SIZES[size] * sum(WIDTHS.get(sign, WIDEST) for sign in signs) / 1000


def as_latex(table: Table, slug: str = "", width: float = COLUMN) -> str:
    """Return a table in LaTeX in the style of booktabs.

    ``slug``: of the study, for the label; ``width``: of a column, in points.
    """
    columns, page = [*_columns(table)], PAGE if width < WIDEST_OF_TWO else width
    limits = (page,) if len(table.rows) > MOST_ROWS else (width, page)
    layout = _layout(columns, limits)
    caption = rf"\caption{{{escape_latex(table.title)}}}"
    label = rf"\label{{tab:{label_of(slug, table.name)}}}"
    note = escape_latex(table.note)
    if len(table.rows) > MOST_ROWS or layout.height > MOST_HEIGHT:
        layout = _layout(columns, (page,))
        lines = _long_table(layout, f"{caption}{label}", note, totals=table.totals)
    else:
        star = "*" * (layout.limit > width)
        lines = _floating_table(layout, star, (caption, label), note, totals=table.totals)
    return "\n".join(lines) + "\n"


def as_figure(exhibit: Exhibit, file: str, inches: float, *, slug: str, numbers: str) -> str:
    """Return a figure in LaTeX: its file, what it shows, its label.

    ``numbers``: how many took part and answered, for the caption.
    """
    star = "*" * (inches * POINTS_PER_INCH > WIDEST_OF_TWO)
    lines = [
        rf"\begin{{figure{star}}}",
        r"  \centering\sloppy",
        rf"  \includegraphics[width={inches:g}in]{{{file}}}",
        rf"  \caption{{{escape_latex(caption_of(exhibit, numbers))}}}",
        rf"  \label{{fig:{label_of(slug, exhibit.name)}}}",
        rf"\end{{figure{star}}}",
    ]
    return "\n".join(lines) + "\n"


def caption_of(exhibit: Exhibit, numbers: str) -> str:
    """Return the caption of a figure; ``numbers``: how many took part and answered."""
    parts = (f"{exhibit.title.rstrip('.')}.", exhibit.note, numbers and f"{numbers}.", exhibit.mark)
    return " ".join(filter(None, parts))


def label_of(slug: str, name: str) -> str:
    """Return the end of a label; the slug is empty for answers from elsewhere."""
    return "-".join(filter(None, (slug, name)))


def escape_latex(text: str) -> str:
    """Return a text on one line, with signs escaped that LaTeX or its fonts treat otherwise."""
    return _BLANKS.sub(" ", text).strip(" ").replace(" %", f"{SPACE}%").translate(LATEX_SIGNS)


def _columns(table: Table) -> Iterator[Column]:
    """Yield the columns of a table; an interval is in one column, its ends in brackets."""
    printed = printed_table(table)
    names = [name.replace("_", " ") for name in printed.columns]
    cells = [[*texts] for texts in zip(*printed.rows, strict=True)] or [[] for _ in names]
    columns = [*zip(names, cells, printed.numeric, strict=True)]
    before: tuple[str, Sequence[str]] | None = None
    for index, (name, texts, numeric) in enumerate(columns):
        stem, following = _stem(name), columns[index + 1 : index + 2]
        if before is not None:
            pairs = zip(before[1], texts, strict=True)
            yield Column(before[0], [_interval(*pair) for pair in pairs], numeric=True)
            before = None
        elif stem is not None and following and following[0][0] in ("to", f"{name[:-4]}to"):
            before = stem, texts
        else:
            bracketed = [_WORDED_INTERVAL.fullmatch(text) for text in texts]
            known = [text for text in texts if text not in ("", UNDEFINED)]
            if known and index and len(known) == sum(map(bool, bracketed)):
                texts = [
                    f"{found[1].replace(' ', SPACE)}{_interval(found[2], found[3])}"
                    if found
                    else text
                    for found, text in zip(bracketed, texts, strict=True)
                ]
                numeric = True
            yield Column(name.replace(" %", f"{SPACE}%"), texts, numeric)


def _stem(name: str) -> str | None:
    """Return the heading of an interval whose low end is a column of this name, else None."""
    if not re.search(r"\bfrom$", name):
        return None
    stem = name.removesuffix("from").rstrip(" :")
    return f"{stem} interval".strip().replace(" %", f"{SPACE}%") if stem in ("", "95 %") else stem


def _interval(low: str, high: str) -> str:
    return UNDEFINED if UNDEFINED in (low, high) else f"[{low},{SPACE}{high}]"


def _words(text: str) -> list[str]:
    """Return what lines may be broken between: words, and pieces of long ones."""
    return [piece for word in text.split(" ") for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    return _PIECES.findall(word) if len(word) > LONGEST_WORD else [word]


def _lines(text: str, width: float, size: int) -> list[str]:
    """Return a text in lines that are as long as the width allows."""
    lines = [""]
    for word in text.split(" "):
        space = " " if lines[-1] else ""
        for piece in _pieces(word):
            if text_width(f"{lines[-1]}{space}{piece}", size) > width + 0.01 and lines[-1]:
                lines.append(piece)
            else:
                lines[-1] += space + piece
            space = ""
    return lines


def _layout(columns: Sequence[Column], limits: Iterable[float]) -> Layout:
    """Return the first layout that is readable: narrow, then with few lines, then large."""
    for limit, lines, size in product(limits, CELL_LINES, SIZES):
        widths = _widths(columns, limit, size)
        if widths and _is_readable(columns, widths, size, lines):
            return Layout(size, limit, [[*zip(columns, widths, strict=True)]])
    size, limit = min(SIZES), [*limits][-1]
    return Layout(size, limit, [*_split(columns, limit, size)])


def _widths(columns: Sequence[Column], limit: float, size: int) -> list[float] | None:
    """Return the columns' widths; None where even the least ones are too wide together."""
    room = limit - GAPS[size] * (len(columns) - 1)
    wanted = [column.widths(size) for column in columns]
    for low, high in ((1, 2), (0, 1)):
        if sum(width[low] for width in wanted) <= room:
            return _filled([(width[low], width[high]) for width in wanted], room)
    return None


def _filled(ends: Sequence[tuple[float, float]], room: float) -> list[float]:
    """Return widths between these ends that fill the room: the widest columns give way."""
    under, over = 0.0, max(high for _, high in ends)
    if sum(high for _, high in ends) <= room:
        return [high for _, high in ends]
    for _ in range(40):
        level = (under + over) / 2
        fits = sum(min(high, max(low, level)) for low, high in ends) <= room
        under, over = (level, over) if fits else (under, level)
    return [min(high, max(low, under)) for low, high in ends]


def _is_readable(columns: Sequence[Column], widths: Sequence[float], size: int, lines: int) -> bool:
    return all(
        len(_lines(column.heading, width, size)) <= MOST_HEADING_LINES
        and all(len(_lines(cell, width, size)) <= lines for cell in column.cells)
        for column, width in zip(columns, widths, strict=True)
    )


def _split(columns: Sequence[Column], limit: float, size: int) -> Iterator[Part]:
    """Yield the parts of a table that fit, each with the first column."""
    first, *left = columns
    while True:
        count = next(
            (n for n in range(len(left), 0, -1) if _widths([first, *left[:n]], limit, size)), 1
        )
        shown = [first, *left[:count]]
        widths = _widths(shown, limit, size) or [column.widths(size)[0] for column in shown]
        yield [*zip(shown, widths, strict=True)]
        left = left[count:]
        if not left:
            return


def _floating_table(
    layout: Layout, star: str, captions: Sequence[str], note: str, *, totals: bool
) -> Iterator[str]:
    yield f"% Needs \\usepackage{{booktabs,array}}. {layout.limit:g} pt wide at most."
    yield rf"\begin{{table{star}}}"
    yield r"  \centering\sloppy"
    yield from (f"  {line}" for line in captions)
    yield rf"  \par\smallskip{_font(layout.size)}"
    for part in layout.parts:
        yield rf"  \begin{{tabular}}{{{_specification(part, layout.size)}}}"
        yield from (r"    \toprule", f"    {_heading(part, layout.size)}", r"    \midrule")
        yield from (f"    {row}" for row in _body(part, layout.size, totals=totals))
        yield r"    \bottomrule"
        yield r"  \end{tabular}\par\smallskip"
    if note:
        yield rf"  \parbox{{\linewidth}}{{\sloppy\footnotesize {note}}}"
    yield rf"\end{{table{star}}}"


def _long_table(layout: Layout, caption: str, note: str, *, totals: bool) -> Iterator[str]:
    yield f"% Needs \\usepackage{{booktabs,array,longtable}}. {layout.limit:g} pt wide at most."
    yield "% It takes more than a page, and longtable cannot be set in two columns. In a paper of"
    yield "% two columns it begins a page of one, and the text after it a page of two: include it"
    yield "% in an appendix."
    yield r"\makeatletter"
    yield r"\if@twocolumn\onecolumn\let\afterlongtable\twocolumn\else\let\afterlongtable\relax\fi"
    yield r"\makeatother"
    yield rf"{{\sloppy{_font(layout.size)}\setlength{{\LTcapwidth}}{{\linewidth}}"
    for number, part in enumerate(layout.parts):
        heading = rf"\toprule {_heading(part, layout.size)} \midrule"
        yield rf"\begin{{longtable}}{{{_specification(part, layout.size)}}}"
        yield rf"  {caption}\\" if not number else r"  \addtocounter{table}{-1}"
        yield rf"  {heading}\endfirsthead"
        yield rf"  {heading}\endhead"
        yield r"  \bottomrule\endfoot"
        yield from (f"  {row}" for row in _body(part, layout.size, totals=totals))
        yield r"\end{longtable}"
    yield rf"{{\footnotesize {note}\par}}}}" if note else "}"
    yield r"\afterlongtable"


def _font(size: int) -> str:
    line = f"{1.2 * size:.1f}"
    return (
        rf"\fontsize{{{size}}}{{{line}}}\selectfont\setlength{{\tabcolsep}}{{{GAPS[size] / 2:g}pt}}"
    )


def _specification(part: Part, size: int) -> str:
    """Return the columns of a tabular; cells that need several lines have a width."""
    letters = []
    for column, width in part:
        if column.numeric:
            letters.append("r")
        elif all(text_width(cell, size) <= width + 0.01 for cell in column.cells):
            letters.append("l")
        else:
            letters.append(rf">{{\raggedright\arraybackslash}}p{{{width:.1f}pt}}")
    return f"@{{}}{''.join(letters)}@{{}}"


def _heading(part: Part, size: int) -> str:
    cells = []
    for column, width in part:
        lines = [escape_latex(line) for line in _lines(column.heading, width, size)]
        side, text = "r" if column.numeric else "l", r"\\".join(lines)
        if len(lines) > 1:
            text = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"
        cells.append(text)
    return _row(cells)


def _body(part: Part, size: int, *, totals: bool) -> list[str]:
    """Return the rows; a line is above the last one where it adds the others up."""
    columns = []
    for column, width in part:
        is_broken = any(text_width(cell, size) > width + 0.01 for cell in column.cells)
        columns.append(
            [_broken(cell) if is_broken else escape_latex(cell) for cell in column.cells]
        )
    rows = [_row(row) for row in zip(*columns, strict=True)]
    if totals and rows:
        rows.insert(-1, r"\midrule")
    return rows


def _broken(cell: str) -> str:
    """Return a cell with places in its long words at which LaTeX may begin a line."""
    words = [map(escape_latex, _pieces(word)) for word in cell.split(" ")]
    return " ".join(r"\allowbreak{}".join(pieces) for pieces in words)


def _row(cells: Sequence[str]) -> str:
    first, *others = cells
    if first.startswith(("[", "*")):  # LaTeX would read it as an argument of the \\ above
        first = f"{{}}{first}"
    return " & ".join((first, *others)) + r" \\"
