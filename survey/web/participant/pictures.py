"""The pictures of a question: what was searched for, and the first results of each list.

An address holds a code of the question and a place on its page, such as B3. So it tells no
document, run or relevance, and another study has other addresses.
"""

from flask import Response, g
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound

from survey import tokens
from survey.services.collections import items
from survey.services.collections.items import QuestionItems
from survey.web.participant.visit import blueprint
from survey.web.requests import CACHE_FOR_A_YEAR, secret_key, session

SIZES = ("small", "large")


@blueprint.app_template_global()
def question_items(number: int) -> QuestionItems | None:
    """Return the items of a question of the study; None where it has no pictures."""
    return items.question_items(session(), g.study, number)


@blueprint.app_template_global()
def picture_code(number: int) -> str:
    """Return the code of a question in the addresses of its pictures."""
    return tokens.picture_code(secret_key(), g.study.slug, number)


@blueprint.get("/pictures/<code>/<place>.<size>.webp")
def picture(code: str, place: str, size: str) -> ResponseReturnValue:
    """Return a picture to a participant of the study, for long-lived private caches."""
    if g.participant is None:
        raise NotFound
    response = find_picture(code, place, size)
    # The study is frozen, so an address always has the same picture.
    response.headers["Cache-Control"] = f"private, {CACHE_FOR_A_YEAR.partition(', ')[2]}"
    return response


def find_picture(code: str, place: str, size: str) -> Response:
    """Return the picture at a place of a question's page; raise NotFound for any other."""
    numbers = range(1, g.study.plan.last_number + 1)
    number = next((each for each in numbers if picture_code(each) == code), None)
    if number is None or size not in SIZES:
        raise NotFound
    stored = items.picture_at(session(), g.study, number, place)
    if stored is None:
        raise NotFound
    return Response(stored.thumbnail if size == "small" else stored.larger, mimetype="image/webp")
