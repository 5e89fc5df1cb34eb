"""The type of a measure, with all that a page needs of it, and of a family of measures."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import ItemNumbers, Lists, Ranks, RankSum, Values

# Measures without an exact form are compared after rounding to this many decimals: well
# above the error of a float, well below any real difference.
COMPARED_DECIMALS = 13

# A float's error must not put a value outside of its measure's range.
SLACK = 1e-9

Result = TypeVar("Result")
Need = Literal["collection size", "columns", "grades", "weights", "clusters"]
NO_MARKS = ("collection size", "columns")  # needs that are no marks of items


@dataclass(frozen=True)
class Setting:
    """What a measure may read besides the lists.

    ``collection_size``: N. ``gmt``: the largest number of relevant items over all
    queries, which caps NMRR's K, or None for no cap. ``literal_eq15``: take MNRO's
    Eq. 15 as printed. ``rescaled``: a question prints a measure's values as 0 for the best
    list, 100 for the worst. ``relevant_from``: the lowest grade that binary measures count as
    relevant, where the lists have grades. ``columns``: how many pictures a row of the layout
    has, None where there are no rows.
    """

    collection_size: int = 100
    gmt: int | None = None
    literal_eq15: bool = False
    rescaled: bool = False
    relevant_from: int = 1
    columns: int | None = None


Compute = Callable[[Lists, Setting], Values]


@dataclass(frozen=True)
class Summed:
    """The ``compute`` of a measure that is a sum over the positions.

    ``sum_for``: (NG, setting) → the sum; ``score`` makes tables of it for many lists.
    ``detailed``: the compute for lists of which more than the positions is known, where
    the measure reads that; else None.
    """

    sum_for: Callable[[int, Setting], RankSum]
    detailed: Compute | None = None

    def __call__(self, lists: Lists, setting: Setting) -> Values:
        """Compute each list's value by the formula, without a table."""
        if self.detailed is not None and not lists.positions_alone:
            return self.detailed(lists, setting)
        return self.sum_for(lists.ranks.shape[1], setting).values(lists.ranks)


@dataclass(frozen=True)
class Measure:
    """A measure of a ranked list.

    ``name``: the key in files and commands. ``label``: the name in running text.
    ``compute``: (lists, setting) → values (lists,), vectorised; a list's value does not
    depend on the other lists. A ``Summed`` where the measure is a sum over the positions.
    ``better``: whether higher or lower values are better. ``source``: the publication
    that defines it. ``mean_name``: the name of its mean over queries; "mean NAME" where
    it has no name of its own. ``exact``: one list's value as a fraction, from its
    positions, where the measure is a sum of fractions. ``needs``: what it reads besides
    the positions; grades and weights count as 1 where a list has none. ``lowest``,
    ``highest``: the range. ``largest``: for a measure without an upper bound,
    (lists, setting) → the highest value that any of these lists could have.
    ``monotone``: whether moving a relevant item up never makes the value worse. ``level``: the
    lowest grade that counts as relevant, where the measure's name says so (AP-rel2).

    A measure with better = "higher" is shown as 1 − value (or the largest possible value
    − value), so that lower is better in every column of a page.
    """

    name: str
    label: str
    compute: Compute
    better: Literal["higher", "lower"]
    source: str
    mean_name: str = ""
    exact: Callable[[Sequence[int], Setting], Fraction] | None = None
    needs: tuple[Need, ...] = ()
    lowest: float = 0.0
    highest: float = 1.0
    largest: Callable[[Lists, Setting], float] | None = None
    monotone: bool = True
    level: int = 1

    def __post_init__(self) -> None:
        if not self.mean_name:
            object.__setattr__(self, "mean_name", f"mean {self.name}")

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks of items that it reads, of grades, weights and clusters; none for positions."""
        return tuple(need for need in self.needs if need not in NO_MARKS)

    @property
    def reads(self) -> str:
        """The first of its marks, by which lists of measures group it; else positions."""
        return self.marks[0] if self.marks else "positions"

    @property
    def shown_as(self) -> str:
        """The column heading on pages: "1-AP" for AP, the name itself where lower is better."""
        if self.better == "lower":
            return self.name
        return f"1-{self.name}" if self.largest is None else f"max-{self.name}"

    def rank_sum(self, relevant: int, setting: Setting) -> RankSum:
        """Return the sum that a ``Summed`` is; its functions raise errors as ``computed`` does."""
        compute = cast(Summed, self.compute)
        rank_sum = self._call(compute.sum_for, relevant, setting)

        def term(items: ItemNumbers, ranks: Ranks) -> Values:
            return self._call(lambda: np.asarray(rank_sum.term(items, ranks), np.float64))

        def finish(sums: NDArray[np.number]) -> Values:
            return self._call(lambda: np.asarray(rank_sum.finish(sums), np.float64))

        return RankSum(term, finish)

    def computed(self, lists: Lists, setting: Setting) -> Values:
        """Compute each list's value; raise ValueError, naming the measure, where that fails.

        A list without an item of the lowest grade that counts has the worst value, as in trec_eval.
        """
        lowest = self._lowest_grade(lists, setting)
        if lowest == 1:
            return self._call(self.compute, lists, setting)
        values = [
            self._call(self.compute, each, setting)[0] if each.ranks.size else self._worst
            for each in lists.of_grade(lowest)
        ]
        return np.asarray(values, np.float64)

    def _lowest_grade(self, lists: Lists, setting: Setting) -> int:
        is_binary = self.reads == "positions" and lists.graded is not None
        return setting.relevant_from if self.level == 1 and is_binary else self.level

    @property
    def _worst(self) -> float:
        return self.lowest if self.better == "higher" else self.highest

    def checked(self, lists: Lists, setting: Setting) -> Values:
        """Compute each list's value; raise ValueError for anything but a number for each."""
        computed = self.computed(lists, setting)
        values: Values = self._call(np.asarray, computed, np.float64)
        if values.shape != (len(lists.ranks),) or not np.isfinite(values).all():
            raise ValueError(
                f"{self.name} gave {values.tolist()}; a number for each list is needed"
            )
        return values

    def values(self, lists: Lists, setting: Setting) -> list[Fraction]:
        """Compute each list's value as a fraction, equal exactly where lists tie.

        A measure with an exact form gives fractions, since floats can miss a tie (B and C
        of the paper's Table 1 both have AP = 81/100); others are rounded to 13 decimals.

        Raises ValueError where the measure returns anything but a number in its range for
        each list.
        """
        if self.exact is not None:
            lowest = self._lowest_grade(lists, setting)
            rows = lists.ranks.tolist()
            if lowest > 1:
                rows = [each.ranks[0].tolist() for each in lists.of_grade(lowest)]
            fractions = [
                self._exact_value(row, setting) if row else Fraction(self._worst) for row in rows
            ]
            self._check_range(fractions, self.highest)
            return fractions
        values = self.checked(lists, setting)
        self._check_range(values.tolist(), self.highest)
        return [Fraction(value) for value in np.round(values, COMPARED_DECIMALS).tolist()]

    def shown(self, lists: Lists, setting: Setting) -> list[Fraction]:
        """Compute what a page shows of each list: the value, turned so that lower is better.

        Raises ValueError as ``values`` does, or where ``largest`` gives anything but a number
        that no value is above.
        """
        values = self.values(lists, setting)
        if self.better == "lower":
            return values
        top = 1.0 if self.largest is None else self._largest_value(lists, setting)
        self._check_range(values, top)
        return [Fraction(round(top, COMPARED_DECIMALS)) - value for value in values]

    def _exact_value(self, row: Sequence[int], setting: Setting) -> Fraction:
        value: object = self.exact and self._call(self.exact, row, setting)
        if not isinstance(value, Fraction | int):
            raise ValueError(f"the exact of {self.name} gave {value!r}; a Fraction is needed")
        self._call(float, value)  # a larger one would fail where it is printed
        return Fraction(value)

    def _largest_value(self, lists: Lists, setting: Setting) -> float:
        top: object = self.largest and self._call(self.largest, lists, setting)
        if not isinstance(top, Real) or not self._call(math.isfinite, top):
            raise ValueError(f"the largest of {self.name} gave {top!r}; a number is needed")
        return float(top)

    def _check_range(self, values: Sequence[Fraction | float], highest: float) -> None:
        """Raise ValueError for a value below the measure's lowest or above ``highest``."""
        slack = SLACK * max(1, highest)
        if any(not self.lowest - SLACK <= value <= highest + slack for value in values):
            raise ValueError(
                f"{self.name} gave {[float(value) for value in values]}, but its range is "
                f"{self.lowest:g} to {highest:g}, by the measure's lowest, highest and largest"
            )

    def _call(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Call a function of the measure, which another package may have written."""
        try:
            return function(*arguments)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        except Exception as error:
            # Else it would be reported as an error of the survey.
            what = f"{type(error).__name__}: {error}"
            raise ValueError(
                f"{self.name} failed ({what}); this is an error of the measure itself"
            ) from error


CUTOFF = r"([1-9][0-9]{0,8})"
LEVEL_PATTERN = r"(0?\.(?!0+$)[0-9]{1,4}|1(?:\.0{1,4})?)"
SHARE_PATTERN = r"(0?\.(?!0+(?![0-9]))[0-9]{1,4})"
BETA = r"([0-9]{1,2}(?:\.[0-9]{1,2})?)"


@dataclass(frozen=True)
class Family:
    """Measures that differ by a number in their name, like P@5 and P@10.

    ``form``: the name as messages write it, P@k. ``pattern``: matches the names, with
    their numbers as groups. ``make``: the numbers as texts → the measure. ``listed``: the
    names that lists of measures show.
    """

    form: str
    pattern: str
    make: Callable[..., Measure | None]
    listed: tuple[str, ...]

    def find(self, name: str) -> Measure | None:
        """Return the family's measure of that name, or None where the name is no member's."""
        match = re.fullmatch(self.pattern, name)
        return self.make(*match.groups()) if match else None


def cutoff_family(form: str, make: Callable[[int], Measure], listed: Sequence[int]) -> Family:
    """Return the family of a measure with a cut-off.

    ``form``: like P@k; ``make``: the cut-off → the measure; ``listed``: the cut-offs that
    lists of measures show.
    """
    prefix = form.partition("@")[0]
    names = tuple(f"{prefix}@{cutoff}" for cutoff in listed)
    return Family(form, f"{prefix}@{CUTOFF}", lambda text: make(int(text)), names)
