"""The preference given to the simulation comes out of Table 4."""

import pytest
from scipy.stats import binomtest

from survey.cli.simulate import serving
from survey.db.models import Participant
from survey.services import tokens
from survey.services.analysis import Choices
from survey.services.simulation import Preference, simulate
from survey.services.study_analysis import analyse_study
from tests.builders import KEY, SLUG, an_open_study

SCREENING = {
    "name": "adult",
    "label": "Are you 18 or older?",
    "kind": "choice",
    "options": ["Yes", "No"],
    "screen_out": ["No"],
}


@pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)
def test_a_planted_preference_is_recovered(app, session):
    study = an_open_study(session, questions=6, seed=2)
    planted = {"MNRO": 0.6, "NMRR": 0.25, "AP": 0.05, "OTHER": 0.1}
    plan, finished = study.plan, []
    session.rollback()
    with serving(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 25, Preference(planted), 4, lambda: finished.append(1))
    assert len(finished) == 25
    session.rollback()
    found = analyse_study(session, study, Choices(include_test=True))
    distinct = [row for row in found.agreement.table4.rows if not row.identical]
    assert len(distinct) >= 3
    for name, share in planted.items():
        votes = sum(row.votes[name] for row in distinct)
        # Each of these votes was drawn with the planted share: a 1-in-10,000 interval.
        assert binomtest(votes, 25 * len(distinct), share).pvalue > 1e-4, (name, votes)
    assert all(row.merged == 25 for row in found.agreement.table4.rows)


def test_without_a_preference_all_measures_are_alike():
    shares = Preference.parse(None, ("AP", "NMRR", "MNRO")).shares
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["AP"] == shares["NMRR"] == shares["MNRO"]


@pytest.mark.parametrize(
    "design",
    [
        {"rank_first": True},
        {"design": "pool", "per_participant": 2, "shuffle_questions": True, "shuffle_lists": True},
        {"own_lists": [[[1, 2], [3, 4]], [[1, 9], [2, 3]]], "practice": False},
        {"generator": "discriminative", "personal_fields": [SCREENING]},
    ],
    ids=["rank first", "pool", "own lists", "discriminative"],
)
@pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)
def test_bots_find_their_way_in_every_design(app, session, design):
    study = an_open_study(session, **design)
    plan = study.plan
    session.rollback()
    with serving(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 3, Preference.parse(None, plan.measures), seed=1)
    session.expire_all()
    statuses = [one.status for one in session.query(Participant)]
    assert statuses == ["complete"] * 3
    assert analyse_study(session, study, Choices(include_test=True)).responses == 3 * plan.asked
