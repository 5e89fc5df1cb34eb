"""What holds of the analysis whatever the answers are."""

import re
import time
from dataclasses import fields, is_dataclass, replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from survey.core.agreement.agreement import TIES, analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.differences import SAME_EVERYWHERE, SAME_MEANS, T1, T2, p_of_these
from survey.core.agreement.equivalence import TOO_FEW_QUESTIONS
from survey.core.agreement.quality import quality_flags
from survey.core.agreement.verdicts import verdict
from survey.core.statistics.significance import LEVEL, Statistic, p_text
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import (
    MEASURES,
    leaning_study,
    random_rankings,
    random_responses,
    studies,
)

few = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MONTE_CARLO = 0.02


# Answers of every kind, and answers that decide something.
any_study = studies() | st.integers(0, 100_000).map(leaning_study)


def analysed(study, **options):
    responses, rankings, measures = study
    return analyse_answers(
        Answers.of(responses), rankings, measures, asked=len(rankings), **options
    )


def statistics_in(found):
    """Every statistic of an analysis, however deep."""
    if isinstance(found, Statistic):
        yield found
    elif isinstance(found, dict):
        for one in found.values():
            yield from statistics_in(one)
    elif isinstance(found, tuple):
        for one in found:
            yield from statistics_in(one)
    elif is_dataclass(found):
        for field in fields(found):
            yield from statistics_in(getattr(found, field.name))


def statistics_of(study):
    """All statistics of a study's answers, to the last digit."""
    return [repr(statistic) for statistic in statistics_in(analysed(study))]


def undefined_in(value):
    """Whether a number is missing, in a statistic's field."""
    if isinstance(value, dict):
        return any(map(undefined_in, value.values()))
    if isinstance(value, list | tuple):
        return any(map(undefined_in, value))
    return value is None


@few
@given(any_study, st.integers(1, 5))
def test_figures_and_flags_are_the_same_however_many_answers_are_computed_with_at_once(study, size):
    answers, asked = Answers.of(study[0]), len(study[1])
    figures, flags = statistics_of(study), quality_flags(answers, asked)
    with (
        patch("survey.core.agreement.answers.ENTRIES_AT_ONCE", size),
        patch("survey.core.agreement.answers.PEOPLE_AT_ONCE", size),
        patch("survey.core.agreement.credits.PEOPLE_AT_ONCE", size),
        patch("survey.core.statistics.significance.BLOCKS_AT_ONCE", size),
    ):
        assert statistics_of(study) == figures
        assert quality_flags(answers, asked) == flags


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_every_undefined_value_says_why_and_nothing_else_does(study, ties):
    found = analysed(study, ties=ties)
    for one in statistics_in(found):
        missing = [
            field.name
            for field in fields(one)
            if not re.search("^why$|p_holm$|p_step$", field.name)
            and undefined_in(getattr(one, field.name))
            # Sums that are no whole units of a vote are flipped only where t is undefined.
            and not (
                field.name in ("sign_flip_p", "method") and getattr(one, "p", None) is not None
            )
        ]
        assert (one.why is not None) == bool(missing), (one, missing)
    for one in found.differences:
        for test in (one.two_way, one.participants, one.label_permutation, one.mcnemar):
            assert (test.p_holm is None) == (test.p is None)
    assert (found.shares.of_responses is None) == (sum(found.table4.totals.values()) == 0)


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_every_p_is_above_zero_and_at_most_one(study, ties):
    for one in statistics_in(analysed(study, ties=ties)):
        for field in fields(one):
            p = getattr(one, field.name)
            if re.search(r"(^|_)p($|_)", field.name) and p is not None:
                assert 0 < p <= 1, (one, field.name)


def figures(found):
    """The numbers of an analysis by name, without the names of participants and questions."""
    together = found.concordance
    named = {
        "shares": vars(found.shares),
        "share intervals": found.share_intervals,
        "first": (found.table4.first_or_tied, found.table4.first_outright),
        "differences": {
            str(one.pair): replace(
                one, identical=(len(one.identical),), unequal=(len(one.unequal),)
            )
            for one in found.differences
        },
        "q": (found.cochran_distinct, found.cochran_all),
        "friedman": (found.friedman_approvals, found.friedman_tau_b),
        "means": [one.means for one in (together.tau_b, together.tau_b_custom, together.spearman)],
        "rates": [together.strict.means, together.half.means, together.human, together.human_half],
        "w": together.kendall_w.mean,
        "alpha": together.krippendorff_alpha.pooled,
        "kappa": together.fleiss_kappa.kappa,
        "bias": found.bias,
    }
    return dict(flat(named))


def flat(value, path=""):
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        for name, one in value.items():
            yield from flat(one, f"{path}/{name}")
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from flat(one, f"{path}/{place}")
    else:
        yield path, value


def assert_alike(one, other):
    assert one.keys() == other.keys()
    for path, value in one.items():
        if isinstance(value, float):
            within = MONTE_CARLO if "p_label_permutation" in path else 1e-7
            value = pytest.approx(value, rel=within, abs=within)
        assert other[path] == value, path


@pytest.mark.slow
@few
@given(any_study, st.randoms(use_true_random=False))
def test_who_answered_what_first_and_their_names_and_numbers_do_not_matter(study, chance):
    responses, rankings, measures = study
    numbers = dict(zip(rankings, chance.sample(range(1, 100), len(rankings)), strict=True))
    people = dict(
        zip((f"P{n}" for n in range(13)), chance.sample("abcdefghijklmn", 13), strict=True)
    )
    again = [
        replace(one, participant=people[one.participant], question=numbers[one.question])
        for one in chance.sample(responses, len(responses))
    ]
    renumbered = {numbers[question]: orders for question, orders in rankings.items()}
    assert_alike(figures(analysed(study)), figures(analysed((again, renumbered, measures))))


@pytest.mark.slow
@few
@given(any_study)
def test_other_names_for_the_measures_change_the_names_only(study):
    responses, rankings, measures = study
    names = dict(zip(measures, "XYZ", strict=False))
    renamed = (
        [replace(one, label_order=tuple(names[m] for m in one.label_order)) for one in responses],
        {n: {names[m]: order for m, order in orders.items()} for n, orders in rankings.items()},
        tuple(names.values()),
    )

    def translated(path):
        return re.sub("AP|NMRR|MNRO", lambda found: names.get(found[0], found[0]), path)

    before = {translated(path): value for path, value in figures(analysed(study)).items()}
    after = figures(analysed(renamed))
    for path, value in before.items():
        if isinstance(value, str):
            before[path] = translated(value)
    assert_alike(before, after)


@pytest.mark.slow
@few
@given(any_study, st.sampled_from(list(TIES)))
def test_a_pair_read_in_reverse_has_the_opposite_difference_and_the_same_p(study, ties):
    responses, rankings, measures = study
    forwards = analysed(study, ties=ties).differences
    backwards = {
        str(one.pair): one
        for one in analysed((responses, rankings, measures[::-1]), ties=ties).differences
    }
    for one in forwards:
        other = backwards[f"{one.pair.second}-{one.pair.first}"]
        assert one.lead == -other.lead
        assert (one.mcnemar.n10, one.mcnemar.n01) == (other.mcnemar.n01, other.mcnemar.n10)
        assert (one.questions.won, one.questions.lost) == (
            other.questions.lost,
            other.questions.won,
        )
        for name in ("two_way", "participants", "label_permutation", "mcnemar"):
            mine, theirs = getattr(one, name), getattr(other, name)
            assert mine.p == (theirs.p and pytest.approx(theirs.p, rel=1e-7))
            ends = getattr(theirs, "ci95", None)
            assert getattr(mine, "ci95", None) == (
                ends and pytest.approx((-ends[1], -ends[0]), abs=1e-9)
            )


@pytest.mark.slow
@few
@given(any_study, st.data())
def test_a_question_that_all_measures_order_alike_changes_no_lead(study, data):
    responses, rankings, measures = study
    letters = next(iter(rankings.values()))[measures[0]].letters
    alike = dict.fromkeys(measures, Ranking((letters,)))
    labels = st.frozensets(st.integers(1, len(measures)), min_size=1)
    more = [
        Response(who, 99, measures, clicked=data.draw(labels))
        for who in dict.fromkeys(one.participant for one in responses)
    ]
    before, after = (
        analysed(study),
        analysed(([*responses, *more], {**rankings, 99: alike}, measures)),
    )
    for one, other in zip(before.differences, after.differences, strict=True):
        assert (one.lead, one.mcnemar) == (
            other.lead,
            replace(other.mcnemar, n=one.mcnemar.n),
        )
        assert one.label_permutation.p == (
            other.label_permutation.p and pytest.approx(other.label_permutation.p)
        )
        assert one.label_permutation.null_mean == pytest.approx(other.label_permutation.null_mean)
        assert one.questions.sign_flip_p == other.questions.sign_flip_p


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_the_interval_for_the_kind_holds_that_for_these_questions(study, ties):
    for one in analysed(study, ties=ties).differences:
        for tests in (one, one.above_random_clicks):
            wide, narrow = tests.components.ci95, tests.participants.ci95
            if wide and narrow:
                assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_no_p_is_below_what_so_few_people_and_questions_can_show(study, ties):
    for difference in analysed(study, ties=ties).differences:
        for tests, most in ((difference, 1), (difference.above_random_clicks, 2)):
            people, questions = (
                min(1, 2 ** (1 - number))
                for number in (tests.effective.participants, tests.effective.questions)
            )
            if tests.kind.p is not None:
                assert max(people, questions) <= tests.kind.p <= 1
            if tests.these.p is not None:
                assert people <= tests.these.p <= 1
            for scope in (tests.kind, tests.these):
                figures = (scope.p, scope.ci95, scope.ci95_simultaneous)
                assert (None in figures) == (scope.why is not None)
                if scope.ci95 and scope.ci95_simultaneous:
                    low, high = scope.ci95
                    assert -most <= scope.ci95_simultaneous[0] <= low <= high
                    assert low <= tests.mean <= high <= scope.ci95_simultaneous[1] <= most


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_the_parts_by_contrast_add_up_to_the_difference(study, ties):
    answered = {each.question for each in study[0]}
    for one in analysed(study, ties=ties).differences:
        parts = one.by_contrast
        both = (parts.contradicting, parts.ties_only)
        assert sum(part.questions for part in (*both, parts.identical)) == len(answered)
        assert parts.identical.questions == len(one.identical)
        if one.mean is not None:
            total = sum(part.contribution or 0.0 for part in both)
            assert total == pytest.approx(one.mean, abs=1e-12)


@few
@given(any_study)
def test_without_identical_orders_votes_are_above_random_clicks_by_all_of_their_difference(study):
    for one in analysed(study).differences:
        if not one.unequal:
            assert one.above_random_clicks.mean == one.mean
        elif one.mean is not None:
            lead = one.lead - one.label_permutation.null_mean
            expected = pytest.approx(lead / one.label_permutation.n, abs=1e-9)
            assert one.above_random_clicks.mean == expected


def decisive_p(one, population):
    """The corrected p on which a preference rests, never below the bounds of small numbers."""
    test, effective = one.participants, one.effective
    q = max(test.sign_flip_p if test.p is None else test.p, 2 ** (1 - effective.participants))
    if population == T2:
        return max(one.components.p_step or 0, 2 ** (1 - effective.questions), q)
    assert q <= one.these.p <= 3 * q  # by Holm's method over three pairs, or fewer
    return one.these.p


def what_it_is_for(parts, population, towards):
    """What a preference is for, by the rule: balanced questions beyond random orders decide."""
    if not parts.contradicting.responses:
        return "ties"
    if not parts.ties_only.responses and not parts.unbalanced.responses:
        return "orders"
    if not parts.balanced.responses:
        return "open"
    above = parts.balanced.above_random_orders
    if above.mean * towards <= 0:
        return "ties"
    test = above.participants
    p = test.sign_flip_p if test.p is None else test.p
    if population == T2 and test.p is not None:
        p = above.components.p
    is_shown = p is not None and p < 0.05 and parts.balanced.mean * towards > 0
    return "orders" if is_shown else "open"


@few
@given(any_study, st.sampled_from(list(TIES)))
def test_a_verdict_says_no_more_than_its_corrected_test_and_its_redraws(study, ties):
    found = analysed(study, ties=ties)
    for one in found.differences:
        said = verdict(one, len(study[1]))
        if one.mean is not None:
            assert re.search("dentical orders|rders are identical", said.sentence)
        if said.preferred is None:
            assert "preferred" not in said.sentence
            assert (said.scope, said.population, said.preferred_for) == ("none", None, None)
            continue
        towards = 1 if said.preferred == one.pair.first else -1
        assert one.mean * towards > 0
        assert said.scope == {T2: "kind", T1: "these"}[said.population]
        assert decisive_p(one, said.population) < 0.05
        these = one.participants.p if one.participants.p is not None else None
        assert (one.participants.sign_flip_p if these is None else these) < 0.05
        chance = one.label_permutation
        assert (one.lead - chance.null_mean) * towards > 0
        assert chance.p < 0.05
        assert said.preferred_for == what_it_is_for(one.by_contrast, said.population, towards)
        by_ties = said.preferred_for == "ties"
        assert bool(re.search("preferred to [A-Z]+ by", said.sentence)) != by_ties
        assert ("or for showing" in said.sentence or "or where one" in said.sentence) == (
            said.preferred_for == "open"
        )


@few
@given(any_study, st.integers(1, 40))
def test_measures_are_called_equal_where_both_intervals_lie_within_the_margin(study, points):
    margin = points / 100
    found = analysed(study, smallest_difference=margin)
    for one in found.differences:
        said = verdict(one, len(study[1]))
        for test in (one.equivalence.kind, one.equivalence.these):
            if test.why == TOO_FEW_QUESTIONS:
                assert (test.p, said.population) != (None, T2)
                continue
            within = test.ci90 is not None and -margin < test.ci90[0] <= test.ci90[1] < margin
            assert within == (test.p is not None and test.p < 0.05)
        if said.scope == "equal":
            assert f"equal to within {points} points" in said.sentence
            is_exact = one.participants.why == SAME_MEANS and abs(one.mean) < margin
            assert is_exact or one.equivalence.these.p < 0.05


def own_p(one):
    """The p of a pair by itself: of questions of this kind, and of these."""
    q = p_of_these(one.participants, one.effective)
    if q is None or (one.components.p is None and one.components.why != SAME_EVERYWHERE):
        return None, q
    return max(one.components.p or 0.0, 2 ** (1 - one.effective.questions), q), q


@few
@given(any_study, st.integers(0, 2))
def test_a_primary_pair_has_its_own_p_and_no_other_pair_a_smaller_one(study, place):
    plain = analysed(study).differences
    place %= len(plain)
    primary = plain[place].pair
    together = analysed(study, primary=primary).differences
    for scope, of_primary in zip(("kind", "these"), own_p(plain[place]), strict=True):
        for without, one in zip(plain, together, strict=True):
            before, now = getattr(without, scope), getattr(one, scope)
            assert now.ci95 == before.ci95
            if one.pair == primary:
                assert now.p == of_primary
                if now.ci95:
                    assert now.ci95_simultaneous == pytest.approx(now.ci95)
                assert str(one.correction) == "the primary pair by itself"
                continue
            assert now.ci95_simultaneous == before.ci95_simultaneous
            known = before.p is not None and of_primary is not None
            assert now.p == (max(before.p, of_primary) if known else None)
            figures = (now.p, now.ci95, now.ci95_simultaneous)
            assert (None in figures) == (now.why is not None)


NUMBER = r"−?[0-9]+(?:[.][0-9]+)?"


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.slow
@few
@given(any_study)
def test_the_numbers_of_a_sentence_are_those_of_the_statistics(study):
    found = analysed(study)
    for one in found.differences:
        said = verdict(one, len(study[1]))
        sentence = re.sub(
            "With what random clicking gives.*?(beyond|preference).*?[.] ", "", said.sentence
        )
        mean = one.mean
        if mean is None:
            continue
        turn, scopes = 1, (one.kind, one.these)
        ends = [test.ci95_simultaneous for test in scopes if test.ci95_simultaneous]
        if said.preferred is not None:
            turn, mean = (1 if said.preferred == one.pair.first else -1), abs(mean)
            p = decisive_p(one, said.population)
            assert p_text(p) in sentence
            enough = one.kind.p is not None and 2 ** (1 - one.effective.questions) < LEVEL
            told = [one.kind] if said.population == T2 else [one.these, *[one.kind] * enough]
            ends = [test.ci95 for test in told if test.ci95]
        points = number(re.search(f"({NUMBER}) points", sentence)[1])
        assert points == pytest.approx(100 * mean, abs=0.0501)
        shown = re.findall(f"({NUMBER}) to ({NUMBER})", sentence)
        assert len(shown) == len(ends)
        for end, limits in zip(ends, shown, strict=True):
            low, high = sorted(100 * min(1, max(-1, turn * limit)) for limit in end)
            assert tuple(map(number, limits)) == pytest.approx((low, high), abs=0.0501)
        source = re.search(f"(?:points|difference), ({NUMBER}) come from", sentence)
        if source:
            part = 100 * turn * one.by_contrast.ties_only.contribution
            assert number(source[1]) == pytest.approx(part, abs=0.0501)
        lead = re.search(f"an? ({NUMBER})-point lead; observed: ({NUMBER})", sentence)
        test = one.label_permutation
        if lead:
            sign = 1 if test.null_mean > 0 else -1
            assert tuple(map(number, lead.groups())) == pytest.approx(
                (100 * abs(test.null_mean) / test.n, 100 * sign * one.mean), abs=0.0501
            )
        else:
            assert test.null_mean == pytest.approx(0)


def test_three_hundred_answers_are_analysed_within_two_seconds():
    rng = np.random.default_rng(0)
    rankings = random_rankings(rng, 10)
    responses = random_responses(rng, rankings, 30)
    analyse_answers(
        Answers.of(responses[:5]), rankings, MEASURES, asked=10
    )  # imports are not counted
    before = time.process_time()
    found = analyse_answers(Answers.of(responses), rankings, MEASURES, asked=10)
    assert time.process_time() - before < 2
    assert found.cochran_all.blocks == 300
    assert found.cochran_all.p_label_permutation is not None
