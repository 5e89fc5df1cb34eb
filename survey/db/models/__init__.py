"""The tables. Their rules are named constraints of the database: no code path can skip them."""

from typing import cast

from sqlalchemy import Table

from survey.db.models.base import Base, TaskTables, now
from survey.db.models.ordering import (
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredOrderingRevision,
)
from survey.db.models.participant import (
    Browser,
    Erasure,
    Guest,
    Identity,
    Participant,
    Presentation,
    Revision,
    StoredResponse,
)
from survey.db.models.researcher import (
    Event,
    Membership,
    Researcher,
    SignIn,
    SignInLink,
    SignInThrottle,
)
from survey.db.models.study import ConsentText, StoredQuestion, Study

__all__ = [
    "TASK_TABLES",
    "Base",
    "Browser",
    "ConsentText",
    "Erasure",
    "Event",
    "Guest",
    "Identity",
    "Membership",
    "Participant",
    "Presentation",
    "Researcher",
    "Revision",
    "SignIn",
    "SignInLink",
    "SignInThrottle",
    "StoredOrderingAnswer",
    "StoredOrderingPresentation",
    "StoredOrderingRevision",
    "StoredQuestion",
    "StoredResponse",
    "Study",
    "now",
]

# The tables of each kind of question, beside those that all kinds share.
TASK_TABLES: dict[str, TaskTables] = {
    "ordering": TaskTables(
        presentation=cast(Table, StoredOrderingPresentation.__table__),
        response=cast(Table, StoredOrderingAnswer.__table__),
        revision=cast(Table, StoredOrderingRevision.__table__),
    )
}
