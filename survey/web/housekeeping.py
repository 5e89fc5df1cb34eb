"""What a server's process does beside answering."""

import gc
from threading import Thread
from time import sleep

from flask import Flask

from survey.services import retention
from survey.web.database import session
from survey.web.errors import DATABASE_FAULTS
from survey.web.researcher import results

EVERY = 3600.0
READY_AFTER = 15.0  # participants who wait for a server that just started come first

# New objects until Python looks for those that hold each other; a page makes thousands, which
# go by themselves. At its usual 700 the looking takes 6 % of the time of a page.
LOOK_AFTER = 50_000


def start(app: Flask) -> None:
    """Begin it, in threads that end with the process."""
    gc.freeze()  # what a process starts with stays; nobody has to look through it again
    gc.set_threshold(LOOK_AFTER)
    Thread(target=_get_ready_for_results, daemon=True).start()
    Thread(target=_keep_dates, args=(app,), daemon=True).start()


def _get_ready_for_results() -> None:
    sleep(READY_AFTER)
    results.get_ready()


def _keep_dates(app: Flask) -> None:
    """Every hour, delete what identifies people where a study's day for that has passed."""
    while True:
        with app.app_context():
            try:
                retention.drop_due(session())
            except DATABASE_FAULTS:
                app.logger.warning("The database was busy; what is due is deleted in an hour.")
        sleep(EVERY)
