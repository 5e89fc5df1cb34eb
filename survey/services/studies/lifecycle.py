"""A study's life: made from a plan, checked, opened (and thereby frozen), closed.

What a researcher does to a study beside opening and closing it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import delete as sql_delete
from sqlalchemy.orm import Session

from survey.clock import now
from survey.core.measures import mentioned_measure
from survey.core.studies.digests import study_digest, text_digest
from survey.core.studies.faults import is_storable
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import Plan, giveaways_of
from survey.core.studies.questions import Question
from survey.core.studies.texts import SLUG
from survey.db import study_queries
from survey.db.engine import lock_globally
from survey.db.models import ConsentText, Participant, Researcher, StoredQuestion, Study
from survey.errors import NotAllowedError, NotFoundError, ResultsHiddenError, SurveyError
from survey.services.accounts import access, researchers
from survey.services.studies.plans import preset_plan
from survey.services.studies.recruitment import Recruitment

# The demo draws the same lists everywhere, so that people can talk about them.
DEMO_SLUG = "five-systems"
# In 3 of its 10 questions two measures order the lists alike, as in 3 of the paper's sets.
DEMO_SEED = 2039


def create_study(session: Session, slug: str, plan: Plan) -> Study:
    """Draw the plan's questions and store the study as a draft.

    Raises SurveyError for a slug that is taken, malformed or names a measure, and
    for a design that leaves no questions to draw.
    """
    refuse_slug(slug)
    refuse_giveaways(plan)
    questions = draw(plan)  # before the first query: nobody's answer waits while they are drawn
    if study_queries.study_by_slug(session, slug):
        raise SurveyError(f"There is a study {slug!r} already.")
    study = Study(
        slug=slug,
        plan_json=plan.as_json(),
        generator_version=GENERATOR_VERSION,
        created_at=now(),
        questions=[StoredQuestion.of(question) for question in questions],
        consent_texts=[
            ConsentText(
                version=1, text=plan.consent, digest=text_digest(plan.consent), created_at=now()
            )
        ],
    )
    session.add(study)
    session.commit()
    return study


def refuse_giveaways(plan: Plan) -> None:
    """Raise SurveyError where participants would read a measure's name."""
    if faults := giveaways_of(plan):
        raise SurveyError(f"{'; '.join(fault.text for fault in faults)}.")


def refuse_slug(slug: str) -> None:
    """Raise SurveyError for what cannot be a study's address."""
    if not SLUG.match(slug) or len(slug) > 64:
        raise SurveyError(
            f"{slug!r} cannot be the address of a study; lower-case letters, digits and single "
            "hyphens between them are allowed, 64 characters at most."
        )
    refuse_measure_names("address", slug)


def draw(plan: Plan) -> list[Question]:
    """Draw a plan's questions, or raise SurveyError saying why there are none."""
    try:
        return plan.draw_questions()
    except ValueError as error:
        raise SurveyError(f"The questions cannot be drawn: {error}.") from error


def ensure_demo_study(session: Session) -> Study:
    """Return the paper's replication study, made and opened where there is no study at all."""
    lock_globally(session)  # several servers may make their first start together
    existing = study_queries.all_studies(session)
    if existing:
        return next((study for study in existing if study.status == "open"), existing[0])
    study = create_study(session, DEMO_SLUG, preset_plan("mnro", seed=DEMO_SEED))
    open_study(session, study)
    return study


def list_studies(session: Session) -> list[Study]:
    """Return all studies, oldest first."""
    return list(study_queries.all_studies(session))


def refuse_measure_names(field: str, text: str) -> None:
    """Raise SurveyError when a text that participants see gives a measure away."""
    if name := mentioned_measure(text):
        raise SurveyError(
            f"The {field} {text!r} holds the name of a measure ({name}), and "
            "participants see it; choose another."
        )


def find_study(session: Session, slug: str) -> Study:
    """Return the study of that address, or raise NotFoundError."""
    # What cannot be a slug is not even asked for: PostgreSQL refuses a NUL, for one.
    study = study_queries.study_by_slug(session, slug) if SLUG.match(slug) else None
    if study is None:
        raise NotFoundError(f"There is no study {slug!r}.")
    return study


def only_study(session: Session) -> Study:
    """Return the study where there is just one, or raise SurveyError naming those there are."""
    known = study_queries.all_studies(session)
    if len(known) != 1:
        slugs = ", ".join(study.slug for study in known)
        raise SurveyError(
            f"Which study? There are: {slugs}." if known else "There is no study yet."
        )
    return known[0]


def open_study(session: Session, study: Study) -> None:
    """Freeze a draft under its digest and let participants in; a closed study reopens."""
    study = study_queries.locked_study(session, study.id)  # a plan being saved is waited for
    if study.status == "open":
        raise NotAllowedError(f"The study {study.slug!r} is open already.")
    if study.status == "draft":
        study.digest = current_digest(study)
        study.opened_at = now()
    study.status = "open"
    study.closed_at = None
    session.commit()


def close_study(session: Session, study: Study) -> None:
    """Let no more answers in."""
    study = study_queries.locked_study(session, study.id)
    if study.status != "open":
        raise NotAllowedError(f"The study {study.slug!r} is not open, so it cannot be closed.")
    study.status = "closed"
    study.closed_at = now()
    session.commit()


def progress(session: Session, study: Study) -> dict[str, int]:
    """Count participants: started, declined and complete ones, and test data apart."""
    counts = study_queries.participant_counts(session, study.id)
    people = {
        status: counts.get((status, False), 0) for status in ("started", "declined", "complete")
    }
    return {**people, "test": sum(count for (_, test), count in counts.items() if test)}


def describe(study: Study) -> dict[str, Any]:
    """Return a study's design and digest as plain values, for showing."""
    plan = study.plan
    return {
        "slug": study.slug,
        "title": plan.title,
        "status": study.status,
        "address": f"/s/{study.slug}",
        "digest": study.digest,
        "measures": " ".join(plan.measures),
        "questions": plan.questions,
        "lists": plan.lists,
        "relevant": plan.relevant,
        "collection_size": plan.collection_size,
        "generator": f"{plan.generator} (version {study.generator_version})",
        "seed": plan.seed,
        "practice": plan.practice,
        "target": plan.participants,
    }


def questions_of(study: Study, *, practice: bool = False) -> list[Question]:
    """Return the study's questions as the core knows them, practice only if asked for."""
    return [stored.content for stored in study.questions if practice or stored.number > 0]


def current_digest(study: Study) -> str:
    """Compute the digest of what the study shows now."""
    questions = questions_of(study, practice=True)
    return study_digest(study.plan, questions, study.generator_version)


def make_study(
    session: Session,
    researcher: Researcher | None,
    slug: str,
    plan: Plan,
    recruitment: Recruitment,
) -> Study:
    """Store a new draft that belongs to a researcher (or to nobody yet).

    Raises as ``create_study`` does.
    """
    study = create_study(session, slug, plan)
    study.recruitment = recruitment.as_json()
    if researcher is not None:
        access.share(session, study, researcher, "owner")
    access.log(session, study, researcher.name if researcher else access.COMMAND_LINE, "made")
    session.commit()
    return study


def make_for(
    session: Session, owner: str | None, slug: str, plan: Plan, recruitment: Recruitment
) -> Study:
    """Store a new draft for the named researcher, by default the only one there is."""
    known = researchers.all_researchers(session)
    only = known[0] if len(known) == 1 else None
    researcher = researchers.find_researcher(session, owner) if owner else only
    return make_study(session, researcher, slug, plan, recruitment)


def change_plan(session: Session, study: Study, plan: Plan, who: str) -> None:
    """Give a draft another plan and draw its questions anew.

    Raises NotAllowedError once the study was opened, and SurveyError for a design
    that leaves no questions to draw.
    """
    require_draft(study)
    if plan == study.plan:
        return
    slug = study.slug
    refuse_giveaways(plan)
    session.rollback()  # nobody's answer waits while the questions are drawn
    questions = draw(plan)
    study = study_queries.locked_study(session, find_study(session, slug).id)
    require_draft(study)
    study.questions.clear()
    session.flush()  # the old numbers go before the new ones come
    study.questions = [StoredQuestion.of(question) for question in questions]
    study.generator_version = GENERATOR_VERSION
    study.plan_json = plan.as_json()
    text = study.consent_texts[0]
    text.text, text.digest, text.created_at = plan.consent, text_digest(plan.consent), now()
    access.log(session, study, who, "plan changed")
    session.commit()


def change_recruitment(session: Session, study: Study, recruitment: Recruitment, who: str) -> None:
    """Change how people come and go, at any time."""
    _require_own(study)
    if recruitment.as_json() != study.recruitment:
        study.recruitment = recruitment.as_json()
        access.log(session, study, who, "recruitment changed")
    session.commit()


def open_to_participants(session: Session, study: Study, who: str) -> None:
    """Freeze a draft and let participants in, or let them in again."""
    _require_own(study)
    reopened = study.status == "closed"
    open_study(session, study)
    access.log(session, study, who, "reopened" if reopened else "opened", study.digest or "")
    session.commit()


def close_to_participants(session: Session, study: Study, who: str) -> None:
    """Let no more answers in."""
    close_study(session, study)
    access.log(session, study, who, "closed")
    session.commit()


def copy_study(session: Session, study: Study, slug: str, researcher: Researcher) -> Study:
    """Make a draft with the same plan and settings, without participants."""
    return make_study(session, researcher, slug, study.plan, Recruitment(**study.recruitment))


def archive(session: Session, study: Study, who: str) -> None:
    """Put a study away: it is listed apart and cannot be opened until it is brought back."""
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you archive it.")
    study.archived_at = study.archived_at or now()
    access.log(session, study, who, "archived")
    session.commit()


def bring_back(session: Session, study: Study, who: str) -> None:
    """Take a study out of the archive."""
    study.archived_at = None
    access.log(session, study, who, "brought back")
    session.commit()


def delete(session: Session, study: Study, who: str) -> None:
    """Delete a study with all its answers, for good; what was done to it stays logged."""
    if study.status == "open":
        raise NotAllowedError("The study is open; close it before you delete it.")
    access.log(session, study, who, "deleted", study.digest or "")
    # Participants first: what was shown to them refers to the questions.
    session.execute(sql_delete(Participant).where(Participant.study_id == study.id))
    session.delete(study)
    session.commit()


def unblind(session: Session, study: Study, who: str, reason: str) -> datetime:
    """Show results of a study that still runs; who did so, and why, is logged."""
    reason = _given(reason, "Say why the results are needed before the study is closed.")
    study.unblinded_at = study.unblinded_at or now()
    access.log(session, study, who, "unblinded", reason)
    session.commit()
    return study.unblinded_at


def note_early_look(session: Session, study: Study, who: str, what: str) -> bool:
    """Write down that results of a study were taken while people still vote; tell whether so.

    Once there are answers of participants who count, the study is unblinded by that, and
    its bundle says when. Test data alone tell nothing.
    """
    is_early = study.status == "open" and not shows_results(study)
    if is_early:
        access.log(session, study, who, "unblinded", f"{what}, before the study was closed")
        if study_queries.has_real_answers(session, study.id):
            study.unblinded_at = now()
    session.commit()
    return is_early


def shows_results(study: Study) -> bool:
    """Tell whether results per measure may be looked at: closed, or deliberately unblinded."""
    return study.status == "closed" or study.unblinded_at is not None


def require_results(study: Study) -> None:
    """Raise ResultsHiddenError while there are no results, or while they must stay hidden."""
    if study.status == "draft":
        raise ResultsHiddenError("The study is a draft, so there is no bundle yet.")
    if not shows_results(study):
        raise ResultsHiddenError(
            "A bundle holds the votes per measure, which stay hidden until the study is closed. "
            "The page “Results” says how to see them earlier."
        )


def _given(reason: str, missing: str) -> str:
    """Return a reason as it is stored, or raise SurveyError where there is none."""
    if not reason.strip():
        raise SurveyError(missing)
    if not is_storable(reason):
        raise SurveyError("The reason holds a character that cannot be stored; type it anew.")
    return reason.strip()


def exclude(
    session: Session, study: Study, participant: Participant, who: str, reason: str
) -> None:
    """Exclude a participant from the count; the answers stay stored."""
    _require_own(study)
    reason = _given(reason, "Say why this participant is excluded; the reason is exported.")
    participant.excluded, participant.exclude_reason = True, reason
    access.log(session, study, who, "excluded", f"{participant.public_id}: {reason}")
    session.commit()


def restore(session: Session, study: Study, participant: Participant, who: str) -> None:
    """Include a participant again who was excluded."""
    _require_own(study)
    participant.excluded, participant.exclude_reason = False, None
    access.log(session, study, who, "included again", participant.public_id)
    session.commit()


def require_draft(study: Study) -> None:
    """Raise NotAllowedError for a study that is frozen."""
    if study.status != "draft":
        raise NotAllowedError(
            "The study was opened, so its content is frozen. Copy it to change something."
        )


def require_run_here(study: Study) -> None:
    """Raise NotAllowedError for a study that was imported."""
    if study.imported_from is not None:
        raise NotAllowedError(
            "This study was imported; it can be looked at, not run. To run it with people of "
            "your own, copy it on its overview."
        )


def _require_own(study: Study) -> None:
    require_run_here(study)
    if study.archived_at is not None:
        raise NotAllowedError("This study is in the archive; bring it back first.")
