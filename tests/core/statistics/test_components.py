"""Variance components against an analysis of variance, their definition, and known truths."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from survey.core.statistics.components import (
    LEAST_PART_OF_REST,
    Powers,
    TableSums,
    variance_components,
)


def sums_of(d, rows, columns):
    """The sums over numbers given one by one, with their rows and columns."""
    by = {
        name: [d[index == one] for one in np.unique(index)]
        for name, index in (("row", rows), ("column", columns))
    }
    powers = {name: Powers.of(np.array([*map(len, parts)])) for name, parts in by.items()}
    squared = {
        name: sum(part.sum() ** 2 / len(part) for part in parts) for name, parts in by.items()
    }
    return TableSums(
        n=len(d),
        rows=len(by["row"]),
        columns=len(by["column"]),
        total=d.sum(),
        squares=(d**2).sum(),
        by_row=squared["row"],
        by_column=squared["column"],
        row_powers=powers["row"],
        column_powers=powers["column"],
    )


def a_table(rng, rows, columns, answered=1.0, of_rows=1.0, of_columns=1.0):
    """Numbers with effects of their rows and columns, some of them missing."""
    mask = rng.random((rows, columns)) < answered
    row, column = np.nonzero(mask)
    effects = rng.normal(0, of_rows, rows)[row] + rng.normal(0, of_columns, columns)[column]
    return effects + rng.normal(0, 1, len(row)), row, column


def test_of_a_full_table_they_are_those_of_the_mean_squares():
    d, row, column = a_table(np.random.default_rng(1), 9, 6)
    frame = pd.DataFrame({"d": d, "row": row, "column": column})
    table = anova_lm(ols("d ~ C(row) + C(column)", frame).fit())
    of_rows, of_columns, rest = table["mean_sq"]
    found = variance_components(sums_of(d, row, column))
    assert (found.row, found.column, found.rest) == pytest.approx(
        ((of_rows - rest) / 6, (of_columns - rest) / 9, rest)
    )
    assert found.variance == pytest.approx((of_rows + of_columns - rest) / 54)
    # Satterthwaite's degrees of freedom of a sum of mean squares.
    df = (of_rows + of_columns - rest) ** 2 / (of_rows**2 / 8 + of_columns**2 / 5 + rest**2 / 40)
    assert found.df == pytest.approx(max(df, 5))


@pytest.mark.parametrize("seed", range(5))
def test_with_gaps_they_solve_hendersons_equations(seed):
    d, row, column = a_table(np.random.default_rng(seed), 12, 7, answered=0.5)
    sums = sums_of(d, row, column)
    n, ka, kb = sums.n, sums.row_weight, sums.column_weight
    of_mean = sums.total**2 / n
    expectations = [
        [n - ka, n - kb, n - 1],
        [n - ka, sums.rows - kb, sums.rows - 1],
        [sums.columns - ka, n - kb, sums.columns - 1],
    ]
    squares = [sums.squares - of_mean, sums.by_row - of_mean, sums.by_column - of_mean]
    found = variance_components(sums)
    assert (found.row, found.column, found.rest) == pytest.approx(
        tuple(np.linalg.solve(expectations, squares))
    )


def test_they_are_right_on_average_in_tables_with_gaps():
    rng, rows, columns = np.random.default_rng(2), 10, 8
    mask = rng.random((rows, columns)) < 0.6
    row, column = np.nonzero(mask)
    found, means = [], []
    for _ in range(3000):
        d = (
            rng.normal(0, 0.7, rows)[row]
            + rng.normal(0, 0.4, columns)[column]
            + rng.normal(0, 1, len(row))
        )
        one = variance_components(sums_of(d, row, column))
        found.append((one.row, one.column, one.rest, one.variance))
        means.append(d.mean())
    average = np.mean(found, axis=0)
    assert average[:3] == pytest.approx((0.49, 0.16, 1.0), abs=0.03)
    assert average[3] == pytest.approx(np.var(means), rel=0.08)


def test_the_variance_is_never_below_the_least_part_of_the_rests():
    # Rows and columns that balance exactly: their mean squares are 0.
    d, row, column = np.array([1.0, -1, -1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = variance_components(sums_of(d, row, column))
    assert found.row < 0
    assert found.variance == LEAST_PART_OF_REST * found.rest / 4
    assert found.df >= 1


def test_several_tables_can_be_given_at_once():
    rng = np.random.default_rng(3)
    tables = [sums_of(*a_table(rng, 6, 5)) for _ in range(4)]
    stacked = TableSums(
        **{
            name: Powers(*np.array([vars(one)[name] for one in tables]).T)
            if isinstance(value, Powers)
            else np.array([vars(one)[name] for one in tables])
            for name, value in vars(tables[0]).items()
        }
    )
    together = variance_components(stacked)
    for place, one in enumerate(map(variance_components, tables)):
        assert (together.variance[place], together.df[place]) == pytest.approx(
            (one.variance, one.df)
        )


@pytest.mark.parametrize("seed", range(3))
def test_effective_numbers_are_those_of_the_rows_weights(seed):
    d, row, column = a_table(np.random.default_rng(seed), 12, 7, answered=0.4)
    found = variance_components(sums_of(d, row, column))
    for number, component, index in zip(
        found.effective, (found.row, found.column), (row, column), strict=True
    ):
        counts = np.unique(index, return_counts=True)[1]
        weights = counts**2 * max(component, 0) + counts * found.rest
        assert number == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_of_a_full_table_effective_numbers_are_exactly_those_of_rows_and_columns():
    found = variance_components(sums_of(*a_table(np.random.default_rng(1), 9, 7)))
    assert tuple(map(float, found.effective)) == (9, 7)
    assert tuple(map(float, found.sums.effective)) == (9, 7)
