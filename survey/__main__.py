"""The program ``survey``, also ``python -m survey``: runs a command or completes it on Tab."""

import os
from typing import TYPE_CHECKING

from click.shell_completion import add_completion_class

from survey.cli import survey
from survey.cli.completion import COMPLETION_VARIABLE, PROGRAM, BashCompleteWithSpaces

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line, or print suggestions if the shell asks for completion."""
    if os.environ.get(COMPLETION_VARIABLE):
        add_completion_class(BashCompleteWithSpaces)
        survey(obj=_database_address(), prog_name=PROGRAM)
    survey(obj=open_app, prog_name=PROGRAM)


def open_app(*, make: bool = False) -> "Flask":
    """Return the application; with ``make``, first create a missing instance folder."""
    # Imported here: --help and Tab would wait for Flask and the database.
    from survey.app import create_app
    from survey.config import Settings

    return create_app(Settings.from_environment(make=make))


def _database_address() -> str:
    """Return the address of the database whose names Tab suggests; empty without an instance."""
    from survey.config import MissingInstanceError, Settings, UnsafeSettingsError

    # Names need no key; without this one, the settings would write a new one to disk.
    environment = {**os.environ, "SURVEY_SECRET_KEY": PROGRAM * 10}
    try:
        return Settings.from_environment(environment).database_uri
    except (MissingInstanceError, UnsafeSettingsError):
        return ""


if __name__ == "__main__":
    main()
