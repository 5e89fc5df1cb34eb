"""Tables 1 to 3: scores of five lists, growing collections with Eq. 15's K, participants."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import Setting
from survey.core.measures.nmrr_mnro import mnro_horizon
from survey.core.studies.questions import build_question
from survey.paper.figures1_to_8 import nro
from survey.paper.reproduction import (
    PAPER_MEASURES,
    ROUNDING_NOTE,
    Check,
    Checks,
    PrintComparison,
    Reproduction,
    compare_deviation,
    exhibit_remarks,
    exhibit_sheet,
    float_cells,
    judge_claims,
    printed_rows,
)
from survey.services.analysis.sheets import Sheet

TABLE2_MEANS = ("MAP", "ANMRR", "NAR", "AMNRO")  # of Table 2
SCALES = ("as a difference", "in per cent of the value", "in per cent of 1 − value")
TOPIC_SIZES = (5, 10, 20, 50, 100, 200, 500)
NO_DATA = "the participants' own data were not published, so nothing can be recomputed"


def table1() -> Reproduction:
    """Score the five lists of Table 1 and compare values and ranks with the print."""
    rows = printed_rows("table1")
    lists = [[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows]
    question = build_question(1, lists, PAPER_MEASURES, Setting(int(rows[0]["collection_size"])))
    comparisons = []
    for index, row in enumerate(rows):
        for name in PAPER_MEASURES:
            column = question.columns[name]
            value, rank = column.values[index], column.ranking.places[row["list"]]
            comparisons += [
                PrintComparison(row["list"], name, f"{value:.4f}", row[name.lower()]),
                PrintComparison(
                    row["list"], f"{name} rank", str(rank), row[f"{name.lower()}_rank"]
                ),
            ]
    orders = {name: str(ranking) for name, ranking in question.rankings.items()}
    sheet = exhibit_sheet("table1", "orders", orders.items())
    return Reproduction("table1", {"rankings": orders}, (sheet,), tuple(comparisons))


def table2() -> Reproduction:
    """Recompute the deviations of Table 2, and test the two readings of Eq. 15 against it."""
    moved, (size, nar, amnro) = movements(), set_a()
    low, high = unreachable_topic_sizes(size, nar, amnro)
    default, literal = (mnro_reach(low, size, nar, literal=flag) for flag in (False, True))
    reach = {"low": low, "high": high, "default": default, "literal": literal}
    share = 100 * default.share
    return Reproduction(
        "table2",
        {
            "printed": [dict(row) for row in printed_rows("table2")],
            "movements": [asdict(movement) for movement in moved],
            "readings_of_eq15": [asdict(reach) for pair in readings() for reach in pair],
        },
        _table2_sheets(moved),
        printed_deviations(),
        judge_claims("table2", _table2_checks(moved)),
        (ROUNDING_NOTE, *exhibit_remarks("table2", share=share, nar=nar, amnro=amnro, **reach)),
    )


def printed_deviations() -> tuple[PrintComparison, ...]:
    """Compare each printed deviation from set A with the one between the printed values."""
    base, *others = printed_rows("table2")
    return tuple(
        compare_deviation(
            f"set {row['set']}", name, row[name], base[name], row[f"{name}_deviation"]
        )
        for row in others
        for name in TABLE2_MEANS
    )


@dataclass(frozen=True)
class Movement:
    """How far a measure is from set A, in B and in C.

    ``change``: the difference; ``of_value``, ``of_rest``: its size in per cent of the value
    in A, and of 1 − that value: the two ends of the scale that a percentage can refer to.
    """

    measure: str
    change: tuple[float, ...]
    of_value: tuple[float, ...]
    of_rest: tuple[float, ...]

    @property
    def by_scale(self) -> tuple[tuple[float, ...], ...]:
        """The distance to B and C on each of ``SCALES``."""
        return tuple(map(abs, self.change)), self.of_value, self.of_rest


def movements() -> tuple[Movement, ...]:
    """Return each measure's movement by the printed values."""
    base, *others = printed_rows("table2")
    moved = []
    for name in TABLE2_MEANS:
        start = float(base[name])
        change = tuple(float(row[name]) - start for row in others)
        of_value, of_rest = (
            tuple(100 * abs(step) / whole for step in change) for whole in (start, 1 - start)
        )
        moved.append(Movement(name, change, of_value, of_rest))
    return tuple(moved)


def _table2_sheets(moved: tuple[Movement, ...]) -> tuple[Sheet, ...]:
    size, nar, _ = set_a()
    printed = (
        (row["set"], int(row["images"]), *float_cells(row, *TABLE2_MEANS, "P10"))
        for row in printed_rows("table2")
    )
    movement = ((each.measure, *each.change, *each.of_value, *each.of_rest) for each in moved)
    reached = (
        (
            pair[0].relevant,
            *(cell for reach in pair for cell in (100 * reach.share, reach.lowest, reach.highest)),
        )
        for pair in readings()
    )
    return (
        exhibit_sheet("table2", "table2", printed),
        exhibit_sheet("table2", "movements", movement),
        exhibit_sheet("table2", "readings", reached, size=size, nar=nar),
    )


def is_extreme(moved: tuple[Movement, ...], name: str, *, most: bool) -> list[bool]:
    """Return for each scale whether a measure moves most (or least) both to B and to C."""
    own = next(movement for movement in moved if movement.measure == name)
    others = [movement for movement in moved if movement is not own]
    return [
        all(
            (mine > theirs) == most
            for other in others
            for mine, theirs in zip(distances, other.by_scale[scale], strict=True)
        )
        for scale, distances in enumerate(own.by_scale)
    ]


def _table2_checks(moved: tuple[Movement, ...]) -> Checks:
    most = is_extreme(moved, "MAP", most=True)
    least = is_extreme(moved, "AMNRO", most=False)
    first, _, third = (round(10 * float(row["P10"]), 9) for row in printed_rows("table2"))
    shares_of_size = {pair[0].share for pair in readings()[:-1]}  # K/N with F = .04/g
    return {
        "map_moves_most": Check(most, by_scale=_by_scale(most)),
        "amnro_moves_least": Check(least, by_scale=_by_scale(least)),
        "relevant_of_ten": Check((first, third) == (1.6, 1.0), first=first, third=third),
        # The first case is Eq. 14 as a whole, the second a generality below .01.
        "what_k_uses": Check([True, len(shares_of_size) > 1]),
    }


def _by_scale(cases: list[bool]) -> str:
    return "; ".join(
        f"{scale}: {'yes' if case else 'no'}" for scale, case in zip(SCALES, cases, strict=True)
    )


@dataclass(frozen=True)
class Reach:
    """What MNRO can be for a topic of ``relevant`` images, by a reading of Eq. 15.

    ``share``: K/N; ``lowest``, ``highest``: bounds of MNRO over all rankings with a given
    normalised averaged rank (NAR, Eq. 10).
    """

    relevant: int
    literal: bool
    share: float
    lowest: float
    highest: float


def mnro_reach(relevant: int, size: int, nar: float, *, literal: bool) -> Reach:
    """Bound MNRO for a NAR, without knowing the ranks.

    NAR fixes the mean of the ranks: N · NAR + (NG + 1)/2. MNRO is the mean of NRO at the
    ranks, and NRO, a Gompertz curve, is first convex, then concave. So by Jensen the mean is
    at most NRO's concave envelope at the mean rank, a chord from the first position or NRO
    itself, and at least the convex one, a chord to the last position. The lower bound leaves
    out that NRO is 0 at an item's ideal rank; with it, MNRO can be a little less.
    """
    horizon = mnro_horizon(relevant, size, literal_eq15=literal)
    mean = size * nar + (relevant + 1) / 2
    before, after = np.linspace(1, mean, 20_001)[:-1], np.linspace(mean, size, 20_001)
    upper = _chord(1.0, after, mean, horizon)
    lower = _chord(float(size), before, mean, horizon)
    return Reach(relevant, literal, horizon / size, float(lower.min()), float(upper.max()))


def _chord(
    end: float, others: NDArray[np.float64], where: float, horizon: float
) -> NDArray[np.float64]:
    """Return the values at ``where`` of the chords of NRO from ``end`` to each other rank."""
    weight = (where - end) / (others - end)
    return nro(end, horizon) * (1 - weight) + nro(others, horizon) * weight


def unreachable_topic_sizes(size: int, nar: float, amnro: float) -> tuple[int, int]:
    """Return the least and greatest NG for which Eq. 15 as printed cannot give this AMNRO.

    The greatest has generality .01, beyond which Eq. 14 takes K = 4 NG in either reading.
    """
    last = (size - 1) // 100
    first = next(
        relevant
        for relevant in range(1, last + 1)
        if mnro_reach(relevant, size, nar, literal=True).highest < amnro
    )
    return first, last


def set_a() -> tuple[int, float, float]:
    """Return N, NAR and AMNRO of Table 2's set A."""
    row = printed_rows("table2")[0]
    return int(row["images"]), float(row["NAR"]), float(row["AMNRO"])


def readings() -> tuple[tuple[Reach, ...], ...]:
    """Return MNRO's reach in set A by F = .04/g and by Eq. 15 as printed, per topic size."""
    size, nar, _ = set_a()
    last = (size - 1) // 100
    return tuple(
        tuple(mnro_reach(relevant, size, nar, literal=literal) for literal in (False, True))
        for relevant in (*TOPIC_SIZES, last, last + 1)
    )


def table3() -> Reproduction:
    """Return Table 3 as printed, since nothing in it can be recomputed."""
    values = {row["quantity"]: row["value"] for row in printed_rows("table3")}
    rows = tuple(values.items())
    return Reproduction(
        "table3",
        {"printed": values, "why": NO_DATA},
        (Sheet("printed", "Table 3. As printed", ("", "value"), rows),),
        remarks=(f"Printed only: {NO_DATA}.",),
        table=Sheet("printed", "Table 3. As printed", ("quantity", "printed"), rows),
    )
