"""Measures of lists, correlations of orders and kappas that were computed apart from this code."""

import json
import math
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.core.statistics import rater_agreement

CASES = json.loads((Path(__file__).parent / "measures.json").read_text())
DATA, VALUES, ORDERS = CASES["data"], CASES["values"], CASES["orders"]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """Evaluate the runs of a set of data by some names of measures, once."""

    @cache
    def evaluate(data, names):
        folder = tmp_path_factory.mktemp(data)
        words = ["evaluate", *files_of(folder, DATA[DATA[data].get("as", data)])]
        words += [*DATA[data].get("options", []), "--measures", ",".join(names), "--per-query"]
        done = CliRunner().invoke(survey, [*words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return evaluate


def files_of(folder, data):
    """Write judgements, runs and clusters; return the words that name them."""
    lines = {
        "qrels": [
            f"{t} 0 {d} {g}" for t, grades in data["qrels"].items() for d, g in grades.items()
        ]
    }
    for run, topics in data["runs"].items():
        lines[run] = [
            f"{topic} Q0 {document} 1 {score} {run}"
            for topic, scores in topics.items()
            for document, score in scores.items()
        ]
    if data["clusters"]:
        lines["clusters"] = [
            f"{topic} {document} {cluster}"
            for topic, documents in data["clusters"].items()
            for document, clusters in documents.items()
            for cluster in clusters or ["unknown"]
        ]
    paths = {name: folder / f"{name}.txt" for name in lines}
    for name, path in paths.items():
        path.write_text("\n".join(lines[name]))
    words = ["--qrels", paths["qrels"], "--run", *(paths[run] for run in data["runs"])]
    words += ["--clusters", paths["clusters"]] if "clusters" in paths else []
    return [*map(str, words)]


def names_of(data, spelling):
    """The measures of a set of data in a spelling, "" where one has no other."""
    return tuple(dict.fromkeys(case[spelling] for case in VALUES if case["data"] == data))


@pytest.mark.parametrize("case", VALUES, ids=lambda case: f"{case['measure']}-{case['topic']}")
@pytest.mark.parametrize("spelling", ["measure", "also"])
def test_a_value_is_the_one_computed_apart_in_both_spellings(evaluated, case, spelling):
    names = tuple(name for name in names_of(case["data"], spelling) if name)
    if not case[spelling]:
        return
    queries = evaluated(case["data"], names)["runs"][case["run"]]["per_query"]
    assert queries[case["topic"]][case["measure"]] == pytest.approx(case["value"], abs=1e-9)


@pytest.mark.parametrize("case", CASES["left_out"])
def test_topics_without_anything_relevant_or_clustered_are_left_out(evaluated, case):
    queries = evaluated(case["data"], names_of(case["data"], "measure"))["queries"]
    assert case["topic"] not in queries
    assert queries


@pytest.mark.parametrize("case", ORDERS, ids=lambda case: case["function"])
def test_a_correlation_is_the_one_computed_apart(case):
    arguments = {**case}
    expected = math.nan if arguments.pop("value") is None else case["value"]
    found = getattr(rater_agreement, arguments.pop("function"))(**arguments)
    assert float(found) == pytest.approx(expected, abs=1e-9, nan_ok=True)
