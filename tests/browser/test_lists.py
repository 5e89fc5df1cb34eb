"""Lists that grow: sorted by their headings, and searched."""

from playwright.sync_api import expect

from survey.db import db
from survey.services import access, researchers, studies
from tests.browser.test_researcher import sign_in


def seen(page):
    return [row.split("\n")[0] for row in page.locator("tbody tr:visible").all_inner_texts()]


def test_studies_are_sorted_by_their_headings_and_found_by_a_word(page, server):
    sign_in(page, server, "Mary Somerville")
    with server.app.app_context():
        owner = researchers.find_researcher(db.session, "Mary Somerville")
        for number, title in enumerate(("Birds", "Aviaries", "Fish 9", "Fish 10", "Deer", "Eels")):
            plan = studies.preset_plan("mnro", title=title, questions=1 + number)
            study = studies.create_study(db.session, f"list-{number}", plan)
            access.share(db.session, study, owner, "owner")
        db.session.commit()
        db.session.remove()
    page.reload()
    page.wait_for_load_state("load")
    newest_first = ["Eels", "Deer", "Fish 10", "Fish 9", "Aviaries", "Birds"]
    assert [text.strip() for text in seen(page)] == newest_first
    heading = page.get_by_role("columnheader", name="Study")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    up = ["Aviaries", "Birds", "Deer", "Eels", "Fish 9", "Fish 10"]
    assert [text.strip() for text in seen(page)] == up
    heading.get_by_role("button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert [text.strip() for text in seen(page)] == up[::-1]

    page.get_by_label("Find a study").fill("fish")
    assert [text.strip() for text in seen(page)] == ["Fish 10", "Fish 9"]
    expect(page.get_by_role("status").filter(has_text="2 of 6")).to_be_visible()
    page.get_by_label("Find a study").fill("")
    assert len(seen(page)) == 6
