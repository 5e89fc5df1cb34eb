"""What the counts of Table 4 alone support, against figures worked out elsewhere."""

import json
from pathlib import Path

import numpy as np
import pytest

from survey.paper.set_level import (
    PublishedCounts,
    assignments,
    most_points_apart,
    p_if_participants_differ,
    set_level,
)

CASE = json.loads((Path(__file__).parents[1] / "cases" / "table4.json").read_text())["table4"]
EXPECTED = CASE["expected"]
NAMES = ("AP", "NMRR", "MNRO")
PAIRS = ("MNRO-NMRR", "MNRO-AP", "NMRR-AP")
COUNTS = PublishedCounts(
    measures=NAMES,
    votes=tuple(map(tuple, CASE["votes"])),
    identical={int(number): tuple(pair) for number, pair in CASE["identical_rankings"].items()},
    participants=30,
)


def close(expected):
    return pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def level():
    return set_level(COUNTS)


@pytest.fixture(scope="module")
def by_pair(level):
    return {str(tests.pair): tests for tests in level.pairs}


@pytest.mark.parametrize("pair", PAIRS)
def test_sets_are_won_lost_tied_or_could_not_differ(by_pair, pair):
    tests, expected = by_pair[pair], EXPECTED[pair]
    assert (list(tests.by_set), tests.lead) == (expected["diff_per_set"], expected["sum"])
    assert list(tests.structural_ties) == expected["structural_tie_sets"]
    free = tests.scopes["free"].questions
    assert (free.won, free.lost, free.tied) == tuple(
        expected[key] for key in ("win", "loss", "tie")
    )
    assert free.sign_p == close(expected["sign_p2"])


@pytest.mark.parametrize("scope", ["all10", "free"])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_mean_over_sets_and_its_tests(by_pair, pair, scope):
    expected = EXPECTED[pair][scope]
    tests = by_pair[pair].scopes["all_sets" if scope == "all10" else "free"]
    assert (tests.mean.n, tests.mean.df) == (expected["n"], expected["n"] - 1)
    assert (tests.mean.mean, tests.mean.sd) == (close(expected["mean"]), close(expected["sd"]))
    assert (tests.mean.t, tests.mean.p) == (close(expected["t"]), close(expected["p_t"]))
    assert tests.mean.ci95 == close(tuple(expected["ci_t"]))
    assert tests.questions.sign_flip_p == close(expected["signflip_exact_p2"])


@pytest.mark.parametrize("pair", PAIRS)
def test_the_exact_permutation_of_a_pair(by_pair, pair):
    exchange, expected = by_pair[pair].exchange, EXPECTED[pair]["exact_setperm"]
    assert (exchange.observed, exchange.null_mean) == (
        expected["obs"],
        close(expected["null_mean"]),
    )
    assert (exchange.p_upper, exchange.p) == (close(expected["p_upper"]), close(expected["p_two"]))


def test_the_exact_permutation_of_a_total(level):
    expected = EXPECTED["exact_setperm_MNRO_total"]
    mnro = level.totals["MNRO"]
    assert (mnro.observed, mnro.null_mean) == (135, close(expected["null_mean"]))
    assert mnro.p_upper == close(expected["p_upper"])
    assert level.totals["AP"].null_mean == close(EXPECTED["exact_setperm_AP_total_nullmean"])
    assert level.totals["NMRR"].null_mean == close(EXPECTED["exact_setperm_NMRR_total_nullmean"])


def test_first_places_beside_what_exchanging_the_measures_gives(level):
    first = level.first_places
    assert {name: places.or_tied for name, places in first.items()} == EXPECTED["first_or_tied"]
    assert {name: places.outright for name, places in first.items()} == EXPECTED["outright"]
    mnro = first["MNRO"]
    assert [round(chance, 4) for chance in mnro.chance_by_set] == EXPECTED["P_first_null_per_set"]
    assert mnro.expected == close(EXPECTED["E_first_null"])
    assert mnro.p_at_least == close(EXPECTED["P_MNRO_first_or_tied_ge9_null"])


def test_alone_at_the_top_by_exchange_is_possible_in_six_sets_of_one_in_three(level):
    # By hand: sets 3, 4 and 9 share MNRO's order, set 5 has two tops. P(X >= 5), X ~ B(6, 1/3).
    mnro = level.first_places["MNRO"]
    assert mnro.expected_outright == close(2)
    assert mnro.p_outright_at_least == close(13 / 729)


def test_blind_ticks_give_a_lead_where_orders_are_identical(by_pair):
    # A third of the 26 and 28 ticks of sets 3 and 9, and of the 28 of set 4.
    assert by_pair["MNRO-NMRR"].chance_lead == close(26 / 3 + 28 / 3)
    assert by_pair["MNRO-AP"].chance_lead == close(28 / 3)
    assert by_pair["NMRR-AP"].chance_lead == close(28 / 3 - 18)


def test_leaving_each_set_out(by_pair):
    assert list(by_pair["MNRO-NMRR"].lead_without) == EXPECTED["loo_MNRO-NMRR"]


def test_only_mnro_over_ap_survives_holm_over_the_pairs(by_pair):
    holm = {
        pair: tests.scopes["all_sets"].questions.sign_flip_p_holm for pair, tests in by_pair.items()
    }
    assert holm == {
        "MNRO-NMRR": close(2 * 0.234375),
        "MNRO-AP": close(3 * 0.0078125),
        "NMRR-AP": close(0.4765625),
    }
    assert by_pair["MNRO-AP"].exchange.p_holm == close(3 * 0.009987997256515774)


def test_mnro_over_ap_holds_too_where_no_orders_are_identical(by_pair):
    # By hand: all seven sets won, so both signs of every flip reach it: 2 / 2**7.
    distinct = by_pair["MNRO-AP"].scopes["distinct"]
    assert distinct.sets == (1, 2, 5, 6, 7, 8, 10)
    assert distinct.questions.sign_flip_p == close(2 / 2**7)
    assert distinct.mean.left_out == {"two of the orders are identical": 3}


def test_measures_with_one_order_keep_one_count_when_exchanged():
    together = assignments(COUNTS)[2]
    assert {tuple(votes[name] for name in NAMES) for votes in together} == {(20, 6, 20), (6, 20, 6)}


def test_a_single_set_has_no_t_test_and_says_so():
    tests = set_level(PublishedCounts(("X", "Y"), ((3, 1, 0),), {}, 4)).pairs[0]
    scope = tests.scopes["all_sets"]
    assert (scope.mean.p, scope.mean.why) == (None, "a t test needs two sets")
    assert scope.questions.sign_flip_p == 1


def test_a_pair_that_is_identical_everywhere_has_nothing_to_test():
    counts = PublishedCounts(("X", "Y"), ((3, 3, 0), (2, 2, 1)), {1: ("X", "Y"), 2: ("X", "Y")}, 3)
    tests = set_level(counts).pairs[0]
    assert tests.structural_ties == (1, 2)
    all_sets, free = tests.scopes["all_sets"], tests.scopes["free"]
    assert all_sets.mean.why == "the difference is the same in every set"
    assert (free.mean.n, free.mean.why) == (0, "a t test needs two sets")
    assert free.questions.sign_flip_p is None


def test_a_measure_chosen_afterwards_is_compared_with_any(level):
    first = level.first_places["MNRO"]
    # An independent simulation has .036, .010 and .135 (one-sided for MNRO: .012, .004, .018).
    assert level.totals["MNRO"].p_any == pytest.approx(0.036, abs=0.0005)
    assert first.p_any_at_least == pytest.approx(0.0106, abs=0.0005)
    assert first.p_any_outright_at_least == pytest.approx(0.1358, abs=0.0005)
    for name in NAMES:
        assert level.totals[name].p_any >= level.totals[name].p_upper
        places = level.first_places[name]
        assert places.p_any_at_least >= places.p_at_least


def test_any_measure_is_the_largest_of_many_exchanges(level):
    rng = np.random.default_rng(5)
    totals = np.zeros((40_000, len(NAMES)))
    for exchanges in assignments(COUNTS):
        ways = np.array([[votes[name] for name in NAMES] for votes in exchanges])
        totals += ways[rng.integers(0, len(ways), len(totals))]
    reached = (totals.max(axis=1) >= 135).mean()
    assert level.totals["MNRO"].p_any == pytest.approx(reached, abs=0.003)  # three standard errors


@pytest.mark.parametrize(
    ("spread", "p"), [(0.15, 0.015), (0.2, 0.026), (0.25, 0.047), (0.26, 0.053)]
)
def test_mnro_over_ap_rests_on_how_alike_participants_are(by_pair, spread, p):
    assert p_if_participants_differ(by_pair["MNRO-AP"], spread, 30) == pytest.approx(p, abs=0.0005)


def test_a_lead_holds_up_to_the_spread_that_its_test_still_bears(by_pair):
    tests = by_pair["MNRO-AP"]
    most = most_points_apart(tests, 30)
    around = [p_if_participants_differ(tests, (most + more) / 100, 30) for more in (0, 1)]
    assert around[0] < 0.05 <= around[1]
    assert most_points_apart(by_pair["MNRO-NMRR"], 30) is None
    alike = p_if_participants_differ(tests, 0, 30)
    mean = tests.scopes["all_sets"].mean
    assert mean.p < alike <= 3 * mean.p  # that of the largest of three
