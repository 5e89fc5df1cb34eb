"""The calibration as a page in Markdown: what was done, tables, and what they say."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby

from benchmarks import experiments as tried
from benchmarks.experiments import PAPER, POOL, SMALL
from benchmarks.families import EQUAL, FALSE, FOUND, METHODS, TASTES, Family, Tastes
from benchmarks.reading import Results, answering, percent_of, reading, with_interval
from benchmarks.situations import (
    BETWEEN_PARTICIPANTS,
    BETWEEN_QUESTIONS,
    DECIDED,
    OWN,
    QUESTIONS_SEED,
    SECOND_TICK,
    STOCK,
    Situation,
)
from survey import __version__
from survey.core.studies.generators import GENERATOR_VERSION

WHAT_IS_TRUE = {
    tried.IDENTICAL: (
        "Participants tick labels without looking (Method1 more often than the others), on "
        "questions as the generator draws them: in half of them some measures order the lists "
        "alike, and a tick on one is a credit for all of these. Nobody prefers anything. "
        "MNRO, in most of the identical pairs, still gets more credits."
    ),
    tried.DISTINCT: (
        "The same blind ticks on questions where all three orders differ: nothing shifts, so "
        "every test should keep its level. Here also those of all three measures at once."
    ),
    tried.QUESTIONS_VARY: (
        "MNRO is ahead in some questions and NMRR in others (standard deviation "
        f"{BETWEEN_QUESTIONS:.2f} of the difference, as in Table 4), participants differ a "
        f"little ({BETWEEN_PARTICIPANTS:.2f}), and over all questions of the kind there is no "
        "difference. A test for questions of this kind (T2) should reject 5 %. Tests that "
        "know of these questions only (T1), or that take responses as independent, reject "
        "more often if they are read as T2. The label permutation has no claim here: that "
        "measures do not matter is false in each question. Nor has the verdict: it may rightly "
        "name a preference for these questions alone."
    ),
    tried.PEOPLE_VARY: (
        "MNRO is ahead in some of the study's questions and NMRR in others, by amounts that "
        "sum to zero; participants differ (0.15). So there is no difference over these "
        "questions for a population of such participants, and a T1 test should reject 5 %."
    ),
    tried.POWER: (
        "Situation C with a difference planted. Each cell: rejections, and the rate with its "
        "Monte Carlo interval. Only a test that keeps its level in C has a power that means "
        "something for T2; the others' figures hold what they reject wrongly."
    ),
    tried.COVERAGE: (
        "Situation C with a difference of 10 points. Each participant's mean difference in the "
        "study's questions, and the difference over all questions, are known."
    ),
    tried.RECOVERY: (
        "Participants who vote by the very function that the bots of `survey simulate` use, with "
        "`--prefer MNRO=.5,NMRR=.3,AP=.1,OTHER=.1`, on questions as the generator draws them. On "
        "the questions with distinct orders a measure's share of the responses is the planted "
        "one. Over all questions it is the mean, over the questions, of what was planted for "
        "the measures of its order: a bot that prefers MNRO ticks a column that may be AP's too."
    ),
    tried.TIES: (
        "Participants hold strict orders and tick the column that agrees with them on most pairs "
        "of lists; a tie agrees with no strict order. Random orders have nothing to do with the "
        "lists. People who value late hits order lists by the sum of their positions, plus noise "
        "of their own with the standard deviation of these sums. *Formerly*: both intervals "
        "exclude zero and the label permutation shows more than random clicks give, nothing "
        "corrected. All verdicts are for questions of this kind. Questions in which two measures "
        "contradict each other may hold ties of one of them too, which is why random orders "
        "favour MNRO there as well, and why its order is named at all."
    ),
    FALSE: (
        "Studies of three measures as arrays: each participant picks an order by the utilities of "
        "the measures, which may differ between participants and questions (standard deviations "
        "given), and chance. Measures of the same mean utility are liked equally. Counted is how "
        "often some pair of these gets a verdict for questions of this kind: the test, the "
        "interval for these questions and the label permutation. The columns are the tests for "
        "questions of this kind: two-way cluster-robust, uncorrected and with Holm's correction; "
        "variance components whose variance is at least what the rest gives, as first proposed; "
        "*now*, at least half of that; and *now* with what redrawn labels give taken from each "
        "vote."
    ),
    TASTES: (
        "The same where tastes differ and average to nothing, on questions with identical orders "
        "as often as random ones have them. These clicks are not blind, so the label permutation "
        "is no guard, and no corrected test can be: identical orders do get more credits. Hence "
        "the second reading beside the verdict, in the last column."
    ),
    FOUND: (
        "How often a difference is found. In each cell the pairs MNRO-NMRR, MNRO-AP, NMRR-AP and, "
        "after the bar, any of them, in %. The Monte Carlo standard error is at most "
        "50 %/√replicates: .8 points at 4,000."
    ),
    EQUAL: (
        "How often two measures that are liked equally are called equal to within 10 points, for "
        "questions of this kind."
    ),
}


def page(results: Results, *, replicates: int, seed: int) -> str:
    """Write the page; ``results``: each experiment with its rates."""
    parts = [
        "# Calibration: what each test does where the truth is known",
        _what(replicates, seed),
        "## In plain words",
        "\n".join(f"- {sentence}" for sentence in reading(results)),
    ]
    for part, group in groupby(results, key=lambda result: result[0].part):
        table = TABLES.get(part, rate_table)
        parts += [f"## {part}", WHAT_IS_TRUE[part], table(list(group))]
    return "\n\n".join(parts) + "\n"


def _what(replicates: int, seed: int) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "statsmodels"))
    return f"""\
This page is written by `make calibrate`. Studies are simulated whose truth is known, as the
answers that the database would give, and the analysis' own functions run on them. Counted is
how often p < .05, without Holm's correction, or how often a 95 % interval covers the truth. A
test that is undefined in a study does not reject there; an undefined interval is left out.

- *Designs.* {PAPER}: participants × questions, everyone answers all. {POOL}: each answers 10
  of a pool of 30, dealt evenly. {SMALL}: a small one.
- *Questions* of the `random` generator, 5 lists, 5 relevant of 100; each study's are drawn from
  the generator's first {STOCK} of seed {QUESTIONS_SEED}, or from those with distinct orders.
- *Labels* drawn by the survey's own blinding for each response.
- *Votes* in A to D, Power and Coverage: in {100 * OWN:.0f} % of the responses an order of one's
  own, in {100 * SECOND_TICK:.0f} % of the others a second tick. Those who look credit one of the
  compared measures, MNRO and NMRR, without the other in about {100 * DECIDED:.0f} % of the
  responses (Table 4: 204 of 300).
- *Replicates*: {replicates:,} of each situation and design, {Family.times} times as many of the
  studies of three measures as arrays, from seed {seed}. Each has a stream of its own, so the
  figures do not depend on the number of processes.
- *Versions*: survey {__version__}, generator {GENERATOR_VERSION},
  Python {platform.python_version()}, {packages}.

The Monte Carlo interval is Wilson's, at 95 %. *As it should*: a rate that should be 5 % (or
95 %) has it inside its interval; one that should be at most 5 % (exact tests, which are cautious
where few outcomes are possible) does not lie above with its whole interval; one that should be
above or below does so with its whole interval. What should come out was written down before any
run; *n.a.*: nothing is claimed."""


def rate_table(results: Results) -> str:
    """Return one row for each design and name."""
    rows = [
        (
            str(one.design),
            name,
            f"{rate.times:,}/{rate.of:,}",
            percent_of(rate.share),
            "{:.1f}–{:.1f}".format(*(100 * end for end in rate.interval)),
            rate.claim or "n.a.",
            {True: "yes", False: "**no**", None: "n.a."}[rate.holds],
        )
        for one, found in results
        for name, rate in found.items()
    ]
    covered = results[0][0].part in (tried.COVERAGE, tried.RECOVERY)
    counted = ("Interval", "Covered") if covered else ("Test", "Rejected")
    if results[0][0].part == EQUAL:
        counted = ("Verdict", "Given")
    head = ("Design", *counted, "Rate", "Monte Carlo 95 %", "Should be", "As it should")
    return _markdown(head, rows, "llrrrll")


def power_table(results: Results) -> str:
    """Return one row for each design and test, a column for each planted difference."""
    rows = []
    for design in (PAPER, POOL, SMALL):
        here = [found for one, found in results if one.design == design]
        rows += [
            (
                str(design),
                name,
                *(
                    f"{found[name].times:,}/{found[name].of:,} = {with_interval(found[name])}"
                    for found in here
                ),
            )
            for name in here[0]
        ]
    planted = (f"{100 * one:.0f} points" for one in tried.DIFFERENCES)
    return _markdown(("Design", "Test", *planted), rows, "ll" + "r" * len(tried.DIFFERENCES))


def false_table(results: Results) -> str:
    """Return one row for each situation and design, a column for each method."""
    rows = [
        (
            one.situation.name,
            str(one.design),
            *(
                with_interval(found[method]) + " **!**" * (found[method].holds is False)
                for method in METHODS
            ),
        )
        for one, found in results
        if isinstance(one.situation, Tastes)
    ]
    return _markdown(("Truth", "Design", *METHODS), rows, "ll" + "r" * len(METHODS))


def found_table(results: Results) -> str:
    """Return one row for each situation and design: the power of each pair and of any."""
    methods = METHODS[:-1]
    rows = []
    for one, found in results:
        if isinstance(one.situation, Tastes):
            powers = [
                [
                    f"{100 * found[name].share:.0f}"
                    for name in found
                    if name.startswith(f"{method}: ")
                ]
                for method in methods
            ]
            cells = [f"{'/'.join(each)} \\| {of_any}" for *each, of_any in powers]
            rows.append((one.situation.name, str(one.design), *cells))
    return _markdown(("Truth", "Design", *methods), rows, "ll" + "r" * len(methods))


def ties_table(results: Results) -> str:
    """Return one row for each who answers which questions."""
    names = list(results[0][1])
    rows = [
        (
            answering(one.situation),
            str(one.design),
            *(with_interval(found[name]) for name in names),
        )
        for one, found in results
        if isinstance(one.situation, Situation)
    ]
    return _markdown(("Who answers", "Design", *names), rows, "ll" + "r" * len(names))


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> str:
    rule = ["---:" if side == "r" else "---" for side in sides]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


TABLES = {
    tried.POWER: power_table,
    tried.TIES: ties_table,
    FALSE: false_table,
    TASTES: false_table,
    FOUND: found_table,
}
