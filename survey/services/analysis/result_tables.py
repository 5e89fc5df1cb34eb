"""Tables of who took part and of the votes: Table 3, Table 4, shares, flags.

Tables of the differences: intervals, permutation, other tests, other choices.

Tables of the agreement of orders, and of what labels and columns did to it.

The tables of an analysis.
"""

from collections.abc import Iterator
from dataclasses import replace

from survey.core.agreement.agreement import Difference
from survey.core.agreement.answers import Spread, Table3
from survey.core.agreement.credits import OTHER, Table4
from survey.core.agreement.quality import RULES
from survey.core.agreement.verdicts import rounded
from survey.core.statistics.results import MeanTest, Statistic
from survey.services.analysis.sheets import Cell, P, Sheet, text_of
from survey.services.analysis.study_results import Analysis, StudyAnalysis

SHARES = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


def table3_sheet(table: Table3) -> Sheet:
    """Table 3 of the paper: who took part, and how long it took."""
    rows: list[tuple[Cell, ...]] = [
        ("People participating", table.participants),
        ("of them finished", table.completed),
        ("Questions for each", table.questions_per_participant),
    ]
    for name, numbers in table.numbers.items():
        rows += _spread(name, numbers)
    for name, counts in table.counts.items():
        rows += [(f"{name}: {option}", count) for option, count in counts.items() if count]
    rows += _spread("minutes taken", table.minutes)
    return Sheet("table3", "Participants", ("quantity", "value"), tuple(rows))


def _spread(name: str, found: Spread) -> Iterator[tuple[Cell, ...]]:
    yield f"{name}, mean", found.mean
    yield f"{name}, SD", found.sd


def table4_sheet(table: Table4) -> Sheet:
    """Table 4 of the paper: votes per question."""
    names = (*table.measures, OTHER)
    rows: list[tuple[Cell, ...]] = [
        (row.question, *(row.votes[name] for name in names), "-".join(row.choice) or None)
        for row in table.rows
    ]
    rows.append(("total", *(table.totals[name] for name in names), ""))
    return Sheet(
        name="table4",
        title="Votes per question",
        columns=("question", *names, "choice"),
        rows=tuple(rows),
        note=_identical(table),
        totals=True,
    )


def _identical(table: Table4) -> str:
    told = [
        f"{row.question} ({', '.join(' = '.join(group) for group in row.identical)})"
        for row in table.rows
        if row.identical
    ]
    count = f"Totals count credits, not people: {sum(table.totals.values()):.9g} in all."
    if not told:
        return f"{count} In every question all orders differ."
    return f"{count} Orders are identical in question{'s' * (len(told) > 1)} {', '.join(told)}."


def shares_sheet(analysis: Analysis) -> Sheet:
    """The four kinds of share, in %."""
    votes = analysis.agreement
    names = (*votes.measures, OTHER)
    parts = vars(votes.shares)
    return Sheet(
        name="shares",
        title="Shares in %, by what they are shares of",
        columns=("share", *names),
        rows=tuple(
            (text, *(100 * parts[kind][name] if parts[kind] else None for name in names))
            for kind, text in SHARES.items()
        ),
        decimals=1,
    )


def first_sheet(analysis: Analysis) -> Sheet:
    """In how many questions each measure got most credits."""
    votes = analysis.agreement
    return Sheet(
        name="first",
        title="Questions in which a measure got most votes",
        columns=("place", *votes.measures),
        rows=(
            ("first or tied", *votes.first_or_tied.values()),
            ("alone first", *votes.first_outright.values()),
        ),
    )


def flags_sheet(analysis: Analysis) -> Sheet:
    """Quality flags: who, which, and what was found."""
    return Sheet(
        name="flags",
        title="Quality flags",
        columns=("participant", "flag", "found"),
        rows=tuple((flag.participant, flag.kind, flag.reason) for flag in analysis.flags),
        note=" ".join(f"{kind.capitalize()}: {rule}." for kind, rule in RULES.items()),
    )


def differences_sheet(differences: tuple[Difference, ...]) -> Sheet:
    """Each pair with both estimands, one row for each."""
    return Sheet(
        name="differences",
        title="Differences between measures in points, with 95 % intervals",
        columns=("pair", "population", "difference", "from", "to", "p", "p (Holm)"),
        rows=tuple(
            (str(one.pair), population, *_points(test), *_p(test.p, test.p_holm))
            for one in differences
            for population, test in (
                ("questions of this kind (T2)", one.two_way),
                ("these questions (T1)", one.participants),
            )
        ),
        note="T2: two-way cluster-robust t over participants and questions. T1: t over "
        "participants' means. A preference needs these intervals and the label permutation.",
        decimals=1,
    )


def permutation_sheet(differences: tuple[Difference, ...]) -> Sheet:
    """Each pair's lead beside what blind clicks would give."""
    return Sheet(
        name="permutation",
        title="Leads in credits, beside what blind clicks would give (label permutation)",
        columns=("pair", "lead", "by blind clicks", "p", "p (Holm)", "identical in questions"),
        rows=tuple(
            (
                *(str(one.pair), one.lead, one.label_permutation.null_mean),
                *_p(one.label_permutation.p, one.label_permutation.p_holm),
                ", ".join(map(str, one.identical)) or "none",
            )
            for one in differences
        ),
        note="Lead: credits of the first minus those of the second.",
        decimals=1,
    )


def _p(*values: float | None) -> tuple[P | None, ...]:
    return tuple(None if value is None else P(value) for value in values)


def _points(test: MeanTest) -> tuple[float | None, ...]:
    """Return a mean and its interval in points, within what a difference can be."""
    if test.ci95 is None or test.mean is None:
        return None, None, None
    low, high = (100 * max(-1.0, min(1.0, end)) for end in test.ci95)
    return 100 * test.mean, low, high


def other_tests_sheet(analysis: Analysis) -> Sheet:
    """The tests that need fewer assumptions, and those that are descriptive only."""
    votes = analysis.agreement
    rows: list[tuple[Cell, ...]] = []
    for one in votes.differences:
        flips, questions, matched = one.participants, one.questions, one.mcnemar
        rows += [
            (f"{one.pair}: sign flips over participants (T1)", flips.n, *_p(flips.sign_flip_p)),
            (
                f"{one.pair}: sign flips over questions (T2), won {questions.won}, "
                f"lost {questions.lost}, tied {questions.tied}",
                questions.n,
                *_p(questions.sign_flip_p),
            ),
            (
                f"{one.pair}: McNemar, {matched.n10} against {matched.n01} (descriptive)",
                matched.n,
                *_p(matched.p),
            ),
        ]
    for name, q in (
        ("distinct orders only", votes.cochran_distinct),
        ("all responses", votes.cochran_all),
    ):
        told = "undefined" if q.q is None else f"Q = {q.q:.2f}, {q.df} df"
        rows.append(
            (
                f"Cochran's Q, {name} (descriptive): {told}; p by label permutation",
                q.blocks,
                *_p(q.p_label_permutation),
            )
        )
    for name, chi2 in (
        ("credits (T1)", votes.friedman_approvals),
        ("mean tau-b (descriptive)", votes.friedman_tau_b),
    ):
        told = f"undefined, {chi2.why}" if chi2.chi2 is None else f"χ² = {chi2.chi2:.2f}"
        rows.append((f"Friedman over participants, {name}: {told}", chi2.n, *_p(chi2.p)))
    return Sheet(
        name="tests",
        title="Other tests",
        columns=("test", "n", "p"),
        rows=tuple(rows),
        note="Checks, not corrected for several comparisons: verdicts rest on the two-way t, the "
        "participants' t and the label permutation. Descriptive tests take responses as "
        "independent, which they are not: McNemar "
        "rejects far more often than its nominal 5 %. Friedman on tau-b says whose orders lie "
        "nearer to those given; a measure whose order is like another's does so even to blind "
        "clicks.",
    )


def sensitivity_sheet(analysis: Analysis) -> Sheet:
    """The differences under choices that could have been made otherwise."""
    variants = analysis.sensitivity
    pairs = [str(one.pair) for one in analysis.agreement.differences]
    return Sheet(
        name="sensitivity",
        title="The differences under other choices, in points, with 95 % intervals (T2)",
        columns=("choice", "responses", *pairs),
        rows=tuple(
            (
                variant.name,
                variant.responses,
                *(
                    "–"
                    if effect.mean is None
                    else rounded(100 * effect.mean)
                    + ("" if effect.two_way.ci95 is None else f" ({interval(effect.two_way)})")
                    for effect in variant.effects
                ),
            )
            for variant in variants
        ),
        note="An interval alone is no verdict. Dropping shared votes drops every vote for "
        "identical orders, and so favours measures whose orders are their own.",
    )


def interval(test: MeanTest) -> str:
    """Print an interval in points."""
    _, low, high = _points(replace(test, mean=0.0))
    return f"{text_of(low, 1)} to {text_of(high, 1)}"


def concordance_sheet(analysis: Analysis) -> Sheet:
    """How far participants' orders agree with the measures'."""
    found, names = analysis.agreement.concordance, analysis.agreement.measures
    rows: list[tuple[Cell, ...]] = [
        (text, means.n, *(means.means[name] for name in names))
        for text, means in (
            ("Kendall's tau-b", found.tau_b),
            ("tau-b, custom rankings only", found.tau_b_custom),
            ("Spearman's rho", found.spearman),
            ("agreement rate over list pairs, strict", found.strict),
            ("agreement rate, half credit for one-sided ties", found.half),
        )
    ]
    undefined = found.tau_b.undefined
    rows.append(("responses in which tau-b is undefined", None, *(undefined[n] for n in names)))
    return Sheet(
        name="concordance",
        title="Agreement of participants' orders with the measures'",
        columns=("agreement", "responses", *names),
        rows=tuple(rows),
        note="Whoever ticks a column agrees with it by construction, and then also with a measure "
        "whose order is like that column's; the custom rankings alone do not have that in them.",
    )


def raters_sheet(analysis: Analysis) -> Sheet:
    """How far participants agree with one another."""
    found = analysis.agreement.concordance
    return Sheet(
        name="raters",
        title="Agreement of participants with one another",
        columns=("agreement", "rests on", "value"),
        rows=(
            (
                "agreement rate with the others, best participant",
                _of(found.human),
                found.human.best,
            ),
            ("agreement rate with the others, median", _of(found.human), found.human.median),
            ("agreement rate with the others, worst", _of(found.human), found.human.worst),
            ("Kendall's W, mean over questions", _of(found.kendall_w), found.kendall_w.mean),
            (
                "Krippendorff's alpha, ordinal, all lists",
                _of(found.krippendorff_alpha),
                found.krippendorff_alpha.pooled,
            ),
            (
                "Fleiss' kappa of single choices, distinct orders",
                _of(found.fleiss_kappa),
                found.fleiss_kappa.kappa,
            ),
        ),
    )


def _of(statistic: Statistic) -> str:
    return f"{statistic.n} {statistic.unit}"


def bias_sheet(analysis: Analysis) -> Sheet:
    """The conditional logit of measure, label and column, and how times change in a session."""
    bias = analysis.agreement.bias
    logit, fatigue = bias.conditional_logit, bias.fatigue
    known = zip(logit.terms, logit.coef or (), logit.se or (), strict=False)
    if fatigue.ci95 is None:
        told = f"is undefined: {fatigue.why}"
    else:
        low, high = (text_of(end, 1) for end in fatigue.ci95)
        told = f"{text_of(fatigue.mean, 1)} (95 % interval {low} to {high})"
    return Sheet(
        name="bias",
        title="What made a column be ticked: conditional logit of measure, label and column",
        columns=("term", "log odds ratio", "standard error", "z"),
        rows=tuple((term, coef, se, coef / se) for term, coef, se in known),
        note=(f"Undefined: {logit.why}. " if logit.why else "")
        + f"Against {analysis.agreement.measures[0]}, Method1 and column 1; {logit.n} answers, "
        f"taken as independent. Seconds for each further question: {told}.",
    )


def tables_of(analysis: Analysis) -> list[Sheet]:
    """Return every table, in the order of a report; Table 3 only where people are known.

    Each says so where it counts simulated participants.
    """
    mark = simulated_told(analysis)
    return [replace(one, note=f"{one.note} {mark}".strip()) for one in _tables(analysis)]


def simulated_told(analysis: Analysis) -> str:
    """Say how many of those who are counted are simulated; nothing where none is."""
    if not analysis.simulated:
        return ""
    return f"{analysis.simulated} of {analysis.participants} participants are simulated."


def _tables(analysis: Analysis) -> list[Sheet]:
    votes = analysis.agreement
    return [
        *([table3_sheet(analysis.table3)] if isinstance(analysis, StudyAnalysis) else []),
        table4_sheet(votes.table4),
        shares_sheet(analysis),
        first_sheet(analysis),
        differences_sheet(votes.differences),
        permutation_sheet(votes.differences),
        other_tests_sheet(analysis),
        concordance_sheet(analysis),
        raters_sheet(analysis),
        bias_sheet(analysis),
        sensitivity_sheet(analysis),
    ]
