"""The blueprint of researchers' pages: finds the study, checks the role, renders templates."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

from flask import Blueprint, Response, g, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape
from wtforms import (
    BooleanField,
    Field,
    HiddenField,
    SelectChoice,
    SelectMultipleField,
    StringField,
)

from survey.core.studies.fields import Fault
from survey.core.text_input import parse_whole
from survey.services import accounts
from survey.services.analysis.results import image_of
from survey.services.exchange.input_files import text_in
from survey.services.operations import guides
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import Reading, TextFile, id_changes
from survey.web.auth import require_sign_in
from survey.web.forms import Form
from survey.web.requests import View, session, take_slug
from survey.web.uploads import chosen_files, forget_used

if TYPE_CHECKING:
    from survey.db.models import Event
    from survey.figures.exhibit import Exhibit

STUDY_ADDRESS = "/studies/<slug>"
NAME_IN_FILES = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b")
HIGHEST_LEVEL = 30
LARGEST_UPLOAD_UNPACKED = 50_000_000  # bytes of a compressed upload; more on the command line


def for_researchers(blueprint: Blueprint) -> Blueprint:
    """Restrict a blueprint to signed-in researchers, each to the studies shared with them."""
    take_slug(blueprint)
    blueprint.before_request(require_sign_in)
    blueprint.before_request(_find_study)
    return blueprint


def _find_study() -> None:
    """Put study, role and plan into ``g``; raise NotAllowedError for a viewer who posts.

    Viewers may post the forms of a preview, which stores nothing.
    """
    if g.slug is None:
        return
    g.study, g.role = accounts.study_of(session(), g.researcher, g.slug)
    g.plan = g.study.plan
    if request.method not in ("GET", "HEAD") and request.blueprint != "preview":
        accounts.require_owner(g.role)


blueprint = for_researchers(Blueprint("researcher", __name__, url_prefix="/research"))
blueprint.after_request(forget_used)


def whole_number_in(field: Field, highest: int) -> int | None:
    """Return the number in a field, None where it is empty, or after adding an error to it."""
    text = (field.data or "").strip()
    number = parse_whole(text, 1, highest)
    if text and number is None:
        field.errors = [f"{text!r} found; a whole number from 1 to {highest:,} is allowed."]
    return number


class ReadingFields:
    """The fields that say how judgements and runs are meant; a base of forms."""

    ids = SelectMultipleField(
        "Compare documents without these differences of their ids",
        choices=[
            SelectChoice(name, f"{words[0].upper()}{words[1:]} (--ids {name})")
            for name, words in id_changes().items()
        ],
    )
    distances = BooleanField("Scores are distances: the smallest is the best (--scores distances)")
    relevant_from = StringField("Lowest grade that counts as relevant", default="1")

    def reading(self) -> Reading:
        """Return what was chosen; adds an error to a field that is wrong."""
        level = whole_number_in(self.relevant_from, HIGHEST_LEVEL)
        return Reading(tuple(self.ids.data or ()), self.distances.data, level or 1)


class VersionedForm(Form):
    """A form that sends along which version of the plan or the settings its page showed."""

    version = HiddenField()


@dataclass(frozen=True)
class Conflict:
    """What another researcher has saved since a form was opened, beside what was typed.

    ``rows``: (field, text saved, text typed). ``event``: the last one of the log that says who
    changed it, None if it was changed otherwise.
    """

    rows: list[tuple[str, str, str]]
    event: "Event | None"

    @classmethod
    def between(
        cls, form: Form, saved: Mapping[str, object], typed: Mapping[str, object], event_type: str
    ) -> "Conflict":
        """Compare two versions; ``event_type``: of the event of such a change."""
        rows = [
            (form[name].label.text if name in form else name, old, new)
            for name, old, new in plans.plan_differences(saved, typed)
        ]
        events = accounts.events_of(session(), g.study)
        event = next((event for event in events if event.kind == event_type), None)
        return cls(rows, event)


@blueprint.app_template_filter()
def with_code(text: str) -> Markup:
    """Return a text in which what stands between backquotes is marked as code."""
    parts = text.split("`")
    marked = [
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    ]
    return Markup("").join(marked)


@blueprint.app_template_global()
def term(word: str, text: str = "") -> Markup:
    """Return a word of the glossary, shown as ``text``, with its meaning on hover and focus.

    Only the first one on a page has it. A word that is not in the glossary is text alone.
    """
    explained: set[str] = g.setdefault("explained_terms", set())
    meaning = None if word in explained else guides.glossary().get(word)
    if meaning is None:
        return escape(text or word)
    explained.add(word)
    return Markup(
        '<span class="term"><button type="button" aria-describedby="term-{0}">{1}</button>'
        '<span class="meaning" role="tooltip" id="term-{0}">{2}</span></span>'
    ).format(word.replace(" ", "-"), text or word, meaning[0].upper() + meaning[1:])


def as_sentence(text: str, form: Form) -> str:
    """Return a fault with the labels of the form's fields in place of their names in files."""

    def label(name: re.Match[str]) -> str:
        return f"“{form[name[0]].label.text}”" if name[0] in form else name[0]

    text = NAME_IN_FILES.sub(label, text)
    return f"{text[0].upper()}{text[1:]}."


def put_beside(form: Form, faults: Iterable[Fault], otherwise: str = "") -> None:
    """Show each fault beside the field that it is about; of other fields beside ``otherwise``."""
    for fault in faults:
        name = str(fault.place[0])
        field = form[otherwise if otherwise and name not in form else name]
        field.errors = [*field.errors, as_sentence(fault.text, form)]


def not_for_imported(view: View) -> View:
    """Decorate a view so that it refuses imported studies, in which people cannot take part."""

    @wraps(view)
    def guarded(**values: object) -> ResponseReturnValue:
        lifecycle.require_not_imported(g.study)
        return view(**values)

    return guarded


def image_response(exhibit: "Exhibit") -> Response:
    """Return a figure as an image; browsers keep it under its digest, which the address names."""
    svg = image_of(exhibit, dark=request.args.get("theme") == "dark")
    response = Response(svg, mimetype="image/svg+xml")
    if request.args.get("digest") == exhibit.digest:
        response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def has_valid_token() -> bool:
    """Whether the posted form comes from one of our pages; for forms of a single button."""
    return bool(Form().validate_on_submit())


def uploaded_text(name: str) -> tuple[str, str] | None:
    """Return (text, file name) of an uploaded file, None if the field is empty.

    Raises ValueError for a file that is not UTF-8 text.
    """
    files = uploaded_files(name)
    return (files[0].text, files[0].name) if files else None


def uploaded_files(name: str, *, several: bool = False) -> list[TextFile]:
    """Return the files of a field, chosen or kept; raises ValueError for what is no text.

    ``several``: see ``chosen_files``.
    """
    files = []
    for file in chosen_files(name, several=several):
        content, file_name = file.read(), str(file.filename)
        digest = hashlib.sha256(content).hexdigest()
        files.append(TextFile(file_name, decoded(content, file_name), digest))
    return files


def decoded(content: bytes, file: str) -> str:
    """Return the text of a file, as on the command line; raises ValueError for what is none."""
    return text_in(content, file, LARGEST_UPLOAD_UNPACKED)
