"""Figures 1 and 5: one relevant item among 20, found at each position in turn."""

import numpy as np

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import nmrr
from survey.core.measures.nmrr import nmrr_horizon
from survey.services.paper.figures.curves import SIZE, Values, values

RANKS = np.arange(1, SIZE + 1)
LISTS = RANKS[:, None]
FULL, CAPPED = nmrr_horizon(1), nmrr_horizon(1, 1)  # K = 4, and 2 with GMT = 1
CAPPED_NMRR = f"NMRR, K = {CAPPED} (GMT = 1)"


def curve(name: str) -> Values:
    """Return a measure at each of the 20 positions."""
    return nmrr(LISTS, 1) if name == CAPPED_NMRR else values(name, LISTS)


def known_item(name: str, title: str, names: tuple[str, ...], note: str, told: str) -> Exhibit:
    """Return the numbers of a figure of these curves."""
    columns = [curve(one).tolist() for one in names]
    return Exhibit(
        name,
        title,
        ("Rank(q)", *names),
        tuple(zip(RANKS.tolist(), *columns, strict=True)),
        told,
        note,
        decimals=4,
    )
