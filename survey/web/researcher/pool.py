"""Pool several studies in the browser, as ``survey pool`` does; no result is stored."""

import io
from typing import Any

from flask import g, jsonify, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, SelectMultipleField

from survey.errors import SurveyError
from survey.services import accounts
from survey.services.analysis.paper_files import FIGURE_INCHES, PAPER, TABLE_POINTS, read_look
from survey.services.analysis.pooled import Pooling
from survey.services.analysis.report import expected_bytes, report_files
from survey.services.analysis.results import as_svg
from survey.services.analysis.sheets import printed_table
from survey.services.exchange.bundle import stream_bundle, stream_zip_of_bytes
from survey.services.exchange.input_files import Files, open_files
from survey.services.exchange.pooling import PoolingError, pool_bundles
from survey.services.operations.database import begin_reading
from survey.web.forms import Form, form_page
from survey.web.requests import attachment, in_own_process, session
from survey.web.researcher.pages import LARGEST_UPLOAD_UNPACKED, blueprint
from survey.web.uploads import (
    UploadsField,
    chosen_files,
    counted_progress,
    keep,
    progress_by_now,
)

POOL = 0  # in place of a study's number, of which there is none
TICKS = {
    "--same-design": "The studies drew their questions by different seeds",
    "--include-test": "Count simulated participants as well",
}


class PoolForm(Form):
    """Bundles and studies of this instance, and how they are pooled."""

    bundle = UploadsField("Bundles (zip files)")
    study = SelectMultipleField("Studies here")
    same_design = BooleanField(TICKS["--same-design"])
    include_test = BooleanField(TICKS["--include-test"])


@blueprint.get("/pool")
def pool() -> ResponseReturnValue:
    """Ask for studies; to a script, say how many of them are computed by now."""
    if request.accept_mimetypes.best == "application/json":
        return jsonify(done=progress_by_now(POOL))
    return _page(_form(formdata=None))


@blueprint.post("/pool")
@in_own_process
def pool_studies() -> ResponseReturnValue:
    """Pool the chosen studies; show what they say, or send all of it as a zip."""
    form = _form()
    results = _pooled(form) if form.validate_on_submit() else None
    if results is None:
        return _page(form)
    if "download" in request.form:
        try:
            look = read_look(request.form)
        except SurveyError as error:
            keep(form)
            return _page(form, 400, look_fault=str(error))
        chunks = stream_zip_of_bytes(report_files(results, look))
        return attachment(chunks, "application/zip", "pooled.zip", expected_bytes(results))
    keep(form)  # else the download would need the files to be chosen again
    return _page(form, results=results, as_svg=as_svg, printed=printed_table)


def _of_page(text: str) -> str:
    """Return a reason in which options of the command are the page's own."""
    for option, field in TICKS.items():
        text = text.replace(option, f"“{field}”")
    return text


def _form(**values: Any) -> PoolForm:
    form = PoolForm(**values)
    form.study.choices = [(study.slug, study.plan.title) for study in _studies()]
    return form


def _studies() -> list[Any]:
    """List the researcher's closed studies."""
    studies = accounts.studies_of(session(), g.researcher)
    return [study for study, _ in studies if study.is_readable and study.status == "closed"]


def _page(form: PoolForm, status: int | None = None, **content: object) -> ResponseReturnValue:
    widths = {"figure_inches": FIGURE_INCHES, "table_points": TABLE_POINTS}
    languages = {study.slug: study.plan.language for study in _studies()}
    content = {"languages": languages, **widths, **content}
    return form_page("researcher/pool.html", form, status, look=PAPER, **content)


def _pooled(form: PoolForm) -> Pooling | None:
    """Return what the chosen studies say; None after adding errors to the form's fields."""
    bundles: list[Files] = []
    names: list[str] = []
    faults: dict[str, list[str]] = {}
    for file in chosen_files("bundle", several=True):
        names.append(str(file.filename))
        try:
            content = io.BytesIO(file.read())
            bundles.append(open_files(content, names[-1], LARGEST_UPLOAD_UNPACKED))
        except SurveyError as error:
            faults[names[-1]] = str(error).splitlines()
    for study in _studies():
        if study.slug in (form.study.data or ()):
            names.append(study.slug)
            chunks = stream_bundle(session(), study, include_test=form.include_test.data)
            bundles.append(open_files(io.BytesIO(b"".join(chunks)), study.slug))
    session().rollback()  # else participants' answers would wait until all is computed
    try:
        if len(names) < 2:
            form.bundle.errors = ["Choose two or more studies: bundles, studies here, or both."]
        elif not faults:
            with counted_progress(POOL) as on_done:
                return pool_bundles(
                    bundles,
                    names,
                    same_design=form.same_design.data,
                    include_test=form.include_test.data,
                    on_done=on_done,
                )
    except PoolingError as error:
        faults = {names[place]: [*map(_of_page, why)] for place, why in error.faults.items()}
    finally:
        begin_reading(session())
    form.bundle.faults = faults
    own = [name for name in faults if name in (form.study.data or ())]
    if set(faults) - set(own):
        form.bundle.errors = [
            "Not all of these bundles can be pooled: see the reasons beside them."
        ]
    if own:
        form.study.errors = ["Not all of these studies can be pooled: see the reasons beside them."]
    return None
