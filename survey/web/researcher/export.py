"""Export a study as a bundle or as single files, and import a bundle."""

import io
from collections.abc import Iterator

from flask import Response, flash, g, redirect, request, stream_with_context, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField
from wtforms import StringField

from survey.errors import SurveyError
from survey.services.accounts import access
from survey.services.exchange import bundle as bundles
from survey.services.exchange import bundle_import, input_files
from survey.services.exchange.input_files import BundleError
from survey.services.studies import lifecycle
from survey.web.auth.guard import require_password
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page


class ImportForm(Form):
    """A bundle, and the address of the study made from it."""

    bundle = FileField("Bundle (a zip file)")
    slug = StringField("Address here", filters=[lambda text: text and text.strip()])


@blueprint.get(f"{STUDY}/hand-out")
def export() -> ResponseReturnValue:
    """List the bundle's files."""
    lifecycle.require_results(g.study)
    return page(
        "export",
        files=bundles.file_names(session(), g.study),
        has_identities=bundles.has_identities(session(), g.study),
    )


@blueprint.get(f"{STUDY}/bundle.zip")
def bundle() -> ResponseReturnValue:
    """Stream the bundle; a header estimates its size for the progress bar."""
    lifecycle.require_results(g.study)
    include_test = "test" in request.args
    expected = bundles.bytes_in(session(), g.study, include_test=include_test)
    chunks = bundles.stream_bundle(session(), g.study, include_test=include_test)
    return _download(chunks, "application/zip", f"{g.study.slug}.zip", expected)


@blueprint.post(f"{STUDY}/bundle-with-identities.zip")
@require_password
def bundle_with_identities() -> ResponseReturnValue:
    """Stream the bundle with the platforms' ids, and log the researcher's name."""
    lifecycle.require_results(g.study)
    if not Form().validate_on_submit():
        return redirect(url_for("researcher.export"), 303)
    access.log(session(), g.study, g.researcher.name, "exported", "bundle with identities")
    session().commit()
    chunks = bundles.stream_bundle(
        session(), g.study, with_identities=True, include_test="test" in request.form
    )
    return _download(chunks, "application/zip", f"{g.study.slug}-with-identities.zip")


@blueprint.get(f"{STUDY}/files/<name>")
def file(name: str) -> ResponseReturnValue:
    """Stream one file of the bundle."""
    lifecycle.require_results(g.study)
    lines = bundles.stream_file(session(), g.study, name, include_test="test" in request.args)
    media_type = "application/json" if name.endswith(".json") else "text/csv"
    return _download((line.encode() for line in lines), media_type, f"{g.study.slug}-{name}")


@blueprint.get("/import")
def import_page() -> ResponseReturnValue:
    """Ask for a bundle."""
    return page("import", form=ImportForm())


@blueprint.post("/import")
def import_bundle() -> ResponseReturnValue:
    """Import a bundle as a read-only study if it replicates."""
    form = ImportForm()
    upload = request.files.get("bundle")
    if form.validate_on_submit():
        if upload is None or not upload.filename:
            form.bundle.errors = ["Choose the zip file of a bundle."]
        else:
            try:
                files = input_files.open_files(io.BytesIO(upload.read()), upload.filename)
                study = bundle_import.import_bundle(
                    session(), files, upload.filename, form.slug.data or "", g.researcher
                )
            except BundleError as error:
                form.bundle.errors = [f"The bundle does not replicate: {error}."]
            except SurveyError as error:
                form.slug.errors = [str(error)]
            else:
                flash("Everything in the bundle replicates. These are the results of its study.")
                return redirect(url_for("researcher.results", slug=study.slug), 303)
    return page("import", form=form, status=400)


def _download(
    chunks: Iterator[bytes], media_type: str, name: str, expected: int | None = None
) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if expected is not None:
        headers["X-Expected-Bytes"] = str(expected)
    return Response(stream_with_context(chunks), mimetype=media_type, headers=headers)
