"""Who asks for which study's page, and may they?"""

import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Blueprint, current_app, g, render_template, request
from flask.typing import ResponseReturnValue

from survey.services.accounts import access
from survey.services.studies import lifecycle
from survey.services.text_files import GZIPPED
from survey.web.auth.guard import require_sign_in
from survey.web.forms import Form
from survey.web.requests import session

STUDY = "/studies/<slug>"
LARGEST_UNPACKED = 50_000_000  # bytes of an uploaded file that was gzipped
View = Callable[..., ResponseReturnValue]


def take_slug(_: str | None, values: dict[str, Any] | None) -> None:
    """Take the study's address out of a view's values."""
    g.slug = (values or {}).pop("slug", None)


def put_slug(endpoint: str, values: dict[str, Any]) -> None:
    """Put the study's address into links that need it."""
    if current_app.url_map.is_endpoint_expecting(endpoint, "slug"):
        values.setdefault("slug", g.get("slug"))


def find_study() -> None:
    """Find the study among the researcher's, and let only owners change it.

    A preview may be filled in by viewers too: it stores nothing.
    """
    if g.slug is None:
        return
    g.study, g.role = access.study_of(session(), g.researcher, g.slug)
    g.plan = g.study.plan
    if request.method not in ("GET", "HEAD") and request.blueprint != "preview":
        access.require_owner(g.role)


def for_researchers(made: Blueprint) -> Blueprint:
    """Show a blueprint's pages to those who are signed in, each only their studies'."""
    made.url_value_preprocessor(take_slug)
    made.url_defaults(put_slug)
    made.before_request(require_sign_in)
    made.before_request(find_study)
    return made


blueprint = for_researchers(Blueprint("researcher", __name__, url_prefix="/research"))


def run_here_only(view: View) -> View:
    """Let a view be used for studies that people can take part in here, not for imported ones."""

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:
        lifecycle.require_run_here(g.study)
        return view(**values)

    return guarded


def page(
    template: str, *, form: Form | None = None, status: int = 200, **content: Any
) -> ResponseReturnValue:
    """Render a researcher's page; a form's problems stand at its top."""
    form = form or Form(formdata=None)
    shown = render_template(
        f"researcher/{template}.html", form=form, problems=form.problems, **content
    )
    return shown, status


def pressed() -> bool:
    """Tell whether a button was pressed on one of our pages: its form's token is right."""
    return bool(Form().validate_on_submit())


def secret_key() -> str:
    """Return the server key, from which links are derived."""
    return str(current_app.secret_key)


def uploaded_text(name: str) -> tuple[str, str] | None:
    """Return (text, file name) of an uploaded file; None when none was chosen.

    Raises ValueError for a file that is no UTF-8 text.
    """
    file = request.files.get(name)
    if file is None or not file.filename:
        return None
    return decoded(file.read(), file.filename), file.filename


def decoded(content: bytes, file: str) -> str:
    """Read a file's bytes as UTF-8, or raise ValueError naming the file and the place.

    A gzipped file is unpacked, as the command line does.
    """
    if content.startswith(GZIPPED):
        content = _unpacked(content, file)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{file} is no text in UTF-8 (byte {error.start + 1}); save it as UTF-8"
        ) from error


def _unpacked(content: bytes, file: str) -> bytes:
    """Unpack a gzipped file, which may not grow beyond all bounds."""
    unpacking = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacking.decompress(content, LARGEST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"{file} begins like a gzip file, but is none") from error
    if not unpacking.eof:
        most = LARGEST_UNPACKED // 1_000_000
        raise ValueError(f"{file} is cut off, or holds more than {most} MB unpacked")
    return unpacked
