"""What a server's process does beside answering."""

import gc
from functools import cache
from threading import Thread
from time import sleep

from flask import Flask, request

from survey.services.participation import own_data
from survey.web.errors import DATABASE_FAULTS
from survey.web.requests import session
from survey.web.researcher import results

EVERY = 3600.0

# New objects until Python looks for those that hold each other; a page makes thousands, which
# go by themselves. At its usual 700 the looking takes 6 % of the time of a page.
LOOK_AFTER = 50_000


def start(app: Flask) -> None:
    """Begin it, in threads that end with the process."""
    gc.freeze()  # what a process starts with stays; nobody has to look through it again
    gc.set_threshold(LOOK_AFTER)
    app.before_request(_get_ready_for_researchers)
    Thread(target=_keep_dates, args=(app,), daemon=True).start()


def _get_ready_for_researchers() -> None:
    """Load what results need as soon as there is someone who may ask for them."""
    if request.blueprint == "researcher":
        _load_in_the_background()


@cache
def _load_in_the_background() -> None:
    Thread(target=results.get_ready, daemon=True).start()


def _keep_dates(app: Flask) -> None:
    """Every hour, delete what identifies people where a study's day for that has passed."""
    while True:
        with app.app_context():
            try:
                own_data.drop_due(session())
            except DATABASE_FAULTS:
                app.logger.warning("The database was busy; what is due is deleted in an hour.")
        sleep(EVERY)
