"""A closed study's way to a public page: what becomes visible, how it is cited, and back."""

from flask import flash, g, redirect, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, RadioField, SelectChoice, StringField
from wtforms.validators import ValidationError

from survey.core.kinds import kind_of
from survey.services import accounts
from survey.services.exchange.description import deposit_fields, left_out
from survey.services.studies import publications
from survey.services.studies.citation import LICENCES, LONGEST_DOI, read_doi
from survey.services.studies.publications import FEW_PEOPLE, Details
from survey.web.forms import Form, errors_beside, form_page, long_text_field
from survey.web.published import citation, public_page
from survey.web.requests import external_address, in_own_process, session
from survey.web.researcher.pages import STUDY_ADDRESS, blueprint, has_valid_token


class PublishForm(Form):
    """How the study is cited, and that its owner has read what becomes visible."""

    title = StringField("Title", render_kw={"maxlength": 200})
    authors = long_text_field("Authors")
    licence = RadioField(
        "What others may do with the answers",
        choices=[SelectChoice(name, text) for name, text in LICENCES.items()],
        validate_choice=False,
    )
    read = BooleanField("I have read what becomes visible")
    go = HiddenField()

    @property
    def details(self) -> Details:
        """What was typed."""
        return Details(self.title.data or "", self.authors.data or "", self.licence.data or "")

    def validate(self, extra_validators: object = None) -> bool:
        """Check what was typed, and the tick before the page becomes public."""
        super().validate(extra_validators)
        for name, sentence in self.details.faults().items():
            self[name].errors = [sentence]
        if self.go.data != "preview" and not self.read.data:
            self.read.errors = ["Read what becomes visible, and tick that you have."]
        return not self.errors


class DoiForm(Form):
    """The DOI that an archive gave the study."""

    # Its address may be written in several ways.
    doi = StringField("DOI", render_kw={"maxlength": 2 * LONGEST_DOI, "spellcheck": "false"})

    def validate_doi(self, field: StringField) -> None:
        """Refuse what is not a DOI."""
        try:
            read_doi(field.data or "")
        except ValueError as error:
            raise ValidationError(str(error)) from None


@blueprint.route(f"{STUDY_ADDRESS}/publish", methods=["GET", "POST"])
@in_own_process
def publish() -> ResponseReturnValue:
    """Say what becomes visible; show the public page before, and make it public."""
    accounts.require_owner(g.role)
    form = PublishForm(**_usual_fields())
    if form.validate_on_submit():
        if form.go.data == "preview" and not publications.reason_against(session(), g.study):
            drafted = publications.preview_of(session(), g.study, form.details, g.researcher.name)
            return public_page(drafted, preview=True)
        with errors_beside(form.read):
            publications.publish(session(), g.study, g.researcher.name, form.details)
            flash("The study is public.")
            return redirect(url_for("researcher.publish"), 303)
    return _publish_page(form)


@blueprint.post(f"{STUDY_ADDRESS}/publish/doi")
def store_doi() -> ResponseReturnValue:
    """Store the DOI of the published study; an empty field removes it."""
    accounts.require_owner(g.role)
    form = DoiForm()
    if form.validate_on_submit():
        doi = publications.store_doi(session(), g.study, g.researcher.name, form.doi.data or "")
        flash(
            "The page, the citation and the bundle name the DOI." if doi else "The DOI is removed."
        )
        return redirect(url_for("researcher.publish"), 303)
    return _publish_page(form)


def _usual_fields() -> dict[str, str]:
    return vars(publications.usual_details(session(), g.study))


def _publish_page(form: PublishForm | DoiForm) -> ResponseReturnValue:
    """Return the page with one of its forms as it was sent."""
    people, _ = publications.people_in(session(), g.study)
    publication = publications.publication_of(session(), g.study)
    is_doi = isinstance(form, DoiForm)
    return form_page(
        "researcher/publish.html",
        form,
        details=PublishForm(formdata=None, **_usual_fields()) if is_doi else form,
        doi_form=form if is_doi else DoiForm(formdata=None, doi=publication and publication.doi),
        deposit=publication and deposit_fields(citation(publication), g.plan),
        publication=publication,
        reason=publications.reason_against(session(), g.study),
        people=people,
        are_few=people < FEW_PEOPLE,
        left_out=left_out(g.plan),
        public_note=kind_of(g.plan).public_note,
        address=external_address("published.page", slug=g.study.slug),
    )


@blueprint.post(f"{STUDY_ADDRESS}/publish/take-back")
def take_back() -> ResponseReturnValue:
    """Take the public page back."""
    if has_valid_token():
        publications.take_back(session(), g.study, g.researcher.name)
        flash("The study is not public any more.")
    return redirect(url_for("researcher.publish"), 303)
