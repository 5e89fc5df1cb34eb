"""``survey completion``: a script with which a shell completes the command on Tab."""

from collections.abc import Mapping

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from survey.cli.command import Command

NAME, ASKED_BY = "survey", "_SURVEY_COMPLETE"
SHELLS: Mapping[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}

# Names of measures hold @, at which bash would otherwise begin a new word.
BASH_WORDS = "COMP_WORDBREAKS=${COMP_WORDBREAKS//@}\n"


@click.command(
    cls=Command,
    examples=(
        "survey completion bash > ~/.local/share/bash-completion/completions/survey",
        'survey completion zsh > "${fpath[1]}/_survey"',
        "survey completion fish > ~/.config/fish/completions/survey.fish",
    ),
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, /, shell: str) -> None:
    """Print a script that completes commands, options and names on Tab.

    Write it to where your shell looks for such scripts, as below, and start a new shell; to
    try it in this one: eval "$(survey completion bash)". It knows commands, options, files,
    and the names of studies, researchers and measures. `survey` must be on the PATH.
    """
    made = SHELLS[shell](ctx.find_root().command, {}, NAME, ASKED_BY)
    # The base class': bash's own looks for a bash first, and says so where it finds none.
    script = ShellComplete.source(made)
    if shell == "bash":
        script = BASH_WORDS + script
    # A name or an explanation with a comma would end there.
    click.echo(script.replace('string split ","', 'string split --max 1 ","'))
