"""``survey doctor``: what is unsafe, and what ``survey serve`` refuses."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from survey.cli.command import JSON_OPTION, Command, OpenApp, open_engine
from survey.cli.terminal import print_json, print_table, print_text, progress_bar

if TYPE_CHECKING:
    from flask import Flask
    from sqlalchemy import Engine

    from survey.services.operations.doctor import Finding, ServerSettings

HOST_OPTION = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)


@click.command(cls=Command, examples=("survey doctor", "survey doctor --host 0.0.0.0"))
@HOST_OPTION
@JSON_OPTION
@click.pass_obj
def doctor(open_app: OpenApp, /, host: str, as_json: bool) -> None:
    """Check key, settings, files and database for what is unsafe.

    The exit status is 1 if something is dangerous; `survey serve` refuses it.
    """
    with progress_bar("Checking"):
        findings = _findings(open_app, host)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        _print_findings(findings)
    if any(finding.level == "DANGER" for finding in findings):
        raise click.exceptions.Exit(1)


def refuse_danger(app: "Flask", engine: "Engine", host: str) -> None:
    """Warn on stderr of what is unsafe; raise ClickException for what is dangerous."""
    from survey.services.operations.doctor import run_checks

    findings = run_checks(engine, _server_settings(app, host), thorough=False)
    for finding in findings:
        if finding.level == "warning":
            click.echo(f"Warning: {finding.text}", err=True)
    if dangers := [finding.text for finding in findings if finding.level == "DANGER"]:
        raise click.ClickException("\n       ".join(dangers))


def _findings(open_app: OpenApp, host: str) -> "Sequence[Finding]":
    from survey.services.operations.doctor import danger, run_checks

    try:
        with open_engine(open_app) as (app, engine):
            return run_checks(engine, _server_settings(app, host))
    except Exception as error:
        # With settings this wrong the application does not open: report that instead.
        if type(error).__module__.startswith("survey.") or isinstance(error, ValueError):
            return [danger("settings", f"{str(error)[:1].upper()}{str(error)[1:]}")]
        raise


def _server_settings(app: "Flask", host: str) -> "ServerSettings":
    from survey.services.operations.doctor import ServerSettings

    return ServerSettings(
        instance=app.config["INSTANCE"],
        secret_key=app.config["SECRET_KEY"],
        trusted_proxies=app.config["TRUSTED_PROXIES"],
        debug=app.debug,
        host=host,
    )


def _print_findings(findings: "Sequence[Finding]") -> None:
    """Print a row for each check, then what to do about those that are not ok."""
    rows = [
        (finding.check, finding.level, finding.text if finding.level == "ok" else "see below")
        for finding in findings
    ]
    print_table("The survey's health", ["check", "level", "found"], rows)
    for finding in findings:
        if finding.level != "ok":
            print_text(f"{finding.level}: {finding.text}", "", "  ", word=finding.level)
