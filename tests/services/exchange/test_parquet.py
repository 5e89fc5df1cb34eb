"""Parquet files say what the CSV files of the bundle say, cell by cell, with types."""

import csv
import importlib
import io
import json
import sys
from datetime import UTC, datetime

import pytest

from survey.core.text_input import unescaped
from survey.errors import SurveyError
from tests.services.exchange.conftest import EXCLUDED, FINISHED, a_study, handed_out

WANTED = {"with_identities": True, "include_test": True}
READ = {
    "string": str,
    "int64": int,
    "double": float,
    "bool": lambda cell: {"0": False, "1": True}[cell],
    "timestamp[ms, tz=UTC]": lambda cell: datetime.strptime(cell, "%Y-%m-%dT%H:%M:%S%z"),
}


@pytest.fixture
def folder(session, tmp_path):
    """The Parquet files of a study with everything that can happen, and its bundle's files."""
    pytest.importorskip("pyarrow")
    from survey.services.exchange import parquet

    study = a_study(session, columns="after")
    parquet.write_parquet(session, study, tmp_path / "parquet", **WANTED)
    return tmp_path / "parquet", handed_out(session, study, **WANTED)


def read(path):
    from pyarrow import parquet

    return parquet.read_table(path)


def as_typed(cell, kind):
    return READ[kind](unescaped(cell)) if cell else None


def test_both_say_the_same_cell_by_cell(folder):
    written, files = folder
    names = {path.stem for path in written.glob("*.parquet")}
    assert names == {
        *("questions", "rankings", "responses", "first_rankings", "votes", "participants"),
        *("identities", "long", "list_items", "values"),
    }
    for name in names:
        table = read(written / f"{name}.parquet")
        heading, *rows = csv.reader(io.StringIO(files[f"{name}.csv"].decode(), newline=""))
        assert table.column_names == heading
        kinds = [str(kind) for kind in table.schema.types]
        typed = [tuple(map(as_typed, row, kinds)) for row in rows]
        assert [tuple(row.values()) for row in table.to_pylist()] == typed


def test_columns_have_types_and_empty_cells_hold_nothing(folder):
    written, _ = folder
    answers = read(written / "responses.parquet")
    kinds = dict(zip(answers.column_names, map(str, answers.schema.types), strict=True))
    assert kinds["question"] == kinds["revisions"] == "int64"
    assert kinds["shown_at"] == kinds["submitted_at"] == "timestamp[ms, tz=UTC]"
    assert kinds["active_seconds"] == "double"
    assert kinds["excluded"] == "bool"
    by_place = {(row["participant"], row["question"]): row for row in answers.to_pylist()}
    assert by_place[FINISHED, 3]["clicked"] is None
    assert by_place[FINISHED, 3]["custom_ranking"] == "B>A=C>D>E"
    assert by_place[FINISHED, 2]["custom_ranking"] is None
    assert by_place[FINISHED, 2]["active_seconds"] is None
    assert by_place[EXCLUDED, 1]["excluded"] is True
    people = {row["participant"]: row for row in read(written / "participants.parquet").to_pylist()}
    assert people[FINISHED]["started_at"] == datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)
    assert people[FINISHED]["age"] == 22
    assert people[FINISHED]["remark"] == "=1+1"  # as it was written: no spreadsheet runs it


def test_what_tells_of_the_files_is_beside_them(folder):
    written, files = folder
    told = json.loads((written / "study.json").read_text(encoding="utf-8"))
    assert told == json.loads(files["study.json"])
    with (written / "codebook.csv").open(encoding="utf-8", newline="") as book:
        tables = {row["file"] for row in csv.DictReader(book)}
    assert tables == {"codebook.csv", *(path.name for path in written.glob("*.parquet"))}


def test_without_pyarrow_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "survey.services.exchange.parquet", raising=False)
    with pytest.raises(SurveyError, match=r"need pyarrow.*pip install '\.\[parquet\]'"):
        importlib.import_module("survey.services.exchange.parquet")
