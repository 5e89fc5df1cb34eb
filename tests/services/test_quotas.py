"""Quotas by a personal field: who still has a place, counted once, shown, checked, frozen."""

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from survey.core.studies.fields import PersonalField, PlanError
from survey.db.models import Participant, now
from survey.errors import StudyFullError
from survey.services import accounts
from survey.services.exchange import bundle, bundle_import
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import open_files
from survey.services.participation import participant_list, participants
from survey.services.participation.participants import QUOTA_FULL
from survey.services.studies import lifecycle
from tests.builders import a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.services.test_places import agree

AGE = {"name": "age", "label": "Your age", "kind": "number"}
STUDIES = {
    "name": "studies",
    "label": "Your studies",
    "kind": "choice",
    "options": ["none", "some"],
}


def a_study(session, **quotas):
    """An open study with quotas of ages, and of studies."""
    fields = [
        {**AGE, "quotas": quotas.get("age", {"30-49": 2, "18-29": 1})},
        {**STUDIES, "quotas": quotas.get("studies", {})},
    ]
    return an_open_study(session, participants=9, personal_fields=fields)


def come(session, study, name, age, studies="none", **arrival):
    participant = agree(session, study, name, **arrival)
    personal = {"age": age, "studies": studies}
    participants.store_personal_answers(session, study, participant, personal)
    return participant


def test_a_group_is_full_when_its_quota_is_reached_and_others_still_begin(session):
    study = a_study(session)
    assert come(session, study, "one", 20).status == "started"
    late = come(session, study, "two", 29)
    assert (late.status, late.personal, late.exclude_reason) == ("screened_out", {}, QUOTA_FULL)
    assert participants.is_over_quota(session, late)
    assert come(session, study, "three", 30).status == "started"
    assert come(session, study, "of no group", 70).status == "started"
    assert participants.free_slots(session, study) == 6  # who is screened out holds none
    [(label, groups)] = participant_list.list_quotas(session, study).items()
    assert (label, [tuple(group) for group in groups]) == (
        "Your age",
        [("18-29", 1, 1), ("30-49", 1, 2)],
    )


def test_every_field_with_quotas_counts(session):
    study = a_study(session, age={"18+": 5}, studies={"some": 1})
    assert come(session, study, "one", 20, "some").status == "started"
    assert come(session, study, "two", 20, "some").status == "screened_out"
    assert come(session, study, "three", 20, "none").status == "started"


def test_test_data_and_who_left_take_no_place_of_a_group(session):
    study = a_study(session)
    assert come(session, study, "bot", 20, is_test=True).status == "started"
    excluded = come(session, study, "one", 20)
    lifecycle.exclude(session, study, excluded, "Ada", "a trial")
    declined = come(session, study, "two", 20)
    participants.decline(session, declined)
    assert come(session, study, "three", 20).status == "started"
    assert come(session, study, "bot 2", 20, is_test=True).status == "started"


def test_who_corrects_an_answer_keeps_their_place_and_who_was_away_may_have_lost_it(session):
    study = a_study(session)
    first = come(session, study, "one", 20)
    again = {"age": 21, "studies": "none"}
    participants.store_personal_answers(session, study, first, again)
    assert first.personal["age"] == 21
    first.last_seen_at = now() - timedelta(days=1)
    session.commit()
    participants.require_slot(session, study, first)  # nobody else came
    assert come(session, study, "two", 20).status == "started"
    with pytest.raises(StudyFullError, match="went to someone else"):
        participants.require_slot(session, study, first)


def test_of_many_at_once_as_many_take_part_as_the_quota_has(session, engine):
    study = a_study(session, age={"18-29": 3})
    ids = [agree(session, study, f"browser {number}").id for number in range(8)]
    study_id = study.id
    session.rollback()

    def answer(participant_id):
        with Session(engine) as own:
            mine, participant = own.get(type(study), study_id), own.get(Participant, participant_id)
            personal = {"age": 20, "studies": "none"}
            participants.store_personal_answers(own, mine, participant, personal)
            return participant.status

    with ThreadPoolExecutor(8) as pool:
        statuses = [*pool.map(answer, ids)]
    assert statuses.count("started") == 3
    assert statuses.count("screened_out") == 5


@ON_SQLITE
def test_a_bundle_with_someone_over_a_quota_replicates(session):
    study = a_study(session)
    come(session, study, "one", 20)
    late = come(session, study, "two", 20).public_id
    lifecycle.close_study(session, study)
    files = open_files(io.BytesIO(b"".join(bundle.stream_bundle(session, study))), "a.zip")
    replicate(files)
    [row] = [row for row in files["participants.csv"].decode().splitlines() if late in row]
    assert row.startswith(f"{late},screened_out,,,")
    assert QUOTA_FULL in row
    session.rollback()
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "a.zip", "again", ada)
    assert copy.plan.personal_fields[0].quotas == (("18-29", 1), ("30-49", 2))


@ON_SQLITE
def test_a_plan_without_quotas_says_nothing_of_them_and_their_order_changes_nothing(session):
    plain = a_plan(personal_fields=[AGE, STUDIES])
    assert "quotas" not in str(plain.as_json())
    assert "quotas" not in str(plain.content())
    plans = [
        a_plan(personal_fields=[{**AGE, "quotas": quotas}])
        for quotas in ({"30+": 2, "18-29": 1}, {"18-29": 1, "30+": 2})
    ]
    assert plans[0].content() == plans[1].content() != plain.content()
    assert type(plain).from_json(plans[0].as_json()) == plans[0]


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ({**AGE, "quotas": {"young": 1}}, "the group 'young'; write numbers like 18-29, 30 or 65+"),
        ({**AGE, "quotas": {"30-20": 1}}, "the group '30-20'"),
        ({**AGE, "quotas": {"18-29": 1, "29+": 1}}, "quotas name 29 in two groups"),
        ({**AGE, "quotas": {"18-29": "ten"}}, "the quota of '18-29' is 'ten'; a whole number"),
        ({**AGE, "quotas": {"18-29": -1}}, "is -1; a whole number from 0 on"),
        ({**AGE, "quotas": ["18-29"]}, "need a number for each group, like 18-29: 10"),
        ({**STUDIES, "quotas": {"much": 1}}, "quotas name 'much', which is no option of studies"),
        ({**AGE, "kind": "text", "quotas": {"a": 1}}, "age is a text; they need groups"),
    ],
)
def test_a_wrong_quota_is_named_with_what_is_allowed(field, text):
    with pytest.raises(PlanError) as raised:
        PersonalField.from_json(field)
    assert text in str(raised.value)


@ON_SQLITE
def test_the_check_says_where_quotas_do_not_add_up(session):
    texts = [finding.text for finding in lifecycle.check_study(session, a_study(session))]
    assert (
        "the quotas of age add up to 3, and 9 are wanted: only people without a group could "
        in ("".join(texts))
    )
    study = an_open_study(
        session, "more", participants=2, personal_fields=[{**AGE, "quotas": {"18+": 3}}]
    )
    texts = [finding.text for finding in lifecycle.check_study(session, study)]
    assert "the quotas of age add up to 3, and 2 are wanted: some groups stay short" in texts
