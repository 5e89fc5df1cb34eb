"""Claims of a published study of agreement, judged one by one by what its table supports.

A study is a folder: ``study.yaml`` with its source and its claims, and a table. The table has
votes for each measure by question, how many preferences each measure agrees with, or people's
scores and the measures' values by query. What a claim says is one of ``KINDS``: its verdict is
computed and never typed.
"""

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import yaml
from numpy.typing import NDArray

from survey.core.statistics.significance import LEVEL, holm, p_text, rounded, sign_flip
from survey.core.studies.fields import list_words
from survey.core.text_input import closest, shortened
from survey.errors import SurveyError
from survey.paper.reproduction import (
    HOLDS,
    IN_PART,
    NOT_SUPPORTED,
    Claim,
    Reproduction,
    claims_document,
)
from survey.services.analysis.sheets import P, Sheet, Worded

CANNOT_BE_TOLD = "cannot be told"  # what was printed says neither
VOTES, PREFERENCES, SCORES = "votes", "preferences", "scores"
HUMAN = "human"  # the column of people's scores
AGREE, AGAINST = "agree", "against"
ALMOST_ALL = 0.9
STUDY_FILE = "study.yaml"

Verdict = tuple[str, str]
"""The verdict, and the numbers behind it."""


@dataclass(frozen=True)
class Compared:
    """Two measures compared: ``lead`` in the table's unit, and p before and after Holm.

    ``best``, ``worst``: p where it depends on what was not printed, least and greatest; both are
    ``p`` otherwise.
    """

    first: str
    second: str
    lead: float
    p: float
    p_holm: float
    best: float
    worst: float

    def verdict(self, words: str) -> Verdict:
        """Return whether the first is ahead of the second by more than chance."""
        if self.lead <= 0:
            return NOT_SUPPORTED, f"{words}: {self.first} is not ahead."
        if self.best < LEVEL <= self.worst:
            return CANNOT_BE_TOLD, (
                f"{words}. How often both agreed with the same preference was not printed: "
                f"{p_text(self.best)} if as often as possible, {p_text(self.worst)} if as seldom."
            )
        corrected = f"{p_text(self.p)}, after Holm's correction over all pairs"
        text = f"{words} ({corrected} {p_text(self.p_holm).removeprefix('p ').removeprefix('= ')})."
        return (HOLDS if self.p_holm < LEVEL else NOT_SUPPORTED), text


@dataclass(frozen=True)
class Study:
    """A published study: what it is, its table, and its claims.

    ``values``: column → a number for each row; ``units``: what the rows are.
    """

    title: str
    source: str
    data: str
    measures: tuple[str, ...]
    units: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    claims: tuple[Mapping[str, Any], ...]

    @cached_property
    def compared(self) -> dict[tuple[str, str], Compared]:
        """Every two measures, in both directions."""
        pairs = [*combinations(self.measures, 2)]
        compare = {VOTES: _by_votes, PREFERENCES: _by_preferences, SCORES: _by_scores}[self.data]
        found = [compare(self, *pair) for pair in pairs]
        corrected = holm([p for _, p, _, _ in found])
        results = {}
        for (first, second), (lead, *ps), p_holm in zip(pairs, found, corrected, strict=True):
            p, best, worst = ps
            of_pair = (p, p if p_holm is None else p_holm, best, worst)
            results[first, second] = Compared(first, second, lead, *of_pair)
            results[second, first] = Compared(second, first, -lead, *of_pair)
        return results

    def standing(self, measure: str) -> float:
        """Return by what measures are ordered: votes, share of agreement, or correlation."""
        if self.data == VOTES:
            return float(self.values[measure].sum())
        if self.data == SCORES:
            return float(scipy.stats.pearsonr(self.values[measure], self.values[HUMAN]).statistic)
        row = self.measures.index(measure)
        agree, against = (float(self.values[name][row]) for name in (AGREE, AGAINST))
        return agree / (agree + against)

    def shown(self, measure: str) -> str:
        """Return a measure's standing in words."""
        value = self.standing(measure)
        if self.data == VOTES:
            return f"{measure} has {value:.0f} votes"
        if self.data == SCORES:
            return f"{measure} correlates with people's scores by {value:.3f}"
        return f"{measure} agrees with {100 * value:.1f} % of the preferences"


def _by_votes(study: Study, first: str, second: str) -> tuple[float, float, float, float]:
    """Flip the signs of the units' differences in votes."""
    difference = study.values[first] - study.values[second]
    values, index = np.unique(difference, return_inverse=True)
    p = sign_flip([*map(Fraction, values.tolist())], index)[0]
    return float(difference.sum()), p, p, p


def _by_preferences(study: Study, first: str, second: str) -> tuple[float, float, float, float]:
    """Compare two shares of the same preferences; how they overlap was not printed.

    McNemar's exact test, with as many preferences as possible on which both are right or both
    wrong, and with as few.
    """
    rows = [study.measures.index(name) for name in (first, second)]
    (a, b), (not_a, not_b) = (study.values[name][rows].tolist() for name in (AGREE, AGAINST))
    lead = a / (a + not_a) - b / (b + not_b)
    if a + not_a != b + not_b:  # not the same preferences: as two samples
        p = float(scipy.stats.fisher_exact(np.array([[a, not_a], [b, not_b]])).pvalue)
        return lead, p, p, p
    fewest, most = max(a - b, 0), min(a, not_b)
    ps = [
        scipy.stats.binomtest(int(only_a), int(2 * only_a - (a - b)) or 1).pvalue
        for only_a in (fewest, most)
    ]
    best, worst = sorted(map(float, ps))
    return lead, worst, best, worst


def _by_scores(study: Study, first: str, second: str) -> tuple[float, float, float, float]:
    """Compare two correlations with the same scores: Williams' t (Steiger 1980, Eq. 7)."""
    x, y, human = (study.values[name] for name in (first, second, HUMAN))
    lead, p = williams(np.corrcoef([human, x, y]), len(human))
    return lead, p, p, p


def williams(correlations: NDArray[np.float64], n: int) -> tuple[float, float]:
    """Test whether two variables correlate equally with a third, in the same n units.

    ``correlations`` (3, 3): of the third, the first and the second, in this order. Returns the
    difference of the correlations and the two-sided p of Williams' t with n − 3 degrees of
    freedom. Source: Williams 1959; Steiger, Psychological Bulletin 87, 1980, Eq. 7.
    """
    r12, r13, r23 = (float(correlations[i, j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    mean = (r12 + r13) / 2
    below = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r23) ** 3
    if r12 == r13 or below <= 0:
        return r12 - r13, 1.0
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / below)
    return r12 - r13, float(2 * scipy.stats.t.sf(abs(t), n - 3))


def _preferred(study: Study, claim: Mapping[str, Any]) -> Verdict:
    first, second = claim["first"], claim["second"]
    words = f"{study.shown(first)}, {study.shown(second)}"
    return study.compared[first, second].verdict(words)


def _ordered(study: Study, claim: Mapping[str, Any]) -> Verdict:
    names = claim["order"]
    steps = [study.compared[pair] for pair in pairwise(names)]
    standings = list_words([study.shown(name) for name in names])
    if any(step.lead <= 0 for step in steps):
        return NOT_SUPPORTED, f"{standings}, which is another order."
    open_steps = [step for step in steps if step.verdict("")[0] != HOLDS]
    if not open_steps:
        return HOLDS, f"{standings}, and each step is beyond chance."
    between = list_words([f"{step.first} and {step.second}" for step in open_steps])
    return IN_PART, f"{standings}. It is the printed order; between {between} it is not settled."


def _majority(study: Study, claim: Mapping[str, Any]) -> Verdict:
    name = claim["first"]
    if study.data == VOTES:
        share = study.standing(name) / sum(float(each.sum()) for each in study.values.values())
        what = "all votes"
    else:
        share, what = study.standing(name), "the preferences"
    text = f"{name} has {100 * share:.1f} % of {what}"
    if share <= 0.5:
        return NOT_SUPPORTED, f"{text}, which is no majority."
    return HOLDS, f"{text}."


def _first_in_most(study: Study, claim: Mapping[str, Any]) -> Verdict:
    name, needed = claim["first"], float(claim.get("share", ALMOST_ALL))
    others = np.array([study.values[each] for each in study.measures if each != name])
    own, count = study.values[name], len(study.units)
    alone, or_tied = (int((own > others.max(axis=0)).sum()), int((own >= others.max(axis=0)).sum()))
    text = f"{name} is first in {alone} of {count}, and first or tied in {or_tied}."
    if alone >= needed * count:
        return HOLDS, text
    return (IN_PART if or_tied >= needed * count else NOT_SUPPORTED), text


def _agrees(study: Study, claim: Mapping[str, Any]) -> Verdict:
    row = study.measures.index(claim["first"])
    agree, against = (int(study.values[name][row]) for name in (AGREE, AGAINST))
    p = float(scipy.stats.binomtest(agree, agree + against).pvalue)
    text = (
        f"{study.shown(claim['first'])} ({agree} of {agree + against}; {p_text(p)} against half)."
    )
    return (HOLDS if p < LEVEL and agree > against else NOT_SUPPORTED), text


def _correlates(study: Study, claim: Mapping[str, Any]) -> Verdict:
    test = scipy.stats.pearsonr(study.values[claim["first"]], study.values[HUMAN])
    low, high = test.confidence_interval(0.95)
    text = (
        f"{study.shown(claim['first'])} ({rounded(low, 3)} to {rounded(high, 3)}; "
        f"{p_text(float(test.pvalue))})."
    )
    return (HOLDS if test.pvalue < LEVEL and test.statistic > 0 else NOT_SUPPORTED), text


def _not_in_the_table(_: Study, claim: Mapping[str, Any]) -> Verdict:
    return CANNOT_BE_TOLD, claim["why"]


@dataclass(frozen=True)
class Kind:
    """A kind of claim: which fields it has, of which data it can be, and how it is judged."""

    fields: tuple[str, ...]
    data: tuple[str, ...]
    judge: Callable[[Study, Mapping[str, Any]], Verdict]


EVERY = (VOTES, PREFERENCES, SCORES)
KINDS: Mapping[str, Kind] = {
    "preferred": Kind(("first", "second"), EVERY, _preferred),
    "order": Kind(("order",), EVERY, _ordered),
    "majority": Kind(("first",), (VOTES, PREFERENCES), _majority),
    "first in most": Kind(("first",), (VOTES,), _first_in_most),
    "agrees": Kind(("first",), (PREFERENCES,), _agrees),
    "correlates": Kind(("first",), (SCORES,), _correlates),
    "not in the table": Kind(("why",), EVERY, _not_in_the_table),
}
REMARKS = {
    VOTES: "The rows of the table are the units of every test: questions of this kind, with the "
    "same people in all of them.",
    PREFERENCES: "Preferences are taken as independent of one another. Where people gave several, "
    "or several people judged the same pair, p is too small.",
    SCORES: "The rows of the table are the units: queries of this kind. Correlations are "
    "Pearson's.",
}


def judge_study(folder: Path | None = None) -> Reproduction:
    """Judge the claims of a folder's study; without one those of the MNRO paper's Table 4.

    Raises SurveyError naming the file, the row or claim, what was found and what is allowed.
    """
    study = read_study(folder or Path(str(files("survey.paper") / "studies" / "mnro-table-4")))
    claims = []
    for claim in study.claims:
        verdict, why = KINDS[claim["that"]].judge(study, claim)
        claims.append(Claim(claim["that"], claim["place"], claim["said"], verdict, why))
    pairs = [each for pair in combinations(study.measures, 2) for each in [study.compared[pair]]]
    sheet = Sheet(
        "pairs",
        f"{study.title}: every two measures",
        ("pair", "lead", "p", "p, Holm"),
        tuple(
            (
                Worded(f"{each.first}-{each.second}", f"{each.first} − {each.second}"),
                *(each.lead, P(each.p), P(each.p_holm)),
            )
            for each in pairs
        ),
    )
    remarks = (f"Source: {study.source}.", REMARKS[study.data])
    return Reproduction(
        "claims",
        {"title": study.title, "source": study.source, "data": study.data},
        sheets=(sheet,) if pairs else (),
        claims=tuple(claims),
        remarks=remarks,
        documents={
            "claims.md": claims_document(study.title, claims, (sheet,) if pairs else (), remarks)
        },
        table=Sheet(
            "claims",
            study.title,
            ("place", "said", "verdict", "why"),
            tuple((each.source, each.statement, each.verdict, each.why) for each in claims),
        ),
    )


def read_study(folder: Path) -> Study:
    """Read the study of a folder; raises SurveyError."""
    path = folder / STUDY_FILE
    content = yaml.safe_load(_text_of(path))
    if not isinstance(content, dict):
        raise SurveyError(
            f"{path} holds {shortened(str(content))}; title, source, data … are needed."
        )
    for name in ("title", "source", "data", "table", "measures", "claims"):
        if not content.get(name):
            raise SurveyError(f"{path}: {name} is missing.")
    data, measures = content["data"], tuple(map(str, content["measures"]))
    if data not in EVERY:
        raise SurveyError(f"{path}: data is {data!r}; {', '.join(EVERY)} are allowed.")
    rows = [*csv.DictReader(_text_of(folder / content["table"]).splitlines())]
    columns = {
        VOTES: measures,
        PREFERENCES: (AGREE, AGAINST),
        SCORES: (HUMAN, *measures),
    }[data]
    unit = content.get("unit", "measure" if data == PREFERENCES else "unit")
    values = {
        name: np.array(
            [_number(content["table"], number, row, name) for number, row in rows_of(rows)]
        )
        for name in (*columns, *(["OTHER"] if rows and "OTHER" in rows[0] else []))
    }
    units = tuple(row.get(unit) or str(number) for number, row in rows_of(rows))
    if data == PREFERENCES and units != measures:
        raise SurveyError(
            f"{content['table']}: the column {unit} has {', '.join(units)}; the measures of "
            f"{STUDY_FILE} are needed in their order: {', '.join(measures)}."
        )
    if data == SCORES and len(rows) < 4:
        raise SurveyError(f"{content['table']} has {len(rows)} rows; 4 or more are needed.")
    claims = tuple(
        _claim(f"{path}, claim {number}", each, data, measures)
        for number, each in enumerate(content["claims"], 1)
    )
    return Study(content["title"], content["source"].strip(), data, measures, units, values, claims)


def rows_of(rows: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield each row with its line in the file."""
    return enumerate(rows, 2)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None


def _number(table: str, line: int, row: Mapping[str, str], name: str) -> float:
    try:
        return float(row[name])
    except KeyError:
        raise SurveyError(f"{table} has no column {name}; it has {', '.join(row)}.") from None
    except (TypeError, ValueError):
        where = f"{table}, line {line}, column {name}"
        raise SurveyError(f"{where}: {row[name]!r} found; a number is needed.") from None


def _claim(where: str, claim: Any, data: str, measures: Sequence[str]) -> Mapping[str, Any]:
    """Return a claim that can be judged; raises SurveyError."""
    if not isinstance(claim, dict):
        raise SurveyError(f"{where} is {claim!r}; said, place and that are needed.")
    kind = KINDS.get(claim.get("that", ""))
    if kind is None or data not in kind.data:
        allowed = [name for name, each in KINDS.items() if data in each.data]
        meant = closest(str(claim.get("that")), allowed)
        hint = f" Did you mean {meant}?" if meant else ""
        found = claim.get("that")
        raise SurveyError(
            f"{where}: that is {found!r}; of {data}, {', '.join(allowed)} are allowed.{hint}"
        )
    for name in ("said", "place", *kind.fields):
        if not claim.get(name):
            raise SurveyError(f"{where}: {name} is missing.")
    named = [claim[name] for name in ("first", "second") if name in kind.fields]
    for measure in [*named, *claim.get("order", ())]:
        if measure not in measures:
            raise SurveyError(
                f"{where}: {measure!r} is no measure of it; it has {', '.join(measures)}."
            )
    return claim
