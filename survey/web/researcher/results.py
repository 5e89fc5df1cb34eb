"""The results of a study, its bundle, and bundles from elsewhere.

Results and files are hidden until the study is closed, or shown early with a reason.
"""

import io
import mimetypes
from typing import Any

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import DataRequired

from survey.errors import NotFoundError, SurveyError
from survey.services import accounts
from survey.services.analysis.paper_files import FIGURE_INCHES, PAPER, TABLE_POINTS, read_look
from survey.services.analysis.report import as_html, expected_bytes, report_files
from survey.services.analysis.results import Results, drawable, json_text, part_file
from survey.services.analysis.sheets import printed_table
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import items
from survey.services.exchange import bundle as bundles
from survey.services.exchange import bundle_import, input_files
from survey.services.exchange.bundle import stream_zip_of_bytes
from survey.services.exchange.input_files import BundleError
from survey.services.machines.machine_results import results_beside
from survey.services.operations.database import snapshot
from survey.services.studies import lifecycle, plans
from survey.services.studies.recruitment import Recruitment
from survey.web.auth import require_password
from survey.web.forms import Form, errors_beside, form_page, slug_field
from survey.web.published import runs_shown
from survey.web.requests import attachment, in_own_process, session, settled_address
from survey.web.researcher.pages import (
    LARGEST_UPLOAD_UNPACKED,
    STUDY_ADDRESS,
    blueprint,
    image_response,
    uploaded_files,
)
from survey.web.uploads import UploadField, UploadsField, chosen_files

MEDIA_TYPES = {"json": "application/json", "txt": "text/plain", "R": "text/plain"}


class UnblindForm(Form):
    """The reason for showing results before the end."""

    reason = StringField("Why they are needed before the end", render_kw={"maxlength": 500})


class ImportForm(Form):
    """A bundle, and the address of the study made from it."""

    bundle = UploadField("Bundle (a zip file)")
    slug = slug_field("Address here")


class RunStudyForm(Form):
    """Runs, and the address of a study in which people order them by these judgements."""

    runs = UploadsField("Runs, two to ten")
    slug = slug_field("Address of the new study", DataRequired("Give the study an address."))


@blueprint.get(f"{STUDY_ADDRESS}/results")
@in_own_process
def results() -> ResponseReturnValue:
    """Show the results, or why they are hidden."""
    if not lifecycle.shows_results(g.study):
        return _hidden_page(UnblindForm())
    require_results()
    return _results_page(RunStudyForm(formdata=None))


def _results_page(form: RunStudyForm) -> ResponseReturnValue:
    """Show what the answers say, and the parts of the report, folded."""
    options = options_in_query()
    results = _results(options)
    return form_page(
        "researcher/results.html",
        form,
        has_options=bundles.has_options(g.plan),
        is_judged=bundles.makes_judgements(g.plan),
        has_flags=any(each.name == "flags" and each.rows for each in results.sheets),
        numbers="" if results.sheets else json_text(results),
        questions=range(1, g.plan.questions + 1),
        contents=_contents(results, options=bundles.has_options(g.plan)),
        **runs_shown(results),
        **shown_results(results, options),
    )


def shown_results(results: Results, options: AnalysisOptions) -> dict[str, Any]:
    """Return what templates need to show results."""
    contested = any(
        block.shape == "documents" for each in results.sections for block in each.blocks
    )
    shown = items.items_and_topics(session(), g.study) if contested else ((), ())
    return {
        "results": results,
        "options": options,
        "look": PAPER,
        "figure_inches": FIGURE_INCHES,
        "table_points": TABLE_POINTS,
        "documents": {each.document: each for each in shown[0]},
        "topics": {each.topic: each for each in shown[1]},
        "printed": printed_table,
        "query": query_of(options),
    }


def _contents(results: Results, *, options: bool) -> list[tuple[str, str]]:
    """List the parts of the page: the id of each, and a short name."""
    parts = [(section.name, section.short) for section in results.all_sections]
    numbers = [] if results.sheets else [("numbers", "All numbers")]
    return [*parts, *numbers, *([("options", "Options")] if options else [])]


def require_results() -> None:
    """Refuse hidden results; store that those of an open study are seen, if more have finished."""
    lifecycle.require_results(g.study)
    if lifecycle.has_new_look(session(), g.study):
        session().rollback()
        lifecycle.note_look(session(), g.study)
        snapshot(session())


@blueprint.post(f"{STUDY_ADDRESS}/results/ordering-study")
@in_own_process
def make_ordering_study() -> ResponseReturnValue:
    """Make a draft whose lists are uploaded runs, by this study's judgements and with its items."""
    require_results()
    if not bundles.makes_judgements(g.plan):
        raise NotFoundError("This study has no judgements.")
    form = RunStudyForm()
    if form.validate_on_submit():
        try:
            lists = plans.from_trec(
                bundles.judgements_of(session(), g.study, include_test="test" in request.args),
                uploaded_files("runs", several=True),
                collection_size=str(items.items_summary(session(), g.study)["items"]),
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
    return _results_page(form)


@blueprint.get(f"{STUDY_ADDRESS}/results/drawing/<name>.svg")
@in_own_process
def drawing(name: str) -> ResponseReturnValue:
    """Return a figure's drawing as an image for the page; browsers keep it under its digest."""
    require_results()
    exhibit = drawable(_results_in_query(), name)
    if exhibit is None:
        raise NotFoundError(f"There is no figure {name!r}.")
    return image_response(exhibit)


@blueprint.get(f"{STUDY_ADDRESS}/results/parts/<name>.<ending>")
@in_own_process
def part(name: str, ending: str) -> ResponseReturnValue:
    """Send one figure, or one table or a figure's numbers, as a file."""
    require_results()
    content = part_file(_results_in_query(), name, ending)
    if content is None:
        raise NotFoundError(f"There is no {name}.{ending} among the results.")
    media_type = mimetypes.guess_type(f"{name}.{ending}")[0] or "text/plain"
    return attachment(iter([content]), media_type, f"{g.slug}-{name}.{ending}")


@blueprint.get(f"{STUDY_ADDRESS}/results/report.html")
@in_own_process
def report() -> ResponseReturnValue:
    """Return the results as one HTML file that needs no other file."""
    require_results()
    content = as_html(_results_in_query())
    return attachment(content, "text/html", f"{g.slug}-report.html")


@blueprint.get(f"{STUDY_ADDRESS}/results/paper.zip")
@in_own_process
def paper() -> ResponseReturnValue:
    """Stream a zip of report, tables and figures for a paper, in its widths and font."""
    require_results()
    look = read_look(request.args)
    results = _results_in_query(in_full=True)
    chunks = stream_zip_of_bytes(report_files(results, look))
    return attachment(chunks, "application/zip", f"{g.slug}-paper.zip", expected_bytes(results))


@blueprint.post(f"{STUDY_ADDRESS}/unblind")
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


def _results(options: AnalysisOptions, *, in_full: bool = False) -> Results:
    """Return the study's results with these options, then begin a new transaction.

    Rendering is slow, and the old one would keep the database from emptying its log meanwhile.
    """
    results = bundles.results_of(session(), g.study, options, in_full=in_full)
    snapshot(session())
    return results


def _results_in_query(*, in_full: bool = False) -> Results:
    """Return the study's results with the query's options, or those of its ``machine``."""
    options, name = options_in_query(), request.args.get("machine")
    if name is None:
        return _results(options, in_full=in_full)
    results = results_beside(session(), g.study, name, options)
    snapshot(session())
    return results


def options_in_query() -> AnalysisOptions:
    """Return the analysis options in the query; odd values are ignored.

    They are not in a cookie, so that a page with these options can be linked to.
    """
    return AnalysisOptions(
        include_test="test" in request.args,
        exclude_flagged="unflagged" in request.args,
        without_question=request.args.get("without", type=int),
        ties=request.args.get("ties", "kept"),
    )


def query_of(options: AnalysisOptions) -> dict[str, str]:
    """Return the query from which ``options_in_query`` reads these options, and nothing else."""
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
    return form_page("researcher/hidden.html", form, of_bundle=False)


@blueprint.get(f"{STUDY_ADDRESS}/hand-out")
def export() -> ResponseReturnValue:
    """List the bundle's files."""
    require_results()
    return form_page(
        "researcher/export.html",
        files=bundles.file_names(session(), g.study),
        has_identities=bundles.has_identities(session(), g.study),
    )


@blueprint.get(f"{STUDY_ADDRESS}/bundle.zip")
@in_own_process
def bundle() -> ResponseReturnValue:
    """Stream the bundle; a header estimates its size for the progress bar."""
    require_results()
    include_test = "test" in request.args
    expected = bundles.estimate_bytes(session(), g.study, include_test=include_test)
    chunks = bundles.stream_bundle(
        session(),
        g.study,
        include_test=include_test,
        with_pictures="pictures" in request.args,
        address=settled_address("published.page"),
    )
    return attachment(chunks, "application/zip", f"{g.study.slug}.zip", expected)


@blueprint.post(f"{STUDY_ADDRESS}/bundle-with-identities.zip")
@in_own_process
@require_password
def bundle_with_identities() -> ResponseReturnValue:
    """Stream the bundle with the platforms' ids, and log the researcher's name."""
    require_results()
    if not Form().validate_on_submit():
        return redirect(url_for("researcher.export"), 303)
    accounts.log(session(), g.study, g.researcher.name, "exported", "bundle with identities")
    session().commit()
    chunks = bundles.stream_bundle(
        session(),
        g.study,
        with_identities=True,
        include_test="test" in request.form,
        address=settled_address("published.page"),
    )
    return attachment(chunks, "application/zip", f"{g.study.slug}-with-identities.zip")


@blueprint.get(f"{STUDY_ADDRESS}/files/<path:name>")
@in_own_process
def file(name: str) -> ResponseReturnValue:
    """Stream one file of the bundle."""
    require_results()
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
    upload = next(iter(chosen_files("bundle")), None)
    if form.validate_on_submit():
        if upload is None:
            form.bundle.errors = ["Choose the zip file of a bundle."]
            return form_page("researcher/import.html", form)
        try:
            content, file_name = io.BytesIO(upload.read()), str(upload.filename)
            files = input_files.open_files(content, file_name, LARGEST_UPLOAD_UNPACKED)
            erased: list[int] = []
            study = bundle_import.import_bundle(
                session(), files, file_name, form.slug.data or "", g.researcher, erased.append
            )
        except BundleError as error:
            faults = str(error).splitlines()
            text = f": {error}." if len(faults) == 1 else "; see below."
            form.bundle.errors = [f"The bundle was not imported{text}"]
        except SurveyError as error:
            form.slug.errors = [str(error)]
        else:
            flash("Everything in the bundle replicates. These are the results of its study.")
            for sentence in bundle_import.describe_erased(*erased):
                flash(sentence)
            return redirect(url_for("researcher.results", slug=study.slug), 303)
    return form_page("researcher/import.html", form, faults=faults)
