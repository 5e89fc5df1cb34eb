"""The researcher's pages over HTTP: who sees what, and that each does what it says."""

import base64
import csv
import io
import re
import time
import zipfile
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from bs4 import BeautifulSoup
from sqlalchemy.orm import Session

from survey.core.studies.rankings import Ranking
from survey.db.models import Event, Guest, Participant, Researcher, Study
from survey.errors import NotAllowedError
from survey.services import accounts, second_factor
from survey.services.accounts import TooManyAttemptsError, WrongPasswordError
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.participation import own_data, participant_list
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.plans import parse_plan, read_plan
from survey.services.studies.recruitment import Recruitment
from tests.at_once import AtOnce
from tests.builders import RESEARCHER_COOKIE, Visitor, a_plan
from tests.databases import ON_BOTH, ON_SQLITE
from tests.freeze import RELEASED
from tests.services.exchange.changes import readdressed, unzipped, zipped
from tests.web.desk import HOME, PASSWORD, STUDY, Desk, a_file, filled_in, open_it


def address_of(rule):
    """An address that the rule matches, with the study's slug in it."""
    samples = {"slug": "a-study", "action": "open", "public_id": "P-NOBODY00", "labels": "123"}
    samples |= {"kind": "invitation"}
    return re.sub(
        r"<(?:[^<>:]*:)?(\w+)>", lambda found: samples.get(found.group(1), "1"), rule.rule
    )


@ON_SQLITE
def test_nobody_sees_anything_before_signing_in(app, session, study, client):
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/research")]
    assert len(rules) > 40
    for rule in rules:
        for method in rule.methods & {"GET", "POST"}:
            answer = client.open(address_of(rule), method=method)
            open_to_all = rule.endpoint.startswith("auth.")
            allowed = (200, 302, 303, 400, 404) if open_to_all else (303, 401)
            assert answer.status_code in allowed, (method, rule, answer.status_code)
            assert "Ordering search results" not in answer.text
    session.expire_all()
    assert session.get(Study, study.id).status == "draft"


HEAVY = (
    *("GET results", "GET results/report.html", "GET results/paper.zip", "GET bundle.zip"),
    *("POST bundle-with-identities.zip", "GET files/votes.csv", "GET check", "GET open"),
    *("POST open", "POST copy", "POST plan", "POST lists", "POST lists/trec", "POST items"),
    *(
        "POST invite/guests",
        "GET ../planning",
        "POST ../evaluation",
        "POST ../import",
        "POST ../new",
    ),
)


@ON_SQLITE
@pytest.mark.parametrize("request_line", HEAVY)
def test_what_takes_long_or_much_memory_is_passed_on_to_a_process_of_its_own(
    desk, study, request_line
):
    """Before the body is looked at, so that pictures, zips and plans cost participants nothing."""
    method, _, path = request_line.partition(" ")
    address = f"{STUDY}/{path}".replace("/studies/a-study/..", "")
    passed = {"survey.pass_on": lambda: ("201 Created", [], [b"elsewhere"])}
    answer = desk.client.open(address, method=method, environ_overrides=passed)
    assert (answer.status_code, answer.text) == (201, "elsewhere")


@ON_SQLITE
def test_the_database_is_free_while_a_list_of_guests_is_read(
    desk, session, study, engine, monkeypatch
):
    read = recruitment.read_names

    def read_beside_writers(*of):
        with Session(engine) as other:
            other.get_one(Study, study_id).created_at = accounts.now()
            other.commit()
        return read(*of)

    study_id = study.id
    open_it(session, study)
    desk.open(f"{STUDY}/invite")
    monkeypatch.setattr(recruitment, "read_names", read_beside_writers)
    desk.send(f"{STUDY}/invite/guests", names="Grace Hopper")
    session.rollback()
    assert session.query(Guest).one().name == "Grace Hopper"


@ON_SQLITE
def test_what_was_typed_is_kept_when_one_was_signed_out_meanwhile(desk, session, study):
    desk.open(f"{STUDY}/plan")
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.send(f"{STUDY}/plan", title="A title that took long")
    assert desk.status == 401
    assert "What you typed is not lost" in desk.text
    kept = desk.page.select_one("input[name=title]")["value"]
    assert kept == "A title that took long"
    held = desk.page
    desk.open("/research/sign-in")
    desk.send("/research/sign-in", name="Ada", password=PASSWORD)
    desk.page = held
    desk.send(f"{STUDY}/plan")
    session.expire_all()
    assert session.get(Study, study.id).plan.title == "A title that took long"


@ON_SQLITE
def test_a_file_is_chosen_again_when_one_was_signed_out_meanwhile(desk, session, study):
    open_it(session, study)
    guests = f"{STUDY}/invite/guests"
    desk.open(f"{STUDY}/invite")
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.send(guests, names="Ann", files={"guests": a_file("name\nBob\n", "guests.csv")})
    assert desk.status == 401
    [field] = desk.page.select("input[type=file]")
    assert (field["name"], field.has_attr("required")) == ("guests", True)
    assert desk.page.select_one(f"label[for={field['id']}]").text == "Choose again: guests.csv"
    assert field.find_parent("form")["enctype"] == "multipart/form-data"
    again = desk.page
    desk.open("/research/sign-in")
    desk.send("/research/sign-in", name="Ada", password=PASSWORD)
    desk.page = again
    desk.send(guests, files={"guests": a_file("name\nBob\n", "guests.csv")})
    assert [guest.name for guest in session.query(Guest)] == ["Ann", "Bob"]


@ON_SQLITE
def test_a_form_without_a_chosen_file_asks_for_none_when_one_was_signed_out(desk, session, study):
    open_it(session, study)
    desk.open(f"{STUDY}/invite")
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.send(f"{STUDY}/invite/guests", names="Ann", files={"guests": (io.BytesIO(), "")})
    assert desk.status == 401
    assert "What you typed is not lost" in desk.text
    assert not desk.page.select("input[type=file]")
    assert "Files" not in desk.text


@ON_SQLITE
def test_a_large_file_is_not_called_a_long_text_when_one_was_signed_out_meanwhile(desk, study):
    desk.open(f"{STUDY}/lists")
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.send(f"{STUDY}/lists", files={"lists": a_file("1" * 70_000, "lists.csv")})
    assert desk.status == 413
    assert desk.page.h1.text == "You have been signed out"
    assert "What you sent was not taken." in desk.text
    assert "go back to the form and send it again" in desk.text


@ON_SQLITE
@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example/research", "/s/five-systems", "javascript:1"],
)
def test_signing_in_leads_to_our_own_pages_only(desk, target):
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open(f"/research/sign-in?next={target}")
    desk.send("/research/sign-in", name="Ada", password=PASSWORD)
    assert desk.address == HOME


@ON_SQLITE
def test_signing_in_leads_on_to_where_one_was_going(desk, study):
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open(f"{STUDY}/check")
    assert desk.page.h1.text == "Sign in"
    desk.send("/research/sign-in", name="ada", password=PASSWORD)
    assert desk.address == f"{STUDY}/check"


@ON_BOTH
@pytest.mark.parametrize("name", ["\0", "Ada\0", "\ud800", "𝔄" * 64, "' OR 1=1 --", "%00"])
def test_a_name_that_nobody_can_have_is_answered_without_a_fault(app, desk, name):
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open("/research/sign-in")
    typed = name.encode("utf-8", "surrogatepass")
    desk.send("/research/sign-in", name=typed, password=PASSWORD)
    assert desk.status in (400, 403)


@ON_BOTH
def test_an_odd_id_in_an_address_is_not_found(desk, session, study):
    open_it(session, study)
    desk.open(f"{STUDY}/people")
    token = desk.page.select_one("[name=csrf_token]")["value"]
    for odd in ("%00", "P-NOBODY0", "x" * 300, "%F0%9F%99%82", "..%2f"):
        desk.post(f"{STUDY}/participants/{odd}/exclude", csrf_token=token, reason="x")
        assert desk.status in (400, 404), odd
    for number in ("99999999999999999999999", "0"):
        desk.post(f"{STUDY}/people/{number}/remove", csrf_token=token)
        assert desk.status == 404
    for address in ("/files/%00", "/files/..%2fsurvey.sqlite3", "/preview/123/question/99"):
        desk.open(STUDY + address)
        assert desk.status in (403, 404), address


@ON_SQLITE
def test_a_wrong_password_is_explained_and_then_slowed_down(desk, monkeypatch):
    moment = accounts.now()
    monkeypatch.setattr(accounts, "now", lambda: moment)  # the first wait is a second only
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open("/research/sign-in")
    for _ in range(5):
        desk.send("/research/sign-in", name="Ada", password="wrong")
        assert desk.status == 403
        assert "Name and password do not belong together." in desk.text
    desk.send("/research/sign-in", name="Ada", password=PASSWORD)
    assert desk.status == 429
    assert "Please wait" in desk.text


@ON_SQLITE
def test_the_cookie_is_kept_from_scripts_and_from_participants_pages(app, session):
    token = accounts.add_researcher(session, "Ada")[1]
    session.rollback()
    client = app.test_client()
    page = BeautifulSoup(client.get(f"/research/welcome/{token}").text, "html.parser")
    csrf = page.select_one("[name=csrf_token]")["value"]
    answer = client.post(
        f"/research/welcome/{token}",
        data={"password": PASSWORD, "again": PASSWORD, "csrf_token": csrf},
    )
    cookie = next(
        one for one in answer.headers.getlist("Set-Cookie") if one.startswith(RESEARCHER_COOKIE)
    )
    assert {"HttpOnly", "Path=/research", "SameSite=Lax"} <= set(cookie.split("; "))


@ON_SQLITE
def test_every_post_needs_its_token(desk, app, session, study):
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/research/studies/<slug>") and "POST" in rule.methods:
            desk.post(address_of(rule), slug="other", reason="x", name="Bob", names="Bob")
    session.expire_all()
    found = session.get(Study, study.id)
    assert (found.status, found.archived_at, found.unblinded_at) == ("draft", None, None)
    assert session.query(Study).count() == 1
    assert session.query(Guest).count() == 0
    assert [event.kind for event in session.query(Event)] == ["made"]


@pytest.mark.slow
def test_a_study_of_other_people_is_not_there_on_any_page(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    participant = session.query(Participant).one().public_id
    session.rollback()
    bob = Desk(app, session, "Bob")
    bob.open(HOME)
    assert "a-study" not in bob.text
    sections = ["", "/plan", "/plan.yaml", "/lists", "/check", "/invite", "/qr.svg", "/guests.csv"]
    sections += ["/progress", "/progress/live", "/results", "/hand-out", "/bundle.zip", "/people"]
    sections += ["/files/votes.csv", "/delete", "/preview/", "/preview/213/question/1"]
    for section in sections:
        bob.open(STUDY + section)
        assert bob.status == 404, section
        assert "Ordering" not in bob.text
    bob.open("/research/new")
    token = bob.page.select_one("[name=csrf_token]")["value"]
    for action in ("/close", "/copy", "/unblind", f"/participants/{participant}/exclude"):
        bob.post(STUDY + action, csrf_token=token, slug="mine", reason="x")
        assert bob.status == 404, action
    session.expire_all()
    assert session.get(Study, study.id).status == "open"


@pytest.mark.slow
def test_a_viewer_sees_everything_and_changes_nothing(desk, app, session, study):
    open_it(session, study)
    bob = Desk(app, session, "Bob")
    desk.open(f"{STUDY}/people")
    desk.send(f"{STUDY}/people", name="bob", role="viewer")
    assert "Bob is now a viewer of this study." in desk.text
    for section in ("", "/plan", "/check", "/invite", "/progress", "/people"):
        bob.open(STUDY + section)
        assert bob.status == 200, section
        forms = [one["action"] for one in bob.page.select("form[method=post]")]
        assert not [action for action in forms if action.startswith(STUDY)], section
    bob.open(f"{STUDY}/guests.csv")  # links let people in, and names are personal
    assert bob.status == 403
    bob.open(f"{STUDY}/preview/123/entry")
    bob.send(f"{STUDY}/preview/123/begin")
    assert bob.address == f"{STUDY}/preview/123/consent"
    bob.open("/research/new")
    token = bob.page.select_one("[name=csrf_token]")["value"]
    for action in ("/close", "/archive", "/copy", "/people", "/invite/guests", "/unblind"):
        bob.post(STUDY + action, csrf_token=token, slug="mine", name="Bob", role="owner", names="x")
        assert bob.status == 403, action
    session.expire_all()
    assert session.get(Study, study.id).status == "open"


@ON_SQLITE
@pytest.mark.slow
def test_the_same_study_from_a_file_and_from_the_form_has_the_same_digest(desk, session):
    text = (
        "preset: mnro\n"
        "title: Which results are better?\n"
        "asked_by: the retrieval group\n"
        "contact: someone@example.org\n"
        "consent: |\n"
        "  I agree.\n\n"
        "  It is voluntary.\n"
        "seed: 77\n"
        "questions: 6\n"
        "minutes: 12\n"
        "design: pool\n"
        "per_participant: 3\n"
        "shuffle_questions: true\n"
        "measures: [MNRO, AP]\n"
        "personal_fields:\n"
        "  - {name: age, label: Your age, kind: number, highest: 99, screen_below: 18}\n"
        "  - {name: field, label: Your field, kind: choice, options: [IR, Other]}\n"
        "reason_question: Why?\n"
        "closing_questions:\n"
        "  - {name: ease, label: How easy was it, kind: scale, options: [hard, easy]}\n"
        "ask:\n"
        "  - {name: sure, label: How sure are you, kind: scale, from: 0, to: 10}\n"
    )
    desk.open("/research/new")
    desk.send(
        "/research/new", files={"plan": a_file(text, "plan.yaml")}, start="file", slug="from-file"
    )
    assert desk.address == "/research/studies/from-file/plan"

    desk.open("/research/new")
    desk.send("/research/new", start="mnro", slug="from-form")
    form = "/research/studies/from-form/plan"
    desk.send(form, add="closing_questions")
    desk.send(form, add="ask")
    assert "Add a further question" in desk.text
    desk.send(
        form,
        title="Which results are better?",
        asked_by="the retrieval group",
        contact="someone@example.org",
        consent="I agree.\r\n\r\nIt is voluntary.  ",
        seed="77",
        questions="6",
        minutes="12",
        design="pool",
        per_participant="3",
        shuffle_questions="y",
        measures=["AP", "MNRO"],
        reason_question="Why?",
        **{
            "closing_questions-0-label": "How easy was it",
            "closing_questions-0-name": "ease",
            "closing_questions-0-kind": "scale",
            "closing_questions-0-options": "hard\r\neasy",
            "closing_questions-0-required": "y",
            "ask-0-label": "How sure are you",
            "ask-0-name": "sure",
            "ask-0-kind": "scale",
            "ask-0-lowest": "0",
            "ask-0-highest": "10",
            "ask-0-required": "y",
            "personal_fields-0-label": "Your age",
            "personal_fields-0-lowest": "",
            "personal_fields-0-highest": "99",
            "personal_fields-0-screen_below": "18",
            "personal_fields-1-name": "field",
            "personal_fields-1-label": "Your field",
            "personal_fields-1-help": "",
            "personal_fields-1-required": "y",
            "personal_fields-1-options": "IR\r\nOther\r\n",
        },
    )
    assert desk.address.endswith("/check"), desk.text
    digests = []
    for slug in ("from-file", "from-form"):
        found = lifecycle.find_study(session, slug)
        open_it(session, found)
        session.refresh(found)
        digests.append(found.digest)
    assert digests[0] == digests[1]


@ON_SQLITE
def test_a_plan_with_mistakes_is_shown_again_as_it_was_typed(desk, study):
    desk.open(f"{STUDY}/plan")
    desk.send(
        f"{STUDY}/plan",
        title="MNRO wins",
        questions="many",
        scenario="{sytems}",
        measures="AP",
        **{"personal_fields-0-name": "Your age", "personal_fields-1-options": "one"},
    )
    assert desk.status == 400
    for told in (
        "holds the name of a measure (MNRO)",
        "Questions is 'many'; a whole number is needed.",
        "Measures is AP; 2 to 6 different ones are allowed.",
        "'Your age' cannot be a column",
        "needs at least two options",
    ):
        assert told in desk.text
    assert desk.page.select_one("[name=questions]")["value"] == "many"
    assert desk.page.select_one("[name=personal_fields-0-name]")["value"] == "Your age"
    for link in desk.page.select(".problems a"):
        assert desk.page.select_one(link["href"]), link
    desk.send(f"{STUDY}/plan", add="personal_fields")
    assert desk.page.select_one("[name=personal_fields-2-name]")["value"] == ""
    assert desk.page.select_one("[name=questions]")["value"] == "many"
    desk.send(f"{STUDY}/plan", add="closing_questions")
    desk.send(
        f"{STUDY}/plan",
        **{"closing_questions-0-label": "How easy?", "closing_questions-0-name": "How easy"},
    )
    assert "The closing question 'How easy' cannot be a column" in desk.text
    assert desk.page.select_one(".problems a[href='#closing_questions-0-name']")


@ON_SQLITE
def test_a_frozen_plan_is_a_text_and_no_form(desk, session, study):
    desk.open(f"{STUDY}/plan")
    form = filled_in(desk.page.select_one(f"form[action='{STUDY}/plan']"))
    open_it(session, study)
    desk.post(f"{STUDY}/plan", **{**form, "title": "Another"})
    assert desk.status == 403
    desk.open(f"{STUDY}/plan")
    assert not desk.page.select(f"form[action='{STUDY}/plan']")
    assert read_plan(desk.page.pre.text).plan == a_plan()


@ON_SQLITE
def test_a_draft_is_opened_on_a_page_that_says_what_can_no_longer_change(desk, session, study):
    desk.open(STUDY)
    assert f"{STUDY}/open" not in [form["action"] for form in desk.page.select("form")]
    desk.open(desk.page.select_one("main a.go")["href"])
    assert "From then on these cannot change: all texts, the consent among them" in desk.text
    session.expire_all()
    assert session.get(Study, study.id).status == "draft"
    desk.send(f"{STUDY}/open")
    assert "The study is open. Invite people." in desk.text
    desk.open(f"{STUDY}/open")
    assert desk.address == STUDY


@ON_SQLITE
def test_a_draft_that_its_check_stops_opens_with_a_reason_alone(desk, session):
    draft = lifecycle.create_owned_study(
        session,
        accounts.find_researcher(session, "Ada"),
        "long",
        a_plan(questions=50),
        Recruitment(),
    )
    home = "/research/studies/long"
    desk.open(f"{home}/open")
    assert "50 questions take about 105 minutes, and participants read “about 20”." in desk.text
    [link] = desk.page.select(".wrong a")
    assert link["href"] == f"{home}/plan?step=texts#minutes"
    desk.send(f"{home}/open", anyway=" ")
    assert (desk.address, desk.status) == (f"{home}/open", 200)
    desk.send(f"{home}/open", anyway="people may stop early")
    assert "The study is open. Invite people." in desk.text
    assert "opened anyway: people may stop early: 50 questions take about 105 minutes" in desk.text
    session.expire_all()
    assert draft.status == "open"


@ON_SQLITE
def test_the_plan_says_how_long_its_questions_take(desk, session, study):
    desk.open(f"{STUDY}/plan?step=texts")
    assert desk.page.find(id="minutes-help").text == "3 questions take about 10 minutes."
    desk.send(f"{STUDY}/plan", questions="50")
    desk.open(f"{STUDY}/plan?step=texts")
    assert desk.page.find(id="minutes-help").text == "50 questions take about 105 minutes."


@ON_SQLITE
def test_closing_asks_where_no_one_is_under_way_only_whether(desk, session, study):
    open_it(session, study)
    desk.open(STUDY)
    assert f"{STUDY}/close" not in [form["action"] for form in desk.page.select("form")]
    desk.open(f"{STUDY}/close")
    assert desk.page.select_one("main h2").text == "No one is under way"
    assert len(desk.page.select("main form")) == 1
    desk.send(f"{STUDY}/close")
    assert "The study is closed. Its results are ready." in desk.text
    desk.open(f"{STUDY}/close")
    assert desk.address == STUDY


@ON_SQLITE
def test_closing_lets_those_under_way_finish(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    half = Visitor(app.test_client(), "a-study")
    half.go("/q/1")
    desk.open(f"{STUDY}/close")
    assert desk.page.select_one("main h2").text == "1 person is under way"
    assert "within the last 180 minutes. 1 has finished." in desk.text
    desk.send(f"{STUDY}/let-finish")
    assert "when those under way have finished, or after 48 hours." in desk.text
    assert "and then the study closes, " in desk.text
    state = f"Open, but admits no one new: 1 of {study.plan.participants} complete"
    assert state in desk.text
    desk.open(f"{STUDY}/progress")
    assert f"{state}, 1 under way" in desk.text
    assert "wait for those under way, then close it" in desk.text
    desk.open("/research/")
    assert desk.page.select_one(".badge").text == "closing"
    half.go("/done", query="/q/1")
    desk.open(f"{STUDY}/progress")
    assert f"2 of {study.plan.participants} complete, 0 under way" in desk.text
    desk.open(STUDY)
    desk.send(f"{STUDY}/open")
    assert "People can begin again." in desk.text
    Visitor(app.test_client(), "a-study").go("/q/1")
    desk.open(f"{STUDY}/close")
    desk.send(f"{STUDY}/close")
    assert "1 person was under way and cannot finish; what was saved is kept." in desk.text


@ON_SQLITE
def test_an_address_is_made_of_what_was_typed_and_changes_until_the_study_opens(desk, session):
    desk.open("/research/new")
    desk.send("/research/new", slug="My Étude 2026", asked_by="the group of X")
    assert desk.address == "/research/studies/my-etude-2026/plan"
    assert lifecycle.find_study(session, "my-etude-2026").plan.asked_by == "the group of X"
    desk.open("/research/new")
    desk.send("/research/new", slug="AP for all")
    assert desk.status == 400
    assert desk.page.find(id="slug")["value"] == "AP for all"
    desk.send("/research/new", suggested=desk.page.select_one("button[name=suggested]")["value"])
    assert desk.address == "/research/studies/for-all/plan"
    desk.open("/research/studies/for-all")
    for typed, fault in (("My Étude 2026", "There is a study"), ("MNRO", "the name of a measure")):
        desk.send("/research/studies/for-all/address", address=typed)
        assert desk.status == 400
        assert fault in desk.page.select_one("#problems").text
    desk.send("/research/studies/for-all/address", address="For Everybody")
    assert desk.address == "/research/studies/for-everybody"
    session.rollback()
    study = lifecycle.find_study(session, "for-everybody")
    kinds = [event.kind for event in accounts.events_of(session, study)]
    assert kinds == ["address changed", "made"]
    parse = {**study.plan.as_json(), "asked_by": "us", "contact": "us@example.org"}
    lifecycle.change_plan(session, study, parse_plan(parse), "Ada")
    lifecycle.open_study(session, study)
    with pytest.raises(NotAllowedError):
        lifecycle.rename(session, study, "too-late", "Ada")


@ON_SQLITE
@pytest.mark.parametrize("language", ["en", "el"])
def test_a_study_does_not_open_before_it_says_who_asks_and_whom_to_ask(desk, session, language):
    desk.open("/research/new")
    desk.send("/research/new", slug="new-study", language=language)
    home = "/research/studies/new-study"
    desk.open(f"{home}/open")
    links = [link["href"] for link in desk.page.select(".wrong a")]
    assert links == [f"{home}/plan?step=texts#asked_by", f"{home}/plan?step=texts#contact"]
    assert "Participants do not read whom they can ask." in desk.text
    assert not desk.page.select("button.go")
    desk.send(f"{home}/open")
    assert (desk.address, desk.status) == (f"{home}/open", 200)
    assert session.query(Study).filter_by(slug="new-study").one().status == "draft"
    for link in links:
        desk.open(link.partition("#")[0])
        assert desk.page.find(id=link.partition("#")[2])
    desk.send(f"{home}/plan", asked_by="the retrieval group of X", contact="someone@example.org")
    desk.open(f"{home}/open")
    assert not desk.page.select(".wrong a")
    desk.send(f"{home}/open")
    assert "The study is open. Invite people." in desk.text


@ON_SQLITE
def test_lists_of_ones_own_come_from_a_csv(desk, session, study):
    desk.open(f"{STUDY}/lists")
    rows = "question,list,ranks,collection_size\n1,A,1 2,50\n1,B,9 3,50\n1,C,7 8,50\n"
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    assert desk.address == f"{STUDY}/check"
    session.expire_all()
    plan = session.get(Study, study.id).plan
    assert (plan.generator, plan.questions, plan.lists, plan.collection_size) == ("given", 1, 3, 50)
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", title="Still my lists")
    session.expire_all()
    assert session.get(Study, study.id).plan.own_lists == (((1, 2), (3, 9), (7, 8)),)


@ON_SQLITE
def test_lists_with_mistakes_say_which_row(desk, session, study):
    desk.open(f"{STUDY}/lists")
    rows = "question,list,ranks,collection_size\n1,A,1 x,50\n1,B,9 3,5\n"
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    assert desk.status == 400
    assert "lists.csv, row 2, column ranks: 'x' found" in desk.text
    desk.send(f"{STUDY}/lists", files={"lists": (io.BytesIO(b"\xff\xff"), "lists.csv")})
    assert "lists.csv, row 1: not UTF-8. In Excel, save as “CSV UTF-8”" in desk.text
    desk.open(f"{STUDY}/lists")
    desk.send(f"{STUDY}/lists")
    assert "Choose a file first" in desk.text


@ON_SQLITE
def test_lists_come_from_trec_runs(desk, session, study):
    qrels = "t1 0 d1 1\nt1 0 d2 1\nt1 0 d3 0\n"
    runs = [
        "".join(f"t1 Q0 d{d} 0 {9 - n} run\n" for n, d in enumerate(order))
        for order in ([1, 2, 3, 4], [3, 1, 2, 4], [3, 4, 1, 2])
    ]
    desk.open(f"{STUDY}/lists")
    desk.send(
        f"{STUDY}/lists/trec",
        files={
            "qrels": a_file(qrels, "qrels.txt"),
            "runs": [a_file(text, f"run{n}") for n, text in enumerate(runs)],
        },
        collection_size="100",
    )
    assert desk.address == f"{STUDY}/check", desk.text
    session.expire_all()
    assert session.get(Study, study.id).plan.own_lists == (((1, 2), (2, 3), (3, 4)),)


@ON_SQLITE
@pytest.mark.slow
def test_the_preview_shows_every_page_in_any_label_order_and_stores_nothing(desk, session, study):
    first = None
    for labels in ("123", "321"):
        desk.open(f"{STUDY}/preview/?labels={labels}")
        pages = [link["href"] for link in desk.page.select(".preview p:last-child a")]
        assert len(pages) == 12
        assert desk.page.select_one("label[for=labels]").text == "Label order"
        for address in pages:
            desk.open(address)
            assert desk.status == 200, address
            assert desk.page.select_one(".watermark")["data-text"] == "Preview"
            for form in desk.page.select("main form, footer form"):
                assert form["action"].startswith(f"{STUDY}/preview/"), form["action"]
            for link in desk.page.select("main a[href], footer a[href]"):
                assert link["href"].startswith(("#", f"{STUDY}/preview/")), link
        desk.open(f"{STUDY}/preview/{labels}/question/1")
        values = [row.td.text for row in desk.page.select(".scores [data-scores]")]
        assert len(values) == 5
        assert values != first
        first = values
    desk.send(f"{STUDY}/preview/321/question/1")
    assert desk.status == 400
    assert "Tick a method, or give your own order." in desk.text
    desk.send(f"{STUDY}/preview/321/question/1", choice="1")
    assert desk.address == f"{STUDY}/preview/321/question/2"
    assert session.query(Participant).count() == 0
    for wrong in ("124", "11", "abc", "1234", "123.after"):
        desk.open(f"{STUDY}/preview/{wrong}/question/1")
        assert desk.status == 404


@ON_SQLITE
def test_a_preview_asks_back_as_the_real_page_does(desk, session, study):
    question = f"{STUDY}/preview/123/question/1"
    desk.open(question)
    shown = [Ranking.parse(order.text) for order in desk.page.select(".method .order")]
    differing = [label for label, order in enumerate(shown, 1) if order != shown[0]]
    desk.send(question, choice=["1", str(differing[0])])
    assert (desk.address, desk.status) == (question, 200)
    assert "give different orders" in desk.page.select_one(".asks").text
    desk.send(question, settle="own")
    assert "Now give your own order" in desk.text
    places = {f"rank-{letter}": str(place) for letter, place in shown[0].places.items()}
    desk.send(question, choice="own", **places)
    assert desk.address == f"{STUDY}/preview/123/question/2"
    desk.open(question)
    desk.send(question, go="next")  # as Enter sends it
    assert (desk.address, desk.status) == (question, 400)
    desk.send(question, go="next", choice=["1", str(differing[0])])
    assert "give different orders" in desk.page.select_one(".asks").text
    desk.send(question, go="back")
    assert desk.address != question


@ON_SQLITE
def test_a_preview_shows_the_arm_that_is_chosen(desk, session):
    ada = session.query(Researcher).one()
    plan = a_plan(arms=["before", "after", "never"], show_values=False)
    lifecycle.create_owned_study(session, ada, "in-arms", plan, Recruitment())
    home = "/research/studies/in-arms/preview"
    desk.open(f"{home}/")
    assert desk.address == f"{home}/123.before/entry"
    assert [option["value"] for option in desk.page.select("#arm option")] == [*plan.arms]
    for arm, first, boxes in (("before", False, 3), ("after", True, 0), ("never", False, 0)):
        desk.open(f"{home}/?labels=213&arm={arm}")
        question = f"{home}/213.{arm}/question/1"
        assert question in [link["href"] for link in desk.page.select(".preview a")]
        desk.open(question)
        assert desk.page.select_one("#arm option[selected]")["value"] == arm
        assert ("On the next page you compare" in desk.text) == first
        assert len(desk.page.select("[type=checkbox][name=choice]")) == boxes
    desk.open(f"{home}/213.after/question/1")
    places = {f"rank-{letter}": "1" for letter in plan.letters}
    desk.send(f"{home}/213.after/question/1", **places)
    assert len(desk.page.select(".method small")) == 3  # how far each method is from this ordering
    assert {field["value"] for field in desk.page.select("option[selected]")} >= {"1"}
    desk.send(f"{home}/213.after/question/1", choice="1")
    assert desk.address == f"{home}/213.after/question/2"
    desk.open(f"{home}/213.later/question/1")
    assert desk.status == 404


@pytest.mark.slow
def test_progress_tells_where_people_are_and_nothing_of_their_votes(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    half = Visitor(app.test_client(), "a-study")
    half.start()
    half.submit("/q/1", choice="1")
    desk.open(f"{STUDY}/progress/live")
    assert "1 of 30 complete" in desk.text
    assert "question 2 of 3" in desk.text
    for name in ("AP", "NMRR", "MNRO"):
        assert not re.search(rf"\b{name}\b", desk.text)


@ON_SQLITE
def test_a_draft_has_no_results_to_hide(desk, study):
    for section in ("/results", "/hand-out", "/progress"):
        desk.open(STUDY + section)
        assert "The study is a draft" in desk.text, section
        assert "Results are hidden" not in desk.text
        assert "No one has begun" not in desk.text


def test_progress_says_what_holds_in_each_state_of_a_study(desk, app, session, study):
    open_it(session, study)
    desk.open(f"{STUDY}/progress")
    assert "No one has begun yet." in desk.text
    assert "What people answer stays hidden until the study is closed." in desk.text
    Visitor(app.test_client(), "a-study").take_part()
    participant = session.query(Participant).one()
    lifecycle.exclude(session, session.get(Study, study.id), participant, "Ada", "clicked through")
    session.rollback()
    desk.open(f"{STUDY}/progress")
    assert "No participant counts yet. Those below are excluded." in desk.text
    assert "No one has begun" not in desk.text
    lifecycle.close_study(session, session.get(Study, study.id), "Ada")
    session.rollback()
    desk.open(f"{STUDY}/progress")
    assert "Closed: 0 of 30 complete" in desk.text
    assert "Next: read the results" in desk.text
    assert "hidden" not in desk.text


def test_of_many_participants_those_seen_last_are_listed_and_others_found(
    desk, app, session, study, monkeypatch
):
    monkeypatch.setattr(participant_list, "MOST_LISTED_PARTICIPANTS", 2)
    open_it(session, study)
    for number in range(1, 5):
        visitor = Visitor(app.test_client(), "a-study")
        visitor.open()
        visitor.submit("/begin")
        someone = session.query(Participant).order_by(Participant.id.desc()).first()
        someone.public_id = f"P-{number}{number}AAAAAA"
        session.commit()
    desk.open(f"{STUDY}/progress")
    assert "4 under way" in desk.text
    assert "The 2 seen last of 4 are shown." in desk.text
    assert [one.text for one in desk.page.select("th code")] == ["P-44AAAAAA", "P-33AAAAAA"]
    for typed in ("P-11", " p-11aaaaaa "):
        desk.open(f"{STUDY}/progress?id={typed}")
        assert [one.text for one in desk.page.select("th code")] == ["P-11AAAAAA"]
        # What brings the page up to date looks for the same.
        desk.open(desk.page.select_one("#live")["data-source"])
        assert [one.text for one in desk.page.select("th code")] == ["P-11AAAAAA"]
    for typed in ("%", "_", "P-9", "%00"):
        desk.open(f"{STUDY}/progress?id={typed}")
        assert "No id begins with" in desk.text
        assert not desk.page.select("th code")


@pytest.mark.slow
def test_excluding_someone_and_including_them_again(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    someone = session.query(Participant).one().public_id
    desk.open(f"{STUDY}/progress")
    exclude = f"{STUDY}/participants/{someone}/exclude"
    desk.send(exclude, reason="  ")
    assert "Say why this participant is excluded" in desk.text
    desk.send(exclude, reason="clicked through")
    assert "Excluded (1)" in desk.text
    assert "0 of 30 complete" in desk.text
    for address, said in ((STUDY, "0 of 30 complete"), ("/research/", "0 of 30 1 excluded")):
        desk.open(address)
        assert said in desk.text
    desk.open(f"{STUDY}/progress")
    desk.send(f"{STUDY}/participants/{someone}/restore")
    assert "1 of 30 complete" in desk.text


@pytest.mark.slow
@ON_SQLITE
def test_the_list_of_studies_says_how_far_each_is(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    Visitor(app.test_client(), "a-study").start()
    desk.open("/research/")
    (row,) = desk.page.select("tbody tr")
    assert [cell.get_text(" ", strip=True) for cell in row.select("td")][:2] == [
        "open",
        f"1 of {study.plan.participants} 1 begun",
    ]


@ON_SQLITE
@pytest.mark.slow
def test_the_overview_shows_a_studys_life_as_steps_and_where_it_stands(desk, session, study):
    def steps():
        desk.open(STUDY)
        return [
            " ".join(step.h2.get_text(" ").split()) + (" *" if "aria-current" in step.attrs else "")
            for step in desk.page.select(".life > li")
        ]

    third = "3 Results and bundle"
    assert steps() == ["1 Plan and check *", "2 Open and invite", third]
    desk.open(f"{STUDY}/hand-out")
    assert "There is no bundle yet" in desk.text
    assert not desk.page.select(".problems")
    open_it(session, study)
    assert steps() == ["✓ Plan and check (done)", "2 Open and invite *", third]
    desk.open(f"{STUDY}/hand-out")
    assert "The bundle is hidden while people answer" in desk.text
    desk.open(f"{STUDY}/close")
    desk.send(f"{STUDY}/close")
    assert steps() == ["✓ Plan and check (done)", "✓ Open and invite (done)", f"{third} *"]
    links = [link["href"] for link in desk.page.select(".life > li:last-child a")]
    assert links == [f"{STUDY}/results", f"{STUDY}/hand-out"]


@ON_SQLITE
@pytest.mark.slow
def test_results_and_bundle_are_hidden_until_the_end(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    for section in (
        "/results",
        "/hand-out",
        "/bundle.zip",
        "/files/votes.csv",
        "/files/table4.csv",
    ):
        desk.open(STUDY + section)
        assert " hidden while people answer" in desk.text, section
        assert "What the answers support" not in desk.text
    desk.open(f"{STUDY}/results")
    desk.send(f"{STUDY}/unblind", reason=" ")
    assert "Say why the results are needed" in desk.text
    assert desk.page.select_one("#reason[aria-invalid=true][aria-describedby~=reason-error]")
    desk.send(f"{STUDY}/unblind", reason="the pilot is over")
    assert "What the answers support" in desk.text
    Visitor(app.test_client(), "a-study").take_part()
    desk.open(f"{STUDY}/results")
    assert "had finished (the pilot is over; again when 2 had)" in desk.text
    desk.open(STUDY)
    assert "unblinded: the pilot is over" in desk.text


@pytest.mark.slow
def test_a_study_with_answers_opens_again_with_a_reason_alone(desk, app, session, study):
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    desk.open(f"{STUDY}/close")
    desk.send(f"{STUDY}/close")
    assert "Its results could be seen while it was closed." in desk.text
    desk.send(f"{STUDY}/open", reason=" ")
    assert "Say why the study is opened again" in desk.text
    assert "Closed" in desk.text
    desk.send(f"{STUDY}/open", reason="two people asked to join")
    assert "reopened: two people asked to join" in desk.text
    desk.open(f"{STUDY}/close")
    desk.send(f"{STUDY}/close")
    desk.open(f"{STUDY}/results")
    assert "when 1 participant had finished (two people asked to join)" in desk.text


@pytest.mark.slow
def test_the_bundle_of_a_closed_study_replicates_and_can_be_imported(
    desk, app, session, study, tmp_path
):
    open_it(session, study)
    for choice in ("1", "2"):
        Visitor(app.test_client(), "a-study").take_part(choice=choice)
    desk.open(f"{STUDY}/close")
    desk.send(f"{STUDY}/close")
    bundle = desk.client.get(f"{STUDY}/bundle.zip").data
    files = open_files(io.BytesIO(bundle), "bundle.zip")
    assert "6 answers of 2 participants can be read" in [*replicate(files)]
    votes = desk.client.get(f"{STUDY}/files/votes.csv").data
    assert votes == files["votes.csv"]
    assert desk.client.get(f"{STUDY}/files/nothing.csv").status_code == 404

    desk.open("/research/import")
    desk.send("/research/import", files={"bundle": (io.BytesIO(bundle), "bundle.zip")})
    assert "There is a study 'a-study' already" in desk.text
    desk.send(
        "/research/import", files={"bundle": (io.BytesIO(bundle), "bundle.zip")}, slug="again"
    )
    assert desk.address == "/research/studies/again/results"
    assert "2 participants gave 6 answers" in desk.text
    again = readdressed(unzipped(desk.client.get("/research/studies/again/bundle.zip").data), files)
    for name in ("questions.csv", "responses.csv", "votes.csv", "table4.csv", "participants.csv"):
        assert again[name] == files[name]
    desk.open("/research/studies/again")
    token = desk.page.select_one("[name=csrf_token]")["value"]
    desk.post("/research/studies/again/open", csrf_token=token)
    assert desk.status == 403
    assert "imported; it can be looked at, not run" in desk.text

    session.rollback()
    one = session.query(Participant).filter_by(study_id=study.id).first()
    own_data.erase(session, study, one, tmp_path)
    desk.open("/research/import")
    desk.send(
        "/research/import", files={"bundle": (io.BytesIO(bundle), "bundle.zip")}, slug="third"
    )
    assert "1 participant who has deleted their data here: left out" in desk.text


@ON_SQLITE
@pytest.mark.parametrize("count", [1, 3])
def test_the_faults_of_a_bundle_are_listed_one_by_one(desk, monkeypatch, count):
    faults = [f"votes.csv, row {number}: a fault" for number in range(1, count + 1)]

    def refuse(*_):
        raise BundleError("\n".join(faults))

    monkeypatch.setattr(bundle_import, "import_bundle", refuse)
    content = io.BytesIO()
    zipfile.ZipFile(content, "w").close()
    content.seek(0)
    desk.open("/research/import")
    desk.send("/research/import", files={"bundle": (content, "bundle.zip")})
    listed = [item.text for item in desk.page.select(".faults li")]
    assert listed == (faults if count > 1 else [])
    first = "votes.csv, row 1: a fault." if count == 1 else "see below."
    assert first in desk.page.select_one(".problems li").text


@ON_SQLITE
def test_nobody_is_invited_to_an_imported_study(desk, session, study):
    session.get(Study, study.id).imported_from = "bundle.zip"
    session.commit()
    desk.open(STUDY)
    token = desk.page.select_one("[name=csrf_token]")["value"]
    assert "Invite" not in [link.text for link in desk.page.select(".sections a")]
    desk.open(f"{STUDY}/invite")
    assert desk.status == 403
    assert "imported; it can be looked at, not run" in desk.text
    assert desk.page.select_one(".way a")["href"] == STUDY
    for action in ("guests", "guests/1/remove", "settings"):
        desk.post(f"{STUDY}/invite/{action}", csrf_token=token, names="Ann", access="personal")
        assert desk.status == 403, action
    session.expire_all()
    assert session.query(Guest).count() == 0


@ON_SQLITE
def test_a_page_that_says_no_leads_back_and_speaks_english(desk, session):
    ada = accounts.find_researcher(session, "Ada")
    lifecycle.create_owned_study(session, ada, "greek", a_plan(language="el"), Recruitment())
    session.rollback()
    study = "/research/studies/greek"
    for address, back in (
        (f"{study}/preview/213/question/99", study),
        ("/research/studies/nothing", HOME),
    ):
        desk.open(address)
        assert desk.status == 404
        assert "There is no such page" in desk.text
        assert desk.page.html["lang"] == "en"
        assert desk.page.select_one(".studies")["href"] == HOME
        assert desk.page.select_one("main .way a")["href"] == back


@ON_SQLITE
def test_a_bundle_that_was_changed_is_not_imported(desk, session):
    desk.open("/research/import")
    desk.send("/research/import", files={"bundle": (io.BytesIO(b"no zip"), "x.zip")})
    assert desk.status == 400
    assert "x.zip is not a bundle" in desk.text
    assert session.query(Study).count() == 0


@ON_SQLITE
def test_an_import_says_what_became_of_a_bundle_as_the_command_does(desk, session):
    desk.open("/research/import")
    page = io.BytesIO(b"<!doctype html><title>Log in</title>")
    desk.send("/research/import", files={"bundle": (page, "spring.zip")})
    assert "spring.zip is a web page (“Log in”), not the bundle" in desk.text
    released = RELEASED / "0.2.0" / "ordering.zip"
    files = open_files(released, released.name)
    files["votes.csv"] = files["votes.csv"].replace(b"\n", b"\r\n")
    desk.send("/research/import", files={"bundle": (io.BytesIO(zipped(files)), "spring.zip")})
    assert desk.status == 400
    faults = [item.get_text() for item in desk.page.select(".faults li")]
    assert (
        faults[0] == "votes.csv: only the format changed (line ends); every value is as published"
    )
    assert faults[1].startswith("Only the format changed. Unpack the published zip again")
    assert session.query(Study).count() == 0


@ON_SQLITE
def test_a_small_bundle_that_unpacks_to_much_is_refused(desk, session):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("responses.csv", b"0" * 50_000_001)
    assert packed.tell() < 60_000
    desk.open("/research/import")
    desk.send("/research/import", files={"bundle": (io.BytesIO(packed.getvalue()), "x.zip")})
    assert desk.status == 400
    assert "x.zip holds more than 50,000,000 bytes unpacked" in desk.text


@pytest.mark.slow
def test_identities_are_handed_out_on_request_after_the_password_and_logged(
    desk, app, session, study, monkeypatch
):
    open_it(session, study)
    visitor = Visitor(app.test_client(), "a-study")
    visitor.open("?PROLIFIC_PID=person-1")
    visitor.submit("/begin")
    lifecycle.close_study(session, session.get(Study, study.id), "Ada")
    session.rollback()
    desk.open(f"{STUDY}/hand-out")
    monkeypatch.setattr(
        "survey.services.accounts.CONFIRMATION_LIFETIME",
        study.created_at - study.created_at,
    )
    desk.send(f"{STUDY}/bundle-with-identities.zip")
    assert desk.page.h1.text == "Confirm your password"
    desk.send(f"{STUDY}/bundle-with-identities.zip", confirm_password="wrong")
    assert desk.status == 403
    assert "do not belong together" in desk.text
    desk.send(f"{STUDY}/bundle-with-identities.zip", confirm_password=PASSWORD)
    files = open_files(io.BytesIO(desk.response.data), "bundle.zip")
    assert b"person-1" in files["identities.csv"]
    assert len([one for one in files.values() if b"person-1" in one]) == 1
    assert list(replicate(files))
    plain = desk.client.get(f"{STUDY}/bundle.zip").data
    assert not any(b"person-1" in one for one in open_files(io.BytesIO(plain), "x").values())
    found = lifecycle.find_study(session, "a-study")
    assert accounts.events_of(session, found)[0].detail == "bundle with identities"


@ON_SQLITE
def test_a_reason_is_kept_while_the_password_is_asked_for(desk, session, study, monkeypatch):
    open_it(session, study)
    desk.open(f"{STUDY}/results")
    monkeypatch.setattr("survey.services.accounts.CONFIRMATION_LIFETIME", timedelta(0))
    desk.send(f"{STUDY}/unblind", reason="the pilot is over")
    assert desk.page.h1.text == "Confirm your password"
    session.expire_all()
    assert session.get(Study, study.id).unblinded_at is None
    desk.send(f"{STUDY}/unblind", confirm_password=PASSWORD)
    session.expire_all()
    found = session.get(Study, study.id)
    assert accounts.events_of(session, found)[0].detail == "the pilot is over"


@ON_SQLITE
def test_runs_of_many_lines_can_be_uploaded_by_those_signed_in_only(desk, app, study):
    big = "t1 Q0 d1 1 1 x\n" * 10_000
    desk.open(f"{STUDY}/lists")
    desk.send(f"{STUDY}/lists", files={"lists": a_file(big, "big.csv")})
    assert desk.status == 400
    assert "big.csv: no columns question, list, ranks, collection_size" in desk.text
    stranger = app.test_client().post(f"{STUDY}/lists", data={"lists": a_file(big, "big.csv")})
    assert stranger.status_code == 413


@ON_SQLITE
def test_deleting_asks_for_the_address_and_the_password(desk, session, study, monkeypatch):
    monkeypatch.setattr(
        "survey.services.accounts.CONFIRMATION_LIFETIME",
        study.created_at - study.created_at,
    )
    desk.open(f"{STUDY}/delete")
    assert desk.page.h1.text == "Confirm your password"
    monkeypatch.undo()
    desk.send("/research/account/confirm", password=PASSWORD)
    assert "Delete this study?" in desk.text
    desk.send(f"{STUDY}/delete", slug="a-stud")
    assert "Type a-study to delete this study." in desk.text
    desk.send(f"{STUDY}/delete", slug="a-study")
    assert "The study a-study is deleted." in desk.text
    assert session.query(Study).count() == 0


def test_guests_are_invited_and_links_come_as_a_csv(desk, session, study):
    desk.open(f"{STUDY}/invite")
    desk.send(f"{STUDY}/invite/guests", guests_only="y")
    assert "Type a name or an address, or choose a file with some." in desk.text
    assert not lifecycle.find_study(session, "a-study").recruitment.get("guests_only")
    session.rollback()
    desk.open(f"{STUDY}/invite")
    desk.send(f"{STUDY}/invite/guests", names='Ann\r\nBob "the" Builder\r\n')
    assert "2 personal links are ready to be sent." in desk.text
    desk.send(f"{STUDY}/invite/guests", files={"guests": a_file("name\nAnn\nCarl\n", "g.csv")})
    assert "1 personal link is ready" in desk.text
    both = {"names": "Dora\nAnn", "files": {"guests": a_file("name\nEve\nDora\n", "g.csv")}}
    desk.send(f"{STUDY}/invite/guests", **both)
    assert "2 personal links are ready to be sent." in desk.text
    links = desk.client.get(f"{STUDY}/guests.csv").text
    assert links.count("http://localhost/s/a-study?guest=") == 5
    assert [one.text for one in desk.page.select("code.whole")] == [
        line["link"] for line in csv.DictReader(links.splitlines())
    ]
    desk.send(f"{STUDY}/invite/guests/1/remove")
    assert "Carl" in desk.text
    assert "Ann" not in desk.text


@ON_SQLITE
def test_making_links_for_a_draft_keeps_its_places_for_guests_unless_one_says_no(
    desk, session, study
):
    desk.open(f"{STUDY}/invite")
    assert "A link reserves no slot" in desk.text
    desk.send(f"{STUDY}/invite/guests", names="Ann", guests_only=None)
    session.expire_all()
    assert session.get(Study, study.id).recruitment["access"] == "public"
    session.query(Guest).delete()
    session.commit()
    desk.open(f"{STUDY}/invite")
    desk.send(f"{STUDY}/invite/guests", names="Ann")
    assert "From now on, only people with a personal link can begin." in desk.text
    assert "Only people with a personal link can begin." in desk.text
    assert not desk.page.select("[name=guests_only]")
    session.expire_all()
    assert session.get(Study, study.id).recruitment["access"] == "personal"


@ON_SQLITE
def test_links_for_an_open_study_leave_its_public_link_as_it_is(desk, app, session, study):
    lifecycle.find_study(session, "a-study").plan_json = a_plan(participants=2).as_json()
    session.commit()
    open_it(session, study)
    Visitor(app.test_client(), "a-study").take_part()
    desk.open(f"{STUDY}/invite")
    assert "1 of 2 slots is free" in desk.text
    desk.send(f"{STUDY}/invite/guests", names="Ann\r\nBob")
    session.expire_all()
    assert session.get(Study, study.id).recruitment["access"] == "public"
    assert "2 of the people invited have not begun, and 1 of 2 slots is free" in desk.text
    link = desk.page.select_one("code.whole").text
    visitor = Visitor(app.test_client(), "a-study")
    visitor.open(link.partition("a-study")[2])
    visitor.submit("/begin")
    desk.open(f"{STUDY}/invite")
    rows = [row.get_text(" ", strip=True) for row in desk.page.select("tbody tr")]
    assert [row.split(" http")[0] for row in rows] == ["Ann begun", "Bob not begun"]


@ON_BOTH
def test_an_owner_gets_a_lost_code_by_either_id_and_that_is_logged(desk, app, session, study):
    open_it(session, study)
    visitor = Visitor(app.test_client(), "a-study")
    visitor.go("/about-you", query="?PROLIFIC_PID=p1")
    code = visitor.page.select_one("strong.code").text
    public_id = session.query(Participant).one().public_id
    for typed in ("p1", f" {public_id} "):
        desk.open(f"{STUDY}/invite")
        desk.send(f"{STUDY}/invite/code", lost=typed)
        assert f"{public_id} can continue in another browser with the code {code}" in desk.text
    events = session.query(Event).filter_by(detail=public_id)
    assert [event.kind for event in events] == ["code shown"] * 2
    for typed in ("p2", "P-", ""):
        desk.send(f"{STUDY}/invite/code", lost=typed)
        assert code not in desk.text
        assert "This study has no participant" in desk.text or "Type an id." in desk.text


@ON_SQLITE
def test_a_platform_is_filled_in_and_saved_with_a_code(desk, session, study):
    desk.open(f"{STUDY}/invite")
    settings = f"{STUDY}/invite/settings"
    desk.send(settings, platform="prolific")
    assert "Filled in for prolific; not saved yet." in desk.text
    desk.send(settings)
    assert "so “Code for those who finish” cannot be empty" in desk.text
    desk.send(settings, code_complete="C1", slot_minutes="ninety")
    assert "” is 'ninety'" in desk.text
    desk.send(settings, code_complete="C1", slot_minutes="90")
    assert "The settings are saved." in desk.text
    session.expire_all()
    stored = session.get(Study, study.id).recruitment
    assert (stored["code_complete"], stored["slot_minutes"]) == ("C1", 90)


@ON_SQLITE
def test_a_password_is_changed_and_all_other_sessions_end(desk, app, session, monkeypatch):
    other = app.test_client()
    other.set_cookie(
        RESEARCHER_COOKIE,
        desk.client.get_cookie(RESEARCHER_COOKIE, path="/research").value,
        path="/research",
    )
    assert other.get(HOME).status_code == 200
    desk.open("/research/account")
    desk.send("/research/account/password", password="words in another row", again="words in a row")
    assert "The two passwords differ." in desk.text
    desk.send(
        "/research/account/password", password="words in another row", again="words in another row"
    )
    assert "Your password is changed." in desk.text
    assert other.get(HOME).status_code == 303
    desk.send("/research/account/sign-out-everywhere")
    assert desk.page.h1.text == "Sign in"


@ON_SQLITE
def test_signing_out_ends_the_session_whatever_the_token(desk, app, session):
    cookie = desk.client.get_cookie(RESEARCHER_COOKIE, path="/research").value
    for fields in ({"csrf_token": "long expired"}, {}):
        desk.client.set_cookie(RESEARCHER_COOKIE, cookie, path="/research")
        desk.post("/research/sign-out", **fields)
        assert (desk.page.h1.text, "You are signed out." in desk.text) == ("Sign in", True)
    desk.client.set_cookie(RESEARCHER_COOKIE, cookie, path="/research")
    assert desk.client.get(HOME).status_code == 303


@ON_SQLITE
def test_another_sites_form_signs_no_one_out(desk, app):
    answer = app.test_client().post("/research/sign-out")  # a browser sends it no cookie
    assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (303, [])


@ON_SQLITE
def test_a_new_password_is_in_no_page_that_asks_for_the_present_one(desk, monkeypatch):
    desk.open("/research/account")
    monkeypatch.setattr("survey.services.accounts.CONFIRMATION_LIFETIME", timedelta(0))
    new = "a row of other words"
    desk.send("/research/account/password", password=new, again=new)
    assert desk.page.h1.text == "Confirm your password"
    assert new not in desk.response.text


@ON_SQLITE
def test_an_owner_who_leaves_a_study_comes_to_the_others(desk, session, study):
    accounts.add_researcher(session, "Grace")
    desk.open(f"{STUDY}/people")
    desk.send(f"{STUDY}/people", name="Grace", role="owner")
    ada = accounts.find_researcher(session, "Ada").id
    session.rollback()
    remove = f"{STUDY}/people/{ada}/remove"
    desk.send(remove)
    assert desk.page.main.h2.text == "Leave this study?"
    assert [link["href"] for link in desk.page.select("main .way a")] == [f"{STUDY}/people"]
    desk.send(remove)
    assert (desk.status, desk.address) == (200, HOME)
    assert "Ada can no longer see this study." in desk.text


def roles_in(session, study):
    session.rollback()
    members = accounts.members_of(session, study)
    roles = {member.researcher.name: member.role for member in members}
    session.rollback()
    return roles


@ON_SQLITE
def test_an_owner_is_asked_before_becoming_a_viewer(desk, session, study):
    accounts.add_researcher(session, "Grace")
    session.rollback()
    people = f"{STUDY}/people"
    desk.open(people)
    desk.send(people, name="ada", role="viewer")
    assert desk.status == 400
    assert "A study needs an owner" in desk.text
    desk.send(people, name="Grace", role="owner")
    desk.send(people, name=" ada ", role="viewer")
    assert desk.page.main.h2.text == "Become a viewer of this study?"
    assert roles_in(session, study) == {"Ada": "owner", "Grace": "owner"}
    desk.send(people)
    assert "Ada is now a viewer of this study." in desk.text
    assert roles_in(session, study) == {"Ada": "viewer", "Grace": "owner"}


@ON_SQLITE
def test_an_owner_is_not_asked_before_changing_the_role_of_another(desk, session, study):
    grace = accounts.add_researcher(session, "Grace")[0].id
    session.rollback()
    desk.open(f"{STUDY}/people")
    for role in ("owner", "viewer"):
        desk.send(f"{STUDY}/people", name="Grace", role=role)
        assert f"Grace is now a{'n' * (role == 'owner')} {role} of this study." in desk.text
    desk.send(f"{STUDY}/people", name="Ada", role="owner")
    assert "Ada is now an owner of this study." in desk.text
    desk.send(f"{STUDY}/people/{grace}/remove")
    assert "Grace can no longer see this study." in desk.text


@pytest.mark.slow
@ON_BOTH
def test_a_form_is_answered_while_another_window_signs_out(desk, app, session, engine):
    for at in range(1, 9):
        token = accounts.new_session(session, accounts.find_researcher(session, "Ada"))
        session.rollback()
        windows = [app.test_client() for _ in range(2)]
        for window in windows:
            window.set_cookie(RESEARCHER_COOKIE, token, path="/research")
        form, signing_out = (
            partial(window.post, path)
            for window, path in zip(
                windows, ("/research/account/password", "/research/sign-out"), strict=True
            )
        )
        both = AtOnce(engine)
        answers = both.run(form, signing_out, at)
        assert [answer.status_code for answer in answers] in ([400, 303], [303, 303]), at
        if not both.reached:
            return


@ON_SQLITE
def test_a_second_factor_is_set_up_used_and_removed(desk, app, session):
    account, setting_up = "/research/account", "/research/account/second-factor"
    desk.open(account)
    assert "Set up a second factor" in desk.text
    desk.open(setting_up)
    secret = desk.page.select_one("code").text.replace(" ", "")
    assert desk.page.select_one("figure svg path")["d"]
    desk.send(setting_up, code="12345")
    assert (desk.status, "not the code" in desk.text) == (400, True)
    assert desk.page.select_one("code").text.replace(" ", "") == secret
    step = int(time.time()) // 30
    code = second_factor.code_at(base64.b32decode(secret), step)
    form = desk.page.select_one(f"form[action='{setting_up}']")
    sent = {**filled_in(form), "code": code}
    desk.post(setting_up, **sent)
    recovery_codes = [code.text for code in desk.page.select("li code")]
    assert len(recovery_codes) == 10
    desk.post(setting_up, **sent)  # as a browser does when the page is reloaded
    assert "This is set up already, and its recovery codes were shown once." in desk.text
    desk.open(account)
    assert "10 recovery codes are left" in desk.text

    desk.send("/research/sign-out")
    name = {"name": "Ada", "password": PASSWORD}
    desk.send("/research/sign-in", **name)
    assert (desk.status, "check the code too" in desk.text) == (403, True)
    desk.send("/research/sign-in", **name, code=recovery_codes[0])
    assert desk.address == HOME
    desk.open(account)
    assert "9 recovery codes are left" in desk.text
    desk.send(f"{setting_up}/remove")
    assert "You sign in with your password alone." in desk.text


@ON_SQLITE
def test_a_link_for_a_password_does_not_replace_the_second_factor(desk, session, monkeypatch):
    ada = accounts.find_researcher(session, "Ada")
    ada.second_factor = "0" * 32
    welcome = f"/research/welcome/{accounts.new_link(session, ada)}"
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open(welcome)
    desk.send(welcome, password="another row of words", again="another row of words")
    assert desk.page.h1.text == "Sign in"
    assert desk.client.get(HOME).status_code == 303


@ON_SQLITE
def test_a_browser_in_which_two_signed_in_is_known_to_the_next_sign_in_of_both(desk, session):
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    welcome = f"/research/welcome/{accounts.add_researcher(session, 'Grace Hopper')[1]}"
    desk.open(welcome)
    desk.send(welcome, password=PASSWORD, again=PASSWORD)
    for typed in ("Ada", "grace  HOPPER"):
        desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
        for _ in range(7):  # by strangers
            with suppress(WrongPasswordError, TooManyAttemptsError):
                accounts.sign_in(session, typed, "x")
        desk.open("/research/sign-in")
        desk.send("/research/sign-in", name=typed, password=PASSWORD)
        assert desk.address == HOME


@ON_SQLITE
def test_a_form_from_another_site_is_never_repeated_with_our_token(desk, app, session, study):
    Desk(app, session, "Mallory")
    stranger = app.test_client()
    fields = {"name": "Mallory", "role": "owner"}
    answer = stranger.post(f"{STUDY}/people", data=fields)
    assert answer.status_code == 303
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.post(f"{STUDY}/people", **fields, csrf_token="forged")
    assert "Mallory" not in desk.text
    assert desk.page.h1.text == "Sign in"


@ON_SQLITE
def test_a_fresh_link_works_whatever_failed_before(app, session, desk):
    researcher = accounts.find_researcher(session, "Ada")
    token = accounts.new_link(session, researcher)
    client = app.test_client()
    page = BeautifulSoup(client.get("/research/sign-in").text, "html.parser")
    csrf = page.select_one("[name=csrf_token]")["value"]
    for _ in range(7):
        client.post("/research/sign-in", data={"name": "Ada", "password": "x", "csrf_token": csrf})
    typed = {"password": PASSWORD, "again": PASSWORD, "csrf_token": csrf}
    answer = client.post(f"/research/welcome/{token}", data=typed)
    assert (answer.status_code, answer.location) == (303, HOME)


@ON_SQLITE
def test_an_address_that_is_none_leads_home_after_signing_in(desk):
    desk.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    desk.open("/research/sign-in?next=//[")
    desk.send("/research/sign-in", name="Ada", password=PASSWORD)
    assert desk.address == HOME


def test_a_guest_who_has_begun_is_not_taken_back(desk, app, session, study):
    open_it(session, study)
    desk.open(f"{STUDY}/invite")
    desk.send(f"{STUDY}/invite/guests", names="Ann")
    page = desk.page
    link = desk.client.get(f"{STUDY}/guests.csv").text.splitlines()[1].split(",")[1]
    visitor = Visitor(app.test_client(), "a-study")
    visitor.open(link.partition("a-study")[2])
    visitor.submit("/begin")
    desk.page = page
    desk.send(f"{STUDY}/invite/guests/1/remove")
    assert desk.status == 400
    assert "Ann has begun already" in desk.text


@ON_SQLITE
def test_own_lists_and_a_smaller_collection_are_explained(desk, session, study):
    desk.open(f"{STUDY}/lists")
    rows = "question,list,ranks,collection_size\n1,A,1 2,50\n1,B,9 30,50\n"
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", collection_size="20")
    assert desk.status == 400
    assert "30" in desk.page.select_one(".problems").text
