"""The kind "grouping": sort what is relevant into groups."""

from typing import Any

from survey.core.tasks.grouping import Grouping
from survey.db.models.grouping import TABLES
from survey.kinds import Kind
from survey.services.exchange.grouping import GroupingFiles
from survey.services.planning.grouping_bot import GroupingBot
from survey.web.participant.grouping import GroupingPages


class GroupingKind(  # type: ignore[misc] # each floor's part has types of its own
    Grouping, GroupingFiles, GroupingBot, GroupingPages, Kind[Any, Any, Any, Any]
):
    """The kind, all floors of it."""

    tables = TABLES
