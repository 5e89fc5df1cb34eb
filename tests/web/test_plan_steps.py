"""The form of a plan, step by step, and what the plan can find."""

import pytest

from survey.services.studies import lifecycle
from survey.web.researcher.plan import STEP_OF, STEPS, PlanForm
from tests.databases import ON_SQLITE
from tests.preferred import RUNS, a_qrels, a_run
from tests.web.desk import STUDY, a_file

pytestmark = ON_SQLITE
PLAN = f"{STUDY}/plan"


def open_steps(desk):
    """The steps that the page shows, in their order."""
    shown = desk.page.select(".step.open h2")
    return [heading["id"].removeprefix("step-") for heading in shown]


def plan_of(session):
    session.expire_all()
    plan = lifecycle.find_study(session, "a-study").plan
    session.rollback()
    return plan


def test_each_field_is_in_one_step_and_errors_are_in_the_order_of_the_page(app):
    in_steps = [name for step in STEPS.values() for name in step.fields]
    with app.test_request_context():
        asked = [field.name for field in PlanForm()]
    assert [name for name in asked if name not in ("version", "step", "csrf_token")] == in_steps
    assert len(STEP_OF) == len(in_steps)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_chosen_in_the_address_and_the_first_is_the_default(desk, study, step):
    desk.open(f"{PLAN}?step={step}")
    assert open_steps(desk) == [step]
    assert desk.page.select_one(".plan-steps [aria-current]")["value"] == step
    desk.open(f"{PLAN}?step=no-step")
    assert open_steps(desk) == ["what"]


def test_moving_to_another_step_saves_all_steps(desk, session, study):
    desk.open(PLAN)
    desk.send(PLAN, go="who", questions="4", title="Seen in another step")
    assert desk.address == f"{PLAN}?step=who"
    assert open_steps(desk) == ["who"]
    plan = plan_of(session)
    assert (plan.questions, plan.title) == (4, "Seen in another step")


def test_a_fault_opens_its_step_and_its_field_has_the_focus(desk, session, study):
    desk.open(PLAN)
    desk.send(PLAN, go="texts", participants="many", title="Kept")
    assert desk.status == 400
    assert open_steps(desk) == ["who"]
    assert [field["id"] for field in desk.page.select("[autofocus]")] == ["participants"]
    assert desk.page.select_one("[name=title]")["value"] == "Kept"
    desk.send(PLAN, title="", participants="3", **{"personal_fields-1-name": "Not a name"})
    assert open_steps(desk) == ["who", "texts"]
    [focused] = desk.page.select("[autofocus]")
    assert focused["id"] == "title"
    assert focused.find_parent("details") is None
    desk.send(PLAN, title="A title")
    [focused] = desk.page.select("[autofocus]")
    assert focused["id"] == "personal_fields-1-name"
    assert focused.find_parent("details").has_attr("open")


def test_a_link_to_a_field_names_its_step(desk, study):
    desk.open(f"{STUDY}/power")
    assert desk.page.select_one("main .way a")["href"] == f"{PLAN}?step=who#participants"


def test_the_same_change_many_times_is_one_line_of_the_log(desk, study):
    desk.open(PLAN)
    for title in ("One", "Two", "Three"):
        desk.send(PLAN, go="texts", title=title)
    desk.open(STUDY)
    rows = [row.select("td")[2].text for row in desk.page.select("details tbody tr")]
    assert rows == ["plan changed, 3 times in a row", "made"]


def test_the_pages_beside_the_form_are_those_that_the_plan_has(desk, study):
    desk.open(PLAN)
    for link in desk.page.select(".pages a"):
        desk.open(link["href"])
        assert desk.status == 200
    desk.open(PLAN)
    desk.send(PLAN, go="who", practice=None, measures=["AP", "MNRO"])
    titles = [link.text for link in desk.page.select(".pages a")]
    assert "Practice" not in titles
    desk.open(desk.page.select_one("iframe")["src"])
    assert (desk.status, desk.page.h1.text) == (200, "About you")


def test_in_a_frame_a_preview_has_its_watermark_and_no_bar(desk, study):
    address = f"{STUDY}/preview/213/entry"
    desk.open(address)
    assert desk.page.select("nav.preview")
    framed = desk.client.get(address, headers={"Sec-Fetch-Dest": "iframe"}).text
    assert "watermark" in framed
    assert "<nav" not in framed


def test_the_power_is_that_of_the_plan_and_of_its_own_questions(desk, study):
    desk.open(PLAN)
    desk.send(PLAN, questions="10", generator="discriminative", participants="30")
    desk.open(f"{STUDY}/power")
    assert desk.page.select_one("#power").text.startswith(
        "With 30 participants answering all of 10 questions, a difference of about 25 points is "
    )
    shares = [row.select_one("td").text for row in desk.page.select("tbody tr")]
    assert float(shares[0].split()[0]) < 10 < 90 < float(shares[-1].split()[0])
    desk.open(PLAN)
    desk.send(PLAN, smallest_difference="12", design="pool", questions="20", per_participant="10")
    desk.open(f"{STUDY}/power")
    assert "30 participants answering 10 of 20 questions" in desk.text
    assert "and one of 12 points in" in desk.page.select_one("#power").text
    desk.open(PLAN)
    desk.send(PLAN, participants="1")
    desk.open(f"{STUDY}/power")
    assert desk.page.select_one("#power").text.startswith("participants is 1; ")


def test_a_new_study_of_runs_takes_their_files_or_leaves_them_for_later(desk, session):
    def uploaded(*names):
        texts = {"qrels": a_qrels().text, **{name: a_run(name).text for name in RUNS}}
        # On the last topic both runs are alike, which no ordering study can ask.
        lines = {name: [*text.splitlines(True)] for name, text in texts.items()}
        kept = {name: [one for one in some if one[0] != "6"] for name, some in lines.items()}
        return [a_file("".join(kept[name]), f"{name}.txt") for name in names]

    desk.open("/research/new")
    desk.send("/research/new", start="runs", slug="half", files={"runs": uploaded("alpha")})
    assert desk.status == 400
    assert "Choose the file of judgements, and two runs or more." in desk.text
    files = {"judgements": uploaded("qrels"), "runs": uploaded(*RUNS)}
    asked = {"collection_size": "12", "show_items": "y"}
    desk.send("/research/new", start="runs", slug="whole", files=files, **asked)
    assert desk.address == "/research/studies/whole/plan", desk.text
    assert desk.page.select_one(".of-show_items")
    desk.open("/research/new")
    desk.send("/research/new", start="runs", slug="later")
    whole, later = (lifecycle.find_study(session, slug).plan for slug in ("whole", "later"))
    assert (whole.questions, whole.lists, whole.shuffle_letters, whole.show_items) == (
        5,
        2,
        True,
        True,
    )
    assert (later.generator, later.has_items) == ("random", False)


def test_a_new_study_begins_with_who_asked_last(desk, session, study):
    desk.open(PLAN)
    desk.send(PLAN, asked_by="the retrieval group of X", contact="x@example.org")
    desk.open("/research/new")
    assert desk.page.select_one("[name=contact]")["value"] == "x@example.org"
    desk.send("/research/new", slug="another", asked_by="the group of Y")
    plan = lifecycle.find_study(session, "another").plan
    assert (plan.asked_by, plan.contact) == ("the group of Y", "x@example.org")
