"""Tables of the agreement of orders, and of what labels and columns did to it."""

from survey.core.agreement.results import Statistic
from survey.services.analysis import Analysis
from survey.services.reporting.sheets import Cell, Sheet, text_of


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
