"""What is stored about one participant, for that participant: to be seen and taken along.

Which measure was behind which label is not theirs to see while the study runs, and is
stored about the page, not about them; it is left out, and with it the study's digest, which
depends on the measures. What their pages have not shown yet, this does not show before.
"""

from typing import Any

from sqlalchemy.orm import Session

from survey.core.stimuli.rankings import Ranking
from survey.db import queries
from survey.db.models import Participant, Presentation, Revision, StoredResponse
from survey.db.records import AnyParticipant, AnyStudy
from survey.services import presentations


def own_data(session: Session, study: AnyStudy, who: AnyParticipant) -> dict[str, Any]:
    """Return all of it as plain values, ready for JSON."""
    participant = session.get_one(Participant, who.id)
    consent = queries.consent_of(session, participant.consent_id)
    sent = queries.identity_of(session, participant.id)
    guest = queries.guest_of_participant(session, participant.id)
    return {
        "survey": {"title": study.plan.title, "address": study.slug},
        "id": participant.public_id,
        "status": participant.status,
        "began": _moment(participant.started_at),
        "consent": consent
        and {
            "version": consent.version,
            "sha256": consent.digest,
            "agreed": _moment(participant.consented_at),
            "text": consent.text,
        },
        "described": _moment(participant.described_at),
        "about_you": dict(participant.personal),
        "sent_by_a_platform": dict(sent.parameters) if sent else {},
        "name_on_the_guest_list": guest.name if guest else None,
        "read_the_scenario": _moment(participant.informed_at),
        "handed_in": _moment(participant.completed_at),
        "receipt": participant.receipt,
        "last_seen": _moment(participant.last_seen_at),
        "not_counted_because": participant.exclude_reason,
        "questions": [
            _question(study, presentation, response)
            for presentation, response in queries.presentations_with_responses(
                session, participant.id
            )
            if presentation.shown_at is not None
        ],
    }


def _question(
    study: AnyStudy, presentation: Presentation, response: StoredResponse | None
) -> dict[str, Any]:
    blinded = presentations.blinded_question(presentation)
    ranks_first = study.plan.rank_first and presentation.ranked_at is None
    return {
        "question": presentation.position or "practice",
        "lists": {letter: list(ranks) for letter, ranks in blinded.rows},
        "methods": [
            {"label": column.label, "values": dict(column.shown), "order": str(column.ranking)}
            for column in blinded.columns
            if not ranks_first
        ],
        "first_shown": _moment(presentation.shown_at),
        "ranked_before": _order(presentation.ranked_first),
        "answers": [_answer(one) for one in response.history] if response else [],
    }


def _answer(given: Revision) -> dict[str, Any]:
    return {
        "ticked": sorted(given.clicked),
        "own_ordering": _order(given.own),
        "saved": _moment(given.submitted_at),
        "seconds_in_view": given.active_seconds,
    }


def _order(ranking: Ranking | None) -> str | None:
    return None if ranking is None else str(ranking)


def _moment(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat()
