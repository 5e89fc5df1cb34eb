"""The page of mails to guests: their texts, who was written to, and sending."""

from flask import current_app, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey.core.studies.fields import rules_of
from survey.errors import NotAllowedError
from survey.services import accounts
from survey.services.studies import invitations, lifecycle, recruitment
from survey.services.studies.recruitment import (
    MAIL_TEXTS,
    Recruitment,
    recruitment_of,
)
from survey.web.forms import field_for, form_page
from survey.web.requests import external_address, session
from survey.web.researcher.pages import (
    STUDY_ADDRESS,
    Conflict,
    VersionedForm,
    blueprint,
    has_valid_token,
    not_for_imported,
)
from survey.web.researcher.people import store_settings

RULES = rules_of(Recruitment)
EXAMPLE = "Ada Lovelace"  # to whom the preview is written


class MailsForm(VersionedForm):
    """The subject and the texts of mails."""

    mail_subject = field_for(RULES["mail_subject"])
    invitation = field_for(RULES["invitation"])
    reminder = field_for(RULES["reminder"])

    def texts(self) -> dict[str, str]:
        """Return the typed texts, "" for one that is the usual text."""
        usual = invitations.texts_of(g.plan, Recruitment())
        typed = {
            name: "\n".join((self[name].data or "").strip().splitlines()) for name in MAIL_TEXTS
        }
        return {name: "" if text == usual[name] else text for name, text in typed.items()}


@blueprint.get(f"{STUDY_ADDRESS}/invite/mails")
@not_for_imported
def mails() -> ResponseReturnValue:
    """Show the texts with a preview, and which guest was written to when; to owners only."""
    accounts.require_owner(g.role)
    if "list" in request.args:
        return render_template("researcher/_mails.html", **_guests())
    return _mails_page()


@blueprint.post(f"{STUDY_ADDRESS}/invite/mails")
@not_for_imported
def save_mails() -> ResponseReturnValue:
    """Store the texts."""
    form, conflict = MailsForm(), None
    if form.validate_on_submit():
        conflict = store_settings(form, {**recruitment_of(g.study).as_json(), **form.texts()})
        if not (conflict or form.errors):
            flash("The texts are saved.")
            return redirect(url_for("researcher.mails", _anchor="preview"), 303)
    return _mails_page(form, conflict)


@blueprint.post(f"{STUDY_ADDRESS}/invite/mails/<any(invitation, reminder):kind>")
@not_for_imported
def send_mails(kind: str) -> ResponseReturnValue:
    """Have the server send a mail to all guests who can get it; it does so by and by."""
    if has_valid_token():
        if not _can_send():
            raise NotAllowedError("This server sends no e-mail: its settings lack a mail server.")
        planned = invitations.plan_mails(session(), g.study, kind, g.researcher.name)
        flash(f"{planned} × {kind}: the server sends them now, also when you leave this page.")
    return redirect(url_for("researcher.mails", _anchor="guests"), 303)


def _can_send() -> bool:
    return bool(current_app.config["SMTP"] and current_app.config["ADDRESS"])


def _guests() -> dict[str, object]:
    guests = recruitment.guests_of(session(), g.study)
    return {
        "guests": guests,
        "due": sum(guest.mail_due is not None for guest in guests),
        "waiting": {
            kind: sum(invitations.is_due(guest, kind) for guest in guests)
            for kind in invitations.SENT_AT
        },
        "can_send": _can_send(),
    }


def _mails_page(
    form: MailsForm | None = None, conflict: Conflict | None = None
) -> ResponseReturnValue:
    settings = recruitment_of(g.study)
    version = lifecycle.version_of(g.study.recruitment)
    shown = invitations.texts_of(g.plan, settings) | {"version": version}
    link = f"{external_address('participant.entry', slug=g.study.slug)}?guest=EXAMPLE"
    return form_page(
        "researcher/mails.html",
        form or MailsForm(formdata=None, data=shown),
        409 if conflict else None,
        conflict=conflict,
        letters={
            kind: invitations.letter_for(g.plan, settings, kind, EXAMPLE, link)
            for kind in invitations.SENT_AT
        },
        places=recruitment.PLACES_IN_MAILS,
        **_guests(),
    )
