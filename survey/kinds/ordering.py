"""The kind "ordering": vote for the order that is nearest to one's own, or give one's own."""

from collections.abc import Sequence
from typing import Any

from survey.core.tasks.ordering import Ordering
from survey.db.models import ordering
from survey.kinds import Kind
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.ordering import OrderingFiles
from survey.services.exchange.tables import Content
from survey.services.planning.ordering_bot import OrderingBot
from survey.web.participant.ordering import OrderingPages


class OrderingKind(  # type: ignore[misc] # each part has types of its own
    Ordering, OrderingFiles, OrderingBot, OrderingPages, Kind[Any, Any, Any, Any]
):
    """Vote for the order that is nearest to one's own; see each part."""

    tables = ordering.TABLES

    def analyse(
        self, content: Content, answers: Sequence[Any], options: AnalysisOptions
    ) -> Results:
        """Return the results of the study's answers."""
        results: Results = content.answers.analyse(content, options)
        return results
