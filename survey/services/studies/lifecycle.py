"""The life of a study: created as a draft, changed, checked, opened, closed, archived, deleted.

Opening freezes a study under its digest. What researchers do is written to the study's log.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from sqlalchemy import delete as sql_delete
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from survey.core.agreement.power_model import smallest_lead
from survey.core.agreement.verdicts import SEEN_AGAIN
from survey.core.kind import TopicRow
from survey.core.kinds import KIND_KEY, KINDS, kind_of
from survey.core.measures import MEASURES, mentioned_measure
from survey.core.preflight import ITEMS, STOP, TOPICS, Showable, Warned, items_checked
from survey.core.studies.fields import Finding, PlanError, is_storable
from survey.core.studies.minutes import (
    LONG_STUDY,
    DocumentLoad,
    are_apart,
    questions_of_short_study,
)
from survey.core.studies.plan import Plan, TaskQuestion, study_digest, text_digest
from survey.core.studies.question_checks import PairCounts, QuestionCheck, count_pairs
from survey.core.text_input import LONGEST_SLUG, SLUG, Json, as_slug, shortened
from survey.core.ways_in import DOCUMENTS, PASSAGES, PICTURES, POSITIONS
from survey.db import item_queries, queries
from survey.db.engine import note_deletion
from survey.db.models import (
    PLAN_CHANGED,
    ConsentText,
    Participant,
    Researcher,
    SlotCount,
    StoredQuestion,
    Study,
    now,
)

# For commands too, which may import services but not survey.db.
from survey.db.queries import all_studies as all_studies
from survey.errors import (
    CannotOpenError,
    ChangedMeanwhileError,
    NotAllowedError,
    NotFoundError,
    ResultsHiddenError,
    SlugError,
    SurveyError,
)
from survey.services import accounts
from survey.services.studies.plans import (
    OwnLists,
    contact_faults,
    fitted,
    is_timed_as_the_paper,
    parse_plan,
    preset_values,
    with_lists,
)
from survey.services.studies.recruitment import Recruitment, recruitment_of
from survey.services.studies.registration import changes_since, read_registration

HOURS_TO_FINISH = 48  # of those under way, once no one new is admitted
FEWEST_TIMED = 5  # participants of whom the time is taken instead of an estimate
NOT_REGISTERED = "not-registered"
NO_ITEMS, CANNOT_SHOW = "no-items", "cannot-show"
# Texts that were meant to be replaced, such as "your e-mail" or <contact>; not <ada@example.org>.
PLACEHOLDER = re.compile(r"\b(todo|tbd|xxx+)\b|\A\W*your\b|<[^<>@/]*>", re.IGNORECASE)
REACHABLE = re.compile(r"[^\s@]@[^\s@.]+\.[^\s@.]|([0-9][\s()./+-]*){5}|(https?://|www\.)[^\s/]")
# What happens if a warning is left that does not stop a study, by where it can be mended.
IF_LEFT = {
    "items": "Participants then see an empty place there.",
    "topics": "Participants then do not see what was searched for.",
    "minutes": "Participants then read a wrong number of minutes.",
    "shuffle_letters": "People then may favour a system by its letter.",
    "show_values": "People then may follow a method by its scores.",
    **dict.fromkeys(
        ("measures", "generator", "lists", "questions", "participants"),
        "The study then opens, and its results may not decide this.",
    ),
    **dict.fromkeys(
        ("title", "purpose", "consent", "scenario", "criterion", "reminder", "question_text"),
        "Participants then can read it, and may answer accordingly.",
    ),
}
# Codes of findings that no reason outweighs.
NEVER_OPENS = ("asked-by", "contact", NO_ITEMS, CANNOT_SHOW)


def create_study(session: Session, slug: str, plan: Plan) -> Study:
    """Draw the plan's questions and store the study as a draft, without members.

    Raises SurveyError for a slug that is taken, malformed or names a measure, and
    for a design from which no questions can be drawn.
    """
    require_valid_slug(session, slug)
    questions = _draw(plan)  # before the first query, which may block participants' answers
    text, created_at = plan.consent, now()
    study = Study(
        slug=slug,
        plan_json=plan.as_json(),
        generator_version=kind_of(plan).generator_version,
        packages=packages_of(plan),
        created_at=created_at,
        questions=_question_rows(questions),
        consent_texts=[
            ConsentText(version=1, text=text, digest=text_digest(text), created_at=created_at)
        ],
    )
    insert_study(session, study)
    session.commit()
    return study


def listed(session: Session, study: Study) -> dict[str, Json]:
    """Return what a list of studies says of one, also of one whose plan cannot be read here."""
    title = str(study.plan_json.get("title", ""))
    facts = {"slug": study.slug, "status": study.status_or_closing, "title": title}
    return {**facts, **progress(session, study)}


def packages_of(plan: Plan) -> dict[str, str]:
    """Return the installed package, with its version, of each measure that is not built in.

    Under KIND_KEY that of the kind of question, where a package brings it.
    """
    names = getattr(plan, "measures", ())
    of_kind = {KIND_KEY: package} if (package := KINDS.packages.get(plan.kind)) else {}
    return {name: package for name in names if (package := MEASURES.package(name))} | of_kind


def insert_study(session: Session, study: Study) -> None:
    """Insert a study; raises SurveyError for a slug that another has, or gets at this moment."""
    slug = study.slug
    session.add(study)
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        free = suggest_slug(session, slug)
        text = f"There is a study {slug!r} already; choose another address; for example {free}."
        raise SlugError(text, free) from None


def create_owned_study(
    session: Session,
    researcher: Researcher | None,
    slug: str,
    plan: Plan,
    recruitment: Recruitment,
) -> Study:
    """Store a draft that belongs to a researcher, or to no account yet, and log it.

    Raises as ``create_study`` does.
    """
    study = create_study(session, slug, plan)
    study.recruitment = recruitment.as_json()
    if researcher is not None:
        accounts.share(session, study, researcher, "owner")
    accounts.log(session, study, researcher.name if researcher else accounts.COMMAND_LINE, "made")
    session.commit()
    return study


def create_study_for(
    session: Session, owner: str | None, slug: str, plan: Plan, recruitment: Recruitment
) -> Study:
    """Store a draft for the researcher of that name; without a name, for the only account."""
    researchers = accounts.all_researchers(session)
    only = researchers[0] if len(researchers) == 1 else None
    researcher = accounts.find_researcher(session, owner) if owner else only
    return create_owned_study(session, researcher, slug, plan, recruitment)


def copy_study(session: Session, study: Study, slug: str, researcher: Researcher) -> Study:
    """Store a draft with the same plan, items and recruitment, without participants."""
    plan, recruitment = study.plan, Recruitment(**study.recruitment)
    session.rollback()  # else participants' answers would wait while the questions are drawn
    draft = create_owned_study(session, researcher, slug, plan, recruitment)
    copy_items(session, study, draft)
    return draft


def copy_items(session: Session, study: Study, draft: Study) -> None:
    """Give a new draft the items, topics and pictures of a study."""
    if study.items_digest is not None:
        item_queries.copy_items(session, study.id, draft.id)
        draft.items_digest, draft.vectors_digest = study.items_digest, study.vectors_digest
    session.commit()


def require_valid_slug(session: Session, slug: str) -> None:
    """Raise SlugError for a slug that is malformed or names a measure."""
    if not SLUG.match(slug) or len(slug) > LONGEST_SLUG:
        fault = (
            f"{shortened(slug)} cannot be the address of a study; lower-case letters, digits and "
            f"single hyphens between them are allowed, {LONGEST_SLUG} characters at most"
        )
    elif measure := mentioned_measure(slug):
        fault = (
            f"The address {slug!r} holds the name of a measure ({measure}), and "
            "participants see it; choose another"
        )
    else:
        return
    free = suggest_slug(session, slug)
    raise SlugError(f"{fault}; for example {free}.", free)


def rename(session: Session, study: Study, slug: str, who: str) -> None:
    """Give a draft another address, and log it; raises as ``create_study`` does for the address."""
    require_draft(study)
    require_valid_slug(session, slug)
    old = study.slug
    if slug == old:
        return
    study = queries.locked_study(session, study)
    require_draft(study)
    study.slug = slug
    insert_study(session, study)
    accounts.log(session, study, who, queries.ADDRESS_CHANGED, f"{old}{queries.BECAME}{slug}")
    session.commit()


def suggest_slug(session: Session, text: str) -> str:
    """Return an address like a text that no study has and that names no measure."""
    words = [each for each in as_slug(text).split("-") if not mentioned_measure(each)]
    slug = "-".join(words)
    if not slug or mentioned_measure(slug):
        slug = f"study-{now().year}"
    free, number = slug, 1
    while queries.find(session, Study, slug=free) is not None:
        number += 1
        tail = f"-{number}"
        free = f"{slug[: LONGEST_SLUG - len(tail)].rstrip('-')}{tail}"
    return free


def find_study(session: Session, slug: str) -> Study:
    """Return the study of that address, or raise NotFoundError."""
    # PostgreSQL rejects some texts that are no slug: those with a NUL.
    study = queries.find(session, Study, slug=slug) if SLUG.match(slug) else None
    if study is None:
        raise NotFoundError(f"There is no study {slug!r}.")
    return study


def only_study(session: Session) -> Study:
    """Return the study if there is exactly one, else raise SurveyError naming all."""
    studies = all_studies(session)
    if len(studies) != 1:
        slugs = ", ".join(study.slug for study in studies)
        raise SurveyError(
            f"Which study? There are: {slugs}." if studies else "There is no study yet."
        )
    return studies[0]


def describe(study: Study) -> dict[str, Any]:
    """Return a study's design, status and digest as plain values, for printing."""
    plan = study.plan
    return {
        "slug": study.slug,
        "title": plan.title,
        "status": study.status_or_closing,
        **admission(study),
        "address": f"/s/{study.slug}",
        "digest": study.digest,
        "kind": plan.kind,
        "questions": plan.questions,
        **kind_of(plan).facts(plan, study.generator_version),
        "seed": plan.seed,
        "practice": plan.practice,
        "target": plan.participants,
    }


def admission(study: Study) -> dict[str, Json]:
    """Return since when a study admits no one new and when it closes; None where it does."""
    times = {"admission_ended_at": study.admission_ended_at, "closes_at": study.closes_at}
    return {name: at.isoformat(timespec="seconds") if at else None for name, at in times.items()}


@dataclass(frozen=True)
class TimeTaken:
    """The minutes that a study promises, and how long those who ``finished`` took."""

    promised: int
    median: float | None
    finished: int

    @property
    def sentence(self) -> str:
        """Promise and median in words; "" before anyone has finished."""
        if self.median is None:
            return ""
        taken = max(1, round(self.median))
        promised = f"{self.promised} minute{'s' * (self.promised != 1)}"
        return f"Promised {promised}; median of {self.finished} who finished: {taken}"


def time_taken(session: Session, study: Study) -> TimeTaken:
    """Return the minutes promised, and the median of those who finished and count."""
    taken = queries.minutes_of_finished(session, study.id)
    return TimeTaken(study.plan.minutes, median(taken) if taken else None, len(taken))


def progress(session: Session, study: Study) -> dict[str, int]:
    """Return the numbers of participants by status, and of those who are excluded or test data."""
    counts = queries.participant_counts(session, study.id)
    people = {
        status: counts.get((status, False, False), 0)
        for status in ("started", "declined", "complete")
    }
    excluded = sum(count for (_, test, out), count in counts.items() if out and not test)
    test = sum(count for (_, test, _), count in counts.items() if test)
    return {**people, "excluded": excluded, "test": test}


def questions_of(study: Study, *, practice: bool = False) -> list[Any]:
    """Return the study's questions, question 0 only with ``practice``."""
    kind = kind_of(study.plan)
    return [
        kind.read_question(row.number, row.content)
        for row in study.questions
        if practice or row.number > 0
    ]


def counted_questions(study: Study) -> list[Any]:
    """Return the study's questions that the analysis counts: no practice, no control question."""
    last = study.plan.questions
    return [question for question in questions_of(study) if question.number <= last]


def _question_rows(questions: Iterable[TaskQuestion]) -> list[StoredQuestion]:
    return [StoredQuestion(number=each.number, content=each.as_json()) for each in questions]


def current_digest(study: Study) -> str:
    """Compute the digest of the study's present content; a frozen study keeps its own."""
    questions = questions_of(study, practice=True)
    return study_digest(study.plan, questions, study.generator_version, study.items_digest)


def require_digest(study: Study, digest: str) -> None:
    """Raise ChangedMeanwhileError for a study that no longer has the digest."""
    if current_digest(study) != digest:
        raise ChangedMeanwhileError(
            "Someone changed the plan while it was being registered, so nothing is stored. Look at "
            "the change, then do it once more."
        )


def version_of(stored: Mapping[str, object]) -> str:
    """Return a short checksum of a stored plan, or of stored settings of recruitment."""
    return text_digest(json.dumps(stored, sort_keys=True))[:16]


def change_plan(session: Session, study: Study, plan: Plan, who: str, version: str = "") -> None:
    """Store another plan for a draft, with newly drawn questions.

    ``version``: of the plan that was changed, by default the one read with ``study``. Raises
    ChangedMeanwhileError for another version, NotAllowedError once the study was opened, and
    SurveyError for a design from which no questions can be drawn.
    """
    require_draft(study)
    version = version or version_of(study.plan_json)
    if plan == study.plan:
        return
    slug = study.slug
    session.rollback()  # else participants' answers would wait while the questions are drawn
    questions = _draw(plan)
    study = queries.locked_study(session, find_study(session, slug))
    require_draft(study)
    _require_version(study.plan_json, version)
    study.questions.clear()
    session.flush()  # delete the old numbers before the new are inserted: they are unique
    study.questions = _question_rows(questions)
    study.generator_version = kind_of(plan).generator_version
    study.packages = packages_of(plan)
    replaced = _replaced_values(study.plan_json, plan.as_json())
    study.plan_json = plan.as_json()
    text = study.consent_texts[0]
    text.text, text.digest, text.created_at = plan.consent, text_digest(plan.consent), now()
    accounts.log(session, study, who, PLAN_CHANGED, json.dumps(replaced, ensure_ascii=False))
    session.commit()


def _replaced_values(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a plan that differ, each with its former value in a list.

    The list is empty for a field that was not stored, as it had its default.
    """
    return {
        name: [before[name]] if name in before else []
        for name in sorted({*before, *after})
        if (name in before, before.get(name)) != (name in after, after.get(name))
    }


def undo_plan(session: Session, study: Study, who: str) -> list[str]:
    """Give a draft the plan that it had before its last change; return which fields differ.

    This is a change too, so a second undo takes the first one back. Raises NotAllowedError where
    the log has no earlier plan.
    """
    require_draft(study)
    changes = (event for event in accounts.events_of(session, study) if event.kind == PLAN_CHANGED)
    last = next(changes, None)
    if last is None or not last.detail:
        raise NotAllowedError(
            f"The log of {study.slug!r} has no earlier plan, so there is nothing to undo."
        )
    replaced = json.loads(last.detail)
    values = {name: value for name, value in study.plan_json.items() if name not in replaced}
    values |= {name: value for name, former in replaced.items() for value in former}
    change_plan(session, study, parse_plan(values), who)
    return [*replaced]


def replace_lists(
    session: Session, study: Study, lists: OwnLists, who: str, version: str = ""
) -> None:
    """Have a draft ask about other lists, and fit its texts to its items.

    Raises as ``change_plan`` does, and PlanError for lists that the plan cannot have.
    """
    require_draft(study)
    change_plan(session, study, with_lists(study.plan, lists), who, version)
    follow_items(session, study, who)


def change_recruitment(
    session: Session, study: Study, recruitment: Recruitment, who: str, version: str = ""
) -> None:
    """Store how people come and go; unlike the plan, it may change while a study is open.

    ``version``: of the settings that were changed, by default the stored ones. Raises
    ChangedMeanwhileError for another version.
    """
    study = queries.locked_study(session, study)
    require_changeable(study)
    if recruitment.as_json() != study.recruitment:
        _require_version(study.recruitment, version)
        study.recruitment = recruitment.as_json()
        accounts.log(session, study, who, "recruitment changed")
    session.commit()


def _require_version(stored: Mapping[str, object], version: str) -> None:
    if version not in ("", version_of(stored)):
        raise ChangedMeanwhileError(
            "Someone else has changed this since the page was opened, so nothing of it is stored. "
            "Look at the change, then send the form again."
        )


def _shown_faults(study: Study) -> Iterator[Finding]:
    """Yield why a kind of another package cannot show a question, before participants find out."""
    plan, kind = study.plan, kind_of(study.plan)
    package = KINDS.packages.get(plan.kind)
    for question in questions_of(study)[:1] if package else ():
        try:
            view = kind.show(question, kind.draw_variant(plan, question, kind.usual_variant(plan)))
            hash(view)  # a page of a question is kept by what it shows
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            text = f"the kind {plan.kind!r} of {package} cannot show it ({cause})"
            yield Finding(question.number, text, failed=True, stops=True, code=CANNOT_SHOW)


def admit_guests_only(session: Session, study: Study, who: str) -> None:
    """Close the public link to new participants, who would take the guests' slots."""
    study = queries.locked_study(session, study)
    change_recruitment(session, study, replace(recruitment_of(study), access="personal"), who)


def check_study(session: Session, study: Study) -> list[Finding]:
    """Return findings; one that has ``failed`` means that the study is broken."""
    findings = [*kind_of(study.plan).findings(study.plan, questions_of(study))]
    findings += _check_findings(study)
    findings += _shown_faults(study)
    findings += [
        Finding(
            None,
            f"the {what} holds the name of a measure ({measure}); participants see it",
            mend=what,
        )
        for what, text in _public_texts(study)
        if (measure := mentioned_measure(text))
    ]
    if study.plan.reason_question:
        findings.append(Finding(None, "participants are asked for a reason for each answer"))
    if names := [item.name for item in study.plan.ask]:
        findings.append(Finding(None, f"beside each question people are asked: {', '.join(names)}"))
    if names := [item.name for item in study.plan.asked_at_end]:
        findings.append(Finding(None, f"participants are asked at the end: {', '.join(names)}"))
    findings += _quota_findings(study.plan)
    findings += _file_findings(study)
    findings += _item_findings(session, study)
    findings += _contact_findings(study.plan)
    findings += _minutes_findings(session, study)
    findings += _registration_findings(study)
    if study.digest is not None and study.digest != current_digest(study):
        findings.append(
            Finding(None, "the content no longer has the digest it was opened with", failed=True)
        )
    return findings


def changes_since_registration(study: Study) -> list[str]:
    """Return what of a study is not as it was registered; empty without a registration."""
    if study.registration is None:
        return []
    registration = read_registration(study.registration)
    return changes_since(registration, study.plan, current_digest(study))


def _registration_findings(study: Study) -> Iterator[Finding]:
    """Yield what a draft is no longer as it was registered, before it opens."""
    if study.status == "draft" and (changed := changes_since_registration(study)):
        text = f"the study is not the registered one; changed: {'; '.join(changed)}"
        yield Finding(None, text, mend="preregister", code=NOT_REGISTERED)


def _quota_findings(plan: Plan) -> Iterator[Finding]:
    """Yield the quotas that do not add up to the participants wanted."""
    for item in plan.quota_fields:
        total = sum(most for _, most in item.quotas)
        text = f"the quotas of {item.name} add up to {total}, and {plan.participants} are wanted"
        if total > plan.participants:
            yield Finding(None, f"{text}: some groups stay short", mend="personal_fields")
        elif total < plan.participants:
            text += ": only people without a group could fill the rest"
            yield Finding(None, text, mend="personal_fields")


def _check_findings(study: Study) -> Iterator[Finding]:
    """Yield what each attention check asks, and when its answer is right."""
    plan, questions = study.plan, {question.number: question for question in questions_of(study)}
    for check in plan.checks:
        text = kind_of(plan).check_in_words(plan, check, questions)
        no_vote = "; it is no vote" if check.is_question else ""
        yield Finding(plan.number_of(check.name), f"{text}{no_vote}")


def _contact_findings(plan: Plan) -> Iterator[Finding]:
    """Yield what participants do not read of who asks and whom they can ask."""
    faults = {str(fault.place[0]): fault.text for fault in contact_faults(plan)}
    for name in ("asked_by", "contact"):
        text = getattr(plan, name)
        if name not in faults and PLACEHOLDER.search(text):
            faults[name] = f"{name} is {shortened(text)}, a placeholder"
        if name in faults:
            yield Finding(None, faults[name], mend=name, stops=True, code=name.replace("_", "-"))
    if "contact" not in faults and not REACHABLE.search(plan.contact):
        text = f"contact is {shortened(plan.contact)}, without an e-mail address, a telephone "
        text += "number or a web address"
        yield Finding(None, text, mend="contact", stops=True, code="no-address")


def _minutes_findings(session: Session, study: Study) -> Iterator[Finding]:
    """Yield how long people took, and whether participants read of very different minutes.

    A preset's number that is much too low stops the opening: the plan was changed and it was not.
    """
    plan = study.plan
    timed = queries.mean_seconds(
        session, study.id, by_clock=KINDS[plan.kind].tables.step is not None
    )
    seconds = median(timed) if len(timed) >= FEWEST_TIMED else None
    text = takes_about(session, study, seconds)
    if seconds is not None:
        text += f", by the median of {len(timed)} who have finished: {seconds:.0f} seconds each"
    documents = documents_of(session, study)
    expected = plan.expected_minutes(documents, seconds)
    if expected > LONG_STUDY and (fewer := _fewer_questions(plan, documents, seconds)):
        long = f"{takes_about(session, study, seconds)}. Ask each person {fewer} of them "
        yield Finding(None, f"{long}(`design: pool`)", mend="design", code="long")
    if are_apart(plan.minutes, expected):
        too_few = plan.minutes < expected and plan.minutes == preset_values("mnro")["minutes"]
        text += f", and participants read “about {plan.minutes}”"
        yield Finding(None, text, mend="minutes", stops=too_few, code="minutes")
    elif seconds is not None:
        yield Finding(None, text, code="minutes")


def _fewer_questions(plan: Plan, documents: DocumentLoad, seconds: float | None) -> int:
    """Return how many questions of a pool make a short study, 0 where there can be no pool.

    ``seconds``: of a question, where they were measured.
    """
    fewer = questions_of_short_study(seconds or plan.seconds_with_reason(documents))
    if plan.design == "pool" or fewer >= plan.questions:
        return 0
    try:
        replace(plan, design="pool", per_participant=fewer)
    except PlanError:  # of a kind whose questions go to all
        return 0
    return fewer


def takes_about(session: Session, study: Study, seconds: float | None = None) -> str:
    """Return how long the study takes each participant, in words without a full stop.

    ``seconds``: of a question, where they were measured.
    """
    plan = study.plan
    minutes = plan.expected_minutes(documents_of(session, study), seconds)
    asked = f"{plan.asked} question takes" if plan.asked == 1 else f"{plan.asked} questions take"
    return f"{asked} about {minutes} minute{'s' * (minutes != 1)}"


def documents_of(session: Session, study: Study) -> DocumentLoad:
    """Return what the study's questions show of its documents: texts, if most have no picture."""
    count, texts = item_queries.item_counts(session, study.id)
    return DocumentLoad(texts=2 * texts > count, count=count or None)


def promise_expected_minutes(session: Session, study: Study) -> None:
    """Store in a new draft's plan how many minutes its questions are expected to take.

    What the paper says of its own number of questions stays.
    """
    plan = study.plan
    if not is_timed_as_the_paper(plan):
        minutes = plan.expected_minutes(documents_of(session, study))
        study.plan_json = replace(plan, minutes=minutes, registered=True).as_json()
        session.commit()


def follow_items(session: Session, study: Study, who: str) -> None:
    """Fit a draft to its items: texts of presets to what is shown, and topics where it has none."""
    plan = study.plan
    known = [topic.topic for topic in item_queries.topics_of(session, study.id)]
    fitting = kind_of(plan).with_topics(plan, known)
    if items := _items_shown(session, study):
        fitting = fitted(fitting, items)
    change_plan(session, study, fitting, who)


def _items_shown(session: Session, study: Study) -> str:
    """Return what texts may call what questions show, "" where there is nothing yet."""
    if not study.plan.has_items:
        return POSITIONS
    load = documents_of(session, study)
    if load.count is None:
        return ""
    if not load.texts:
        return PICTURES
    return DOCUMENTS if item_queries.has_titles(session, study.id) else PASSAGES


def topic_rows(session: Session, study: Study) -> list[TopicRow]:
    """Return the topics to tick in the form of the study's plan."""
    topics = item_queries.topics_of(session, study.id)
    return kind_of(study.plan).topic_rows(study.plan, topics)


def stops_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that keep a draft from being opened."""
    return [each for each in findings if each.stops]


def can_open_anyway(findings: Iterable[Finding]) -> bool:
    """Return whether a reason is enough to open a draft in spite of these findings."""
    return not any(each.code in NEVER_OPENS for each in findings)


def to_mend(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that are no mere remarks, those that break the study first."""
    faulty = [each for each in findings if each.failed or each.mend]
    return sorted(faulty, key=lambda each: not each.failed)


def check_verdict(study: Study, findings: Iterable[Finding]) -> str:
    """Return the sentence that a check begins with, from its findings."""
    verdict = kind_of(study.plan).verdict(study.plan, questions_of(study))
    count = len(to_mend(findings))
    left = f"{count} warning{'s' * (count != 1)}" if count else "no warnings"
    return f"{verdict}; {left}."


def if_left(finding: Finding) -> str:
    """Return what happens if a warning is not heeded, as a sentence; "" for a mere remark."""
    if finding.failed:
        return "Until it is mended, the study cannot be trusted."
    if finding.stops and finding.code in NEVER_OPENS:
        return "Until then the study cannot open."
    if finding.stops:
        return "The study then opens only with a reason, which is logged."
    return IF_LEFT.get(finding.mend, "The study opens all the same.") if finding.mend else ""


def _file_findings(study: Study) -> Iterator[Finding]:
    """Yield what is to be known of the files that the lists come from."""
    provenance = getattr(study.plan, "provenance", None)
    for warned in provenance.warnings if provenance else ():
        stops = warned.level == STOP
        mend = "lists" if stops else ""
        yield Finding(None, warned.text, mend=mend, stops=stops, code=warned.code)
    counts = [
        count
        for of_question in (provenance.unreturned if provenance else ())
        for count in of_question
    ]
    if missing := sum(counts):
        lists = sum(map(bool, counts))
        text = (
            f"{missing:,} relevant document{'s were' if missing > 1 else ' was'} not returned, in "
            f"{lists:,} of {len(counts):,} lists. They count as the last of the collection, and "
            "people read “not returned”"
        )
        yield Finding(None, text, code="not-returned")


def _item_findings(session: Session, study: Study) -> Iterator[Finding]:
    """Yield what is missing of the pictures and texts that the plan wants to show."""
    plan = study.plan
    if getattr(plan, "show_items", False) and not plan.has_items:
        text = "show_items is on, but the lists come from no runs: nothing is shown"
        yield Finding(None, text, mend="lists", stops=True)
    items = item_queries.items_of(session, study.id)
    shown = _shown(session, study)
    if not plan.has_items:
        for warned in items_checked(shown, needed=False) if items else ():
            yield Finding(None, warned.text, code=warned.code)
        return
    if not items:
        text = "the study has no pictures or texts of documents yet"
        yield Finding(None, text, mend="items", stops=True, code=NO_ITEMS)
        return
    absent = item_queries.absent_pictures(session, study.id)
    if absent:
        what = f"{len(absent)} picture{'s are' if len(absent) > 1 else ' is'} not here"
        text = f"{what}; add the same files again under “Pictures and topics”"
        yield Finding(None, text, mend="items", stops=True)
    said_of_all = set()  # and not again of each question
    for warned in items_checked(shown, needed=True):
        is_missing = warned.code in ("items-missing", "topics-without-text")
        if is_missing and warned.count == warned.total:
            said_of_all.add(warned.of)
        is_nothing = warned.level == STOP and warned.of == ITEMS
        yield Finding(
            None,
            warned.text,
            mend="items" if is_missing else "",
            stops=is_missing,
            code=NO_ITEMS if is_nothing else warned.code,
        )
    for row in study.questions:
        yield from _lacking(row, shown, said_of_all)
    topics = item_queries.topics_of(session, study.id)
    yield from kind_of(plan).item_findings(plan, items, topics)


def warnings_of(session: Session, study: Study, *, so_far: bool = False) -> list[Warned]:
    """Return what is to be known of the files that a study was made of.

    ``so_far``: leave out items, or topics, where there are none yet.
    """
    provenance = getattr(study.plan, "provenance", None)
    warnings = [*provenance.warnings] if provenance else []
    return [*warnings, *compared_items(session, study, so_far=so_far)]


def compared_items(session: Session, study: Study, *, so_far: bool = True) -> list[Warned]:
    """Compare a study's items and topics with its questions; ``so_far``: see ``warnings_of``."""
    shown = _shown(session, study)
    complete = study.plan.has_items and not so_far
    compared = items_checked(shown, needed=study.plan.has_items)
    if not (complete or {*shown.items} - {*shown.other_items}):
        compared = [warning for warning in compared if warning.of != ITEMS]
    if not (complete or shown.topics):
        compared = [warning for warning in compared if warning.of != TOPICS]
    return compared


def _shown(session: Session, study: Study) -> Showable:
    """Return what the questions of a study name, and what there is to show of it."""
    nothing = {*item_queries.absent_pictures(session, study.id), None}
    items = item_queries.items_of(session, study.id)
    topics = item_queries.topics_of(session, study.id)
    documents: dict[str, set[str]] = {}
    for row in study.questions:
        if named := _named_documents(row):
            topic, of_topic = named
            documents[topic] = documents.get(topic, set()) | of_topic
    return Showable(
        documents,
        items={each.document for each in items},
        seen_items={each.document for each in items if each.sha256 not in nothing or each.has_text},
        topics={each.topic for each in topics},
        seen_topics={each.topic for each in topics if each.sha256 not in nothing or each.text},
        other_items={
            *study.plan.further_documents,
            *(topic.image for topic in topics if topic.image),
        },
    )


def _named_documents(row: StoredQuestion) -> tuple[str, set[str]] | None:
    """Return the topic of a question and the documents of its lists; None where it has no topic."""
    source = row.content.get("source", row.content)
    if "topic" not in source:
        return None
    listed = source.get("documents", ())  # by list, or all of a topic
    lists = listed.values() if isinstance(listed, dict) else [listed]
    return source["topic"], {document for some in lists for document in some}


def _lacking(row: StoredQuestion, shown: Showable, said: Collection[str]) -> Iterator[Finding]:
    """Yield which documents and topic of a question have neither a picture nor a text.

    ``said``: ITEMS or TOPICS, of which nothing is to be said.
    """
    named = _named_documents(row)
    if named is None:
        return
    topic, documents = named
    missing = sorted(documents.difference(shown.seen_items))
    if missing and ITEMS not in said:
        verb = "has" if len(missing) == 1 else "have"
        text = f"{len(missing)} of {len(documents)} documents {verb} no picture or text"
        yield Finding(row.number, f"{text}, such as {missing[0]}")
    if topic not in shown.seen_topics and TOPICS not in said:
        yield Finding(row.number, f"the topic {topic} has no picture or text")


def question_checks(study: Study) -> list[QuestionCheck]:
    """Compare the measures' orders, practice first, without control questions.

    Questions of other kinds are not compared.
    """
    last = study.plan.questions
    questions = questions_of(study, practice=True)
    kept = (each for each in questions if each.number <= last)
    return kind_of(study.plan).question_checks(kept)


def pair_counts(study: Study, checks: Sequence[QuestionCheck]) -> list[PairCounts]:
    """Count how the measures' orders differ, and what a study of its size can find of them."""
    plan = study.plan

    def smallest(balanced: int) -> float | None:
        return smallest_lead(plan.participants, balanced, plan.counted / plan.questions)

    return count_pairs(checks, smallest)


def headings(study: Study) -> dict[str, str]:
    """Return the column heading of each measure's values: 1-AP for AP, so that lower is better."""
    return kind_of(study.plan).headings(study.plan)


def chance_advantage(study: Study) -> dict[str, float]:
    """Return the expected credits per response if participants click columns at random."""
    return kind_of(study.plan).chance_advantage(study.plan, counted_questions(study))


def _public_texts(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the texts of pages, their sources and their addresses, each after its name.

    The slug is left out: ``require_valid_slug`` has checked it.
    """
    yield from study.plan.public_texts()
    settings = recruitment_of(study)
    yield "return_url", settings.return_url
    yield "id_parameter", settings.id_parameter
    yield "capture", "\n".join(settings.capture)


def open_study(
    session: Session,
    study: Study,
    who: str = accounts.COMMAND_LINE,
    reason: str = "",
    anyway: str = "",
) -> None:
    """Freeze a draft under its digest, open it and log it; a closed study opens again.

    While it was closed, its results could be seen; if it has answers, this is stored as a look at
    them, with the ``reason`` for going on. ``anyway``: why a draft opens in spite of findings that
    stop it; it is logged with them. An open study that admits no one new admits people again.
    Raises NotAllowedError for another open study and for an imported or archived one, and
    CannotOpenError for a draft that has such findings.
    """
    study = queries.locked_study(session, study)  # waits for a plan that is being saved
    require_changeable(study)
    if study.status == "open":
        _admit_again(session, study, who)
        return
    reopened = study.status == "closed"
    if not reopened:
        _require_can_open(session, study, who, anyway)
        study.digest = current_digest(study)
        study.opened_at = now()
    if needs_reason_to_open(session, study):
        _store_look(session, study, study.closed_at or now(), reason)
    study.status = "open"
    study.closed_at = study.admission_ended_at = study.closes_at = None
    detail = reason if reopened else study.digest or ""
    accounts.log(session, study, who, "reopened" if reopened else "opened", detail)
    session.commit()


def _require_can_open(session: Session, study: Study, who: str, anyway: str) -> None:
    """Raise CannotOpenError for a draft that its check stops; where a reason is enough, log it."""
    stops = stops_of(check_study(session, study))
    if not stops:
        return
    reasons = "; ".join(each.text for each in stops)
    if not can_open_anyway(stops) or not anyway.strip():
        raise CannotOpenError(f"The study {study.slug!r} cannot open: {reasons}.")
    accounts.log(session, study, who, "opened anyway", f"{_checked_reason(anyway, '')}: {reasons}")


def _admit_again(session: Session, study: Study, who: str) -> None:
    if study.admission_ended_at is None:
        raise NotAllowedError(f"The study {study.slug!r} is open already.")
    study.admission_ended_at = study.closes_at = None
    accounts.log(session, study, who, "admits people again")
    session.commit()


def needs_reason_to_open(session: Session, study: Study) -> bool:
    """Return whether opening a study goes on after its results could be seen."""
    is_own = study.imported_from is None and study.archived_at is None
    return is_own and study.status == "closed" and queries.has_real_answers(session, study.id)


def close_study(session: Session, study: Study, who: str = accounts.COMMAND_LINE) -> None:
    """Close an open study and log it: no more answers are accepted, results may be seen."""
    study = queries.locked_study(session, study)
    if study.status != "open":
        raise NotAllowedError(f"The study {study.slug!r} is not open, so it cannot be closed.")
    study.status = "closed"
    study.closed_at = now()
    accounts.log(session, study, who, "closed")
    session.commit()


def end_admission(
    session: Session,
    study: Study,
    who: str = accounts.COMMAND_LINE,
    *,
    hours: int = HOURS_TO_FINISH,
) -> None:
    """Admit no one new to an open study and log it: those under way can finish within the hours.

    Results stay hidden until it is closed. Raises NotAllowedError for a study that is not open, or
    that admits no one new already.
    """
    study = queries.locked_study(session, study)
    if study.status != "open":
        raise NotAllowedError(f"The study {study.slug!r} is not open, so no one can begin.")
    if study.admission_ended_at is not None:
        raise NotAllowedError(f"The study {study.slug!r} admits no one new already.")
    study.admission_ended_at = now()
    study.closes_at = study.admission_ended_at + timedelta(hours=hours)
    accounts.log(session, study, who, "admits no one new", f"closes within {hours} hours")
    session.commit()


def archive(session: Session, study: Study, who: str) -> None:
    """Archive a study: it is listed separately and cannot be opened."""
    study = queries.locked_study(session, study)
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you archive it.")
    study.archived_at = study.archived_at or now()
    accounts.log(session, study, who, "archived")
    session.commit()


def unarchive(session: Session, study: Study, who: str) -> None:
    """List an archived study among the others again."""
    study = queries.locked_study(session, study)
    study.archived_at = None
    accounts.log(session, study, who, "brought back")
    session.commit()


def delete(session: Session, study: Study, who: str) -> None:
    """Delete a study with its participants and answers; its log stays."""
    study = queries.locked_study(session, study)
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you delete it.")
    accounts.log(session, study, who, "deleted", study.digest or "")
    # Their count first, else each participant would be subtracted from it.
    session.execute(sql_delete(SlotCount).where(SlotCount.study_id == study.id))
    # Participants before the study: their presentations refer to the questions.
    session.execute(sql_delete(Participant).where(Participant.study_id == study.id))
    session.delete(study)
    note_deletion(session)
    session.commit()


def exclude(
    session: Session, study: Study, participant: Participant, who: str, reason: str
) -> None:
    """Exclude a participant's answers from the results; they stay stored.

    Raises SurveyError without a reason, and NotAllowedError for someone who is excluded already.
    """
    study = queries.locked_study(session, study)
    participant = queries.locked_participant(session, participant)
    require_changeable(study)
    if participant.excluded:
        raise NotAllowedError(
            f"{participant.public_id} is excluded already: {participant.exclude_reason}."
        )
    missing = "Say why this participant is excluded; the reason is exported."
    reason = _checked_reason(reason, missing)
    participant.excluded, participant.exclude_reason = True, reason
    accounts.log(session, study, who, "excluded", f"{participant.public_id}: {reason}")
    session.commit()


def include(session: Session, study: Study, participant: Participant, who: str) -> None:
    """Count the answers of an excluded participant again; raises NotAllowedError for others."""
    study = queries.locked_study(session, study)
    participant = queries.locked_participant(session, participant)
    require_changeable(study)
    if not participant.excluded:
        raise NotAllowedError(f"{participant.public_id} is not excluded.")
    participant.excluded, participant.exclude_reason = False, None
    accounts.log(session, study, who, "included again", participant.public_id)
    session.commit()


def unblind(session: Session, study: Study, who: str, reason: str) -> None:
    """Allow the results of an open study to be seen; log the reason.

    Raises NotAllowedError for a draft and for a closed study.
    """
    reason = _checked_reason(reason, "Say why the results are needed before the study is closed.")
    study = queries.locked_study(session, study)
    if study.status != "open":
        raise NotAllowedError(
            f"This study is {study.status}; only an open one can show results before its end."
        )
    if study.unblinded_at is None:
        study.unblinded_at = now()
        _store_look(session, study, study.unblinded_at, reason)
    accounts.log(session, study, who, "unblinded", reason)
    session.commit()


def log_early_results(session: Session, study: Study, who: str, what: str) -> bool:
    """Log that results were computed while the study is open and blind; return whether so.

    If they include answers of real participants, the study counts as unblinded from now on.
    Of a study that is unblinded, another look is stored as ``note_look`` does.
    """
    study = queries.locked_study(session, study)
    is_early = study.status == "open" and not shows_results(study)
    if is_early:
        accounts.log(session, study, who, "unblinded", f"{what}, before the study was closed")
        if queries.has_real_answers(session, study.id):
            study.unblinded_at = now()
            _store_look(session, study, study.unblinded_at, what)
    elif has_new_look(session, study):
        _store_look(session, study, now(), SEEN_AGAIN)
    session.commit()
    return is_early


def has_new_look(session: Session, study: Study) -> bool:
    """Return whether more participants have finished than at the last look at an open study."""
    if study.status != "open" or not shows_results(study):
        return False
    before = max((look["participants"] for look in study.looks), default=0)
    return progress(session, study)["complete"] > before


def note_look(session: Session, study: Study) -> None:
    """Store that results of an open study were seen again, if more participants have finished."""
    study = queries.locked_study(session, study)
    if has_new_look(session, study):
        _store_look(session, study, now(), SEEN_AGAIN)
    session.commit()


def _store_look(session: Session, study: Study, at: datetime, reason: str) -> None:
    """Store that results could be seen, and how many participants had finished by now."""
    look = {
        "at": at.isoformat(timespec="seconds"),
        "participants": progress(session, study)["complete"],
        "reason": _checked_reason(reason.strip() or "no reason was given", ""),
    }
    # A new list: a change inside the stored one would not be noticed.
    study.looks = [*study.looks, look]


def shows_results(study: Study) -> bool:
    """Return whether results per measure may be seen: the study is closed or unblinded."""
    return study.status == "closed" or study.unblinded_at is not None


def require_results(study: Study) -> None:
    """Raise ResultsHiddenError for a draft, and while ``shows_results`` is false."""
    if study.status == "draft":
        raise ResultsHiddenError("The study is a draft, so there is no bundle yet.")
    if not shows_results(study):
        raise ResultsHiddenError(
            "A bundle holds the votes per measure, which stay hidden until the study is closed. "
            "The page “Results” says how to see them earlier."
        )


def require_draft(study: Study) -> None:
    """Raise NotAllowedError for a study that was opened."""
    if study.status != "draft":
        raise NotAllowedError(
            "The study was opened, so its content is frozen. Copy it to change something."
        )


def require_not_imported(study: Study) -> None:
    """Raise NotAllowedError for an imported study, which is read-only."""
    if study.imported_from is not None:
        raise NotAllowedError(
            "This study was imported; it can be looked at, not run. To run it with people of "
            "your own, copy it on its overview."
        )


def require_changeable(study: Study) -> None:
    """Raise NotAllowedError for an imported study, and for one in the archive."""
    require_not_imported(study)
    if study.archived_at is not None:
        raise NotAllowedError("This study is in the archive; bring it back first.")


def _draw(plan: Plan) -> list[TaskQuestion]:
    """Draw a plan's questions; raise SurveyError if it names a measure to participants."""
    if faults := plan.giveaways():
        raise SurveyError(f"{'; '.join(fault.text for fault in faults)}.")
    try:
        return plan.draw_questions()
    except ValueError as error:
        raise SurveyError(f"The questions cannot be drawn: {error}.") from error
    except Exception as error:
        if (package := KINDS.packages.get(plan.kind)) is None:
            raise
        text = f"the kind {plan.kind!r} of {package} could not draw the questions"
        cause = f"{type(error).__name__}: {error}"
        raise SurveyError(f"{text} ({cause}); tell whoever wrote that package") from error


def _checked_reason(reason: str, if_missing: str) -> str:
    """Return a reason without blanks at its ends; raise SurveyError if it cannot be stored."""
    if not reason.strip():
        raise SurveyError(if_missing)
    if not is_storable(reason):
        raise SurveyError("The reason holds a character that cannot be stored; type it again.")
    return reason.strip()
