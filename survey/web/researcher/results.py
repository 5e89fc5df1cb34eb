"""The results of a study: page, report, files for a paper; hidden until the study is closed."""

import json
from typing import Any

from flask import Response, flash, g, redirect, request, stream_with_context, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from survey.core.tasks.ordering_plan import OrderingPlan
from survey.errors import SurveyError
from survey.services.analysis.report import as_html, expected_bytes, report_files, report_of
from survey.services.analysis.sheets import printed_table
from survey.services.analysis.study_results import Choices, StudyAnalysis, analyse_study
from survey.services.exchange.bundle import zipped_bytes
from survey.services.exchange.tasks import analyse_stored
from survey.services.operations.database import begin_reading
from survey.services.studies import lifecycle
from survey.web.auth.guard import require_password
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page


class UnblindForm(Form):
    """The reason for showing results before the end."""

    reason = StringField("Why they are needed before the end", render_kw={"maxlength": 500})


@blueprint.get(f"{STUDY}/results")
def results() -> ResponseReturnValue:
    """Show the results, or why they are hidden."""
    if not lifecycle.shows_results(g.study):
        return _hidden_page(UnblindForm())
    if not isinstance(g.plan, OrderingPlan):
        figures = _figures()
        return page("figures", figures=json.dumps(figures, ensure_ascii=False, indent=2))
    analysis = _analyse()
    return page(
        "results",
        report=report_of(analysis),
        printed=printed_table,
        query=_query_of(analysis.choices),
        questions=[question.number for question in g.study.questions if question.number],
    )


@blueprint.get(f"{STUDY}/results/report.html")
def report() -> ResponseReturnValue:
    """Return the results as one HTML file that needs no other file."""
    lifecycle.require_results(g.study)
    content = as_html(report_of(_analyse()))
    headers = {"Content-Disposition": f'attachment; filename="{g.slug}-report.html"'}
    return Response(content, mimetype="text/html", headers=headers)


@blueprint.get(f"{STUDY}/results/paper.zip")
def paper() -> ResponseReturnValue:
    """Stream a zip of report, tables and figures for a paper."""
    lifecycle.require_results(g.study)
    analysis = _analyse()
    headers = {
        "Content-Disposition": f'attachment; filename="{g.slug}-paper.zip"',
        "X-Expected-Bytes": str(expected_bytes(analysis)),
    }
    chunks = zipped_bytes(report_files(analysis))
    return Response(stream_with_context(chunks), mimetype="application/zip", headers=headers)


@blueprint.post(f"{STUDY}/unblind")
@require_password
def unblind() -> ResponseReturnValue:
    """Show results before the end, and log the researcher's name and reason."""
    form = UnblindForm()
    if not form.validate_on_submit():
        return _hidden_page(form, status=400)
    try:
        lifecycle.unblind(session(), g.study, g.researcher.name, (form.reason.data or "")[:500])
    except SurveyError as error:
        form.reason.errors = [str(error)]
        return _hidden_page(form, status=400)
    flash("Results are shown from now on. The study's log says so.")
    return redirect(url_for("researcher.results"), 303)


def _figures() -> dict[str, Any]:
    """Return the figures of a kind of question that has no report."""
    _, figures = analyse_stored(session(), g.study, _choices_in_query())
    return figures


def _analyse() -> StudyAnalysis:
    """Analyse with the choices in the address, then end the transaction: rendering is slow."""
    analysis = analyse_study(session(), g.study, _choices_in_query())
    session().rollback()
    begin_reading(session())
    return analysis


def _choices_in_query() -> Choices:
    # In the address, so that a page with these choices can be linked to.
    return Choices(
        include_test="test" in request.args,
        exclude_flagged="unflagged" in request.args,
        without_question=request.args.get("without", type=int),
        ties=request.args.get("ties", "kept"),
    )


def _query_of(choices: Choices) -> dict[str, str]:
    """Return the query from which ``_choices_in_query`` reads these choices, and nothing else."""
    query = {}
    if choices.include_test:
        query["test"] = "1"
    if choices.exclude_flagged:
        query["unflagged"] = "1"
    if choices.without_question is not None:
        query["without"] = str(choices.without_question)
    if choices.ties != Choices.ties:
        query["ties"] = choices.ties
    return query


def _hidden_page(form: Form, status: int = 200) -> ResponseReturnValue:
    return page("hidden", form=form, status=status, of_bundle=False)
