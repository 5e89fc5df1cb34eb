"""Figure 3: 1 − AP and NMRR as surfaces over the two ranks."""

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import average_precision, nmrr
from survey.services.paper.claim import Claim, computed
from survey.services.paper.figures.curves import HORIZON, pairs
from survey.services.paper.figures.illustration import EPSILON, illustrated, surfaces
from survey.services.paper.reproduction import Reproduction
from survey.services.reporting.sheets import Cell, Sheet

READ = (2, 4, 6, 8, 9, 10, 12, 16, 20)  # ranks of the table to be read: K = 8 is among them


def surface(name: str, title: str, names: tuple[str, ...], told: str) -> Exhibit:
    """Return measures over Rank(i) and Rank(j)."""
    known = pairs()
    columns = [known.values[one].tolist() for one in names]
    return Exhibit(
        name,
        title,
        ("Rank(i)", "Rank(j)", *names),
        tuple(zip(known.i.tolist(), known.j.tolist(), *columns, strict=True)),
        told,
        "Rank(j) < Rank(i). K = 8 for NMRR and MNRO.",
        decimals=4,
    )


def grid(exhibit: Exhibit) -> Sheet:
    """Return a surface at some ranks, Rank(i) down and Rank(j) across, to be read."""
    known, names = pairs(), exhibit.columns[2:]
    across = (1, *READ[:-1])
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        for i in READ:
            cells = [known.at(name, i, j) if j < i else None for j in across]
            rows.append((name, i, *cells))
    columns = ("measure", "Rank(i)", *(f"Rank(j) = {j}" for j in across))
    note = f"Some of {len(exhibit.rows)} pairs; --to and --json give all. {exhibit.note}"
    return Sheet(exhibit.name, exhibit.title, columns, tuple(rows), note)


def figure3() -> Reproduction:
    """Return 1 − AP and NMRR over the two ranks."""
    exhibit = surface(
        "figure3",
        "Figure 3. (a) 1-AP and (b) NMRR for NG = 2, N = 20",
        ("1-AP", "NMRR"),
        "Both surfaces rise with either rank: 1-AP steeply at the early ranks, NMRR evenly up to "
        "K = 8, with a level part at 1 where both ranks are beyond.",
    )
    claims = (_one_where_both_are_late(), _smaller_there(), _no_ranks_after_k())
    return illustrated(exhibit, surfaces(exhibit), claims, grid(exhibit))


def _one_where_both_are_late() -> Claim:
    known = pairs()
    late = known.beyond(HORIZON)
    ones = known.values["NMRR"] > 1 - EPSILON
    return computed(
        "Section 3, lines 478–479",
        "“For min(Rank(i), Rank(j)) > K we have NMRR=1.”",
        bool((late == ones).all()),
        f"So it is in all {late.sum()} of these pairs, and in no other of the {len(late)}.",
    )


def _smaller_there() -> Claim:
    late = pairs().values["1-AP"][pairs().beyond(HORIZON)]
    return computed(
        "Section 3, lines 479–481",
        "“For the same Rank(i) and Rank(j) positions, 1-AP grades the system with a much smaller "
        "value.”",
        bool((late < 1 - EPSILON).all()),
        f"It is {late.min():.3f} to {late.max():.3f} there; whether that is much smaller than 1 "
        "is a matter of taste.",
    )


def _no_ranks_after_k() -> Claim:
    lists = np.array([[1, 100], [1, 1000]])
    (first, second), (one, other) = nmrr(lists).tolist(), average_precision(lists).tolist()
    return computed(
        "Section 3, lines 515–522",
        "With two relevant images, at 1 and 100 in one system and at 1 and 1000 in another, "
        "“under ANMRR, however, the systems perform equivalently”.",
        abs(first - second) < EPSILON,
        f"NMRR is {first:.4f} for both; AP is {one:.4f} and {other:.4f}.",
    )
