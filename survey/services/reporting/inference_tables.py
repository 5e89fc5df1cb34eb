"""Tables of the differences: intervals, permutation, other tests, other choices."""

from dataclasses import replace

from survey.core.agreement.agreement import Difference
from survey.core.agreement.differences import MeanTest
from survey.core.agreement.verdicts import rounded
from survey.services.analysis import Analysis
from survey.services.reporting.sheets import Cell, P, Sheet, text_of


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
