"""The results of people's judgements for a page and a paper: tables, figures and files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy.orm import Session

from survey.db.models import Study
from survey.figures.exhibit import Exhibit
from survey.services.analysis.report import figure_files, require_drawing, sheet_files
from survey.services.analysis.sheets import Sheet
from survey.services.collections.refining import Refining, refining_of
from survey.services.exchange import bundle
from survey.services.exchange.tables import Content

WITH_TEST = "test participants are included"


@dataclass(frozen=True)
class JudgingReport:
    """Tables and figures; none for a kind of question whose analysis has none.

    ``headline``: what the answers say, in a sentence; ``counts``: what it rests on;
    ``standings``: of each pair of measures that are compared, else none. ``refining``: of labels,
    else None.
    """

    headline: str
    counts: str
    standings: tuple[tuple[str, str, str], ...]
    sheets: tuple[Sheet, ...]
    exhibits: tuple[Exhibit, ...]
    refining: Refining | None


def judging_report(session: Session, study: Study, content: Content) -> JudgingReport:
    """Return the tables and figures of a study's judgements.

    ``content``: of ``content_of``, read in this session. Raises SurveyError for a figure that has
    no drawing.
    """
    analysis: Any = content.analysis
    sheets, exhibits = getattr(analysis, "sheets", ()), getattr(analysis, "exhibits", ())
    refining = refining_of(session, study, content)
    if refining is not None:
        sheets, exhibits = (*sheets, refining.sheet), (*exhibits, refining.exhibit)
    for exhibit in exhibits:
        require_drawing(exhibit)
    mark = WITH_TEST if content.include_test else ""
    return JudgingReport(
        headline=getattr(analysis, "headline", ""),
        counts=getattr(analysis, "counts", ""),
        standings=tuple(getattr(analysis, "standings", ())),
        sheets=tuple(sheets),
        exhibits=tuple(replace(exhibit, mark=mark) for exhibit in exhibits),
        refining=refining,
    )


def result_files(
    session: Session, study: Study, content: Content, report: JudgingReport | None = None
) -> Iterator[tuple[str, bytes]]:
    """Return the files of a kind's results, such as judgements, then sentences, tables and figures.

    ``report``: the content's, if it is made already. Raises SurveyError at once, not after the
    first files, for a figure that has no drawing.
    """
    report = report or judging_report(session, study, content)
    sentences = getattr(content.analysis, "sentences", ())
    text = "".join(f"{sentence}\n" for sentence in sentences)
    return chain(
        bundle.result_files(session, study, content),
        [("verdicts.txt", text.encode())] if sentences else [],
        sheet_files(sheet for sheet in report.sheets if sheet.rows),
        figure_files(report.exhibits),
    )
