"""``python -m benchmarks.speed [PART…]``: measure, keep the figures, quote them."""

from datetime import UTC, datetime
from importlib import import_module

import click

from benchmarks.speed.pages import PAGE, findings_table, renew
from benchmarks.speed.part import keep
from benchmarks.speed.parts import NAMES


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(NAMES))
@click.option("--keep/--no-keep", "keeping", default=True, help="Keep the figures, and quote them.")
def main(parts: tuple[str, ...], *, keeping: bool) -> None:
    """Measure how fast the survey is, beside its peers; all PARTS if none is named."""
    for name in parts or NAMES:
        click.echo(f"{name} ...", err=True)
        part = import_module(f"benchmarks.speed.parts.{name}").run()
        click.echo(findings_table(part.findings))
        if keeping:
            click.echo(keep(part, on=datetime.now(UTC).date().isoformat()), err=True)
    if keeping and renew():
        click.echo(PAGE, err=True)


if __name__ == "__main__":
    main()
