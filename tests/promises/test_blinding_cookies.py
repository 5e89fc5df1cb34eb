"""Promise 3: what stays in a participant's browser is one random id, and no trace of the way."""

import base64
from pathlib import Path

import pytest

from tests.builders import VISITOR_COOKIE, Visitor, an_open_study
from tests.promises.traces import Ear
from tests.promises.walks import take_part

pytestmark = pytest.mark.slow

BROWSERS = 200


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def study(session):
    return an_open_study(session)


def test_a_browser_holds_the_same_id_and_nothing_else_from_the_entry_to_the_end(
    app, session, study, measured
):
    ear, visitor = Ear(app), Visitor(app.test_client())
    take_part(visitor, study, lambda _: None)
    session.rollback()
    set_cookies = [one for one in ear.heard if one.cookies]
    assert {name for one in set_cookies for name in one.cookies} == {VISITOR_COOKIE}
    kept = [one.remembered for one in set_cookies if one.remembered]
    assert {key for one in kept for key in one} == {"id", "csrf_token", "_permanent"}
    ids = [one["id"] for one in kept]
    assert len(set(ids)) == 2, "one on the way, and a new one for whoever sits down next"
    assert ids == sorted(ids, key=ids.index)
    on_the_way = [one for one in kept if one["id"] == ids[0]]
    assert len({tuple(sorted(one.items())) for one in on_the_way}) == 1, (
        "nothing tells the progress"
    )
    assert all(len(base64.urlsafe_b64decode(one + "=")) == 32 for one in ids)
    measured(
        f"{len(kept)} cookies of {len(ear.heard)} responses, read without the key: "
        "one random id of 256 bits and the token of the forms, the same from beginning to end"
    )


def test_no_two_browsers_get_the_same_id(app, study, measured):
    ear = Ear(app)
    for _ in range(BROWSERS):
        app.test_client().get("/s/five-systems")
    ids = [
        int.from_bytes(base64.urlsafe_b64decode(one.remembered["id"] + "=")) for one in ear.heard
    ]
    assert len(set(ids)) == BROWSERS
    always, never = 2**256 - 1, 0
    for one in ids:
        always, never = always & one, never | one
    assert (always, never) == (0, 2**256 - 1), "a bit is the same in every browser"
    measured(f"{BROWSERS} browsers, as many ids, every one of 256 bits varies")


def test_scripts_keep_an_answer_under_way_in_the_tab_and_nothing_else(app):
    for path in Path(app.static_folder).glob("*.js"):
        script = path.read_text()
        for store in ("localStorage", "indexedDB", "cookie", "caches"):
            # Only a researcher's page of pictures remembers something: how much of an upload is in.
            is_count = (path.name, store) == ("items.js", "localStorage")
            assert is_count or store not in script, path
        if path.name not in ("question.js", "keep.js"):
            assert "sessionStorage" not in script, path
    script = Path(app.static_folder, "items.js").read_text()
    assert script.count("localStorage.setItem") == 1
    assert "remember(form, { done: Math.min(done, total), total, what });" in script
    answer = (
        "[choices.map((box) => box.checked), places.map((select) => select.value), "
        'reason?.value ?? ""]'
    )
    script = Path(app.static_folder, "question.js").read_text()
    assert script.count("sessionStorage.setItem") == 2
    assert 'sessionStorage.setItem(`${key} scores`, "yes");' in script  # folded scores were opened
    assert f"const filledIn = () => {answer};" in script
    kept = "[...filledIn(), unticked.map((box) => box.value), byItself]"
    assert f"sessionStorage.setItem(key, JSON.stringify({kept}));" in script
    # What is typed into the form itself, and what the server had filled in.
    script = Path(app.static_folder, "keep.js").read_text()
    assert script.count("sessionStorage.setItem") == 2
    assert (
        "sessionStorage.setItem(key, JSON.stringify({ filledIn: before, now: values() }))" in script
    )
    assert "sessionStorage.setItem(area.dataset.keep, area.value)" in script
