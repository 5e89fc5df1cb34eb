"""Estimates from many machine and few human judgements: against R, and what must hold of any."""

import csv
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from survey.core.statistics.beside_people import (
    alternative_annotator_test,
    calibration,
    planned_width,
    prediction_powered_mean,
    preference_crossed,
    preference_share,
    relevant_count,
)
from survey.core.statistics.components import TableSums, variance_components

POOL = 120


def judged(seed, n=25, noise=0.5):
    chance = np.random.default_rng(seed)
    topics = chance.normal(size=POOL)
    sample = chance.choice(POOL, n, replace=False)
    machine = topics + noise * chance.normal(size=POOL)
    return {"labelled": sample.tolist(), "people": topics[sample], "machine": machine}


def width(interval):
    return interval[1] - interval[0]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_estimate_is_a_prediction_of_r_at_the_mean_of_the_pool(seed, tmp_path):
    """With a weight within its limits, the estimate is the regression line at F."""
    data = judged(seed, noise=0.8)
    figures = prediction_powered_mean(**data)
    assert 0 < figures["weight"] < 1
    with (tmp_path / "sample.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["y", "f"])
        rows.writerows(zip(data["people"], data["machine"][data["labelled"]], strict=True))
    mean = float(data["machine"].mean())
    program = (
        f"d <- read.csv('{tmp_path / 'sample.csv'}'); fit <- lm(y ~ f, d);"
        f"at <- predict(fit, data.frame(f = {mean!r}), se.fit = TRUE);"
        "cat(coef(fit)[2], at$fit, at$se.fit, at$df, at$residual.scale, sep = '\\n')"
    )
    done = subprocess.run(
        ["Rscript", "-e", program], capture_output=True, text=True, check=True, timeout=120
    )
    weight, fit, se, df, scale = map(float, done.stdout.split())
    assert figures["weight"] == pytest.approx(weight, rel=1e-5)
    assert figures["estimate"] == pytest.approx(fit, rel=1e-5)
    assert figures["df"] == df
    of_pool = (se**2 - scale**2 / POOL) ** 0.5  # a finite pool
    assert figures["pool"]["se"] == pytest.approx(of_pool, rel=1e-5)


@given(st.integers(0, 10_000), st.floats(-5, 5))
def test_a_constant_shift_of_the_machine_changes_nothing(seed, shift):
    data = judged(seed)
    one = prediction_powered_mean(**data)
    other = prediction_powered_mean(**data | {"machine": data["machine"] + shift})
    assert other["estimate"] == pytest.approx(one["estimate"])
    assert other["pool"]["ci95"] == pytest.approx(one["pool"]["ci95"])


@given(st.integers(0, 10_000))
def test_a_machine_without_use_leaves_peoples_interval(seed):
    data = judged(seed)
    for machine in (np.full(POOL, 0.1), -data["machine"]):
        figures = prediction_powered_mean(**data | {"machine": machine})
        assert figures["weight"] == 0
        alone = figures["people_alone"]
        assert figures["estimate"] == alone["estimate"]
        assert figures["pool"]["ci95"] == alone["pool_ci95"]
        assert figures["kind"]["ci95"] == alone["kind_ci95"]


@given(st.integers(0, 10_000))
def test_a_machine_that_says_what_people_say_narrows_the_interval(seed):
    data = judged(seed, noise=0.05)
    figures = prediction_powered_mean(**data)
    assert width(figures["pool"]["ci95"]) < 0.3 * width(figures["people_alone"]["pool_ci95"])
    assert width(figures["kind"]["ci95"]) > width(figures["pool"]["ci95"])


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_units_changes_no_estimate(seed, shuffling):
    data = judged(seed)
    order = list(range(POOL))
    shuffling.shuffle(order)
    drawn = list(range(25))
    shuffling.shuffle(drawn)
    place = {unit: new for new, unit in enumerate(order)}
    other = prediction_powered_mean(
        labelled=[place[data["labelled"][number]] for number in drawn],
        people=data["people"][drawn],
        machine=data["machine"][order],
    )
    one = prediction_powered_mean(**data)
    assert other["estimate"] == pytest.approx(one["estimate"])
    assert other["kind"]["ci95"] == pytest.approx(one["kind"]["ci95"])


def test_what_is_below_a_minimum_is_said():
    data = judged(1, n=12)
    assert prediction_powered_mean(**data)["missing"] == [
        "20 topics that people judged are needed, there are 12"
    ]
    data = judged(1, n=80)
    assert prediction_powered_mean(**data)["missing"] == [
        "160 units that the machine judged are needed, there are 120"
    ]
    few = relevant_count(pool=[500], judged=[50], relevant=[1])
    assert few["missing"] == [
        "100 documents that people judged are needed, there are 50",
        "5% of relevant documents are needed, 2.0% are",
    ]


def test_one_stratum_of_a_large_pool_is_wilsons_interval():
    figures = relevant_count(pool=[10**12], judged=[150], relevant=[40])
    expected = proportion_confint(40, 150, method="wilson")
    assert figures["ci95"] == pytest.approx(expected)
    assert figures["ci95"] == figures["people_alone"]["ci95"]


@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=4
    )
)
def test_a_count_is_within_its_interval_and_exact_where_all_are_judged(strata):
    pool = [1 + size for size, _, _ in strata]
    judged_of = [
        max(1, round(part * size)) for size, (_, part, _) in zip(pool, strata, strict=True)
    ]
    relevant = [
        round(part * number) for number, (_, _, part) in zip(judged_of, strata, strict=True)
    ]
    figures = relevant_count(pool=pool, judged=judged_of, relevant=relevant)
    low, high = figures["ci95"]
    assert 0 <= low <= figures["share"] + 1e-12
    assert figures["share"] - 1e-12 <= high <= 1
    whole = relevant_count(pool=pool, judged=pool, relevant=relevant)
    assert whole["count_ci95"] == pytest.approx((sum(relevant), sum(relevant)))


def preferences(seed, n=30):
    chance = np.random.default_rng(seed)
    prefer = chance.choice([0.75, 0.875, 1.0], POOL)
    agree = prefer * chance.beta(2, 2, POOL)
    sample = chance.choice(POOL, n, replace=False)
    return {
        "people_agree": agree[sample],
        "people_prefer": prefer[sample],
        "machine_agree": (agree + 0.3 * chance.normal(size=POOL) > 0.45).astype(float),
        "machine_prefer": np.ones(POOL),
        "labelled": sample.tolist(),
    }


def test_a_share_of_which_all_have_a_preference_is_a_mean():
    data = preferences(1) | {"people_prefer": np.ones(30)}
    share = preference_share(**data)
    mean = prediction_powered_mean(
        labelled=data["labelled"], people=data["people_agree"], machine=data["machine_agree"]
    )
    assert share["share"] == pytest.approx(mean["estimate"])
    assert share["weight"] == pytest.approx(mean["weight"])
    assert share["pool_ci95"] == pytest.approx(mean["pool"]["ci95"])
    assert share["kind_ci95"] == pytest.approx(mean["kind"]["ci95"])


def test_a_constant_machine_leaves_peoples_share():
    data = preferences(2) | {"machine_agree": np.ones(POOL)}
    figures = preference_share(**data)
    assert figures["share"] == figures["people_alone"]
    assert figures["kind_ci95"] == figures["people_alone_kind_ci95"]


def crossed(seed, people=8, n=30):
    chance = np.random.default_rng(seed)
    questions = chance.normal(size=POOL)
    sample = chance.choice(POOL, n, replace=False)
    values = questions[sample] + 0.5 * chance.normal(size=(people, 1))
    answers = np.sign(values + chance.normal(size=(people, n)))
    return {
        "people": answers.tolist(),
        "machine": np.sign(questions + 0.3 * chance.normal(size=POOL)),
        "labelled": sample.tolist(),
    }


def test_peoples_crossed_interval_is_that_of_the_reports_components():
    data = crossed(1)
    answers = np.array(data["people"])
    sums = TableSums.of(
        answers.sum(axis=1),
        answers.sum(axis=0),
        np.full(8, 30),
        np.full(30, 8),
        float((answers**2).sum()),
    )
    parts = variance_components(sums)
    alone = preference_crossed(**data)["people_alone"]
    assert alone["se"] == pytest.approx(float(parts.variance) ** 0.5)
    assert alone["df"] == pytest.approx(float(parts.df))


def test_answers_that_are_missing_are_left_out_and_a_good_machine_still_narrows():
    data = crossed(2, people=20)
    full = preference_crossed(**data)
    chance = np.random.default_rng(3)
    data["people"] = [
        [None if chance.random() < 0.1 else value for value in row] for row in data["people"]
    ]
    figures = preference_crossed(**data)
    assert figures["with_machine"]["estimate"] == pytest.approx(
        full["with_machine"]["estimate"], abs=0.1
    )
    for each in (full, figures):
        assert each["weight"] > 0
        assert each["with_machine"]["se"] < each["people_alone"]["se"]


def test_a_constant_machine_leaves_peoples_crossed_interval():
    data = crossed(4) | {"machine": np.ones(POOL)}
    figures = preference_crossed(**data)
    alone = figures["people_alone"]
    assert figures["with_machine"]["estimate"] == pytest.approx(alone["estimate"])
    assert figures["with_machine"]["ci95"] == pytest.approx(alone["ci95"])


def test_the_same_answer_from_all_has_no_interval():
    data = crossed(5) | {"people": [[1] * 30] * 8}
    alone = preference_crossed(**data)["people_alone"]
    assert (alone["se"], alone["df"], alone["ci95"]) == (0, None, None)


def test_calibration_is_resampled_by_topic():
    chance = np.random.default_rng(6)
    equal = chance.integers(3, 6, 80).tolist()
    share = chance.choice([0.25, 0.5, 0.75, 1], 80).tolist()
    topics = [f"t{number // 8}" for number in range(80)]
    by_topic = calibration(samples_equal=equal, people_share=share, topics=topics)
    by_unit = calibration(samples_equal=equal, people_share=share)
    assert by_topic["ece"] == by_unit["ece"]
    assert by_topic["ece_ci95"] != by_unit["ece_ci95"]
    again = calibration(samples_equal=equal, people_share=share, topics=topics, seed=1)
    assert again["ece_ci95"] != by_topic["ece_ci95"]
    assert sum(each["n"] for each in by_unit["bins"]) == 80


def test_calibration_is_perfect_where_people_agree_as_often_as_samples():
    figures = calibration(samples_equal=[2, 4, 4, 2], people_share=[0.5, 1, 1, 0.5], samples=4)
    assert figures["ece"] == 0
    assert figures["ece_ci95"] == (0, 0)


@pytest.mark.parametrize("correlation", [0.3, 0.9])
def test_a_planned_width_is_that_of_such_samples(correlation):
    chance = np.random.default_rng(7)
    widths = []
    for _ in range(400):
        topics, noise = chance.normal(size=(2, 500))
        sample = chance.choice(500, 40, replace=False)
        figures = prediction_powered_mean(
            labelled=sample.tolist(),
            people=topics[sample],
            machine=correlation * topics + (1 - correlation**2) ** 0.5 * noise,
        )
        widths.append(width(figures["pool"]["ci95"]) / 2)
    plan = planned_width(n=40, pool=500, correlation=correlation, spread=1)
    assert plan["half_width"] == pytest.approx(np.mean(widths), rel=0.03)


def test_answers_that_a_machine_saves():
    plan = planned_width(n=50, pool=2000, correlation=0.9, spread=0.2)
    same = planned_width(n=plan["people_needed"], pool=2000, correlation=0, spread=0.2)
    fewer = planned_width(n=plan["people_needed"] - 1, pool=2000, correlation=0, spread=0.2)
    assert same["people_alone"] <= plan["half_width"] < fewer["people_alone"]
    assert plan["saved"] == plan["people_needed"] - 50 > 100
    assert planned_width(n=50, pool=2000, correlation=-0.7, spread=0.2)["saved"] == 0
    assert planned_width(n=50, pool=50, correlation=0.5, spread=0.2)["saved"] == 0


MEAN = {"labelled": [0, 1, 2], "people": [0.1, 0.2, 0.4], "machine": [0.1, 0.2, 0.3, 0.4]}
SHARE = {
    "people_agree": [0.5, 0.2, 0.1],
    "people_prefer": [1, 1, 0.5],
    "machine_agree": [1, 0, 1, 1],
    "machine_prefer": [1, 1, 1, 1],
    "labelled": [0, 1, 2],
}
CROSSED = {
    "people": [[1, -1, 1], [1, 1, -1], [0, 1, 1]],
    "machine": [1, 1, -1, 1],
    "labelled": [0, 1, 3],
}
COUNT = {"pool": [10, 20], "judged": [5, 5], "relevant": [1, 2]}
TEST = {
    "score": "equal",
    "epsilon": 0.1,
    "q": 0.05,
    "people": {"a": {"i": 1}, "b": {"i": 1}},
    "machine": {"i": 1},
}
EQUAL = {"samples_equal": [3, 5], "people_share": [0.5, 1]}


@pytest.mark.parametrize(
    ("function", "fields", "fault", "message"),
    [
        (
            prediction_powered_mean,
            MEAN,
            {"labelled": [0, 1, 4]},
            "labelled: 4 found; it is a whole",
        ),
        (prediction_powered_mean, MEAN, {"labelled": [0, 1, 1]}, "labelled: 1 found twice"),
        (prediction_powered_mean, MEAN, {"labelled": [0, 1]}, "labelled: 2 found; people has 3"),
        (
            prediction_powered_mean,
            MEAN,
            {"people": [0.1, None, 0.2]},
            "people, entry 2: None found",
        ),
        (prediction_powered_mean, MEAN, {"machine": None}, "machine: not given"),
        (prediction_powered_mean, MEAN, {"machine": []}, "machine: no number found"),
        (
            prediction_powered_mean,
            {"labelled": [0, 1, 2]},
            {
                **{name: [1, 2, 3] for name in ("people_a", "machine_a", "machine_b")},
                "people_b": [1, 2],
            },
            "people_b: 2 found; people_a has 3",
        ),
        (relevant_count, COUNT, {"judged": [5]}, "judged: 1 strata found; pool has 2"),
        (relevant_count, COUNT, {"judged": [11, 5]}, "judged: 11 found in stratum 1"),
        (relevant_count, COUNT, {"relevant": [1, 6]}, "relevant: 6 found in stratum 2"),
        (relevant_count, COUNT, {"relevant": [1, 1.5]}, "relevant: 1.5 found; it is a whole"),
        (relevant_count, COUNT, {"strata": "yes"}, "strata: 1 names found; pool has 2 strata"),
        (
            relevant_count,
            COUNT,
            {"judged": [0, 0], "relevant": [0, 0]},
            "judged: no document found",
        ),
        (preference_share, SHARE, {"people_agree": [0.5, 2, 1]}, "people_agree, entry 2: 2 found"),
        (preference_share, SHARE, {"people_prefer": [0, 0, 0]}, "people_prefer: only 0 found"),
        (
            preference_share,
            SHARE,
            {"machine_prefer": [1]},
            "machine_prefer: 1 found; machine_agree",
        ),
        (
            preference_crossed,
            CROSSED,
            {"people": [[1, 1, 1], [1]]},
            "people: rows of [1, 3] answers",
        ),
        (preference_crossed, CROSSED, {"people": [["x", 1, 1]] * 2}, "people, row 1: 'x' found"),
        (
            preference_crossed,
            CROSSED,
            {"people": [[1, None, 1], [1, None, 0], [0, None, 1]]},
            "people: no answer found in question 2",
        ),
        (calibration, EQUAL, {"samples_equal": [3, 6]}, "samples_equal, entry 2: 6 found; it is a"),
        (calibration, EQUAL, {"people_share": [0.5]}, "people_share: 1 found; samples_equal has 2"),
        (calibration, EQUAL, {"topics": ["t"]}, "topics: 1 found; samples_equal has 2"),
        (alternative_annotator_test, TEST, {"score": "f1"}, "score: 'f1' found; it is 'equal' or"),
        (alternative_annotator_test, TEST, {"epsilon": 2}, "epsilon: 2 found; it is a number from"),
        (alternative_annotator_test, TEST, {"people": {"a": {}}}, "people: 1 found; the test"),
        (
            alternative_annotator_test,
            TEST,
            {"score": "rmse", "machine": {"i": "x"}},
            "machine, i: 'x' found; it is a number",
        ),
    ],
)
def test_bad_input_names_the_field_what_was_found_and_what_is_allowed(
    function, fields, fault, message
):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(**fields | fault)
