"""A bundle replicates, whatever its study; after any change what disagrees is named first."""

import json
import random
from dataclasses import replace

import pytest

from survey.core.measures import MEASURES
from survey.core.measures.registry import NO_PLUGINS, Plugins
from survey.kinds.ordering.models import StoredOrderingPresentation
from survey.services import accounts
from survey.services.exchange import bundle as bundles
from survey.services.exchange import bundle_import
from survey.services.exchange.bundle import SUMS
from survey.services.exchange.input_files import BundleError
from tests.databases import ON_SQLITE
from tests.preferred import a_preference_study
from tests.services.exchange.changes import (
    described,
    rows_of,
    steps_of,
    summed,
    with_cell,
    with_json,
    with_rows,
)
from tests.services.exchange.conftest import ANOTHER, EXCLUDED, FINISHED, TEST, a_study, handed_out

DESIGNS = {
    "the paper's": {},
    "a pool, shuffled": {
        "questions": 5,
        "design": "pool",
        "per_participant": 3,
        "shuffle_questions": True,
        "shuffle_lists": True,
        "practice": False,
    },
    "rank first": {"columns": "after"},
    "rescaled scores": {"rescale_values": True},
    "discriminative": {"generator": "discriminative"},
    "own lists": {
        "own_lists": [
            [[1, 2], [2, 3], [4, 5], [6, 7], [8, 9]],
            [[9, 10], [2, 3], [4, 5], [6, 7], [8, 20]],
            [[1, 3], [2, 4], [4, 5], [6, 7], [8, 9]],
        ]
    },
}


# Questions that have to be drawn many times take two seconds.
EVERY_DESIGN = pytest.mark.parametrize(
    "design",
    [
        pytest.param(design, id=name, marks=[pytest.mark.slow] * (name == "discriminative"))
        for name, design in DESIGNS.items()
    ],
)


def install_screens(monkeypatch, version, like):
    """Register a measure as a version of another package does, equal to a built-in one."""
    measure = replace(MEASURES[like], name="screen", label="the first screen", mean_name="screens")
    plugins = Plugins({"screen": measure}, {"screen": f"screens {version}"}, ())
    monkeypatch.setattr(MEASURES, "_plugins", plugins)
    monkeypatch.setattr(MEASURES, "_cache", {})
    assert MEASURES.mentions  # it is there from here on, so it is put back afterwards
    monkeypatch.delitem(MEASURES.__dict__, "mentions")


SCREEN = {"measures": ["AP", "NMRR", "screen"], "reminder": "", "scenario": "Choose."}


@pytest.mark.parametrize(
    "generator", [pytest.param("discriminative", marks=pytest.mark.slow), "random"]
)
def test_another_version_of_a_measure_s_package_is_named(session, monkeypatch, generator):
    install_screens(monkeypatch, "1.0", "MNRO")
    study = a_study(session, generator=generator, practice=False, **SCREEN)
    files = handed_out(session, study)
    assert steps_of(files)
    install_screens(monkeypatch, "2.0", "NMRR")
    assert "screen is of screens 1.0 there and of screens 2.0 here" in refused(files)


def test_a_missing_package_of_a_measure_is_named_for_preferences_too(session, monkeypatch):
    install_screens(monkeypatch, "1.0", "MNRO")
    study = a_preference_study(session, measures=["AP", "RR", "screen"])
    files = handed_out(session, study)
    assert steps_of(files)
    monkeypatch.setattr(MEASURES, "_plugins", NO_PLUGINS)
    monkeypatch.delitem(MEASURES._cache, "screen")
    missing = "screen comes with the package screens 1.0, not installed here"
    assert missing in refused(files)


def test_a_bundle_names_the_packages_of_the_day_on_which_lists_were_drawn(session, monkeypatch):
    install_screens(monkeypatch, "1.0", "MNRO")
    study = a_study(session, practice=False, **SCREEN)
    files = handed_out(session, study)
    assert json.loads(files["study.json"])["packages"] == {"screen": "screens 1.0"}
    install_screens(monkeypatch, "2.0", "MNRO")
    assert handed_out(session, study) == files
    session.rollback()
    ada, _ = accounts.add_researcher(session, "Ada")
    copy = bundle_import.import_bundle(session, files, "it.zip", "again", ada)
    assert copy.packages == {"screen": "screens 1.0"}
    monkeypatch.setattr(MEASURES, "_plugins", NO_PLUGINS)
    monkeypatch.delitem(MEASURES._cache, "screen")
    assert bundles.content_of(session, study).packages == {"screen": "screens 1.0"}
    assert bundles.content_of(session, copy).packages == {"screen": "screens 1.0"}


@pytest.mark.parametrize("packages", [None, 1, ["screens"], {"screen": 1}])
def test_packages_that_cannot_be_are_refused(bundle, packages):
    files = with_json(bundle, "study.json", lambda study: study.update(packages=packages))
    message = refused(with_cell(files, "votes.csv", 2, "credited", "5"))
    assert message == "study.json, packages: a package for each measure is needed"


def refused(files):
    with pytest.raises(BundleError) as error:
        steps_of(files)
    return str(error.value)


@ON_SQLITE
def test_people_see_rescaled_scores_and_a_bundle_says_so(session):
    study = a_study(session, rescale_values=True)
    files = handed_out(session, study)
    printed = [row["displayed"].split() for row in rows_of(files, "rankings.csv")]
    people = [one for drawn in session.query(StoredOrderingPresentation) for one in drawn.shown]
    for texts in (*printed, *people):
        numbers = [float(text) for text in texts]
        assert (min(numbers), max(numbers)) == (0, 100), texts
    assert json.loads(files["analysis.json"])["study"]["scores"] == "rescaled"


@pytest.mark.slow
@EVERY_DESIGN
def test_a_bundle_replicates_whatever_the_design(session, design):
    study = a_study(session, **design)
    for wanted in ({}, {"include_test": True}, {"with_identities": True}):
        steps = steps_of(handed_out(session, study, **wanted))
        assert steps[-2] == "analysis.json: every figure recomputed"


def test_the_same_database_gives_the_same_bytes(session, study):
    assert handed_out(session, study) == handed_out(session, study)


def test_what_is_left_out_is_left_out_of_every_file(session, study, bundle):
    everyone = {row["participant"] for row in rows_of(bundle, "participants.csv")}
    assert TEST not in everyone
    assert EXCLUDED in everyone
    voters = {row["participant"] for row in rows_of(bundle, "votes.csv")}
    assert voters & {EXCLUDED, TEST} == set()
    with_test = handed_out(session, study, include_test=True)
    assert TEST in {row["participant"] for row in rows_of(with_test, "votes.csv")}
    assert "identities.csv" not in bundle
    assert "identities.csv" in handed_out(session, study, with_identities=True)


@pytest.mark.parametrize("seed", range(3))
def test_after_one_changed_byte_the_file_is_named(bundle, seed):
    chance = random.Random(seed)
    for name, content in bundle.items():
        at = chance.randrange(len(content))
        changed = bytes([*content[:at], content[at] ^ 1, *content[at + 1 :]])
        assert refused({**bundle, name: changed}).startswith(f"{name} was changed")


def test_a_file_that_is_missing_or_too_many_is_named(bundle):
    for name in bundle:
        rest = {one: content for one, content in bundle.items() if one != name}
        assert refused(rest).startswith(f"{name} is missing")
        if name != SUMS:
            assert refused(summed(rest)).startswith(f"{name} is missing")
    assert "x.csv does not belong" in refused({**bundle, "x.csv": b"a\n"})
    assert "x.csv does not belong" in refused(summed({**bundle, "x.csv": b"a\n"}))


@pytest.mark.parametrize(
    ("name", "row", "column", "cell", "told"),
    [
        ("responses.csv", 2, "clicked", "2", "votes.csv, row"),
        ("responses.csv", 2, "label_order", "AP AP MNRO", "responses.csv, row 2"),
        ("questions.csv", 2, "ranks", "1 2 3 4 5", "questions.csv, question 1, list A: 1 2 3 4 5"),
        ("rankings.csv", 2, "values", "0 0 0 0 0", "rankings.csv, row 2, column values"),
        ("rankings.csv", 2, "values", "nan nan nan nan nan", "rankings.csv, row 2, column values"),
        ("rankings.csv", 3, "displayed", "1 1 1 1 1", "rankings.csv, row 3, column displayed"),
        ("rankings.csv", 2, "ranking", "A>B>C>D>E", "rankings.csv, row 2, column ranking"),
        ("participants.csv", 2, "excluded", "1", "participants.csv, row 2, column exclude_reason"),
        ("participants.csv", 2, "minutes", "3", "participants.csv, row 2, column minutes"),
        ("participants.csv", 2, "age", "98", "table3.csv, row"),
        ("table3.csv", 2, "value", "9", "table3.csv, row 2, column value: '9' found; recomputed"),
        ("table4.csv", 2, "MNRO", "77", "table4.csv, row 2, column MNRO: '77' found; recomputed"),
        ("table4.csv", 2, "choice", "AP-AP", "table4.csv, row 2, column choice"),
        ("codebook.csv", 3, "column", "nothing", "codebook.csv, row 3: questions.csv nothing"),
    ],
)
def test_a_forger_who_makes_the_sums_anew_is_found_out(bundle, name, row, column, cell, told):
    assert refused(with_cell(bundle, name, row, column, cell)).startswith(told)


def test_a_vote_that_was_turned_round_is_found_out(bundle):
    for row, vote in enumerate(rows_of(bundle, "votes.csv"), 2):
        turned = str(1 - int(vote["credited"]))
        told = refused(with_cell(bundle, "votes.csv", row, "credited", turned))
        assert told.startswith(f"votes.csv, row {row}, column credited: '{turned}' found")


def test_an_answer_that_was_taken_away_or_given_twice_is_found_out(bundle):
    less = with_rows(bundle, "responses.csv", lambda rows: rows[1:])
    assert "responses.csv has 2 answers of 3" in refused(less)
    more = with_rows(bundle, "responses.csv", lambda rows: [*rows, rows[0]])
    assert refused(more).startswith("responses.csv, row")
    votes = with_rows(bundle, "votes.csv", lambda rows: [*rows, rows[0]])
    assert "one too many" in refused(votes)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("study.json", lambda c: c["plan"].update(seed=6), "study.json, practice: the seed"),
        ("study.json", lambda c: c["plan"].update(scenario="Another."), "study.json, digest"),
        ("study.json", lambda c: c.update(digest="0" * 64), "study.json, digest"),
        ("study.json", lambda c: c.update(title="Another"), "study.json, title"),
        ("study.json", lambda c: c["consent"][0].update(text="x"), "study.json, consent"),
        ("study.json", lambda c: c.update(generator_version=2), "study.json, generator_version"),
        ("study.json", lambda c: c.update(plan=[]), "study.json, plan"),
        ("analysis.json", lambda c: c["n"].update(responses=8), "analysis.json, n, responses: 8"),
        ("analysis.json", lambda c: c["n"].pop("missing"), "analysis.json, n, missing is missing"),
        ("analysis.json", lambda c: c.update(more=1), "analysis.json, more does not belong"),
        (
            "analysis.json",
            lambda c: c["shares"]["split"].update(MNRO=0.5),
            "analysis.json, shares, split, MNRO: 0.5 found; recomputed",
        ),
    ],
)
def test_a_figure_or_a_plan_that_was_changed_is_found_out(bundle, name, change, told):
    assert refused(with_json(bundle, name, change)).startswith(told)


def test_a_column_or_a_name_that_no_bundle_has_is_refused(bundle):
    for name in ("responses.csv", "participants.csv"):
        more = with_rows(bundle, name, lambda rows: [{**row, "email": "x"} for row in rows])
        assert refused(more) == f"{name}, row 1: the column 'email' does not belong there"
    twice = bundle["analysis.json"].replace(b"{\n", b'{\n  "shares": {},\n', 1)
    assert "the same name occurs in it twice" in refused(summed({**bundle, "analysis.json": twice}))


def test_a_bundle_from_before_a_figure_was_computed_replicates_in_those_it_holds(bundle):
    def without(figures):
        del figures["sensitivity"], figures["bias"]

    incomplete = with_json(bundle, "analysis.json", without)
    assert refused(incomplete) == "analysis.json, bias is missing"
    older = with_json(incomplete, "study.json", lambda c: c["versions"].update(commit="0" * 40))
    noted = "not in this bundle: analysis.json (bias and sensitivity); made by "
    assert steps_of(described(older))[-1].startswith(noted)


def test_a_sentence_of_another_version_is_noted_where_it_is_worded_otherwise(bundle):
    def reword(figures):
        verdict = figures["differences"][0]["verdict"]
        verdict["sentence"] = f"In short: {verdict['sentence']}"

    reworded = with_json(bundle, "analysis.json", reword)
    assert "analysis.json, differences 1, verdict, sentence: " in refused(reworded)
    older = with_json(reworded, "study.json", lambda c: c["versions"].update(commit="0" * 40))
    assert steps_of(described(older))[-1].startswith(
        "in other words, of the same figures: analysis.json (differences.verdict.sentence); made by"
    )
    other = with_json(older, "analysis.json", lambda c: c["n"].update(participants=99))
    assert "analysis.json, n, participants: 99 found" in refused(other)
    elsewhere = with_json(bundle, "analysis.json", lambda c: c["study"].update(scores="In short: "))
    assert "analysis.json, study, scores: " in refused(elsewhere)
    no_list = with_json(bundle, "analysis.json", lambda c: c.update(verdicts="a text"))
    assert "analysis.json, verdicts: 'a text' found" in refused(no_list)


def test_columns_after_the_ranking_may_be_missing(bundle):
    kept = ("participant", "question", "position", "label_order", "column_order")
    kept += ("list_order", "clicked", "custom_ranking")
    less = with_rows(
        bundle, "responses.csv", lambda rows: [{name: row[name] for name in kept} for row in rows]
    )
    assert steps_of(described(less))[-2] == (
        "analysis.json: every figure recomputed, but for those of times, which responses.csv lacks"
    )


def test_free_texts_come_back_as_they_were_written(bundle):
    remarks = {row["participant"]: row["remark"] for row in rows_of(bundle, "participants.csv")}
    assert remarks[FINISHED] == "'=1+1"
    assert "\r\n" in remarks[ANOTHER]
