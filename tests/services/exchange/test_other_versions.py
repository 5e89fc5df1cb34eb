"""Bundles of other versions: what is there is compared, and what is not is said and no fault."""

import json
import re

import pytest

from survey import __version__, release
from survey.services.exchange.input_files import BundleError
from tests.services.exchange.changes import (
    described,
    steps_of,
    summed,
    with_cell,
    with_json,
    with_rows,
)


def refused(files):
    with pytest.raises(BundleError) as error:
        steps_of(files)
    return str(error.value)


def made_by(files, version):
    return with_json(files, "study.json", lambda study: study["versions"].update(survey=version))


def without(*keys):
    def change(content):
        *above, last = keys
        for key in above:
            content = content[key]
        del content[last]

    return change


def without_labels(rows):
    return [{name: cell for name, cell in row.items() if name != "label"} for row in rows]


def test_a_bundle_says_which_version_and_commit_made_it(bundle):
    versions = json.loads(bundle["study.json"])["versions"]
    assert versions["survey"] == __version__
    assert re.fullmatch("[0-9a-f]{40}", versions["commit"])
    assert not [step for step in steps_of(bundle) if step.startswith("not ")]


def test_the_maker_is_no_part_of_what_must_be_equal(bundle):
    for version in ("0.0.9", "9.0"):
        assert steps_of(described(made_by(bundle, version))) == steps_of(bundle)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (
            lambda files: with_json(files, "analysis.json", without("n", "missing")),
            "not in this bundle: analysis.json (n.missing)",
        ),
        (
            lambda files: with_json(files, "analysis.json", without("differences", 0, "mean")),
            "not in this bundle: analysis.json (differences.mean)",
        ),
        (
            lambda files: with_rows(files, "codebook.csv", lambda rows: rows[1:]),
            "not in this bundle: codebook.csv (the row for questions.csv question)",
        ),
        (
            lambda files: with_json(files, "analysis.json", lambda figures: figures.update(old=1)),
            "not compared, as this version does not write it: analysis.json (old)",
        ),
        (
            lambda files: summed({**files, "old.csv": b"a\n1\n"}),
            "not compared, as this version does not write it: old.csv",
        ),
        (
            lambda files: with_rows(
                files, "votes.csv", lambda rows: [{**row, "old": "1"} for row in rows]
            ),
            "not compared, as this version does not write it: votes.csv (row 1: the column 'old')",
        ),
        (
            lambda files: with_rows(files, "votes.csv", without_labels),
            "not in this bundle: votes.csv (label)",
        ),
    ],
)
def test_what_another_version_lacks_or_has_beside_is_noted_and_a_fault_of_this_one(
    bundle, change, note
):
    changed = change(bundle)
    steps = steps_of(described(made_by(changed, "0.0.9")))
    assert steps[-1] == f"{note}; made by 0.0.9"
    assert refused(changed)


def test_what_another_version_has_is_compared_all_the_same(bundle):
    older = made_by(with_json(bundle, "analysis.json", without("n", "missing")), "0.0.9")
    message = refused(with_cell(older, "votes.csv", 2, "credited", "7"))
    assert message.startswith("votes.csv, row 2, column credited: '7' found; recomputed")
    assert message.endswith(
        f"The bundle was made by 0.0.9, and this is {__version__}: if these compute it "
        "differently, it is no fault of the bundle, and 0.0.9 replicates it"
    )


def test_a_description_in_other_words_is_noted_and_never_a_fault(bundle):
    changed = with_cell(bundle, "codebook.csv", 2, "meaning", "The question's number, by hand.")
    note = "not compared, as descriptions are no results: codebook.csv (questions.csv question)"
    assert steps_of(described(changed))[-1] == note
    assert steps_of(described(made_by(changed, "0.0.9")))[-1] == f"{note}; made by 0.0.9"


@pytest.mark.parametrize(
    "change",
    [
        lambda files: with_json(files, "study.json", lambda study: study.update(format=3)),
        lambda files: with_json(files, "study.json", without("include_test")),
        lambda files: with_cell(files, "votes.csv", 2, "credited", "7"),
    ],
)
def test_a_bundle_of_a_later_version_is_refused_in_one_sentence(bundle, change):
    assert refused(made_by(change(bundle), "9.10.1")) == (
        "The bundle was made by version 9.10.1 of the survey, and this is the older "
        f"{__version__}: install ranking-survey 9.10.1 or later to read it"
    )


@pytest.mark.parametrize("versions", [None, [], {}, {"survey": 3}, {"survey": "x" * 999}])
def test_versions_that_no_survey_wrote_are_another_version(bundle, versions):
    def change(study):
        study["versions"] = versions

    assert steps_of(with_json(bundle, "study.json", change))


def test_code_outside_a_checkout_has_no_commit_and_says_why(monkeypatch, tmp_path):
    assert release.commit_of(tmp_path) is None
    monkeypatch.setattr(release, "commit_of", lambda _: None)
    maker = release.made_by.__wrapped__()
    assert maker == {"survey": __version__, "commit": "unknown", "modified": False}


def test_a_wheel_holds_the_commit_that_it_was_built_from(monkeypatch, tmp_path):
    file = tmp_path / "COMMIT"
    monkeypatch.setattr(release, "IN_WHEEL", file)
    file.write_text("a" * 40 + "\n")
    maker = {"survey": __version__, "commit": "a" * 40, "modified": False}
    assert release.made_by.__wrapped__() == maker
    file.write_text("a" * 40 + release.MODIFIED + "\n")
    assert release.made_by.__wrapped__()["modified"] is True
