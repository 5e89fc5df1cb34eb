"""Read-only records of a study and a participant, for participants' pages.

To change a row, a service loads and locks it.
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
    """What every page needs of a study; ``recruitment_json``: the stored text."""

    id: int
    slug: str
    status: str
    plan: Plan
    recruitment_json: str


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """What every page needs of a participant; ``personal_json``: the stored text."""

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
        """The answers of the page "About you"."""
        return json.loads(self.personal_json)  # type: ignore[no-any-return] # an object


AnyStudy = Study | StudyRecord
AnyParticipant = Participant | ParticipantRecord
