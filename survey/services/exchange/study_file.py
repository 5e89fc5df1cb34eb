"""study.json: what a bundle's tables do not say of a study, written and read."""

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import starmap
from typing import Any

import numpy as np

from survey import __version__
from survey.core.studies.participant_fields import ParticipantRecord
from survey.core.studies.plan import Plan
from survey.core.tasks import DEFAULT, plan_from_json
from survey.db.export_queries import EXPORTED
from survey.db.models import Study
from survey.services.exchange.input_files import BundleError, CsvRow, Files, json_of
from survey.services.exchange.tables import SEEN, STUDY, Content, batched, listed_values
from survey.services.exchange.tasks import TASK_FILES, files_of_kind

FORMAT = 1
STUDY_STATUSES = listed_values(Study.status)
TIMES = ("opened_at", "closed_at", "unblinded_at")
KEYS: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(TIMES, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}
# Columns in which people wrote what they liked: neither an id nor one of listed values.
FREE_TEXTS = [
    name
    for name, column in EXPORTED.items()
    if column.type.python_type is str and name != "public_id" and not listed_values(column)
]

# Where study.json has the participants' texts: no string holds a line break, no other key this
# indentation.
NO_TEXTS = '\n  "texts": {}'


def study_json(content: Content) -> str:
    """Return the text that ``study_lines`` yields."""
    return "".join(study_lines(content))


def study_lines(content: Content) -> Iterator[str]:
    """Yield study.json piece by piece, since a million participants may have written texts.

    The tables may hold these texts escaped; study.json has them unchanged.
    """
    before, after = as_text(_study_metadata(content)).split(NO_TEXTS)
    yield before + NO_TEXTS.removesuffix("}")
    separator = ""
    pairs = ((each.public_id, texts_of(each)) for each in content.participants())
    for batch in batched((public_id, texts) for public_id, texts in pairs if texts):
        yield separator + ",".join(starmap(_texts_json, batch))
        separator = ","
    yield ("\n  }" if separator else "}") + after


def texts_of(participant: ParticipantRecord) -> dict[str, str]:
    """Return the texts among a participant's cells, which participants.csv escapes, by column."""
    cells = {**participant.personal, **{name: getattr(participant, name) for name in FREE_TEXTS}}
    return {name: cell for name, cell in cells.items() if isinstance(cell, str)}


def _texts_json(public_id: str, texts: Mapping[str, str]) -> str:
    value = _as_value(frozenset(texts.items()))
    return f"\n    {json.dumps(public_id, ensure_ascii=False)}: {value}"


@lru_cache(SEEN)  # most are the options of a choice, the same for many
def _as_value(texts: frozenset[tuple[str, str]]) -> str:
    return as_text(dict(texts)).rstrip("\n").replace("\n", "\n    ")


def _study_metadata(content: Content) -> dict[str, Any]:
    plan, kind = content.plan, files_of_kind(content.plan)
    return {
        "format": FORMAT,
        "slug": content.slug,
        "title": plan.title,
        "status": content.status,
        "digest": content.digest,
        "generator_version": content.generator_version,
        "seed": plan.seed,
        "opened_at": _time_text(content.opened_at),
        "closed_at": _time_text(content.closed_at),
        "unblinded_at": _time_text(content.unblinded_at),
        "include_test": content.include_test,
        "plan": plan.as_json(),
        **kind.practice_entries(content.practice),
        "consent": [vars(consent) for consent in content.consents],
        "texts": {},
        "versions": {
            "survey": __version__,
            "python": ".".join(map(str, sys.version_info[:2])),
            "numpy": np.__version__,
        },
        **kind.study_entries(plan),
    }


def as_text(content: Any) -> str:
    """Write JSON so that the same content gives the same bytes."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _time_text(time: datetime | None) -> str | None:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time else None


def read_study(files: Files) -> dict[str, Any]:
    """Return the values of study.json; raises BundleError where one is missing or cannot be."""
    study = json_of(files, STUDY)
    if study.get("format") != FORMAT:
        raise BundleError(
            f"{STUDY}, format: {study.get('format')!r} found; this version of the survey reads "
            f"format {FORMAT}"
        )
    for key, kind in KEYS.items():
        if key not in study or not isinstance(study[key], kind):
            raise BundleError(f"{STUDY}, {key}: {study.get(key)!r} found, or it is missing")
    for consent in study["consent"]:
        kinds = {"version": int, "text": str, "digest": str}
        if not isinstance(consent, dict) or {k: type(v) for k, v in consent.items()} != kinds:
            raise BundleError(f"{STUDY}, consent: version, text and digest are needed")
    if study["status"] not in STUDY_STATUSES:
        raise BundleError(
            f"{STUDY}, status: {study['status']!r} found; allowed are {', '.join(STUDY_STATUSES)}"
        )
    return study


def study_plan(study: Mapping[str, Any]) -> Plan:
    """Return the plan in study.json; raises BundleError saying what it lacks here."""
    try:
        return plan_from_json(study["plan"])
    except (ValueError, TypeError) as error:
        kind = TASK_FILES.get(str(study["plan"].get("kind", DEFAULT)))
        why = "" if kind is None else kind.why_not_read(study)
        raise BundleError(f"{STUDY}, plan: {error}{why}") from None


def study_times(study: Mapping[str, Any]) -> dict[str, datetime | None]:
    """Return when the study was opened, closed and unblinded, by the key in study.json."""
    row = CsvRow(STUDY, 1, {key: study[key] or "" for key in TIMES})
    return {key: row.optional_time(key) for key in TIMES}
