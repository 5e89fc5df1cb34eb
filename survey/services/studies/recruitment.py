"""Recruitment: who may begin, which ids are stored, completion codes, the return address."""

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
BUILT_IN_NAMES = ("code", "participant_id", "study_id", "session_id")
# The parameters in which platforms send what a return address calls study_id and session_id.
PLATFORM_NAMES = {"study_id": ("STUDY_ID", "hitId"), "session_id": ("SESSION_ID", "assignmentId")}


@dataclass(frozen=True)
class Recruitment:
    """Settings that are no part of the digest, so that they may change while a study is open.

    ``access``: "public" (a common link) or "personal" (guests only).
    ``id_parameter``: the query parameter with the platform's id of a person, stored as
    an identity; ``capture``: other parameters to store; ``id_required``: refuse participants
    without an id. ``code_…``: the codes shown to those who complete, decline or are screened
    out. ``return_url``: where the last page leads, with {code}, {participant_id}, {study_id},
    {session_id} and captured names. ``slot_minutes``: when an unused slot is released.

    Raises PlanError with all faults.
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
        yield from self._return_url_faults()

    @property
    def _captured(self) -> Iterable[tuple[str, str]]:
        return (("capture", name) for name in self.capture)

    def _return_url_faults(self) -> Iterable[Fault]:
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
            names = placeholders(self.return_url)
        except ValueError:
            yield Fault(place, "return_url holds a single { or }")
            return
        allowed = (*BUILT_IN_NAMES, *self.capture)
        for name in names:
            if name not in allowed:
                shown = ", ".join(f"{{{known}}}" for known in allowed)
                yield Fault(place, f"{{{name}}} found in return_url; allowed are {shown}")
        if "code" in names and not self.code_complete:
            yield Fault(
                ("code_complete",), "return_url has a {code}, so code_complete cannot be empty"
            )

    def stored_parameters(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the configured parameters of a query, ignoring upper and lower case.

        All others are dropped: they may be personal data.
        """
        lowered = {name.lower(): value for name, value in query.items()}
        values = {
            name: lowered.get(name.lower(), "").replace("\0", "").strip()[:LONGEST_VALUE]
            for name in (self.id_parameter, *self.capture)
        }
        return {name: value for name, value in values.items() if value}

    def return_address(self, code: str, parameters: Mapping[str, str]) -> str | None:
        """Return the filled-in return address of a participant, None without a return_url."""
        if not self.return_url:
            return None
        values = {name: parameters.get(name, "") for name in self.capture}
        for name, sent_as in PLATFORM_NAMES.items():
            values[name] = next((parameters[sent] for sent in sent_as if sent in parameters), "")
        values |= {"code": code, "participant_id": parameters.get(self.id_parameter, "")}
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        return self.return_url.format_map(quoted)

    def code_for(self, status: str) -> str:
        """Return the code for a participant of that status, "" without a code."""
        return str(getattr(self, f"code_{status}", ""))

    def as_json(self) -> dict[str, Any]:
        """Return the settings as a dictionary to store."""
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
"""Settings for the three best known platforms: the parameters they send, the return address."""


def recruitment_of(study: AnyStudy) -> Recruitment:
    """Return a study's recruitment settings, parsed once for the same stored text."""
    if isinstance(study, StudyRecord):
        return _parsed(study.recruitment_json)
    return Recruitment(**study.recruitment)


@lru_cache(maxsize=100)
def _parsed(settings: str) -> Recruitment:
    return Recruitment(**json.loads(settings))


def recruitment_from(values: Mapping[str, Any]) -> Recruitment:
    """Parse settings from plain values; raise PlanError with all faults."""
    known = {field.name for field in fields(Recruitment)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise PlanError(
            Fault((name,), f"recruitment has no {name!r}; it has {', '.join(sorted(known))}")
            for name in unknown
        )
    if not isinstance(values.get("capture", ()), list | tuple):
        raise PlanError([Fault(("capture",), "capture is a list of names")])
    settings = replace(Recruitment(), **values)
    if faults := [*_code_faults(settings)]:
        raise PlanError(faults)
    return settings


def _code_faults(settings: Recruitment) -> Iterable[Fault]:
    """Yield a fault for each code that names a measure.

    Not checked in the constructor: a study must stay usable when a later version registers a
    measure of that name.
    """
    for name in ("code_complete", "code_declined", "code_screened_out"):
        if measure := mentioned_measure(getattr(settings, name)):
            text = f"{name} holds the name of a measure ({measure}), and participants see it"
            yield Fault((name,), text)
