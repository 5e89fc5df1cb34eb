"""An analysis as tables on the terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from survey.cli.context import decimals, percent, print_table
from survey.services.analysis import Analysis

if TYPE_CHECKING:
    from survey.core.agreement.agreement import Agreement
    from survey.core.agreement.counts import Shares, Table4
    from survey.core.agreement.differences import MeanTest
    from survey.core.agreement.participants import Table3

DENOMINATORS = {
    "of_credits": "of all credits and own rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


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


def print_agreement(result: Analysis) -> None:
    """Print the differences with their intervals, the agreement of orders, and the verdicts."""
    votes = result.agreement
    print_differences(votes)
    print_concordance(votes)
    if result.flags:
        rows = [[flag.participant, flag.kind, flag.reason] for flag in result.flags]
        print_table("Quality flags (they exclude nobody)", ["participant", "flag", "found"], rows)
    click.echo("What the votes support")
    for one in result.verdicts:
        click.echo(f"- {one.sentence}")


def print_differences(votes: "Agreement") -> None:
    """Print each pair of measures with both intervals and the label permutation."""
    rows = [
        [
            str(one.pair),
            f"{one.lead:g}",
            decimals(one.label_permutation.null_mean),
            percent(one.mean),
            *_interval(one.two_way),
            *_interval(one.participants),
            decimals(one.label_permutation.p, 4),
        ]
        for one in votes.differences
    ]
    print_table(
        "Differences in percentage points of the responses "
        "(T2: questions of this kind, T1: these questions; p after Holm)",
        ["pair", "lead", "by chance", "mean", "T2 95 %", "p", "T1 95 %", "p", "p labels"],
        rows,
    )


def _interval(test: "MeanTest") -> list[str]:
    if test.ci95 is None:
        return ["–", "–"]
    low, high = (100 * end for end in test.ci95)
    return [f"{low:.1f} to {high:.1f}", decimals(test.p_holm, 4)]


def print_concordance(votes: "Agreement") -> None:
    """Print how far participants' orders agree with the measures', and with one another's."""
    found = votes.concordance
    rows = [
        [name, *(decimals(means[measure], 3) for measure in votes.measures)]
        for name, means in (
            ("Kendall's tau-b", found.tau_b.means),
            ("tau-b, custom rankings only", found.tau_b_custom.means),
            ("Spearman's rho", found.spearman.means),
            ("agreement rate, strict", found.strict.means),
            ("agreement rate, half credit", found.half.means),
        )
    ]
    print_table("Participants' orders and the measures'", ["", *votes.measures], rows)
    human = found.human
    rows = [
        ["agreement rate of the best participant with the others", decimals(human.best, 3)],
        ["of the median participant", decimals(human.median, 3)],
        ["of the worst participant", decimals(human.worst, 3)],
        ["Kendall's W, mean over questions", decimals(found.kendall_w.mean, 3)],
        ["Krippendorff's alpha, ordinal", decimals(found.krippendorff_alpha.pooled, 3)],
        ["Fleiss' kappa, single choices", decimals(found.fleiss_kappa.kappa, 3)],
    ]
    print_table("Participants among themselves", ["", "value"], rows)
