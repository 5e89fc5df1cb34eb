"""The results of an ordering study: what the votes support, tables, figures and report."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from survey.core.agreement.agreement import Difference, MeanTests
from survey.core.agreement.credits import Ballots, tally_credits
from survey.core.agreement.headlines import (
    ORDERINGS,
    VOTE_WORDS,
    AnswerRow,
    Chip,
    LeadWords,
    Row,
    answer_rows,
    chip,
    headline,
    points_of,
)
from survey.core.agreement.pooled_sites import PairOfSite
from survey.core.statistics.significance import rounded
from survey.figures.analysis import analysis_exhibits
from survey.figures.exhibit import Exhibit
from survey.kinds.ordering.analysis import (
    Analysis,
    analyse_votes,
    analysis_json,
    flagged_people,
    people_mask,
    site_pairs,
)
from survey.kinds.ordering.plan import CORRECTION, TEST
from survey.kinds.ordering.sheets import (
    participants_exhibits,
    participants_sheet,
    runs_exhibits,
    tables_of,
)
from survey.services.analysis.arm_sheets import arms_section
from survey.services.analysis.attention_sheets import repeat_without
from survey.services.analysis.results import (
    NO_EVIDENCE,
    Block,
    Figure,
    Listing,
    More,
    PastVotes,
    Prose,
    Results,
    Section,
    Sentence,
    Terms,
    Tested,
    simulated_notice,
)
from survey.services.analysis.sheets import Sheet, count_of
from survey.services.analysis.study_results import AnalysisOptions

PUBLIC = ("table4", "shares", "own-orderings")
NOTHING_TICKED = (
    "No participant was shown a measure's ordering, so nothing could be ticked: what follows on "
    "votes, shares and their differences is empty."
)
PREFERRED_NOTE = (
    "“Preferred” is said only where a test that is corrected for all pairs says so, and only of "
    "the population of that test; and only where the label permutation shows more than random "
    "clicking would give, the advantage of identical orders included. Where the lead comes from "
    "questions in which one measure only breaks the other's ties, it is a preference for showing "
    "no ties and none between the orders."
)
SHARED_VOTES = {
    "kept": "So a vote for either of two identical orders counts for both.",
    "split": "Here a vote that credits several measures is split among them.",
    "dropped": "Here votes that credit several measures are left out.",
}
SECOND_OPINION = (
    "A model of its own kind, beside the verdicts: how the odds differ between participants and "
    "between questions. Where it points another way than a verdict, look at both."
)
FLAGS_NOTE = (
    "A flag alone excludes no participant. A researcher decides whom to leave out, and the reason "
    "is recorded; the differences without flagged participants are above."
)
THESE = (
    "The questions are fixed, the participants are a sample: a t interval about the mean of the "
    "responses, clustered by participant. It says nothing of other questions."
)
THIS_KIND = (
    "Participants and questions are both samples: the variance of the mean is put together from "
    "what participants, questions and the rest contribute. Few questions mostly make the interval "
    "wide, and rightly so. It is never shown narrower than the other, since what holds of the kind "
    "must hold of these questions."
)
PERMUTATION = (
    "Which measure stood behind which label was drawn for each answer; drawing it again shows what "
    "random clicking would give. Its mean is the advantage of identical orders."
)
CORRECTED = (
    "p values are given as they are and corrected over all pairs of measures: by the distribution "
    "of the largest |t| for questions of this kind, by Holm's method elsewhere."
)
NOT_OFFERED = (
    "A chi-square test of all credits, since one vote may be several credits; tests that pool the "
    "lists of different questions; p values of tau at so few lists; bootstrap intervals over ten "
    "questions. They are too sure of themselves here."
)


def departures(options: AnalysisOptions) -> str:
    """Return how an analysis departs from the protocol; empty for the protocol's own."""
    texts = []
    if options.exclude_flagged:
        texts.append("flagged participants are left out")
    if options.without_question is not None:
        texts.append(f"question {options.without_question} is left out")
    if options.ties != "kept":
        texts.append(f"shared votes are {options.ties}")
    return ", ".join(texts)


@dataclass(frozen=True)
class OrderingResults(Results):
    """The analysis of an ordering study, as everyone reads it."""

    guide = "statistics#the-sentences"
    not_pooled = ""

    analysis: Analysis
    has_own_flags: ClassVar[bool] = True

    @property
    def flagged_ids(self) -> frozenset[str]:
        """See ``Results``: here also for signs of careless answers that are in no plan."""
        return flagged_people(self.analysis.votes_before_options, self.analysis.flags)

    @classmethod
    def of(cls, analysis: Analysis) -> "OrderingResults":
        """Return the results of an analysis."""
        results = cls(
            analysis,
            study=analysis.study,
            simulated_ids=analysis.votes.simulated_ids,
            left_out=analysis.left_out,
            attention=analysis.attention,
        )
        repeated, by_rule = _repeated(analysis, results)
        return replace(results, repeated=repeated, by_rule=by_rule)

    def as_json(self) -> dict[str, Any]:
        """See ``Results``."""
        return analysis_json(self.analysis)

    @property
    def past_votes(self) -> PastVotes:
        """See ``Results``."""
        votes = self.analysis.votes
        ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
        unfinished = float((votes.answers.answer_counts < votes.asked).mean())
        return PastVotes(votes.measures, tally_credits(ballots), unfinished)

    @property
    def site_pairs(self) -> list[PairOfSite]:
        """See ``Results``; each pair of measures."""
        return [*site_pairs(self.analysis)] if self.analysis.responses else []

    @property
    def participants(self) -> Collection[str]:
        """See ``Results``."""
        return self.analysis.votes.answers.people

    @property
    def simulated(self) -> str:
        """See ``Results``; counted without the ids, which may be a million."""
        return simulated_notice(self.analysis.simulated, self.analysis.participants)

    @property
    def nothing(self) -> str:
        """See ``Results``; also where no participant was shown measures."""
        if self.analysis.responses:
            return ""
        left_out = self.left_out
        if self.analysis.without_columns and not (left_out.test or left_out.excluded):
            return "Only participants in an arm that shows no measures have answered."
        return super().nothing

    @property
    def departures(self) -> str:
        """See ``Results``."""
        return departures(self.analysis.options)

    @property
    def early_looks(self) -> str:
        """See ``Results``."""
        return self.analysis.early_looks

    @property
    def remarks(self) -> list[str]:
        """Sentences on scores that participants saw, and on methods that none of them saw."""
        unseen = NOTHING_TICKED if self.analysis.own_orderings else ""
        return [*filter(None, [self.analysis.shown_scores, unseen])]

    @cached_property
    def _rows(self) -> tuple[list[Row], LeadWords]:
        """A row for each pair of measures, and the words for what is compared."""
        analysis = self.analysis
        if analysis.own_orderings:
            deciding = analysis.own_orderings.deciding
            tests: list[MeanTests] = [each.tests for each in deciding]
            return [*map(Row.of, analysis.verdicts, tests)], ORDERINGS
        differences = analysis.agreement.differences
        return [
            Row.of(
                verdict,
                each,
                together=_is_equal_together(each, analysis.votes.level),
                margin=each.equivalence.smallest_difference if each.equivalence else None,
                tied=_tied(each),
            )
            for verdict, each in zip(analysis.verdicts, differences, strict=True)
        ], VOTE_WORDS

    @property
    def pair_points(self) -> dict[str, float]:
        """See ``Results``."""
        return points_of(self._rows[0], str(self.analysis.votes.primary or ""))

    @property
    def headline(self) -> str:
        """Which measure leads, and whether that holds."""
        if not self.analysis.responses:
            return "No measure leads: no answer counts."
        rows, words = self._rows
        return headline(rows, self.analysis.votes.answered_questions, words)

    @property
    def chip(self) -> Chip | None:
        """See ``Results``."""
        return chip(self._rows[0]) if self.analysis.responses else None

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: each pair of measures."""
        return answer_rows(*self._rows) if self.analysis.responses else []

    @property
    def rows_note(self) -> str:
        """See ``Results``."""
        return "Lead in points: of 100 answers; 95 % intervals, each for its pair alone."

    @property
    def method(self) -> str:
        """See ``Results``."""
        return f"Test: {TEST}. Correction: {CORRECTION}. Pairs: {len(self._rows[0])}."

    @property
    def tested(self) -> list[Tested]:
        """See ``Results``."""
        analysis = self.analysis
        if analysis.own_orderings:
            return [Tested.of(lead.pair, lead.tests) for lead in analysis.own_orderings.deciding]
        return [Tested.of(lead.pair, lead) for lead in analysis.agreement.differences]

    @property
    def sentences(self) -> list[Sentence]:
        """The verdict of each pair."""
        return [
            Sentence(each.sentence, each.pair.title, bool(each.preferred))
            for each in self.analysis.verdicts
        ]

    @property
    def counts(self) -> str:
        """See ``Results``."""
        counted = self.analysis
        parts = [
            count_of(counted.participants, "participant"),
            count_of(counted.questions, "question"),
            count_of(counted.responses, "answer"),
        ]
        return " · ".join(parts)

    @property
    def basis(self) -> list[str]:
        """See ``Results``."""
        counted = self.analysis
        why, digest = self.study.get("why"), self.study.get("digest")
        return [
            f"The study itself is unknown: {why}."
            if why
            else f"Study digest: {digest or 'none yet, the study is a draft'}",
            f"{count_of(counted.participants, 'participant')} × "
            f"{count_of(counted.questions, 'question')}: "
            f"{count_of(counted.responses, 'response')}, {counted.missing} missing. "
            f"{self.left_out_words}",
            *([f"{self.simulated} {NO_EVIDENCE}"] if counted.simulated else []),
            *([f"Not the analysis of the protocol: {self.departures}."] if self.departures else []),
        ]

    @property
    def left_out_words(self) -> str:
        """See ``Results``; also those who could not vote."""
        unseen, words = self.analysis.without_columns, super().left_out_words
        arm = f", {unseen} in an arm that shows no measures." if unseen else "."
        return words.removesuffix(".") + arm

    @property
    def facts(self) -> list[tuple[str, str]]:
        """See ``Results``: also the measures, and what drew the questions."""
        study, generator = self.study, self.study.get("generator")
        drawn = (
            f"generator {generator}, version {study['generator_version']}, seed {study['seed']}"
            if generator
            else ""
        )
        return [
            *super().facts,
            ("Measures", ", ".join(self.analysis.votes.measures)),
            *([("Questions", drawn)] if drawn else []),
        ]

    def own_exhibits(self) -> Iterator[Exhibit]:
        """Yield all figures; last those of the mixed logit, which is fitted only for them."""
        yield from analysis_exhibits(self.analysis.agreement)
        yield from runs_exhibits(self.analysis)
        yield from participants_exhibits(self.analysis)

    @property
    def caption(self) -> str:
        """See ``Results``; the figure's own note explains its other marks too."""
        return (
            "Lead in points of 100 answers, with 95 % intervals: thin for questions of this kind, "
            "thick for these alone."
        )

    @cached_property
    def lead(self) -> Exhibit:
        """The figure of the differences."""
        return next(each for each in self.marked_exhibits() if each.name == "differences")

    def own_sheets(self) -> Iterable[Sheet]:
        """Yield every table."""
        return tables_of(self.analysis)

    @property
    def public_sheets(self) -> list[Sheet]:
        """Votes, shares, and orderings of people's own."""
        names = {*PUBLIC, *(each.name for each in self.beside)}
        return [each for each in self.sheets if each.name in names]

    @property
    def file_sheets(self) -> list[Sheet]:
        """Every table, and that of the participants' figures."""
        return [*self.sheets, participants_sheet(self.analysis)]

    @cached_property
    def sections(self) -> list[Section]:
        """The parts of the report, in the order in which a reader asks."""
        arms = self.analysis.arms
        return [
            self.verdicts_section(*self._verdicts),
            self._people,
            self._votes,
            Section("shares", "Shares of the votes", "Shares", self._shares, self._shares_gist),
            Section(
                *("differences", "Differences between measures", "Differences"),
                *(self._differences, self._differences_gist),
            ),
            Section(
                *("agreement", "Agreement with participants' own orders", "Agreement"),
                *(self._agreement, self._agreement_gist),
            ),
            *([arms_section(arms, self.analysis.votes.level)] if arms else []),
            *([self._runs] if "runs" in self.sheet_of else []),
            Section(
                *("bias", "Labels, columns, and the course of a session", "Columns"),
                *(self._course, self._course_gist),
                part="checks",
            ),
            Section(
                *("sensitivity", "Under other choices", "Other choices"),
                [Listing(self.sheet_of["sensitivity"])],
                f"{count_of(len(self.sheet_of['sensitivity'].rows), 'row')} of other ways to count",
                part="others",
            ),
            Section(
                *("second-opinion", "A second opinion", "Second opinion", self._second_opinion),
                f"odds of {count_of(len(self._rows[0]), 'pair')} by a mixed logit",
                part="others",
            ),
            *self.attention_sections,
            self._flags,
            *self.beside_sections,
            Section(
                *("methods", "What is meant", "Methods", [Terms(self._methods)]),
                f"{len(self._methods)} terms",
                part="methods",
            ),
        ]

    @cached_property
    def _exhibit(self) -> dict[str, Exhibit]:
        return {each.name: each for each in self.exhibits}

    def _figure(self, name: str, *, has_caption: bool = True) -> Figure:
        return Figure(self._exhibit[name], has_caption)

    @property
    def _verdicts(self) -> list[Block]:
        blocks: list[Block] = [*map(Prose, self.remarks)]
        if "own-orderings" not in self.sheet_of:
            return [*blocks, Prose(PREFERRED_NOTE)]
        return [*blocks, *self.listings("own-orderings")]

    @property
    def _people(self) -> Section:
        counted = self.analysis
        text = (
            f"{count_of(counted.participants, 'participant')} gave {counted.responses} answers to "
            f"{count_of(counted.questions, 'question')}; {counted.missing} "
            f"{'is' if counted.missing == 1 else 'are'} missing. {self.left_out_words}"
        )
        gist = f"{counted.participants} people, {counted.missing} answers missing"
        blocks: list[Block] = [Prose(text, is_small=False), *self.listings("table3")]
        return Section("participants", "Who took part", "People", blocks, gist, "people")

    @property
    def _votes(self) -> Section:
        counts = self.analysis.agreement.table4.totals.items()
        gist = ", ".join(f"{name} {count:.9g}" for name, count in counts)
        note = (
            "A measure is credited when its order equals that of a ticked column. "
            f"{SHARED_VOTES[self.analysis.options.ties]} {self.sheet_of['table4'].note}"
        )
        figure = self._figure("votes-per-question", has_caption=False)
        return Section("votes", "Votes per question", "Votes", [figure, Prose(note)], gist)

    @property
    def _shares_gist(self) -> str:
        intervals = self.analysis.agreement.share_intervals.items()
        return ", ".join(
            f"{name} {100 * each.share:.0f} %" for name, each in intervals if each.share is not None
        )

    @property
    def _shares(self) -> list[Block]:
        return [self._figure("shares"), *self.listings("shares", "first")]

    @property
    def _differences_gist(self) -> str:
        leads = [f"{row.ahead[0]} over {row.ahead[1]} {row.figure[0]}" for row in self._rows[0]]
        return ", ".join(leads)

    @property
    def _agreement_gist(self) -> str:
        means = self.analysis.agreement.concordance.tau_b.means.items()
        taus = [f"{name} {rounded(tau, 2)}" for name, tau in means if tau is not None]
        return f"mean tau-b {', '.join(taus)}" if taus else "0 orders to compare"

    @property
    def _course_gist(self) -> str:
        clicks = self._exhibit["bias"].rows
        return ", ".join(f"{row[0]} {row[1]} clicks" for row in clicks[:3])

    @property
    def _differences(self) -> list[Block]:
        in_full = self.listings("differences", "permutation", "tests")
        return [
            self._figure("differences"),
            *self.listings("contrasts", "equivalence"),
            More("The tests in full", in_full),
        ]

    @property
    def _agreement(self) -> list[Block]:
        title = "All coefficients, and the agreement of participants with one another"
        return [
            self._figure("agreement-rate"),
            self._figure("tau-b"),
            More(title, self.listings("concordance", "raters")),
            *self.listings("anchoring"),
        ]

    @property
    def _runs(self) -> Section:
        table = More("Which systems people put first", self.listings("runs"))
        return Section("runs", "Results by run", "Runs", [*self.figures("run-places"), table])

    @property
    def _course(self) -> list[Block]:
        tables = self.listings("bias", "order-effects")
        return [
            self._figure("bias"),
            self._figure("time"),
            More("Measure, label and column together", tables),
        ]

    @property
    def _second_opinion(self) -> list[Block]:
        figures = [Figure(each) for each in self.exhibits if each.kind == "participants"]
        tables = self.listings("second-opinion")
        return [
            Prose(SECOND_OPINION, is_small=False),
            More("Odds, and each participant's difference", [*tables, *figures]),
        ]

    @property
    def _flags(self) -> Section:
        sheet, flags = self.sheet_of["flags"], self.analysis.flags
        blocks: list[Block] = [Prose(sheet.note, is_small=False)]
        if flags:
            blocks = [Prose(FLAGS_NOTE, is_small=False), Listing(sheet, has_caption=False)]
        gist = count_of(len(flags), "flag")
        return Section("quality", "Quality flags", "Flags", blocks, gist, "checks")

    @property
    def _methods(self) -> list[tuple[str, str]]:
        corrected, primary = CORRECTED, self.analysis.votes.primary
        if primary:
            corrected += (
                f" The plan's primary pair, {primary.title}, is tested first and by itself; no p "
                "of another pair is below its p."
            )
        return [
            (f"These {self.analysis.questions} questions (T1 in the guides)", THESE),
            ("Questions of this kind (T2 in the guides)", THIS_KIND),
            ("Label permutation", PERMUTATION),
            ("Several comparisons", corrected),
            ("Not offered", NOT_OFFERED),
        ]


def _repeated(analysis: Analysis, results: OrderingResults) -> tuple[str, dict[str, str]]:
    """Return what holds without flagged participants, of a study with attention checks or rules.

    Flags of other sorts, such as a repeating pattern, count there too.
    """
    votes, options, attention = analysis.votes_before_options, analysis.options, analysis.attention
    flagged = flagged_people(votes, analysis.flags) if attention else frozenset()
    if attention is None or not flagged or options.exclude_flagged:
        return "", {}

    def analysed(people: frozenset[str]) -> OrderingResults:
        answers = votes.answers.of_people(~people_mask(people, votes.answers))
        left_out = replace(analysis.left_out, flagged=len(people))
        others = replace(votes, answers=answers)
        return OrderingResults(analyse_votes(others, left_out, options), left_out=left_out)

    return repeat_without(results, attention, analysed, flagged)


def _tied(difference: Difference) -> str:
    """Return whose ties may give the lead: of the one behind, where only the other breaks ties."""
    parts = difference.by_contrast
    unbalanced = parts.unbalanced.first_ties_fewer
    by_first = parts.first_breaks_ties + unbalanced
    by_second = parts.second_breaks_ties + parts.unbalanced.questions - unbalanced
    first_leads = (difference.mean or 0.0) > 0
    if first_leads and by_first and not by_second:
        return difference.pair.second
    return difference.pair.first if not first_leads and by_second and not by_first else ""


def _is_equal_together(difference: Difference, level: float) -> bool:
    """Return whether a pair's equality is shown also after correction for all pairs."""
    equality = difference.equivalence
    return equality is not None and equality.equal_for(level, together=True) is not None
