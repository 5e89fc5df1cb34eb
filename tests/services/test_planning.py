"""Power on any executor, the grid as it is asked for, and what the figures say in words."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from survey.core.agreement.differences import Pair
from survey.core.agreement.power_model import RANDOM_TYPES, PlannedStudy, Power
from survey.errors import SurveyError
from survey.services.planning import power
from survey.services.planning.power import (
    DEFAULTS,
    GridError,
    Way,
    advice,
    command,
    compared_in,
    find_pair,
    find_ways,
    grid_texts,
    power_percent,
    read_grid,
    reading,
    simulate_power,
    without_methods,
)
from tests.builders import a_plan

PAIR = Pair("MNRO", "NMRR")
STUDIES = (PlannedStudy(30, 10, 10, 0.1), PlannedStudy(30, 10, 30, 0.1))


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch):
    """Studies as small as these would all be one task."""
    monkeypatch.setattr(power, "COST_OF_A_TASK", 50_000)


def power_of(studies=STUDIES, executor=None, on_progress=lambda _: None):
    return simulate_power(
        studies, seed=5, replicates=900, executor=executor, on_progress=on_progress
    )


@pytest.mark.slow
def test_the_figures_are_the_same_on_every_executor():
    alone = power_of()
    with ThreadPoolExecutor(3) as threads:
        assert power_of(executor=threads) == alone
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert power_of(executor=processes) == alone


def test_a_study_has_the_same_power_in_every_grid():
    assert power_of()[1] == power_of(STUDIES[1:])[0]
    assert power_of((STUDIES[1], STUDIES[1]))[1] == power_of()[1]


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(2)], ids=["alone", "threads"])
def test_progress_adds_up_to_the_cost(executor):
    done = []
    power_of(executor=executor, on_progress=done.append)
    assert len(done) > 2
    assert sum(done) == 900 * 2 * sum(study.answers for study in STUDIES)


def test_an_interrupted_run_lets_nothing_further_begin():
    class Remembering(ThreadPoolExecutor):
        def submit(self, *arguments):
            submitted.append(super().submit(*arguments))
            return submitted[-1]

    def interrupt(_):
        raise KeyboardInterrupt

    submitted = []
    many = tuple(replace(STUDIES[0], participants=people) for people in range(20, 60))
    with Remembering(1) as threads, pytest.raises(KeyboardInterrupt):
        power_of(many, threads, interrupt)
    assert sum(one.cancelled() for one in submitted) > len(submitted) / 2


def test_the_grid_holds_every_combination_and_only_pools_that_are_larger():
    asked = {"participants": "50, 20,20", "questions": "10,20", "pool": "15,30"}
    grid = read_grid({**asked, "difference": ".1"})
    designs = [(s.participants, s.per_participant, s.questions) for s in grid.studies]
    each = [(10, 10), (10, 15), (10, 30), (20, 20), (20, 30)]
    assert designs == [(people, *one) for people in (20, 50) for one in each]
    assert (grid.replicates, grid.seed) == (2000, 1)
    assert grid.cost == 2000 * 70 * 2 * (10 + 10 + 10 + 20 + 20)
    assert {s.design for s in read_grid({"pool": "none"}).studies} == {"all"}


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("participants", "20;30", "participants is '20;30'; one to 10 whole numbers from 2"),
        ("participants", "1", "participants is 1; one to 10 whole numbers from 2 to 1000"),
        ("participants", ",".join(map(str, range(2, 13))), "participants has 11 values"),
        ("questions", "10,51", "questions is 51; .* from 2 to 50"),
        ("questions", "", "questions is ''; "),
        ("difference", "nan", "difference is nan; one to 10 shares from 0 to 1"),
        ("difference", ".7", "difference is 0.7; where a share of 0.68"),
        ("decided", ".5,.6", "decided has 2 values; a share from 0.05 to 1"),
        ("replicates", "1e9", "replicates is '1e9'; a whole number from 100 to 100000"),
        ("seed", "-1", "seed is -1; a whole number from 0"),
        ("pool", "many", "pool is 'many'; .* or none alone, can be asked for, like 30"),
        ("pool", "none,30", "pool is 'none,30'; .* or none alone, can be asked for, like 30"),
        ("measures", "7", "measures is 7; a whole number from 2 to 6"),
        ("generator", "own", "generator is 'own'; discriminative or random is allowed"),
        ("dropouts", "1", "dropouts is 1; a share from 0 to 0.9"),
        ("pool", "10", "pool is 10; it must hold more than the 10 questions"),
    ],
)
def test_what_cannot_be_asked_for_is_said_with_its_field(field, text, message):
    with pytest.raises(GridError, match=message) as caught:
        read_grid({field: text})
    assert [fault.place for fault in caught.value.faults] == [(field,)]


def test_too_few_answers_for_a_pool_are_a_fault_of_the_pool():
    with pytest.raises(GridError, match="2 participants × 10 questions are 20 answers") as caught:
        read_grid({"participants": "2", "pool": "50"})
    assert caught.value.faults[0].place == ("pool",)


def test_the_random_questions_are_those_of_three_measures():
    assert read_grid({"generator": "random"}).studies[0].question_types == RANDOM_TYPES
    with pytest.raises(GridError, match="of AP, NMRR and MNRO"):
        read_grid({"generator": "random", "measures": "4"})
    assert read_grid({"measures": "4", "decided": ".5"}).studies[0].measures == 4


def test_a_plan_decides_people_questions_pool_measures_and_what_matters():
    every = grid_texts(a_plan(questions=12, participants=44, smallest_difference=8), PAIR)
    assert every == {
        "participants": "44",
        "questions": "12",
        "pool": "none",
        "measures": "3",
        "decided": "0.68",
        "primary": "no",
        "difference": "0.08",
    }
    pool = grid_texts(
        a_plan(questions=12, design="pool", per_participant=5, measures=["AP", "MNRO"]), PAIR
    )
    assert (pool["questions"], pool["pool"], pool["decided"]) == ("5", "12", "0.93")


def test_a_primary_pair_is_planned_with_by_default_and_tested_by_itself():
    plan = a_plan(primary="AP-NMRR")
    pair, _ = compared_in(plan, plan.draw_questions()[1:], None)
    assert str(pair) == plan.primary == "NMRR-AP"
    assert (
        grid_texts(plan, pair)["primary"]
        == grid_texts(plan, Pair("AP", "NMRR"))["primary"]
        == "yes"
    )
    assert grid_texts(plan, PAIR)["primary"] == "no"

    grids = [read_grid({"pool": "none", "primary": answer}) for answer in ("yes", "no")]
    (first,), (other,) = (power_of(grid.studies[:1]) for grid in grids)
    assert first.power > other.power
    assert reading(first).count("for questions of this kind, the primary pair by itself.") == 1
    assert command(grids[0].texts) == "survey power --pool none --primary yes"
    with pytest.raises(GridError, match="primary is 'perhaps'; no or yes is allowed"):
        read_grid({"primary": "perhaps"})


def test_participants_in_an_arm_without_methods_have_no_votes_to_simulate():
    plan = a_plan(participants=31, arms=["before", "never"])
    assert grid_texts(plan, PAIR)["participants"] == "15"
    assert without_methods(plan).startswith("16 of the 31 participants are in an arm that shows no")
    assert not without_methods(a_plan(arms=["before", "after"]))
    with pytest.raises(SurveyError, match="never shows methods"):
        grid_texts(a_plan(columns="never"), PAIR)


def test_a_pair_is_named_with_the_measure_that_is_ahead_first():
    measures = ("AP", "NMRR", "MNRO")
    assert str(find_pair(measures, None)) == "MNRO-NMRR"
    assert str(find_pair(measures, "AP-MNRO")) == "AP-MNRO"
    with pytest.raises(SurveyError, match="are AP, NMRR, MNRO; a pair is like MNRO-NMRR"):
        find_pair(measures, "AP-F1")


def test_the_command_names_what_differs_from_the_defaults():
    assert command(DEFAULTS) == "survey power"
    asked = {**DEFAULTS, "participants": "30, 40", "between_questions": ".2"}
    assert command(asked) == "survey power --participants 30,40 --between-questions .2"


def found(people, asked, questions, power, reach=0.02, difference=0.1, for_order=None):
    return Power(
        participants=people,
        per_participant=asked,
        questions=questions,
        difference=difference,
        replicates=2000,
        power=power,
        interval=(power - reach, power + reach),
        for_order=power if for_order is None else for_order,
        equal=0.03 if difference else None,
        half_width=0.1,
    )


def test_a_result_reads_as_a_sentence():
    assert reading(found(30, 10, 30, 0.31)) == (
        "With 30 participants answering 10 of 30 questions, the verdict finds a difference of 10 "
        "points in 31 % of studies (±2), for questions of this kind, corrected for 3 comparisons. "
        "Without a difference it calls the two equal to within 10 points in 3 %."
    )
    assert "In 12 % it says that the preference is for the order, and not" in reading(
        found(30, 10, 30, 0.31, for_order=0.12)
    )
    assert reading(found(30, 10, 10, 0.02, 0.001, 0.0)) == (
        "With 30 participants answering all of 10 questions, the verdict prefers a measure in 2 % "
        "of studies (less than ±1) although there is no difference, for questions of this kind, "
        "corrected for 3 comparisons."
    )


def test_what_is_not_enough_is_not_rounded_up_to_it():
    told = {
        power: power_percent(found(30, 10, 10, power)) for power in (0.796, 0.7996, 0.8, 0.8004)
    }
    assert list(told.values()) == ["79.6 %", "79.96 %", "80 %", "80 %"]


def test_the_advice_follows_the_figures():
    def said(*ways):
        grid = [found(30, 10, 10, 0.2), found(60, 10, 10, 0.3), found(30, 10, 30, 0.4)]
        return " ".join(advice([*grid, found(30, 10, 10, 0.02, difference=0.0)], ways))

    people = Way("participants", found(250, 10, 10, 0.8), True)
    too_few = Way("participants", found(1000, 10, 10, 0.3), False)
    questions = Way("questions for each", found(30, 45, 45, 0.8), True)
    too_few_questions = Way("questions for each", found(30, 50, 50, 0.3), False)
    assert said(people, questions) == (
        "A difference of 10 points: 30 participants × all of 10 questions (300 answers) find it in "
        "20 %. 80 % take about 250 participants × all of 10 questions (2500 answers), or about 30 "
        "participants × all of 45 questions (1350 answers). With these spreads more questions help "
        "more than more participants."
    )
    assert (
        "Not enough: 1000 participants × all of 10 questions (10000 answers), 30 % (±2 in 2000 "
        "runs)."
    ) in said(too_few, questions)
    unchanged = Way("participants", found(30, 10, 10, 0.2), False)
    assert "in 20 %. More than 30 participants are not tried." in said(unchanged, too_few_questions)
    fewer = Way("participants", found(100, 10, 10, 0.8), True)
    assert "more participants help more than more questions" in said(fewer, questions)
    assert "help" not in said(too_few, too_few_questions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spreads", "helps"),
    [
        ({}, "more questions help more than more participants"),
        (
            {"between_questions": ".05", "between_participants": ".35"},
            "more participants help more than more questions",
        ),
    ],
)
def test_what_gives_enough_power_has_it(spreads, helps):
    grid = read_grid({"difference": ".15", "pool": "40", **spreads})
    powers = simulate_power(grid.studies, seed=1, replicates=200)
    ways = find_ways(grid, powers)
    assert [way.more for way in ways] == [
        *("participants", "participants with a pool", "questions for each")
    ]
    assert any(way.enough for way in ways)
    for way in ways:
        study = PlannedStudy(
            **{name: getattr(way.result, name) for name in PlannedStudy.__dataclass_fields__}
        )
        again = simulate_power([study], seed=9, replicates=2000)[0]
        # 500 runs found it, to within two points.
        assert abs(again.power - way.result.power) < 0.08
        assert (again.power > 0.73) == way.enough
    assert helps in advice(powers, ways)[0]


def test_a_study_that_has_enough_power_needs_no_more():
    grid = read_grid({"participants": "60", "questions": "30", "pool": "none", "difference": ".3"})
    powers = simulate_power(grid.studies, seed=1, replicates=200)
    ways = find_ways(grid, powers)
    assert all(way.enough and way.result.participants == 60 for way in ways)
    assert "which is enough." in advice(powers, ways)[0]


def test_a_hundred_runs_do_not_decide_what_is_close_to_enough(monkeypatch):
    grid = read_grid({"participants": "30", "questions": "10", "pool": "none"})

    def simulated(studies, *, replicates, **_):
        power, reach = (0.86, 0.03) if replicates > 100 else (0.79, 0.08)
        return [replace(found(2, 2, 2, power, reach), **vars(studies[0]), replicates=replicates)]

    monkeypatch.setattr(power, "simulate_power", simulated)
    ways = find_ways(grid, [found(30, 10, 10, 0.2)])
    assert [(way.enough, way.result.replicates) for way in ways] == [(True, 500), (True, 500)]


def test_the_largest_study_that_just_misses_enough_power_is_not_enough(monkeypatch):
    grid = read_grid({"participants": "6", "questions": "50", "pool": "none", "difference": ".3"})
    just_missed = found(6, 50, 50, 0.79, difference=0.3)
    monkeypatch.setattr(power, "simulate_power", lambda *_, **__: [found(9, 50, 50, 0.8)])
    people, questions = find_ways(grid, [just_missed])
    assert (people.enough, questions) == (True, Way("questions for each", just_missed, False))
