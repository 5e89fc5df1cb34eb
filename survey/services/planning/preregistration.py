"""Preregister a draft: what its plan decides, its simulated power, and what researchers state."""

from typing import Any

from sqlalchemy.orm import Session

from survey.core.kinds import kind_of
from survey.core.studies.fields import PlanError
from survey.core.text_input import Json
from survey.db import queries
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.planning import power
from survey.services.studies import lifecycle
from survey.services.studies.design import design_of
from survey.services.studies.registration import (
    FORMAT,
    Typed,
    canonical,
    field_sums,
    items_of,
    read_registration,
    sum_of,
)
from survey.services.studies.registration_texts import registration_files, registration_text


def preregister(session: Session, study: Study, typed: Typed, who: str) -> dict[str, Any]:
    """Store a draft's registration in place of an earlier one, log it, and return it.

    Raises NotAllowedError for a study that was opened or imported.
    """
    lifecycle.require_not_imported(study)
    lifecycle.require_draft(study)
    registration = registration_of(study, typed)
    known = {"id": study.id, "slug": study.slug}
    session.rollback()  # power took seconds, in which the plan may have changed
    study = queries.locked(session, Study, **known)  # raises NoResultFound where it is deleted
    lifecycle.require_draft(study)
    lifecycle.require_digest(study, registration["items"]["digest"])
    study.registration = canonical(registration)
    accounts.log(session, study, who, "preregistered", f"SHA-256 {sum_of(study.registration)}")
    session.commit()
    return registration


def registration_of(study: Study, typed: Typed) -> dict[str, Any]:
    """Return the registration of a study as it is now."""
    plan = study.plan
    return {
        "format": FORMAT,
        "slug": study.slug,
        "title": plan.title,
        "address": f"/s/{study.slug}",
        "kind": plan.kind,
        "items": items_of(plan, lifecycle.current_digest(study)),
        "fields": field_sums(plan),
        "design": design_of(plan),
        "power": _power(study),
        "typed": vars(typed),
    }


def why_too_early(session: Session, study: Study) -> str:
    """Return why a draft cannot open as it is, so that its digest will change; "" if it can."""
    stops = lifecycle.stops_of(lifecycle.check_study(session, study))
    if not stops:
        return ""
    reasons = "; ".join(stop.text for stop in stops)
    return (
        f"The study cannot open yet: {reasons}. What mends it changes the digest, so preregister "
        "it once more then."
    )


files_of, text_of = registration_files, registration_text


def stored_registration(study: Study) -> dict[str, Any] | None:
    """Return the registration that a study keeps, None without one."""
    return read_registration(study.registration) if study.registration else None


def stored_fields(study: Study) -> Typed:
    """Return what was typed for the registration that a study keeps."""
    registration = stored_registration(study)
    return Typed(**registration["typed"]) if registration else Typed()


def _power(study: Study) -> dict[str, Json]:
    """Return the power of the plan's verdict with its seed, or why there is none."""
    plan = study.plan
    kind = kind_of(plan)
    if not kind.has_power:
        return {"sentence": kind.protocol(plan).instead}
    try:
        pair, powers = power.simulate_plan(plan, lifecycle.counted_questions(study))
    except (PlanError, SurveyError) as error:
        return {"sentence": f"Power cannot be simulated: {error}.".replace("..", ".")}
    sentence = power.smallest_found(powers, kind.protocol(plan).smallest)
    others = [power.without_methods(plan), power.why_nothing(powers[0])]
    return {
        "sentence": " ".join(
            filter(None, (f"{pair.title}: {sentence[0].lower()}{sentence[1:]}", *others))
        ),
        "pair": str(pair),
        "seed": power.PLAN_SEED,
        "replicates": powers[0].replicates,
        "differences": [
            {"difference": result.difference, "power": round(result.power, 4)} for result in powers
        ],
    }
