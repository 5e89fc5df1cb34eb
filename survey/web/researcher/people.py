"""Pages about people: participants, researchers and their roles, guests, links, platforms."""

import io
from collections.abc import Mapping
from typing import Any

import segno
from flask import Response, flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import (
    BooleanField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.validators import DataRequired, Length

from survey.core.studies.fields import PlanError, is_storable, rules_of
from survey.core.text_input import FaultyFilesError, parse_whole
from survey.errors import ChangedMeanwhileError, NotFoundError, SurveyError
from survey.services import accounts
from survey.services.analysis.sheets import printed_table
from survey.services.exchange import bundle
from survey.services.participation import participant_list, participants
from survey.services.participation.answers import usual_variant
from survey.services.participation.participant_list import (
    StudyParticipants,
    find_participant,
    list_participants,
)
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import (
    MAIL_TEXTS,
    PLATFORMS,
    Recruitment,
    parse_recruitment,
    recruitment_of,
)
from survey.web.forms import Form, errors_beside, field_for, form_page, storable
from survey.web.requests import (
    attachment,
    current_address,
    external_address,
    in_own_process,
    secret_key,
    session,
)
from survey.web.researcher.pages import (
    STUDY_ADDRESS,
    Conflict,
    VersionedForm,
    blueprint,
    has_valid_token,
    image_response,
    not_for_imported,
    put_beside,
    uploaded_text,
)
from survey.web.uploads import UploadField


class ShareForm(Form):
    """A researcher's name and the role they get."""

    name = StringField("Name", validators=[DataRequired("Type a name."), Length(max=64)])
    role = RadioField(
        "Role",
        choices=[
            SelectChoice("viewer", "Viewer: can see everything and change nothing"),
            SelectChoice("owner", "Owner: can do everything that you can do"),
        ],
        default="viewer",
    )


class GuestsForm(Form):
    """Names for the guest list, typed or as a file."""

    names = TextAreaField("Names or addresses, one per line")
    guests = UploadField("Or a CSV file with a column “name”, and “e-mail” to write to them")
    arm = SelectField("Their role")
    guests_only = BooleanField("From now on, let only people with a personal link begin")


class CodeForm(Form):
    """The id of a participant who has lost their code."""

    lost = StringField(
        "Participant's or platform's id", validators=[DataRequired("Type an id."), storable]
    )


class RecruitmentForm(VersionedForm):
    """Who can begin, what a link's parameters carry, and the codes and address at the end."""

    _rules = rules_of(Recruitment)
    access = field_for(_rules["access"])
    id_parameter = StringField("Parameter with a person's id")
    capture = StringField("Other parameters to keep")
    id_required = field_for(_rules["id_required"])
    code_complete = field_for(_rules["code_complete"])
    code_declined = field_for(_rules["code_declined"])
    code_screened_out = field_for(_rules["code_screened_out"])
    return_url = field_for(_rules["return_url"])
    slot_minutes = field_for(_rules["slot_minutes"])
    signing_keys = field_for(_rules["signing_keys"])
    workspace = field_for(_rules["workspace"])

    def values(self) -> dict[str, object]:
        """Return the typed settings in the form in which they are stored."""
        settings = Recruitment.__dataclass_fields__
        typed = {field.name: field.data for field in self if field.name in settings}
        typed = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in typed.items()
        }
        typed |= {name: "" for name, value in typed.items() if value is None}
        minutes = parse_whole(typed["slot_minutes"])
        return typed | {
            "capture": typed["capture"].replace(",", " ").split(),
            "slot_minutes": typed["slot_minutes"] if minutes is None else minutes,
        }


@blueprint.get(f"{STUDY_ADDRESS}/progress")
def progress() -> ResponseReturnValue:
    """Show how many participants are complete, at which page the others are, and who is stuck."""
    return _progress_page("researcher/progress.html")


@blueprint.get(f"{STUDY_ADDRESS}/progress/live")
def live() -> ResponseReturnValue:
    """Return the part of the progress page that its script replaces every few seconds."""
    return _progress_page("researcher/_live.html")


@blueprint.get(f"{STUDY_ADDRESS}/progress/arrivals.svg")
@in_own_process
def arrivals() -> ResponseReturnValue:
    """Return the figure of arrivals as an image; browsers keep it under its digest."""
    exhibit = participant_list.arrivals_of(session(), g.study)
    if exhibit.why:
        raise NotFoundError("No one who counts has begun yet.")
    return image_response(exhibit)


def _progress_page(template: str, **content: Any) -> ResponseReturnValue:
    is_whole = template == "researcher/progress.html"  # not what its script loads again and again
    return form_page(
        template,
        notes=bundle.progress_sentences(session(), g.study) if is_whole else (),
        watch=_participants(),
        time_taken=lifecycle.time_taken(session(), g.study).sentence,
        arrivals=participant_list.arrivals_of(session(), g.study),
        printed=printed_table,
        labels=usual_variant(g.plan),
        **content,
    )


@blueprint.post(f"{STUDY_ADDRESS}/participants/<public_id>/exclude")
def exclude(public_id: str) -> ResponseReturnValue:
    """Exclude a participant from every count, with a reason."""
    participant = find_participant(session(), g.study, public_id)
    if has_valid_token():
        try:
            reason = request.form.get("reason", "")[:500]
            lifecycle.exclude(session(), g.study, participant, g.researcher.name, reason)
        except SurveyError as error:
            return _progress_page("researcher/progress.html", alert=str(error), status=400)
        flash(f"{public_id} is excluded. The answers stay stored, and you can include them again.")
    return redirect(url_for("researcher.progress"), 303)


@blueprint.post(f"{STUDY_ADDRESS}/participants/<public_id>/restore")
def restore(public_id: str) -> ResponseReturnValue:
    """Include an excluded participant again."""
    participant = find_participant(session(), g.study, public_id)
    if has_valid_token():
        try:
            lifecycle.include(session(), g.study, participant, g.researcher.name)
            flash(f"{public_id} is no longer excluded.")
        except SurveyError as error:  # as after a button that was pressed twice
            flash(str(error))
    return redirect(url_for("researcher.progress"), 303)


def _participants() -> StudyParticipants:
    """Return the participants whose id begins with the query's ``id``; without it, all."""
    id_prefix = request.args.get("id", "").strip().upper()[:16]
    return list_participants(session(), g.study, id_prefix if is_storable(id_prefix) else "?")


@blueprint.route(f"{STUDY_ADDRESS}/people", methods=["GET", "POST"])
def people() -> ResponseReturnValue:
    """Show the owners and viewers of the study; make a researcher one of them."""
    form = ShareForm()
    if form.validate_on_submit():
        with errors_beside(form.name):
            researcher = accounts.researcher_named(session(), form.name.data)
            if form.role.data != "owner" and _is_to_be_asked(researcher):
                return form_page("researcher/step_down.html", form, address=current_address())
            accounts.change_role(session(), g.study, researcher, form.role.data, g.researcher.name)
            article = "an" if form.role.data == "owner" else "a"
            flash(f"{researcher.name} is now {article} {form.role.data} of this study.")
            return redirect(url_for("researcher.people"), 303)
    return form_page(
        "researcher/people.html", form, members=accounts.members_of(session(), g.study)
    )


@blueprint.post(f"{STUDY_ADDRESS}/people/<int:researcher_id>/remove")
def unshare(researcher_id: int) -> ResponseReturnValue:
    """Remove a researcher from the study's owners and viewers."""
    researcher = accounts.member_of(session(), g.study, researcher_id)
    if has_valid_token():
        if _is_to_be_asked(researcher):
            return form_page("researcher/step_down.html", address=current_address())
        accounts.unshare(session(), g.study, researcher, g.researcher.name)
        flash(f"{researcher.name} can no longer see this study.")
        if researcher.id == g.researcher.id:
            return redirect(url_for("researcher.home"), 303)
    return redirect(url_for("researcher.people"), 303)


def _is_to_be_asked(researcher: Any) -> bool:
    """Return whether owners are about to lose their own role, and have not confirmed it yet.

    Raises NotAllowedError for the last owner, who cannot.
    """
    if researcher.id != g.researcher.id or "sure" in request.form:
        return False
    accounts.require_other_owner(session(), g.study, researcher)
    return True


@blueprint.get(f"{STUDY_ADDRESS}/invite")
@not_for_imported
def invite() -> ResponseReturnValue:
    """Show the links and the settings."""
    return _invite_page()


@blueprint.get(f"{STUDY_ADDRESS}/qr.svg")
@not_for_imported
def qr() -> ResponseReturnValue:
    """Draw the public link as a QR code."""
    image = io.BytesIO()
    segno.make(_public_link(), micro=False, error="m").save(
        image, kind="svg", scale=8, border=4, dark="#000", light="#fff"
    )
    return Response(image.getvalue(), mimetype="image/svg+xml")


@blueprint.post(f"{STUDY_ADDRESS}/invite/guests")
@in_own_process
@not_for_imported
def add_guests() -> ResponseReturnValue:
    """Add names to the guest list; each gets a link. If ticked, only guests begin from now on."""
    form = new_guests_form()
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the file is read
        with errors_beside(form.names):
            arm = form.arm.data or None if "arm" in form else None
            names, warnings = _names(form)
            added = recruitment.add_guests(session(), g.study, names, arm)
        if not form.names.errors:
            flash(f"{added} personal link{'s are' if added != 1 else ' is'} ready to be sent.")
            for warning in warnings:
                flash(warning)
            if form.guests_only.data:
                lifecycle.admit_guests_only(session(), g.study, g.researcher.name)
                flash("From now on, only people with a personal link can begin.")
            return redirect(url_for("researcher.invite", _anchor="personal-links"), 303)
    return _invite_page(guests_form=form)


def new_guests_form(**values: object) -> GuestsForm:
    """Return the form of new guests; it asks for a role where a personal link can set one."""
    form = GuestsForm(**values)
    if g.plan.queue_arm is None:
        del form.arm
    else:
        roles = ((arm, f"{arm} assessors") for arm in g.plan.arms)
        form.arm.choices = [("", "As they begin: two first, then third"), *roles]
    return form


def _names(form: GuestsForm) -> tuple[dict[str, str], list[str]]:
    """Return the names typed and those of the file with their addresses, and remarks on the file.

    Raises SurveyError.
    """
    try:
        names = recruitment.read_names(form.names.data or "")
        uploaded = uploaded_text("guests")
        of_file, warnings = recruitment.read_guests(*uploaded) if uploaded else ({}, [])
    except FaultyFilesError as error:
        raise SurveyError(f"{'. '.join(error.faults)}.") from None
    if not names and not of_file:
        raise SurveyError("Type a name or an address, or choose a file with some.")
    return dict.fromkeys(names, "") | of_file, warnings


@blueprint.post(f"{STUDY_ADDRESS}/invite/guests/<int:guest_id>/remove")
@not_for_imported
def remove_guest(guest_id: int) -> ResponseReturnValue:
    """Remove a guest who has not begun from the guest list."""
    if has_valid_token():
        recruitment.remove_guest(session(), g.study, guest_id)
        flash("The link is withdrawn.")
    return redirect(url_for("researcher.invite", _anchor="personal-links"), 303)


@blueprint.post(f"{STUDY_ADDRESS}/invite/code")
@not_for_imported
def reveal_code() -> ResponseReturnValue:
    """Show an owner the code with which a participant continues in another browser; log it."""
    accounts.require_owner(g.role)
    form = CodeForm()
    if form.validate_on_submit():
        with errors_beside(form.lost):
            typed_id = form.lost.data.strip()[: recruitment.LONGEST_VALUE]
            public_id, code = participant_list.reveal_code(
                session(), g.study, secret_key(), typed_id, g.researcher.name
            )
            flash(f"{public_id} can continue in another browser with the code {code}.")
            return redirect(url_for("researcher.invite"), 303)
    return _invite_page(code_form=form)


@blueprint.get(f"{STUDY_ADDRESS}/guests.csv")
@not_for_imported
def guest_links() -> ResponseReturnValue:
    """Return the guest list with its links, to owners only: a link admits its reader."""
    accounts.require_owner(g.role)
    links = recruitment.links_csv(_personal_links())
    # Excel knows UTF-8 by the mark.
    return attachment(f"\ufeff{links}", "text/csv", f"{g.study.slug}-links.csv")


@blueprint.post(f"{STUDY_ADDRESS}/invite/settings")
@not_for_imported
def save_recruitment() -> ResponseReturnValue:
    """Store the settings, or fill in those of a platform without storing them."""
    form = RecruitmentForm()
    platform = request.form.get("platform")
    if platform and platform in PLATFORMS and has_valid_token():
        for name, value in PLATFORMS[platform].items():
            form[name].data = " ".join(value) if isinstance(value, tuple) else value
        return _invite_page(settings_form=form, filled_in=platform)
    conflict = None
    if form.validate_on_submit():
        mails = {name: g.study.recruitment.get(name, "") for name in MAIL_TEXTS}
        conflict = store_settings(form, mails | form.values())
        if not (conflict or form.errors):
            flash("The settings are saved.")
            return redirect(url_for("researcher.invite", _anchor="settings"), 303)
    return _invite_page(settings_form=form, conflict=conflict)


def store_settings(form: VersionedForm, values: Mapping[str, object]) -> Conflict | None:
    """Store changed settings of recruitment, or show what is wrong beside the form's fields.

    Returns what another researcher has saved since the form was opened, if anything.
    """
    try:
        changed = parse_recruitment(values)
        lifecycle.change_recruitment(
            session(), g.study, changed, g.researcher.name, form.version.data or ""
        )
    except PlanError as error:
        put_beside(form, error.faults)
    except ChangedMeanwhileError:
        form.version.data = lifecycle.version_of(g.study.recruitment)
        saved, typed = g.study.recruitment, changed.as_json()
        return Conflict.between(form, saved, typed, "recruitment changed")
    return None


def _invite_page(
    guests_form: GuestsForm | None = None,
    settings_form: RecruitmentForm | None = None,
    filled_in: str | None = None,
    code_form: CodeForm | None = None,
    conflict: Conflict | None = None,
) -> ResponseReturnValue:
    settings = recruitment_of(g.study)
    stored = settings.as_json() | {
        "capture": " ".join(settings.capture),
        "slot_minutes": str(settings.slot_minutes),
        "version": lifecycle.version_of(g.study.recruitment),
    }
    links = _personal_links() if g.role == "owner" else []
    suggest_guests_only = not links and g.study.status == "draft"
    return form_page(
        "researcher/invite.html",
        code_form or (guests_form if guests_form and guests_form.errors else settings_form),
        409 if conflict else None,
        link=_public_link(),
        personal_links=links,
        waiting=sum(link.status == recruitment.NOT_STARTED for link in links),
        guests_form=guests_form or new_guests_form(formdata=None, guests_only=suggest_guests_only),
        settings_form=settings_form or RecruitmentForm(formdata=None, data=stored),
        code_form=code_form or CodeForm(formdata=None),
        settings=settings,
        free=participants.free_slots(session(), g.study),
        filled_in=filled_in,
        conflict=conflict,
    )


def _public_link() -> str:
    return external_address("participant.entry", slug=g.study.slug)


def _personal_links() -> list[recruitment.PersonalLink]:
    return recruitment.personal_links(
        recruitment.guests_of(session(), g.study), secret_key(), _public_link()
    )
