"""Links as people get them, from mails, chats and platforms: all lead on, none is misread."""

from urllib.parse import quote, unquote

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from survey.db.models import Identity, Participant
from survey.services import accounts
from survey.services.studies import recruitment
from survey.web.links import sent_values
from tests.builders import KEY, an_open_study

SLUG = "five-systems"
TAILS = (
    *(".", ",", ")", "%3E", "%20", "%E2%80%8B", ";", ":", "!", "%3F", "'", "%22", "]"),
    *("%E2%80%9D", "%C2%A0", "%EF%BB%BF", ").", ".%20"),
)
AFTER_PATHS = (*TAILS, "/.", "/)", "%C2%B2", "%2A", "%5C", "%2F.")
NAMES = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "guest")


@pytest.fixture
def study(session):
    return an_open_study(session, SLUG)


@pytest.mark.parametrize("tail", AFTER_PATHS)
def test_what_follows_a_link_in_a_sentence_is_left_out(client, study, tail):
    for page in ("", "/done"):
        answer = client.get(f"/s/{SLUG}{page}{tail}?STUDY_ID=a%26b")
        assert answer.location == f"/s/{SLUG}{page}?STUDY_ID=a%26b"
    assert client.get(f"/s/{SLUG}{tail}", follow_redirects=True).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/s/FIVE-SYSTEMS", "/s/Five-Systems", "/S/FIVE-SYSTEMS", "/s/%3Cfive-systems%3E"),
        *("/s/five%E2%80%93systems", "/s/five%E2%80%91systems", "/s/five-%C2%ADsystems."),
    ],
)
def test_capitals_and_signs_that_programs_put_in_are_undone(client, study, path):
    assert client.get(path).location == f"/s/{SLUG}"
    assert client.head(path).location == f"/s/{SLUG}"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/s/five-systems%252E", "/s/five-systems"),
        ("/S/FIVE-SYSTEMS/MY-DATA", "/s/five-systems/my-data"),
        *(("/STUDIES", "/studies"), ("/studies.", "/studies"), ("/Studies).", "/studies")),
    ],
)
def test_other_public_addresses_are_mended_too(client, study, path, meant):
    assert client.get(path).location == meant
    assert client.get(meant, follow_redirects=True).status_code == 200


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("%3Fguest%3DABC", "guest=ABC"),
        ("&PROLIFIC_PID=x", "PROLIFIC_PID=x"),
        (".%3FPROLIFIC_PID=x&a=%0A", "PROLIFIC_PID=x&a=%0A"),
    ],
)
def test_a_query_that_became_part_of_the_path_is_a_query_again(client, study, path, query):
    assert client.get(f"/s/{SLUG}{path}").location == f"/s/{SLUG}?{query}"


@pytest.mark.parametrize(
    "path", ["/s/five", "/s/five_systems", "/s/five%20systems", "/s/five-systems.Thanks", "/s/%20"]
)
def test_no_link_leads_to_a_study_that_it_does_not_name(client, session, study, path):
    an_open_study(session, "five")
    answer = client.get(path, follow_redirects=True)
    wanted = 200 if path == "/s/five" else 404
    assert answer.status_code == wanted


@pytest.mark.parametrize(
    "query", [b"a=%0d%0a", b"\r\nX-Own: 1", b"C\xabv\xd4\r\x08", b"a=%C3%A9&b=+"]
)
def test_a_query_that_is_led_on_is_no_header_of_its_own(client, study, query):
    environ = {"QUERY_STRING": query.decode("latin-1")}
    answer = client.get(f"/s/{SLUG}.", environ_overrides=environ)
    assert answer.status_code == 302
    assert answer.location.startswith(f"/s/{SLUG}?")
    assert "X-Own" not in answer.headers


@pytest.mark.parametrize("page", ["a%20b", "q/one two", "%C3%A9t%C3%A9"])
def test_a_page_that_there_is_not_leads_nowhere(client, study, page):
    assert client.get(f"/s/{SLUG}/{page}", follow_redirects=True).status_code == 404


def test_a_form_is_led_nowhere(client, study):
    assert client.post(f"/s/{SLUG}./begin").status_code in (400, 404)


def test_the_published_page_and_researchers_links_have_tails_too(client, session):
    token = accounts.add_researcher(session, "Ada")[1]
    session.rollback()
    assert client.get("/studies/Five-Systems.").location == "/studies/five-systems"
    for tail in (".", ")", "%3E", "%E2%80%8B"):
        answer = client.get(f"/research/welcome/{token}{tail}")
        assert answer.location == f"/research/welcome/{token}"
    assert client.get(answer.location).status_code == 200


@pytest.mark.parametrize("tail", [*TAILS, "%C2%AD-", "%0A", "&amp;x=1", "?PROLIFIC_PID=1"])
def test_a_personal_link_is_known_with_what_follows_it(client, session, study, tail):
    recruitment.add_guests(session, study, ["Ann"])
    token = recruitment.link_token(KEY, recruitment.guests_of(session, study)[0])
    for sent in (token, token.lower(), f"{token[:8]}%E2%80%8B{token[8:]}"):
        begin(client, f"guest={sent}{tail}")
    session.expire_all()
    assert recruitment.guests_of(session, study)[0].participant is not None
    assert session.query(Participant).count() == 1


def begin(client, query):
    """Open a link and press its button; return what its page says."""
    page = BeautifulSoup(client.get(f"/s/{SLUG}?{query}").text, "html.parser")
    form = page.select_one("form[action*='/begin']")
    if form is not None:
        sent = {one["name"]: one["value"] for one in form.select("input")}
        client.post(form["action"], data=sent)
    return " ".join(page.main.text.split())


WHOLE = {"PROLIFIC_PID": "CCC333", "STUDY_ID": "ST1", "SESSION_ID": "SE3"}


@pytest.mark.parametrize(
    "query",
    [
        "PROLIFIC_PID=CCC333&STUDY_ID=ST1&SESSION_ID=SE3",
        "PROLIFIC_PID=CCC333&amp;STUDY_ID=ST1&amp;SESSION_ID=SE3",
        "PROLIFIC_PID=CCC333&amp;amp;STUDY_ID=ST1&amp%3BSESSION_ID=SE3",
        "PROLIFIC_PID=CCC333%26STUDY_ID%3DST1%26SESSION_ID%3DSE3",
        "PROLIFIC_PID%3DCCC333%26STUDY_ID%3DST1%26SESSION_ID%3DSE3",
        "PROLIFIC_PID%3DCCC333%26STUDY_ID%3DST1%26SESSION_ID=SE3",
        "PROLIFIC_PID%253DCCC333%2526STUDY_ID%253DST1%2526SESSION_ID%253DSE3",
        "PROLIFIC_PID%3DCCC333%26amp%3BSTUDY_ID%3DST1%26amp%3BSESSION_ID%3DSE3",
        "PROLIFIC_PID=&STUDY_ID=ST1&SESSION_ID=SE3&PROLIFIC_PID=CCC333",
        "STUDY_ID=&PROLIFIC_PID=%20&PROLIFIC_PID=CCC333&study_id=ST1&session_id=SE3",
        "utm_source=mail?PROLIFIC_PID=CCC333?STUDY_ID=ST1&SESSION_ID=SE3",
        "utm_source=a%26b&PROLIFIC_PID=CCC333&utm_medium=c&STUDY_ID=ST1&SESSION_ID=SE3%29.",
        "?PROLIFIC_PID=CCC333&STUDY_ID=%E2%80%8BST1%20&SESSION_ID=SE3%E2%80%8B,",
        "PROLIFIC_PID=CCC333&STUDY_ID=ST1&SESSION_ID=SE3%2529.",
        "STUDY_ID=ST1&SESSION_ID=SE3&PROLIFIC_PID=CCC333).&fbclid=x.y",
        "PROLIFIC_PID=%2543CC333&STUDY_ID=ST1&SESSION_ID=SE3%3E",
    ],
)
def test_the_parameters_of_a_changed_query_are_those_that_were_sent(client, session, study, query):
    begin(client, query)
    identity = session.query(Identity).one()
    assert identity.external_id == "CCC333"
    assert identity.parameters == WHOLE


@pytest.mark.parametrize("external_id", ["a%26b", "a%3Db", "a%26other%3D1", "%3D", "a=b"])
def test_an_id_with_a_part_of_the_link_is_no_id(client, session, study, external_id):
    says = begin(client, f"PROLIFIC_PID={external_id}&STUDY_ID=ST1")
    assert "This link was changed on its way" in says
    assert not session.query(Participant).count()


def test_what_a_captured_parameter_holds_is_stored_as_it_is(client, session, study):
    begin(client, "PROLIFIC_PID=x&STUDY_ID=a%3Db%26c%3Dd&SESSION_ID=100%25")
    assert session.query(Identity).one().parameters == {
        "PROLIFIC_PID": "x",
        "STUDY_ID": "a=b&c=d",
        "SESSION_ID": "100%",
    }


def test_a_plus_in_a_query_that_was_encoded_twice_stays_a_plus():
    for query in ("PROLIFIC_PID=a%2Bb&STUDY_ID=s", "PROLIFIC_PID%3Da%252Bb%26STUDY_ID%3Ds"):
        assert sent_values(query, [], NAMES) == {"PROLIFIC_PID": "a+b", "STUDY_ID": "s"}


VALUES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1), st.integers(0, 3), st.data())
def test_any_values_come_through_however_often_the_query_was_encoded(values, times, data):
    query = "&".join(f"{name}={quote(value)}" for name, value in values.items())
    glue = data.draw(st.sampled_from(["&", "&amp;", "&amp;amp;"]))
    query = query.replace("&", glue)
    for _ in range(times):
        query = quote(query, safe="")
    tail = data.draw(st.sampled_from(TAILS))
    assert sent_values(query + tail, [], NAMES) == values


@given(st.text(max_size=80), st.text(max_size=30))
def test_any_query_is_read(query, name):
    found = sent_values(quote(query, safe="&=%?;"), [(name, unquote(query))], NAMES)
    assert set(found) <= set(NAMES)
    assert all(value == value.strip() and value for value in found.values())
