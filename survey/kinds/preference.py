"""The kind "preference": say which of two lists is better."""

from typing import Any

from survey.core.tasks.preference import Preference
from survey.db.models.preference import TABLES
from survey.kinds import Kind
from survey.services.exchange.preference import PreferenceFiles
from survey.services.planning.preference_bot import PreferenceBot
from survey.web.participant.preference import PreferencePages


class PreferenceKind(  # type: ignore[misc] # each floor's part has types of its own
    Preference, PreferenceFiles, PreferenceBot, PreferencePages, Kind[Any, Any, Any, Any]
):
    """The kind, all floors of it."""

    tables = TABLES
