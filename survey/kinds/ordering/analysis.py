"""The analysis of orderings and votes under chosen options, and its JSON."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import (
    TESTS,
    TIES,
    Agreement,
    Difference,
    RunPlace,
    ShareInterval,
    Variant,
    analyse_answers,
    counts_as_json,
    explained,
    json_values,
    run_places,
    sensitivity,
)
from survey.core.agreement.anchoring import ANSWER, FIRST, Anchoring, anchoring_of
from survey.core.agreement.answers import (
    Answers,
    People,
    Response,
    Table3,
    option_counts,
    spread,
    tallied,
)
from survey.core.agreement.arm_effects import (
    AGREEMENT,
    SHARE,
    ArmAnswers,
    ArmEffects,
    arm_effects,
)
from survey.core.agreement.attention import Attention, Scores
from survey.core.agreement.concordance import Concordance, MeanAgreement, ParticipantOrders
from survey.core.agreement.contrasts import Balanced, Beyond, ContrastPart
from survey.core.agreement.credits import Ballots, Rankings, tally_credits
from survey.core.agreement.differences import Pair, differences, pairs
from survey.core.agreement.own_orderings import (
    OwnOrderings,
    changes_of,
    own_orderings_of,
    values_by_pair,
)
from survey.core.agreement.plan_flags import RuleFlags, rule_flags
from survey.core.agreement.pooled_sites import PairOfSite
from survey.core.agreement.quality import (
    RULES,
    Flag,
    Obvious,
    Repetition,
    Signs,
    asked_back,
    flagged_for_exclusion,
    median_seconds,
    orderings_of_people,
    quality_flags,
)
from survey.core.agreement.second_opinion import SecondOpinion, second_opinions
from survey.core.agreement.verdicts import RULES_NOW, VERDICT_RULES, Verdict, early_looks, verdict
from survey.core.statistics import mixed_logit
from survey.core.statistics.rater_agreement import agreement_rate
from survey.core.statistics.significance import LEVEL, MeanTest
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.plan import OBVIOUS, REPEATED
from survey.core.studies.questions import Question, rankings_of
from survey.core.studies.rankings import Ranking
from survey.errors import SurveyError
from survey.kinds.ordering.answer import contradiction_of
from survey.kinds.ordering.plan import AFTER, NEVER, OrderingPlan
from survey.services.analysis.arm_sheets import arms_json
from survey.services.analysis.study_results import (
    AnalysisOptions,
    Exclusions,
    LeftOut,
    counted_mask,
    level_left,
)
from survey.services.studies.languages import ENGLISH

OF_SCOPES = ("kind", "these", "effective", "correction")


OF_INTERVAL = ("estimand", "n", "unit", "ci95", "why")  # of a test against 0, whose p is no result


OF_VERDICT = ("pair", "scope", "preferred", "preferred_for", "population", "sentence")


@dataclass(frozen=True)
class Votes:
    """Answers of the participants who count, with the questions they answer.

    ``rankings``: question → measure → order; ``asked``: questions for each participant;
    ``simulated_ids``: ids of participants who are test data; ``signs``: of their care;
    ``smallest_difference``: that matters, a share, None where the plan names none; ``primary``: the
    pair that the plan tests first, None without one; ``level``: at
    which a corrected test decides; ``only_ordered``: whether no participant was shown columns;
    ``contradicts``: whether an own ordering of a question contradicts itself.
    """

    study: Mapping[str, Any]
    measures: tuple[str, ...]
    rankings: Rankings
    asked: int
    answers: Answers
    simulated_ids: frozenset[str] = frozenset()
    signs: Signs = field(default_factory=Signs)
    smallest_difference: float | None = None
    primary: Pair | None = None
    level: float = LEVEL
    only_ordered: bool = False
    contradicts: Callable[[int, Ranking], bool] = lambda *_: False

    @cached_property
    def answered_questions(self) -> int:
        """Number of questions with an answer."""
        question = self.answers.question
        return int(np.count_nonzero(tallied(question.codes, len(question.values))))


@dataclass(frozen=True)
class Analysis:
    """The statistics and verdicts of the votes, with the numbers of answers.

    ``votes_before_options``: before flagged participants and a question are left out; ``votes``:
    those that are counted. ``participants``: number of those with a counted answer at least;
    ``missing``: answers that these have not submitted; ``flags``: quality flags in
    ``votes_before_options``, where simulated participants get none; ``table3``: None where no
    more is known of the participants than their answers; ``controls``: the answers of the same
    participants to control questions, empty without such; ``without_columns``: number of counted
    participants of an arm that shows none, who are in no vote; ``anchoring``: None without arms
    and first orderings; ``arms``: what arms change, None without arms; ``runs``: those that the
    lists come from, if any; ``own_orderings``: what the verdicts are of where no participant was
    shown columns, else None; ``attention``: None without control questions.
    """

    votes_before_options: Votes
    votes: Votes
    options: AnalysisOptions
    participants: int
    responses: int
    missing: int
    left_out: LeftOut
    agreement: Agreement
    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...]
    table3: Table3 | None = None
    controls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    without_columns: int = 0
    anchoring: Anchoring | None = None
    arms: ArmEffects | None = None
    runs: tuple[RunPlace, ...] = ()
    own_orderings: OwnOrderings | None = None
    attention: Attention | None = None

    @property
    def study(self) -> Mapping[str, Any]:
        """Facts of the study: slug, digest, generator, …"""
        return self.votes.study

    @property
    def early_looks(self) -> str:
        """Sentences about looks at results before the last answers came; "" without looks."""
        return early_looks(self.study.get("looks", ()), self.votes.level)

    @property
    def shown_scores(self) -> str:
        """Sentences about the methods' scores that participants saw; "" if they saw none."""
        shown = self.study.get("scores")
        if not shown or self.votes.only_ordered:  # without methods there are no scores
            return ""
        scale = ", rescaled to 0–100 in each question" if shown == "rescaled" else ""
        return (
            f"Participants saw the methods' scores{scale}. By its scores, a method can be followed "
            "from question to question without knowing what it measures. So some may have ticked "
            "a method that they liked before, and not its ordering of these lists."
        )

    @property
    def simulated(self) -> int:
        """Number of counted participants who are simulated."""
        return int(people_mask(self.votes.simulated_ids, self.votes.answers).sum())

    @property
    def questions(self) -> int:
        """Number of questions in the analysis."""
        return len(self.votes.rankings)

    @cached_property
    def asked_back(self) -> dict[str, dict[str, int]]:
        """Numbers of answers before which the page asked back, by what was chosen."""
        return asked_back(self.votes.answers, self.votes.rankings, self.votes.contradicts)

    @cached_property
    def second_opinions(self) -> tuple[SecondOpinion, ...]:
        """The mixed logit of each pair, in the order of the differences, fitted at first use."""
        votes = self.votes
        ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
        credits = TIES[self.options.ties](tally_credits(ballots))
        return second_opinions(credits, votes.answers.people.tolist())

    @cached_property
    def sensitivity(self) -> tuple[Variant, ...]:
        """The differences in ``votes_before_options`` under each option, computed at first use."""
        votes = self.votes_before_options
        flagged = people_mask(flagged_for_exclusion(self.flags), votes.answers)
        return sensitivity(votes.answers, votes.rankings, votes.measures, flagged)


def people_mask(ids: Collection[str], answers: Answers) -> NDArray[np.bool_]:
    """Return a mask of ``answers.people``: whether each participant's id is among ``ids``."""
    if not ids:
        return np.zeros(len(answers.people), dtype=bool)
    ids = frozenset(ids)
    return np.fromiter(map(ids.__contains__, answers.people), bool, len(answers.people))


def analyse_votes(
    votes_before_options: Votes, left_out: LeftOut, options: AnalysisOptions
) -> Analysis:
    """Analyse the votes of the participants who count, under all options but ``include_test``.

    The caller has left out participants already: ``left_out`` are their numbers. Table 3, which
    needs participants' records, is None.
    """
    if options.ties not in TIES:
        raise SurveyError(f"Ties are {', '.join(TIES)}; {options.ties!r} was found.")
    votes, answers = votes_before_options, votes_before_options.answers
    # Bots answer in no time, and would all be flagged as too fast.
    people = answers.of_people(~people_mask(votes.simulated_ids, answers))
    flags = quality_flags(people, votes.asked, votes.signs)
    if options.exclude_flagged:
        flagged = flagged_people(votes, flags)
        votes = replace(votes, answers=answers.of_people(~people_mask(flagged, answers)))
        left_out = replace(left_out, flagged=len(flagged))
    votes = _without_question(votes, options.without_question)
    agreement = analyse_answers(
        votes.answers,
        votes.rankings,
        votes.measures,
        votes.asked,
        ties=options.ties,
        smallest_difference=votes.smallest_difference,
        primary=votes.primary,
    )
    questions, own_orderings = votes.answered_questions, None
    verdicts = tuple(
        verdict(difference, questions, votes.level) for difference in agreement.differences
    )
    if votes.only_ordered:
        ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
        own_orderings = own_orderings_of(ballots, votes.primary)
        # There are no votes, so changes within a session are tested in the orderings.
        agreement = replace(agreement, order_effects=changes_of(votes.answers, ballots))
        verdicts = own_orderings.verdicts(questions, votes.level)
    return Analysis(
        votes_before_options=votes_before_options,
        votes=votes,
        options=options,
        participants=agreement.participants,
        responses=agreement.responses,
        missing=_count_missing(votes_before_options, votes),
        left_out=left_out,
        agreement=agreement,
        verdicts=verdicts,
        flags=flags,
        own_orderings=own_orderings,
    )


def flagged_people(votes: Votes, flags: Sequence[Flag]) -> frozenset[str]:
    """Return whom "without flagged participants" leaves out; bots, if they fail a control question.

    They get no flag, but so a rehearsal shows what a careless person would bring about.
    """
    by_rule = (rule.reasons for rule in votes.signs.rules)
    failing = {*votes.signs.wrong, *votes.signs.reversed, *chain.from_iterable(by_rule)}
    bots = votes.simulated_ids & failing
    return frozenset(flagged_for_exclusion(flags)) | bots.intersection(votes.answers.people)


def _count_missing(votes_before_options: Votes, votes: Votes) -> int:
    """Count the answers that counted participants have not submitted.

    In a pool it is unknown who was to be asked a question that is left out, so answers to it
    count as submitted.
    """
    people, submitted = votes.answers.people, len(votes.answers)
    answers = votes_before_options.answers
    if votes.asked == votes_before_options.asked and votes.answers is not answers:
        submitted = int(answers.answer_counts[people_mask(people.tolist(), answers)].sum())
    return len(people) * votes.asked - submitted


def _without_question(votes: Votes, question: int | None) -> Votes:
    """Return the votes without a question's; ``asked`` falls by 1 unless questions are a pool.

    Raises SurveyError for a question that the study does not have, or that is the only one.
    """
    if question is None:
        return votes
    if question not in votes.rankings or len(votes.rankings) == 1:
        raise SurveyError(f"There is no question {question} that could be left out.")
    everyone_is_asked_all = votes.asked == len(votes.rankings)
    return replace(
        votes,
        rankings={
            number: by_measure
            for number, by_measure in votes.rankings.items()
            if number != question
        },
        answers=votes.answers.without_question(question),
        asked=votes.asked - everyone_is_asked_all,
    )


def ordering_answers(plan: OrderingPlan, rankings: Iterable[Sequence[Any]]) -> Answers:
    """Convert own orderings, each (participant, question, ranking, …), to columns."""
    return Answers.of(
        Response(participant, question, plan.measures, own=own)
        for participant, question, own, *_ in rankings
    )


def study_facts(
    slug: str,
    status: str,
    digest: str | None,
    generator_version: int,
    plan: OrderingPlan,
    looks: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the facts of a study that are printed with its analysis.

    ``looks``: at results before the last answers came. Without looks, a primary pair or scores on
    the pages, their keys are left out.
    """
    return {
        "slug": slug,
        "title": plan.title,
        "status": status,
        "digest": digest,
        "generator": plan.generator,
        "generator_version": generator_version,
        "seed": plan.seed,
        "collection_size": plan.collection_size,
        "measures": list(plan.measures),
        # Left out for English, as in bundles of versions without languages.
        **({"language": plan.language} if plan.language != ENGLISH else {}),
        **({"primary": plan.primary} if plan.primary else {}),
        **({"looks": looks} if looks else {}),
        **({"scores": "rescaled" if plan.rescale_values else "shown"} if plan.show_values else {}),
    }


def analyse_records(
    facts: Mapping[str, Any],
    plan: OrderingPlan,
    questions: Sequence[Question],
    everyone: People,
    answers: Answers,
    first_answers: Callable[[], Answers],
    options: AnalysisOptions,
    records: Callable[[], Iterable[ParticipantRecord]] = tuple,
) -> Analysis:
    """Analyse answers of participants whose records are known, from a database or a bundle.

    Answers of other participants are left out; those to control questions are compared by
    themselves. ``first_answers``: reads the orderings from before the columns were shown.
    ``records``: reads the participants who count, for what the plan's rules flag.

    Raises ValueError, as ``analyse_answers`` does, for an answer to a question that the study does
    not have, or shown with other measures.
    """
    exclusions = Exclusions(everyone.is_test, everyone.excluded)
    is_counted = counted_mask(exclusions, options)
    # An unknown participant has the index −1, at which False is appended.
    all_answers = answers.of_people(np.append(is_counted, False)[everyone.index_of(answers.people)])
    counted_answers = all_answers.up_to_question(plan.questions)
    rankings = rankings_of(each for each in questions if each.number <= plan.questions)
    simulated_ids = frozenset(everyone.ids[everyone.is_test].tolist())
    controls = _controls(plan, questions, all_answers)
    rules = _rules(plan, rankings, counted_answers, records)
    arms = _arms(everyone, counted_answers)
    shown = _columns_shown(plan, arms)
    # Participants of an arm that shows no columns have no vote.
    voted = np.ones(len(arms), dtype=bool) if plan.only_ordered else shown != NEVER
    votes = Votes(
        *(facts, plan.measures, rankings, plan.counted, counted_answers.of_people(voted)),
        simulated_ids=simulated_ids,
        signs=replace(
            _signs(everyone, counted_answers.people[shown == NEVER], controls), rules=rules
        ),
        smallest_difference=plan.smallest_difference and plan.smallest_difference / 100,
        primary=next((each for each in pairs(plan.measures) if str(each) == plan.primary), None),
        level=level_left(
            plan,
            facts.get("looks", ()),
            int((everyone.complete & is_counted).sum()),
        ),
        only_ordered=plan.only_ordered,
        contradicts=contradiction_of(plan, {each.number: each.lists for each in questions}),
    )
    analysis = analyse_votes(votes, LeftOut.of(exclusions, options), options)
    people = np.append(analysis.votes.answers.people, counted_answers.people[~voted])
    return replace(
        analysis,
        table3=_table3(plan, everyone.subset(everyone.index_of(people))),
        controls={name: control.of_people(people) for name, control in controls.items()},
        without_columns=int((~voted).sum()),
        anchoring=_anchoring(plan, rankings, counted_answers, shown, first_answers),
        arms=_arm_effects(plan, analysis, everyone),
        runs=_runs(questions, analysis, counted_answers, people),
        attention=_attention(plan, controls, rules),
    )


def _runs(
    questions: Sequence[Question], analysis: Analysis, answers: Answers, people: NDArray[np.str_]
) -> tuple[RunPlace, ...]:
    """Return the runs' places in the orderings of these people, those without columns too."""
    rankings = analysis.votes.rankings
    runs = {
        question.number: [question.source.runs[letter] for letter in question.lists]
        for question in questions
        if question.source and question.number in rankings
    }
    if not runs:
        return ()
    answers = answers.of_people(np.isin(answers.people, people))
    if analysis.options.without_question is not None:
        answers = answers.without_question(analysis.options.without_question)
    return run_places(answers, rankings, analysis.votes.measures, runs)


def _arms(everyone: People, answers: Answers) -> NDArray[np.str_]:
    """Return the arm of each answering participant, "" where it is unknown."""
    arms = np.array([*everyone.arm.values, ""])[everyone.arm.codes]
    of_people: NDArray[np.str_] = arms[everyone.index_of(answers.people)]
    return of_people


def _columns_shown(plan: OrderingPlan, arms: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return when each answering participant was shown the columns: BEFORE, AFTER or NEVER."""
    times = dict(zip(plan.arms, plan.column_times, strict=False))
    return np.array([times.get(arm, plan.columns) for arm in arms.tolist()], dtype=np.str_)


def site_pairs(analysis: Analysis) -> Iterator[PairOfSite]:
    """Yield each pair of measures as several studies are pooled, by what the verdicts are of."""
    votes = analysis.votes
    ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
    credits = tally_credits(ballots)
    if analysis.own_orderings:
        for d, own in zip(values_by_pair(ballots), analysis.own_orderings.deciding, strict=True):
            of_pair, parts = PairOfSite.of(own.pair, own.tests, d, credits), own.by_pairs
            if of_pair and parts:
                contradicting = parts.contradicting.mean
                yield replace(
                    of_pair,
                    has_ties=bool(parts.first_only.contribution or parts.second_only.contribution),
                    balanced=None if contradicting is None else (contradicting,) * 2,
                )
        return
    credits = TIES[analysis.options.ties](credits)
    for row in analysis.agreement.differences:
        contrasts, above = row.by_contrast, row.by_contrast.balanced.above_random_orders.mean
        if of_pair := PairOfSite.of(row.pair, row, differences(credits, row.pair), credits):
            yield replace(
                of_pair,
                beyond_clicks=row.above_random_clicks.mean,
                has_ties=bool(contrasts.ties_only.responses or contrasts.unbalanced.responses),
                balanced=None if above is None else (contrasts.balanced.mean or 0.0, above),
            )


def _arm_effects(plan: OrderingPlan, analysis: Analysis, everyone: People) -> ArmEffects | None:
    """Compare the arms whose participants vote, or where none does their own orderings."""
    if not plan.arms:
        return None
    votes = analysis.votes
    ballots = Ballots.of(votes.answers, votes.rankings, votes.measures)
    if votes.only_ordered:
        statistic, values = AGREEMENT, ParticipantOrders(ballots).against_measures(agreement_rate)
    else:
        credits = TIES[analysis.options.ties](tally_credits(ballots))
        statistic = SHARE
        values = np.where(credits.counted[:, np.newaxis], credits.votes, np.nan)
    people = np.repeat(votes.answers.people, ballots.answer_counts)
    arms = np.repeat(_arms(everyone, votes.answers), ballots.answer_counts)
    questions = ballots.questions[ballots.ballot_index]
    of_answers = values[ballots.ballot_index]
    groups = {
        arm: ArmAnswers(people[arms == arm], questions[arms == arm], of_answers[arms == arm])
        for arm in plan.arms
    }
    return arm_effects(groups, votes.measures, statistic)


def _anchoring(
    plan: OrderingPlan,
    rankings: Rankings,
    answers: Answers,
    shown: NDArray[np.str_],
    first_answers: Callable[[], Answers],
) -> Anchoring | None:
    """Compare those who saw the columns at other times; None if these are the same for all."""
    times = [*dict.fromkeys(plan.column_times)]
    if not plan.has_first_rankings and len(times) == 1:
        return None
    groups = {(time, ANSWER): answers.of_people(shown == time) for time in times}
    if plan.has_first_rankings:
        first = first_answers().up_to_question(plan.questions)
        of_arm = np.isin(first.people, answers.people[shown == AFTER])
        groups[AFTER, FIRST] = first.of_people(of_arm)
    return anchoring_of(groups, rankings, plan.measures)


def _controls(
    plan: OrderingPlan, questions: Sequence[Question], answers: Answers
) -> dict[str, Repetition | Obvious]:
    """Return what the answers to control questions say, by what these are for."""
    controls: dict[str, Repetition | Obvious] = {}
    if again := plan.number_of(REPEATED):
        rankings = rankings_of(questions)
        controls[REPEATED] = Repetition.of(answers, rankings, plan.repeated or 0, again)
    if number := plan.number_of(OBVIOUS):
        lists = next(each.lists for each in questions if each.number == number)
        controls[OBVIOUS] = Obvious.of(answers, lists, number)
    return controls


def _rules(
    plan: OrderingPlan,
    rankings: Rankings,
    answers: Answers,
    records: Callable[[], Iterable[ParticipantRecord]],
) -> tuple[RuleFlags, ...]:
    """Return whom the plan's rules flag, besides the control questions."""
    if not plan.has_flag_rules:
        return ()
    own = orderings_of_people(answers, rankings) if plan.flag_equal_answers else {}
    return rule_flags(plan, records(), (answers.people, median_seconds(answers)), own)


def _attention(
    plan: OrderingPlan,
    controls: Mapping[str, Repetition | Obvious],
    rules: tuple[RuleFlags, ...],
) -> Attention | None:
    """Return how participants answered the control questions, None where nothing flags people."""
    scores = []
    for check in plan.checks:
        control = controls[check.name]
        asked = np.ones(len(control.ids), dtype=np.int64)
        scores.append(Scores(check, control.ids, control.right.astype(np.int64), asked))
    return Attention(tuple(scores), rules) if scores or rules else None


def _signs(
    everyone: People,
    without_columns: NDArray[np.str_],
    controls: Mapping[str, Repetition | Obvious],
) -> Signs:
    """Return what the check question, the arms and the control questions say of participants."""
    repetition, obvious = controls.get(REPEATED), controls.get(OBVIOUS)
    signs = Signs(
        misunderstood=frozenset(everyone.ids[everyone.misunderstood].tolist()),
        without_columns=frozenset(without_columns.tolist()),
    )
    if isinstance(obvious, Obvious):
        signs = replace(signs, wrong=frozenset(obvious.ids[~obvious.right].tolist()))
    if isinstance(repetition, Repetition):
        below = ~repetition.right
        rates = zip(repetition.ids[below].tolist(), repetition.rates[below].tolist(), strict=True)
        signs = replace(signs, reversed=dict(rates))
    return signs


def _table3(plan: OrderingPlan, people: People) -> Table3:
    """Describe the participants as the paper's Table 3 does: number, personal answers, time."""
    fields = (*plan.personal_fields, *plan.asked_at_end)
    return Table3(
        participants=len(people),
        completed=int(people.complete.sum()),
        questions_per_participant=plan.counted,
        numbers={
            field.name: spread(people.personal_answers(field.name))
            for field in fields
            if field.kind in ("number", "scale")
        },
        counts={
            field.name: option_counts(people.personal_answers(field.name), field.options)
            for field in fields
            if field.kind == "choice"
        },
        minutes=spread(people.minutes),
    )


def analysis_json(analysis: Analysis) -> dict[str, Any]:
    """Convert an analysis to JSON values, under the keys that scripts rely on.

    An undefined statistic is None beside a "why".
    """
    agreement = analysis.agreement
    by_run = {each.run: _run_json(each) for each in analysis.runs}
    content = {
        VERDICT_RULES: RULES_NOW,
        "study": analysis.study,
        "choices": analysis.options,
        "n": {
            "participants": analysis.participants,
            "questions": analysis.questions,
            "responses": analysis.responses,
            "missing": analysis.missing,
            "excluded": analysis.left_out.excluded,
            "flagged_left_out": analysis.left_out.flagged,
            "test_left_out": analysis.left_out.test,
            "test_counted": analysis.simulated,
            **({"without_columns": analysis.without_columns} if analysis.without_columns else {}),
        },
        **({"table3": analysis.table3} if analysis.table3 else {}),
        **counts_as_json(agreement.table4, agreement.shares),
        "share_intervals": {
            name: _share_interval_json(interval)
            for name, interval in agreement.share_intervals.items()
        },
        "differences": [
            _difference_json(each, verdict)
            for each, verdict in zip(agreement.differences, analysis.verdicts, strict=True)
        ],
        "verdicts": [_attributes(each, *OF_VERDICT) for each in analysis.verdicts],
        **({"by_run": by_run} if by_run else {}),
        "cochran_q": {"distinct": agreement.cochran_distinct, "all": agreement.cochran_all},
        "friedman": {"approvals": agreement.friedman_approvals, "tau_b": agreement.friedman_tau_b},
        "concordance": _concordance_json(agreement.concordance),
        **({"anchoring": _anchoring_json(analysis.anchoring)} if analysis.anchoring else {}),
        **({"arms": arms_json(analysis.arms)} if analysis.arms else {}),
        **({"own_orderings": analysis.own_orderings} if analysis.own_orderings else {}),
        "bias": agreement.bias,
        "order_effects": agreement.order_effects,
        "carry_over": agreement.carry_over,
        "quality": {
            "rules": RULES,
            "flags": analysis.flags,
            "flagged_left_out": analysis.left_out.flagged,
            "asked_back": analysis.asked_back,
            **analysis.controls,
        },
        "sensitivity": analysis.sensitivity,
        "second_opinion": {
            "priors": {
                "log_odds_sd": mixed_logit.PRIOR_SD,
                "spread_scale": mixed_logit.PRIOR_SPREAD,
            },
            "pairs": analysis.second_opinions,
        },
    }
    values = {name: json_values(value) for name, value in content.items()}
    return {name: explained(value) for name, value in values.items()}


def _difference_json(difference: Difference, verdict: Verdict) -> dict[str, Any]:
    return {
        **_attributes(difference, "pair", "lead", "mean", "why", *TESTS, *OF_SCOPES),
        "above_random_clicks": difference.above_random_clicks,
        "by_contrast": {
            "contradicting": _part_json(difference.by_contrast.contradicting),
            "balanced": {
                **_part_json(difference.by_contrast.balanced),
                "above_random_orders": _part_json(
                    difference.by_contrast.balanced.above_random_orders
                ),
            },
            "unbalanced": difference.by_contrast.unbalanced,
            "ties_only": {
                **_part_json(difference.by_contrast.ties_only),
                **_attributes(difference.by_contrast, "first_breaks_ties", "second_breaks_ties"),
            },
            "identical": difference.by_contrast.identical,
        },
        **({"equivalence": difference.equivalence} if difference.equivalence else {}),
        "verdict": _attributes(verdict, "scope", "sentence"),
    }


def _part_json(part: ContrastPart | Balanced | Beyond) -> dict[str, Any]:
    """Convert a part to JSON values, without corrected p: its tests are not corrected."""
    tests = {
        name: {key: value for key, value in vars(test).items() if key not in ("p_holm", "p_step")}
        for name, test in vars(part).items()
        if isinstance(test, MeanTest)
    }
    return vars(part) | tests


def _run_json(place: RunPlace) -> dict[str, Any]:
    tests = place.people
    return {
        **{"mean_place": tests.mean, "why": tests.why, "measures": place.measures},
        "components": _attributes(tests.components, *OF_INTERVAL),
        "participants": _attributes(tests.participants, *OF_INTERVAL),
    }


def _share_interval_json(interval: ShareInterval) -> dict[str, Any]:
    return {
        **_attributes(interval, "share", "why"),
        "components": _attributes(interval.components, *OF_INTERVAL),
        "two_way": _attributes(interval.two_way, *OF_INTERVAL),
        "participants": _attributes(interval.participants, *OF_INTERVAL),
    }


def _concordance_json(concordance: Concordance) -> dict[str, Any]:
    strict, half, kappa = concordance.strict, concordance.half, concordance.fleiss_kappa
    rates, rbo = ("best", "median", "worst", "why"), concordance.rbo_custom
    return {
        "tau_b": _means_json(concordance.tau_b),
        "tau_b_custom": _means_json(concordance.tau_b_custom),
        "tau_ap_b_custom": _means_json(concordance.tau_ap_b_custom),
        **({"rbo_custom": _means_json(rbo)} if rbo else {}),
        "spearman": _means_json(concordance.spearman),
        "tau_b_undefined": concordance.tau_b.undefined,
        "agreement_rate": {"strict": _means_json(strict), "half": _means_json(half)},
        "human": {
            **_attributes(concordance.human, *rates),
            "half": _attributes(concordance.human_half, *rates),
        },
        "kendall_w": concordance.kendall_w,
        "krippendorff_alpha": concordance.krippendorff_alpha,
        "fleiss_kappa": kappa.kappa,
        "n": {
            "responses": concordance.tau_b.n,
            "custom_rankings": concordance.tau_b_custom.n,
            "participants": concordance.human.n,
            "fleiss_kappa_questions": kappa.questions,
        },
        "why": kappa.why,
    }


def _anchoring_json(anchoring: Anchoring) -> dict[str, Any]:
    """Return the agreement by arm, "first" being that of orderings from before the columns."""
    arms: dict[str, dict[str, Any]] = {}
    for each in anchoring.arms:
        figures = _attributes(each, "participants", "responses", "tau_b", "agreement_rate")
        arm = arms.setdefault(each.arm, {})
        arm.update({"first": figures} if each.orderings == FIRST else figures)
    return {"arms": arms, "difference": anchoring.differences}


def _means_json(agreement: MeanAgreement) -> dict[str, Any]:
    return {**agreement.means, "why": agreement.why}


def _attributes(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}
