"""``survey study``: a study's life."""

import click

from survey.cli.command import Topic
from survey.cli.study.check import check
from survey.cli.study.life import close, copy, open_, share
from survey.cli.study.new import new
from survey.cli.study.show import list_, plan, show


@click.group(
    cls=Topic,
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
