"""How a preference study begins: its cards of “New study”, and the pairs that runs give."""

from collections.abc import Mapping
from typing import Any

from survey.core.ways_in import (
    AGAIN,
    ITEMS,
    JUDGEMENTS,
    RUNS,
    STUDY,
    SYSTEMS,
    TOPICS,
    Sources,
    WayIn,
)
from survey.kinds.preference.plan import PreferencePlan
from survey.services.studies.plans import fields_of_runs, kind_plan, read_lists

WAYS_IN = (
    WayIn(
        "preference",
        SYSTEMS,
        "Which system do people prefer?",
        "Two systems' lists side by side, easy to answer: which system is better, and which "
        "measure says so?",
        takes=(JUDGEMENTS, RUNS, ITEMS, TOPICS),
        needs=(JUDGEMENTS, RUNS),
        asks=("collection_size", "show_items", "contrast"),
        examples=("qrels.txt", "alpha.txt", "beta.txt", "gamma.txt", "items.csv", "topics.csv"),
    ),
    WayIn(
        "judged-preference",
        AGAIN,
        "Judgements of a labelling study, for pairs",
        "Two of your systems' lists side by side, with the judgements, pictures and texts of a "
        "labelling study.",
        takes=(STUDY, RUNS),
        needs=(STUDY, RUNS),
    ),
)


def begin(sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a plan that compares the lists of runs.

    Without ``questions`` among the changes, the plan asks all pairs that can be asked, up to the
    most that a study may have.
    """
    lists = sources.lists or read_lists(sources, paired=True)
    if lists is None:
        return {}
    measures: Any = changes.get("measures", PreferencePlan.measures)
    fields = fields_of_runs(lists, measures)
    del fields["marks"]  # which only drawn lists have, and a plan of preferences draws none
    if sources.shows_documents:
        fields |= {"show_items": True, "show_positions": False}
    if "questions" in changes:
        return fields
    # Valid in any case, to ask the plan for the most.
    asked = {"questions": PreferencePlan.fewest_questions({**changes, **fields})}
    others = {name: value for name, value in changes.items() if name != "kind"}
    plan: Any = kind_plan(PreferencePlan.kind, **{**others, **fields, **asked})
    return {**fields, "questions": plan.most_questions}
