"""Preference: from runs over two lists side by side to a replicated bundle."""

import csv
import io
import json
import re
import zipfile
from collections import Counter
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from survey import __version__, tokens
from survey.cli.planning import local_server
from survey.core.agreement.preferences import Answer, PairOfLists, analyse_preferences
from survey.core.kinds import KINDS, kind_of, plan_from_json
from survey.core.studies.fields import PlanError
from survey.core.studies.rankings import Ranking
from survey.db.models import StoredResponse
from survey.errors import SurveyError
from survey.kinds.grouping.answer import GroupingPresentation
from survey.kinds.preference.answer import PreferenceAnswer, PreferencePresentation
from survey.kinds.preference.bot import Leaning, PreferenceBot
from survey.kinds.preference.kind import PreferenceKind
from survey.kinds.preference.plan import LIST_LETTERS, PREFERRED, sign_of
from survey.kinds.preference.practice import practice_pair
from survey.kinds.preference.results import Judgement, PreferenceResults
from survey.kinds.steps import Done, StepAnswers, StepsError
from survey.services import accounts
from survey.services.analysis.sheets import printed_table
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import items as collection
from survey.services.exchange import bundle
from survey.services.exchange.bundle import analyse_stored
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError, SourceFiles, open_files
from survey.services.exchange.kind_files import Record, StudyAnswers
from survey.services.planning.bot_sight import Sight
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle
from tests import preferred as preferred_module
from tests.builders import KEY
from tests.databases import ON_SQLITE
from tests.preferred import (
    DOCUMENTS,
    ORDERS,
    PLAN,
    RELEVANT,
    a_participant,
    a_preference_plan,
    a_preference_study,
    a_qrels,
    a_run,
    as_pairs,
    preferred,
    sides_on,
    some_lists,
    text_file,
)
from tests.web.desk import Desk, a_file, shows_its_figures_as_files

TABLES = KINDS["preference"].tables
PICTURES = {"show_items": True, "show_positions": False}
SUMS = ("agree", "against", "tied")


@pytest.fixture
def study(app, session):
    return a_preference_study(session)


@pytest.fixture
def visitor(app, study):
    return a_participant(app)


def exported(session, study):
    content = b"".join(bundle.stream_bundle(session, study))
    session.rollback()
    return open_files(io.BytesIO(content), "preferred.zip")


def rows_of(files, name):
    return [*csv.DictReader(io.StringIO(files[name].decode()))]


def answered(visitor, count=5, **fields):
    for position in range(1, count + 1):
        visitor.submit(f"/q/{position}", **{"preferred": "left", **fields})
        assert visitor.status == 200, visitor.text


# --- the plan and its pairs ----------------------------------------------------------------


def test_all_pairs_are_asked_but_those_that_look_alike():
    plan = a_preference_plan()
    questions = plan.draw_questions()
    assert [each.source.topic for each in questions] == ["1", "2", "3", "4", "5"]
    assert all(each.source.runs == {"A": "alpha", "B": "beta"} for each in questions)
    sentence = "all 6 pairs of 2 runs for 6 topics, 1 that look alike left out"
    assert plan.selection_sentence == sentence


def test_fewer_pairs_are_drawn_by_the_seed():
    plan = a_preference_plan(questions=3)
    assert len(plan.draw_questions()) == 3
    assert plan.selection_sentence.startswith("3 drawn with seed 1 from 6 pairs of 2 runs")
    drawn = {
        tuple(
            each.source.topic for each in a_preference_plan(questions=3, seed=seed).draw_questions()
        )
        for seed in range(8)
    }
    assert len(drawn) > 2


def test_all_pairs_are_as_many_as_a_study_may_have(monkeypatch):
    monkeypatch.setattr("survey.kinds.preference.plan.MOST_PAIRS", 3)
    assert as_pairs(some_lists(), PLAN)["questions"] == 3
    contrast = {"selection": "discriminative", "contrast": ["AP", "RR"]}
    assert as_pairs(some_lists(), PLAN | contrast)["questions"] == 2


def test_discriminative_pairs_are_balanced_on_which_run_a_measure_favours():
    plan = a_preference_plan(selection="discriminative", contrast=["AP", "RR"])
    questions = plan.draw_questions()
    signs = [(sign_of(each, "AP"), sign_of(each, "RR")) for each in questions]
    assert sorted(signs) == [(-1, 1), (-1, 1), (1, -1), (1, -1)]
    assert plan.selection_sentence == (
        "4 of the 4 pairs on which AP and RR contradict each other, of 6 pairs of 2 runs for 6 "
        "topics, 1 that look alike left out; balanced: of each two runs, AP favours either one "
        "equally often (before that, the earlier run in 2); drawn with seed 1"
    )


@given(st.integers(0, 2**31), st.sampled_from([2, 4]))
def test_every_balanced_selection_has_as_many_of_either_direction(seed, count):
    options = {"selection": "discriminative", "contrast": ["AP", "RR"]}
    plan = a_preference_plan(**options, questions=count, seed=seed)
    questions = plan.draw_questions()
    assert sum(sign_of(each, "AP") for each in questions) == 0
    assert all(sign_of(each, "AP") == -sign_of(each, "RR") != 0 for each in questions)
    assert plan_from_json(json.loads(json.dumps(plan.as_json()))) == plan
    again = plan_from_json(plan.as_json())
    assert again.draw_questions() == questions


def a_plan_of_random_runs(**changes):
    """Three runs of forty topics, with four relevant documents at positions from 1 to 30."""
    chance = Random(7)
    topics = tuple(map(str, range(1, 41)))
    positions = [[sorted(chance.sample(range(1, 31), 4)) for _ in range(3)] for _ in topics]
    contrast = ["AP", "RR", "NMRR"]
    values = {
        **PLAN,
        **{"measures": contrast, "selection": "discriminative", "contrast": contrast},
        **{"own_lists": positions, "collection_size": 30, "questions": 6},
        "provenance": {
            "topics": topics,
            "runs": ["a", "b", "c"],
            "documents": [[["d"], ["d"], ["d"]]] * 40,
            "sources": [],
        },
    }
    return plan_from_json({**values, **changes})


@settings(max_examples=15)
@given(st.integers(0, 2**31))
def test_of_three_measures_each_is_alone_equally_often_and_favours_either_run(seed):
    plan = a_plan_of_random_runs(seed=seed)
    alone = Counter()
    for question in plan.draw_questions():
        signs = {name: sign_of(question, name) for name in plan.contrast}
        counts = Counter(signs.values())
        assert sorted(counts.values()) == [1, 2]
        assert 0 not in counts
        (name,) = (name for name, sign in signs.items() if counts[sign] == 1)
        alone[name, frozenset(question.source.runs.values()), signs[name]] += 1
    assert sum(alone.values()) == 6
    assert {name for name, _, _ in alone} == {*plan.contrast}
    for name, runs, sign in alone:
        assert alone[name, runs, sign] == alone[name, runs, -sign] == 1
    assert "one of AP, RR and NMRR contradicts the others" in plan.selection_sentence


def test_too_many_balanced_pairs_of_three_measures_are_refused_with_what_there_are():
    with pytest.raises(PlanError) as raised:
        a_plan_of_random_runs(questions=600)
    fault = str(raised.value)
    match = re.search(
        r"questions is 600; (\d+) can be balanced: one of AP, RR and NMRR contradicts the others "
        r"on (\d+) pairs, AP in (\d+), RR in (\d+) and NMRR in (\d+); "
        r"with either run as often, AP in (\d+), RR in (\d+) and NMRR in (\d+)",
        fault,
    )
    assert match, fault
    balanced, contests, *counts = map(int, match.groups())
    assert contests == sum(counts[:3])
    assert balanced == 3 * min(counts[3:])
    with pytest.raises(PlanError, match="questions is 8; balanced pairs need a multiple of 6"):
        a_plan_of_random_runs(questions=8)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"questions": 6}, "questions is 6; 5 pairs of lists differ"),
        ({"measures": ["AP", "XY"]}, "XY"),
        ({"measures": []}, "measures is empty"),
        ({"contrast": ["AP", "RR"]}, "contrast is AP and RR; the selection is all"),
        ({"selection": "discriminative"}, "contrast is empty; two or more of AP, RR are needed"),
        ({"selection": "some"}, "selection is 'some'"),
        ({"show_positions": False}, "nothing of the lists is shown"),
        ({"measures": ["S-recall@5"]}, "S-recall@5 needs to know the clusters"),
        ({"measures": ["RBP-RS-p0.9-gamma0.3@5"]}, "gamma0.3@5 needs pictures in rows"),
        ({"own_lists": [[["a"]]]}, "own_lists cannot be read"),
        ({"provenance": None}, "own_lists is empty"),
        ({"own_marks": [{}]}, "1 topics have marks, 6 have lists"),
        (
            {"selection": "discriminative", "contrast": ["AP", "RR"], "questions": 3},
            "questions is 3; balanced pairs need a multiple of 2",
        ),
        (
            {"selection": "discriminative", "contrast": ["AP", "RR"], "questions": 6},
            "4 can be balanced: AP and RR contradict each other on 4 pairs, and AP favours the "
            "earlier run in 2 of them",
        ),
    ],
)
def test_what_a_plan_cannot_be_is_named(changes, fault):
    plan = a_preference_plan().as_json()
    with pytest.raises(PlanError, match=re.escape(fault)):
        plan_from_json({**plan, **changes})


def of_topics(*topics, **changes):
    """The fields of the plan with these topics only."""
    plan = a_preference_plan().as_json()
    places = [plan["provenance"]["topics"].index(topic) for topic in topics]
    provenance = plan["provenance"] | {
        name: tuple(plan["provenance"][name][place] for place in places)
        for name in ("topics", "documents")
    }
    lists = [plan["own_lists"][place] for place in places]
    balanced = {"selection": "discriminative", "contrast": ["AP", "RR"], "questions": 2}
    return {**plan, "own_lists": lists, "provenance": provenance, **balanced, **changes}


NONE_BALANCED = "Balanced pairs do not exist. Leave the field empty, or add runs or measures"


@pytest.mark.parametrize(
    ("topics", "changes", "fault"),
    [
        (
            ("1", "3", "5"),
            {},
            f"AP and RR disagree on only 2 of 3 pairs, always for the same run. {NONE_BALANCED}",
        ),
        (
            ("5",),
            {"questions": 10},
            f"AP and RR disagree on none of 1 pairs. {NONE_BALANCED}",
        ),
        (
            ("1", "2"),
            {"measures": ["AP", "RR", "P@1"], "contrast": ["AP", "RR", "P@1"]},
            "one of AP, RR and P@1 contradicts the others on only 2 of 2 pairs: AP in 2, RR in 0 "
            "and P@1 in 0; with either run as often, AP in 2, RR in 0 and P@1 in 0, of which none "
            f"may be 0. {NONE_BALANCED}",
        ),
        (
            ("6",),
            {"selection": "all", "contrast": (), "questions": 1},
            "all lists look the same for 2 runs and 1 topic, so no pair of them can be asked. Show "
            "other things of them, or give other runs",
        ),
    ],
)
def test_lists_of_which_no_pair_can_be_asked_are_to_blame_and_not_the_number(
    topics, changes, fault
):
    with pytest.raises(PlanError) as error:
        plan_from_json(of_topics(*topics, **changes))
    assert [each.text for each in error.value.faults] == [fault]
    assert error.value.faults[0].place[0] != "questions"


@given(
    st.sampled_from([*PREFERRED, "both"]),
    st.integers(0, 4) | st.none(),
    st.integers(0, 6) | st.none(),
    st.integers(0, 6) | st.none(),
)
def test_an_answer_is_possible_or_refused(preferred, strength, left, right):
    possible = (
        preferred in PREFERRED
        and (strength is None or (1 <= strength <= 3 and preferred in ("left", "right")))
        and (left is None) == (right is None)
        and all(each is None or 1 <= each <= 5 for each in (left, right))
    )
    try:
        PreferenceAnswer(preferred, strength, left, right)
    except ValueError:
        assert not possible
    else:
        assert possible


def test_the_database_refuses_what_an_answer_cannot_be(visitor, session):
    visitor.submit("/q/1", preferred="left")
    response = session.scalars(select(StoredResponse)).one()
    table = TABLES.response
    session.execute(table.delete())
    session.commit()
    for values in (
        {"preferred": "both"},
        {"preferred": "equal", "strength": 1},
        {"preferred": "left", "strength": 4},
        {"preferred": "left", "satisfaction_left": 3},
        {"preferred": "left", "satisfaction_left": 6, "satisfaction_right": 5},
    ):
        with pytest.raises(IntegrityError):
            session.execute(insert(table).values(response_id=response.id, **values))
        session.rollback()


@pytest.mark.parametrize("changes", [{}, PICTURES, {**PICTURES, "depth": 1}, {"depth": 5}])
def test_the_practised_pair_has_matches_first_and_last_and_no_question_asks_it(changes):
    plan = a_preference_plan(**changes)
    questions = plan.draw_questions()
    pair = practice_pair(plan, questions)
    first, last = pair.source.documents.values()
    assert len(first) == len(last) <= plan.depth
    hits = [document in RELEVANT for document in first]
    assert hits == sorted(hits, reverse=True)
    assert hits[0]
    assert pair.lists["A"] == tuple(range(1, sum(hits) + 1))
    assert last[0] not in RELEVANT
    asked = [{*question.source.documents.values()} for question in questions]
    assert {first, last} not in asked
    assert {*pair.lists.values()} not in [{*question.lists.values()} for question in questions]


def test_a_pair_that_is_asked_is_not_practised():
    plan = a_preference_plan(**PICTURES)
    pair = practice_pair(plan, [])
    again = practice_pair(plan, [pair])
    assert again.source.documents != pair.source.documents
    assert practice_pair(plan, [pair, again]).source.documents != again.source.documents


# --- the pages -----------------------------------------------------------------------------


def test_both_lists_are_shown_and_the_answer_is_stored_by_side(visitor, session):
    shown = sides_on(visitor.page)
    assert sorted(shown) == [(1, 10, 11), (2, 3, 4)]
    visitor.submit("/q/1", preferred="right")
    left_list = session.scalars(select(TABLES.presentation.c.left_list)).first()
    assert session.scalars(select(TABLES.response.c.preferred)).all() == ["right"]
    session.rollback()
    letters = PreferencePresentation(left_list).sides
    assert shown[letters.index("A")] == (1, 10, 11)


def test_sides_are_dealt_anew_for_each_person_and_question(app, study):
    seen = set()
    for _ in range(6):
        visitor = a_participant(app)
        sides = []
        for position in range(1, 6):
            visitor.open(f"/q/{position}")
            sides.append(sides_on(visitor.page)[0])
            visitor.submit(f"/q/{position}", preferred="equal")
        seen.add(tuple(sides))
    assert len(seen) > 1  # 32 ways of dealing; six times the same has a chance of 3e-8


def test_what_is_missing_is_said_beside_what_was_chosen(app, session):
    a_preference_study(session, ask_strength=True, ask_satisfaction=True)
    visitor = a_participant(app)
    visitor.submit("/q/1")
    assert visitor.status == 400
    assert "Please choose one of the four answers." in visitor.text
    visitor.submit("/q/1", preferred="left", satisfaction_left="4")
    assert "Please say how much better the list is." in visitor.text
    assert "Please rate list 2." in visitor.text
    [chosen] = visitor.page.select("[name=satisfaction_left][checked]")
    assert chosen["value"] == "4"
    # A strength that does not belong to the answer is left out.
    visitor.submit(
        *("/q/1",), preferred="equal", strength="3", satisfaction_left="4", satisfaction_right="4"
    )
    stored = session.execute(select(TABLES.response)).one()
    session.rollback()
    assert (stored.preferred, stored.strength, stored.satisfaction_right) == ("equal", None, 4)


def test_an_answer_is_changed_reviewed_and_handed_in(visitor, session, study):
    answered(visitor)
    assert visitor.path == "/review"
    assert [cell.text.strip() for cell in visitor.page.select(".review td:nth-child(2)")] == [
        "List 1"
    ] * 5
    visitor.open("/q/2")
    assert visitor.page.select_one("[name=preferred][checked]")["value"] == "left"
    visitor.submit("/q/2", preferred="neither")
    visitor.submit("/review")
    assert visitor.page.select_one(".receipt")
    assert len(session.execute(TABLES.revision.select()).all()) == 6


def test_a_form_from_before_a_change_elsewhere_is_refused(visitor):
    old = {each["name"]: each["value"] for each in visitor.form("/q/1").select("[type=hidden]")}
    visitor.submit("/q/1", preferred="left")
    visitor.open("/q/1")
    visitor.submit("/q/1", preferred="equal")
    visitor.post("/q/1", **old, preferred="right")
    assert visitor.status == 409
    assert "Saved there is: Equally good." in visitor.text


def test_the_review_and_ones_own_data_show_all_of_an_answer(app, session):
    a_preference_study(session, ask_strength=True, ask_satisfaction=True)
    visitor = a_participant(app)
    chosen = {"strength": "2", "satisfaction_left": "4", "satisfaction_right": "1"}
    for position in range(1, 6):
        visitor.submit(f"/q/{position}", preferred="left", **chosen)
    words = "List 1, clearly; satisfied with list 1: 4 of 5, with list 2: 1 of 5"
    for path in ("/review", "/my-data"):
        visitor.open(path)
        assert visitor.text.count(words) == 5
        assert "Ordering, best first" not in visitor.text


def test_own_data_hold_what_was_shown_and_erasing_takes_it(visitor, session):
    shown = sides_on(visitor.page)
    answered(visitor, 1, preferred="right")
    data = visitor.client.get("/s/preferred/my-data.json").json
    first = data["questions"][0]
    assert [tuple(first[side]["positions"]) for side in ("left", "right")] == shown
    assert first["answers"][0]["preferred"] == "right"
    assert not any(run in json.dumps(data) for run in ("alpha", "beta", "red-0"))
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    for table in TABLES.all:
        assert session.execute(table.select()).all() == []


@pytest.mark.parametrize("marked", [False, True])
def test_no_page_tells_run_document_or_relevance(app, session, marked):
    study = a_preference_study(
        session, show_items=True, show_positions=False, mark_relevant=marked, shuffle_questions=True
    )
    visitor = a_participant(app)
    shown = collection.shown(session, study).documents
    documents = {name: document for document, (name, _) in shown.items()}
    session.rollback()
    for position in range(1, 6):
        visitor.open(f"/q/{position}")
        html = str(visitor.page)
        for secret in (*ORDERS["1"], *documents.values(), "qrels"):
            assert secret not in html
        assert ("✓" in html) == marked
        left, right = visitor.page.select(".side")
        # But for numbers and pictures both sides have the same markup.
        for side in (left, right):
            for image in side.select("img"):
                assert image["alt"].startswith("result ")
                assert (image["width"], image["height"]) == ("76", "76")
        if not marked:
            assert len({str(each.attrs) for each in visitor.page.select(".side li")}) == 1
        orders = [
            [documents[image["src"].rpartition("/")[2][:-5]] for image in side.select("img")]
            for side in (left, right)
        ]
        known = [[*each.values()] for each in ORDERS.values()]
        assert any(sorted(o[:10] for o in each) == sorted(orders) for each in known)
        visitor.submit(f"/q/{position}", preferred="left")


def test_a_bot_without_noise_finds_lists_of_equal_value_equally_good():
    page = LexborHTMLParser(
        '<form><input name="preferred"><p class="side"><b class="rank">1</b></p>'
        '<p class="side"><b class="rank">2</b></p></form>'
    )
    plan = SimpleNamespace(show_items=False, ask_strength=False, ask_satisfaction=False)
    chance = np.random.default_rng(1)
    for difference, chosen in ((0, "equal"), (0.1, "left"), (-0.1, "right")):
        leaning = Leaning("AP", 0.0, {(("1",), ("2",)): difference}, Sight({}))
        bot = PreferenceBot()
        answers = [
            bot.respond(page.css_first("form"), plan, leaning, chance)["preferred"]
            for _ in range(20)
        ]
        assert chosen in answers
        assert {*answers} <= {chosen, "neither"}


def test_steps_of_another_question_do_not_fit_the_answers():
    record = Record("P-1", 1, 1, GroupingPresentation(0), Done(1), *[None] * 6)
    steps = [("P-1", 2, None)]
    answers = StepAnswers(KINDS["grouping"], lambda: iter([record]), lambda: iter(steps))
    with pytest.raises(StepsError):
        list(answers.states())


def test_after_a_try_a_measure_is_better_for_a_side_or_finds_both_equal():
    rankings = {"AP": Ranking.parse("A>B"), "RR": Ranking.parse("A=B")}
    content = SimpleNamespace(
        question=lambda _: SimpleNamespace(rankings=rankings),
        include_test=False,
        counted=lambda _: [],
    )
    drawn, answer = PreferencePresentation("B"), PreferenceAnswer("left")
    sheet = StudyAnswers(KINDS["preference"], lambda: iter(())).tried_sheet(
        content, 1, drawn, answer
    )
    assert sheet.rows[:2] == (("AP", "", "better", "", ""), ("RR", "", "", "equal", ""))


# --- bundle, import, results ----------------------------------------------------------------


@pytest.fixture
def closed(app, session):
    return preferred(app, session)


def test_the_bundle_has_the_agreed_columns_and_replicates(session, closed):
    files = exported(session, closed)
    rows = rows_of(files, "preferences.csv")
    assert [*rows[0]][:10] == [
        *("study", "participant", "question", "topic", "left", "right", "preferred", "strength"),
        *("reason", "satisfaction_left"),
    ]
    assert [row["preferred"] for row in rows] == ["left", "right", "equal", "neither", "left"]
    assert [row["strength"] for row in rows] == ["2", "2", "", "", "2"]
    assert {row["reason"] for row in rows} == {"'=so"}
    assert {frozenset((row["left"], row["right"])) for row in rows} == {
        frozenset(("alpha", "beta"))
    }
    questions = rows_of(files, "questions.csv")
    assert [*questions[0]] == [
        *("question", "list", "ranks", "collection_size", "topic", "run", "documents")
    ]
    study = json.loads(files["study.json"])
    assert [each["name"] for each in study["sources"]] == ["qrels.txt", "alpha.txt", "beta.txt"]
    assert study["selection"].startswith("all 6 pairs")
    assert json.loads(files["analysis.json"])["selection"] == study["selection"]
    checks = [*replicate(files)]
    assert any(each.startswith("the pairs are selected again: all 6 pairs") for each in checks)


def test_positions_are_recomputed_from_judgements_and_runs(session, closed):
    files = exported(session, closed)
    runs = [a_run("beta"), a_run("alpha")]
    checks = [*replicate(files, SourceFiles(a_qrels(), runs))]
    assert "the positions of 6 topics come out of 2 runs and judgements again" in checks
    other = a_run("alpha")._replace(text=a_run("alpha").text.replace("red-1 10 2", "red-1 10 99"))
    with pytest.raises(BundleError, match="topic 1, run alpha"):
        [*replicate(files, SourceFiles(a_qrels(), [a_run("beta"), other]))]
    alien = text_file("alien.txt", ["77 0 red-1 1", "1 0 red-1 1"])
    with pytest.raises(BundleError) as caught:
        [*replicate(files, SourceFiles(alien, runs))]
    assert str(caught.value) == (
        "alien.txt judges nothing for 5 of the study's 6 topics, first '2'; the study's own file "
        "is needed"
    )


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        (
            "preferences.csv",
            ",left,2,",
            ",both,2,",
            "'both' found; allowed: left, right, equal, neither",
        ),
        (
            "preferences.csv",
            ",left,2,",
            ",left,,",
            "this study asks for one where preferred is left or right",
        ),
        ("preferences.csv", ",alpha,", ",gamma,", "left and right are the runs alpha and beta"),
        ("questions.csv", "2 3 4", "2 3 5", "the plan selects a pair with other lists"),
        ("questions.csv", "red-0 green", "red-1 green", "selects a pair with other source"),
    ],
)
def test_a_changed_bundle_does_not_replicate(session, closed, name, old, new, fault):
    files = dict(exported(session, closed))
    assert old in files[name].decode()
    files[name] = files[name].decode().replace(old, new, 1).encode()
    sums = {each: bundle.sha256_of(content) for each, content in files.items()}
    del sums["SHA256SUMS"]
    files["SHA256SUMS"] = bundle.sums_text(sums).encode()
    with pytest.raises(BundleError, match=re.escape(fault)):
        [*replicate(files)]


@ON_SQLITE
def test_texts_of_a_few_lines_are_shown_and_longer_ones_are_a_link_away(app, session):
    texts = {each: f"{each}, described in a few lines. " * 2 for each in DOCUMENTS}
    texts["red-1"] *= 25
    a_preference_study(session, texts=texts, show_items=True, show_positions=False)
    visitor = a_participant(app)
    visitor.open("/q/1")
    cards, links = visitor.page.select(".results .text"), visitor.page.select("a.more")
    assert len(cards) == len(visitor.page.select(".results > li")) > 2
    assert all("red-1" in link.parent.text for link in links)
    assert len(links) == sum("red-1" in card.text for card in cards) > 0
    assert visitor.client.get(links[0]["href"]).text.count("red-1, described") == 50


@pytest.mark.slow
@ON_SQLITE
@pytest.mark.parametrize("shown", ["positions", "pictures", "texts"])
def test_bots_answer_by_a_measures_difference(app, session, shown):
    changes = {"ask_strength": True, "ask_satisfaction": True}
    if shown != "positions":
        changes |= {"show_items": True, "show_positions": False}
    if shown == "texts":
        texts = {each: f"{each}, {'which is  said at length & <so> on ' * 3}" for each in DOCUMENTS}
        changes["texts"] = {**texts, "blue-0": "short", "blue-1": "the same", "blue-2": "the same"}
    study = a_preference_study(session, "bots", **changes)
    plan = study.plan
    known = collection.shown(session, study)
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/bots?test={tokens.test_run_token(KEY, 'bots')}"
        simulate(entry, plan, 4, preferences_for(plan, "RR:0.01", known), seed=1)
    session.rollback()
    lifecycle.close_study(session, study)
    figures = analyse_stored(session, study, AnalysisOptions(include_test=True)).as_json()
    assert sum(figures["answers"].values()) == 20
    content = b"".join(bundle.stream_bundle(session, study, include_test=True))
    files = open_files(io.BytesIO(content), "bots.zip")
    values = {
        (row["question"], row["run"]): row["ranks"].split()[0]
        for row in rows_of(files, "questions.csv")
    }
    for row in rows_of(files, "preferences.csv"):
        if row["preferred"] in ("left", "right"):
            first = {side: int(values[row["question"], row[side]]) for side in ("left", "right")}
            assert min(first, key=first.get) == row["preferred"]


def results_of(preferred, people=12, **more):
    """Results of the measure AP alone; ``preferred``: of each question in turn, by all alike."""
    plan = a_preference_plan(measures=["AP"])
    judgements = [
        Judgement(f"P{who}", number, letter, "left", None, {})
        for who in range(people)
        for number, letter in enumerate(preferred, 1)
    ]
    return PreferenceResults(plan, plan.draw_questions(), judgements, **more)


@pytest.mark.parametrize(
    ("preferred", "people", "headline"),
    [  # AP prefers list B in questions 1 and 3, list A in the others
        (
            "BABAA",
            12,
            "AP agrees with 100 % of people's preferences, and this holds for these 5 questions "
            "alone.",
        ),
        (
            "ABABB",
            12,
            "AP goes against people: it agrees with 0 % of people's preferences, and this holds "
            "for these 5 questions alone.",
        ),
        ("BABAA", 4, "AP agrees with 100 % of people's preferences, which is not beyond chance."),
        (
            ["equal", "neither"],
            4,
            "Nothing says whether AP agrees with people: no answer prefers a list.",
        ),
    ],
)
def test_a_measure_alone_agrees_goes_against_people_or_says_nothing(preferred, people, headline):
    assert results_of(preferred, people).measures_headline == headline


@pytest.mark.parametrize(
    ("preferred", "people", "headline"),
    [
        ("BABAA", 12, "In these 5 questions people preferred alpha to beta."),
        ("ABABB", 12, "In these 5 questions people preferred beta to alpha."),
        ("BABAA", 4, "The answers do not show which system people prefer."),
        (["equal", "neither"], 4, "The answers do not show which system people prefer."),
    ],
)
def test_which_run_people_prefer_is_answered_first(preferred, people, headline):
    results = results_of(preferred, people)
    assert results.headline == headline
    reach = "Only for these questions" if "In these" in headline else "Not decided"
    assert results.chip.text == reach


def test_the_first_screen_has_counts_and_what_people_agree_on():
    results = results_of("BABAA")
    assert [str(row) for row in results.rows] == [
        "alpha over beta: +20 points. Of 100 answers 60 prefer alpha, 40 beta, 0 no list.",
        "People with one another: two who prefer a list prefer the same one in 100 of 100 cases "
        "(beyond chance: 1.00).",
    ]
    assert results.rows_note == (
        "95 % intervals. Beyond chance: 2P − 1, P the share of such cases; 0 is chance, 1 always "
        "the same."
    )
    assert "of 100 answers, how many more prefer the first system" in results.lead.note
    text = results.answer_text
    assert "n: 12 participants · 5 questions · 2 systems · 60 answers." in text
    assert "Correction: none, one pair" in text
    assert f"ranking-survey {__version__}" in text
    assert "Krippendorff" not in " ".join(sheet.note + sheet.title for sheet in results.sheets)


def test_each_folded_part_tells_its_number():
    for section in results_of("BABAA").sections:
        assert re.search(r"\d", section.gist), section.title


def test_no_note_takes_peoples_agreement_for_an_upper_bound_of_a_measure():
    of_three = analyse_preferences(
        [Answer(name, 1, sign) for name, sign in (("P1", 1), ("P2", 1), ("P3", -1))],
        [PairOfLists(1, {"AP": 1.0})],
        ["AP"],
    )
    assert of_three.people.others == pytest.approx(
        1 / 3
    )  # two see one of either side, one sees two
    assert of_three.measures[0].share == pytest.approx(2 / 3)
    [note] = [each.note for each in results_of("BABAA").sheets if each.name == "people"]
    assert "ceiling" not in note
    assert "It is no upper bound for a measure" in note


def test_the_table_of_measures_says_that_its_p_are_corrected():
    [note] = [each.note for each in results_of("BABAA").sheets if each.name == "measures"]
    assert "p is corrected for the number of measures (Holm)" in note


def test_one_person_is_singular_and_half_wins_have_one_decimal():
    alone = results_of(["equal", "B", "A"], people=1)
    [answers] = [each for each in alone.sheets if each.name == "answers"]
    assert answers.note.startswith("1 person. Sides are dealt by chance.")
    [runs] = [each for each in alone.sheets if each.name == "runs"]
    printed = printed_table(runs)
    assert sorted(row[1] for row in printed.rows[:2]) == ["1.5", "1.5"]


def test_tau_b_has_a_table_of_its_own_and_of_two_runs_none():
    two = results_of("BABAA")
    assert two.as_json()["bradley_terry"]["tau_b"] == {"AP": pytest.approx(1)}
    assert "run-orders" not in [each.name for each in two.sheets]
    assert "run-strengths" not in [each.name for each in two.exhibits]
    plan = a_plan_of_random_runs()
    questions = plan.draw_questions()
    judgements = [
        Judgement(f"P{who}", each.number, "AB"[(who * each.number) % 3 > 0], "left", None, {})
        for who in range(5)
        for each in questions
    ]
    three = PreferenceResults(plan, questions, judgements)
    [orders] = [each for each in three.sheets if each.name == "run-orders"]
    assert [tau for _, tau in orders.rows] == [*three.tau.values()]
    [runs] = [each for each in three.sheets if each.name == "runs"]
    assert {row[0] for row in runs.rows} == {*plan.runs}
    [strengths] = [each for each in three.exhibits if each.name == "run-strengths"]
    assert [row[:2] for row in strengths.rows] == [(row[0], row[3]) for row in runs.rows]


def test_planned_looks_leave_less_than_a_twentieth_and_are_printed(app, session):
    assert "not beyond chance" in results_of("BABAA", level=0.0001).measures_headline
    study = a_preference_study(session, looks=[1], participants=12)
    visitor = a_participant(app)
    for position in range(1, 6):
        visitor.submit(f"/q/{position}", preferred="left")
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, study)
    # How many sentences come before it depends on which run was on the left.
    looks = analyse_stored(session, study, AnalysisOptions()).early_looks
    assert looks.startswith("Looks were planned")
    assert re.fullmatch(r".*, so a corrected test decides below p = \.0+\d+\.", looks)


@pytest.mark.parametrize("text", ["P@10:0.2", "AP:", "AP:x", ":1"])
def test_an_impossible_preference_of_bots_is_refused(text):
    with pytest.raises(SurveyError, match=r"write one of AP, RR and the noise"):
        preferences_for(a_preference_plan(), text)


@pytest.mark.parametrize("page", ["", "/plan", "/check", "/progress", "/preview/A/question/2"])
def test_each_page_of_its_researcher_is_shown(app, session, study, page):
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open(f"/research/studies/preferred{page}")
    assert desk.status == 200, desk.text
    if page == "/check":
        assert "Pairs: all 6 pairs of 2 runs for 6 topics" in desk.text
        assert "AP and RR contradict each other on 4 of 5 pairs" in desk.text


def test_the_bar_of_a_preview_chooses_the_list_at_the_left(app, session, study):
    desk = Desk(app, session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    preview = "/research/studies/preferred/preview"
    desk.open(f"{preview}/")
    assert desk.page.select_one("label[for=labels]").text == "List at the left"
    assert "Method 1" not in desk.page.select_one("#labels-help").text
    field = desk.page.select_one("#labels")
    assert (field["value"], field.get("pattern"), field.get("maxlength")) == ("A", None, None)
    desk.open(f"{preview}/?labels=B")
    assert desk.address == f"{preview}/B/entry"
    desk.open(f"{preview}/?labels=C")
    assert desk.status == 404
    assert "allowed is A, B" in desk.text


def test_a_preview_shows_either_list_at_the_left():
    plan = a_preference_plan()
    task = kind_of(plan)
    question = plan.draw_questions()[0]
    for letter in LIST_LETTERS:
        drawn = task.draw_variant(plan, question, letter)
        assert drawn.left_list == letter
    with pytest.raises(ValueError, match="allowed is A, B"):
        task.draw_variant(plan, question, "C")
    assert task.describe_answer(PreferenceAnswer("equal")) == {"preferred": "equal"}


def test_results_say_what_the_answers_support_in_sentences_and_tables(app, session, closed):
    desk = Desk(app, session)
    accounts.share(session, closed, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    desk.open("/research/studies/preferred/results")
    assert desk.status == 200, desk.text
    for text in (
        "Pairs: all 6 pairs of 2 runs for 6 topics",
        "The preferences do not decide between RR and AP",
        "How often each measure agrees with a preference",
        "By the size of the measure's difference",
        "By how much better people find the list",
        "Measures compared on the same preferences",
        "Runs, by people and by measures",
        "equally good and neither good count as half a win",
    ):
        assert text in desk.text
    answer = desk.page.select_one(".answer").text
    assert "The answers do not show which system people prefer" in answer
    assert "1 participant · 5 questions · 2 systems · 5 answers" in answer
    shows_its_figures_as_files(desk)
    content = desk.client.get("/research/studies/preferred/results/paper.zip").data
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        assert {"verdicts.txt"} < {*files.namelist()}


def test_figures_are_those_of_the_answers(session, closed):
    figures = analyse_stored(session, closed, AnalysisOptions()).as_json()
    session.rollback()
    assert figures["answers"] == {"left": 2, "right": 1, "equal": 1, "neither": 1}
    assert figures["n"] == {"participants": 1, "questions": 5, "answers": 5, "preferring": 3}
    for each in figures["measures"]:
        assert each["agree"] + each["against"] + each["tied"] == 3
        # All three were called clear; their table adds up to that of the measure.
        slight, clear, strong = each["by_strength"]
        why = {"why": "no preference counts that the measure does not tie"}
        assert slight == {"strength": 1, "agree": 0, "against": 0, "tied": 0, "share": None} | why
        assert strong == {**slight, "strength": 3}
        assert clear == {"strength": 2, **{key: each[key] for key in (*SUMS, "share")}}
        assert each["undecided"] == 2
    runs = {each["run"]: each for each in figures["bradley_terry"]["runs"]}
    assert runs["alpha"]["wins"] + runs["beta"]["wins"] == 5
    # Each list had 4 at the left and 1 at the right; both runs together have the mean of these.
    assert runs["alpha"]["satisfaction"] + runs["beta"]["satisfaction"] == pytest.approx(5)
    assert runs["alpha"]["means"]["RR"] == pytest.approx((1 + 0.5 + 1 + 0.5 + 1 + 1) / 6)


def test_a_draft_is_made_in_the_browser_of_judgements_and_runs(app, session):
    desk = Desk(app, session)
    new = "/research/new"

    def uploaded(*names):
        texts = {"qrels": a_qrels().text, **{name: a_run(name).text for name in ("alpha", "beta")}}
        return [a_file(texts[name], f"{name}.txt") for name in names]

    desk.open(new)
    desk.send(new, start="preference", slug="better", files={"judgements": uploaded("qrels")})
    assert desk.status == 400
    assert "Choose at least two runs. No study was made." in desk.text
    for size, contrast, fault in (
        ("many", "", "'many' found; how many documents the runs searched"),
        ("12", "AP, XY", "XY"),
    ):
        files = {"judgements": uploaded("qrels"), "runs": uploaded("alpha", "beta")}
        asked = {"collection_size": size, "contrast": contrast}
        desk.send(new, start="preference", slug="better", files=files, **asked)
        assert desk.status == 400
        assert fault in desk.text
    files = {"judgements": uploaded("qrels"), "runs": uploaded("alpha", "beta")}
    asked = {"collection_size": "12", "contrast": "AP, RR", "show_items": "y", "language": "el"}
    desk.send(new, start="preference", slug="better", files=files, **asked)
    assert desk.status == 200, desk.text
    plan = lifecycle.find_study(session, "better").plan
    session.rollback()
    assert (plan.kind, plan.language, plan.questions) == ("preference", "el", 4)
    assert (plan.contrast, plan.measures, plan.show_items) == (("AP", "RR"), ("AP", "RR"), True)
    assert plan.question_text == "Ποια λίστα θα προτιμούσατε;"


def told(visitor):
    """A page and its headers, but for random names: each is numbered by its first occurrence."""
    names: dict[str, str] = {}
    html = re.sub(
        r'(?:value="[\w.-]{20,}"|data-keep="[\w.-]+"|[\w-]{16,}\.webp|'
        r'<strong class="code">.*?</strong>)',
        lambda found: names.setdefault(found[0], f"name {len(names)}"),
        str(visitor.page),
    )
    return html.replace(visitor.home, "/s/STUDY")


@pytest.mark.parametrize("marked", [False, True])
def test_twin_studies_that_differ_in_what_is_hidden_have_the_same_pages(
    app, session, monkeypatch, marked
):
    """Run names, documents' ids and which run is at the left change nothing; marks do."""
    shown = {"show_items": True, "show_positions": False, "mark_relevant": marked}
    pages = {}
    for slug, left in (("one-study", "A"), ("two-study", "B")):
        monkeypatch.setattr(
            PreferenceKind, "draw", lambda *_, left=left: PreferencePresentation(left)
        )
        if slug == "two-study":
            # The same pictures under other ids; the other run first; other documents relevant.
            ids = {each: f"x-{each}" for each in preferred_module.DOCUMENTS}
            orders = {
                topic: {
                    "gamma": [ids[each] for each in runs["beta"]],
                    "delta": [ids[each] for each in runs["alpha"]],
                }
                for topic, runs in ORDERS.items()
            }
            relevant = [ids[each] for each in ("green-0", "blue-2", "red-2")]
            monkeypatch.setattr(preferred_module, "ORDERS", orders)
            monkeypatch.setattr(preferred_module, "RELEVANT", relevant)
            monkeypatch.setattr(preferred_module, "RUNS", ("gamma", "delta"))
            monkeypatch.setattr(preferred_module, "PREFIX", "x-")
        a_preference_study(session, slug, **shown)
        visitor = a_participant(app, slug)
        pages[slug] = []
        for position in range(1, 6):
            visitor.open(f"/q/{position}")
            pages[slug].append((told(visitor), visitor.status))
            visitor.submit(f"/q/{position}", preferred="left")
    assert (pages["one-study"] == pages["two-study"]) != marked


@ON_SQLITE
@pytest.mark.parametrize(
    ("answer", "is_asked"),
    [
        (("left", "2", "4"), True),
        (("right", "5", "1"), True),
        (("left", "4", "2"), False),
        (("left", "3", "3"), False),
        (("equal", "1", "5"), False),
        (("neither", "5", "1"), False),
    ],
)
def test_a_preference_for_the_list_that_satisfies_less_is_asked_about_once(
    app, session, answer, is_asked
):
    study = a_preference_study(session, ask_satisfaction=True)
    visitor = a_participant(app)
    names = ("preferred", "satisfaction_left", "satisfaction_right")
    fields = dict(zip(names, answer, strict=True))
    visitor.submit("/q/1", **fields)
    assert visitor.path == ("/q/1" if is_asked else "/q/2")
    assert bool(visitor.page.select(".asks")) == is_asked
    if is_asked:
        checked = {each["name"]: each["value"] for each in visitor.page.select("[checked]")}
        assert checked == fields
        visitor.submit("/q/1", **fields)
    assert visitor.path == "/q/2"
    session.rollback()
    [heading, row] = "".join(bundle.stream_file(session, study, "preferences.csv")).splitlines()
    cells = dict(zip(heading.split(","), row.split(","), strict=True))
    assert cells["preferred"] == answer[0]  # never converted
    assert (cells["asked"], cells["contradicts"]) == (
        ("satisfaction", "yes") if is_asked else ("", "no")
    )
    # Asked once for good: also after the answer was changed, and changed back.
    for changed in (("equal", "3", "3"), answer) if is_asked else ():
        visitor.open("/q/1")
        visitor.submit("/q/1", **dict(zip(names, changed, strict=True)))
        assert visitor.path == "/q/2"
        session.rollback()
        [heading, row] = "".join(bundle.stream_file(session, study, "preferences.csv")).splitlines()
        cells = dict(zip(heading.split(","), row.split(","), strict=True))
        assert (cells["preferred"], cells["asked"]) == (changed[0], "satisfaction")
    session.rollback()
    figures = analyse_stored(session, study, AnalysisOptions()).as_json()
    asked = {"asked": int(is_asked), "kept": int(is_asked), "changed": 0}
    assert figures["asked_back"] == {"satisfaction": asked}


@ON_SQLITE
def test_a_preference_that_was_changed_after_it_was_asked_about_says_so(app, session):
    study = a_preference_study(session, ask_satisfaction=True)
    visitor = a_participant(app)
    fields = {"preferred": "left", "satisfaction_left": "1", "satisfaction_right": "4"}
    visitor.submit("/q/1", **fields)
    visitor.submit("/q/1", **{**fields, "preferred": "right"})
    session.rollback()
    figures = analyse_stored(session, study, AnalysisOptions()).as_json()
    assert figures["asked_back"] == {"satisfaction": {"asked": 1, "kept": 0, "changed": 1}}


def test_runs_that_no_strengths_fit_have_a_lead_all_the_same():
    found = results_of("AAAAA", people=8)
    assert found.strengths.theta is None
    assert found.headline == "In these 5 questions people preferred alpha to beta."
    assert str(found.rows[0]) == (
        "alpha over beta: +100 points. Of 100 answers 100 prefer alpha, 0 beta, 0 no list."
    )
    assert found.measures_headline in [each.text for each in found.sentences]


def test_measures_in_another_notation_are_held_by_their_names():
    notation = ["Compat(p=0.9)", "RR"]
    plan = a_preference_plan(
        measures=notation, selection="discriminative", contrast=notation, questions=2
    )
    assert plan.measures == ("RR", "Compat-p0.9")
    assert plan.contrast == ("Compat-p0.9", "RR")
