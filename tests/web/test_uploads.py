"""The files of a form that is refused: named on its page, and used at the next press."""

import io
import os
import time
from hashlib import sha256
from pathlib import Path

import pytest
from wtforms import FileField

from survey import app as application
from survey.services.studies import lifecycle
from survey.web import auth, forms, uploads
from tests.builders import RESEARCHER_COOKIE
from tests.databases import ON_SQLITE
from tests.preferred import RUNS, a_qrels, a_run
from tests.web.desk import PASSWORD, STUDY, Desk, a_file, open_it

pytestmark = ON_SQLITE
NEW = "/research/new"


def uploaded(*names):
    """Return files of judgements or runs, without the topic on which both runs are alike."""
    texts = {"qrels": a_qrels().text, **{name: a_run(name).text for name in RUNS}}
    return [a_file(texts[name].partition("\n6 ")[0] + "\n", f"{name}.txt") for name in names]


def kept(desk):
    """Return the files that the page names, by their field."""
    return {
        block.select_one("[type=hidden]")["name"].removeprefix("kept-"): ", ".join(
            each.text for each in block("strong")
        )
        for block in desk.page.select(".kept")
        if block.select_one("li")
    }


def staged(app):
    return sorted((Path(app.config["INSTANCE"]) / uploads.UPLOADS_FOLDER).glob("*/*"))


def lists_of(session, slug):
    session.rollback()
    return lifecycle.find_study(session, slug).plan.own_lists


@pytest.fixture
def refused(desk):
    """A researcher who forgot the address."""
    desk.open(f"{NEW}?start=runs")
    files = {"judgements": uploaded("qrels"), "runs": uploaded(*RUNS)}
    desk.send(NEW, files=files)
    assert desk.status == 400
    return desk


def test_the_next_press_uses_the_files_that_the_page_names(refused, session, app):
    assert kept(refused) == {"judgements": "qrels.txt", "runs": "alpha.txt, beta.txt"}
    assert [each.p.text for each in refused.page.select(".kept li")] == [
        "qrels.txt 5 topics, 15 documents judged, 15 relevant.",
        "alpha.txt Run alpha: 5 topics, 12 documents each.",
        "beta.txt Run beta: 5 topics, 12 documents each.",
    ]
    refused.send(NEW, collection_size="x", slug="whole")  # and so after a second mistake
    assert kept(refused) == {"judgements": "qrels.txt", "runs": "alpha.txt, beta.txt"}
    assert len(staged(app)) == 3
    refused.send(NEW, collection_size="12", slug="whole")
    assert refused.address == "/research/studies/whole/plan"
    assert "The draft is created at /s/whole. Go through its plan" in refused.text
    assert len(lists_of(session, "whole")) == 5
    assert staged(app) == []


def test_what_was_typed_and_chosen_is_there_again(desk):
    desk.open(NEW)
    typed = {"slug": "Whole 1", "contrast": "AP, RR", "collection_size": "about 12"}
    typed |= {"asked_by": "the group of X", "contact": "x@example.org"}
    files = {"judgements": uploaded("qrels"), "runs": uploaded(*RUNS)}
    desk.send(NEW, start="preference", show_items="y", language="el", files=files, **typed)
    assert desk.status == 400
    shown = {name: desk.page.select_one(f"[name={name}]").get("value") for name in typed}
    assert shown == typed
    assert desk.page.select_one("[name=start]")["value"] == "preference"
    assert desk.page.select_one("[name=show_items]").has_attr("checked")
    assert desk.page.select_one("[name=language] [selected]")["value"] == "el"


def value_of(desk, name):
    """Return what the page holds in place of a file."""
    entry = next(each for each in desk.page.select(".kept li") if each.strong.text == name)
    return entry.select_one("[type=hidden]")["value"]


def test_another_file_replaces_one_or_is_added_and_a_tick_removes_one(refused, app):
    changed = a_file(a_run("alpha").text, "alpha.txt")
    refused.send(NEW, files={"runs": [changed, *uploaded("alpha")[:0]]})
    assert kept(refused)["runs"] == "beta.txt, alpha.txt"
    refused.send(NEW, files={"judgements": a_file("1 0 red-0 1\n", "other.txt")})
    assert kept(refused)["judgements"] == "other.txt"
    refused.send(NEW, **{"drop-runs": value_of(refused, "beta.txt")})
    assert kept(refused) == {"judgements": "other.txt", "runs": "alpha.txt"}
    refused.send(NEW, slug="half")
    assert "Choose at least two runs. No study was made." in refused.text


def test_nothing_is_made_without_files_that_were_kept_too_long(refused, session, app):
    for path in staged(app):
        os.utime(path, (time.time() - uploads.SECONDS_KEPT - 1,) * 2)
    refused.send(NEW, slug="whole")
    assert refused.status == 400
    assert [each["href"] for each in refused.page.select("#problems a")] == ["#judgements", "#runs"]
    assert uploads.TOO_LATE in refused.text
    assert staged(app) == []
    files = {"judgements": uploaded("qrels"), "runs": uploaded(*RUNS)}
    refused.send(NEW, files=files)
    assert len(lists_of(session, "whole")) == 5


def test_a_chosen_file_is_sent_at_once_and_shown_with_what_it_holds(desk, app, session):
    desk.open(f"{NEW}?start=runs")
    form = desk.page.select_one("form[data-stage]")
    token = form.select_one("[name=csrf_token]")["value"]
    runs = [*uploaded(*RUNS), a_file("1 0 d 1\n", "wrong.txt")]
    sent = {"csrf_token": token, "field": "runs", "files": runs}
    answer = desk.client.post(form["data-stage"], data=sent)
    desk._see(answer)
    assert answer.status_code == 200
    assert [each.text for each in desk.page("strong")] == ["alpha.txt", "beta.txt", "wrong.txt"]
    assert ["wrong" in each.get("class", ()) for each in desk.page("li")] == [False, False, True]
    assert "4 columns like judgements, not 6 like a run." in desk.page("li")[2].text
    entries = [each["value"] for each in desk.page.select("[name=kept-runs]")]
    desk.open(f"{NEW}?start=runs")
    desk.send(
        NEW, files={"judgements": uploaded("qrels")}, slug="whole", **{"kept-runs": entries[:2]}
    )
    assert len(lists_of(session, "whole")) == 5
    assert [path.name for path in staged(app)] == [entries[2].partition(" ")[0]]
    desk.client.post(form["data-stage"], data=sent | {"csrf_token": "", "files": uploaded("alpha")})
    assert len(staged(app)) == 1


class StopError(Exception):
    """Ends the server's background work."""


def test_a_server_deletes_what_is_a_day_old(refused, app, monkeypatch):
    def sleep(_):
        raise StopError

    old, *recent = staged(app)
    os.utime(old, (time.time() - uploads.SECONDS_KEPT - 1,) * 2)
    monkeypatch.setattr(application, "sleep", sleep)
    with pytest.raises(StopError):
        application.delete_due_data(app)
    assert staged(app) == recent


def test_kept_files_outlast_a_session(refused, session):
    refused.client.delete_cookie(RESEARCHER_COOKIE, path="/research")
    refused.send(NEW, slug="whole")
    assert refused.status == 401
    signed_out = refused.page
    refused.open("/research/sign-in")
    refused.send("/research/sign-in", name="Ada", password=PASSWORD)
    refused.page = signed_out
    refused.send(NEW)
    assert len(lists_of(session, "whole")) == 5


def all_forms(form):
    """Yield the classes of forms below this one."""
    for below in form.__subclasses__():
        yield below
        yield from all_forms(below)


def test_every_field_of_files_keeps_them(app):  # which has imported all forms
    kinds = {
        f"{form.__name__}.{name}": field.field_class
        for form in all_forms(forms.Form)
        for name, field in vars(form).items()
        if issubclass(getattr(field, "field_class", object), FileField)
    }
    assert {"NewStudyForm.runs", "ImportForm.bundle", "ItemsForm.files"} <= kinds.keys()
    kinds.pop("RunForm.run")  # of groups, who have no account and so no folder of kept files
    assert all(issubclass(kind, uploads.UploadField) for kind in kinds.values())


def test_what_is_kept_opens_nothing_to_others(refused, app, session):
    stolen = {"kept-judgements": value_of(refused, "qrels.txt")}
    stolen["kept-runs"] = [value_of(refused, f"{name}.txt") for name in RUNS]
    bob = Desk(app, session, "Bob")
    bob.open(f"{NEW}?start=runs")
    bob.send(NEW, slug="stolen", **stolen)
    assert bob.status == 400
    assert uploads.TOO_LATE in bob.text
    assert kept(bob) == {}
    refused.open(f"{NEW}?start=runs")
    refused.send(NEW, slug="x", **{"kept-runs": "../../secret_key", "kept-judgements": "0" * 64})
    assert "Choose judgements and at least two runs. No study was made." in refused.text
    assert len(staged(app)) == 3  # still Ada's


def test_names_are_shown_as_text_and_never_used_as_paths(desk, app):
    desk.open(NEW)
    name = "../../<b>qrels</b>.txt"
    desk.send(NEW, start="runs", slug="x", files={"judgements": a_file("1 0 d 1\n", name)})
    assert kept(desk) == {"judgements": name}
    assert [path.name for path in staged(app)] == [sha256(b"1 0 d 1\n").hexdigest()]


def test_a_researcher_keeps_no_more_than_a_request_may_have(refused, app, monkeypatch):
    monkeypatch.setattr(auth, "LARGEST_UPLOAD", 10_000)
    largest = {"judgements": a_file("1 0 d 1\n" * 1000, "large.txt")}
    refused.open(f"{NEW}?start=runs")  # in another tab
    refused.send(NEW, slug="y", files=largest)
    assert kept(refused) == {"judgements": "large.txt"}
    assert sum(path.stat().st_size for path in staged(app)) < 10_000  # the first are deleted
    more = {"runs": [a_file("1 Q0 d 1 1 t\n" * 500, "other.txt")]}
    refused.send(NEW, files=more)
    assert kept(refused) == {"runs": "other.txt"}
    [problem] = refused.page.select("#judgements-error")
    assert problem.text == uploads.TOO_LATE


def test_a_page_that_cannot_keep_files_says_so(desk, app):
    (Path(app.config["INSTANCE"]) / uploads.UPLOADS_FOLDER).write_text("in the way")
    desk.open(NEW)
    desk.send(NEW, start="runs", slug="x", files={"judgements": uploaded("qrels")})
    assert desk.status == 400
    assert uploads.NOT_KEPT in desk.text
    assert kept(desk) == {}


def test_own_lists_are_kept_as_csv_and_as_runs(desk, study, session):
    rows = "question,list,ranks,collection_size\n1,A,1 x,50\n1,B,9 3,5\n"
    desk.open(f"{STUDY}/lists")
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    assert kept(desk) == {"lists": "lists.csv"}
    desk.send(f"{STUDY}/lists")
    assert "lists.csv, row 2, column ranks: 'x' found" in desk.text
    desk.open(f"{STUDY}/lists")
    files = {"qrels": uploaded("qrels"), "runs": uploaded(*RUNS)}
    desk.send(f"{STUDY}/lists/trec", files=files, topics="1, 2", collection_size="x")
    assert kept(desk) == {"qrels": "qrels.txt", "runs": "alpha.txt, beta.txt"}
    assert desk.page.select_one("[name=topics]")["value"] == "1, 2"
    desk.send(f"{STUDY}/lists/trec", collection_size="12")
    assert desk.address == f"{STUDY}/check"
    assert len(lists_of(session, "a-study")) == 2


def test_scored_runs_stay_for_another_score_and_for_the_zip(desk, app):
    page = "/research/evaluation"
    desk.open(page)
    files = {"qrels": uploaded("qrels"), "runs": uploaded(*RUNS)}
    desk.send(page, files, measures="APX")
    assert desk.status == 400
    assert kept(desk) == {"qrels": "qrels.txt", "runs": "alpha.txt, beta.txt"}
    desk.send(page, measures="AP")
    assert desk.status == 200, desk.text
    assert desk.page.select_one("#scores")
    assert kept(desk) == {"qrels": "qrels.txt", "runs": "alpha.txt, beta.txt"}
    scores = desk.page
    desk.send(page, download="zip")
    assert desk.response.mimetype == "application/zip"
    desk.page = scores
    desk.send(page, measures="P@5")
    assert desk.page.select_one("#scores")
    assert len(staged(app)) == 3


def test_a_list_of_guests_is_kept(desk, study, session):
    invite, form = f"{STUDY}/invite", f"{STUDY}/invite/guests"
    desk.open(invite)
    guests = a_file("name\nGrace Hopper\n" + "x" * 400 + "\n", "guests.csv")
    desk.send(form, files={"guests": guests}, names="Mary", guests_only="y")
    assert desk.status == 400
    assert kept(desk) == {"guests": "guests.csv"}
    assert desk.page.select_one("[name=names]").text.strip() == "Mary"
    assert desk.page.select_one("[name=guests_only]").has_attr("checked")
    desk.send(form, files={"guests": a_file("name\nGrace Hopper\n", "guests.csv")})
    assert "2 personal links are ready to be sent." in desk.text


def test_a_bundle_is_kept_while_another_address_is_typed(desk, study, app, session):
    open_it(session, study)
    lifecycle.close_study(session, study, "Ada")
    session.rollback()
    bundle = desk.client.get(f"{STUDY}/bundle.zip").data
    desk.open("/research/import")
    desk.send("/research/import", files={"bundle": (io.BytesIO(bundle), "bundle.zip")})
    assert "There is a study 'a-study' already" in desk.text
    assert kept(desk) == {"bundle": "bundle.zip"}
    desk.send("/research/import", slug="again")
    assert desk.address == "/research/studies/again/results"
    assert staged(app) == []


def test_pictures_are_kept_where_their_table_is_refused(desk, study, app):
    page = f"{STUDY}/items"
    desk.open(page)
    table = a_file("document,words\nd1,Text\n", "items.csv")
    desk.send(page, files={"files": [table]})
    assert desk.status == 400, desk.text
    assert kept(desk) == {"files": "items.csv"}
    desk.send(page, files={"files": [a_file("document,text\nd1,Text\n", "items.csv")]})
    assert desk.page.select_one("#taken")
    assert kept(desk) == {}
    assert staged(app) == []
