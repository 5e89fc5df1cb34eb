"""Kinds of claim about a table of numbers: what each needs, and how its verdict follows.

Every function of ``KINDS`` takes a claim's fields and the table, and returns a check: true in every
case in which the numbers support the claim at 5 %. Several comparisons of one claim are corrected
by Holm's method. Answers are taken as independent; a verdict that this decides names the share of
independent answers that they need to be worth.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from survey.core.text_input import shortened
from survey.paper.reproduction import CANNOT_BE_TOLD, Check, exhibit_texts, fill_in
from survey.services.exchange.input_files import BundleError, CsvRow

FEWEST_ROWS = 6  # with fewer, no p of sign flips is below the level
ALL, ALMOST_ALL, MOST = "all", "almost all", "most"
HIGHEST, LOWEST = "highest", "lowest"
RELATED = "if the two measures go together at least as much as chance has it"


@dataclass
class Claimed:
    """A claim's fields and the rows that it is about; its methods parse a field.

    Each raises BundleError that names file, claim, field, what was found and what is allowed.
    """

    place: str
    fields: Mapping[str, Any]
    table: str
    columns: Sequence[str]
    rows: Sequence[CsvRow]
    used: set[str] = field(default_factory=set)

    def fault(self, name: str, allowed: str) -> BundleError:
        """Return the error of a field."""
        value = self.fields.get(name)
        quoted = "nothing" if value is None else shortened(str(value))
        return BundleError(f"{self.place}, field {name}: {quoted} found; {allowed}")

    def value(self, name: str, default: Any = None) -> Any:
        """Return a field's value as it is in the file."""
        self.used.add(name)
        value = self.fields.get(name)
        return default if value is None else value

    def choice(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of some words."""
        value = self.value(name, default)
        if value not in allowed:
            raise self.fault(name, f"one of these is needed: {', '.join(allowed)}")
        return str(value)

    def choices(self, name: str, allowed: Sequence[str]) -> list[str]:
        """Return one or more of some words; a single one needs no list."""
        value = self.value(name)
        words = value if isinstance(value, list) else [value]
        if not words or not set(map(str, words)) <= set(allowed):
            raise self.fault(name, f"one or more of these are needed: {', '.join(allowed)}")
        return [*map(str, words)]

    def column(self, name: str, default: str | None = None) -> str:
        """Return a column of the table."""
        return self.choice(name, self.columns, default)

    def share(self, name: str) -> float:
        """Return a number between 0 and 1, neither of them."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, float) or not 0 < value < 1:
            raise self.fault(name, "a number between 0 and 1 is needed")
        return value

    def chosen_rows(self) -> Sequence[CsvRow]:
        """Return the rows whose first cell is in the field ``rows``, by default all."""
        if self.value("rows") is None:
            return self.rows
        first = self.columns[0]
        names = self.choices("rows", [row.text(first) for row in self.rows])
        return [row for row in self.rows if row.text(first) in names]

    def row_of(self, by: str, name: str) -> CsvRow:
        """Return the only row with this name in the column ``by``."""
        rows = [row for row in self.rows if row.text(by) == name]
        if len(rows) != 1:
            raise BundleError(
                f"{self.table}, column {by}: {name!r} found {len(rows)} times; one row is needed"
            )
        return rows[0]

    def contenders(self) -> tuple[str, str, list[str]]:
        """Return the column of names, a claim's ``first``, and ``than``: by default all others."""
        by = self.column("by", self.columns[0])
        names = [*dict.fromkeys(row.text(by) for row in self.rows)]
        first = self.choice("first", names)
        others = [name for name in names if name != first]
        return by, first, self.choices("than", others) if self.value("than") else others


def number(row: CsvRow, column: str, lowest: float = 0, highest: float = math.inf) -> float:
    """Return a cell's number within the bounds; raises BundleError with the cell's place."""
    try:
        value = float(row.text(column))
    except ValueError:
        value = math.nan
    if not lowest <= value <= highest or math.isinf(value):
        bounds = f"from {lowest:g} on" if math.isinf(highest) else f"{lowest:g} to {highest:g}"
        raise row.fault(column, f"a number is needed, {bounds}")
    return value


def count_of(row: CsvRow, column: str, of: Sequence[str]) -> Count:
    """Return a row's count out of the sum of the columns ``of``."""
    successes = number(row, column)
    trials = sum(number(row, name) for name in of)
    if not 0 < trials >= successes:
        raise row.fault(column, f"at most {', '.join(of)} together, {trials:g}, is possible")
    return Count(successes, trials)


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
    return _check("share", cases, direction="less" if less else "more", limit=limit)


def _binomial_p(count: Count, limit: float) -> float:
    return float(scipy.stats.binomtest(round(count.successes), round(count.trials), limit).pvalue)


def preferred(claim: Claimed) -> Check:
    """Check that one column has more answers than each of some others.

    With six rows or more these are the units, and the test flips their signs; with fewer, the
    answers are, in an exact sign test.
    """
    rows, first = claim.chosen_rows(), claim.column("first")
    others = claim.choices("than", [name for name in claim.columns if name != first])
    by_row = [[number(row, first) - number(row, other) for row in rows] for other in others]
    totals = [sum(number(row, name) for row in rows) for name in (first, *others)]
    if enough_rows := len(rows) >= FEWEST_ROWS:
        p = [sign_flip([*map(Fraction, lead)], np.arange(len(lead)))[0] for lead in by_row]
    else:
        p = [sign_test(round(totals[0]), round(total)) or 1.0 for total in totals[1:]]
    cases = [
        {
            "first": first,
            "other": other,
            "totals": (totals[0], total),
            "p": value,
            "holds": value < LEVEL and totals[0] > total,
        }
        for other, total, value in zip(others, totals[1:], _known(holm(p)), strict=True)
    ]
    kind = "preferred_by_rows" if enough_rows else "preferred"
    return _check(kind, cases, rows=len(rows), condition="" if enough_rows else None)


def agrees_more(claim: Claimed) -> Check:
    """Check that a measure agrees with people in a larger share of answers than others do."""
    return _check("agrees_more", _compared_shares(claim))


def no_difference(claim: Claimed) -> Check:
    """Check that no test, whatever the pairing, finds two measures' agreement to differ."""
    cases = _compared_shares(claim)
    for case in cases:
        p = case["bounds"]
        case["holds"], case["open"] = p.smallest >= LEVEL, p.largest >= LEVEL > p.smallest
        case["condition"] = ""
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
    """Check that a measure's correlation with what people say is higher than that of others.

    ``between``: the correlation of the two measures, where it is known.
    """
    by, first, others = claim.contenders()
    column, answers = claim.column("r"), claim.column("n")
    between = claim.value("between")
    row = claim.row_of(by, first)
    r, n = number(row, column, -1, 1), round(number(row, answers, 4))
    values = [number(claim.row_of(by, other), column, -1, 1) for other in others]
    try:
        bounds = _holm_bounds([compare_correlations(r, value, n, between) for value in values])
    except (ValueError, TypeError):
        raise claim.fault("between", "a correlation that is possible beside r is needed") from None
    cases = [
        {**_by_bounds(p, r > value), "first": first, "other": other, "r": (r, value)}
        for other, value, p in zip(others, values, bounds, strict=True)
    ]
    kind = "correlates_more" if between is None else "correlates_more_with_between"
    return _check(kind, cases, n=n, between=between)


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
            number_of_set = grouped.setdefault(row.text(sets), {})
            number_of_set[name] = sign * number(row, value, -math.inf)
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
    """Return whether a difference is decided, and by what: any pairing, or none but chance's."""
    holds = is_higher and p.unrelated < LEVEL
    decided = p.largest if p.largest < LEVEL else p.unrelated
    worth = _worth(decided)
    return {
        "bounds": p,
        "holds": holds,
        "open": is_higher and not holds and p.smallest < LEVEL,
        "condition": worth if p.largest < LEVEL else f"{RELATED}, and {worth.removeprefix('if ')}",
    }


def _worth(p: float) -> str:
    percent = math.ceil(100 * worth_needed(p))
    return f"if these answers are worth at least {percent} % of as many independent ones"


def _words(kind: str, **values: object) -> str:
    return fill_in(exhibit_texts("claim_kinds")[kind]["why"], values)


def _check(
    kind: str, cases: Sequence[Mapping[str, Any]], condition: str | None = None, **values: object
) -> Check:
    """Return the check of some comparisons, with a sentence for each.

    ``condition``: of a claim that holds; None: that of the comparison that needs most.
    """
    texts = exhibit_texts("claim_kinds")[kind]
    listed = "; ".join(fill_in(texts["case"], {**values, **case}) for case in cases)
    holds = [bool(case["holds"]) for case in cases]
    if condition is None:
        weakest = max(cases, key=lambda case: _decisive_p(case))
        condition = weakest.get("condition", _worth(_decisive_p(weakest)))
    return Check(
        holds,
        CANNOT_BE_TOLD if any(case.get("open") for case in cases) else "",
        why=fill_in(texts["why"], {**values, "cases": listed}),
        condition=condition if all(holds) else "",
    )


def _decisive_p(case: Mapping[str, Any]) -> float:
    return float(case["bounds"].largest if "bounds" in case else case["p"])


KINDS: Mapping[str, Callable[[Claimed], Check]] = {
    kind.__name__: kind
    for kind in (share, preferred, agrees_more, no_difference, correlates_more, leads, needs)
}
