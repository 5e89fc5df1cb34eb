"""The language of a page: English, or the study's language on its participants' pages.

``gettext`` and ``ngettext`` translate a sentence into it and fill in its %(parts)s. A sentence
that is written where there is no request (in a service, in a class) is ``marked`` there and
translated where it is shown, or it is lazy.

Values become words in the same language: places, orderings, answers, dates.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache, lru_cache, reduce

from babel.dates import format_date, format_datetime
from babel.numbers import get_decimal_symbol
from flask import Flask, g, has_app_context, request
from flask_babel.speaklater import LazyString
from markupsafe import Markup

from survey.core.studies.questions import BlindedQuestion
from survey.core.studies.rankings import Ranking, differing_pairs, letters_for
from survey.errors import marked
from survey.services.studies.languages import ENGLISH, catalogue, languages

NUMBER_WORDS = (
    *(marked("no"), marked("one"), marked("two"), marked("three"), marked("four"), marked("five")),
    *(marked("six"), marked("seven"), marked("eight"), marked("nine"), marked("ten")),
)
# The place of a list: in a table ("=4th"), and in a sentence that says a whole ordering.
ORDINALS = (
    *(marked("1st"), marked("2nd"), marked("3rd"), marked("4th"), marked("5th")),
    *(marked("6th"), marked("7th"), marked("8th"), marked("9th"), marked("10th")),
)
UNTIED = (
    *(marked("%(letter)s first"), marked("%(letter)s second"), marked("%(letter)s third")),
    *(marked("%(letter)s fourth"), marked("%(letter)s fifth"), marked("%(letter)s sixth")),
    *(marked("%(letter)s seventh"), marked("%(letter)s eighth"), marked("%(letter)s ninth")),
    marked("%(letter)s tenth"),
)
TIED = (
    *(marked("%(letters)s tie for first"), marked("%(letters)s tie for second")),
    *(marked("%(letters)s tie for third"), marked("%(letters)s tie for fourth")),
    *(marked("%(letters)s tie for fifth"), marked("%(letters)s tie for sixth")),
    *(marked("%(letters)s tie for seventh"), marked("%(letters)s tie for eighth")),
    *(marked("%(letters)s tie for ninth"), marked("%(letters)s tie for tenth")),
)

# What will be saved, in the first line of the answer bar.
YOUR_ORDER = marked("Your order: %(ordering)s.")
SO_FAR = marked("So far: %(ordering)s.")
SAME_TICKED = marked("Your order is that of %(methods)s.")
NEAREST_TICKED = marked("Nearest to your order: %(methods)s.")

# What a mark in brackets after a position means, by kind of mark.
MARK_MEANINGS = {
    "grades": marked("how well the match fits (the higher, the better)"),
    "weights": marked("which share of the people who were asked took it for a match"),
    "clusters": marked("what kind of match it is"),
}

# Words of the numbers from one to nine that agree with what is counted. A translation marks where
# they belong: "%(count)s‹f› ερωτήσεις". A number at the beginning of a sentence is capitalised.
AGREEING = {
    "f": ("μία", "δύο", "τρεις", "τέσσερις", "πέντε", "έξι", "επτά", "οκτώ", "εννέα"),
    "n": ("ένα", "δύο", "τρία", "τέσσερα", "πέντε", "έξι", "επτά", "οκτώ", "εννέα"),
}
_TO_AGREE = re.compile(r"(\w+)‹([fn])›")

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
FIGURE_SPACE = "\N{FIGURE SPACE}"  # as wide as a digit


def init_app(app: Flask) -> None:
    """Let templates translate sentences, and write values as words."""
    # WTForms' own messages would need catalogues of their own, so no form uses them.
    app.config["WTF_I18N_ENABLED"] = False
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined] # by the extension
    # These replace Jinja's own, which look up the page's context for every sentence.
    app.add_template_global(_html_gettext, "_")
    app.add_template_global(_html_gettext, "gettext")
    app.add_template_global(_html_ngettext, "ngettext")
    for global_function in (page_language, orders, own_order_words, place, ties):
        app.add_template_global(global_function)
    for filter_function in (
        *(aligned, and_join, compared, day, decimal, filled, in_words, mark_words, marks, methods),
        *(moment, ordinal, paragraphs, ranking_in_words),
    ):
        app.add_template_filter(filter_function)
    app.add_template_filter(_untranslated_order, "order")


def _html_gettext(sentence: str, /, **parts: object) -> Markup:
    """Translate a sentence of a template, and escape its parts unless they are HTML."""
    translation = _html_translation(page_language(), sentence)
    return Markup(_put(translation, parts)) if parts else translation  # noqa: S704 # nosec B704 # escaped


@lru_cache(maxsize=5000)
def _html_translation(language: str, sentence: str) -> Markup:
    """Return a sentence's translation; one without %(parts)s is finished, so its %% becomes %."""
    translation = Markup(catalogue(language).gettext(sentence))  # noqa: S704 # nosec B704 # our own sentence
    return translation if "%(" in translation else translation % {}


def _html_ngettext(singular: str, plural: str, number: int, /, **parts: object) -> Markup:
    translation = catalogue(page_language()).ngettext(singular, plural, number)
    sentence = Markup(translation)  # noqa: S704 # nosec B704 # our own sentence
    return Markup(_put(sentence, {"num": number, **parts}))  # noqa: S704 # nosec B704 # escaped


def _put(translation: str, parts: Mapping[str, object]) -> str:
    """Put the parts into a sentence, escaped into HTML; numbers that are marked agree."""
    put = translation % parts
    return _TO_AGREE.sub(_agreeing, put) if "‹" in translation else put


def _agreeing(marked_number: re.Match[str]) -> str:
    number, gender = marked_number.groups()
    is_word = number.isdecimal() and 1 <= int(number) <= len(AGREEING[gender])
    word = AGREEING[gender][int(number) - 1] if is_word else number
    return word if marked_number.start() else word.capitalize()


def set_language(language: str) -> None:
    """Set the language of this request's page, English if the language has no catalogue."""
    g.language = language if language in languages() else ENGLISH


def set_browser_language() -> None:
    """Set the language that the browser prefers, unless the request's language is set already."""
    if "language" not in g:
        set_language(request.accept_languages.best_match(languages()) or ENGLISH)


def page_language() -> str:
    """Return the code of the language in which this request is answered, like "el"."""
    return str(g.get("language", ENGLISH)) if has_app_context() else ENGLISH


def gettext(sentence: str, **parts: object) -> str:
    """Translate a sentence into the page's language."""
    translation = catalogue(page_language()).gettext(sentence)
    return _put(translation, parts) if parts else translation


def ngettext(singular: str, plural: str, number: int, **parts: object) -> str:
    """Translate a sentence whose form depends on a number."""
    translation = catalogue(page_language()).ngettext(singular, plural, number)
    return _put(translation, {"num": number, **parts})


def lazy_gettext(sentence: str) -> LazyString:
    """Return a sentence that is translated when it is shown.

    Pages take it as HTML, so it has no %(parts)s.
    """
    return LazyString(gettext, sentence)


def filled(text: str) -> str:
    """Replace {lists}, {questions} and the like in a study's text by the numbers of its design."""
    return fill(text, tuple(g.plan.numbers.items()), page_language())


@lru_cache(maxsize=1000)
def fill(text: str, numbers: tuple[tuple[str, int], ...], _: str = ENGLISH) -> str:
    """Replace a text's placeholders by numbers in words; {letters} by those of the lists.

    The unnamed argument, the page's language, is part of the cache's key.
    """
    words = {name: in_words(number) for name, number in numbers}
    if "lists" in words:
        words["letters"] = and_join(letters_for(dict(numbers)["lists"]))
    return text.format_map(words)


def in_words(number: int) -> str:
    """Return a number up to ten as a word, a larger one in figures."""
    return gettext(NUMBER_WORDS[number]) if 0 <= number < len(NUMBER_WORDS) else str(number)


def and_join(parts: Sequence[str]) -> str:
    """Join words with commas and "and": A, B and C."""
    if len(parts) < 2:
        return "".join(parts)
    return gettext("%(words)s and %(last)s", words=", ".join(parts[:-1]), last=parts[-1])


def mark_words(mark_types: Iterable[str]) -> str:
    """Return what the marks of these types beside positions mean."""
    return and_join([gettext(MARK_MEANINGS[mark_type]) for mark_type in mark_types])


def marks(text: str, mark_types: Sequence[str]) -> str:
    """Return the marks of these types beside a position: 3, 0.57; in Greek 3, 0,57.

    A cluster keeps the points in its name.
    """
    parts = zip(text.split(", "), mark_types, strict=False)  # a position may have none
    return ", ".join(decimal(part) if mark_type == "weights" else part for part, mark_type in parts)


def in_a_row(parts: Iterable[str]) -> str:
    """Join parts of a sentence with semicolons: B first; A and C tie for second."""
    return reduce(
        lambda before, after: gettext("%(before)s; %(after)s", before=before, after=after), parts
    )


def aligned(numbers: Sequence[str]) -> list[str]:
    """Pad the numbers of a column on the left, so that their decimal points are aligned."""
    widths = [len(number.partition(".")[0]) for number in numbers]
    return [
        FIGURE_SPACE * (max(widths) - width) + number
        for number, width in zip(numbers, widths, strict=True)
    ]


def decimal(number: str) -> str:
    """Return a number with the decimal sign of the page's language: 0.7996; in Greek 0,7996."""
    return number.replace(".", _decimal_sign(page_language()))


# Babel looks it up in 8 µs, and a question's page has 30 numbers.
_decimal_sign = cache(get_decimal_symbol)


def ordinal(number: int) -> str:
    """Return a place as an ordinal number: 1st, 2nd, 3rd, 4th."""
    return gettext(ORDINALS[number - 1])


def place(ranking: Ranking, letter: str) -> str:
    """Return a list's place in a ranking, with = if it is tied: =4th."""
    return _written_place(ranking.places[letter], ties(ranking, letter), page_language())


@cache
def _written_place(number: int, tied: bool, _: str) -> str:
    """Return a place in words; the unnamed argument, the page's language, keys the cache."""
    return ("=" if tied else "") + ordinal(number)


def ties(ranking: Ranking, letter: str) -> bool:
    """Whether a list shares its place in a ranking with another."""
    return list(ranking.places.values()).count(ranking.places[letter]) > 1


def day(written: str) -> str:
    """Return an ISO date in full: 30 June 2027."""
    return format_date(date.fromisoformat(written), "long", locale=page_language())


def moment(when: datetime | str | None) -> Markup:
    """Return a moment in UTC as HTML: 30 Jun 2027, 14:05 UTC; an empty text for None.

    static/times.js writes it in the reader's time zone.
    """
    if when is None:
        return Markup()
    at = datetime.fromisoformat(when) if isinstance(when, str) else when
    text = f"{format_datetime(at, 'd MMM y, HH:mm', UTC, page_language())} UTC"
    html = Markup('<time datetime="{:%Y-%m-%dT%H:%M:%SZ}">{}</time>')
    return html.format(at.astimezone(UTC), text)


def paragraphs(text: str) -> list[str]:
    """Split a text at its blank lines."""
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def methods(labels: Iterable[int]) -> str:
    """Return label numbers in words: Method 1; Methods 1 and 3."""
    numbers = [str(label) for label in sorted(labels)]
    return _methods(and_join(numbers), len(numbers))


def _methods(labels: str, count: int) -> str:
    return ngettext("Method %(labels)s", "Methods %(labels)s", count, labels=labels)


def order(ranking: Ranking) -> str:
    """Return an ordering with spaces that do not break: C > A = B."""
    return " > ".join(" = ".join(group) for group in ranking.groups).replace(" ", NO_BREAK_SPACE)


def _untranslated_order(ranking: Ranking) -> Markup:
    """Return an ordering as HTML that browsers do not translate: they would read A as a word."""
    return Markup('<span translate="no">{}</span>').format(order(ranking))


def orders(question: BlindedQuestion, labels: Iterable[int]) -> str:
    """Return the orderings of some columns of a question: C > A = B; A > B = C."""
    return in_a_row(order(question.column(label).ranking) for label in sorted(labels))


def compared(ranking: Ranking, own: Ranking) -> str:
    """Return how a method's ordering differs from the participant's own, in words.

    "same as yours", "differs in one pair: B and D" or "differs in 3 pairs".
    """
    pairs = differing_pairs(ranking, own)
    if not pairs:
        return gettext("same as yours")
    if len(pairs) == 1:
        return gettext("differs in one pair: %(letters)s", letters=and_join(pairs[0]))
    return gettext("differs in %(count)s pairs", count=len(pairs))


def answer_in_words(clicked: Iterable[int], own: Ranking | None) -> str:
    """Return an answer in words: Methods 1 and 3; your own order, B > A = C."""
    return gettext("your own order, %(order)s", order=order(own)) if own else methods(clicked)


def ranking_in_words(places: Mapping[str, int | None]) -> str:
    """Return an own ordering in words: "B first; A and C tie for second".

    An incomplete one as far as it goes: "B 1st; A and C have no place yet".
    """
    chosen = {letter: number for letter, number in places.items() if number}
    missing = sorted(letter for letter, number in places.items() if not number)
    if not chosen:
        return ""
    if missing:
        in_order = sorted(chosen.items(), key=lambda pair: (pair[1], pair[0]))
        chosen_words = ", ".join(_chosen(letter, number) for letter, number in in_order)
        return _so_far(chosen_words, and_join(missing), len(missing))
    ranking = Ranking.by_key(chosen)
    return in_a_row(
        _tied(and_join(group), ranking.places[group[0]])
        if group[1:]
        else _alone(group[0], ranking.places[group[0]])
        for group in ranking.groups
    )


def _chosen(letter: str, number: int) -> str:
    return gettext("%(letter)s %(ordinal)s", letter=letter, ordinal=ordinal(number))


def _alone(letter: str, number: int) -> str:
    return gettext(UNTIED[number - 1], letter=letter)


def _tied(letters: str, number: int) -> str:
    return gettext(TIED[number - 1], letters=letters)


def _so_far(chosen: str, missing: str, count: int) -> str:
    return ngettext(
        "%(chosen)s; %(missing)s has no place yet",
        "%(chosen)s; %(missing)s have no place yet",
        count,
        chosen=chosen,
        missing=missing,
    )


def own_order_words(lists: int, columns: int, nearest: bool) -> dict[str, str | list[str]]:
    """Return the sentences for question.js to write what will be saved, with gaps like {letter}.

    ``nearest``: whether a tick means the nearest order, and not the same one.
    """
    numbers = range(1, lists + 1)
    counts = range(1, columns + 1)
    return {
        "and": and_join(("{words}", "{last}")),
        "row": in_a_row(("{before}", "{after}")),
        "short": [ordinal(number) for number in numbers],
        "alone": [_alone("{letter}", number) for number in numbers],
        "tied": [_tied("{letters}", number) for number in numbers],
        "soFar": gettext(SO_FAR, ordering="{ordering}"),
        "mine": gettext(YOUR_ORDER, ordering="{ordering}"),
        "methods": [_methods("{labels}", count) for count in counts],
        "ticked": gettext(NEAREST_TICKED if nearest else SAME_TICKED, methods="{methods}"),
        "off": [
            ngettext(
                "%(methods)s is no longer ticked.",
                "%(methods)s are no longer ticked.",
                count,
                methods="{methods}",
            )
            for count in counts
        ],
    }


def chosen_in_words(labels: Iterable[int], places: Mapping[str, int | None], nearest: bool) -> str:
    """Return what will be saved: ticked methods, else an own order; "" for nothing."""
    if ticked := [*labels]:
        return gettext(NEAREST_TICKED if nearest else SAME_TICKED, methods=methods(ticked))
    own = ranking_in_words(places)
    return own and gettext(SO_FAR if None in places.values() else YOUR_ORDER, ordering=own)
