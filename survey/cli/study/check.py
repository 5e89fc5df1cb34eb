"""``survey study check``: what a study's questions look like, before participants see them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from survey.cli.command import JSON_OPTION, STUDY, Command, OpenApp, open_session
from survey.cli.terminal import (
    NO_BREAK_SPACE,
    print_heading,
    print_json,
    print_table,
    print_text,
)

if TYPE_CHECKING:
    from survey.core.studies.questions import Question
    from survey.services.studies.checks import Finding, QuestionCheck


@click.command(cls=Command, examples=("survey study check five-systems",))
@click.argument("slug", type=STUDY)
@JSON_OPTION
@click.pass_obj
def check(open_app: OpenApp, /, slug: str, as_json: bool) -> None:
    """Check a study: print a summary, then every question.

    The summary warns of identical orders, values that tie as printed, and measures' cut-offs
    (K). The exit status is 1 if an opened study no longer has the digest it was opened with.
    """
    from survey.services.studies import checks, lifecycle

    with open_session(open_app) as (_, session):
        study = lifecycle.find_study(session, slug)
        findings = checks.check_study(study)
        questions = lifecycle.questions_of(study)
        contests = [contest for contest in checks.question_checks(study) if contest.question.number]
        printed_names = checks.headings(study)
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
    from survey.services.studies.checks import pair_sentences

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
