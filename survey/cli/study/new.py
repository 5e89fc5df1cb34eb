"""``survey study new``."""

from pathlib import Path
from typing import Any

import click

from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import MEASURES, RESEARCHER
from survey.cli.printing import print_json
from survey.cli.progress import bar
from survey.cli.words import SeveralWords
from survey.services import access, life, studies
from survey.services import own_lists as lists
from survey.services.languages import languages
from survey.services.plan_files import PlanFile, read_plan
from survey.services.recruitment import Recruitment
from survey.services.text_files import text_of

HOW_TO_READ_RUNS = ("topics", "graded", "clusters", "missing_last")
READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    cls=SeveralWords,
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
    "--from",
    "file",
    type=READABLE,
    help="A plan as a YAML file; the options below override it.",
)
@click.option(
    "--preset", type=click.Choice(studies.PRESETS), help="Whose texts and design to take (mnro)."
)
@click.option(
    "--own-lists",
    type=READABLE,
    help="A CSV of ranked lists of your own: question,list,ranks,collection_size.",
)
@click.option(
    "--measures",
    type=MEASURES,
    metavar="NAMES",
    help="Two to six, with commas between, like AP,nDCG@10,MNRO.",
)
@click.option("--grades", help="Grades dealt to the positions of random lists, like 3,2,2,1,1.")
@click.option("--qrels", type=READABLE, help="TREC judgements: a question for each topic.")
@click.option(
    "--run",
    "runs",
    type=READABLE,
    multiple=True,
    metavar="FILE...",
    help="TREC runs, two to ten: a list of each.",
)
@click.option("--topics", default="", help="Which topics, with commas between; all if not given.")
@click.option("--graded", is_flag=True, help="Take the judgements' grades; participants see them.")
@click.option("--clusters", type=READABLE, help="Lines of topic, document and cluster; likewise.")
@click.option("--missing-last", is_flag=True, help="Put what a run did not return at the end.")
@click.option(
    "--owner",
    type=RESEARCHER,
    metavar="NAME",
    help="Whose study it is; the only researcher, if one.",
)
@click.option("--seed", type=click.IntRange(0), help="Seed of the lists; drawn if not given.")
@click.option(
    "--generator", type=click.Choice(studies.GENERATOR_NAMES), help="How lists are drawn (random)."
)
@click.option("--questions", type=int, help="How many questions (10).")
@click.option("--lists", type=int, help="Ranked lists per question (5).")
@click.option("--relevant", type=int, help="Relevant items per list (5).")
@click.option("--collection-size", type=int, help="Items in the collection (100).")
@click.option("--participants", type=int, help="How many are wanted (30).")
@click.option("--language", type=click.Choice(languages()), help="Of participants' pages (en).")
@click.option("--title", help="What participants read as the title.")
@click.option("--asked-by", help="Who asks, as participants read it.")
@click.option("--contact", help="Where participants can ask, for example an e-mail address.")
@AS_JSON
@click.pass_obj
def new(
    open_app: OpenApp,
    /,
    slug: str,
    file: Path | None,
    preset: str | None,
    own_lists: Path | None,
    qrels: Path | None,
    runs: tuple[Path, ...],
    owner: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Make a study as a draft, to be checked and opened later.

    SLUG is its address, /s/SLUG: small letters, digits and hyphens, and no measure's name.
    Without options it is the MNRO paper's study with lists of its own.
    """
    how = {name: asked.pop(name) for name in HOW_TO_READ_RUNS}
    changes = _changes(asked)
    if (qrels is None) != (not runs) or (qrels is None and any(how.values())):
        raise click.UsageError(
            "--qrels and --run belong together; --topics, --graded, --clusters and "
            "--missing-last need both."
        )
    if own_lists is not None:
        changes |= _own(changes, lists.from_csv(text_of(own_lists), own_lists.name))
    if qrels is not None:
        if "collection_size" not in changes:
            raise click.UsageError(
                "--qrels needs --collection-size: how many documents the runs searched."
            )
        preset = preset if preset or file else "runs"
        changes |= _own(changes, _from_runs(qrels, runs, changes["collection_size"], **how))
    made = _planned(file, preset, changes)
    plan = made.plan
    with database(open_app) as (_, session):
        with bar("Drawing the questions"):
            found = life.make_for(session, owner, slug, plan, made.recruitment)
        if as_json:
            print_json(studies.describe(found))
            return
        click.echo(f"The study {slug!r} is made, with seed {plan.seed}.")
        click.echo(f"Look at it with `survey study check {found.slug}`, then open it.")
        if not access.members_of(session, found):
            click.echo(
                "It belongs to nobody, so no researcher sees it in the browser: "
                f"`survey study share {found.slug} NAME` gives it to one."
            )


def _changes(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given as fields of a plan."""
    changes = {name: value for name, value in asked.items() if value is not None}
    if "measures" in changes:
        changes["measures"] = changes["measures"].replace(",", " ").split()
    if "grades" in changes:
        changes["marks"] = {"grades": changes.pop("grades").replace(",", " ")}
    return changes


def _own(changes: dict[str, Any], found: lists.OwnLists) -> dict[str, Any]:
    """Return lists of one's own as fields of a plan, with which some options do not go."""
    for name in ("questions", "lists", "relevant", "generator", "marks"):
        if name in changes:
            option = "grades" if name == "marks" else name
            raise click.UsageError(f"--{option} does not go with lists of your own, which say it.")
    return lists.as_fields(found)


def _from_runs(
    qrels: Path,
    runs: tuple[Path, ...],
    collection_size: int,
    *,
    topics: str,
    clusters: Path | None,
    **how: bool,
) -> lists.OwnLists:
    return lists.from_trec(
        (qrels.name, text_of(qrels)),
        [(run.name, text_of(run)) for run in runs],
        topics=topics.replace(",", " ").split(),
        collection_size=str(collection_size),
        clusters=None if clusters is None else (clusters.name, text_of(clusters)),
        **how,
    )


def _planned(file: Path | None, preset: str | None, asked: dict[str, Any]) -> PlanFile:
    """Read the plan file, or take a preset with a seed of its own."""
    if file is not None and preset is not None:
        raise click.UsageError("--from and --preset exclude each other; a file may name a preset.")
    if file is not None:
        return read_plan(text_of(file), file.name, **asked)
    values = {"seed": studies.fresh_seed(), **asked}
    return PlanFile(studies.preset_plan(preset or "mnro", **values), Recruitment())
