"""Kinds of claim about a table of numbers: what each needs, and how its verdict follows.

Every function of ``KINDS`` takes a claim's fields and the table, and returns a check: true in every
case in which the numbers support the claim at 5 %. Several comparisons of one claim are corrected
by Holm's method. Answers are taken as independent; a verdict that this decides names the share of
independent answers that they need to be worth.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy

from survey.core.statistics.rater_agreement import wilson
from survey.core.statistics.significance import LEVEL, holm, sign_flip, sign_test
from survey.core.statistics.unknown_pairing import (
    Count,
    PValues,
    compare_correlations,
    compare_shares,
    worth_needed,
)
from survey.paper.claim_fields import Claimed, count_of, number
from survey.paper.reproduction import CANNOT_BE_TOLD, Check, exhibit_texts, fill_in

FEWEST_ROWS = 6  # with fewer, no p of sign flips is below the level
ALL, ALMOST_ALL, MOST = "all", "almost all", "most"
HIGHEST, LOWEST = "highest", "lowest"
RELATED = "the two measures go together at least as much as chance has it"


def enough(quantity: str, count: int) -> int:
    """Return how many of ``count`` sets are all, almost all (all but one) or most of them."""
    return {ALL: count, ALMOST_ALL: count - 1, MOST: count // 2 + 1}[quantity]


def share(claim: Claimed) -> Check:
    """Check that a count is more, or less, than a share of answers, in each row.

    Exact binomial test, two-sided; Wilson's interval.
    """
    rows, of = claim.chosen_rows(), claim.choices("of", claim.columns)
    column = claim.column("count")
    less = claim.value("less_than") is not None
    limit = claim.share("less_than" if less else "more_than")
    counts = [count_of(row, column, of) for row in rows]
    p = holm([_binomial_p(count, limit) for count in counts])
    cases = [
        {
            "row": row.text(claim.columns[0]),
            "count": count,
            "ends": [*map(float, wilson(*count))],
            "p": value,
            "holds": value < LEVEL and (count.share < limit) == less,
        }
        for row, count, value in zip(rows, counts, _known(p), strict=True)
    ]
    return _check("share", cases, limit=limit)


def _binomial_p(count: Count, limit: float) -> float:
    return float(scipy.stats.binomtest(int(count.successes), int(count.trials), limit).pvalue)


def preferred(claim: Claimed) -> Check:
    """Check that one column has more answers, or a higher score, than each of some others.

    With six rows or more these are the units, and the test flips the signs of their differences;
    with fewer, the answers are, in an exact sign test.
    """
    rows, (first, others) = claim.chosen_rows(), claim.columns_compared()
    by_rows = len(rows) >= FEWEST_ROWS
    cells = {
        name: [number(row, name) if by_rows else row.whole_number(name) for row in rows]
        for name in (first, *others)
    }
    totals = {name: sum(column) for name, column in cells.items()}
    p = [
        _sign_flip_p(cells[first], cells[other])
        if by_rows
        else sign_test(int(totals[first]), int(totals[other]))
        for other in others
    ]
    cases = [
        {
            "first": first,
            "other": other,
            "totals": (totals[first], totals[other]),
            "p": value,
            "holds": value < LEVEL and totals[first] > totals[other],
        }
        for other, value in zip(others, _known(holm(p)), strict=True)
    ]
    return _check("preferred_by_rows" if by_rows else "preferred", cases, rows=len(rows))


def _sign_flip_p(first: Sequence[float], second: Sequence[float]) -> float:
    # From the printed decimals, so that .3 − .1 is .2.
    leads = [Fraction(str(a)) - Fraction(str(b)) for a, b in zip(first, second, strict=True)]
    return sign_flip(leads, np.arange(len(leads)))[0]


def agrees_more(claim: Claimed) -> Check:
    """Check that a measure agrees with people in a larger share of answers than others do."""
    return _check("agrees_more", _compared_shares(claim))


def no_difference(claim: Claimed) -> Check:
    """Check that no test, whatever the pairing, finds two measures' agreement to differ."""
    cases = _compared_shares(claim)
    for case in cases:
        p = case["bounds"]
        case["holds"], case["open"] = p.smallest >= LEVEL, p.largest >= LEVEL > p.smallest
    return _check("no_difference", cases)


def _compared_shares(claim: Claimed) -> list[dict[str, Any]]:
    by, first, others = claim.contenders()
    column, of = claim.column("count"), claim.choices("of", claim.columns)
    a = count_of(claim.row_of(by, first), column, of)
    counts = [count_of(claim.row_of(by, other), column, of) for other in others]
    compared = [compare_shares(a, count) for count in counts]
    bounds = _holm_bounds([p for p, _ in compared])
    return [
        {
            **_by_bounds(p, a.share > count.share),
            **{"first": first, "other": other, "counts": (a, count), "ends": interval},
        }
        for other, count, p, (_, interval) in zip(others, counts, bounds, compared, strict=True)
    ]


def correlates_more(claim: Claimed) -> Check:
    """Check that a measure's printed correlation with what people say is higher than others'.

    ``between``: the correlation of the two measures, where it is known.
    """
    by, first, others = claim.contenders()
    column, between = claim.column("r"), claim.value("between")
    row = claim.row_of(by, first)
    n = row.whole_number(claim.column("n"))
    r = [number(claim.row_of(by, name), column, -1, 1) for name in (first, *others)]
    try:
        p = [compare_correlations(r[0], value, n, between) for value in r[1:]]
    except (ValueError, TypeError):
        raise claim.fault("between", "a correlation that is possible beside r is needed") from None
    return _compared_correlations(first, others, r, p, n, is_known=between is not None)


def scores_correlate_more(claim: Claimed) -> Check:
    """Check that a column of scores correlates more with the column ``with`` than others do."""
    rows, (first, others) = claim.chosen_rows(), claim.columns_compared()
    names = [claim.column("with"), first, *others]
    table = np.array([[number(row, name, -math.inf) for name in names] for row in rows])
    if len(rows) < 4 or not table.std(axis=0).all():
        raise claim.fault("with", "four rows, and columns that vary, are needed")
    r = np.corrcoef(table.T)
    p = [
        compare_correlations(r[0, 1], r[0, 2 + index], len(rows), r[1, 2 + index])
        for index in range(len(others))
    ]
    return _compared_correlations(first, others, r[0, 1:].tolist(), p, len(rows), is_known=True)


def _compared_correlations(
    first: str,
    others: Sequence[str],
    r: Sequence[float],
    p: Sequence[PValues],
    n: int,
    *,
    is_known: bool,
) -> Check:
    cases = [
        {**_by_bounds(bounds, r[0] > value), "first": first, "other": other, "r": (r[0], value)}
        for other, value, bounds in zip(others, r[1:], _holm_bounds(p), strict=True)
    ]
    kind = "correlates_more_with_between" if is_known else "correlates_more"
    return _check(kind, cases, n=n)


def leads(claim: Claimed) -> Check:
    """Check that a contender has the best value in all, almost all, or most of the sets.

    ``by``: the column of the contenders, ``sets``: of the sets, ``value``: of the numbers. A
    description of these numbers; it tests nothing.
    """
    by, first, others = claim.contenders()
    sets, value = claim.column("sets"), claim.column("value")
    sign = 1 if claim.choice("best", (HIGHEST, LOWEST), HIGHEST) == HIGHEST else -1
    grouped: dict[str, dict[str, float]] = {}
    for row in claim.rows:
        name = row.text(by)
        if name in (first, *others):
            values = grouped.setdefault(row.text(sets), {})
            if name in values:
                raise row.fault(by, f"one row for each {sets} is needed")
            values[name] = sign * number(row, value, -math.inf)
    ahead = [
        (name, values[first] - max(v for other, v in values.items() if other != first))
        for name, values in grouped.items()
        if first in values and len(values) > 1
    ]
    if not ahead:
        raise claim.fault("sets", f"a column with sets of {first} and others is needed")
    alone, tied = (sum(lead >= least for _, lead in ahead) for least in (1e-12, -1e-12))
    needed = enough(claim.choice("at_least", (ALL, ALMOST_ALL, MOST), ALL), len(ahead))
    behind = [name for name, lead in ahead if lead < -1e-12]
    return Check(
        [alone >= needed, tied >= needed or tied >= enough(MOST, len(ahead))],
        why=_words("leads", first=first, alone=alone, tied=tied, n=len(ahead), behind=behind),
    )


def needs(claim: Claimed) -> Check:
    """Check that the table lacks what a claim is about: then it cannot be told."""
    columns = claim.value("columns")
    named = columns if isinstance(columns, list) else [columns]
    if not columns or set(map(str, named)) & set(claim.columns):
        raise claim.fault("columns", f"columns that {claim.table} does not have are needed")
    return Check(False, CANNOT_BE_TOLD, why=_words("needs", columns=named))


def _known(p: Iterable[float | None]) -> list[float]:
    return [1.0 if value is None else value for value in p]


def _holm_bounds(bounds: Sequence[PValues]) -> list[PValues]:
    """Correct the smallest, unrelated and largest p values, each among themselves."""
    columns = [_known(holm(column)) for column in zip(*bounds, strict=True)]
    return [PValues(*row) for row in zip(*columns, strict=True)]


def _by_bounds(p: PValues, is_higher: bool) -> dict[str, Any]:
    """Return whether a difference holds, and whether only how two measures go together decides.

    ``related``: it holds unless they go together less than chance has it.
    """
    holds = is_higher and p.unrelated < LEVEL
    related = p.largest >= LEVEL
    return {
        "bounds": p,
        "holds": holds,
        "open": is_higher and not holds and p.smallest < LEVEL,
        "p": p.unrelated if related else p.largest,
        "related": related,
    }


def _words(kind: str, **values: object) -> str:
    return fill_in(exhibit_texts("claim_kinds")[kind]["why"], values)


def _check(kind: str, cases: Sequence[Mapping[str, Any]], **values: object) -> Check:
    """Return the check of some comparisons, with a sentence for each.

    A claim that holds has the condition under which it does, if its kind has one.
    """
    texts = exhibit_texts("claim_kinds")[kind]
    listed = "; ".join(fill_in(texts["case"], {**values, **case}) for case in cases)
    holds = [bool(case["holds"]) for case in cases]
    conditions = []
    if all(holds) and texts.get("of_answers", True):
        percent = max(1, math.ceil(100 * worth_needed(max(case["p"] for case in cases))))
        conditions += [RELATED] * any(case.get("related") for case in cases)
        conditions.append(
            f"these answers are worth at least {percent} % of as many independent ones"
        )
    return Check(
        holds,
        CANNOT_BE_TOLD if any(case.get("open") for case in cases) else "",
        why=fill_in(texts["why"], {**values, "cases": listed}),
        condition=f"if {', and '.join(conditions)}" if conditions else "",
    )


KINDS: Mapping[str, Callable[[Claimed], Check]] = {
    kind.__name__: kind
    for kind in (
        *(share, preferred, agrees_more, no_difference),
        *(correlates_more, scores_correlate_more, leads, needs),
    )
}
