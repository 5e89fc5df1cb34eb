"""``survey paper claims``: a folder of a published study, judged, printed and written."""

import json

STUDY = """\
title: A study
source: Somebody, 2020, Table 1
data: votes
table: table.csv
measures: [AP, nDCG]
claims:
- {said: It is nearer., place: p. 1, that: preferred, first: nDCG, second: AP}
"""


def test_a_folder_is_judged_printed_and_written(run, tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY)
    rows = "".join(f"{number},2,{9 + number}\n" for number in range(8))
    (tmp_path / "table.csv").write_text(f"unit,AP,nDCG\n{rows}")
    asked = ("paper", "claims", "--study", str(tmp_path))
    assert "HOLDS: It is nearer. (p. 1)" in run(*asked)
    content = json.loads(run(*asked, "--json"))
    assert [claim["verdict"] for claim in content["claims"]] == ["holds"]
    run(*asked, "--to", str(tmp_path / "out"))
    assert "| p. 1 | It is nearer. | holds |" in (tmp_path / "out" / "claims.md").read_text()


def test_without_a_folder_it_is_table_4(run):
    assert "HOLDS IN PART: MNRO “gains first place" in run("paper", "claims")
