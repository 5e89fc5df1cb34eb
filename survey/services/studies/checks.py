"""What participants can see of the words that researchers chose.

Looking at a study's questions before anyone else does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from survey.core.agreement.credits import chance_credits
from survey.core.measures import MEASURES, Setting, measure_named, mentioned_measure
from survey.core.measures.mnro import mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon
from survey.core.studies.plan import TEXTS, Plan
from survey.core.studies.questions import Question
from survey.core.studies.rankings import contradictions, identical_groups
from survey.core.studies.texts import and_join
from survey.db.models import Study
from survey.services.studies.lifecycle import current_digest, questions_of
from survey.services.studies.recruitment import recruitment_of


def giveaways(study: Study) -> Iterator[tuple[str, str]]:
    """Find what names a measure: (what, which measure). The study's address cannot."""
    for what, text in _public_texts(study):
        if measure := mentioned_measure(text):
            yield what, measure


def _public_texts(study: Study) -> Iterator[tuple[str, str]]:
    """What the pages show, and what stands in their source and in their addresses."""
    for name in TEXTS:
        yield name, getattr(study.plan, name)
    for field in study.plan.personal_fields:
        said = (field.name, field.label, field.help, *field.options)
        yield f"personal field {field.name}", "\n".join(said)
    marks = (study.plan.marks, *study.plan.own_marks)
    names = {name for one in marks for row in one.clusters for item in row for name in item}
    yield "clusters", "\n".join(name.replace("_", " ") for name in sorted(names))
    settings = recruitment_of(study)
    yield "return_url", settings.return_url
    yield "id_parameter", settings.id_parameter
    yield "capture", "\n".join(settings.capture)


FIT_A_PAGE = 3  # columns that a phone shows beside the lists


@dataclass(frozen=True)
class Finding:
    """One remark on a study. ``question``: its number, None where it is about the whole.

    ``failed``: the study is broken, not merely worth a second look.
    """

    question: int | None
    text: str
    failed: bool = False


def check_study(study: Study) -> list[Finding]:
    """Remark on identical orders, printed ties, the measures' K, and on a changed digest."""
    questions = questions_of(study)
    findings = [
        *_about_horizons(study.plan),
        *_about_identical(questions),
        *_about_texts(study),
        *_about_marks(study.plan),
        *_about_width(study.plan),
    ]
    if not study.plan.contact:
        findings.append(Finding(None, "no contact is given, so participants can ask nobody"))
    for question in questions:
        findings += _about_printing(question)
    if study.digest is not None and study.digest != current_digest(study):
        findings.append(
            Finding(None, "the content no longer has the digest it was opened with", failed=True)
        )
    return findings


@dataclass(frozen=True)
class Pair:
    """How two measures' orders of a question's lists compare.

    ``contradictions``: list pairs that one orders one way and the other the other way;
    with none, and orders that differ, one only breaks ties of the other.
    """

    names: tuple[str, str]
    identical: bool
    contradictions: int

    @property
    def told(self) -> str:
        """How contested the question is between the two, in a word or two."""
        if self.identical:
            return "identical"
        return f"contradict on {self.contradictions}" if self.contradictions else "ties only"


@dataclass(frozen=True)
class QuestionCheck:
    """A question as a researcher sees it before anyone answers it."""

    question: Question
    pairs: tuple[Pair, ...]
    findings: tuple[Finding, ...]

    @property
    def tells(self) -> str:
        """Whether the question can tell the measures apart: "all", "some" or "none" of them."""
        identical = sum(pair.identical for pair in self.pairs)
        return "all" if not identical else "none" if identical == len(self.pairs) else "some"

    @property
    def odd_one_out(self) -> str | None:
        """The measure that contradicts the others most; None among two, or where several do."""
        sums = {
            name: sum(pair.contradictions for pair in self.pairs if name in pair.names)
            for name in self.question.columns
        }
        most = [name for name, count in sums.items() if count == max(sums.values())]
        return most[0] if len(sums) > 2 and len(most) == 1 else None


def how_contested(checked: Sequence[QuestionCheck]) -> list[str]:
    """Say for each pair of measures in how many questions a vote can tell them apart."""
    sentences = []
    for pairs in zip(*(one.pairs for one in checked if one.question.number), strict=True):
        first, second = pairs[0].names
        contested = sum(pair.contradictions > 0 for pair in pairs)
        identical = sum(pair.identical for pair in pairs)
        sentences.append(
            f"{first} and {second} contradict each other in {contested} of {len(pairs)} questions; "
            f"in {len(pairs) - contested - identical} one only breaks ties of the other, "
            f"in {identical} their orders are identical"
        )
    return sentences


def question_checks(study: Study) -> list[QuestionCheck]:
    """Compare the measures' orders question by question, the practice question first."""
    checked = []
    for question in questions_of(study, practice=True):
        pairs = tuple(
            Pair((one, other), a == b, contradictions(a, b))
            for (one, a), (other, b) in combinations(question.rankings.items(), 2)
        )
        checked.append(QuestionCheck(question, pairs, tuple(_about_printing(question))))
    return checked


def headings(study: Study) -> dict[str, str]:
    """Return what stands above each measure's printed values: 1-AP for AP, as lower is better."""
    return {
        name: MEASURES[name].shown_as if name in MEASURES else name for name in study.plan.measures
    }


def chance_advantage(study: Study) -> dict[str, float]:
    """Return how often each measure is credited per response when columns are clicked blindly."""
    rankings = {question.number: question.rankings for question in questions_of(study)}
    return chance_credits(rankings, study.plan.measures)


def _about_texts(study: Study) -> list[Finding]:
    """Warn of texts that give a measure away, or that promise what own lists do not keep."""
    plan = study.plan
    findings = [
        Finding(None, f"the {what} holds the name of a measure ({measure}); participants see it")
        for what, measure in giveaways(study)
    ]
    sizes = sorted({len(lists[0]) for lists in plan.own_lists})
    if len(sizes) > 1:
        findings.append(
            Finding(
                None,
                f"the questions have from {sizes[0]} to {sizes[-1]} relevant items per list, "
                "so the texts must not promise one number",
            )
        )
    return findings


def _about_marks(plan: Plan) -> list[Finding]:
    """Say where measures and marks do not fit together; both can be meant."""
    missing = [name for name in plan.measures if name not in MEASURES]
    if missing:
        told = f"{and_join(missing)}: not registered here, so nothing can be drawn or recomputed"
        return [Finding(None, f"{told}; install the package that brings it", failed=True)]
    read = {name: measure_named(name).reads for name in plan.measures}
    findings = [
        f"the lists have no {kind} for {name} to read, so it takes every match as equally relevant"
        for name, kind in read.items()
        if kind not in ("positions", *plan.marked)
    ]
    if unread := [kind for kind in plan.marked if kind not in read.values()]:
        findings.append(f"participants see {and_join(unread)}, which no measure reads")
    return [Finding(None, text) for text in findings]


def _about_width(plan: Plan) -> list[Finding]:
    if len(plan.measures) <= FIT_A_PAGE:
        return []
    told = (
        f"{len(plan.measures)} columns and one's own do not fit on phones and tablets: the table "
        "scrolls sideways there, and a column that is not seen is not ticked"
    )
    return [Finding(None, told)]


def _about_horizons(plan: Plan) -> list[Finding]:
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
        told = f"{least:g}" if least == most else f"{least:g} to {most:g}, by the relevant items,"
        beyond = ", so every position counts as retrieved" if least >= plan.collection_size else ""
        findings.append(
            Finding(None, f"{name}: K = {told} of {plan.collection_size} positions{beyond}")
        )
    return findings


def _about_identical(questions: list[Question]) -> list[Finding]:
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


def _about_printing(question: Question) -> list[Finding]:
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
