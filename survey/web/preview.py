"""Preview a study as participants see it, with a watermark and without storing anything."""

from types import SimpleNamespace
from typing import Any

from flask import Blueprint, Response, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.exceptions import NotFound

from survey.services.participation import answers
from survey.services.participation.participants import PRACTICE
from survey.services.studies.languages import ENGLISH
from survey.services.studies.recruitment import recruitment_of
from survey.web import forms
from survey.web.forms import AnswerForm, Form
from survey.web.language import set_language
from survey.web.participant.asked_fields import closing_fields, personal_form
from survey.web.participant.entry import ConsentForm, ResumeForm
from survey.web.participant.practice import last_screen, screen_or_page, step_after_check
from survey.web.participant.questions import question_form
from survey.web.participant.trial import answer_or_page, question_page, trial_content
from survey.web.participant.visit import Credit, pages_of, picture_response, whole_text_page
from survey.web.requests import IN_OWN_FRAMES, session
from survey.web.researcher.pages import for_researchers

blueprint = for_researchers(
    Blueprint("preview", __name__, url_prefix="/research/studies/<slug>/preview")
)

ARM = "."  # between the label order and the arm in an address: 213.after
PAGES_BEFORE = ("entry", "consent", "about_you", "scenario")
CLOSING = "closing"
PAGES_AFTER = ("review", "done", "declined", "screened_out")
GROUP_FULL = "group_full"  # the page of those who are screened out by a quota
# The page after a button that on the real pages stores something.
AFTER_BUTTON = {"begin": "consent", "resume": "consent", "decline": "declined", "leave": "entry"}


@blueprint.app_template_global()
def question_picture(number: int) -> Markup:
    """Render a question as participants see it, without the page around it.

    The page that shows it, in English, is a researcher's.
    """
    pretend()
    g.is_picture = True
    try:
        html = _shown_question(number)[0] if number else last_screen()
    finally:
        g.plan = g.study.plan
        set_language(ENGLISH)
        for name in ("is_picture", "participant", "at"):
            g.pop(name, None)
    # An image in a folded part would be loaded at once otherwise.
    return Markup(html.replace("<img ", '<img loading="lazy" '))  # noqa: S704 # nosec B704 # our own template


@blueprint.before_request
def pretend() -> None:
    """Set the example participant, labels, arm and addresses that templates read."""
    shown = (request.view_args or {}).get("labels") or answers.usual_variant(g.plan)
    g.labels, _, g.arm = shown.partition(ARM)
    g.variant, g.variant_help = pages_of(g.plan).variant_words
    g.at = _address_of
    _use_arm()
    set_language(g.plan.language)
    g.participant = SimpleNamespace(
        public_id="P-PREVIEW",
        status="started",
        closing=None,
        consented_at=None,
        informed_at=None,
        receipt="0000-0000",
    )


@blueprint.after_request
def _allow_own_frames(response: Response) -> Response:
    """Let the page of the plan show a preview beside its form."""
    response.headers.update(IN_OWN_FRAMES)
    return response


@blueprint.app_template_global()
def is_framed() -> bool:
    """Return whether the browser asks for the page to show it in a frame."""
    return request.headers.get("Sec-Fetch-Dest") == "iframe"


@blueprint.app_template_global()
def is_saved() -> bool:
    """Return whether the page is written into a folder, where nothing else of the survey is."""
    return bool(g.get("is_saved"))


def _use_arm() -> None:
    """Show the plan as an arm meets it, the first by default; raise NotFound for an unknown arm."""
    g.arms = g.study.plan.arms
    g.arm = g.arm or (g.arms[0] if g.arms else "")
    if g.arm and g.arm not in g.arms:
        raise NotFound
    g.plan = g.study.plan.in_arm(g.arm or None)


def _address_of(page: str, position: int | None = None, **query: Any) -> str:
    if page in ("picture", "whole_text"):
        return url_for(f"preview.{page}", **query)
    steps = {name: query[name] for name in ("step", "again", "right") if name in query}
    labels = f"{g.labels}{ARM}{g.arm}" if g.arm else g.labels
    return url_for("preview.page", labels=labels, page=page, position=position, **steps)


@blueprint.app_template_global()
def preview_pages() -> list[tuple[str, str]]:
    """Return (address, name) of the pages that a preview shows, in their order."""
    numbers = range(1, g.study.plan.last_number + 1)
    return [
        *((_address_of(page), page.replace("_", " ")) for page in _pages_before()),
        *((_address_of("question", number), str(number)) for number in numbers),
        *((_address_of(page), page.replace("_", " ")) for page in _pages_after()),
    ]


def walk(arm: str) -> list[tuple[str, str]]:
    """Return (address, name of a file) of an arm's pages, "" without arms, in their order."""
    g.arm, g.plan = arm, g.study.plan
    _use_arm()
    screens = len(pages_of(g.plan).practice_screens(g.plan)) if g.plan.practice else 0
    steps = () if pages_of(g.plan).form(g.plan).takes_steps else range(2, screens + 1)
    pages = [(_address_of(page), file_name(page)) for page in _pages_before()]
    pages += [(_address_of("practice", step=step), file_name("practice", step)) for step in steps]
    numbers = range(1, g.study.plan.last_number + 1)
    pages += [
        (_address_of("question", number), file_name("question", number)) for number in numbers
    ]
    return pages + [(_address_of(page), file_name(page)) for page in _pages_after()]


def file_name(page: str, number: int = 0) -> str:
    """Return the name of a page in a folder."""
    return f"{page}-{number}.html" if number else f"{page.replace('entry', 'index')}.html"


@blueprint.get("/")
def entry() -> ResponseReturnValue:
    """Begin a preview, with the label order and the arm in the address or the plan's."""
    g.labels = request.args.get("labels") or g.labels
    g.arm = request.args.get("arm") or g.arm
    _use_arm()
    answers.preview(session(), g.study, 1, g.labels)  # refuses what the study does not have
    return redirect(_address_of("entry"))


@blueprint.route("/<labels>/<page>", endpoint="page", methods=["GET", "POST"])
@blueprint.route(
    "/<labels>/<page>/<int(max=999):position>", endpoint="page", methods=["GET", "POST"]
)
def participant_page(labels: str, page: str, position: int = PRACTICE) -> ResponseReturnValue:  # noqa: ARG001 - labels are in g
    """Show a page as participants see it; check a form as theirs does, but store nothing."""
    is_sent = request.method == "POST"
    if page == "practice" and g.plan.practice:
        sent = screen_or_page()
        return redirect(_address_of("question", 1), 303) if sent is None else sent
    if page == "question" and not (is_sent and _leads_on()):
        return _question_page(page, position)
    if is_sent and page == "check":
        return redirect(_address_of("practice", **step_after_check()), 303)
    if is_sent and page in AFTER_BUTTON:
        return redirect(_address_of(AFTER_BUTTON[page]), 303)
    if not is_sent and page not in (*PAGES_BEFORE, *_pages_after()):
        raise NotFound
    form = _form_of(page)
    if not is_sent or (page in (*PAGES_BEFORE, CLOSING) and not form.validate_on_submit()):
        return _plain_page(page, form)
    return redirect(_address_after(page, position), 303)


def _leads_on() -> bool:
    """Return whether a question's form leads on unchecked: by "Back", or as steps, not stored."""
    go = request.form.get("go")
    return go == "back" or (go is not None and pages_of(g.plan).form(g.plan).takes_steps)


@blueprint.get("/pictures/<size>/<name>.webp")
def picture(size: str, name: str) -> ResponseReturnValue:
    """Return a picture of the study, as its participants get it."""
    return picture_response(size, name)


@blueprint.get("/texts/<name>.html")
def whole_text(name: str) -> ResponseReturnValue:
    """Show a document's whole text, as participants get it."""
    return whole_text_page(name)


def _question_page(page: str, position: int) -> ResponseReturnValue:
    """Show a question, or the page before it until that was sent; go on from a valid form.

    An answer that may not mean what it says is asked back about, as on the real page.
    """
    question = answers.preview(session(), g.study, position, g.labels)
    g.plan = g.plan.for_question(position)
    template = pages_of(g.plan).question_template
    sent = answer_or_page(question, position, template, saved=position - 1)
    if isinstance(sent, AnswerForm):
        return redirect(_address_after(page, position), 303)
    return sent


def _shown_question(number: int) -> tuple[str, int]:
    """Render the page of a question with nothing filled in."""
    question = answers.preview(session(), g.study, number, g.labels)
    g.plan = g.plan.for_question(number)
    pages = pages_of(g.plan)
    return question_page(
        pages.question_template,
        question_form(number, formdata=None),
        pages.empty(g.plan),
        **trial_content(question, number, saved=number - 1),
    )


def _plain_page(page: str, form: Form) -> ResponseReturnValue:
    numbers = range(1, g.study.plan.last_number + 1) if page == "review" else ()
    stored = SimpleNamespace(answer=pages_of(g.plan).example_answer(), reason=None, beside=None)
    example = [
        SimpleNamespace(
            position=number,
            view=answers.preview(session(), g.study, number, g.labels),
            stored=stored,
        )
        for number in numbers
    ]
    is_full = page == GROUP_FULL
    return forms.form_page(
        f"participant/{'screened_out' if is_full else page}.html",
        form,
        progress=None,
        carried={},
        answers=example,
        pages=pages_of(g.plan),
        consent=g.study.consent_texts[-1],
        credit=_credit("screened_out" if is_full else page),
        is_full=is_full,
        total=g.study.plan.last_number,
    )


def _form_of(page: str) -> Form:
    if page == "about_you":
        return personal_form(g.plan.personal_fields)
    if page == CLOSING:
        return personal_form(closing_fields(g.plan))
    return {"entry": ResumeForm, "consent": ConsentForm}.get(page, Form)()


def _credit(page: str) -> Credit:
    settings = recruitment_of(g.study)
    code = settings.code_for({"done": "complete"}.get(page, page))
    return Credit(code, settings.return_address(code, {}))


def _pages_before() -> tuple[str, ...]:
    return (*PAGES_BEFORE, "practice") if g.plan.practice else PAGES_BEFORE


def _pages_after() -> tuple[str, ...]:
    pages = (CLOSING, *PAGES_AFTER) if g.plan.asked_at_end else PAGES_AFTER
    return (*pages, GROUP_FULL) if g.plan.quota_fields else pages


def _address_after(page: str, position: int) -> str:
    """Return the address of the next page, or of the previous question after "Back"."""
    back = request.form.get("go") == "back"
    if page == "question" and not back:
        last = position >= g.study.plan.last_number
        return _address_of(_pages_after()[0]) if last else _address_of("question", position + 1)
    if page == "question" and position > 1:
        return _address_of("question", position - 1)
    if page == _pages_before()[-1]:
        return _address_of("question", 1)
    order = (*_pages_before(), CLOSING, "review", "done")
    return _address_of(order[order.index(page) + 1] if page in order[:-1] else order[-1])
