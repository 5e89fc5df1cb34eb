"""Votes of a study: the same from the database, from its bundle, and from two of its files."""

from dataclasses import replace

import pytest
from sqlalchemy import event
from survey.services.exchange.votes import votes_of_files, votes_of_study

from survey.services.exchange.sheets import BundleError
from tests.services.exchange.changes import with_cell
from tests.services.exchange.conftest import EXCLUDED, TEST, UNFINISHED, a_study, handed_out


def test_a_study_gives_the_votes_that_its_bundle_gives(session):
    study = a_study(session, shuffle_lists=True, shuffle_questions=True)
    for include_test in (True, False):
        files = handed_out(session, study, include_test=include_test)
        assert votes_of_files(files) == votes_of_study(session, study, include_test=include_test)


def test_questions_and_responses_alone_give_the_same_answers(session, study):
    votes = votes_of_study(session, study)
    bundle = handed_out(session, study, include_test=True)
    alone = votes_of_files(
        {name: bundle[name] for name in ("questions.csv", "responses.csv", "rankings.csv")}
    )
    assert replace(alone, facts=votes.facts) == votes
    assert set(alone.facts) == {*votes.facts, "why"}


def test_votes_say_whose_they_are_and_how_many_were_asked_for(session):
    study = a_study(session, questions=4, design="pool", per_participant=3)
    votes = votes_of_study(session, study)
    assert votes.asked == 3
    assert len(votes.rankings) == 4
    assert {one.participant for one in votes.responses if one.is_test} == {TEST}
    assert {one.participant for one in votes.responses if one.excluded} == {EXCLUDED}
    assert sum(one.participant == UNFINISHED for one in votes.responses) == 1
    positions = [one.response.position for one in votes.responses if one.participant == TEST]
    assert sorted(positions) == [1, 2, 3]


def test_all_answers_come_in_one_query(session, study):
    asked = []

    def note(connection, cursor, statement, *rest):
        asked.append(statement)

    event.listen(session.get_bind(), "before_cursor_execute", note)
    votes_of_study(session, study)
    event.remove(session.get_bind(), "before_cursor_execute", note)
    assert sum("FROM participant JOIN presentation" in one for one in asked) == 1
    assert not [one for one in asked if "FROM response" in one or "FROM presentation" in one]


def test_orders_of_a_bundle_that_disagree_with_its_lists_are_told(bundle):
    changed = with_cell(bundle, "rankings.csv", 2, "ranking", "E>D>C>B>A")
    with pytest.raises(BundleError, match=r"rankings\.csv, row 2, column ranking: 'E>D>C>B>A'"):
        votes_of_files(changed)


def test_a_bundle_is_read_as_strictly_as_ever(bundle):
    changed = with_cell(bundle, "responses.csv", 2, "position", "")
    with pytest.raises(BundleError, match=r"column position: '' found; a value is needed"):
        votes_of_files(changed)
