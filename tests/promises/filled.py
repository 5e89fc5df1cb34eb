"""A survey with something in every table, and all that is in a database, to be compared."""

import re

from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.orm import Session

from survey.core.studies.plan import Plan
from survey.services import accounts
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, SLUG, Visitor, a_plan

STRANGE = "Ελένη \\ \"quoted\" 'once' %s :x \U0001f600"
FILLED_TABLES = {
    *("browser", "consent_text", "event", "guest", "identity", "membership", "participant"),
    *("presentation", "question", "response", "researcher", "revision", "sign_in"),
    *("sign_in_link", "sign_in_throttle", "study"),
}


def fill(app, session, plan: Plan | None = None) -> None:
    """Put rows into every table, by the ways by which they come there in life."""
    ada, token = accounts.add_researcher(session, "Ada Lovelace")
    accounts.set_password(session, token, "a row of four words")
    accounts.new_session(session, ada)
    try:
        accounts.sign_in(session, "Nobody", "a wrong password")
    except accounts.WrongPasswordError:
        session.commit()
    study = lifecycle.create_study_for(
        session, "Ada Lovelace", SLUG, plan or a_plan(), Recruitment()
    )
    lifecycle.create_study(session, "a-draft", a_plan())
    lifecycle.open_study(session, study, accounts.COMMAND_LINE)
    recruitment.add_guests(session, study, [STRANGE])
    guest = recruitment.guests_of(session, study)[0]
    _answer(app, f"?guest={recruitment.link_token(KEY, guest)}")
    _answer(app, "?PROLIFIC_PID=p%3C1&STUDY_ID=s1")
    session.rollback()


def _answer(app, query: str) -> None:
    """Take part: one answer is changed, one is an own ranking, one is missing."""
    visitor = Visitor(app.test_client())
    visitor.go("/q/1", query=query, age="23", education="School")
    visitor.submit("/q/1", choice="1")
    places = {f"rank_{letter}": place for place, letter in enumerate("BADCE", 1)}
    visitor.insist("/q/2", choice="own", **places)
    visitor.open("/q/1")
    visitor.submit("/q/1", choice=["2", "3"], settle="several")


def everything_in(engine) -> dict[str, list[tuple]]:
    """All rows of all tables, as both databases tell them."""
    found = {}
    with engine.connect() as connection:
        for name, columns in columns_in(connection).items():
            # As text, so that JSON stays as it was written; moments are told alike.
            listed = ", ".join(f'CAST("{column}" AS TEXT)' for column in columns)
            rows = connection.execute(text(f'SELECT {listed} FROM "{name}"')).all()
            found[name] = sorted(tuple(map(_alike, row)) for row in rows)
    return found


def columns_in(database: Connection | Engine) -> dict[str, list[str]]:
    """The columns of every table, by name; asked for at once, as each table takes as long."""
    tables = inspect(database).get_multi_columns()
    return {name: sorted(each["name"] for each in columns) for (_, name), columns in tables.items()}


def _alike(cell: str | None) -> str:
    """Tell truth and moments as both databases do: 1 is true, fractions end in no zeros."""
    told = {None: "NULL", "1": "true", "0": "false"}.get(cell, cell)
    return re.sub(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d*?)0*$", r"\1\2", told).removesuffix(".")


def exported(engine, *, with_identities: bool = True) -> bytes:
    """The study's bundle, byte by byte."""
    with Session(engine) as session:
        study = lifecycle.find_study(session, SLUG)
        return b"".join(stream_bundle(session, study, with_identities=with_identities))


def opened_file(path):
    """A SQLite file opened by the standard library's driver, as anyone could."""
    return create_engine(f"sqlite:///{path}")
