"""What the documents and topics of a study stand for: taken in, shown and removed."""

from flask import Response, flash, g, jsonify, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey.errors import NotFoundError, SurveyError
from survey.services.collections import items as collection
from survey.services.collections.item_files import tidy_path
from survey.services.studies import lifecycle
from survey.web.forms import Form, form_page
from survey.web.requests import in_own_process, session
from survey.web.researcher.pages import STUDY_ADDRESS, blueprint
from survey.web.uploads import UploadsField, chosen_files, counted_progress, forget, progress_by_now

PICTURES_SHOWN = 24


class ItemsForm(Form):
    """Pictures, zips of pictures, items.csv and topics.csv."""

    files = UploadsField("Pictures, or a zip of them")


@blueprint.get(f"{STUDY_ADDRESS}/items")
def items() -> ResponseReturnValue:
    """Show how many items and topics there are, with some of the pictures; as JSON the counts."""
    if request.accept_mimetypes.best == "application/json":
        counts = collection.items_summary(session(), g.study)
        return jsonify(counts | {"taking": progress_by_now(g.study.id)})
    return _items_page(ItemsForm(formdata=None))


@blueprint.post(f"{STUDY_ADDRESS}/items")
@in_own_process
def take_items() -> ResponseReturnValue:
    """Take files in; a script that sends some at a time gets JSON."""
    lifecycle.require_draft(g.study)
    form = ItemsForm()
    uploads = {
        tidy_path(str(file.filename)): file.stream for file in chosen_files("files", several=True)
    }
    intake = collection.Intake()
    if not form.validate_on_submit():
        return _items_page(form)
    if not uploads:
        form.files.errors = ["Choose some files first."]
        return _items_page(form)
    try:
        needed = collection.needed_items(session(), g.study)
        with collection.open_uploads(uploads, _part_of_files(), needed) as source:
            intake = source.intake
            if "check" not in request.form:
                with counted_progress(g.study.id) as on_item:
                    collection.take_in(
                        *(session(), g.study, source.files, source.items, g.researcher.name),
                        topics=source.topics,
                        intake=intake,
                        on_item=on_item,
                    )
    except SurveyError as error:
        form.files.errors = [str(error)]
    else:
        if "check" not in request.form:
            forget()
    if request.accept_mimetypes.best == "application/json":
        return jsonify(
            items=intake.items,
            topics=intake.topics,
            vectors=intake.vectors,
            refused=[f"{each.name}: {each.reason}" for each in intake.refusals],
            repeated=[f"{each.name}: {each.reason}" for each in intake.repeated],
            warnings=[each.text for each in intake.warnings],
            codes=[each.code for each in intake.warnings],
            files=[vars(report) for report in intake.files],
            errors=[*form.files.errors],
        )
    return _items_page(form, intake)


def _part_of_files() -> collection.RequestPart:
    """Return which part of the chosen files a script sends in this request."""
    return collection.RequestPart(
        elsewhere=request.form.get("elsewhere", "").splitlines(),
        is_later="later" in request.form,
        is_whole="part" not in request.form,
    )


@blueprint.post(f"{STUDY_ADDRESS}/items/remove")
def remove_items() -> ResponseReturnValue:
    """Remove all items, topics and pictures of a draft."""
    if Form().validate_on_submit():
        collection.remove_all(session(), g.study, g.researcher.name)
        flash("All items, topics and pictures are removed.")
    return redirect(url_for("researcher.items"), 303)


@blueprint.get(f"{STUDY_ADDRESS}/items/<sha256>.webp")
def thumbnail(sha256: str) -> ResponseReturnValue:
    """Return a picture of the study in the small size, for its researchers."""
    picture = collection.find_picture(session(), g.study, sha256)
    if picture is None:
        raise NotFoundError("There is no such picture.")
    return Response(picture.thumbnail, mimetype="image/webp")


def _items_page(form: ItemsForm, intake: collection.Intake | None = None) -> ResponseReturnValue:
    rows, topics = collection.items_and_topics(session(), g.study)
    return form_page(
        "researcher/items.html",
        form,
        intake=intake,
        warnings=collection.warning_sentences(intake.warnings) if intake else (),
        summary=collection.items_summary(session(), g.study),
        shown=collection.pictured(session(), g.study, rows)[:PICTURES_SHOWN],
        topics=topics,
        compared=lifecycle.compared_items(session(), g.study),
    )
