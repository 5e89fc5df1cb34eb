"""From a bundle's files to a study's content."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from survey.core.agreement.answers import Answers
from survey.core.measures import MEASURES
from survey.core.stimuli.marks import MarkedRow, MarkError, Marks, marks_of, sorted_with_marks
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Question, build_question
from survey.db.models import Study
from survey.services.exchange.codebook import listed_values
from survey.services.exchange.content import Consent, Content
from survey.services.exchange.opening import Files, json_of, open_files, text_of
from survey.services.exchange.people import read_people
from survey.services.exchange.responses import read_answers, read_first_rankings
from survey.services.exchange.sheets import BundleError, SheetRow, read_sheet
from survey.services.exchange.study_file import FORMAT, PACKAGES, STUDY
from survey.services.study_analysis import people_from

__all__ = ["Files", "Read", "open_files", "read_content"]


@dataclass(frozen=True)
class Read:
    """A bundle as read: its content, and study.json as it stands there."""

    content: Content
    study: Mapping[str, Any]


def read_content(files: Files) -> Read:
    """Make a study's content of a bundle's files.

    Raises BundleError naming file, row and column of the first thing that cannot be.
    """
    study = _study(files)
    try:
        plan = Plan.from_json(study["plan"])
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY}, plan: {error}{_packages_needed(study)}") from None
    questions = _questions(files, plan)
    consents = [Consent(**one) for one in study["consent"]]
    people = read_people(
        files, plan, [one.version for one in consents], include_test=study["include_test"]
    )
    answers = read_answers(files, plan, people)
    first = list(read_first_rankings(files, plan, people)) if plan.rank_first else []
    moments = SheetRow(STUDY, 1, {name: study[name] or "" for name in MOMENTS})
    return Read(
        Content(
            slug=study["slug"],
            status=study["status"],
            digest=study["digest"],
            generator_version=study["generator_version"],
            opened_at=moments.moment("opened_at"),
            closed_at=moments.moment("closed_at"),
            unblinded_at=moments.moment("unblinded_at"),
            plan=plan,
            practice=_practice(study, plan),
            questions=questions,
            consents=consents,
            people=lambda: iter(people),
            answers=lambda: iter(answers),
            ballots=lambda: (one.ballot for one in answers if not one.excluded),
            first_rankings=lambda: iter(first),
            votes=lambda: (people_from(people), Answers.of(one.response for one in answers)),
            include_test=study["include_test"],
        ),
        study,
    )


def _packages_needed(study: Mapping[str, Any]) -> str:
    """Say which packages bring the measures that are not registered here."""
    needed = [
        f"{name} comes with the package {package}"
        for name, package in study.get(PACKAGES, {}).items()
        if name not in MEASURES
    ]
    return f" ({'; '.join(needed)}, which is not installed here)" if needed else ""


STATUSES = listed_values(Study.status)
MOMENTS = ("opened_at", "closed_at", "unblinded_at")
KEYS: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(MOMENTS, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}


def _study(files: Files) -> dict[str, Any]:
    study = json_of(files, STUDY)
    if study.get("format") != FORMAT:
        raise BundleError(
            f"{STUDY}, format: {study.get('format')!r} found; this version of the survey reads "
            f"format {FORMAT}"
        )
    for key, kind in KEYS.items():
        if key not in study or not isinstance(study[key], kind):
            raise BundleError(f"{STUDY}, {key}: {study.get(key)!r} found, or it is missing")
    for one in study["consent"]:
        kinds = {"version": int, "text": str, "digest": str}
        if not isinstance(one, dict) or {k: type(v) for k, v in one.items()} != kinds:
            raise BundleError(f"{STUDY}, consent: version, text and digest are needed")
    if study["status"] not in STATUSES:
        raise BundleError(
            f"{STUDY}, status: {study['status']!r} found; allowed are {', '.join(STATUSES)}"
        )
    return study


def _practice(study: Mapping[str, Any], plan: Plan) -> Question | None:
    lists = study["practice"]
    if lists is None:
        return None
    try:
        ordered = [lists[letter] for letter in sorted(lists)]
        marks = Marks.from_json(study.get("practice_marks", {}))
        return build_question(0, ordered, plan.measures, plan.setting, marks)
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY}, practice: {error}") from None


def _questions(files: Files, plan: Plan) -> list[Question]:
    """Build the questions from their lists; what the measures make of them is recomputed."""
    columns = ("question", "list", "ranks", "collection_size")
    lists: dict[int, dict[str, MarkedRow]] = {}
    for row in read_sheet(text_of(files, "questions.csv"), "questions.csv", columns):
        if row.whole("collection_size") != plan.collection_size:
            raise row.fault("collection_size", f"the plan says {plan.collection_size}")
        here = lists.setdefault(row.whole("question"), {})
        letter = row.text("list")
        if plan.letters[len(here) : len(here) + 1] != (letter,):
            raise row.fault("list", f"lists {' '.join(plan.letters)} are needed, in this order")
        try:
            here[letter] = sorted_with_marks(row.wholes("ranks"), row.marks)
        except MarkError as error:
            raise row.fault(error.kind, str(error)) from None
    if list(lists) != list(range(1, plan.questions + 1)):
        raise BundleError(f"questions.csv has not the questions 1 to {plan.questions} in order")
    made = []
    for number, rows in lists.items():
        if len(rows) != plan.lists:
            raise BundleError(
                f"questions.csv, question {number}: {len(rows)} lists found; the plan says "
                f"{plan.lists}"
            )
        try:
            marks = marks_of([*rows.values()])
            ranks = [row.ranks for row in rows.values()]
            made.append(build_question(number, ranks, plan.measures, plan.setting, marks))
        except ValueError as error:
            raise BundleError(f"questions.csv, question {number}: {error}") from None
    return made
