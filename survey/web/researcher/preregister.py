"""The page on which a draft is preregistered, with its registration as text and as files."""

from flask import flash, g, redirect, url_for
from flask.typing import ResponseReturnValue

from survey.core.studies.fields import rules_of
from survey.errors import NotFoundError
from survey.services.exchange.bundle import stream_zip_of_bytes
from survey.services.planning import preregistration
from survey.services.studies import lifecycle, registration
from survey.web.forms import Form, field_for, form_page
from survey.web.requests import attachment, in_own_process, session
from survey.web.researcher.pages import STUDY_ADDRESS, blueprint, not_for_imported

RULES = rules_of(registration.Typed)


class RegistrationForm(Form):
    """What researchers state themselves in a registration."""

    hypothesis = field_for(RULES["hypothesis"])
    rationale = field_for(RULES["rationale"])
    existing_data = field_for(RULES["existing_data"])

    def validate(self, extra_validators: object = None) -> bool:
        """Check each text."""
        super().validate(extra_validators)
        for name, rule in RULES.items():
            if breach := rule.breach(self[name].data or ""):
                self[name].errors = [f"“{rule.label}” {breach}."]
        return not self.errors


@blueprint.get(f"{STUDY_ADDRESS}/preregister")
@not_for_imported
def preregister() -> ResponseReturnValue:
    """Ask for what is stated, and show the registration that the study keeps."""
    stored = vars(preregistration.stored_fields(g.study))
    return _page(RegistrationForm(formdata=None, data=stored))


@blueprint.post(f"{STUDY_ADDRESS}/preregister")
@not_for_imported
@in_own_process
def save_registration() -> ResponseReturnValue:
    """Store the registration of the draft."""
    lifecycle.require_draft(g.study)
    form = RegistrationForm()
    if form.validate_on_submit():
        typed = registration.typed_fields({name: form[name].data or "" for name in RULES})
        preregistration.preregister(session(), g.study, typed, g.researcher.name)
        flash("The registration is stored. Take its files to a registry, which proves their date.")
        return redirect(url_for("researcher.preregister", _anchor="registration"), 303)
    return _page(form)


@blueprint.get(f"{STUDY_ADDRESS}/registration.zip")
def registration_zip() -> ResponseReturnValue:
    """Send the four files of the registration that the study keeps."""
    stored = preregistration.stored_registration(g.study)
    if stored is None:
        raise NotFoundError("This study was not preregistered.")
    files = ((name, text.encode()) for name, text in preregistration.files_of(stored))
    return attachment(
        stream_zip_of_bytes(files), "application/zip", f"{g.study.slug}-registration.zip"
    )


def _page(form: RegistrationForm) -> ResponseReturnValue:
    stored = preregistration.stored_registration(g.study)
    changed = lifecycle.changes_since_registration(g.study)
    is_draft = g.study.status == "draft"
    return form_page(
        "researcher/preregister.html",
        form,
        registration=stored,
        text=stored and preregistration.text_of(stored),
        checksum=stored and registration.sum_of(g.study.registration),
        changed=changed,
        too_early=preregistration.why_too_early(session(), g.study) if is_draft else "",
        only_there=registration.ONLY_THERE,
        names=registration.FILES,
    )
