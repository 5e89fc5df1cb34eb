"""Promise 4: an id of another researcher's study opens nothing, wherever it is put."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from survey import tokens
from survey.app import db
from survey.db.models import Participant, SignIn
from tests.builders import KEY
from tests.promises.cast import CANARY, csrf_of
from tests.promises.permissions import ROWS

OF_STUDIES = [row for row in ROWS if row.address.startswith("/research/studies/")]
WITH_IDS = [row for row in OF_STUDIES if "{" in row.address]
NO_IDS = ["preview/1234/question/1", "preview/132/question/2", "files/{participant}"]
CONFIRMED = ("/delete", "/password", "/unblind", "/bundle-with-identities.zip")


def comparable(world, answer, slug):
    """An answer without what differs from one request to the next, and without the address."""
    body = re.sub(r'name="csrf_token"[^>]*>', "", answer.get_data(as_text=True))
    return answer.status_code, answer.location, answer.mimetype, body.replace(slug, "")


@pytest.mark.slow
@pytest.mark.parametrize("role", ["none", "stranger"])
def test_a_study_of_others_is_answered_like_one_that_is_not_there(world, role, measured):
    world.restore()
    client = world.client(role)
    for row in OF_STUDIES:
        answer = world.send(client, row)
        # The same ids again, so that nothing but the study's address differs.
        there = replace(row, address=world.address_of(row).replace(row.slug, "no-such"))
        nothing = world.send(client, there)
        assert answer.status_code == 404
        assert comparable(world, answer, row.slug) == comparable(world, nothing, "no-such"), row
    assert world.content() == world.before
    measured(
        f"{len(OF_STUDIES)} addresses of another researcher's study, asked for by "
        f"{'an owner of another' if role == 'stranger' else 'a researcher without one'}: 404 to "
        "each, equal to the answer for a study that does not exist."
    )


def test_ids_of_another_study_in_an_address_of_ones_own_are_not_found(world):
    world.restore()
    client = world.client("stranger")
    others = [
        replace(WITH_IDS[0], method="GET", address=f"/research/studies/my-closed/{rest}")
        for rest in NO_IDS
    ]
    for row in [*WITH_IDS, *others]:
        mine = replace(row, address=world.address_of(row).replace("my-", "their-"))
        answer = world.send(client, mine)
        assert answer.status_code == 404, mine
        assert CANARY["my"] not in answer.get_data(as_text=True)
    assert world.content() == world.before


def rows_of_mine(content):
    """The rows that belong to the studies of the owner, table by table."""
    rows = {table: [dict(row) for row in found] for table, found in content.items()}
    studies = {row["id"] for row in rows["study"] if row["slug"].startswith("my-")}
    people = {row["id"] for row in rows["participant"] if row["study_id"] in studies}
    return {
        table: {
            tuple(row.items())
            for row in found
            if row.get("study_id") in studies
            or row.get("participant_id") in people
            or (table == "study" and row["id"] in studies)
        }
        for table, found in rows.items()
    }


@pytest.mark.trial
def test_ids_of_another_study_in_the_fields_of_a_form_reach_nothing_of_it(world, measured):
    mine = sorted({one for name, one in world.ids.items() if ":" in name})
    mine += ["my-draft", "my-open", "my-closed", world.ids["viewer"], f"{CANARY['my']} pid", "1"]
    rows = [
        replace(row, address=row.address.replace("my-", "their-"))
        for row in OF_STUDIES
        if row.method == "POST" and row.answers["owner"] not in ("403", "404")
    ]
    world.restore()
    kept, sent = rows_of_mine(world.before), 0
    for row in [row for row in rows if row.form]:
        for one in mine:
            client = world.client("stranger")
            fields = dict.fromkeys(row.form, one) | {"csrf_token": csrf_of(client)}
            answer = client.post(world.address_of(row), data=fields, follow_redirects=True)
            shown = answer.get_data().decode(errors="replace").replace(f"{CANARY['my']} pid", "")
            assert answer.status_code < 500
            assert CANARY["my"] not in shown, (row, one)
            content, sent = world.content(), sent + 1
            assert {t: r & content[t] for t, r in kept.items()} == kept, (row, one)
            if content != world.before:
                world.restore()
    measured(
        f"{len(mine)} ids of another researcher's studies in every field of {sent // len(mine)} "
        f"forms of one's own: {sent} requests, 0 bytes of the other's data shown, 0 rows changed."
    )


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/resume", {"code": "{my-open:code}"}, 404),
        ("/begin", {"guest": "{my-open:link}"}, 404),
        ("?guest={my-open:link}", None, 404),
        ("/consent", {"agree": "y", "consent_version": "{my-open:consent}"}, 409),
        ("/q/1", {"choice": "1", "submission_key": "{my-open:key1}"}, 409),
    ],
)
def test_what_opens_one_study_opens_no_other(world, path, fields, status):
    world.restore()
    client = world.client("foreign")
    ids = {f"{{{name}}}": one for name, one in world.ids.items()}

    def named(text):
        return ids.get(text) or re.sub(r"\{.*\}", lambda found: ids[found[0]], text)

    address = f"/s/their-open{named(path)}"
    if fields is None:
        answer = client.get(address)
    else:
        typed = {name: named(value) for name, value in fields.items()}
        answer = client.post(address, data={**typed, "csrf_token": csrf_of(client)})
    assert answer.status_code == status
    assert CANARY["my"] not in answer.get_data(as_text=True)
    assert without_refusals(world.content()) == without_refusals(world.before)


def without_refusals(content):
    """The rows without how often a form was refused, which is counted for whoever sent it."""
    counted = ("refusals", "last_refusal")
    rows = ([pair for pair in row if pair[0] not in counted] for row in content["presentation"])
    return {**content, "presentation": sorted(rows)}


def test_a_platforms_id_and_a_token_for_tests_count_in_their_own_study_only(world):
    world.restore()
    client = world.client("anonymous")
    token = tokens.test_run_token(KEY, "my-open")
    fields = {"PROLIFIC_PID": f"{CANARY['my']} pid", "test": token}
    client.post("/s/their-open/begin", data={**fields, "csrf_token": csrf_of(client)})
    with world.app.app_context():
        newest = db.session.query(Participant).order_by(Participant.id.desc()).first()
        assert newest.public_id not in world.ids.values()
        assert newest.is_test is False
        db.session.remove()
    assert rows_of_mine(world.content()) == rows_of_mine(world.before)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_done_lightly_asks_for_the_password_again(world, method):
    world.restore()
    with world.app.app_context():
        for one in db.session.query(SignIn):
            one.confirmed_at -= timedelta(minutes=11)
        db.session.commit()
        db.session.remove()
    before, asked = world.content(), 0
    for row in ROWS:
        if row.method == method and row.address.endswith(CONFIRMED):
            answer = world.send(world.client("owner"), row)
            assert answer.status_code == 303 or "confirm_password" in answer.text, row
            assert world.content() == before, row
            asked += 1
    assert asked == {"GET": 1, "POST": 6}[method]
