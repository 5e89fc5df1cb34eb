"""Questions whose lists are pictures: what participants see, and what stays hidden from them."""

import gzip
import io
from dataclasses import replace
from itertools import permutations

import pytest
from PIL import Image
from sqlalchemy import text

from survey.core.collections.items import Item, ShownItem
from survey.core.kinds import kind_of
from survey.db.models import StoredPicture
from survey.errors import SurveyError
from survey.kinds.ordering.plan import AFTER, BEFORE, NEVER
from survey.services import accounts
from survey.services.collections import items as collection
from tests.builders import Visitor, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE, statements
from tests.pictured import DOCUMENTS, a_pictured_study

SLUG = "pictured"


@pytest.fixture
def study(session):
    return a_pictured_study(session)


@pytest.fixture
def visitor(client, study):
    visitor = Visitor(client, SLUG)
    visitor.start()
    return visitor


def addresses(page):
    """Return the addresses of the pictures on a page."""
    return [image["src"] for image in page.select(".results img")]


@ON_BOTH
def test_a_question_shows_the_first_results_of_each_list_with_marks(visitor, study):
    [shown] = [each for each in study.questions if each.number == 1]
    strips = visitor.page.select(".results")
    assert [len(strip.select("li")) for strip in strips] == [10, 10, 10]
    for letter, strip in zip("ABC", strips, strict=True):
        marked = [
            n for n, each in enumerate(strip.select("li"), 1) if "hit" in each.get("class", [])
        ]
        assert marked == [rank for rank in shown.content["lists"][letter] if rank <= 10]
        alts = [image["alt"] for image in strip.select("img")]
        assert alts == [f"result {rank} of list {letter}" for rank in range(1, 11)]
    assert "Each system searched for:" in visitor.text


@ON_SQLITE
def test_a_grid_has_the_plans_columns_in_the_order_of_ranks(visitor, study):
    for strip in visitor.page.select(".results"):
        assert {"grid", "by-5"} <= {*strip["class"]}
        ranks = [int(each.find(string=True)) for each in strip.select("li > .n")]
        assert ranks == [*range(1, 11)]  # by rows, for keys and readers


@ON_SQLITE
def test_other_layouts_are_a_strip_or_no_pictures(client, session):
    study = a_pictured_study(session, "strips", layout="strip")
    visitor = Visitor(client, "strips")
    visitor.start()
    assert "grid" not in visitor.page.select_one(".results")["class"]
    arms = [{"name": "grid"}, {"name": "numbers", "layout": "numbers"}]
    other = a_pictured_study(session, "arms", arms=arms)
    assert study.digest != other.digest
    assert other.plan.in_arm("grid").setting.columns == 5
    assert other.plan.in_arm("numbers").setting.columns is None
    assert not other.plan.in_arm("numbers").has_items
    seen = set()
    for _ in range(2):
        visitor = Visitor(client.application.test_client(), "arms")
        visitor.start()
        seen.add((len(visitor.page.select(".results.grid")), len(visitor.page.select(".sheet tr"))))
    assert seen == {(3, 0), (0, 4)}


@ON_SQLITE
def test_results_one_below_the_other_are_a_layout_and_an_arm(client, session):
    arms = [{"name": "below", "layout": "list"}, {"name": "strip", "layout": "strip"}]
    a_pictured_study(session, "below", arms=arms)
    seen = set()
    for _ in range(2):
        visitor = Visitor(client.application.test_client(), "below")
        visitor.start()
        counts = [len(visitor.page.select(each)) for each in (".results", ".results.texts")]
        seen.add((*counts, len(visitor.page.select(".side-by-side"))))
    assert seen == {(3, 3, 1), (3, 0, 0)}


@ON_SQLITE
def test_a_measure_that_knows_rows_reads_those_of_the_plan(session):
    measures = ["AP", "RBP-RS-p0.9-gamma0.3@10"]
    with pytest.raises(SurveyError, match="needs pictures in rows of a fixed length"):
        a_pictured_study(session, "no-rows", measures=measures, layout="strip")
    by = {
        columns: a_pictured_study(session, f"by-{columns}", measures=measures, grid_columns=columns)
        for columns in (2, 5)
    }
    name = by[2].plan.measures[-1]
    values = {
        columns: [each.content["columns"][name]["values"] for each in study.questions]
        for columns, study in by.items()
    }
    assert values[2] != values[5]
    assert by[2].digest != by[5].digest
    arms = [{"name": "grid"}, {"name": "strip", "layout": "strip"}]
    with pytest.raises(SurveyError, match=r"arm strip: RBP-RS.* needs pictures in rows"):
        a_pictured_study(session, "arms", measures=measures, arms=arms)


@ON_SQLITE
def test_texts_in_a_grid_are_told_before_a_study_opens(session):
    items = [Item("a", file="a.png"), Item("b", text="words")]
    plan = a_pictured_study(session).plan
    [finding] = kind_of(plan).item_findings(plan, items, ())
    assert finding.text.startswith("1 document has a text, and a grid is for pictures")
    assert [*kind_of(plan).item_findings(replace(plan, layout="strip"), items, ())] == []


@ON_SQLITE
def test_each_picture_is_that_of_its_document_in_both_sizes(visitor, study):
    [shown] = [each for each in study.questions if each.number == 1]
    for letter, strip in zip("ABC", visitor.page.select(".results"), strict=True):
        for document, link in zip(
            shown.content["source"]["documents"][letter], strip.select("a"), strict=True
        ):
            for address in (link["href"], link.img["src"]):
                with Image.open(io.BytesIO(visitor.client.get(address).data)) as image:
                    assert image.width == 40 + DOCUMENTS.index(document)


@ON_SQLITE
def test_pages_name_no_document_file_or_run(visitor, client, study):
    for path in ("/practice?step=1", "/practice?step=3", "/q/1", "/q/2"):
        visitor.open(path)
        for name in (*DOCUMENTS, "holiday", ".png", "alphanet", "betanet", "gammanet", "qrels"):
            assert name not in visitor.response.text, (path, name)
    answer = client.get(addresses(visitor.page)[0])
    assert "holiday" not in str(answer.headers)
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert (answer.status_code, answer.mimetype) == (200, "image/webp")
    assert answer.data[:4] == b"RIFF"


@ON_BOTH
def test_a_picture_is_for_those_who_agreed_to_take_part_in_its_study(app, session, visitor, study):
    for_all = entry_pictures(app)
    address = next(each for each in addresses(visitor.page) if each not in for_all)
    assert app.test_client().get(address).status_code == 404
    undecided = Visitor(app.test_client(), SLUG)
    undecided.go("/consent")
    assert undecided.client.get(address).status_code == 404
    other = a_pictured_study(session, "another")
    session.rollback()
    neighbour = Visitor(app.test_client(), other.slug)
    neighbour.start()
    assert neighbour.client.get(address).status_code == 404
    name = address.rpartition("/")[2]
    assert neighbour.client.get(f"/s/another/pictures/small/{name}").status_code == 404
    assert neighbour.client.get(addresses(neighbour.page)[0]).status_code == 200
    assert visitor.client.get(address.replace("/small/", "/huge/")).status_code == 404


def entry_pictures(app):
    """Return the addresses of the pictures on the entry page."""
    anyone = Visitor(app.test_client(), SLUG)
    anyone.open()
    return [image["src"] for image in anyone.page.select(".mosaic img")]


@ON_BOTH
def test_the_entry_page_shows_a_few_small_pictures_to_anyone(app, study):
    pictures = entry_pictures(app)
    assert pictures == entry_pictures(app)
    assert 6 <= len(pictures) <= 30
    assert len({*pictures}) == len(pictures)
    for address in pictures:
        assert app.test_client().get(address).status_code == 200
        assert app.test_client().get(address.replace("/small/", "/large/")).status_code == 404


@ON_SQLITE
def test_names_of_pictures_differ_between_studies_of_the_same_pictures(session, study):
    a_pictured_study(session, "another")
    rows = session.query(StoredPicture).all()
    assert len({row.sha256 for row in rows}) * 2 == len(rows) == len({row.name for row in rows})


@ON_SQLITE
def test_practice_has_lists_of_pictures_that_no_question_has(visitor, study):
    in_questions = []
    for position in (1, 2):
        in_questions += [row[:5] for row in rows_of_pictures(visitor.page)]
        visitor.submit(f"/q/{position}", choice="1", settle="several")
    assert len(in_questions) == 6
    for step in (2, 3, 4):
        visitor.open(f"/practice?step={step}")
        rows = rows_of_pictures(visitor.page)
        assert [len({*row}) for row in rows] == [5, 5, 5]
        assert not [row for row in rows if row in in_questions]


def rows_of_pictures(page):
    """Return the addresses of the pictures of each list on a page."""
    return [[image["src"] for image in one.select("img")] for one in page.select("[data-list]")]


@ON_SQLITE
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_practice_has_marks_in_each_list_and_says_what_they_are(client, session, seed):
    a_pictured_study(session, seed=seed)
    visitor = Visitor(client, SLUG)
    visitor.prepare()
    for one in visitor.page.select("[data-list]"):
        assert one.select(".hit")
        marked = [n for n, each in enumerate(one.select("li"), 1) if "hit" in each.get("class", [])]
        assert [int(rank.text) for rank in one.select(".rank")] == marked
    assert "A frame and ✓ mark a match." in visitor.text


@ON_SQLITE
def test_marks_and_positions_are_left_out_where_the_plan_says_so(client, session):
    a_pictured_study(session, mark_relevant=False, show_positions=False, practice=False)
    visitor = Visitor(client, SLUG)
    visitor.start()
    assert len(addresses(visitor.page)) == 30
    assert not visitor.page.select(".hit, .ranks")
    assert "✓" not in visitor.text
    assert "position" not in visitor.text.lower()
    visitor.submit("/q/1", choice="1", settle="several")
    assert visitor.path == "/q/2"


@pytest.mark.parametrize(
    ("shown", "last"),
    [
        ({}, 40),
        ({"show_positions": False}, 10),
        ({"show_positions": False, "mark_relevant": False, "practice": False}, 0),
    ],
)
@ON_SQLITE
def test_own_data_tell_the_positions_that_the_page_tells(client, session, shown, last):
    study = a_pictured_study(session, **shown)
    contents = {each.number: each.content["lists"] for each in study.questions}
    visitor = Visitor(client, SLUG)
    visitor.start()
    for question in client.get(f"/s/{SLUG}/my-data.json").json["questions"]:
        if question["question"] in contents and question["question"]:
            assert question["lists"] == {
                letter: [[rank, ""] for rank in ranks if rank <= last]
                for letter, ranks in contents[question["question"]].items()
            }


@pytest.mark.slow
@ON_SQLITE
def test_a_text_beside_a_picture_is_read_without_scripts(client, session):
    a_pictured_study(session, text="A view of the bay")
    a_pictured_study(session, "long", text="A view of the bay, " * 20 + "and of the hills")
    for slug, wholes in ((SLUG, 0), ("long", 30)):
        session.rollback()
        visitor = Visitor(client, slug)
        visitor.start()
        assert len(visitor.page.select(".results li > a + .text .body")) == 30
        links = visitor.page.select(".results a.more")
        assert len(links) == wholes
    assert "of the hills" in client.get(links[0]["href"]).text
    assert '<strong dir="auto">the sea</strong>.' in visitor.response.text


@pytest.mark.slow
@pytest.mark.parametrize("columns", [AFTER, NEVER])
@ON_SQLITE
def test_own_orderings_are_asked_with_pictures(app, client, session, columns):
    a_pictured_study(session, columns=columns, show_positions=False)
    visitor = Visitor(client, SLUG)
    visitor.start()
    assert len(addresses(visitor.page)) == 30
    other = Visitor(app.test_client(), SLUG)
    other.take_part()
    assert other.path == "/done"
    assert (
        visitor.page.select_one("#echo")["data-hint"]
        == "Tap the letters in your order: best first."
    )


@ON_SQLITE
def test_texts_are_shown_where_there_are_no_pictures(client, session, monkeypatch):
    study = an_open_study(session)
    item = ShownItem(text="A short text <b>", name="random")
    page = client.application.jinja_env.from_string(
        '{% from "participant/_items.html" import card %}{{ card(item, none, 2) }}'
    ).render(item=item)
    assert "A short text &lt;b&gt;" in page
    assert study.plan.has_items is False


@ON_SQLITE
@pytest.mark.parametrize("more", [0, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_page_asks_as_much_and_looks_up_as_few_rows_in_a_larger_collection(
    client, session, engine, more
):
    documents = [collection.Item(f"other-{n}", text="another") for n in range(more)]
    a_pictured_study(session, items=documents)
    visitor = Visitor(client, SLUG)
    visitor.start()
    with statements(engine) as told:
        visitor.open("/q/1")
    queries = [each for each in told if each.startswith("SELECT")]
    assert len(queries) == 5
    assert len(gzip.compress(visitor.response.data)) < 6_000
    for query in queries:
        if "FROM item" in query or "FROM topic" in query:
            plan = [row.detail for row in session.execute(text(f"EXPLAIN QUERY PLAN {query}"))]
            assert not [step for step in plan if step.startswith("SCAN")], plan


@ON_SQLITE
def test_a_page_and_its_pictures_are_light(visitor, client):
    pictures = sum(len(client.get(address).data) for address in {*addresses(visitor.page)})
    assert pictures < 250_000
    assert len(visitor.response.data) < 30_000


@ON_SQLITE
def test_a_plan_that_shows_nothing_is_refused(session):
    with pytest.raises(SurveyError, match="nothing of the lists is shown"):
        a_pictured_study(session, show_items=False, show_positions=False)


@ON_SQLITE
def test_a_preview_shows_the_pictures_to_researchers_alone(desk, session, app):
    a_pictured_study(session, researcher=accounts.find_researcher(session, "Ada"))
    session.rollback()
    desk.open(f"/research/studies/{SLUG}/preview/")
    desk.open(desk.address.replace("/entry", "/question/1"))
    address = addresses(desk.page)[0]
    assert desk.client.get(address).mimetype == "image/webp"
    assert app.test_client().get(address).status_code == 303


@pytest.mark.parametrize("columns", [BEFORE, NEVER])
@ON_SQLITE
def test_a_preview_and_a_participant_get_addresses_of_their_own(desk, client, session, columns):
    ada = accounts.find_researcher(session, "Ada")
    a_pictured_study(session, researcher=ada, columns=columns)
    session.rollback()
    preview = f"/research/studies/{SLUG}/preview"
    variants = ["".join(each) for each in permutations("123")]  # one is the participant's
    for variant in variants:
        desk.open(f"{preview}/{variant}/question/1")
        assert all(each.startswith(f"{preview}/") for each in addresses(desk.page))
    visitor = Visitor(client, SLUG)
    visitor.start()
    assert all(each.startswith(f"/s/{SLUG}/") for each in addresses(visitor.page))
    page = client.get(f"/s/{SLUG}/q/1", environ_overrides={"SCRIPT_NAME": "/below"})
    assert 'src="/below/s/' in page.text
    assert 'src="/s/' not in page.text
