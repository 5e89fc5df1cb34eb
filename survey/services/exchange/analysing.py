"""The analysis of files: a bundle, or a folder made elsewhere."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.services.analysis import Analysis, Choices, LeftOut, Votes, analyse_votes, counted
from survey.services.exchange.foreign import foreign_votes
from survey.services.exchange.foreign_lists import check_rankings
from survey.services.exchange.foreign_records import ForeignVotes
from survey.services.exchange.opening import Files, open_files
from survey.services.exchange.reading import read_content
from survey.services.exchange.study_file import STUDY


def analyse_path(source: Path, choices: Choices) -> Analysis:
    """Analyse a zip or folder: a bundle, or questions.csv and responses.csv made elsewhere.

    Raises BundleError: file, row and column of what cannot be, and what is allowed.
    """
    return analyse_files(open_files(source, str(source)), choices)


def analyse_files(files: Files, choices: Choices) -> Analysis:
    """Analyse files, read as strictly as a bundle where there is study.json.

    rankings.csv, where there is one, must agree with the lists. Raises BundleError.
    """
    if STUDY not in files:
        return _analyse_foreign(foreign_votes(files), choices)
    content = read_content(files).content
    check_rankings(files, content.rankings)
    return content.analysed(choices)


def _analyse_foreign(votes: ForeignVotes, choices: Choices) -> Analysis:
    people, answers = _marks(votes), Answers.of(one.response for one in votes.responses)
    simulated = frozenset(answers.people[people.is_test].tolist())
    given = answers.of_people(counted(people, choices))
    asked = Votes(votes.facts, votes.measures, votes.rankings, votes.asked, given, simulated)
    return analyse_votes(asked, LeftOut.of(people, choices), choices)


@dataclass(frozen=True)
class _Marks:
    """What the rows say of participants, in the order in which they come."""

    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]


def _marks(votes: ForeignVotes) -> _Marks:
    people = {one.participant: one for one in votes.responses}.values()
    return _Marks(
        is_test=np.array([one.is_test for one in people], dtype=bool),
        excluded=np.array([one.excluded for one in people], dtype=bool),
    )
