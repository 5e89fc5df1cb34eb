"""A study's life: made from a plan, checked, opened (and thereby frozen), closed."""

import re
import secrets
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml
from sqlalchemy.orm import Session

from survey.core.measures import MEASURES, measure_in
from survey.core.stimuli.digests import study_digest, text_digest
from survey.core.stimuli.faults import Fault, PlanError
from survey.core.stimuli.generators import GENERATOR_VERSION, GENERATORS
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.plan_checks import giveaways_in_title, giveaways_of
from survey.core.stimuli.questions import Question
from survey.db import queries
from survey.db.engine import one_at_a_time
from survey.db.models import ConsentText, StoredQuestion, Study
from survey.services.clock import now
from survey.services.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.languages import ENGLISH, languages
from survey.services.presets import translated

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
THE_PAPERS = ("AP", "NMRR", "MNRO")
GROUPS = {
    "positions": "Relevant or not",
    "grades": "With grades of relevance",
    "weights": "With weights from several annotators",
    "clusters": "With clusters of the relevant items",
}
PRESETS = ("mnro", "mnro-discriminative", "runs")
GENERATOR_NAMES = tuple(GENERATORS)

# The demo draws the same lists everywhere, so that people can talk about them.
DEMO_SLUG = "five-systems"
# In 3 of its 10 questions two measures order the lists alike, as in 3 of the paper's sets.
DEMO_SEED = 2039


def preset_plan(preset: str, *, language: str = ENGLISH, **changes: Any) -> Plan:
    """Make a plan from a preset, its texts in a language, with some of its fields changed.

    Raises SurveyError saying which field cannot be as asked.
    """
    try:
        return plan_from({**preset_values(preset, language), **changes})
    except ValueError as error:
        raise SurveyError(f"The study cannot be made: {error}.") from error


def plan_from(values: Mapping[str, Any]) -> Plan:
    """Make a plan from plain values, in a language that there is.

    Raises PlanError with everything that is wrong.
    """
    try:
        plan = Plan.from_json(values)
    except PlanError as error:
        raise PlanError([*error.faults, *giveaways_in_title(values.get("title"))]) from None
    if faults := giveaways_of(plan):
        raise PlanError(faults)
    if plan.language not in languages():
        known = ", ".join(languages())
        raise PlanError(
            [
                Fault(
                    ("language",),
                    f"there is no translation into {plan.language!r}; there are {known}",
                )
            ]
        )
    return plan


def preset_values(preset: str, language: str = ENGLISH) -> dict[str, Any]:
    """Return a preset's fields as plain values, its texts in a language."""
    return {**translated(_preset(preset), language), "language": language}


def _preset(preset: str) -> dict[str, Any]:
    source = files("survey.services") / "presets" / f"{preset}.yaml"
    values: dict[str, Any] = yaml.safe_load(source.read_text(encoding="utf-8"))
    underneath = values.pop("preset", None)
    return {**_preset(underneath), **values} if underneath else values


def measure_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the listed measures by what they read of a list: heading, (name, label)s."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for measure in MEASURES.values():
        heading = "The paper's" if measure.name in THE_PAPERS else GROUPS[measure.reads]
        groups.setdefault(heading, []).append((measure.name, measure.label))
    return [*groups.items()]


def fresh_seed() -> int:
    """Draw a seed for a study whose researcher names none."""
    return secrets.randbelow(2**31)


def create_study(session: Session, slug: str, plan: Plan) -> Study:
    """Draw the plan's questions and store the study as a draft.

    Raises SurveyError for a slug that is taken, malformed or names a measure, and
    for a design that leaves no questions to draw.
    """
    refuse_slug(slug)
    refuse_giveaways(plan)
    questions = draw(plan)  # before the first query: nobody's answer waits while they are drawn
    if queries.study_by_slug(session, slug):
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
    one_at_a_time(session)  # several servers may make their first start together
    existing = queries.all_studies(session)
    if existing:
        return next((study for study in existing if study.status == "open"), existing[0])
    study = create_study(session, DEMO_SLUG, preset_plan("mnro", seed=DEMO_SEED))
    open_study(session, study)
    return study


def list_studies(session: Session) -> list[Study]:
    """Return all studies, oldest first."""
    return list(queries.all_studies(session))


def refuse_measure_names(field: str, text: str) -> None:
    """Raise SurveyError when a text that participants see gives a measure away."""
    if name := measure_in(text):
        raise SurveyError(
            f"The {field} {text!r} holds the name of a measure ({name}), and "
            "participants see it; choose another."
        )


def find_study(session: Session, slug: str) -> Study:
    """Return the study of that address, or raise NotFoundError."""
    # What cannot be a slug is not even asked for: PostgreSQL refuses a NUL, for one.
    study = queries.study_by_slug(session, slug) if SLUG.match(slug) else None
    if study is None:
        raise NotFoundError(f"There is no study {slug!r}.")
    return study


def only_study(session: Session) -> Study:
    """Return the study where there is just one, or raise SurveyError naming those there are."""
    known = queries.all_studies(session)
    if len(known) != 1:
        slugs = ", ".join(study.slug for study in known)
        raise SurveyError(
            f"Which study? There are: {slugs}." if known else "There is no study yet."
        )
    return known[0]


def open_study(session: Session, study: Study) -> None:
    """Freeze a draft under its digest and let participants in; a closed study reopens."""
    study = queries.locked_study(session, study.id)  # a plan being saved is waited for
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
    study = queries.locked_study(session, study.id)
    if study.status != "open":
        raise NotAllowedError(f"The study {study.slug!r} is not open, so it cannot be closed.")
    study.status = "closed"
    study.closed_at = now()
    session.commit()


def progress(session: Session, study: Study) -> dict[str, int]:
    """Count participants: started, declined and complete ones, and test data apart."""
    counts = queries.participant_counts(session, study.id)
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
