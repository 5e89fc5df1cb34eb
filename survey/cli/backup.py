"""``survey backup`` and ``survey restore``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from survey.cli.context import OpenApp, opened
from survey.services.backups import write_backup
from survey.services.doctor.examination import close_to_others
from survey.services.restores import restore_backup


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def backup(open_app: OpenApp, /, file: Path, force: bool) -> None:
    """Write everything the database holds to FILE, while the survey goes on.

    FILE is an SQLite database, whichever the survey runs on, and is checked before it
    gets its name. It holds personal data, and only you can read it.

    \b
    Example: survey backup /backups/survey-2026-05-04.sqlite3
    """
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; --force replaces it.")
    if not file.parent.is_dir():
        raise click.ClickException(f"There is no folder {file.parent}.")
    with opened(open_app) as (app, engine):
        if file.exists() and engine.dialect.name == "sqlite":
            _refuse_the_database_itself(file, Path(str(engine.url.database)))
        with _progress("Copying") as step:
            held = write_backup(engine, file, step)
        click.echo(f"{file} holds {held}, and is whole.")
        click.echo(
            f"The server key is not in it: keep {app.config['INSTANCE'] / 'secret_key'} "
            "elsewhere too, or links and codes that were handed out will open nothing."
        )


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--replace", is_flag=True, help="Replace what the database holds, after a backup of it."
)
@click.pass_obj
def restore(open_app: OpenApp, /, file: Path, replace: bool) -> None:
    """Put what the backup FILE holds into the database, made first if there is none.

    All of it arrives or, interrupted, nothing. A backup of an older version is upgraded
    on the way; FILE itself stays as it is.

    \b
    Example: SURVEY_INSTANCE=/srv/survey survey restore survey-2026-05-04.sqlite3
    """
    with opened(open_app, make=True) as (app, engine):
        close_to_others(engine, app.config["INSTANCE"])
        if engine.dialect.name == "sqlite":
            _refuse_the_database_itself(file, Path(str(engine.url.database)))
        with _progress("Restoring") as step:
            done = restore_backup(
                engine, file, app.config["INSTANCE"], replace=replace, on_step=step
            )
        click.echo(f"Restored: the database holds {done.holdings}.")
        if done.erased:
            who = "participant who was" if done.erased == 1 else "participants who were"
            click.echo(f"{done.erased} {who} erased since the backup was made, erased again.")
        if done.kept is not None:
            click.echo(f"What it held before is in {done.kept}.")


def _refuse_the_database_itself(file: Path, database: Path) -> None:
    if database.exists() and file.samefile(database):
        raise click.ClickException(f"{file} is the survey's database itself; name another file.")


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far it is, where it is a terminal that looks on."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
