"""Answers that may not mean what they say: the page asks back before it saves them."""

import json

import pytest
from sqlalchemy import select

from survey.core.agreement import quality
from survey.core.studies.rankings import Ranking, differing_pairs
from survey.core.tasks.ordering import OrderingAnswer
from survey.db.models import Presentation, StoredOrderingAnswer, StoredResponse
from survey.services.analysis.report import as_html, report_of
from survey.services.analysis.study_results import AnalysisOptions, analyse_study
from survey.services.exchange import bundle
from survey.services.studies import lifecycle
from tests.builders import SLUG, Visitor, an_open_study
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


def places_of(ranking):
    return {f"rank-{letter}": place for letter, place in ranking.places.items()}


def stored(session, position=1):
    """The answer that is stored to a question, None for no answer."""
    session.rollback()
    row = session.execute(
        select(StoredOrderingAnswer)
        .join(StoredResponse, StoredResponse.id == StoredOrderingAnswer.response_id)
        .join(Presentation, Presentation.question_id == StoredResponse.question_id)
        .where(Presentation.position == position)
    ).scalar()
    return row and OrderingAnswer(row.clicked, row.own, row.asked)


def buttons(visitor):
    return {button["value"]: button.text for button in visitor.page.select("[name=settle]")}


def differing(visitor):
    """Two labels whose orderings differ, and the letters in pairs that they order differently."""
    shown = orderings(visitor)
    first, second = next((a, b) for a in shown for b in shown if a < b and shown[a] != shown[b])
    pairs = differing_pairs(shown[first], shown[second])
    return first, second, sorted({letter for pair in pairs for letter in pair})


@pytest.mark.parametrize("choice", ["match", "own"])
def test_an_own_ordering_that_is_a_columns_is_asked_about(session, visitor, choice):
    an_open_study(session, practice=False)
    visitor.start()
    shown = orderings(visitor)
    own = shown[2]
    same = frozenset(label for label, ranking in shown.items() if ranking == own)
    visitor.submit("/q/1", choice="own", **places_of(own))
    assert stored(session) is None
    assert "It is not saved yet: how should it count?" in visitor.text
    assert set(buttons(visitor)) == {"match", "own"}
    for label in same:  # identical columns are named together
        assert str(label) in buttons(visitor)["match"]
    visitor.submit("/q/1", choice="own", settle=choice, **places_of(own))
    assert visitor.path == "/q/2"
    expected = (same, None) if choice == "match" else (frozenset(), own)
    assert stored(session) == OrderingAnswer(*expected, "equal")


@pytest.mark.parametrize(("choice", "is_own"), [("match", False), ("own", True)])
def test_an_own_ordering_beside_a_tick_is_asked_about(session, visitor, choice, is_own):
    an_open_study(session, practice=False)
    visitor.start()
    shown = orderings(visitor)
    own = next(
        ranking
        for ranking in map(Ranking.parse, ("A>B>C>D>E", "E>D>C>B>A", "A=B=C=D=E", "C>A>B>E>D"))
        if ranking not in shown.values()
    )
    visitor.submit("/q/1", choice="1", **places_of(own))
    assert stored(session) is None
    assert "It is not saved yet: which one counts?" in visitor.text
    assert buttons(visitor) == {"match": "Method 1", "own": "My own ordering"}
    visitor.submit("/q/1", choice="1", settle=choice, **places_of(own))
    assert visitor.path == "/q/2"
    expected = (frozenset(), own) if is_own else (frozenset({1}), None)
    assert stored(session) == OrderingAnswer(*expected, None)
    # What was stored is not asked about again, also where its places are still there.
    visitor.open("/q/1")
    visitor.submit("/q/1", choice="1", **(places_of(own) if is_own else {}))
    assert stored(session).clicked == {1}


def test_an_own_ordering_beside_its_own_method_is_not_asked_about(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    visitor.submit("/q/1", choice="2", **places_of(orderings(visitor)[2]))
    assert visitor.path == "/q/2"
    assert stored(session) == OrderingAnswer(frozenset({2}), None, None)


def test_an_own_ordering_instead_of_a_tick_may_be_another_methods(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    shown = orderings(visitor)
    first, second = next((a, b) for a in shown for b in shown if shown[a] != shown[b])
    visitor.submit("/q/1", choice=str(first), **places_of(shown[second]))
    assert set(buttons(visitor)) == {"match", "own"}
    visitor.submit("/q/1", choice=str(first), settle="own", **places_of(shown[second]))
    assert "Your ordering is that of" in visitor.text
    assert stored(session) is None
    visitor.submit("/q/1", choice="own", settle="match", **places_of(shown[second]))
    assert second in stored(session).clicked


def test_after_an_own_ordering_from_before_the_methods_a_tick_is_the_answer(session, visitor):
    an_open_study(session, practice=False, columns="after")
    visitor.start()
    places = {f"rank-{letter}": place for letter, place in zip("ABCDE", "11111", strict=True)}
    visitor.submit("/q/1", **places)
    visitor.submit("/q/1", choice="1", **places)
    assert visitor.path == "/q/2"


def test_ticks_of_different_orderings_are_asked_about(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, letters = differing(visitor)
    ticks = {"choice": [str(first), str(second)]}
    visitor.submit("/q/1", **ticks)
    assert stored(session) is None
    listed = f"{', '.join(letters[:-1])} and {letters[-1]}"
    assert f"They differ in {listed}, so not all" in visitor.text
    assert set(buttons(visitor)) == {str(first), str(second), "several", "own"}
    visitor.submit("/q/1", settle="several", **ticks)
    assert stored(session) == OrderingAnswer(frozenset({first, second}), None, "differing")
    visitor.open("/q/1")
    visitor.submit("/q/1", **ticks)  # asked about once, not again
    assert visitor.path == "/q/2"
    visitor.open("/q/1")
    visitor.submit("/q/1", choice=[str(first)])
    assert stored(session) == OrderingAnswer(frozenset({first}), None, None)


def test_of_different_orderings_the_nearest_is_chosen(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, _ = differing(visitor)
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle=str(second))
    assert stored(session) == OrderingAnswer(frozenset({second}), None, "differing")


@pytest.mark.slow
def test_instead_of_different_orderings_an_own_one_is_given(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    shown = orderings(visitor)
    first, second, _ = differing(visitor)
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle="own")
    assert "Now give your own ordering" in visitor.text
    assert visitor.page.select_one("[name=choice][value=own]").has_attr("checked")
    visitor.submit("/q/1", choice="own", rank_A="1")
    assert "Your own ordering is not complete" in visitor.text
    own = Ranking.parse("A=B=C=D=E")
    assert own not in shown.values()
    visitor.submit("/q/1", choice="own", **places_of(own))
    assert stored(session) == OrderingAnswer(frozenset(), own, "differing")


def test_an_own_ordering_instead_of_ticks_is_asked_about_in_its_turn(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, _ = differing(visitor)
    own = orderings(visitor)[first]
    visitor.submit("/q/1", choice=[str(first), str(second)])
    visitor.submit("/q/1", choice=[str(first), str(second)], settle="own")
    visitor.submit("/q/1", choice="own", **places_of(own))
    assert set(buttons(visitor)) == {"match", "own"}
    visitor.submit("/q/1", choice="own", settle="own", **places_of(own))
    assert stored(session) == OrderingAnswer(frozenset(), own, "equal")


def test_a_choice_that_was_not_offered_is_asked_again(session, visitor):
    an_open_study(session, practice=False)
    visitor.start()
    first, second, _ = differing(visitor)
    for choice in ("match", "9", "x", ""):
        visitor.submit("/q/1", choice=[str(first), str(second)], settle=choice)
        assert "have different orderings" in visitor.text
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
            assert stored(session, position) == OrderingAnswer(frozenset(labels), None, None)
            return
    raise AssertionError("no question has identical columns")


def test_what_was_asked_back_is_exported_and_counted(session, visitor, monkeypatch):
    study = an_open_study(session, practice=False)
    visitor.start()
    own = orderings(visitor)[1]
    visitor.submit("/q/1", choice="own", settle="own", **places_of(own))
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
    assert [line[lines[0].index("asked")] for line in lines] == ["asked", "equal", "differing", ""]
    session.rollback()
    analysis = json.loads("".join(bundle.stream_file(session, study, "analysis.json")))
    assert analysis["quality"]["asked_back"] == {
        "equal": {"asked": 1, "match": 0, "own": 1},
        "differing": {"asked": 1, "one_ordering": 0, "several_orderings": 1, "own": 0},
    }
    # The report says so too, also where no participant has a quality flag.
    monkeypatch.setattr(quality, "FASTEST_SECONDS", 0.0)
    results = analyse_study(session, study, AnalysisOptions())
    assert not results.flags
    report = as_html(report_of(results))
    assert "Asked by the page, 0 count as a match, 1 stay own orderings." in report
