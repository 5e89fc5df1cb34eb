"""Tables of preferences and votes from elsewhere give the figures that they give as a bundle."""

import csv
import io
import zipfile
from pathlib import Path

import pytest

from survey.core.kinds import KINDS
from survey.errors import SurveyError
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle_reader import analyse_files, analyse_path, foreign_tables
from survey.services.exchange.input_files import BundleError

RELEASED = Path(__file__).parents[2] / "cases" / "released" / "0.2.0"
AS_PLANNED = AnalysisOptions()
WITH_TESTS = AnalysisOptions(include_test=True)
PREFERENCES = """participant,question,topic,left,right,preferred
a,1,t1,x,y,left
a,2,t2,y,x,right
b,1,t1,y,x,neither
b,2,t2,x,y,right
"""
VOTES = """participant,question,measure,credited
a,1,AP,1
a,1,MNRO,0
b,1,AP,0
b,1,MNRO,0
"""


def released(name):
    with zipfile.ZipFile(RELEASED / f"{name}.zip") as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def rows_of(content):
    return [*csv.DictReader(io.StringIO(content.decode()))]


def as_csv(rows, columns):
    lines = [",".join(columns), *(",".join(str(row[name]) for name in columns) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def flagged(files, name):
    """The rows of a table of answers, with the flags of participants.csv."""
    people = {row["participant"]: row for row in rows_of(files["participants.csv"])}
    return [
        {**row, **{flag: people[row["participant"]][flag] for flag in ("is_test", "excluded")}}
        for row in rows_of(files[name])
    ]


def close(value, expected):
    if isinstance(expected, dict):
        keys = {*value, *expected}
        return all(close(value.get(key), expected.get(key)) for key in keys)
    if isinstance(expected, list | tuple):
        return len(value) == len(expected) and all(map(close, value, expected))
    return value == (pytest.approx(expected) if isinstance(expected, float) else expected)


def refused(files, options=AS_PLANNED):
    with pytest.raises(SurveyError) as error:
        analyse_files({name: text.encode() for name, text in files.items()}, options)
    return str(error.value)


@pytest.fixture(scope="module")
def preference():
    files = released("preference")
    return files, analyse_files(files, WITH_TESTS).as_json()


def test_preferences_and_lists_give_every_figure_of_their_bundle(preference):
    files, expected = preference
    rows = flagged(files, "preferences.csv")
    folder = {name: files[name] for name in ("questions.csv", "rankings.csv")}
    folder["preferences.csv"] = as_csv(rows, [name for name in rows[0] if name != "reason"])
    figures = analyse_files(folder, WITH_TESTS).as_json()
    assert {*figures} == {*expected}
    assert len(expected["measures"]) > 1
    for name in {*expected} - {"selection"}:
        assert close(figures[name], expected[name]), name


@pytest.mark.parametrize("is_tidy", [False, True], ids=["by side", "by run"])
def test_preferences_alone_give_the_figures_of_systems_and_of_people(preference, is_tidy):
    files, expected = preference
    rows = flagged(files, "preferences.csv")
    columns = ["participant", "question", "topic", "left", "right", "preferred"]
    if is_tidy:
        for row in rows:
            row["run_b"], row["run_a"] = row["left"], row["right"]
            row["preferred_run"] = row.get(row["preferred"], row["preferred"])
        columns[3:] = ["run_a", "run_b", "preferred_run"]
    table = as_csv(rows, [*columns, "is_test", "excluded"])
    results = analyse_files({"preferences.csv": table}, WITH_TESTS)
    figures = results.as_json()
    for name in ("n", "leads", "people"):
        assert close(figures[name], expected[name]), name
    assert close(figures["bradley_terry"]["pairs"], expected["bradley_terry"]["pairs"])
    assert (figures["answers"]["left"] is None) == is_tidy
    assert figures["measures"] == []
    assert any("no questions.csv" in sentence.text for sentence in results.sentences)
    assert results.headline
    assert results.rows
    assert results.exhibits


def test_votes_alone_give_the_differences_of_their_bundle():
    files = released("ordering")
    expected = analyse_files(files, WITH_TESTS).as_json()
    columns = ("participant", "question", "measure", "credited")
    table = as_csv(rows_of(files["votes.csv"]), columns)
    results = analyse_files({"votes.csv": table}, WITH_TESTS)
    figures = results.as_json()
    assert close(figures["shares"]["of_responses"], expected["shares"]["of_responses"])
    assert len(figures["differences"]) == 3
    for difference, of_bundle in zip(figures["differences"], expected["differences"], strict=True):
        for name in ("pair", "mean", "components", "participants", "kind", "these", "questions"):
            assert close(difference[name], of_bundle[name]), (difference["pair"], name)
    assert "Not computed" in results.remarks[0]


def test_who_is_excluded_or_simulated_does_not_count():
    heading, *lines = PREFERENCES.splitlines()
    flags = {"a": ",0,0", "b": ",1,0"}
    table = [f"{heading},is_test,excluded", *(line + flags[line[0]] for line in lines)]
    table += ["c,1,t1,x,y,left,0,1"]
    files = {"preferences.csv": "\n".join(table).encode()}
    assert analyse_files(files, AnalysisOptions()).as_json()["n"]["participants"] == 1
    with_tests = analyse_files(files, WITH_TESTS)
    assert with_tests.as_json()["n"]["participants"] == 2
    assert (with_tests.left_out.excluded, with_tests.simulated_ids) == (1, {"b"})


@pytest.mark.parametrize(
    ("name", "before", "after", "fault"),
    [
        (
            "preferences.csv",
            "preferred",
            "better",
            "row 1: participant,question,topic,left,right,b",
        ),
        (
            "preferences.csv",
            "participant,q",
            "who,q",
            "Headings allowed: participant,question,topic",
        ),
        (
            "preferences.csv",
            "left\n",
            "best\n",
            "row 2, column preferred: 'best' found; allowed: le",
        ),
        ("preferences.csv", "a,2", "a,1", "row 2 has 'a' answer it already"),
        ("preferences.csv", "b,1,t1,y", "b,1,t1,z", "question 1 is of x and y, topic 't1'"),
        ("preferences.csv", "b,1,t1", "b,1,t3", "question 1 is of x and y, topic 't1'"),
        ("preferences.csv", "t1,x,y", "t1,x,x", "another run than at the left is needed"),
        ("preferences.csv", "a,2", "a,two", "row 3, column question: 'two' found; a whole number"),
        ("preferences.csv", "\n".join(PREFERENCES.splitlines()[1:]), "", "holds no answer"),
        ("votes.csv", "AP,1", "AP,yes", "row 2, column credited: 'yes' found; 0, 1, true or false"),
        ("votes.csv", "AP,1", "AP,", "row 2, column credited: '' found; 0 or 1 is needed"),
        ("votes.csv", "b,1,MNRO", "b,1,AP", "each measure is allowed once in an answer"),
        ("votes.csv", "b,1,MNRO,0\n", "", "participant b, question 1: no row for MNRO"),
        (
            "votes.csv",
            "credited",
            "votes",
            "Headings allowed: participant,question,measure,credited",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(name, before, after, fault):
    table = {"preferences.csv": PREFERENCES, "votes.csv": VOTES}[name]
    assert before in table
    changed = table.replace(before, after, 1 if name == "preferences.csv" or after == "AP," else -1)
    assert fault in refused({name: changed})


def test_names_of_systems_that_are_voted_for_are_free():
    table = VOTES.replace("AP", "BM25 tuned").replace("MNRO", "neural")
    results = analyse_files({"votes.csv": table.encode()}, AnalysisOptions())
    assert results.measures == ("BM25 tuned", "neural")


def test_options_that_such_tables_cannot_have_are_refused():
    for files in ({"preferences.csv": PREFERENCES}, {"votes.csv": VOTES}):
        assert "--include-test" in refused(files, AnalysisOptions(ties="split"))


def test_a_folder_without_answers_is_told_which_tables_are_read():
    fault = refused({"questions.csv": "question,list,ranks,collection_size\n"})
    for name, (_, headings) in foreign_tables().items():
        assert name in fault
        assert ",".join(headings[0]) in fault


def test_no_two_kinds_claim_a_table():
    names = [name for kind in KINDS.values() for name in kind.foreign_files]
    assert len({*names}) == len(names) > 2


@pytest.mark.parametrize("table", [PREFERENCES, VOTES])
def test_a_single_table_is_known_by_its_heading_and_named_as_it_is(table, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(table.replace(",", ";").encode("utf-16"))
    assert analyse_path(path, AnalysisOptions()).participants == ["a", "b"]
    path.write_text(table.replace("a,1,", "a,first,"))
    with pytest.raises(BundleError, match=r"^mine\.csv, row 2, column question: 'first' found"):
        analyse_path(path, AnalysisOptions())
    path.write_text("a,b\n1,2\n")
    with pytest.raises(BundleError, match=r"^mine\.csv, row 1: no heading of .* preferences\.csv"):
        analyse_path(path, AnalysisOptions())
