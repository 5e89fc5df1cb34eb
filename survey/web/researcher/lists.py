"""A study's own lists, uploaded as CSV or as TREC judgements and runs."""

from collections.abc import Callable
from typing import Any

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, MultipleFileField
from wtforms import BooleanField, StringField

from survey.core.studies.faults import PlanError
from survey.errors import SurveyError
from survey.services.studies import lifecycle, plans
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, decoded, page, uploaded_text


class ListsForm(Form):
    """A CSV file of ranked lists."""

    lists = FileField("CSV file")


class TrecForm(Form):
    """Judgements and runs as TREC files, the topics to ask about, and what to show of them."""

    qrels = FileField("Judgements (qrels)")
    runs = MultipleFileField("Runs, two to ten")
    topics = StringField("Topics")
    collection_size = StringField("Collection size")
    clusters = FileField("Clusters")
    graded = BooleanField("Use the judgements' grades")
    missing_last = BooleanField(
        "Put relevant documents that a run did not return at the end of the collection"
    )


@blueprint.get(f"{STUDY}/lists")
def lists() -> ResponseReturnValue:
    """Show the forms for a CSV file and for TREC files."""
    lifecycle.require_draft(g.study)
    return _lists_page()


@blueprint.post(f"{STUDY}/lists")
def upload_lists() -> ResponseReturnValue:
    """Replace the draft's lists by those of a CSV file."""
    form = ListsForm()
    return _use_lists(
        form, form.lists, lambda: plans.from_csv(*_required_file("lists")), csv_form=form
    )


@blueprint.post(f"{STUDY}/lists/trec")
def upload_trec() -> ResponseReturnValue:
    """Replace the draft's lists by those of TREC runs."""
    form = TrecForm()

    def read() -> Any:
        files = [file for file in request.files.getlist("runs") if file.filename]
        runs = [(str(file.filename), decoded(file.read(), str(file.filename))) for file in files]
        text, name = _required_file("qrels")
        clusters = uploaded_text("clusters")
        return plans.from_trec(
            (name, text),
            runs,
            topics=(form.topics.data or "").replace(",", " ").split(),
            collection_size=form.collection_size.data or "",
            missing_last=form.missing_last.data,
            graded=form.graded.data,
            clusters=clusters and clusters[::-1],
        )

    return _use_lists(form, form.qrels, read, trec_form=form)


def _required_file(name: str) -> tuple[str, str]:
    uploaded = uploaded_text(name)
    if uploaded is None:
        raise ValueError("Choose a file first")
    return uploaded


def _use_lists(
    form: Form, field: Any, read: Callable[[], Any], **forms: Form
) -> ResponseReturnValue:
    """Store the lists that ``read`` returns, or show all faults in them."""
    lifecycle.require_draft(g.study)
    faults: tuple[str, ...] = ()
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the files are read
        try:
            plan = plans.with_lists(g.plan, read())
            lifecycle.change_plan(session(), g.study, plan, g.researcher.name)
        except plans.FaultyFilesError as error:
            faults = error.faults
        except PlanError as error:
            faults = tuple(fault.text for fault in error.faults)
        except (SurveyError, ValueError) as error:
            faults = (str(error),)
        else:
            flash("The study now asks about your lists. Check that its texts fit them.")
            return redirect(url_for("researcher.check"), 303)
        field.errors = ["The lists cannot be used; see below."]
    return _lists_page(form=form, faults=faults, status=400, **forms)


def _lists_page(
    form: Form | None = None, faults: tuple[str, ...] = (), status: int = 200, **forms: Form
) -> ResponseReturnValue:
    forms = {"csv_form": ListsForm(formdata=None), "trec_form": TrecForm(formdata=None)} | forms
    return page("lists", form=form, faults=faults, status=status, **forms)
