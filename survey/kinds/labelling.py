"""The kind "labelling": mark what is relevant, in batches."""

from typing import Any

from survey.core.tasks.labelling import Labelling
from survey.db.models.labelling import TABLES
from survey.kinds import Kind
from survey.services.exchange.labelling import LabellingFiles
from survey.services.planning.labelling_bot import LabellingBot
from survey.web.participant.labelling import LabellingPages


class LabellingKind(  # type: ignore[misc] # each floor's part has types of its own
    Labelling, LabellingFiles, LabellingBot, LabellingPages, Kind[Any, Any, Any, Any]
):
    """The kind, all floors of it."""

    tables = TABLES
