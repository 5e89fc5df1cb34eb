"""``survey analyse``: Tables 3 and 4 and the shares."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from survey.cli.context import (
    AS_JSON,
    OpenApp,
    database,
    decimals,
    percent,
    print_json,
    print_table,
)
from survey.services import access, analysis, life, reports, studies, study_analysis
from survey.services.database import only_reading

if TYPE_CHECKING:
    from survey.core.agreement.counts import Shares, Table4
    from survey.core.agreement.participants import Table3

DENOMINATORS = {
    "of_credits": "of all credits and own rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


@click.command()
@click.argument("target", required=False)
@click.option("--include-test", is_flag=True, help="Count simulated participants as well.")
@AS_JSON
@click.pass_obj
def analyse(open_app: OpenApp, target: str | None, include_test: bool, as_json: bool) -> None:
    """Print the Tables 3 and 4 of a study, the shares and the first places.

    TARGET is a study's slug; it may be left out where there is one study only.
    Looking while people still vote is written into the study's log.

    \b
    Example: survey analyse five-systems --include-test --json
    """
    with database(open_app) as (_, session):
        found = studies.find_study(session, target) if target else studies.only_study(session)
        life.note_early_look(session, found, access.COMMAND_LINE, "analysed")
        only_reading(session)
        result = study_analysis.analyse_study(
            session, found, analysis.Choices(include_test=include_test)
        )
    if as_json:
        print_json(reports.as_json(result))
        return
    _print_numbers(result)
    print_table3(result.table3)
    votes = result.agreement
    print_table4(votes.table4)
    print_shares(votes.shares)
    print_first_places(votes.first_or_tied, votes.first_outright)


def _print_numbers(result: analysis.StudyAnalysis) -> None:
    click.echo(f"Study digest: {result.study['digest'] or 'none yet, the study is a draft'}")
    click.echo(
        f"{result.participants} participants × {result.questions} questions: "
        f"{result.responses} responses, {result.missing} missing. "
        f"Left out: {result.left_out.excluded} excluded, {result.left_out.test} test participants."
    )
    if not result.responses and result.left_out.test:
        click.echo("Only test participants have answered; --include-test counts them.")


def print_table3(table: "Table3") -> None:
    """Print who took part."""
    rows: list[tuple[str, object]] = [
        ("people participating", table.participants),
        ("of them finished", table.completed),
        ("questions for each", table.questions_per_participant),
    ]
    for name, numbers in table.numbers.items():
        rows += [
            (f"{name}, mean", decimals(numbers.mean)),
            (f"{name}, SD", decimals(numbers.sd, 4)),
        ]
    for name, counts in table.counts.items():
        rows += [(f"{name}: {option}", count) for option, count in counts.items() if count]
    rows += [
        ("minutes taken, mean", decimals(table.minutes.mean)),
        ("minutes taken, SD", decimals(table.minutes.sd, 4)),
    ]
    print_table("Table 3. Participants", ["", "value"], rows)


def print_table4(table: "Table4") -> None:
    """Print votes per question."""
    names = list(table.totals)
    rows: list[list[object]] = [
        [
            row.question,
            *(row.votes[name] for name in names),
            "-".join(row.choice) or "–",
            ", ".join("=".join(group) for group in row.identical),
            row.merged,
        ]
        for row in table.rows
    ]
    totals = table.totals
    rows.append(["total", *(totals[name] for name in names), "", "", ""])
    print_table(
        "Table 4. Votes per question",
        ["question", *names, "choice", "identical orders", "votes, identical merged"],
        rows,
    )


def print_shares(parts: "Shares") -> None:
    """Print the four kinds of share."""
    known = {kind: part for kind, part in vars(parts).items() if part is not None}
    if not known:
        return
    names = list(next(iter(known.values())))
    rows = [
        [text, *(percent(known[kind][name]) if kind in known else "–" for name in names)]
        for kind, text in DENOMINATORS.items()
    ]
    print_table("Shares, by what they are shares of", ["", *names], rows)


def print_first_places(or_tied: Mapping[str, int], outright: Mapping[str, int]) -> None:
    """Print in how many questions each measure came first."""
    rows = [
        ["first or tied", *or_tied.values()],
        ["outright first", *outright.values()],
    ]
    print_table("Questions in which a measure got most votes", ["", *or_tied], rows)
