"""The paper's own study, and where studies depart from it: in presets, guide and page."""

import re

import pytest

from survey.core.kinds import kind_of
from survey.kinds.ordering.departures import DEPARTURES, departures_of
from survey.services.studies.plans import KINDS, PRESETS, preset_plan, preset_values
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE
from tests.guides.pages import page_named

OF_KINDS = [
    preset for kind in KINDS.values() for preset in (kind.preset, *kind.further_presets) if preset
]
GUIDE = page_named("replicate-the-paper.md").read_text()
# What tells people that one place is better than another.
TELLS = re.compile(r"\b(better|does well|worse|early|late|earlier)\b")


def rows(preset, **changes):
    return {*departures_of(preset_plan(preset, **changes))}


def test_the_guide_has_every_departure_of_both_presets():
    table = GUIDE.partition("### Where we depart")[2].partition("\n\n| ")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in f"| {table}".splitlines()[2:]]
    verbatim, plain = rows("mnro-verbatim"), rows("mnro")
    names = {(True, True): "both", (True, False): "`mnro-verbatim`", (False, True): "`mnro`"}
    assert {(*row[:3], row[3]) for row in cells} == {
        (*row, names[row in verbatim, row in plain]) for row in verbatim | plain
    }


def test_each_departure_applies_to_some_plan_and_says_what_it_could_change():
    plans = [
        preset_plan("mnro-verbatim"),
        preset_plan("mnro", criterion="A system does well when its photos come early."),
        preset_plan("mnro", rescale_values=True, shuffle_columns=False, columns="after"),
        preset_plan("mnro-discriminative"),
        preset_plan("mnro", arms=[{"name": "a"}, {"name": "b", "practice": False}]),
    ]
    assert {*DEPARTURES} == {each for plan in plans for each in DEPARTURES if each.applies(plan)}
    assert all(all(each[:3]) for each in DEPARTURES)


def test_a_criterion_practice_and_arms_are_departures():
    plain = rows("mnro")
    assert rows("mnro", practice=False) < plain
    assert rows("mnro", criterion="Early is good.") > plain
    arms = [{"name": "a"}, {"name": "b", "columns": "never"}]
    assert len(rows("mnro", arms=arms) - plain) == 2  # the arms, and the columns


@pytest.mark.parametrize("preset", [*PRESETS, *OF_KINDS])
def test_no_preset_says_what_is_good(preset):
    values = preset_values(preset)
    texts = {name: values.get(name, "") for name in ("scenario", "question_text", "reminder")}
    assert {name: TELLS.findall(text) for name, text in texts.items()} == {
        "scenario": [],
        "question_text": [],
        "reminder": [],
    }
    assert "criterion" not in values


@pytest.mark.parametrize(
    ("preset", "topics"), [("labels", ["near"]), ("groups", [("near", ["a", "b"])])]
)
def test_other_kinds_repeat_no_paper(preset, topics):
    plan = preset_plan(preset, topics=topics)
    assert kind_of(plan).departures(plan) == ()


@ON_SQLITE
def test_the_verbatim_study_asks_as_the_paper_does(client, session):
    values = {
        name: value
        for name, value in preset_values("mnro-verbatim").items()
        if name in ("scenario", "question_text", "reminder", "practice", "ticks", "scores")
        or name == "shuffle_columns"
    }
    an_open_study(session, "verbatim", **values, show_values=True)
    visitor = Visitor(client, "verbatim")
    visitor.go("/scenario")
    assert "There are five web-based image retrieval systems" in visitor.text
    visitor.submit("/scenario")
    assert visitor.path == "/q/1"  # without practice
    assert visitor.page.select_one("h1").text == (
        "Which of the rankings more closely matches your own ranking?"
    )
    assert "nearest to yours, or several in case of ties" in visitor.text
    assert len(visitor.page.select(".scores[open] [data-scores] td")) == 15
    assert sorted(each["value"] for each in visitor.page.select("[name=choice]")) == [*"123"]
    assert len(visitor.page.select("[name^=rank-]")) == 5
