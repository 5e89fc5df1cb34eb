"""Preferences from elsewhere: a table of answers, and the lists behind them where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from survey.core.agreement.answers import seconds_taken
from survey.core.measures import Setting
from survey.core.studies.provenance import QuestionSource
from survey.core.studies.questions import Question, marks_of, rankings_of
from survey.errors import SurveyError
from survey.kinds.preference.answer import PreferenceAnswer
from survey.kinds.preference.plan import (
    EQUAL,
    LEFT,
    LIST_LETTERS,
    NEITHER,
    RIGHT,
    PairsOfFile,
)
from survey.kinds.preference.results import Judgement, PreferenceResults
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    counted_mask,
)
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    read_foreign_rows,
)
from survey.services.exchange.kind_files import read_fields
from survey.services.exchange.list_questions import (
    COUNTED_ROLE,
    RANKINGS_TABLE,
    Lists,
    build_questions,
    check_rankings,
    read_lists,
)
from survey.services.exchange.tables import QUESTIONS_FILE

PREFERENCES = "preferences.csv"
HEADINGS = (
    ("participant", "question", "topic", "left", "right", "preferred"),
    ("participant", "question", "topic", "run_a", "run_b", "preferred_run"),
)
MORE = (
    *("strength", "satisfaction_left", "satisfaction_right", "position", "asked"),
    *("shown_at", "submitted_at", "active_seconds", "is_test", "excluded"),
)
USUAL_MEASURES = ("AP", "NMRR", "MNRO")
UNKNOWN_STUDY = "there is no study.json, which would say what the study was"

Sources = Mapping[int, QuestionSource]


def analyse_preferences_of(files: Files, options: AnalysisOptions) -> PreferenceResults:
    """Analyse preferences.csv; with questions.csv also what measures say. Raises BundleError."""
    if not options.as_planned:
        raise SurveyError(f"The analysis of {PREFERENCES} has only the option --include-test.")
    lists = _counted_lists(files)
    measures = _measures_of(files) if lists else ()
    questions = build_questions(lists, measures)
    check_rankings(files, rankings_of(questions), foreign=True)
    reader, faults = _Reader(questions), Faults()
    for row in read_foreign_rows(files, PREFERENCES, HEADINGS, MORE):
        with faults.collect(BundleError):
            reader.read(row)
    faults.raise_any()
    if not reader.judgements:
        raise BundleError(f"{PREFERENCES} holds no answer; a row for each is needed")
    sources = reader.sources
    runs = tuple(sorted({run for source in sources.values() for run in source.runs.values()}))
    pairs = PairsOfFile(
        runs,
        ask_strength=any(row.strength for row in reader.judgements),
        ask_satisfaction=any(any(row.satisfaction.values()) for row in reader.judgements),
        measures=measures,
        **_lists_by_topic(lists, runs),
    )
    numbers = sorted(sources)
    flags = Exclusions(*np.array([*reader.flags.values()], dtype=bool).T)
    counted = dict(zip(reader.flags, counted_mask(flags, options).tolist(), strict=True))
    tests = [name for name, (is_test, _) in reader.flags.items() if is_test and counted[name]]
    return PreferenceResults(
        pairs,
        questions or [Question(number, {}, {}, source=sources[number]) for number in numbers],
        [row for row in reader.judgements if counted[row.participant]],
        study={"why": UNKNOWN_STUDY},
        simulated_ids=frozenset(tests),
        left_out=LeftOut.of(flags, options),
    )


class _Reader:
    """Reads rows of preferences.csv; each must agree with the rows above and the questions."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self.judgements: list[Judgement] = []
        self.sources: dict[int, QuestionSource] = {}
        self.flags: dict[str, tuple[bool, bool]] = {}
        self._numbers = {question.number for question in questions}
        self._rows: dict[tuple[str, int], int] = {}
        for question in questions:
            if question.source is None:
                place = f"{QUESTIONS_FILE}, question {question.number}, column run"
                raise BundleError(f"{place}: each list needs the run that it is of")
            self.sources[question.number] = question.source

    def read(self, row: CsvRow) -> None:
        """Read an answer; raises BundleError with its place."""
        person, number = row.text("participant"), row.whole_number("question", 1)
        if self._numbers and number not in self._numbers:
            raise row.fault("question", f"{QUESTIONS_FILE} has no such question that counts")
        if (first := self._rows.setdefault((person, number), row.number)) != row.number:
            raise row.fault("question", f"row {first} has {person!r} answer it already")
        flags = row.flag("is_test"), row.flag("excluded")
        if self.flags.setdefault(person, flags) != flags:
            raise row.fault("excluded", "is_test and excluded are the same in a participant's rows")
        has_sides = "preferred" in row.cells
        row = row if has_sides else _with_sides(row)
        letters = self._letters(row, number)
        answer: PreferenceAnswer = read_fields(row, PreferenceAnswer)
        preferred = dict(zip((LEFT, RIGHT), letters, strict=True)).get(answer.preferred)
        satisfaction = answer.satisfaction_left, answer.satisfaction_right
        times = row.optional_time("shown_at"), row.optional_time("submitted_at")
        self.judgements.append(
            Judgement(
                participant=person,
                question=number,
                preferred=preferred or answer.preferred,
                side=answer.preferred if has_sides or not preferred else "",
                strength=answer.strength,
                satisfaction=dict(zip(letters, satisfaction, strict=True)),
                was_asked=row.optional_text("asked") is not None,
                contradicts=answer.contradicts,
                position=row.optional_whole_number("position", 1),
                seconds=seconds_taken(row.optional_number("active_seconds"), *times),
            )
        )

    def _letters(self, row: CsvRow, number: int) -> tuple[str, str]:
        """Return the letters of the lists at the left and right; the first row names the runs."""
        shown, topic = (row.text("left"), row.text("right")), row.optional_text("topic") or ""
        if shown[0] == shown[1]:
            raise row.fault("right", "another run than at the left is needed")
        source = QuestionSource(topic, dict(zip(LIST_LETTERS, sorted(shown), strict=True)), {})
        source = self.sources.setdefault(number, source)
        letters = {run: letter for letter, run in source.runs.items()}
        if {*shown} != {*letters} or topic != source.topic:
            known = f"{' and '.join(letters)}, topic {source.topic!r}"
            raise row.fault("left", f"question {number} is of {known}, here and elsewhere")
        return letters[shown[0]], letters[shown[1]]


def _with_sides(row: CsvRow) -> CsvRow:
    """Return a row that names the preferred run as one that names its side, run_a at the left."""
    sides = {row.text("run_a"): LEFT, row.text("run_b"): RIGHT, EQUAL: EQUAL, NEITHER: NEITHER}
    if (side := sides.get(row.text("preferred_run"))) is None:
        raise row.fault("preferred_run", f"{', '.join(sides)} are allowed")
    cells = {"left": row.cells["run_a"], "right": row.cells["run_b"], "preferred": side}
    return replace(row, cells={**row.cells, **cells})


def _counted_lists(files: Files) -> Lists:
    """Return the lists of questions.csv, without those of attention checks."""
    if QUESTIONS_FILE not in files:
        return {}
    return {
        number: rows
        for number, rows in read_lists(files, None).items()
        if (rows[0].row.optional_text("role") or COUNTED_ROLE) == COUNTED_ROLE
    }


def _measures_of(files: Files) -> tuple[str, ...]:
    """Return the measures that rankings.csv names, without it the usual ones."""
    if RANKINGS_TABLE.name not in files:
        return USUAL_MEASURES
    rows = read_foreign_rows(files, RANKINGS_TABLE.name, (("question", "measure", "ranking"),))
    return tuple(dict.fromkeys(row.text("measure") for row in rows))


def _lists_by_topic(lists: Lists, runs: Sequence[str]) -> dict[str, Any]:
    """Return lists, marks and setting as of a plan; {} unless every topic has a list of each run.

    Without these there are no means of the runs.
    """
    by_topic: dict[str, dict[str, Any]] = {}
    sizes = {entry.collection_size for rows in lists.values() for entry in rows}
    for entry in (entry for rows in lists.values() for entry in rows):
        topic = by_topic.setdefault(entry.row.optional_text("topic") or "", {})
        topic.setdefault(entry.run or "", entry.marked)
    rows: list[list[Any]] = [[topic.get(run) for run in runs] for topic in by_topic.values()]
    if len(sizes) != 1 or any(marked is None for topic in rows for marked in topic):
        return {}
    return {
        "own_lists": tuple(tuple(marked.ranks for marked in topic) for topic in rows),
        "own_marks": tuple(marks_of(topic) for topic in rows),
        "setting": Setting(sizes.pop()),
    }
