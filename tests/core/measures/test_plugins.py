"""Measures of other packages, through entry points of packages that are really installed."""

import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.core.collections.evaluation import GroundTruth, evaluate
from survey.core.measures import MEASURES, Lists, Measure, Setting, score
from survey.core.measures.lists import RankSum
from survey.core.measures.measure import Summed
from survey.core.measures.registry import load_plugins
from survey.core.studies.questions import build_question

MODULE = """
from survey.core.measures import Measure

def first_screen(lists, setting):
    return (lists.ranks <= 12).mean(axis=1)

first = Measure("screen", "share on the first screen", first_screen, "higher", "this test")
several = [first, Measure("screen2", "the same again", first_screen, "higher", "this test")]
taken = Measure("P@12", "taken", first_screen, "higher", "this test")
badly_named = Measure("first screen", "spaces", first_screen, "higher", "this test")
nothing = 5
def failing():
    yield first
    raise RuntimeError("half way")
half = failing()
unlabelled = Measure("screen", "", first_screen, "higher", "this test")
sideways = Measure("screen", "the screen", first_screen, "Lower", "this test")
needy = Measure("screen", "the screen", first_screen, "higher", "this test", needs=("grade",))
needless = Measure("screen", "the screen", first_screen, "higher", "this test", needs=None)
half_taken = [first, taken]
other = Measure("Other", "the other", first_screen, "higher", "this test")
unbounded = Measure("screen", "the screen", first_screen, "higher", "this test", highest=9)
uncomputed = Measure("screen", "the screen", "first", "higher", "this test")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "screens.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("screens", None)


def found(*values):
    points = [EntryPoint(f"point{n}", value, "survey.measures") for n, value in enumerate(values)]
    return load_plugins(points, MEASURES)


def test_a_measure_of_another_package_is_registered(module):
    others = found("screens:first")
    assert (list(others.measures), others.faults) == (["screen"], ())


def test_a_package_may_register_several(module):
    assert list(found("screens:several").measures) == ["screen", "screen2"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("screens:missing", "AttributeError: module 'screens' has no attribute 'missing'"),
        ("not_there:first", "ModuleNotFoundError: No module named 'not_there'"),
        ("screens:nothing", "it is 5, not a Measure"),
        ("screens:taken", "there is a measure 'P@12' already"),
        ("screens:half", "RuntimeError: half way"),
        ("screens:unlabelled", "its label is ''; a text of two letters or more"),
        ("screens:sideways", "its better is 'Lower'; higher or lower is allowed"),
        ("screens:needy", "it needs 'grade'; collection size, columns, grades, weights"),
        ("screens:needless", "its needs is None; a tuple is needed"),
        ("screens:half_taken", "there is a measure 'P@12' already"),
        ("screens:other", "its name is 'Other', which means something else"),
        ("screens:unbounded", "its highest is 9; pages show 1 − value"),
        ("screens:uncomputed", "its compute is 'first'; a function of (lists, setting)"),
        ("screens:badly_named", "its name is 'first screen'; a letter, then"),
    ],
)
def test_what_cannot_be_registered_stays_away_and_is_told(module, value, why):
    others = found(value)
    assert not others.measures
    (fault,) = others.faults
    assert fault.startswith("the measure 'point0' of an unknown package is not registered: ")
    assert why in fault


def test_two_packages_with_the_same_name_do_not_replace_each_other(module):
    others = found("screens:first", "screens:several")
    assert list(others.measures) == ["screen"]
    (fault,) = others.faults
    assert "there is a measure 'screen' already" in fault


def failing(error):
    """A measure whose code raises an error."""

    def compute(lists, setting):
        raise error

    return Measure("screen", "the screen", compute, "lower", "this test")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ZeroDivisionError("by 0"),
            r"screen failed \(ZeroDivisionError: by 0\); .* measure itself",
        ),
        (ValueError("no grade"), "screen: no grade"),
    ],
)
def test_an_error_of_a_measure_names_it(monkeypatch, error, message):
    measure = failing(error)
    exact = replace(measure, compute=lambda lists, _: lists.ranks[:, 0], exact=measure.compute)
    monkeypatch.setitem(MEASURES._cache, "screen", (99, measure))
    with pytest.raises(ValueError, match=message):
        score(["screen"], [[1, 2]])
    with pytest.raises(ValueError, match=message):
        score(["screen"], [[1, 2]] * 1000)
    with pytest.raises(ValueError, match=f"topic 'q': {message}"):
        evaluate(GroundTruth({"q": {"a": 1}}), {"run": {"q": {"a": 1.0}}}, [measure])
    for each in (measure, exact):
        monkeypatch.setitem(MEASURES._cache, "screen", (99, each))
        with pytest.raises(ValueError, match=message):
            build_question(1, [[1, 2], [2, 3]], ["screen"], Setting())
    result = CliRunner().invoke(survey, ["measure", "1,2", "--measures", "screen"])
    assert result.exit_code
    assert re.search(message, " ".join(result.output.split()))
    assert "please report it" not in result.output


def changing(name):
    """The compute of a measure that changes an array of its lists."""

    def compute(lists, setting):
        array = getattr(lists, name)
        array[array > 0] = 1000
        return (lists.ranks <= 12).mean(axis=1)

    return compute


@pytest.mark.parametrize("name", ["ranks", "grades", "weights", "condensed"])
@pytest.mark.parametrize("has_marks", [True, False])
def test_a_measure_cannot_change_what_it_reads(monkeypatch, name, has_marks):
    measure = Measure("screen", "the screen", changing(name), "higher", "this test")
    monkeypatch.setitem(MEASURES._cache, "screen", (99, measure))
    ranks, ones = np.array([[1, 20], [3, 4]]), np.ones((2, 2))
    marks = {"graded": ones, "weighted": ones} if has_marks else {}
    lists = Lists(ranks, condensed=ranks, **marks)
    with pytest.raises(ValueError, match=r"screen: .* read-only"):
        measure.computed(lists, Setting())
    if name != "condensed":
        with pytest.raises(ValueError, match=r"screen: .* read-only"):
            build_question(1, [[1, 20], [3, 4]], ["screen", "AP"], Setting())
    assert ranks.tolist() == [[1, 20], [3, 4]]


def test_a_sum_cannot_change_the_ranks_that_other_tables_are_made_of(monkeypatch):
    def term(items, ranks):
        ranks[ranks > 12] = 1000
        return ranks <= 12

    compute = Summed(lambda *_: RankSum(term, lambda sums: sums / 2))
    measure = Measure("screen", "the screen", compute, "higher", "this test")
    monkeypatch.setitem(MEASURES._cache, "screen", (99, measure))
    for count in (1, 1000):
        with pytest.raises(ValueError, match=r"screen: .* read-only"):
            score(["screen", "AP"], np.array([[1, 20]] * count))


def raising(*_):
    raise ZeroDivisionError("by 0")


WHOLE = RankSum(lambda _, ranks: ranks <= 12, lambda sums: sums / 2)
BY_ZERO = r"screen failed \(ZeroDivisionError: by 0\); this is an error of the measure itself"


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (Summed(raising), BY_ZERO),
        (Summed(lambda *_: RankSum(raising, WHOLE.finish)), BY_ZERO),
        (Summed(lambda *_: RankSum(WHOLE.term, raising)), BY_ZERO),
        (Summed(lambda *_: None), r"screen failed \(AttributeError: .*\); this is an error of"),
        (Summed(lambda *_: RankSum(lambda *_: None, WHOLE.finish)), r"screen failed \(Attribute"),
        (Summed(lambda *_: RankSum(WHOLE.term, lambda _: [{}])), r"screen failed \(TypeError"),
        (Summed(lambda *_: RankSum(WHOLE.term, lambda sums: sums * np.nan)), "screen gave "),
        (lambda *_: [0.5, 0.5], r"screen gave \[0.5, 0.5\]; a number for each list is needed"),
        (lambda *_: "half", "screen: could not convert string to float"),
    ],
)
@pytest.mark.parametrize("count", [1, 1000])
def test_few_and_many_lists_are_scored_with_the_same_errors(monkeypatch, compute, message, count):
    measure = Measure("screen", "the screen", compute, "higher", "this test")
    monkeypatch.setitem(MEASURES._cache, "screen", (99, measure))
    with pytest.raises(ValueError, match=message):
        score(["AP", "screen"], np.array([[1, 20]] * count))


def test_a_run_s_clusters_cannot_be_changed():
    truth = GroundTruth({"q": {"a": 1, "b": 1}}, clusters={"q": {"a": frozenset({"x"})}})

    def compute(lists, setting):
        lists.clusters[0].clear()

    measure = Measure("screen", "the screen", compute, "higher", "this test", needs=("clusters",))
    with pytest.raises(ValueError, match=r"topic 'q': screen failed \(AttributeError"):
        evaluate(truth, {"run": {"q": {"a": 1.0}}}, [measure])


def test_a_measure_may_give_a_list_but_no_text(monkeypatch):
    plain = Measure("screen", "screen", lambda lists, _: [0.5] * len(lists.ranks), "lower", "test")
    monkeypatch.setitem(MEASURES._cache, "screen", (99, plain))
    question = build_question(1, [[1, 2], [2, 3]], ["screen"], Setting())
    assert question.columns["screen"].values == (0.5, 0.5)
    text = replace(plain, compute=lambda *_: "half")
    with pytest.raises(ValueError, match="screen: could not convert"):
        text.values(Lists([[1, 2]]), Setting())


NO_FRACTION = "the exact of screen gave {}; a Fraction is needed"
NO_NUMBER = "the largest of screen gave {}; a number is needed"
TOO_HIGH = r"screen gave \[0.5, 2.5\], but its range is 0 to {}, by the measure's lowest, highest"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"exact": lambda *_: None}, NO_FRACTION.format("None")),
        ({"exact": lambda *_: "half"}, NO_FRACTION.format("'half'")),
        ({"exact": lambda *_: float("nan")}, NO_FRACTION.format("nan")),
        ({"exact": lambda *_: 0.5}, NO_FRACTION.format("0.5")),
        ({"exact": lambda row, _: Fraction(row[0], 2)}, TOO_HIGH.format(1)),
        ({"exact": lambda *_: -1}, r"screen gave \[-1.0, -1.0\], but its range is 0 to 1"),
        ({"exact": lambda *_: 10**400}, r"screen failed \(OverflowError"),
        ({"largest": lambda *_: None}, NO_NUMBER.format("None")),
        ({"largest": lambda *_: "half"}, NO_NUMBER.format("'half'")),
        ({"largest": lambda *_: float("inf")}, NO_NUMBER.format("inf")),
        ({"largest": lambda lists, _: lists.grades.max(axis=1)}, NO_NUMBER.format("array.*")),
        ({"largest": lambda *_: 10**400}, r"screen failed \(OverflowError"),
        ({"largest": lambda *_: 2}, TOO_HIGH.format(2)),
        (
            {"largest": lambda *_: 2, "exact": lambda row, _: Fraction(row[0], 2)},
            TOO_HIGH.format(2),
        ),
    ],
)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_an_exact_or_largest_value_that_cannot_be_names_the_measure(
    monkeypatch, fields, message, better
):
    measure = Measure("screen", "screen", lambda lists, _: lists.ranks[:, 0] / 2, better, "test")
    if "largest" in fields:
        fields = {"highest": float("inf"), **fields}
    monkeypatch.setitem(MEASURES._cache, "screen", (99, replace(measure, **fields)))
    if better == "lower" and "largest" in fields:
        build_question(1, [[1, 3], [5, 6]], ["screen"], Setting())  # reads no largest value
        return
    with pytest.raises(ValueError, match=message):
        build_question(1, [[1, 3], [5, 6]], ["screen"], Setting())


def test_values_up_to_the_largest_are_shown_as_their_distance_from_it():
    fields = {"highest": float("inf"), "largest": lambda *_: np.int64(3)}
    measure = Measure(
        *("screen", "screen", lambda lists, _: lists.ranks[:, 0] / 2, "higher", "test"), **fields
    )
    assert measure.shown(Lists(np.array([[1, 3], [6, 7]])), Setting()) == [Fraction(5, 2), 0]


@pytest.fixture
def installed(tmp_path):
    """Run code where a distribution with an entry point is installed, as pip would leave it."""
    (tmp_path / "screens.py").write_text(MODULE)
    info = tmp_path / "screens-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: screens\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[survey.measures]\nscreen = screens:first\n")

    def run(code):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": f"{tmp_path}:.", "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


@pytest.mark.slow
def test_an_installed_package_appears_in_commands_and_plans(installed):
    said = installed(
        "from survey.core.measures import MEASURES\n"
        "from survey.services.studies.plans import measure_groups, preset_plan\n"
        "from survey.services.collections.list_scores import score_lists\n"
        "assert 'screen' in dict(dict(measure_groups())['Relevant or not'])\n"
        "plan = preset_plan('mnro', measures=['screen', 'MNRO'], questions=1, practice=False)\n"
        "print(plan.measures, len(plan.draw_questions()[0].columns['screen'].values))\n"
        "print(score_lists([[1, 20]], 100, ['screen']).columns['screen'].values)\n"
        "print(MEASURES.package('screen'), MEASURES.package('AP'))\n"
    )
    assert said.splitlines() == ["('MNRO', 'screen') 5", "(0.5,)", "screens 1.0 None"]
