"""Significance levels for looks at results before the last answers (group-sequential tests)."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import scipy
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

INTEGRATION_NODES = 400  # the levels change in the tenth decimal from 200 to 400
NEAREST_FRACTIONS = 0.001  # fractions apart; the nodes do not resolve less
FARTHEST = 12.0  # a bound for a z value: beyond it a normal density is below 1e-31


def look_levels(fractions: Sequence[float], level: float = 0.05) -> list[float]:
    """Return the two-sided level at which each look may reject, so that all together keep one.

    ``fractions``: the share of the information, here of the participants, at each look; increasing,
    in (0, 1]. By the fraction t each side has spent 2 − 2 Φ(z / √t), z = Φ⁻¹(1 − level / 4): the
    function of Lan and DeMets that is near O'Brien and Fleiss's bounds, strict at early looks.
    The level of a look is that of a normal test with independent increments which, where there
    is no difference, has not rejected before and rejects then with the chance that is newly
    spent. A single look with t = 1 has the level itself. Raises ValueError for fractions that are
    not in (0, 1], or less than .001 above the one before.

    Source: Lan and DeMets 1983 (Biometrika); the integration: Armitage, McPherson and Rowe 1969.
    """
    for low, high in pairwise([0.0, *fractions]):
        if not high - low >= NEAREST_FRACTIONS:
            raise ValueError(
                f"the fraction {high} follows {low}; it must be {NEAREST_FRACTIONS} above it"
            )
    if fractions and fractions[-1] > 1:
        raise ValueError(f"the fraction {fractions[-1]} is above 1")
    z = -float(scipy.special.ndtri(level / 4))
    points, weights = leggauss(INTEGRATION_NODES)
    # The sum so far, s = z √t, is 0 at first; later its density at points where no look rejected.
    sums, density, before, spent = np.zeros(1), np.ones(1), 0.0, 0.0
    levels = []
    for fraction in fractions:
        step, root = math.sqrt(fraction - before), math.sqrt(fraction)
        budget = 4 * float(scipy.special.ndtr(-z / root))
        newly = partial(_newly_rejected, sums=sums / step, density=density, root=root / step)
        left = budget - spent
        bound = FARTHEST
        if newly(bound) < left:
            bound = float(
                scipy.optimize.brentq(lambda z, f=newly, left=left: f(z) - left, 0.0, FARTHEST)
            )
        levels.append(2 * float(scipy.special.ndtr(-bound)))
        reached = bound * root * points
        moves = (reached[:, np.newaxis] - sums) / step
        kernel = np.exp(-(moves**2) / 2) / (step * math.sqrt(2 * math.pi))
        density = (kernel @ density) * weights * bound * root
        sums, before, spent = reached, fraction, budget
    return levels


def _newly_rejected(
    bound: float, sums: NDArray[np.float64], density: NDArray[np.float64], root: float
) -> float:
    """Return the chance of a sum beyond the bound, from sums within those before; per step."""
    reach = bound * root
    return float(density @ (scipy.special.ndtr(sums - reach) + scipy.special.ndtr(-reach - sums)))
