"""NMRR and MNRO for graded relevance: an extension of ours, asked for in the paper's Section 6.

Definition. Let G be the highest grade of a list's relevant items, and let M_t, for a
threshold t = 1…G, be the binary measure (NMRR or MNRO) of the same list where the items of
grade t or more count as relevant, and no others. Then

    gM = (1/G) Σ_{t=1}^{G} M_t.

So each grade step weighs alike, as each does in a linear gain, and every M_t has the K of
its own number of relevant items.

It equals the binary measure for binary grades. Proof: if all items have the same grade c,
then G = c and the items of grade ≥ t are all items, for every t ≤ c; so M_t = M for each t,
and gM = (1/c) · c · M = M. With grades 0 and 1, c = 1.

It is 0 exactly when the items of grade ≥ t fill the first positions for every t, that is,
when the list is sorted by grade: the paper's example of X1 X2 X3 and X2 X3 X1 (Section 2),
which the binary measures cannot tell apart. Moving an item up past one of a lower grade
changes the position of one relevant item, and upwards, in the M_t between both grades, and
nothing in the others: it never makes gM worse. The range is that of M, [0, 1], lower is
better.
"""

from collections.abc import Callable

import numpy as np

from survey.core.measures.gain import Grades
from survey.core.measures.ranks import Ranks, Values


def by_thresholds(binary: Callable[[Ranks], Values], ranks: Ranks, grades: Grades) -> Values:
    """Return gM = (1/G) Σ_t M_t of each list (see above), G each list's own highest grade.

    ``binary``: the measure M, (lists, relevant) → (lists,); ``ranks``, ``grades``:
    (lists, relevant). Returns (lists,).

    Source: ours.
    """
    values = np.empty(len(ranks))
    kinds, kind_of = np.unique(grades, axis=0, return_inverse=True)
    for kind, graded in enumerate(kinds):  # lists whose grades stand alike, at once
        rows = np.flatnonzero(kind_of.reshape(-1) == kind)
        levels = np.unique(graded)
        # Between two grades that occur the threshold changes nothing: it counts that often.
        steps = np.diff(levels, prepend=0)
        parts = [binary(ranks[np.ix_(rows, graded >= level)]) for level in levels]
        values[rows] = steps @ np.array(parts) / levels[-1]
    return values
