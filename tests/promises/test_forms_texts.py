"""Promise 5: texts that not every database keeps have the same fate on both."""

import pytest

from survey.db.models import Participant
from tests.builders import SLUG, Visitor
from tests.promises.voters import a_study_with_a_remark, a_voter, post

pytestmark = pytest.mark.slow

REFUSED = None
# What is sent, and what is stored of it.
NUL_AND_KIN: dict[str, tuple[bytes, str | None]] = {
    "a NUL": (b"a\0b", REFUSED),
    "nothing but a NUL": (b"\0", REFUSED),
    "half a character": (b"\xed\xa0\x80", "%ED%A0%80"),  # as it came, in ASCII
    "no UTF-8": (b"\xff\xfe", "%FF%FE"),
    "right to left": ("\u202eabc".encode(), "\u202eabc"),
    "full width": ("１２".encode(), "１２"),
    "beyond the BMP": ("🧑‍🚀".encode(), "🧑‍🚀"),
    "500 signs": ("ﷺ".encode() * 500, "ﷺ" * 500),
    "501 signs": ("ﷺ".encode() * 501, REFUSED),
}


@pytest.fixture
def visitor(client, session):
    a_study_with_a_remark(session)
    return Visitor(client)


@pytest.fixture
def voter(client, visitor):
    return a_voter(client)


@pytest.mark.parametrize("case", NUL_AND_KIN)
def test_a_text_has_the_same_fate_on_both_databases(voter, session, case):
    text, stored = NUL_AND_KIN[case]
    voter.open("/about-you")
    answer = post(voter, "/about-you", remark=text)
    assert answer.status_code == (400 if stored is REFUSED else 303)
    assert stored is not REFUSED or 'href="#remark"' in answer.text
    session.rollback()
    kept = session.query(Participant).one().personal["remark"]
    assert kept == ("none" if stored is REFUSED else stored)


@pytest.mark.parametrize("text", [b"\0", b"a\0b", b"\xed\xa0\x80"])
def test_a_code_or_a_link_that_nobody_could_store_is_nobodys(app, visitor, text):
    visitor.open()
    answer = post(visitor, "/resume", code=text)
    assert answer.status_code in (400, 404)
    assert 'id="code"' in answer.text
    for name in ("guest", "PROLIFIC_PID", "test"):
        visitor = Visitor(app.test_client())
        visitor.open()
        visitor.client.get(f"/s/{SLUG}", query_string={name: text.decode("latin-1")})
        assert post(visitor, "/begin", **{name: text}).status_code in (303, 400, 403, 404), name
