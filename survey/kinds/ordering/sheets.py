"""The tables of the analysis of an ordering study, and the numbers of its participants' figures."""

import math
from collections.abc import Iterator

from survey.core.agreement.agreement import Difference, Effect
from survey.core.agreement.anchoring import Anchoring
from survey.core.agreement.answers import Spread, Table3
from survey.core.agreement.concordance import RBO_P
from survey.core.agreement.contrasts import Balanced, Beyond, ContrastPart
from survey.core.agreement.credits import OTHER, Table4
from survey.core.agreement.differences import T1, T2, Pair
from survey.core.agreement.own_orderings import OwnOrderings
from survey.core.agreement.quality import RULES
from survey.core.agreement.second_opinion import SecondOpinion
from survey.core.agreement.verdicts import uncorrected_p
from survey.core.statistics import mixed_logit
from survey.core.statistics.significance import Interval, MeanTest, Statistic, rounded
from survey.core.studies.fields import list_words
from survey.figures.analysis import OF_BOTH, participants_differences
from survey.figures.exhibit import Exhibit
from survey.figures.judging import places_of_runs
from survey.kinds.ordering.analysis import Analysis
from survey.services.analysis.arm_sheets import arm_sheets
from survey.services.analysis.order_effects import order_effects_sheet
from survey.services.analysis.sheets import Cell, P, Sheet, Starred, Worded, count_of, text_of

LARGER_ERROR = (
    "Standard error: of the test, and if all answers were independent of one another. For planning "
    "or pooling use the larger."
)
DENOMINATORS = {
    "of_credits": "of all credits and custom rankings",
    "of_responses": "of the responses",
    "split": "of the responses, shared votes split",
    "distinct_questions": "of the responses to questions whose orders all differ",
}


def tables_of(analysis: Analysis) -> Iterator[Sheet]:
    """Yield every table, in the order of a report; participants only where they are known."""
    differences = analysis.agreement.differences
    if analysis.table3:
        yield _table3(analysis.table3)
    yield _table4(analysis.agreement.table4)
    yield _shares(analysis)
    yield _first(analysis.agreement.table4)
    yield _differences(differences)
    yield _contrasts(differences)
    if differences[0].equivalence:
        yield _equivalence(differences)
    yield _permutation(differences)
    yield _other_tests(analysis)
    yield _concordance(analysis)
    yield _raters(analysis)
    if analysis.anchoring:
        yield _anchoring(analysis.anchoring)
    if analysis.arms:
        yield from arm_sheets(analysis.arms)
    if analysis.runs:
        yield _runs(analysis)
    if analysis.own_orderings:
        yield _own_orderings(analysis.own_orderings)
    yield _bias(analysis)
    yield _order_effects(analysis)
    yield _sensitivity(analysis)
    yield _second_opinion(analysis.second_opinions)
    yield flags_sheet(analysis)


def flags_sheet(analysis: Analysis) -> Sheet:
    """Return the table of quality flags; its note says how control questions were answered."""
    rules = [f"{name.capitalize()}: {rule}." for name, rule in RULES.items()]
    return Sheet(
        name="flags",
        title="Quality flags",
        columns=("participant", "flag", "reason"),
        rows=tuple((flag.participant, flag.kind, flag.reason) for flag in analysis.flags),
        note=" ".join(
            [
                *(rules if analysis.flags else ["No participant has a flag."]),
                *_asked(analysis),
                *_controls(analysis),
            ]
        ),
    )


def _asked(analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each doubt about which the page asked back."""
    equal, differing, reversed_ = (
        analysis.asked_back[doubt] for doubt in ("equal", "differing", "reversed")
    )
    if equal["asked"]:
        yield (
            f"Own orderings that were a method's: {equal['asked']}. Asked by the page, "
            f"{equal['match']} count as a match, {equal['own']} stay own orderings."
        )
    if reversed_["asked"]:
        yield (
            "Own orderings that put a list above one that is earlier at every position: asked by "
            f"the page about {reversed_['asked']}; {reversed_['kept']} were kept, "
            f"{reversed_['changed']} answers changed."
        )
    if typed := analysis.asked_back["typed"]["credited"]:
        yield (
            f"Own orderings that were a method's, and count for it without being asked: {typed}."
        )
    if differing["asked"]:
        yield (
            f"Ticks of methods with different orderings: {differing['asked']}. Asked by the page, "
            f"{differing['one_ordering']} name one ordering, {differing['several_orderings']} "
            f"several, and {differing['own']} give an own one."
        )


def _controls(analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each control question."""
    if again := analysis.controls.get("repeated"):
        rate = again["agreement"]
        alike = "" if rate is None else f"; the two agree on {100 * rate:.1f} % of the list pairs"
        yield (
            f"Question {again['question']} was asked again: {again['same']} of {again['asked']} "
            f"participants gave the same answer{alike}."
        )
    if obvious := analysis.controls.get("obvious"):
        yield (
            f"Obvious question: {obvious['right']} of {obvious['asked']} participants put no list "
            "above one that is earlier at every position."
        )


def _table3(table: Table3) -> Sheet:
    rows: list[tuple[Cell, ...]] = [
        ("People participating", table.participants),
        ("of these, finished", table.completed),
        ("Questions for each", table.questions_per_participant),
    ]
    for name, numbers in table.numbers.items():
        rows += _spread(name, numbers)
    for name, counts in table.counts.items():
        rows += [(f"{name}: {option}", count) for option, count in counts.items() if count]
    rows += _spread("minutes taken", table.minutes)
    return Sheet("table3", "Participants", ("quantity", "value"), tuple(rows))


def _spread(name: str, spread: Spread) -> Iterator[tuple[Cell, ...]]:
    # Starred prints one decimal here only: counts in the same column stay whole numbers.
    for statistic, value in (("mean", spread.mean), ("SD", spread.sd)):
        yield f"{name}, {statistic}", None if value is None else Starred(value, "", 1)


def _table4(table: Table4) -> Sheet:
    names = (*table.measures, OTHER)
    # In print a comma: "MNRO-AP" would read as a difference.
    choices = [Worded("-".join(row.choice), ", ".join(row.choice)) for row in table.rows]
    rows: list[tuple[Cell, ...]] = [
        (row.question, *(row.votes[name] for name in names), choice or None)
        for row, choice in zip(table.rows, choices, strict=True)
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
    groups = [
        f"{row.question} ({', '.join(' = '.join(group) for group in row.identical)})"
        for row in table.rows
        if row.identical
    ]
    count = f"Totals count credits, not people: {sum(table.totals.values()):.9g} in all."
    if not groups:
        return f"{count} In every question all orders differ."
    noun = "question" if len(groups) == 1 else "questions"
    return f"{count} Orders are identical in {noun} {', '.join(groups)}."


def _shares(analysis: Analysis) -> Sheet:
    votes = analysis.agreement
    names = (*votes.measures, OTHER)
    parts = vars(votes.shares)
    return Sheet(
        name="shares",
        title="Shares under four denominators, in %",
        columns=("share", *names),
        rows=tuple(
            (
                text,
                *(100 * parts[denominator][name] if parts[denominator] else None for name in names),
            )
            for denominator, text in DENOMINATORS.items()
        ),
        decimals=1,
    )


def _first(table: Table4) -> Sheet:
    return Sheet(
        name="first",
        title="Questions in which a measure got most votes",
        columns=("place", *table.measures),
        rows=(
            ("first or tied", *table.first_or_tied.values()),
            ("alone first", *table.first_outright.values()),
        ),
    )


def _differences(differences: tuple[Difference, ...]) -> Sheet:
    primary = next((each.correction.primary for each in differences), "")
    exception = ""
    if primary:
        exception = (
            f", but for the plan's primary pair, {primary}, which is tested first and by itself; "
            "no p of another pair is below its p"
        )
    return Sheet(
        name="differences",
        title="Differences between measures in points, with 95 % intervals",
        columns=(
            *("pair", "population", "difference", "from", "to"),
            *("together from", "together to", "p (corrected)"),
            *("standard error", "of independent answers"),
        ),
        rows=tuple(
            (
                *(_pair(difference.pair), population, _percent(difference.mean)),
                *(*_ends(test.ci95), *_ends(test.ci95_simultaneous), *_p(test.p)),
                *(_percent(se), _percent(difference.components.se_independent)),
            )
            for difference in differences
            for population, test, se in (
                ("questions of this kind", difference.kind, difference.components.se),
                ("these questions alone", difference.these, difference.participants.se),
            )
        ),
        note="Questions of this kind: t by the variance components of participants and questions, "
        "corrected by the largest |t| of all pairs, stepping down; the interval is never narrower "
        "than the other. These questions alone: t of the mean of the responses, leaving out one "
        "participant at a time, corrected by Holm's method. No p is below what so few participants "
        "and questions can show. Interval (from, to): of this pair by itself; together: of all "
        f"pairs at once{exception}. A preference needs the corrected p and the label "
        f"permutation. {LARGER_ERROR}",
        decimals=1,
    )


def _contrasts(differences: tuple[Difference, ...]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for each in differences:
        parts, balanced = each.by_contrast, each.by_contrast.balanced
        above, unbalanced = balanced.above_random_orders, parts.unbalanced
        tested = _p(*(uncorrected_p(above, population) for population in (T2, T1)))
        rows += [
            (_pair(each.pair), "contradict", *_contrast_part(parts.contradicting), None, None),
            *(
                (_pair(each.pair), name, balanced.questions, None, *_both(part), *ps)
                for name, part, ps in (
                    ("contradict, balanced", balanced, (None, None)),
                    ("balanced, less random orders", above, tested),
                )
            ),
            (
                *(_pair(each.pair), "contradict, unbalanced", unbalanced.questions, None),
                *(_percent(unbalanced.mean), *[None] * 6),
            ),
            (_pair(each.pair), "ties only", *_contrast_part(parts.ties_only), None, None),
            (_pair(each.pair), "identical", parts.identical.questions, *[None] * 8),
        ]
    return Sheet(
        name="contrasts",
        title="Where the differences come from, in points",
        columns=(
            *("pair", "the two orders", "questions", "part of the difference"),
            *("difference there", *OF_BOTH, "p, this kind", "p, these"),
        ),
        rows=tuple(rows),
        note="Contradict: the two put some lists in opposite orders. Ties only: one orders lists "
        "that the other ties, and they differ in nothing else; who prefers an order without ties "
        "ticks it there, whatever the measures mean. Parts add up to the difference of all "
        "responses; the intervals (95 %) are of the difference in these questions alone. Balanced: "
        "each ties as many pairs of lists that the other orders. Less random orders: what people "
        "with random orders without ties give there is taken from each response; whether a lead is "
        "for the order is decided by its sign and its p, of the verdict's population and not "
        "corrected (below .05), together with the sign above it.",
        decimals=1,
    )


def _contrast_part(part: ContrastPart) -> tuple[Cell, ...]:
    return part.questions, _percent(part.contribution), *_both(part)


def _both(part: ContrastPart | Balanced | Beyond) -> tuple[float | None, ...]:
    """Return a mean in points, with its intervals for questions of this kind and for these."""
    return *_points(part.components), *_points(part.participants)[1:]


def _equivalence(differences: tuple[Difference, ...]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    margin = 0.0
    for each in differences:
        if each.equivalence is None:
            continue
        margin = 100 * each.equivalence.smallest_difference
        for population, test in (
            ("questions of this kind", each.equivalence.kind),
            ("these questions alone", each.equivalence.these),
        ):
            ends = _in_points(test.ci90) if test.ci90 else (None, None)
            rows.append((_pair(each.pair), population, *ends, *_p(test.p, test.p_holm)))
    return Sheet(
        name="equivalence",
        title=f"Equal to within {margin:.6g} points? 90 % intervals",
        columns=("pair", "population", "from", "to", "p", "p, Holm"),
        rows=tuple(rows),
        note=f"{margin:.6g} points are the smallest difference that matters, by the plan. Two "
        "one-sided tests: equality is shown where the whole interval lies within. The interval and "
        "p are of this pair by itself. p, Holm: corrected for all pairs; it decides where several "
        "pairs are called equal.",
        decimals=1,
    )


def _permutation(differences: tuple[Difference, ...]) -> Sheet:
    return Sheet(
        name="permutation",
        title="Leads in credits, observed and by random clicks (label permutation)",
        columns=(
            *("pair", "lead", "by random clicks", "p", "p (Holm)"),
            *("points above", "p above (corrected)", "identical in questions"),
        ),
        rows=tuple(
            (
                *(_pair(each.pair), each.lead, each.label_permutation.null_mean),
                *_p(each.label_permutation.p, each.label_permutation.p_holm),
                100 * (each.above_random_clicks.mean or 0.0),
                *_p(each.above_random_clicks.kind.p),
                ", ".join(map(str, each.identical)) or "none",
            )
            for each in differences
        ),
        note="Lead: credits of the first minus those of the second. Points above: the difference "
        "with what redrawn labels give taken from each vote, and its test for questions of this "
        "kind. The label permutation asks whether clicks were blind; this asks whether more than "
        "identical orders made the lead.",
        decimals=1,
    )


def _pair(pair: Pair, test: str = "") -> Worded:
    """Return the pair's name, followed by ``test``, in the form for files and that for print."""
    return Worded(f"{pair}{test}", f"{pair.title}{test}")


def _p(*values: float | None) -> tuple[P | None, ...]:
    return tuple(None if value is None else P(value) for value in values)


def _points(test: MeanTest) -> tuple[float | None, ...]:
    """Return a mean and its interval in points, within what a difference can be."""
    if test.mean is None:
        return None, None, None
    return 100 * test.mean, *(_in_points(test.ci95) if test.ci95 else (None, None))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return _in_points(interval) if interval else (None, None)


def _in_points(interval: Interval) -> Interval:
    low, high = (100 * max(-1.0, min(1.0, end)) for end in interval)
    return low, high


def _other_tests(analysis: Analysis) -> Sheet:
    votes = analysis.agreement
    rows: list[tuple[str, int, float | None]] = []
    for each in votes.differences:
        flips, questions, matched = each.participants, each.questions, each.mcnemar
        counted = f"won {questions.won}, lost {questions.lost}, tied {questions.tied}"
        against = f"{matched.n10} against {matched.n01}"
        rows += [
            (
                _pair(each.pair, ": two-way cluster-robust t (questions of this kind)"),
                each.two_way.n,
                each.two_way.p,
            ),
            (
                _pair(each.pair, ": sign flips over participants (these questions)"),
                flips.n,
                flips.sign_flip_p,
            ),
            (
                _pair(each.pair, f": sign flips over questions (of this kind), {counted}"),
                questions.n,
                questions.sign_flip_p,
            ),
            (_pair(each.pair, f": McNemar, {against} (descriptive)"), matched.n, matched.p),
        ]
    for name, q in (
        ("distinct orders only", votes.cochran_distinct),
        ("all responses", votes.cochran_all),
    ):
        value = "undefined" if q.q is None else f"Q = {q.q:.2f}, {q.df} df"
        text = f"Cochran's Q, {name} (descriptive): {value}; p by label permutation"
        rows.append((text, q.blocks, q.p_label_permutation))
    for name, chi2 in (
        ("credits (these questions)", votes.friedman_approvals),
        ("mean tau-b (descriptive)", votes.friedman_tau_b),
    ):
        value = f"undefined, {chi2.why}" if chi2.chi2 is None else f"χ² = {chi2.chi2:.2f}"
        rows.append((f"Friedman over participants, {name}: {value}", chi2.n, chi2.p))
    return Sheet(
        name="tests",
        title="Other tests",
        columns=("test", "n", "p"),
        rows=tuple((test, n, *_p(p)) for test, n, p in rows),
        note="Checks, not corrected for several comparisons: verdicts rest on the t by variance "
        "components, the participants' t and the label permutation. Descriptive tests take "
        "responses as independent, which they are not: McNemar rejects far more often than its "
        "nominal 5 %. Friedman on tau-b compares how near the measures' orders are to the "
        "participants'; a measure whose order is like another's is near even to random clicks.",
    )


def _order_effects(analysis: Analysis) -> Sheet:
    """Return the table of how answers depend on position, time taken and the answer before."""
    of_what = "in agreement with orderings" if analysis.own_orderings else "of votes"
    agreement = analysis.agreement
    return order_effects_sheet(agreement.order_effects, agreement.carry_over, of_what)


def _sensitivity(analysis: Analysis) -> Sheet:
    pairs = [_pair(difference.pair) for difference in analysis.agreement.differences]
    return Sheet(
        name="sensitivity",
        title="The differences under other choices, in points, with 95 % intervals for "
        "questions of this kind",
        columns=("choice", "responses", *pairs),
        rows=tuple(
            (variant.choice, variant.responses, *map(_effect, variant.differences))
            for variant in analysis.sensitivity
        ),
        note="An interval alone is no verdict. Dropping shared votes drops every vote for "
        "identical orders, and so favours measures whose orders are their own.",
    )


def _second_opinion(opinions: tuple[SecondOpinion, ...]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for each in opinions:
        figures: tuple[Cell, ...] = (None,) * 6
        if each.log_odds is not None and each.ci95:
            odds = (math.exp(log_odds) for log_odds in (each.log_odds, *each.ci95))
            spreads = (each.participants_sd, each.questions_sd)
            figures = (*odds, each.first_ahead, *spreads)
        rows.append((_pair(each.pair), each.n, each.first, *figures))
    pairs_by_why: dict[str, list[str]] = {}
    for each in opinions:
        if each.why:
            pairs_by_why.setdefault(each.why, []).append(each.pair.title)
    return Sheet(
        name="second-opinion",
        title="A second opinion: crossed mixed logit",
        columns=(
            *("pair", "answers that credit one alone", "the first", "odds", "95 % from", "to"),
            *("probability that it is ahead", "SD of participants", "SD of questions"),
        ),
        rows=tuple(rows),
        decimals=2,
        note="".join(
            f"Not fitted for {list_words(names)}: {why}. " for why, names in pairs_by_why.items()
        )
        + "Odds of the first for an average participant and question (posterior median, 95 % "
        f"credible interval); SD: by how much log odds differ. Priors: log odds normal with SD "
        f"{mixed_logit.PRIOR_SD}, both SD half normal with scale {mixed_logit.PRIOR_SPREAD:.0f}; "
        "nested Laplace approximation. Descriptive: no verdict rests on it, it is corrected for "
        "nothing, and ties and identical orders lead as they do "
        "in the votes.",
    )


def participants_exhibits(analysis: Analysis) -> list[Exhibit]:
    """Return a figure of the participants' own differences for each pair."""
    return [
        participants_differences(opinion, number)
        for number, opinion in enumerate(analysis.second_opinions, 1)
    ]


def runs_exhibits(analysis: Analysis) -> list[Exhibit]:
    """Return the figure of the runs' places; none in a study that has no runs."""
    people = [
        (each.run, each.people.mean, each.people.components.ci95, each.people.participants.ci95)
        for each in analysis.runs
    ]
    measures = [each.measures for each in analysis.runs]
    rows = [(*row, by) for row, by in zip(people, measures, strict=True)]
    return [places_of_runs(rows)] if rows else []


def participants_sheet(analysis: Analysis) -> Sheet:
    """Return the numbers of the participants' figures as one table, for files.

    Pages have each figure's numbers beside it.
    """
    exhibits_of_pairs = participants_exhibits(analysis)
    opinions = zip(analysis.second_opinions, exhibits_of_pairs, strict=True)
    return Sheet(
        name="participants",
        title="Participants' own differences, in points of their answers that credit one alone",
        columns=("pair", *exhibits_of_pairs[0].columns),
        rows=tuple(
            (_pair(opinion.pair), *row) for opinion, exhibit in opinions for row in exhibit.rows
        ),
        note=exhibits_of_pairs[0].note,
        decimals=1,
    )


def _effect(effect: Effect) -> str:
    """Format a mean difference and its interval in points."""
    if effect.mean is None or effect.ci95 is None:
        return "–" if effect.mean is None else rounded(100 * effect.mean)
    low, high = _in_points(effect.ci95)
    return f"{rounded(100 * effect.mean)} ({text_of(low, 1)} to {text_of(high, 1)})"


def _concordance(analysis: Analysis) -> Sheet:
    concordance, names = analysis.agreement.concordance, analysis.agreement.measures
    rows: list[tuple[Cell, ...]] = [
        (text, means.n, *(means.means[name] for name in names))
        for text, means in (
            ("Kendall's tau-b", concordance.tau_b),
            ("tau-b, custom rankings only", concordance.tau_b_custom),
            ("tau-ap-b, custom rankings only", concordance.tau_ap_b_custom),
            (f"RBO, p = {RBO_P}, custom rankings only", concordance.rbo_custom),
            ("Spearman's rho", concordance.spearman),
            ("agreement rate over list pairs, strict", concordance.strict),
            ("agreement rate, half credit for one-sided ties", concordance.half),
        )
        if means is not None
    ]
    undefined = {name: count for name, count in concordance.tau_b.undefined.items() if count}
    left_out = list_words([f"{name} {count}" for name, count in undefined.items()])
    return Sheet(
        name="concordance",
        title="Agreement of participants' orders with the measures'",
        columns=("agreement", "responses", *names),
        rows=tuple(rows),
        note="A participant who ticks a column agrees with it by construction, and then also with "
        "a measure whose order is like that column's; custom rankings are free of this. Upper "
        "places count more in tau-ap-b and RBO."
        + (f" Responses in which tau-b is undefined: {left_out}." if undefined else ""),
    )


def _raters(analysis: Analysis) -> Sheet:
    concordance = analysis.agreement.concordance
    human, kendall_w = concordance.human, concordance.kendall_w
    alpha, kappa = concordance.krippendorff_alpha, concordance.fleiss_kappa
    rows: tuple[tuple[str, Statistic, float | None], ...] = (
        ("agreement rate with the others, best participant", human, human.best),
        ("agreement rate with the others, median", human, human.median),
        ("agreement rate with the others, worst", human, human.worst),
        ("Kendall's W, mean over questions", kendall_w, kendall_w.mean),
        ("Krippendorff's alpha, ordinal, all lists", alpha, alpha.pooled),
        ("Fleiss' kappa of single choices, distinct orders", kappa, kappa.kappa),
    )
    return Sheet(
        name="raters",
        title="Agreement of participants with one another",
        columns=("agreement", "rests on", "value"),
        rows=tuple(
            (text, count_of(basis.n, basis.unit.removesuffix("s")), value)
            for text, basis, value in rows
        ),
    )


def _anchoring(anchoring: Anchoring) -> Sheet:
    """Tabulate the agreement in each arm, then the differences between arms, by tau-b."""
    rows: list[tuple[Cell, ...]] = [
        (f"{arm.arm}, {arm.orderings}", arm.participants, measure, value, *(None,) * 4)
        for arm in anchoring.arms
        for measure, value in arm.tau_b.items()
    ]
    for each in anchoring.differences:
        if each.statistic == "tau_b":
            names = " − ".join(", ".join(side) for side in (each.first, each.second))
            low, high = each.ci95 or (None, None)
            p = _p(each.p, each.p_holm)
            rows.append((names, None, each.measure, each.mean, low, high, *p))
    return Sheet(
        name="anchoring",
        title="Anchoring: agreement by when the columns were shown",
        columns=(
            *("orderings", "participants", "measure", "tau-b", "95 % from", "to", "p"),
            "p, corrected",
        ),
        rows=tuple(rows),
        note="Means of the responses; nearest: the measure whose order is nearest to an "
        "answer's. Orderings from before the columns were seen cannot follow them, so a difference "
        "from these is what seeing the columns does, and, for ticks, what ticking does: a ticked "
        "ordering agrees fully with its own method. Interval and p are of a difference by itself, "
        "over participants and questions; only the corrected p decides (Holm over these rows; six "
        "questions or more).",
    )


def _runs(analysis: Analysis) -> Sheet:
    measures = analysis.agreement.measures
    return Sheet(
        name="runs",
        title="Results by run: mean place among the lists of a question, 1 for the best",
        columns=(*("run", "people", *OF_BOTH), *(f"by {name}" for name in measures)),
        rows=tuple(
            (
                *(each.run, each.people.mean),
                *(each.people.components.ci95 or (None, None)),
                *(each.people.participants.ci95 or (None, None)),
                *(each.measures[name] for name in measures),
            )
            for each in analysis.runs
        ),
        note="In people's orderings, with 95 % intervals, and in the orderings of the measures, "
        "over the same answers. For an answer that ticks methods it is the place that these give "
        "the run, so people's places lean towards the measures' where methods are shown.",
        decimals=2,
    )


def _own_orderings(orderings: OwnOrderings) -> Sheet:
    names = {
        "pairs": "pairs of lists in order",
        "tau_b": "tau-b",
        "agreement_rate": "agreement rate",
    }
    rows: list[tuple[Cell, ...]] = []
    for each in orderings.differences:
        pair, tests = _pair(each.pair), each.tests
        ends = *(tests.kind.ci95 or (None, None)), *(tests.these.ci95 or (None, None))
        ps = _p(tests.kind.p, tests.these.p)
        what = names[each.statistic]
        rows.append((pair, what, each.responses, each.first, each.second, tests.mean, *ends, *ps))
    return Sheet(
        name="own-orderings",
        title="People's own orderings: agreement with the measures' orders",
        columns=(
            *("pair", "agreement", "answers", "with the first", "with the second", "difference"),
            *OF_BOTH,
            *("p, this kind (corrected)", "p, these (corrected)"),
        ),
        rows=tuple(rows),
        note="95 % intervals and tests as those of votes: variance components (questions of this "
        "kind), participants' t (these questions). Pairs of lists decide: of those that the person "
        "orders, 1 where the measure has the same order, ½ where it ties the two, so that ties "
        "give no lead. tau-b rewards ties, and the agreement rate counts a tie as agreeing with no "
        "order of two lists; they decide nothing.",
    )


def _bias(analysis: Analysis) -> Sheet:
    bias = analysis.agreement.bias
    logit, fatigue = bias.conditional_logit, bias.fatigue
    known = zip(logit.terms, logit.coef or (), logit.se or (), strict=False)
    has_columns = any(term.startswith("column ") for term in logit.terms)
    aligned = "" if has_columns else "; columns stood as their labels, so the two have one term"
    if fatigue.ci95 is None:
        slope = f"undefined, as {fatigue.why}"
    else:
        low, high = (text_of(end, 1) for end in fatigue.ci95)
        slope = f"{text_of(fatigue.mean, 1)} (95 % interval {low} to {high})"
    return Sheet(
        name="bias",
        title="What made a column be ticked: conditional logit of measure, label and column",
        columns=("term", "log odds ratio", "standard error", "z"),
        rows=tuple((term, coef, se, coef / se) for term, coef, se in known),
        note=(f"Undefined: {logit.why}. " if logit.why else "")
        + f"Against {analysis.agreement.measures[0]}, Method1 and column 1; {logit.n} answers, "
        f"taken as independent{aligned}. Seconds for each further question: {slope}.",
    )
