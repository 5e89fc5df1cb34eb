"""``survey study``: a study's life."""

from typing import Any

import click

from survey.cli.context import AS_JSON, OpenApp, database, print_json, print_table
from survey.services import studies
from survey.services.checks import check_study


@click.group()
def study() -> None:
    """Make, list, show, check, open and close studies."""


@study.command()
@click.argument("slug")
@click.option("--seed", type=click.IntRange(0), help="Seed of the lists; drawn if not given.")
@click.option("--generator", type=click.Choice(studies.GENERATOR_NAMES), default="random")
@click.option("--questions", type=int, help="How many questions (10).")
@click.option("--lists", type=int, help="Ranked lists per question (5).")
@click.option("--relevant", type=int, help="Relevant items per list (5).")
@click.option("--collection-size", type=int, help="Items in the collection (100).")
@click.option("--title", help="What participants read as the title.")
@click.option("--asked-by", help="Who asks, as participants read it.")
@click.option("--contact", help="Where participants can ask, for example an e-mail address.")
@click.pass_obj
def new(open_app: OpenApp, /, slug: str, seed: int | None, **changes: Any) -> None:
    """Make a study as a draft. SLUG is its address: /s/SLUG.

    \b
    Example: survey study new spring-pilot --seed 42 --asked-by "the IR group of X"
    """
    asked = {name: value for name, value in changes.items() if value is not None}
    plan = studies.preset_plan("mnro", seed=studies.fresh_seed() if seed is None else seed, **asked)
    with database(open_app) as (_, session):
        made = studies.create_study(session, slug, plan)
        click.echo(f"The study {slug!r} is made, with seed {plan.seed}.")
        click.echo(f"Look at it with `survey study check {made.slug}`, then open it.")


@study.command("list")
@AS_JSON
@click.pass_obj
def list_(open_app: OpenApp, as_json: bool) -> None:
    """List all studies."""
    with database(open_app) as (_, session):
        known = [
            {"slug": one.slug, "status": one.status, "title": one.plan.title}
            | studies.progress(session, one)
            for one in studies.list_studies(session)
        ]
    if as_json:
        print_json(known)
    elif known:
        print_table("Studies", list(known[0]), [list(one.values()) for one in known])
    else:
        click.echo("There is no study yet: make one with `survey study new`.")


@study.command()
@click.argument("slug")
@AS_JSON
@click.pass_obj
def show(open_app: OpenApp, slug: str, as_json: bool) -> None:
    """Show a study's design, digest and progress."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        content = studies.describe(found) | {"participants": studies.progress(session, found)}
    if as_json:
        print_json(content)
        return
    rows = [(name, value) for name, value in content.items() if name != "participants"]
    rows += [(f"participants, {name}", count) for name, count in content["participants"].items()]
    print_table(f"The study {slug}", ["", "value"], rows)


@study.command()
@click.argument("slug")
@AS_JSON
@click.pass_obj
def check(open_app: OpenApp, slug: str, as_json: bool) -> None:
    """Show the questions, and warn of identical orders, ties and the measures' K.

    Exit status 1 when an opened study no longer has the digest it was opened with.
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        findings = check_study(found)
        questions = studies.questions_of(found)
    if as_json:
        print_json(
            {
                "questions": [
                    {
                        "question": question.number,
                        "lists": {k: list(ranks) for k, ranks in question.lists.items()},
                        "rankings": {k: str(order) for k, order in question.rankings.items()},
                    }
                    for question in questions
                ],
                "findings": [vars(finding) for finding in findings],
            }
        )
    else:
        for question in questions:
            rows = [
                (name, " ".join(column.shown), column.ranking)
                for name, column in question.columns.items()
            ]
            lists = "   ".join(f"{k} {' '.join(map(str, r))}" for k, r in question.lists.items())
            print_table(
                f"Question {question.number}:  {lists}", ["measure", "as printed", "order"], rows
            )
        for finding in findings:
            where = "all" if finding.question is None else f"question {finding.question}"
            click.echo(f"{where}: {finding.text}")
    if any(finding.failed for finding in findings):
        raise click.exceptions.Exit(1)


@study.command("open")
@click.argument("slug")
@click.pass_obj
def open_(open_app: OpenApp, slug: str) -> None:
    """Freeze a study under its digest and let participants in."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        studies.open_study(session, found)
        click.echo(f"The study {slug!r} is open at /s/{slug}.")
        click.echo(f"Its digest, for a preregistration: {found.digest}")


@study.command()
@click.argument("slug")
@click.pass_obj
def close(open_app: OpenApp, slug: str) -> None:
    """Let no more answers in. `survey study open` opens it again."""
    with database(open_app) as (_, session):
        studies.close_study(session, studies.find_study(session, slug))
        click.echo(f"The study {slug!r} is closed.")
