"""What preferences between two lists say of measures, of people's agreement, and of runs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import inf
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from survey.core.agreement.agreement import explained, json_values
from survey.core.agreement.arm_effects import (
    AGREEMENT as PREFERRING,
)
from survey.core.agreement.arm_effects import (
    ArmAnswers,
    ArmEffects,
    arm_effects,
)
from survey.core.agreement.headlines import (
    AGREEMENT,
    RUN_WORDS,
    TOPIC_RUN_WORDS,
    LeadWords,
    Row,
    headline,
    row_texts,
)
from survey.core.agreement.preferences import (
    Answer,
    HumanAgreement,
    MeasureAgreement,
    PairOfLists,
    PreferenceAnalysis,
    agreed_share,
    agreement_of,
    analyse_preferences,
)
from survey.core.agreement.run_strengths import RunStrengths, StrengthDifference, run_strengths
from survey.core.agreement.verdicts import (
    RULES_NOW,
    VERDICT_RULES,
    Verdict,
    early_looks,
    where_it_holds,
)
from survey.core.measures import MEASURES
from survey.core.statistics.rater_agreement import tau_b
from survey.core.statistics.significance import LEVEL, Interval, p_text, rounded, sign_test
from survey.core.studies.questions import NO_MARKS, Question, build_question
from survey.figures.exhibit import Exhibit
from survey.figures.judging import preferences_agreeing, run_preferences, strengths_of_runs
from survey.kinds.preference.answer import STRENGTHS
from survey.kinds.preference.plan import (
    LEFT,
    LIST_LETTERS,
    PREFERRED,
    RIGHT,
    PreferencePlan,
    sign_of,
)
from survey.services.analysis.arm_sheets import arm_sheets, arms_json, arms_section
from survey.services.analysis.order_effects import order_effects_sheet
from survey.services.analysis.results import Results, Section, Sentence
from survey.services.analysis.sheets import Cell, P, Sheet, Starred, Worded, count_of

RANDOM_AGREEMENT = 0.5  # the agreement of a random choice
TIES_AS_HALF = "equally good and neither good count as half a win for each list"


@dataclass(frozen=True)
class Judgement:
    """A preference: ``preferred`` is a list's letter, "equal" or "neither"; ``side`` as answered.

    ``satisfaction``: by letter, from 1 to 5, None where it was not asked. ``position`` in the
    session and ``seconds`` taken: None where unknown. ``was_asked``: whether
    the page asked back about a preference for the list that satisfied less; ``contradicts``:
    whether it is one.
    """

    participant: str
    question: int
    preferred: str
    side: str
    strength: int | None
    satisfaction: Mapping[str, int | None]
    was_asked: bool = False
    contradicts: bool = False
    position: int | None = None
    seconds: float | None = None

    @property
    def sign(self) -> int:
        """1 where list A is preferred, -1 for list B, else 0."""
        return {LIST_LETTERS[0]: 1, LIST_LETTERS[1]: -1}.get(self.preferred, 0)


SAME_PLACES = "a measure, or people, put all runs in the same place, so there is no tau-b"


class RunResult(NamedTuple):
    """A run: comparisons won, ties as half; its strength; its mean value by each measure."""

    run: str
    wins: float
    comparisons: int
    strength: float | None
    ci95: Interval | None
    satisfaction: float | None
    means: Mapping[str, float]


class StrengthShare(NamedTuple):
    """A measure's agreement with the preferences of one strength; ``share``: of those not tied."""

    strength: int
    agree: int
    against: int
    tied: int

    @property
    def share(self) -> float | None:
        """The share of the preferences that the measure does not tie, None without any."""
        return agreed_share(self.agree, self.against)


@dataclass(frozen=True)
class PreferenceResults(Results):
    """The preferences of the participants who count, and what follows from them.

    ``looks``: at results before the last answers came; ``level``: at which a corrected test
    decides, below LEVEL where planned looks share it. ``arm_of``: participant → arm.
    """

    guide = "judge-a-collection#results-of-preference"

    plan: PreferencePlan
    questions: Sequence[Question]
    judgements: Sequence[Judgement]
    looks: Sequence[Mapping[str, Any]] = ()
    level: float = LEVEL
    arm_of: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def arms(self) -> ArmEffects | None:
        """What the arms change in the agreement with preferences; None without arms."""
        if not self.plan.arms:
            return None
        signs = {
            each.number: np.array([sign_of(each, name) for name in self.plan.measures])
            for each in self.questions
        }
        groups = {}
        for arm in self.plan.arms:
            people = {name for name, its in self.arm_of.items() if its == arm}
            of_arm = [each for each in self.judgements if each.sign and each.participant in people]
            values = [agreement_of(signs[each.question], each.sign) for each in of_arm]
            groups[arm] = ArmAnswers(
                np.array([each.participant for each in of_arm], dtype=np.str_),
                np.array([each.question for each in of_arm], dtype=np.int64),
                np.array(values, dtype=np.float64).reshape(len(of_arm), len(self.plan.measures)),
            )
        return arm_effects(groups, self.plan.measures, PREFERRING)

    @cached_property
    def participants(self) -> list[str]:
        """The participants with an answer that counts, in the order of their first answers."""
        return [*dict.fromkeys(each.participant for each in self.judgements)]

    @cached_property
    def analysis(self) -> PreferenceAnalysis:
        """The statistics of measures and people."""
        return analyse_preferences(
            [
                Answer(
                    *(each.participant, each.question, each.sign, each.position, each.seconds),
                    at_left=each.side == LEFT if each.sign else None,
                )
                for each in self.judgements
            ],
            [
                PairOfLists(each.number, self.list_differences(each), self._topics.get(each.number))
                for each in self.questions
            ],
            self.plan.measures,
        )

    @property
    def _topics(self) -> dict[int, str]:
        """The topic of each question whose topic is known."""
        sources = {each.number: each.source for each in self.questions}
        return {number: source.topic for number, source in sources.items() if source is not None}

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What the preferences support for each pair of measures."""
        return self.analysis.verdicts(self.level)

    def list_differences(self, question: Question) -> dict[str, float]:
        """Return how much better list A is by each measure; the sign is exact."""
        differences = {}
        for name, column in question.columns.items():
            first, second = column.values
            differences[name] = sign_of(question, name) * abs(first - second)
        return differences

    @cached_property
    def sides(self) -> Counter[str]:
        """The number of answers by side: left, right, equally good, neither good."""
        return Counter(each.side for each in self.judgements)

    @cached_property
    def asked_back(self) -> dict[str, int]:
        """How many preferences the page asked back about, and how many of them were kept, changed.

        Kept are those that still prefer the list that satisfied less.
        """
        asked = [each.contradicts for each in self.judgements if each.was_asked]
        kept = sum(asked)
        return {"asked": len(asked), "kept": kept, "changed": len(asked) - kept}

    @property
    def _side_p(self) -> float | None:
        """The exact p of the sign test of left against right; None without preferences."""
        return sign_test(self.sides[LEFT], self.sides[RIGHT])

    @cached_property
    def by_strength(self) -> dict[str, list[StrengthShare]]:
        """Each measure's agreement with slight, clear and strong preferences, where asked."""
        if not self.plan.ask_strength:
            return {name: [] for name in self.plan.measures}
        by_number = {each.number: each for each in self.questions}
        counts = Counter(
            (name, each.strength, each.sign * sign_of(by_number[each.question], name))
            for each in self.judgements
            if each.strength is not None
            for name in self.plan.measures
        )
        return {
            name: [
                StrengthShare(strength, *(counts[name, strength, sign] for sign in (1, -1, 0)))
                for strength in STRENGTHS
            ]
            for name in self.plan.measures
        }

    @cached_property
    def strengths(self) -> RunStrengths:
        """The runs' strengths, in the order of the plan, and every two runs compared."""
        sides = {
            each.number: (each.source.runs[LIST_LETTERS[0]], each.source.runs[LIST_LETTERS[1]])
            for each in self.questions
            if each.source is not None
        }
        answers = [(each.participant, each.question, each.sign) for each in self.judgements]
        return run_strengths(answers, sides, self.plan.runs, self._topics)

    @cached_property
    def run_verdicts(self) -> tuple[Verdict, ...]:
        """What the answers support for each pair of runs."""
        pairs, sampled = self.strengths.pairs, self.strengths.sampled
        noun = self._run_words.questions
        return tuple(each.verdict(sampled, noun, self.level) for each in pairs)

    @property
    def _run_words(self) -> LeadWords:
        return TOPIC_RUN_WORDS if self._topics else RUN_WORDS

    @cached_property
    def _run_rows(self) -> list[Row]:
        """Each two runs: how much more often than in half of the comparisons the first wins."""
        rows = []
        for each, verdict in zip(self.strengths.pairs, self.run_verdicts, strict=True):
            if each.rate is not None:
                low, high = each.ci95 or (None, None)
                interval = (
                    None
                    if low is None or high is None
                    else (low - RANDOM_AGREEMENT, high - RANDOM_AGREEMENT)
                )
                rows.append(Row(verdict, each.rate - RANDOM_AGREEMENT, interval))
        return rows

    @cached_property
    def runs(self) -> list[RunResult]:
        """The runs, those that people prefer first."""
        theta, intervals = self.strengths.theta, self.strengths.ci95
        results = []
        for index, run in enumerate(self.plan.runs):
            scores, satisfied = self._of_run(run)
            results.append(
                RunResult(
                    run=run,
                    wins=sum(scores),
                    comparisons=len(scores),
                    strength=theta[index] if theta else None,
                    ci95=intervals[index],
                    satisfaction=fmean(satisfied) if satisfied else None,
                    means={name: values[index] for name, values in self.means.items()},
                )
            )
        return sorted(results, key=lambda each: (-(each.strength or 0), -each.wins, each.run))

    def _of_run(self, run: str) -> tuple[list[float], list[int]]:
        """Return a run's scores, 1 for a win and ½ for a tie, and people's satisfaction."""
        letters = {
            question.number: letter
            for question in self.questions
            if question.source is not None
            for letter, name in question.source.runs.items()
            if name == run
        }
        of_run = [each for each in self.judgements if each.question in letters]
        signs = [
            each.sign if letters[each.question] == LIST_LETTERS[0] else -each.sign
            for each in of_run
        ]
        satisfied = [each.satisfaction.get(letters[each.question]) for each in of_run]
        scores = [0.5 + 0.5 * sign for sign in signs]
        return scores, [value for value in satisfied if value is not None]

    @cached_property
    def means(self) -> dict[str, list[float]]:
        """Each measure's mean over all topics of the study, for each run in the plan's order."""
        plan, values = self.plan, dict[str, list[Any]]()
        for index, lists in enumerate(plan.own_lists):
            marks = plan.own_marks[index] if plan.own_marks else NO_MARKS
            scored = build_question(0, lists, plan.measures, plan.setting, marks)
            for name, column in scored.columns.items():
                values.setdefault(name, []).append(column.values)
        return {name: np.mean(rows, axis=0).tolist() for name, rows in values.items()}

    @cached_property
    def tau(self) -> dict[str, float | None]:
        """Kendall's tau-b of the runs' order by people with that by each measure."""
        theta = self.strengths.theta
        if theta is None:
            return dict.fromkeys(self.plan.measures)
        taus = {}
        for name, means in self.means.items():
            scores = np.array(means) * (1 if MEASURES[name].better == "higher" else -1)
            # Rounded, so that an error of floats does not put tied runs into an order.
            value = float(tau_b(np.round(theta, 12), np.round(scores, 12)))
            taus[name] = None if np.isnan(value) else value
        return taus

    def as_json(self) -> dict[str, Any]:
        """Return all figures as plain values; an undefined one is None with a sibling ``why``."""
        analysis, strengths = self.analysis, self.strengths
        content = {
            VERDICT_RULES: RULES_NOW,
            "selection": self.plan.selection_sentence,
            "n": {
                "participants": analysis.participants,
                "questions": analysis.questions,
                "answers": analysis.answers,
                "preferring": analysis.preferring,
            },
            "answers": {name: self.sides[name] for name in PREFERRED},
            **({"arms": arms_json(self.arms)} if self.arms else {}),
            "side_p": self._side_p,
            "asked_back": {"satisfaction": self.asked_back},
            "measures": [
                {
                    "measure": each.measure,
                    "agree": each.agree,
                    "against": each.against,
                    "tied": each.tied,
                    "undecided": each.undecided,
                    "undecided_tied": each.undecided_tied,
                    "share": each.share,
                    "ci95": each.ci95,
                    "these_ci95": each.these_ci95,
                    **_why_of_share(each),
                    "chance": asdict(each.tests),
                    "by_size": [{**asdict(size), "share": size.share} for size in each.by_size],
                    "by_strength": [
                        {**one._asdict(), "share": one.share}
                        for one in self.by_strength[each.measure]
                    ],
                }
                for each in analysis.measures
            ],
            "differences": [
                {
                    "pair": str(each.pair),
                    "first": each.first,
                    "second": each.second,
                    **asdict(each.tests),
                    "verdict": {"scope": verdict.scope, "sentence": verdict.sentence},
                }
                for each, verdict in zip(analysis.differences, self.verdicts, strict=True)
            ],
            "people": {**asdict(analysis.people), **_why_of_people(analysis.people)},
            "order_effects": [json_values(each) for each in analysis.order_effects],
            "carry_over": json_values(analysis.carry_over),
            "bradley_terry": {
                "ties": TIES_AS_HALF,
                "why": strengths.why or (SAME_PLACES if None in self.tau.values() else None),
                "runs": [each._asdict() for each in self.runs],
                "pairs": [
                    self._pair_json(each, verdict)
                    for each, verdict in zip(strengths.pairs, self.run_verdicts, strict=True)
                ],
                "tau_b": self.tau,
            },
        }
        values: dict[str, Any] = explained(content)
        return values

    @staticmethod
    def _pair_json(pair: StrengthDifference, verdict: Verdict) -> dict[str, Any]:
        """Return two runs compared; ``se`` to ``p_step`` are of the test over topics of a kind."""
        tests = pair.tests
        of_population = tests.components if tests else None
        return {
            "pair": str(pair.pair),
            "difference": pair.difference,
            **{
                name: getattr(of_population, name, None)
                for name in ("se", "df", "t", "p", "p_step")
            },
            "kind": tests and asdict(tests.kind),
            "these": tests and asdict(tests.these),
            "effective": tests and asdict(tests.effective),
            "rate": pair.rate,
            "ci95": pair.ci95,
            "wins": pair.wins,
            "losses": pair.losses,
            "ties": pair.ties,
            "why": pair.why,
            "verdict": {
                name: getattr(verdict, name) for name in ("scope", "preferred", "sentence")
            },
        }

    @property
    def headline(self) -> str:
        """Which run people prefer, and whether that holds, in a sentence; else which measure."""
        if not self.judgements:
            return "No run leads: no answer counts."
        if circle := self.strengths.circle(self.level):
            first, second, third = circle
            return (
                f"People prefer {first} to {second}, {second} to {third} and {third} to {first}: "
                "no run is best."
            )
        if not self._run_rows and (counts := self._run_counts):
            return f"The runs' lead cannot be tested: {self.strengths.why}; {counts}."
        if self._run_rows:
            return headline(self._run_rows, self.strengths.sampled, self._run_words)
        return self.measures_headline

    @property
    def _run_counts(self) -> str:
        """How often each two runs won, the one that won more often first; "" without answers."""
        counts = []
        for each in self.strengths.pairs:
            (first, second), won, lost = each.pair, each.wins, each.losses
            if won < lost:
                first, second, won, lost = second, first, lost, won
            if won + lost + each.ties:
                counts.append(f"{first} over {second}: {won} won, {lost} lost, {each.ties} tied")
        return "; ".join(counts)

    @property
    def measures_headline(self) -> str:
        """Which measure agrees best with people, and whether that holds, in a sentence."""
        analysis = self.analysis
        if self._rows:
            return headline(self._rows, analysis.answered, AGREEMENT)
        [only] = analysis.measures  # of two or more measures there are rows
        if only.share is None:
            why = "it ties every pair of which one is preferred"
            why = why if only.tied else "no answer prefers a list"
            return f"Nothing says whether {only.measure} agrees with people: {why}."
        share = f"{100 * only.share:.0f} % of people's preferences"
        decision = only.decision(self.level)
        if decision is None:
            return f"{only.measure} agrees with {share}, which is not beyond chance."
        where = f"this holds {where_it_holds(decision.population, analysis.answered)}"
        if only.share < RANDOM_AGREEMENT:
            return f"{only.measure} goes against people: it agrees with {share}, and {where}."
        return f"{only.measure} agrees with {share}, and {where}."

    @property
    def _rows(self) -> list[Row]:
        pairs = zip(self.verdicts, self.analysis.differences, strict=True)
        return [Row.of(verdict, each.tests) for verdict, each in pairs]

    @property
    def tests(self) -> str:
        """See ``Results``."""
        return (
            "Runs are compared by strengths of Bradley and Terry, measures by their agreement with "
            "the same preferences: for people and questions of this kind by a t on variance "
            "components, for these questions by the t of participants, corrected for all pairs."
        )

    @property
    def early_looks(self) -> str:
        """Sentences about looks at results before the last answers came; "" without looks."""
        return early_looks(self.looks, self.level)

    @property
    def standings(self) -> list[tuple[str, str, str]]:
        """Each two runs, then each two measures: the winner first, how far, whether it holds."""
        words, sampled = self._run_words, self.strengths.sampled
        compared = [pair for pair in self.strengths.pairs if pair.rate is not None]
        runs = [
            (names, lead, f"{holds}. {pair.of_100_answers}")
            for pair, row in zip(compared, self._run_rows, strict=True)
            for names, lead, holds in [row_texts(row, sampled, words)]
        ]
        return [*runs, *(row_texts(row, self.analysis.answered, AGREEMENT) for row in self._rows)]

    @property
    def counts(self) -> str:
        """How many participants, questions and answers count, on one line."""
        analysis = self.analysis
        return " · ".join(
            [
                "By people's preferences",
                count_of(analysis.participants, "participant"),
                count_of(analysis.questions, "question"),
                count_of(analysis.answers, "answer"),
            ]
        )

    def own_exhibits(self) -> list[Exhibit]:
        """Return the figures of which run is preferred, and how far measures agree with people."""
        rows = [
            (each.measure, each.share, each.ci95, each.these_ci95)
            for each in self.analysis.measures
        ]
        of_runs = [each.rates for each in self.strengths.pairs if each.rate is not None]
        topics = self._run_words.questions
        runs = [run_preferences(of_runs, topics)] if of_runs else []
        strengths = [(each.run, each.strength, each.ci95) for each in self.runs]
        runs += [strengths_of_runs(strengths)] if len(strengths) > 2 else []
        return [*runs, preferences_agreeing(rows)]

    @property
    def sentences(self) -> list[Sentence]:
        """What to read first: the runs, the measures, and how pairs were selected."""
        sentences: list[str] = []
        if self.judgements:
            sentences += [verdict.sentence for verdict in self.run_verdicts]
            of_runs = self._run_rows or self._run_counts
            sentences += [self.measures_headline] if of_runs else []
            sentences += [verdict.sentence for verdict in self.verdicts]
        sentences += [f"Pairs: {self.plan.selection_sentence}.", *self._asked()]
        return [*map(Sentence, sentences)]

    def _asked(self) -> Iterator[str]:
        counts = self.asked_back
        if counts["asked"]:
            yield (
                "Preferences for the list that satisfied less: pages asked back about "
                f"{counts['asked']}; {counts['kept']} were kept, {counts['changed']} changed."
            )

    def own_sheets(self) -> list[Sheet]:
        """Return the tables of answers, measures, people and runs; an empty one without answers."""
        if not self.judgements:
            return [Sheet("answers", "Answers", ("answer", "count"), ())]
        return [
            *([self._run_pairs()] if self._run_rows else []),
            self._answers(),
            self._measures(),
            *([self._sizes()] if any(each.by_size for each in self.analysis.measures) else []),
            *([self._strengths()] if self.plan.ask_strength else []),
            *([self._compared()] if self.analysis.differences else []),
            self._people_sheet(),
            *(arm_sheets(self.arms) if self.arms else ()),
            self._runs(),
            *([self._run_orders()] if len(self.plan.runs) > 2 else []),
            order_effects_sheet(
                self.analysis.order_effects, self.analysis.carry_over, "in agreement"
            ),
        ]

    @property
    def sections(self) -> list[Section]:
        """See ``Results``; what the arms change has a part of its own."""
        sections = super().sections
        if self.arms is None or not self.judgements:
            return sections
        others = [each for each in sections if each.name not in ("arms", "arm-effects")]
        return [*others[:1], arms_section(self.arms, self.level), *others[1:]]

    def _answers(self) -> Sheet:
        words = ("list at the left", "list at the right", "equally good", "neither good")
        rows = [
            (text, self.sides[name], self.sides[name] / len(self.judgements))
            for name, text in zip(PREFERRED, words, strict=True)
        ]
        p = self._side_p
        people = count_of(self.analysis.participants, "person", "people")
        note = f"{people}. Sides are dealt by chance."
        if p is not None:
            note += f" Left against right: exact {p_text(p)}."
        columns = ("answer", "count", "share")
        return Sheet("answers", "Answers", columns, tuple(rows), note, part="checks")

    def _measures(self) -> Sheet:
        columns = (
            *("measure", "agree", "against", "it ties", "share", "95 % interval", "p"),
            *("no list preferred", "and it ties"),
        )
        rows: list[tuple[Cell, ...]] = [
            (
                *(each.measure, each.agree, each.against, each.tied, each.share),
                *(_interval(each.ci95 or each.these_ci95), _p(each.tests.kind.p)),
                *(each.undecided, each.undecided_tied),
            )
            for each in self.analysis.measures
        ]
        note = (
            "Share: of the preferences that the measure does not tie, those with which its sign "
            "agrees. Interval and p (against one half): for people and questions of this kind; "
            "where that is undefined, the interval is for these questions. p is corrected for the "
            "number of measures (Holm)."
        )
        title = "How often each measure agrees with a preference"
        return Sheet("measures", title, columns, tuple(rows), note)

    def _sizes(self) -> Sheet:
        columns = ("measure", "difference", "from", "to", "questions", "agree", "against", "share")
        rows = tuple(
            (
                *(each.measure, size.size, size.least, size.most),
                *(size.questions, size.agree, size.against, size.share),
            )
            for each in self.analysis.measures
            for size in each.by_size
        )
        title = "By the size of the measure's difference"
        return Sheet("sizes", title, columns, rows, part="others")

    def _strengths(self) -> Sheet:
        rows = tuple(
            (name, STRENGTHS[each.strength], each.agree, each.against, each.tied, each.share)
            for name, of_measure in self.by_strength.items()
            for each in of_measure
        )
        columns = ("measure", "better", "agree", "against", "it ties", "share")
        title = "By how much better people find the list"
        return Sheet("strengths", title, columns, rows, part="others")

    def _compared(self) -> Sheet:
        columns = (
            *("pair", "agree with first", "with second", "difference"),
            *("95 % interval", "p, corrected", "these questions", "p, Holm"),
            *("standard error", "of independent answers"),
        )
        rows = []
        for each in self.analysis.differences:
            population, these, errors = each.tests.kind, each.tests.these, each.tests.components
            rows.append(
                (
                    *(Worded(str(each.pair), each.pair.title), each.first, each.second),
                    *(each.tests.mean, _interval(population.ci95, 1.0), _p(population.p)),
                    *(_interval(these.ci95, 1.0), _p(these.p)),
                    *(errors.se, errors.se_independent),
                )
            )
        note = (
            "Over the same preferences; a measure that ties a pair agrees by one half. The first "
            "interval is for people and questions of this kind, corrected by the largest |t| and "
            "stepping down; the second for people and these questions. Standard error: of the test "
            "for questions of this kind, and if all answers were independent of one another. For "
            "planning or pooling use the larger."
        )
        title = "Measures compared on the same preferences"
        return Sheet("differences", title, columns, tuple(rows), note)

    def _people_sheet(self) -> Sheet:
        people = self.analysis.people
        rows = (
            ("two people prefer the same list", people.pairs),
            ("a preference is that of most others", people.others),
            ("Krippendorff's alpha, ordinal", people.alpha),
        )
        note = (
            "The second line compares each preference with those of the others who answered the "
            "question. It is no upper bound for a measure: one that always sides with what most "
            "people prefer agrees at least about as often, and with few people per question more "
            "often."
        )
        columns = ("of people", "value")
        return Sheet("people", "How far people agree", columns, rows, note, part="checks")

    def _run_pairs(self) -> Sheet:
        """Return the table of every two runs, in a row the one that is ahead first."""
        rows: list[tuple[Cell, ...]] = []
        for each in self.strengths.pairs:
            if each.rate is None or each.tests is None:
                continue
            ahead = each.rate >= RANDOM_AGREEMENT
            first, second = each.pair if ahead else each.pair[::-1]
            won, lost = (each.wins, each.losses) if ahead else (each.losses, each.wins)
            low, high = each.ci95 or (None, None)
            if not ahead and low is not None and high is not None:
                low, high = 1 - high, 1 - low
            rate = each.rate if ahead else 1 - each.rate
            total = max(1, won + lost + each.ties)
            shares = (100 * count / total for count in (won, lost, each.ties))
            tested = _p(each.tests.kind.p), _p(each.tests.these.p)
            rows.append(
                (f"{first} − {second}", 100 * rate, _percents(low, high), *tested, *shares, total)
            )
        noun = self._run_words.questions
        return Sheet(
            name="run-pairs",
            title="Which run people prefer: every two runs",
            columns=(
                *("runs", "of 100 comparisons", "95 % interval", f"p, {noun} of this kind"),
                *(f"p, these {noun}", "of 100 answers for the first", "for the second"),
                *("for neither", "answers"),
            ),
            rows=tuple(rows),
            note=(
                "Of 100 comparisons: how often the first is preferred, by all runs' strengths, "
                f"a tie as half, with the interval of this pair by itself. p: of {noun} of this "
                f"kind and of these {noun} alone, each corrected for all pairs."
            ),
            decimals=0,
        )

    def _runs(self) -> Sheet:
        satisfaction = ("satisfaction",) if self.plan.ask_satisfaction else ()
        columns = (
            *("run", "won", "of", "strength", "95 % interval"),
            *(*satisfaction, *(MEASURES[name].mean_name for name in self.plan.measures)),
        )
        rows: list[tuple[Cell, ...]] = [
            (
                *(each.run, _whole(each.wins), each.comparisons, each.strength),
                _interval(each.ci95),
                *([each.satisfaction] if satisfaction else []),
                *each.means.values(),
            )
            for each in self.runs
        ]
        reason = self.strengths.why
        why = f" {reason[0].upper()}{reason[1:]}." if reason else ""
        note = (
            f"Strength: log-odds by Bradley and Terry, mean 0; {TIES_AS_HALF}. Interval: for "
            f"people and questions of this kind. Measures: means over all topics of the "
            f"study.{why}"
        )
        return Sheet("runs", "Runs, by people and by measures", columns, tuple(rows), note)

    def _run_orders(self) -> Sheet:
        return Sheet(
            name="run-orders",
            title="How alike measures and people order the runs",
            columns=("measure", "tau-b with people"),
            rows=tuple((MEASURES[name].mean_name, tau) for name, tau in self.tau.items()),
            note="Kendall's tau-b of the measure's means and of people's strengths: 1 for the same "
            "order, −1 for the reverse.",
        )


def _why_of_share(measure: MeasureAgreement) -> dict[str, str]:
    """Return why a measure's share has no interval, where it has a share."""
    tests = measure.tests
    if measure.share is None or (measure.ci95 and measure.these_ci95):
        return {}
    return {"why": tests.components.why or tests.participants.why or "it has no spread"}


def _why_of_people(people: HumanAgreement) -> dict[str, str]:
    if people.alpha is None or people.pairs is None:
        return {"why": "no two people prefer a list of the same question"}
    if people.alpha_ci95 is None:
        return {"why": "alpha is the same without each topic and each person"}
    return {}


def _interval(interval: Interval | None, most: float = inf) -> str | None:
    """Format an interval; ``most``: what its ends cannot exceed, in either direction."""
    if interval is None:
        return None
    low, high = max(interval[0], -most), min(interval[1], most)
    return f"{rounded(low, 3)} to {rounded(high, 3)}"


def _percents(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{rounded(100 * low, 0)} to {rounded(100 * high, 0)}"


def _whole(wins: float) -> int | Starred:
    """Return wins without decimals where there are no halves, else with one."""
    return Starred(wins, "", decimals=1) if wins % 1 else int(wins)


def _p(p: float | None) -> P | None:
    return None if p is None else P(p)
