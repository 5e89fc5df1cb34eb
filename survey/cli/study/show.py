"""``survey study list``, ``show`` and ``plan``: what there is."""

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import STUDY
from survey.cli.printing import print_json
from survey.cli.tables import print_table
from survey.services import studies
from survey.services.plan_files import plan_values, write_plan
from survey.services.recruitment import recruitment_of

# Names in JSON for scripts, as tables and pages call them.
SHOWN_AS = {"slug": "address", "started": "begun", "target": "participants wanted"}


@click.command("list", cls=Command, examples=("survey study list", "survey study list --json"))
@AS_JSON
@click.pass_obj
def list_(open_app: OpenApp, /, as_json: bool) -> None:
    """List all studies."""
    with database(open_app) as (_, session):
        known = [
            (
                {"slug": one.slug, "status": one.status, "title": one.plan.title}
                | studies.progress(session, one),
                one.standing,
            )
            for one in studies.list_studies(session)
        ]
    if as_json:
        print_json([content for content, _ in known])
    elif known:
        columns = [SHOWN_AS.get(name, name) for name in known[0][0]]
        rows = [list((content | {"status": standing}).values()) for content, standing in known]
        print_table("Studies", columns, rows)
    else:
        click.echo("There is no study yet: make one with `survey study new`.")


@click.command(cls=Command, examples=("survey study show five-systems",))
@click.argument("slug", type=STUDY)
@AS_JSON
@click.pass_obj
def show(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
    """Show a study's design, digest and progress."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        content = studies.describe(found) | {"participants": studies.progress(session, found)}
        standing = found.standing
    if as_json:
        print_json(content)
        return
    apart = ("slug", "participants")
    shown = content | {"status": standing}
    rows = [
        (SHOWN_AS.get(name, name.replace("_", " ")), _told(value))
        for name, value in shown.items()
        if name not in apart
    ]
    rows += [
        (f"participants, {SHOWN_AS.get(name, name)}", count)
        for name, count in content["participants"].items()
    ]
    print_table(f"The study {slug}", ["", "value"], rows)


def _told(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


@click.command(
    cls=Command,
    examples=(
        "survey study plan five-systems > plan.yaml",
        "survey study new second-round --from plan.yaml",
    ),
)
@click.argument("slug", type=STUDY)
@AS_JSON
@click.pass_obj
def plan(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
    """Print a study's plan as YAML; `survey study new --from` makes the same study of it."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        recruitment = recruitment_of(found)
        if as_json:
            print_json(plan_values(found.plan, recruitment))
        else:
            click.echo(write_plan(found.plan, recruitment), nl=False)
