"""``survey paper table4``: beside the recount, what the counts support."""

import json

import pytest

from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE


def test_table_4_is_read_claim_by_claim(run):
    said = run("paper", "table4")
    for words in (
        "20 of 20 printed values agree",
        "HOLDS: MNRO is preferred to AP",
        "NOT SUPPORTED: MNRO is preferred to NMRR",
        "Differences in share, with the sets as units",
        "McNemar's test and Cochran's Q cannot be computed",
    ):
        assert words in " ".join(said.split())


def test_its_json_keeps_the_recount_and_adds_the_tests_and_the_claims(run):
    found = json.loads(run("paper", "table4", "--json"))
    assert {"table4", "shares", "first", "comparisons", "set_level", "claims"} == found.keys()
    assert found["claims"][0].keys() == {"place", "said", "verdict", "why"}
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
