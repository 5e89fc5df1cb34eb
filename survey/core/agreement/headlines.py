"""What a researcher may quote of a study: one sentence, and a row for each pair, the winner first.

The words are one table, so that what is printed of a verdict always says the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.verdicts import NO_LEAD, Verdict, these_questions, where_it_holds
from survey.core.statistics.significance import Interval, rounded
from survey.core.studies.fields import list_words


class LeadWords(NamedTuple):
    """How a lead is told: ``start`` of the winner, then ``link`` of each loser.

    ``of_share``: a lead is told as a share of 100 comparisons, 50 of which are no lead.
    ``questions``: what is sampled.
    """

    start: str
    link: str
    of_share: bool = False
    questions: str = "questions"


VOTE_WORDS = LeadWords("People preferred {winner}", "to {loser}")
ORDERINGS = LeadWords("People's own orderings are nearer to {winner}'s orders", "than to {loser}'s")
AGREEMENT = LeadWords("People's preferences agree with {winner} more often", "than with {loser}")
RUN_WORDS = LeadWords("People preferred {winner}", "to {loser}", of_share=True)
TOPIC_RUN_WORDS = RUN_WORDS._replace(questions="topics")

# What a lead is worth, after a semicolon, by its scope.
REACH = {
    "kind": "you may generalise this to new {questions}",
    "these": "this holds {these}",
}
# What is told of a pair without a preference for orders, by what its verdict says.
CLAUSES = {
    "ties": (
        "{leader} leads {others} through ties alone{figure} {where}: no preference for its orders"
    ),
    "open": (
        "{leader} leads {others}{figure} {where}, but whether for its orders or through ties stays "
        "open{doubt}"
    ),
    "lost": "{start} {link}{figure} {where}{doubt}",
    "equal": "{leader} and {others} are equal to within {margin} {where}",
    "all equal": "{leader} is equal to {others} to within {margin} {where}",
    "alone": (
        "{leader} and {others} are equal to within {margin} {where}, by the test of this pair by "
        "itself"
    ),
    "none": "between {leader} and {others} the answers do not decide{stopped}",
}
EVEN_SHARE = 0.5  # of the comparisons: no lead
DOUBT = ", though identical orders may have made the lead"


class Row(NamedTuple):
    """A pair as a row.

    ``lead``: of the first, and its interval; ``together``: of equality; ``margin``: within which
    two are equal, a share, None where the plan names none.
    """

    found: Verdict
    lead: float | None
    interval: Interval | None
    together: bool = True
    margin: float | None = None

    @classmethod
    def of(
        cls,
        found: Verdict,
        tests: MeanTests,
        *,
        together: bool = True,
        margin: float | None = None,
    ) -> "Row":
        """Return the row of a tested difference; the interval is of what the verdict is about."""
        these = found.scope == "these" or tests.kind.ci95 is None
        interval = (tests.these if these else tests.kind).ci95
        return cls(found, tests.mean, interval, together, margin)

    def turned(self, winner: str) -> tuple[float | None, Interval | None]:
        """Return lead and interval of a measure of the pair over the other."""
        if winner == self.found.pair.first or self.lead is None:
            return self.lead, self.interval
        turned = (-self.interval[1], -self.interval[0]) if self.interval else None
        return -self.lead, turned


def headline(rows: Sequence[Row], questions: int, words: LeadWords = VOTE_WORDS) -> str:
    """Return one sentence: whom people preferred to which others, how far, and where it holds.

    The leader has the largest sum of leads. ``questions``: how many were answered.
    """
    sums: dict[str, float] = {}
    for row in rows:
        for name, lead in zip(row.found.pair, (row.lead or 0.0, -(row.lead or 0.0)), strict=True):
            sums[name] = sums.get(name, 0.0) + lead
    most = max(sums.values())
    leader, *as_far = (name for name, total in sums.items() if most - total < NO_LEAD)
    if all(row.found.scope == "none" for row in rows):
        are = "are equally far" if as_far else "is"
        ahead = f"; {list_words([leader, *as_far])} {are} ahead"
        stopped = dict.fromkeys(
            row.found.stopped for row in rows if leader in row.found.pair and row.found.stopped
        )
        if stopped:
            ahead += f", but {list_words([*stopped])}"
        return (
            f"The answers do not decide between {list_words([*sums])}{ahead * (most >= NO_LEAD)}."
        )
    of_leader = sorted((row for row in rows if leader in row.found.pair), key=_firmness)
    sentences = [*_preferences(leader, of_leader, questions, words)]
    if words.of_share and all(row.found.preferred for row in rows):
        for other in sorted(sums, key=sums.__getitem__, reverse=True):
            of_other = [row for row in rows if row.found.preferred == other != leader]
            behind = [row for row in of_other if leader not in row.found.pair]
            sentences += _preferences(other, behind, questions, words)
    clauses = [*_clauses(leader, of_leader, questions, words)]
    if clauses:
        text = "; ".join(clauses)
        if not sentences and all(row.found.scope == "none" for row in of_leader):
            text = f"{leader} is ahead, but {text}"
        sentences.append(f"{_start(text)}.")
    if as_far:
        sentences.append(f"{list_words(as_far)} {'are' if as_far[1:] else 'is'} as far ahead.")
    return " ".join(sentences)


def _start(text: str) -> str:
    """Begin a sentence; names of measures and runs stay as they are."""
    is_word = text.startswith(("between ", "people"))
    return f"{text[0].upper()}{text[1:]}" if is_word else text


def _firmness(row: Row) -> int:
    """Return how late a verdict is named: a preference first, what is not decided last."""
    later = {"these": 1, "equal": 2, "open": 3, "ties": 4, "none": 5}
    found = row.found
    return later.get(found.preferred_for or found.scope, later.get(found.scope, 0))


def _preferences(leader: str, rows: Sequence[Row], questions: int, words: LeadWords) -> list[str]:
    """Return a sentence for each scope in which the leader is preferred for its orders."""
    sentences = []
    for scope, reach in REACH.items():
        of_scope = [
            row
            for row in rows
            if row.found.scope == scope and row.found.preferred_for not in ("ties", "open")
        ]
        winning = [row for row in of_scope if row.found.preferred == leader]
        if not winning:
            continue
        links = [
            f"{words.link.format(loser=_other(leader, row))}{_figure(row, leader, words)}"
            for row in winning
        ]
        holds = reach.format(
            questions=words.questions, these=these_questions(questions, words.questions)
        )
        doubt = DOUBT if any(row.found.doubted for row in winning) else ""
        start = words.start.format(winner=leader)
        sentences.append(f"{start} {list_words(links)}; {holds}{doubt}.")
    return sentences


def _clauses(leader: str, rows: Sequence[Row], questions: int, words: LeadWords) -> list[str]:
    alike: dict[tuple[str | float | None, ...], list[Row]] = {}
    for row in rows:
        if sort := _sort(leader, row):
            where = where_it_holds(row.found.population, questions, words.questions)
            # Figures of several pairs cannot be joined, nor equalities that are not corrected.
            by_itself: tuple[str | float | None, ...] = (_other(leader, row),)
            if sort in ("equal", "none"):
                by_itself = (row.margin, row.found.stopped)
            alike.setdefault((sort, where, *by_itself), []).append(row)
    return [
        _clause(leader, str(sort), str(where), of_clause, words)
        for (sort, where, *_), of_clause in alike.items()
    ]


def _clause(leader: str, sort: str, where: str, rows: Sequence[Row], words: LeadWords) -> str:
    row = rows[0]
    winner = row.found.preferred or leader
    names = [_other(winner, each) for each in rows]
    return CLAUSES["all equal" if sort == "equal" and names[1:] else sort].format(
        leader=winner,
        others=" or ".join(names) if sort == "none" else list_words(names),
        start=f"p{words.start.format(winner=winner)[1:]}",
        link=words.link.format(loser=names[0]),
        figure=_figure(row, winner, words),
        where=where,
        doubt=DOUBT if row.found.doubted else "",
        margin=_margin(row.margin),
        stopped=f", as {row.found.stopped}" if row.found.stopped else "",
    )


def _margin(margin: float | None) -> str:
    """Return "10 points", the smallest difference that matters."""
    return "what matters" if margin is None else f"{100 * margin:.6g} points"


def _sort(leader: str, row: Row) -> str | None:
    """Return which clause tells a pair; None where the leader is preferred for its orders."""
    found = row.found
    if found.scope == "none":
        return "none"
    if found.scope == "equal":
        return "equal" if row.together else "alone"
    if found.preferred_for in ("ties", "open"):
        return found.preferred_for
    return None if found.preferred == leader else "lost"


def _other(leader: str, row: Row) -> str:
    [other] = {*row.found.pair} - {leader}
    return other


def _figure(row: Row, winner: str, words: LeadWords) -> str:
    """Return " (+41 points, 22 to 61)", of the winner."""
    lead, interval = row.turned(winner)
    if lead is None:
        return ""
    number = rounded(100 * (lead + EVEN_SHARE * words.of_share), 0)
    number = f"{number} of 100" if words.of_share else f"{'+' * (lead > 0)}{number} points"
    if interval:
        low, high = (rounded(100 * (end + EVEN_SHARE * words.of_share), 0) for end in interval)
        number += f", {low} to {high}"
    return f" ({number})"


def row_texts(row: Row, questions: int, words: LeadWords = VOTE_WORDS) -> tuple[str, str, str]:
    """Return a pair with the winner first, its lead, and whether it holds."""
    pair, lead = row.found.pair, row.lead or 0.0
    ahead, behind = pair if lead >= 0 else pair[::-1]
    figure, interval = row.turned(ahead)
    text = ""
    if figure is not None:
        half = EVEN_SHARE * words.of_share
        text = f"{rounded(100 * (figure + half))} {'of 100' if words.of_share else 'points'}"
        if interval:
            low, high = (rounded(100 * (end + half)) for end in interval)
            text += f" ({low} to {high})"
    joined = "over" if words.of_share else "−"
    return f"{ahead} {joined} {behind}", text, standing(row, questions, words.questions)


def standing(row: Row, questions: int, noun: str = "questions") -> str:
    """Return in a few words whether a pair's difference holds, and for what."""
    found = row.found
    where = where_it_holds(found.population, questions, noun)
    if found.scope == "none":
        return f"not decided{f': {found.stopped}' if found.stopped else ''}"
    if found.scope == "equal":
        return f"equal to within {_margin(row.margin)} {where}"
    doubt = DOUBT if found.doubted else ""
    if found.preferred_for == "ties":
        return f"holds {where}, through ties alone: no preference for orders{doubt}"
    if found.preferred_for == "open":
        return f"holds {where}; whether for the orders or through ties stays open{doubt}"
    return f"holds {where}{doubt}"
