"""The text for an ethics board names all that is stored of participants."""

import re

import pytest

from survey.config import Settings
from survey.services.exchange.tables import stored_tables
from survey.services.studies.plans import preset_values
from tests.guides.pages import block_of, page_named

TEXT = " ".join(block_of(page_named("ethics.md"), "ethics.txt").split())

# Numbers of rows, which say nothing of anybody.
NUMBERED = "study|participant|question|presentation|response|revision"
OF_THE_DATABASE = re.compile(rf"id|({NUMBERED})_id|number")
SAID = {
    "participant.public_id": "a random number",
    "participant.resume_hash": "one-way checksums of the code",
    "participant.status": "how far they came",
    "participant.is_test": "If they are test data",
    "participant.excluded": "left out of the count",
    "participant.exclude_reason": "that, and why",
    "participant.personal": "what they said about themselves",
    "participant.closing": "their answers to closing questions",
    "participant.understood": "whether their first answer to the practice's check",
    "participant.arm": "in which arm of the study they are",
    "participant.consent_id": "which consent text they agreed to",
    "participant.machine_line": "whether a field for programs was filled in",
    "participant.receipt": "a random receipt code",
    "participant.started_at": "the times at which they began",
    "participant.consented_at": "agreed",
    "participant.described_at": "described themselves",
    "participant.informed_at": "read the description",
    "participant.completed_at": "finished",
    "participant.last_seen_at": "were last active",
    "presentation.position": "how and as which it was shown",
    "ordering_presentation.label_order": "labels",
    "ordering_presentation.column_order": "columns",
    "ordering_presentation.list_order": "lists",
    "ordering_presentation.shown": "printed values",
    "presentation.shown_at": "and when",
    "presentation.refusals": "how often the form was sent back",
    "presentation.last_refusal": "for which fault",
    "presentation.asked_back": "what the page asked back before it saved",
    "ordering_presentation.ranked_first": "the order they gave",
    "ordering_presentation.ranked_at": "when",
    "ordering_response.clicked": "what they ticked",
    "ordering_response.own": "the order they gave",
    "response.submitted_at": "when",
    "response.reason": "their reason, in their own words",
    "response.beside": "what they said beside it",
    "response.active_seconds": "how many seconds the page was in view",
    "response.revisions": "each earlier answer",
    "response.asked": "what the page asked back before it saved",
    "revision.asked": "each earlier answer",
    "ordering_presentation.ranked_asked": "what the page asked back before it saved",
    "ordering_response.typed": "whether a method's order was typed",
    "ordering_revision.typed": "each earlier answer",
    "ordering_response.scores_seen": "whether scores were in view",
    "ordering_revision.scores_seen": "each earlier answer",
    "ordering_revision.clicked": "each earlier answer",
    "ordering_revision.own": "each earlier answer",
    "revision.submitted_at": "each earlier answer",
    "revision.reason": "each earlier answer",
    "revision.beside": "each earlier answer",
    "revision.active_seconds": "each earlier answer",
    "labelling_presentation.order_seed": "a number from which the order of what was shown follows",
    "labelling_step.saved_at": "and when",
    "labelling_step.action": "each step: its kind",
    "labelling_step.batch": "what was shown, labelled or sorted",
    "labelling_step.document": "what was shown, labelled or sorted",
    "labelling_step.documents": "what was shown, labelled or sorted",
    "labelling_step.grade": "the label",
    "labelling_response.steps": "each step",
    "labelling_revision.steps": "each step",
    "grouping_presentation.order_seed": "a number from which the order of what was shown follows",
    "grouping_step.saved_at": "and when",
    "grouping_step.action": "each step: its kind",
    "grouping_step.documents": "what was shown, labelled or sorted",
    "grouping_step.group_number": "the group and its name",
    "grouping_step.merged_into": "the group and its name",
    "grouping_step.name": "the group and its name",
    "grouping_step.groups": "the group and its name",
    "grouping_response.steps": "each step",
    "grouping_revision.steps": "each step",
    "preference_presentation.left_list": "which list was at which side",
    "preference_response.preferred": "which list they preferred",
    "preference_response.strength": "how much",
    "preference_response.satisfaction_left": "how satisfied they were with either",
    "preference_response.satisfaction_right": "how satisfied they were with either",
    "preference_revision.preferred": "each earlier answer",
    "preference_revision.strength": "each earlier answer",
    "preference_revision.satisfaction_left": "each earlier answer",
    "preference_revision.satisfaction_right": "each earlier answer",
    "browser.token_hash": "of the random number in their cookie",
    "identity.external_id": "the id under which the platform knows the person",
    "identity.parameters": "the numbers of its sessions",
    "identity.arrived_at": "and when",
    "identity.earlier": "the numbers of its sessions",
    "guest.arm": "their role",
    "guest.name": "the name under which someone was invited",
    "guest.nonce": "⟨Only with personal links",
    "guest.created_at": "and when",
    "guest.email": "their e-mail address",
    "guest.mail_due": "when mails went there",
    "guest.invited_at": "when mails went there",
    "guest.reminded_at": "when mails went there",
    "guest.mail_fault": "or why not",
    "erasure.token": "a checksum of a random number",
    "erasure.erased_on": "and the day",
}
STORED = [
    f"{table.name}.{field}"
    for table in stored_tables()["Participants"]
    for field, _ in table.fields
    if not OF_THE_DATABASE.fullmatch(field)
]


@pytest.mark.parametrize("field", STORED)
def test_what_is_stored_of_participants_is_told(field):
    assert field in SAID, f"say in ethics.txt of docs/ethics.md what {field} is; quote it in SAID"
    assert SAID[field] in TEXT


def test_the_cookie_lasts_as_long_as_is_told(tmp_path):
    lifetime = Settings(tmp_path, "", "").for_flask()["PERMANENT_SESSION_LIFETIME"]
    assert f"lasts {lifetime.days} days" in TEXT


def test_the_least_age_of_the_presets_is_told():
    after = page_named("ethics.md").read_text(encoding="utf-8").partition("The least age is ")[2]
    age = preset_values("mnro")["personal_fields"][0]
    assert f"`screen_below` of the field `{age['name']}`" in after
    assert f"the presets have {age['screen_below']}" in " ".join(after.split())
