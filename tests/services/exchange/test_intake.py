"""A bundle that is taken in gives the same bundle again."""

import json

import pytest

from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, Researcher, Study, now
from survey.errors import NotAllowedError, SurveyError
from survey.services import accounts
from survey.services.exchange import bundle_import
from survey.services.exchange.input_files import BundleError
from survey.services.participation import own_data
from survey.services.studies import lifecycle
from survey.services.studies.lifecycle import open_study
from tests.rows import shown_rows
from tests.services.exchange.changes import (
    DESCRIPTIONS,
    readdressed,
    rows_of,
    steps_of,
    with_cell,
)
from tests.services.exchange.conftest import BEGAN, FINISHED, UNFINISHED, a_study, handed_out
from tests.services.exchange.test_replicate import EVERY_DESIGN

# They name the study's address.
DIFFERENT = {"study.json", "analysis.json", "SHA256SUMS", *DESCRIPTIONS}


@pytest.fixture
def ada(session):
    researcher = Researcher(name="Ada", created_at=now())
    session.add(researcher)
    session.commit()
    return researcher


@pytest.mark.slow
@EVERY_DESIGN
def test_what_was_taken_in_is_handed_out_as_it_came(session, ada, design):
    files = handed_out(session, a_study(session, **design), include_test=True)
    study = bundle_import.import_bundle(session, files, "my.zip", "again", ada)
    taken_in = handed_out(session, study, include_test=True)
    again = readdressed(taken_in, files)
    assert set(again) == set(files)
    for name in set(files) - DIFFERENT:
        assert again[name] == files[name], name
    assert steps_of(taken_in)


def test_first_rankings_that_no_answer_followed_are_imported_too(session, ada):
    original = a_study(session, columns="after")
    one = session.query(Participant).filter_by(public_id=UNFINISHED).one()
    for position, order in ((2, "E>D>C>B>A"), (3, "A>C>B>D>E")):
        [(_, row)] = shown_rows(session, participant_id=one.id, position=position)
        row.ranked_first, row.ranked_at = Ranking.parse(order), BEGAN
    session.commit()
    files = handed_out(session, original)
    study = bundle_import.import_bundle(session, files, "my.zip", "again", ada)
    taken_in = handed_out(session, study)
    again = readdressed(taken_in, files)
    assert len(rows_of(files, "first_rankings.csv")) == len(rows_of(files, "responses.csv")) + 2
    for name in set(files) - DIFFERENT:
        assert again[name] == files[name], name
    figures, figures_again = (json.loads(each["analysis.json"]) for each in (files, again))
    assert {**figures_again, "study": None} == {**figures, "study": None}
    assert steps_of(taken_in)


@pytest.mark.parametrize("slug", ["", "again"])
def test_who_was_erased_here_does_not_come_back_with_a_bundle(session, ada, tmp_path, slug):
    original = a_study(session, columns="after")
    files = handed_out(session, original)
    session.rollback()
    one = session.query(Participant).filter_by(public_id=FINISHED).one()
    own_data.erase(session, original, one, tmp_path)
    lifecycle.delete(session, original, "Ada")
    numbers = []
    study = bundle_import.import_bundle(session, files, "my.zip", slug, ada, numbers.append)
    assert numbers == [1]
    [sentence] = bundle_import.describe_erased(*numbers)
    assert sentence.startswith("1 participant who has deleted their data here: left out")
    again = handed_out(session, study)
    for name in ("participants.csv", "responses.csv", "first_rankings.csv", "votes.csv"):
        people = {row["participant"] for row in rows_of(files, name)}
        assert {row["participant"] for row in rows_of(again, name)} == people - {FINISHED}
    assert steps_of(again)


def test_a_study_taken_in_is_only_looked_at(session, ada, bundle):
    study = bundle_import.import_bundle(session, bundle, "my.zip", "", ada)
    assert (study.slug, study.status, study.imported_from) == ("five-systems", "closed", "my.zip")
    assert accounts.events_of(session, study)[0].kind == "imported"
    with pytest.raises(NotAllowedError, match="it can be looked at, not run"):
        open_study(session, study, "Ada")


def test_an_address_that_is_taken_or_cannot_be_is_refused(session, ada, bundle):
    bundle_import.import_bundle(session, bundle, "my.zip", "", ada)
    with pytest.raises(SurveyError, match="There is a study 'five-systems' already"):
        bundle_import.import_bundle(session, bundle, "my.zip", "", ada)
    with pytest.raises(SurveyError, match="cannot be the address of a study"):
        bundle_import.import_bundle(session, bundle, "my.zip", "Big Words", ada)


def test_a_bundle_that_does_not_replicate_leaves_nothing_behind(session, ada, bundle):
    with pytest.raises(BundleError):
        bundle_import.import_bundle(
            session, with_cell(bundle, "votes.csv", 2, "label", "x"), "z", "new", ada
        )
    assert session.query(Study).count() == session.query(Participant).count() == 0
