"""How a simulated participant answers ordering questions.

A bot of ``survey simulate`` reads what a person reads: positions, columns, orders. It prefers a
measure, computes that measure's order from the positions on the page, and ticks the column with
that order. Where the page has no positions, it knows a question by its results. The calibration
votes by the same function on questions that no page shows, so a planted preference means the same
in both.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from selectolax.lexbor import LexborNode

from survey.core.agreement.credits import OTHER
from survey.core.collections.items import Shown
from survey.core.studies.questions import (
    BlindedColumn,
    MarkedRow,
    Question,
    build_question,
    marks_of,
    sorted_with_marks,
)
from survey.core.studies.rankings import Ranking
from survey.errors import SurveyError
from survey.kinds.ordering.plan import OrderingPlan
from survey.services.planning.bot_sight import Sight

LIST = "[data-list]"  # a list on a question's page: a row, or its first results

TICKS_EVERY_MATCH = 0.3  # how often all columns with the preferred order are ticked, not one

Chance = np.random.Generator
Results = tuple[tuple[str, bool], ...]
"""The results of a list on a page: each document, "" for a tile, and whether it is marked."""


@dataclass(frozen=True)
class Preference:
    """How likely a bot is to vote for each measure, or for an order of its own (OTHER).

    ``questions``: the results of a question's lists, by their letters → the question, where pages
    have no positions; ``documents``: finds the results' documents.
    """

    shares: Mapping[str, float]
    questions: Mapping[tuple[Results, ...], Question] = field(default_factory=dict)
    documents: Sight = field(default_factory=lambda: Sight({}))

    @classmethod
    def parse(cls, text: str | None, measures: Sequence[str]) -> "Preference":
        """Parse ``MNRO=.5,NMRR=.3,AP=.1,OTHER=.1``; None means equal shares and OTHER=.1.

        Raises SurveyError for an unknown name and for shares that do not sum to 1.
        """
        if text is None:
            return cls({**dict.fromkeys(measures, 0.9 / len(measures)), OTHER: 0.1})
        shares = {}
        known = {name.lower(): name for name in (*measures, OTHER)}
        for part in text.split(","):
            label, _, number = part.partition("=")
            name = known.get(label.strip().lower())
            if name is None:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; "
                    f"{', '.join(known.values())} can be preferred, like MNRO=.5"
                )
            try:
                shares[name] = float(number)
            except ValueError:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; write a share like {name}=.5"
                ) from None
        if min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-6:
            raise SurveyError(
                f"The preference {text!r} sums to {sum(shares.values()):g}; "
                "shares from 0 to 1 that sum to 1 are needed."
            )
        return cls(shares)

    def as_json(self) -> dict[str, float]:
        """Return the shares as plain values."""
        return dict(self.shares)

    def draw(self, chance: np.random.Generator) -> str:
        """Return the name of a measure, or OTHER, at random."""
        shares = np.array([*self.shares.values()])
        # They sum to 1 but for rounding of what was typed.
        return str(chance.choice([*self.shares], p=shares / sum(self.shares.values())))


class OrderingBot:
    """The simulated answers of the kind of question "ordering"."""

    def careless(self, plan: OrderingPlan) -> str:
        """Return that every answer is a random order of its own."""
        return f"{OTHER}=1"

    def preference(self, plan: OrderingPlan, text: str | None, shown: Shown) -> Preference:
        """Read a preference among the plan's measures; see ``Preference.parse``."""
        preference = Preference.parse(text, plan.measures)
        if plan.show_positions or not plan.has_items:
            return preference
        documents = Sight(shown.documents)
        # Documents that look the same get one name, since a bot cannot tell them apart.
        seen = {each: documents.find(*both) for each, both in shown.documents.items()}
        questions = {_results(plan, each, seen): each for each in plan.draw_questions()}
        return replace(preference, questions=questions, documents=documents)

    def respond(
        self, form: LexborNode, plan: OrderingPlan, preference: Preference, chance: Chance
    ) -> dict[str, Any] | None:
        """Return the fields of a question's form: ticked columns, or an own order.

        On the check question, the list with the smaller sum of positions. None for another page.
        Raises ValueError for lists that the plan does not have.
        """
        if two_lists := form.css("[name=better]"):
            best = min(two_lists, key=lambda each: sum(map(int, each.text().strip("✓ ").split())))
            return {"better": best.attributes["value"]}
        if not form.css_first("[name^=rank-]"):
            return None
        return _vote(form, plan, preference, chance)


def _vote(
    form: LexborNode, plan: OrderingPlan, preference: Preference, chance: Chance
) -> dict[str, Any]:
    question = _question(form, plan, preference)
    first = _first_ranking(form)
    matching = [name for name, ranking in question.rankings.items() if ranking == first]
    if matching:  # the measure that the bot preferred on the page before is one of these
        preference = Preference({name: preference.shares.get(name, 0) for name in matching})
    if first and not matching:
        vote = Vote(own=first)
    else:
        vote = cast_vote(preference, question, _columns(form), chance)
    if vote.own:
        places = vote.own.places
        return {"choice": "own"} | {f"rank-{letter}": places[letter] for letter in question.lists}
    return {"choice": sorted(vote.clicked)}


def _question(form: LexborNode, plan: OrderingPlan, preference: Preference) -> Question:
    """Return the question on a page: built from positions, or looked up by the results shown.

    Raises ValueError for results that no question has.
    """
    strips = sorted(form.css(LIST), key=_letter)
    if form.css_first(".rank"):
        rows = [_row(part, plan.marked) for part in strips]
        ranks = [row.ranks for row in rows]
        return build_question(0, ranks, plan.measures, plan.setting, marks_of(rows))
    results = tuple(
        tuple(
            (preference.documents.find_in(each), "hit" in (each.attributes.get("class") or ""))
            for each in part.css("li")
        )
        for part in strips
    )
    question = preference.questions.get(results)
    if question is None:
        raise ValueError("there are lists that the plan does not have")
    return question


def _results(
    plan: OrderingPlan, question: Question, seen: Mapping[str, str]
) -> tuple[Results, ...]:
    """Return what a question's page shows of its lists, by their letters."""
    documents = question.source.documents if question.source else {}
    tiles = [""] * plan.depth
    return tuple(
        tuple(
            (seen.get(document, ""), plan.mark_relevant and rank in question.lists[letter])
            for rank, document in enumerate(documents.get(letter) or tiles, 1)
        )
        for letter in sorted(question.lists)
    )


def _first_ranking(form: LexborNode) -> Ranking | None:
    """Return the own ordering from the page before, which this page's selects hold; else None."""
    places = {
        str(field.attributes["name"])[-1]: int(str(option.attributes["value"]))
        for field in form.css("[name^=rank-]")
        if (option := field.css_first("option[selected]:not([value=''])"))
    }
    return Ranking.by_key(places) if places else None


def _columns(form: LexborNode) -> list[BlindedColumn]:
    """Parse the columns on the page."""
    boxes = [box for box in form.css("[name=choice]") if box.attributes["value"] != "own"]
    columns = []
    for index, box in enumerate(boxes):
        # A page in Greek writes 0,7996.
        values = {
            str(row.attributes["data-scores"]): row.css("td")[index].text().replace(",", ".")
            for row in form.css("[data-scores]")
        }
        ranking = Ranking.parse(_text(box.parent, ".order"))
        columns.append(BlindedColumn(int(str(box.attributes["value"])), values, ranking))
    return columns


def _row(row: LexborNode, mark_types: Sequence[str]) -> MarkedRow:
    """Parse a list's positions, and their marks in brackets."""
    cells = [str(rank.attributes.get("value") or rank.text()) for rank in row.css(".rank")]
    ranks = [int(word) for cell in cells for word in cell.split()]
    marks = [mark.text().strip("() ").split(", ") for mark in row.css(".mark")]
    if marks and not all(len(parts) == len(mark_types) for parts in marks):
        raise SurveyError("A position on a page of the survey has unexpected marks.")
    by_type = {
        mark_type: " ".join(parts[index].replace(" + ", "+").replace(" ", "_") for parts in marks)
        for index, mark_type in enumerate(mark_types)
    }
    return sorted_with_marks(ranks, by_type)


def _letter(row: LexborNode) -> str:
    return _text(row, ".letter")[0]


def _text(tag: LexborNode | None, selector: str) -> str:
    part = tag.css_first(selector) if tag else None
    if not part:
        raise SurveyError(f"A page of the survey has no {selector} where one is expected.")
    return part.text().strip()


@dataclass(frozen=True)
class Vote:
    """The labels that are ticked; or none, and an own order."""

    clicked: frozenset[int] = frozenset()
    own: Ranking | None = None


def cast_vote(
    preference: Preference, question: Question, columns: Sequence[BlindedColumn], chance: Chance
) -> Vote:
    """Draw a measure and tick its column, or draw OTHER and return an own order.

    The column is known by its order, and by its values where these are printed, never by its
    label. Where other columns have the same order, all of them are ticked in three votes of
    ten; a measure is credited for either. So a measure's share of the credits is its planted
    share where all orders differ, and the sum over the measures of its order where they do not.
    Without columns, the measure's order is returned as an own one. Another own order is never
    one that is offered. Raises ValueError where no column is the drawn measure's.
    """
    preferred = preference.draw(chance)
    every_match = chance.random() < TICKS_EVERY_MATCH
    if preferred == OTHER:
        return Vote(own=own_order(tuple(question.lists), set(question.rankings.values()), chance))
    wanted = question.columns[preferred]
    if not columns:
        return Vote(own=wanted.ranking)
    printed = dict(zip(wanted.ranking.letters, wanted.shown, strict=True))
    same_order = [column for column in columns if column.ranking == wanted.ranking]
    same_column = [
        column.label for column in same_order if not column.shown or dict(column.shown) == printed
    ]
    if not same_column:
        raise ValueError(f"no column is that of {preferred}")
    ticked = (column.label for column in same_order) if every_match else same_column[:1]
    return Vote(clicked=frozenset(ticked))


def own_order(letters: Sequence[str], offered: Collection[Ranking], chance: Chance) -> Ranking:
    """Draw a place for each list, ties allowed, until the order is none of those offered."""
    while True:
        places = chance.integers(1, len(letters), len(letters), endpoint=True)
        own = Ranking.by_key(dict(zip(letters, places.tolist(), strict=True)))
        if own not in offered:
            return own
