"""The tables of an analysis."""

from collections.abc import Iterator

from survey.core.agreement.agreement import Difference
from survey.core.agreement.counts import OTHER, Table4
from survey.core.agreement.differences import MeanTest
from survey.core.agreement.participants import Spread, Table3
from survey.core.agreement.quality import RULES
from survey.core.agreement.verdicts import p_text, rounded
from survey.services.analysis import Analysis, StudyAnalysis
from survey.services.reporting.sheets import Cell, Sheet, text_of

SHARES = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


def tables_of(analysis: Analysis) -> list[Sheet]:
    """Return every table, in the order of a report; Table 3 only where people are known."""
    votes = analysis.agreement
    return [
        *([table3_sheet(analysis.table3)] if isinstance(analysis, StudyAnalysis) else []),
        table4_sheet(votes.table4),
        shares_sheet(analysis),
        differences_sheet(votes.differences),
        other_tests_sheet(analysis),
        concordance_sheet(analysis),
        raters_sheet(analysis),
        bias_sheet(analysis),
        sensitivity_sheet(analysis),
    ]


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
    """The four kinds of share, and the questions in which a measure comes first."""
    votes = analysis.agreement
    names = (*votes.measures, OTHER)
    parts = vars(votes.shares)
    rows: list[tuple[Cell, ...]] = [
        (text, *(parts[kind][name] if parts[kind] else None for name in names))
        for kind, text in SHARES.items()
    ]
    for text, places in (
        ("questions in which it is first or tied", votes.first_or_tied),
        ("questions in which it is outright first", votes.first_outright),
    ):
        rows.append((text, *(places[name] for name in votes.measures), None))
    return Sheet("shares", "Shares, by what they are shares of", ("share", *names), tuple(rows))


def differences_sheet(differences: tuple[Difference, ...]) -> Sheet:
    """Each pair with both estimands, the label permutation and the questions won."""
    return Sheet(
        name="differences",
        title="Differences between measures, in points of the responses",
        columns=(
            *("pair", "lead", "lead by chance", "mean"),
            *("95 % interval, questions of this kind", "p", "p (Holm)"),
            *("95 % interval, these questions", "p", "p (Holm)"),
            *("p of the label permutation", "p (Holm)"),
        ),
        rows=tuple(
            (
                *(
                    str(one.pair),
                    one.lead,
                    one.label_permutation.null_mean,
                    _points(one.mean),
                ),
                *_test(one.two_way),
                *_test(one.participants),
                _p(one.label_permutation.p),
                _p(one.label_permutation.p_holm),
            )
            for one in differences
        ),
        decimals=1,
        note="Questions of this kind (T2): two-way cluster-robust t over participants and "
        "questions. These questions (T1): t over participants' means. Lead: credits of the "
        "first minus those of the second; by chance: what blind clicks would give, because of "
        "identical orders.",
    )


def _p(p: float | None) -> str | None:
    """Print a p value under a heading that says so: .023, < .001."""
    return None if p is None else p_text(p).removeprefix("p ").removeprefix("= ")


def _points(mean: float | None) -> float | None:
    return None if mean is None else 100 * mean


def _test(test: MeanTest) -> tuple[Cell, ...]:
    if test.ci95 is None:
        return f"undefined: {test.why}", None, None
    low, high = (rounded(100 * end) for end in test.ci95)
    return f"{low} to {high}", _p(test.p), _p(test.p_holm)


def other_tests_sheet(analysis: Analysis) -> Sheet:
    """The tests that need fewer assumptions, and those that are descriptive only."""
    votes = analysis.agreement
    rows: list[tuple[Cell, ...]] = []
    for one in votes.differences:
        flips, questions, matched = one.participants, one.questions, one.mcnemar
        rows += [
            (f"{one.pair}: sign flips over participants (T1)", flips.n, _p(flips.sign_flip_p)),
            (
                f"{one.pair}: sign flips over questions (T2), won {questions.won}, "
                f"lost {questions.lost}, tied {questions.tied}",
                questions.n,
                _p(questions.sign_flip_p),
            ),
            (
                f"{one.pair}: McNemar, {matched.n10} against {matched.n01} (descriptive)",
                matched.n,
                _p(matched.p),
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
                _p(q.p_label_permutation),
            )
        )
    for name, chi2 in (
        ("credits (T1)", votes.friedman_approvals),
        ("mean tau-b (descriptive)", votes.friedman_tau_b),
    ):
        told = f"undefined, {chi2.why}" if chi2.chi2 is None else f"χ² = {chi2.chi2:.2f}"
        rows.append((f"Friedman over participants, {name}: {told}", chi2.n, _p(chi2.p)))
    return Sheet(
        name="tests",
        title="Other tests",
        columns=("test", "n", "p"),
        rows=tuple(rows),
        note="Descriptive tests take responses as independent, which they are not: McNemar "
        "rejects far more often than its nominal 5 %. Friedman on tau-b says whose orders lie "
        "nearer to those given; a measure whose order is like another's does so even to blind "
        "clicks.",
    )


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
        columns=("agreement", "n", "value"),
        rows=(
            ("agreement rate with the others, best participant", found.human.n, found.human.best),
            ("agreement rate with the others, median", found.human.n, found.human.median),
            ("agreement rate with the others, worst", found.human.n, found.human.worst),
            ("Kendall's W, mean over questions", found.kendall_w.n, found.kendall_w.mean),
            (
                "Krippendorff's alpha, ordinal, all lists",
                found.krippendorff_alpha.n,
                found.krippendorff_alpha.pooled,
            ),
            (
                "Fleiss' kappa of single choices, distinct orders",
                found.fleiss_kappa.n,
                found.fleiss_kappa.kappa,
            ),
        ),
        note="n: participants, questions, lists and questions.",
    )


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
                    + ("" if effect.two_way.ci95 is None else f" ({_test(effect.two_way)[0]})")
                    for effect in variant.effects
                ),
            )
            for variant in variants
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
