"""Figure 6: MNRO of one relevant item in growing collections."""

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import mnro
from survey.core.measures.mnro import mnro_horizon
from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.figures.curves import Values
from survey.services.paper.figures.illustration import Series, illustrated
from survey.services.paper.reproduction import Reproduction
from survey.services.reporting.sheets import Sheet

IN_CAPTION = (1_000, 10_000, 100_000, 1_000_000)
IN_TEXT = (100, 1_000, 10_000, 1_000_000)
SIZES = tuple(sorted({*IN_CAPTION, *IN_TEXT}))
UNITS = range(1, 101)  # thousandths of the collection
READ = (1, 5, 10, 20, 40, 60, 100)
CLOSE = 0.05


def at_shares(size: int) -> dict[int, float]:
    """Return MNRO at each whole number of thousandths of the collection that is a rank."""
    ranks = {unit: size * unit // 1000 for unit in UNITS if size * unit % 1000 == 0}
    found = mnro(np.array([[rank] for rank in ranks.values()]), size)
    return dict(zip(ranks, found.tolist(), strict=True))


def figure6() -> Reproduction:
    """Return MNRO over the position as a share of the collection, for each size."""
    rows = tuple(
        (size, size * unit // 1000, unit / 10, value)
        for size in SIZES
        for unit, value in at_shares(size).items()
    )
    exhibit = Exhibit(
        "figure6",
        "Figure 6. MNRO for NG = 1 in growing collections",
        ("N", "Rank(q)", "share of N in %", "MNRO"),
        rows,
        "The same S in each collection: near 0 at the first position, .95 at 4 % of the "
        "collection, then ever closer to 1.",
        "The first tenth of each collection. K = .04·N in either reading of Eq. 15, since NG = 1. "
        "Drawn are the caption's sizes; the text has N = 100 instead of 100000.",
        decimals=4,
    )
    return illustrated(exhibit, _series(), (_same(), _level(), _sizes()), _read())


def _series() -> list[Series]:
    return [
        Series(f"N = {size}", [size * unit / 1000 for unit in found], list(found.values()))
        for size, found in ((size, at_shares(size)) for size in SIZES)
    ]


def _read() -> Sheet:
    return Sheet(
        "figure6",
        "Figure 6. MNRO for NG = 1 at some shares of growing collections",
        ("N", "K", *(f"{unit / 10} % of N" for unit in READ)),
        tuple(
            (size, int(mnro_horizon(1, size)), *(at_shares(size).get(unit) for unit in READ))
            for size in SIZES
        ),
        "–: no whole position. K = .04·N in either reading of Eq. 15, since NG = 1.",
        decimals=4,
    )


def spread(sizes: tuple[int, ...]) -> float:
    """Return the most by which MNRO differs between collections at the same share of each."""
    shared = set.intersection(*(set(at_shares(size)) for size in sizes))
    levels: Values = np.array([[at_shares(size)[unit] for unit in shared] for size in sizes])
    return float(np.ptp(levels, axis=0).max())


def _same() -> Claim:
    caption, text = spread(IN_CAPTION), spread(IN_TEXT)
    return graded(
        "Section 4, lines 608–610",
        "F[g(q)] lets MNRO “adjust itself in order to keep the same behavior over different "
        "database sizes”.",
        [caption < CLOSE, text < CLOSE],
        f"At the same share of the collection MNRO differs by at most {caption:.3f} between the "
        f"caption's sizes, and by up to {text:.3f} between the text's, since K = 4 leaves few "
        "positions at N = 100.",
    )


def _level() -> Claim:
    levels = [at_shares(size)[40] for size in SIZES]
    return computed(
        "Section 4, lines 564–566",
        "At position K, NRO is .95.",
        all(abs(level - 0.95) < 5e-5 for level in levels),
        f"So it is at 4 % of each of the {len(SIZES)} collections.",
    )


def _sizes() -> Claim:
    return computed(
        "Section 4, lines 602–604, and the caption",
        "The four databases have “100 images”, “1000 images”, “10000 images” and “one million "
        "images”; in the caption they have 1000, 10000, 100000 and 1000000.",
        IN_CAPTION == IN_TEXT,
        "The two disagree.",
    )
