"""The figures of “What the statistics mean” are those of its example."""

import json
import re

import pytest
from click.testing import CliRunner

from survey.cli import survey
from tests.guides.pages import ROOT, blocks_of, page_named

PAGE = page_named("statistics.md")
ROW = re.compile(r"^\| [^|]+ \| `([\w.]+)` \| (\S+?)( %| points)? \|$", re.MULTILINE)
FIGURES = ROW.findall(PAGE.read_text())


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    """The analysis of the folder that the page gives."""
    folder = tmp_path_factory.mktemp("example")
    for block in blocks_of(PAGE):
        if block.name:
            (folder / block.name).parent.mkdir(exist_ok=True)
            (folder / block.name).write_text(block.text)
    done = CliRunner().invoke(survey, ["analyse", str(folder / "votes"), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def found_at(analysis, path):
    """The value of a dotted path; a number is a place in a list."""
    for step in path.split("."):
        analysis = analysis[int(step) if step.isdigit() else step]
    return analysis


def test_the_page_quotes_figures():
    assert len(FIGURES) >= 30


@pytest.mark.parametrize(("path", "shown", "unit"), FIGURES)
def test_every_figure_of_the_page_is_the_one_computed(analysis, path, shown, unit):
    value = found_at(analysis, path) * (100 if unit else 1)
    decimals = len(shown.partition(".")[2])
    assert abs(value - float(shown.replace("−", "-"))) <= 0.5 * 10**-decimals + 1e-9


def test_the_sentences_of_the_page_are_those_of_the_analysis(analysis):
    quotes = re.findall(r"(?:^> .*\n)+", PAGE.read_text(), re.MULTILINE)
    said = [" ".join(quote.replace("> ", "").split()) for quote in quotes]
    assert sorted(said) == sorted(one["sentence"] for one in analysis["verdicts"])


def test_rates_with_intervals_are_those_of_the_calibration():
    calibration = (ROOT / "benchmarks/calibration.md").read_text(encoding="utf-8")
    section = calibration.split("## False preferences where tastes differ and some")[1]
    rates = re.findall(r"\d+\.\d\s%\s\(\d+\.\d–\d+\.\d\)", PAGE.read_text(encoding="utf-8"))
    assert len(rates) == 2
    for truth, rate in zip(("people", "questions"), rates, strict=True):
        [row] = re.findall(rf"^\| {truth} differ, 1, .*\| 30 × 30 \|.*", section, re.MULTILINE)
        assert row.split(" | ")[5] == " ".join(rate.split())
