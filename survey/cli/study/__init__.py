"""``survey study``: plans, checks and the life of studies."""

import click

from survey.cli.command import CommandGroup
from survey.cli.study.lifecycle import check, close, copy, list_, open_, plan, share, show
from survey.cli.study.new import new


@click.group(
    cls=CommandGroup,
    examples=(
        "survey study new my-study --questions 10",
        "survey study check my-study",
        "survey study open my-study",
        "survey study close my-study",
    ),
)
def study() -> None:
    """Make, list, show, check, open, close, copy and share studies."""


for command in (new, list_, show, check, plan, open_, close, copy, share):
    study.add_command(command)
