"""The study digest: what a study shows, in 64 hexadecimal characters."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import Plan
from survey.core.studies.questions import Question

# Raise when the content below changes its form, so that old digests stay checkable.
DIGEST_FORMAT = 1


def study_digest(
    plan: Plan, questions: Iterable[Question], generator_version: int = GENERATOR_VERSION
) -> str:
    """Return the SHA-256 of a study's plan, lists, values as printed and orders.

    Values enter as the text a page prints, never as floats, so that the digest is
    the same on every machine. The seed and generator are in the plan; added is the
    version of the generator that drew the questions.
    """
    content = {
        "format": DIGEST_FORMAT,
        "generator_version": generator_version,
        "plan": plan.content(),
        "questions": [_as_shown(question) for question in questions],
    }
    return text_digest(json.dumps(content, sort_keys=True, ensure_ascii=False))


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as 64 hexadecimal characters."""
    return hashlib.sha256(text.encode()).hexdigest()


def _as_shown(question: Question) -> dict[str, Any]:
    marks = {"marks": question.marks.as_json()} if question.marks else {}
    return marks | {
        "number": question.number,
        "lists": {letter: list(ranks) for letter, ranks in question.lists.items()},
        "columns": {
            name: {"shown": list(column.shown), "ranking": str(column.ranking)}
            for name, column in question.columns.items()
        },
    }
