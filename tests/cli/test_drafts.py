"""A draft is changed, changed back, given other lists, and looked at in a folder."""

import json
import re

import pytest

from survey.services.studies import lifecycle
from tests.builders import a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.labelled import a_labelling_study
from tests.preferred import a_preference_study

pytestmark = ON_SQLITE


@pytest.fixture
def draft(session):
    study = lifecycle.create_study(session, "a-study", a_plan())
    session.rollback()
    return study


def plan_of(run):
    return json.loads(run("study", "plan", "a-study", "--json"))


def test_fields_are_set_as_they_are_typed(run, draft):
    fields = ("minutes=40", "contact=me@x.org", "measures=AP,nDCG@10", "practice=no", "title=Yes")
    printed = json.loads(run("study", "set", "a-study", *fields, "--json"))
    assert printed["changed"]["minutes"] == {"before": "20", "now": "40"}
    plan = plan_of(run)
    assert (plan["minutes"], plan["contact"], plan["title"]) == (40, "me@x.org", "Yes")
    assert (plan["measures"], plan["practice"]) == (["AP", "nDCG@10"], False)
    run("study", "set", "a-study", "personal_fields=- {name: age, label: Age, kind: number}")
    assert [field["name"] for field in plan_of(run)["personal_fields"]] == ["age"]
    assert run("study", "set", "a-study", "minutes=40").strip() == "Nothing changed."


def test_the_command_names_what_changed_in_the_recruitment(run, draft):
    changes = ("--access", "personal", "--mail-subject", "Join us")
    assert "changed: access, mail subject." in run("study", "recruit", "a-study", *changes)
    assert "Nothing changed." in run("study", "recruit", "a-study", *changes)
    assert "changed: mail subject." in run("study", "recruit", "a-study", "--mail-subject", "")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("minuts=4", "there is no field “minuts”; did you mean minutes?\n"),
        ("minutes=0", "minutes is 0; 1 to 600 are allowed."),
        ("minutes=many", "minutes is 'many'; a whole number is needed."),
        ("practice=perhaps", "practice is 'perhaps'; true or false are allowed."),
        ("minutes", "'minutes' is not FIELD=VALUE, like minutes=40."),
        ("code_complete=X", "code_complete is no field of a plan: see `survey study recruit`."),
        ("personal_fields=[", "personal_fields cannot be read"),
    ],
)
def test_what_cannot_be_set_is_told(run, draft, typed, sentence):
    before = plan_of(run)
    assert sentence in run("study", "set", "a-study", typed, status=2)
    assert plan_of(run) == before


def test_a_change_is_undone_and_restored(run, draft):
    first = plan_of(run)
    assert "nothing to undo" in run("study", "undo", "a-study", status=1)
    run("study", "set", "a-study", "title=Other", "practice=no")
    second = plan_of(run)
    run("study", "undo", "a-study")
    assert plan_of(run) == first
    run("study", "undo", "a-study")
    assert plan_of(run) == second


def test_an_opened_study_is_not_changed(run, session):
    an_open_study(session, "a-study")
    for act in (("set", "a-study", "minutes=3"), ("undo", "a-study")):
        assert "its content is frozen" in run("study", *act, status=1)


def test_the_pages_open_from_the_folder_and_lead_on(run, draft, tmp_path):
    folder = tmp_path / "pages"
    printed = json.loads(run("study", "preview", "a-study", "--to", folder, "--json"))
    assert printed["first"] == str(folder / "index.html")
    pages = {path.name: path.read_text() for path in folder.glob("*.html")}
    assert printed["pages"] == len(pages)
    leads_to(folder)
    seen, name = [], "index.html"
    while name not in seen:
        seen.append(name)
        forms = re.findall(r'<form[^>]* method="get" action="([^"]+)"', pages[name])
        name = next((form for form in forms if form not in ("declined.html", *seen)), name)
    questions = [f"question-{number}.html" for number in (1, 2, 3)]
    assert seen[0] == "index.html"
    assert seen[-4:] == [*questions, "review.html"] or seen[-5:-1] == [*questions, "review.html"]
    assert "is not empty" in run("study", "preview", "a-study", "--to", folder, status=2)


@pytest.mark.slow
def test_pictures_texts_and_arms_are_in_the_folder(run, session, tmp_path):
    a_labelling_study(session, "labelled")
    a_preference_study(session, show_items=True)
    lifecycle.create_study(session, "armed", a_plan(arms=("before", "after"), columns="before"))
    session.rollback()
    for slug in ("labelled", "preferred", "armed"):
        run("study", "preview", slug, "--to", tmp_path / slug)
        leads_to(tmp_path / slug)
    assert [*(tmp_path / "labelled" / "pictures").rglob("*.webp")]
    assert (tmp_path / "armed" / "after" / "question-1.html").is_file()


def leads_to(folder):
    """Every link, picture and form of every page names a file that is there."""
    for page in folder.rglob("*.html"):
        html = page.read_text()
        assert "csrf_token" not in html
        assert 'method="post"' not in html
        for address in re.findall(r'\b(?:href|src|action|formaction)="([^"]*)"', html):
            file = address.partition("#")[0]
            if file and not file.startswith(("mailto:", "http")):
                assert (page.parent / file).is_file(), (page.name, address)
    for style in folder.rglob("*.css"):
        for font in re.findall(r"url\(([\w.-]+\.woff2)\)", style.read_text()):
            assert (style.parent / font).is_file()
