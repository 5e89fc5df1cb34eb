"""Results: what the votes support, once nobody votes any more."""

from flask import Response, flash, g, redirect, request, stream_with_context, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField

from survey.errors import SurveyError
from survey.services.analysis.report import (
    as_html,
    expected_bytes,
    report_files,
    report_of,
)
from survey.services.analysis.sheets import text_of
from survey.services.analysis.study_results import Choices, StudyAnalysis, analyse_study
from survey.services.exchange.bundle import zipped_bytes
from survey.services.operations.database import begin_reading
from survey.services.studies import lifecycle
from survey.web.auth.guard import require_password
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page


class UnblindForm(Form):
    """Why results are shown before the end."""

    reason = StringField("Why they are needed before the end", render_kw={"maxlength": 500})


@blueprint.get(f"{STUDY}/results")
def results() -> ResponseReturnValue:
    """Show what the votes support, or say that it is hidden and why."""
    if not lifecycle.shows_results(g.study):
        return hidden_page(UnblindForm())
    analysis = _analysed()
    return page(
        "results",
        report=report_of(analysis),
        printed=text_of,
        switched=switches(analysis.choices),
        questions=[question.number for question in g.study.questions if question.number],
    )


@blueprint.get(f"{STUDY}/results/report.html")
def report() -> ResponseReturnValue:
    """Hand out the page as one file that needs nothing else."""
    lifecycle.require_results(g.study)
    content = as_html(report_of(_analysed()))
    headers = {"Content-Disposition": f'attachment; filename="{g.slug}-report.html"'}
    return Response(content, mimetype="text/html", headers=headers)


@blueprint.get(f"{STUDY}/results/paper.zip")
def paper() -> ResponseReturnValue:
    """Stream report, tables and figures for a paper."""
    lifecycle.require_results(g.study)
    analysis = _analysed()
    headers = {
        "Content-Disposition": f'attachment; filename="{g.slug}-paper.zip"',
        "X-Expected-Bytes": str(expected_bytes(analysis)),
    }
    pieces = zipped_bytes(report_files(analysis))
    return Response(stream_with_context(pieces), mimetype="application/zip", headers=headers)


def _analysed() -> StudyAnalysis:
    """Analyse as the address has it, and let the database go: what follows takes longer."""
    analysis = analyse_study(session(), g.study, chosen())
    session().rollback()
    begin_reading(session())
    return analysis


def chosen() -> Choices:
    """Read the switches from the address, so that what was looked at can be linked to."""
    return Choices(
        include_test="test" in request.args,
        exclude_flagged="unflagged" in request.args,
        without_question=request.args.get("without", type=int),
        ties=request.args.get("ties", "kept"),
    )


def switches(choices: Choices) -> dict[str, str]:
    """Return the part of an address that ``chosen`` reads these choices from, and no more."""
    switched = {}
    if choices.include_test:
        switched["test"] = "1"
    if choices.exclude_flagged:
        switched["unflagged"] = "1"
    if choices.without_question is not None:
        switched["without"] = str(choices.without_question)
    if choices.ties != Choices.ties:
        switched["ties"] = choices.ties
    return switched


@blueprint.post(f"{STUDY}/unblind")
@require_password
def unblind() -> ResponseReturnValue:
    """Show results before the end; who did so, and why, is logged."""
    form = UnblindForm()
    if not form.validate_on_submit():
        return hidden_page(form, status=400)
    try:
        lifecycle.unblind(session(), g.study, g.researcher.name, (form.reason.data or "")[:500])
    except SurveyError as error:
        form.reason.errors = [str(error)]
        return hidden_page(form, status=400)
    flash("Results are shown from now on. This is in the study's log.")
    return redirect(url_for("researcher.results"), 303)


def hidden_page(form: Form, status: int = 200) -> ResponseReturnValue:
    """Say why there are no results to be seen, and how they could be."""
    return page("hidden", form=form, status=status, of_bundle=False)
