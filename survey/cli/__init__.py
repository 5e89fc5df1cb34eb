"""The command ``survey``: one module per topic, imported when a command of it is named."""

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import add_completion_class

from survey.cli.command import CommandGroup
from survey.cli.completion import PROGRAM, BashCompleteWithSpaces
from survey.cli.terminal import harmless, say

# Headings of `survey --help`; each command with its module.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Run a study": {
        "init": "operations",
        "researcher": "researcher",
        "power": "planning",
        "study": "study",
        "serve": "operations",
        "simulate": "planning",
        "judge": "judge",
    },
    "Analyse and export": {
        "analyse": "results",
        "export": "results",
        "replicate": "results",
        "pool": "results",
        "import": "results",
        "token": "token",  # nosec B105 # the name of a module
        "registry": "registry",
        "deposit": "deposit",
    },
    "Score lists and runs": {
        "measure": "scores",
        "evaluate": "scores",
        "feedback": "scores",
        "collect": "collect",
        "rank": "collect",
        "assess": "assess",
        "collection": "collection",
        "receipt": "collection",
        "paper": "paper",
    },
    "Administer": {
        "doctor": "operations",
        "backup": "operations",
        "restore": "operations",
        "upgrade": "operations",
        "completion": "completion",
    },
}
MODULES = {name: module for section in SECTIONS.values() for name, module in section.items()}


class LazyCommandGroup(CommandGroup):
    """The group of all commands, each imported on first use."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The names alone: click lists them, and suggests those like a wrong one.
        super().__init__(*args, commands=dict.fromkeys(MODULES), **kwargs)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command's module and return the command; None for an unknown name."""
        if name not in MODULES:
            return None
        module = importlib.import_module(f"survey.cli.{MODULES[name]}")
        return getattr(module, name, None) or getattr(module, f"{name}_")  # type: ignore[no-any-return] # a command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of one that is in a group say in which."""
        name = args[0]
        if name not in MODULES and not name.startswith("-") and not ctx.resilient_parsing:
            groups = {module: self.get_command(ctx, module) for module in MODULES}
            for group, command in groups.items():
                if isinstance(command, CommandGroup) and name in command.commands:
                    text = f"No such command {name!r}. Did you mean `survey {group} {name}`?"
                    raise click.UsageError(text, ctx)
        return super().resolve_command(ctx, args)

    def sections(self) -> Mapping[str, Mapping[str, str]]:
        """Return the commands by topic."""
        return SECTIONS

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; print an error as one sentence on stderr, with exit status 1."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = harmless(error.message)  # type: ignore[misc] # a hint of click's
            raise
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click handles these; a pipe closed by `head` is no error
        except Exception as error:
            raise click.ClickException(harmless(error_sentence(error))) from error


def error_sentence(error: Exception) -> str:
    """Return what went wrong as a sentence for the person who typed the command."""
    if type(error).__module__.startswith("survey.") or isinstance(error, (ValueError, OSError)):
        return str(error)
    if type(error).__module__.startswith("sqlalchemy"):
        return f"The database reported an error: {getattr(error, 'orig', error)}"
    return f"Something unexpected went wrong ({type(error).__name__}: {error}); please report it."


def print_version(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print version and commit, and end the command."""
    if is_asked and not ctx.resilient_parsing:
        from survey.release import described

        say(f"survey, version {described()}")
        ctx.exit()


@click.group(
    cls=LazyCommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    examples=(
        "survey serve --demo         # try it, with studies of every kind",
        "survey init                 # a real study",
        "survey study new my-study --questions 10",
        "survey study check my-study",
        "survey study open my-study --asked-by us --contact ir@example.org",
        "survey serve",
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version and its commit, and exit.",
)
def survey() -> None:
    """Run surveys that compare measures of ranked search results with human judgement.

    The data is in the folder that SURVEY_INSTANCE names, ./instance by default. Commands that
    print tables print JSON with --json. `survey COMMAND --help` shows options and examples.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Otherwise a terminal without ≥ or – ends the command with an error.
            stream.reconfigure(errors="replace")


def main() -> None:
    """Run the command line, or print suggestions if the shell asks for completion."""
    add_completion_class(BashCompleteWithSpaces)
    survey(prog_name=PROGRAM)
