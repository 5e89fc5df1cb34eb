"""A machine beside people: agreement against other libraries, and where the machine errs."""

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score, cohen_kappa_score

from survey.core.agreement.machines import (
    agreement,
    compare_groupings,
    compare_labels,
    compare_orders,
    confusion,
    errors_by_agreement,
    errors_by_topic,
    position_bias,
    unit_errors,
    worst_units,
)
from tests.core.agreement.beside import PEOPLE, labelled, topics_of


@pytest.mark.parametrize("graded", [False, True])
def test_agreement_is_the_mean_kappa_of_pairs(graded):
    people, machine = labelled(1, levels=4)
    result = agreement(compare_labels(people, machine, graded=graded))

    def kappa(first, second):
        weights = "quadratic" if graded else None
        return cohen_kappa_score([*first.values()], [*second.values()], weights=weights)

    hm = np.mean([kappa(people[name], machine) for name in PEOPLE])
    pairs = [(one, other) for one in PEOPLE for other in PEOPLE if one < other]
    hh = np.mean([kappa(people[one], people[other]) for one, other in pairs])
    assert result.hm.value == pytest.approx(hm)
    assert result.hh.value == pytest.approx(hh)
    assert result.difference.value == pytest.approx(hm - hh)
    for estimate in (result.hm, result.hh, result.difference):
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1]


@pytest.mark.parametrize(("graded", "level"), [(False, "nominal"), (True, "ordinal")])
def test_alpha_is_that_of_krippendorff_with_and_without_the_machine(graded, level):
    people, machine = labelled(2, levels=4)
    people["ada"] = {unit: answer for unit, answer in people["ada"].items() if unit % 3}
    result = agreement(compare_labels(people, machine, graded=graded))
    table = np.array(
        [[answers.get(unit, np.nan) for unit in machine] for answers in [*people.values(), machine]]
    )
    for alpha, rows in ((result.alpha, table[:-1]), (result.alpha_with_machine, table)):
        assert alpha == pytest.approx(krippendorff.alpha(rows, level_of_measurement=level))


@pytest.mark.parametrize(("graded", "level"), [(False, "nominal"), (True, "interval")])
def test_agreement_is_also_the_mean_alpha_of_pairs(graded, level):
    people, machine = labelled(2, levels=4)
    people["ada"] = {unit: answer for unit, answer in people["ada"].items() if unit % 3}
    result = agreement(compare_labels(people, machine, graded=graded))

    def alpha(first, second):
        rows = [[each.get(unit, np.nan) for unit in machine] for each in (first, second)]
        return krippendorff.alpha(rows, level_of_measurement=level)

    hm = np.mean([alpha(people[name], machine) for name in PEOPLE])
    pairs = [(one, other) for one in PEOPLE for other in PEOPLE if one < other]
    hh = np.mean([alpha(people[one], people[other]) for one, other in pairs])
    for estimate, value in ((result.hm_alpha, hm), (result.hh_alpha, hh)):
        assert estimate.value == pytest.approx(value)
        assert estimate.ci95[0] < estimate.value < estimate.ci95[1]


def test_agreement_of_groupings_is_the_mean_adjusted_rand_index():
    chance = np.random.default_rng(3)
    raters = {
        name: {
            topic: {str(document): frozenset(str(chance.integers(3))) for document in range(12)}
            for topic in range(8)
        }
        for name in ("ada", "bea", "machine")
    }
    machine = raters.pop("machine")
    comparison = compare_groupings(raters, machine)
    result = agreement(comparison)

    def index(first, second, topic):
        groups = [[*each[topic].values()] for each in (first, second)]
        return adjusted_rand_score(*([str(group) for group in one] for one in groups))

    hh = np.mean([index(raters["ada"], raters["bea"], topic) for topic in range(8)])
    assert result.hh.value == pytest.approx(hh)
    to_ada = [index(raters["ada"], machine, topic) for topic in range(8)]
    to_bea = [index(raters["bea"], machine, topic) for topic in range(8)]
    assert result.hm.value == pytest.approx(np.mean([to_ada, to_bea]))
    # What the machine is to the others of ada is what it is to bea.
    np.testing.assert_allclose(comparison.scores[0][:, 0], to_bea)
    assert result.alpha is None


def test_a_document_that_one_did_not_group_is_left_out_of_that_pair():
    one = {"t": {"a": frozenset("1"), "b": frozenset("1"), "c": frozenset("2")}}
    other = {"t": {"a": frozenset("x"), "b": frozenset("x"), "d": frozenset("y")}}
    machine = {"t": {"a": frozenset("p"), "b": frozenset("q"), "c": frozenset("q")}}
    result = agreement(compare_groupings({"ada": one, "bea": other}, machine))
    assert result.hh.value == 1  # of the one pair of documents that both have
    assert result.hm.value == pytest.approx((-0.5 + 0) / 2)


def test_agreement_of_orders_is_the_mean_tau_and_all_tied_counts_as_0_in_the_test():
    chance = np.random.default_rng(4)
    orders = {
        name: {question: stats.rankdata(chance.integers(0, 3, 5)).tolist() for question in range(9)}
        for name in ("ada", "bea", "machine")
    }
    orders["bea"][0] = [3.0] * 5
    machine = orders.pop("machine")
    comparison = compare_orders(orders, machine)
    taus = [stats.kendalltau(orders["ada"][q], orders["bea"][q]).statistic for q in range(9)]
    assert np.isnan(taus[0])
    assert agreement(comparison).hh.value == pytest.approx(np.nanmean(taus))
    assert comparison.scores[1][0, 0] == 0
    np.testing.assert_allclose(comparison.scores[1][1:, 0], taus[1:])


def test_topics_are_drawn_where_there_are_some():
    people, machine = labelled(5, units=120)
    plain = agreement(compare_labels(people, machine))
    of_topics = agreement(compare_labels(people, machine, topics_of(120, 12)))
    assert (plain.sampled, plain.number) == ("units", 120)
    assert (of_topics.sampled, of_topics.number) == ("topics", 12)
    assert of_topics.hm.value == pytest.approx(plain.hm.value)
    assert of_topics.hm.ci95 != plain.hm.ci95


def test_a_topic_for_each_unit_draws_the_same_samples():
    people, machine = labelled(6, units=60)
    plain = agreement(compare_labels(people, machine))
    of_topics = agreement(compare_labels(people, machine, topics_of(60, 60)))
    assert of_topics.hm.ci95[0] == pytest.approx(plain.hm.ci95[0], abs=0.03)


def test_no_figure_depends_on_the_order_of_people_or_units():
    people, machine = labelled(7, units=80)
    people["ada"].pop(3)
    backwards = (
        {name: dict(reversed(people[name].items())) for name in reversed(list(people))},
        dict(reversed(machine.items())),
    )
    one = agreement(compare_labels(people, machine))
    other = agreement(compare_labels(*backwards))
    assert one == other
    assert agreement(compare_labels(people, machine), seed=1).hm != one.hm


def test_many_people_are_sampled_evenly():
    people, machine = labelled(8, units=30, people=[f"p{number:03}" for number in range(250)])
    result = agreement(compare_labels(people, machine))
    assert result.hm.value == pytest.approx(result.hh.value, abs=0.1)
    assert result.hh.ci95[0] < result.hh.value < result.hh.ci95[1]


def test_a_unit_without_a_topic_and_a_grade_without_a_number_are_named():
    people, machine = labelled(9, units=5)
    with pytest.raises(ValueError, match="4 was judged, and no topic is given"):
        compare_labels(people, machine, topics_of(4, 2))
    with pytest.raises(ValueError, match="'yes' found among the grades"):
        compare_labels(people, {0: "yes"}, graded=True)


def test_errors_are_those_of_the_machine_and_of_people():
    people = {
        "ada": {1: "A", 2: "A", 3: "B", 4: "A"},
        "bea": {1: "A", 2: "B", 3: "B"},
        "cyd": {1: "A", 2: "B", 3: "B"},
    }
    machine = {1: "B", 2: "A", 3: "B", 4: "B"}
    comparison = compare_labels(people, machine, {1: "s", 2: "s", 3: "t", 4: "t"})
    table = confusion(comparison)
    assert table == {("A", "A"): 1, ("A", "B"): 4, ("B", "A"): 2, ("B", "B"): 3}
    errors = unit_errors(comparison)
    assert [error.unit for error in errors] == [1, 2, 3]  # one person alone judged 4
    assert [error.machine for error in errors] == pytest.approx([1, 2 / 3, 0])
    assert [error.person for error in errors] == pytest.approx([0, 2 / 3, 0])
    by_topic = errors_by_topic(errors)
    assert [(group.name, group.units) for group in by_topic] == [("s", 2), ("t", 1)]
    assert by_topic[0].machine == pytest.approx(5 / 6)
    by_agreement = errors_by_agreement(errors)
    assert [group.name for group in by_agreement] == ["people agree", "people differ by more"]
    assert by_agreement[0].machine == pytest.approx(1 / 2)
    assert [error.unit for error in worst_units(errors)] == [1]


def test_errors_of_grades_are_root_mean_squared_differences():
    people = {"ada": {1: 3}, "bea": {1: 1}, "cyd": {1: 0}}
    [error] = unit_errors(compare_labels(people, {1: 1}, graded=True))
    of_machine = [(0 + 1) / 2, (4 + 1) / 2, (4 + 0) / 2]
    of_person = [(4 + 9) / 2, (4 + 1) / 2, (9 + 1) / 2]
    assert error.machine == pytest.approx(np.mean(np.sqrt(of_machine)))
    assert error.person == pytest.approx(np.mean(np.sqrt(of_person)))


def test_the_worst_units_come_first_and_are_ten():
    people, machine = labelled(10, machine=0.3)
    errors = unit_errors(compare_labels(people, machine))
    worst = worst_units(errors)
    assert len(worst) == 10
    excess = [error.machine - error.person for error in worst]
    assert excess == sorted(excess, reverse=True)
    assert (
        excess[-1]
        >= max(error.machine - error.person for error in errors if error not in worst) - 1e-9
    )


def test_a_side_that_is_preferred_shows():
    bias = position_bias(left=36, right=14, unchanged=40, swapped=60)
    assert bias.left == 0.72
    assert bias.p == pytest.approx(stats.binomtest(36, 50).pvalue)
    interval = stats.binomtest(40, 60).proportion_ci(method="wilson")
    assert bias.unchanged_ci95 == pytest.approx((interval.low, interval.high))
    nothing = position_bias(0, 0, 0, 0)
    assert (nothing.left, nothing.p, nothing.unchanged_ci95) == (None, None, None)
    with pytest.raises(ValueError, match="unchanged: 5 found; 4 questions were swapped"):
        position_bias(1, 1, 5, 4)
