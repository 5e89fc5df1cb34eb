"""A study's own lists: uploaded as CSV, or taken from TREC qrels and runs."""

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
    """A CSV of ranked lists."""

    lists = FileField("CSV file")


class TrecForm(Form):
    """Judgements, runs, and the topics to ask about."""

    qrels = FileField("Judgements (qrels)")
    runs = MultipleFileField("Runs, two to ten")
    topics = StringField("Topics")
    collection_size = StringField("Collection size")
    clusters = FileField("Clusters")
    graded = BooleanField("Take the judgements' grades")
    missing_last = BooleanField(
        "Put relevant documents that a run did not return at the end of the collection"
    )


@blueprint.get(f"{STUDY}/lists")
def lists() -> ResponseReturnValue:
    """Show the two ways to bring lists."""
    lifecycle.require_draft(g.study)
    return _lists_page()


@blueprint.post(f"{STUDY}/lists")
def upload_lists() -> ResponseReturnValue:
    """Take the lists of a CSV."""
    form = ListsForm()
    return _use(form, form.lists, lambda: plans.from_csv(*_one_file("lists")), csv_form=form)


@blueprint.post(f"{STUDY}/lists/trec")
def upload_trec() -> ResponseReturnValue:
    """Take the lists of runs."""
    form = TrecForm()

    def read() -> Any:
        files = [file for file in request.files.getlist("runs") if file.filename]
        runs = [(str(file.filename), decoded(file.read(), str(file.filename))) for file in files]
        text, name = _one_file("qrels")
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

    return _use(form, form.qrels, read, trec_form=form)


def _use(form: Form, field: Any, read: Callable[[], Any], **forms: Form) -> ResponseReturnValue:
    """Give the draft the lists that are read, or show every fault they have."""
    lifecycle.require_draft(g.study)
    faults: tuple[str, ...] = ()
    if form.validate_on_submit():
        session().rollback()  # nobody's answer waits while files are read
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


def _one_file(name: str) -> tuple[str, str]:
    found = uploaded_text(name)
    if found is None:
        raise ValueError("Choose a file first")
    return found
