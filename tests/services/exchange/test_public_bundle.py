"""A public bundle replicates and says the same as the full one, without what people wrote."""

import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import update

from survey.core.kinds import KINDS as ALL_KINDS
from survey.db.models import (
    Event,
    Guest,
    Participant,
    Presentation,
    Revision,
    StoredResponse,
)
from survey.db.models.base import now
from survey.services.exchange.bundle_reader import read_bundle
from survey.services.exchange.description import left_out
from survey.services.exchange.public_bundle import (
    BEGINNING,
    NOT_PUBLISHED,
    stream_public_bundle,
)
from tests.grouped import by_colour, grouped, warm_and_cold
from tests.labelled import labelled
from tests.preferred import preferred
from tests.services.exchange.changes import rows_of, steps_of, unzipped
from tests.services.exchange.conftest import FIELDS, FINISHED, a_study, handed_out

CANARY = "Kestrel"
CLOSING = [{"name": "remarks", "label": "Any remarks?", "kind": "text", "required": False}]
ASKED = {"reason_question": "Why?", "closing_questions": CLOSING}
KINDS = {
    "ordering": lambda _, session: a_study(session, **ASKED),
    "rank first": lambda _, session: a_study(session, columns="after", **ASKED),
    "labelling": lambda app, session: labelled(app, session, reason_question="Why?"),
    "grouping": lambda app, session: grouped(app, session, reason_question="Why?"),
    "preference": lambda app, session: preferred(app, session),
}


def with_canaries(session, study):
    """Write the canary wherever people or researchers write what they like."""
    study.looks = [{"at": now().isoformat(), "participants": 1, "reason": CANARY}]
    study.recruitment = {"code_complete": CANARY, "return_url": f"https://example.org/{CANARY}"}
    session.add(Guest(study_id=study.id, name=CANARY, nonce="n" * 16, created_at=now()))
    session.add(Event(slug=study.slug, who=CANARY, at=now(), kind="changed", detail=CANARY))
    people = session.query(Participant).filter_by(study_id=study.id).all()
    for each in people:
        texts = [field.name for field in study.plan.personal_fields if field.kind == "text"]
        each.personal = {**each.personal, **dict.fromkeys(texts, CANARY)}
        each.closing = dict.fromkeys([one.name for one in study.plan.closing_questions], CANARY)
        if each.excluded:
            each.exclude_reason = CANARY
    for table in (StoredResponse, Revision):
        session.query(table).update({"reason": CANARY})
    step = ALL_KINDS["grouping"].tables.step
    named = update(step).where(step.c.name.is_not(None))
    session.execute(named.values(name=CANARY + " " + step.c.name))
    session.commit()
    return people


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=[pytest.mark.slow] * (name != "ordering")) for name in KINDS]
)
def test_it_replicates_with_the_same_figures_and_without_a_word_of_people(app, session, kind):
    study = KINDS[kind](app, session)
    with_canaries(session, study)
    full = handed_out(session, study)
    assert any(CANARY.encode() in content for content in full.values())
    public = unzipped(b"".join(stream_public_bundle(session, study)))
    assert [name for name, content in public.items() if CANARY.encode() in content] == []
    assert public.keys() == {*full, "LICENSE"}
    steps_of(public)  # replicates
    figures, expected = (json.loads(files["analysis.json"]) for files in (public, full))
    for of_study in (figures, expected):
        of_study.pop("table3", None)  # of what people said of themselves
        of_study.get("study", {}).pop("looks", None)
    assert figures == expected
    assert json.loads(public["study.json"])["digest"] == study.digest


def test_when_someone_took_part_is_left_out_and_how_long_is_kept(session):
    study = a_study(session)
    full, public = (
        handed_out(session, study),
        unzipped(b"".join(stream_public_bundle(session, study))),
    )
    day = re.compile(rb"2026-03-01")
    assert day.search(full["participants.csv"])
    assert not any(day.search(content) for content in public.values())
    rows = (rows_of(each, "participants.csv") for each in (full, public))
    for before, after in zip(*rows, strict=True):
        assert after["started_at"] == "2000-01-01T00:00:00Z"
        assert after["minutes"] == before["minutes"]
        assert not any(after[field["name"]] for field in FIELDS)
        assert after["exclude_reason"] == (NOT_PUBLISHED if before["excluded"] == "1" else "")
    assert FINISHED in public["participants.csv"].decode()
    seconds = [row["active_seconds"] for row in rows_of(public, "responses.csv")]
    assert seconds == [row["active_seconds"] for row in rows_of(full, "responses.csv")]
    assert "age, education, remark and the day" in left_out(study.plan)


@pytest.mark.parametrize("kind", [pytest.param(name, marks=pytest.mark.slow) for name in KINDS])
def test_no_file_tells_the_day_or_hour_of_a_study_that_was_open_for_one_lesson(app, session, kind):
    study = KINDS[kind](app, session)
    lesson = datetime(2031, 7, 19, 10, 20, 30, tzinfo=UTC)
    with_canaries(session, study)
    for name in ("opened_at", "closed_at", "unblinded_at"):
        setattr(study, name, lesson)
    study.looks = [{"at": lesson.isoformat(), "participants": 1, "reason": "why"}]
    session.commit()
    files = unzipped(b"".join(stream_public_bundle(session, study)))
    days = re.compile(rb"(?!2000)20\d\d-\d\d-\d\d|2031|10:20")
    told = {(name, day) for name, content in files.items() for day in days.findall(content)}
    assert {name for name, _ in told} == {"study.json", "README.md", "ro-crate-metadata.json"}
    assert {day for _, day in told} == {b"2031"}
    public = json.loads(files["study.json"])
    assert (public["opened_at"], public["closed_at"]) == ("2031-07", "2031-07")
    assert public["unblinded_at"] is None
    read, _ = read_bundle(files)
    assert read.opened_at == date(2031, 7, 1)
    steps_of(files)  # replicates


@pytest.mark.slow
def test_groups_have_numbers_and_people_begin_in_their_order(app, session):
    study = grouped(app, session)
    session.query(Presentation).update({"shown_at": now() + timedelta(days=1)})
    session.commit()
    full, public = (
        handed_out(session, study),
        unzipped(b"".join(stream_public_bundle(session, study))),
    )
    typed = {*by_colour(["red-0", "green-0", "blue-0"]), *warm_and_cold([])}
    names = {row["group"] for row in rows_of(full, "groups.csv")}
    assert names & typed
    assert {row["group"] for row in rows_of(public, "groups.csv")} & typed == set()
    began = [row["started_at"] for row in rows_of(public, "participants.csv")]
    expected = [BEGINNING + timedelta(seconds=place) for place in range(3)]
    assert sorted(began) == [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in expected]
