"""``survey study list``, ``show`` and ``plan``: what there is."""

import click

from survey.cli.context import AS_JSON, OpenApp, database, print_json, print_table
from survey.services import studies
from survey.services.plan_files import write_plan
from survey.services.recruitment import recruitment_of

# Names in JSON for scripts, as tables and pages call them.
SHOWN_AS = {"slug": "address", "started": "begun"}


@click.command("list")
@AS_JSON
@click.pass_obj
def list_(open_app: OpenApp, as_json: bool) -> None:
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


@click.command()
@click.argument("slug")
@AS_JSON
@click.pass_obj
def show(open_app: OpenApp, slug: str, as_json: bool) -> None:
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
    rows = [(name, value) for name, value in shown.items() if name not in apart]
    rows += [
        (f"participants, {SHOWN_AS.get(name, name)}", count)
        for name, count in content["participants"].items()
    ]
    print_table(f"The study {slug}", ["", "value"], rows)


@click.command()
@click.argument("slug")
@click.pass_obj
def plan(open_app: OpenApp, slug: str) -> None:
    """Print a study's plan as YAML; `survey study new --from` makes the same study of it.

    \b
    Example: survey study plan five-systems > plan.yaml
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        click.echo(write_plan(found.plan, recruitment_of(found)), nl=False)
