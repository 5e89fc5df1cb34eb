"""``survey study set``, ``undo``, ``lists`` and ``preview``: a draft is changed and looked at."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    INPUT_FILE,
    JSON_OPTION,
    LISTS_OPTIONS,
    OUTPUT_FOLDER,
    READING_OPTIONS,
    SLUG_ARGUMENT,
    MultiWordCommand,
    NamedFile,
    command,
    open_study,
    with_options,
    write_files,
)
from survey.cli.terminal import print_result, print_warnings, progress_bar

if TYPE_CHECKING:
    from survey.core.studies.plan import Plan
    from survey.db.models import Study


@command(
    "set",
    examples=(
        "survey study set spring-study minutes=40 contact=ir@example.org",
        "survey study set spring-study practice=no 'title=Which order is best?'",
    ),
)
@SLUG_ARGUMENT
@click.argument("fields", nargs=-1, required=True, metavar="FIELD=VALUE...")
@JSON_OPTION
def set_(slug: str, fields: tuple[str, ...], as_json: bool) -> None:
    """Change fields of a draft's plan, as its page “Plan” does.

    A text is typed as it is, several words with blanks between, what has parts as YAML. `survey
    study plan SLUG` prints the fields. Recruitment is changed by `survey study recruit`.
    """
    from survey.services import accounts
    from survey.services.studies import lifecycle, plans
    from survey.services.studies.recruitment import Recruitment

    typed = dict(_split(field) for field in fields)
    if other := [name for name in typed if name in vars(Recruitment())]:
        raise click.UsageError(f"{other[0]} is no field of a plan: see `survey study recruit`.")
    with open_study(slug) as (session, study):
        lifecycle.require_draft(study)
        before = study.plan
        try:
            changed = plans.parse_plan({**before.as_json(), **plans.typed_values(before, typed)})
        except ValueError as error:
            raise click.UsageError(f"{error}{'' if str(error).endswith('?') else '.'}") from error
        lifecycle.change_plan(session, study, changed, accounts.COMMAND_LINE)
        _print_change(before, study, as_json=as_json)


def _split(field: str) -> tuple[str, str]:
    name, equals, value = field.partition("=")
    if not equals:
        raise click.UsageError(f"{field!r} is not FIELD=VALUE, like minutes=40.")
    return name.strip(), value


def _print_change(before: "Plan", study: "Study", *, as_json: bool) -> None:
    """Print how a draft's plan differs from what it was."""
    from survey.services.studies import lifecycle, plans

    rows = plans.plan_differences(before.as_json(), study.plan.as_json())
    sentences = [f"{name}: {old or 'nothing'} → {new or 'nothing'}" for name, old, new in rows]
    content = lifecycle.describe(study)
    content["changed"] = {name: {"before": old, "now": new} for name, old, new in rows}
    if sentences:
        sentences.append(
            f"Next: `survey study check {study.slug}`. `survey study undo` takes it back."
        )
    print_result(content, *(sentences or ["Nothing changed."]), as_json=as_json)


@command(examples=("survey study undo spring-study",))
@SLUG_ARGUMENT
@JSON_OPTION
def undo(slug: str, as_json: bool) -> None:
    """Take the last change of a draft's plan back; a second undo restores it."""
    from survey.services import accounts
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        before = study.plan
        lifecycle.undo_plan(session, study, accounts.COMMAND_LINE)
        _print_change(before, study, as_json=as_json)


@command(
    cls=MultiWordCommand,
    examples=(
        "survey study lists spring-study --qrels qrels.txt --run a.txt b.txt.gz \\\n"
        "  --collection-size 20000",
    ),
)
@SLUG_ARGUMENT
@click.option("--own-lists", type=INPUT_FILE, help="A CSV: question,list,ranks,collection_size.")
@with_options(LISTS_OPTIONS)
@click.option("--topics", default="", help="Topics with commas between; all by default.")
@click.option("--collection-size", default="", help="How many documents the runs searched.")
@click.option("--clusters", type=INPUT_FILE, help="Lines of topic, document and cluster.")
@click.option("--graded", is_flag=True, help="Use the judgements' grades.")
@with_options(READING_OPTIONS)
@JSON_OPTION
def lists(
    slug: str,
    own_lists: Path | None,
    qrels: Path | None,
    runs: tuple[NamedFile, ...],
    topics: str,
    clusters: Path | None,
    ids: tuple[str, ...],
    score_type: str | None,
    relevant_from: int,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Have a draft ask about other lists: of a CSV, or of judgements and runs."""
    from survey.services import accounts
    from survey.services.exchange.input_files import read_file, read_text
    from survey.services.studies import lifecycle, plans

    if (own_lists is None) == (qrels is None) or bool(qrels) != bool(runs):
        raise click.UsageError("Name --own-lists FILE, or --qrels FILE and --run FILE FILE.")
    with open_study(slug) as (session, study):
        lifecycle.require_draft(study)
        with progress_bar("Reading"):
            if own_lists is not None:
                read = plans.read_lists_csv(read_text(own_lists), own_lists.name)
            elif qrels is not None:
                read = plans.from_trec(
                    read_file(qrels),
                    [read_file(run.path)._replace(run=run.name) for run in runs],
                    topics=topics.replace(",", " ").split(),
                    clusters=None if clusters is None else read_file(clusters),
                    reading=plans.Reading(ids, score_type == "distances", relevant_from),
                    **options,
                )
        lifecycle.replace_lists(session, study, read, accounts.COMMAND_LINE)
        warnings = lifecycle.warnings_of(session, study, so_far=True)
        content = lifecycle.describe(study)
        content["warnings"] = [warning.as_json() for warning in warnings]
        done = f"{slug!r} asks about these lists, in {study.plan.questions} questions."
        print_result(content, done, f"Next: `survey study check {slug}`.", as_json=as_json)
    print_warnings(warnings, strict=strict)


@command(examples=("survey study preview spring-study --to preview",))
@SLUG_ARGUMENT
@click.option("--to", "folder", required=True, type=OUTPUT_FOLDER, help="Where the pages go.")
@JSON_OPTION
def preview(slug: str, folder: Path, as_json: bool) -> None:
    """Write the pages that participants see into a folder, to look at without a server.

    index.html is the first one. A study with arms has a folder for each. The pages show which
    column is which; do not give them to people who will take part.
    """
    from survey.app import PreviewFiles, create_app

    with open_study(slug) as (_, study):
        arms = study.plan.arms
    if folder.exists() and any(folder.iterdir()):
        raise click.UsageError(f"{folder} is not empty; name another folder.")
    write_files(folder, PreviewFiles(create_app(), slug))
    pages = sum(path.parent.name != "texts" for path in folder.rglob("*.html"))
    first = folder / (f"{arms[0]}/index.html" if arms else "index.html")
    content = {"study": slug, "folder": str(folder), "pages": pages, "first": str(first)}
    print_result(content, f"{pages} pages are in {folder}; begin with {first}.", as_json=as_json)


COMMANDS = (set_, undo, lists, preview)
