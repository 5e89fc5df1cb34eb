"""A study's participants and their progress, without their answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy.orm import Session

from survey import tokens
from survey.core.agreement.attention import Attention
from survey.core.kinds import KINDS
from survey.core.studies.fields import is_storable
from survey.core.studies.plan import Plan
from survey.core.text_input import closest
from survey.db import queries
from survey.db.models import MOST_REFUSALS, Identity, Participant, Study, now
from survey.db.queries import Population
from survey.errors import NotFoundError
from survey.figures.arrivals import arrivals
from survey.figures.exhibit import Exhibit
from survey.services import accounts
from survey.services.participation import participants
from survey.services.participation.answers import REFUSALS
from survey.services.participation.attention import attention_of
from survey.services.participation.queue import has_queue

INTERVALS = (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)  # seconds, of a picture of arrivals
MOST_INTERVALS = 72
MOST_LISTED_PARTICIPANTS = 200  # of each population: the page loads again every five seconds


class Pace(NamedTuple):
    """How many pictures a participant was shown or has sorted; ``seconds``: in which time.

    From the first sight of each question to its last step. What they judged is not in it.
    """

    pictures: int
    seconds: float

    @property
    def a_minute(self) -> float | None:
        """Pictures a minute; None for no time at all."""
        return 60 * self.pictures / self.seconds if self.seconds > 0 else None


@dataclass(frozen=True)
class ListedParticipant:
    """A participant and their progress, as a researcher sees it while a study runs.

    ``page``: the next page in words, or the status of those who have ended. ``asked``: how many
    questions they are asked, so far where these depend on others. ``minutes``: from the
    beginning to the end, or to when they were last seen. ``away``: their slot is released.
    ``pace``: of questions that are answered in steps, None for others and before the first step.
    ``attention``: how many attention checks they have right, in words, and which rules of the plan
    flag them; "" without such. ``is_flagged``: whether they fail a check or a rule flags them.
    """

    participant: Participant
    page: str
    answered: int
    asked: int
    last_seen: datetime
    minutes: float
    away: bool
    pace: Pace | None
    attention: str
    is_flagged: bool


@dataclass(frozen=True)
class ParticipantList:
    """Participants of a population. ``total``: how many there are, whatever their ids begin with.

    ``shown``: those whose id has the prefix, at most MOST_LISTED_PARTICIPANTS, those seen last
    first; ``flags``: how many of these each check and rule of the plan flags.
    """

    shown: Sequence[ListedParticipant]
    total: int
    flags: Mapping[str, int] = field(default_factory=dict)


class StuckParticipant(NamedTuple):
    """A participant whose form was refused several times in a row.

    ``position``: as which question they see it, 0 for practice; ``number``: of the question in the
    study. ``how_often``: in words. ``reason``: the last fault in words, nothing of what they sent.
    """

    public_id: str
    is_test: bool
    position: int
    number: int
    how_often: str
    reason: str


class QuotaGroup(NamedTuple):
    """A group of answers to a personal field: how many hold a slot, and how many can."""

    name: str
    people: int
    most: int

    @property
    def sentence(self) -> str:
        """The two numbers in words."""
        return f"{self.people} of {self.most}{' (full)' if self.people >= self.most else ''}"


@dataclass(frozen=True)
class StudyParticipants:
    """A study's participants: those who count, test data, and excluded ones.

    ``counts``: how many of those who count have each status. ``under_way``: how many of them have
    begun, were seen lately and are not complete. ``arms``: of those who are complete or hold a
    slot, how many are in each arm. ``quotas``: the groups of each field that has some, by its
    label. ``id_prefix``: what the listed ids begin with; it changes no number. ``has_paces``:
    whether questions are answered in steps; ``pace_note``: which pictures count there. ``free``:
    how many more can begin. ``stuck``: whose forms are refused.
    """

    counted: ParticipantList
    test: ParticipantList
    excluded: ParticipantList
    counts: Mapping[str, int]
    under_way: int
    arms: Mapping[str, int]
    quotas: Mapping[str, Sequence[QuotaGroup]]
    id_prefix: str
    has_paces: bool
    pace_note: str
    free: int
    stuck: Sequence[StuckParticipant]
    at: datetime


def list_participants(
    session: Session, study: Study, id_prefix: str = "", most: int = 0
) -> StudyParticipants:
    """List a study's participants whose id has a prefix; count all of its participants.

    The database counts, so at most ``most`` rows of each population are read, by default
    MOST_LISTED_PARTICIPANTS.
    """
    since = participants.slot_cutoff(study)
    status_counts = queries.status_counts(session, study.id, since)
    plan = study.plan

    most = most or MOST_LISTED_PARTICIPANTS

    def participant_list(population: Population) -> ParticipantList:
        total = sum(row.participants for row in status_counts if row.population == population)
        if not total:
            return ParticipantList((), 0)
        rows = queries.recently_seen(session, study.id, population, id_prefix, most)
        answered = queries.answer_counts(session, [row.id for row in rows])
        queued = [row.id for row in rows if has_queue(plan, row)]
        dealt = [row.id for row in rows if plan.blocks and row.informed_at is not None]
        numbered = [*queued, *dealt]
        asked = queries.asked_counts(session, numbered) if numbered else {}
        paces = _paces(session, plan, [row.id for row in rows])
        attention = attention_of(session, study, rows)
        listed = [
            _listed_participant(
                *(row, answered.get(row.id, 0), plan, since),
                asked=asked.get(row.id, 0) if row.id in numbered else plan.asked,
                asked_at_end=asked.get(row.id, 0) if row.id in dealt else plan.asked,
                pace=paces.get(row.id),
                attention=attention,
            )
            for row in rows
        ]
        flags = attention.flagged_by if attention else {}
        return ParticipantList(listed, total, {name: len(each) for name, each in flags.items()})

    arms = queries.arm_counts(session, study.id, since, is_test=False) if study.plan.arms else {}
    counted = [row for row in status_counts if row.population == "counts"]
    counts = Counter[str]()
    for row in counted:
        counts[row.status] += row.participants
    return StudyParticipants(
        counted=participant_list("counts"),
        test=participant_list("test"),
        excluded=participant_list("excluded"),
        counts=counts,
        under_way=counts["started"] - sum(row.participants for row in counted if row.away),
        arms={arm: arms.get(arm, 0) for arm in study.plan.arms},
        quotas=list_quotas(session, study),
        id_prefix=id_prefix,
        has_paces=KINDS[plan.kind].tables.step is not None,
        pace_note=KINDS[plan.kind].pace_note,
        free=participants.free_slots(session, study),
        stuck=_stuck(session, study),
        at=now(),
    )


def list_quotas(session: Session, study: Study) -> dict[str, list[QuotaGroup]]:
    """Return the groups with a quota of each personal field, by the field's label."""
    quotas = {}
    for item in study.plan.quota_fields:
        counts = participants.quota_counts(session, study, item)
        quotas[item.label] = [QuotaGroup(group, counts[group], most) for group, most in item.quotas]
    return quotas


def _stuck(session: Session, study: Study) -> list[StuckParticipant]:
    """Return the participants of a study that is open whose forms are refused."""
    if study.status != "open":
        return []
    return [
        StuckParticipant(
            *(row.public_id, row.is_test, row.position, row.number),
            f"{row.refusals} times" + " or more" * (row.refusals == MOST_REFUSALS),
            REFUSALS.get(row.last_refusal, row.last_refusal),
        )
        for row in queries.stuck_participants(session, study.id)
    ]


def arrivals_of(session: Session, study: Study) -> Exhibit:
    """Return how many participants had begun and finished by when, without test data.

    The database counts, by intervals: of the lengths in INTERVALS, the shortest of which at most
    MOST_INTERVALS are needed.
    """
    first, last = queries.first_and_last_arrival(session, study.id)
    if first is None or last is None:
        return arrivals([])
    span = (last - first).total_seconds()
    fitting = (each for each in INTERVALS if span / each < MOST_INTERVALS)
    seconds = next(fitting, INTERVALS[-1])
    begun, finished = (
        queries.counts_by_time(session, study.id, column, seconds)
        for column in (Participant.started_at, Participant.completed_at)
    )
    numbers = sorted({*begun, *finished})
    totals = (
        accumulate([counts.get(number, 0) for number in numbers], initial=0)
        for counts in (begun, finished)
    )
    ends = [numbers[0], *(number + 1 for number in numbers)]
    moments = (datetime.fromtimestamp(number * seconds, UTC) for number in ends)
    return arrivals([*zip(moments, *totals, strict=True)])


def find_participant(session: Session, study: Study, public_id: str) -> Participant:
    """Return the participant with a public id, or raise NotFoundError."""
    participant = queries.find(session, Participant, study_id=study.id, public_id=public_id[:16])
    if participant is None:
        raise NotFoundError(f"This study has no participant {public_id!r}.")
    return participant


def named_participant(session: Session, study: Study, typed: str) -> Participant:
    """Return a participant by a public id as it was typed, in capitals or not.

    Raises NotFoundError, which names the id that was probably meant: it is for commands.
    """
    public_id = typed.strip().upper()
    try:
        return find_participant(session, study, public_id if is_storable(public_id) else "?")
    except NotFoundError:
        ids = [participant.public_id for participant in queries.participants_of(session, study.id)]
        meant = closest(public_id, ids)
        hint = f" Did you mean {meant}?" if meant else ""
        raise NotFoundError(
            f"{typed} is not in the study {study.slug!r}.{hint} `survey study people {study.slug}` "
            "lists its participants."
        ) from None


def reveal_code(
    session: Session, study: Study, secret_key: str, typed_id: str, who: str
) -> tuple[str, str]:
    """Return the public id and the resume code of a participant, and log who asked for them.

    ``typed_id``: the participant's public id, or a platform's. Raises NotFoundError without one.
    """
    sent = queries.find(session, Identity, study_id=study.id, external_id=typed_id)
    participant = sent.participant if sent else find_participant(session, study, typed_id)
    accounts.log(session, study, who, "code shown", participant.public_id)
    session.commit()
    return participant.public_id, tokens.resume_code(secret_key, participant.public_id)


def _paces(session: Session, plan: Plan, participant_ids: Sequence[int]) -> dict[int, Pace]:
    """Return participants' paces, by row id; none for a kind without steps."""
    kind, step = KINDS[plan.kind], KINDS[plan.kind].tables.step
    paces: dict[int, Pace] = {}
    if step is not None and "documents" in step.c:
        rows = queries.documents_in_steps(session, step, participant_ids, kind.step.looks)
        for row_id, documents, shown_at, saved_at in rows:
            pictures, seconds = paces.get(row_id, Pace(0, 0))
            seconds += (saved_at - (shown_at or saved_at)).total_seconds()
            paces[row_id] = Pace(pictures + documents, seconds)
    return paces


def _listed_participant(
    participant: Participant,
    answered: int,
    plan: Plan,
    since: datetime,
    *,
    asked: int,
    asked_at_end: int,
    pace: Pace | None,
    attention: Attention | None,
) -> ListedParticipant:
    under_way = participant.status == "started"
    last_seen = participant.completed_at or participant.last_seen_at or participant.started_at
    if under_way:
        closing = plan.asked_at_end and participant.closing is None
        end = "closing questions" if closing else "review"
        page = end if answered >= asked_at_end else f"question {answered + 1} of {asked}"
        if asked < asked_at_end and answered >= asked:
            page = "no topic left for now"
        step = participants.step_before_questions(participant)
        page = step.value.replace("_", " ") if step else page
    else:
        page = participant.status.replace("complete", "finished").replace("_", " ")
    return ListedParticipant(
        participant=participant,
        page=page,
        answered=answered,
        asked=asked,
        last_seen=last_seen,
        minutes=(last_seen - participant.started_at).total_seconds() / 60,
        away=under_way and participant.consented_at is not None and last_seen <= since,
        pace=pace,
        attention=attention.sentence(participant.public_id) if attention else "",
        is_flagged=attention is not None and participant.public_id in attention.flagged,
    )
