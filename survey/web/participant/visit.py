"""The study and participant of a request, which page comes next, and the pages of each kind.

The pages that a kind of question adds are registered by its name: forms, templates, and answers
in words. The views that all kinds share are in ``questions``.
"""

import re
import secrets
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

from flask import Blueprint, Response, g, redirect, render_template, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound

from survey import tokens
from survey.core.kinds import KINDS
from survey.core.studies.plan import Plan, TaskQuestion
from survey.errors import NotFoundError
from survey.services.collections import items
from survey.services.operations.database import begin_page
from survey.services.participation import participants
from survey.services.participation.participants import ParticipantStep, Progress, progress_of
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, form_page
from survey.web.language import set_language
from survey.web.participant.kind_pages import KindPages
from survey.web.requests import (
    View,
    current_address,
    read_form,
    secret_key,
    session,
    take_slug,
)

blueprint = Blueprint("participant", __name__, url_prefix="/s/<slug>")
take_slug(blueprint)

ENDS = (ParticipantStep.DONE, ParticipantStep.SCREENED_OUT, ParticipantStep.STOPPED)
WAY = (
    *(ParticipantStep.CONSENT, ParticipantStep.ABOUT_YOU, ParticipantStep.SCENARIO),
    *(
        ParticipantStep.PRACTICE,
        ParticipantStep.QUESTION,
        ParticipantStep.WAITING,
        ParticipantStep.CLOSING,
        ParticipantStep.REVIEW,
    ),
)

AFTER = "after"  # of an address: the question that was answered before, see ``address_of``

# SQLite has one writer at a time: an answer is checked before it takes the write lock.
READING_FIRST = ("participant.answer_question",)


@blueprint.before_request
def _begin_request() -> None:
    if request.method not in ("GET", "HEAD"):
        read_form()
    if request.method in ("GET", "HEAD") or request.endpoint in READING_FIRST:
        begin_page(session())
    find_study_and_participant()


def find_study_and_participant() -> None:
    """Set ``g.study`` and ``g.participant``; raise NotFound for a draft."""
    visit = participants.visit(session(), g.slug, str(cookie.get("id", "")))
    if visit.study.status == "draft":
        raise NotFound
    g.study = visit.study
    g.plan = visit.study.plan.in_arm(visit.participant.arm if visit.participant else None)
    browser_token()  # sets the cookie
    set_language(g.plan.language)
    g.participant, g.by_personal_link = visit.participant, visit.by_personal_link


@blueprint.before_app_request
def _find_study_of_no_page() -> None:
    """Answer an address that is no page of an existing study in its language, with its contact."""
    within = re.match("/s/([^/]+)/", request.path) if request.routing_exception else None
    if within is None:
        return
    with suppress(NotFoundError):
        study = participants.visit(begin_page(session()), within[1], "").study
        if study.status != "draft":
            set_language(study.plan.language)
            g.slug, g.plan = within[1], study.plan


@blueprint.app_context_processor
def _for_templates() -> dict[str, str]:
    if g.get("participant") is None:
        return {}
    return {"resume_code": tokens.resume_code(secret_key(), g.participant.public_id)}


@blueprint.app_template_global()
def at(page: str, **values: Hashable) -> str:
    """Return the address of a participant's page; a preview sets ``g.at`` to its own."""
    if "at" in g:
        return str(g.at(page, **values))
    return _address(request.script_root, g.slug, page, **values)


@lru_cache(maxsize=10_000)
def _address(_: str, slug: str, page: str, **values: Any) -> str:
    """Return an address from url_for, cached for each prefix of the application."""
    return url_for(f"participant.{page}", slug=slug, **values)


def picture_response(size: str, name: str) -> Response:
    """Return a picture of the study in a size, "small" or "large"; raise NotFound for another's.

    Browsers keep it: what a name refers to never changes.
    """
    if size not in ("small", "large"):
        raise NotFound
    content = items.find_named_picture(session(), g.study, name, larger=size == "large")
    if content is None:
        raise NotFound
    response = Response(content, mimetype="image/webp")
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    return response


def whole_text_page(name: str) -> str:
    """Return the page of a document's whole text, by its random name; raise NotFound for others."""
    item = items.find_named_texts(session(), g.study, name)
    if item is None:
        raise NotFound
    return render_template("participant/whole_text.html", item=item)


@blueprint.app_template_global()
def has_personal_link() -> bool:
    """Return whether this participant can return with a personal link."""
    if "at" in g:  # a preview, which has no participant
        return recruitment_of(g.study).access == "personal"
    return bool(g.by_personal_link)


def browser_token() -> str:
    """Return the random id in this browser's cookie, and set it if it is missing."""
    if "id" not in cookie:
        cookie["id"] = secrets.token_urlsafe(32)
        cookie.permanent = True
    return str(cookie["id"])


def requires(step: ParticipantStep) -> Callable[[View], View]:
    """Return a decorator that admits participants to a view who have come as far as ``step``.

    Others are redirected: to the entry without a participant, to their last page after the end,
    else to their next page.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked_view(**values: object) -> ResponseReturnValue:
            if g.participant is None:
                return redirect(url_for("participant.entry"))
            progress = g.progress = progress_of(session(), g.plan, g.participant)
            # Those who declined may still agree.
            reached = (
                ParticipantStep.CONSENT
                if progress.step == ParticipantStep.DECLINED
                else progress.step
            )
            if reached in ENDS or WAY.index(reached) < WAY.index(step):
                return redirect(address_of(progress))
            participants.require_open(g.study.status)
            participants.require_slot(session(), g.study, g.participant)
            return view(**values)

        return checked_view

    return decorate


@dataclass(frozen=True)
class Credit:
    """What the last page shows for a platform: a code, and an address to return to."""

    code: str
    address: str | None


def credit() -> Credit:
    """Return the code and address for the participant's status."""
    settings = recruitment_of(g.study)
    code = settings.code_for(g.participant.status)
    sent = participants.identity_of(session(), g.participant)
    # An address without its code could credit another status.
    address = (
        settings.return_address(code, sent) if code or "{code}" not in settings.return_url else None
    )
    return Credit(code, address)


def not_pressed(button: str) -> ResponseReturnValue | None:
    """Return the page on which to press a form's one button again; None if the form is valid.

    ``button``: its words.
    """
    form = Form()
    if form.validate_on_submit():
        return None
    fields = [one for one in request.form.items(multi=True) if one[0] != "csrf_token"]
    return form_page(
        "participant/pressed.html", form, address=current_address(), fields=fields, button=button
    )


def last_page(step: ParticipantStep, template: str) -> ResponseReturnValue:
    """Render the page at which participants end with a step; lead others to their own page."""
    if g.participant is None:
        return redirect(url_for("participant.entry"))
    progress = progress_of(session(), g.plan, g.participant)
    if progress.step != step:
        return redirect(address_of(progress))
    is_full = step == ParticipantStep.SCREENED_OUT and participants.is_over_quota(
        session(), g.participant
    )
    return render_template(template, form=Form(), credit=credit(), is_full=is_full)


def go_on() -> ResponseReturnValue:
    """Redirect a participant to their next page, by what is stored now."""
    find_study_and_participant()
    if g.participant is None:
        return redirect(url_for("participant.entry"), 303)
    return redirect(address_of(progress_of(session(), g.plan, g.participant)), 303)


def address_of(progress: Progress, after: int | None = None) -> str:
    """Return the address of a participant's next page.

    ``after``: the position of a question; the page says how its answer counts.
    """
    values: dict[str, int | None] = {} if after is None else {AFTER: after}
    if progress.step == ParticipantStep.QUESTION:
        values["position"] = progress.position
        return _address(request.script_root, g.slug, "question", **values)
    return _address(request.script_root, g.slug, progress.step.value, **values)


def pages_of(plan: Plan) -> KindPages[Plan, TaskQuestion, object, object]:
    """Return the pages of a plan's kind of question."""
    pages: KindPages[Plan, TaskQuestion, object, object] = KINDS[plan.kind]
    return pages
