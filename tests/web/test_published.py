"""A closed study's public page: published by its owner, true at any moment, taken back."""

import json
import re
from datetime import timedelta

import pytest
import yaml
from bs4 import BeautifulSoup

from survey.db.models import Event, Participant, Presentation, Publication, StoredResponse
from survey.kinds.ordering.departures import departures_of
from survey.services import accounts
from survey.services.participation import own_data, participants
from survey.services.studies import lifecycle, publications
from survey.services.studies.publications import Details
from survey.services.studies.recruitment import Recruitment
from tests.builders import a_plan, a_ready_participant, save_answer
from tests.databases import ON_SQLITE
from tests.grouped import grouped
from tests.labelled import labelled
from tests.preferred import a_participant, a_preference_study
from tests.services.exchange.changes import rows_of, steps_of, unzipped
from tests.services.exchange.conftest import own, ticked
from tests.services.exchange.test_replicate import SCREEN, install_screens
from tests.web.desk import STUDY, Desk, Reader, open_it

pytestmark = ON_SQLITE

PUBLISH, PUBLIC = f"{STUDY}/publish", "/studies/a-study"
AUTHORS = "Lovelace, Ada\nThe retrieval group"
CANARY = "Kestrel"
DOWNLOADS = ("/bundle.zip", "/CITATION.cff", "/citation.bib")


@pytest.fixture
def study(session, desk):
    ada = accounts.find_researcher(session, "Ada")
    recruitment = Recruitment(code_complete=CANARY)
    plan = a_plan(questions=2)
    made = lifecycle.create_owned_study(session, ada, "a-study", plan, recruitment)
    session.rollback()
    return made


def take_part(session, study, people=4):
    """Let some answer; all have written the canary, and one of them is test data."""
    open_it(session, study)
    for number in range(people):
        participant = a_ready_participant(session, study, f"browser {number}")
        for position, answer in ((1, ticked(1)), (2, own("B>A=C>D>E"))):
            save_answer(session, participant, position, answer, 9.5)
        participant.personal = {"age": 22, "education": CANARY}
        participant.is_test = number == 3
        participants.finish(session, participant)
    session.query(StoredResponse).update({"reason": CANARY})
    session.commit()


def close(session, study):
    lifecycle.close_study(session, study, "Ada")
    session.rollback()


@pytest.fixture
def closed(session, study):
    take_part(session, study)
    close(session, study)
    return study


def publish(desk, **fields):
    desk.open(PUBLISH)
    desk.send(PUBLISH, **{"authors": AUTHORS, "read": "y", "go": "publish", **fields})


class Visitor:
    """A browser that reads what is streamed to its end."""

    def __init__(self, app):
        self.client = app.test_client()

    def get(self, address, **wanted):
        return self.client.get(address, buffered=True, **wanted)


@pytest.fixture
def visitor(app):
    return Visitor(app)


def test_three_clicks_lead_from_a_closed_study_to_its_public_page(desk, closed, visitor):
    desk.open(STUDY)
    assert desk.page.select_one(f"main a[href='{PUBLISH}']")
    publish(desk)
    assert desk.status == 200
    assert "The study is public." in desk.text
    page = visitor.get(PUBLIC)
    assert page.status_code == 200
    assert "Lovelace, Ada; The retrieval group" in page.text
    assert "3 people gave 6 answers" in page.text
    assert closed.digest in page.text
    assert "By its scores, a method can be followed" in page.text
    assert "noindex" not in page.text
    assert 'href="/studies/a-study"' in visitor.get("/studies").text
    assert 'href="/studies"' in visitor.get("/").text


def test_the_page_says_where_the_study_departs_from_the_papers(desk, closed, visitor):
    publish(desk)
    page = BeautifulSoup(visitor.get(PUBLIC).text, "html.parser")
    shown = [
        tuple(cell.text for cell in row.select("td")) for row in page.select("#departures tbody tr")
    ]
    assert shown == [*departures_of(closed.plan)]
    assert shown[0][0] == "Ten sets of five lists, not published"


def test_what_was_asked_is_in_the_studys_language_alone(desk, session, visitor):
    ada = accounts.find_researcher(session, "Ada")
    asked = "Ποια από τα {lists} συστήματα;"
    plan = a_plan(questions=2, language="el", question_text=asked)
    study = lifecycle.create_owned_study(session, ada, "greek", plan, Recruitment())
    take_part(session, study)
    close(session, study)
    publications.publish(session, study, "Ada", Details("A title", AUTHORS, ""))
    session.rollback()
    page = visitor.get("/studies/greek").text
    assert "Ποια από τα πέντε συστήματα;" in page
    assert "What was asked" in page


def test_the_page_names_the_package_that_replicating_needs(desk, session, visitor, monkeypatch):
    install_screens(monkeypatch, "1.0", "MNRO")
    ada = accounts.find_researcher(session, "Ada")
    plan = a_plan(questions=2, **SCREEN)
    study = lifecycle.create_owned_study(session, ada, "a-study", plan, Recruitment())
    take_part(session, study)
    close(session, study)
    publish(desk)
    page = " ".join(visitor.get(PUBLIC).text.split())
    assert "of this survey with screens 1.0 is installed, one command" in page


def test_without_a_public_study_nothing_points_there(desk, closed, visitor):
    assert "/studies" not in visitor.get("/").text
    assert "No study is published here yet." in visitor.get("/studies").text
    for path in ("", *DOWNLOADS, "/try", "/pictures/small/x.webp"):
        assert visitor.get(PUBLIC + path).status_code == 404


def test_nothing_that_people_or_researchers_wrote_is_public(desk, closed, session, visitor):
    publish(desk)
    session.rollback()
    shown = b""
    for path in ("", *DOWNLOADS, "/try"):
        answer = visitor.get(PUBLIC + path)
        assert answer.status_code == 200
        shown += answer.data
    files = unzipped(visitor.get(f"{PUBLIC}/bundle.zip").data)
    shown += b"".join(files.values()) + visitor.get("/studies").data
    steps_of(files)  # replicates
    assert CANARY.encode() not in shown
    test_people = session.query(Participant).filter_by(is_test=True).all()
    assert [each for each in test_people if each.public_id.encode() in shown] == []
    assert len(rows_of(files, "participants.csv")) == 3
    assert json.loads(files["study.json"])["digest"] == closed.digest


@pytest.mark.slow
def test_the_files_say_what_they_are(desk, closed, visitor):
    publish(desk)
    bundle, cff, bibtex = (visitor.get(PUBLIC + path) for path in DOWNLOADS)
    assert bundle.mimetype == "application/zip"
    assert bundle.headers["Content-Disposition"] == 'attachment; filename="a-study.zip"'
    assert cff.headers["Content-Disposition"] == 'attachment; filename="CITATION.cff"'
    assert yaml.safe_load(cff.text)["url"] == "http://localhost/studies/a-study"
    assert bibtex.headers["Content-Type"] == "text/x-bibtex; charset=utf-8"
    assert "{The retrieval group}" in bibtex.text


@pytest.mark.slow
def test_a_page_is_sent_again_only_when_the_study_has_changed(desk, closed, session, visitor):
    publish(desk)
    first = visitor.get(PUBLIC)
    assert first.headers["Cache-Control"] == "public, no-cache"
    assert "Set-Cookie" not in first.headers
    known = {"If-None-Match": first.headers["ETag"]}
    assert visitor.get(PUBLIC, headers=known).status_code == 304
    participant = session.query(Participant).filter_by(is_test=False).first()
    lifecycle.exclude(session, closed, participant, "Ada", CANARY)
    session.rollback()
    assert visitor.get(PUBLIC, headers=known).status_code == 404  # two are left


@pytest.mark.slow
def test_who_erases_their_answers_is_in_no_bundle_from_then_on(
    desk, study, session, visitor, tmp_path
):
    take_part(session, study, 5)
    close(session, study)
    publish(desk)
    before = visitor.get(f"{PUBLIC}/bundle.zip")
    session.rollback()
    participant = session.query(Participant).filter_by(is_test=False).first()
    public_id = participant.public_id
    assert public_id.encode() in b"".join(unzipped(before.data).values())
    own_data.erase(session, study, participant, tmp_path)
    session.rollback()
    known = {"If-None-Match": before.headers["ETag"]}
    after = visitor.get(f"{PUBLIC}/bundle.zip", headers=known)
    assert public_id.encode() not in b"".join(unzipped(after.data).values())
    steps_of(unzipped(after.data))
    assert "3 people gave 6 answers" in visitor.get(PUBLIC).text


def test_a_study_that_opens_again_hides_its_page_and_tells_nothing(desk, closed, session, visitor):
    publish(desk)
    lifecycle.open_study(session, closed, "Ada", "more people")
    session.rollback()
    for path in ("", *DOWNLOADS, "/try"):
        answer = visitor.get(PUBLIC + path)
        assert answer.status_code == 404
        assert answer.headers["Cache-Control"] == "no-store"
        assert "not public at the moment" in answer.text
        assert not re.search("AP|NMRR|MNRO|Lovelace", answer.text)
        assert closed.plan.title not in answer.text
    assert "Lovelace" not in visitor.get("/studies").text
    assert "/studies" not in visitor.get("/").text
    desk.open(STUDY)
    assert "public page is hidden until it is closed" in desk.text
    close(session, closed)
    assert visitor.get(PUBLIC).status_code == 200


@pytest.mark.slow
def test_what_is_taken_back_is_gone_and_can_come_back(desk, closed, visitor):
    publish(desk)
    desk.send(f"{PUBLISH}/take-back")
    assert "The study is not public any more." in desk.text
    for path in ("", *DOWNLOADS, "/try"):
        answer = visitor.get(PUBLIC + path)
        assert answer.status_code == 410
        assert "taken this study" in answer.text
        assert "Lovelace" not in answer.text
    desk.post(f"{PUBLISH}/take-back", csrf_token=csrf(desk))
    assert desk.status == 403
    publish(desk, authors="Babbage, Charles")
    assert "Babbage, Charles" in visitor.get(PUBLIC).text


def test_a_doi_is_taken_back_into_page_and_citation(desk, closed, visitor, session):
    publish(desk)
    steps = desk.page.select("#deposit > ol > li")
    assert len(steps) == 3
    assert steps[0].select_one("a")["href"] == f"{PUBLIC}/bundle.zip"
    typed = [value.text for value in steps[1].select("dd > span")]
    assert typed[:3] == [closed.plan.title, "Lovelace, Ada; The retrieval group", "CC-BY-4.0"]
    desk.send(f"{PUBLISH}/doi", doi="10.5281/zenodo 1")
    assert desk.status == 400
    assert "“10.5281/zenodo 1” is not a DOI" in desk.text
    assert desk.page.select_one("[name=doi]")["value"] == "10.5281/zenodo 1"
    assert desk.page.select_one(".sections [aria-current]").text == "Publish"
    assert desk.page.select_one("[name=authors]").text.strip() == AUTHORS
    desk.send(f"{PUBLISH}/doi", doi="https://doi.org/10.5281/zenodo.1234567")
    assert desk.page.select_one("[name=doi]")["value"] == "10.5281/zenodo.1234567"
    page = BeautifulSoup(visitor.get(PUBLIC).text, "html.parser")
    assert page.select_one("a[href='https://doi.org/10.5281/zenodo.1234567']")
    assert "doi = {10.5281/zenodo.1234567}" in visitor.get(f"{PUBLIC}/citation.bib").text
    assert "doi: 10.5281/zenodo.1234567" in visitor.get(f"{PUBLIC}/CITATION.cff").text
    files = unzipped(visitor.get(f"{PUBLIC}/bundle.zip").data)
    assert b"https://doi.org/10.5281/zenodo.1234567" in files["README.md"]
    steps_of(files)
    desk.send(f"{PUBLISH}/doi", doi="")
    assert "doi.org" not in visitor.get(PUBLIC).text
    session.rollback()
    kinds = [event.kind for event in session.query(Event).order_by(Event.id)]
    assert kinds[-2:] == ["DOI stored", "DOI removed"]


def test_the_page_describes_the_dataset_for_search_engines(desk, closed, visitor):
    publish(desk, title="Five </script><b>")
    page = visitor.get(PUBLIC)
    [script] = BeautifulSoup(page.text, "html.parser").select("[type='application/ld+json']")
    metadata = json.loads(script.string)
    assert metadata["@context"] == "https://schema.org/"
    assert (metadata["@type"], metadata["name"]) == ("Dataset", "Five </script><b>")
    assert metadata["distribution"]["contentUrl"].endswith(f"{PUBLIC}/bundle.zip")
    files = unzipped(visitor.get(f"{PUBLIC}/bundle.zip").data)
    crate = {
        entity["@id"]: entity for entity in json.loads(files["ro-crate-metadata.json"])["@graph"]
    }
    for name in ("name", "description", "datePublished", "identifier"):
        assert metadata[name] == crate["./"][name]
    names = {variable["name"] for variable in metadata["variableMeasured"]}
    assert {"clicked", "credited"} <= names


def test_a_bundle_has_the_address_of_the_settings_and_no_other(desk, closed, app, visitor):
    publish(desk)
    files = unzipped(visitor.get(f"{PUBLIC}/bundle.zip").data)
    assert not any(b"localhost" in content for content in files.values())
    app.config["ADDRESS"] = "https://survey.example.org"
    files = unzipped(visitor.get(f"{PUBLIC}/bundle.zip").data)
    address = "https://survey.example.org/studies/a-study"
    assert yaml.safe_load(files["CITATION.cff"])["url"] == address
    steps_of(files)


def csrf(desk):
    return desk.page.select_one("[name=csrf_token]")["value"]


def test_a_form_that_fails_keeps_what_was_typed(desk, closed, visitor):
    publish(desk, read=None, authors=", Ada", title="Another title", licence="CC0-1.0")
    assert desk.status == 400
    assert "“, Ada” has no family name before the comma." in desk.text
    assert "Read what becomes visible" in desk.text
    assert desk.page.select_one("[name=title]")["value"] == "Another title"
    assert desk.page.select_one("[name=authors]").text.strip() == ", Ada"
    assert desk.page.select_one("[name=licence][checked]")["value"] == "CC0-1.0"
    assert visitor.get(PUBLIC).status_code == 404


@pytest.mark.slow
def test_a_preview_shows_the_public_page_before_anyone_else_sees_it(desk, closed, visitor):
    publish(desk, go="preview", read=None)
    assert "This page is not public yet." in desk.text
    assert "Lovelace, Ada; The retrieval group" in desk.text
    assert visitor.get(PUBLIC).status_code == 404


def test_a_preview_has_the_year_that_the_public_page_keeps(desk, closed, session, visitor):
    publish(desk)
    session.query(Publication).one().published_at -= timedelta(days=800)
    session.commit()
    year = session.query(Publication).one().published_at.year
    session.rollback()
    publish(desk, go="preview", read=None)
    assert f"({year})" in desk.text
    publish(desk)
    assert f"({year})" in visitor.get(PUBLIC).text


def test_only_an_owner_publishes_only_a_closed_study_of_three(app, desk, study, session):
    publish_open = f"{STUDY}/publish"
    take_part(session, study, 2)
    desk.open(publish_open)
    assert "Only a closed study can be public" in desk.text
    close(session, study)
    desk.open(STUDY)
    assert "You may publish it" not in desk.text
    desk.open(publish_open)
    assert "Answers of 2 participants count; at least 3 are needed." in desk.text
    fields = {"title": "A", "authors": "B", "licence": "", "read": "y", "go": "publish"}
    desk.open(STUDY)
    desk.post(publish_open, **fields, csrf_token=csrf(desk))
    assert desk.status == 400
    viewer = Desk(app, session, "Bob")
    accounts.share(session, study, accounts.find_researcher(session, "Bob"), "viewer")
    session.commit()
    viewer.open(publish_open)
    assert viewer.status == 403
    viewer.open(STUDY)
    assert publish_open not in viewer.response.text


@pytest.mark.slow
def test_a_copy_is_not_public(desk, closed, session, visitor):
    desk.open(STUDY)
    assert "You may publish it" in desk.text
    publish(desk)
    desk.open(STUDY)
    assert "Everyone can see its public page" in desk.text
    desk.send(f"{STUDY}/copy", slug="a-copy")
    assert visitor.get("/studies/a-copy").status_code == 404
    session.rollback()
    lifecycle.archive(session, closed, "Ada")
    session.rollback()
    assert visitor.get(PUBLIC).status_code == 200
    lifecycle.delete(session, closed, "Ada")
    session.rollback()
    assert visitor.get(PUBLIC).status_code == 404


class Trial(Reader):
    """A reader who tries a question."""

    def __init__(self, app, slug):
        super().__init__(app)
        self.path = f"/studies/{slug}/try"
        self.open(self.path)

    def submit(self, **fields):
        form = self.page.select_one("form[method=post]")
        assert form["action"] == self.path
        self.send(self.path, **fields)

    @property
    def table(self):
        """The cells of the table at the end, row by row."""
        rows = self.page.select("main table tbody tr")
        return [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in rows]


def trial_of(app, session, study):
    """Publish a closed study and open the question that can be tried."""
    publications.publish(session, study, "Ada", Details("A title", AUTHORS, ""))
    slug = study.slug
    session.rollback()
    return Trial(app, slug)


def row_counts(session):
    session.rollback()
    tables = (Participant, Presentation, StoredResponse, Event)
    return [session.query(table).count() for table in tables]


def has_a_picture_in_each_row(trial):
    pictures = trial.page.select("main tbody th img")
    assert len(pictures) == len(trial.table) == len({each["src"] for each in pictures})
    assert trial.client.get(pictures[0]["src"]).mimetype == "image/webp"


@pytest.mark.slow
def test_an_ordering_question_can_be_tried(app, session, desk, closed):
    trial = trial_of(app, session, closed)
    before = row_counts(session)
    assert "What you do here is not stored." in trial.text
    assert "Questions?" not in trial.text
    trial.submit()
    assert trial.status == 400
    trial.submit(choice="1")
    assert trial.status == 200
    assert [row[0] for row in trial.table] == [*closed.plan.measures, "OTHER"]
    assert trial.table[0][1] == "Method 1"
    assert trial.table[0][-1] == "yes"
    assert sum(int(row[3]) for row in trial.table) >= 3
    trial.open(trial.path)
    places = {f"rank-{letter}": str(place) for place, letter in enumerate("EDCBA", 1)}
    trial.submit(choice="own", **places)
    trial.submit(choice="own", **places)  # which it asks back about
    assert trial.table[-1][1:] == ["", "E>D>C>B>A", "0", "yes"]
    trial.open(trial.path)
    trial.submit(go="back")
    assert trial.address == PUBLIC
    assert row_counts(session) == before


@pytest.mark.slow
def test_a_query_can_be_labelled_and_refined(app, session):
    trial = trial_of(app, session, labelled(app, session))
    before = row_counts(session)
    assert not trial.page.select("#saved-mark svg")  # nothing is saved
    pictures = trial.page.select("#tiles img")
    assert trial.client.get(pictures[0]["src"]).mimetype == "image/webp"
    trial.submit(document=["1", "2"], go="refine")
    assert "Page 2" in trial.text
    assert "2 marked" in trial.text
    trial.submit(document=["3"], go="previous")
    trial.submit(document=["1"], go="next")
    assert "2 marked" in trial.text
    trial.submit(document=["3"], go="done")
    assert "there may be more on the next page" in trial.text  # as on the real page
    trial.submit(go="done")
    assert "3 participants have done this query." in trial.text
    marked = [int(row[-1]) for row in trial.table]
    assert len(marked) == 5
    has_a_picture_in_each_row(trial)
    assert sum(marked) == 2
    assert re.search(r"Of the documents that you saw, no one marked \d+\.", trial.text)
    assert max(int(row[1]) for row in trial.table) == 3
    assert row_counts(session) == before
    page = trial.client.get("/studies/done").text
    assert "How far the annotators chose the same documents" in page
    assert not re.search(r"P-[0-9A-Z]{8}", page)  # no table compares single people


@pytest.mark.slow
def test_a_topic_can_be_sorted_into_groups(app, session):
    trial = trial_of(app, session, grouped(app, session))
    before = row_counts(session)
    assert trial.page.select_one("#saved").text == ""  # nothing is, nor does the script say so
    assert json.loads(trial.page.select_one("#saved")["data-words"])["saved"] == ""
    assert trial.page.select_one("#work[data-steps]")  # else the keys of groups do nothing
    trial.submit(go="new", group="mine")
    assert trial.status == 400
    trial.submit(document=["1", "2"], go="new", group="mine")
    assert "2 of" in trial.text
    trial.submit(go="done")
    assert trial.status == 400
    assert "are in no group yet" in trial.text
    trial.submit(go="rest")
    trial.submit(step_key="forged", go="done")
    assert trial.status == 400  # begins anew: steps that we did not sign are no steps
    trial.submit(document=["1", "2"], go="new", group="mine")
    trial.submit(go="rest")
    trial.submit(go="done")
    assert [row[-1] for row in trial.table].count("mine") == 2
    assert {row[1] for row in trial.table} - {"unknown"}
    has_a_picture_in_each_row(trial)
    assert row_counts(session) == before


@pytest.mark.slow
def test_a_pair_can_be_preferred(app, session):
    study = a_preference_study(session)
    for _ in range(3):
        visitor = a_participant(app)
        for position in range(1, 6):
            visitor.submit(f"/q/{position}", preferred="right")
        visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    trial = trial_of(app, session, study)
    before = row_counts(session)
    trial.submit()
    assert trial.status == 400
    trial.submit(preferred="left")
    assert [row[0] for row in trial.table] == ["AP", "RR", "participants", "you"]
    assert {trial.table[0][1:3].index("better"), trial.table[1][1:3].index("better")} == {0, 1}
    assert sum(map(int, trial.table[2][1:])) == 3
    assert trial.table[3][1:] == ["chosen", "", "", ""]
    assert row_counts(session) == before
    for path in ("", *DOWNLOADS):
        assert trial.client.get(f"/studies/preferred{path}").status_code == 200
