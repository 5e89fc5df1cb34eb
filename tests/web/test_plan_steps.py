"""The form of a plan, step by step, and what the plan can find."""

from functools import partial
from pathlib import Path

import pytest
from jinja2 import ChoiceLoader, FileSystemLoader

from survey.core import kinds
from survey.core.kinds import plan_from_json
from survey.core.studies.fields import rules_of
from survey.db.models import Study
from survey.kinds.ordering.plan import OrderingPlan
from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.plans import as_fields, from_trec, preset_plan
from survey.services.studies.recruitment import Recruitment
from survey.web.researcher.plan import PLAN_STEPS, form_of, form_steps
from tests.databases import ON_SQLITE
from tests.grouped import a_grouping_plan
from tests.labelled import a_labelling_plan
from tests.preferred import RUNS, a_preference_plan, a_qrels, a_run
from tests.tasks import words
from tests.tasks.test_words import PLAN as WORDS_PLAN
from tests.web.desk import STUDY, a_file

pytestmark = ON_SQLITE
PLAN = f"{STUDY}/plan"
OF_A_KIND = "/research/studies/of-a-kind"
KINDS = {
    "labelling": a_labelling_plan,
    "grouping": a_grouping_plan,
    "preference": a_preference_plan,
    "words": lambda: plan_from_json(WORDS_PLAN),
}


def open_steps(desk):
    """The steps that the page shows, in their order."""
    shown = desk.page.select(".step.open h2")
    return [heading["id"].removeprefix("step-") for heading in shown]


def plan_of(session, slug="a-study"):
    session.expire_all()
    plan = lifecycle.find_study(session, slug).plan
    session.rollback()
    return plan


def test_each_field_is_in_one_step_and_errors_are_in_the_order_of_the_page(app):
    in_steps = [name for step in form_steps(OrderingPlan).values() for name in step.fields]
    with app.test_request_context():
        asked = [field.name for field in form_of(OrderingPlan)()]
    assert [name for name in asked if name not in ("version", "step", "csrf_token")] == in_steps
    assert len({*in_steps}) == len(in_steps)


@pytest.mark.parametrize("step", PLAN_STEPS)
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
    assert "orders of MNRO and NMRR contradict each other in 100 % of the questions" in desk.text
    desk.open(PLAN)
    desk.send(PLAN, smallest_difference="12", design="pool", questions="20", per_participant="10")
    desk.open(f"{STUDY}/power")
    assert "30 participants answering 10 of 20 questions" in desk.text
    assert "and one of 12 points in" in desk.page.select_one("#power").text
    assert "for questions of this kind (corrected for 3 comparisons), prefers" in desk.text
    desk.open(PLAN)
    desk.send(PLAN, primary="AP-NMRR")
    desk.open(f"{STUDY}/power")
    assert "for questions of this kind (the primary pair by itself), prefers" in desk.text
    assert "The orders of NMRR and AP contradict" in desk.text
    desk.open(PLAN)
    desk.send(PLAN, primary="MNRO")
    assert "one of MNRO-NMRR, MNRO-AP, NMRR-AP is allowed" in desk.text
    desk.open(PLAN)
    desk.send(PLAN, primary="", participants="1")
    desk.open(f"{STUDY}/power")
    assert desk.page.select_one("#power").text.startswith("participants is 1; ")
    desk.open(PLAN)
    desk.send(PLAN, participants="30", arms=["after", "never"])
    desk.open(f"{STUDY}/power")
    assert desk.page.select_one("#power").text.startswith("With 15 participants answering 10 of 20")
    assert "15 of the 30 participants are in an arm" in desk.page.select_one("#power").text
    desk.open(PLAN)
    desk.send(PLAN, arms=[], columns="never")
    desk.open(f"{STUDY}/power")
    assert "This study never shows methods" in desk.page.select_one("#power").text


def test_arms_of_any_settings_are_written_as_lines(desk, session, study):
    lines = "- {name: plain, practice: false}\n- {name: early, criterion: Early is good.}\n"
    desk.open(PLAN)
    desk.send(PLAN, arm_settings=lines)
    plan = plan_of(session)
    assert plan.arms == ("plain", "early")
    assert plan.in_arm("early").criterion == "Early is good."
    desk.open(PLAN)
    shown = desk.page.select_one("#arm_settings").text.strip()
    assert shown.splitlines() == lines.splitlines()
    desk.send(PLAN, arm_settings="- {name: plain}\n- {name: early, colour: red}\n")
    assert desk.status == 400
    assert "Arm early: there is no field “colour” of an arm" in desk.text
    assert "colour: red" in desk.page.select_one("#arm_settings").text  # as it was typed
    desk.send(PLAN, arm_settings="")
    assert plan_of(session).arms == ()


def test_a_new_study_of_runs_is_never_made_without_them(desk, session):
    def uploaded(*names):
        texts = {"qrels": a_qrels().text, **{name: a_run(name).text for name in RUNS}}
        # On the last topic both runs are alike, which no ordering study can ask.
        lines = {name: [*text.splitlines(True)] for name, text in texts.items()}
        kept = {name: [one for one in some if one[0] != "6"] for name, some in lines.items()}
        return [a_file("".join(kept[name]), f"{name}.txt") for name in names]

    missing = "Choose judgements and at least two runs. No study was made."
    for files in ({"runs": uploaded("alpha")}, {}):
        desk.open("/research/new")
        desk.send("/research/new", start="runs", slug="half", show_items="y", files=files)
        assert desk.status == 400
        assert missing in desk.text
    alike = {"judgements": uploaded("qrels"), "runs": [*uploaded("alpha"), *uploaded("alpha")]}
    desk.open("/research/new")
    desk.send("/research/new", start="runs", slug="whole", files=alike, collection_size="12")
    assert "The files cannot be used; see below." in desk.text
    assert len(desk.page.select("ul.faults li")) >= 1
    files = {"judgements": uploaded("qrels"), "runs": uploaded(*RUNS)}
    asked = {"collection_size": "12", "show_items": "y"}
    desk.send("/research/new", start="runs", slug="whole", files=files, **asked)
    assert desk.address == "/research/studies/whole/plan", desk.text
    assert desk.page.select_one(".of-show_items")
    assert (
        "runs alpha, beta for 5 topics, judged in qrels.txt" in desk.page.select_one("#origin").text
    )
    whole = lifecycle.find_study(session, "whole").plan
    assert (whole.questions, whole.lists, whole.shuffle_letters, whole.show_items) == (
        5,
        2,
        True,
        True,
    )
    assert session.query(Study).filter_by(slug="half").all() == []


def test_a_new_study_begins_with_who_asked_last(desk, session, study):
    desk.open(PLAN)
    desk.send(PLAN, asked_by="the retrieval group of X", contact="x@example.org")
    desk.open("/research/new")
    assert desk.page.select_one("[name=contact]")["value"] == "x@example.org"
    desk.send("/research/new", slug="another", asked_by="the group of Y")
    plan = lifecycle.find_study(session, "another").plan
    assert (plan.asked_by, plan.contact) == ("the group of Y", "x@example.org")


@pytest.fixture(params=KINDS)
def kind(request, app, session, desk, monkeypatch):
    """The name of a kind, of which Ada has a draft; words are a kind that no module knows."""
    words.register(monkeypatch)
    folder = Path(words.__file__).with_name("templates")
    monkeypatch.setattr(
        app, "jinja_loader", ChoiceLoader([app.jinja_loader, FileSystemLoader(folder)])
    )
    words.METADATA.create_all(session.get_bind())
    a_draft(session, KINDS[request.param]())
    return request.param


def a_draft(session, plan):
    ada = accounts.find_researcher(session, "Ada")
    lifecycle.create_owned_study(session, ada, "of-a-kind", plan, Recruitment())
    session.rollback()


def of_a_kind(session):
    return plan_of(session, "of-a-kind")


def test_the_plan_of_each_kind_has_four_steps_and_shows_its_pages(desk, kind):
    desk.open(f"{OF_A_KIND}/plan")
    steps = [heading.text for heading in desk.page.select(".step h2")]
    assert steps == ["What to ask", "How to ask", "Who takes part", "Texts"]
    assert open_steps(desk) == ["what"]
    assert not desk.page.select(".power")
    pages = [link["href"] for link in desk.page.select(".pages a")]
    assert desk.page.select_one("iframe")["src"] in pages
    for address in (*pages, f"{OF_A_KIND}/plan.yaml"):
        desk.open(address)
        assert desk.status == 200


def test_saving_what_the_page_shows_changes_no_plan(desk, session, kind):
    before = of_a_kind(session)
    for step in PLAN_STEPS:
        desk.open(f"{OF_A_KIND}/plan?step={step}")
        desk.send(f"{OF_A_KIND}/plan", go=step)
        assert desk.status == 200
    assert of_a_kind(session) == before
    desk.open(OF_A_KIND)
    assert "plan changed" not in desk.text


def plan_of_runs(**changes):
    """A plan of two runs; on topic 6 both are alike, which no ordering study can ask."""
    qrels, *runs = (
        each._replace(text="".join(line for line in each.text.splitlines(True) if line[0] != "6"))
        for each in (a_qrels(), *map(a_run, RUNS))
    )
    lists = from_trec(qrels, runs, collection_size="12", missing_last=True)
    return preset_plan("pictures", **as_fields(lists) | changes)


@pytest.mark.parametrize(
    "plan",
    [
        *(partial(preset_plan, name) for name in ("mnro", "mnro-discriminative")),
        plan_of_runs,
        partial(plan_of_runs, depth=7, mark_relevant=False),
        partial(plan_of_runs, show_items=False),
    ],
)
def test_saving_what_the_page_shows_changes_no_plan_of_orderings(desk, session, plan):
    a_draft(session, plan())
    before = of_a_kind(session)
    for step in PLAN_STEPS:
        desk.open(f"{OF_A_KIND}/plan?step={step}")
        desk.send(f"{OF_A_KIND}/plan", go=step)
        assert desk.status == 200, desk.text
    assert of_a_kind(session) == before


def typed_in(desk, name):
    """The text in a control of the page."""
    control = desk.page.select_one(f"#{name}")
    if ticked := control.select("input[checked]"):
        return " ".join(each["value"] for each in ticked)
    return control.get("value", control.text.strip()).replace("\r\n", "\n")


TYPED = {  # into the fields of a kind: each field, and what the plan then holds
    "labelling": (
        {"topics": " sea\r\n\r\n112 ", "batch": "48", "graded": "y"},
        {"topics": ("sea", "112"), "questions": 2, "batch": 48, "graded": True},
    ),
    "grouping": (
        {"topics": "- [far, [red-0, '7']]\n- ['5', [c, é]]", "show_earlier": None},
        {"topics": (("far", ("red-0", "7")), ("5", ("c", "é"))), "show_earlier": False},
    ),
    "preference": (
        {
            "measures": "P@3 RR AP",
            "selection": "discriminative",
            "contrast": "AP RR",
            "questions": "4",
        },
        {"measures": ("AP", "P@3", "RR"), "contrast": ("AP", "RR"), "questions": 4},
    ),
    "words": (
        {"pairs": "- [sea, lake]\n- [dusk, dawn]", "questions": "2", "practice": "y"},
        {"pairs": (("sea", "lake"), ("dusk", "dawn")), "questions": 2, "practice": True},
    ),
}


def test_a_change_of_each_kind_is_saved(desk, session, kind):
    typed, expected = TYPED[kind]
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", go="who", title="Another title", minutes="7", **typed)
    assert desk.address == f"{OF_A_KIND}/plan?step=who", desk.text
    plan = of_a_kind(session)
    assert (plan.title, plan.minutes) == ("Another title", 7)
    assert {name: getattr(plan, name) for name in expected} == expected
    desk.send(f"{OF_A_KIND}/plan", go="what")  # what the page now shows is the same plan
    assert of_a_kind(session) == plan
    desk.send(f"{OF_A_KIND}/plan")
    assert desk.address == f"{OF_A_KIND}/check"


FAULTY = {  # what is typed into a field, its fault, and the step that has it
    "labelling": ("batch", "5", "Documents on a page is 5; 6 to 60 are allowed.", "how"),
    "grouping": (
        "topics",
        "near a a",
        "near has a document twice",
        "what",
    ),
    "preference": ("measures", "AP NoSuch", "NoSuch", "what"),
    "words": ("pairs", "- [sea, lake]", "1 pairs found; 3 are needed.", "what"),
}


def test_a_fault_of_each_kind_is_beside_its_field_and_what_was_typed_stays(desk, session, kind):
    before = of_a_kind(session)
    name, typed, fault, step = FAULTY[kind]
    desk.open(f"{OF_A_KIND}/plan?step=who")
    desk.send(f"{OF_A_KIND}/plan", go="who", title="Kept", **{name: typed})
    assert (desk.status, open_steps(desk)) == (400, [step])
    [problem] = desk.page.select("#problems a")
    assert problem["href"] == f"#{name}"
    assert fault in desk.page.select_one(f".of-{name} .wrong").text
    assert typed_in(desk, name) == typed
    assert desk.page.select_one("[name=title]")["value"] == "Kept"
    assert of_a_kind(session) == before


MEANWHILE = {  # a field, and a text for it with one word to change
    "labelling": ("topics", "{}"),
    "grouping": ("topics", "{} a b"),
    "preference": ("measures", "{}"),
    "words": ("pairs", "- [a, b]\n- [c, d]\n- [e, {}]"),
}


def test_a_plan_of_each_kind_saved_meanwhile_is_shown_beside_ones_own(desk, session, kind):
    name, text = MEANWHILE[kind]
    other, typed = text.format("AP"), text.format("RR")
    desk.open(f"{OF_A_KIND}/plan")
    version = desk.page.select_one("[name=version]")["value"]
    desk.send(f"{OF_A_KIND}/plan", go="what", **{name: other})
    saved = of_a_kind(session)
    desk.send(f"{OF_A_KIND}/plan", version=version, **{name: typed})
    assert desk.status == 409
    shown = [cell.text for cell in desk.page.select_one("#conflict tbody tr").select("th, td")]
    assert shown[0] == desk.page.select_one(f"label[for={name}], #{name} > legend").text
    assert ["AP" in text for text in shown[1:]] == [True, False]
    assert ["RR" in text for text in shown[1:]] == [False, True]
    assert typed_in(desk, name) == typed
    assert of_a_kind(session) == saved
    desk.send(f"{OF_A_KIND}/plan")  # knowing what it replaces
    assert desk.address == f"{OF_A_KIND}/check"
    assert of_a_kind(session) != saved


def test_a_plan_saved_meanwhile_is_shown_with_values_that_are_defaults_too(desk, session):
    a_draft(session, preset_plan("mnro"))
    desk.open(f"{OF_A_KIND}/plan")
    version = desk.page.select_one("[name=version]")["value"]
    desk.send(f"{OF_A_KIND}/plan", go="what", title="Another title")
    desk.send(f"{OF_A_KIND}/plan", version=version, questions="9")
    assert desk.status == 409
    shown = {
        row.th.text: [cell.text for cell in row.select("td")]
        for row in desk.page.select("#conflict tbody tr")
    }
    assert shown["Questions"] == ["10", "9"]


def test_a_fault_names_fields_as_the_page_does(desk, session):
    a_draft(session, plan_of_runs(show_items=False))
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", show_positions=None)
    assert desk.status == 400
    shown = desk.page.select_one(".problems").text
    assert "show_" not in shown
    assert "turn “Show positions as numbers” on" in desk.text


def test_a_frozen_plan_of_each_kind_is_a_text(desk, session, kind):
    study = lifecycle.find_study(session, "of-a-kind")
    study.status, study.digest = "open", lifecycle.current_digest(study)
    session.commit()
    desk.open(f"{OF_A_KIND}/plan")
    assert not desk.page.select("#plan")
    assert f"kind: {kind}" in desk.page.select_one("pre").text


def test_each_rule_of_each_kind_is_in_one_step_and_no_other_field_is(app, monkeypatch):
    words.register(monkeypatch)
    for kind in kinds.KINDS.values():
        rules = rules_of(kind.plan)
        in_steps = [name for step in form_steps(kind.plan).values() for name in step.fields]
        assert len({*in_steps}) == len(in_steps)
        assert {*in_steps} - {*rules} <= {*form_of(kind.plan).controls}
        left_out = {
            *(() if kind.plan.has_check else ("exclude_failed_check",)),
            *(() if "design" in rules else ("per_participant",)),
        }
        assert {*rules} - {*in_steps} == left_out
        labels = [rule.label for rule in rules.values()]
        assert len({*labels}) == len(labels)


def test_a_field_that_counts_with_a_choice_is_left_out_without_it(desk, session):
    a_draft(session, a_labelling_plan(design="pool", per_participant=1, queries_for_all=1))
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", go="who", design="all")
    plan = of_a_kind(session)
    assert (plan.design, plan.per_participant, plan.queries_for_all) == ("all", None, 0)


def test_check_links_to_the_field_of_a_kind_that_mends_it(desk, session):
    a_draft(
        session,
        a_labelling_plan(design="pool", per_participant=1, queries_for_all=0, contact=""),
    )
    desk.open(f"{OF_A_KIND}/check")
    links = {link.text: link["href"] for link in desk.page.select(".mend a")}
    assert links["Change “Queries that everybody labels”"] == (
        f"{OF_A_KIND}/plan?step=who#queries_for_all"
    )
    assert links["Change “Where participants can ask”"] == f"{OF_A_KIND}/plan?step=texts#contact"
    desk.open(f"{OF_A_KIND}/plan?step=who")
    assert desk.page.select_one(".step.open #queries_for_all")


def test_documents_of_a_topic_that_are_no_list_are_a_fault(desk, session):
    a_draft(session, a_grouping_plan())
    desk.open(f"{OF_A_KIND}/plan")
    for typed in ("- [near, brick-2]", "near: brick-2", "near"):
        desk.send(f"{OF_A_KIND}/plan", topics=typed)
        assert (
            "each topic needs a list of documents" in desk.page.select_one(".of-topics .wrong").text
        )
    desk.send(f"{OF_A_KIND}/plan", topics="near: [brick-2, brick-3]")
    assert of_a_kind(session).topics == (("near", ("brick-2", "brick-3")),)


def test_ids_that_look_like_numbers_are_stored_as_they_are_typed(desk, session):
    a_draft(session, a_grouping_plan())
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", topics="- [012, [1.10, 12:30]]\n- [yes, [101, 0x1F]]")
    topics = (("012", ("1.10", "12:30")), ("yes", ("101", "0x1F")))
    assert of_a_kind(session).topics == topics
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", title="Another title")
    assert of_a_kind(session).topics == topics
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", topics="- [a, [b, null]]")
    assert "null and ~ need quotes" in desk.page.select_one(".of-topics .wrong").text


def test_a_fault_of_lists_from_files_is_beside_the_number_of_questions(desk, session):
    a_draft(session, a_preference_plan())
    desk.open(f"{OF_A_KIND}/plan")
    desk.send(f"{OF_A_KIND}/plan", collection_size="3")
    assert desk.status == 400
    assert "topic 1" in desk.page.select_one(".of-questions .wrong").text.lower()
