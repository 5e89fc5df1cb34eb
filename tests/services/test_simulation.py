"""The preference given to the simulation comes out of Table 4."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest
from sqlalchemy import select

from survey import tokens
from survey.cli.planning import local_server
from survey.core.agreement.agreement import share_intervals
from survey.core.agreement.credits import Ballots, tally_credits
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.errors import SurveyError
from survey.kinds.ordering.bot import Preference
from survey.kinds.ordering.models import StoredOrderingPresentation
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.collections import items
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle
from tests.analyses import analyse_study
from tests.builders import KEY, SLUG, an_open_study
from tests.databases import ON_SQLITE
from tests.pictured import a_pictured_study
from tests.web.test_closing import QUESTIONS

pytestmark = pytest.mark.slow

SCREENING = {
    "name": "adult",
    "label": "Are you 18 or older?",
    "kind": "choice",
    "options": ["Yes", "No"],
    "screen_out": ["No"],
}
OLD = {"name": "age", "label": "Your age", "kind": "number", "screen_below": 60}


@ON_SQLITE
def test_a_planted_preference_is_recovered(app, session):
    study = an_open_study(session, questions=6, seed=2)
    planted = {"MNRO": 0.5, "NMRR": 0.3, "AP": 0.1, "OTHER": 0.1}
    plan, people, finished = study.plan, 12, []
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, people, {"": Preference(planted)}, 4, lambda: finished.append(1))
    assert len(finished) == people
    session.rollback()
    found = analyse_study(session, study, AnalysisOptions(include_test=True))
    table = found.agreement.table4
    assert all(row.merged == people for row in table.rows)
    distinct = [row.question for row in table.rows if not row.identical]
    assert len(distinct) >= 3
    credits = tally_credits(Ballots.of(found.votes.answers, found.votes.rankings, plan.measures))
    credits = credits.subset(np.isin(credits.questions, distinct))
    intervals = share_intervals(credits)
    for name, share in planted.items():
        votes = sum(row.votes[name] for row in table.rows if not row.identical)
        # Each of these votes was drawn with the planted share: a 1-in-10,000 interval.
        assert binomtest(votes, len(credits), share).pvalue > 1e-4, (name, votes)
        for estimate in (intervals[name].participants, intervals[name].two_way):
            low, high = estimate.ci95
            # The votes of a seed are always the same. How often an interval covers what was
            # planted, over many seeds, stands in benchmarks/calibration.md.
            assert low <= share <= high, (name, estimate)


def test_without_a_preference_all_measures_are_alike():
    shares = Preference.parse(None, ("AP", "NMRR", "MNRO")).shares
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["AP"] == shares["NMRR"] == shares["MNRO"]


@ON_SQLITE
def test_bots_give_reasons_and_answer_closing_questions(app, session):
    study = an_open_study(session, reason_question="Why?", closing_questions=QUESTIONS)
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 2, {"": Preference.parse(None, plan.measures)}, seed=1)
    session.expire_all()
    reasons = [answer.reason for answer in session.query(StoredResponse)]
    assert Counter(reasons) == {"simulated": 6}
    for one in session.query(Participant):
        assert {one.closing["ease"], one.closing["sure"]} <= {1, 2, 3, 4, 5}
        assert one.closing["remarks"] == "simulated"


@pytest.mark.parametrize(
    "design",
    [
        {"columns": "after"},
        {"columns": "never"},
        {"arms": ["before", "after", "never"], "show_values": False},
        {"design": "pool", "per_participant": 2, "shuffle_questions": True, "shuffle_lists": True},
        {"own_lists": [[[1, 2], [3, 4]], [[1, 9], [2, 3]]], "practice": False},
        {"generator": "discriminative", "personal_fields": [SCREENING, OLD]},
    ],
    ids=["after", "never", "arms", "pool", "own lists", "discriminative"],
)
@ON_SQLITE
def test_bots_find_their_way_in_every_design(app, session, design):
    study = an_open_study(session, **design)
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 3, {"": Preference.parse(None, plan.measures)}, seed=1)
    session.expire_all()
    statuses = [one.status for one in session.query(Participant)]
    assert statuses == ["complete"] * 3
    analysis = analyse_study(session, study, AnalysisOptions(include_test=True))
    assert analysis.responses == (3 - analysis.without_columns) * plan.asked


@ON_SQLITE
def test_bots_answer_questions_with_pictures(app, session):
    plan = a_pictured_study(session, SLUG).plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 2, {"": Preference.parse(None, plan.measures)}, seed=1)
    session.expire_all()
    assert [each.status for each in session.query(Participant)] == ["complete"] * 2


@pytest.mark.parametrize(
    "changes",
    [
        {"obvious": True},
        {"columns": "after"},
        {"mark_relevant": False, "practice": False, "repeated": 1},
        {"mark_relevant": False, "practice": False, "columns": "never"},
    ],
)
@ON_SQLITE
def test_bots_know_questions_without_positions_by_their_pictures(app, session, changes):
    study = a_pictured_study(session, SLUG, show_positions=False, **changes)
    plan, shown = study.plan, items.shown(session, study)
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 2, preferences_for(plan, "MNRO=1", shown), seed=1)
        other = {each: (f"no-{picture}", text) for each, (picture, text) in shown.documents.items()}
        stranger = preferences_for(plan, "MNRO=1", shown._replace(documents=other))
        with pytest.raises(SurveyError, match="there are lists that the plan does not have"):
            simulate(entry, plan, 1, stranger, seed=1)
    session.expire_all()
    found = analyse_study(session, study, AnalysisOptions(include_test=True))
    voted = "OTHER" if plan.columns == "never" else "MNRO"
    assert [row.votes[voted] for row in found.agreement.table4.rows] == [2] * plan.questions


@pytest.mark.parametrize("preferred", ["MNRO", "OTHER"])
@ON_SQLITE
def test_bots_keep_to_the_ordering_from_before_they_saw_the_methods(app, session, preferred):
    study = an_open_study(session, columns="after")
    plan = study.plan
    session.rollback()
    with local_server(app) as address:
        entry = f"{address}/s/{SLUG}?test={tokens.test_run_token(KEY, SLUG)}"
        simulate(entry, plan, 3, {"": Preference({preferred: 1})}, seed=1)
    session.expire_all()
    found = analyse_study(session, study, AnalysisOptions(include_test=True))
    assert [row.votes[preferred] for row in found.agreement.table4.rows] == [3] * plan.questions
    orders = {question.number: question.rankings for question in lifecycle.questions_of(study)}
    firsts = session.execute(
        select(StoredQuestion.number, StoredOrderingPresentation.ranked_first)
        .join(Presentation, Presentation.question_id == StoredQuestion.id)
        .join(StoredOrderingPresentation)
        .where(StoredQuestion.number > 0)
    ).all()
    assert len(firsts) == 3 * plan.questions
    for number, first in firsts:
        matching = [name for name, order in orders[number].items() if order == first]
        assert (preferred in matching) if preferred in plan.measures else not matching
