"""Figure 5: MNRO beside 1 − AP and NMRR for one relevant item."""

import numpy as np

from survey.services.paper.claim import Claim, computed, graded
from survey.services.paper.figures.curves import SIZE
from survey.services.paper.figures.illustration import columns_as_series, illustrated
from survey.services.paper.figures.known_item import FULL, curve, known_item
from survey.services.paper.horizons import order
from survey.services.paper.reproduction import Reproduction


def figure5() -> Reproduction:
    """Return 1 − AP, NMRR and MNRO for a known item."""
    exhibit = known_item(
        "figure5",
        "Figure 5. 1-AP, NMRR and MNRO for NG = 1, N = 20",
        ("1-AP", "NMRR", "MNRO"),
        f"K = {FULL} for NMRR and MNRO.",
        f"MNRO is an S: flat to position 2, .95 at {FULL}, then ever closer to 1, where NMRR is 1 "
        "and 1-AP still lower.",
    )
    claims = (_mnro_rises_least(), _level_at_k(), _level_at_half(), _approaches(), _each_place())
    return illustrated(exhibit, columns_as_series(exhibit), claims)


def _mnro_rises_least() -> Claim:
    steps = {name: np.diff(curve(name))[: FULL - 1] for name in ("1-AP", "NMRR", "MNRO")}
    cases = (steps["MNRO"] < np.minimum(steps["1-AP"], steps["NMRR"])).tolist()
    told = "; ".join(
        f"to {place}: " + ", ".join(f"{name} {step[place - 2]:.3f}" for name, step in steps.items())
        for place in range(2, FULL + 1)
    )
    return graded(
        "Section 4, lines 590–591",
        "“In the first results the gradient of the NRO is smaller than the gradients of 1-AP and "
        "NMRR.”",
        cases,
        f"Rises by position: {told}. It is so up to position 2 only: K = {FULL} is too near for "
        "more.",
    )


def _level_at_k() -> Claim:
    level = curve("MNRO")[FULL - 1]
    return computed(
        "Section 4, lines 564–566 and 593",
        "At position K, NRO is .95.",
        bool(abs(level - 0.95) < 5e-5),
        f"At K = {FULL} it is {level:.6f}.",
    )


def _level_at_half() -> Claim:
    found = {k: float(order(k / 2, k)) for k in (4, 8, 20, 100)}
    told = ", ".join(f"{level:.4f} for K = {k}" for k, level in found.items())
    return computed(
        "Section 4, lines 567–568",
        "At position K/2, NRO is .50.",
        all(abs(level - 0.5) < 5e-3 for level in found.values()),
        f"It is {told}: with (Rank − 1)/(K − 1) of Eq. 17, K/2 is less than half of the way.",
    )


def _approaches() -> Claim:
    late = curve("MNRO")[FULL - 1 :]
    return computed(
        "Section 4, lines 593–594",
        "From position K onwards NRO “increases with a very small gradient, approaching the value "
        "1”.",
        bool((np.diff(late) > 0).all() and 1 - 1e-13 < late[-1] < 1),
        f"It rises at every position after K, by {np.diff(late)[0]:.3f}, "
        f"{np.diff(late)[1]:.4f}, {np.diff(late)[2]:.4f}, …; at {SIZE} it lacks less than 1e-13.",
    )


def _each_place() -> Claim:
    level = int(np.isclose(curve("NMRR"), 1).sum())
    return computed(
        "Section 4, lines 594–597",
        "NRO can “accurately evaluate each specific retrieval location, even after the first K "
        "positions”.",
        len(set(curve("MNRO").tolist())) == SIZE,
        f"Its {SIZE} values all differ. NMRR gives {level} positions the same.",
    )
