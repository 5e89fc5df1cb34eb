"""Promise 3: what researchers see and may show around gives no participant's labels away."""

import re

import pytest
from argon2 import PasswordHasher
from sqlalchemy import exc
from werkzeug.exceptions import Forbidden, NotFound

from survey.core.measures import mentioned_measure
from survey.core.studies.plan import text_rules
from survey.kinds.ordering.plan import OrderingPlan
from survey.services import accounts
from survey.services.studies import lifecycle, plans
from survey.services.studies.languages import languages
from survey.services.studies.recruitment import Recruitment
from tests.builders import Visitor, a_plan
from tests.promises.sweeps import addresses, rules_of
from tests.promises.traces import Ear, Trace
from tests.promises.walks import new_study
from tests.promises.worlds import as_shipped, canaries, living_in, renamed
from tests.web.desk import Desk

pytestmark = pytest.mark.slow

STUDY = "/research/studies/plain-en"
PAGES = (
    *("entry", "consent", "about_you", "scenario", "practice", "review"),
    *("done", "declined", "screened_out", "question/1", "question/2", "question/3"),
)
ORDERS = ("123", "312")

TOKEN = re.compile(r'(?<=name="csrf_token" value=")[^"]*')
NOTE = {"name": "note", "label": "A note", "kind": "text"}


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    monkeypatch.setattr(accounts, "hasher", PasswordHasher(time_cost=1, memory_cost=64))


@pytest.fixture
def place(tmp_path):
    with living_in(canaries(), tmp_path / "world") as place:
        yield place


@pytest.fixture
def trace(place):
    return Trace([word for one in place.world.measures for word in (one.name, one.mean_name)])


def a_desk(place, opened=True, **changes):
    """A researcher with a study, open or a draft."""
    desk = Desk(place.app, place.session)
    ada = accounts.find_researcher(place.session, "Ada")
    plan = a_plan(measures=place.world.names, **changes)
    study = lifecycle.create_owned_study(place.session, ada, "plain-en", plan, Recruitment())
    if opened:
        lifecycle.open_study(place.session, study, "Ada")
    place.session.rollback()
    return desk


def look_through(desk):
    """Open every page of a preview in several orders, and send every form on them."""
    for labels in ORDERS:
        for page in PAGES:
            address = f"{STUDY}/preview/{labels}/{page}"
            desk.open(address)
            for form in desk.page.select("form[method=post]"):
                for filled_in in ({}, {"choice": "1", "agree": "y", "age": "23"}):
                    desk.open(address)
                    desk.send(form["action"], **filled_in)


@pytest.mark.parametrize("changes", [{}, {"columns": "after", "language": "el"}])
def test_no_preview_names_a_measure(place, trace, changes, measured):
    ear, desk = Ear(place.app), a_desk(place, **changes)
    look_through(desk)
    shown = [one for one in ear.heard if "/preview/" in one.path]
    assert sum(one.code == 200 for one in shown) > len(ORDERS) * len(PAGES)
    assert [one.path for one in shown if trace.found_in(one)] == []
    assert all(b'class="watermark"' in one.body for one in shown if one.code == 200)
    measured(f"{len(shown)} answers of previews, every page watermarked: 0 traces of a name")


def test_a_preview_is_the_same_whichever_measures_the_plan_holds(tmp_path, measured):
    heard = []
    for world in (as_shipped(), renamed()):
        with living_in(world, tmp_path / str(len(heard))) as place:
            ear = Ear(place.app)
            look_through(a_desk(place))
            heard.append([(one.path, one.bytes) for one in ear.heard if "/preview/" in one.path])
    assert heard[0] == heard[1]
    measured(f"{len(heard[0])} answers of previews in two worlds: 0 bytes differ")


def test_a_preview_shows_nothing_that_was_drawn_for_anybody(place):
    desk, page = a_desk(place), f"{STUDY}/preview/123/question/1"
    moment = place.clock.time
    before = desk.client.get(page).data
    for _ in range(3):
        Visitor(place.app.test_client(), "plain-en").prepare()
    place.clock.time = moment
    assert desk.client.get(page).data == before


def test_a_preview_says_that_it_is_not_for_participants(place):
    desk = a_desk(place)
    desk.open(f"{STUDY}/preview/123/question/1")
    assert "Do not show this page to people who will take part" in desk.text


def test_a_link_to_a_preview_opens_a_sign_in_for_everybody_else(place, trace):
    new_study(place, "plain-en")
    ear, client = Ear(place.app), place.app.test_client()
    pages = []
    for slug in ("plain-en", "nobodys"):
        answer = client.get(f"/research/studies/{slug}/preview/213/question/1")
        assert answer.location.startswith("/research/sign-in?next=")
        pages.append(TOKEN.sub("", client.get(answer.location).text.replace(slug, "")))
    assert pages[0] == pages[1]
    assert [one.path for one in ear.heard if trace.found_in(one)] == []


@pytest.mark.parametrize(
    "fault",
    [
        RuntimeError,
        lambda word: exc.OperationalError(f"SELECT {word}", {"measure": word}, Exception(word)),
        *(NotFound, Forbidden),
    ],
)
def test_no_researchers_error_page_repeats_what_went_wrong_inside(place, trace, fault):
    desk, ear = a_desk(place), Ear(place.app)
    for blueprint in ("account", "researcher", "preview"):
        for rule in rules_of(place.app, blueprint):
            place.app.view_functions[rule.endpoint] = _failing_with(fault(place.world.names[0]))
            for method in rule.methods & {"GET", "POST"}:
                desk.client.open(addresses(rule, slug="plain-en")[0], method=method)
    assert {one.code for one in ear.heard} <= {403, 404, 500, 503}
    assert [one.path for one in ear.heard if trace.found_in(one)] == []


def _failing_with(error):
    def fail(**_):
        raise error

    return fail


def test_errors_of_a_signed_in_researcher_name_no_measure(place, trace):
    desk, ear = a_desk(place), Ear(place.app)
    for path in ("/no-such-page", "/preview/999/entry", "/preview/123/question/50", "/bundle.zip"):
        desk.open(STUDY + path)
    desk.post(f"{STUDY}/preview/123/question/1", choice="x" * 80_000)
    desk.client.put(f"{STUDY}/preview/123/question/1")
    assert {403, 404, 405} <= {one.code for one in ear.heard}
    assert [one.path for one in ear.heard if trace.found_in(one)] == []


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("preset", plans.PRESETS)
def test_no_text_that_comes_with_the_survey_names_a_measure(preset, language):
    values = plans.preset_values(preset, language)
    said = [values.get(name, "") for name in text_rules(OrderingPlan)]
    fields = values["personal_fields"]
    said += [str(text) for field in fields for key, text in field.items() if key != "name"]
    assert [text for text in said if mentioned_measure(text)] == []


@pytest.mark.parametrize(
    ("changes", "recruitment", "named"),
    [
        ({"scenario": "We compare AP with others."}, {}, "the scenario"),
        ({"personal_fields": [NOTE | {"label": "Do you know MNRO?"}]}, {}, "the personal field"),
        ({"personal_fields": [NOTE | {"help": "As in MAP."}]}, {}, "the personal field"),
        ({"personal_fields": [NOTE | {"name": "mnro"}]}, {}, "the personal field"),
        ({}, {"return_url": "https://x.example/nmrr?who=1"}, "the return_url"),
        ({}, {"id_parameter": "mnro_id"}, "the id_parameter"),
        ({}, {"capture": ("batch", "ap")}, "the capture"),
    ],
)
def test_whatever_else_participants_can_see_is_warned_of(place, changes, recruitment, named):
    study = new_study(place, "plain-en", **changes)
    study.recruitment = Recruitment(**recruitment).as_json()
    found = [
        one.text
        for one in lifecycle.check_study(place.session, study)
        if "name of a measure" in one.text
    ]
    assert len(found) == 1
    assert found[0].startswith(named)
