"""A researcher in a real browser: from the first start to a bundle that replicates."""

import io
import json
import zipfile

import pytest
from playwright.sync_api import Page, expect

from survey.app import db
from survey.db.models import Event, Participant
from survey.kinds.ordering.bot import Preference
from survey.services import accounts
from survey.services.collections import items as collection
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import open_files
from survey.services.participation import participants
from survey.services.planning.simulation import simulate
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from survey.tokens import test_run_token as run_token
from tests.browsing import watched
from tests.builders import KEY, Visitor, a_plan
from tests.labelled import a_shaded_picture
from tests.pictured import a_png_of
from tests.serving import OverHttp, Server

pytestmark = pytest.mark.slow

PASSWORD = "a row of four words"


def sign_in(page: Page, server: Server, name: str = "Ada Lovelace") -> None:
    """Sign in as a new researcher."""
    with server.app.app_context():
        _, token = accounts.add_researcher(db.session, name)
        db.session.remove()
    set_password(page, server, token)


def set_password(page: Page, server: Server, token: str) -> None:
    """Open the link of a new researcher, and set a password there."""
    page.goto(f"{server.address}/research/welcome/{token}")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    page.wait_for_url("**/research/")


def send(server: Server, slug: str, participants: int, *, test: bool) -> None:
    """Let simulated participants answer over HTTP, as test data or as if they were people."""
    with server.app.app_context():
        plan = lifecycle.find_study(db.session, slug).plan
        db.session.remove()
    entry = f"{server.address}/s/{slug}" + (f"?test={run_token(KEY, slug)}" if test else "")
    simulate(entry, plan, participants, {"": Preference.parse("MNRO=1", plan.measures)}, seed=7)


def test_a_question_of_a_check_is_shown_as_participants_see_it_when_it_is_unfolded(page, server):
    watched(page)
    sign_in(page, server, "Check")
    with server.app.app_context():
        researcher = accounts.find_researcher(db.session, "Check")
        lifecycle.create_owned_study(db.session, researcher, "unfolded", a_plan(), Recruitment())
        db.session.remove()
    page.goto(f"{server.address}/research/studies/unfolded/check")
    part = page.locator("#question-2")
    part.get_by_role("heading", name="Question 2").click()
    question = part.locator("[inert] h1")
    expect(question).to_contain_text("Which method puts")
    expect(part.locator("a.show")).to_have_count(0)
    box = part.locator("[inert] [name=choice]").first
    assert box.evaluate("(box) => getComputedStyle(box.closest('.method')).display") == "grid"
    page.mouse.click(*(box.bounding_box()[side] + 5 for side in "xy"))
    expect(box).not_to_be_checked()
    assert page.locator("#question-1 [inert]").count() == 0


def test_closing_lets_those_under_way_finish_and_admits_no_one_new(page, server, browser):
    watched(page)
    sign_in(page, server, "Closing")
    with server.app.app_context():
        researcher = accounts.find_researcher(db.session, "Closing")
        study = lifecycle.create_owned_study(
            db.session, researcher, "closing", a_plan(), Recruitment()
        )
        lifecycle.open_study(db.session, study)
        db.session.remove()
    under_way = Visitor(OverHttp(server.address), "closing")
    under_way.go("/q/1")
    page.goto(f"{server.address}/research/studies/closing")
    page.get_by_role("link", name="Close …").click()
    expect(page.get_by_role("heading", name="1 person is under way")).to_be_visible()
    page.get_by_role("button", name="Let them finish, admit no one new").click()
    expect(page.get_by_role("heading", name="Open, but admits no one new")).to_be_visible()

    visitor = browser.new_page()
    visitor.goto(f"{server.address}/s/closing")
    expect(visitor.get_by_text("This survey takes no new participants.")).to_be_visible()
    expect(visitor.get_by_role("button", name="Start")).to_have_count(0)
    visitor.close()

    page.get_by_role("link", name="Progress", exact=True).click()
    expect(page.get_by_role("heading", name="0 of 30 complete, 1 under way")).to_be_visible()
    under_way.go("/done", query="/q/1")
    with server.app.app_context():  # as the server does every few seconds
        participants.close_ended(db.session)
        db.session.remove()
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".badge.closed")).to_be_visible()
    expect(page.get_by_role("link", name="Close …")).to_have_count(0)


def test_from_the_first_start_to_a_bundle_that_replicates(page, server):
    watched(page)
    sign_in(page, server)
    before = server.count(Participant)

    # A draft, its plan changed, a mistake explained and mended.
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Address").fill("browser-study")
    page.get_by_label("Who asks").fill("the retrieval group of X")
    page.get_by_role("button", name="Create the draft").click()
    page.wait_for_url("**/plan")
    page.get_by_label("Questions", exact=True).fill("51")
    page.get_by_text("Seed, and variants").click()
    page.get_by_label("Seed", exact=True).fill("11")
    page.get_by_role("button", name="Texts").click()
    expect(page.locator(".problems")).to_contain_text("Questions is 51; 1 to 50 are allowed.")
    expect(page.get_by_label("Questions", exact=True)).to_be_focused()
    page.get_by_label("Questions", exact=True).fill("3")
    page.get_by_role("button", name="Texts").click()
    page.get_by_role("button", name="Save and draw").click()
    page.wait_for_url("**/check")
    expect(page.get_by_role("heading", name="Question 3")).to_be_visible()

    # The preview shows it as participants see it, and leaves no trace.
    page.get_by_role("link", name="preview", exact=True).click()
    expect(page.locator(".watermark")).to_have_attribute("data-text", "Preview")
    page.get_by_role("button", name="Start").click()
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/about_you")
    assert server.count(Participant) == before

    # Open, invite.
    page.goto(f"{server.address}/research/studies/browser-study")
    page.get_by_role("link", name="Freeze and open").click()
    page.get_by_role("link", name="Change “Where participants can ask”").click()
    expect(page.get_by_label("Where participants can ask")).to_be_in_viewport()
    page.get_by_label("Where participants can ask").fill("someone@example.org")
    page.get_by_role("button", name="Save and draw").click()
    page.wait_for_url("**/check")
    page.goto(f"{server.address}/research/studies/browser-study/open")
    page.get_by_role("button", name="Freeze and open").click()
    expect(page.get_by_text("The study is open. Invite people.")).to_be_visible()
    digest = page.locator(".digest").inner_text()
    page.get_by_role("link", name="Invite", exact=True).click()
    # The page is there before its picture is.
    page.locator("img").evaluate("image => image.complete || image.decode()")
    assert page.locator("img").evaluate("image => image.naturalWidth") > 50
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Names or addresses").fill("Grace Hopper")
    page.get_by_role("button", name="Create links").click()
    page.get_by_role("button", name="Copy the link of Grace Hopper").click()
    expect(page.get_by_text("The link of Grace Hopper is copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("code.whole").inner_text()
    assert copied.startswith(f"{server.address}/s/browser-study?guest=")

    # Twelve come; the page counts them by itself.
    page.get_by_role("link", name="Progress", exact=True).click()
    expect(page.get_by_text("No one has begun yet.")).to_be_visible()
    send(server, "browser-study", 12, test=True)
    expect(page.get_by_role("heading", name="Test data (12)")).to_be_visible(timeout=15_000)
    send(server, "browser-study", 1, test=False)
    expect(page.get_by_role("heading", name="1 of 30 complete")).to_be_visible(timeout=15_000)

    # No result before the end.
    page.get_by_role("link", name="Results", exact=True).click()
    expect(page.get_by_text("Results are hidden while people answer")).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="Close …").click()
    expect(page.get_by_role("heading", name="No one is under way")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("link", name="Results", exact=True).click()
    page.get_by_text("Analysis options").click()
    page.get_by_label("With test data").check()
    page.get_by_role("button", name="Show", exact=True).click()
    counts = page.get_by_text("13 participants · 3 questions · 39 answers", exact=True)
    expect(counts).to_be_visible()
    page.get_by_role("heading", name="Votes per question").click()
    expect(page.locator("#figure-votes-per-question img")).to_be_visible()
    with page.expect_download(timeout=120_000) as paper:  # all figures are drawn, at low priority
        page.get_by_role("button", name="Download for a paper").click()
    expect(page.get_by_text("Downloaded.")).to_be_visible()
    with zipfile.ZipFile(paper.value.path()) as files:
        assert json.loads(files.read("analysis.json"))["n"]["participants"] == 13

    # The bundle, with a progress bar, replicates.
    page.get_by_role("link", name="Export").click()
    page.get_by_label("Include test data").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the bundle").click()
    expect(page.get_by_text("Downloaded.")).to_be_visible()
    bundle = open_files(io.BytesIO(download.value.path().read_bytes()), "bundle.zip")
    steps = [*replicate(bundle)]
    assert f"the digest is that of the plan and its questions: {digest}" in steps
    assert "39 answers of 13 participants can be read" in steps
    assert page.faults == []

    # Its results can be seen as those of a study of its own.
    page.goto(f"{server.address}/research/import")
    page.get_by_label("Bundle (a zip file)").set_input_files(download.value.path())
    page.get_by_label("Address here").fill("imported")
    page.get_by_role("button", name="Replicate and import").click()
    expect(page.get_by_text("Everything in the bundle replicates.")).to_be_visible()
    with server.app.app_context():
        kinds = [event.kind for event in db.session.query(Event).filter_by(slug="browser-study")]
        db.session.remove()
    # How often the plan was saved while it was typed is chance.
    assert [*dict.fromkeys(kinds)] == ["made", "plan changed", "opened", "closed"]


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_no_page_scrolls_sideways(page, server, width):
    sign_in(page, server, f"Someone at {width}")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{server.address}/research/new")
    slug = f"width-{width}"
    page.get_by_label("Address").fill(slug)
    page.get_by_role("button", name="Create the draft").click()
    for section in ("", "plan", "check", "invite", "progress", "results", "people", "lists"):
        page.goto(f"{server.address}/research/studies/{slug}/{section}".rstrip("/"))
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, (section, over)
        for table in page.locator("table").all():  # each can be scrolled to its end by keyboard
            assert table.evaluate("one => !!one.closest('[role=region][tabindex][aria-label]')")
        if section == "plan":  # nothing of the form is out of reach on a narrow screen
            page.get_by_text("Seed, and variants").click()
            expect(page.get_by_label("Seed", exact=True)).to_be_visible()
    page.goto(f"{server.address}/research/studies/{slug}/preview/213/question/1")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def open_items(page, server, name, slug):
    """Sign a new researcher in, make a draft, and open its page of pictures and topics."""
    sign_in(page, server, name)
    page.goto(f"{server.address}/research/new")
    page.get_by_label("Address").fill(slug)
    page.get_by_role("button", name="Create the draft").click()
    page.goto(f"{server.address}/research/studies/{slug}/items")


def test_a_zip_of_pictures_is_taken_in_with_a_bar_and_every_fault_is_named(page, server):
    watched(page)
    open_items(page, server, "Someone with pictures", "with-pictures")
    files = {f"d{number}.png": a_shaded_picture("red", number) for number in range(3)}
    files |= {
        "same.png": files["d1.png"],
        "broken.png": files["d2.png"][:200],
        "long.png": a_shaded_picture("red", 3, (300, 6)),
        "text.png": b"a text",
        "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "huge.png": a_png_of(60_000, 60_000),
        "items.csv": b"document,file\nd0,d0.png\nd1,d1.png\nsame,same.png\nlong,long.png\n"
        b"broken,broken.png\n"
        b"text,text.png\ndrawing,drawing.svg\nhuge,huge.png\nmissing,nowhere.png\n",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    file = {"name": "all.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}
    page.locator("#files").set_input_files(file)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("status")).to_have_text("Done: 4 taken, 5 not taken.")
    assert page.get_by_role("progressbar").evaluate("bar => bar.value") == 1
    assert page.locator(".refused li").all_inner_texts() == [
        "broken.png: the picture is damaged or cut off",
        "text.png: this is no picture that can be read; JPEG, PNG, WebP and GIF are allowed",
        "drawing.svg: an SVG may hold scripts; JPEG, PNG, WebP and GIF are allowed",
        "huge.png: more than 50,000,000 pixels found; no more are allowed",
        "nowhere.png: there is no such file",
    ]
    repeated = "same.png: the same picture as d1; taken all the same"
    assert page.locator(".repeated li").all_inner_texts() == [repeated]
    assert page.locator(".warnings li").all_inner_texts() == [
        "Taken, but look at it: long.png: its longer side is 50 times its shorter one, so people "
        "see only 300 × 6 pixels of it; cut it into parts that can be judged"
    ]
    expect(page.get_by_text("4 items with 3 different pictures")).to_be_visible()
    assert page.faults == []


@pytest.mark.parametrize("with_table", [True, False])
def test_topics_are_taken_in_with_their_pictures_however_many_files_there_are(
    page, server, with_table
):
    watched(page)
    slug = f"topics-{with_table}".lower()
    open_items(page, server, f"Someone with topics {with_table}", slug)
    files = {f"d{number:02}.png": a_shaded_picture("red", number) for number in range(20)}
    files["topics.csv"] = b"topic,image\nfirst,d00.png\nlast,d19.png\nmiddle,d09\n"
    if with_table:  # the query pictures are no items
        rows = [f"d{number:02},d{number:02}.png" for number in range(1, 19)]
        files["items.csv"] = "\n".join(["document,file", *rows]).encode()
    page.locator("#files").set_input_files(
        [{"name": name, "mimeType": "", "buffer": content} for name, content in files.items()]
    )
    page.get_by_role("button", name="Add").click()
    taken = 18 if with_table else 20
    expect(page.get_by_role("status")).to_have_text(f"Done: {taken} taken, 0 not taken.")
    assert page.locator(".refused li").count() == 0
    with server.app.app_context():
        study = lifecycle.find_study(db.session, slug)
        items, topics = collection.items_and_topics(db.session, study)
        db.session.remove()
    assert len(items) == taken
    assert [(each.topic, bool(each.sha256)) for each in topics] == [
        ("first", True),
        ("last", True),
        ("middle", True),
    ]
    assert page.faults == []


def add_files(page, **files):
    """Choose files, such as topics_csv, and add them."""
    page.locator("#files").set_input_files(
        [
            {"name": name.replace("_", "."), "mimeType": "", "buffer": content}
            for name, content in files.items()
        ]
    )
    page.get_by_role("button", name="Add").click()


def test_a_table_alone_is_taken_in_and_its_faults_store_nothing(page, server):
    watched(page)
    open_items(page, server, "Someone with tables", "tables-alone")
    status = page.get_by_role("status")
    add_files(page, topics_csv=b"topic,text\nt1,a red square\nt2,a circle\n")
    expect(status).to_have_text("Done: 2 topics taken, 0 not taken.")
    expect(page.locator("#there details li")).to_have_count(2)
    add_files(page, items_csv=b"document,text\nd1,words\n", topics_csv=b"topic,text\nt 1,x\n")
    expect(status).to_have_text("Nothing was taken. Correct the table, then add the files again.")
    assert page.locator(".refused li").all_inner_texts() == [
        "topics.csv, row 2, column topic: 't 1' found; ids in runs and judgements have no blanks"
    ]
    assert "no pictures or texts" in page.locator("#there").inner_text()
    page.reload()
    add_files(page, items_csv=b"document,text\nd1,words\nd2,more words\n")
    expect(status).to_have_text("Done: 2 taken, 0 not taken.")
    add_files(page, features_csv=b"document,x\nd1,1\nd2,2\n")
    expect(status).to_have_text("Done: 2 vectors taken, 0 not taken.")
    assert page.faults == []


def test_progress_moves_while_a_table_of_texts_is_taken_in(page, server):
    open_items(page, server, "Someone with texts", "many-texts")
    rows = [f"d{number},the words of document {number}" for number in range(8_000)]
    for _ in range(2):  # the same again replaces them
        page.reload()
        page.evaluate(
            """() => {
              const seen = (window.seen = []);
              const bar = document.querySelector("[role=status] progress");
              setInterval(() => seen.push(bar.value), 50);
            }"""
        )
        add_files(page, items_csv="\n".join(["document,text", *rows]).encode())
        done = "Done: 8000 taken, 0 not taken."
        expect(page.get_by_role("status")).to_have_text(done, timeout=60_000)
        values = page.evaluate("() => window.seen")
        assert values == sorted(values)
        assert [value for value in values if 0 < value < 1]


def test_of_files_that_differ_in_their_endings_alone_one_is_taken_and_the_other_named(page, server):
    open_items(page, server, "Someone with copies", "two-endings")
    files = {f"d{number}_png": a_shaded_picture("red", number) for number in range(1, 9)}
    add_files(
        page, **files, d8_gif=a_shaded_picture("blue", 9)
    )  # the ninth; eight are sent at once
    expect(page.get_by_role("status")).to_have_text("Done: 8 taken, 1 not taken.")
    assert page.locator(".refused li").all_inner_texts() == [
        "d8.png: d8.gif is the document d8 already"
    ]


def test_an_upload_that_stopped_says_so_when_its_page_is_opened_again(page, server):
    open_items(page, server, "Someone offline", "stopped-halfway")
    files = {f"d{number:02}_png": a_shaded_picture("red", number) for number in range(12)}
    sent = []

    def answer(route):
        sent.append(route.request.method)
        if sent.count("POST") > 1 and route.request.method == "POST":
            return route.abort()
        return route.continue_()

    page.route("**/items", answer)
    add_files(page, **files)
    expect(page.get_by_role("status")).to_contain_text("Stopped after 8 files.")
    page.unroute("**/items")
    page.reload()
    expect(page.locator(".stopped")).to_have_text(
        "The last upload stopped: 8 of 12 files are in. Choose the same files again to add the "
        "rest."
    )
    add_files(page, **files)
    expect(page.get_by_role("status")).to_have_text("Done: 12 taken, 0 not taken.")
    page.reload()
    expect(page.locator(".stopped")).to_be_hidden()
    expect(page.get_by_text("12 items with 12 different pictures")).to_be_visible()


def test_pictures_sent_after_signing_out_elsewhere_say_so(page, server):
    open_items(page, server, "Someone who signs out", "signed-out")
    picture = {"name": "d1.png", "mimeType": "", "buffer": a_shaded_picture("red", 1)}
    page.locator("#files").set_input_files([picture])
    page.context.clear_cookies()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("status")).to_have_text(
        "Stopped after 0 files. What was taken stays; send the rest again."
        " You are signed out: load this page again to sign in."
    )
    expect(page.locator("#there")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()


@pytest.mark.parametrize("with_table", [True, False])
def test_pictures_in_folders_are_named_by_them_and_rows_without_a_file_counted_once(
    page, server, tmp_path, with_table
):
    watched(page)
    slug = f"folder-{with_table}".lower()
    open_items(page, server, f"Someone with a folder {with_table}", slug)
    folder = tmp_path / "albums"
    for number in range(20):
        inner = folder / ("cat" if number < 10 else "dog")
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{number}.png").write_bytes(a_shaded_picture("red", number))
    (folder / "dog/1.png").write_bytes(a_shaded_picture("blue", 1))
    (folder / "dog/2.webp").write_bytes(a_shaded_picture("blue", 2))
    if with_table:
        rows = [f"d{number},{number}.png," for number in range(20)]
        rows += ["text,,a text", "gone,missing.png,"]
        (folder / "items.csv").write_text("\n".join(["document,file,text", *rows]))
    page.locator("#folder").set_input_files(folder)
    page.get_by_role("button", name="Add").click()
    taken, left = (20, 2) if with_table else (22, 0)
    done = f"Done: {taken} taken, {left} not taken."
    expect(page.get_by_role("status")).to_have_text(done)
    refused = page.locator(".refused li").all_inner_texts()
    warned = page.locator(".warnings li").all_inner_texts()
    if with_table:
        assert refused == [
            "1.png: cat/1.png and dog/1.png have one name. Name them by path in items.csv, or use "
            "`survey collect`",
            "missing.png: there is no such file",
        ]
        assert warned[0] == "Taken, but look at it: items.csv names 0.png; cat/0.png was taken"
        assert warned[10:] == ["and 9 more"]
    else:
        assert refused == []
        named = "8 pictures are taken with their folder, as `survey collect` names them (first: "
        assert warned[0] == f"Taken, but look at it: {named}cat/0.png is cat-0)"
        assert len(warned) == 3  # of each request
    expect(page.get_by_text(f"has {taken} item")).to_be_visible()
    assert page.faults == []
