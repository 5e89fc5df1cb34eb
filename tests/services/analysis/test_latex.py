"""Tables in LaTeX: as narrow as a column where they can be, in words and signs LaTeX can set."""

import re
from pathlib import Path

import matplotlib
import pytest

from survey.services.analysis.latex import COLUMN, PAGE, WIDTHS, as_latex, text_width
from survey.services.analysis.sheets import Sheet

WORDS = "agreement of all participants with one another"


def rows_of(latex):
    body = latex.split("\\midrule")[1].split("\\bottomrule")[0]
    return [row.strip() for row in body.strip().splitlines()]


def test_a_table_in_latex_is_ready_to_be_included():
    table = Sheet(
        name="table4",
        title="Votes per question",
        columns=("question", "OTHER", "choice"),
        rows=((1, 3, "MNRO-AP"), (2, None, ""), ("total", 3, "")),
        note="Question 1 (AP = MNRO) & more: 100 % > 50 %.",
        totals=True,
    )
    assert (
        as_latex(table, "spring") == r"""% Needs \usepackage{booktabs,array}. 241 pt wide at most.
\begin{table}
  \centering\sloppy
  \caption{Votes per question}
  \label{tab:spring-table4}
  \par\smallskip\fontsize{9}{10.8}\selectfont\setlength{\tabcolsep}{3pt}
  \begin{tabular}{@{}lrl@{}}
    \toprule
    question & OTHER & choice \\
    \midrule
    1 & 3 & MNRO-AP \\
    2 & -- &  \\
    \midrule
    total & 3 &  \\
    \bottomrule
  \end{tabular}\par\smallskip
  \parbox{\linewidth}{\sloppy\footnotesize Question 1 (AP = MNRO) \& more: """
        r"""100\nobreakspace{}\% \textgreater{} 50\nobreakspace{}\%.}
\end{table}
"""
    )


def test_no_row_in_latex_is_read_as_an_argument_of_the_line_break_before_it():
    sheet = Sheet("t", "T", ("a", "b"), (("[2pt]", "[x]"), ("*", 1), ("", "[")))
    assert rows_of(as_latex(sheet)) == [r"{}[2pt] & [x] \\", r"{}* & 1 \\", r"& [ \\"]


def test_signs_that_latex_fonts_lack_are_written_as_commands():
    latex = as_latex(Sheet("t", "T", ("a",), (("|A ∩ B| / |A ∪ B|, m³ …",),)))
    assert r"\textbar{}A $\cap$ B\textbar{} / \textbar{}A $\cup$ B\textbar{}" in latex
    assert r"m\textsuperscript{3} \ldots{}" in latex


@pytest.mark.parametrize(
    ("columns", "row", "heading", "cell"),
    [
        (("run", "95 % from", "to"), ("a", 4.1, 31.2), "95 % interval", "[4.1, 31.2]"),
        (("run", "this kind: from", "this kind: to"), ("a", -1.0, 2.0), "this kind", "[−1.0, 2.0]"),
        (("run", "from", "to"), ("a", None, None), "interval", "–"),
        (("run", "choice"), ("a", "−4.1 (2.0 to 3.0)"), "choice", "−4.1 [2.0, 3.0]"),
        (("run", "95 % interval"), ("a", "0.1 to 0.2"), "95 % interval", "[0.1, 0.2]"),
    ],
)
def test_an_interval_is_in_one_column_in_brackets(columns, row, heading, cell):
    latex = as_latex(Sheet("t", "T", columns, (row,), decimals=1))
    plain = latex.replace(r"\nobreakspace{}", " ").replace("$-$", "−").replace("--", "–")
    assert rf"run & {heading.replace('%', chr(92) + '%')} \\" in plain
    assert rows_of(plain) == [rf"a & {cell} \\"]
    assert "{@{}lr@{}}" in latex


def test_words_that_are_no_interval_stay():
    latex = as_latex(Sheet("t", "T", ("a", "b"), (("2 to 3", "from 2 to 3"), ("x", "1 to 2"))))
    assert rows_of(latex) == [r"2 to 3 & from 2 to 3 \\", r"x & 1 to 2 \\"]


def test_the_widths_of_letters_are_those_of_computer_modern():
    metrics = Path(matplotlib.get_data_path(), "fonts/afm/cmr10.afm").read_text()
    known = {
        chr(int(code)): float(width)
        for code, width in re.findall(r"C (\d+) ; WX ([\d.]+)", metrics)
        if 33 <= int(code) < 123 and chr(int(code)) not in "<>\\^_{|}`"
    }
    known["−"] = 777.8  # cmsy10
    assert {sign: WIDTHS[sign] for sign in known} == pytest.approx(known, abs=1)
    # cmr9, cmr8 and cmr7, of TeX's own files
    assert text_width("0", 9) == pytest.approx(9 * 0.5139, rel=0.01)
    assert text_width("0", 8) == pytest.approx(8 * 0.5313, rel=0.01)
    assert text_width("m", 7) == pytest.approx(7 * 0.9385, rel=0.02)


def widest_row(latex):
    """Return the letters' size and the sum of the columns that have a width."""
    size = int(re.search(r"\\fontsize\{(\d)\}", latex)[1])
    return size, sum(map(float, re.findall(r"p\{([\d.]+)pt\}", latex)))


def test_a_table_becomes_smaller_then_broken_then_as_wide_as_the_page():
    def sheet(count, words=""):
        columns = ("agreement", *(f"m{number}" for number in range(count)))
        return Sheet("t", "T", columns, ((words or "x", *[0.123] * count),))

    assert r"\fontsize{9}" in as_latex(sheet(6))
    assert r"\fontsize{7}" in as_latex(sheet(9))
    broken = as_latex(sheet(6, WORDS))
    assert r"\begin{table}" in broken
    assert 0 < widest_row(broken)[1] < COLUMN / 2
    assert r"\begin{table*}" in as_latex(sheet(14))
    assert r"\begin{table*}" not in as_latex(sheet(14), width=347)
    parts = as_latex(sheet(40))
    assert parts.count(r"\begin{tabular}{") > 1
    assert parts.count("0.123") == 40
    assert parts.count("x &") == parts.count(r"\end{tabular}\par")


def test_a_long_name_can_be_broken_after_its_signs_and_at_last_anywhere():
    latex = as_latex(Sheet("t", "T", ("a", "b"), ((f"clueweb22-{'x' * 80}", "y" * 90),)))
    assert r"clueweb22-\allowbreak{}" in latex
    assert r"y\allowbreak{}y" in latex


def test_many_rows_are_a_longtable_that_leaves_two_columns_and_comes_back():
    rows = tuple((f"t{number}", number) for number in range(41))
    latex = as_latex(Sheet("t", "T", ("topic", "n"), rows, totals=True), "slug")
    assert r"\begin{longtable}" in latex
    assert r"\label{tab:slug-t}\\" in latex
    assert r"\onecolumn" in latex
    assert latex.endswith("\\afterlongtable\n")
    assert r"\midrule" in latex.splitlines()[-5]
    assert f"{PAGE:g} pt" in latex
    assert "longtable" not in as_latex(Sheet("t", "T", ("topic", "n"), rows[:40]))
