"""How an ordering study begins: the cards of “New study”, and the lists that files give."""

from collections.abc import Mapping
from typing import Any

from survey.core.ways_in import (
    AGAIN,
    COLLECTION,
    FOLDER,
    ITEMS,
    JUDGEMENTS,
    LISTS,
    REPLICATE,
    RUNS,
    STUDY,
    SYSTEMS,
    TOPICS,
    Sources,
    WayIn,
)
from survey.kinds.ordering.plan import OrderingPlan
from survey.services.studies.plans import fields_of_runs, read_lists

OF_RUNS = ("qrels.txt", "alpha.txt", "beta.txt", "gamma.txt", "items.csv", "topics.csv")
WAYS_IN = (
    WayIn(
        "mnro-verbatim",
        REPLICATE,
        "The paper's study, in the paper's words",
        "The paper's scenario and question, no practice, the values beside each list: as close to "
        "Section 5.3 as a study can be. Its public page says where it departs, and why.",
        preset="mnro-verbatim",
    ),
    WayIn(
        "mnro",
        REPLICATE,
        "The paper's study, easier to understand",
        "Plainer words, and practice before the first question. The questions are random: in about "
        "two of ten NMRR and MNRO contradict each other.",
        preset="mnro",
    ),
    WayIn(
        "mnro-discriminative",
        REPLICATE,
        "The same with better power",
        "In each question AP, NMRR and MNRO contradict each other and tie as many lists: fewer "
        "people show which they agree with. Thirty people show a lead of 21 points in most such "
        "studies.",
        preset="mnro-discriminative",
    ),
    WayIn(
        "runs",
        SYSTEMS,
        "Which measure agrees with people?",
        "People order your systems' lists for your topics, shown as positions, pictures or texts.",
        takes=(JUDGEMENTS, RUNS, ITEMS, TOPICS),
        needs=(JUDGEMENTS, RUNS),
        asks=("collection_size", "show_items"),
        examples=OF_RUNS,
    ),
    WayIn(
        "lists",
        SYSTEMS,
        "My own lists as CSV",
        "People order lists of positions that you have in a table: no runs, no judgements.",
        takes=(LISTS,),
        needs=(LISTS,),
        examples=("lists.csv",),
    ),
    WayIn(
        "collect",
        COLLECTION,
        "A folder of pictures",
        "A subfolder for each class. What is in the same one is relevant; five descriptors rank "
        "the pictures, and people order their lists.",
        takes=(FOLDER,),
        needs=(FOLDER,),
        preset="pictures",
        examples=("classes.zip",),
    ),
    WayIn(
        "judged",
        AGAIN,
        "Judgements of a labelling study",
        "Your systems' lists, ordered by people, with what your annotators marked as the "
        "judgements, and the same pictures and texts.",
        takes=(STUDY, RUNS),
        needs=(STUDY, RUNS),
    ),
)


def begin(sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a plan that lists of a table, or of runs, decide."""
    lists = sources.lists or read_lists(sources)
    if lists is None:
        return {}
    measures: Any = changes.get("measures", OrderingPlan.measures)
    shown = {"show_items": True} if sources.shows_documents else {}
    return fields_of_runs(lists, measures) | shown
