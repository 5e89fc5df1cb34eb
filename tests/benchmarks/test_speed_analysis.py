"""The speed runs of the analysis, with a crowd of a few."""

import pytest

from benchmarks.speed import crowd
from benchmarks.speed.analysing import analysed


@pytest.mark.slow
def test_both_databases_give_the_same_figures_to_the_last_digit(
    sqlite, postgresql, tmp_path, monkeypatch
):
    monkeypatch.setattr(crowd, "DEALT", 40)
    found = []
    for uri in (sqlite.make(tmp_path, filled=True), postgresql.make(filled=True)):
        engine = crowd.open_database(uri)
        assert list(crowd.fill(engine, 60, questions=3)) == [60]
        engine.dispose()
        found.append(analysed(uri))
    assert found[0]["figures"] == found[1]["figures"]
    assert all(0 < one["reading"] < one["seconds"] for one in found)
    assert all(one["worked"] > 0 and 50 < one["peak"] < 4_000 for one in found)
