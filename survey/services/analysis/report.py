"""An analysis as a page of HTML, and as a folder of files for a paper."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from survey import __version__, figures
from survey.config import folder
from survey.core.agreement.exhibits import Exhibit, exhibits
from survey.services.analysis.result_tables import flags_sheet, simulated_notice, tables_of
from survey.services.analysis.results_json import as_json
from survey.services.analysis.sheets import FORMATS, Sheet, printed_table
from survey.services.analysis.study_results import Analysis, Choices

STYLES = ("bootstrap-reboot.min.css", "survey.css", "research.css", "report.css")


@dataclass(frozen=True)
class Drawn:
    """A drawn figure, with its numbers; ``svg`` is empty where there is nothing to draw."""

    exhibit: Exhibit
    svg: str

    def render(self, ending: str) -> bytes:
        """Return the bytes of a file with this ending: svg, png or pdf."""
        return figures.render(self.exhibit, ending)


@dataclass(frozen=True)
class Report:
    """The contents of a report; ``departures``: from the protocol, in words."""

    analysis: Analysis
    figures: Mapping[str, Drawn]
    sheets: Mapping[str, Sheet]
    flags: Sheet
    departures: str


def load_libraries() -> None:
    """Import matplotlib and scipy.stats, so that the first report does not take a second longer."""
    for name in ("matplotlib.backends.backend_svg", "scipy.stats"):
        import_module(name)


def report_of(analysis: Analysis) -> Report:
    """Draw the figures and build the tables of an analysis."""
    return Report(
        analysis=analysis,
        figures={
            exhibit.name: Drawn(exhibit, "" if exhibit.why else figures.as_svg(exhibit))
            for exhibit in _marked(exhibits(analysis.agreement), analysis)
        },
        sheets={sheet.name: sheet for sheet in tables_of(analysis)},
        flags=flags_sheet(analysis),
        departures=departures(analysis.choices),
    )


def _marked(drawn: Iterable[Exhibit], analysis: Analysis) -> Iterator[Exhibit]:
    """Print a notice inside figures of simulated participants, so that they are not evidence."""
    mark = simulated_notice(analysis)
    return (replace(exhibit, mark=mark) for exhibit in drawn)


def departures(choices: Choices) -> str:
    """Return how an analysis departs from the protocol; empty for the protocol's own."""
    texts = []
    if choices.exclude_flagged:
        texts.append("flagged participants are left out")
    if choices.without_question is not None:
        texts.append(f"question {choices.without_question} is left out")
    if choices.ties != "kept":
        texts.append(f"shared votes are {choices.ties}")
    return ", ".join(texts)


def as_html(report: Report) -> str:
    """Return a page of HTML without links to files: styles and figures are inside it."""
    environment = Environment(
        loader=FileSystemLoader(folder("templates")), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report/report.html").render(
        report=report,
        printed=printed_table,
        title=report.analysis.study.get("title") or "Analysis of votes",
        style="\n".join(_style(name) for name in STYLES),
        version=__version__,
    )


def _style(name: str) -> str:
    return (folder("static") / name).read_text(encoding="utf-8")


def report_files(analysis: Analysis) -> Iterator[tuple[str, bytes]]:
    """Yield the files for a paper, each with its path in the folder."""
    report = report_of(analysis)
    yield "report.html", as_html(report).encode()
    content = json.dumps(as_json(analysis), ensure_ascii=False, indent=2)
    yield "analysis.json", f"{content}\n".encode()
    for sheet in (*report.sheets.values(), report.flags):
        for ending, write in FORMATS.items():
            yield f"tables/{sheet.name}.{ending}", write(sheet).encode()
    for drawn in report.figures.values():
        if not drawn.exhibit.why:
            for ending in figures.FORMATS:
                yield (
                    f"figures/{drawn.exhibit.name}.{ending}",
                    drawn.render(ending),
                )


def file_count(analysis: Analysis) -> int:
    """Return how many files ``report_files`` gives, for a progress bar."""
    drawable = sum(not exhibit.why for exhibit in exhibits(analysis.agreement))
    return 2 + len(FORMATS) * (len(tables_of(analysis)) + 1) + len(figures.FORMATS) * drawable


def expected_bytes(analysis: Analysis) -> int:
    """Return about how many bytes the zip of a report takes, for a progress bar."""
    return 12_000 * file_count(analysis)
