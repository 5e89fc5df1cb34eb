"""``survey study new``: make a draft from options, a plan file, own lists or runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    INPUT_FILE,
    JSON_OPTION,
    MEASURES,
    RESEARCHER,
    MultiWordCommand,
    open_session,
)
from survey.cli.terminal import print_result, progress_bar
from survey.services.studies.languages import languages

if TYPE_CHECKING:
    from survey.services.studies.plans import OwnLists, PlanFile

RUN_OPTIONS = ("topics", "graded", "clusters", "missing_last")


@click.command(
    cls=MultiWordCommand,
    examples=(
        'survey study new first-pilot --seed 42 --asked-by "the IR group of X"',
        "survey study new second-pilot --from plan.yaml",
        "survey study new two-systems --qrels qrels.txt --run a.txt b.txt.gz --graded \\\n"
        "  --collection-size 20000 --measures AP,nDCG@10,MNRO",
        "survey study new graded-pilot --grades 3,2,2,1,1 --measures AP,nDCG@5,MNRO",
    ),
)
@click.argument("slug")
@click.option(
    "--from", "file", type=INPUT_FILE, help="A plan as a YAML file; the options below override it."
)
@click.option(
    "--preset",
    type=click.Choice(["mnro", "mnro-discriminative", "runs"]),
    help="The texts and design to begin with (mnro).",
)
@click.option(
    "--own-lists",
    type=INPUT_FILE,
    help="Your own ranked lists, a CSV: question,list,ranks,collection_size.",
)
@click.option(
    "--measures",
    type=MEASURES,
    metavar="NAMES",
    help="Two to six, with commas between, like AP,nDCG@10,MNRO.",
)
@click.option("--grades", help="Grades for the positions of random lists, like 3,2,2,1,1.")
@click.option("--qrels", type=INPUT_FILE, help="TREC judgements: a question for each topic.")
@click.option(
    "--run",
    "runs",
    type=INPUT_FILE,
    multiple=True,
    metavar="FILE...",
    help="TREC runs, two to ten: a list from each.",
)
@click.option("--topics", help="Topics with commas between; all by default.")
@click.option("--graded", is_flag=True, help="Use the judgements' grades; participants see them.")
@click.option(
    "--clusters",
    type=INPUT_FILE,
    help="Lines of topic, document and cluster; participants see the clusters.",
)
@click.option("--missing-last", is_flag=True, help="Put what a run did not return at the end.")
@click.option(
    "--owner",
    type=RESEARCHER,
    metavar="NAME",
    help="The researcher who owns the study; by default the only one.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of the lists; random by default.")
@click.option(
    "--generator",
    type=click.Choice(["random", "discriminative"]),
    help="How lists are drawn (random).",
)
@click.option("--questions", type=int, help="How many questions (10).")
@click.option("--lists", type=int, help="Ranked lists per question (5).")
@click.option("--relevant", type=int, help="Relevant items per list (5).")
@click.option("--collection-size", type=int, help="Items in the collection (100).")
@click.option("--participants", type=int, help="How many participants you want (30).")
@click.option(
    "--language", type=click.Choice(languages()), help="Language of participants' pages (en)."
)
@click.option("--title", help="The title that participants read.")
@click.option("--asked-by", help="Who runs the study, as participants read it.")
@click.option("--contact", help="Where participants can ask, for example an e-mail address.")
@JSON_OPTION
def new(
    slug: str,
    file: Path | None,
    preset: str | None,
    own_lists: Path | None,
    qrels: Path | None,
    runs: tuple[Path, ...],
    owner: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Make a study as a draft, to be checked and opened later.

    SLUG is its address, /s/SLUG: small letters, digits and hyphens, and no measure's name.
    Without options it is the MNRO paper's study with newly drawn lists.
    """
    from survey.services.accounts import access
    from survey.services.exchange.input_files import read_text
    from survey.services.studies import lifecycle
    from survey.services.studies.plans import read_lists_csv

    run_options = {name: options.pop(name) for name in RUN_OPTIONS}
    fields = _plan_fields(options)
    if (qrels is None) != (not runs) or (qrels is None and any(run_options.values())):
        raise click.UsageError(
            "--qrels and --run belong together; --topics, --graded, --clusters and "
            "--missing-last need both."
        )
    if own_lists is not None:
        fields |= _list_fields(fields, read_lists_csv(read_text(own_lists), own_lists.name))
    if qrels is not None:
        if "collection_size" not in fields:
            raise click.UsageError(
                "--qrels needs --collection-size: how many documents the runs searched."
            )
        preset = preset if preset or file else "runs"
        lists = _lists_from_runs(qrels, runs, fields["collection_size"], **run_options)
        fields |= _list_fields(fields, lists)
    plan_file = _read_plan(file, preset, fields)
    with open_session() as session:
        with progress_bar("Drawing the questions"):
            study = lifecycle.create_study_for(
                session, owner, slug, plan_file.plan, plan_file.recruitment
            )
        sentences = [
            f"The study {slug!r} is made, with seed {plan_file.plan.seed}.",
            f"Look at it with `survey study check {study.slug}`, then open it.",
        ]
        if not access.members_of(session, study):
            sentences.append(
                "It has no owner, so no researcher sees it in the browser: "
                f"`survey study share {study.slug} NAME` adds an owner."
            )
        print_result(lifecycle.describe(study), *sentences, as_json=as_json)


def _plan_fields(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set, as fields of a plan."""
    fields = {name: value for name, value in options.items() if value is not None}
    if "measures" in fields:
        fields["measures"] = fields["measures"].replace(",", " ").split()
    if "grades" in fields:
        fields["marks"] = {"grades": fields.pop("grades").replace(",", " ")}
    return fields


def _list_fields(fields: dict[str, Any], lists: "OwnLists") -> dict[str, Any]:
    """Return own lists as fields of a plan; refuse options that the lists already decide."""
    from survey.services.studies.plans import as_fields

    for name in ("questions", "lists", "relevant", "generator", "marks"):
        if name in fields:
            option = "grades" if name == "marks" else name
            raise click.UsageError(
                f"--{option} cannot be combined with your own lists, which decide it."
            )
    return as_fields(lists)


def _lists_from_runs(
    qrels: Path,
    runs: tuple[Path, ...],
    collection_size: int,
    *,
    topics: str | None,
    clusters: Path | None,
    **options: bool,
) -> "OwnLists":
    from survey.services.exchange.input_files import read_text
    from survey.services.studies.plans import from_trec

    return from_trec(
        (qrels.name, read_text(qrels)),
        [(run.name, read_text(run)) for run in runs],
        topics=(topics or "").replace(",", " ").split(),
        collection_size=str(collection_size),
        clusters=None if clusters is None else (clusters.name, read_text(clusters)),
        **options,
    )


def _read_plan(file: Path | None, preset: str | None, fields: dict[str, Any]) -> "PlanFile":
    """Return the plan of the file, or of a preset with a random seed, changed by the fields."""
    from survey.services.exchange.input_files import read_text
    from survey.services.studies.plans import PlanFile, fresh_seed, preset_plan, read_plan
    from survey.services.studies.recruitment import Recruitment

    if file is not None and preset is not None:
        raise click.UsageError("Use --from or --preset, not both; a plan file may name a preset.")
    if file is not None:
        return read_plan(read_text(file), file.name, **fields)
    values = {"seed": fresh_seed(), **fields}
    return PlanFile(preset_plan(preset or "mnro", **values), Recruitment())
