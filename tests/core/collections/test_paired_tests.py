"""The paired t and randomisation tests of a run against a baseline, beside the bootstrap."""

import numpy as np
import pytest
from scipy import stats

from survey.core.collections.evaluation import compare_runs
from survey.core.statistics.significance import holm, paired_t_p, randomisation_p
from tests.core.collections.test_bootstrap import evaluation_of

RNG = np.random.default_rng(5)
# With ties: two choices of signs can have the same sum.
TIED = np.array([0.5, 0.5, -0.25, 0.25, 0.0, 0.1, -0.1])


@pytest.mark.parametrize("z", [TIED, -TIED, RNG.normal(0.4, size=10), [0.1, 0.2, 0.3]])
def test_few_queries_are_tried_in_all_choices_of_signs(z):
    expected = stats.permutation_test(
        (np.array(z),), np.sum, permutation_type="samples", alternative="greater"
    ).pvalue
    assert randomisation_p(np.array([z]).T) == pytest.approx([expected])


def test_of_many_queries_signs_are_drawn_alike_for_all_comparisons():
    z = np.random.default_rng(6).normal(0.6, size=(13, 1))
    exact = randomisation_p(z, 2**13)[0]
    drawn = randomisation_p(np.hstack([z, z, -z]), 8_191)
    assert drawn[0] == drawn[1] == pytest.approx(exact, abs=4 * np.sqrt(exact / 8_191) + 1e-3)
    assert drawn[2] > 0.5
    assert (drawn == randomisation_p(np.hstack([z, z, -z]), 8_191)).all()


def test_the_t_test_is_scipys_paired_one():
    run, base = RNG.normal(size=(2, 30))
    expected = stats.ttest_rel(run, base, alternative="greater").pvalue
    assert paired_t_p((run - base)[:, np.newaxis]) == pytest.approx([expected])


@pytest.mark.slow
@pytest.mark.parametrize("test", [paired_t_p, randomisation_p])
def test_under_the_null_one_experiment_in_twenty_rejects(test):
    p = test(np.random.default_rng(11).normal(size=(20, 3000)))
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=0.012)


def test_each_test_has_a_p_in_the_direction_of_the_measure_and_holm_of_its_own():
    base, far = RNG.normal(size=20), RNG.normal(size=20) + 1
    found = compare_runs(evaluation_of(("AP", "NMRR"), base=base, far=far, same=base), "base")
    by_name = {(each.run, each.measure): each for each in found}
    gains = (far - base)[:, np.newaxis]
    better, worse = by_name["far", "AP"], by_name["far", "NMRR"]
    assert [better.p_t, worse.p_t] == pytest.approx([*paired_t_p(gains), *paired_t_p(-gains)])
    assert better.p_randomisation == randomisation_p(gains)[0]
    assert worse.p_randomisation == randomisation_p(-gains)[0]
    for name in ("p_t", "p_randomisation"):
        p = [getattr(each, name) for each in found]
        assert holm(p) == [getattr(each, f"{name}_holm") for each in found]
    same = by_name["same", "AP"]
    assert (same.p_t, same.p_randomisation) == (None, None)
