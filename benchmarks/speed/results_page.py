"""``python -m benchmarks.speed.results_page PARTICIPANTS QUESTIONS``: how long it takes."""

import json
import re
import sys
import tempfile
import time
from pathlib import Path

from flask.testing import FlaskClient
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from benchmarks.speed import crowd
from survey.app import create_app
from survey.config import Settings
from survey.db.models import Study
from survey.figures import as_svg
from survey.services import accounts
from survey.services.studies import lifecycle

PASSWORD = "a row of four words"  # noqa: S105 - of an account that lives for a second
ROUNDS = 7


def measured(participants: int, questions: int) -> dict[str, list[float]]:
    """Return the seconds of the first page of a process, of later ones, and of its first figure.

    Nothing is like what was computed before, as after a further answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/survey.sqlite3"
        engine = crowd.open_database(uri)
        for _ in crowd.fill(engine, participants, questions=questions):
            pass
        token = _close(engine)
        engine.dispose()
        client = _signed_in(Path(folder), uri, token)
        return {
            "first": [_page(client)],
            "page": [_page(client) for _ in range(ROUNDS)],
            "figure": [_figure(client) for _ in range(ROUNDS)],
        }


def _close(engine: Engine) -> str:
    """Close the study, and return the token with which its researcher signs in."""
    with Session(engine) as session:
        study = session.scalars(select(Study)).one()
        token = accounts.add_researcher(session, "Ada")[1]
        lifecycle.close_study(session, study, "Ada")
        session.commit()
    return token


def _signed_in(folder: Path, uri: str, token: str) -> FlaskClient:
    settings = {"SURVEY_INSTANCE": str(folder), "SURVEY_DATABASE_URI": uri}
    client = create_app(Settings.from_environment(settings, make=True)).test_client()
    address = f"/research/welcome/{token}"
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', client.get(address).text)
    sent = {"csrf_token": found[1] if found else "", "password": PASSWORD, "again": PASSWORD}
    client.post(address, data=sent)
    return client


def _figure(client: FlaskClient) -> float:
    """Time the figure of the first screen, drawn anew."""
    as_svg.cache_clear()
    begun = time.perf_counter()
    drawing = client.get(f"/research/studies/{crowd.SLUG}/results/drawing/differences.svg")
    taken = time.perf_counter() - begun
    if drawing.status_code != 200:
        raise AssertionError(f"{drawing.status}: not the figure of the differences")
    return taken


def _page(client: FlaskClient) -> float:
    begun = time.perf_counter()
    page = client.get(f"/research/studies/{crowd.SLUG}/results")
    taken = time.perf_counter() - begun
    if page.status_code != 200 or page.text.count('loading="lazy"') < 7:
        raise AssertionError(f"{page.status}: not the results with their seven figures")
    return taken


if __name__ == "__main__":
    json.dump(measured(*map(int, sys.argv[1:])), sys.stdout)
