"""The kinds that are put together from a class for each floor, each with types of its own."""

from collections.abc import Sequence
from typing import Any

from survey.core.tasks.grouping import Grouping
from survey.core.tasks.labelling import Labelling
from survey.core.tasks.ordering import Ordering
from survey.db.models import grouping, labelling, ordering
from survey.kinds import Kind
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.grouping import GroupingFiles
from survey.services.exchange.labelling import LabellingFiles
from survey.services.exchange.ordering import OrderingFiles
from survey.services.exchange.tables import Content
from survey.services.planning.grouping_bot import GroupingBot
from survey.services.planning.labelling_bot import LabellingBot
from survey.services.planning.ordering_bot import OrderingBot
from survey.web.participant.grouping import GroupingPages
from survey.web.participant.labelling import LabellingPages
from survey.web.participant.ordering import OrderingPages


class KindInParts(Kind[Any, Any, Any, Any]):
    """A kind whose answers have an analysis of their own; see ``TaskContent``."""

    def analyse(
        self, content: Content, answers: Sequence[Any], options: AnalysisOptions
    ) -> Results:
        """Return the results of the study's answers."""
        results: Results = content.answers.analyse(content, options)
        return results


class OrderingKind(  # type: ignore[misc] # each part has types of its own
    Ordering, OrderingFiles, OrderingBot, OrderingPages, KindInParts
):
    """Vote for the order that is nearest to one's own."""

    tables = ordering.TABLES


class LabellingKind(  # type: ignore[misc] # each part has types of its own
    Labelling, LabellingFiles, LabellingBot, LabellingPages, KindInParts
):
    """Mark what is relevant, in batches."""

    tables = labelling.TABLES


class GroupingKind(  # type: ignore[misc] # each part has types of its own
    Grouping, GroupingFiles, GroupingBot, GroupingPages, KindInParts
):
    """Sort what is relevant into groups."""

    tables = grouping.TABLES
