"""Check ordering questions before a study opens: how far they separate the measures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from survey.core.agreement.credits import chance_credits
from survey.core.measures import MEASURES, Setting, measure_named
from survey.core.measures.mnro import mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon
from survey.core.studies.faults import Finding
from survey.core.studies.questions import Question
from survey.core.studies.rankings import contradictions, identical_groups
from survey.core.studies.texts import and_join
from survey.core.tasks.ordering_plan import OrderingPlan

# A phone shows no more columns beside the lists.
PHONE_COLUMNS = 3


@dataclass(frozen=True)
class Pair:
    """A comparison of two measures' orders of a question's lists.

    ``contradictions``: how many pairs of lists they put in opposite orders. If there are none
    and the orders differ, a measure only breaks ties of the other.
    """

    names: tuple[str, str]
    identical: bool
    contradictions: int

    @property
    def summary(self) -> str:
        """The comparison in a few words, for a table."""
        if self.identical:
            return "identical"
        return f"contradict on {self.contradictions}" if self.contradictions else "ties only"


@dataclass(frozen=True)
class QuestionCheck:
    """A question with comparisons of its measures, and findings."""

    question: Question
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]

    @property
    def separated(self) -> str:
        """Which measures the question can tell apart: "all", "some" or "none"."""
        identical = sum(pair.identical for pair in self.pairs)
        return "all" if not identical else "none" if identical == len(self.pairs) else "some"

    @property
    def outlier(self) -> str | None:
        """The measure that contradicts the others most; None among two, or if several do."""
        sums = {
            name: sum(pair.contradictions for pair in self.pairs if name in pair.names)
            for name in self.question.columns
        }
        most = [name for name, count in sums.items() if count == max(sums.values())]
        return most[0] if len(sums) > 2 and len(most) == 1 else None


def ordering_findings(plan: OrderingPlan, questions: Sequence[Question]) -> list[Finding]:
    """Return findings on horizons, orders, marks, width, sizes and printed values."""
    findings = [
        *_horizon_findings(plan),
        *_order_findings(questions),
        *_mark_findings(plan),
        *_width_findings(plan),
        *_size_findings(plan),
    ]
    for question in questions:
        findings += _printing_findings(question)
    return findings


def question_checks(questions: Iterable[Question]) -> list[QuestionCheck]:
    """Compare the measures' orders question by question."""
    checks = []
    for question in questions:
        pairs = tuple(
            Pair((first, second), a == b, contradictions(a, b))
            for (first, a), (second, b) in combinations(question.rankings.items(), 2)
        )
        checks.append(QuestionCheck(question, pairs, tuple(_printing_findings(question))))
    return checks


def pair_sentences(checks: Sequence[QuestionCheck]) -> list[str]:
    """Return a sentence for each pair of measures: in how many questions they contradict."""
    sentences = []
    for pairs in zip(*(check.pairs for check in checks if check.question.number), strict=True):
        first, second = pairs[0].names
        contested = sum(pair.contradictions > 0 for pair in pairs)
        identical = sum(pair.identical for pair in pairs)
        sentences.append(
            f"{first} and {second} contradict each other in {contested} of {len(pairs)} questions; "
            f"in {len(pairs) - contested - identical} one only breaks ties of the other, "
            f"in {identical} their orders are identical"
        )
    return sentences


def headings(plan: OrderingPlan) -> dict[str, str]:
    """Return the column heading of each measure's values: 1-AP for AP, so that lower is better."""
    return {name: MEASURES[name].shown_as if name in MEASURES else name for name in plan.measures}


def chance_advantage(plan: OrderingPlan, questions: Iterable[Question]) -> dict[str, float]:
    """Return the expected credits per response if participants click columns at random."""
    rankings = {question.number: question.rankings for question in questions}
    return chance_credits(rankings, plan.measures)


def _size_findings(plan: OrderingPlan) -> list[Finding]:
    sizes = sorted({len(lists[0]) for lists in plan.own_lists})
    if len(sizes) < 2:
        return []
    text = (
        f"the questions have from {sizes[0]} to {sizes[-1]} relevant items per list, "
        "so the texts must not promise a single number"
    )
    return [Finding(None, text)]


def _mark_findings(plan: OrderingPlan) -> list[Finding]:
    """Return findings on measures without the marks they read, and on marks that none reads."""
    missing = [name for name in plan.measures if name not in MEASURES]
    if missing:
        fault = f"{and_join(missing)}: not registered here, so nothing can be drawn or recomputed"
        return [Finding(None, f"{fault}; install the package that brings it", failed=True)]
    kinds = {name: measure_named(name).reads for name in plan.measures}
    findings = [
        f"the lists have no {kind} for {name} to read, so it takes every match as equally relevant"
        for name, kind in kinds.items()
        if kind not in ("positions", *plan.marked)
    ]
    if unread := [kind for kind in plan.marked if kind not in kinds.values()]:
        findings.append(f"participants see {and_join(unread)}, which no measure reads")
    return [Finding(None, text) for text in findings]


def _width_findings(plan: OrderingPlan) -> list[Finding]:
    if len(plan.measures) <= PHONE_COLUMNS:
        return []
    text = (
        f"{len(plan.measures)} columns and one's own do not fit on phones and tablets: the table "
        "scrolls sideways there, and a column that is not seen is not ticked"
    )
    return [Finding(None, text)]


def _horizon_findings(plan: OrderingPlan) -> list[Finding]:
    setting: Setting = plan.setting
    sizes = sorted({len(lists[0]) for lists in plan.own_lists} or {plan.relevant})
    literal = setting.literal_eq15
    horizons: dict[str, list[float]] = {
        "NMRR": [nmrr_horizon(relevant, setting.gmt) for relevant in sizes],
        "MNRO": [
            mnro_horizon(relevant, setting.collection_size, literal_eq15=literal)
            for relevant in sizes
        ],
    }
    findings = []
    for name in [name for name in horizons if name in plan.measures]:
        least, most = min(horizons[name]), max(horizons[name])
        horizon = (
            f"{least:g}" if least == most else f"{least:g} to {most:g}, by the relevant items,"
        )
        beyond = ", so every position counts as retrieved" if least >= plan.collection_size else ""
        findings.append(
            Finding(None, f"{name}: K = {horizon} of {plan.collection_size} positions{beyond}")
        )
    return findings


def _order_findings(questions: Sequence[Question]) -> list[Finding]:
    findings, agreeing = [], 0
    for question in questions:
        groups = identical_groups(question.rankings)
        agreeing += bool(groups)
        for group in groups:
            findings.append(
                Finding(
                    question.number,
                    f"{and_join(group)} order the lists alike "
                    f"({question.rankings[group[0]]}): a vote for one counts for each",
                )
            )
    summary = (
        f"{agreeing} of {len(questions)} questions have identical orders and cannot tell "
        "those measures apart"
        if agreeing
        else "in every question all the measures' orders differ"
    )
    return [Finding(None, summary), *findings]


def _printing_findings(question: Question) -> list[Finding]:
    findings = []
    for name, column in question.columns.items():
        places = column.ranking.places
        longer = [
            letter
            for letter, text in zip(places, column.shown, strict=True)
            if len(text.partition(".")[2]) > 4
        ]
        tied = ["=".join(group) for group in column.ranking.groups if len(group) > 1]
        if longer:
            findings.append(
                Finding(
                    question.number,
                    f"{name}: {and_join(longer)} would print alike at 4 decimals though they rank "
                    "apart, so they are printed with more",
                )
            )
        if tied:
            findings.append(Finding(question.number, f"{name} ties {and_join(tied)}"))
    return findings
