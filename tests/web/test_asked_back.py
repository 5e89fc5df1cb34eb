"""Answers that may not mean what they say: the page asks back before it saves them."""

import csv
import json
from contextlib import suppress
from operator import le
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from survey.core.agreement import quality
from survey.core.studies.rankings import Ranking, differing_pairs
from survey.db.models import Presentation, StoredResponse
from survey.kinds.ordering.answer import OrderingAnswer, reversed_in_view
from survey.kinds.ordering.models import StoredOrderingAnswer
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import bundle
from survey.services.studies import lifecycle
from tests.analyses import analyse_study, report_of
from tests.builders import SLUG, Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


@pytest.fixture
def visitor(client):
    return Visitor(client)


def orderings(visitor):
    """The ordering of each column on the page, by its label."""
    return {
        int(box["value"]): Ranking.parse(box.parent.select_one(".order").text)
        for box in visitor.page.select("[name=choice]:not([value=own])")
    }


def places_on(visitor):
    """The places that are chosen on the page."""
    chosen = visitor.page.select("#selects option[selected]:not([value=''])")
    return {option.parent["name"]: int(option["value"]) for option in chosen}


def places_of(ranking):
    return {f"rank-{letter}": place for letter, place in ranking.places.items()}


def stored(session, position=1):
    """The answer that is stored to a question, and what was asked back; None for no answer."""
    session.rollback()
    row = session.execute(
        select(StoredOrderingAnswer, StoredResponse.asked)
        .join(StoredResponse, StoredResponse.id == StoredOrderingAnswer.response_id)
        .join(Presentation, Presentation.question_id == StoredResponse.question_id)
        .where(Presentation.position == position)
    ).first()
    return row and (
        OrderingAnswer(row[0].clicked, row[0].own, row[0].typed, row[0].scores_seen),
        row[1],
    )


def buttons(visitor):
    return {button["value"]: button.text for button in visitor.page.select("[name=settle]")}


def differing(visitor):
    """Two labels whose orderings differ, and the letters in pairs that they order differently."""
    shown = orderings(visitor)
    first, second = next((a, b) for a in shown for b in shown if a < b and shown[a] != shown[b])
    pairs = differing_pairs(shown[first], shown[second])
    return first, second, sorted({letter for pair in pairs for letter in pair})


def test_an_own_ordering_that_is_a_methods_is_credited_to_it_and_says_so(session, visitor):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    shown = orderings(visitor)
    own = shown[2]
    same = frozenset(label for label, ranking in shown.items() if ranking == own)
    visitor.submit("/q/1", choice="own", **places_of(own))
    assert visitor.path == "/q/2"
    assert stored(session) == (OrderingAnswer(same, None, typed=True, scores_seen=True), None)
    notice = visitor.page.select_one(".notice")
    for label in same:
        assert str(label) in notice.text
    assert str(own) in "".join(notice.text.split())
    visitor.open(notice.a["href"].removeprefix(visitor.home))
    assert places_on(visitor) == places_of(own)
    assert not visitor.page.select("[name=choice][checked]")
    assert not visitor.page.select(".notice")
    other = next(each for each in shown.values() if each != own)
    visitor.submit("/q/1", choice="own", **places_of(other))
    assert stored(session)[0].clicked == frozenset(
        label for label, ranking in shown.items() if ranking == other
    )


def test_a_credited_ordering_is_told_on_the_page_of_all_answers_and_in_ones_data(session, visitor):
    an_open_study(session, practice=False, questions=1)
    visitor.start()
    visitor.submit("/q/1", choice="own", **places_of(orderings(visitor)[1]))
    assert visitor.path == "/review"
    assert "so it counts for" in visitor.page.select_one(".notice").text
    assert "Your own order, that of Method" in visitor.text
    [answer] = visitor.client.get(f"/s/{SLUG}/my-data.json").json["questions"][0]["answers"]
    assert answer["typed"] is True
    assert answer["own_ordering"] is None


def test_no_notice_is_shown_of_an_answer_that_counts_as_it_was_given(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    visitor.submit("/q/1", choice="1")
    for after in ("1", "2", "99", "x", ""):
        visitor.open(f"/q/2?after={after}")
        assert visitor.status == 200
        assert not visitor.page.select(".notice")


def reversal(visitor):
    """An ordering of no method that puts a list above one that is earlier at every position."""
    rows = {
        row["data-list"]: [int(rank.text) for rank in row.select(".rank")]
        for row in visitor.page.select("[data-list]")
    }
    better, worse = next(
        (a, b) for a in rows for b in rows if rows[a] != rows[b] and all(map(le, rows[a], rows[b]))
    )
    places = dict.fromkeys(rows, 2) | {worse: 1, better: 3}
    return better, worse, Ranking.by_key(places)


def to_a_reversal(visitor):
    """Go on to a question in which a list is earlier than another one throughout."""
    for position in range(1, 11):
        with suppress(StopIteration):
            return position, *reversal(visitor)
        visitor.submit(f"/q/{position}", choice="1")
    raise AssertionError("no question has such lists")


@pytest.mark.parametrize("columns", ["before", "never"])
def test_an_order_that_puts_a_later_list_first_is_asked_about_once(session, visitor, columns):
    study = an_open_study(session, practice=False, columns=columns, questions=10, scores="open")
    visitor.start()
    position = 1
    if columns == "before":
        position, better, worse, own = to_a_reversal(visitor)
    else:
        better, worse, own = reversal(visitor)
    path = f"/q/{position}"
    visitor.submit(path, choice="own", **places_of(own))
    assert (visitor.status, visitor.path) == (200, path)
    assert f"You put {worse} above {better}" in visitor.page.select_one(".asks").text
    assert stored(session, position) is None
    assert places_on(visitor) == places_of(own)  # what was typed is still there
    visitor.submit(path, choice="own", **places_of(own))
    assert visitor.path == f"/q/{position + 1}"
    scores = True if columns == "before" else None
    kept = OrderingAnswer(frozenset(), own, scores_seen=scores)
    assert stored(session, position) == (kept, "reversed")
    visitor.open(path)
    visitor.submit(path, choice="own", **places_of(own))  # asked about once
    assert visitor.path == f"/q/{position + 1}"
    session.rollback()
    lines = "".join(bundle.stream_file(session, study, "responses.csv")).splitlines()
    rows = [*csv.DictReader(lines)]
    row = next(each for each in rows if each["position"] == str(position))
    assert (row["asked"], row["contradicts"], row["typed"]) == ("reversed", "yes", "no")
    assert {each["contradicts"] for each in rows if each is not row} <= {"no"}


def test_that_it_was_asked_is_stored_with_a_changed_order_too(session, visitor):
    an_open_study(session, practice=False, columns="never")
    visitor.start()
    _, _, own = reversal(visitor)
    visitor.submit("/q/1", choice="own", **places_of(own))
    other = Ranking.parse("A=B=C=D=E")
    visitor.submit("/q/1", choice="own", **places_of(other))
    assert stored(session) == (OrderingAnswer(frozenset(), other), "reversed")
    session.rollback()
    analysis = analyse_study(session, lifecycle.find_study(session, SLUG), AnalysisOptions())
    assert analysis.asked_back["reversed"] == {"asked": 1, "kept": 0, "changed": 1}


def test_an_order_from_before_the_methods_is_asked_about_there(session, visitor):
    study = an_open_study(session, practice=False, columns="after")
    visitor.start()
    better, worse, own = reversal(visitor)
    visitor.submit("/q/1", **places_of(own))
    assert f"You put {worse} above {better}" in visitor.page.select_one(".asks").text
    assert not visitor.page.select("[name=choice]")
    visitor.submit("/q/1", **places_of(own))
    assert visitor.page.select_one("[name=choice][value=own]").has_attr("checked")
    visitor.submit("/q/1", choice="own", **places_of(own))  # which is not asked about again
    assert visitor.path == "/q/2"
    assert stored(session)[1] == "reversed"
    session.rollback()
    lines = "".join(bundle.stream_file(session, study, "first_rankings.csv")).splitlines()
    [row] = csv.DictReader(lines)
    assert row["asked"] == "reversed"


def test_positions_that_are_not_shown_are_no_reason_to_ask(session, visitor):
    plan = a_plan(columns="never")
    lists = {"A": (1, 2), "B": (3, 4)}
    backwards = Ranking.parse("B>A")
    assert reversed_in_view(plan, lists, backwards) == [("A", "B")]
    hidden = SimpleNamespace(show_positions=False, has_items=True, mark_relevant=False, depth=10)
    assert reversed_in_view(hidden, lists, backwards) == []
    hidden.mark_relevant = True
    assert reversed_in_view(hidden, lists, backwards) == [("A", "B")]
    hidden.depth = 3  # of A two marks are seen, of B one
    assert reversed_in_view(hidden, lists, backwards) == []


@pytest.mark.parametrize(("choice", "is_own"), [("match", False), ("own", True)])
def test_an_own_ordering_beside_a_tick_is_asked_about(session, visitor, choice, is_own):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    shown = orderings(visitor)
    own = next(
        ranking
        for ranking in map(Ranking.parse, ("A=B=C=D=E", "A=B=C=D>E"))
        if ranking not in shown.values()
    )
    visitor.submit("/q/1", choice="1", **places_of(own))
    assert stored(session) is None
    assert "Which one counts?" in visitor.page.select_one(".asks").text
    assert buttons(visitor) == {"match": "Method 1", "own": "My own order"}
    visitor.submit("/q/1", choice="1", settle=choice, **places_of(own))
    assert visitor.path == "/q/2"
    expected = (frozenset(), own) if is_own else (frozenset({1}), None)
    assert stored(session) == (OrderingAnswer(*expected, scores_seen=True), None)
    # What was stored is not asked about again, also where its places are still there.
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="1", **(places_of(own) if is_own else {}))
    assert stored(session)[0].clicked == {1}


def test_an_own_ordering_beside_its_own_method_is_not_asked_about(session, visitor):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    visitor.submit("/q/1", choice="2", **places_of(orderings(visitor)[2]))
    assert visitor.path == "/q/2"
    assert stored(session) == (OrderingAnswer(frozenset({2}), None, scores_seen=True), None)


def test_an_own_ordering_instead_of_a_tick_may_be_another_methods(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    shown = orderings(visitor)
    first, second = next((a, b) for a in shown for b in shown if shown[a] != shown[b])
    visitor.submit("/q/1", choice=str(first), **places_of(shown[second]))
    assert set(buttons(visitor)) == {"match", "own"}
    visitor.submit("/q/1", choice=str(first), settle="own", **places_of(shown[second]))
    assert visitor.path == "/q/2"
    answer, _ = stored(session)
    assert second in answer.clicked
    assert answer.typed


def test_after_an_own_ordering_from_before_the_methods_a_tick_is_the_answer(session, visitor):
    an_open_study(session, practice=False, columns="after")
    visitor.start()
    places = {f"rank-{letter}": place for letter, place in zip("ABCDE", "11111", strict=True)}
    visitor.submit("/q/1", **places)
    visitor.submit("/q/1", choice="1", **places)
    assert visitor.path == "/q/2"


def test_ticks_of_different_orderings_are_asked_about(session, visitor):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    first, second, letters = differing(visitor)
    ticks = {"choice": [str(first), str(second)]}
    visitor.submit("/q/1", **ticks)
    assert stored(session) is None
    listed = f"{', '.join(letters[:-1])} and {letters[-1]}"
    assert f"they differ in {listed}." in visitor.text
    assert set(buttons(visitor)) == {str(first), str(second), "several", "own"}
    visitor.submit("/q/1", settle="several", **ticks)
    assert stored(session) == (
        OrderingAnswer(frozenset({first, second}), None, scores_seen=True),
        "differing",
    )
    visitor.open("/q/1")
    visitor.submit("/q/1", **ticks)  # asked about once, not again
    assert visitor.path == "/q/2"
    visitor.open("/q/1")
    visitor.submit("/q/1", choice=[str(first)])
    assert stored(session) == (OrderingAnswer(frozenset({first}), None, scores_seen=True), None)


def test_of_different_orderings_the_nearest_is_chosen(session, visitor):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    first, second, _ = differing(visitor)
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle=str(second))
    assert stored(session) == (
        OrderingAnswer(frozenset({second}), None, scores_seen=True),
        "differing",
    )


@pytest.mark.slow
def test_instead_of_different_orderings_an_own_one_is_given(session, visitor):
    an_open_study(session, practice=False, scores="open")
    visitor.start()
    shown = orderings(visitor)
    first, second, _ = differing(visitor)
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle="own")
    assert "Now give your own order" in visitor.text
    assert not visitor.page.select("[name=choice][checked]")
    visitor.submit("/q/1", choice="own", rank_A="1")
    assert "Your own order is not complete" in visitor.text
    own = Ranking.parse("A=B=C=D=E")
    assert own not in shown.values()
    visitor.submit("/q/1", choice="own", **places_of(own))
    assert stored(session) == (OrderingAnswer(frozenset(), own, scores_seen=True), "differing")


def test_an_own_ordering_instead_of_ticks_may_be_one_of_theirs(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, _ = differing(visitor)
    own = orderings(visitor)[first]
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle="own")
    visitor.submit("/q/1", choice="own", **places_of(own))
    answer, asked = stored(session)
    assert first in answer.clicked
    assert (answer.typed, asked) == (True, "differing")


def test_a_choice_that_was_not_offered_is_asked_again(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, _ = differing(visitor)
    for choice in ("match", "9", "x", ""):
        visitor.submit("/q/1", choice=[str(first), str(second)], settle=choice)
        assert "give different orders" in visitor.text
    assert stored(session) is None


def test_identical_columns_may_both_be_ticked(session, visitor):
    an_open_study(session, practice=False, questions=10)
    visitor.start()
    for position in range(1, 11):
        shown = orderings(visitor)
        labels = next(
            ([a, b] for a in shown for b in shown if a < b and shown[a] == shown[b]), None
        )
        visitor.submit(f"/q/{position}", choice=list(map(str, labels or [1])))
        if labels:
            answer, asked = stored(session, position)
            assert (answer.clicked, asked) == (frozenset(labels), None)
            return
    raise AssertionError("no question has identical columns")


def test_what_was_asked_back_is_exported_and_counted(session, visitor, monkeypatch):
    study = an_open_study(session, practice=False)
    visitor.start()
    own = orderings(visitor)[1]
    visitor.submit("/q/1", choice="own", **places_of(own))
    first, second, _ = differing(visitor)
    visitor.submit("/q/2", choice=[str(first), str(second)], settle="several")
    visitor.submit("/q/3", choice="1")
    visitor.submit("/review")
    session.rollback()
    lifecycle.close_study(session, lifecycle.find_study(session, SLUG))
    session.rollback()
    lines = [
        line.split(",")
        for line in "".join(bundle.stream_file(session, study, "responses.csv")).splitlines()
    ]
    assert [line[lines[0].index("asked")] for line in lines] == ["asked", "", "differing", ""]
    assert [line[lines[0].index("typed")] for line in lines] == ["typed", "yes", "no", "no"]
    session.rollback()
    analysis = json.loads("".join(bundle.stream_file(session, study, "analysis.json")))
    assert analysis["quality"]["asked_back"] == {
        "equal": {"asked": 0, "match": 0, "own": 0},
        "differing": {"asked": 1, "one_ordering": 0, "several_orderings": 1, "own": 0},
        "reversed": {"asked": 0, "kept": 0, "changed": 0},
        "typed": {"credited": 1},
    }
    # The report says so too, also where no participant has a quality flag.
    monkeypatch.setattr(quality, "FASTEST_SECONDS", 0.0)
    results = analyse_study(session, study, AnalysisOptions())
    assert not results.flags
    report = report_of(results)
    assert "a method&#39;s, and count for it without being asked: 1." in report
    assert "Asked by the page, 0 name one ordering, 1 several, and 0 give an own one." in report


def test_a_form_without_a_valid_token_does_not_say_that_it_was_asked_back(session, visitor):
    """Else another site's form, or one after the session's end, would confirm what no one saw."""
    an_open_study(session, practice=False, columns="never")
    visitor.start()
    _, _, own = reversal(visitor)
    given = {"choice": "own", **places_of(own)}
    visitor.submit("/q/1", csrf_token="old", asked="reversed", **given)
    assert visitor.status == 400
    visitor.submit("/q/1", **given)
    assert visitor.path == "/q/1"
    assert visitor.page.select(".asks")
    assert stored(session) is None


@pytest.mark.parametrize(("sent", "seen"), [("yes", True), ("no", False), ("", None), ("x", None)])
def test_it_is_stored_whether_folded_scores_were_opened(session, visitor, sent, seen):
    an_open_study(session, practice=False, scores="folded")
    visitor.start()
    visitor.submit("/q/1", choice="1", scores_seen=sent)
    assert stored(session) == (OrderingAnswer(frozenset({1}), None, scores_seen=seen), None)
    visitor.open("/q/1")
    kept = {True: "yes", False: "no", None: ""}[seen]
    assert visitor.page.select_one("[name=scores_seen]")["value"] == kept


def test_a_credited_ordering_is_told_on_the_way_back_too(session, visitor):
    an_open_study(session, practice=False)
    visitor.go("/q/2")
    own = orderings(visitor)[1]
    visitor.submit("/q/2", choice="own", go="back", **places_of(own))
    assert visitor.path == "/q/1"
    assert "question 2" in visitor.page.select_one(".notice").text
