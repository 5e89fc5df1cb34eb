"""Studies and participants as the participants' pages read them: values that nobody can change.

To change one, a service loads the row itself, locked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from survey.core.studies.plan import Plan
from survey.db.models import Participant, Study


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A study as it is asked for by every page; ``recruitment_json``: as it is written."""

    id: int
    slug: str
    status: str
    plan: Plan
    recruitment_json: str


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """How far a participant has come; ``personal_json``: what they said, as it is written."""

    id: int
    study_id: int
    public_id: str
    status: str
    is_test: bool
    personal_json: str
    receipt: str | None
    started_at: datetime
    consented_at: datetime | None
    described_at: datetime | None
    informed_at: datetime | None
    last_seen_at: datetime | None

    @property
    def personal(self) -> Mapping[str, Any]:
        """What they said about themselves."""
        return json.loads(self.personal_json)  # type: ignore[no-any-return] # an object


AnyStudy = Study | StudyRecord
AnyParticipant = Participant | ParticipantRecord
