"""A study with as many answers as one likes, the same on SQLite and PostgreSQL.

Drawing a blinding and a vote for each of ten million answers would take an hour. So some
thousand presentations with their votes are drawn for each question, by the survey's own
blinding and voting, and the database deals them to the participants: answer (p, q) gets the
one that a polynomial of p and q modulo a prime names. No question is practised, nobody has
changed an answer, and everybody has finished.
"""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

import click
import numpy as np
from numpy.random import PCG64, Generator
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    cast,
    create_engine,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy import Column as TableColumn
from sqlalchemy.orm import Session

from survey.core.studies.questions import Question, blind, draw_blinding
from survey.db.engine import database_url, engine_options, prepare
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse, Study
from survey.kinds.ordering.bot import Preference, cast_vote
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingPresentation
from survey.kinds.ordering.plan import OrderingPlan, ordering_plan
from survey.services.operations import demo
from survey.services.operations.database import upgrade_database
from survey.services.studies import lifecycle, plans

SLUG = "crowd"
DEALT = 4_000  # presentations of each question
PEOPLE = 500  # different answers to "About you"
AT_ONCE = 50_000  # participants in a transaction
LARGE_PRIME = 2_147_483_647
BEGUN = int(datetime(2026, 1, 5, 9, tzinfo=UTC).timestamp())
PREFERENCE = "MNRO=.35,NMRR=.3,AP=.28,OTHER=.07"

# The own tables of ordering questions: the shared table each belongs to, and its columns.
OWN: tuple[tuple[Any, Any, tuple[str, ...]], ...] = (
    (
        StoredOrderingPresentation,
        Presentation,
        ("label_order", "column_order", "list_order", "shown"),
    ),
    (StoredOrderingAnswer, StoredResponse, ("clicked", "own")),
)

staging = MetaData()
personal = Table(
    "dealt_personal",
    staging,
    TableColumn("number", Integer, primary_key=True),
    Participant.personal.expression._copy(),
)
dealt = Table(
    "dealt",
    staging,
    TableColumn("question_id", Integer, primary_key=True),
    TableColumn("number", Integer, primary_key=True),
    TableColumn("position", Integer),
    *(getattr(own, name).expression._copy() for own, _, names in OWN for name in names),
)


def open_database(uri: str) -> Engine:
    """Open a database with the newest schema."""
    url = database_url(uri)
    engine = create_engine(url, **engine_options(url))
    prepare(engine)
    upgrade_database(engine)
    return engine


def fill(engine: Engine, participants: int, **changes: Any) -> Iterator[int]:
    """Make the study SLUG and fill it; give the number of participants after each step.

    ``changes``: of the plan of the paper's study, ``questions`` say.
    """
    with Session(engine) as session:
        # Twice as many places, so that there are free ones.
        wanted = 2 * participants
        standing: dict[str, Any] = {
            "practice": False,
            "participants": wanted,
            **demo.DEMO_CONTACT,
        }
        plan = ordering_plan(plans.preset_plan("mnro", **standing | changes))
        study = lifecycle.create_study(session, SLUG, plan)
        lifecycle.open_study(session, study, anyway="no people take part")
        study_id, consent_id = study.id, study.consent_texts[0].id
        drawn = list(_drawn(session, study, plan))
    with engine.begin() as connection:
        staging.create_all(connection)
        connection.execute(insert(dealt), drawn)
        connection.execute(insert(personal), _people(plan))
    for first in range(1, participants + 1, AT_ONCE):
        last = min(first + AT_ONCE - 1, participants)
        with engine.begin() as connection:
            _add(connection, study_id, consent_id, first, last)
        yield last
    with engine.begin() as connection:
        staging.drop_all(connection)


def _drawn(session: Session, study: Study, plan: OrderingPlan) -> Iterator[dict[str, Any]]:
    ids = {one.number: one.id for one in session.scalars(select(StoredQuestion))}
    preference = Preference.parse(
        PREFERENCE if set(plan.measures) == {"AP", "NMRR", "MNRO"} else None, plan.measures
    )
    for question in lifecycle.questions_of(study):
        # Nobody is blinded here: the same crowd each time is what a speed run needs.
        shuffled = Random(f"{plan.seed} {question.number}")  # noqa: S311
        chance = Generator(PCG64([plan.seed, question.number]))
        for number in range(DEALT):
            yield {
                "question_id": ids[question.number],
                "number": number,
                "position": question.number,
                **_one(plan, question, preference, shuffled, chance),
            }


def _one(
    plan: OrderingPlan,
    question: Question,
    preference: Preference,
    shuffled: Random,
    chance: Generator,
) -> dict[str, Any]:
    blinding = draw_blinding(
        plan.measures, plan.letters, shuffled, shuffle_lists=plan.shuffle_lists
    )
    shown = [list(question.columns[measure].shown) for measure in blinding.label_order]
    vote = cast_vote(preference, question, blind(question, blinding, shown).columns, chance)
    return {
        "label_order": list(blinding.label_order),
        "column_order": list(blinding.column_order),
        "list_order": list(blinding.list_order),
        "shown": shown,
        "clicked": vote.clicked,
        "own": vote.own,
    }


def _people(plan: OrderingPlan) -> list[dict[str, Any]]:
    chance = np.random.default_rng(plan.seed)
    levels = next(one.options for one in plan.personal_fields if one.name == "education")
    return [
        {
            "number": number,
            "personal": {
                "age": int(chance.integers(18, 70)),
                "education": levels[int(chance.integers(len(levels)))],
            },
        }
        for number in range(PEOPLE)
    ]


def _add(connection: Connection, study_id: int, consent_id: int, first: int, last: int) -> None:
    """Add the participants from ``first`` to ``last``, with their answers."""
    numbers = select(literal(first).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < last))
    n = cast(numbers.c.n, BigInteger)
    people = {
        "study_id": literal(study_id),
        "consent_id": literal(consent_id),
        "personal": personal.c.personal,
        **_person(n, connection.dialect.name),
    }
    _insert(
        connection,
        Participant,
        people,
        lambda found: found.join_from(
            numbers, personal, personal.c.number == _mixed(n, 5) % PEOPLE
        ),
    )
    presented, answered = _answer(connection.dialect.name)
    for model, columns in ((Presentation, presented), (StoredResponse, answered)):
        _insert(connection, model, columns, partial(_dealt_to, first=first, last=last))
    for own, model, names in OWN:
        [key] = own.__table__.primary_key.columns
        columns = {key.name: model.id, **{name: dealt.c[name] for name in names}}
        of_each = partial(_dealt_to, first=first, last=last, model=model)
        _insert(connection, own, columns, of_each)


def _insert(
    connection: Connection,
    model: Any,
    columns: dict[str, Any],
    found_in: Callable[[Select[Any]], Select[Any]],
) -> None:
    source: Select[Any] = select(*columns.values())
    connection.execute(insert(model).from_select([*columns], found_in(source)))


def _person(n: ColumnElement[int], dialect: str) -> dict[str, Any]:
    begun, ended = BEGUN + n * 3, BEGUN + n * 3 + 60 + _mixed(n, 3) % 900
    drawn = func.substr(cast(10**9 + _mixed(n, 7), String), 3, 8)
    shuffled = func.substr(cast(10**8 + n * 16_777_619 % 99_999_989, String), 2)
    return {
        "id": n,
        "public_id": literal("P-") + shuffled,
        "resume_hash": literal("none: ") + cast(n, String),
        "status": literal("complete"),
        "is_test": literal(False),
        "excluded": literal(False),
        "receipt": cast(n, String) + literal("-") + drawn,
        "started_at": _moment(dialect, begun),
        "consented_at": _moment(dialect, begun + 5),
        "described_at": _moment(dialect, begun + 15),
        "informed_at": _moment(dialect, begun + 40),
        "completed_at": _moment(dialect, ended),
        "last_seen_at": _moment(dialect, ended),
    }


def _answer(dialect: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of an answer's presentation, and its own."""
    p, position = cast(Participant.id, BigInteger), dealt.c.position
    begun = BEGUN + p * 3 + 40 + position * 12
    of_both = {"participant_id": Participant.id, "question_id": dealt.c.question_id}
    presented = of_both | {"position": position, "shown_at": _moment(dialect, begun)}
    answered = of_both | {
        "submitted_at": _moment(dialect, begun + 10),
        "active_seconds": 3 + _mixed(p, position + 11) % 90 / literal(10.0),
        "revisions": literal(0),
    }
    return presented, answered


def _dealt_to(found: Select[Any], first: int, last: int, model: Any = None) -> Select[Any]:
    """Deal to each participant one of the presentations of each question.

    ``model``: the rows, inserted before, to which what is dealt belongs.
    """
    which = _mixed(cast(Participant.id, BigInteger), StoredQuestion.number + 1) % DEALT
    joined = (
        found.select_from(Participant)
        .join(StoredQuestion, StoredQuestion.study_id == Participant.study_id)
        .join(dealt, (dealt.c.question_id == StoredQuestion.id) & (dealt.c.number == which))
    )
    if model is not None:
        theirs = model.participant_id == Participant.id
        joined = joined.join(model, theirs & (model.question_id == StoredQuestion.id))
    return joined.where(Participant.id.between(first, last)).order_by(
        Participant.id, StoredQuestion.number
    )


def _mixed(p: ColumnElement[Any], q: Any) -> ColumnElement[Any]:
    """Return a number below a large prime that looks unlike those of neighbours.

    For p and q up to a few millions and some hundreds it fits into 63 bits.
    """
    mixed: ColumnElement[Any] = (p * p * 48_271 + p * q * 69_621_337 + q * 16_807) % LARGE_PRIME
    return mixed


def _moment(dialect: str, seconds: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return so many seconds after 1970 as the database stores moments, in UTC."""
    if dialect == "sqlite":
        return func.strftime("%Y-%m-%d %H:%M:%S.000000", seconds, "unixepoch")
    return func.timezone("UTC", func.to_timestamp(seconds))


@click.command()
@click.argument("uri")
@click.option("--participants", default=1_000_000, show_default=True)
@click.option("--questions", default=10, show_default=True)
def main(uri: str, participants: int, questions: int) -> None:
    """Fill a study in the (new) database at URI."""
    begun = time.perf_counter()
    for done in fill(open_database(uri), participants, questions=questions):
        click.echo(f"{done:,} participants after {time.perf_counter() - begun:.0f} s", err=True)


if __name__ == "__main__":
    main()
