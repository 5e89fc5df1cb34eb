"""A slice of benchmarks/calibration.md, and what its figures rest on.

The bounds are those of a binomial count at a 1-in-1,000 error on each side; the seed is
fixed, so a test that passes keeps passing until a statistic changes.
"""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom

from benchmarks import observed
from benchmarks.calibrate import calibrate, everything, main
from benchmarks.experiments import (
    COVERAGE,
    IDENTICAL,
    PAPER,
    PEOPLE_VARY,
    POOL,
    POWER,
    QUESTIONS_VARY,
    RECOVERY,
    TIES,
    Rate,
    experiments,
)
from benchmarks.families import (
    FALSE,
    FOUND,
    HOLM,
    NOW,
    UNCORRECTED,
    draw_study,
    families,
    mean_tests,
)
from benchmarks.observed import ballots_of
from benchmarks.page import page
from benchmarks.situations import MEASURES, Design, deal, simulate_study
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.differences import (
    Pair,
    Spread,
    by_participants,
    components,
    differences,
    mcnemar,
    mean_of,
    two_way,
)
from survey.core.agreement.label_permutation import Redraws, label_permutation
from survey.core.studies.rankings import Ranking

pytestmark = pytest.mark.slow

PAIR = Pair("MNRO", "NMRR")
REPLICATES = 300


def tried(part, design=PAPER):
    """The experiment of the calibration for a part and a design, and its place."""
    for place, one in enumerate(experiments()):
        if (one.part, one.design) == (part, design):
            return one, place
    raise LookupError(part)


def studies(part, replicates=REPLICATES):
    """The first simulated studies of a part, with their credits and differences."""
    one, place = tried(part)
    for number in range(replicates):
        stream = np.random.SeedSequence(1, spawn_key=(place, number))
        study = simulate_study(one.situation, one.design, stream)
        credits = tally_credits(ballots_of(study))
        yield study, credits, differences(credits, PAIR)


def between(count, share, replicates=REPLICATES):
    """Whether a count may come of so many trials with this chance."""
    return binom.ppf(0.001, replicates, share) <= count <= binom.ppf(0.999, replicates, share)


def test_where_questions_vary_the_two_way_test_keeps_its_level_and_mcnemar_does_not():
    rejected, covered = Counter(), Counter()
    for study, credits, d in studies(QUESTIONS_VARY):
        both = two_way(d, credits)
        people = by_participants(Spread.of(d, credits))
        rejected["two-way"] += both.p < 0.05
        rejected["participants"] += people.p < 0.05
        rejected["McNemar"] += mcnemar(credits, PAIR).p < 0.05
        covered["here"] += people.ci95[0] <= study.difference_here <= people.ci95[1]
    assert between(rejected["two-way"], 0.05), rejected
    assert between(rejected["McNemar"], 0.166), rejected
    for misread in ("McNemar", "participants"):
        assert rejected[misread] > binom.ppf(0.999, REPLICATES, 0.05), rejected
    assert between(covered["here"], 0.95), covered


def test_over_these_questions_the_participants_test_keeps_its_level():
    rejected = sum(
        by_participants(Spread.of(d, credits)).p < 0.05 for _, credits, d in studies(PEOPLE_VARY)
    )
    assert between(rejected, 0.05), rejected


def test_of_blind_clicks_only_the_label_permutation_keeps_its_level_under_identical_orders():
    rejected = Counter()
    for _, credits, d in studies(IDENTICAL):
        rejected["labels"] += label_permutation(Redraws(credits), PAIR).p < 0.05
        rejected["participants"] += by_participants(Spread.of(d, credits)).p < 0.05
        rejected["McNemar"] += mcnemar(credits, PAIR).p < 0.05
    assert between(rejected["labels"], 0.05), rejected
    for raw in ("participants", "McNemar"):
        assert rejected[raw] > 0.2 * REPLICATES, rejected


def test_planted_preferences_are_covered_by_the_intervals_of_the_shares():
    one, place = tried(RECOVERY)
    tally = one.tally(1, place, 0, 60)
    for name in observed.RECOVERED:
        assert between(tally[name, "times"], 0.95, tally[name, "of"]), (name, tally)


def test_what_is_planted_is_the_mean_difference():
    for part in (POWER, COVERAGE):
        one, place = tried(part)
        d, here = [], []
        for number in range(40):
            study = simulate_study(
                one.situation, one.design, np.random.SeedSequence(2, spawn_key=(place, number))
            )
            credits = tally_credits(ballots_of(study))
            d.append(mean_of(differences(credits, PAIR), credits))
            here.append(study.difference_here)
        apart = np.subtract(d, here)
        assert abs(apart.mean()) < 3.3 * apart.std(ddof=1) / len(apart) ** 0.5
        assert abs(np.mean(here) - one.situation.difference) < 3.3 * 0.15 / (10 * 40) ** 0.5


def family(part, name, design):
    """The studies of three measures with these tastes, as arrays."""
    return next(
        one
        for one in families()
        if (one.part, one.situation.name, one.design) == (part, name, design)
    )


def test_tests_of_arrays_are_those_of_the_analysis():
    one = family(FALSE, "both, .5 and .35, 40 % leave early", PAPER)
    stream = np.random.SeedSequence(1)
    answered, credits, _, _ = draw_study(one.situation, one.design, stream)
    responses = [
        Response(
            participant=f"P{who}",
            question=question + 1,
            label_order=MEASURES,
            clicked=frozenset(np.flatnonzero(credits[who, question]) + 1),
            own=None if credits[who, question].any() else Ranking.parse("A>B>C>D>E"),
        )
        for who, question in zip(*np.nonzero(answered), strict=True)
    ]
    distinct = dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True))
    rankings = dict.fromkeys(range(1, 11), distinct)
    found = tally_credits(Ballots.of(Answers.of(responses), rankings, MEASURES))
    d = differences(found, PAIR)
    expected = components(Spread.of(d, found), by_participants(Spread.of(d, found)))
    array = mean_tests((credits[..., 2] - credits[..., 1])[np.newaxis], answered[np.newaxis])
    assert array.mean[0] == pytest.approx(expected.mean)
    assert array.components.variance[0] == pytest.approx(expected.se**2)
    assert array.components.df[0] == pytest.approx(expected.df)
    assert array.two_way[0] == pytest.approx(two_way(d, found).se ** 2)
    assert array.participants[0] == pytest.approx(by_participants(Spread.of(d, found)).se ** 2)


def test_where_people_differ_a_difference_is_found_more_often_than_formerly():
    one = family(FOUND, "MNRO ahead by 20 points, people 1", PAPER)
    tally = one.tally(1, 0, 0, REPLICATES)
    assert tally[f"{NOW}: any", "times"] > tally[f"{HOLM}: any", "times"] + 10


def test_where_no_measure_is_liked_more_few_studies_name_one():
    one = family(FALSE, "people differ, 1", PAPER)
    tally = one.tally(1, 0, 0, REPLICATES)
    assert tally[NOW, "times"] <= binom.ppf(0.999, REPLICATES, 0.065)
    assert tally[UNCORRECTED, "times"] > tally[NOW, "times"]


def test_a_lead_from_ties_is_seldom_called_one_between_orders():
    place = next(number for number, one in enumerate(experiments()) if one.part == TIES)
    tally = [*experiments()][place].tally(1, place, 0, 60)
    assert tally[observed.FORMERLY, "times"] > 25
    assert tally[observed.FOR_ORDERS, "times"] < 12


@pytest.mark.parametrize("design", [PAPER, POOL, Design(7, 3, 8)], ids=str)
def test_questions_are_dealt_evenly(design):
    dealt = deal(design, np.random.default_rng(1))
    asked = Counter(number for numbers in dealt for number in numbers)
    assert all(len(set(numbers)) == design.asked for numbers in dealt)
    assert max(asked.values()) - min(asked.values()) <= 1
    assert sum(asked.values()) == design.participants * design.asked


def test_the_figures_do_not_depend_on_who_counts_them():
    one, place = tried(COVERAGE, POOL)
    assert one.tally(1, place, 0, 12) == one.tally(1, place, 0, 5) + one.tally(1, place, 5, 12)
    counts = []
    with ThreadPoolExecutor(1) as one_worker, ThreadPoolExecutor(3) as three_workers:
        for executor in (one_worker, three_workers):
            counts.append(
                calibrate([one, one], executor, replicates=60, seed=3, on_counted=counts.append)
            )
    first, second = (found for found in counts if isinstance(found, list))
    assert first == second
    assert sum(count for count in counts if isinstance(count, int)) == 2 * 2 * 60


def test_a_rate_is_judged_by_its_monte_carlo_interval():
    assert Rate(100, 2000, "5 %").holds
    assert not Rate(140, 2000, "5 %").holds
    assert not Rate(60, 2000, "5 %").holds
    assert Rate(60, 2000, "at most 5 %").holds
    assert not Rate(140, 2000, "at most 5 %").holds
    assert Rate(140, 2000, "above 5 %").holds
    assert not Rate(110, 2000, "above 5 %").holds
    assert Rate(1900, 2000, "95 %").holds
    assert Rate(1800, 2000, "below 95 %").holds
    assert Rate(140, 2000).holds is None
    # Wilson's interval for 5 of 100, from Newcombe (1998), equation for method 3.
    assert Rate(5, 100).interval == pytest.approx((0.02154, 0.11175), abs=1e-5)


@pytest.mark.trial  # minutes: it simulates every situation of the page
def test_the_committed_page_has_the_rows_that_are_counted_today():
    tried_now = everything()
    with ThreadPoolExecutor(1) as executor:
        found = calibrate(tried_now, executor, replicates=2, seed=1)
    today = page(list(zip(tried_now, found, strict=True)), replicates=2, seed=1)
    committed = (Path(__file__).parents[2] / "benchmarks" / "calibration.md").read_text()
    assert rows_of(committed) == rows_of(today)


def rows_of(text):
    """The headings of a page, and what stands in the first two columns of its tables."""
    return [
        line.split(" | ")[:2] if line.startswith("|") else line
        for line in text.splitlines()
        if line.startswith(("|", "#"))
    ]


def test_a_folder_that_is_not_there_is_told_before_anything_is_simulated(tmp_path):
    result = CliRunner().invoke(main, ["--to", str(tmp_path / "nowhere" / "page.md")])
    assert result.exit_code == 2
    assert "there is no folder" in result.output
