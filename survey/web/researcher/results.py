"""The results of a study, its bundle, and bundles from elsewhere.

Results and files are hidden until the study is closed, or shown early with a reason.
"""

import io
import json
import mimetypes
from itertools import chain
from typing import Any

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import DataRequired

from survey.core.tasks.labelling import LabellingPlan
from survey.core.tasks.ordering_plan import OrderingPlan
from survey.errors import NotFoundError, SurveyError
from survey.services import accounts
from survey.services.analysis.label_results import Contested
from survey.services.analysis.report import (
    Parts,
    as_html,
    drawable,
    expected_bytes,
    part_file,
    parts_of,
    report_files,
    report_of,
)
from survey.services.analysis.sheets import printed_table
from survey.services.analysis.study_results import Analysis, AnalysisOptions, analyse_study
from survey.services.collections.items import summary
from survey.services.collections.judging_report import JudgingReport, judging_report
from survey.services.collections.judging_report import result_files as result_files_of
from survey.services.exchange import bundle as bundles
from survey.services.exchange import bundle_import, input_files
from survey.services.exchange.bundle import stream_zip_of_bytes
from survey.services.exchange.input_files import BundleError
from survey.services.exchange.tables import Content
from survey.services.operations.database import snapshot
from survey.services.studies import lifecycle, plans
from survey.services.studies.recruitment import Recruitment
from survey.web.auth import require_password
from survey.web.forms import Form, errors_beside, page, slug_field
from survey.web.requests import attachment, in_own_process, session
from survey.web.researcher.pages import (
    LARGEST_UNPACKED,
    STUDY,
    blueprint,
    image_response,
    uploaded_files,
)
from survey.web.uploads import UploadField, UploadsField, files_of

MEDIA_TYPES = {"json": "application/json", "txt": "text/plain", "R": "text/plain"}


class UnblindForm(Form):
    """The reason for showing results before the end."""

    reason = StringField("Why they are needed before the end", render_kw={"maxlength": 500})


class ImportForm(Form):
    """A bundle, and the address of the study made from it."""

    bundle = UploadField("Bundle (a zip file)")
    slug = slug_field("Address here")


class OrderingForm(Form):
    """Runs, and the address of a study in which people order them by these judgements."""

    runs = UploadsField("Runs, two to ten")
    slug = slug_field("Address of the new study", DataRequired("Give the study an address."))


@blueprint.get(f"{STUDY}/results")
@in_own_process
def results() -> ResponseReturnValue:
    """Show the results as a report, or as figures for kinds without one, or why they are hidden."""
    if not lifecycle.shows_results(g.study):
        return _hidden_page(UnblindForm())
    _require_results()
    if not isinstance(g.plan, OrderingPlan):
        return _figures_page(OrderingForm(formdata=None))
    analysis = _analyse()
    return page(
        "researcher/results.html",
        report=report_of(analysis),
        printed=printed_table,
        query=_query_of(analysis.options),
        contents=_contents(analysis),
        questions=range(1, g.plan.questions + 1),
    )


def _require_results() -> None:
    """Refuse hidden results; store that those of an open study are seen, if more have finished."""
    lifecycle.require_results(g.study)
    if lifecycle.has_new_look(session(), g.study):
        session().rollback()
        lifecycle.note_look(session(), g.study)
        snapshot(session())


def _contents(analysis: Analysis) -> list[tuple[str, str]]:
    """List the parts of the page: the id of each, and a short name."""
    return [
        ("verdicts", "Verdicts"),
        ("participants", "People"),
        ("votes", "Votes"),
        ("shares", "Shares"),
        ("differences", "Differences"),
        ("agreement", "Agreement"),
        *([("runs", "Runs")] if analysis.runs else []),
        ("bias", "Columns"),
        ("sensitivity", "Other choices"),
        ("second-opinion", "Second opinion"),
        ("quality", "Flags"),
        ("methods", "Methods"),
        ("options", "Options"),
    ]


def _figures_page(form: OrderingForm) -> ResponseReturnValue:
    """Show what answers say, its tables and figures folded, and what people differ in."""
    content = _content()
    report = judging_report(session(), g.study, content)
    contested: list[Contested] = getattr(content.analysis, "contested", list)()
    sentences = getattr(content.analysis, "sentences", ())
    return page(
        "researcher/figures.html",
        form,
        is_labelling=isinstance(g.plan, LabellingPlan),
        report=report,
        has_files=next(result_files_of(session(), g.study, content, report), None) is not None,
        query={"test": "1"} if content.include_test else {},
        contents=_contents_of(report, verdicts=bool(report.standings), contested=bool(contested)),
        sentences=sentences,
        contested=contested,
        pictures={each.document: each.sha256 for each in content.items} if contested else {},
        texts={each.document: each.text for each in content.items} if contested else {},
        topics={each.topic: each for each in content.topics} if contested else {},
        printed=printed_table,
        figures=json.dumps(content.analysis_json, ensure_ascii=False, indent=2),
    )


def _contents_of(
    report: JudgingReport, *, verdicts: bool, contested: bool
) -> list[tuple[str, str]]:
    """List the parts of the page of a kind without a report: the id of each, and a short name."""
    return [
        *([("verdicts", "Verdicts")] if verdicts else []),
        *((exhibit.name, exhibit.title) for exhibit in report.exhibits),
        *((sheet.name, sheet.name.replace("-", " ").capitalize()) for sheet in report.sheets),
        *([("contested", "Where they differ")] if contested else []),
        ("numbers", "All numbers"),
    ]


@blueprint.post(f"{STUDY}/results/ordering-study")
@in_own_process
def make_ordering_study() -> ResponseReturnValue:
    """Make a draft whose lists are uploaded runs, by this study's judgements and with its items."""
    _require_results()
    if not isinstance(g.plan, LabellingPlan):
        raise NotFoundError("This study has no judgements.")
    form = OrderingForm()
    if form.validate_on_submit():
        try:
            lists = plans.from_trec(
                bundles.judgements_of(session(), g.study, include_test="test" in request.args),
                uploaded_files("runs"),
                collection_size=str(summary(session(), g.study)["items"]),
                missing_last=True,
            )
            fields: dict[str, Any] = {"seed": plans.fresh_seed(), "language": g.plan.language}
            fields |= {"asked_by": g.plan.asked_by, "contact": g.plan.contact}
            plan = plans.preset_plan("pictures", **plans.as_fields(lists), **fields)
        except plans.FaultyFilesError as error:
            form.runs.errors = [*error.faults]
        except (SurveyError, ValueError) as error:
            form.runs.errors = [str(error)]
        else:
            with errors_beside(form.slug):
                draft = lifecycle.create_owned_study(
                    session(), g.researcher, form.slug.data, plan, Recruitment()
                )
                lifecycle.copy_items(session(), g.study, draft)
                lifecycle.promise_expected_minutes(session(), draft)
                flash("The draft is created. Go through its plan, then check its questions.")
                return redirect(url_for("researcher.check", slug=form.slug.data), 303)
    return _figures_page(form)


@blueprint.get(f"{STUDY}/results/files.zip")
@in_own_process
def result_files() -> ResponseReturnValue:
    """Stream a zip of the files that a kind's results are, such as judgements."""
    _require_results()
    if isinstance(g.plan, OrderingPlan):
        raise NotFoundError("Studies of this kind have their results in other files.")
    files = result_files_of(session(), g.study, _content())
    first = next(files, None)
    if first is None:
        raise NotFoundError("No answer counts yet, so there is nothing to download.")
    chunks = stream_zip_of_bytes(chain([first], files))
    return attachment(chunks, "application/zip", f"{g.slug}-results.zip")


@blueprint.get(f"{STUDY}/results/drawing/<name>.svg")
@in_own_process
def drawing(name: str) -> ResponseReturnValue:
    """Return a figure's drawing as an image for the page; browsers keep it under its digest."""
    _require_results()
    exhibit = drawable(_parts(), name)
    if exhibit is None:
        raise NotFoundError(f"There is no figure {name!r}.")
    return image_response(exhibit)


@blueprint.get(f"{STUDY}/results/parts/<name>.<ending>")
@in_own_process
def part(name: str, ending: str) -> ResponseReturnValue:
    """Send one figure, or one table or a figure's numbers, as a file."""
    _require_results()
    content = part_file(_parts(), name, ending)
    if content is None:
        raise NotFoundError(f"There is no {name}.{ending} among the results.")
    media_type = mimetypes.guess_type(f"{name}.{ending}")[0] or "text/plain"
    return attachment(iter([content]), media_type, f"{g.slug}-{name}.{ending}")


def _parts() -> Parts:
    """Return the figures and tables of a study's results."""
    if isinstance(g.plan, OrderingPlan):
        return parts_of(_analyse())
    report = judging_report(session(), g.study, _content())
    return Parts(report.exhibits, report.sheets)


def _content() -> Content:
    """Read and analyse the answers of a kind without a report, with test data on request."""
    options = _options_in_query()
    bundles.require_options(g.plan, options)
    return bundles.content_of(session(), g.study, include_test=options.include_test)


@blueprint.get(f"{STUDY}/results/report.html")
@in_own_process
def report() -> ResponseReturnValue:
    """Return the results as one HTML file that needs no other file."""
    _require_results()
    content = as_html(report_of(_analyse()))
    return attachment(content, "text/html", f"{g.slug}-report.html")


@blueprint.get(f"{STUDY}/results/paper.zip")
@in_own_process
def paper() -> ResponseReturnValue:
    """Stream a zip of report, tables and figures for a paper."""
    _require_results()
    analysis = _analyse()
    chunks = stream_zip_of_bytes(report_files(analysis))
    return attachment(chunks, "application/zip", f"{g.slug}-paper.zip", expected_bytes(analysis))


@blueprint.post(f"{STUDY}/unblind")
@require_password
def unblind() -> ResponseReturnValue:
    """Show results before the end, and log the researcher's name and reason."""
    form = UnblindForm()
    if form.validate_on_submit():
        with errors_beside(form.reason):
            lifecycle.unblind(session(), g.study, g.researcher.name, (form.reason.data or "")[:500])
            flash("Results are shown from now on. The study's log says so.")
            return redirect(url_for("researcher.results"), 303)
    return _hidden_page(form)


def _analyse() -> Analysis:
    """Analyse an ordering study with the options in the address, then begin a new transaction.

    Rendering is slow, and the old one would keep the database from emptying its log meanwhile.
    """
    if not isinstance(g.plan, OrderingPlan):
        raise NotFoundError("Studies of this kind have their results in other files.")
    analysis = analyse_study(session(), g.study, _options_in_query())
    snapshot(session())
    return analysis


def _options_in_query() -> AnalysisOptions:
    # Not in a cookie, so that a page with these options can be linked to. Odd values are ignored.
    return AnalysisOptions(
        include_test="test" in request.args,
        exclude_flagged="unflagged" in request.args,
        without_question=request.args.get("without", type=int),
        ties=request.args.get("ties", "kept"),
    )


def _query_of(options: AnalysisOptions) -> dict[str, str]:
    """Return the query from which ``_options_in_query`` reads these options, and nothing else."""
    query = {}
    if options.include_test:
        query["test"] = "1"
    if options.exclude_flagged:
        query["unflagged"] = "1"
    if options.without_question is not None:
        query["without"] = str(options.without_question)
    if options.ties != AnalysisOptions.ties:
        query["ties"] = options.ties
    return query


def _hidden_page(form: UnblindForm) -> ResponseReturnValue:
    return page("researcher/hidden.html", form, of_bundle=False)


@blueprint.get(f"{STUDY}/hand-out")
def export() -> ResponseReturnValue:
    """List the bundle's files."""
    _require_results()
    return page(
        "researcher/export.html",
        files=bundles.file_names(session(), g.study),
        has_identities=bundles.has_identities(session(), g.study),
    )


@blueprint.get(f"{STUDY}/bundle.zip")
@in_own_process
def bundle() -> ResponseReturnValue:
    """Stream the bundle; a header estimates its size for the progress bar."""
    _require_results()
    include_test = "test" in request.args
    expected = bundles.estimate_bytes(session(), g.study, include_test=include_test)
    chunks = bundles.stream_bundle(
        *(session(), g.study), include_test=include_test, with_pictures="pictures" in request.args
    )
    return attachment(chunks, "application/zip", f"{g.study.slug}.zip", expected)


@blueprint.post(f"{STUDY}/bundle-with-identities.zip")
@in_own_process
@require_password
def bundle_with_identities() -> ResponseReturnValue:
    """Stream the bundle with the platforms' ids, and log the researcher's name."""
    _require_results()
    if not Form().validate_on_submit():
        return redirect(url_for("researcher.export"), 303)
    accounts.log(session(), g.study, g.researcher.name, "exported", "bundle with identities")
    session().commit()
    chunks = bundles.stream_bundle(
        session(), g.study, with_identities=True, include_test="test" in request.form
    )
    return attachment(chunks, "application/zip", f"{g.study.slug}-with-identities.zip")


@blueprint.get(f"{STUDY}/files/<path:name>")
@in_own_process
def file(name: str) -> ResponseReturnValue:
    """Stream one file of the bundle."""
    _require_results()
    lines = bundles.stream_file(session(), g.study, name, include_test="test" in request.args)
    media_type = MEDIA_TYPES.get(name.rpartition(".")[2], "text/csv")
    file_name = f"{g.study.slug}-{name.rpartition('/')[2]}"
    return attachment((line.encode() for line in lines), media_type, file_name)


@blueprint.route("/import", methods=["GET", "POST"])
@in_own_process
def import_bundle() -> ResponseReturnValue:
    """Ask for a bundle; import it as a read-only study if it replicates."""
    form = ImportForm()
    faults: list[str] = []
    upload = next(iter(files_of("bundle")), None)
    if form.validate_on_submit():
        if upload is None:
            form.bundle.errors = ["Choose the zip file of a bundle."]
            return page("researcher/import.html", form)
        try:
            content, file_name = io.BytesIO(upload.read()), str(upload.filename)
            files = input_files.open_files(content, file_name, LARGEST_UNPACKED)
            erased: list[int] = []
            study = bundle_import.import_bundle(
                session(), files, file_name, form.slug.data or "", g.researcher, erased.append
            )
        except BundleError as error:
            faults = str(error).splitlines()
            text = f": {error}." if len(faults) == 1 else "; see below."
            form.bundle.errors = [f"The bundle does not replicate{text}"]
        except SurveyError as error:
            form.slug.errors = [str(error)]
        else:
            flash("Everything in the bundle replicates. These are the results of its study.")
            for sentence in bundle_import.describe_erased(*erased):
                flash(sentence)
            return redirect(url_for("researcher.results", slug=study.slug), 303)
    return page("researcher/import.html", form, faults=faults)
