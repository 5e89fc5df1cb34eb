"""Pages without a study or a sign-in, and the background work of a server process.

Table 4 names the measures, so no page that participants are led through links to it.
"""

import gc
from functools import cache
from threading import Thread
from time import sleep

from flask import Blueprint, Flask, render_template, request
from flask.typing import ResponseReturnValue

from survey.services.analysis.report import load_libraries
from survey.services.exchange.tables import stored_tables
from survey.services.operations.database import is_ready
from survey.services.paper.table4 import table4 as reproduce_table4
from survey.services.participation import own_data
from survey.web.errors import DATABASE_FAULTS
from survey.web.requests import engine, session

home_blueprint = Blueprint("home", __name__)
health_blueprint = Blueprint("health", __name__)
stored_blueprint = Blueprint("stored", __name__)
paper_blueprint = Blueprint("paper", __name__, url_prefix="/paper")
BLUEPRINTS = (home_blueprint, health_blueprint, stored_blueprint, paper_blueprint)


@home_blueprint.get("/")
def home() -> ResponseReturnValue:
    """Tell visitors without a study's link what to do."""
    return render_template("home.html")


@health_blueprint.get("/healthz")
def alive() -> ResponseReturnValue:
    """Answer as long as the process runs."""
    return {"status": "ok"}


@health_blueprint.get("/readyz")
def ready() -> ResponseReturnValue:
    """Answer 503 until the database can be reached and has the current schema."""
    if is_ready(engine()):
        return {"status": "ready"}
    return {"status": "the database cannot be used yet"}, 503


@stored_blueprint.get("/what-is-stored")
def page() -> ResponseReturnValue:
    """List every column of every table, its purpose and how long it is kept."""
    return render_template("stored.html", tables=stored_tables())


@paper_blueprint.get("/table4")
def table4() -> ResponseReturnValue:
    """Show the paper's Table 4, tests of its counts, and which claims they support."""
    return render_template("paper/table4.html", table4=reproduce_table4())


SECONDS_BETWEEN_DELETIONS = 3600.0

# Number of new objects after which Python searches for circular references. A page creates
# thousands of objects that need no search; with Python's 700 it takes 6 % of a page's time.
GARBAGE_THRESHOLD = 50_000


def start(app: Flask) -> None:
    """Start the background work, in threads that end with the process."""
    gc.freeze()  # what exists at the start stays, so the garbage collector may skip it
    gc.set_threshold(GARBAGE_THRESHOLD)
    app.before_request(_preload_for_researchers)
    Thread(target=_delete_due_data, args=(app,), daemon=True).start()


def _preload_for_researchers() -> None:
    """Load the libraries of the results page as soon as a researcher opens any page."""
    if request.blueprint == "researcher":
        _load_in_background()


@cache
def _load_in_background() -> None:
    Thread(target=load_libraries, daemon=True).start()


def _delete_due_data(app: Flask) -> None:
    """Delete personal data of studies whose date for that has passed, every hour."""
    while True:
        with app.app_context():
            try:
                own_data.drop_due(session())
            except DATABASE_FAULTS:
                app.logger.warning(
                    "The database was busy. Data that are due are deleted in an hour."
                )
        sleep(SECONDS_BETWEEN_DELETIONS)
