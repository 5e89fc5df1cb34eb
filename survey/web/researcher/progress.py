"""Watching a study: who is where; excluding a participant, and including them again."""

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey.core.stimuli.faults import is_storable
from survey.services import life
from survey.services.errors import SurveyError
from survey.services.watching import Watch, find_participant, watch
from survey.web.database import session
from survey.web.researcher.pages import STUDY, blueprint, page, pressed


@blueprint.get(f"{STUDY}/progress")
def progress() -> ResponseReturnValue:
    """Show who has started, where they are, and how many are done."""
    return page("progress", watch=_looked_at())


@blueprint.get(f"{STUDY}/progress/live")
def live() -> ResponseReturnValue:
    """Show the part of the page that changes by itself."""
    return page("_live", watch=_looked_at())


@blueprint.post(f"{STUDY}/participants/<public_id>/exclude")
def exclude(public_id: str) -> ResponseReturnValue:
    """Exclude a participant from every count, with a reason."""
    participant = find_participant(session(), g.study, public_id)
    if pressed():
        try:
            reason = request.form.get("reason", "")[:500]
            life.exclude(session(), g.study, participant, g.researcher.name, reason)
        except SurveyError as error:
            return page("progress", watch=_looked_at(), told=str(error), status=400)
        flash(f"{public_id} is excluded. The answers stay stored, and you can include them again.")
    return redirect(url_for("researcher.progress"), 303)


@blueprint.post(f"{STUDY}/participants/<public_id>/restore")
def restore(public_id: str) -> ResponseReturnValue:
    """Include a participant again."""
    participant = find_participant(session(), g.study, public_id)
    if pressed():
        life.restore(session(), g.study, participant, g.researcher.name)
        flash(f"{public_id} is no longer excluded.")
    return redirect(url_for("researcher.progress"), 303)


def _looked_at() -> Watch:
    """Look at the participants, or at those whose id begins as was typed."""
    beginning = request.args.get("id", "").strip().upper()[:16]
    return watch(session(), g.study, beginning if is_storable(beginning) else "?")
