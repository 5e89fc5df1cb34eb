"""The command ``survey``."""

from typing import TYPE_CHECKING

from survey.cli import survey

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line; it opens the application only when a command needs it."""
    survey(obj=open_app, prog_name="survey")


def open_app(*, make: bool = False) -> "Flask":
    """Open the application; with ``make``, its instance folder need not be there yet."""
    from survey.app import create_app  # Flask and the database, which --help does without
    from survey.config import Settings

    return create_app(Settings.from_environment(make=make))


if __name__ == "__main__":
    main()
