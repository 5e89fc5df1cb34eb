"""Help: the guides as pages, the links of researchers' pages to them, the words explained."""

import re
from importlib import import_module

import pytest
from bs4 import BeautifulSoup

from survey.core.kinds import KINDS
from survey.services import accounts
from survey.services.analysis.results import Results
from survey.services.operations import guides
from tests.builders import an_open_study
from tests.databases import ON_SQLITE
from tests.test_house import TEMPLATES
from tests.test_readme import headings_of
from tests.web.desk import STUDY, Desk

HELP = re.compile(r"\{% block help %\}(.*?)\{% endblock %\}")


def made(session, slug, owner):
    """An open study of a researcher."""
    study = an_open_study(session, slug)
    accounts.share(session, study, accounts.researcher_named(session, owner), "owner")
    session.commit()


def sections_of(name):
    return {section.id for section in guides.read_guide(name, "/help").sections}


def is_there(target):
    name, _, section = target.partition("#")
    return name in guides.guide_names() and (not section or section in sections_of(name))


def test_every_researchers_page_links_to_a_section_that_is_there():
    pages = 0
    for path in sorted((TEMPLATES / "researcher").glob("*.html")):
        text = path.read_text()
        if '{% extends "researcher/layout.html"' in text:
            (target,) = HELP.findall(text)
            assert is_there(target) or target == "{{ results.guide }}", path.name
            pages += 1
    assert pages > 30


def test_results_of_every_kind_link_to_a_section_that_is_there():
    for kind in KINDS:
        (results,) = [
            each
            for each in vars(import_module(f"survey.kinds.{kind}.results")).values()
            if isinstance(each, type) and issubclass(each, Results) and each is not Results
        ]
        assert is_there(results.guide), kind
        assert results.guide != Results.guide
    assert is_there(Results.guide)


@ON_SQLITE
def test_every_guide_is_a_page_with_its_headings_and_no_link_to_nowhere(client):
    for name, path in guides.guide_names().items():
        address = "/help" if name == guides.INDEX else f"/help/{name}"
        page = BeautifulSoup(client.get(address).data, "html.parser")
        article = page.find("article")
        ids = {each["id"] for each in article.find_all(re.compile("h[1-6]"))}
        assert article.h1["id"] in ids <= headings_of(path), name
        for link in article.find_all("a"):
            target = link["href"]
            if target.startswith("/help/files/"):
                assert client.get(target).status_code == 200, target
            elif target.startswith("/help/"):
                assert is_there(target.removeprefix("/help/")), target
            else:
                assert re.match(r"https?://|/help(#|$)|#", target), target
        for picture in article.find_all("img"):
            assert client.get(picture["src"]).content_type.startswith("image/"), name
            assert picture["alt"]


def test_a_guide_is_shown_without_what_could_run(tmp_path, monkeypatch):
    text = (
        "# A\n\n<script>alert(1)</script> <b onclick=x>b</b> [x](javascript:y)\n\n    <i>code</i>\n"
    )
    (tmp_path / "evil.md").write_text(text)
    monkeypatch.setattr(guides, "guide_names", lambda: {"evil": tmp_path / "evil.md"})
    guides.read_guide.cache_clear()
    html = guides.read_guide("evil", "/help").html
    assert not re.search(r"script|onclick|javascript:y\"", html.replace("[x](javascript:y)", ""))
    assert "<code>&lt;i&gt;code" in html


@ON_SQLITE
@pytest.mark.parametrize(
    "name", ["nothing", "files/nothing.png", "recruitment.md", "files/recruitment.md", "files/x/.."]
)
def test_an_unknown_name_is_not_found(client, name):
    assert client.get(f"/help/{name}").status_code == 404


@ON_SQLITE
def test_below_a_prefix_links_stay_below_it(client):
    page = client.get("/help", environ_overrides={"SCRIPT_NAME": "/study"}).get_data(as_text=True)
    assert 'href="/study/help/recruitment"' in page


@ON_SQLITE
def test_a_word_is_explained_once_on_a_page(app, session):
    desk = Desk(app, session)
    made(session, "a-study", desk.name)
    desk.open(f"{STUDY}/invite")
    explained = desk.page.select(".term > button")
    words = [button.text for button in explained]
    assert "slot" in words
    assert len(words) == len(set(words))
    for button in explained:
        meaning = desk.page.find(id=button["aria-describedby"])
        assert meaning.text.lower() in {text.lower() for text in guides.glossary().values()}
    assert desk.page.select_one(".top a[href='/help/recruitment#invite']")


def test_templates_explain_words_of_the_glossary_alone():
    text = "\n".join(path.read_text() for path in (TEMPLATES / "researcher").glob("*.html"))
    used = set(re.findall(r"term\(['\"]([^'\"]+)['\"]", text))
    assert used
    assert used - guides.glossary().keys() == set()
