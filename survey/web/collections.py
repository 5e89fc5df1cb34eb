"""Public pages of collections with secret judgements, to which groups send runs.

They are known by their address alone: no page lists them.
"""

from base64 import b64encode
from pathlib import Path

from flask import Blueprint, current_app, request
from flask.typing import ResponseReturnValue
from wtforms import FileField, StringField
from wtforms.validators import InputRequired

from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.analysis.sheets import csv_lines, printed_table
from survey.services.collections import secret, submissions
from survey.services.collections.receipts import (
    Receipt,
    public_key,
    receipt_text,
    shown_sentences,
)
from survey.services.operations.database import begin_reading
from survey.web.forms import Form, errors_beside, form_page
from survey.web.language import and_join
from survey.web.requests import (
    attachment,
    bearer_token,
    external_address,
    in_own_process,
    read_form,
    session,
)

blueprint = Blueprint("collections", __name__, url_prefix="/collections")

LARGEST_REQUEST = 2**20  # bytes: a run, and the form around it


class RunForm(Form):
    """A run and the token of the group that sends it."""

    token = StringField(
        "Token",
        validators=[InputRequired("Type the token of your group.")],
        render_kw={"autocomplete": "off", "spellcheck": "false"},
    )
    run = FileField("Run", validators=[InputRequired("Choose the file of your run.")])


@blueprint.before_request
def _begin_request() -> None:
    if request.method != "POST":
        begin_reading(session())
        return
    session().rollback()
    request.max_content_length = LARGEST_REQUEST
    read_form()


@blueprint.get("/<name>", endpoint="page")
def collection(name: str) -> ResponseReturnValue:
    """Show topics, public judgements, baselines, how to send a run, and results at the end."""
    return _page(name, RunForm(formdata=None))


@blueprint.post("/<name>")
@in_own_process
def send(name: str) -> ResponseReturnValue:
    """Score the run of a form; show the feedback and the receipt."""
    form, receipt = RunForm(), None
    if form.validate_on_submit():
        with errors_beside(form.run), errors_beside(form.token, (NotAllowedError,)):
            receipt = _submit(name, form.token.data, form.run.data.read())
    return _page(name, form, receipt)


@blueprint.post("/<name>/runs")
@in_own_process
def take_run(name: str) -> ResponseReturnValue:
    """Score the run of `survey collection submit`; answer with the receipt as JSON."""
    try:
        return _submit(name, bearer_token(), request.get_data())
    except SurveyError as error:
        return {"error": str(error)}, 404 if isinstance(error, NotFoundError) else 403


@blueprint.get("/<name>/files/<file>")
def download(name: str, file: str) -> ResponseReturnValue:
    """Send the topics, the public judgements or, once revealed, the secret ones."""
    stored = secret.find_collection(session(), name)
    if file == "topics.csv":
        lines = csv_lines(("topic", "text", "judgements"), secret.topic_rows(stored))
        return attachment("".join(lines), "text/csv", file)
    if file == "judgements.txt":
        return attachment(secret.public_judgements(stored), "text/plain", file)
    if file == "secret-judgements.txt":
        return attachment(secret.committed_text(stored), "text/plain", file)
    raise NotFoundError("This collection has no such file.")


def _submit(name: str, token: str, content: bytes) -> Receipt:
    instance = Path(current_app.config["INSTANCE"])
    return submissions.submit(session(), instance, name, token, content)


def _page(name: str, form: RunForm, receipt: Receipt | None = None) -> ResponseReturnValue:
    stored = secret.find_collection(session(), name)
    is_closed = secret.is_closed(stored)
    return form_page(
        "collections/page.html",
        form,
        collection=stored,
        address=external_address("collections.page", name=name),
        measures=and_join(stored.measures),
        rows=secret.topic_rows(stored),
        limits=submissions.LIMITS,
        baselines=submissions.baselines_sheet(stored),
        results=submissions.results_sheet(stored) if is_closed else None,
        printed=printed_table,
        key=public_key(Path(current_app.config["INSTANCE"])),
        shown=shown_sentences(receipt) if receipt else (),
        receipt=receipt,
        receipt_link=_link(receipt) if receipt else "",
    )


def _link(receipt: Receipt) -> str:
    """Return a link that holds the receipt itself: its address on the server would be public."""
    return f"data:application/json;base64,{b64encode(receipt_text(receipt).encode()).decode()}"
