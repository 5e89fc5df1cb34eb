"""``survey study new``."""

from pathlib import Path
from typing import Any

import click

from survey.cli.context import OpenApp, database
from survey.services import life, studies
from survey.services import own_lists as lists
from survey.services.languages import languages
from survey.services.plan_files import PlanFile, read_plan
from survey.services.recruitment import Recruitment


@click.command()
@click.argument("slug")
@click.option(
    "--from",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A plan as a YAML file; the options below override it.",
)
@click.option(
    "--preset", type=click.Choice(studies.PRESETS), help="Whose texts and design to take (mnro)."
)
@click.option(
    "--own-lists",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A CSV of ranked lists of your own: question,list,ranks,collection_size.",
)
@click.option("--owner", metavar="NAME", help="Whose study it is; the only researcher, if one.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the lists; drawn if not given.")
@click.option("--generator", type=click.Choice(studies.GENERATOR_NAMES), help="(random)")
@click.option("--questions", type=int, help="How many questions (10).")
@click.option("--lists", type=int, help="Ranked lists per question (5).")
@click.option("--relevant", type=int, help="Relevant items per list (5).")
@click.option("--collection-size", type=int, help="Items in the collection (100).")
@click.option("--participants", type=int, help="How many are wanted (30).")
@click.option("--language", type=click.Choice(languages()), help="(en)")
@click.option("--title", help="What participants read as the title.")
@click.option("--asked-by", help="Who asks, as participants read it.")
@click.option("--contact", help="Where participants can ask, for example an e-mail address.")
@click.pass_obj
def new(
    open_app: OpenApp,
    /,
    slug: str,
    file: Path | None,
    preset: str | None,
    own_lists: Path | None,
    owner: str | None,
    **changes: Any,
) -> None:
    """Make a study as a draft. SLUG is its address: /s/SLUG.

    \b
    Example: survey study new spring-pilot --seed 42 --asked-by "the IR group of X"
             survey study new spring-pilot --from plan.yaml
    """
    asked = {name: value for name, value in changes.items() if value is not None}
    made = _planned(file, preset, asked)
    plan = made.plan
    if own_lists is not None:
        plan = lists.with_lists(
            plan, lists.from_csv(own_lists.read_text("utf-8-sig"), own_lists.name)
        )
    with database(open_app) as (_, session):
        found = life.make_for(session, owner, slug, plan, made.recruitment)
        click.echo(f"The study {slug!r} is made, with seed {plan.seed}.")
        click.echo(f"Look at it with `survey study check {found.slug}`, then open it.")


def _planned(file: Path | None, preset: str | None, asked: dict[str, Any]) -> PlanFile:
    """Read the plan file, or take a preset with a seed of its own."""
    if file is not None and preset is not None:
        raise click.UsageError("--from and --preset exclude each other; a file may name a preset.")
    if file is not None:
        return read_plan(file.read_text("utf-8-sig"), file.name, **asked)
    values = {"seed": studies.fresh_seed(), **asked}
    return PlanFile(studies.preset_plan(preset or "mnro", **values), Recruitment())
