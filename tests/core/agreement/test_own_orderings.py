"""Where people only order the lists: agreement with the measures' orders, and what it supports."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy

from survey.core.agreement.agreement import MeanTests
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.credits import tally_credits
from survey.core.agreement.own_orderings import changes_of, own_orderings_of
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import (
    MEASURES,
    ballots_of,
    of_each,
    random_rankings,
    weak_order,
)

QUESTIONS = 8


def orderings(rng, rankings, people, near=0.0, measure="MNRO"):
    """Own orderings: with chance ``near`` that of a measure, else a random one."""
    return [
        Response(
            f"P{person:03}",
            question,
            MEASURES,
            own=orders[measure] if rng.random() < near else weak_order(rng, 5),
        )
        for person in range(people)
        for question, orders in rankings.items()
    ]


def places(ranking):
    return [ranking.places[letter] for letter in "ABCDE"]


def test_the_differences_are_those_of_scipys_tau_b():
    rng = np.random.default_rng(1)
    rankings = random_rankings(rng, QUESTIONS)
    responses = orderings(rng, rankings, 10, near=0.4)
    found = own_orderings_of(ballots_of(responses, rankings)).differences
    for each in found[3:6]:
        taus = [
            [
                scipy.stats.kendalltau(places(one.own), places(rankings[one.question][name]))[0]
                for name in (each.pair.first, each.pair.second)
            ]
            for one in responses
        ]
        known = np.array([of for of in taus if not np.isnan(of).any()])
        assert each.responses == len(known)
        assert (each.first, each.second) == pytest.approx(known.mean(axis=0), abs=1e-4)
        assert each.tests.mean == pytest.approx(-np.diff(known).mean(), abs=1e-4)
    assert [each.statistic for each in found] == [
        *["pairs"] * 3,
        *["tau_b"] * 3,
        *["agreement_rate"] * 3,
    ]


def right_pairs(own, order):
    """The share of pairs of lists in the own order: a measure's tie as half, own ties as none."""
    right = 0.0
    for a, b in combinations("ABCDE", 2):
        sign, of_measure = (np.sign(each.places[b] - each.places[a]) for each in (own, order))
        if sign:
            right += 0.5 if not of_measure else float(sign == of_measure)
    return right / 10


def part_of_pairs(own, first, second, chosen):
    """The part of d = Σ s(own)(s(first) - s(second)) / 20 of the pairs that are chosen."""
    total = 0.0
    for a, b in combinations("ABCDE", 2):
        signs = [int(np.sign(each.places[b] - each.places[a])) for each in (own, first, second)]
        total += signs[0] * (signs[1] - signs[2]) / 20 * chosen(*signs[1:])
    return total


def test_what_decides_is_pairs_of_lists_split_by_which_measure_orders_them():
    rng = np.random.default_rng(1)
    rankings = random_rankings(rng, QUESTIONS)
    responses = orderings(rng, rankings, 10, near=0.4)
    found = own_orderings_of(ballots_of(responses, rankings)).differences
    for each in found[:3]:
        first, second = (
            [right_pairs(one.own, rankings[one.question][name]) for one in responses]
            for name in each.pair
        )
        assert each.responses == len(responses)
        assert (each.first, each.second) == pytest.approx((np.mean(first), np.mean(second)))
        assert each.tests.mean == pytest.approx(np.mean(first) - np.mean(second))
        parts = each.by_pairs
        for part, chosen in (
            (parts.contradicting, lambda a, b: a * b < 0),
            (parts.first_only, lambda a, b: a and not b),
            (parts.second_only, lambda a, b: b and not a),
        ):
            of_each = [
                part_of_pairs(
                    one.own, *(rankings[one.question][name] for name in each.pair), chosen
                )
                for one in responses
            ]
            assert part.contribution == pytest.approx(np.mean(of_each))
        assert each.tests.mean == pytest.approx(
            parts.contradicting.contribution
            + parts.first_only.contribution
            + parts.second_only.contribution
        )
    assert [each.by_pairs for each in found[3:]] == [None] * 6


def test_contradicting_pairs_are_tested_over_the_responses_that_have_some():
    rng = np.random.default_rng(6)
    rankings = random_rankings(rng, QUESTIONS, identical=0)
    tied = Ranking.by_key(dict.fromkeys("ABCDE", 1))
    rankings[1]["NMRR"] = tied  # contradicts nothing
    responses = orderings(rng, rankings, 10, near=0.4)
    ballots = ballots_of(responses, rankings)
    part = own_orderings_of(ballots).differences[0].by_pairs.contradicting
    credits = tally_credits(ballots)
    d = np.array(
        [
            part_of_pairs(
                own,
                *(rankings[number][name] for name in ("MNRO", "NMRR")),
                lambda a, b: a * b < 0,
            )
            for number, own in zip(ballots.questions.tolist(), ballots.owns, strict=True)
        ]
    )
    tests = MeanTests.of(d, credits.subset(credits.questions != 1))
    assert part.mean == pytest.approx(tests.mean)
    assert part.components.p == pytest.approx(tests.components.p)
    assert part.participants.ci95 == pytest.approx(tests.participants.ci95)


def test_the_tests_are_those_of_votes():
    rng = np.random.default_rng(2)
    rankings = random_rankings(rng, QUESTIONS)
    ballots = ballots_of(orderings(rng, rankings, 10, near=0.4), rankings)
    credits, each = tally_credits(ballots), own_orderings_of(ballots).differences[6]
    rates = np.array(
        [
            [
                np.mean(
                    [
                        np.sign(own[a] - own[b]) == np.sign(order[a] - order[b])
                        for a in range(5)
                        for b in range(a)
                    ]
                )
                for order in (places(rankings[question][name]) for name in ("MNRO", "NMRR"))
            ]
            for question, own in zip(
                ballots.questions.tolist(), map(places, ballots.owns), strict=True
            )
        ]
    )
    tests = MeanTests.of(rates[:, 0] - rates[:, 1], credits)
    assert each.tests.mean == pytest.approx(tests.mean)
    assert each.tests.components.ci95 == pytest.approx(tests.components.ci95)
    assert each.tests.participants.p == pytest.approx(tests.participants.p)
    assert of_each(credits, rates)[0].shape == (len(credits), 2)


def test_whom_people_follow_is_found_and_random_orderings_favour_none():
    rng = np.random.default_rng(3)
    rankings = random_rankings(rng, 10, identical=0)
    found = own_orderings_of(ballots_of(orderings(rng, rankings, 30, near=0.7), rankings))
    verdicts = found.verdicts(10)
    assert [(one.scope, one.preferred) for one in verdicts[:2]] == [("kind", "MNRO")] * 2
    assert verdicts[0].preferred_for == "orders"
    assert verdicts[0].sentence == (
        "For questions of this kind, people's own orderings are nearer to MNRO's orders than to "
        "NMRR's: 72.5 and 43.4 of 100 pairs of lists, a difference of 29.0 points (95 % interval "
        "21.1 to 37.0; p = .002, corrected for 3 comparisons)."
    )
    assert all(one.scope == "none" for one in found.verdicts(10, level=0.0))
    blind = own_orderings_of(ballots_of(orderings(rng, rankings, 30), rankings)).verdicts(10)
    assert {one.preferred for one in blind} == {None}
    assert blind[0].sentence == (
        "People's own orderings do not decide between MNRO and NMRR: they have 40.4 and 41.3 of "
        "100 pairs of lists in common; the difference is −0.9 points, and its 95 % interval is "
        "−4.3 to 2.5 for questions of this kind and −4.3 to 2.5 for these 10 questions alone (for "
        "all 3 comparisons together)."
    )


def test_people_who_all_order_alike_decide():
    rankings = random_rankings(np.random.default_rng(3), 10, identical=0)
    responses = [
        Response(f"P{person}", question, MEASURES, own=orders["MNRO"])
        for person in range(8)
        for question, orders in rankings.items()
    ]
    verdicts = own_orderings_of(ballots_of(responses, rankings)).verdicts(10)
    assert [(one.scope, one.preferred) for one in verdicts[:2]] == [("kind", "MNRO")] * 2


def test_measures_with_the_same_orders_differ_by_0_without_an_interval():
    rankings = {
        number: orders | {"NMRR": orders["MNRO"]}
        for number, orders in random_rankings(np.random.default_rng(3), 10, identical=0).items()
    }
    responses = orderings(np.random.default_rng(1), rankings, 10)
    sentence = own_orderings_of(ballots_of(responses, rankings)).verdicts(10)[0].sentence
    assert sentence.endswith(
        "; the difference is 0.0 points, and it has no interval, as all participants have the same "
        "mean."
    )


@pytest.mark.slow
def test_ties_of_a_measure_give_no_lead_to_one_that_breaks_them():
    """Among random strict orders, which votes for columns would turn into a preference."""
    rng, means = np.random.default_rng(4), []
    tied = Ranking.by_key(dict(zip("ABCDE", [1, 1, 1, 2, 2], strict=True)))
    strict = Ranking.by_key(dict(zip("ABCDE", range(5), strict=True)))
    rankings = {number: {"AP": tied, "NMRR": tied, "MNRO": strict} for number in range(1, 6)}
    for _ in range(40):
        responses = [
            Response(
                f"P{person}",
                question,
                MEASURES,
                own=Ranking.by_key(dict(zip("ABCDE", rng.permutation(5).tolist(), strict=True))),
            )
            for person in range(20)
            for question in rankings
        ]
        of_pair = own_orderings_of(ballots_of(responses, rankings)).differences[0]
        means.append(of_pair.tests.mean)
    assert abs(np.mean(means)) < 3.3 * np.std(means) / len(means) ** 0.5


def test_where_all_orderings_tie_everything_nothing_differs():
    rankings = random_rankings(np.random.default_rng(5), 2)
    flat = Ranking.by_key(dict.fromkeys("ABCDE", 1))
    responses = [
        Response(f"P{n}", question, MEASURES, own=flat) for n in (1, 2) for question in (1, 2)
    ]
    found = own_orderings_of(ballots_of(responses, rankings))
    assert found.verdicts(2)[0].sentence == (
        "People's own orderings do not decide between MNRO and NMRR: they have 0.0 and 0.0 of 100 "
        "pairs of lists in common; the difference is 0.0 points, and it has no interval, as all "
        "participants have the same mean."
    )
    assert [each.responses for each in found.differences] == [4] * 3 + [0] * 3 + [4] * 3


def test_without_orderings_nothing_can_be_compared():
    rankings = random_rankings(np.random.default_rng(5), 2)
    assert own_orderings_of(ballots_of([], rankings)).verdicts(2)[0].sentence == (
        "MNRO − NMRR cannot be compared: there are no orderings."
    )


NMRR_TIES = {
    "AP": Ranking.parse("E>D>C>B>A"),
    "NMRR": Ranking.parse("A>B=C>D=E"),  # never contradicts MNRO
    "MNRO": Ranking.parse("A>B>C>D>E"),
}


def following(rng, people, questions, share):
    """Orderings that follow MNRO in a share of NMRR's ties, and agree with both elsewhere."""

    def order():
        tied = [pair if rng.random() < share else pair[::-1] for pair in (("B", "C"), ("D", "E"))]
        return Ranking.parse(">".join(["A", *tied[0], *tied[1]]))

    return [
        Response(f"P{who}", question, MEASURES, own=order())
        for who in range(people)
        for question in range(1, questions + 1)
    ]


def verdicts_of_ties(rng, share, studies):
    rankings = dict.fromkeys(range(1, 11), NMRR_TIES)
    return [
        own_orderings_of(ballots_of(following(rng, 20, 10, share), rankings)).verdicts(10)[0]
        for _ in range(studies)
    ]


def test_ties_of_a_measure_that_people_break_at_random_give_no_lead():
    preferred = [each.preferred for each in verdicts_of_ties(np.random.default_rng(7), 0.5, 40)]
    assert preferred.count(None) >= 36


def test_people_who_break_ties_as_the_other_measure_does_are_nearer_to_it_through_its_orders():
    verdicts = verdicts_of_ties(np.random.default_rng(8), 0.7, 20)
    decided = [each for each in verdicts if each.preferred]
    assert len(decided) >= 18
    for each in decided:
        assert (each.preferred, each.preferred_for) == ("MNRO", "ties")
        assert (
            "nearer to MNRO's orders than to NMRR's, through pairs of lists that only MNRO orders: "
            in each.sentence
        )


def test_a_statistic_that_says_the_opposite_is_named():
    """Tau-b and the agreement rate reward who ties: people here order all, and half as MNRO."""
    verdicts = verdicts_of_ties(np.random.default_rng(8), 0.55, 20)
    aside = " By tau-b it is the other way round."
    assert any(each.sentence.endswith(aside) for each in verdicts)


def test_where_contradicting_pairs_say_the_same_but_not_beyond_chance_it_stays_open():
    rng = np.random.default_rng(9)
    contradicts = {**NMRR_TIES, "NMRR": Ranking.parse("B>A>C=D=E")}
    rankings = {number: contradicts if number < 3 else NMRR_TIES for number in range(1, 11)}
    responses = [
        replace(each, own=Ranking.parse("B>A>C>D>E"))
        if each.question < 3 and rng.random() < 0.4
        else each
        for each in following(rng, 20, 10, 0.9)
    ]
    found = own_orderings_of(ballots_of(responses, rankings))
    verdict = found.verdicts(10)[0]
    assert (verdict.preferred, verdict.preferred_for) == ("MNRO", "open")
    assert (
        "Whether for its order or through pairs of lists that only MNRO orders stays open."
        in verdict.sentence
    )
    assert found.differences[0].by_pairs.contradicting.contribution > 0


def test_later_orderings_are_compared_with_earlier_ones_by_what_decides():
    rng = np.random.default_rng(11)
    rankings = random_rankings(rng, QUESTIONS)
    responses = []
    for who in range(20):
        for position, question in enumerate(rng.permutation([*rankings]).tolist(), 1):
            near = 0.9 if position > QUESTIONS / 2 else 0.0
            own = rankings[question]["MNRO"] if rng.random() < near else weak_order(rng, 5)
            answer = Response(f"P{who:03}", question, MEASURES, own=own, position=position)
            responses.append(answer)
    responses.sort(key=lambda each: (each.participant, each.question))
    found = {
        (each.contrast, str(each.pair)): each
        for each in changes_of(Answers.of(responses), ballots_of(responses, rankings))
    }
    later = found["later less earlier", "MNRO-AP"]
    assert later.participants == 20
    assert later.mean > 0
    assert later.p_holm < 0.01
    assert found["slower less faster", "MNRO-AP"].p is None
