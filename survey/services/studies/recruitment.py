"""How participants come and go: who may begin, which ids are kept, codes, the way back."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlsplit

from survey.core.measures import mentioned_measure
from survey.core.studies.faults import (
    Fault,
    PlanError,
    boolean_faults,
    choice_faults,
    text_faults,
    whole_number_faults,
)
from survey.core.studies.texts import placeholders
from survey.db.records import AnyStudy, StudyRecord

ACCESS = ("public", "personal")
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}\Z")
LONGEST_VALUE = 200
MOST_PARAMETERS = 8
ALWAYS_KNOWN = ("code", "participant_id", "study_id", "session_id")
# Names under which platforms send what a return address calls study_id and session_id.
SAME_AS = {"study_id": ("STUDY_ID", "hitId"), "session_id": ("SESSION_ID", "assignmentId")}


@dataclass(frozen=True)
class Recruitment:
    """What a researcher may change while a study runs; no part of its digest.

    ``access``: "public" (one link for all) or "personal" (guests only).
    ``id_parameter``: the query parameter with the platform's id of a person, kept as
    an identity; ``capture``: others to keep; ``id_required``: nobody begins without.
    Codes for those who complete, decline or are screened out; ``return_url``: where the
    last page leads, with {code}, {participant_id}, {study_id}, {session_id} and captured
    names. ``slot_minutes``: a place not used for so long goes to someone else.

    Raises PlanError with everything that is wrong.
    """

    access: str = "public"
    id_parameter: str = "PROLIFIC_PID"
    capture: tuple[str, ...] = ("STUDY_ID", "SESSION_ID")
    id_required: bool = False
    code_complete: str = ""
    code_declined: str = ""
    code_screened_out: str = ""
    return_url: str = ""
    slot_minutes: int = 180

    def __post_init__(self) -> None:
        object.__setattr__(self, "capture", tuple(self.capture))
        faults = list(self._faults())
        if faults:
            raise PlanError(faults)

    def _faults(self) -> Iterable[Fault]:
        yield from choice_faults("access", self.access, ACCESS)
        yield from boolean_faults("id_required", self.id_required)
        yield from whole_number_faults("slot_minutes", self.slot_minutes, 5, 525_600)
        for name in ("code_complete", "code_declined", "code_screened_out"):
            yield from text_faults(name, getattr(self, name), 100)
        yield from text_faults("return_url", self.return_url, 2_000)
        for place, name in (("id_parameter", self.id_parameter), *self._captured):
            if not (isinstance(name, str) and PARAMETER.match(name)):
                yield Fault(
                    (place,),
                    f"{name!r} found in {place}; a parameter's name has letters, digits, - and _",
                )
        if len(self.capture) > MOST_PARAMETERS:
            yield Fault(("capture",), f"at most {MOST_PARAMETERS} parameters can be captured")
        yield from self._about_return_url()

    @property
    def _captured(self) -> Iterable[tuple[str, str]]:
        return (("capture", name) for name in self.capture)

    def _about_return_url(self) -> Iterable[Fault]:
        if not self.return_url or not isinstance(self.return_url, str):
            return
        place = ("return_url",)
        try:
            parts = urlsplit(self.return_url)
        except ValueError:
            yield Fault(place, "return_url is no address")
            return
        if parts.scheme not in ("http", "https") or not parts.netloc:
            yield Fault(place, "return_url must begin with https:// and name a site")
        try:
            found = placeholders(self.return_url)
        except ValueError:
            yield Fault(place, "return_url holds a single { or }")
            return
        allowed = (*ALWAYS_KNOWN, *self.capture)
        for name in found:
            if name not in allowed:
                shown = ", ".join(f"{{{one}}}" for one in allowed)
                yield Fault(place, f"{{{name}}} found in return_url; allowed are {shown}")
        if "code" in found and not self.code_complete:
            yield Fault(
                ("code_complete",), "return_url has a {code}, so code_complete cannot be empty"
            )

    def kept(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters of an address that are kept, by their configured names.

        Upper and lower case count alike; what is not configured is not kept.
        """
        lowered = {name.lower(): value for name, value in query.items()}
        found = {
            name: lowered.get(name.lower(), "").replace("\0", "").strip()[:LONGEST_VALUE]
            for name in (self.id_parameter, *self.capture)
        }
        return {name: value for name, value in found.items() if value}

    def way_back(self, code: str, parameters: Mapping[str, str]) -> str | None:
        """Return the address that leads a participant back to where they came from."""
        if not self.return_url:
            return None
        values = {name: parameters.get(name, "") for name in self.capture}
        for name, others in SAME_AS.items():
            values[name] = next((parameters[one] for one in others if one in parameters), "")
        values |= {"code": code, "participant_id": parameters.get(self.id_parameter, "")}
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        return self.return_url.format_map(quoted)

    def code_for(self, status: str) -> str:
        """Return the code shown to someone who ended that way."""
        return str(getattr(self, f"code_{status}", ""))

    def as_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


PLATFORMS: Mapping[str, Mapping[str, Any]] = {
    "prolific": {
        "id_parameter": "PROLIFIC_PID",
        "capture": ("STUDY_ID", "SESSION_ID"),
        "return_url": "https://app.prolific.com/submissions/complete?cc={code}",
    },
    "mturk": {
        "id_parameter": "workerId",
        "capture": ("assignmentId", "hitId"),
        "return_url": "",
    },
    "sona": {
        "id_parameter": "survey_code",
        "capture": (),
        "return_url": "https://SCHOOL.sona-systems.com/webstudy_credit.aspx"
        "?experiment_id=NUMBER&credit_token=TOKEN&survey_code={participant_id}",
    },
}
"""What the three best known platforms send, and where they want people back."""


def recruitment_of(study: AnyStudy) -> Recruitment:
    """Return a study's settings."""
    if isinstance(study, StudyRecord):
        return _as_written(study.recruitment_json)
    return Recruitment(**study.recruitment)


@lru_cache(maxsize=100)
def _as_written(settings: str) -> Recruitment:
    return Recruitment(**json.loads(settings))


def recruitment_from(values: Mapping[str, Any]) -> Recruitment:
    """Make settings from plain values; raises PlanError with everything that is wrong."""
    known = {one.name for one in fields(Recruitment)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise PlanError(
            Fault((name,), f"recruitment has no {name!r}; it has {', '.join(sorted(known))}")
            for name in unknown
        )
    if not isinstance(values.get("capture", ()), list | tuple):
        raise PlanError([Fault(("capture",), "capture is a list of names")])
    settings = replace(Recruitment(), **values)
    if faults := [*_giveaways(settings)]:
        raise PlanError(faults)
    return settings


def _giveaways(settings: Recruitment) -> Iterable[Fault]:
    """Give the codes that name a measure; asked when they are set, see ``giveaways_of``."""
    for name in ("code_complete", "code_declined", "code_screened_out"):
        if measure := mentioned_measure(getattr(settings, name)):
            told = f"{name} holds the name of a measure ({measure}), and participants see it"
            yield Fault((name,), told)
