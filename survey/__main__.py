"""The command ``survey``."""

import os
from typing import TYPE_CHECKING

from survey.cli import survey
from survey.cli.completion import ASKED_BY, NAME

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line; it opens the application only when a command needs it."""
    if ASKED_BY in os.environ:
        _complete()
    survey(obj=open_app, prog_name=NAME)


def open_app(*, make: bool = False) -> "Flask":
    """Open the application; with ``make``, its instance folder need not be there yet."""
    from survey.app import create_app  # Flask and the database, which --help does without
    from survey.config import Settings

    return create_app(Settings.from_environment(make=make))


def _complete() -> None:
    """Answer a shell that asks what could come next, without loading what commands need."""
    from survey.cli.outline import outlined
    from survey.config import MissingInstanceError, Settings, UnsafeSettingsError

    # To suggest names no key is needed, so none is made.
    environment = {**os.environ, "SURVEY_SECRET_KEY": NAME * 10}
    try:
        address = Settings.from_environment(environment).database_uri
    except (MissingInstanceError, UnsafeSettingsError):
        address = ""
    outlined()(obj=address, prog_name=NAME)


if __name__ == "__main__":
    main()
