"""The command ``survey``: one module per topic, imported only when it is called."""

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click

from survey.cli.command import Topic

SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Run a study": {
        "init": ("database", "Make the instance folder, the key and the database."),
        "researcher": ("researcher", "Add researchers, and print links for their passwords."),
        "power": ("power", "Simulate how likely a study is to find a difference."),
        "study": ("study", "Make, list, show, check, open and close studies."),
        "serve": ("serve", "Serve the survey to participants."),
        "simulate": ("simulate", "Send simulated participants through a study."),
    },
    "Analyse and hand out": {
        "analyse": ("analyse", "Say what the votes of a study support."),
        "export": ("export", "Write a study's bundle, which anyone can replicate."),
        "replicate": ("bundle", "Recompute everything in a bundle."),
        "import": ("bundle", "Take a bundle in, to look at its results."),
    },
    "Score lists and runs": {
        "measure": ("measure", "Score ranked lists with any measures."),
        "evaluate": ("evaluate", "Score runs of a test collection, in TREC's formats."),
        "feedback": ("feedback", "Measure what rounds of relevance feedback gain."),
        "assess": ("assess", "Merge, compare and join judgements by several assessors."),
        "paper": ("paper", "Recompute the MNRO paper's tables beside its print."),
    },
    "Administer": {
        "doctor": ("doctor", "Check settings, files and database for what is unsafe."),
        "backup": ("backup", "Write everything the database holds to one file, while it runs."),
        "restore": ("backup", "Put a backup into the database."),
        "upgrade": ("database", "Bring the database to this version's schema."),
        "completion": ("completion", "Print a script that completes commands on Tab."),
    },
}
COMMANDS = {name: found for section in SECTIONS.values() for name, found in section.items()}


class Topics(Topic):
    """A group that knows its commands' names and imports them on first use.

    ``survey --help`` must not wait for numpy and the web framework.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"survey.cli.{COMMANDS[name][0]}")
        return getattr(module, name, None) or getattr(module, f"{name}_")  # type: ignore[no-any-return] # a command, by the table above

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; where there is none of that name, the nearest ones are told."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            wrong = error.command_name
            raise click.exceptions.NoSuchCommand(wrong, possibilities=COMMANDS, ctx=ctx) from None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what one does with them, without importing them."""
        widest = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(widest), text) for name, (_, text) in commands.items()]
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what can be explained becomes one sentence on stderr and status 1."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # a reader that has seen enough is no error; click ends quietly
        except Exception as error:
            raise click.ClickException(explain(error)) from error


def explain(error: Exception) -> str:
    """Say in a sentence what went wrong."""
    if type(error).__module__.startswith("survey.") or isinstance(error, (ValueError, OSError)):
        return str(error)
    if type(error).__module__.startswith("sqlalchemy"):
        return f"The database refused: {getattr(error, 'orig', error)}"
    return f"Something unexpected went wrong ({type(error).__name__}: {error}); please report it."


@click.group(
    cls=Topics,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=(
        "survey serve --demo         # try it, with the paper's study",
        "survey init                 # a real study",
        "survey study new my-study --questions 10",
        "survey study check my-study",
        "survey study open my-study",
        "survey serve",
    ),
)
@click.version_option(package_name="ranking-survey", prog_name="survey")
def survey() -> None:
    """Surveys that compare measures of ranked search results with human judgement.

    Data is kept in the folder SURVEY_INSTANCE names, ./instance by default. What a command
    prints as tables it prints with --json for scripts; `survey COMMAND --help` shows examples.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without > or – must not end a run
