"""Who is asking for a page of which study, and may they see it yet?"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any

from flask import Blueprint, current_app, g, redirect, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound

from survey import tokens
from survey.services.operations.database import begin_reading
from survey.services.participation import arrivals, participants
from survey.services.participation.participants import Step, Whereabouts, whereabouts
from survey.services.studies.recruitment import recruitment_of
from survey.web.language import set_language
from survey.web.requests import read_form, session

blueprint = Blueprint("participant", __name__, url_prefix="/s/<slug>")

View = Callable[..., ResponseReturnValue]
ENDS = (Step.DONE, Step.SCREENED_OUT, Step.STOPPED)
WAY = (Step.CONSENT, Step.ABOUT_YOU, Step.SCENARIO, Step.PRACTICE, Step.QUESTION, Step.REVIEW)


@blueprint.url_value_preprocessor
def _take_slug(_: str | None, values: dict[str, Any] | None) -> None:
    g.slug = (values or {}).pop("slug", None)


@blueprint.url_defaults
def _put_slug(_: str, values: dict[str, Any]) -> None:
    values.setdefault("slug", g.get("slug"))


# An answer is read and checked before it asks SQLite for the one place of a writer.
READING_FIRST = ("participant.answer_practice", "participant.answer_question")


@blueprint.before_request
def _begin_request() -> None:
    if request.method not in ("GET", "HEAD"):
        read_form()
    if request.method in ("GET", "HEAD") or request.endpoint in READING_FIRST:
        begin_reading(session())
    find_study_and_participant()


def find_study_and_participant() -> None:
    """Find whose page of which study was asked for; a study that never opened has none."""
    visit = arrivals.visit(session(), g.slug, str(cookie.get("id", "")))
    g.study, g.plan = visit.study, visit.study.plan
    if g.study.status == "draft":
        raise NotFound
    browser_token()  # from here on, this browser is known
    set_language(g.plan.language)
    g.participant, g.by_personal_link = visit.participant, visit.by_personal_link


@blueprint.app_context_processor
def _for_templates() -> dict[str, Any]:
    if g.get("participant") is None:
        return {}
    return {"resume_code": tokens.resume_code(secret_key(), g.participant.public_id)}


@blueprint.app_template_global()
def at(page: str, **values: Any) -> str:
    """Return the address of a participant's page; a preview puts its own in ``g.at``."""
    if "at" in g:
        return str(g.at(page, **values))
    return _address(request.script_root, g.slug, page, **values)


@lru_cache(maxsize=10_000)
def _address(_: str, slug: str, page: str, **values: Any) -> str:
    """Return what url_for does, which depends on the prefix of the request as well."""
    return url_for(f"participant.{page}", slug=slug, **values)


@blueprint.app_template_global()
def has_personal_link() -> bool:
    """Tell whether this participant can come back by a personal link."""
    if "at" in g:  # a preview shows what most will see
        return recruitment_of(g.study).access == "personal"
    return bool(g.by_personal_link)


def browser_token() -> str:
    """Return this browser's random id, the only thing its cookie holds beside the CSRF token."""
    if "id" not in cookie:
        cookie["id"] = secrets.token_urlsafe(32)
        cookie.permanent = True
    return str(cookie["id"])


def secret_key() -> str:
    """Return the server key, from which codes are derived."""
    return str(current_app.secret_key)


def reached(step: Step) -> Callable[[View], View]:
    """Let a view be used by participants who have come as far as ``step``.

    Others are led to where they are: to the entry without a participant, to the
    last page after the end, else to the first page they still have to see.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(**values: Any) -> ResponseReturnValue:
            if g.participant is None:
                return redirect(url_for("participant.entry"))
            place = g.place = whereabouts(session(), g.participant)
            if place.step in ENDS or WAY.index(_on_the_way(place.step)) < WAY.index(step):
                return redirect(address_of(place))
            participants.require_open(g.study.status)
            participants.require_slot(session(), g.study, g.participant)
            return view(**values)

        return guarded

    return decorate


@dataclass(frozen=True)
class Credit:
    """What the last page gives to someone: a code, and an address to go back to."""

    code: str
    address: str | None


def credit() -> Credit:
    """Return what a participant gets who ended the way they did."""
    settings = recruitment_of(g.study)
    code = settings.code_for(g.participant.status)
    sent = arrivals.identity_of(session(), g.participant)
    # A study without a code for this end must not credit it as another.
    address = (
        settings.return_address(code, sent) if code or "{code}" not in settings.return_url else None
    )
    return Credit(code, address)


def _on_the_way(step: Step) -> Step:
    return Step.CONSENT if step == Step.DECLINED else step


def go_on() -> ResponseReturnValue:
    """Redirect a participant to the next page they have to see, by what is stored by now."""
    find_study_and_participant()
    if g.participant is None:
        return redirect(url_for("participant.entry"), 303)
    return redirect(address_of(whereabouts(session(), g.participant)), 303)


def address_of(place: Whereabouts) -> str:
    """Return the address of a place in the survey."""
    if place.step == Step.QUESTION:
        return _address(request.script_root, g.slug, "question", position=place.position)
    return _address(request.script_root, g.slug, place.step.value)
