"""What an earlier version made stays readable, and replicates."""

from pathlib import Path

import pytest

from survey.core.studies.fields import PlanError
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.exchange.bundle_import import import_bundle
from survey.services.exchange.bundle_reader import read_bundle, replicate
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.studies import lifecycle, plans
from tests.builders import Visitor, a_plan
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import steps_of, with_json

EARLIER = sorted((Path(__file__).parents[2] / "cases" / "earlier").glob("*.zip"))


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
def test_a_bundle_of_an_earlier_version_replicates(path):
    [analysis] = [
        each for each in replicate(open_files(path, path.name)) if each.startswith("analysis.json")
    ]
    other_rules = "but for tests, intervals and verdicts, for which that version had other rules"
    assert (other_rules in analysis) == (path.stem not in ("groups", "labels"))


@pytest.mark.parametrize(
    ("bundle", "keys"),
    [
        ("drawn-lists", ("differences", 0, "mean")),
        ("drawn-lists", ("differences", 1, "label_permutation", "p")),
        ("own-orderings", ("table4", "totals", "MNRO")),
        ("preferences", ("bradley_terry", "runs", 0, "strength")),
        ("preferences", ("measures", 0, "agree")),
    ],
)
def test_a_figure_that_rests_on_no_test_is_still_compared(bundle, keys):
    [path] = [each for each in EARLIER if each.stem == bundle]
    *above, last = keys

    def one_more(content):
        for key in above:
            content = content[key]
        content[last] += 1

    changed = with_json(open_files(path, path.name), "analysis.json", one_more)
    with pytest.raises(BundleError, match=rf"analysis\.json, .*{last}: .* found; recomputed"):
        steps_of(changed)


@ON_SQLITE
@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
def test_a_bundle_of_an_earlier_version_can_be_taken_in(session, path):
    ada, _ = accounts.add_researcher(session, "Ada")
    study = import_bundle(session, open_files(path, path.name), path.name, "taken-in", ada)
    assert study.digest == read_bundle(open_files(path, path.name))[0].digest


@ON_SQLITE
def test_a_title_that_names_a_measure_today_goes_on_but_is_not_made_anew(session, client):
    plan = a_plan().as_json() | {"title": "WP3: five systems"}
    with pytest.raises(PlanError, match="holds the name of a measure"):
        plans.parse_plan(plan)
    study = lifecycle.create_study(session, "three", a_plan())
    study.plan_json = plan  # as an earlier version stored it
    session.commit()
    lifecycle.open_study(session, study)
    visitor = Visitor(client, "three")
    visitor.take_part()
    assert visitor.path == "/done"
    with pytest.raises(SurveyError, match="holds the name of a measure"):
        lifecycle.create_owned_study(session, None, "four", study.plan, lifecycle.Recruitment())


@ON_SQLITE
def test_a_study_whose_measure_is_not_registered_here_goes_on(session, client, app):
    study = lifecycle.create_study(session, "three", a_plan(practice=False))
    for question in study.questions:
        columns = question.content["columns"]
        columns = {{"MNRO": "screen"}.get(name, name): one for name, one in columns.items()}
        question.content = {**question.content, "columns": columns}
    study.plan_json = study.plan_json | {"measures": ["AP", "NMRR", "screen"]}
    session.commit()
    lifecycle.open_study(session, study)
    visitor = Visitor(client, "three")
    visitor.start()
    visitor.submit("/q/1", choice="1")
    assert visitor.path == "/q/2"
    session.expire_all()
    assert lifecycle.describe(session.get(Study, study.id))["measures"] == "AP NMRR screen"
