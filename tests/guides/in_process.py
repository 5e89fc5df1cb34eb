"""Run the command ``survey`` in the tests' own process, which spares its start."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from survey.cli import survey


def run_survey(command: str, environment: Mapping[str, str], folder: Path) -> str:
    """Run a line of a shell that is nothing but ``survey``; it must succeed.

    Settings may stand before it, and ``> FILE`` behind it. Returns what was printed.
    """
    words = shlex.split(command, comments=True)
    settings = dict(environment)
    while words[0] != "survey":
        name, _, value = words.pop(0).partition("=")
        settings[name] = value
    to = words[words.index(">") + 1] if ">" in words else None
    arguments = words[1 : words.index(">")] if to else words[1:]
    done = CliRunner().invoke(survey, arguments, env=settings)
    assert done.exit_code == 0, (command, done.output, done.exception)
    if to:
        (folder / to).write_text(done.stdout)
    return done.output
