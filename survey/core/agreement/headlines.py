"""The answer that a researcher may quote: a headline, how far it holds, and a row for each pair.

The words are one table, so that what is printed of a verdict always says the same. A headline is in
the present where it holds for new questions, and in the past where it holds for these alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.verdicts import NO_LEAD, Verdict
from survey.core.statistics.significance import Interval, rounded
from survey.core.studies.fields import list_words

MOST_RUNS_IN_FULL = 4  # of more, a headline tells only of the best


class LeadWords(NamedTuple):
    """How a lead is told: ``present`` or ``past`` of the winner, then ``link`` of each loser.

    ``nothing``: where no pair is decided; ``equal``: of two or more; ``questions``: what is
    sampled; ``in_full``: whether all decided pairs are told, without figures, or the leader's.
    """

    present: str
    past: str
    link: str
    nothing: str
    equal: str = "{names} are equal to within {margin}"
    questions: str = "questions"
    in_full: bool = False


VOTE_WORDS = LeadWords(
    "People's answers agree with {winner} more",
    "people's answers agreed with {winner} more",
    "than with {loser}",
    "The answers do not show which measure people agree with",
)
ORDERINGS = LeadWords(
    "People's own orderings are nearer to {winner}'s orders",
    "people's own orderings were nearer to {winner}'s orders",
    "than to {loser}'s",
    "People's own orderings do not show which measure they are nearest to",
)
AGREEMENT = LeadWords(
    "People's preferences agree with {winner} more often",
    "people's preferences agreed with {winner} more often",
    "than with {loser}",
    "The preferences do not show which measure people agree with",
)
RUN_WORDS = LeadWords(
    "People prefer {winner}",
    "people preferred {winner}",
    "to {loser}",
    "The answers do not show which system people prefer",
    equal="People find {names} equally good, to within {margin}",
    in_full=True,
)

DOUBT = ", though identical orders may have made the lead"
Tone = Literal["holds", "low", "open"]


class Chip(NamedTuple):
    """How far an answer holds; ``note``: what is said beside it; ``tone``: how it looks."""

    text: str
    tone: Tone
    note: str = ""


NEW_QUESTIONS = "You may generalise to new questions"
THESE_QUESTIONS = "Only for these questions"
NOT_DECIDED = "Not decided"


@dataclass(frozen=True)
class AnswerRow:
    """A row below a headline: ``name`` and ``figure`` are what the eye should find.

    A sentence if read together: name, text, figure, rest.
    """

    name: str
    text: str = ""
    figure: str = ""
    rest: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.text, self.figure, self.rest)))


class Row(NamedTuple):
    """A pair as a row.

    ``lead``: of the first, and its interval; ``together``: of equality; ``margin``: within which
    two are equal, a share, None where the plan names none; ``tied``: whose ties may make the lead.
    """

    verdict: Verdict
    lead: float | None
    interval: Interval | None
    together: bool = True
    margin: float | None = None
    tied: str = ""

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        tests: MeanTests,
        *,
        together: bool = True,
        margin: float | None = None,
        tied: str = "",
    ) -> "Row":
        """Return the row of a tested difference; the interval is of what the verdict is about."""
        these = verdict.scope == "these" or tests.kind.ci95 is None
        interval = (tests.these if these else tests.kind).ci95
        return cls(verdict, tests.mean, interval, together, margin, tied)

    @property
    def standing(self) -> str:
        """For what the pair is decided: a verdict's scope, or "ties" where these may make it."""
        may_be_ties = self.verdict.preferred_for in ("ties", "open")
        return "ties" if may_be_ties else self.verdict.scope

    @property
    def ahead(self) -> tuple[str, str]:
        """The pair with the one first that leads."""
        first, second = self.verdict.pair
        return (first, second) if (self.lead or 0.0) >= 0 else (second, first)

    @property
    def figure(self) -> tuple[str, str]:
        """The lead of the one ahead, "+41 points", and its interval, "22 to 61", "" without."""
        if self.lead is None:
            return "", ""
        sign = 1 if self.lead >= 0 else -1
        points = rounded(100 * abs(self.lead), 0)
        lead = f"{'+' * (self.lead != 0)}{points} point{'s' * (points != '1')}"
        if self.interval is None:
            return lead, ""
        low, high = sorted(sign * end for end in self.interval)
        return lead, f"{rounded(100 * low, 0)} to {rounded(100 * high, 0)}"

    @property
    def whose_ties(self) -> str:
        """Return "NMRR's ties", or "ties" where it may be those of either."""
        return f"{self.tied}'s ties" if self.tied else "ties"


def points_of(rows: Iterable[Row], primary: str = "") -> dict[str, float]:
    """Return each pair's lead in points, the primary one first, else by the size of the lead."""
    points = {str(row.verdict.pair): 100 * row.lead for row in rows if row.lead is not None}
    by_size = sorted(points, key=lambda pair: (pair != primary, -abs(points[pair]), pair))
    return {pair: points[pair] for pair in by_size}


def headline(rows: Sequence[Row], questions: int, words: LeadWords = VOTE_WORDS) -> str:
    """Return what the answers say, in a sentence or more, with the leader first.

    The leader has the largest sum of leads. ``questions``: how many were answered.
    """
    sums = _sums(rows)
    leader = next(iter(sums))
    of_leader = [row for row in rows if leader in row.verdict.pair]
    if all(row.verdict.scope == "none" for row in rows):
        stopped = dict.fromkeys(row.verdict.stopped for row in of_leader if row.verdict.stopped)
        return f"{words.nothing}{f': {list_words([*stopped])}' * bool(stopped)}."
    quoted = rows if words.in_full and len(sums) <= MOST_RUNS_IN_FULL else of_leader
    quoted = sorted(quoted, key=lambda row: min(map([*sums].index, row.verdict.pair)))
    preferred = [
        sentence
        for scope in ("kind", "these")
        for sentence in _preferences(quoted, [*sums], scope, questions, words)
    ]
    by_ties = [row for row in of_leader if row.standing == "ties"]
    joined = [row for row in by_ties if preferred and row.ahead[0] == leader]
    if joined:
        behind = [f"{row.ahead[1]} may come from {row.whose_ties} alone" for row in joined]
        preferred[-1] += f"; the lead over {list_words(behind)}"
    preferred += [
        f"{row.ahead[0]}'s lead over {row.ahead[1]} {_in_brackets(row)} may come from "
        f"{row.whose_ties} alone"
        for row in by_ties
        if row not in joined
    ]
    sentences = [*preferred, *_equalities(quoted, rows, [*sums], words)]
    undecided = [_other(leader, row) for row in of_leader if row.verdict.scope == "none"]
    if undecided:
        reasons = [row.verdict.stopped for row in of_leader if row.verdict.stopped]
        why = f", as {reasons[0]}" if reasons else ""
        others = " or ".join(undecided)
        sentences.append(f"Between {leader} and {others} the answers do not decide{why}")
    if as_far := _as_far(sums):
        sentences.append(f"{list_words(as_far)} {'are' if as_far[1:] else 'is'} as far ahead")
    return "".join(f"{sentence}. " for sentence in sentences).rstrip()


def circle_headline(ring: Sequence[str], scope: str, questions: int, noun: str) -> str:
    """Return the headline of three runs each of which is preferred to the next."""
    first, second, third = ring
    pairs = f"{first} to {second}, {second} to {third} and {third} to {first}"
    if scope == "kind":
        return f"People prefer {pairs}: no system is best."
    return f"{_in_these(questions, noun)} people preferred {pairs}: no system was best."


def by_leads(rows: Sequence[Row]) -> list[str]:
    """Return the names by the sums of their leads, the largest first."""
    return [*_sums(rows)]


def _sums(rows: Sequence[Row]) -> dict[str, float]:
    """Return the sum of each one's leads, the largest first."""
    sums: dict[str, float] = {}
    for row in rows:
        for name, lead in zip(row.verdict.pair, (row.lead or 0.0, -(row.lead or 0.0)), strict=True):
            sums[name] = sums.get(name, 0.0) + lead
    order = sorted(sums, key=lambda name: -round(sums[name], 9))
    return {name: sums[name] for name in order}


def _as_far(sums: dict[str, float]) -> list[str]:
    leader, *others = sums
    return [name for name in others if sums[leader] - sums[name] < NO_LEAD < sums[leader]]


def _preferences(
    rows: Sequence[Row], order: Sequence[str], scope: str, questions: int, words: LeadWords
) -> list[str]:
    """Return the sentences, without full stops, on who is preferred to whom, for a scope."""
    wins: dict[str, list[Row]] = {}
    for row in rows:
        if row.standing == scope and row.verdict.preferred:
            wins.setdefault(row.verdict.preferred, []).append(row)
    start = words.present if scope == "kind" else words.past
    before = "" if scope == "kind" else f"{_in_these(questions, words.questions)} "
    clauses: list[str] = []
    for winner in sorted(wins, key=order.index):
        losers = sorted(wins[winner], key=lambda row: order.index(_other(winner, row)))
        links = []
        for row in losers:
            link = words.link.format(loser=_other(winner, row))
            links.append(link if words.in_full else f"{link} {_in_brackets(row)}".rstrip())
        doubt = DOUBT if any(row.verdict.doubted for row in losers) else ""
        is_first = not (words.in_full and clauses)
        who = f"{before}{start.format(winner=winner)}" if is_first else winner
        clauses.append(f"{who} {list_words(links)}{doubt}")
    if words.in_full and clauses[1:]:
        return [f"{', '.join(clauses[:-1])}, and {clauses[-1]}"]
    return clauses


def _in_these(questions: int, noun: str) -> str:
    return f"In these {questions} {noun}" if questions != 1 else f"In the one {noun[:-1]}"


def _in_brackets(row: Row) -> str:
    lead, interval = row.figure
    return f"({', '.join(filter(None, (lead, interval)))})" if lead else ""


def _equalities(
    quoted: Sequence[Row], rows: Sequence[Row], order: Sequence[str], words: LeadWords
) -> list[str]:
    """Return the sentences on who is equal: of several together only where each two of them are."""
    equal = {frozenset(row.verdict.pair): row for row in rows if row.verdict.scope == "equal"}
    together = {pair for pair, row in equal.items() if row.together}
    names = sorted(set().union(*together), key=order.index)
    if names[2:] and {*map(frozenset, combinations(names, 2))} <= together:
        everyone = words.equal.format(
            names=list_words(names), margin=_margin(equal[frozenset(names[:2])].margin)
        )
        pairs = {pair for pair in equal if not pair <= {*names}}
        sentences = [everyone]
    else:
        pairs, sentences = {*equal}, []
    for row in quoted:
        if frozenset(row.verdict.pair) in pairs:
            both = list_words(sorted(row.verdict.pair, key=order.index))
            by_itself = "" if row.together else ", by the test of this pair by itself"
            sentences.append(words.equal.format(names=both, margin=_margin(row.margin)) + by_itself)
    return sentences


def _margin(margin: float | None) -> str:
    """Return "10 points", the smallest difference that matters."""
    return "what matters" if margin is None else f"{100 * margin:.6g} points"


def _other(leader: str, row: Row) -> str:
    [other] = {*row.verdict.pair} - {leader}
    return other


def chip(rows: Sequence[Row]) -> Chip:
    """Return how far the answer holds: what holds most widely, and for how many leads."""
    standing = _widest(rows)
    same = [row for row in rows if row.standing == standing]
    number = "all" if len(same) == len(rows) else f"{len(same)} of"
    what = "comparisons" if standing == "equal" else "leads"
    holds = f"{number} {len(rows)} {what}"
    if len(same) == 1 and standing != "equal":
        holds = f"{' over '.join(same[0].ahead)} alone"
    note = f"This holds for {holds}." if len(rows) > 1 else ""
    if standing == "equal":
        return Chip(f"Equal to within {_margin(same[0].margin)}", "holds", note)
    if standing in ("kind", "these"):
        return Chip(NEW_QUESTIONS if standing == "kind" else THESE_QUESTIONS, "holds", note)
    return Chip(NOT_DECIDED, "open")


def _widest(rows: Sequence[Row]) -> str:
    standings = [row.standing for row in rows]
    return next((each for each in ("kind", "these", "equal") if each in standings), "none")


STATUS = {
    "kind": "This holds for new {questions}.",
    "these": "Only for these {questions}.",
    "ties": "This may come from {ties} alone.",
    "none": "Not decided{stopped}.",
    "equal": "Equal to within {margin}.",
}


def answer_rows(
    rows: Sequence[Row], words: LeadWords = VOTE_WORDS, counts: Sequence[str] = ()
) -> list[AnswerRow]:
    """Return each pair with the winner first, its lead, and for what it holds if not as the chip.

    ``counts``: of each pair a sentence on how many answers are for which.
    """
    widest = _widest(rows)
    answers = []
    for row, of_pair in zip(rows, counts or [""] * len(rows), strict=True):
        ahead, behind = row.ahead
        lead, interval = row.figure
        status = STATUS[row.standing].format(
            questions=words.questions,
            ties=row.whose_ties,
            margin=_margin(row.margin),
            stopped=f": {row.verdict.stopped}" if row.verdict.stopped else "",
        )
        if row.standing == widest and not row.verdict.stopped:
            status = ""
        doubt = "Identical orders may have made the lead." if row.verdict.doubted else ""
        end = f"({interval})." if interval else ""
        lead = lead if interval or not lead else f"{lead}."
        rest = " ".join(filter(None, (end, of_pair, status, doubt)))
        answers.append(AnswerRow(ahead, f"over {behind}:", lead, rest))
    return answers
