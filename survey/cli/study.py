"""``survey study``: plans, checks and the life of studies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from survey.cli.command import (
    JSON_OPTION,
    RESEARCHER,
    STUDY,
    CommandGroup,
    open_session,
    open_study,
)
from survey.cli.new_study import new
from survey.cli.terminal import (
    NO_BREAK_SPACE,
    print_heading,
    print_json,
    print_result,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from survey.core.studies.faults import Finding
    from survey.core.studies.questions import Question
    from survey.core.tasks.ordering import QuestionCheck
    from survey.services.accounts.access import Role


SLUG_ARGUMENT = click.argument("slug", type=STUDY)
# Headings in tables for names in JSON, as pages call them.
HEADINGS = {"slug": "address", "started": "begun", "target": "participants wanted"}


@click.group(
    cls=CommandGroup,
    examples=(
        "survey study new my-study --questions 10",
        "survey study check my-study",
        "survey study open my-study",
        "survey study close my-study",
    ),
)
def study() -> None:
    """Make, list, show, check, open, close, copy and share studies."""


study.add_command(new)


@study.command("list", examples=("survey study list", "survey study list --json"))
@JSON_OPTION
def list_(as_json: bool) -> None:
    """List all studies."""
    from survey.services.studies import lifecycle

    with open_session() as session:
        contents = [
            (
                {"slug": study.slug, "status": study.status, "title": study.plan.title}
                | lifecycle.progress(session, study),
                study.status_label,
            )
            for study in lifecycle.all_studies(session)
        ]
    if as_json:
        print_json([content for content, _ in contents])
    elif contents:
        columns = [HEADINGS.get(name, name) for name in contents[0][0]]
        rows = [list((content | {"status": status}).values()) for content, status in contents]
        print_table("Studies", columns, rows)
    else:
        click.echo("There is no study yet: make one with `survey study new`.")


@study.command(examples=("survey study show five-systems",))
@SLUG_ARGUMENT
@JSON_OPTION
def show(slug: str, as_json: bool) -> None:
    """Show a study's design, digest and progress."""
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        content = lifecycle.describe(study) | {"participants": lifecycle.progress(session, study)}
        status = study.status_label
    if as_json:
        print_json(content)
        return
    rows = [
        (HEADINGS.get(name, name.replace("_", " ")), _table_cell(value))
        for name, value in (content | {"status": status}).items()
        if name not in ("slug", "participants")
    ]
    rows += [
        (f"participants, {HEADINGS.get(name, name)}", count)
        for name, count in content["participants"].items()
    ]
    print_table(f"The study {slug}", ["", "value"], rows)


@study.command(examples=("survey study check five-systems",))
@SLUG_ARGUMENT
@JSON_OPTION
def check(slug: str, as_json: bool) -> None:
    """Check a study: print a summary, then every question.

    The summary warns of identical orders, values that tie as printed, and measures' cut-offs
    (K). The exit status is 1 if an opened study no longer has the digest it was opened with.
    """
    from survey.services.studies import lifecycle

    with open_study(slug) as (_, study):
        findings = lifecycle.check_study(study)
        questions = lifecycle.questions_of(study)
        contests = [
            contest for contest in lifecycle.question_checks(study) if contest.question.number
        ]
        printed_names = lifecycle.headings(study)
    if as_json:
        print_json(
            {
                "questions": [
                    _question_json(question, contest)
                    for question, contest in zip(questions, contests, strict=True)
                ],
                "findings": [vars(finding) for finding in findings],
            }
        )
    else:
        _print_summary(contests, findings)
        for question in questions:
            _print_question(question, printed_names)
    if any(finding.failed for finding in findings):
        raise click.exceptions.Exit(1)


@study.command(
    examples=(
        "survey study plan five-systems > plan.yaml",
        "survey study new second-round --from plan.yaml",
    ),
)
@SLUG_ARGUMENT
@JSON_OPTION
def plan(slug: str, as_json: bool) -> None:
    """Print a study's plan as YAML.

    `survey study new --from` makes the same study from it.
    """
    from survey.services.studies.plans import plan_values, write_plan
    from survey.services.studies.recruitment import recruitment_of

    with open_study(slug) as (_, study):
        recruitment = recruitment_of(study)
        if as_json:
            print_json(plan_values(study.plan, recruitment))
        else:
            click.echo(write_plan(study.plan, recruitment), nl=False)


@study.command("open", examples=("survey study open spring-study",))
@SLUG_ARGUMENT
@JSON_OPTION
def open_(slug: str, as_json: bool) -> None:
    """Freeze a study under its digest and let participants in.

    From then on no text, list, value or order of it can change. A closed study opens again.
    """
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        lifecycle.open_study(session, study)
        print_result(
            lifecycle.describe(study),
            f"The study {slug!r} is open at /s/{slug}.",
            f"Its digest, for a preregistration: {study.digest}",
            "Participants reach it while `survey serve` runs.",
            as_json=as_json,
        )


@study.command(examples=("survey study close five-systems",))
@SLUG_ARGUMENT
@JSON_OPTION
def close(slug: str, as_json: bool) -> None:
    """Stop taking answers.

    `survey study open` opens the study again.
    """
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        lifecycle.close_study(session, study)
        print_result(
            lifecycle.describe(study),
            f"The study {slug!r} is closed.",
            f"Next: `survey analyse {slug}`, `survey export {slug} --to {slug}.zip`.",
            as_json=as_json,
        )


@study.command(examples=("survey study copy five-systems second-round",))
@SLUG_ARGUMENT
@click.argument("new_slug")
@click.option("--owner", type=RESEARCHER, metavar="NAME", help="The researcher who owns the copy.")
@JSON_OPTION
def copy(slug: str, new_slug: str, owner: str | None, as_json: bool) -> None:
    """Make a draft with the same plan under the slug NEW_SLUG."""
    from survey.services.studies import lifecycle
    from survey.services.studies.recruitment import recruitment_of

    with open_study(slug) as (session, study):
        draft = lifecycle.create_study_for(
            session, owner, new_slug, study.plan, recruitment_of(study)
        )
        done = f"{new_slug!r} is a draft with the plan of {slug!r}."
        print_result(lifecycle.describe(draft), done, as_json=as_json)


@study.command(examples=('survey study share five-systems "Alan Turing" --role viewer',))
@SLUG_ARGUMENT
@click.argument("name", type=RESEARCHER)
@click.option(
    "--role",
    type=click.Choice(["owner", "viewer"]),
    default="owner",
    help="A viewer sees the study and cannot change it.",
)
@JSON_OPTION
def share(slug: str, name: str, role: "Role", as_json: bool) -> None:
    """Make the researcher NAME an owner or a viewer of a study."""
    from survey.services.accounts import access

    with open_study(slug) as (session, study):
        access.share(session, study, access.researcher_named(session, name), role)
        access.log(session, study, access.COMMAND_LINE, "shared", f"{name}: {role}")
        session.commit()
    content = {"study": slug, "researcher": name, "role": role}
    print_result(content, f"{name} is now {role} of {slug!r}.", as_json=as_json)


def _question_json(question: "Question", contest: "QuestionCheck") -> dict[str, object]:
    return {
        "question": question.number,
        "lists": {letter: list(ranks) for letter, ranks in question.lists.items()},
        "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
        "contradictions": {"-".join(pair.names): pair.contradictions for pair in contest.pairs},
        "odd_one_out": contest.outlier,
    }


def _print_summary(contests: "Sequence[QuestionCheck]", findings: "Sequence[Finding]") -> None:
    """Print the findings, then for each question how many list pairs the measures contest."""
    from survey.services.studies.lifecycle import pair_sentences

    print_heading("Summary")
    for sentence in pair_sentences(contests):
        print_text(f"all: {sentence}", "", "  ")
    for finding in findings:
        where = "all" if finding.question is None else f"question {finding.question}"
        print_text(f"{where}: {finding.text}", "", "  ")
    click.echo()
    rows = [
        [
            contest.question.number,
            *(pair.summary for pair in contest.pairs),
            contest.outlier or "–",
        ]
        for contest in contests
    ]
    pairs = ["-".join(pair.names) for pair in contests[0].pairs]
    print_table(
        "How contested: on how many pairs of lists two measures contradict each other",
        ["question", *pairs, "odd one out"],
        rows,
    )


def _print_question(question: "Question", printed_names: Mapping[str, str]) -> None:
    print_heading(f"Question {question.number}")
    lists = (f"{letter} {question.written(letter)}" for letter in question.lists)
    print_text("   ".join(text.replace(" ", NO_BREAK_SPACE) for text in lists))
    rows = [
        (name, printed_names[name], " ".join(column.shown), column.ranking)
        for name, column in question.columns.items()
    ]
    print_table("", ["measure", "printed as", "values", "order"], rows)


def _table_cell(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
