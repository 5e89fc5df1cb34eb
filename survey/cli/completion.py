"""``survey completion``: the script with which a shell completes commands on Tab."""

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from survey.cli.command import command

PROGRAM = "survey"
COMPLETION_VARIABLE = "_SURVEY_COMPLETE"  # the shell sets it when it asks for suggestions
SHELLS = {shell.name: shell for shell in (BashComplete, ZshComplete, FishComplete)}

# Names of measures hold @, at which bash would otherwise begin a new word.
BASH_WORDBREAKS = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@}\n"


@command(
    examples=(
        "survey completion bash > ~/.local/share/bash-completion/completions/survey",
        'survey completion zsh > "${fpath[1]}/_survey"',
        "survey completion fish > ~/.config/fish/completions/survey.fish",
    )
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print a script for completion on Tab, in bash, zsh or fish.

    Write it to where your shell looks for such scripts, as below, and start a new shell. To try
    it in this shell: eval "$(survey completion bash)". It completes commands, options, files,
    and the names of studies, researchers and measures. `survey` must be on the PATH.
    """
    shell_complete = SHELLS[shell](ctx.find_root().command, {}, PROGRAM, COMPLETION_VARIABLE)
    # BashComplete.source runs bash to check its version, and complains where there is none.
    script = ShellComplete.source(shell_complete)
    if shell == "bash":
        script = BASH_WORDBREAKS + script
    # Otherwise fish cuts a name or an explanation at its first comma.
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))


class BashCompleteWithSpaces(BashComplete):
    """bash's completion, made safe for names with spaces: bash inserts them as they are."""

    def format_completion(self, item: CompletionItem[str]) -> str:
        r"""Escape spaces and quotes, unless the word begins with a quote.

        They get two backslashes: the script's ``read`` takes one away, the command line the other.
        """
        words = os.environ["COMP_WORDS"].split("\n")
        word = "".join(words[int(os.environ["COMP_CWORD"]) :][:1])
        if item.type == "plain" and not word.startswith(("'", '"')):
            item.value = "".join(f"\\\\{sign}" if sign in " '\"" else sign for sign in item.value)
        return super().format_completion(item)
