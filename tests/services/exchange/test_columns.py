"""Each column of what a participant, a presentation and an answer is: exported, shown, explained.

The models declare the columns. A test that fails here names a column and what was forgotten.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from survey.core.studies.fields import (
    CLOSING,
    MINUTES,
    PERSONAL,
    TAKEN_COLUMNS,
    ParticipantRecord,
    participant_columns,
)
from survey.db.models import Participant, Presentation, Revision, StoredResponse
from survey.kinds.ordering import files
from survey.kinds.ordering.models import (
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredOrderingRevision,
)
from survey.services.exchange import tables
from survey.services.exchange.tables import codebook_of, describe_column
from survey.services.participation.own_data import (
    COLUMN_KEYS,
    HIDDEN_COLUMNS,
    own_data,
    shown_columns,
)
from tests.builders import a_plan
from tests.services.exchange.conftest import FINISHED, a_study

ROOT = Path(__file__).parents[3]
SHARED = (Participant, Presentation, StoredResponse, Revision)
ORDERING = (StoredOrderingPresentation, StoredOrderingAnswer, StoredOrderingRevision)
TABLES = [
    tables.participants_table(a_plan(machine_line=True)),
    *(files.responses_table(a_plan(reason_question="Why?")), files.FIRST_RANKINGS),
]

# Columns that are in no file, each with its reason.
NOT_EXPORTED = {
    "participant.resume_hash": "belongs to the code with which a participant continues elsewhere",
    "participant.receipt": "a participant shows it to be credited, so it leads to a person",
    "participant.consented_at": "consent_version says what was agreed to",
    "participant.described_at": "the analysis counts from the beginning to the end",
    "participant.informed_at": "the analysis counts from the beginning to the end",
    "participant.last_seen_at": "serves to release unused places while a study runs",
    "presentation.refusals": "says who is stuck while a study runs",
    "presentation.last_refusal": "says who is stuck while a study runs",
    "presentation.asked_back": "asked of the answer says what was asked back",
    "revision.number": "only the answer that counts is exported, with its number of revisions",
    "revision.submitted_at": "only the answer that counts is exported",
    "revision.active_seconds": "only the answer that counts is exported",
    "revision.reason": "only the answer that counts is exported",
    "ordering_presentation.shown": "printed again from the lists in questions.csv",
    "ordering_revision.clicked": "only the answer that counts is exported",
    "ordering_revision.own": "only the answer that counts is exported",
    "ordering_revision.typed": "only the answer that counts is exported",
    "ordering_revision.scores_seen": "only the answer that counts is exported",
    "revision.asked": "only the answer that counts is exported",
    "revision.beside": "only the answer that counts is exported",
}
# Where a participant reads the columns of ordering questions, in an item of "questions" of
# my-data.json or in an item of its "answers".
IN_OWN_DATA = {
    "ordering_presentation.column_order": "methods",
    "ordering_presentation.list_order": "lists",
    "ordering_presentation.shown": "methods",
    "ordering_presentation.ranked_first": "ranked_before",
    "ordering_presentation.ranked_at": "ranked_before_at",
    "ordering_presentation.ranked_asked": "ranked_before_asked",
    "ordering_revision.typed": "typed",
    "ordering_revision.scores_seen": "scores_seen",
    "ordering_revision.clicked": "ticked",
    "ordering_revision.own": "own_ordering",
}
NOT_IN_OWN_DATA = {
    "ordering_presentation.label_order": "would unblind the study while it runs",
    "ordering_response.typed": "the last of “answers” has it",
    "ordering_response.scores_seen": "the last of “answers” has it",
    "ordering_response.clicked": "the last of “answers” has it",
    "ordering_response.own": "the last of “answers” has it",
}


def columns_of(*models):
    """The columns of tables by their names, ``participant.status``; keys of rows left out."""
    return {
        f"{model.__tablename__}.{column.name}": column
        for model in models
        for column in model.__table__.columns
        if not (column.primary_key or column.foreign_keys)
    }


def exported():
    """The database's columns that are in files of a bundle, with the columns of these files."""
    return {
        f"{column.source.class_.__tablename__}.{column.source.key}": (table.name, column)
        for table in TABLES
        for column in table.columns
        if column.source is not None
    }


@pytest.mark.parametrize("name", columns_of(*SHARED, *ORDERING))
def test_nothing_is_forgotten_of_a_column(name):
    table, _, column = name.partition(".")
    forgotten = []
    if not columns_of(*SHARED, *ORDERING)[name].doc:
        forgotten.append("its doc in the model")
    # A column for each field of the plan.
    of_plan = (f"participant.{PERSONAL}", f"participant.{CLOSING}", "response.beside")
    is_exported = name in exported() or name in of_plan
    if is_exported == (name in NOT_EXPORTED):
        forgotten.append("either a column of a file (a field of ParticipantRecord) or NOT_EXPORTED")
    if (
        table in HIDDEN_COLUMNS
        and column in COLUMN_KEYS.get(table, ())
        and column in HIDDEN_COLUMNS[table]
    ):
        forgotten.append("either COLUMN_KEYS or HIDDEN_COLUMNS of own_data.py, not both")
    if table not in HIDDEN_COLUMNS and (name in IN_OWN_DATA) == (name in NOT_IN_OWN_DATA):
        forgotten.append("either IN_OWN_DATA or NOT_IN_OWN_DATA")
    if name in exported() and not all(describe_column(exported()[name][1])[::2]):
        forgotten.append("its type or meaning in the codebook")
    assert not forgotten, f"{name} lacks {'; '.join(forgotten)}"


def test_the_lists_name_only_columns_that_there_are_each_with_its_reason():
    shared, ordering = columns_of(*SHARED), columns_of(*ORDERING)
    hidden, keys = (
        {f"{table}.{name}": text for table, names in each.items() for name, text in names.items()}
        for each in (HIDDEN_COLUMNS, COLUMN_KEYS)
    )
    assert (hidden | keys).keys() <= shared.keys()
    assert NOT_EXPORTED.keys() <= (shared | ordering).keys()
    assert (IN_OWN_DATA | NOT_IN_OWN_DATA).keys() <= ordering.keys()
    assert all((hidden | NOT_EXPORTED | NOT_IN_OWN_DATA).values())


def test_each_exported_column_is_in_the_codebook():
    book = [line.split(",")[:2] for line in "".join(codebook_of(TABLES).body(None)).splitlines()]
    for file, column in exported().values():
        assert [file, column.name] in book


def test_each_field_of_the_record_is_a_column_of_the_model_or_computed():
    known = {*Participant.__table__.columns.keys(), "consent_version"}
    assert ParticipantRecord.__dataclass_fields__.keys() <= known
    names = [name for name, _ in participant_columns() if name not in (PERSONAL, CLOSING)]
    assert set(names) < set(TAKEN_COLUMNS)
    assert names[names.index(MINUTES) - 1] == "completed_at"


def test_own_data_hold_each_column_that_is_not_hidden(session):
    study = a_study(session, columns="after")
    one = session.query(Participant).filter_by(public_id=FINISHED).one()
    data = own_data(session, study, one)
    question = next(each for each in data["questions"] if each["answers"])
    answer = question["answers"][-1]
    assert {*shown_columns(Participant).values()} <= data.keys()
    assert {*shown_columns(Presentation).values()} <= question.keys()
    assert {*shown_columns(Revision).values()} <= answer.keys()
    assert shown_columns(StoredResponse) == {}
    for name, key in IN_OWN_DATA.items():
        assert (answer if name.startswith("ordering_revision.") else question)[key] is not None or (
            key in ("own_ordering", "scores_seen", "ranked_before_asked") and answer["ticked"]
        )


@pytest.mark.slow
def test_a_column_of_the_model_and_the_record_is_in_everything(tmp_path):
    """Add two columns to copies of these two files alone, and use them in another process."""
    shutil.copytree(ROOT / "survey", tmp_path / "survey")
    add_lines(
        tmp_path / "survey" / "db" / "models" / "__init__.py",
        "    exclude_reason: Mapped[LongText | None]",
        '    weather: Mapped[LongText | None] = mapped_column(doc="the weather that day")\n'
        '    visits: Mapped[int] = mapped_column(default=1, doc="how often they came")\n',
    )
    add_lines(
        tmp_path / "survey" / "core" / "studies" / "fields.py",
        "    exclude_reason: str | None",
        "    weather: str | None\n    visits: int\n",
    )
    result = used_in_another_process(tmp_path)
    row = next(row for row in result["rows"] if row["participant"] == FINISHED)
    after = [*row].index("weather")
    assert [*row][after : after + 3] == ["weather", "visits", "exclude_reason"]
    assert (row["weather"], row["visits"]) == ("'=rain", "3")
    assert result["texts"]["weather"] == "=rain"
    assert [(row["file"], row["column"], row["meaning"]) for row in result["codebook"]] == [
        ("participants.csv", "weather", "the weather that day"),
        ("participants.csv", "visits", "how often they came"),
    ]
    assert result["replicated"] > 5
    assert result["same"]
    place = "participants.csv, row 2, column visits"
    assert result["refused"] == [
        f"{place}: 'x' found; a whole number is needed",
        f"{place}: '' found; a value is needed",
    ]
    assert result["earlier"] == [None, 1]
    assert result["earlier replicated"] == result["replicated"]
    assert result["own data"] == {"weather": "=rain", "visits": 3}
    assert result["taken"] == ["weather", "visits"]


def add_lines(path, before, lines):
    """Put lines before another one of a file."""
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, lines + before))


def used_in_another_process(folder):
    """What added_columns.py prints with the package in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.services.exchange.added_columns", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
