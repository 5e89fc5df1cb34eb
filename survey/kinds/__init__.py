"""Kinds of question. A kind is one class: it declares its types, and overrides what is not usual.

Eight members are needed: ``name``, ``plan``, ``question``, ``presentation``, ``answer``, ``draw``,
``show`` and ``analyse``. From the fields that the types declare follow the tables of the database,
the files of a bundle, the form, answers in words, a preview and simulated participants.
"""

from functools import cached_property

from sqlalchemy import MetaData

from survey.core.kind import (
    AnswerT,
    DeclaredQuestion,
    PlanT,
    PresentationT,
    Protocol,
    QuestionT,
    Unvaried,
    declaration_faults,
)
from survey.core.studies.fields import (
    Choice,
    Declared,
    Fault,
    Finding,
    Lines,
    Nested,
    Switch,
    Text,
    Whole,
    declared,
)
from survey.core.studies.plan import Check, Plan
from survey.db.kind_tables import OUTSIDE, declared_tables
from survey.db.models.base import TaskTables
from survey.services.analysis.results import Results
from survey.services.analysis.sheets import Sheet
from survey.services.exchange.kind_files import KindFiles, Record
from survey.services.machines.kind_judge import KindJudge
from survey.services.planning.kind_bot import KindBot
from survey.web.participant.kind_pages import KindPages

__all__ = [
    "Check",
    "Choice",
    "Declared",
    "DeclaredQuestion",
    "Fault",
    "Finding",
    "Kind",
    "Lines",
    "Nested",
    "Plan",
    "Protocol",
    "Record",
    "Results",
    "Sheet",
    "Switch",
    "Text",
    "Unvaried",
    "Whole",
    "declared",
]


class Kind(
    KindFiles[PlanT, QuestionT, PresentationT, AnswerT],
    KindBot[PlanT, QuestionT, PresentationT, AnswerT],
    KindJudge[PlanT, QuestionT, PresentationT, AnswerT],
    KindPages[PlanT, QuestionT, PresentationT, AnswerT],
):
    """A kind of question: subclasses declare its types, and override methods that differ."""

    metadata: MetaData = OUTSIDE

    def __init__(self) -> None:
        """Check the fields that the types declare; raises ValueError naming those at fault."""
        if faults := "; ".join(declaration_faults(self)):
            raise ValueError(faults)

    @cached_property
    def tables(self) -> TaskTables:
        """The kind's tables in the database."""
        types = (self.presentation, self.answer)
        return declared_tables(self.name, *types, self.metadata, self.step)
