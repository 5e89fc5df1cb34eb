"""The forms of the page that invites: a guest list, and how people come and go.

Inviting: the public link and its QR code, personal links, platforms, codes.
"""

import io

import segno
from flask import Response, flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField
from wtforms import BooleanField, RadioField, SelectChoice, StringField, TextAreaField

from survey.core.studies.faults import PlanError
from survey.errors import SurveyError
from survey.services.accounts import access
from survey.services.participation import slots
from survey.services.studies import guests, lifecycle
from survey.services.studies.recruitment import PLATFORMS, recruitment_from, recruitment_of
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import (
    STUDY,
    blueprint,
    page,
    pressed,
    run_here_only,
    secret_key,
    uploaded_text,
)


class GuestsForm(Form):
    """Names, typed or as a file."""

    names = TextAreaField("Names or addresses, one per line")
    guests = FileField("Or a CSV file with a column “name”")
    guests_only = BooleanField("From now on, let only those with a personal link begin")


class RecruitmentForm(Form):
    """How people come and go."""

    access = RadioField(
        "Who can begin",
        choices=[
            SelectChoice("public", "Anyone with the public link"),
            SelectChoice("personal", "Only those with a personal link"),
        ],
        validate_choice=False,
    )
    id_parameter = StringField("Parameter with a person's id")
    capture = StringField("Other parameters to keep")
    id_required = BooleanField("Let nobody begin without an id")
    code_complete = StringField("Code for those who finish")
    code_declined = StringField("Code for those who decline")
    code_screened_out = StringField("Code for those who are screened out")
    return_url = StringField("Address that the last page leads to")
    slot_minutes = StringField("Minutes after which a place that was left goes back")

    def values(self) -> dict[str, object]:
        """Return what was typed as the settings are stored."""
        typed = {f.name: f.data for f in self if f.name != "csrf_token"}
        typed = {name: one.strip() if isinstance(one, str) else one for name, one in typed.items()}
        typed |= {name: "" for name, one in typed.items() if one is None}
        minutes = typed["slot_minutes"]
        whole = minutes.isascii() and minutes.isdecimal() and len(minutes) < 8
        return typed | {
            "capture": typed["capture"].replace(",", " ").split(),
            "slot_minutes": int(minutes) if whole else minutes,
        }


@blueprint.get(f"{STUDY}/invite")
@run_here_only
def invite() -> ResponseReturnValue:
    """Show the links and the settings."""
    return _invite_page()


@blueprint.post(f"{STUDY}/invite/guests")
@run_here_only
def add_guests() -> ResponseReturnValue:
    """Put names on the guest list; each gets a link."""
    form = GuestsForm()
    if form.validate_on_submit():
        try:
            new = guests.invite(session(), g.study, _names(form))
        except (SurveyError, ValueError) as error:
            form.names.errors = [str(error)]
        else:
            flash(f"{new} personal link{'s are' if new != 1 else ' is'} ready to be sent.")
            if form.guests_only.data:
                guests.admit_guests_only(session(), g.study, g.researcher.name)
                flash("From now on, only those with a personal link can begin.")
            return redirect(url_for("researcher.invite", _anchor="personal-links"), 303)
    return _invite_page(guests_form=form, status=400)


@blueprint.post(f"{STUDY}/invite/guests/<int:guest_id>/remove")
@run_here_only
def remove_guest(guest_id: int) -> ResponseReturnValue:
    """Take a guest off the list who has not begun."""
    if pressed():
        guests.remove(session(), g.study, guest_id)
        flash("The link is withdrawn.")
    return redirect(url_for("researcher.invite", _anchor="personal-links"), 303)


@blueprint.get(f"{STUDY}/guests.csv")
@run_here_only
def guest_links() -> ResponseReturnValue:
    """Hand out the guest list with its links, to owners: a link lets someone in."""
    access.require_owner(g.role)
    return Response(
        guests.links_csv(_personal_links()),
        mimetype="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{g.study.slug}-links.csv"'},
    )


@blueprint.get(f"{STUDY}/qr.svg")
@run_here_only
def qr() -> ResponseReturnValue:
    """Draw the public link as a QR code."""
    sink = io.BytesIO()
    segno.make(_link(), micro=False, error="m").save(
        sink, kind="svg", scale=8, border=4, dark="#000", light="#fff"
    )
    return Response(sink.getvalue(), mimetype="image/svg+xml")


@blueprint.post(f"{STUDY}/invite/settings")
@run_here_only
def save_recruitment() -> ResponseReturnValue:
    """Change how people come and go; choosing a platform fills in what it needs."""
    form = RecruitmentForm()
    platform = request.form.get("platform")
    if platform and platform in PLATFORMS and pressed():
        for name, value in PLATFORMS[platform].items():
            form[name].data = " ".join(value) if isinstance(value, tuple) else value
        return _invite_page(settings_form=form, filled_in=platform)
    if form.validate_on_submit():
        try:
            lifecycle.change_recruitment(
                session(), g.study, recruitment_from(form.values()), g.researcher.name
            )
        except PlanError as error:
            for fault in error.faults:
                field = form[str(fault.place[0])]
                field.errors = [*field.errors, fault.text]
        else:
            flash("The settings are saved.")
            return redirect(url_for("researcher.invite", _anchor="settings"), 303)
    return _invite_page(settings_form=form, status=400)


def _invite_page(
    guests_form: GuestsForm | None = None,
    settings_form: RecruitmentForm | None = None,
    status: int = 200,
    filled_in: str | None = None,
) -> ResponseReturnValue:
    settings = recruitment_of(g.study)
    shown = settings.as_json() | {
        "capture": " ".join(settings.capture),
        "slot_minutes": str(settings.slot_minutes),
    }
    links = _personal_links() if g.role == "owner" else []
    first = not links and g.study.status == "draft"
    return page(
        "invite",
        form=guests_form if guests_form and guests_form.errors else settings_form,
        status=status,
        link=_link(),
        personal_links=links,
        waiting=sum(one.status == guests.NOT_STARTED for one in links),
        guests_form=guests_form or GuestsForm(formdata=None, guests_only=first),
        settings_form=settings_form or RecruitmentForm(formdata=None, data=shown),
        settings=settings,
        free=slots.free(session(), g.study),
        filled_in=filled_in,
    )


def _link() -> str:
    return url_for("participant.entry", slug=g.study.slug, _external=True)


def _personal_links() -> list[guests.PersonalLink]:
    return guests.personal_links(guests.guests_of(session(), g.study), secret_key(), _link())


def _names(form: GuestsForm) -> list[str]:
    lines = filter(None, map(str.strip, (form.names.data or "").splitlines()))
    typed = guests.names_csv(lines)
    text, file = uploaded_text("guests") or (typed, "the list")
    return guests.read_guests(text, file)
