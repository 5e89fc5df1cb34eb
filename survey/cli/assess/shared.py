"""What the commands on assessors' files share."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from survey.cli.printing import say

JUDGEMENTS = click.Path(exists=True, dir_okay=False, path_type=Path)
FORCE = click.option("--force", is_flag=True, help="Replace files that are there.")


def check_different(paths: Sequence[Path]) -> None:
    """Refuse a file given twice: its assessor would agree with themselves."""
    seen: dict[Path, Path] = {}
    for path in paths:
        if seen.setdefault(path.resolve(), path) is not path:
            raise click.UsageError(
                f"{path} is given twice; each assessor needs a file of their own."
            )


def tell(sentences: Iterable[str]) -> None:
    """Print sentences, each in lines of its own."""
    for sentence in sentences:
        say(sentence)
