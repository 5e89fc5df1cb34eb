"""Table 2: three nested collections, and how far each measure moves from the first."""

from dataclasses import asdict, dataclass

from survey.services.paper import horizons
from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.printed import Comparison, printed
from survey.services.paper.reproduction import Reproduction
from survey.services.paper.rounding import NOTE, as_numbers, compare
from survey.services.reporting.sheets import Cell, Sheet

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
            "readings_of_eq15": horizons.as_json(),
        },
        (_as_printed(), _movements_sheet(moved), horizons.as_sheet()),
        deviations(),
        (
            _map_moves_most(moved),
            _amnro_moves_least(moved),
            _out_of_ten(),
            horizons.what_k_employs(),
        ),
        (NOTE, *horizons.what_it_comes_to()),
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
