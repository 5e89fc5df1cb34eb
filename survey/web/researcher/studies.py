"""The list of studies, new studies and their size, and a study's overview, life and check."""

import re

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import (
    Field,
    SelectChoice,
    SelectField,
    StringField,
)
from wtforms.validators import DataRequired

from survey.core.studies.fields import Finding, rules_of
from survey.errors import CannotOpenError
from survey.services import accounts, new_studies
from survey.services.operations.database import begin_reading
from survey.services.participation import answers, participants
from survey.services.planning import machine_saving, power
from survey.services.planning.power_fields import FIELDS, MACHINE_FIELDS, Choice, Numbers
from survey.services.studies import lifecycle, publications
from survey.services.studies.recruitment import Recruitment, recruitment_of
from survey.web.auth import require_password
from survey.web.forms import Form, errors_beside, form_page, slug_field
from survey.web.requests import external_address, in_own_process, session
from survey.web.researcher.pages import (
    STUDY_ADDRESS,
    blueprint,
    has_valid_token,
)
from survey.web.researcher.plan import plan_address, step_of

STUDY_ACTIONS = {  # what an action does, and the message after it
    "close": (lifecycle.close_study, "The study is closed. Its results are ready."),
    "let-finish": (
        lifecycle.end_admission,
        "The study admits no one new. It closes when those under way have finished, or after "
        f"{lifecycle.HOURS_TO_FINISH} hours.",
    ),
    "archive": (lifecycle.archive, "The study is in the archive."),
    "bring-back": (lifecycle.unarchive, "The study is back from the archive."),
}

MENDING_PAGES = {  # of findings that no field of the plan can mend
    "items": "Add pictures and texts",
    "lists": "Upload other lists",
    "preregister": "Preregister it again",
}

# Answers to simulate. A worker serves one request at a time, so a page may take only a second
# or two. The command line has no such limit; it has a progress bar and several processes.
MAX_COST = 30_000_000


class CopyForm(Form):
    """Asks at which address a copy of a study is to be."""

    slug = slug_field("Address of the copy", DataRequired("Give the copy an address."))


class AddressForm(Form):
    """Asks for another address of a draft."""

    address = slug_field("Address", DataRequired("Give the study an address."))


class DeleteForm(Form):
    """The study's address, typed to confirm its deletion."""

    slug = StringField("Type the study's address to delete it")


@blueprint.get("/", strict_slashes=True)  # /research leads here: one page has one address
def home() -> ResponseReturnValue:
    """List a researcher's studies, archived ones apart, and name those of an unknown kind."""
    studies = accounts.studies_of(session(), g.researcher)
    rows = [
        (study, role, lifecycle.progress(session(), study))
        for study, role in studies
        if study.is_readable
    ]
    return form_page(
        "researcher/home.html",
        current=[row for row in rows if row[0].archived_at is None],
        archived=[row for row in rows if row[0].archived_at is not None],
        unknown=[study for study, _ in studies if not study.is_readable],
    )


@blueprint.get(STUDY_ADDRESS)
def overview() -> ResponseReturnValue:
    """Show the study's status and what to do next."""
    return _overview_page(CopyForm())


@blueprint.post(f"{STUDY_ADDRESS}/<any('open', {', '.join(map(repr, STUDY_ACTIONS))}):action>")
@in_own_process
def act(action: str) -> ResponseReturnValue:
    """Open, close or archive the study, admit no one new, or bring it back from the archive."""
    if has_valid_token():
        if action == "open":
            return _open()
        under_way = participants.count_under_way(session(), g.study) if action == "close" else 0
        change, message = STUDY_ACTIONS[action]
        change(session(), g.study, g.researcher.name)
        flash(message)
        if under_way:
            people = "1 person was" if under_way == 1 else f"{under_way} people were"
            flash(f"{people} under way and cannot finish; what was saved is kept.")
    return redirect(url_for("researcher.overview"), 303)


def _open() -> ResponseReturnValue:
    """Open a draft or a closed study, or admit people again; ask for a reason where one is needed.

    Fields of the form: ``reason``, why a closed study is opened again; ``anyway``, why a draft is
    opened in spite of its check.
    """
    reason, anyway = (request.form.get(name, "").strip()[:500] for name in ("reason", "anyway"))
    status = g.study.status
    if lifecycle.needs_reason_to_open(session(), g.study) and not reason:
        flash("Say why the study is opened again; its results could be seen meanwhile.")
        return redirect(url_for("researcher.overview"), 303)
    try:
        lifecycle.open_study(session(), g.study, g.researcher.name, reason, anyway)
    except CannotOpenError:  # the page says why
        return redirect(url_for("researcher.ask_to_open"), 303)
    flash("People can begin again." if status == "open" else "The study is open. Invite people.")
    return redirect(url_for("researcher.overview"), 303)


@blueprint.get(f"{STUDY_ADDRESS}/open")
@in_own_process
def ask_to_open() -> ResponseReturnValue:
    """Show what cannot change any more after opening, and ask whether to open the draft."""
    accounts.require_owner(g.role)
    if g.study.status != "draft":
        return redirect(url_for("researcher.overview"))
    findings = [each for each in lifecycle.check_study(session(), g.study) if each.question is None]
    stops = lifecycle.stops_of(findings)
    return form_page(
        "researcher/open.html",
        findings=[each for each in findings if each not in stops],
        stops=[(each, *_way_to_mend(each)) for each in stops],
        may_open_anyway=lifecycle.can_open_anyway(stops),
    )


@blueprint.get(f"{STUDY_ADDRESS}/close")
def ask_to_close() -> ResponseReturnValue:
    """Show how many people are under way, and ask whether they can finish before it closes."""
    accounts.require_owner(g.role)
    if g.study.status != "open":
        return redirect(url_for("researcher.overview"))
    return form_page(
        "researcher/close.html",
        progress=lifecycle.progress(session(), g.study),
        under_way=participants.count_under_way(session(), g.study),
        slot_minutes=recruitment_of(g.study).slot_minutes,
        hours=lifecycle.HOURS_TO_FINISH,
    )


@blueprint.post(f"{STUDY_ADDRESS}/copy")
@in_own_process
def copy() -> ResponseReturnValue:
    """Create a draft with the same plan under another address."""
    form = CopyForm()
    if form.validate_on_submit():
        with errors_beside(form.slug):
            lifecycle.copy_study(session(), g.study, form.slug.data, g.researcher)
            flash("This is the copy: a draft with the same plan and no participants.")
            return redirect(url_for("researcher.overview", slug=form.slug.data), 303)
    return _overview_page(form)


@blueprint.post(f"{STUDY_ADDRESS}/address")
def rename() -> ResponseReturnValue:
    """Give a draft another address."""
    form = AddressForm()
    if form.validate_on_submit():
        slug = new_studies.address_of(form.address.data)
        with errors_beside(form.address):
            lifecycle.rename(session(), g.study, slug, g.researcher.name)
            flash(f"The address is now /s/{slug}.")
            return redirect(url_for("researcher.overview", slug=slug), 303)
    return _overview_page(CopyForm(formdata=None), form)


@blueprint.route(f"{STUDY_ADDRESS}/delete", methods=["GET", "POST"])
@require_password
def delete() -> ResponseReturnValue:
    """Show what a deletion removes; delete the study once its address is typed correctly."""
    accounts.require_owner(g.role)
    form = DeleteForm()
    if form.validate_on_submit():
        if (form.slug.data or "").strip() == g.study.slug:
            lifecycle.delete(session(), g.study, g.researcher.name)
            flash(f"The study {request.form['slug']} is deleted.")
            return redirect(url_for("researcher.home"), 303)
        form.slug.errors = [f"Type {g.study.slug} to delete this study."]
    return form_page(
        "researcher/delete.html", form, progress=lifecycle.progress(session(), g.study)
    )


@blueprint.get(f"{STUDY_ADDRESS}/check")
@in_own_process
def check() -> ResponseReturnValue:
    """Show a verdict, warnings, and each question's values.

    A question is rendered as participants see it when it is unfolded: fifty take too long.
    """
    findings = lifecycle.check_study(session(), g.study)
    faulty = lifecycle.to_mend(findings)
    checks = lifecycle.question_checks(g.study)
    return form_page(
        "researcher/check.html",
        verdict=lifecycle.check_verdict(g.study, findings),
        if_left=lifecycle.if_left,
        faulty=[(finding, *_way_to_mend(finding)) for finding in faulty],
        remarks=[finding for finding in findings if finding not in faulty],
        questions=lifecycle.questions_of(g.study, practice=True),
        checks={each.question.number: each for each in checks},
        pairs=lifecycle.pair_counts(g.study, checks),
        chance=lifecycle.chance_advantage(g.study),
        headings=lifecycle.headings(g.study),
        preview_of=_preview_of,
        shown=request.args.get("question", type=int),
    )


def _way_to_mend(finding: Finding) -> tuple[str, str]:
    """Return the address of the page where a finding can be mended, and the text of a link."""
    name = finding.mend
    if name in rules_of(Recruitment):
        return url_for("researcher.invite", _anchor="settings"), "Change the settings"
    if not name:
        return url_for("researcher.overview", _anchor="log"), "See who changed what"
    if g.study.status != "draft":
        return url_for("researcher.overview", _anchor="copy"), "Copy the study to change it"
    if name in MENDING_PAGES:
        return url_for(f"researcher.{name}"), MENDING_PAGES[name]
    if step_of(name) is None:
        return url_for("researcher.plan"), "Change the plan"
    rule = rules_of(type(g.plan)).get(name)
    return plan_address(name), f"Change “{rule.label}”" if rule else f"Change the {name}"


def _preview_of(number: int) -> str:
    """Return the address of a question's page in the preview, 0 for the practice question."""
    labels, page = answers.usual_variant(g.plan), "question" if number else "practice"
    return url_for("preview.page", labels=labels, page=page, position=number or None)


def _overview_page(form: CopyForm, address: AddressForm | None = None) -> ResponseReturnValue:
    is_closing = g.study.status_or_closing == "closing"
    under_way = participants.count_under_way(session(), g.study) if is_closing else None
    return form_page(
        "researcher/overview.html",
        address or form,
        copy_form=form,
        address=address or AddressForm(None, address=g.study.slug),
        progress=lifecycle.progress(session(), g.study),
        free=participants.free_slots(session(), g.study),
        under_way=under_way,
        broken=[finding for finding in lifecycle.check_study(session(), g.study) if finding.failed],
        log=accounts.log_of(session(), g.study),
        link=external_address("participant.entry", slug=g.study.slug),
        is_public=publications.current_publication(session(), g.study) is not None,
        may_publish=not publications.reason_against(session(), g.study),
    )


class PlanningForm(Form):
    """The studies to compare; sent by GET, so that a page of figures can be bookmarked."""

    class Meta:
        """No token against forgery: the form changes nothing."""

        csrf = False


def _planning_field(rule: Numbers | Choice, usual: str) -> Field:
    if isinstance(rule, Choice):
        choices = [SelectChoice(word, word) for word in rule.allowed]
        return SelectField(rule.label, choices=choices, default=usual)
    return StringField(rule.label, default=usual.replace(",", ", "))


for _name, _text in {**power.DEFAULTS, "replicates": "1000"}.items():  # as many as a page may take
    setattr(PlanningForm, _name, _planning_field(FIELDS[_name], _text))


class SavingForm(Form):
    """What a machine judges and what people judge of it; sent by GET, as PlanningForm is."""

    class Meta:
        """No token against forgery: the form changes nothing."""

        csrf = False


for _name, _text in machine_saving.DEFAULTS.items():
    setattr(SavingForm, _name, _planning_field(MACHINE_FIELDS[_name], _text))


@blueprint.get("/planning")
@in_own_process
def planning() -> ResponseReturnValue:
    """Ask for the studies to compare, and show how often each finds a difference.

    Or ask what a machine judges beside people, and show what it saves.
    """
    is_saving = bool(MACHINE_FIELDS.keys() & request.args.keys())
    form = PlanningForm(request.args if request.args and not is_saving else None)
    saving = SavingForm(request.args if is_saving else None)
    if is_saving:
        savings = _savings(saving)
        return form_page(
            "researcher/planning.html", saving, size=form, saving=saving, savings=savings
        )
    grid = _grid(form) if request.args else None
    if grid is None:
        return form_page("researcher/planning.html", form, size=form, saving=saving)
    session().rollback()  # else participants' answers wait for the simulation
    powers = power.simulate_power(grid.studies, seed=grid.seed, replicates=grid.replicates)
    ways = power.find_ways(grid, powers)
    begin_reading(session())
    return form_page(
        "researcher/planning.html",
        form,
        size=form,
        saving=saving,
        grid=grid,
        powers=powers,
        rows=power.side_by_side(powers),
        advice=power.advice(powers, ways),
        command=power.command(grid.texts),
        words=power,
    )


def _add_faults(form: Form, error: power.GridError) -> None:
    for fault in error.faults:
        field = form[str(fault.place[0])]
        # The fault names the option of the command line; the page shows the field's label.
        text = re.sub(rf"^{field.name}\b", field.label.text, fault.text)
        field.errors = [f"{text}."]


def _savings(form: SavingForm) -> list[machine_saving.Saving]:
    """Return what a machine saves; nothing after adding errors to the form's fields."""
    try:
        return machine_saving.savings({field.name: field.data or "" for field in form})
    except power.GridError as error:
        _add_faults(form, error)
        return []


def _grid(form: PlanningForm) -> power.Grid | None:
    """Return the studies to compare; None after adding errors to the form's fields."""
    try:
        grid = power.read_grid({field.name: field.data or "" for field in form})
    except power.GridError as error:
        _add_faults(form, error)
        return None
    cost = grid.cost + grid.search_cost
    if cost <= MAX_COST:
        return grid
    form.replicates.errors = [
        f"These {len(grid.studies)} studies are too much for this page: "
        f"{cost / 1e6:,.0f} million answers to simulate, {MAX_COST / 1e6:.0f} are allowed. "
        f"Ask for fewer, or on the command line: {power.command(grid.texts)}"
    ]
    return None
