"""The results of people's judgements for a page and a paper: tables, figures and files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from survey.db.models import Study
from survey.figures.exhibit import Exhibit
from survey.services.analysis.report import Drawn, drawn_of, figure_files, sheet_files
from survey.services.analysis.sheets import Sheet
from survey.services.collections.refining import Refining, refining_of
from survey.services.exchange import bundle
from survey.services.exchange.tables import Content

WITH_TEST = "test participants are included"


@dataclass(frozen=True)
class JudgingReport:
    """Tables and figures; none for a kind of question whose analysis has none.

    ``refining``: of labels, else None.
    """

    sheets: tuple[Sheet, ...]
    exhibits: tuple[Exhibit, ...]
    refining: Refining | None

    @property
    def drawn(self) -> list[Drawn]:
        """The figures, drawn."""
        return [drawn_of(exhibit) for exhibit in self.exhibits]


def judging_report(session: Session, study: Study, content: Content) -> JudgingReport:
    """Return the tables and figures of a study's judgements.

    ``content``: of ``content_of``, read in this session.
    """
    analysis: Any = content.analysis
    sheets, exhibits = getattr(analysis, "sheets", ()), getattr(analysis, "exhibits", ())
    refining = refining_of(session, study, content)
    if refining is not None:
        sheets, exhibits = (*sheets, refining.sheet), (*exhibits, refining.exhibit)
    mark = WITH_TEST if content.include_test else ""
    return JudgingReport(
        tuple(sheets), tuple(replace(exhibit, mark=mark) for exhibit in exhibits), refining
    )


def result_files(session: Session, study: Study, content: Content) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a kind's results, such as judgements, then tables and figures."""
    yield from bundle.result_files(session, study, content)
    report = judging_report(session, study, content)
    yield from sheet_files(sheet for sheet in report.sheets if sheet.rows)
    yield from figure_files(report.exhibits)
