"""The kind "ordering": vote for the order that is nearest to one's own."""

from typing import Any

from survey.core.tasks.ordering import Ordering
from survey.db.models.ordering import TABLES
from survey.kinds import Kind
from survey.services.exchange.ordering import OrderingFiles
from survey.services.planning.ordering_bot import OrderingBot
from survey.web.participant.ordering import OrderingPages


class OrderingKind(  # type: ignore[misc] # each floor's part has types of its own
    Ordering, OrderingFiles, OrderingBot, OrderingPages, Kind[Any, Any, Any, Any]
):
    """The kind, all floors of it."""

    tables = TABLES
