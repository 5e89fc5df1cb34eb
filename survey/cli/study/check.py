"""``survey study check``: the questions, before anyone else sees them."""

from collections.abc import Sequence

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON, OpenApp, database
from survey.cli.kinds import STUDY
from survey.cli.printing import TOGETHER, heading, print_json, say
from survey.cli.tables import print_table
from survey.services import studies
from survey.services.checks import (
    QuestionCheck,
    check_study,
    headings,
    how_contested,
    question_checks,
)


@click.command(cls=Command, examples=("survey study check five-systems",))
@click.argument("slug", type=STUDY)
@AS_JSON
@click.pass_obj
def check(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
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
            lists = (f"{letter} {question.written(letter)}" for letter in question.lists)
            heading(f"Question {question.number}")
            say("   ".join(one.replace(" ", TOGETHER) for one in lists))
            print_table("", ["measure", "printed as", "values", "order"], rows)
        _print_contested(checked)
        for finding in findings:
            where = "all" if finding.question is None else f"question {finding.question}"
            say(f"{where}: {finding.text}", "", "  ")
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
        say(f"all: {sentence}", "", "  ")
