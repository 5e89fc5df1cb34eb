"""The figures of “What the statistics mean” are those of its example."""

import json
import re

import pytest
from click.testing import CliRunner

from benchmarks.calibration import others, tastes
from survey.cli import survey
from tests.guides.pages import ROOT, blocks_of, page_named

PAGE = page_named("statistics.md")
FIGURE = re.compile(r"^- [^`\n]+, `([\w.]+)`: (\S+?)( %| points)?$", re.MULTILINE)
FIGURES = FIGURE.findall(PAGE.read_text())


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


def worst(part, what, *, but=""):
    """The highest rate of a part of the calibration, in per cent, as the page prints it."""
    stored = json.loads((ROOT / "benchmarks/calibration.json").read_text(encoding="utf-8"))
    shares = [
        counts[what][0] / counts[what][1]
        for name, counts in stored["counts"].items()
        if name.startswith(f"{part}: ") and what in counts and not (but and but in name)
    ]
    return f"{100 * max(shares):.1f} %"


def test_rates_of_wrong_verdicts_are_those_of_the_calibration():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    said = re.search(
        r"counts how often a verdict is wrong where the truth is known: (.*?) \*\*p\*\*", text
    )
    kind, few, either, identical, undoubted = re.findall(r"\d+\.\d %", said[1])
    assert kind == worst("No difference (F5)", tastes.KIND)
    assert few == worst("Few questions (F4)", tastes.KIND)
    assert either == worst("No difference (F5)", tastes.EITHER)
    assert identical == worst("Identical orders (F5)", tastes.KIND, but="blind")
    assert undoubted == worst("Identical orders (F5)", tastes.UNDOUBTED)
    [mcnemar] = re.findall(r"rejects too often \((\d+\.\d %)\)", text)
    assert mcnemar == worst("Why some tests decide nothing", others.MCNEMAR)
