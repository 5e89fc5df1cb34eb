"""The tables. Their rules are named constraints of the database: no code path can skip them."""

from survey.db.models.base import Base
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
]
