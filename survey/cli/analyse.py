"""``survey analyse``: what the answers of a study support, and every figure behind it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    JSON_OPTION,
    OUTPUT_FOLDER,
    STUDY_OR_FILE,
    Command,
    open_session,
    write_files,
)
from survey.cli.terminal import print_heading, print_json, print_sheet, print_text, progress_bar

if TYPE_CHECKING:
    from survey.services.analysis.study_results import Analysis, AnalysisOptions

EARLY_LOOK_NOTE = (
    "The study is still open. Its log now says that you looked at the results, and its bundle "
    "will say so too once people have answered. To see results only afterwards, close it first."
)


@click.command(
    cls=Command,
    examples=(
        "survey analyse five-systems --include-test",
        "survey analyse five-systems --include-test --json",
        "survey analyse five-systems.zip --to paper",
        "survey analyse ./votes",
    ),
)
@click.argument("target", required=False, type=STUDY_OR_FILE)
@click.option("--include-test", is_flag=True, help="Count simulated participants as well.")
@click.option("--exclude-flagged", is_flag=True, help="Leave out participants with a quality flag.")
@click.option("--without-question", type=int, metavar="NUMBER", help="Leave one question out.")
@click.option(
    "--ties",
    type=click.Choice(["kept", "split", "dropped"]),
    default="kept",
    help="How to count an answer that credits several measures.",
)
@click.option(
    "--to",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write a report, tables and figures for a paper into this folder.",
)
@JSON_OPTION
def analyse(target: str | None, folder: Path | None, as_json: bool, **options: Any) -> None:
    """Analyse a study's answers, and print every figure.

    TARGET is a study's slug, a bundle (a zip or a folder), or a folder with questions.csv and
    responses.csv from elsewhere. It may be left out if there is only one study. If the study is
    still open, its log will say that you looked at the results.
    """
    from survey.services.analysis import study_results
    from survey.services.analysis.study_results import Analysis, AnalysisOptions
    from survey.services.exchange.bundle import SUMS

    if folder is not None and (folder / SUMS).exists():
        raise click.UsageError(
            f"{folder} is a bundle, which a report would spoil; name another folder."
        )
    with progress_bar("Analysing"):
        result = _analysis_of(target, AnalysisOptions(**options))
    if not isinstance(result, Analysis):  # the figures of a kind that has no report
        print_json(result)
        return
    if folder is not None:
        from survey.services.analysis import report

        write_files(folder, report.report_files(result), report.file_count(result))
        click.echo(f"Report, tables and figures are in {folder}; begin with report.html.", err=True)
    if as_json:
        print_json(study_results.as_json(result))
        return
    _print_counts(result)
    if not result.responses:
        print_text("There is nothing to analyse." + _empty_hint(result))
        return
    _print_analysis(result)


def _analysis_of(target: str | None, options: "AnalysisOptions") -> "Analysis | dict[str, Any]":
    """Return the analysis; of a kind that has no report, its figures as analysis.json has them."""
    from survey.services.accounts import access
    from survey.services.exchange.bundle import analyse_stored
    from survey.services.exchange.bundle_reader import analyse_files
    from survey.services.exchange.input_files import open_files
    from survey.services.operations.database import begin_reading
    from survey.services.studies import lifecycle

    if target and _is_path(target):
        return analyse_files(open_files(Path(target), str(Path(target))), options)
    with open_session() as session:
        study = lifecycle.find_study(session, target) if target else lifecycle.only_study(session)
        if lifecycle.log_early_results(session, study, access.COMMAND_LINE, "analysed"):
            click.echo(EARLY_LOOK_NOTE, err=True)
        begin_reading(session)
        return analyse_stored(session, study, options)


def _is_path(target: str) -> bool:
    """Return whether TARGET is a file or folder; a slug has neither a dot nor a slash.

    A folder named like a slug may be that study's report, so it must contain answers.
    """
    from survey.services.exchange.ordering_reader import QUESTIONS, RESPONSES

    has_answers = any((Path(target) / name).is_file() for name in (QUESTIONS, RESPONSES))
    return "." in target or "/" in target or os.sep in target or has_answers


def _print_counts(result: "Analysis") -> None:
    from survey.services.analysis import report

    if result.study.get("why"):
        print_text(f"The study itself is unknown: {result.study['why']}.")
    else:
        print_text(f"Study digest: {result.study['digest'] or 'none yet, the study is a draft'}")
    left_out = result.left_out
    print_text(
        f"{result.participants} participant{'s' * (result.participants != 1)} × "
        f"{result.questions} questions: {result.responses} responses, {result.missing} missing. "
        f"Left out: {left_out.excluded} excluded, {left_out.test} test participants"
        + (f", {left_out.flagged} flagged." if result.options.exclude_flagged else ".")
    )
    if result.simulated:
        print_text(f"{report.simulated_notice(result)} They are no evidence of anything.")
    if not result.options.as_planned:
        print_text(f"Not the analysis of the protocol: {report.departures(result.options)}.")


def _print_analysis(result: "Analysis") -> None:
    from survey.services.analysis.report import flags_sheet, tables_of

    click.echo()
    print_heading("What the votes support")
    for verdict in result.verdicts:
        print_text(verdict.sentence, "- ", "  ")
    click.echo()
    for sheet in tables_of(result):
        print_sheet(sheet)
    if result.flags:
        print_sheet(flags_sheet(result))


def _empty_hint(result: "Analysis") -> str:
    """Return what to do when no answer counts."""
    if result.left_out.test:
        return " Only test participants have answered; --include-test counts them."
    if result.left_out.flagged:
        return " All participants are flagged; without --exclude-flagged they count."
    return " There is no answer yet."
