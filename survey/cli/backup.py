"""``survey backup`` and ``survey restore``."""

from pathlib import Path

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, opened
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.services.backups import Holdings, write_backup
from survey.services.doctor.examination import close_to_others
from survey.services.restores import Restored, restore_backup


@click.command(cls=Command, examples=("survey backup survey-monday.sqlite3",))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@AS_JSON
@click.pass_obj
def backup(open_app: OpenApp, /, file: Path, force: bool, as_json: bool) -> None:
    """Write everything the database holds to FILE, while the survey goes on.

    FILE is an SQLite database, whichever the survey runs on, and is checked before it
    gets its name. It holds personal data, and only you can read it.
    """
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; --force replaces it.")
    if not file.parent.is_dir():
        raise click.ClickException(f"There is no folder {file.parent}.")
    with opened(open_app) as (app, engine):
        if file.exists() and engine.dialect.name == "sqlite":
            _refuse_the_database_itself(file, Path(str(engine.url.database)))
        with bar("Copying") as shown:
            held = write_backup(engine, file, shown.at)
        key = app.config["INSTANCE"] / "secret_key"
    if as_json:
        print_json({"file": str(file), **_as_json(held), "secret_key": str(key)})
        return
    click.echo(f"{file} holds {held}, and is whole.")
    click.echo(
        f"The server key is not in it: keep {key} elsewhere too, or links and codes that were "
        "handed out will open nothing."
    )


@click.command(
    cls=Command,
    examples=(
        "survey restore survey-sunday.sqlite3 --replace",
        "SURVEY_INSTANCE=/srv/survey survey restore survey-sunday.sqlite3",
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--replace", is_flag=True, help="Replace what the database holds, after a backup of it."
)
@AS_JSON
@click.pass_obj
def restore(open_app: OpenApp, /, file: Path, replace: bool, as_json: bool) -> None:
    """Put what the backup FILE holds into the database, made first if there is none.

    All of it arrives or, interrupted, nothing. A backup of an older version is upgraded
    on the way; FILE itself stays as it is.
    """
    with opened(open_app, make=True) as (app, engine):
        close_to_others(engine, app.config["INSTANCE"])
        if engine.dialect.name == "sqlite":
            _refuse_the_database_itself(file, Path(str(engine.url.database)))
        with bar("Restoring") as shown:
            done = restore_backup(
                engine, file, app.config["INSTANCE"], replace=replace, on_step=shown.at
            )
    if as_json:
        kept = None if done.kept is None else str(done.kept)
        print_json({**_as_json(done.holdings), "erased_again": done.erased, "kept": kept})
    else:
        _tell(done)


def _tell(done: Restored) -> None:
    click.echo(f"Restored: the database holds {done.holdings}.")
    if done.erased:
        who = "participant who was" if done.erased == 1 else "participants who were"
        click.echo(f"{done.erased} {who} erased since the backup was made, erased again.")
    if done.kept is not None:
        click.echo(f"What it held before is in {done.kept}.")


def _as_json(held: Holdings) -> dict[str, object]:
    return {"revision": held.revision, "rows": dict(held.rows)}


def _refuse_the_database_itself(file: Path, database: Path) -> None:
    if database.exists() and file.samefile(database):
        raise click.ClickException(f"{file} is the survey's database itself; name another file.")
