"""Attention checks: asked, judged, left out of the results, and whom they flag."""

import json
from random import Random
from types import SimpleNamespace

import pytest

import tests.grouped
from survey import tokens
from survey.cli.planning import local_server
from survey.core.kinds import KINDS
from survey.core.studies.fields import PlanError
from survey.db.models import Participant, Presentation
from survey.errors import SurveyError
from survey.kinds.grouping.plan import is_again
from survey.kinds.labelling.checks import are_right, checks_of
from survey.kinds.labelling.plan_files import Gold
from survey.services import accounts
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import analyse_stored
from survey.services.exchange.bundle_reader import replicate
from survey.services.exchange.input_files import BundleError
from survey.services.participation.participant_list import list_participants
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle
from survey.services.studies.plans import from_trec, parse_plan
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, Visitor
from tests.databases import ON_SQLITE
from tests.grouped import Assessor, a_grouping_plan, grouped
from tests.labelled import DOCUMENTS, labelled
from tests.preferred import PLAN, as_pairs, text_file
from tests.services.exchange.changes import (
    OF_THE_ADDRESS,
    described,
    readdressed,
    rows_of,
    with_cell,
    with_rows,
)
from tests.services.exchange.conftest import handed_out
from tests.web.conftest import desk

__all__ = ["desk"]  # for these tests too

TOPICS = ("cats", "dogs", "owls", "cows")
BOTH = {"asked_again": 1, "other_topic": True}


def lists_of_topics():
    """Two runs whose lists of a topic have documents of this topic alone; its first is a match."""
    runs = []
    for name, order in (("alpha", (0, 1, 2)), ("beta", (1, 0, 2))):
        lines = [
            f"{topic} Q0 {topic}-{each} {rank} {9 - rank} {name}"
            for topic in TOPICS
            for rank, each in enumerate(order, 1)
        ]
        runs.append(text_file(f"{name}.txt", lines))
    qrels = text_file("qrels.txt", [f"{topic} 0 {topic}-0 1" for topic in TOPICS])
    return from_trec(qrels, runs, collection_size="12", missing_last=True, paired=True)


def a_plan(**changes):
    values = {**PLAN, "depth": 3, "questions": 4, **BOTH, **changes}
    return parse_plan({**values, **as_pairs(lists_of_topics(), values), **changes})


def an_open_study(session, **changes):
    plan = a_plan(**changes)
    study = lifecycle.create_owned_study(session, None, "checked", plan, Recruitment())
    lifecycle.open_study(session, study, anyway="tests may show nothing")
    session.rollback()
    return study


def take_part(app, session, choose):
    """Answer all questions; ``choose``: number and letters from the left → what to prefer."""
    visitor = Visitor(app.test_client(), "checked")
    visitor.go("/q/1")
    session.rollback()
    person = session.query(Participant).order_by(Participant.id.desc()).first()
    table = KINDS["preference"].tables.presentation
    rows = session.query(Presentation).filter_by(participant_id=person.id).all()
    lefts = {row[0]: row.left_list for row in session.execute(table.select())}
    asked = {row.position: (row.question.number, lefts[row.id]) for row in rows}
    public_id = person.public_id
    session.rollback()
    for position in range(1, 7):
        number, left = asked[position]
        visitor.submit(f"/q/{position}", preferred=choose(number, left))
    visitor.submit("/review")
    return public_id, asked


def carefully(number, left):
    """Prefer list A, which is of the first run, or of the own topic."""
    return "left" if left == "A" else "right"


def at_the_left(number, left):
    return "left"


def test_checks_come_at_random_places_and_a_repeated_pair_after_another_one():
    plan, orders = a_plan(), set()
    for seed in range(200):
        order = plan.arrange(range(1, 5), Random(seed))
        assert sorted(order) == [1, 2, 3, 4, 5, 6]
        assert order.index(5) > 0
        assert order.index(6) >= order.index(1) + 2
        orders.add(tuple(order))
    assert len(orders) > 10


def test_a_list_of_another_topic_has_no_document_of_its_own():
    *_, other, again = a_plan().draw_questions()
    own, strange = (other.source.documents[letter] for letter in "AB")
    assert {each.split("-")[0] for each in own} == {other.source.topic}
    assert other.source.topic not in {each.split("-")[0] for each in strange}
    assert other.lists["A"] < other.lists["B"] == (12,)
    assert again.lists == a_plan().draw_questions()[0].lists
    assert {*other.source.runs.values()} == {"alpha", "beta"}


def test_a_plan_without_checks_is_stored_as_before():
    plan = a_plan(asked_again=None, other_topic=False)
    assert not {"asked_again", "other_topic"} & plan.as_json().keys()
    assert (plan.checks, plan.controls, plan.asked) == ((), (), 4)
    checked = a_plan()
    assert {"asked_again", "other_topic"} <= checked.as_json().keys()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"asked_again": 3}, "1 to 2 are allowed"),
        ({"asked_again": 5, "shuffle_questions": True}, "1 to 4 are allowed"),
    ],
)
def test_a_pair_that_cannot_come_again_is_refused(changes, fault):
    with pytest.raises(PlanError, match=fault):
        a_plan(**changes)


@ON_SQLITE
def test_careless_people_are_flagged_and_checks_are_in_no_count(app, session):
    study = an_open_study(session)
    careful, asked = take_part(app, session, carefully)
    lefts = dict(asked.values())
    assert lefts[1] != lefts[6]  # the sides are swapped
    careless, _ = take_part(app, session, at_the_left)
    session.rollback()
    watch = list_participants(session, study)
    listed = {row.participant.public_id: row for row in watch.counted.shown}
    assert listed[careful].attention == "2 of 2 attention checks right"
    assert not listed[careful].is_flagged
    assert listed[careless].is_flagged
    assert listed[careless].attention in (
        "1 of 2 attention checks right",
        "0 of 2 attention checks right",
    )
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions())
    assert sum(results.as_json()["answers"].values()) == 8
    assert results.attention.flagged == {careless}
    assert results.repeated.startswith("Without the 1 flagged participant")
    assert "1 of 2 participants fails an attention check." in str(results.attention_sections)
    without = analyse_stored(session, study, AnalysisOptions(exclude_flagged=True))
    assert [*without.participants] == [careful]
    assert without.left_out_words == "Left out: 0 excluded, 0 test participants, 1 flagged."
    assert without.headline == results.repeated.partition(": ")[2]
    with pytest.raises(SurveyError, match="--include-test and --exclude-flagged only"):
        analyse_stored(session, study, AnalysisOptions(ties="split", exclude_flagged=True))


@ON_SQLITE
def test_pages_say_who_is_flagged_and_leave_them_out_when_asked(app, session, desk):
    study = an_open_study(session)
    accounts.share(session, study, accounts.find_researcher(session, "Ada"), "owner")
    session.commit()
    people = [take_part(app, session, choose)[0] for choose in (carefully, at_the_left)]
    session.rollback()
    desk.open("/research/studies/checked/progress")
    rows = {row.th.get_text(): row.td.get_text(" ") for row in desk.page.select("tbody tr")}
    assert "2 of 2 attention checks right" in rows[people[0]]
    assert "flagged" not in rows[people[0]]
    assert rows[people[1]].endswith(" flagged")
    session.rollback()
    lifecycle.close_study(session, study)
    desk.open("/research/studies/checked/results")
    assert "1 participant flagged" in desk.text
    assert "Of 100 people who answer at random about 22 would pass all." in desk.text
    assert "Without the 1 flagged participant" in desk.page.select_one("#attention").text
    [link] = [each["href"] for each in desk.page.select("a") if "unflagged" in each["href"]]
    desk.open(link)
    assert "1 participant " in desk.page.select_one(".answer .counts").text


@ON_SQLITE
def test_a_bundle_with_checks_replicates(app, session):
    study = an_open_study(session)
    for choose in (carefully, at_the_left):
        take_part(app, session, choose)
    session.rollback()
    lifecycle.close_study(session, study)
    files = handed_out(session, study)
    roles = [row["role"] for row in rows_of(files, "questions.csv")][::2]
    assert roles == [*["counted"] * 4, "other-topic", "repeated"]
    assert {row["question"] for row in rows_of(files, "long.csv")} == {"1", "2", "3", "4"}
    assert len(rows_of(files, "preferences.csv")) == 12
    people = rows_of(files, "participants.csv")
    assert sorted(row["flagged"] for row in people) == ["0", "1"]
    assert {row["checks_asked"] for row in people} == {"2"}
    checks = json.loads(files["analysis.json"])["attention"]["checks"]
    by_name = {each["check"]: each for each in checks}
    assert by_name["repeated"]["flagged"] == 1
    assert (by_name["repeated"]["right_by_chance"], by_name["repeated"]["answers"]) == (0.875, 2)
    assert by_name["other-topic"]["pass_by_chance"] == 0.25
    assert [*replicate(files)]
    row = 2 + [each["flagged"] for each in people].index("1")
    changed = with_cell(files, "participants.csv", row, "flagged", "0")
    with pytest.raises(BundleError, match=r"column flagged.*recomputed '1'"):
        [*replicate(changed)]
    older = described(with_rows(files, "participants.csv", without_columns))
    assert [*replicate(older)]
    assert_copied(session, study)


def assert_copied(session, study):
    """Replicate a study's bundle, and import it as one that has the same files."""
    files = handed_out(session, study)
    session.rollback()
    assert [*replicate(files)]
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "done.zip", "again", ada)
    assert copy.digest == study.digest
    again = readdressed(handed_out(session, copy), files)
    for name in files.keys() - OF_THE_ADDRESS:
        assert again[name] == files[name], name


def without_columns(rows):
    for row in rows:
        del row["flagged"], row["checks_right"], row["checks_asked"]


def pairs_known(*hows):
    """Of topic 5: two red documents, and a red and a green one."""
    both = zip(("red-1", "green-1"), hows, strict=True)
    return [["5", "red-0", other, how] for other, how in both]


@pytest.mark.parametrize(
    ("pairs", "fault"),
    [
        ([["5", "red-0", "red-1"]], "known_pairs cannot be read"),
        ("red", "known_pairs cannot be read"),
        ([["5", "red-0", "red-1", "near"]], "'near' found; together or apart is allowed"),
        ([["5", "red-0", "red-9", "apart"]], "not of this topic: red-9"),
        ([["7", "red-0", "red-0", "apart"]], "two documents of it are needed"),
    ],
)
def test_a_known_pair_is_of_two_documents_of_a_topic(pairs, fault):
    with pytest.raises(PlanError, match=fault):
        a_grouping_plan(known_pairs=pairs)


@ON_SQLITE
def test_assessors_who_part_what_belongs_together_are_flagged(app, session):
    """Both have red with red, and not with green."""
    known = {"known_pairs": pairs_known("apart", "together")}
    study = grouped(app, session, third=False, **known)
    results = analyse_stored(session, study, AnalysisOptions())
    assert {*results.attention.counts.values()} == {(0, 2)}
    assert len(results.attention.flagged) == 2
    assert results.attention.passed_by_chance is None
    assert results.repeated.startswith("Without the 2 flagged participants: ")
    texts = [each.text for each in lifecycle.check_study(session, study)]
    assert "2 pairs of documents that belong together or apart" in texts
    assert_copied(session, study)


@ON_SQLITE
def test_assessors_whose_groups_are_as_known_are_not_flagged(app, session):
    known = {"known_pairs": pairs_known("together", "apart")}
    study = grouped(app, session, third=False, **known)
    results = analyse_stored(session, study, AnalysisOptions())
    assert {*results.attention.counts.values()} == {(2, 2)}
    assert (results.attention.flagged, results.repeated) == (frozenset(), "")


@ON_SQLITE
def test_documents_of_another_topic_and_again_are_tiles_that_count_nowhere(app, session):
    """The people of ``labelled`` have the first tiles of each first batch marked, then one."""
    study = labelled(app, session, other_topic=True, shown_again=True)
    rows = rows_of(handed_out(session, study), "labels.csv")
    checks = [row for row in rows if row["check"]]
    assert {row["document"] for row in rows} <= {*DOCUMENTS}
    of_word = [row for row in checks if row["check"] == "other-topic"]
    assert {(row["topic"], row["document"], row["batch"]) for row in of_word} == {
        ("word", "red-0", "1")
    }
    again = [row for row in checks if row["check"] == "shown-again"]
    assert {row["batch"] for row in again} == {"2"}
    assert len(again) == 6
    results = analyse_stored(session, study, AnalysisOptions())
    other, twice = results.attention.scores
    assert (other.asked.sum(), twice.asked.sum()) == (3, 6)
    marked = {
        (row["participant"], row["topic"], row["document"]): row["grade"] != "0"
        for row in rows
        if not row["check"]
    }
    rights = sum(
        (row["grade"] != "0") == marked[row["participant"], row["topic"], row["document"]]
        for row in again
    )
    assert twice.right.sum() == rights
    counted = sum(
        len(documents) for each in results.annotators for documents in each.labels.values()
    )
    assert counted == len([row for row in rows if not row["check"]])
    assert_copied(session, study)


@ON_SQLITE
def test_a_query_shows_its_own_picture_where_it_has_one(app, session):
    """Of each person the first tiles are marked: the own picture is one of them, or none."""
    study = labelled(app, session, people=5, own_picture=True, other_topic=True)
    rows = rows_of(handed_out(session, study), "labels.csv")
    own = [row for row in rows if row["check"] == "own-picture"]
    assert {(row["topic"], row["document"], row["batch"]) for row in own} == {
        ("like-red", "red-0", "1")
    }
    results = analyse_stored(session, study, AnalysisOptions())
    _, scores = results.attention.scores
    assert (scores.check.name, scores.asked.sum(), scores.check.by_chance) == (
        "own-picture",
        5,
        0.5,
    )
    assert scores.right.sum() == sum(row["grade"] != "0" for row in own)
    texts = " ".join(each.text for each in lifecycle.check_study(session, study))
    assert "1 of 2 queries get no picture of their own" in texts
    assert_copied(session, study)


class Parting(Assessor):
    """An assessor who puts each second tile of a document into a group of its own."""

    def which(self, tiles):
        return tiles[:1]

    def sort(self, path, groups):
        super().sort(path, groups)
        self.open(path)
        left = [tile.input["value"] for tile in self.page.select(".tile:not(.placed)")]
        self.submit(path, document=left, group="again", go="new")


@ON_SQLITE
@pytest.mark.parametrize(("apart", "flagged"), [(False, 0), (True, 2)])
def test_a_document_shown_twice_belongs_into_one_group(app, session, monkeypatch, apart, flagged):
    if apart:
        monkeypatch.setattr(tests.grouped, "Assessor", Parting)
    study = grouped(app, session, third=False, shown_twice=True)
    questions = [each for each in study.plan.draw_questions() if each.number]
    assert [sum(map(is_again, each.documents)) for each in questions] == [1, 1]
    assert questions == study.plan.draw_questions()
    results = analyse_stored(session, study, AnalysisOptions())
    [scores] = results.attention.scores
    assert (scores.asked.tolist(), scores.right.tolist()) == ([2, 2], [0, 0] if apart else [2, 2])
    assert len(results.attention.flagged) == flagged
    files = handed_out(session, study)
    grouped_documents = {row["document"] for row in rows_of(files, "groups.csv")}
    assert not [each for each in grouped_documents if is_again(each)]
    assert_copied(session, study)


@ON_SQLITE
def test_careless_bots_are_flagged_and_careful_ones_are_not(app, session):
    study = an_open_study(session)
    plan = study.plan
    session.rollback()
    careless = preferences_for(plan, KINDS["preference"].careless(plan))
    with local_server(app) as address:
        entry = f"{address}/s/checked?test={tokens.test_run_token(KEY, 'checked')}"
        careful = preferences_for(plan, "AP:0.000001")
        simulate(entry, plan, 16, careful, seed=3, careless=[careless] * 8)
    session.rollback()
    lifecycle.close_study(session, study)
    results = analyse_stored(session, study, AnalysisOptions(include_test=True))
    # Each passes the list of another topic in one of four, and the second check in seven of eight.
    assert 4 <= len(results.attention.flagged) <= 8
    assert len(results.attention.counts) == 16


def test_gold_documents_are_right_from_the_level_on_at_which_they_are_relevant():
    known = {"a": 3, "b": 1, "c": 0, "d": 2}
    gold = {name: Gold("cats", name, grade) for name, grade in known.items()}
    plan = SimpleNamespace(
        **{"highest": 3, "gold": known, "relevant_from": 2},
        **dict.fromkeys(("other_topic", "own_picture", "shown_again"), False),
    )
    plan.gold_of = {"cats": gold}.__getitem__
    [check] = checks_of(plan)
    right = [*are_right(plan, check, "cats", {"a": 2, "b": 0, "c": 2, "unknown": 1})]
    assert (sum(right), len(right), check.by_chance) == (2, 3, None)
