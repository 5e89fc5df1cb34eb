"""``survey analyse``, ``export``, ``replicate`` and ``import``: results, and bundles of studies."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    PAPER_OPTIONS,
    RESEARCHER,
    RUN_FILE,
    STUDY_NAME,
    STUDY_OR_FILE,
    MultiWordCommand,
    NamedFile,
    check_together,
    check_writable,
    command,
    named_study,
    open_session,
    paper_look,
    refuse_own_database,
    with_options,
    write_files,
)
from survey.cli.terminal import (
    print_heading,
    print_json,
    print_result,
    print_sheet,
    print_text,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from survey.services.analysis.results import Results
    from survey.services.analysis.study_results import AnalysisOptions


BUNDLE = click.Path(exists=True, path_type=Path)
EARLY_LOOK_NOTE = (
    "The study is still open. Its log now says that you looked at the results, and its bundle "
    "will say so too once people have answered, with the --reason. To see results only afterwards, "
    "close it first."
)
REASON_OPTION = click.option(
    "--reason", default="", help="Why results are seen while the study is open; it is exported."
)


@command(
    examples=(
        "survey analyse five-systems --include-test",
        "survey analyse five-systems --include-test --json",
        "survey analyse five-systems.zip --to paper --figure-width 3.33 --font serif",
        "survey analyse five-systems --registration registered/registration.json",
        "survey analyse ./votes",
        "survey analyse preferences.csv",
    )
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
    help="Write a report, tables and figures for a paper into this folder; of labels, judgements.",
)
@click.option(
    "--registration",
    type=INPUT_FILE,
    help="Compare with this registration.json; by default with that of the study or bundle.",
)
@click.option("--strict", is_flag=True, help="Exit with status 1 if an item of it has changed.")
@with_options(PAPER_OPTIONS)
@REASON_OPTION
@JSON_OPTION
def analyse(
    target: str | None,
    folder: Path | None,
    registration: Path | None,
    strict: bool,
    reason: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Analyse a study's answers, and print every figure.

    TARGET is a study's slug, a bundle (a zip or a folder), or answers from elsewhere: a folder
    with questions.csv and responses.csv, or a table of preferences or of votes, with columns like
    those of preferences.csv and votes.csv. It may be left out if there is only one study. If the
    study is still open, its log will say that you looked at the results. Of a study that was
    preregistered, the first sentence says whether the analysis is the registered one.
    """
    from survey.services.analysis import report
    from survey.services.analysis.study_results import AnalysisOptions
    from survey.services.exchange.bundle import SUMS

    if folder is not None and (folder / SUMS).exists():
        raise click.UsageError(
            f"{folder} is a bundle, which a report would spoil; name another folder."
        )
    look = paper_look(folder, options)
    reason = reason[:500] or "analysed"
    chosen = AnalysisOptions(**options)
    with _results_of(target, chosen, reason, registration, in_full=folder is not None) as results:
        compared = results.registered
        if strict and compared is None:
            raise click.UsageError(
                "There is no registration for --strict to compare with; name one: --registration "
                "FILE."
            )
        if folder is not None:
            write_files(folder, report.report_files(results, look), report.file_count(results))
            say(f"Report, tables and figures are in {folder}; begin with report.html.", err=True)
        if as_json:
            print_json(results.all_json())
        elif results.nothing:
            _print_nothing(results)
        else:
            print_results(results)
    if strict and compared and compared.changed:
        raise SystemExit(1)


@contextmanager
def _results_of(
    target: str | None,
    options: "AnalysisOptions",
    reason: str,
    registration: Path | None,
    *,
    in_full: bool,
) -> "Iterator[Results]":
    """Yield the results; of a study in the database, in a session from which files are read.

    ``in_full``: with what the methods of a paper need.
    """
    from survey.services import accounts
    from survey.services.exchange.bundle import require_options, results_of
    from survey.services.exchange.bundle_reader import analyse_path
    from survey.services.exchange.input_files import read_file
    from survey.services.operations.database import begin_reading
    from survey.services.studies import lifecycle

    file = read_file(registration) if registration else None
    if target and _is_path(target):
        with progress_bar("Analysing"):
            results = analyse_path(Path(target), options, registration=file, in_full=in_full)
        yield results
        return
    with open_session() as session:
        study = named_study(session, target) if target else lifecycle.only_study(session)
        require_options(study.plan, options)  # before the log says that results were seen
        if lifecycle.log_early_results(session, study, accounts.COMMAND_LINE, reason):
            say(EARLY_LOOK_NOTE, err=True)
        begin_reading(session)
        with progress_bar("Analysing"):
            results = results_of(session, study, options, registration=file, in_full=in_full)
        yield results


def _print_nothing(results: "Results") -> None:
    """Print what the results would rest on, why there are none, and what would give some."""
    hint = ""
    if results.left_out.test:
        hint = " --include-test counts them."
    elif results.left_out.flagged:
        hint = " Without --exclude-flagged they count."
    if results.registered:
        print_text(results.registered.sentence)
    for sentence in results.basis:
        print_text(sentence)
    print_text(f"There is nothing to analyse. {results.nothing}{hint}")


def print_results(results: "Results") -> None:
    """Print the sentence to quote and a row for each pair, then everything else."""
    from survey.services.analysis.results import SUPPORTED

    if results.registered:
        print_text(results.registered.sentence)
        say()
    print_text(results.headline)
    say()
    chip = results.chip and f"{results.chip.text}. {results.chip.note}".strip()
    rows = [f"- {row}" for row in results.rows]
    for text in filter(None, (chip, *rows, results.rows_note, results.method)):
        print_text(text, "", "  " * text.startswith("- "))
    say()
    for line in results.basis:
        print_text(line)
    say()
    if results.has_verdicts:
        print_heading(SUPPORTED)
        for sentence in results.sentences:
            print_text(sentence.text, "- ", "  ")
    for remark in filter(None, (*results.remarks, results.repeated, results.early_looks)):
        print_text(remark)
    say()
    if not results.sheets:
        print_json(results.all_json())
    for sheet in results.sheets:
        if sheet.rows:
            print_sheet(sheet)
        else:
            print_text(f"{sheet.title}: {sheet.note or 'nothing to count yet.'}")


def _is_path(target: str) -> bool:
    """Return whether TARGET is a file or folder; a slug has neither a dot nor a slash.

    A folder named like a slug may be that study's report, so it must contain answers.
    """
    from survey.services.exchange.bundle_reader import foreign_tables
    from survey.services.exchange.tables import QUESTIONS_FILE

    if "." in target or "/" in target or os.sep in target:
        return True
    return any((Path(target) / name).is_file() for name in (QUESTIONS_FILE, *foreign_tables()))


@command(
    examples=(
        "survey export five-systems --to spring.zip",
        "survey export five-systems --to trial.zip --include-test",
        "survey export five-systems --parquet five-systems-tables",
        "survey export five-systems --psych-ds five-systems-dataset",
    )
)
@click.argument("slug", type=STUDY_NAME)
@click.option("--to", "target", type=OUTPUT_FILE, help="The zip file to write.")
@click.option(
    "--parquet",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write the tables into this folder as Parquet files instead.",
)
@click.option(
    "--psych-ds",
    "psych_ds",
    type=OUTPUT_FOLDER,
    help="Write the tables into this folder as a Psych-DS dataset instead.",
)
@click.option(
    "--rows",
    "raw",
    type=OUTPUT_FOLDER,
    help="Write the stored rows as they are; also where the kind is not installed.",
)
@click.option("--with-identities", is_flag=True, help="Add identities.csv: personal data.")
@click.option("--with-pictures", is_flag=True, help="Add the items' pictures, in a small size.")
@click.option("--include-test", is_flag=True, help="Include simulated participants.")
@FORCE_OPTION
@REASON_OPTION
@JSON_OPTION
def export(
    slug: str,
    target: Path | None,
    folder: Path | None,
    psych_ds: Path | None,
    raw: Path | None,
    force: bool,
    reason: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Write a study's bundle, which others can replicate.

    With --parquet it writes answers, participants and questions as typed tables for other
    programs, with --psych-ds the CSV files under the names of that standard. With --rows it writes
    what the database holds of them, which nothing replicates.
    """
    from survey.services import accounts
    from survey.services.exchange import bundle
    from survey.services.participation import own_data
    from survey.services.studies import lifecycle

    with_pictures = options.pop("with_pictures")
    named = [path for path in (target, folder, psych_ds, raw) if path is not None]
    if len(named) != 1:
        choices = "--to FILE.zip, --parquet FOLDER, --psych-ds FOLDER or --rows FOLDER"
        raise click.UsageError(f"Name what to write, one of {choices}.")
    [path] = named
    if raw and (with_pictures or options["with_identities"]):
        raise click.UsageError("--rows goes with --include-test alone.")
    if psych_ds and with_pictures:
        raise click.UsageError("--psych-ds writes tables alone; --with-pictures goes with --to.")
    check_writable(path, force=force)
    with open_session() as session:
        refuse_own_database(path, session.get_bind().engine)
        own_data.drop_due(session)
        study = named_study(session, slug)
        own_data.require_none_due(session, study)
        if options["with_identities"]:
            accounts.log(
                session, study, accounts.COMMAND_LINE, "exported", "bundle with identities"
            )
        reason = reason[:500] or "exported"
        if lifecycle.log_early_results(session, study, accounts.COMMAND_LINE, reason):
            say(EARLY_LOOK_NOTE, err=True)
        digest = study.digest
        if raw:
            from survey.services.exchange.raw_rows import write_rows

            with replaced_when_done(path) as new:
                write_rows(session, study, new, include_test=options["include_test"])
            content = {"study": slug, "digest": digest, "written": str(path), **options}
            print_result(content, f"{path} holds the rows of {slug!r}.", as_json=as_json)
            return
        lines = bundle.estimate_lines(session, study)
        with progress_bar("Writing", total=lines) as progress, replaced_when_done(path) as new:
            if folder:
                from survey.services.exchange import parquet  # its library is an extra

                parquet.write_parquet(session, study, new, on_lines=progress.advance, **options)
            elif psych_ds:
                from survey.services.exchange.psych_ds import write_psych_ds

                address = public_address(slug)
                advance = progress.advance
                write_psych_ds(session, study, new, address=address, on_lines=advance, **options)
            else:
                chunks = bundle.stream_bundle(
                    session,
                    study,
                    address=public_address(slug),
                    on_lines=progress.advance,
                    with_pictures=with_pictures,
                    **options,
                )
                with new.open("wb") as file:
                    file.writelines(chunks)
    sentences = [f"{path} holds the study {slug!r}."]
    if target:
        sentences.append(f"Others check it with `survey replicate {target.name}`.")
    content = {"study": slug, "digest": digest, "written": str(path), **options}
    print_result(content, *sentences, as_json=as_json)


@command(
    cls=MultiWordCommand,
    examples=(
        "survey replicate five-systems.zip",
        "survey replicate five-systems.zip --json",
        "survey replicate two-runs.zip --qrels qrels.txt --run a.txt b.txt.gz",
    ),
)
@click.argument("bundle", type=BUNDLE)
@click.option("--qrels", type=INPUT_FILE, help="The judgements of a study of runs.")
@click.option(
    "--run", "runs", type=RUN_FILE, multiple=True, metavar="FILE...", help="All of its runs."
)
@click.option("--clusters", type=INPUT_FILE, help="Its clusters, where it has some.")
@JSON_OPTION
def replicate(
    bundle: Path,
    qrels: Path | None,
    runs: tuple[NamedFile, ...],
    clusters: Path | None,
    as_json: bool,
) -> None:
    """Recompute everything in a bundle, and compare.

    BUNDLE is a zip or an unpacked folder, made here or elsewhere. The lists are drawn again
    from the seed; values, orders, credits, tables and the analysis are recomputed. The positions
    of a study of runs are recomputed where --qrels and --run name its files, and pooled documents
    where --run does, or names the file of the pool. Files that do not have their sums are
    named with what was changed, format or values, and what to do. The exit status is 0 only if
    everything agrees. What another version did not write, or this one does not, is listed and no
    fault; so is what systems add, such as Thumbs.db. No database is needed.
    """
    from survey.errors import SurveyError
    from survey.services.exchange import input_files
    from survey.services.exchange.bundle_reader import READINGS, require_bundle
    from survey.services.exchange.bundle_reader import replicate as recompute
    from survey.services.exchange.foreign_file import name_some

    if qrels or clusters:  # of a pool the runs are enough
        named = {"--qrels": qrels, "--run": runs, "--clusters": clusters}
        check_together(named, ("--qrels", "--run"))
    checked: list[str] = []
    fault: SurveyError | None = None
    try:
        with progress_bar("Recomputing") as progress:
            sources = None
            if runs:
                sources = input_files.SourceFiles(
                    input_files.read_file(qrels) if qrels else None,
                    [input_files.read_file(run.path)._replace(run=run.name) for run in runs],
                    input_files.read_file(clusters) if clusters else None,
                )
            left_out: list[str] = []
            name = bundle.absolute().name  # also of "."
            files = input_files.stream_files(bundle, name, progress.advance, left_out.append)
            require_bundle(files, name)
            progress.update(0, sum(file.size for file in files.values()) * READINGS)
            checked.extend(recompute(files, sources))
            if left_out:
                checked.append(f"not part of the bundle, and left out: {name_some(left_out)}")
    except SurveyError as error:
        fault = error
    why = {"why": str(fault)} if fault else {}
    content = {"bundle": str(bundle), "agrees": not fault, **why, "checked": checked}
    marks = {True: "–", False: "✓"}
    lines = (f"{marks[text.startswith('not ')]} {text}" for text in checked)
    print_result(content, *lines, as_json=as_json)
    if fault:
        raise fault
    if not as_json:
        say("The bundle agrees in everything that can be recomputed.")


@command(
    "import", examples=('survey import five-systems.zip --as spring-again --owner "Ada Lovelace"',)
)
@click.argument("bundle", type=BUNDLE)
@click.option("--as", "slug", metavar="SLUG", help="Another slug than it had.")
@click.option(
    "--owner", required=True, type=RESEARCHER, metavar="NAME", help="The researcher who sees it."
)
@JSON_OPTION
def import_(bundle: Path, slug: str | None, owner: str, as_json: bool) -> None:
    """Import a bundle as a read-only study.

    Everything in it is recomputed first; a bundle that does not agree is not imported. Participants
    who have deleted their data here are left out.
    """
    from survey.services.accounts import find_researcher
    from survey.services.exchange import bundle_import, input_files
    from survey.services.studies import lifecycle

    with progress_bar("Recomputing"):
        files = input_files.open_files(bundle, bundle.name)
        with open_session() as session:
            researcher = find_researcher(session, owner)
            erased: list[int] = []
            study = bundle_import.import_bundle(
                session, files, bundle.name, slug or "", researcher, erased.append
            )
            content = lifecycle.describe(study)
    print_result(
        content,
        f"The study is at /research/studies/{content['slug']}, read-only.",
        *bundle_import.describe_erased(*erased),
        f"Next: `survey analyse {content['slug']}`.",
        as_json=as_json,
    )


def public_address(slug: str) -> str:
    """Return the address of a study's public page, "" where SURVEY_ADDRESS does not name one."""
    from survey.config import Settings

    address = Settings.from_environment().address
    return f"{address}/studies/{slug}" if address else ""


@contextmanager
def replaced_when_done(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` only if the block succeeds."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield new
        new.replace(path)
    finally:
        if new.is_dir():
            shutil.rmtree(new)
        new.unlink(missing_ok=True)


@command(
    examples=(
        "survey pool five-systems.zip lyon.zip --include-test",
        "survey pool five-systems.zip lyon.zip --include-test --to paper",
    )
)
@click.argument("bundles", type=BUNDLE, nargs=-1, required=True)
@click.option("--same-design", is_flag=True, help="Studies have questions drawn by other seeds.")
@click.option("--include-test", is_flag=True, help="Count simulated participants as well.")
@click.option(
    "--to",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write a report, tables and figures for a paper into this folder.",
)
@with_options(PAPER_OPTIONS)
@JSON_OPTION
def pool(
    bundles: tuple[Path, ...],
    folder: Path | None,
    as_json: bool,
    *,
    same_design: bool,
    include_test: bool,
    **options: Any,
) -> None:
    """Say what several studies of the same questions find together.

    BUNDLES are zips or unpacked folders that replicate. Each is a site: their participants are
    people of their own. With --same-design the questions may be drawn by other seeds, and the
    design and all texts are the same. What must not be pooled is refused, with the reasons. No
    database is needed.
    """
    from survey.services.analysis import report
    from survey.services.exchange.input_files import open_files
    from survey.services.exchange.pooling import pool_bundles

    look = paper_look(folder, options)
    names = [path.absolute().name for path in bundles]
    if len({*names}) < len(names):  # as of sites that have a folder each
        names = [path.as_posix() for path in bundles]
    with progress_bar("Replicating", total=len(bundles)) as progress:
        results = pool_bundles(
            [open_files(path, name) for path, name in zip(bundles, names, strict=True)],
            names,
            same_design=same_design,
            include_test=include_test,
            on_done=progress.advance,
        )
    if folder is not None:
        write_files(folder, report.report_files(results, look), report.file_count(results))
        say(f"Report, tables and figures are in {folder}; begin with report.html.", err=True)
    if as_json:
        print_json(results.all_json())
    else:
        print_results(results)
