"""``survey assess``: judgements by several assessors, from files to files."""

import click

from survey.cli.assess.clusterings import compare, gold
from survey.cli.assess.merge import merge
from survey.cli.command import Topic


@click.group(
    cls=Topic,
    examples=(
        "survey assess merge ann.txt bob.txt eve.txt --to merged",
        "survey assess compare one.txt two.txt",
        "survey assess gold one.txt two.txt --third three.txt --to gold.txt",
    ),
)
def assess() -> None:
    """Bring judgements by several assessors together."""


for command in (merge, compare, gold):
    assess.add_command(command)
