"""Background work of a server process: delete personal data when due, preload libraries."""

import gc
from functools import cache
from threading import Thread
from time import sleep

from flask import Flask, request

from survey.services.analysis.report import load_libraries
from survey.services.participation import own_data
from survey.web.errors import DATABASE_FAULTS
from survey.web.requests import session

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
