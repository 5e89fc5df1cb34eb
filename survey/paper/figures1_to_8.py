"""Figures 1 to 8 (Sections 3 and 4): how 1 − AP, NMRR and MNRO behave, and what the paper says.

Each function returns a figure's data, its table, and checks of what the paper says of it. The words
of each figure and its claims are in ``exhibits/figureN.yaml``. Ranks up to K (``FULL``, ``CAPPED``,
``HORIZON``) are early, later ones late.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import average_precision, mnro, nmrr
from survey.core.measures.nmrr_mnro import B, C, mnro_horizon, nmrr_horizon
from survey.figures.exhibit import Exhibit
from survey.paper.reproduction import (
    Check,
    Checks,
    Reproduction,
    exhibit_sheet,
    exhibit_texts,
    join_words,
    judge_claims,
)
from survey.services.analysis.sheets import Sheet

SIZE = 20  # N, the collection in all figures but Figure 6
EPSILON = 1e-9  # a smaller difference is a rounding error of floats

# One relevant item.
RANKS = np.arange(1, SIZE + 1)
FULL, CAPPED = nmrr_horizon(1), nmrr_horizon(1, 1)  # K = 4, and 2 with GMT = 1
CAPPED_NMRR = f"NMRR, K = {CAPPED} (GMT = 1)"

# Two relevant items.
HORIZON = nmrr_horizon(2)  # K of NMRR, and of MNRO, since the generality is .1
LATER_RANKS = range(2, SIZE + 1)  # Rank(i)

# Growing collections: MNRO at thousandths of the collection, in its first tenth.
THOUSANDTHS = range(1, 101)

BOTH = ("1-AP", "NMRR")
ALL_THREE = (*BOTH, "MNRO")
EARLY = slice(1, HORIZON - 1)  # of LATER_RANKS: 3 to K; at 2 every measure is 0
LATE = slice(HORIZON - 1, None)  # of LATER_RANKS: from K + 1

# Figure 6
IN_CAPTION = (1_000, 10_000, 100_000, 1_000_000)
IN_TEXT = (100, 1_000, 10_000, 1_000_000)
FIGURE_SIZES = tuple(sorted({*IN_CAPTION, *IN_TEXT}))
SAME_RANGE = 0.05

# Figure 8: Rank(i) and Rank(j) along the enveloping curves
EARLIER_RANKS = range(1, SIZE)  # Rank(j)
ENVELOPES = {
    "curve A": [(j + 1, j) for j in EARLIER_RANKS],
    "curve B": [(SIZE, j) for j in EARLIER_RANKS],
}

RANK_COLUMNS = ("Rank(q)", "Rank(i)", "Rank(j)", "Combined_Rank")  # the others are measures

# Sheets to read show some of the rows.
SAMPLE_STEP = 10
SAMPLE_RANKS = (2, 4, 6, 8, 9, 10, 12, 16, 20)
SAMPLE_SHARES = (1, 5, 10, 20, 40, 60, 100)  # thousandths, the columns of figure6.yaml

Values = NDArray[np.float64]
Columns = Mapping[str, Sequence[float]]
Series = dict[str, Any]


def figure1() -> Reproduction:
    """Return 1 − AP and NMRR of one relevant item, over its position."""
    ap, capped = item_curve("1-AP"), item_curve(CAPPED_NMRR)
    steps = np.diff(ap)
    curves = ((FULL, item_curve("NMRR")), (CAPPED, capped))
    larger = RANKS[:FULL][ap[:FULL] - item_curve("NMRR")[:FULL] > EPSILON]
    gradients = [(np.diff(curve[:k]), curve[k] - curve[k - 1]) for k, curve in curves]
    checks = {
        "gradient_falls": Check((np.diff(steps) < 0).all(), steps=steps, last=steps[-1]),
        "stricter_before_k": Check(
            [(ap[:k] >= curve[:k] - EPSILON).all() for k, curve in curves],
            larger=join_words(larger),
            ap=ap[1],
            nmrr=capped[1],
        ),
        "stricter_after_k": Check([(curve[k:] > ap[k:]).all() for k, curve in curves], most=ap[-1]),
        "level_after_k": Check([np.isclose(curve[k + 1 :], 1).all() for k, curve in curves]),
        "linear_up_to_k": Check(
            [np.allclose(before, after) for before, after in gradients],
            gradients=[f"α is {a[0]:.3f} and β {beta:.3f}" for a, beta in gradients],
        ),
        "all_positions_differ": Check(len(set(ap.tolist())) == SIZE),
    }
    return _item_figure("figure1", (*BOTH, CAPPED_NMRR), checks)


def figure2() -> Reproduction:
    """Return 1 − AP and NMRR for all pairs of ranks, in the order of the pseudo code."""
    pairs = rank_pairs()
    distinct = len(set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True)))
    checks = {"combinations_tested": Check(len(pairs.i) == distinct == 190, distinct=distinct)}
    return _pairs_figure("figure2", BOTH, checks)


def figure3() -> Reproduction:
    """Return 1 − AP and NMRR as surfaces over the two ranks."""
    values, both_late = rank_pairs().values, rank_pairs().both_late
    late_ap = values["1-AP"][both_late]
    lists = np.array([[1, 100], [1, 1000]])
    of_nmrr, of_ap = nmrr(lists), average_precision(lists)
    checks = {
        "nmrr_level_when_both_late": Check(
            (both_late == (values["NMRR"] > 1 - EPSILON)).all(),
            late=both_late.sum(),
            pairs=len(both_late),
        ),
        "ap_smaller_when_both_late": Check(
            (late_ap < 1 - EPSILON).all(), least=late_ap.min(), most=late_ap.max()
        ),
        "nmrr_blind_after_k": Check(abs(of_nmrr[0] - of_nmrr[1]) < EPSILON, nmrr=of_nmrr, ap=of_ap),
    }
    return _surface_figure("figure3", BOTH, checks)


def figure4() -> Reproduction:
    """Return 1 − AP and NMRR of the best and of the worst pair for each Rank(i)."""
    lower, upper = best_and_worst(BOTH)
    lead_below, lead_above = (curves["1-AP"] - curves["NMRR"] for curves in (lower, upper))
    low_steps, high_steps = (np.diff(curves["NMRR"][: HORIZON - 1]) for curves in (lower, upper))
    grids = {name: rank_pairs().grid(name)[2:] for name in BOTH}
    steps_over_j = np.diff(list(grids.values()))
    late_ap, late_low, late_high = lower["1-AP"][LATE], lower["NMRR"][LATE], upper["NMRR"][LATE]
    checks = {
        "curves_are_bounds": Check(
            all(
                np.allclose(np.nanmin(grid, axis=1), lower[name])
                and np.allclose(np.nanmax(grid, axis=1), upper[name])
                for name, grid in grids.items()
            )
        ),
        "approach_to_lower_curve": Check(
            not (steps_over_j > EPSILON).any(),
            ranges=" and ".join(
                f"{name} from {lower[name][-1]:.3f} to {upper[name][-1]:.3f}" for name in BOTH
            ),
        ),
        "ap_larger_early": Check(
            (lead_below[EARLY] > 0).all() and (lead_above[EARLY] > 0).all(),
            lower=lead_below.max(),
            upper=lead_above.max(),
        ),
        "nmrr_larger_late": Check(
            (late_low > late_ap).all(), nmrr=late_low[0], ap=late_ap[0], last=late_ap[-1]
        ),
        "nmrr_rises_evenly": Check(
            np.allclose(low_steps, low_steps[0]) and np.allclose(high_steps, high_steps[0]),
            lower=low_steps[0],
            upper=high_steps[0],
        ),
        "nmrr_curves_level_late": Check(
            np.allclose(late_low, late_low[0]) and np.allclose(late_high[1:], 1), lower=late_low[0]
        ),
    }
    curves = {
        f"{name}, {where}": values[name].tolist()
        for name in BOTH
        for where, values in (("Rank(j) = 1", lower), ("Rank(j) = Rank(i) − 1", upper))
    }
    columns = {"Rank(i)": list(LATER_RANKS), **curves}
    return _figure("figure4", columns, _series(columns, "Rank(i)"), checks)


def figure5() -> Reproduction:
    """Return 1 − AP, NMRR and MNRO of one relevant item, over its position."""
    curve = item_curve("MNRO")
    late_steps = np.diff(curve[FULL - 1 :])
    steps = {name: np.diff(item_curve(name))[: FULL - 1] for name in ALL_THREE}
    rises = "; ".join(
        f"to {rank}: " + ", ".join(f"{name} {step[rank - 2]:.3f}" for name, step in steps.items())
        for rank in range(2, FULL + 1)
    )
    halves = {k: float(nro(k / 2, k)) for k in (4, 8, 20, 100)}
    checks = {
        "mnro_rises_least": Check(
            steps["MNRO"] < np.minimum(steps["1-AP"], steps["NMRR"]), rises=rises
        ),
        "level_at_k": Check(abs(curve[FULL - 1] - 0.95) < 5e-5, level=curve[FULL - 1]),
        "level_at_half_k": Check(
            all(abs(half - 0.5) < 5e-3 for half in halves.values()),
            levels=", ".join(f"{half:.4f} for K = {k}" for k, half in halves.items()),
        ),
        "approaches_one": Check(
            (late_steps > 0).all() and 1 - 1e-13 < curve[-1] < 1, steps=late_steps
        ),
        "all_positions_differ": Check(
            len(set(curve.tolist())) == SIZE, level=np.isclose(item_curve("NMRR"), 1).sum()
        ),
    }
    return _item_figure("figure5", ALL_THREE, checks)


def figure6() -> Reproduction:
    """Return MNRO of one relevant item in growing collections, over its rank in % of each size."""
    caption, text = largest_gap(IN_CAPTION), largest_gap(IN_TEXT)
    checks = {
        "same_in_all_sizes": Check(
            [caption < SAME_RANGE, text < SAME_RANGE], caption=caption, text=text
        ),
        "level_at_k": Check(
            all(abs(mnro_by_share(size)[40] - 0.95) < 5e-5 for size in FIGURE_SIZES)
        ),
        "sizes_in_text_and_caption": Check(IN_CAPTION == IN_TEXT),
    }
    shares = {size: mnro_by_share(size) for size in FIGURE_SIZES}
    rows = [
        (size, size * thousandths // 1000, thousandths / 10, value)
        for size, values in shares.items()
        for thousandths, value in values.items()
    ]
    names = ("N", "Rank(q)", "share of N in %", "MNRO")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    series = [
        {
            "name": f"N = {size}",
            "x": [size * thousandths / 1000 for thousandths in values],
            "y": list(values.values()),
        }
        for size, values in shares.items()
    ]
    return _figure("figure6", columns, series, checks, _sampled_shares)


def figure7() -> Reproduction:
    """Return the three measures for all pairs of ranks, in the order of the pseudo code.

    The checks are of what a move of an item by one position costs.
    """
    smaller = {last: move_gains("MNRO", last) < move_gains("1-AP", last) for last in (4, HORIZON)}
    counts = "; ".join(
        f"within the first {last} positions in {cases.sum()} of {cases.size} moves"
        for last, cases in smaller.items()
    )
    gains = move_gains("MNRO")
    checks = {
        "moves_cost_less_early": Check(smaller[HORIZON], counts=counts),
        "every_move_counts": Check(
            gains.min() > 0, moves=len(gains), unchanged=(abs(move_gains("NMRR")) < EPSILON).sum()
        ),
    }
    return _pairs_figure("figure7", ALL_THREE, checks)


def figure8() -> Reproduction:
    """Return MNRO as a surface over the two ranks, with its enveloping curves A and B."""
    pairs, both_late = rank_pairs(), rank_pairs().both_late
    mnro, lead = pairs.values["MNRO"], pairs.values["MNRO"] - pairs.values["1-AP"]
    lower, upper = best_and_worst(ALL_THREE)
    count_late = (pairs.i > HORIZON).astype(int) + both_late
    groups = [mnro[count_late == count] for count in range(3)]
    means = [group.mean() for group in groups]
    ranges = "; ".join(
        f"{count} after K: {group.min():.3f} to {group.max():.3f}, mean {group.mean():.3f}"
        for count, group in enumerate(groups)
    )
    below = [(curves["1-AP"] - curves["MNRO"])[EARLY] for curves in (lower, upper)]
    away = [abs(curves["MNRO"] - curves["NMRR"])[EARLY].max() for curves in (lower, upper)]
    late_lower = {name: values[LATE] for name, values in lower.items()}
    steps = np.diff(upper["MNRO"][HORIZON:])
    grid = pairs.grid("MNRO")
    over_i = grid[:, 1:SIZE]
    checks = {
        "very_high_after_k": Check((mnro[both_late] > 0.95).all(), least=mnro[both_late].min()),
        "higher_with_more_after_k": Check(
            [
                means == sorted(means),
                all(fewer.max() < more.min() for fewer, more in pairwise(groups)),
            ],
            ranges=ranges,
        ),
        "smaller_than_ap_early": Check(
            np.concatenate(below) > 0,
            lower=2 + (below[0] > 0).sum(),
            upper=2 + (below[1] > 0).sum(),
            away=max(away),
        ),
        "larger_than_ap_late": Check(
            (late_lower["MNRO"] > late_lower["1-AP"]).all()
            and abs(late_lower["MNRO"] - late_lower["NMRR"]).max() < 0.05,
            mnro=late_lower["MNRO"][[0, -1]],
            ap=late_lower["1-AP"][[0, -1]],
            nmrr=late_lower["NMRR"][0],
        ),
        "never_one": Check(
            [
                bool((mnro[both_late] < 1).all() and (steps > 0).all()),
                np.allclose(steps, steps[0], rtol=0.1),
            ],
            most=mnro[both_late].max(),
            first=steps[0],
            last=steps[-1],
        ),
        "ap_smaller_when_both_late": Check(
            (lead[both_late] > 0).all(),
            least=lead[both_late].min(),
            most=lead[both_late].max(),
            pairs=both_late.sum(),
        ),
        "curves_are_bounds": Check(
            (np.nanmin(over_i, axis=0) == upper["MNRO"]).all()
            and (np.nanmax(over_i, axis=0) == grid[SIZE, 1:SIZE]).all()
        ),
        "same_curves_as_figure_4": Check(
            [
                ENVELOPES["curve A"] == [(i, i - 1) for i in LATER_RANKS],
                ENVELOPES["curve B"] == [(i, 1) for i in LATER_RANKS],
            ]
        ),
    }
    curves = [
        {
            "name": name,
            "x": [float(i) for i, _ in ranks],
            "y": [float(j) for _, j in ranks],
            "z": [float(grid[pair]) for pair in ranks],
        }
        for name, ranks in ENVELOPES.items()
    ]
    return _surface_figure("figure8", ("MNRO",), checks, curves)


def nro(rank: Values | float, horizon: float) -> Values:
    """Return NRO at a rank that is not the item's ideal rank (Eqs. 16–17)."""
    return np.exp(B * np.exp(C * (np.asarray(rank) - 1) / (horizon - 1)))


def _measured(name: str, ranks: NDArray[np.int64]) -> Values:
    """Return a measure of lists as the figures show it, 0 the best. ``ranks``: (lists, NG)."""
    if name == "1-AP":
        return 1 - average_precision(ranks)
    return nmrr(ranks) if name == "NMRR" else mnro(ranks, SIZE)


def item_curve(name: str) -> Values:
    """Return a measure for one relevant item at each of the 20 positions."""
    lists = RANKS[:, None]
    return nmrr(lists, 1) if name == CAPPED_NMRR else _measured(name, lists)


@dataclass(frozen=True)
class RankPairs:
    """All pairs of ranks of two relevant items, in the order of the paper's pseudo code.

    ``i``, ``j``: (190,), the later and the earlier rank; ``values``: measure → (190,).
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    values: dict[str, Values]

    def grid(self, name: str) -> Values:
        """Return a measure's value at [Rank(i), Rank(j)]: (N + 1, N + 1), NaN but for pairs."""
        values = np.full((SIZE + 1, SIZE + 1), np.nan)
        values[self.i, self.j] = self.values[name]
        return values

    @property
    def both_late(self) -> NDArray[np.bool_]:
        """A mask of the pairs whose ranks are both greater than K."""
        return self.j > HORIZON


@cache
def rank_pairs() -> RankPairs:
    """Score all pairs: Rank(i) from 2 to N, and for each Rank(j) from 1 to Rank(i) − 1."""
    ranks = np.array([(j, i) for i in LATER_RANKS for j in range(1, i)])
    values = {name: _measured(name, ranks) for name in ("1-AP", "NMRR", "MNRO")}
    return RankPairs(ranks[:, 1], ranks[:, 0], values)


def best_and_worst(names: Sequence[str]) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return each measure for Rank(i) = 2 … N with the other image at 1, and just before it."""
    later = np.array(LATER_RANKS)
    grids = {name: rank_pairs().grid(name) for name in names}
    best = {name: grid[later, 1] for name, grid in grids.items()}
    return best, {name: grid[later, later - 1] for name, grid in grids.items()}


def move_gains(name: str, last: int = SIZE) -> Values:
    """Return what a measure gains by each move of an item one rank back, within ``last``."""
    grid = rank_pairs().grid(name)[: last + 1, : last + 1]
    gains: Values = np.concatenate([np.diff(grid, axis=axis).ravel() for axis in (0, 1)])
    return np.extract(~np.isnan(gains), gains)


@cache
def mnro_by_share(size: int) -> dict[int, float]:
    """Return thousandths of the collection → MNRO there, where that is a whole rank."""
    ranks = {unit: size * unit // 1000 for unit in THOUSANDTHS if size * unit % 1000 == 0}
    values = mnro(np.array([[rank] for rank in ranks.values()]), size)
    return dict(zip(ranks, values.tolist(), strict=True))


def largest_gap(sizes: tuple[int, ...]) -> float:
    """Return the largest difference in MNRO between collections at the same share of each."""
    shared = set.intersection(*(set(mnro_by_share(size)) for size in sizes))
    levels: Values = np.array([[mnro_by_share(size)[unit] for unit in shared] for size in sizes])
    return float(np.ptp(levels, axis=0).max())


def _item_figure(name: str, measures: Sequence[str], checks: Checks) -> Reproduction:
    """Return curves over the position of one relevant item."""
    values = {measure: item_curve(measure).tolist() for measure in measures}
    columns = {"Rank(q)": RANKS.tolist(), **values}
    return _figure(name, columns, _series(columns, "Rank(q)"), checks)


def _pairs_figure(name: str, measures: Sequence[str], checks: Checks) -> Reproduction:
    """Return curves over Combined_Rank, the number of a pair of ranks."""
    columns = _pair_columns(measures)
    columns = {"Combined_Rank": [*range(1, len(rank_pairs().i) + 1)], **columns}
    return _figure(name, columns, _series(columns, "Combined_Rank"), checks, _sampled_rows)


def _surface_figure(
    name: str, measures: Sequence[str], checks: Checks, curves: Sequence[Series] = ()
) -> Reproduction:
    """Return surfaces over the two ranks, and further curves in space."""
    columns = _pair_columns(measures)
    series = [*_series(columns, "Rank(i)", "Rank(j)"), *curves]
    return _figure(name, columns, series, checks, _sampled_surface)


def _pair_columns(measures: Sequence[str]) -> Columns:
    pairs = rank_pairs()
    values = {name: pairs.values[name].tolist() for name in measures}
    return {"Rank(i)": pairs.i.tolist(), "Rank(j)": pairs.j.tolist(), **values}


def _series(columns: Columns, *axes: str) -> list[Series]:
    """Return each measure as a curve (x, y) over one axis, or as a surface (x, y, z) over two."""
    return [
        {"name": name, **{key: columns[of] for key, of in zip("xyz", (*axes, name), strict=False)}}
        for name in columns
        if name not in RANK_COLUMNS
    ]


def _figure(
    name: str,
    columns: Columns,
    series: list[Series],
    checks: Checks,
    sample: Callable[[Exhibit], Sheet | Exhibit] = lambda exhibit: exhibit,
) -> Reproduction:
    """Return a figure as a reproduction; ``sample`` makes its table, by default of all rows."""
    texts = exhibit_texts(name)
    exhibit = Exhibit(
        name,
        texts["title"],
        tuple(columns),
        tuple(zip(*columns.values(), strict=True)),
        alternative=texts["alternative"],
        note=texts["note"],
        decimals=4,
    )
    return Reproduction(
        name,
        {"title": exhibit.title, "note": exhibit.note, "series": series},
        (sample(exhibit),),
        claims=judge_claims(name, checks),
        exhibit=exhibit,
    )


def _sampled_rows(exhibit: Exhibit) -> Exhibit:
    rows = (*exhibit.rows[::SAMPLE_STEP], exhibit.rows[-1])
    sampled = f"Every {SAMPLE_STEP}th of {len(exhibit.rows)} rows; --to and --json give all."
    return replace(exhibit, rows=rows, note=f"{sampled} {exhibit.note}")


def _sampled_surface(exhibit: Exhibit) -> Exhibit:
    """Return a table of a surface at some ranks, Rank(i) down and Rank(j) across."""
    grids = {name: rank_pairs().grid(name) for name in exhibit.columns[2:]}
    across = (1, *SAMPLE_RANKS[:-1])
    rows = tuple(
        (name, i, *(float(grid[i, j]) if j < i else None for j in across))
        for name, grid in grids.items()
        for i in SAMPLE_RANKS
    )
    columns = ("measure", "Rank(i)", *(f"Rank(j) = {j}" for j in across))
    note = f"Some of {len(exhibit.rows)} pairs; --to and --json give all. {exhibit.note}"
    return replace(exhibit, columns=columns, rows=rows, note=note, decimals=3)


def _sampled_shares(exhibit: Exhibit) -> Sheet:
    """Return a table of MNRO at some shares of each collection."""
    rows = (
        (size, int(mnro_horizon(1, size)), *map(mnro_by_share(size).get, SAMPLE_SHARES))
        for size in FIGURE_SIZES
    )
    return exhibit_sheet(exhibit.name, exhibit.name, rows)
