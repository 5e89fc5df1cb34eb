"""Links that a platform signs: who they admit, and which are no better than typed ones."""

import json
import time
from functools import cache

import jwt
import pytest
from bs4 import BeautifulSoup
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from survey.core.studies.fields import PlanError
from survey.db.models import Identity, Participant
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE

PERSON, WORKSPACE, HOUR = "60d9aadeb86739de712faee0", "6655b8281cc82a88996f0bbb", 3_600


@cache
def private_key(kind):
    if kind == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65_537, 2_048)


def as_jwk(kind, public=True):
    key = private_key(kind)
    algorithm = ECAlgorithm if kind == "ES256" else RSAAlgorithm
    content = json.loads(algorithm.to_jwk(key.public_key() if public else key))
    return content | {"kid": kind, "use": "sig", "alg": kind}


def key_set(*keys):
    return json.dumps({"keys": list(keys)})


def token(kind="RS256", key=None, kid=None, algorithm=None, **changes):
    """A token as Prolific makes it, with other claims."""
    sent = {"PROLIFIC_PID": PERSON, "STUDY_ID": "s1", "SESSION_ID": "x1", "workspace_id": WORKSPACE}
    claims = {
        "iss": "https://www.prolific.com",
        "sub": "x1",
        "aud": "http://localhost/s/five-systems?PROLIFIC_PID={{%PROLIFIC_PID%}}",
        "iat": int(time.time()),
        "exp": int(time.time()) + 300,
        "prolific": sent,
        **changes,
    }
    claims = {name: value for name, value in claims.items() if value is not None}
    headers = {"kid": kid or kind}
    return jwt.encode(claims, key or private_key(kind), algorithm or kind, headers)


@pytest.fixture
def study(session):
    study = an_open_study(session)
    keys = key_set(as_jwk("RS256"), as_jwk("ES256"))
    study.recruitment = Recruitment(signing_keys=keys, workspace=WORKSPACE).as_json()
    session.commit()
    return study


@ON_BOTH
@pytest.mark.parametrize("kind", ["RS256", "ES256"])
def test_a_signed_link_leads_back_to_ones_own_pages_in_any_browser(app, session, study, kind):
    query = f"?PROLIFIC_PID={PERSON}&prolific_token={token(kind)}"
    phone, laptop = Visitor(app.test_client()), Visitor(app.test_client())
    phone.go("/q/1", query=query, age="57", education="School")
    laptop.open(query)
    assert "It goes on where you left off." in laptop.text
    laptop.submit("/begin")
    assert laptop.path == "/q/1"
    assert session.query(Participant).count() == 1
    assert session.query(Identity).one().external_id == PERSON
    laptop.open("/my-data")
    assert "57" in laptop.text


@ON_SQLITE
def test_only_a_signed_id_begins_where_a_platform_signs(app, session, study):
    visitor = Visitor(app.test_client())
    visitor.open(f"?PROLIFIC_PID={PERSON}")
    assert "this address is not signed by it, or is too old" in visitor.text
    assert not visitor.page.select("form[action$=begin]")
    visitor.open("?PROLIFIC_PID=typed&prolific_token=" + token())
    visitor.submit("/begin")
    assert session.query(Identity).one().external_id == PERSON  # not what was typed


@ON_SQLITE
def test_a_first_page_may_stay_open_longer_than_the_signature_is_good(app, session, study):
    visitor = Visitor(app.test_client())
    visitor.open("?prolific_token=" + token(exp=int(time.time()) - 50))
    assert "prolific_token" not in visitor.form("/begin").decode()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    assert session.query(Participant).one().consented_at
    other = Visitor(app.test_client())
    other.open()
    taken = {"PROLIFIC_PID": PERSON, "STUDY_ID": "s1", "SESSION_ID": "x1"}
    for fields in (taken, taken | {"arrival": "0" * 32}, taken | {"arrival": "é"}):
        csrf = other.form("/begin").select_one("[name=csrf_token]")["value"]
        page = other.page
        other.post("/begin", csrf_token=csrf, **fields)
        assert other.status == 403
        other.page = page


BAD = {
    "expired": lambda: token(exp=int(time.time()) - HOUR),
    "no end": lambda: token(exp=None),
    "no audience": lambda: token(aud=None),
    "other site": lambda: token(aud="https://other.example/s/five-systems"),
    "several sites": lambda: token(aud=["localhost"]),
    "other workspace": lambda: token(prolific={"PROLIFIC_PID": PERSON, "workspace_id": "x"}),
    "no workspace": lambda: token(prolific={"PROLIFIC_PID": PERSON}),
    "no parameters": lambda: token(prolific=PERSON),
    "other key": lambda: token(key=rsa.generate_private_key(65_537, 2_048)),
    "unknown key": lambda: token(kid="new"),
    "header alone": lambda: token().partition(".")[0],
    "unsigned": lambda: jwt.encode({"prolific": {}}, None, "none", {"kid": "RS256"}),
    "key as a secret": lambda: token(
        key="a shared secret of some length, thirty-two", algorithm="HS256"
    ),
    "cut": lambda: token()[:-9],
    "changed": lambda: token().replace(".", ".e30", 1),
    "nothing": lambda: "",
    "no text": lambda: "\x00.é.%7B",
    "deep": lambda: "[" * 8_000,
}


@ON_SQLITE
@pytest.mark.parametrize("fault", BAD)
def test_a_token_that_is_not_valid_is_no_better_than_a_typed_id(app, session, study, fault):
    client = app.test_client()
    answer = client.get(
        "/s/five-systems", query_string={"PROLIFIC_PID": PERSON, "prolific_token": BAD[fault]()}
    )
    assert answer.status_code == 200
    page = BeautifulSoup(answer.text, "html.parser")
    assert "not signed by it, or is too old" in page.text
    assert not page.select("form[action$=begin]")


@pytest.mark.parametrize(
    ("keys", "workspace", "fault"),
    [
        ("https://api.prolific.com", WORKSPACE, "no set of public keys"),
        ("[]", WORKSPACE, "no set of public keys"),
        ('{"keys": []}', WORKSPACE, "no set of public keys"),
        ('{"keys": [7]}', WORKSPACE, "no set of public keys"),
        (key_set({"kty": "oct", "k": "c2VjcmV0", "kid": "x"}), WORKSPACE, "no set of public keys"),
        (key_set(as_jwk("RS256", public=False)), WORKSPACE, "no set of public keys"),
        (key_set(as_jwk("RS256")), "", "signing_keys needs the workspace"),
    ],
)
def test_keys_that_could_verify_nothing_or_sign_are_refused(keys, workspace, fault):
    with pytest.raises(PlanError, match=fault):
        Recruitment(signing_keys=keys, workspace=workspace)
