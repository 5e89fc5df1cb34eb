"""``survey doctor``: what is unsafe, and what serving refuses."""

from dataclasses import asdict

import click
from flask import Flask
from sqlalchemy import Engine

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, opened
from survey.cli.printing import print_json, say
from survey.cli.progress import bar
from survey.cli.tables import print_table
from survey.services.doctor.examination import Circumstances, examine
from survey.services.doctor.findings import Finding, danger

HOST = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")


@click.command(cls=Command, examples=("survey doctor", "survey doctor --host 0.0.0.0"))
@HOST
@AS_JSON
@click.pass_obj
def doctor(open_app: OpenApp, /, host: str, as_json: bool) -> None:
    """Check key, settings, files and database for what is unsafe.

    Exit status 1 when something is dangerous: `survey serve` would refuse it.
    """
    with bar("Checking"):
        findings = _findings(open_app, host)
    if as_json:
        print_json([asdict(one) for one in findings])
    else:
        _print(findings)
    if any(one.level == "DANGER" for one in findings):
        raise click.exceptions.Exit(1)


def refuse_danger(app: Flask, engine: Engine, host: str) -> None:
    """Warn on stderr of what is unsafe; raise ClickException for what is dangerous."""
    findings = examine(engine, _circumstances(app, host), thorough=False)
    for one in findings:
        if one.level == "warning":
            click.echo(f"Warning: {one.text}", err=True)
    if dangers := [one.text for one in findings if one.level == "DANGER"]:
        raise click.ClickException("\n       ".join(dangers))


def _findings(open_app: OpenApp, host: str) -> list[Finding]:
    try:
        with opened(open_app) as (app, engine):
            return examine(engine, _circumstances(app, host))
    except Exception as error:
        # The settings are so wrong that there is nothing to be opened: the first finding.
        if type(error).__module__.startswith("survey.") or isinstance(error, ValueError):
            return [danger("settings", f"{str(error)[:1].upper()}{str(error)[1:]}")]
        raise


def _circumstances(app: Flask, host: str) -> Circumstances:
    return Circumstances(
        instance=app.config["INSTANCE"],
        secret_key=app.config["SECRET_KEY"],
        trusted_proxies=app.config["TRUSTED_PROXIES"],
        debug=app.debug,
        host=host,
    )


def _print(findings: list[Finding]) -> None:
    """Print a line for each check, then what to do about those that are not ok."""
    shown = [
        (one.check, one.level, one.text if one.level == "ok" else "see below") for one in findings
    ]
    print_table("The survey's health", ["check", "level", "found"], shown)
    for one in findings:
        if one.level != "ok":
            say(f"{one.level}: {one.text}", "", "  ", word=one.level)
