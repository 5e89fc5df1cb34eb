"""Tables 1 to 3: five lists, three nested collections with the readings of Eq. 15, participants."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import Setting
from survey.core.measures.mnro import mnro_horizon
from survey.core.stimuli.questions import Question, build_question
from survey.services.paper.curves import order
from survey.services.paper.reproduction import (
    IN_PART,
    MEASURES,
    NOTE,
    Claim,
    Comparison,
    Reproduction,
    as_numbers,
    compare,
    computed,
    graded,
    printed,
)
from survey.services.reporting.sheets import Cell, Sheet


def table1() -> Reproduction:
    """Recompute Table 1 beside its print."""
    question, comparisons = recompute_table1()
    orders = {name: str(ranking) for name, ranking in question.rankings.items()}
    return Reproduction(
        "table1",
        {"rankings": orders},
        (
            Sheet(
                "orders",
                "Table 1. Orders of the five lists, best first",
                ("measure", "order"),
                tuple(orders.items()),
            ),
        ),
        tuple(comparisons),
    )


def recompute_table1() -> tuple[Question, list[Comparison]]:
    """Score the five lists of Table 1: the question they make, and its values and ranks."""
    rows = printed("table1")
    lists = [[int(row[f"rank{k}"]) for k in range(1, 6)] for row in rows]
    question = build_question(1, lists, MEASURES, Setting(int(rows[0]["collection_size"])))
    comparisons = []
    for index, row in enumerate(rows):
        for name in MEASURES:
            column = question.columns[name]
            value, rank = column.values[index], column.ranking.places[row["list"]]
            comparisons += [
                Comparison(row["list"], name, f"{value:.4f}", row[name.lower()]),
                Comparison(row["list"], f"{name} rank", str(rank), row[f"{name.lower()}_rank"]),
            ]
    return question, comparisons


MEASURED = ("MAP", "ANMRR", "NAR", "AMNRO")
SCALES = ("as a difference", "in per cent of the value", "in per cent of 1 − value")


def table2() -> Reproduction:
    """Recompute the deviations of Table 2, and say what they and Eq. 15 come to."""
    moved = movements()
    return Reproduction(
        "table2",
        {
            "printed": [dict(row) for row in printed("table2")],
            "movements": [asdict(one) for one in moved],
            "readings_of_eq15": readings_as_json(),
        },
        (_as_printed(), _movements_sheet(moved), readings_sheet()),
        deviations(),
        (
            _map_moves_most(moved),
            _amnro_moves_least(moved),
            _out_of_ten(),
            what_k_employs(),
        ),
        (NOTE, *what_it_comes_to()),
    )


def deviations() -> tuple[Comparison, ...]:
    """Recompute each printed deviation from set A."""
    base, *others = printed("table2")
    return tuple(
        compare(f"set {row['set']}", name, row[name], base[name], row[f"{name}_deviation"])
        for row in others
        for name in MEASURED
    )


def _as_printed() -> Sheet:
    columns = ("set", "images", *MEASURED, "P(10)")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (row["set"], int(row["images"]), *as_numbers(row, *MEASURED, "P10"))
        for row in printed("table2")
    )
    return Sheet("table2", "Table 2. As printed", columns, rows, decimals=4)


@dataclass(frozen=True)
class Movement:
    """How far a measure is from set A, in B and in C.

    ``change``: the difference; ``of_value``, ``of_rest``: its size in per cent of the value
    in A, and of 1 − that value. Which of the two one takes depends on the end of the scale
    that one measures from.
    """

    measure: str
    change: tuple[float, ...]
    of_value: tuple[float, ...]
    of_rest: tuple[float, ...]

    @property
    def sizes(self) -> tuple[tuple[float, ...], ...]:
        """How far it moves, on each of the three scales."""
        return tuple(map(abs, self.change)), self.of_value, self.of_rest


def movements() -> tuple[Movement, ...]:
    """Return how far each measure moves, by the printed values."""
    base, *others = printed("table2")
    moved = []
    for name in MEASURED:
        start = float(base[name])
        change = tuple(float(row[name]) - start for row in others)
        of_value, of_rest = (
            tuple(100 * abs(one) / whole for one in change) for whole in (start, 1 - start)
        )
        moved.append(Movement(name, change, of_value, of_rest))
    return tuple(moved)


def _movements_sheet(moved: tuple[Movement, ...]) -> Sheet:
    return Sheet(
        "movements",
        "How far the measures move from set A, and from which end that is measured",
        (
            *("measure", "change to B", "change to C", "% of the value, B"),
            *("% of the value, C", "% of 1 − value, B", "% of 1 − value, C"),
        ),
        tuple(_row(one) for one in moved),
        "MAP is near 0 here and ANMRR near 1, so a percentage of the value makes MAP's movement "
        "large, and one of 1 − value ANMRR's.",
        decimals=4,
    )


def _row(one: Movement) -> tuple[Cell, ...]:
    return one.measure, *one.change, *one.of_value, *one.of_rest


def extreme(moved: tuple[Movement, ...], name: str, *, most: bool) -> list[bool]:
    """Tell on which scales a measure moves most (or least) of all, to B and to C."""
    mine = next(one for one in moved if one.measure == name)
    others = [one for one in moved if one is not mine]
    return [
        all(
            (own > theirs) == most
            for one in others
            for own, theirs in zip(size, one.sizes[scale], strict=True)
        )
        for scale, size in enumerate(mine.sizes)
    ]


def _by_scale(on: list[bool]) -> str:
    return "; ".join(
        f"{scale}: {'yes' if it else 'no'}" for scale, it in zip(SCALES, on, strict=True)
    )


def _map_moves_most(moved: tuple[Movement, ...]) -> Claim:
    on = extreme(moved, "MAP", most=True)
    return graded(
        "Section 5.2, lines 765–767",
        "“MAP presents the highest percentage deviation among the other performance measures”.",
        on,
        f"Does it move most? {_by_scale(on)}. ANMRR, near 1, has little room to move up, and "
        "moves most as a difference and from that end.",
    )


def _amnro_moves_least(moved: tuple[Movement, ...]) -> Claim:
    on = extreme(moved, "AMNRO", most=False)
    return graded(
        "Section 5.2, lines 783–785",
        "AMNRO “seems to outperform all the other performance measures in terms of the ability "
        "to take into account the generality of the queries”.",
        on,
        f"Does it move least? {_by_scale(on)}. From the other end NAR moves less to B. One "
        "descriptor and 20 queries, whose spread is not printed, do not say how far this carries.",
    )


def _out_of_ten() -> Claim:
    first, _, last = (round(10 * float(row["P10"]), 9) for row in printed("table2"))
    return computed(
        "Section 5.2, lines 770–772",
        "In the first set “on average, 1.6 out of 10 images” were relevant, in the third 1.",
        (first, last) == (1.6, 1.0),
        f"P(10) of .1600 and .1000 are {first:.1f} and {last:.1f} of 10.",
    )


TOPICS = (5, 10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Reach:
    """What MNRO can be for a topic of ``relevant`` images, by a reading of Eq. 15.

    ``share``: K/N; ``lowest``, ``highest``: of MNRO over all rankings whose normalised
    averaged rank (NAR, Eq. 10) is the given one.
    """

    relevant: int
    literal: bool
    share: float
    lowest: float
    highest: float


def reach(relevant: int, size: int, nar: float, *, literal: bool) -> Reach:
    """Bound MNRO for a NAR, without knowing the ranks.

    NAR fixes the mean of the ranks: N · NAR + (NG + 1)/2. MNRO is the mean of NRO at the
    ranks, and NRO, a Gompertz curve, is first convex, then concave. So by Jensen the mean is
    at most NRO's concave envelope at the mean rank, a chord from the first position or NRO
    itself, and at least the convex one, a chord to the last position. The lower bound leaves
    out that NRO is 0 where an item is in its place; with it, MNRO can be a little less.
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
    return order(end, horizon) * (1 - weight) + order(others, horizon) * weight


def least_out_of_reach(size: int, nar: float, amnro: float) -> tuple[int, int]:
    """Return the topic sizes NG, from and to, for which Eq. 15 as printed cannot give AMNRO.

    They end where generality is .01, from where Eq. 14 takes K = 4 NG in either reading.
    """
    last = (size - 1) // 100
    first = next(
        relevant
        for relevant in range(1, last + 1)
        if reach(relevant, size, nar, literal=True).highest < amnro
    )
    return first, last


def first_set() -> tuple[int, float, float]:
    """Return N, NAR and AMNRO of set A."""
    row = printed("table2")[0]
    return int(row["images"]), float(row["NAR"]), float(row["AMNRO"])


def readings() -> tuple[tuple[Reach, Reach], ...]:
    """Return, for topics of few to many relevant images of set A, both readings' reach."""
    size, nar, _ = first_set()
    last = (size - 1) // 100
    return tuple(
        (reach(one, size, nar, literal=False), reach(one, size, nar, literal=True))
        for one in (*TOPICS, last, last + 1)
    )


def readings_as_json() -> list[dict[str, Any]]:
    """Return both readings as plain values."""
    return [asdict(one) for pair in readings() for one in pair]


def readings_sheet() -> Sheet:
    """Return both readings side by side."""
    size, nar, _ = first_set()
    rows = [
        (
            pair[0].relevant,
            *(cell for one in pair for cell in (100 * one.share, one.lowest, one.highest)),
        )
        for pair in readings()
    ]
    return Sheet(
        "readings",
        f"K in % of the {size} images of set A, and what MNRO can be where NAR is {nar}",
        (
            *("NG", "K, F = .04/g", "least MNRO", "greatest MNRO"),
            *("K, Eq. 15 as printed", "least MNRO", "greatest MNRO"),
        ),
        tuple(rows),
        "Over all rankings whose NAR is the printed one. In sets B and C, K is the same share "
        "while NG/N is below .01: it grows with the collection in either reading.",
    )


def what_it_comes_to() -> tuple[str, ...]:
    """Say which reading the printed values speak for, as far as they do."""
    size, nar, amnro = first_set()
    low, high = least_out_of_reach(size, nar, amnro)
    default, literal = (reach(low, size, nar, literal=one) for one in (False, True))
    return (
        f"With F = .04/g, K is {100 * default.share:.0f} % of the collection whatever the topic, "
        f"and rankings with NAR = {nar} have an MNRO from {default.lowest:.2f} to "
        f"{default.highest:.2f}: the printed AMNRO of {amnro} is one of them.",
        f"With Eq. 15 as printed, K is 4·NG % of the collection. A topic of {low} to {high} "
        f"relevant images cannot have an MNRO of {amnro} at that NAR in any ranking: at {low} it "
        f"is at most {literal.highest:.3f}, and it falls from there. So the printed AMNRO speaks "
        f"for F = .04/g unless some topics had fewer than {low} relevant images: a few, if the "
        "others had hardly more, most, if the others had 50 and more. How many they had is not "
        "printed.",
        "That AMNRO stays put speaks for neither: in both readings K grows as the collection does.",
    )


def what_k_employs() -> Claim:
    """Judge a sentence that speaks for the printed form."""
    shares = {pair[0].share for pair in readings()[:-1]}
    told = "the same" if len(shares) == 1 else "not the same"
    return Claim(
        "Section 5.2, lines 785–787",
        "K employs “information about the database size as well as about the number of the "
        "relevant images”.",
        IN_PART,
        "It is so of Eq. 14 as a whole. Below a generality of .01 it is so with Eq. 15 as printed "
        f"only: with F = .04/g, K is {told} for all topics there, .04·N. This sentence speaks "
        "for the printed form.",
    )


WHY = "the participants' own data were not published, so nothing can be recomputed"


def table3() -> Reproduction:
    """Return Table 3, of which nothing can be recomputed."""
    values = {row["quantity"]: row["value"] for row in printed("table3")}
    rows = tuple(values.items())
    return Reproduction(
        "table3",
        {"printed": values, "why": WHY},
        (Sheet("printed", "Table 3. As printed", ("", "value"), rows),),
        remarks=(f"Printed only: {WHY}.",),
        table=Sheet("printed", "Table 3. As printed", ("quantity", "printed"), rows),
    )
