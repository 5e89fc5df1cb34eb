"""Preferences in a bundle: the pairs of lists, what measures say of them, which list people prefer.

The files of the lists and of the measures' orders, questions.csv and rankings.csv, are those of
ordering questions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import seconds_taken
from survey.core.agreement.differences import pairs
from survey.core.agreement.preferences import agreement_of
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.questions import Question, rankings_of
from survey.core.tasks.preference import (
    ASKED,
    EQUAL,
    LEFT,
    PREFERRED,
    RIGHT,
    PreferenceAnswer,
    PreferencePlan,
    PreferencePresentation,
)
from survey.db import export_queries
from survey.db.models.preference import TABLES, StoredPreferenceAnswer
from survey.services.analysis.preference_results import Judgement, PreferenceResults
from survey.services.analysis.sheets import Sheet
from survey.services.analysis.study_results import AnalysisOptions, level_left
from survey.services.exchange.input_files import BundleError, CsvRow, Faults, Files, parse_rows
from survey.services.exchange.long_table import LONG, end_of_line, long_table, start_of_line
from survey.services.exchange.ordering import RANKINGS, questions_table
from survey.services.exchange.ordering_reader import check_rankings, read_questions
from survey.services.exchange.tables import (
    CONTRADICTS,
    PARTICIPANT,
    POSITION,
    QUESTION,
    REASON,
    SHARED_COLUMNS,
    Column,
    Content,
    MoveTime,
    Row,
    Table,
    asked_column,
    check_contradicts,
    lines_of,
    public_record,
    read_asked,
    read_reason,
    read_shared,
    yes_or_no,
)

PREFERENCES = "preferences.csv"


class PreferenceRecord(NamedTuple):
    """A preference; ``left_list``: the letter of the list at the left."""

    participant: str
    question: int
    position: int
    left_list: str
    preferred: str
    strength: int | None
    satisfaction_left: int | None
    satisfaction_right: int | None
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    asked: str | None
    reason: str | None

    @property
    def drawn(self) -> PreferencePresentation:
        """How the pair was shown."""
        return PreferencePresentation(self.left_list)

    @property
    def answer(self) -> PreferenceAnswer:
        """The answer; raises ValueError for an impossible one."""
        satisfaction = self.satisfaction_left, self.satisfaction_right
        return PreferenceAnswer(self.preferred, self.strength, *satisfaction)


@dataclass(frozen=True)
class PreferenceContent:
    """The preferences of a study, by participant and question, read at each call."""

    rows: Callable[[], Iterator[PreferenceRecord]]

    def count(self) -> int:
        """Count the preferences of all participants, left out or not."""
        return sum(1 for _ in self.rows())

    def analyse(self, content: Content, options: AnalysisOptions) -> PreferenceResults:
        """Return what the preferences say of measures and runs.

        Excluded participants are left out, and test participants too, unless ``options`` include
        them.
        """
        counted = {each.public_id: each.status == "complete" for each in content.counted(options)}
        plan: Any = content.plan
        judgements = [_judgement(row) for row in self.rows() if row.participant in counted]
        level = level_left(plan, content.looks, sum(counted.values()))
        of_study = (plan, content.questions, judgements, content.looks, level)
        return PreferenceResults(*of_study, **content.known(options))

    def public(self, move: MoveTime) -> "PreferenceContent":
        """Return the preferences without reasons, all times moved by ``move``."""
        return PreferenceContent(lambda: (public_record(row, move) for row in self.rows()))

    def tried_sheet(
        self,
        content: Content,
        number: int,
        drawn: PreferencePresentation,
        answer: PreferenceAnswer,
    ) -> Sheet:
        """Return the table that is shown to someone who has tried a question.

        It says which list each measure puts first, how many participants prefer each list, and
        which the answer prefers. List 1 is the one at the left.
        """
        rows = []
        left, right = drawn.sides
        for name, ranking in content.question(number).rankings.items():
            places = ranking.places
            better = EQUAL
            if places[left] != places[right]:
                better = LEFT if places[left] < places[right] else RIGHT
            word = "equal" if better == EQUAL else "better"
            rows.append((name, *(word * (each == better) for each in PREFERRED)))
        preferred = [
            each.preferred for each in content.results.judgements if each.question == number
        ]
        counts = (preferred.count({LEFT: left, RIGHT: right}.get(each, each)) for each in PREFERRED)
        rows.append(("participants", *map(str, counts)))
        rows.append(("you", *("chosen" * (each == answer.preferred) for each in PREFERRED)))
        return Sheet(
            name="tried",
            title="What each measure says",
            columns=("by", "list 1", "list 2", "equally good", "neither"),
            rows=tuple(rows),
        )

    def to_import(
        self, content: Content
    ) -> Iterator[tuple[PreferenceRecord, PreferencePresentation, PreferenceAnswer]]:
        """Yield each preference's record, how the pair was shown, and the answer."""
        for row in self.rows():
            yield row, row.drawn, row.answer


def _judgement(row: PreferenceRecord) -> Judgement:
    """Return a preference for the analysis, which names lists by letter, not by side."""
    letters = row.drawn.sides
    by_side = dict(zip((LEFT, RIGHT), letters, strict=True))
    satisfaction = row.satisfaction_left, row.satisfaction_right
    return Judgement(
        participant=row.participant,
        question=row.question,
        preferred=by_side.get(row.preferred, row.preferred),
        side=row.preferred,
        strength=row.strength,
        satisfaction=dict(zip(letters, satisfaction, strict=True)),
        was_asked=row.asked is not None,
        contradicts=row.answer.contradicts,
        position=row.position,
        seconds=seconds_taken(row.active_seconds, row.shown_at, row.submitted_at),
    )


class PreferenceFiles:
    """Writes and reads the files of preference questions; see ``TaskFiles``."""

    recomputed: Mapping[str, str] = {
        "questions.csv": "the pairs of lists as the plan gives them",
        "rankings.csv": "values, printed values and orders recomputed",
        LONG: "differences recomputed from the answers",
    }
    answers_file = PREFERENCES
    typed = ""
    has_options = False

    def data_tables(self, plan: PreferencePlan) -> list[Table]:
        """Return the files of the pairs and of the preferences."""
        return [questions_table(plan), RANKINGS, _TABLE]

    def result_tables(self, plan: PreferencePlan) -> list[Table]:
        """Return long.csv: other results are in analysis.json."""
        return [long_table(_OF_PREFERENCES, _long)]

    def lines_per_answer(self, plan: PreferencePlan) -> int:
        """Return how many lines of the files an answer takes."""
        return 1 + len(pairs(plan.measures))

    def stored(self, session: Session, study_id: int, *, include_test: bool) -> PreferenceContent:
        """Return the preferences of a study in the database."""
        read = partial(export_queries.plain_answers, session, study_id, TABLES)
        return PreferenceContent(
            lambda: map(PreferenceRecord._make, read(include_test=include_test))
        )

    def read(
        self,
        files: Files,
        plan: PreferencePlan,
        participants: Callable[[], Iterable[ParticipantRecord]],
    ) -> tuple[Sequence[Question], PreferenceContent]:
        """Read the pairs and the preferences; raises BundleError with the place of each fault."""
        questions = read_questions(files, plan)
        reader = _Reader(plan, questions, {each.public_id for each in participants()})
        names = _TABLE.needed
        rows = [*parse_rows(files, PREFERENCES, names, reader.read)]
        records = sorted(rows, key=attrgetter("participant", "question"))
        _check_complete(plan, participants(), records)
        return questions, PreferenceContent(lambda: iter(records))

    def check_derived(self, files: Files, content: Content) -> None:
        """Compare rankings.csv, where it exists, with the lists; raises BundleError."""
        check_rankings(files, rankings_of(content.questions), foreign=False)

    def check_questions(self, content: Content) -> str:
        """Select the pairs again and compare; return how they were selected."""
        plan: Any = content.plan
        for found, expected in zip(content.questions, plan.draw_questions(), strict=True):
            for what in ("lists", "marks", "source"):
                if getattr(found, what) != getattr(expected, what):
                    place = f"questions.csv, question {found.number}"
                    raise BundleError(f"{place}: the plan selects a pair with other {what}")
        return f"the pairs are selected again: {plan.selection_sentence}"

    def read_practice(self, study: Mapping[str, Any], plan: PreferencePlan) -> None:
        """Return None: there is no practice."""

    def study_entries(self, plan: PreferencePlan, practice: None) -> dict[str, Any]:
        """Return sources, measures, how pairs were selected, and that there is no practice."""
        sources = plan.provenance.as_json()["sources"] if plan.provenance else []
        return {
            "sources": sources,
            "measures": list(plan.measures),
            "selection": plan.selection_sentence,
            "practice": None,
        }


class _Reader:
    """Reads rows of preferences.csv; each participant may have one for each question."""

    def __init__(self, plan: PreferencePlan, questions: Sequence[Question], people: set[str]):
        self._plan, self._people = plan, people
        self._questions = {each.number: each for each in questions}
        self._seen: set[tuple[str, int]] = set()

    def read(self, row: CsvRow) -> PreferenceRecord:
        """Return the preference of a row; raises BundleError with its place."""
        person, number = row.text("participant"), row.whole_number("question", 1)
        question = self._questions.get(number)
        if person not in self._people or question is None or question.source is None:
            raise row.fault("participant", "no such participant or question")
        if (person, number) in self._seen:
            raise row.fault(
                "question", "one preference of each participant for each question is allowed"
            )
        self._seen.add((person, number))
        source = question.source
        if row.text("topic") != source.topic:
            raise row.fault("topic", f"questions.csv gives {source.topic}")
        letters = {run: letter for letter, run in source.runs.items()}
        shown = [row.text("left"), row.text("right")]
        if {*shown} != {*letters}:
            raise row.fault("left", f"left and right are the runs {' and '.join(letters)}")
        record = PreferenceRecord(
            participant=person,
            question=number,
            position=row.whole_number("position", 1),
            left_list=letters[shown[0]],
            preferred=row.text("preferred"),
            strength=row.optional_whole_number("strength"),
            satisfaction_left=row.optional_whole_number("satisfaction_left"),
            satisfaction_right=row.optional_whole_number("satisfaction_right"),
            **read_shared(row),
            asked=read_asked(row, ASKED),
            reason=read_reason(row, self._plan),
        )
        try:
            answer = record.answer
        except ValueError as error:
            raise row.fault("preferred", str(error)) from None
        self._check_asked(row, answer)
        check_contradicts(row, answer.contradicts)
        return record

    def _check_asked(self, row: CsvRow, answer: PreferenceAnswer) -> None:
        """Refuse what the plan does not ask, and a gap where it asks."""
        has_side = answer.preferred in (LEFT, RIGHT)
        if (answer.strength is not None) != (self._plan.ask_strength and has_side):
            raise row.fault("strength", "one is given where the plan asks and a list is preferred")
        if (answer.satisfaction_left is not None) != self._plan.ask_satisfaction:
            raise row.fault("satisfaction_left", "both are given where the plan asks, only there")


def _check_complete(
    plan: PreferencePlan,
    participants: Iterable[ParticipantRecord],
    records: Iterable[PreferenceRecord],
) -> None:
    """Refuse participants who are complete without an answer to each of their questions."""
    faults = Faults()
    counts = Counter(record.participant for record in records)
    for each in participants:
        count = counts[each.public_id]
        if each.status == "complete" and count != plan.asked:
            place = f"participants.csv, participant {each.public_id}, column status"
            fault = f"'complete' found; {PREFERENCES} has {count} answers of {plan.asked}"
            faults.add(f"{place}: {fault}")
    faults.raise_any()


@lines_of
def _preferences(content: Content) -> Iterator[Row]:
    sources = {question.number: question.source for question in content.questions}
    for row in content.answers.rows():
        source = sources[row.question]
        left, right = (source.runs[letter] for letter in row.drawn.sides)
        yield (
            *(row.participant, row.question, source.topic, left, right),
            *(row.preferred, row.strength, row.reason),
            *(row.satisfaction_left, row.satisfaction_right),
            *(row.position, row.shown_at, row.submitted_at, row.active_seconds, row.revisions),
            *(row.asked, yes_or_no(row.answer.contradicts)),
        )


def _long(content: Content) -> Iterator[str]:
    """Yield the lines of each counted preference for a list, one for each pair of measures."""
    results: PreferenceResults = content.results
    counted = {each.participant for each in results.judgements}
    questions = {each.number: each for each in content.questions}

    @cache
    def ends_of_lines(number: int, sign: int) -> list[str]:
        """Return the lines but for their beginning: the same for all who prefer the same list."""
        question, measures = questions[number], results.plan.measures
        differences = results.list_differences(question)
        signs = np.sign([differences[name] for name in measures])
        agreement = dict(zip(measures, agreement_of(signs, sign).tolist(), strict=True))
        orders = question.rankings
        return [
            end_of_line(pair, agreement[a] - agreement[b], orders[a], orders[b])
            for pair in pairs(measures)
            for a, b in [pair]
        ]

    for row in content.answers.rows():
        sign = _judgement(row).sign
        if sign and row.participant in counted:
            seconds = seconds_taken(row.active_seconds, row.shown_at, row.submitted_at)
            source = questions[row.question].source
            start = start_of_line(
                row.participant, row.question, source and source.topic, row.position, seconds
            )
            yield "".join([start + end for end in ends_of_lines(row.question, sign)])


_OF_PREFERENCES = (
    "its agreement with the preference, 1 where it favours the preferred list, ½ where it ties the "
    "two, 0 where it favours the other; answers that prefer neither have no row"
)
_TABLE = Table(
    PREFERENCES,
    [
        *(PARTICIPANT, QUESTION, Column("topic", "what was searched for")),
        Column("left", "the run whose list was at the left"),
        Column("right", "the run whose list was at the right"),
        Column("preferred", source=StoredPreferenceAnswer.preferred),
        Column("strength", source=StoredPreferenceAnswer.strength),
        REASON,
        Column("satisfaction_left", source=StoredPreferenceAnswer.satisfaction_left),
        Column("satisfaction_right", source=StoredPreferenceAnswer.satisfaction_right),
        POSITION,
        *SHARED_COLUMNS,
        asked_column(ASKED),
        CONTRADICTS,
    ],
    _preferences,
)
