"""How participants come and go: personal links, platforms, codes, screening, rank first."""

import csv
import io
import json
import zipfile
from datetime import datetime

import pytest
from sqlalchemy import text

from survey.core.studies.rankings import Ranking
from survey.db.models import Guest, Identity, Participant, StoredResponse
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.rows import shown_rows


@pytest.fixture
def study(session):
    return an_open_study(session)


def recruit(session, study, **settings):
    study.recruitment = Recruitment(**settings).as_json()
    session.commit()


def link_of(session, study, name="Ann"):
    recruitment.add_guests(session, study, [name])
    guest = next(one for one in recruitment.guests_of(session, study) if one.name == name)
    return f"?guest={recruitment.link_token(KEY, guest)}"


@ON_BOTH
def test_a_personal_link_is_good_for_one_participant_on_any_device(app, session, study):
    recruit(session, study, access="personal")
    link = link_of(session, study)
    phone, laptop = Visitor(app.test_client()), Visitor(app.test_client())
    phone.open(link)
    assert session.query(Participant).count() == 0  # opening a link costs nothing
    phone.submit("/begin")
    phone.submit("/consent", agree="y")
    assert "Open your personal link again, on this device or on another" in phone.text
    assert "type this code" not in phone.text
    laptop.open(link)
    assert "It goes on where you left off." in laptop.text
    laptop.submit("/begin")
    assert laptop.path == "/about-you"
    assert session.query(Participant).count() == 1
    session.expire_all()
    assert session.query(Guest).one().participant.status == "started"


def test_on_a_shared_computer_each_link_leads_to_its_own_participant(client, session, study):
    visitor = Visitor(client)
    for name in ("Ann", "Bob"):
        visitor.open(link_of(session, study, name))
        visitor.submit("/begin")
    assert session.query(Participant).count() == 2
    visitor.open(link_of(session, study, "Ann"))
    assert "It goes on where you left off." in visitor.text


@ON_SQLITE
def test_without_a_link_nobody_begins_where_one_is_needed(client, session, study):
    recruit(session, study, access="personal")
    visitor = Visitor(client)
    visitor.open()
    assert "open the personal link that the researchers sent you" in visitor.text
    assert not visitor.page.select("form[action$=begin]")
    visitor.open("?guest=NOTALINK")
    assert visitor.status == 404
    assert "not complete, or it was withdrawn" in visitor.text


def test_a_platforms_parameters_are_kept_apart_from_the_answers(client, session, study):
    visitor = Visitor(client)
    visitor.open("?PROLIFIC_PID=p%3C1&STUDY_ID=s1&SESSION_ID=x1&other=no")
    assert session.query(Identity).count() == 0
    visitor.submit("/begin")
    identity = session.query(Identity).one()
    assert identity.external_id == "p<1"
    assert identity.parameters == {"PROLIFIC_PID": "p<1", "STUDY_ID": "s1", "SESSION_ID": "x1"}


@ON_BOTH
def test_knowing_an_id_opens_nothing_of_the_person_who_has_it(app, session, study):
    person, other = Visitor(app.test_client()), Visitor(app.test_client())
    person.go("/q/2", query="?PROLIFIC_PID=p1", age="57", education="School")
    code = person.page.select_one("strong.code").text
    other.open()
    page = other.page
    other.open("?PROLIFIC_PID=p1")
    assert "Someone has begun this survey with the id in your link" in other.text
    assert other.page.select_one("details[open] #code")
    assert not other.page.select("form[action$=begin]")
    other.page = page  # a form from before
    token = other.form("/begin").select_one("[name=csrf_token]")["value"]
    for path in ("/begin", "/stop", "/erase", "/consent", "/about-you", "/q/1", "/review"):
        other.post(path, csrf_token=token, PROLIFIC_PID="p1", sure="y", age="99", choice="2")
        assert "57" not in other.text
    for path in ("/my-data", "/my-data.json", "/about-you", "/q/1", "/review", "/done", "/stopped"):
        other.open(f"{path}?PROLIFIC_PID=p1")
        assert other.path in ("", "/my-data"), path
        assert "57" not in other.text
        assert code not in other.text
    stored = session.query(Participant).one()
    assert (stored.status, stored.personal["age"]) == ("started", 57)
    other.open("?PROLIFIC_PID=p1")
    other.submit("/resume", code=code)
    assert other.path == "/q/2"


@ON_SQLITE
def test_beginning_from_an_old_page_with_a_taken_id_asks_for_the_code(app, session, study):
    late, person = Visitor(app.test_client()), Visitor(app.test_client())
    late.open("?PROLIFIC_PID=p1")
    person.go("/about-you", query="?PROLIFIC_PID=p1")
    late.submit("/begin")
    assert late.status == 403
    assert "Someone has begun this survey" in late.text
    assert late.page.select_one("details[open] #code")


@ON_SQLITE
def test_a_placeholder_in_a_link_is_explained_to_the_researcher(client, session, study):
    visitor = Visitor(client)
    visitor.open("?PROLIFIC_PID={{%25PROLIFIC_PID%25}}&STUDY_ID={{%25STUDY_ID%25}}")
    assert visitor.status == 200
    assert "This link is not complete" in visitor.text
    assert "For researchers: open the link from your platform" in visitor.text
    assert not visitor.page.select("form[action$=begin]")


@ON_SQLITE
def test_whoever_finishes_gets_the_code_and_the_way_back_again_and_again(client, session, study):
    recruit(
        session,
        study,
        code_complete="DONE-1",
        code_declined="NO-2",
        code_screened_out="OUT-3",
        return_url="https://x.example/?cc={code}&who={participant_id}",
    )
    visitor = Visitor(client)
    visitor.open("?PROLIFIC_PID=p1")
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", age="23", education="School")
    visitor.submit("/scenario")
    visitor.open("/practice?step=4")
    visitor.submit("/practice")
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", choice="1")
    visitor.submit("/review")
    for path in ("/done", "/q/2", ""):
        visitor.open(path)
        if path:
            assert "DONE-1" in visitor.text
            link = visitor.page.select_one(".way-back a")["href"]
            assert link == "https://x.example/?cc=DONE-1&who=p1"
        assert "NO-2" not in visitor.text
        assert "OUT-3" not in visitor.text


@ON_SQLITE
def test_whoever_declines_gets_another_code(client, session, study):
    recruit(session, study, code_complete="DONE-1", code_declined="NO-2")
    visitor = Visitor(client)
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/decline")
    assert "NO-2" in visitor.text
    assert "DONE-1" not in visitor.text


@ON_SQLITE
def test_without_a_code_for_an_end_no_way_back_credits_it(client, session, study):
    recruit(session, study, code_complete="DONE-1", return_url="https://x.example/?cc={code}")
    visitor = Visitor(client)
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/decline")
    assert not visitor.page.select(".way-back, .receipt")


@ON_SQLITE
def test_an_option_can_screen_out(client, session):
    study = an_open_study(
        session,
        "screening",
        personal_fields=[
            {
                "name": "adult",
                "label": "Are you 18 or older?",
                "kind": "choice",
                "options": ["Yes", "No"],
                "screen_out": ["No"],
            }
        ],
    )
    recruit(session, study, code_complete="DONE-1", code_screened_out="OUT-3")
    visitor = Visitor(client, "screening")
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", adult="No")
    for path in ("", "/consent", "/about-you", "/scenario", "/q/1", "/review", "/done"):
        visitor.open(path)
        if path:
            assert visitor.path == "/screened-out", path
            assert "looking for other people" in visitor.text
            assert "OUT-3" in visitor.text
        assert "DONE-1" not in visitor.text
    assert session.query(Participant).one().status == "screened_out"


@ON_SQLITE
def test_latecomers_read_a_friendly_page(app, session):
    an_open_study(session, "small", participants=1)
    first, late = Visitor(app.test_client(), "small"), Visitor(app.test_client(), "small")
    later = Visitor(app.test_client(), "small")
    late.open()
    late.submit("/begin")  # begun in time, agreed too late
    later.open()
    first.open()
    first.submit("/begin")
    first.submit("/consent", agree="y")
    assert first.path == "/about-you"
    late.submit("/consent", agree="y")
    assert late.status == 403
    assert "All places are taken" in late.text
    later.submit("/begin")
    assert later.status == 403
    later.open()
    assert later.status == 200
    assert "Enough people have taken part already" in later.text
    agreed = session.query(Participant).filter(Participant.consented_at.is_not(None))
    assert agreed.count() == 1


@ON_BOTH
def test_changing_ones_mind_takes_a_place_only_while_one_is_free(app, session):
    an_open_study(session, "small", participants=1)
    first, second = Visitor(app.test_client(), "small"), Visitor(app.test_client(), "small")
    first.open()
    first.submit("/begin")
    first.submit("/decline")
    second.open()
    second.submit("/begin")
    second.submit("/consent", agree="y")
    first.open("/consent")
    first.submit("/consent", agree="y")
    assert first.status == 403
    assert "All places are taken" in first.text


def test_agreeing_can_be_taken_back_until_the_questions_come(client, session, study):
    visitor = Visitor(client)
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", age="23", education="School")
    visitor.open("/consent")
    visitor.submit("/decline")
    assert visitor.path == "/declined"
    participant = session.query(Participant).one()
    assert (participant.status, participant.consented_at, participant.personal) == (
        "declined",
        None,
        {},
    )


@ON_SQLITE
def test_the_page_of_declining_is_for_those_who_declined(client, session, study):
    visitor = Visitor(client)
    visitor.open()
    visitor.submit("/begin")
    visitor.open("/declined")
    assert visitor.path == "/consent"


@ON_SQLITE
def test_ones_own_ranking_is_asked_before_any_method_is_seen(client, session):
    an_open_study(session, "rank-first", columns="after")
    visitor = Visitor(client, "rank-first")
    visitor.start()
    places = {f"rank_{letter}": place for letter, place in zip("ABCDE", "11111", strict=True)}
    assert visitor.page.h1.text == "Put the five systems in order, best first"
    assert "Method" not in visitor.page.select_one("form#vote").get_text()
    assert not visitor.page.select("[name=choice]")
    visitor.submit("/q/1", rank_A="1")
    assert visitor.status == 400
    assert "give a place to B, C, D and E" in visitor.text
    marked = [select["id"] for select in visitor.page.select("select[aria-invalid]")]
    assert marked == ["rank-B", "rank-C", "rank-D", "rank-E"]
    visitor.submit("/q/1", **places)
    assert visitor.path == "/q/1"
    assert visitor.page.select_one("#rank-B option[selected]").text == "1"
    assert visitor.page.select_one("[name=choice]")["value"] == "own"
    assert [box["value"] for box in visitor.page.select("[name=choice][checked]")] == ["own"]
    visitor.submit("/q/1", choice="own", **places)
    [(_, drawn)] = shown_rows(session, position=1)
    assert drawn.ranked_first == Ranking.parse("A=B=C=D=E")
    assert session.query(StoredResponse).count() == 1


def test_the_first_ranking_counts_whatever_is_posted_later(client, session):
    an_open_study(session, "rank-first", columns="after", practice=False)
    visitor = Visitor(client, "rank-first")
    visitor.prepare()
    visitor.open("/q/1")
    first = {f"rank_{letter}": "1" for letter in "ABCDE"}
    page = visitor.page
    visitor.submit("/q/1", **first)
    visitor.page = page
    visitor.insist("/q/1", **{**first, "rank_E": "5"})  # the old form once more
    [(_, drawn)] = shown_rows(session, position=1)
    assert drawn.ranked_first == Ranking.parse("A=B=C=D=E")


@pytest.mark.slow
@ON_SQLITE
def test_seconds_of_an_answer_that_was_refused_are_not_lost(client, session, study):
    visitor = Visitor(client)
    visitor.start()
    visitor.submit("/q/1", active_seconds="55.0")
    assert visitor.status == 400
    assert visitor.page.select_one("[name=active_seconds]")["value"] == "55.0"


@ON_SQLITE
def test_a_write_that_fails_half_way_is_explained_and_the_next_one_works(client, session, study):
    visitor = Visitor(client)
    visitor.start()
    page = visitor.page
    fault = (
        "CREATE TRIGGER fault BEFORE INSERT ON revision BEGIN SELECT RAISE(ABORT, 'broken'); END"
    )
    session.execute(text(fault))
    session.commit()
    visitor.submit("/q/1", choice="1")
    assert visitor.status == 500
    assert "What you had saved is safe." in visitor.text
    session.execute(text("DROP TRIGGER fault"))
    session.commit()
    visitor.page = page
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/2"


ASSIGNED = {"id_parameter": "workerId", "capture": ("assignmentId", "hitId")}
RETURN_URL = "https://work.example/done?who={participant_id}&which={session_id}&of={study_id}"


def sent(assignment, hit, worker="W5"):
    return f"?assignmentId={assignment}&hitId={hit}&workerId={worker}"


def identities(session, study):
    """The rows of identities.csv."""
    session.expire_all()
    bundle = io.BytesIO(b"".join(stream_bundle(session, study, with_identities=True)))
    with zipfile.ZipFile(bundle) as files:
        text = files.read("identities.csv").decode()
    return [*csv.DictReader(io.StringIO(text))]


@ON_BOTH
@pytest.mark.parametrize("until", ["/consent", "/q/1", "/done"])
def test_who_comes_back_with_another_assignment_is_credited_for_it(client, session, study, until):
    recruit(session, study, **ASSIGNED, return_url=RETURN_URL)
    visitor = Visitor(client)
    visitor.go(until, query=sent("A1", "H1"))
    for assignment, hit in (("A2", "H2"), ("A2", "H2"), ("A3", "H2")):
        visitor.open(sent(assignment, hit))
        if visitor.page.select("form[action$='/begin']"):
            visitor.submit("/begin")
    assert visitor.path.endswith(until)
    rows = identities(session, study)
    assert [json.loads(row["parameters"]) for row in rows] == [
        {"workerId": "W5", "assignmentId": name, "hitId": hit}
        for name, hit in (("A1", "H1"), ("A2", "H2"), ("A3", "H2"))
    ]
    assert {row["external_id"] for row in rows} == {"W5"}
    times = [row["arrived_at"] for row in rows]
    assert times == sorted(times)
    assert all(times)
    data = client.get(f"/s/{study.slug}/my-data.json").get_json()
    assert data["sent_by_a_platform"]["assignmentId"] == "A3"
    assert [one["parameters"]["assignmentId"] for one in data["sent_before"]] == ["A1", "A2"]
    assert datetime.fromisoformat(data["sent_again"])
    visitor.open("/my-data")
    assert "Sent by the page you came from before: assignmentId A1" in visitor.text
    if until == "/done":
        visitor.open("/done")
        back = visitor.page.select_one("a[href*='work.example']")["href"]
        assert back == "https://work.example/done?who=W5&which=A3&of=H2"


@ON_SQLITE
def test_the_code_typed_on_another_device_brings_the_new_assignment_along(app, session, study):
    recruit(session, study, **ASSIGNED)
    laptop, phone = Visitor(app.test_client()), Visitor(app.test_client())
    laptop.open(sent("A1", "H1"))
    laptop.submit("/begin")
    laptop.submit("/consent", agree="y")
    code = laptop.page.select_one(".code").text
    phone.open(sent("A2", "H2"))
    assert "Someone has begun this survey with the id in your link" in phone.text
    phone.submit("/resume", code=code)
    assert phone.path == "/about-you"
    kept = [json.loads(row["parameters"])["assignmentId"] for row in identities(session, study)]
    assert kept == ["A1", "A2"]


@ON_SQLITE
@pytest.mark.parametrize(
    "link",
    [
        *(sent("A9", "H9", "W6"), "?assignmentId=A9"),
        *(sent("A9", "H9", "%"), sent("A9", "H9", "W5%3D")),
    ],
)
def test_a_code_brings_along_nobody_elses_id(app, session, study, link):
    recruit(session, study, **ASSIGNED)
    laptop, phone = Visitor(app.test_client()), Visitor(app.test_client())
    laptop.open(sent("A1", "H1"))
    laptop.submit("/begin")
    laptop.submit("/consent", agree="y")
    phone.open(link)
    phone.submit("/resume", code=laptop.page.select_one(".code").text)
    assert phone.path == "/about-you"
    assert [row["external_id"] for row in identities(session, study)] == ["W5"]


@ON_SQLITE
def test_who_began_without_the_platform_and_types_the_code_is_credited(app, session, study):
    recruit(session, study, **ASSIGNED)
    laptop, phone = Visitor(app.test_client()), Visitor(app.test_client())
    laptop.open()
    laptop.submit("/begin")
    laptop.submit("/consent", agree="y")
    phone.open(sent("A1", "H1"))
    phone.submit("/resume", code=laptop.page.select_one(".code").text)
    rows = identities(session, study)
    assert [row["external_id"] for row in rows] == ["W5"]
    assert session.query(Participant).count() == 1


@ON_SQLITE
def test_a_closed_study_credits_who_comes_back_but_takes_no_answers(client, session, study):
    recruit(session, study, **ASSIGNED, return_url=RETURN_URL)
    visitor = Visitor(client)
    visitor.go("/done", query=sent("A1", "H1"))
    lifecycle.close_study(session, session.merge(study))
    visitor.open(sent("A2", "H2"))
    visitor.submit("/begin")
    assert visitor.path == "/done"
    assert "which=A2" in visitor.page.select_one("a[href*='work.example']")["href"]
    stranger = Visitor(client.application.test_client())
    stranger.open(sent("A3", "H3", "W7"))
    assert not stranger.page.select("form[action$='/begin']")
    assert session.query(Participant).count() == 1


@ON_SQLITE
def test_of_very_many_arrivals_the_last_hundred_are_kept(client, session, study):
    recruit(session, study, **ASSIGNED)
    visitor = Visitor(client)
    for number in range(105):
        visitor.open(sent(f"A{number}", "H1"))
        visitor.submit("/begin")
    kept = [json.loads(row["parameters"])["assignmentId"] for row in identities(session, study)]
    assert kept == [f"A{number}" for number in range(5, 105)]


@ON_SQLITE
def test_a_link_that_was_cut_off_takes_no_credit_away(client, session, study):
    recruit(session, study, **ASSIGNED, return_url=RETURN_URL)
    visitor = Visitor(client)
    visitor.go("/done", query=sent("A1", "H1"))
    visitor.open("?workerId=W5")
    assert not visitor.page.select("form[action$='/begin']")
    visitor.open("?workerId=W5&assignmentId=A2")
    visitor.submit("/begin")
    back = visitor.page.select_one("a[href*='work.example']")["href"]
    assert back == "https://work.example/done?who=W5&which=A2&of=H1"


@ON_SQLITE
@pytest.mark.parametrize("ended", ["decline", "stop", "finish"])
def test_in_a_closed_study_all_who_have_ended_get_their_last_page(client, session, study, ended):
    recruit(session, study, **ASSIGNED, return_url=RETURN_URL)
    visitor = Visitor(client)
    visitor.go("/consent" if ended == "decline" else "/done", query=sent("A1", "H1"))
    if ended == "decline":
        visitor.submit("/decline")
    elif ended == "stop":
        session.query(Participant).update({"status": "stopped", "completed_at": None})
        session.query(Participant).update({"receipt": None})
        session.commit()
    lifecycle.close_study(session, session.merge(study))
    visitor.open(sent("A2", "H2"))
    visitor.submit("/begin")
    assert visitor.path == {"decline": "/declined", "stop": "/stopped", "finish": "/done"}[ended]
    assert "which=A2" in visitor.page.select_one("a[href*='work.example']")["href"]
    assert not visitor.page.select("main a[href$='/consent']")
