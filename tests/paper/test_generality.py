"""Table 2's experiment on collections of pictures, beside the print."""

import shutil

import pytest

from survey.errors import SurveyError
from survey.paper.generality import PAPER, generality
from survey.services.collections import picture_folder
from tests.commands import albums_in


@pytest.mark.slow
def test_on_the_albums_map_falls_and_amnro_rises_beside_the_papers_values():
    reproduction = generality()
    rows = {(row["ranking"], row["set"]): row for row in reproduction.content["rows"]}
    assert len(rows) == 3 + 5 * 3
    paper = rows[PAPER, "C"]
    assert (paper["MAP"], paper["AMNRO"]) == (0.0184, 0.8360)
    assert round(paper["MAP, %"], 1) == -50.9
    for run in picture_folder.DESCRIPTORS:
        assert rows[run, "C"]["MAP, %"] < -10
        assert rows[run, "C"]["AMNRO, %"] > 20
    assert (
        "37, 68, 100 documents; generality is 0.05 to 0.135, not below .01"
        in (reproduction.remarks[0])
    )
    names = [name for name, _ in reproduction.files()]
    assert names == [f"generality.{ending}" for ending in ("csv", "svg", "pdf", "png")]


def test_a_folder_of_ones_own_is_taken_and_runs_that_leave_out_documents_are_refused(tmp_path):
    albums_in(tmp_path)
    collection = tmp_path / "collection"
    picture_folder.collect(tmp_path / "albums", collection)
    assert len(generality(collection).content["rows"]) == 18
    run = collection / "runs" / "tiny-grey.txt"
    run.write_text("".join(run.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(SurveyError, match="The run tiny-grey has no position for some document"):
        generality(collection)
    shutil.rmtree(collection / "runs")
    with pytest.raises(SurveyError, match="holds no runs; `survey collect` writes them"):
        generality(collection)
