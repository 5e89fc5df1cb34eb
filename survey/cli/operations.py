"""``survey init``, ``serve``, ``doctor``, ``upgrade``, ``backup``, ``restore``: run a server."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    OUTPUT_FILE,
    check_writable,
    command,
    open_engine,
    refuse_own_database,
)
from survey.cli.researcher import link_address
from survey.cli.terminal import print_json, print_result, print_table, print_text, progress_bar, say

if TYPE_CHECKING:
    import socket

    from _typeshed.wsgi import WSGIEnvironment
    from flask import Flask
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session

    from survey.config import Settings
    from survey.logs import What
    from survey.metrics import Metrics
    from survey.server import Observer
    from survey.services.operations.demo import DemoStudy
    from survey.services.operations.doctor import CheckResult
    from survey.worker import Numbers

HOST_OPTION = click.option("--host", default="127.0.0.1", help="Address to listen on.")


@command(examples=("survey init",))
@JSON_OPTION
def init(as_json: bool) -> None:
    """Make the instance folder, the server key and the database.

    You can repeat it: it keeps what exists. The folder is the one that
    SURVEY_INSTANCE names, ./instance by default.
    """
    from survey.services.operations.doctor import restrict_access

    with open_engine(make=True) as (settings, engine):
        restrict_access(engine, settings.instance)
        content = _upgrade(engine)
    before, after = content["before"], content["revision"]
    done = "made" if before is None else "is there already" if before == after else "upgraded"
    sentences = [f"The database {done}: {content['database']}"]
    if before is None:
        sentences.append("Next: `survey researcher add NAME`, then `survey study new SLUG`.")
    print_result(content, *sentences, as_json=as_json)


@command(
    examples=(
        "survey serve --demo",
        "survey serve --https survey.example.org --workers 4",
        "survey serve --host 0.0.0.0 --port 8000 --workers 4",
    )
)
@HOST_OPTION
@click.option("--port", default=5000, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option(
    "--workers", default=2, type=click.IntRange(1, 64), help="How many processes answer requests."
)
@click.option(
    "--demo",
    is_flag=True,
    help="First make or upgrade the database, and add studies of every kind and a researcher "
    "if there are none. The first page lists these studies.",
)
@click.option(
    "--https",
    "name",
    metavar="NAME",
    help="Serve https://NAME/ to everyone, by Caddy, which gets and renews the certificate.",
)
@click.option(
    "--log",
    "logged",
    type=click.Choice(["errors", "requests"]),
    default="errors",
    help="What to log: what goes wrong, or each request too.",
)
@click.option("--log-json", is_flag=True, help="Log JSON, an object a line.")
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Answer Prometheus at this port's /metrics, on this machine unless HOST is another.",
)
def serve(
    host: str,
    port: int,
    workers: int,
    demo: bool,
    name: str | None,
    logged: "What",
    log_json: bool,
    metrics: str | None,
) -> None:
    """Serve the survey to participants and researchers, until Ctrl-C.

    SIGTERM ends it once its requests are answered. SIGHUP replaces it, without a refused request,
    by the version that is installed by then.
    """
    started = monotonic()
    if demo:
        say("Starting the survey ...")
    # Before numpy is loaded: it would start a thread, and a process with threads cannot be copied.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from survey.app import create_app, delete_due_data, load_page_libraries, load_templates
    from survey.logs import set_up_logs
    from survey.release import made_by
    from survey.server import serve as serve_requests
    from survey.services.operations.database import (
        is_on_this_machine,
        require_current_schema,
        upgrade_database,
    )
    from survey.services.operations.doctor import restrict_access

    made_by()  # now: the checkout may have another commit while the code of this one runs
    set_up_logs(logged, as_json=log_json)
    if name is not None:
        _believe_caddy(name, host)
    with _listen(host, port) as listener, _metrics_listener(metrics) as metrics_listener:
        with open_engine(make=demo) as (settings, engine):
            restrict_access(engine, settings.instance)
            if demo:
                upgrade_database(engine)
            require_current_schema(engine)
            _refuse_danger(settings, engine, host)
            proxy = _caddy(name, port, settings.instance) if name is not None else None
            address = settings.address or _own_address(host, port)
            _print_addresses(engine, address, demo=demo)
            say(f"{_ready(monotonic() - started) if demo else ''}Stop with Ctrl-C.")
            # Threads take the interpreter from the one that has the database's answer. They are
            # worth it where that answer comes from another machine.
            threads = 1 if is_on_this_machine(engine.url) else 4
        app = create_app(demo=demo)
        observe, shown = _observation(app, workers, logged, metrics_listener)
        serve_requests(
            app,
            listener,
            workers,
            partial(delete_due_data, app),
            threads=threads,
            prepare=partial(load_templates, app),
            load_libraries=partial(load_page_libraries, app),
            observe=observe,
            metrics=shown,
            proxy=proxy,
        )


@command(examples=("survey doctor", "survey doctor --host 0.0.0.0"))
@HOST_OPTION
@JSON_OPTION
def doctor(host: str, as_json: bool) -> None:
    """Check key, settings, files and database for what is unsafe.

    The exit status is 1 if something is dangerous; `survey serve` refuses it.
    """
    with progress_bar("Checking"):
        results = _check_results(host)
    if as_json:
        print_json([asdict(result) for result in results])
    else:
        rows = [
            (result.check, result.level, result.text if result.level == "ok" else "see below")
            for result in results
        ]
        print_table("The survey's health", ["check", "level", "found"], rows)
        for result in results:
            if result.level != "ok":
                print_text(f"{result.level}: {result.text}", "", "  ", word=result.level)
    if any(result.level == "DANGER" for result in results):
        raise click.exceptions.Exit(1)


@command(examples=("survey upgrade",))
@JSON_OPTION
def upgrade(as_json: bool) -> None:
    """Upgrade the database to this version's schema.

    Make a backup first: `survey backup FILE`.
    """
    with open_engine() as (_, engine):
        content = _upgrade(engine)
    before, after = content["before"], content["revision"]
    done = f"was upgraded from {before or 'nothing'} to {after}"
    if before == after:
        done = f"is up to date (revision {after})"
    print_result(content, f"The database {done}.", as_json=as_json)


@command(examples=("survey backup survey-monday.sqlite3",))
@click.argument("file", type=OUTPUT_FILE)
@FORCE_OPTION
@JSON_OPTION
def backup(file: Path, force: bool, as_json: bool) -> None:
    """Copy the whole database to FILE, while the survey runs.

    FILE is an SQLite database, also where the survey runs on PostgreSQL. It is checked before
    it gets its name. It contains personal data, and only you can read it.
    """
    from survey.services.operations.backups import write_backup

    check_writable(file, force=force)
    with open_engine() as (settings, engine):
        refuse_own_database(file, engine)
        with progress_bar("Copying") as progress:
            content = write_backup(engine, file, progress.update)
        key = settings.instance / "secret_key"
    print_result(
        {"file": str(file), **asdict(content), "secret_key": str(key)},
        f"{file} holds {content}, and passed all checks.",
        f"The server key is not in it. Keep a copy of {key} elsewhere too: without it, links "
        "and codes that participants and researchers have will not work.",
        as_json=as_json,
    )


@command(
    examples=(
        "survey restore survey-sunday.sqlite3 --replace",
        "SURVEY_INSTANCE=/srv/survey survey restore survey-sunday.sqlite3",
    )
)
@click.argument("file", type=INPUT_FILE)
@click.option(
    "--replace", is_flag=True, help="Replace the content of the database, after a backup of it."
)
@JSON_OPTION
def restore(file: Path, replace: bool, as_json: bool) -> None:
    """Restore the database from the backup FILE.

    The database is made if missing. If the command is interrupted, the database stays as it
    was. A backup of an older version is upgraded on the way; FILE itself does not change.
    """
    from survey.services.operations.backups import restore_backup
    from survey.services.operations.doctor import no_database_after_error, restrict_access

    with open_engine(make=True) as (settings, engine), no_database_after_error(engine):
        restrict_access(engine, settings.instance)
        refuse_own_database(file, engine)
        with progress_bar("Restoring") as progress:
            content, safety_backup, erased = restore_backup(
                engine, file, settings.instance, replace=replace, on_step=progress.update
            )
    sentences = [f"Restored: the database holds {content}."]
    if erased:
        who = "participant who was" if erased == 1 else "participants who were"
        sentences.append(f"{erased} {who} erased since the backup was made, erased again.")
    previous = safety_backup and str(safety_backup)
    if previous:
        sentences.append(f"What it held before is in {previous}.")
    result = {**asdict(content), "erased_again": erased, "kept": previous}
    print_result(result, *sentences, as_json=as_json)


def _believe_caddy(name: str, host: str) -> None:
    """Set what Caddy in front needs: one proxy is trusted, and the address is Caddy's."""
    from survey.https import HttpsError, https_address

    if host not in ("127.0.0.1", "localhost"):
        raise click.UsageError(
            "With --https only Caddy is reached from outside; leave --host out.",
        )
    try:
        address = https_address(name)
    except HttpsError as error:
        raise click.ClickException(str(error)) from error
    other = os.environ.get("SURVEY_ADDRESS", "").rstrip("/")
    if other not in ("", address):
        raise click.ClickException(
            f"SURVEY_ADDRESS is {other}, and --https makes the address {address}; leave it out."
        )
    os.environ |= {"SURVEY_ADDRESS": address, "SURVEY_TRUSTED_PROXIES": "1"}


def _caddy(name: str, behind: int, instance: Path) -> "Callable[[Numbers], None]":
    from survey.config import folder
    from survey.https import HttpsError, caddy_in_front
    from survey.server import PROXY_HANDOVER

    try:
        return caddy_in_front(
            *(name, behind, instance, folder("deploy") / "Caddyfile"),
            is_running=PROXY_HANDOVER in os.environ,
        )
    except HttpsError as error:
        raise click.ClickException(str(error)) from error


def _metrics_listener(place: str | None) -> "AbstractContextManager[socket.socket | None]":
    from survey.server import METRICS_HANDOVER

    if place is None:
        return nullcontext()
    host, _, port = place.rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 2**16:
        raise click.BadParameter(f"{place!r} is not a port, 1 to 65535, nor HOST:PORT")
    host = host.strip("[]") or "127.0.0.1"
    return _listen(host, int(port), METRICS_HANDOVER, another="another with --metrics")


def _observation(
    app: "Flask", workers: int, logged: "What", listener: "socket.socket | None"
) -> "tuple[Observer | None, Metrics | None]":
    """Return what is called after each request, and the metrics, if either is wanted."""
    from survey.app import current_gauges, route_names
    from survey.logs import log_request
    from survey.metrics import Metrics, RequestCounts

    counts = RequestCounts(route_names(app), workers)

    def observe(number: int, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        if listener is not None:
            counts.add(number, environ, status, seconds)
        log_request(environ, status, seconds)

    if listener is not None:
        return observe, Metrics(listener, counts, partial(current_gauges, app))
    return (observe if logged == "requests" else None), None


def _listen(
    host: str, port: int, *handover: str, another: str = "another with --host or --port"
) -> "socket.socket":
    from survey.server import listen

    try:
        return listen(host, port, *handover)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # Python repeats the address there
        raise click.ClickException(
            f"Cannot listen on {host}:{port} ({reason}); choose {another}."
        ) from error


def _own_address(host: str, port: int) -> str:
    # Compared, not bound.
    shown_host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 # nosec B104
    return f"http://[{shown_host}]:{port}" if ":" in host else f"http://{shown_host}:{port}"


def _print_addresses(engine: "Engine", address: str, *, demo: bool) -> None:
    """Print the links of the open studies and of the researchers' pages."""
    from sqlalchemy.orm import Session

    from survey.services import accounts
    from survey.services.studies import lifecycle

    token, listed_slugs = None, set[str]()
    say(f"Database: {engine.url.render_as_string(hide_password=True)}")
    with Session(engine) as session:
        if demo:
            listed_slugs = _offer_demo(session, address)
            token = accounts.ensure_researcher(session)
        studies = lifecycle.all_studies(session)
        for study in studies:
            if study.status == "open" and study.is_readable and study.slug not in listed_slugs:
                say(f"Participants take part in “{study.plan.title}” at:")
                say(f"  {address}/s/{study.slug}")
    if not studies:
        say("There is no study yet: make one with `survey study new`.")
    if token is not None:
        say("Researchers set their password here, once, within 30 minutes:")
        say(f"  {link_address(address, token)}")
    else:
        say("Researchers sign in at:")
        say(f"  {address}/research/")


def _offer_demo(session: "Session", address: str) -> set[str]:
    """Make the demo's studies if there is no study, and print where they are listed.

    Returns their slugs.
    """
    from survey.services.operations import demo as demo_studies

    def say_study(demo_study: "DemoStudy") -> None:
        if demo_study is demo_studies.DEMO_STUDIES[0]:
            say(f"Making {len(demo_studies.DEMO_STUDIES)} studies to try (a few seconds, once):")
        say(f"  {demo_study.kind}")

    demo_studies.ensure_studies(session, say_study)
    stored = demo_studies.stored_studies(session)
    if stored:
        say("Studies to try, and what to do in each:")
        say(f"  {address}/")
    if closed := [study.slug for _, study in stored if study.status != "open"]:
        say(f"Closed: {', '.join(closed)}. “Open again” on a study's page opens it.")
    return {study.slug for _, study in stored}


def _ready(seconds: float) -> str:
    count = max(1, round(seconds))
    return f"Ready after {count} second{'s' if count > 1 else ''}. "


def _refuse_danger(settings: "Settings", engine: "Engine", host: str) -> None:
    """Warn on stderr of what is unsafe; raise ClickException for what is dangerous."""
    from survey.services.operations.doctor import run_checks

    results = run_checks(engine, settings, host, thorough=False)
    for result in results:
        if result.level == "warning":
            say(f"Warning: {result.text}", err=True)
    if dangers := [result.text for result in results if result.level == "DANGER"]:
        raise click.ClickException("\n       ".join(dangers))


def _check_results(host: str) -> "Sequence[CheckResult]":
    from survey.services.operations.doctor import danger, run_checks

    try:
        with open_engine() as (settings, engine):
            return run_checks(engine, settings, host)
    except Exception as error:
        # With settings this wrong no database opens: report that instead.
        if type(error).__module__.startswith("survey.") or isinstance(error, ValueError):
            return [danger("settings", f"{str(error)[:1].upper()}{str(error)[1:]}")]
        raise


def _upgrade(engine: "Engine") -> dict[str, str | None]:
    from survey.services.operations.database import upgrade_database

    with progress_bar("Upgrading"):
        before, after = upgrade_database(engine)
    address = engine.url.render_as_string(hide_password=True)
    return {"database": address, "before": before, "revision": after}
