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
    MOST_RUNS_IN_FULL,
    NEW_QUESTIONS,
    RUN_WORDS,
    THESE_QUESTIONS,
    AnswerRow,
    Chip,
    LeadWords,
    Row,
    answer_rows,
    by_leads,
    chip,
    circle_headline,
    headline,
    points_of,
)
from survey.core.agreement.pooled_sites import PairOfSite
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
from survey.core.agreement.run_leads import RunLead, RunLeads, pairs_of_site, run_leads
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
from survey.core.statistics.significance import (
    LEVEL,
    Interval,
    decimal_text,
    ends_text,
    p_text,
    rounded,
    sign_test,
)
from survey.core.studies.questions import NO_MARKS, Question, build_question
from survey.figures.answers import leads_of_runs
from survey.figures.exhibit import Exhibit
from survey.figures.judging import preferences_agreeing, run_preferences, strengths_of_runs
from survey.kinds.preference.answer import STRENGTHS
from survey.kinds.preference.plan import (
    LEFT,
    LIST_LETTERS,
    PREFERRED,
    RIGHT,
    PairsOfFile,
    PreferencePlan,
    sign_of,
)
from survey.services.analysis.arm_sheets import arm_sheets, arms_json, arms_section
from survey.services.analysis.order_effects import order_effects_sheet
from survey.services.analysis.results import (
    SUPPORTED,
    Block,
    Results,
    Section,
    Sentence,
    Sentences,
    Tested,
)
from survey.services.analysis.sheets import Cell, P, Sheet, Starred, Worded, count_of

TEST_OF_LEADS = (
    "mean lead per answer (1, −1; no list 0), variance components over people and {}, never less "
    "than over people alone"
)
TEST_OF_MEASURES = "variance components over people and questions"
CORRECTION_OF_MEASURES = "corrected for all pairs"
MOST_IN_A_GIST = 3  # pairs, where a part is folded
BEYOND_CHANCE = "Beyond chance: 2P − 1, P the share of such cases; 0 is chance, 1 always the same."
NO_SIDES = "The file does not say which list was at the left"
NO_LISTS = "What measures say is not computed: there is no questions.csv with the lists."
RANDOM_AGREEMENT = 0.5  # the agreement of a random choice
TIES_AS_HALF = "equally good and neither good count as half a win for each list"


@dataclass(frozen=True)
class Judgement:
    """A preference: ``preferred`` is a list's letter, "equal" or "neither"; ``side`` as answered,
    "" where a file does not say which list was at the left.

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
    not_pooled = ""

    plan: PreferencePlan | PairsOfFile
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
                    at_left=each.side == LEFT if each.sign and each.side else None,
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
        return {
            number: source.topic for number, source in sources.items() if source and source.topic
        }

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
    def _run_sides(self) -> dict[int, tuple[str, str]]:
        """Of each question the runs of list A and list B."""
        return {
            each.number: (each.source.runs[LIST_LETTERS[0]], each.source.runs[LIST_LETTERS[1]])
            for each in self.questions
            if each.source is not None
        }

    @cached_property
    def _signs(self) -> list[tuple[str, int, int]]:
        return [
            (judgement.participant, judgement.question, judgement.sign)
            for judgement in self.judgements
        ]

    @cached_property
    def leads(self) -> RunLeads:
        """Every two runs by the answers to their own questions: what the headline tells."""
        smallest = self.plan.smallest_lead and self.plan.smallest_lead / 100
        return run_leads(self._signs, self._run_sides, self.plan.runs, self._topics, smallest)

    @property
    def site_pairs(self) -> list[PairOfSite]:
        """See ``Results``; each pair of runs."""
        return [*pairs_of_site(self._signs, self._run_sides, self.plan.runs, self._topics)]

    @cached_property
    def lead_rows(self) -> list[Row]:
        """The pairs of runs as rows, those of the best run first."""
        rows = [
            lead.row(self.leads.sampled, self._run_words.questions, self.level)
            for lead in self.leads.pairs
        ]
        order = by_leads(rows)
        return sorted(rows, key=lambda row: sorted(map(order.index, row.verdict.pair)))

    @property
    def _told_rows(self) -> list[Row]:
        """The pairs on the first screen: of more than four systems, those of the best one."""
        rows = self.lead_rows
        if len(self.plan.runs) <= MOST_RUNS_IN_FULL:
            return rows
        return [row for row in rows if by_leads(rows)[0] in row.verdict.pair]

    def _lead_of(self, row: Row) -> RunLead:
        return next(lead for lead in self.leads.pairs if lead.pair == row.verdict.pair)

    @cached_property
    def strengths(self) -> RunStrengths:
        """The runs' strengths, in the order of the plan, and every two runs compared."""
        return run_strengths(self._signs, self._run_sides, self.plan.runs, self._topics)

    @cached_property
    def run_verdicts(self) -> tuple[Verdict, ...]:
        """What the answers support for each pair of runs."""
        pairs, sampled = self.strengths.pairs, self.strengths.sampled
        noun = self._run_words.questions
        return tuple(each.verdict(sampled, noun, self.level) for each in pairs)

    @property
    def _run_words(self) -> LeadWords:
        """Of several questions about a topic, topics are the sample, and are named."""
        several = self.leads.sampled < self.analysis.answered
        return RUN_WORDS._replace(questions="topics" if several else "questions")

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
        circle = self.leads.circle(self.level)
        content = {
            VERDICT_RULES: RULES_NOW,
            "selection": self.plan.selection_sentence,
            "n": {
                "participants": analysis.participants,
                "questions": analysis.questions,
                "answers": analysis.answers,
                "preferring": analysis.preferring,
            },
            "answers": self._answers_json,
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
            "leads": {
                "sampled": self.leads.sampled,
                "circle": circle[0] if circle else (),
                "pairs": [self._lead_json(lead) for lead in self.leads.pairs],
            },
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

    @property
    def _has_sides(self) -> bool:
        """Whether it is known on which side lists were."""
        return "" not in self.sides

    @property
    def _answers_json(self) -> dict[str, Any]:
        counts: dict[str, Any] = {name: self.sides[name] for name in PREFERRED}
        if not self._has_sides:
            counts |= {LEFT: None, RIGHT: None, "why": NO_SIDES}
        return counts

    def _lead_json(self, lead: RunLead) -> dict[str, Any]:
        """Return the lead of one run over another, with what was tested of it."""
        verdict = lead.verdict(self.leads.sampled, self._run_words.questions, self.level)
        equality = {"equivalence": asdict(lead.equality)} if lead.equality else {}
        return {
            "pair": str(lead.pair),
            "for_first": lead.wins,
            "for_second": lead.losses,
            "for_neither": lead.neither,
            "lead": lead.tests.mean,
            "components": asdict(lead.tests.components),
            "participants": asdict(lead.tests.participants),
            "kind": asdict(lead.tests.kind),
            "these": asdict(lead.tests.these),
            "effective": asdict(lead.tests.effective),
            **equality,
            "verdict": {
                name: getattr(verdict, name) for name in ("scope", "preferred", "sentence")
            },
        }

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
    def pair_points(self) -> dict[str, float]:
        """See ``Results``: of pairs of systems; without runs, of measures."""
        return points_of(self.lead_rows or self._rows)

    @property
    def headline(self) -> str:
        """Which system people prefer, and whether that holds; without runs, which measure."""
        if not self.judgements:
            return "No system leads: no answer counts."
        words, sampled = self._run_words, self.leads.sampled
        if circle := self.leads.circle(self.level):
            return circle_headline(*circle, sampled, words.questions)
        if self.lead_rows:
            return headline(self.lead_rows, sampled, words)
        return self.measures_headline

    @property
    def chip(self) -> Chip | None:
        """See ``Results``."""
        rows = self._told_rows or self._rows
        if not rows or not self.judgements:
            return None
        if circle := self.leads.circle(self.level):
            return Chip(NEW_QUESTIONS if circle[1] == "kind" else THESE_QUESTIONS, "holds")
        return chip(rows)

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: pairs of systems, of more than four those of the best one."""
        if not self.judgements:
            return []
        if not self.lead_rows:
            return answer_rows(self._rows, AGREEMENT)
        counts = [self._lead_of(row).shares_text for row in self._told_rows]
        rows = answer_rows(self._told_rows, self._run_words, counts)
        return rows if rows[1:] else [*rows, AnswerRow("People with one another:", self._same)]

    @property
    def _same(self) -> str:
        """How often two people prefer the same list, in a sentence; "" where none can."""
        people = self.analysis.people
        if people.pairs is None or people.net_agreement is None:
            return "no two of them prefer a list of the same question."
        net = decimal_text(people.net_agreement)
        if people.net_agreement_ci95:
            net += f", {ends_text(*people.net_agreement_ci95)}"
        return (
            "two who prefer a list prefer the same one in "
            f"{rounded(100 * people.pairs, 0)} of 100 cases (beyond chance: {net})."
        )

    @property
    def rows_note(self) -> str:
        """See ``Results``."""
        number = len(self.lead_rows)
        if not number or not self.judgements:
            return ""
        together = f" for all {number} pairs together" if number > 1 else ""
        same = f" Of people, {self._same}" if number > 1 else ""
        beyond = f" {BEYOND_CHANCE}" if self.analysis.people.net_agreement is not None else ""
        return f"95 % intervals{together}.{same}{beyond}"

    @property
    def method(self) -> str:
        """See ``Results``."""
        if not self.judgements:
            return ""
        number = len(self.lead_rows)
        if not number:
            return f"Test: {TEST_OF_MEASURES}; {CORRECTION_OF_MEASURES}."
        return (
            f"Test: {TEST_OF_LEADS.format(self._run_words.questions)}. Correction: "
            f"{correction_of_leads(number)}; p and intervals are of this one test."
        )

    @property
    def tested(self) -> list[Tested]:
        """See ``Results``: pairs of systems, then of measures."""
        leads = [Tested.of(lead.pair, lead.tests) for lead in self.leads.pairs]
        return leads + [
            Tested.of(difference.pair, difference.tests) for difference in self.analysis.differences
        ]

    @property
    def measures_headline(self) -> str:
        """Which measure agrees best with people, and whether that holds, in a sentence."""
        analysis = self.analysis
        if not analysis.measures:
            return ""
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
    def early_looks(self) -> str:
        """Sentences about looks at results before the last answers came; "" without looks."""
        return early_looks(self.looks, self.level)

    @property
    def counts(self) -> str:
        """How many participants, questions and answers count, on one line."""
        analysis, topics = self.analysis, self.leads.sampled
        parts = [
            count_of(analysis.participants, "participant"),
            count_of(analysis.questions, "question"),
            *([count_of(topics, "topic")] if self._run_words.questions == "topics" else []),
            *([count_of(len(self.plan.runs), "system")] if self.plan.runs else []),
            count_of(analysis.answers, "answer"),
        ]
        return " · ".join(parts)

    def own_exhibits(self) -> list[Exhibit]:
        """Return the figures of which run is preferred, and how far measures agree with people."""
        rows = [
            (each.measure, each.share, each.ci95, each.these_ci95)
            for each in self.analysis.measures
        ]
        of_runs = [each.rates for each in self.strengths.pairs if each.rate is not None]
        topics = "topics" if self._topics else "questions"
        leads = [leads_of_runs(self._best_leads, self._caption)] if self.leads.pairs else []
        runs = [run_preferences(of_runs, topics)] if of_runs else []
        strengths = [(run.run, run.strength, run.ci95) for run in self.runs]
        runs += [strengths_of_runs(strengths)] if len(strengths) > 2 else []
        return [*leads, *([preferences_agreeing(rows)] if rows else []), *runs]

    @property
    def _best_leads(self) -> list[Any]:
        """What the figure of leads shows: of more than four systems, the best against the rest."""
        shown = []
        for row in self._told_rows:
            lead, sign = self._lead_of(row), 1 if row.ahead == (*row.verdict.pair,) else -1
            interval = row.interval and tuple(sorted(sign * end for end in row.interval))
            shown.append((*row.ahead, lead.of_100_answers, sign * (row.lead or 0.0), interval))
        return shown

    @property
    def _caption(self) -> str:
        """What the figure of leads shows; it explains points."""
        noun, sampled = self._run_words.questions, self.leads.sampled
        best = " The best system against the others." if len(self.plan.runs) > 4 else ""
        pairs = len(self.leads.pairs)
        together = f", for all {pairs} pairs together" if pairs > 1 else ""
        return (
            f"How often {count_of(self.analysis.participants, 'person', 'people')} preferred each "
            f"system's list, side by side, for {sampled} {noun}.{best} Lead in points: of 100 "
            "answers, how many more prefer the first system than the second; “equally good” and "
            f"“neither” count for none. 95 % intervals over people and {noun}{together}."
        )

    @property
    def sentences(self) -> list[Sentence]:
        """The verdicts of all pairs of systems, the measures, and how pairs were selected."""
        sentences: list[Sentence] = []
        if self.judgements:
            sentences += [_sentence_of(row.verdict) for row in self.lead_rows]
            if self.lead_rows and self.measures_headline:
                sentences.append(Sentence(self.measures_headline))
            sentences += [_sentence_of(verdict) for verdict in self.verdicts]
        more = [f"Pairs: {self.plan.selection_sentence}.", *self._asked()]
        return [*sentences, *map(Sentence, more)]

    def _asked(self) -> Iterator[str]:
        if not self.plan.measures:
            yield NO_LISTS
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
            *([self._leads_sheet(), self._topics_sheet()] if self.leads.pairs else []),
            *([self._run_pairs()] if self.strengths.theta else []),
            self._answers(),
            *([self._measures()] if self.plan.measures else []),
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

    @cached_property
    def sections(self) -> list[Section]:
        """See ``Results``."""
        if not self.judgements:
            return []
        of_runs = [_sentence_of(row.verdict) for row in self.lead_rows]
        sections = [self._verdicts_section(of_runs)] if of_runs else []
        if self.plan.measures:
            sections.append(self._measures_section)
        if self.arms is not None:
            sections.append(arms_section(self.arms, self.level))
        if of_runs:
            title, listing = "Topic by topic", self.listings("topics")
            sections.append(Section("topics", title, "Topics", listing, self._topics_gist))
            sections.append(self._strengths_section)
        sections.append(self._reliance_section)
        return [*sections, *self.attention_sections, *self.beside_sections]

    def _verdicts_section(self, sentences: Sequence[Sentence]) -> Section:
        """The verdicts of pairs of systems, with the numbers behind them."""
        decided = sum(bool(sentence.is_decided) for sentence in sentences)
        gist = f"{decided} of {count_of(len(sentences), 'pair')} decided, each in full"
        how = Sentence(f"Pairs: {self.plan.selection_sentence}.")
        blocks: list[Block] = [Sentences([*sentences, how]), *self.listings("leads")]
        return Section("verdicts", SUPPORTED, "Verdicts", blocks, gist)

    @property
    def _measures_section(self) -> Section:
        shares = [
            f"{measure.measure} in {rounded(100 * measure.share, 0)} of 100"
            for measure in self.analysis.measures
            if measure.share is not None
        ]
        verdicts = [Sentence(self.measures_headline), *map(_sentence_of, self.verdicts)]
        blocks = [
            Sentences(verdicts),
            *self.figures("agreement-with-preferences"),
            *self.listings("measures", "differences", "sizes", "strengths"),
        ]
        gist = ", ".join(shares) or "0 preferences count"
        return Section("agreement", "Which measure agrees with people?", "Measures", blocks, gist)

    @property
    def _strengths_section(self) -> Section:
        verdicts = Sentences([_sentence_of(verdict) for verdict in self.run_verdicts])
        blocks = [verdicts, *self.figures("run-preferences"), *self.listings("run-pairs", "runs")]
        known = [run for run in self.runs if run.strength is not None]
        gist = ", ".join(f"{run.run} {rounded(run.strength or 0.0, 2)}" for run in known)
        gist = f"{gist} (Bradley–Terry)" if known else f"{len(self.runs)} systems, none fits"
        return Section("strengths", "Strengths of all systems", "Strengths", blocks, gist)

    @property
    def _reliance_section(self) -> Section:
        left = self.sides[LEFT]
        preferring = left + self.sides[RIGHT]
        gists = [f"the left list wins {left} of {preferring} preferences"] * self._has_sides
        if (net := self.analysis.people.net_agreement) is not None:
            gists.append(f"people agree by {decimal_text(net)} beyond chance")
        blocks = [
            Sentences([*map(Sentence, self._asked())]),
            *self.listings("answers", "people", "order-effects"),
        ]
        return Section("reliance", "Can you rely on it?", "Reliance", blocks, "; ".join(gists))

    @cached_property
    def _by_topic(self) -> dict[tuple[str, tuple[str, str]], Counter[str | None]]:
        """Topic, or question, and pair with the run that is ahead first → who was preferred."""
        ahead = {frozenset(row.ahead): row.ahead for row in self.lead_rows}
        counts: dict[tuple[str, tuple[str, str]], Counter[str | None]] = {}
        for _, number, sign in self._signs:
            if number in self._run_sides:
                first, second = self._run_sides[number]
                key = self._topics.get(number, str(number)), ahead[frozenset((first, second))]
                preferred = {1: first, -1: second}.get(sign)
                counts.setdefault(key, Counter())[preferred] += 1
        return counts

    @property
    def _topics_gist(self) -> str:
        """In how many topics each run beats another."""
        parts = []
        for row in self.lead_rows[:MOST_IN_A_GIST]:
            first, second = row.ahead
            of_pair = [of for (_, pair), of in self._by_topic.items() if pair == row.ahead]
            beaten = sum(of[first] > of[second] for of in of_pair)
            noun = self._run_words.questions
            parts.append(f"{first} beats {second} in {beaten} of {len(of_pair)} {noun}")
        return ", ".join(parts)

    def _topics_sheet(self) -> Sheet:
        rows = tuple(
            (topic, *pair, counts[pair[0]], counts[pair[1]], counts[None])
            for (topic, pair), counts in self._by_topic.items()
        )
        columns = ("topic", "first", "second", "for the first", "for the second", "for neither")
        return Sheet("topics", "Answers by topic", columns, rows)

    def _leads_sheet(self) -> Sheet:
        rows: list[tuple[Cell, ...]] = []
        for row in self.lead_rows:
            lead, tests = self._lead_of(row), self._lead_of(row).tests
            sign = 1 if row.ahead == (*row.verdict.pair,) else -1
            points = [
                _in_points(test.ci95_simultaneous, sign) for test in (tests.kind, tests.these)
            ]
            won, lost = sorted((lead.wins, lead.losses), reverse=True)
            rows.append(
                (
                    *(" − ".join(row.ahead), 100 * sign * (row.lead or 0.0), points[0]),
                    *(_p(tests.kind.p), points[1], _p(tests.these.p), won, lost, lead.neither),
                )
            )
        noun = self._run_words.questions
        return Sheet(
            name="leads",
            title="Which system people prefer: leads in points",
            columns=(
                *("systems", "lead", "95 % interval", f"p, {noun} of this kind"),
                *(f"these {noun}", f"p, these {noun}", "for the first", "for the second"),
                "for neither",
            ),
            rows=tuple(rows),
            note=(
                "Lead: of 100 answers, how many more prefer the first than the second. Intervals "
                f"are of all pairs together, and p is corrected for all of them. {self.method}"
            ),
            decimals=1,
        )

    def _answers(self) -> Sheet:
        words = ("list at the left", "list at the right", "equally good", "neither good")
        rows = [
            (text, self.sides[name], self.sides[name] / len(self.judgements))
            for name, text in zip(PREFERRED, words, strict=True)
            if self._has_sides or name not in (LEFT, RIGHT)
        ]
        p = self._side_p
        people = count_of(self.analysis.participants, "person", "people")
        note = f"{people}. {'Sides are dealt by chance' if self._has_sides else NO_SIDES}."
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
            ("beyond chance: 2P − 1, P the share above", people.net_agreement),
            ("a preference is that of most others", people.others),
        )
        note = (
            "Beyond chance: 0 is what chance gives, 1 is full agreement. The last line compares "
            "each preference with those of the others who answered the question. It is no upper "
            "bound for a measure: one that always sides with what most people prefer agrees at "
            "least about as often, and with few people per question more often."
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


def correction_of_leads(number: int) -> str:
    """Return for how many pairs of systems leads are corrected, and by which method."""
    return f"Bonferroni, {number} pairs of systems" if number > 1 else "none, one pair"


def _why_of_share(measure: MeasureAgreement) -> dict[str, str]:
    """Return why a measure's share has no interval, where it has a share."""
    tests = measure.tests
    if measure.share is None or (measure.ci95 and measure.these_ci95):
        return {}
    return {"why": tests.components.why or tests.participants.why or "it has no spread"}


def _why_of_people(people: HumanAgreement) -> dict[str, str]:
    if people.alpha is None or people.pairs is None:
        return {"why": "no two people prefer a list of the same question"}
    if people.alpha_ci95 is None or people.net_agreement_ci95 is None:
        return {"why": "it is the same without each topic and each person"}
    return {}


def _interval(interval: Interval | None, most: float = inf) -> str | None:
    """Format an interval; ``most``: what its ends cannot exceed, in either direction."""
    if interval is None:
        return None
    low, high = max(interval[0], -most), min(interval[1], most)
    return f"{rounded(low, 3)} to {rounded(high, 3)}"


def _in_points(interval: Interval | None, sign: int) -> str | None:
    if interval is None:
        return None
    low, high = sorted(sign * end for end in interval)
    return f"{rounded(100 * low)} to {rounded(100 * high)}"


def _sentence_of(verdict: Verdict) -> Sentence:
    return Sentence(verdict.sentence, verdict.pair.title, verdict.scope != "none")


def _percents(low: float | None, high: float | None) -> str | None:
    if low is None or high is None:
        return None
    return f"{rounded(100 * low, 0)} to {rounded(100 * high, 0)}"


def _whole(wins: float) -> int | Starred:
    """Return wins without decimals where there are no halves, else with one."""
    return Starred(wins, "", decimals=1) if wins % 1 else int(wins)


def _p(p: float | None) -> P | None:
    return None if p is None else P(p)
