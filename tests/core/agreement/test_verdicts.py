"""What is said of a pair of measures, word for word, in constructed situations."""

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.differences import T1, T2, Pair
from survey.core.agreement.verdicts import Verdict, headline, standing, verdict
from survey.core.statistics.significance import LEVEL, p_text
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
INITIALS = {"A": "AP", "N": "NMRR", "M": "MNRO"}
DIFFERENT = dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True))
NMRR_IS_MNRO = {**DIFFERENT, "NMRR": DIFFERENT["MNRO"]}
MNRO_BREAKS_TIES = {**DIFFERENT, "NMRR": Ranking.parse("C>A=B")}
MNRO_SHOWS_TIES = {**DIFFERENT, "NMRR": Ranking.parse("C>B>A"), "MNRO": Ranking.parse("C>A=B")}
EACH_BREAKS_TIES = {**DIFFERENT, "NMRR": Ranking.parse("C>A=B"), "MNRO": Ranking.parse("A=C>B")}


def answers_of(*votes, measures=MEASURES):
    """The answers of participants: the initials of the measures ticked.

    "O" is a custom ranking, "-" no answer.
    """
    return Answers.of(
        Response(
            participant=f"P{who}",
            question=question,
            label_order=measures,
            clicked=frozenset([measures.index(INITIALS[vote]) + 1] if vote != "O" else []),
            own=Ranking.parse("C>A>B") if vote == "O" else None,
        )
        for who, mine in enumerate(votes)
        for question, vote in enumerate(mine, 1)
        if vote != "-"
    )


def said(pair, *votes, orders=DIFFERENT, measures=MEASURES, smallest_difference=None, level=LEVEL):
    """The verdict on a pair; ``votes``: see ``answers_of``.

    ``orders``: of all questions, or a list of each's.
    """
    asked = max(map(len, votes))
    rankings = {
        question: {name: of[name] for name in measures}
        for question, of in enumerate(orders if isinstance(orders, list) else [orders] * asked, 1)
    }
    found = analyse_answers(
        answers_of(*votes, measures=measures),
        rankings,
        measures,
        asked,
        smallest_difference=smallest_difference,
    )
    one = next(one for one in found.differences if str(one.pair) == pair)
    return verdict(one, len(found.differences), len(rankings), level)


FOR_MNRO = ("MMNM", "MMMA", "MNMM", "MMMM", "MAMO", "MMMM")


def test_a_preference_for_questions_of_this_kind():
    found = said("MNRO-NMRR", *FOR_MNRO)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "orders")
    assert found.population == T2
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 70.8 points of the responses "
        "(95 % interval 39.5 to 100.0; p = .017, corrected for 3 comparisons). Identical orders "
        "give neither an advantage."
    )


@pytest.mark.parametrize(
    ("level", "left"),
    [
        (0.0002, "not below .0002, which planned looks leave"),
        (0.0000031, "not below .000003, which planned looks leave"),
        (0.0, "and planned looks leave no level before someone has finished"),
    ],
)
def test_a_look_that_may_not_decide_yet_speaks_of_no_identical_orders(level, left):
    found = said("MNRO-NMRR", *FOR_MNRO, level=level)
    assert found.scope == "none"
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, is "
        "70.8 points of the responses, and its 95 % interval is 39.5 to 100.0 for questions of "
        "this kind and 45.0 to 96.6 for these 4 questions alone, but corrected for 3 comparisons "
        f"p = .017 for the kind and p = .003 for these, {left}. Identical orders give neither an "
        "advantage."
    )


def test_with_two_measures_a_look_names_no_correction():
    votes = [mine.replace("N", "A") for mine in FOR_MNRO]
    found = said("MNRO-AP", *votes, measures=("AP", "MNRO"), level=0.0001)
    assert "alone, but p = " in found.sentence
    assert "comparisons" not in found.sentence


def test_questions_without_an_answer_are_not_counted():
    found = said(
        "MNRO-NMRR", *(f"{mine}-" for mine in FOR_MNRO), orders=[*[DIFFERENT] * 4, NMRR_IS_MNRO]
    )
    assert "5" not in found.sentence.split("(95 %")[0]
    assert found.sentence.endswith("Identical orders give neither an advantage.")


def test_without_the_correction_there_is_no_preference():
    found = said("MNRO-NMRR", "MMNM", "AMAN", "MAMM", "AMMA", "MNMA", "NMAM")
    assert (found.scope, found.preferred, found.population) == ("none", None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, is "
        "37.5 points of the responses, and its 95 % interval is −3.8 to 78.8 for questions of this "
        "kind and 10.0 to 65.0 for these 4 questions alone, but corrected for 3 comparisons p = "
        ".165 for the kind and p = .052 for these. Identical orders give neither an advantage."
    )


def test_a_preference_on_these_questions_that_hangs_on_one_of_them():
    found = said("MNRO-NMRR", "MMMN", "MMNN", "MMMN", "MMMA", "MMMN", "MMAN")
    assert (found.scope, found.preferred, found.population) == ("these", "MNRO", T1)
    assert found.sentence == (
        "For these 4 questions alone, MNRO is preferred to NMRR by 41.7 points of the responses "
        "(95 % interval 14.6 to 68.8; p = .022, corrected for 3 comparisons). For questions of "
        "this kind it stays open: there the interval is −95.1 to 100.0, p = .408, corrected for 3 "
        "comparisons. Identical orders give neither an advantage."
    )


def test_votes_that_decide_nothing():
    found = said("MNRO-NMRR", "MNAM", "NMMN", "ANMM", "MNNA", "MMNO")
    assert (found.scope, found.preferred, found.preferred_for) == ("none", None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, "
        "is 10.0 points of the responses, and its 95 % interval is −44.4 to 64.4 for questions of "
        "this kind and −17.8 to 37.8 for these 4 questions alone. Identical orders give neither "
        "an advantage."
    )


def test_one_question_says_nothing_of_others():
    found = said("MNRO-NMRR", *"MMMNMMMMMA")
    assert (found.scope, found.preferred) == ("these", "MNRO")
    assert found.sentence == (
        "For the one question that was answered, MNRO is preferred to NMRR by 70.0 points of the "
        "responses (95 % interval 21.7 to 100.0; p = .029, corrected for 3 comparisons). Of other "
        "questions nothing can be said: it needs two participants, two questions and as many "
        "responses as both together. Identical orders give neither an advantage."
    )


def test_the_second_of_a_pair_wins_with_its_interval_turned_round():
    found = said("NMRR-AP", "AANA", "AAAM", "ANAA", "AAAA", "AMAO", "AAAA")
    assert (found.preferred, found.population) == ("AP", T2)
    assert found.sentence == (
        "For questions of this kind, AP is preferred to NMRR by 70.8 points of the responses "
        "(95 % interval 39.5 to 100.0; p = .017, corrected for 3 comparisons). Identical orders "
        "give neither an advantage."
    )


@pytest.mark.parametrize(
    ("orders", "reason", "breaking"),
    [
        (MNRO_BREAKS_TIES, "for showing no ties", "MNRO only breaks NMRR's ties"),
        (MNRO_SHOWS_TIES, "for showing ties", "NMRR only breaks MNRO's ties"),
        (
            EACH_BREAKS_TIES,
            "where one only breaks ties of the other",
            "one only breaks ties of the other",
        ),
    ],
)
def test_where_nothing_contradicts_a_preference_is_about_ties(orders, reason, breaking):
    found = said("MNRO-NMRR", *FOR_MNRO, orders=orders)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "ties")
    assert found.sentence == (
        f"For questions of this kind, MNRO is preferred to NMRR {reason}, by 70.8 points of the "
        "responses (95 % interval 39.5 to 100.0; p = .017, corrected for 3 comparisons). Of these "
        f"points, 70.8 come from 4 questions in which {breaking}; in none do the two contradict "
        "each other. Identical orders give neither an advantage."
    )


FIVE_OF_TIES = [MNRO_BREAKS_TIES] * 5 + [DIFFERENT] * 3


def test_where_contradictions_say_the_opposite_a_preference_is_about_ties():
    votes = ("MMMMMNNN", "MMMMMNMN", "MMMMMNNA", "MMMMMNNM", "MMMMNMNN", "MMMMMNNN")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("these", "MNRO", "ties")
    assert found.sentence == (
        "For these 8 questions alone, MNRO is preferred to NMRR for showing no ties, by 35.4 "
        "points of the responses (95 % interval 22.5 to 48.3; p = .002, corrected for 3 "
        "comparisons). Of these points, 58.3 come from 5 questions in which MNRO only breaks "
        "NMRR's ties; from the 3 in which they contradict each other: −22.9. For questions of this "
        "kind it stays open: there the interval is −32.0 to 100.0, p = .247, corrected for 3 "
        "comparisons. Identical orders give neither an advantage."
    )


def test_a_preference_that_contradictions_support_names_its_parts():
    votes = ("MMMMMMNM", "MMMMMNMM", "MMMMMMMA", "MMMMMMMM", "MMMMNMMM", "MMMMMMMM")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "orders")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 85.4 points of the responses "
        "(95 % interval 71.2 to 99.6; p < .001, corrected for 3 comparisons). Of these points, "
        "58.3 come from 5 questions in which MNRO only breaks NMRR's ties; from the 3 in which "
        "they contradict each other: 27.1. Identical orders give neither an advantage."
    )


def test_where_contradictions_say_the_same_but_not_beyond_chance_the_reason_stays_open():
    votes = ("MNAMMMNM", "MANMMNMN", "AMMMMNMA", "MAOMMNMN", "MMMMNMMN", "ANAMMMNM")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "open")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 33.3 points of the responses "
        "(95 % interval 9.3 to 57.4; p = .028, corrected for 3 comparisons). Whether for its order "
        "or for showing no ties stays open. Of these points, 31.2 come from 5 questions in which "
        "MNRO only breaks NMRR's ties; from the 3 in which they contradict each other: 2.1. "
        "Identical orders give neither an advantage."
    )


def test_the_parts_of_a_lead_of_the_second_count_as_positive():
    swapped = {**MNRO_BREAKS_TIES, "AP": MNRO_BREAKS_TIES["MNRO"], "MNRO": DIFFERENT["AP"]}
    found = said("NMRR-AP", "AANA", "AAAM", "ANAA", "AAAA", "AMAO", "AAAA", orders=swapped)
    assert (found.preferred, found.preferred_for) == ("AP", "ties")
    assert "AP is preferred to NMRR for showing no ties, by 70.8 points" in found.sentence
    assert "70.8 come from 4 questions in which AP only breaks NMRR's ties" in found.sentence


def test_identical_orders_everywhere_leave_nothing_to_compare():
    found = said("MNRO-NMRR", "MMNA", "MAMA", "NNAM", orders=NMRR_IS_MNRO)
    assert found.preferred is None
    assert found.sentence == (
        "No preference can be inferred between MNRO and NMRR: the observed difference, MNRO − "
        "NMRR, is 0.0 points of the responses, and it has no interval: all participants have the "
        "same mean. Identical orders give neither an advantage; they order the lists alike in "
        "every question, so no vote can tell them apart."
    )


def test_a_lead_that_identical_orders_explain_is_no_preference():
    found = said("NMRR-AP", "MMNA", "MAMA", "NNAM", "AMMM", "MNAM", orders=NMRR_IS_MNRO)
    assert found.preferred is None
    assert found.sentence == (
        "The votes do not decide between NMRR and AP: the observed difference, NMRR − AP, is "
        "40.0 points of the responses, and its 95 % interval is −16.6 to 96.6 for questions of "
        "this kind and 12.2 to 67.8 for these 4 questions alone, but the label permutation does "
        "not show more than random clicking gives (p = .818). Orders are identical in every "
        "question, so random clicking alone gives NMRR a 33.3-point lead; observed: 40.0."
    )


def test_a_lead_that_is_not_beyond_identical_orders_for_the_kind_says_so():
    found = said("NMRR-AP", "MMNM", "MNMA", "NNMM", "MMMM", "MNAM", orders=NMRR_IS_MNRO)
    assert (found.preferred, found.population) == ("NMRR", T2)
    assert found.sentence == (
        "For questions of this kind, NMRR is preferred to AP by 80.0 points of the responses "
        "(95 % interval 46.0 to 100.0; p = .014, corrected for 3 comparisons). With what random "
        "clicking gives taken from each vote, the lead is 46.7 points and not beyond chance "
        "(p = .059, corrected for 3 comparisons): identical orders may have made it. Orders are "
        "identical in every question, so random clicking alone gives NMRR a 33.3-point lead; "
        "observed: 80.0."
    )
    assert standing(found, 4) == (
        "holds for questions of this kind, though identical orders may have made the lead"
    )
    assert headline([found], [0.8], 4) == (
        "NMRR leads AP, and this holds for questions of this kind, though identical orders may "
        "have made the lead."
    )


def test_a_preference_that_identical_orders_hide_is_told():
    votes = ("NANAMAMA", "ANAMAMAN", "NAMAMANA") * 4
    found = said("NMRR-AP", *votes, orders=NMRR_IS_MNRO)
    assert found.preferred is None
    assert (
        "With what random clicking gives taken from each vote, AP leads by 33.3 points (95 % "
        "interval 15.4 to 51.3): identical orders may hide a preference." in found.sentence
    )


def test_a_lead_beyond_what_identical_orders_give_is_one():
    votes = ["MMNMMNMM"] * 6 + ["MNMMNMMM"] * 6
    found = said("NMRR-AP", *votes, orders=NMRR_IS_MNRO)
    assert (found.preferred, found.population) == ("NMRR", T2)
    assert "With what random clicking gives" not in found.sentence
    assert found.sentence.endswith(
        "Orders are identical in every question, so random clicking alone gives NMRR "
        "a 33.3-point lead; observed: 100.0."
    )


def test_the_only_comparison_needs_no_correction():
    found = said("NMRR-AP", "NNNA", "NNNN", "NANN", "NNAN", measures=MEASURES[:2])
    assert (found.scope, found.preferred) == ("kind", "NMRR")
    assert found.sentence == (
        "For questions of this kind, NMRR is preferred to AP by 62.5 points of the responses "
        "(95 % interval 8.6 to 100.0; p = .034, the only comparison). Identical orders give "
        "neither an advantage."
    )


def test_unanimous_votes_are_a_preference():
    found = said("MNRO-AP", *["MMMMMMMMMM"] * 30)
    assert (found.scope, found.preferred) == ("kind", "MNRO")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to AP by 100.0 points of the responses. "
        "All participants have the same mean, so there is no interval; by an exact sign test of "
        "questions, 10 won and 0 lost, p = .006, corrected for 3 comparisons. Identical orders "
        "give neither an advantage."
    )
    second = said("MNRO-AP", *["AAAAAAAAAA"] * 30)
    assert "AP is preferred to MNRO by 100.0 points" in second.sentence
    assert "of questions, 10 won and 0 lost, p = .006" in second.sentence


def test_unanimous_votes_on_few_questions_say_nothing_of_others():
    found = said("MNRO-AP", *["MMMMM"] * 30)
    assert (found.scope, found.preferred) == ("these", "MNRO")
    assert found.sentence == (
        "For these 5 questions alone, MNRO is preferred to AP by 100.0 points of the responses. "
        "All participants have the same mean, so there is no interval; by exact sign flips of "
        "participants p < .001, corrected for 3 comparisons. For questions of this kind it stays "
        "open: by an exact sign test of questions, 5 won and 0 lost, p = .188, corrected for 3 "
        "comparisons. Identical orders give neither an advantage."
    )
    alone = said("MNRO-AP", *["M"] * 30)
    assert (alone.scope, alone.preferred) == ("these", "MNRO")
    assert "Of other questions nothing can be said" in alone.sentence


def test_two_participants_cannot_be_unanimous_enough():
    assert said("MNRO-AP", "MMM", "MMM").sentence == (
        "No preference can be inferred between MNRO and AP: the observed difference, MNRO − "
        "AP, is 100.0 points of the responses, and it has no interval: all participants have the "
        "same mean. Identical orders give neither an advantage."
    )


def test_nine_of_ten_from_everyone_is_a_preference_though_participants_do_not_differ():
    # Each of 30 participants has one vote for NMRR, three of them in each question.
    votes = ["M" * place + "N" + "M" * (9 - place) for place in range(10)] * 3
    found = said("MNRO-NMRR", *votes)
    assert (found.scope, found.preferred) == ("kind", "MNRO")
    assert "is preferred to NMRR by 80.0 points of the responses (95 %" in found.sentence


def test_measures_are_equal_where_the_interval_lies_within_what_matters():
    found = said("MNRO-NMRR", *["MNMNMNMNMN", "NMNMNMNMNM"] * 15, smallest_difference=0.1)
    assert (found.scope, found.preferred, found.population) == ("equal", None, T2)
    assert found.sentence == (
        "For questions of this kind, MNRO and NMRR are equal to within 10 points: the difference, "
        "MNRO − NMRR, is 0.0 points of the responses, and its 90 % interval, −7.3 to 7.3, lies "
        "within (two one-sided tests, p = .013). Identical orders give neither an advantage."
    )


def test_measures_are_equal_at_the_level_that_planned_looks_leave():
    votes = ["MNMNMNMNMN", "NMNMNMNMNM"] * 15
    found = said("MNRO-NMRR", *votes, smallest_difference=0.1, level=0.01)  # its p is .013
    assert found.scope == "none"
    assert "Nor is it shown that they are equal to within 10 points." in found.sentence


def test_what_is_neither_preferred_nor_equal_says_so():
    votes = ["MNMNMNMNAN", "NMNAMNMNMM", "ANMNNMNMMM"] * 2
    found = said("MNRO-NMRR", *votes, smallest_difference=0.1)
    assert found.scope == "none"
    assert "Nor is it shown that they are equal to within 10 points." in found.sentence


def test_a_preference_that_is_smaller_than_what_matters_says_so():
    votes = ["MMNMANMNMM", "MNMMNMMMNA", "NMMNMMAMMN", "MMMNMMNMAN"] * 10
    found = said("MNRO-NMRR", *votes, smallest_difference=0.6)
    assert found.scope == "kind"
    assert "That is less than the 60 points which, by the plan, matter." in found.sentence


def test_no_responses():
    found = said("MNRO-AP", "---")
    assert (found.scope, found.preferred) == ("none", None)
    assert found.sentence == "MNRO and AP cannot be compared: there are no responses."


def test_the_mean_of_the_responses_decides_where_most_answers_are_one_participants():
    # Most responses are one participant's, for AP; most participants are for MNRO.
    found = said("MNRO-AP", *["M---------"] * 5, "AAAAAAAAMM")
    assert found.scope == "none"
    assert found.sentence.startswith(
        "The votes do not decide between MNRO and AP: the observed difference, MNRO − AP, is −6.7 "
        "points of the responses, and its 95 % interval is −100.0 to 100.0 for these 10 questions "
        "alone."
    )


def test_a_p_is_printed_as_in_papers_and_never_rounded_onto_the_level():
    printed = {0.0234: "p = .023", 0.0496: "p = .0496", 0.05: "p = .050", 0.9996: "p = 1"}
    assert {p: p_text(p) for p in printed} == printed
    assert (p_text(0.0004), p_text(0.9994), p_text(None)) == ("p < .001", "p = .999", "no p value")


def a_verdict(pair, scope="none", winner=None, preferred_for=None):
    population = {"kind": T2, "these": T1, "equal": T2}.get(scope)
    return Verdict(Pair(*pair.split("-")), scope, winner, preferred_for, population, "")


OPEN_PAIR = a_verdict("NMRR-AP")


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            a_verdict("MNRO-NMRR", "kind", "MNRO", "orders"),
            a_verdict("MNRO-AP", "kind", "MNRO", "orders"),
            "MNRO leads NMRR and AP, and this holds for questions of this kind.",
        ),
        (
            a_verdict("MNRO-NMRR"),
            a_verdict("MNRO-AP", "these", "MNRO", "orders"),
            "MNRO leads AP, and this holds for these 10 questions alone; the answers do not decide "
            "between MNRO and NMRR.",
        ),
        (
            a_verdict("MNRO-NMRR", "kind", "MNRO", "ties"),
            a_verdict("MNRO-AP", "kind", "MNRO", "open"),
            "MNRO leads AP for questions of this kind, but whether for its orders or through ties "
            "stays open; it leads NMRR through ties alone, so do not say that people prefer its "
            "orders.",
        ),
        (
            a_verdict("MNRO-NMRR", "kind", "MNRO", "ties"),
            a_verdict("MNRO-AP", "kind", "MNRO", "orders"),
            "MNRO leads AP, and this holds for questions of this kind; it leads NMRR through ties "
            "alone, so do not say that people prefer its orders.",
        ),
        (
            a_verdict("MNRO-NMRR", "equal"),
            a_verdict("MNRO-AP"),
            "MNRO and NMRR are equal to within what matters for questions of this kind; the "
            "answers do not decide between MNRO and AP.",
        ),
        (
            a_verdict("MNRO-NMRR"),
            a_verdict("MNRO-AP"),
            "The answers do not decide between MNRO, NMRR and AP; MNRO is ahead, but no test shows "
            "more than chance.",
        ),
    ],
)
def test_one_sentence_says_who_leads_and_whether_that_holds(first, second, sentence):
    assert headline([first, second, OPEN_PAIR], [0.2, 0.3, 0.1], 10) == sentence


def test_the_headline_names_no_leader_where_nothing_differs_or_is_known():
    nothing = [a_verdict("MNRO-NMRR"), a_verdict("MNRO-AP"), OPEN_PAIR]
    sentence = "The answers do not decide between MNRO, NMRR and AP."
    assert headline(nothing, [0.0, 0.0, 0.0], 10) == sentence
    assert headline(nothing, [None, None, None], 10) == sentence


def test_a_preference_that_is_not_split_by_ties_is_named_first():
    # As of people's own orderings, and of preferences between two lists.
    decided = a_verdict("MNRO-AP", "kind", "MNRO")
    assert headline([a_verdict("MNRO-NMRR"), decided, OPEN_PAIR], [0.2, 0.3, 0.1], 10) == (
        "MNRO leads AP, and this holds for questions of this kind; the answers do not decide "
        "between MNRO and NMRR."
    )


def test_measures_that_are_equally_far_ahead_are_all_named():
    nothing = [a_verdict("MNRO-NMRR"), a_verdict("MNRO-AP"), a_verdict("NMRR-AP")]
    assert headline(nothing, [0.0, 0.1, 0.1], 10) == (
        "The answers do not decide between MNRO, NMRR and AP; MNRO and NMRR are equally far "
        "ahead, but no test shows more than chance."
    )
    decided = [a_verdict("MNRO-AP", "kind", "MNRO"), a_verdict("NMRR-AP", "kind", "NMRR")]
    assert headline([nothing[0], *decided], [0.0, 0.3, 0.3], 10) == (
        "MNRO leads AP, and this holds for questions of this kind; the answers do not decide "
        "between MNRO and NMRR. NMRR is as far ahead."
    )


def test_a_leader_without_a_verdict_is_said_to_be_ahead_only():
    others = [a_verdict("MNRO-NMRR"), a_verdict("MNRO-AP")]
    decided = a_verdict("NMRR-AP", "kind", "NMRR", "orders")
    assert headline([*others, decided], [0.01, 0.2, 0.19], 10) == (
        "MNRO is ahead, but the answers do not decide between MNRO and NMRR or AP."
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (a_verdict("A-B", "kind", "A", "orders"), "holds for questions of this kind"),
        (a_verdict("A-B", "these", "B", "orders"), "holds for these 10 questions alone"),
        (a_verdict("A-B", "kind", "A", "ties"), "no preference for orders"),
        (
            a_verdict("A-B", "kind", "A", "open"),
            "whether for the orders or through ties stays open",
        ),
        (a_verdict("A-B", "equal"), "equal to within what matters for questions of this kind"),
        (a_verdict("A-B"), "not decided"),
    ],
)
def test_a_pair_stands_in_a_few_words(found, words):
    assert words in standing(found, 10)
