"""The analysis of files: the same from the database, a bundle, and two of its files."""

import pytest

from survey.kinds.ordering.analysis import analysis_json
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle_reader import analyse_files
from survey.services.exchange.input_files import BundleError
from tests.analyses import analyse_study
from tests.services.exchange.changes import with_cell
from tests.services.exchange.conftest import a_study, handed_out

WITH_TEST = AnalysisOptions(include_test=True)


def test_a_bundle_gives_the_figures_of_its_study(session):
    study = a_study(session, shuffle_lists=True, shuffle_questions=True)
    for choices in (AnalysisOptions(), WITH_TEST):
        files = handed_out(session, study, include_test=choices.include_test)
        found = analyse_files(files, choices).as_json()
        expected = analysis_json(analyse_study(session, study, choices))
        if not choices.include_test:  # a bundle without test data cannot say how many there were
            expected["n"]["test_left_out"] = 0
        assert found == expected


def test_questions_and_responses_alone_give_the_same_votes(session, study):
    bundle = handed_out(session, study, include_test=True)
    alone = {name: bundle[name] for name in ("questions.csv", "responses.csv", "rankings.csv")}
    found, expected = (
        analyse_files(files, AnalysisOptions()).as_json() for files in (alone, bundle)
    )
    unknown = {"study", "table3"}  # what only study.json and participants.csv tell
    # Nobody who gave no answer is in responses.csv, so fewer test participants are.
    del found["n"]["test_left_out"], expected["n"]["test_left_out"]
    del found["n"]["excluded"], expected["n"]["excluded"]
    for name in expected.keys() - unknown:
        assert found[name] == expected[name], name
    assert found["study"]["digest"] is None
    assert "study.json" in found["study"]["why"]


def test_orders_of_a_bundle_that_disagree_with_its_lists_are_told(bundle):
    changed = with_cell(bundle, "rankings.csv", 2, "ranking", "E>D>C>B>A")
    with pytest.raises(BundleError, match=r"rankings\.csv, row 2, column ranking: 'E>D>C>B>A'"):
        analyse_files(changed, AnalysisOptions())


def test_a_bundle_is_read_as_strictly_as_ever(bundle):
    changed = with_cell(bundle, "responses.csv", 2, "position", "")
    with pytest.raises(BundleError, match=r"column position: '' found; a value is needed"):
        analyse_files(changed, AnalysisOptions())
