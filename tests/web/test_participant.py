"""The participant's pages over HTTP, without scripts."""

import html
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from survey import tokens
from survey.core.measures import MEASURES
from survey.core.studies.questions import Question
from survey.db.models import Participant, StoredResponse
from survey.services.operations import database
from survey.services.studies import lifecycle
from tests.builders import KEY, SLUG, VISITOR_COOKIE, Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.rows import answer_rows, shown_rows


@pytest.fixture
def study(session):
    return an_open_study(session)


@pytest.fixture
def visitor(client, study):
    return Visitor(client)


@ON_SQLITE
def test_the_entry_says_what_it_is_how_long_and_who_asks(visitor):
    visitor.open()
    assert visitor.page.h1.text == "Ordering search results"
    for fact in ("3 questions", "About 20 minutes", "Asked by the retrieval group of X."):
        assert fact in visitor.text


@ON_SQLITE
def test_a_slash_at_the_end_of_a_link_does_no_harm(visitor, client):
    with_slash, without = (client.get(f"/s/{SLUG}{end}") for end in ("/", ""))
    assert with_slash.status_code == 200
    # A form's token holds the second in which it was made.
    first, second = (re.sub(r"csrf_token[^>]+", "", page.text) for page in (with_slash, without))
    assert first == second


@ON_BOTH
def test_opening_pages_stores_nothing(visitor, session):
    for path in ("", "/consent", "/q/1", "/review", "/done", "/practice"):
        visitor.open(path)
        assert visitor.path == ""
    assert session.query(Participant).count() == 0


@ON_BOTH
def test_the_whole_way_ends_with_a_receipt(visitor, session):
    visitor.take_part()
    assert visitor.path == "/done"
    assert visitor.page.h1.text == "Finished: your answers are handed in"
    participant = session.query(Participant).one()
    # No other code beside it; the one that leads back is on the page of one's own data.
    assert [code.text for code in visitor.page.select(".code")] == [participant.receipt]
    assert participant.status == "complete"
    assert participant.personal == {"age": 23, "education": "No school certificate"}


@ON_SQLITE
def test_the_last_page_shows_the_same_receipt_again(visitor):
    visitor.take_part()
    receipt = visitor.page.select_one(".receipt").text
    for path in ("/done", "/q/1", "/review", "/consent"):
        visitor.open(path)
        assert visitor.path == "/done"
        assert visitor.page.select_one(".receipt").text == receipt


@ON_SQLITE
def test_consent_must_be_ticked(visitor):
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent")
    assert visitor.status == 400
    assert "To take part, tick that you agree." in visitor.text


@ON_SQLITE
def test_declining_is_fine_and_can_be_taken_back(visitor, session):
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/decline")
    assert "You have chosen not to take part" in visitor.text
    assert session.query(Participant).one().status == "declined"
    visitor.open("/consent")
    visitor.submit("/consent", agree="y")
    assert visitor.path == "/about-you"


@ON_SQLITE
@pytest.mark.parametrize(
    ("age", "problem"),
    [
        ("", "Please fill in: Your age in years."),
        ("twenty", "Please write your age in digits, for example 20."),
        ("22.5", "Please write your age in digits, for example 20."),
        ("９", "Please write your age in digits, for example 20."),
        ("7", "a whole number from 10 to 110, please"),
        ("1" * 400, "Your age in years: nine digits at most, please."),
        ("-1000000000", "Your age in years: nine digits at most, please."),
    ],
)
def test_a_wrong_age_is_explained_and_the_rest_is_kept(visitor, age, problem):
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", age=age, education="Doctorate")
    assert visitor.status == 400
    assert problem in visitor.text
    assert [link["href"] for link in visitor.page.select(".problems a")] == ["#age"]
    assert visitor.page.select_one("#age")["value"] == age
    assert visitor.page.select_one("#education [selected]").text == "Doctorate"


@ON_SQLITE
@pytest.mark.parametrize("required", [True, False])
def test_blanks_are_no_answer_to_a_personal_question(client, session, required):
    job = {"name": "job", "label": "Your job", "kind": "text", "required": required}
    an_open_study(session, "other", practice=False, personal_fields=[job])
    visitor = Visitor(client, "other")
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", job=" " * 5_000)
    assert ("Please fill in: Your job." in visitor.text) == required
    visitor.open("/about-you")
    visitor.submit("/about-you", job="  writer ")
    assert session.query(Participant).one().personal == {"job": "writer"}


def test_personal_fields_can_be_corrected_until_the_end(visitor, session):
    visitor.start()
    visitor.open("/about-you")
    assert visitor.page.select_one("#age")["value"] == "23"
    visitor.submit("/about-you", age="24", education="School")
    assert visitor.path == "/q/1"
    assert session.query(Participant).one().personal["age"] == 24


def test_practice_says_nothing_of_what_is_good_and_is_not_counted(visitor):
    visitor.prepare()
    visitor.open("/practice")
    assert "its matches came up at positions" in visitor.text
    visitor.submit("/practice/check", better="1")
    assert "Right." in visitor.text
    while visitor.path == "/practice":
        assert "better" not in visitor.text  # what is good is what the study asks
        assert "does not count" in visitor.text
        visitor.submit("/practice", choice=["1", "3"])
    assert visitor.path == "/q/1"
    assert visitor.page.select_one("progress").text == "0 of 3"


@ON_SQLITE
def test_nothing_is_preselected(visitor):
    visitor.start()
    form = visitor.form("/q/1")
    assert not form.select("[checked]")
    assert [option.text for option in form.select("[selected]")] == ["–"] * 5


@ON_SQLITE
def test_places_are_explained_where_no_script_replaces_them(visitor):
    visitor.start()
    assert "Give each system a place: 1 is best." in visitor.page.select_one("#selects").text


@ON_SQLITE
def test_a_question_shows_lists_columns_places_and_orders(visitor, session):
    visitor.start()
    [(shown, drawn)] = shown_rows(session, position=1)
    question = Question.from_json(shown.question.number, shown.question.content)
    rows = visitor.page.select("[data-list]")
    assert [[rank.text for rank in row.select(".rank")] for row in rows] == [
        [str(rank) for rank in ranks] for ranks in question.lists.values()
    ]
    scores = visitor.page.select(".scores [data-scores]")
    letters = [row["data-list"] for row in rows]
    assert [row["data-scores"] for row in scores] == letters == list(question.lists)
    headings = [th.text for th in visitor.page.select(".scores thead th")][1:]
    assert headings == [f"Method {label}" for label in drawn.column_order]
    for place, label in enumerate(drawn.column_order):
        column = question.columns[drawn.label_order[label - 1]]
        assert [row.select("td")[place].text for row in scores] == list(column.shown)
        ordering = visitor.page.select(".order")[place].text
        assert ordering == str(column.ranking)


@ON_SQLITE
def test_methods_with_the_same_order_stay_two_methods(client, session):
    an_open_study(session, "same-orders", seed=7, questions=1)  # AP and MNRO agree there
    visitor = Visitor(client, "same-orders")
    visitor.start()
    orders = [order.text for order in visitor.page.select(".method .order")]
    assert (len(orders), len(set(orders))) == (3, 2)


@ON_SQLITE
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "Tick a method, or give your own order."),
        ({"choice": ["1", "own"]}, "You ticked your own order and a method. Please untick one."),
        ({"choice": "own"}, "give a place to A, B, C, D and E."),
        ({"choice": "own", "rank_A": "1", "rank_C": "2"}, "give a place to B, D and E."),
        ({"rank_A": "1"}, "give a place to B, C, D and E."),
        ({"choice": "4"}, "Something was ticked that this page does not offer."),
        ({"choice": ["1"] * 50}, "Something was ticked that this page does not offer."),
        ({"choice": "own", "rank_A": "6"}, "Your place for A: a place from 1 to 5, please."),
    ],
)
def test_an_answer_that_is_none_is_explained_and_kept(visitor, session, fields, problem):
    visitor.start()
    visitor.submit("/q/1", **fields)
    assert visitor.status == 400
    assert problem in visitor.text
    ticked = {box["value"] for box in visitor.page.select("[name=choice][checked]")}
    given = fields.get("choice", [])
    assert ticked == set([given] if isinstance(given, str) else given) - {"4", "own"}
    if fields.get("rank_A") == "1":
        assert visitor.page.select_one("#rank-A [selected]").text == "1"
    assert stored_answers(session) == 0


def stored_answers(session):
    session.rollback()
    return session.query(StoredResponse).count()


@pytest.mark.slow
def test_an_own_ordering_is_stored_said_in_words_and_shown_again(visitor, session):
    visitor.start()
    visitor.insist("/q/1", choice="own", rank_A="2", rank_B="1", rank_C="2", rank_D="5", rank_E="5")
    assert visitor.path == "/q/2"
    visitor.open("/q/1")
    assert "Your order: B first; A and C tie for second; D and E tie for fourth." in (visitor.text)
    [*_, (_, answer)] = answer_rows(session)
    assert str(answer.own) == "B>A=C>D=E"


@pytest.mark.slow
def test_back_keeps_the_answer_and_an_empty_page_saves_nothing(visitor, session):
    visitor.start()
    visitor.submit("/q/1", choice="2")
    visitor.submit("/q/2", go="back")
    assert visitor.path == "/q/1"
    assert visitor.page.select_one("[name=choice][checked]")["value"] == "2"
    assert stored_answers(session) == 1
    visitor.open("/q/2")
    visitor.submit("/q/2", go="back", choice="3")
    assert visitor.path == "/q/1"
    assert stored_answers(session) == 2


@ON_SQLITE
def test_a_question_that_an_answer_leads_to_was_shown_then_though_others_lie_between(
    visitor, session
):
    visitor.start()
    visitor.submit("/q/1", choice="1")
    visitor.submit("/q/2", go="back", choice="1")
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/3"
    visitor.submit("/q/3", choice="1")
    shown = visitor.client.get(f"/s/{SLUG}/my-data.json").json["questions"]
    assert [each["question"] for each in shown] == [1, 2, 3]
    assert all(each["first_shown"] for each in shown)


@ON_SQLITE
def test_back_is_never_refused_and_half_an_answer_is_not_stored(visitor, session):
    visitor.start()
    visitor.submit("/q/1", choice="1")
    visitor.submit("/q/2", go="back", choice="own", rank_A="1")
    assert (visitor.status, visitor.path) == (200, "/q/1")
    assert stored_answers(session) == 1


@ON_SQLITE
def test_back_from_the_first_question_leads_to_the_practice(visitor):
    visitor.start()
    visitor.submit("/q/1", go="back")
    assert visitor.path == "/practice"


@ON_SQLITE
def test_nobody_skips_a_question(visitor):
    visitor.start()
    for path in ("/q/2", "/q/3", "/q/99", "/q/0", "/review"):
        visitor.open(path)
        assert visitor.path == "/q/1"


@ON_SQLITE
def test_a_question_the_study_does_not_have_is_not_found(visitor):
    visitor.start()
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", choice="1")
    visitor.open("/q/4")
    assert visitor.status == 404


def test_answers_are_reviewed_and_changed_before_they_are_handed_in(visitor, session):
    visitor.start()
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", choice="1")
    assert visitor.path == "/review"
    assert len(visitor.page.select("tbody tr")) == 3
    visitor.open("/q/2")
    assert visitor.page.select_one("button.go:not(.hidden)").text == "Next"
    visitor.submit("/q/2", choice=["2", "3"], settle="several")
    assert visitor.path == "/review"
    assert "Methods 2 and 3" in visitor.text
    assert session.query(StoredResponse).filter_by(revisions=1).count() == 1


@ON_SQLITE
def test_a_reload_shows_the_same_page(visitor):
    visitor.start()
    first = visitor.page.select_one(".sheet")
    visitor.open("/q/1")
    assert visitor.page.select_one(".sheet") == first


def test_a_second_device_sees_the_same_page_with_the_code_of_the_first(app, visitor):
    visitor.start()
    visitor.submit("/q/1", choice="2")
    code = visitor.page.select_one(".foot .code").text
    phone = Visitor(app.test_client())
    phone.open()
    phone.submit("/resume", code=code.lower())
    assert phone.path == "/q/2"
    assert phone.page.select_one(".sheet") == visitor.page.select_one(".sheet")
    phone.submit("/q/2", choice="3")
    visitor.open()
    assert visitor.page.select_one("a.go")["href"].endswith("/q/3")


@ON_BOTH
@pytest.mark.parametrize("code", ["", "AAAAA-BBBBB-CCCC", "' OR 1=1 --", "x" * 65])
def test_a_code_that_is_nobodys_is_explained_and_kept(visitor, code):
    visitor.open()
    visitor.submit("/resume", code=code)
    assert visitor.status in (400, 404)
    assert visitor.page.select_one("details")["open"] == ""
    assert visitor.page.select_one("#code")["value"] == code
    assert visitor.page.select_one(".problems li")


@ON_BOTH
def test_two_tabs_store_one_answer_and_the_second_is_told(visitor, session):
    visitor.start()
    second_tab = visitor.page
    visitor.submit("/q/1", choice="1")
    visitor.page, visitor.address = second_tab, f"/s/{SLUG}/q/1"
    visitor.submit("/q/1", choice="3")
    assert visitor.status == 409
    assert "Saved there is: Method 1." in visitor.text
    assert visitor.page.select_one("[name=choice][checked]")["value"] == "3"
    assert stored_answers(session) == 1
    visitor.submit("/q/1", choice="3")
    assert visitor.path == "/q/2"
    assert stored_answers(session) == 1


@ON_BOTH
def test_a_double_click_stores_one_answer(visitor, session):
    visitor.start()
    page = visitor.page
    for _ in range(3):
        visitor.page, visitor.address = page, f"/s/{SLUG}/q/1"
        visitor.submit("/q/1", choice="1")
        assert visitor.path == "/q/2"
    assert stored_answers(session) == 1


def test_an_expired_page_keeps_the_answer_and_works_when_sent_again(visitor, session):
    visitor.start()
    key = visitor.page.select_one("[name=submission_key]")["value"]
    visitor.post("/q/1", csrf_token="old", submission_key=key, choice=["1", "2"])
    assert visitor.status == 400
    assert "The page had been open for too long. Please send it once more." in visitor.text
    assert len(visitor.page.select("[name=choice][checked]")) == 2
    visitor.submit("/q/1", choice=["1", "2"], settle="several")
    assert visitor.path == "/q/2"


@ON_SQLITE
def test_every_post_needs_its_token(app, visitor, session):
    visitor.start()
    before = (stored_answers(session), session.query(Participant).count())
    posts = [
        rule.rule.replace("/s/<slug>", "").replace("<int(max=99):position>", "1")
        for rule in app.url_map.iter_rules()
        if "POST" in (rule.methods or ())
    ]
    assert len(posts) >= 10
    for path in posts:
        visitor.post(path, choice="1", agree="y", age="99", education="School", code="x")
    stranger = Visitor(app.test_client())
    stranger.post("/begin")
    assert (stored_answers(session), session.query(Participant).count()) == before
    assert session.query(Participant).one().personal["age"] == 23


@ON_SQLITE
def test_someone_else_can_begin_on_a_shared_computer(visitor, session):
    visitor.take_part()
    visitor.submit("/leave")
    assert visitor.path == ""
    visitor.take_part(choice="2")
    assert session.query(Participant).filter_by(status="complete").count() == 2


def test_one_browser_takes_part_in_two_studies(client, session, visitor):
    an_open_study(session, "second")
    visitor.start()
    other = Visitor(client, "second")
    other.start()
    assert session.query(Participant).count() == 2
    visitor.open()
    assert visitor.page.select_one("a.go")["href"].endswith(f"{SLUG}/q/1")


def test_a_draft_is_not_there_yet_and_an_unknown_study_neither(client, session):
    from tests.builders import a_plan

    lifecycle.create_study(session, "draft", a_plan())
    for slug in ("draft", "nowhere"):
        visitor = Visitor(client, slug)
        visitor.open()
        assert visitor.status == 404
        assert "Please check the link you were given" in visitor.text or "no study" in visitor.text


@ON_BOTH
@pytest.mark.parametrize("slug", ["%00", "a%20b", "%E2%80%AE", "x" * 5000, "%FF", "'--"])
def test_an_address_that_no_study_can_have_is_not_found(client, study, slug):
    assert client.get(f"/s/{slug}").status_code == 404


@ON_BOTH
def test_a_question_number_beyond_all_bounds_is_not_found(visitor):
    visitor.start()
    for position in (1, 2, 3):
        visitor.submit(f"/q/{position}", choice="1")
    for position in ("99", "100", "9" * 30):
        visitor.open(f"/q/{position}")
        assert visitor.status == 404
    assert visitor.client.post(f"/s/{SLUG}/q/{'9' * 30}").status_code in (404, 405)


def test_a_closed_study_takes_no_more_answers_but_still_shows_receipts(app, session, study):
    done, halfway, late = (Visitor(app.test_client()) for _ in range(3))
    done.take_part()
    halfway.start()
    lifecycle.close_study(session, study)
    halfway.submit("/q/1", choice="1")
    assert halfway.status == 403
    assert "This study has closed" in halfway.text
    late.open()
    assert "This study has closed." in late.text
    assert not late.page.select("button")
    done.open("/done")
    assert done.page.select_one(".receipt")


@ON_SQLITE
def test_a_study_without_practice_personal_fields_or_five_lists(client, session):
    an_open_study(
        session, "other", practice=False, personal_fields=[], lists=3, relevant=2, questions=2,
        measures=["AP", "MNRO"], shuffle_lists=True,
    )  # fmt: skip
    visitor = Visitor(client, "other")
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")
    assert "This survey asks nothing about you." in visitor.text
    visitor.submit("/about-you")
    visitor.submit("/scenario")
    assert visitor.path == "/q/1"
    assert len(visitor.page.select("[data-list]")) == 3
    visitor.submit("/q/1", choice="own", rank_A="1", rank_B="1", rank_C="1")
    visitor.submit("/q/2", choice="2")
    visitor.submit("/review")
    assert visitor.path == "/done"


@ON_SQLITE
def test_no_page_a_participant_gets_names_a_measure(visitor):
    names = [name for m in MEASURES.values() for name in (m.name, m.mean_name, m.shown_as)]
    seen = []

    def look():
        seen.append(visitor.path)
        received = visitor.response.get_data(as_text=True) + str(visitor.response.headers)
        # Tokens, keys and codes are drawn at random, and two letters can come up in them.
        drawn = r"[\w.-]{12,}|(?:[0-9A-Z]{4}-)+[0-9A-Z]{4}|P-[0-9A-Z]{8}"
        plain = re.sub(drawn, "…", html.unescape(received))
        for name in names:
            assert not re.search(rf"(?<![A-Za-z]){name}(?![A-Za-z])", plain), (visitor.path, name)

    visitor.open()
    look()
    for path, fields in (
        ("/begin", {}),
        ("/consent", {"agree": "y"}),
        ("/about-you", {"age": "x"}),
        ("/about-you", {"age": "23", "education": "School"}),
        ("/scenario", {}),
        ("/practice/check", {"better": "0"}),
        ("/practice/check", {"better": "1"}),
        ("/practice", {}),
        ("/practice", {}),
        ("/practice", {"choice": "2"}),
        ("/q/1", {}),
        ("/q/1", {"choice": "1"}),
        ("/q/2", {"choice": ["1", "2", "3"], "settle": "several"}),
        ("/q/3", {"choice": "3"}),
        ("/review", {}),
    ):
        visitor.open(path) if fields is None else visitor.submit(path, **fields)
        look()
    assert seen[-1] == "/done"


@ON_SQLITE
def test_the_cookie_holds_a_random_id_and_the_forms_token_only(visitor):
    from flask.sessions import SecureCookieSessionInterface

    visitor.start()
    signer = SecureCookieSessionInterface().get_signing_serializer(visitor.client.application)
    content = signer.loads(visitor.client.get_cookie(VISITOR_COOKIE).value)
    assert set(content) == {"_permanent", "csrf_token", "id"}


def test_test_runs_are_marked_and_only_with_the_studys_own_token(app, session, study):
    genuine = tokens.test_run_token(KEY, SLUG)
    for number, token in enumerate((genuine, genuine[:-1] + "x", "1")):
        visitor = Visitor(app.test_client())
        visitor._see(visitor.client.get(f"/s/{SLUG}?test={token}", follow_redirects=True))
        form = visitor.page.select_one("form.start")
        csrf = form.select_one("[name=csrf_token]")["value"]
        visitor.client.post(form["action"], data={"csrf_token": csrf})
        assert session.query(Participant).filter_by(is_test=True).count() == 1, number
        session.rollback()


@ON_SQLITE
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("path", ["/s/five-systems", "/s/nowhere", "/nothing", "/s/x/q/1", "/"])
def test_every_answer_carries_the_headers(client, study, method, path):
    response = getattr(client, method)(path)
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "Traceback" not in response.get_data(as_text=True)


@ON_BOTH
def test_health_and_readiness(client):
    assert client.get("/healthz").json == {"status": "ok"}
    assert client.get("/readyz").json == {"status": "ready"}


@ON_BOTH
def test_readiness_fails_without_a_schema(empty_app):
    assert empty_app.test_client().get("/readyz").status_code == 503


@ON_BOTH
def test_readiness_fails_while_no_answer_could_be_saved(client, engine):
    with engine.begin() as connection:  # which locks SQLite
        connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
        began = time.monotonic()
        assert client.get("/readyz").status_code == 503
        assert time.monotonic() - began < 5
        assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


@ON_SQLITE
def test_readiness_fails_on_a_disk_that_is_nearly_full(client, monkeypatch):
    monkeypatch.setattr(database, "LEAST_SPACE", 2**62)
    assert client.get("/readyz").status_code == 503
    assert "the disk has less than" in client.get("/readyz").json["status"]


texts = st.text(max_size=40)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=st.dictionaries(
        st.sampled_from(["choice", "rank-A", "rank-E", "submission_key", "active_seconds", "go"]),
        st.one_of(texts, st.lists(texts, max_size=4), st.sampled_from(["own", "1", "nan", "-1"])),
    )
)
def test_whatever_is_posted_to_a_question_is_answered_without_a_fault(started, fields):
    key = {"csrf_token": started.page.select_one("[name=csrf_token]")["value"]}
    response = started.client.post(f"/s/{SLUG}/q/1", data={**fields, **key})
    assert response.status_code in (303, 302, 400, 409)


@pytest.fixture
def started(visitor):
    visitor.start()
    return visitor
