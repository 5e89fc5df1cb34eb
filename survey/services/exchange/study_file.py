"""study.json: what the tables do not say of a study, and its participants' texts as they are."""

import json
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from survey import __version__
from survey.core.measures import MEASURES
from survey.core.studies.questions import Question
from survey.services.exchange.content import Content, Person
from survey.services.exchange.csv_tables import SEEN, batched

FORMAT = 1
STUDY = "study.json"
PACKAGES = "packages"  # measure → the package that brings it, with its version

# Where study.json has the participants' texts: no string holds a line break, no other key this
# indentation.
NO_TEXTS = '\n  "texts": {}'


def study_json(content: Content) -> str:
    """Write what the tables do not say, and as they are the texts that they may hold escaped."""
    return "".join(study_lines(content))


def study_lines(content: Content) -> Iterator[str]:
    """Write it piece by piece: there may be a million participants with texts."""
    before, after = as_text(_told_of(content)).split(NO_TEXTS)
    yield before + NO_TEXTS.removesuffix("}")
    separator = ""
    for people in batched(one for one in content.people() if one.texts):
        yield separator + ",".join(map(_texts_of, people))
        separator = ","
    yield ("\n  }" if separator else "}") + after


def _texts_of(one: Person) -> str:
    texts = _as_value(frozenset(one.texts.items()))
    return f"\n    {json.dumps(one.public_id, ensure_ascii=False)}: {texts}"


@lru_cache(SEEN)  # most are the options of a choice, the same for many
def _as_value(texts: frozenset[tuple[str, str]]) -> str:
    return as_text(dict(texts)).rstrip("\n").replace("\n", "\n    ")


def _told_of(content: Content) -> dict[str, Any]:
    plan = content.plan
    return {
        "format": FORMAT,
        "slug": content.slug,
        "title": plan.title,
        "status": content.status,
        "digest": content.digest,
        "generator": plan.generator,
        "generator_version": content.generator_version,
        "seed": plan.seed,
        "measures": list(plan.measures),
        "opened_at": _moment(content.opened_at),
        "closed_at": _moment(content.closed_at),
        "unblinded_at": _moment(content.unblinded_at),
        "include_test": content.include_test,
        "plan": plan.as_json(),
        "practice": lists_of(content.practice),
        **_practice_marks(content.practice),
        "consent": [vars(one) for one in content.consents],
        "texts": {},
        "versions": {
            "survey": __version__,
            "python": ".".join(map(str, sys.version_info[:2])),
            "numpy": np.__version__,
        },
        **_packages_of(plan.measures),
    }


def _packages_of(measures: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the packages of those measures that are not the survey's own."""
    packages = {name: package for name in measures if (package := MEASURES.package(name))}
    return {PACKAGES: packages} if packages else {}


def _practice_marks(practice: Question | None) -> dict[str, Any]:
    return {"practice_marks": practice.marks.as_json()} if practice and practice.marks else {}


def lists_of(question: Question | None) -> dict[str, list[int]] | None:
    """Return a question's lists as plain values."""
    if question is None:
        return None
    return {letter: list(ranks) for letter, ranks in question.lists.items()}


def as_text(content: Any) -> str:
    """Write JSON so that the same content gives the same bytes."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
