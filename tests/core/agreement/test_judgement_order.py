"""Whether runs keep their order by one annotator's judgements."""

import pytest
import scipy

from survey.core.agreement.judgement_order import order_changes

BY_ALL = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}


def test_who_swaps_which_runs_is_told_with_kendalls_tau():
    changes = order_changes(
        BY_ALL,
        {
            "ann": {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.1},
            "bob": {"a": 0.3, "b": 0.4, "c": 0.2, "d": 0.1},
            "eve": {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4},
            "dan": dict.fromkeys(BY_ALL, 0.2),
        },
    )
    assert [each.tau_b for each in changes] == [1, pytest.approx(2 / 3), -1, None]
    assert [len(each.swaps) for each in changes] == [0, 1, 6, 0]
    assert changes[1].swaps == (("a", "b"),)


def test_tau_is_that_of_another_library_where_runs_tie():
    values = {"a": 0.5, "b": 0.5, "c": 0.1, "d": 0.3}
    [change] = order_changes(BY_ALL, {"ann": values})
    expected = scipy.stats.kendalltau([*BY_ALL.values()], [*values.values()]).statistic
    assert change.tau_b == pytest.approx(expected)
    assert change.swaps == (("c", "d"),)


def test_a_run_that_an_annotator_lacks_is_named():
    with pytest.raises(KeyError, match="d"):
        order_changes(BY_ALL, {"ann": {"a": 1.0, "b": 1.0, "c": 1.0}})
