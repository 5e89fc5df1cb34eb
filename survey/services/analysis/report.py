"""The report of results: one page of HTML, or a folder of files for a paper."""

import re
from collections.abc import Iterator
from importlib import import_module

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from survey import __version__, figures
from survey.config import folder
from survey.services.analysis.methods import methods_files
from survey.services.analysis.paper_files import (
    PAPER,
    PaperLook,
    figure_files,
    paper_file_count,
    sheet_files,
)
from survey.services.analysis.results import Results, Section, json_text
from survey.services.analysis.sheets import printed_table

STYLES = ("bootstrap-reboot.min.css", "tokens.css", "survey.css", "research.css", "report.css")
GROUPS = {
    "people": "Who took part",
    "asked": "What was asked",
    "results": "Results",
    "checks": "Checks",
    "others": "Other ways to count",
    "methods": "Methods",
}
_TYPEFACE = re.compile("@font-face {[^}]*}")  # a file of its own: the report takes the reader's


def load_libraries() -> None:
    """Import matplotlib and scipy.stats, so that the first report does not take a second longer."""
    for name in ("matplotlib.backends.backend_svg", "scipy.stats"):
        import_module(name)


def as_html(results: Results) -> str:
    """Return a page of HTML without links to files: styles and figures are inside it."""
    environment = Environment(
        loader=FileSystemLoader(folder("templates")), autoescape=True, undefined=StrictUndefined
    )
    environment.globals["as_svg"] = figures.as_svg
    return environment.get_template("report/report.html").render(
        results=results,
        printed=printed_table,
        groups=[*_groups(results)],
        style=style(),
        version=__version__,
    )


def _groups(results: Results) -> Iterator[tuple[str, str, list[Section]]]:
    """Yield the parts of the report that hold something: name, title, sections."""
    always = {"people", "methods", *(["asked"] if results.asked else [])}
    for name, title in GROUPS.items():
        sections = [section for section in results.all_sections if section.part == name]
        if sections or name in always:
            yield name, title, sections


def style() -> str:
    """Return the style sheets of the pages as one, which needs no other file."""
    sheets = ((folder("static") / name).read_text(encoding="utf-8") for name in STYLES)
    return _TYPEFACE.sub("", "\n".join(sheets))


def report_files(results: Results, look: PaperLook = PAPER) -> Iterator[tuple[str, bytes]]:
    """Yield the files for a paper, each with its path in the folder."""
    yield "report.html", as_html(results).encode()
    yield "analysis.json", f"{json_text(results)}\n".encode()
    if not results.nothing:
        yield "answer.txt", results.answer_text.encode()
    if results.sentences:
        yield "verdicts.txt", "".join(f"{each.text}\n" for each in results.sentences).encode()
    for name, text in results.files():
        yield name, text.encode()
    if results.paper_facts and not results.nothing:
        for name, text in methods_files(results):
            yield name, text.encode()
    yield from sheet_files(results.file_sheets, results.slug, look)
    yield from figure_files(results.exhibits, results.numbers, results.slug, look)


def file_count(results: Results) -> int:
    """Return about how many files ``report_files`` gives, for a progress bar."""
    tables = len(results.file_sheets)
    return (
        3
        + 2 * bool(results.facts)
        + bool(results.sentences)
        + paper_file_count(tables, results.exhibits)
    )


def expected_bytes(results: Results) -> int:
    """Return about how many bytes the zip of a report takes, for a progress bar."""
    return 12_000 * file_count(results)
