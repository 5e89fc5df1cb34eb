"""long.csv holds what the survey decides from, a row for each response and two measures."""

import json
from statistics import fmean

import pytest

from survey.core.agreement.own_orderings import DECIDES
from survey.kinds.ordering.models import StoredOrderingPresentation
from survey.release import made_by
from survey.services.exchange.bundle import bundle_files
from survey.services.exchange.input_files import BundleError
from survey.services.exchange.long_table import LONG, SCRIPT, script
from survey.services.exchange.public_bundle import public_content
from tests.preferred import preferred
from tests.services.exchange.changes import (
    described,
    rows_of,
    steps_of,
    summed,
    with_cell,
    with_json,
    with_rows,
)
from tests.services.exchange.conftest import (
    EXCLUDED,
    FINISHED,
    TEST,
    UNFINISHED,
    a_study,
    handed_out,
)


def figures_of(bundle):
    return json.loads(bundle["analysis.json"])


def means_of(bundle):
    """The mean of d of each pair."""
    values = {}
    for row in rows_of(bundle, LONG):
        values.setdefault(row["pair"], []).append(float(row["d"]))
    return {pair: fmean(of_pair) for pair, of_pair in values.items()}


def refused(files):
    with pytest.raises(BundleError) as error:
        steps_of(files)
    return str(error.value)


def test_means_and_contrasts_are_those_of_the_votes_that_decide(bundle):
    figures = figures_of(bundle)
    means = {each["pair"]: each["mean"] for each in figures["differences"]}
    assert means_of(bundle) == pytest.approx(means, abs=1e-12)
    assert any(float(row["d"]) for row in rows_of(bundle, LONG))  # means may cancel out
    for each in figures["differences"]:
        rows = [row for row in rows_of(bundle, LONG) if row["pair"] == each["pair"]]
        assert len(rows) == figures["n"]["responses"]
        for contrast in ("balanced", "unbalanced", "ties_only", "identical"):
            part = [row for row in rows if row["contrast"] == contrast]
            assert len(part) == each["by_contrast"][contrast]["responses"]


def test_a_row_has_the_place_and_the_time_of_its_response(bundle):
    answers = {
        (row["participant"], row["question"]): row for row in rows_of(bundle, "responses.csv")
    }
    for row in rows_of(bundle, LONG):
        answer = answers[row["participant"], row["question"]]
        assert row["position"] == answer["position"]
        assert row["seconds"] == answer["active_seconds"]  # empty where no time is known


def test_participants_who_do_not_count_have_no_row(session, study, bundle):
    people = {row["participant"] for row in rows_of(bundle, LONG)}
    assert {FINISHED, UNFINISHED} <= people
    assert people & {EXCLUDED, TEST} == set()
    with_test = handed_out(session, study, include_test=True)
    people_with_test = {row["participant"] for row in rows_of(with_test, LONG)}
    assert people_with_test == people | {TEST}


def test_orderings_alone_are_compared_by_pairs_of_lists(session):
    bundle = handed_out(session, a_study(session, columns="never", obvious=False))
    differences = figures_of(bundle)["own_orderings"]["differences"]
    means = {
        each["pair"]: each["tests"]["mean"] for each in differences if each["statistic"] == DECIDES
    }
    assert means_of(bundle) == pytest.approx(means, abs=1e-9)
    meanings = {
        (row["file"], row["column"]): row["meaning"] for row in rows_of(bundle, "codebook.csv")
    }
    assert "pairs of lists" in meanings[LONG, "d"]
    assert "long.csv: differences recomputed from the answers" in steps_of(bundle)


def test_preferences_for_a_list_have_rows_with_their_topic(app, session):
    bundle = handed_out(session, preferred(app, session))
    rows = rows_of(bundle, LONG)
    answers = {
        row["question"]: row
        for row in rows_of(bundle, "preferences.csv")
        if row["preferred"] in ("left", "right")
    }
    assert {row["question"]: row["topic"] for row in rows} == {
        question: row["topic"] for question, row in answers.items()
    }
    means = {each["pair"]: each["mean"] for each in figures_of(bundle)["differences"]}
    assert means_of(bundle) == pytest.approx(means, abs=1e-12)
    assert {row["contrast"] for row in rows} <= {"balanced", "ties_only", "identical"}


def test_a_public_bundle_has_the_same_rows(session, study, bundle):
    public = {
        name: "".join(lines).encode()
        for name, lines in bundle_files(public_content(session, study))
    }
    assert public[LONG] == handed_out(session, study)[LONG]
    assert public[SCRIPT] == bundle[SCRIPT] == script().encode()


def test_a_participant_of_an_arm_without_columns_has_no_row(session):
    study = a_study(session, arms=("before", "never"), obvious=False)
    bundle = handed_out(session, study)
    arms = {row["participant"]: row["arm"] for row in rows_of(bundle, "participants.csv")}
    assert {arms[row["participant"]] for row in rows_of(bundle, LONG)} <= {"before"}
    assert session.query(StoredOrderingPresentation).count()


@pytest.mark.parametrize(
    ("column", "cell"), [("d", "0.5"), ("contrast", "none"), ("position", "9")]
)
def test_a_changed_cell_is_named(bundle, column, cell):
    message = refused(with_cell(bundle, LONG, 2, column, cell))
    assert message.startswith(f"{LONG}, row 2, column {column}: '{cell}' found; recomputed ")


def test_a_changed_script_is_not_to_be_run(bundle):
    changed = summed({**bundle, SCRIPT: bundle[SCRIPT] + b'unlink("~")\n'})
    assert refused(changed) == f"{SCRIPT} is not the survey's script: do not run it"
    assert f"{SCRIPT}: the survey's own script" in steps_of(bundle)


def without_long_data(bundle):
    """The bundle as a version without long.csv would have written it."""
    rest = {name: content for name, content in bundle.items() if name not in (LONG, SCRIPT)}
    rest = with_rows(
        rest, "codebook.csv", lambda rows: [row for row in rows if row["file"] != LONG]
    )
    return with_json(rest, "study.json", lambda content: content["versions"].update(commit="0"))


def test_a_bundle_of_a_version_without_the_table_replicates(bundle):
    steps = steps_of(described(without_long_data(bundle)))
    assert not [step for step in steps if step.startswith((LONG, SCRIPT))]
    assert steps[-1].startswith("not in this bundle: long.csv; analysis.R; made by ")
    ours = with_json(
        without_long_data(bundle), "study.json", lambda c: c["versions"].update(made_by())
    )
    assert refused(ours) == "long.csv is missing"


def test_a_script_without_its_table_is_refused(bundle):
    files = summed({**without_long_data(bundle), SCRIPT: bundle[SCRIPT]})
    assert refused(files).startswith(f"{SCRIPT} does not belong to a bundle without {LONG}. The")
