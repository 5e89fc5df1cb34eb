"""The registered measures: what a study may put behind "Method1", and all a page needs of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from survey.core.measures.average_precision import average_precision, average_precision_exact
from survey.core.measures.mnro import mnro
from survey.core.measures.nmrr import nmrr, nmrr_exact
from survey.core.measures.ranks import Ranks, Values, as_ranks

# Measures without an exact form are compared after rounding to this many
# decimals: well above the error of a float, well below any real difference.
COMPARED_DECIMALS = 13


@dataclass(frozen=True)
class Setting:
    """What a measure may know beside the ranks.

    ``collection_size``: N. ``gmt``: the largest number of relevant items over
    all queries, which caps NMRR's K, or None for no cap. ``literal_eq15``: take
    MNRO's Eq. 15 as printed.
    """

    collection_size: int = 100
    gmt: int | None = None
    literal_eq15: bool = False


@dataclass(frozen=True)
class Measure:
    """A measure of a ranked list.

    ``name``: the key in files and commands. ``label``: the name in running text.
    ``compute``: (ranks, setting) → values, vectorised over lists. ``better``: whether
    higher or lower values are better.
    ``mean_name``: its mean over queries. ``source``: where it is defined.
    ``lowest``, ``highest``: the range. ``exact``: one list's value as a fraction,
    where the measure is rational.

    A measure with better = "higher" is shown as 1 − value, so that lower is better
    in every column of a page.
    """

    name: str
    label: str
    compute: Callable[[Ranks, Setting], Values]
    better: Literal["higher", "lower"]
    mean_name: str
    source: str
    lowest: float = 0.0
    highest: float = 1.0
    exact: Callable[[Sequence[int], Setting], Fraction] | None = None

    @property
    def shown_as(self) -> str:
        """The name of what is shown: "1-AP" for AP, the measure's own name otherwise."""
        return f"1-{self.name}" if self.better == "higher" else self.name

    def shown(self, ranks: Ranks, setting: Setting) -> list[Fraction]:
        """Return what a page shows of each list: lower is better, equal exactly where lists tie.

        Rational measures are fractions, since floats can miss a tie (B and C of the
        paper's Table 1 both have AP = 81/100); the others are rounded to 13 decimals.
        """
        if self.exact is not None:
            values = [self.exact(row, setting) for row in ranks.tolist()]
        else:
            rounded = np.round(self.compute(ranks, setting), COMPARED_DECIMALS)
            values = [Fraction(value) for value in rounded.tolist()]
        return [1 - value for value in values] if self.better == "higher" else values


_REGISTERED = (
    Measure(
        name="AP",
        label="average precision",
        compute=lambda ranks, _: average_precision(ranks),
        exact=lambda ranks, _: average_precision_exact(ranks),
        better="higher",
        mean_name="MAP",
        source="TREC; MNRO paper, Eq. 3",
    ),
    Measure(
        name="NMRR",
        label="normalised modified retrieval rank",
        compute=lambda ranks, setting: nmrr(ranks, setting.gmt),
        exact=lambda ranks, setting: nmrr_exact(ranks, setting.gmt),
        better="lower",
        mean_name="ANMRR",
        source="MPEG-7; MNRO paper, Eqs. 5–8",
    ),
    Measure(
        name="MNRO",
        label="mean normalised retrieval order",
        compute=lambda ranks, setting: mnro(
            ranks, setting.collection_size, literal_eq15=setting.literal_eq15
        ),
        better="lower",
        mean_name="AMNRO",
        source="MNRO paper, Eqs. 14–18",
    ),
)

MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _REGISTERED})
"""The registry: name → Measure, in the order in which tables list them."""


def measure_named(name: str) -> Measure:
    """Return a registered measure, or raise ValueError listing the names there are."""
    try:
        return MEASURES[name]
    except KeyError:
        raise ValueError(
            f"there is no measure {name!r}; registered are {', '.join(MEASURES)}"
        ) from None


def score(
    names: Sequence[str],
    ranks: ArrayLike,
    collection_size: int = 100,
    *,
    gmt: int | None = None,
    literal_eq15: bool = False,
) -> Values:
    """Score ranked lists with registered measures.

    ``ranks``: integers of shape (lists, relevant), each row the sorted 1-based
    positions of a list's relevant items among ``collection_size``. Returns an
    array (lists, len(names)) of the measures' own values (AP, not 1-AP).

    Raises ValueError for an unknown name, and for ranks that cannot be, naming
    the row and the fault. ``gmt`` and ``literal_eq15``: see ``Setting``.
    """
    setting = Setting(collection_size, gmt, literal_eq15)
    measures = [measure_named(name) for name in names]
    checked = as_ranks(ranks, collection_size)
    columns = [measure.compute(checked, setting) for measure in measures]
    return np.column_stack(columns) if columns else np.empty((len(checked), 0))


def mean_score(
    names: Sequence[str], ranks: ArrayLike, collection_size: int = 100
) -> dict[str, float]:
    """Average each measure over queries: MAP, ANMRR, AMNRO (MNRO paper, Eqs. 4, 9, 19).

    Arguments as for ``score``, one row per query; the keys are the means' own names.
    """
    means = score(names, ranks, collection_size).mean(axis=0)
    return {MEASURES[name].mean_name: float(mean) for name, mean in zip(names, means, strict=True)}
