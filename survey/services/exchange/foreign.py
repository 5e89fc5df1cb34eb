"""From a folder made elsewhere, without study.json, to votes."""

from collections.abc import Mapping
from typing import Any

from survey.core.measures import MEASURES, Setting
from survey.core.stimuli.marks import marks_of
from survey.core.stimuli.questions import Question, build_question
from survey.services.exchange.foreign_answers import read_foreign_answers
from survey.services.exchange.foreign_lists import (
    QUESTIONS,
    ForeignList,
    ForeignLists,
    check_rankings,
    read_lists,
)
from survey.services.exchange.foreign_records import ForeignVotes
from survey.services.exchange.opening import Files
from survey.services.exchange.responses import NAME
from survey.services.exchange.sheets import BundleError
from survey.services.exchange.study_file import STUDY

UNKNOWN = ("slug", "title", "status", "digest", "generator", "generator_version", "seed")


def foreign_votes(files: Files) -> ForeignVotes:
    """Read questions.csv and responses.csv; the orders are those that the measures give.

    NMRR and MNRO are computed with their defaults (no GMT cap, the continuous Eq. 15).
    rankings.csv, where there is one, must agree. Raises BundleError with every fault.
    """
    for name in (QUESTIONS, NAME):
        if name not in files:
            raise BundleError(
                f"{name} is missing; {STUDY} and the rest of a bundle, or {QUESTIONS} and {NAME}, "
                "are needed"
            )
    lists = read_lists(files)
    responses = read_foreign_answers(files, lists)
    compared = responses[0].label_order
    measures = tuple(sorted(compared, key=MEASURES.place))
    questions = {number: _question(number, one, measures) for number, one in lists.items()}
    rankings = {number: question.rankings for number, question in questions.items()}
    check_rankings(files, rankings)
    return ForeignVotes(
        facts=_facts(lists, measures),
        measures=measures,
        rankings=rankings,
        lists={number: question.lists for number, question in questions.items()},
        responses=responses,
        asked=len(questions),
    )


def _question(number: int, lists: Mapping[str, ForeignList], measures: tuple[str, ...]) -> Question:
    ranks, setting = [one.ranks for one in lists.values()], Setting(lists["A"].collection_size)
    try:
        marks = marks_of([one.marked for one in lists.values()])
        return build_question(number, ranks, measures, setting, marks)
    except ValueError as error:
        raise BundleError(f"{QUESTIONS}, question {number}: {error}") from None


def _facts(lists: ForeignLists, measures: tuple[str, ...]) -> dict[str, Any]:
    """Return the little that such a folder says of its study, and why it is so little."""
    sizes = {one.collection_size for question in lists.values() for one in question.values()}
    why = f"there is no {STUDY}, which would say what the study was"
    if len(sizes) > 1:
        why += "; the collection_size is not the same in all questions"
    return {
        **dict.fromkeys(UNKNOWN),
        "collection_size": min(sizes) if len(sizes) == 1 else None,
        "measures": list(measures),
        "why": why,
    }
