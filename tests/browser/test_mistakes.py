"""What researchers do wrong with files, one thing after another, from a draft to a closed study."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.test_researcher import sign_in

pytestmark = pytest.mark.slow

FIELD = Path(__file__).parents[1] / "cases/field"
QRELS = (FIELD / "base/qrels.txt").read_text()
# A list of distances: the nearest first.
NEAR = (FIELD / "f06/dist.txt").read_text()
DOCUMENTS = [f"d{number}" for number in range(12)]


def distances(text):
    """The same order as in a run, with distances as scores."""
    lines = (line.split() for line in text.splitlines())
    return "".join(f"{topic} Q0 {doc} {rank} {rank} far\n" for topic, _, doc, rank, *_ in lines)


FAR = distances((FIELD / "base/a.txt").read_text())
TEXTS = "".join(f"{document},what {document} says\n" for document in DOCUMENTS)


class Desk:
    """A researcher's pages of one study."""

    def __init__(self, page, server, slug):
        self.page, self.at = page, f"{server.address}/research/studies/{slug}"

    def open(self, name=""):
        self.page.goto(f"{self.at}/{name}".rstrip("/"))

    def choose(self, name, **files):
        self.page.set_input_files(
            f"[name={name}]",
            [
                {"name": file.replace("_", "."), "mimeType": "text/plain", "buffer": content}
                for file, content in files.items()
            ],
        )

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def reads(self, *texts):
        for text in texts:
            expect(self.page.locator("main")).to_contain_text(text)

    def take_in(self, *texts, **files):
        """Add files under “Pictures and topics”, and read the report."""
        self.open("items")
        self.choose("files", **files)
        self.press("Add")
        self.reads(*texts)


def test_no_mistake_passes_in_silence(page, server):
    desk = Desk(page, server, "mistakes")
    sign_in(page, server, "Emmy Noether")

    page.goto(f"{server.address}/research/new")
    page.get_by_role("link", name="Which measure agrees with people?").click()
    page.get_by_label("Show pictures or texts").check()
    # Whoever signs in first on a server takes over its studies, and who asks in the newest.
    typed = {"slug": "mistakes", "collection_size": "12", "asked_by": "", "contact": ""}
    for name, text in typed.items():
        page.locator(f"[name={name}]").fill(text)
    desk.choose("judgements", qrels_txt=QRELS.encode())
    desk.choose("runs", near_txt=NEAR.encode(), far_txt=FAR.encode())
    desk.press("Create the draft")
    page.wait_for_url("**/mistakes/plan")
    backwards = "The list is read backwards. For distances make the study again"
    expect(page.locator("#warnings")).to_contain_text("Run near: scores rise with the ranks in 3")
    expect(page.locator("#warnings")).to_contain_text(backwards)

    desk.open("open")
    desk.reads("This study cannot open yet", backwards, "no pictures or texts of documents yet")
    expect(page.get_by_role("button", name="Freeze and open")).to_have_count(0)

    desk.open("lists")
    desk.choose("qrels", qrels_txt=QRELS.encode())
    desk.choose("runs", near_txt=NEAR.encode(), far_txt=FAR.encode())
    page.locator("[name=collection_size]").fill("12")
    page.get_by_text("How the files are meant").click()
    page.get_by_label("Scores are distances").check()
    desk.press("Use these runs")
    page.wait_for_url("**/mistakes/check")
    expect(page.locator("main")).not_to_contain_text("backwards")

    desk.take_in(
        "items.csv, row 2: not UTF-8. In Excel, save as “CSV UTF-8”",
        items_csv="document,text\nd0,Größe\n".encode("cp1252"),
    )
    desk.take_in(
        "items.csv: no column document. Columns found: docs, text",
        items_csv=b"docs,text\nd0,words\n",
    )
    desk.take_in(
        "none of its documents is in a question of the study",
        items_csv=b"document,text\nD0.jpg,words\n",
    )
    desk.take_in(
        "Done: 12 taken, 0 not taken.",
        "items.csv: columns not read: caption",
        items_csv=f"text;caption;Document\n{_semicolons()}".encode("utf-16"),
    )
    differ = "3 of 3 topics have no text or picture (first: “1”; topics have “01”: leading zeros)"
    desk.take_in("Done: 3 topics taken", differ, topics_csv=b"topic,text\n01,a\n02,b\n03,c\n")
    desk.open("check")
    desk.reads(differ)
    desk.take_in("Done: 3 topics taken", topics_csv=b"topic,text\n1,a\n2,b\n3,c\n")
    expect(page.locator("#compared")).to_have_count(0)

    desk.open("open")
    desk.reads("This study cannot open yet", "who asks")
    desk.open("plan?step=texts")
    page.locator("[name=asked_by]").fill("the group of X")
    page.locator("[name=contact]").fill("someone@example.org")
    with page.expect_navigation():
        page.locator(".way button.go").click()
    desk.open("open")
    desk.press("Freeze and open")
    desk.reads("The study is open")

    desk.open()
    page.get_by_role("link", name="Close").first.click()
    desk.reads("0 have finished.", "No one is under way")
    desk.press("Close")
    desk.reads("The study is closed")


def _semicolons():
    return "".join(f"what {document} says;words;{document}\n" for document in DOCUMENTS)
