"""Variance components of the numbers in a table, and the variance of their mean.

A number is a mean plus an effect of its row, an effect of its column and a rest, each drawn at
random. The table may have gaps: a row may have numbers in some columns only.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# The variance of the mean is at least this part of what the rest alone gives. Without a bound a
# variance that is small by chance makes a test reject too often where rows and columns do not
# differ; the whole of it costs power there.
LEAST_PART_OF_REST = 0.5

NEGLIGIBLE = 1e-12  # of the mean square: a variance below it is 0 but for rounding

Number = Any  # a float, or an array with an entry for each of several tables


class Powers(NamedTuple):
    """The sums of some counts' squares, third and fourth powers."""

    squares: Number
    cubes: Number
    fourths: Number

    @classmethod
    def of(cls, counts: NDArray[np.number]) -> Self:
        """Add them up over the first axis."""
        squares = counts.astype(float) ** 2
        return cls(squares.sum(axis=0), (squares * counts).sum(axis=0), (squares**2).sum(axis=0))


@dataclass(frozen=True)
class TableSums:
    """The sums over a table of n numbers from which its components are computed.

    ``rows``, ``columns``: how many hold a number; ``total``, ``squares``: of the numbers and
    their squares; ``by_row``, ``by_column``: each row's (column's) squared sum divided by its
    count, added up; ``row_powers``, ``column_powers``: the sums of the counts' squares, third and
    fourth powers.
    """

    n: Number
    rows: Number
    columns: Number
    total: Number
    squares: Number
    by_row: Number
    by_column: Number
    row_powers: "Powers"
    column_powers: "Powers"

    @property
    def row_weight(self) -> Number:
        """The squared counts of the rows, added up, divided by n."""
        return self.row_powers.squares / self.n

    @property
    def column_weight(self) -> Number:
        """The squared counts of the columns, added up, divided by n."""
        return self.column_powers.squares / self.n

    @property
    def effective(self) -> tuple[Number, Number]:
        """Effective numbers of rows and columns by their counts alone."""
        return tuple(
            _effective(0.0, 0.0, self.n, number, powers)
            for number, powers in (
                (self.rows, self.row_powers),
                (self.columns, self.column_powers),
            )
        )

    @classmethod
    def of(
        cls,
        by_row: NDArray[np.number],
        by_column: NDArray[np.number],
        row_counts: NDArray[np.number],
        column_counts: NDArray[np.number],
        squares: Number,
    ) -> Self:
        """Add up the sums of each row and each column, the first axis of the arrays.

        Without a number, of a count of 0, they are left out.
        """
        n = row_counts.sum(axis=0)
        return cls(
            n=n,
            rows=(row_counts > 0).sum(axis=0),
            columns=(column_counts > 0).sum(axis=0),
            total=by_row.sum(axis=0),
            squares=squares,
            by_row=(by_row**2 / np.maximum(row_counts, 1)).sum(axis=0),
            by_column=(by_column**2 / np.maximum(column_counts, 1)).sum(axis=0),
            row_powers=Powers.of(row_counts),
            column_powers=Powers.of(column_counts),
        )

    @property
    def rest_df(self) -> Number:
        """The degrees of freedom of the rest; the components need 1 at least."""
        return self.n - self.rows - self.columns + 1


@dataclass(frozen=True)
class VarianceComponents:
    """Estimated variances of the rows' effects, the columns' effects and the rest.

    An estimate of ``row`` or ``column`` may be negative; ``rest`` is 0 where it would be.
    """

    sums: TableSums
    row: Number
    column: Number
    rest: Number

    @property
    def _parts(self) -> tuple[Number, Number, Number]:
        """The variance of the mean without columns' effects, without rows', without both."""
        sums, rest = self.sums, self.rest / self.sums.n
        of_rows = self.row * sums.row_weight / sums.n + rest
        of_columns = self.column * sums.column_weight / sums.n + rest
        return of_rows, of_columns, rest

    @property
    def variance(self) -> Number:
        """The variance of the mean of all numbers."""
        of_rows, of_columns, rest = self._parts
        return np.maximum(of_rows + of_columns - rest, LEAST_PART_OF_REST * rest)

    @property
    def effective(self) -> tuple[Number, Number]:
        """Effective numbers of rows and columns, (Σw)²/Σw²: how many of equal weight they are.

        w = c²τ + c·σ² for a row of c numbers, with the rows' variance τ, 0 where it is below, and
        the rest σ²: what the row adds to the variance of the mean.
        """
        sums, least = self.sums, NEGLIGIBLE * self.sums.squares / self.sums.n
        row, column, rest = (
            np.where(each > least, each, 0.0) for each in (self.row, self.column, self.rest)
        )
        rows = _effective(row, rest, sums.n, sums.rows, sums.row_powers)
        return rows, _effective(column, rest, sums.n, sums.columns, sums.column_powers)

    @property
    def df(self) -> Number:
        """Degrees of freedom of the variance, of a variance above 0: see ``df_of``."""
        return self.df_of(self.variance)

    def df_of(self, variance: Number, lost: int = 1) -> Number:
        """Return the degrees of freedom of a variance above 0 (Satterthwaite 1946).

        Not below those of the rows or the columns, whichever are effectively fewer, and just these
        where no part has a spread. ``lost``: by the columns, 2 where a weight was fitted to their
        means.
        """
        of_rows, of_columns, rest = self._parts
        rows, columns = (effective_df(number) for number in self.effective)
        columns = np.maximum(columns + 1 - lost, 1.0)
        squares = of_rows**2 / rows + of_columns**2 / columns + rest**2 / self.sums.rest_df
        least = np.minimum(rows, columns)
        is_spread = squares > 0
        df = np.where(is_spread, variance**2 / np.where(is_spread, squares, 1.0), least)
        return np.maximum(df, least)


def effective_df(number: Number) -> Number:
    """Return the degrees of freedom of an effective number of rows or columns; 1 at least."""
    return np.maximum(number, 2.0) - 1


def _effective(
    component: Number, rest: Number, n: Number, number: Number, powers: Powers
) -> Number:
    weight = component * powers.squares + rest * n
    both = 2 * component * rest
    squares = component**2 * powers.fourths + both * powers.cubes + rest**2 * powers.squares
    is_zero = weight == 0
    weight = np.where(is_zero, powers.squares, weight)
    squares = np.where(is_zero, powers.fourths, squares)
    # Of equal counts it is their number, without an error of rounding.
    return np.where(number * powers.squares == n * n, number * 1.0, weight**2 / squares)


def variance_components(sums: TableSums) -> VarianceComponents:
    """Estimate the components by Henderson's (1953) method I.

    With the sums of squares T0 = Σd², Tp = Σ_rows (Σd)²/n_row, Ts likewise by columns and
    Tm = (Σd)²/n, and the weights ka, kb of rows and columns, their expectations are

        T0 - Tp = (n - P)(τs + σ²)    T0 - Ts = (n - S)(τp + σ²)
        T0 - Tm = (n - ka)τp + (n - kb)τs + (n - 1)σ²
    """
    n, without_rows, without_columns = sums.n, sums.n - sums.row_weight, sums.n - sums.column_weight
    column_and_rest = (sums.squares - sums.by_row) / (n - sums.rows)
    row_and_rest = (sums.squares - sums.by_column) / (n - sums.columns)
    around_mean = sums.squares - sums.total**2 / n
    explained = without_rows * row_and_rest + without_columns * column_and_rest - around_mean
    rest = explained / (n - sums.row_weight - sums.column_weight + 1)
    row, column = row_and_rest - rest, column_and_rest - rest
    return VarianceComponents(sums, row, column, np.maximum(rest, 0.0))


def mean_of_rows(
    parts: VarianceComponents, row_counts: NDArray[np.number], column_weights: NDArray[np.number]
) -> tuple[Number, Number]:
    """Return the variance of the mean of the rows' means, in which rows weigh alike, and its df.

    ``row_counts``: how many numbers each row has; ``column_weights``: the weight that each column
    has in that mean, adding up to 1. Of rows of equally many numbers it is the mean of all.
    """
    rows = len(row_counts)
    rest = parts.rest * (1 / row_counts).sum() / rows**2
    of_rows = parts.row / rows + rest
    of_columns = parts.column * (column_weights**2).sum() + rest
    variance = np.maximum(of_rows + of_columns - rest, LEAST_PART_OF_REST * rest)
    row_df, column_df = effective_df(rows), effective_df(1 / (column_weights**2).sum())
    squares = of_rows**2 / row_df + of_columns**2 / column_df + rest**2 / parts.sums.rest_df
    with np.errstate(invalid="ignore"):  # all 0
        df = np.maximum(variance**2 / squares, np.minimum(row_df, column_df))
    return variance, df
