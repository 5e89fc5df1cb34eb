"""``survey paper``: what each name prints, gives to scripts and writes."""

import json
from dataclasses import replace

import pytest

from survey.paper.catalogue import REPRODUCTIONS
from survey.paper.reproduction import PrintComparison
from survey.paper.tables1_to_3 import table2
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE
NAMES = [
    *(f"table{number}" for number in range(1, 9)),
    *(f"figure{number}" for number in range(1, 9)),
    *("correlations", "slips", "generality"),
]


def test_table_4_is_read_claim_by_claim(run):
    said = run("paper", "table4")
    for words in (
        "20 of 20 printed values agree",
        "HOLDS if people's own leads differ by a standard deviation of at most 25 points: MNRO is "
        "preferred to AP",
        "NOT SUPPORTED: MNRO is preferred to NMRR",
        "Differences in share, with the sets as units",
        "McNemar's test and Cochran's Q cannot be computed",
    ):
        assert words in " ".join(said.split())


def test_its_json_keeps_the_recount_and_adds_the_tests_and_the_claims(run):
    found = json.loads(run("paper", "table4", "--json"))
    assert {"table4", "shares", "first", "comparisons", "set_level", "claims"} == found.keys()
    assert found["claims"][0].keys() == {"place", "said", "verdict", "why", "condition"}
    assert found["claims"][1].keys() == {"place", "said", "verdict", "why"}
    first = found["set_level"]["pairs"][0]
    assert (first["pair"], first["lead"], first["chance_lead"]) == ("MNRO-NMRR", 26, 18)
    assert first["all_sets"]["questions"]["sign_flip_p"] == pytest.approx(0.234375)
    assert first["free"]["t_test"]["left_out"] == {"the orders of the two are identical": 1}


def test_the_claims_are_written_as_markdown_beside_the_csv(run, tmp_path):
    run("paper", "table4", "--to", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "table4-claims.md",
        "table4.csv",
    ]
    text = (tmp_path / "out" / "table4-claims.md").read_text(encoding="utf-8")
    assert text.startswith("# What Table 4 supports\n")


def test_all_gives_every_name_what_it_gives_alone(run):
    found = json.loads(run("paper", "all", "--json"))
    assert list(found) == NAMES
    for name in ("table2", "figure6", "slips"):
        assert json.loads(run("paper", name, "--json")) == found[name]
    assert all(row["agrees"] for one in found.values() for row in one["comparisons"])


def test_all_prints_a_part_of_each_name(run):
    said = run("paper", "all")
    for words in (
        *(f"Table {number}. " for number in (1, 2, 3, 5, 6, 7, 8)),
        *(f"Figure {number}. " for number in range(1, 9)),
        *("Votes per set", "How alike the means order the descriptors"),
        "Meant: 1 + β² instead of (1 + β)².",
    ):
        assert words in said


def test_a_published_study_is_read_claim_by_claim(run, tmp_path):
    said = " ".join(run("paper", "study", "urbano-2012", "--to", tmp_path).split())
    assert "CANNOT BE TOLD: “indicators of statistical significance (i.e., small p-value)" in said
    assert {path.name for path in tmp_path.iterdir()} == {
        "urbano-2012.csv",
        "urbano-2012-claims.md",
    }
    found = json.loads(run("paper", "study", "urbano-2012", "--json"))
    assert found.keys() == {"study", "counts", "claims", "comparisons"}
    row = {"AG@5": ".1 to .2", "better": 47, "worse": 21, "neither": 132}
    assert found["counts"][1] == row | {"satisfied": 11, "dissatisfied": 43}


def test_the_studies_are_listed(run):
    assert "urbano-2012" in run("paper", "studies")
    assert [*json.loads(run("paper", "studies", "--json"))] == ["urbano-2012", "urbano-2015"]


def test_a_study_that_is_not_there_is_said_with_those_that_are(run):
    said = run("paper", "study", "urbano-2021", status=1)
    assert "Did you mean urbano-2015?" in said


@pytest.mark.parametrize("words", [("study",), ("table4", "urbano-2012")])
def test_a_study_belongs_to_its_name_alone(run, words):
    assert "STUDY belongs to `survey paper study`" in run("paper", *words, status=2)


def test_a_figure_is_written_as_numbers_and_in_three_formats(run, tmp_path):
    run("paper", "figure1", "--to", tmp_path / "out")
    assert {path.name: path.read_bytes()[:4] for path in (tmp_path / "out").iterdir()} == {
        "figure1.csv": b"Rank",
        "figure1.pdf": b"%PDF",
        "figure1.png": b"\x89PNG",
        "figure1.svg": b"<?xm",
    }


def test_a_figures_json_has_its_series_and_the_claims_about_it(run):
    found = json.loads(run("paper", "figure3", "--json"))
    assert found.keys() == {"title", "note", "series", "claims", "comparisons"}
    assert [(one["name"], len(one["x"]), len(one["z"])) for one in found["series"]] == [
        ("1-AP", 190, 190),
        ("NMRR", 190, 190),
    ]
    assert found["claims"][0]["verdict"] == "holds"


def test_a_value_that_does_not_agree_fails_the_command(run, monkeypatch):
    wrong = replace(table2(), comparisons=(PrintComparison("set B", "MAP", "1", "2"),))
    monkeypatch.setitem(REPRODUCTIONS, "table2", lambda: wrong)
    assert "0 of 1 printed values agree" in run("paper", "table2", status=1)


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(run, tmp_path):
    (tmp_path / "file").write_text("")
    said = run("paper", "table3", "--to", tmp_path / "file" / "out", status=1)
    assert "out cannot be written: Not a directory." in said


def test_an_unknown_name_is_wrong_usage(run):
    assert "'table9' is not one of 'table1'" in run("paper", "table9", status=2)
