"""``survey study``: a study's life."""

import click

from survey.cli.study.check import check
from survey.cli.study.life import close, copy, open_, share
from survey.cli.study.new import new
from survey.cli.study.show import list_, plan, show


@click.group()
def study() -> None:
    """Make, list, show, check, open, close, copy and share studies."""


for command in (new, list_, show, check, open_, close, share, plan, copy):
    study.add_command(command)
