"""Turning plain values into the words of a page."""

from collections.abc import Iterable, Mapping

from flask import Flask, g

from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import and_join, fill, in_words, number_words

ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}
FIRST_TO_TENTH = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)


def init_app(app: Flask) -> None:
    """Make the words available to templates."""
    app.add_template_filter(filled)
    app.add_template_filter(ordinal)
    app.add_template_filter(paragraphs)
    app.add_template_filter(in_words)
    app.add_template_filter(methods)
    app.add_template_filter(and_join)
    app.add_template_filter(order)
    app.add_template_filter(ranking_in_words)
    app.add_template_global(answer_in_words)
    app.add_template_global(place)


def filled(text: str) -> str:
    """Put the numbers of the study's design into one of its texts."""
    return fill(text, number_words(g.plan.numbers))


def ordinal(number: int) -> str:
    """Write a place: 1st, 2nd, 3rd, 4th."""
    return ORDINALS.get(number, f"{number}th")


def place(ranking: Ranking, letter: str) -> str:
    """Write a list's place in a ranking, with = where it ties: =4th."""
    number = ranking.places[letter]
    tied = sum(other == number for other in ranking.places.values()) > 1
    return ("=" if tied else "") + ordinal(number)


def paragraphs(text: str) -> list[str]:
    """Split a text at its blank lines."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def methods(labels: Iterable[int]) -> str:
    """Name methods in a sentence: Method 1; Methods 1 and 3."""
    numbers = [str(label) for label in sorted(labels)]
    return f"Method{'s' if numbers[1:] else ''} {and_join(numbers)}"


def order(ranking: Ranking) -> str:
    """Write an order with spaces, for reading: C > A = B."""
    return " > ".join(" = ".join(group) for group in ranking.groups)


def answer_in_words(clicked: Iterable[int], own: Ranking | None) -> str:
    """Say what an answer is: Methods 1 and 3; your own ordering, B > A = C."""
    return f"your own ordering, {order(own)}" if own else methods(clicked)


def ranking_in_words(places: Mapping[str, int | None]) -> str:
    """Say an own ranking: "B first; A and C tie for second"; an incomplete one as chosen so far.

    question.js says the same while places are chosen.
    """
    chosen = {letter: number for letter, number in places.items() if number}
    missing = sorted(letter for letter, number in places.items() if not number)
    if not chosen:
        return ""
    if missing:
        so_far = ", ".join(
            f"{letter} {ordinal(number)}"
            for letter, number in sorted(chosen.items(), key=lambda pair: (pair[1], pair[0]))
        )
        return f"{so_far}; {and_join(missing)} {'have' if missing[1:] else 'has'} no place yet"
    ranking = Ranking.by_key(chosen)
    parts = []
    for group in ranking.groups:
        nth = FIRST_TO_TENTH[ranking.places[group[0]] - 1]
        parts.append(f"{and_join(group)} tie for {nth}" if group[1:] else f"{group[0]} {nth}")
    return "; ".join(parts)
