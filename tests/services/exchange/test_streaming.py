"""A bundle streams: rows one after another, each file in one select, lines as they always were."""

import json
import tracemalloc
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event
from sqlalchemy.orm import Session

from benchmarks.speed import crowd
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.rankings import Ranking
from survey.db.models import Study
from survey.kinds.ordering.files import VOTES, responses_table
from survey.kinds.ordering.reader import AnswerRecord
from survey.services.exchange.bundle import content_of, study_lines, tables_in
from survey.services.exchange.tables import cell_of, row_line, spaced, yes_or_no
from tests.builders import a_plan
from tests.services.exchange.conftest import a_study

pytestmark = pytest.mark.slow

MEASURES = ("AP", "NMRR", "MNRO")
LETTERS = "ABCDE"
GROWING = ("responses.csv", "votes.csv", "participants.csv")
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45))])
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31), timezones=ZONES)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@st.composite
def answers(draw):
    """An answer as an imported bundle may hold it: odd ids, times of any zone or none."""
    clicked = draw(st.frozensets(st.integers(1, 3)))
    places = st.fixed_dictionaries({letter: st.integers(1, 5) for letter in LETTERS})
    return AnswerRecord(
        participant=draw(TEXTS.filter(bool)),
        question=draw(st.integers(1, 3)),
        position=draw(st.integers(1, 3)),
        label_order=tuple(draw(st.permutations(MEASURES))),
        column_order=tuple(draw(st.permutations((1, 2, 3)))),
        list_order=tuple(draw(st.permutations(LETTERS))),
        clicked=clicked,
        own=None if clicked else Ranking.by_key(draw(places)),
        shown_at=draw(st.none() | MOMENTS),
        submitted_at=draw(st.none() | MOMENTS),
        active_seconds=draw(st.none() | st.floats(0, 1e9)),
        revisions=draw(st.none() | st.integers(0, 9)),
        is_test=draw(st.booleans()),
        excluded=draw(st.booleans()),
        asked=draw(st.sampled_from((None, "equal", "differing", "reversed"))),
        typed=bool(clicked) and draw(st.booleans()),
        scores_seen=draw(st.none() | st.booleans()),
        reason=draw(st.none() | TEXTS.filter(bool)),
    )


FLAGGED = {"0", "a"}


def one_by_one(answer, people):
    """The cells of an answer, each for itself."""
    person = people[answer.participant]
    return (
        *("five", answer.participant, answer.question, "", answer.position),
        *map(spaced, (answer.label_order, answer.column_order, answer.list_order)),
        *(spaced(sorted(answer.clicked)), None if answer.own is None else str(answer.own)),
        *(answer.shown_at, answer.submitted_at, answer.active_seconds, answer.revisions),
        *(person.is_test, person.excluded, answer.participant in FLAGGED, person.arm),
        *(answer.asked, "no"),
        *(yes_or_no(answer.typed), yes_or_no(answer.scores_seen), answer.reason),
    )


@given(st.lists(answers(), max_size=8))
def test_an_answer_is_written_as_its_cells_would_be_one_by_one(records):
    plan = a_plan(reason_question="Why?")
    people = {
        answer.participant: SimpleNamespace(
            public_id=answer.participant, is_test=answer.is_test, excluded=answer.excluded, arm=None
        )
        for answer in records
    }
    content = SimpleNamespace(
        slug="five",
        results=SimpleNamespace(flagged_ids=FLAGGED),
        participants=lambda: iter(people.values()),
        plan=plan,
        questions=[SimpleNamespace(number=number, lists={}) for number in (1, 2, 3)],
        answers=SimpleNamespace(rows=lambda: iter(records)),
    )
    body = [*responses_table(plan).body(content)]
    assert body == [row_line(one_by_one(answer, people)) for answer in records]


@given(MOMENTS)
def test_a_time_is_written_as_strftime_would_in_utc(moment):
    assert cell_of(moment) == f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@given(
    st.dictionaries(TEXTS, st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=3), max_size=4),
    st.lists(TEXTS, max_size=2),
)
def test_texts_are_written_as_one_dictionary_of_all_would_be(content, texts, silent):
    everyone = {**texts, **{name: {"age": 3} for name in silent if name not in texts}}
    fields = dict.fromkeys(ParticipantRecord.__dataclass_fields__)
    people = [
        ParticipantRecord(**fields | {"public_id": name, "personal": said})
        for name, said in sorted(everyone.items())
    ]
    told = "".join(study_lines(replace(content, participants=lambda: iter(people))))
    whole = json.dumps(
        {**json.loads(told), "texts": texts}, ensure_ascii=False, indent=2, sort_keys=True
    )
    assert told == f"{whole}\n"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The content of a study without participants."""
    engine = a_crowd(tmp_path_factory.mktemp("nobody"), 1)
    with Session(engine) as session:
        yield content_of(session, session.query(Study).one())
    engine.dispose()


def a_crowd(folder, participants):
    engine = crowd.open_database(f"sqlite:///{folder / 'crowd.sqlite3'}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crowd, "DEALT", 40)
        deque(crowd.fill(engine, participants, questions=10), maxlen=0)
    return engine


def most_held(engine):
    """The bytes held at most while the files that grow are written, and how many they have."""
    with Session(engine) as session:
        content = content_of(session, session.query(Study).one())
        files = [one.lines(content) for one in tables_in(content) if one.name in GROWING]
        tracemalloc.start()
        length = sum(len(lines) for file in (*files, study_lines(content)) for lines in file)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return held, length


def test_three_times_the_answers_take_no_more_memory(tmp_path):
    few, many = tmp_path / "few", tmp_path / "many"
    for folder in (few, many):
        folder.mkdir()
    (held, length), (held_of_many, length_of_many) = (
        most_held(a_crowd(folder, people)) for folder, people in ((few, 200), (many, 600))
    )
    assert length_of_many > 2.8 * length
    assert held_of_many < 1.5 * held


def test_each_file_takes_two_selects_whatever_there_are_answers(session, engine, study):
    content, asked = content_of(session, study, include_test=True), []
    assert not content.results.nothing  # all files of a bundle share the analysis
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    for table in tables_in(content):
        if table.name in GROWING:
            asked.clear()
            assert sum(lines.count("\n") for lines in table.lines(content)) > 5
            assert len(asked) <= 2  # of answers, and of people who gave them


def test_votes_are_those_of_the_answers_that_count(session):
    content = content_of(session, a_study(session))
    counted = [one for one in content.answers.rows() if not one.excluded]
    _, *votes = "".join(VOTES.lines(content)).splitlines()
    said = [(one.participant, one.question) for one in counted for _ in MEASURES]
    assert [(vote.split(",")[1], int(vote.split(",")[2])) for vote in votes] == said
