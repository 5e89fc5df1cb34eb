"""What ``import survey`` offers, as a notebook uses it."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import survey
from survey.cli import survey as command
from survey.errors import SurveyError
from survey.services.exchange.bundle import stream_zip_of_bytes
from tests.notebooks import run_cells, stored_outputs
from tests.sites import VOTES, site_bundles

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "survey" / "services" / "examples" / "bundle.zip"
RELEASED = sorted((ROOT / "tests" / "cases" / "released" / "0.2.0").glob("*.zip"))
NOTEBOOKS = sorted((ROOT / "docs" / "examples").glob("*.ipynb"))
TYPES = {"whole number": int, "number": float, "time": datetime}
HEAVY = ("numpy", "scipy", "sqlalchemy", "flask", "pandas", "click")


def printed(*words):
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_importing_it_loads_nothing_else():
    line = f"import survey, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_names_what_it_offers():
    assert {"score", "read_bundle", "analyse", "replicate", "pool", "reproduce"} <= set(dir(survey))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = survey.scores


def test_table_4_takes_three_lines():
    paper = survey.reproduce("table4")
    frame = paper.frame()
    assert frame[["AP", "NMRR", "MNRO", "OTHER"]].sum().tolist() == [90, 109, 135, 20]
    assert paper.agrees
    assert repr(paper) == "table4: 20 of 20 printed values agree."


def test_an_unknown_exhibit_is_answered_with_those_there_are():
    with pytest.raises(SurveyError, match=r"'table9' is not one of table1, .*, generality\."):
        survey.reproduce("table9")


def test_scores_are_those_of_the_measures():
    scores = survey.score(["AP"], [[1, 2, 3]], collection_size=10)
    np.testing.assert_allclose(scores, [[1.0]])


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_every_table_of_every_kind_is_a_data_frame_of_typed_columns(path):
    bundle = survey.read_bundle(path)
    assert bundle.study["digest"]
    assert "participants" in bundle.tables
    for name in bundle.tables:
        frame = bundle.frame(name)
        assert len(frame) == len(bundle.tables[name]) == len(bundle.tables[f"{name}.csv"])
        for row in bundle.tables["codebook"]:
            if row["file"] == f"{name}.csv":
                expected = TYPES.get(row["type"], str)
                cells = [cells[row["column"]] for cells in bundle.tables[name]]
                assert all(cell is None or type(cell) is expected for cell in cells), row
                assert row["column"] in frame.columns


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_figures_are_those_that_the_command_prints(path):
    analysis = survey.analyse(path, include_test=True)
    assert json.loads(json.dumps(analysis.to_dict())) == printed(
        "analyse", str(path), "--include-test", "--json"
    )
    assert repr(analysis) == analysis.headline
    for pair, verdict in analysis.verdicts.items():
        assert verdict["sentence"], pair
    assert len(analysis.frame())
    assert survey.replicate(path)[0].endswith("have the sums in SHA256SUMS")


def test_options_are_those_of_the_command():
    path = next(path for path in RELEASED if path.stem == "ordering")
    bundle = survey.read_bundle(path)
    split = bundle.analyse(include_test=True, ties="split", without_question=1)
    assert json.loads(json.dumps(split.to_dict())) == printed(
        *("analyse", str(path), "--include-test", "--json"),
        *("--ties", "split", "--without-question", "1"),
    )
    with pytest.raises(TypeError, match="include_tests"):
        bundle.analyse(include_tests=True)


def test_errors_say_what_there_is(tmp_path):
    bundle = survey.read_bundle(EXAMPLE)
    with pytest.raises(SurveyError, match=r"no table 'votes'; the tables are codebook, items"):
        bundle.frame("votes")
    with pytest.raises(SurveyError, match=r"no rows 'table4'; there are .*leads"):
        bundle.analyse(include_test=True).frame("table4")
    with pytest.raises(SurveyError, match="'numpy' is not one of pandas, polars"):
        bundle.frame("participants", "numpy")
    with pytest.raises(SurveyError, match="to_dict"):
        survey.reproduce("table3").frame()
    with pytest.raises(SurveyError, match="a list of two or more is needed"):
        survey.pool(str(EXAMPLE))
    with pytest.raises(SurveyError, match=r"there is no .*missing\.zip"):
        survey.read_bundle(tmp_path / "missing.zip")
    (tmp_path / "other.zip").write_text("no zip")
    with pytest.raises(SurveyError, match="is not a bundle"):
        survey.read_bundle(tmp_path / "other.zip")


def test_tables_are_a_mapping():
    tables = survey.read_bundle(EXAMPLE).tables
    assert tables.get("votes") is None
    with pytest.raises(KeyError, match=r"^There is no table 'votes'; "):
        tables["votes"]


def test_tables_need_neither_pandas_nor_polars(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    bundle = survey.read_bundle(EXAMPLE)
    assert bundle.tables["participants"][0]["participant"].startswith("P-")
    with pytest.raises(ImportError, match="need pandas or polars: pip install pandas"):
        bundle.frame("participants")


def test_polars_serves_where_pandas_is_missing(monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    frame = survey.read_bundle(EXAMPLE).frame("preferences")
    assert isinstance(frame, polars.DataFrame)
    assert frame["question"].dtype == polars.Int64


def test_a_folder_from_elsewhere_is_analysed(tmp_path):
    path = next(path for path in RELEASED if path.stem == "ordering")
    files = survey.read_bundle(path).files
    for name in ("questions.csv", "responses.csv"):
        (tmp_path / name).write_bytes(files[name])
    assert survey.analyse(tmp_path, include_test=True).frame("table4")["MNRO"].sum() >= 0
    table = tmp_path / "others.csv"
    heading = "participant,question,topic,left,right,preferred"
    table.write_text(f"{heading}\nP1,1,t,x,y,left\nP2,1,t,x,y,right\n")
    assert survey.analyse(table).to_dict()["leads"]


@pytest.mark.slow
def test_sites_are_pooled_as_the_command_pools_them(tmp_path):
    sites = site_bundles(tmp_path)
    paths = []
    for name in VOTES:
        path = tmp_path / f"{name}.zip"
        path.write_bytes(b"".join(stream_zip_of_bytes(sites[name].items())))
        paths.append(path)
    pooled = survey.pool(paths)
    assert json.loads(json.dumps(pooled.to_dict())) == printed("pool", *map(str, paths), "--json")
    assert repr(pooled) == pooled.to_dict()["sentence"]
    assert {*pooled.frame("pairs")["pair"]} == {*pooled.verdicts}
    with pytest.raises(SurveyError, match="pooling takes two or more"):
        survey.pool(paths[:1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_it_says(path):
    notebook = json.loads(path.read_text())
    assert run_cells(notebook) == stored_outputs(notebook)
