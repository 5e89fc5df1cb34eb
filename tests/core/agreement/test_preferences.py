"""Preferences against measures' signs: counted by hand, by rules, and with a planted measure."""

from itertools import permutations, product
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.differences import T1
from survey.core.agreement.preferences import (
    Answer,
    PairOfLists,
    analyse_preferences,
)
from survey.core.statistics.significance import holm

LISTS = [
    PairOfLists(1, {"AP": 0.3, "RR": -0.1}),
    PairOfLists(2, {"AP": -0.2, "RR": 0.0}),
    PairOfLists(3, {"AP": 0.1, "RR": 0.4}),
]
ANSWERS = [
    Answer("P1", 1, 1),
    Answer("P1", 2, 1),
    Answer("P1", 3, 0),
    Answer("P2", 1, 1),
    Answer("P2", 2, -1),
    Answer("P2", 3, 1),
    Answer("P3", 1, -1),
    Answer("P3", 2, 0),
    Answer("P3", 3, 1),
]


def test_agreement_is_counted_as_by_hand():
    found = analyse_preferences(ANSWERS, LISTS, ["AP", "RR"])
    assert (found.answers, found.preferring, found.participants) == (9, 7, 3)
    ap, rr = found.measures
    assert (ap.agree, ap.against, ap.tied, ap.undecided, ap.undecided_tied) == (5, 2, 0, 2, 0)
    assert (rr.agree, rr.against, rr.tied, rr.undecided, rr.undecided_tied) == (3, 2, 2, 2, 1)
    assert ap.share == pytest.approx(5 / 7)
    assert [(each.size, each.questions, each.agree, each.against) for each in ap.by_size] == [
        ("smallest third", 1, 2, 0),
        ("middle third", 1, 1, 1),
        ("largest third", 1, 2, 1),
    ]
    assert [(each.size, each.least, each.most) for each in rr.by_size] == [
        ("smaller", 0.1, 0.1),
        ("larger", 0.4, 0.4),
    ]
    [difference] = found.differences
    assert str(difference.pair) == "RR-AP"
    assert difference.first == pytest.approx((3 + 2 / 2) / 7)
    assert difference.tests.mean == pytest.approx(4 / 7 - 5 / 7)


def everyone(people, questions, against=0):
    """Preferences that are all AP's, and against RR; ``against``: how many questions of each."""
    lists = [PairOfLists(n, {"AP": 0.3, "RR": -0.1}) for n in range(1, questions + 1)]
    answers = [
        Answer(f"P{who}", n, -1 if n <= against else 1)
        for who in range(people)
        for n in range(1, questions + 1)
    ]
    return analyse_preferences(answers, lists, ["AP", "RR"])


def test_measures_of_the_same_sign_cannot_be_told_apart():
    lists = [PairOfLists(1, {"AP": 0.3, "RR": 0.1}), PairOfLists(2, {"AP": -0.2, "RR": 0.4})]
    answers = [Answer("P1", 1, 1), Answer("P2", 1, -1), Answer("P1", 2, 0)]
    [verdict] = analyse_preferences(answers, lists, ["AP", "RR"]).verdicts()
    assert (verdict.scope, verdict.preferred) == ("none", None)
    assert verdict.sentence == (
        "None of the preferences can tell RR and AP apart: in every question in which a list is "
        "preferred, both favour the same list or both tie the two."
    )


def test_a_difference_of_0_without_an_interval_is_a_sentence():
    lists = [PairOfLists(1, {"AP": 0.3, "RR": -0.1}), PairOfLists(2, {"AP": 0.3, "RR": -0.1})]
    answers = [Answer("P1", 1, 1), Answer("P1", 2, -1)]
    [verdict] = analyse_preferences(answers, lists, ["AP", "RR"]).verdicts()
    assert verdict.sentence == (
        "The preferences do not decide between RR and AP: they agree with 50.0 and 50.0 of 100; "
        "the difference is 0.0 points, and it has no interval, as a t test needs two participants."
    )


def test_people_without_any_difference_decide_by_exact_tests():
    [verdict] = everyone(30, 10).verdicts()
    assert (verdict.scope, verdict.preferred) == ("kind", "AP")
    assert verdict.sentence == (
        "For questions of this kind, people's preferences agree with AP more often than with RR: "
        "100.0 and 0.0 of 100, a difference of 100.0 points. All participants have the same mean, "
        "so there is no interval; by the signs of participants and questions p = .002, the only "
        "comparison."
    )
    [verdict] = everyone(30, 10, against=1).verdicts()
    assert (verdict.scope, verdict.preferred) == ("kind", "AP")
    assert "90.0 and 10.0 of 100, a difference of 80.0 points (95 % interval " in verdict.sentence


def test_a_measure_alone_is_decided_for_and_against():
    ap, rr = everyone(30, 10).measures
    assert (ap.decision().exact_test, rr.decision().p) == (
        "the signs of participants and questions",
        pytest.approx(2 / 2**10),
    )
    assert everyone(30, 3).measures[0].decision().population == T1
    assert everyone(1, 1).measures[0].decision() is None


def test_twelve_measures_are_compared_in_seconds():
    rng = np.random.default_rng(8)
    names = [f"P@{n}" for n in range(1, 13)]
    lists = [PairOfLists(n, dict(zip(names, rng.normal(size=12), strict=True))) for n in range(20)]
    answers = [
        Answer(f"P{who}", n, int(rng.choice([-1, 0, 1]))) for who in range(10) for n in range(20)
    ]
    begun = process_time()
    found = analyse_preferences(answers, lists, names)
    assert len(found.differences) == 66
    assert process_time() - begun < 60  # every grouping of twelve took nine minutes


def test_peoples_agreement_is_counted_as_by_hand():
    people = analyse_preferences(ANSWERS, LISTS, ["AP", "RR"]).people
    assert people.pairs == pytest.approx((1 + 0 + 1) / (3 + 1 + 1))
    # Question 1: two agree by ½ with one like and one unlike, one disagrees; 2: both disagree.
    assert people.others == pytest.approx((0.5 + 0.5 + 0 + 0 + 0 + 1 + 1) / 7)
    everybody = [Answer(f"P{n}", number, 1) for n in range(4) for number in (1, 2, 3)]
    assert analyse_preferences(everybody, LISTS, ["AP"]).people.pairs == 1


def test_agreement_beyond_chance_is_2p_minus_1():
    people = analyse_preferences(ANSWERS, LISTS, ["AP", "RR"]).people
    assert people.net_agreement == pytest.approx(2 * people.pairs - 1)
    low, high = people.net_agreement_ci95
    assert -1 <= low < people.net_agreement < high <= 1


def covered_net_agreement(studies, people=10, topics=14):
    """How often the interval holds 2P - 1 of people whose chance to prefer A varies by topic."""
    rng, held = np.random.default_rng(21), 0
    truth = 4 * rng.beta(2, 2, 10**6).var()  # the mean of (2p - 1)²
    lists = [PairOfLists(number, {}) for number in range(topics)]
    for _ in range(studies):
        chances = rng.beta(2, 2, topics)
        answers = [
            Answer(f"P{who}", number, int(rng.choice([1, -1], p=[chance, 1 - chance])))
            for who in range(people)
            for number, chance in enumerate(chances)
        ]
        low, high = analyse_preferences(answers, lists, ()).people.net_agreement_ci95
        held += low <= truth <= high
    return held / studies


def test_the_interval_of_agreement_beyond_chance_holds_the_true_one():
    assert covered_net_agreement(20) >= 0.8


@pytest.mark.slow
def test_the_interval_of_agreement_beyond_chance_holds_the_true_one_at_length():
    assert covered_net_agreement(300) >= 0.92


def test_without_answers_nothing_is_said():
    found = analyse_preferences([], LISTS, ["AP", "RR"])
    assert [each.share for each in found.measures] == [None, None]
    assert found.people.pairs is found.people.others is found.people.alpha is None
    [verdict] = found.verdicts()
    assert verdict.sentence == "RR − AP cannot be compared: no answer prefers a list."


answers_of_people = st.lists(
    st.builds(
        Answer,
        st.sampled_from(["P1", "P2", "P3", "P4"]),
        st.sampled_from([1, 2, 3]),
        st.sampled_from([-1, 0, 1]),
    ),
    max_size=12,
    unique_by=lambda each: each[:2],
)
some_lists = st.lists(
    st.tuples(*[st.sampled_from([-0.4, -0.1, 0.0, 0.1, 0.3])] * 2), min_size=3, max_size=3
)


@given(answers_of_people, some_lists)
def test_every_answer_is_counted_once(answers, values):
    lists = [
        PairOfLists(number, dict(zip(("AP", "RR"), pair, strict=True)))
        for number, pair in enumerate(values, 1)
    ]
    found = analyse_preferences(answers, lists, ["AP", "RR"])
    for each in found.measures:
        assert each.agree + each.against + each.tied + each.undecided == len(answers)
        assert sum(size.agree for size in each.by_size) == each.agree
        assert sum(size.against for size in each.by_size) == each.against
        assert each.undecided_tied <= each.undecided
        if each.ci95:
            assert 0 <= each.ci95[0] <= each.share <= each.ci95[1] <= 1
    [difference] = found.differences
    if found.preferring:
        assert difference.tests.mean == pytest.approx(difference.first - difference.second)
    # Naming the lists of every question the other way round changes nothing.
    turned = analyse_preferences(
        [each._replace(sign=-each.sign) for each in answers],
        [
            each._replace(differences={name: -value for name, value in each.differences.items()})
            for each in lists
        ],
        ["AP", "RR"],
    )
    assert turned == found


def alpha_by_pairs(of_questions):
    """Krippendorff's alpha of -1, 0 and 1, each preference expected as often on either side."""
    pairable = [signs for signs in of_questions if len(signs) > 1]
    every = [sign for signs in pairable for sign in signs]
    n, preferences = len(every), sum(map(abs, every))
    observed = sum(
        (x - y) ** 2 / (len(signs) - 1) for signs in pairable for x, y in permutations(signs, 2)
    )
    counts = {-1: preferences / 2, 0: n - preferences, 1: preferences / 2}
    expected = sum(counts[x] * counts[y] * (x - y) ** 2 for x, y in product(counts, repeat=2))
    return 1 - (observed / n) / (expected / (n * (n - 1))) if expected else None


@given(answers_of_people, some_lists, st.sets(st.sampled_from([1, 2, 3])))
def test_peoples_alpha_does_not_depend_on_which_list_is_named_first(answers, values, mirrored):
    lists = [
        PairOfLists(number, dict(zip(("AP", "RR"), pair, strict=True)))
        for number, pair in enumerate(values, 1)
    ]
    of_questions = [[each.sign for each in answers if each.question == n] for n in (1, 2, 3)]
    people = analyse_preferences(answers, lists, ["AP", "RR"]).people
    assert people.alpha == pytest.approx(alpha_by_pairs(of_questions))
    turned = [
        each._replace(sign=-each.sign) if each.question in mirrored else each for each in answers
    ]
    of_turned = analyse_preferences(turned, lists, ["AP", "RR"]).people
    assert of_turned.net_agreement == pytest.approx(people.net_agreement)
    assert of_turned.alpha == pytest.approx(people.alpha)
    assert of_turned.alpha_ci95 == pytest.approx(people.alpha_ci95)


def test_topics_are_the_sample_where_they_are_known():
    lists = [PairOfLists(n, {"AP": 0.3, "RR": -0.1}, f"topic {n % 5}") for n in range(20)]
    answers = [Answer(f"P{who}", n, 1) for who in range(30) for n in range(20)]
    found = analyse_preferences(answers, lists, ["AP", "RR"])
    assert found.differences[0].tests.effective.questions == 5
    assert found.verdicts()[0].scope == "these"  # it takes six topics
    without = [each._replace(topic=None) for each in lists]
    assert analyse_preferences(answers, without, ["AP", "RR"]).verdicts()[0].scope == "kind"


def test_measures_against_one_half_are_corrected_for_all_measures():
    chance = np.random.default_rng(9)
    lists = [
        PairOfLists(n, {name: float(chance.choice([-1, 1])) for name in ("AP", "RR", "DCG")})
        for n in range(20)
    ]
    answers = [
        Answer(f"P{p}", n, int(chance.choice([-1, 1, 1]))) for p in range(12) for n in range(20)
    ]
    measures = analyse_preferences(answers, lists, ["AP", "RR", "DCG"]).measures
    alone = [
        analyse_preferences(answers, lists, [each.measure]).measures[0].tests for each in measures
    ]
    kind = holm([each.components.p for each in alone])
    these = holm([max(each.participants.p, 2**-11) for each in alone])
    for each, single, p_kind, p_these in zip(measures, alone, kind, these, strict=True):
        q = max(single.participants.p, 2**-11)
        assert each.tests.kind.p == pytest.approx(max(p_kind, 2**-19, q))
        assert each.tests.these.p == pytest.approx(p_these)


def planted(chance, lead, people=30, questions=40, between=0.1):
    """Preferences of which AP is right in (1 + lead) / 2, where two measures contradict."""
    signs = [1 - 2 * (number % 2) for number in range(questions)]
    lists = [PairOfLists(number, {"AP": s, "RR": -s}) for number, s in enumerate(signs)]
    answers = []
    for each in lists:
        right = np.clip((1 + lead) / 2 + chance.normal(0, between), 0, 1)
        for person in range(people):
            sign = int(each.differences["AP"] * (1 if chance.random() < right else -1))
            answers.append(Answer(f"P{person:02}", each.number, sign))
    return analyse_preferences(answers, lists, ["AP", "RR"])


def test_a_planted_lead_is_found_with_an_interval_that_holds_it():
    chance = np.random.default_rng(7)
    held = 0
    for _ in range(20):
        found = planted(chance, 0.3)
        [difference], [verdict] = found.differences, found.verdicts()
        low, high = difference.tests.components.ci95
        held += -high <= 0.3 <= -low
        assert (verdict.preferred, verdict.scope) == ("AP", "kind")
    assert held >= 17


def test_random_preferences_seldom_decide():
    chance = np.random.default_rng(11)
    decided = sum(
        planted(chance, 0.0, between=0).verdicts()[0].preferred is not None for _ in range(40)
    )
    assert decided <= 5


def test_a_verdict_reads_as_this():
    [verdict] = planted(np.random.default_rng(3), 0.4).verdicts()
    assert verdict.sentence.startswith(
        "For questions of this kind, people's preferences agree with AP more often than with RR: "
    )
    assert "of 100, a difference of" in verdict.sentence
    assert verdict.sentence.endswith("p < .001, the only comparison).")
    [undecided] = planted(np.random.default_rng(4), 0.0, people=3, questions=4).verdicts()
    assert undecided.sentence.startswith("The preferences do not decide between RR and AP: ")


def sessions_of(rng, people=30, questions=8, *, drift=0.0, habit=0.0):
    """Answers that agree with AP, or with RR, which always favours the other list."""
    for who in range(people):
        before = None
        for position, number in enumerate(rng.permutation(questions).tolist(), 1):
            sign = 1 if rng.random() < 0.5 + drift * (position > questions / 2) else -1
            at_left = bool(rng.random() < 0.5)
            if before is not None and rng.random() < habit:
                at_left = before
            before = at_left
            yield Answer(f"P{who:02}", number, sign, position, float(rng.random()), at_left)


def test_changes_within_people_are_tested_as_those_of_votes_are():
    lists = [PairOfLists(number, {"AP": 0.1, "RR": -0.1}) for number in range(8)]

    def analysed(**more):
        answers = [*sessions_of(np.random.default_rng(1), **more)]
        return answers, analyse_preferences(answers, lists, ["AP", "RR"])

    answers, found = analysed(drift=0.4)
    later, slower = found.order_effects
    assert (str(later.pair), later.participants) == ("RR-AP", 30)
    halves = {
        who: [
            [-a.sign for a in answers if a.participant == who and (a.position > 4) == half]
            for half in (True, False)
        ]
        for who in {a.participant for a in answers}
    }
    means = [np.mean(late) - np.mean(early) for late, early in halves.values()]
    assert later.mean == pytest.approx(np.mean(means))
    assert later.p_holm < 0.01 < slower.p_holm
    assert found.carry_over.p > 0.01
    _, found = analysed(habit=0.5)
    assert found.carry_over.p < 0.01
    assert found.carry_over.mean == pytest.approx(0.25, abs=0.1)


def test_answers_without_position_say_why_nothing_is_told_of_changes():
    lists = [PairOfLists(number, {"AP": 0.1, "RR": -0.1}) for number in range(5)]
    answers = [Answer(f"P{who}", number, 1) for who in range(4) for number in range(5)]
    found = analyse_preferences(answers, lists, ["AP", "RR"])
    assert {each.p for each in found.order_effects} == {found.carry_over.p} == {None}
    assert all("four answers" in each.why for each in found.order_effects)
    assert analyse_preferences(answers, lists, ["AP"]).order_effects == ()
