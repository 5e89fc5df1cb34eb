"""What Eq. 15 makes of K in the collections of Table 2, in the two readings it can have."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.mnro import B, C, mnro_horizon
from survey.services.paper.claim import IN_PART, Claim
from survey.services.paper.printed import printed
from survey.services.reporting.sheets import Sheet

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


def order(rank: NDArray[np.float64] | float, horizon: float) -> NDArray[np.float64]:
    """Return NRO at a rank that is not the item's own place (Eqs. 16–17)."""
    return np.exp(B * np.exp(C * (np.asarray(rank) - 1) / (horizon - 1)))


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


def as_json() -> list[dict[str, Any]]:
    """Return both readings as plain values."""
    return [asdict(one) for pair in readings() for one in pair]


def as_sheet() -> Sheet:
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
