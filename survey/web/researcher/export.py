"""Handing a study out: the bundle, its files one by one; and taking a bundle in."""

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
    """A bundle, and the address its study gets here."""

    bundle = FileField("Bundle (a zip file)")
    slug = StringField("Address here", filters=[lambda text: text and text.strip()])


@blueprint.get(f"{STUDY}/hand-out")
def hand_out() -> ResponseReturnValue:
    """List the bundle's files."""
    lifecycle.require_results(g.study)
    return page(
        "hand_out",
        files=bundles.file_names(session(), g.study),
        has_identities=bundles.has_identities(session(), g.study),
    )


@blueprint.get(f"{STUDY}/bundle.zip")
def bundle() -> ResponseReturnValue:
    """Stream the bundle; a header says about how many bytes will come."""
    lifecycle.require_results(g.study)
    include_test = "test" in request.args
    expected = bundles.bytes_in(session(), g.study, include_test=include_test)
    pieces = bundles.stream_bundle(session(), g.study, include_test=include_test)
    return _download(pieces, "application/zip", f"{g.study.slug}.zip", expected)


@blueprint.post(f"{STUDY}/bundle-with-identities.zip")
@require_password
def bundle_with_identities() -> ResponseReturnValue:
    """Stream the bundle with the platforms' ids; who took it is logged."""
    lifecycle.require_results(g.study)
    if not Form().validate_on_submit():
        return redirect(url_for("researcher.hand_out"), 303)
    access.log(session(), g.study, g.researcher.name, "exported", "bundle with identities")
    session().commit()
    pieces = bundles.stream_bundle(
        session(), g.study, with_identities=True, include_test="test" in request.form
    )
    return _download(pieces, "application/zip", f"{g.study.slug}-with-identities.zip")


@blueprint.get(f"{STUDY}/files/<name>")
def file(name: str) -> ResponseReturnValue:
    """Stream one file of the bundle."""
    lifecycle.require_results(g.study)
    lines = bundles.stream_file(session(), g.study, name, include_test="test" in request.args)
    kind = "application/json" if name.endswith(".json") else "text/csv"
    return _download((line.encode() for line in lines), kind, f"{g.study.slug}-{name}")


@blueprint.get("/import")
def import_page() -> ResponseReturnValue:
    """Ask for a bundle."""
    return page("import", form=ImportForm())


@blueprint.post("/import")
def import_bundle() -> ResponseReturnValue:
    """Take a bundle in that replicates, to be looked at."""
    form = ImportForm()
    uploaded = request.files.get("bundle")
    if form.validate_on_submit():
        if uploaded is None or not uploaded.filename:
            form.bundle.errors = ["Choose the zip file of a bundle."]
        else:
            try:
                files = input_files.open_files(io.BytesIO(uploaded.read()), uploaded.filename)
                study = bundle_import.take_in(
                    session(), files, uploaded.filename, form.slug.data or "", g.researcher
                )
            except BundleError as error:
                form.bundle.errors = [f"The bundle does not replicate: {error}."]
            except SurveyError as error:
                form.slug.errors = [str(error)]
            else:
                flash("The bundle replicates in everything. Its study can be looked at here.")
                return redirect(url_for("researcher.results", slug=study.slug), 303)
    return page("import", form=form, status=400)


def _download(
    pieces: Iterator[bytes], kind: str, name: str, expected: int | None = None
) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if expected is not None:
        headers["X-Expected-Bytes"] = str(expected)
    return Response(stream_with_context(pieces), mimetype=kind, headers=headers)
