"""What an analysis did, beside what was registered, and the facts that a paper's methods need."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from survey import __version__
from survey.core.agreement.answers import spread
from survey.core.kinds import kind_of
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import Json
from survey.services.analysis.results import NOBODY, Results
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    level_left,
    minutes_taken,
)
from survey.services.exchange.tables import Content
from survey.services.studies.design import design_of
from survey.services.studies.registration import REGISTRATION_FILE, compare, items_of

FLAGGED = "flagged participants are left out"


def described(
    results: Results,
    content: Content | None,
    options: AnalysisOptions,
    registration: TextFile | None = None,
    *,
    in_full: bool = False,
) -> Results:
    """Return results that know how they differ from a registration.

    ``content``: None of files from elsewhere; ``registration``: by default that of the content;
    ``in_full``: the results get the facts that methods need too.
    """
    if registration is None and content is not None and content.registration:
        registration = TextFile(REGISTRATION_FILE, content.registration)
    if registration is not None:
        done = _done(results, content, options)
        compared = compare(registration.text, done, registration.name)
        results = replace(results, registered=compared)
    if not in_full or content is None:
        return results
    if results.left_out == NOBODY:
        flags = [(person.is_test, person.excluded) for person in content.participants()]
        people = Exclusions(*np.array(flags, dtype=bool).reshape(-1, 2).T)
        results = replace(results, left_out=LeftOut.of(people, options))
    return replace(results, paper_facts=_facts(results, content))


def _done(results: Results, content: Content | None, options: AnalysisOptions) -> dict[str, Json]:
    """Return what was done, by the items of a registration, without what is not known."""
    chosen: dict[str, Json] = {"options": vars(options), "version": __version__}
    if content is None:
        return chosen
    plan = content.plan
    items = items_of(plan, content.digest)
    counted = [*content.counted(options)]
    finished = sum(person.status == "complete" for person in counted)
    done = {
        **items,
        **chosen,
        "pairs": _pairs(results, str(items["pairs"])),
        "level": round(level_left(plan, content.looks, finished), 6),
        "exclusion_people": [f"{count}: {reason}" for reason, count in _excluded(content).items()],
        "looks": sorted({int(str(look["participants"])) for look in content.looks}),
        "sample_size": finished,
        "stop": items["stop"],
    }
    if options.exclude_flagged:
        done["exclusion_rule"] = [*list(items["exclusion_rule"]), FLAGGED]  # type: ignore[arg-type]
    if finished < plan.participants and finished not in plan.looks:
        done["stop"] = f"when {finished} of {plan.participants} had finished"
    unknown = [] if content.status == "closed" else ["sample_size", "stop", "looks", "level"]
    unknown += ["pairs"] * bool(results.nothing)
    return {name: value for name, value in done.items() if name not in unknown}


def _pairs(results: Results, planned: str) -> str:
    """Return the pairs that were tested, in the words of a registration."""
    if not results.tested:
        return planned
    primary = planned.partition(" (")[2]
    return ", ".join(str(test.pair) for test in results.tested) + (
        f" ({primary}" if primary else ""
    )


def _excluded(content: Content) -> dict[str, int]:
    """Count the people who were excluded, by reason; test data are not counted."""
    people = (person for person in content.participants() if person.excluded and not person.is_test)
    return dict(sorted(Counter(person.exclude_reason or "" for person in people).items()))


def _facts(results: Results, content: Content) -> dict[str, Any]:
    """Return what methods say of people and plan, under the names that JSON has."""
    plan, ids = content.plan, frozenset(map(str, results.participants))
    people: list[Any] = [person for person in content.participants() if person.public_id in ids]
    numbers = [item.name for item in plan.personal_fields if item.kind == "number"]
    spreads = {
        name: vars(spread([person.personal[name] for person in people if name in person.personal]))
        for name in numbers
    }
    minutes = spread([minutes_taken(person) for person in people])
    return {
        "people": {**spreads, "minutes": vars(minutes)},
        "excluded_by_reason": _excluded(content),
        "left_out": vars(results.left_out),
        "counts": _counts(results.numbers),
        "settings": _settings(plan),
        "texts": design_of(plan),
    }


def _counts(numbers: str) -> Mapping[str, int]:
    """Return how many took part and answered, by what was counted."""
    pairs = (part.partition(" ") for part in numbers.split(", ") if part)
    return {name: int(number) for number, _, name in pairs}


def _settings(plan: Any) -> dict[str, Json]:
    """Return the numbers that a plan decides, with those that follow from them."""
    numbers = {name: value for name, value in plan.as_json().items() if type(value) in (int, float)}
    return {**numbers, "asked": plan.asked, "counted": plan.counted, **kind_of(plan).facts(plan, 0)}
