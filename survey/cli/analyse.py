"""``survey analyse``: what the votes support, and every figure behind it."""

import os
from pathlib import Path
from typing import Any

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, EARLY, OpenApp, database
from survey.cli.kinds import TARGET
from survey.cli.printing import print_json, say
from survey.cli.progress import bar
from survey.cli.sheets import print_analysis
from survey.services import access, analysis, life, reports, studies, study_analysis
from survey.services.database import only_reading
from survey.services.exchange.analysing import analyse_path
from survey.services.exchange.bundle import SUMS
from survey.services.exchange.foreign_lists import QUESTIONS
from survey.services.exchange.responses import NAME as RESPONSES
from survey.services.reporting import report, tables


@click.command(
    cls=Command,
    examples=(
        "survey analyse five-systems --include-test",
        "survey analyse five-systems --include-test --json",
        "survey analyse five-systems.zip --to paper",
        "survey analyse ./votes",
    ),
)
@click.argument("target", required=False, type=TARGET)
@click.option("--include-test", is_flag=True, help="Count simulated participants as well.")
@click.option("--exclude-flagged", is_flag=True, help="Leave out participants with a quality flag.")
@click.option("--without-question", type=int, metavar="NUMBER", help="Leave one question out.")
@click.option(
    "--ties",
    type=click.Choice(["kept", "split", "dropped"]),
    default="kept",
    show_default=True,
    help="What becomes of a vote that credits several measures.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a report, tables and figures for a paper into this folder.",
)
@AS_JSON
@click.pass_obj
def analyse(
    open_app: OpenApp, /, target: str | None, folder: Path | None, as_json: bool, **chosen: Any
) -> None:
    """Say what the votes of a study support, with every figure behind it.

    TARGET is a study's slug (it may be left out where there is one study only), a bundle
    (a zip or a folder), or a folder with questions.csv and responses.csv made elsewhere.
    Looking while people still vote is written into the study's log.
    """
    if folder is not None and (folder / SUMS).exists():
        raise click.UsageError(f"{folder} is a bundle, which a report would spoil; name another.")
    with bar("Analysing"):
        result = _analysed(open_app, target, analysis.Choices(**chosen))
    if folder is not None:
        _write(result, folder)
    if as_json:
        print_json(reports.as_json(result))
        return
    _print_numbers(result)
    if not result.responses:
        say("There is nothing to analyse." + _hint(result))
        return
    print_analysis(result)


def _analysed(
    open_app: OpenApp, target: str | None, choices: analysis.Choices
) -> analysis.Analysis:
    if target and is_path(target):
        return analyse_path(Path(target), choices)
    with database(open_app) as (_, session):
        found = studies.find_study(session, target) if target else studies.only_study(session)
        if life.note_early_look(session, found, access.COMMAND_LINE, "analysed"):
            click.echo(EARLY, err=True)
        only_reading(session)
        return study_analysis.analyse_study(session, found, choices)


def is_path(target: str) -> bool:
    """Tell a file or folder from a study's slug, which has neither a dot nor a slash.

    A folder with a slug's name may be the report of that study: it must hold votes.
    """
    holds_votes = any((Path(target) / name).is_file() for name in (QUESTIONS, RESPONSES))
    return "." in target or "/" in target or os.sep in target or holds_votes


def _print_numbers(result: analysis.Analysis) -> None:
    if result.study.get("why"):
        say(f"Of the study nothing else is known: {result.study['why']}.")
    else:
        say(f"Study digest: {result.study['digest'] or 'none yet, the study is a draft'}")
    left_out = result.left_out
    say(
        f"{result.participants} participant{'s' * (result.participants != 1)} × "
        f"{result.questions} questions: {result.responses} responses, {result.missing} missing. "
        f"Left out: {left_out.excluded} excluded, {left_out.test} test participants"
        + (f", {left_out.flagged} flagged." if result.choices.exclude_flagged else ".")
    )
    if result.simulated:
        say(f"{tables.simulated_told(result)} They are no evidence of anything.")
    if not result.choices.as_planned:
        say(f"Not the analysis of the protocol: {report.departures(result.choices)}.")


def _hint(result: analysis.Analysis) -> str:
    """Say what could be done where no answer counts."""
    if result.left_out.test:
        return " Only test participants have answered; --include-test counts them."
    if result.left_out.flagged:
        return " All participants are flagged; without --exclude-flagged they count."
    return " No answer has been given yet."


def _write(result: analysis.Analysis, folder: Path) -> None:
    """Write the files for a paper, telling how far it is."""
    with bar("Writing", total=report.file_count(result)) as shown:
        try:
            for name, content in report.report_files(result):
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                shown.more()
        except OSError as error:
            raise click.ClickException(f"{folder} cannot be written: {error.strerror}.") from None
    click.echo(f"Report, tables and figures are in {folder}; begin with report.html.", err=True)
