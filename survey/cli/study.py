"""``survey study``: a study's life."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from survey.cli.context import AS_JSON, OpenApp, database, print_json, print_table
from survey.services import access, life, studies
from survey.services import own_lists as lists
from survey.services.checks import (
    QuestionCheck,
    check_study,
    headings,
    how_contested,
    question_checks,
)
from survey.services.languages import languages
from survey.services.plan_files import PlanFile, read_plan, write_plan
from survey.services.recruitment import Recruitment, recruitment_of

# Names in JSON for scripts, as tables and pages call them.
SHOWN_AS = {"slug": "address", "started": "begun"}


@click.group()
def study() -> None:
    """Make, list, show, check, open, close, copy and share studies."""


@study.command()
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


@study.command("list")
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


@study.command()
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


@study.command()
@click.argument("slug")
@AS_JSON
@click.pass_obj
def check(open_app: OpenApp, slug: str, as_json: bool) -> None:
    """Show the questions and how contested they are; warn of identical orders, ties and K.

    Exit status 1 when an opened study no longer has the digest it was opened with.
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        findings = check_study(found)
        questions = studies.questions_of(found)
        checked = [one for one in question_checks(found) if one.question.number]
        printed_as = headings(found)
    if as_json:
        print_json(
            {
                "questions": [
                    {
                        "question": question.number,
                        "lists": {k: list(ranks) for k, ranks in question.lists.items()},
                        "rankings": {k: str(order) for k, order in question.rankings.items()},
                        "contradictions": {
                            "-".join(pair.names): pair.contradictions for pair in one.pairs
                        },
                        "odd_one_out": one.odd_one_out,
                    }
                    for question, one in zip(questions, checked, strict=True)
                ],
                "findings": [vars(finding) for finding in findings],
            }
        )
    else:
        for question in questions:
            rows = [
                (name, printed_as[name], " ".join(column.shown), column.ranking)
                for name, column in question.columns.items()
            ]
            lists = "   ".join(f"{letter} {question.written(letter)}" for letter in question.lists)
            print_table(
                f"Question {question.number}:  {lists}",
                ["measure", "printed as", "values", "order"],
                rows,
            )
        _print_contested(checked)
        for finding in findings:
            where = "all" if finding.question is None else f"question {finding.question}"
            click.echo(f"{where}: {finding.text}")
    if any(finding.failed for finding in findings):
        raise click.exceptions.Exit(1)


def _print_contested(checked: Sequence[QuestionCheck]) -> None:
    """Print on how many list pairs each two measures contradict, question by question."""
    rows = [
        [one.question.number, *(pair.told for pair in one.pairs), one.odd_one_out or "–"]
        for one in checked
    ]
    pairs = ["-".join(pair.names) for pair in checked[0].pairs]
    print_table("How contested: pairs of lists", ["question", *pairs, "odd one out"], rows)
    for sentence in how_contested(checked):
        click.echo(f"all: {sentence}")


@study.command("open")
@click.argument("slug")
@click.pass_obj
def open_(open_app: OpenApp, slug: str) -> None:
    """Freeze a study under its digest and let participants in."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.open_to_participants(session, found, access.COMMAND_LINE)
        click.echo(f"The study {slug!r} is open at /s/{slug}.")
        click.echo(f"Its digest, for a preregistration: {found.digest}")


@study.command()
@click.argument("slug")
@click.pass_obj
def close(open_app: OpenApp, slug: str) -> None:
    """Let no more answers in. `survey study open` opens it again."""
    with database(open_app) as (_, session):
        life.close_to_participants(session, studies.find_study(session, slug), access.COMMAND_LINE)
        click.echo(f"The study {slug!r} is closed.")


@study.command()
@click.argument("slug")
@click.argument("name")
@click.option("--role", type=click.Choice(["owner", "viewer"]), default="owner", show_default=True)
@click.pass_obj
def share(open_app: OpenApp, slug: str, name: str, role: access.Role) -> None:
    """Let the researcher NAME own a study, or only view it."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        access.share(session, found, access.researcher_named(session, name), role)
        access.log(session, found, access.COMMAND_LINE, "shared", f"{name}: {role}")
        session.commit()
        click.echo(f"{name} is now {role} of {slug!r}.")


@study.command()
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


@study.command()
@click.argument("slug")
@click.argument("new_slug")
@click.option("--owner", metavar="NAME", help="Whose study the copy is.")
@click.pass_obj
def copy(open_app: OpenApp, slug: str, new_slug: str, owner: str | None) -> None:
    """Make a draft with the same plan under another address."""
    with database(open_app) as (_, session):
        found = studies.find_study(session, slug)
        life.make_for(session, owner, new_slug, found.plan, recruitment_of(found))
        click.echo(f"{new_slug!r} is a draft with the plan of {slug!r}.")
