"""What completion needs to know of every command, without importing any.

Whoever presses Tab does not wait a second for numpy and the web framework. So options and
arguments stand in ``outline.json``; ``python -m survey.cli.outline`` writes it, and a test
fails where it is not as the commands are.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from survey.cli.command import Command, Topic
from survey.cli.kinds import KINDS, Kind
from survey.cli.words import SeveralWords

Values = str | list[str] | None
FILE = Path(__file__).with_name("outline.json")


def outlined() -> click.Command:
    """Return the command as the file has it: all its names, and nothing that it does."""
    add_completion_class(Bash)
    return _command("survey", json.loads(FILE.read_text(encoding="utf-8")))


def outline_of(command: click.Command, parent: click.Context | None = None) -> dict[str, Any]:
    """Return a command's options and arguments, and its commands, as plain values."""
    ctx = click.Context(command, parent, **command.context_settings)
    told: dict[str, Any] = {"help": command.get_short_help_str(200)}
    told["params"] = [_parameter_of(one) for one in command.get_params(ctx)]
    if isinstance(command, SeveralWords):
        told["several_words"] = True
    if isinstance(command, click.Group):
        found = ((name, command.get_command(ctx, name)) for name in command.list_commands(ctx))
        told["commands"] = {name: outline_of(one, ctx) for name, one in found if one}
    return told


def _parameter_of(param: click.Parameter) -> dict[str, Any]:
    told = {"name": param.name, "values": _values_of(param.type), "nargs": param.nargs}
    if isinstance(param, click.Option):
        told |= {"opts": param.opts, "help": param.help}
        told |= {"is_flag": param.is_flag, "multiple": param.multiple}
    return {name: value for name, value in told.items() if value not in (None, False)}


def _values_of(kind: click.ParamType[Any]) -> Values:
    if isinstance(kind, click.Choice):
        return list(kind.choices)
    if isinstance(kind, click.Path):
        return "files" if kind.file_okay else "folders"
    return kind.name if isinstance(kind, Kind) else None


def _command(name: str, told: Mapping[str, Any]) -> click.Command:
    known: dict[str, Any] = {
        "params": [_parameter(**one) for one in told["params"]],
        "help": told["help"],
        "add_help_option": False,  # it stands among the others
    }
    if "commands" in told:
        commands = {one: _command(one, found) for one, found in told["commands"].items()}
        return Topic(name, commands, **known)
    return (SeveralWords if "several_words" in told else Command)(name, **known)


def _parameter(
    name: str, nargs: int, opts: Sequence[str] = (), values: Values = None, **others: Any
) -> click.Parameter:
    if not opts:
        return click.Argument([name], type=_kind(values), nargs=nargs, required=False)
    kind = None if "is_flag" in others else _kind(values)
    return click.Option([*opts, name], type=kind, **others)


def _kind(values: Values) -> click.ParamType[Any]:
    if isinstance(values, list):
        return click.Choice(values)
    if values in ("files", "folders"):
        return click.Path(file_okay=values == "files")
    return click.STRING if values is None else KINDS[values]


class Bash(BashComplete):
    """Bash, told of names with spaces: it puts into the line what it gets, as it is."""

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Escape spaces and quotes, unless the word was begun with a quote.

        Twice: once for the line, and once for the script, which reads it as ``read`` does.
        """
        begun = os.environ["COMP_WORDS"].split("\n")[int(os.environ["COMP_CWORD"]) :]
        if item.type == "plain" and not "".join(begun[:1]).startswith(("'", '"')):
            item.value = "".join(f"\\\\{sign}" if sign in " '\"" else sign for sign in item.value)
        return super().format_completion(item)


if __name__ == "__main__":
    from survey.cli import survey

    FILE.write_text(
        json.dumps(outline_of(survey), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
