"""What is said of a pair of measures, word for word, in constructed situations."""

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.differences import T1, T2
from survey.core.agreement.headlines import Row, answer_rows
from survey.core.agreement.verdicts import verdict
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
    return verdict(one, len(rankings), level)


# Seven people and seven questions: the fewest of whom signs alike say something of three pairs.
FOR_MNRO = ("MMNMMMA", "MMMAMNM", "MNMMMMM", "MMMMAMM", "MAMOMMM", "MMMMMMN", "NMMMMMM")
FOR_AP = tuple(row.translate(str.maketrans("MNA", "ANM")) for row in FOR_MNRO)


def test_a_preference_for_questions_of_this_kind():
    found = said("MNRO-NMRR", *FOR_MNRO)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "orders")
    assert found.population == T2
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 69.4 points of the responses "
        "(95 % interval 52.0 to 86.7; p = .016, corrected for 3 comparisons). Identical orders "
        "give neither an advantage."
    )


@pytest.mark.parametrize(
    ("level", "left"),
    [
        (
            0.0002,
            "not below .0002, which planned looks leave: with 7 participants no p is below "
            ".0156 for the kind and, for these, below .0469; it takes 15",
        ),
        (
            0.0000031,
            "not below .000003, which planned looks leave: with 7 participants no p is below "
            ".0156 for the kind and, for these, below .0469; it takes 21",
        ),
        (0.0, "and planned looks leave no level before someone has finished"),
    ],
)
def test_a_look_that_may_not_decide_yet_speaks_of_no_identical_orders(level, left):
    found = said("MNRO-NMRR", *FOR_MNRO, level=level)
    assert found.scope == "none"
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, is "
        "69.4 points of the responses, and its 95 % interval is 47.0 to 91.7 for questions of "
        "this kind and 57.1 to 81.6 for these 7 questions alone (for all 3 comparisons together), "
        "but corrected for 3 comparisons p = .016 for the kind and p = .047 for these, "
        f"{left}. Identical orders give neither an advantage."
    )


def test_with_two_measures_a_look_names_no_correction():
    votes = [mine.replace("N", "A") for mine in FOR_MNRO]
    found = said("MNRO-AP", *votes, measures=("AP", "MNRO"), level=0.0001)
    assert "alone, but p = " in found.sentence
    assert "comparisons" not in found.sentence


def test_questions_without_an_answer_are_not_counted():
    found = said(
        "MNRO-NMRR", *(f"{mine}-" for mine in FOR_MNRO), orders=[*[DIFFERENT] * 7, NMRR_IS_MNRO]
    )
    assert "8" not in found.sentence.split("(95 %")[0]
    assert found.sentence.endswith("Identical orders give neither an advantage.")


def test_without_the_correction_there_is_no_preference():
    votes = ("NNAMMNA", "NMNMMMM", "MNAMAMA", "MMAMMNM", "MAMAAAN", "AMNAAMA", "MMANMAA")
    found = said("MNRO-NMRR", *votes)
    assert (found.scope, found.preferred, found.population) == ("none", None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, is "
        "24.5 points of the responses, and its 95 % interval is −4.0 to 53.0 for questions of this "
        "kind and −4.0 to 53.0 for these 7 questions alone (for all 3 comparisons together), but "
        "corrected for 3 comparisons p = .071 for the kind and p = .090 for these. Identical "
        "orders give neither an advantage."
    )


def test_what_no_answers_to_so_few_questions_could_show_is_named():
    found = said("MNRO-NMRR", "MMNM", "AMAN", "MAMM", "AMMA", "MNMA", "NMAM")
    assert (found.scope, found.preferred, found.population) == ("none", None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, is "
        "37.5 points of the responses, and its 95 % interval is −24.6 to 99.6 for questions of "
        "this kind and −0.3 to 75.3 for these 4 questions alone (for all 3 comparisons together), "
        "but corrected for 3 comparisons p = .165 for the kind and p = .094 for these: with 4 "
        "questions no p is below .125; it takes 6; with 6 participants no p for these is below "
        ".0938; it takes 7. Identical orders give neither an advantage."
    )


def test_a_preference_on_these_questions_that_hangs_on_some_of_them():
    votes = ("MMMMMNN", "MMMMNNN", "MMMMMNN", "MMMMMNA", "MMMMMNN", "MMMMMAN", "MMMMMNN")
    found = said("MNRO-NMRR", *votes)
    assert (found.scope, found.preferred, found.population) == ("these", "MNRO", T1)
    assert found.sentence == (
        "For these 7 questions alone, MNRO is preferred to NMRR by 42.9 points of the responses "
        "(95 % interval 29.6 to 56.1; p = .047, corrected for 3 comparisons). For questions of "
        "this kind it stays open: there the interval is −39.0 to 100.0, p = .248, corrected for 3 "
        "comparisons. Identical orders give neither an advantage."
    )


def test_of_the_kind_of_too_few_questions_nothing_can_be_said():
    found = said("MNRO-NMRR", "MMMN", "MMNN", "MMMN", "MMMA", "MMMN", "MMAN", "MMMN")
    assert (found.scope, found.preferred, found.population) == ("these", "MNRO", T1)
    assert found.sentence == (
        "For these 4 questions alone, MNRO is preferred to NMRR by 42.9 points of the responses "
        "(95 % interval 20.9 to 64.8; p = .047, corrected for 3 comparisons). Of questions of this "
        "kind nothing can be said: with 4 questions no p is below .125; it takes 6. Identical "
        "orders give neither an advantage."
    )


def test_where_planned_looks_leave_less_it_takes_more_questions():
    found = said("MNRO-NMRR", *FOR_MNRO * 3, level=0.01)
    assert found.scope == "these"
    assert (
        "Of questions of this kind nothing can be said: with 7 questions no p is below .0156; it "
        "takes 8." in found.sentence
    )


def test_votes_that_decide_nothing():
    found = said("MNRO-NMRR", "MNAM", "NMMN", "ANMM", "MNNA", "MMNO")
    assert (found.scope, found.preferred, found.preferred_for) == ("none", None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, "
        "is 10.0 points of the responses, and its 95 % interval is −71.7 to 91.7 for questions of "
        "this kind and −29.6 to 49.6 for these 4 questions alone (for all 3 comparisons together). "
        "Identical orders give neither an advantage."
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
    found = said("NMRR-AP", *FOR_AP)
    assert (found.preferred, found.population) == ("AP", T2)
    assert found.sentence == (
        "For questions of this kind, AP is preferred to NMRR by 69.4 points of the responses "
        "(95 % interval 52.0 to 86.7; p = .016, corrected for 3 comparisons). Identical orders "
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
        f"For questions of this kind, MNRO is preferred to NMRR {reason}, by 69.4 points of the "
        "responses (95 % interval 52.0 to 86.7; p = .016, corrected for 3 comparisons). Of these "
        f"points, 69.4 come from 7 questions in which {breaking}; in none do the two contradict "
        "each other. Identical orders give neither an advantage."
    )


FIVE_OF_TIES = [MNRO_BREAKS_TIES] * 5 + [DIFFERENT] * 3


def test_where_contradictions_say_the_opposite_a_preference_is_about_ties():
    votes = ("MMMMMNNN", "MMMMMNMN", "MMMMMNNA", "MMMMMNNM", "MMMMNMNN", *["MMMMMNNN"] * 2)
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("these", "MNRO", "ties")
    assert found.sentence == (
        "For these 8 questions alone, MNRO is preferred to NMRR for showing no ties, by 33.9 "
        "points of the responses (95 % interval 22.9 to 44.9; p = .047, corrected for 3 "
        "comparisons). Of these points, 58.9 come from 5 questions in which MNRO only breaks "
        "NMRR's ties; from the 3 in which they contradict each other: −25.0. For questions of this "
        "kind it stays open: there the interval is −36.1 to 100.0, p = .285, corrected for 3 "
        "comparisons. Identical orders give neither an advantage."
    )


def test_a_preference_that_contradictions_support_names_its_parts():
    votes = ("MMMMMMNM", "MMMMMNMM", "MMMMMMMA", *["MMMMMMMM"] * 2, "MMMMNMMM", "MMAMMMMM")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "orders")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 85.7 points of the responses "
        "(95 % interval 73.7 to 97.8; p = .016, corrected for 3 comparisons). Of these points, "
        "57.1 come from 5 questions in which MNRO only breaks NMRR's ties; from the 3 in which "
        "they contradict each other: 28.6. Identical orders give neither an advantage."
    )


def test_where_contradictions_say_the_same_but_not_beyond_chance_the_reason_stays_open():
    votes = ("MNMNMMNM", "MMMMMNAM", "MMMMAMMM", "MMMMMMAM", "MMMMAAMN", "AMMMMAMA", "MMMMAMAM")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "open")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 64.3 points of the responses "
        "(95 % interval 43.8 to 84.8; p = .016, corrected for 3 comparisons). Whether for its "
        "order or for showing no ties stays open. Of these points, 48.2 come from 5 questions in "
        "which MNRO only breaks NMRR's ties; from the 3 in which they contradict each other: 16.1. "
        "Identical orders give neither an advantage."
    )


def test_a_lead_that_random_orders_would_give_where_both_contradict_is_about_ties():
    """Random strict orders give MNRO 16.7 points there (test_contrasts.py); it has 4.8."""
    votes = ("MNAMMMNM", "MANMMNMN", "AMMMMNMA", "MAOMMNMN", "MMMMNMMN", "ANAMMMNM", "MMMMMNMA")
    found = said("MNRO-NMRR", *votes, orders=FIVE_OF_TIES)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "ties")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR for showing no ties, by 37.5 points "
        "of the responses (95 % interval 8.6 to 66.4; p = .019, corrected for 3 comparisons). Of "
        "these points, 35.7 come from 5 questions in which MNRO only breaks NMRR's ties; from the "
        "3 in which they contradict each other: 1.8. Identical orders give neither an advantage."
    )


def test_where_one_also_ties_lists_wherever_both_contradict_the_reason_stays_open():
    also_ties = {**DIFFERENT, "NMRR": Ranking.parse("B>A=C")}
    found = said("MNRO-NMRR", *FOR_MNRO, orders=[MNRO_BREAKS_TIES] * 2 + [also_ties] * 5)
    assert (found.scope, found.preferred, found.preferred_for) == ("kind", "MNRO", "open")
    assert (
        "Whether for its order or for showing no ties stays open: wherever the two contradict each "
        "other, one also ties lists that the other orders. Of these points" in found.sentence
    )
    no_ties_only = said("MNRO-NMRR", *FOR_MNRO, orders=also_ties)
    assert (no_ties_only.scope, no_ties_only.preferred_for) == ("kind", "open")


def test_the_parts_of_a_lead_of_the_second_count_as_positive():
    swapped = {**MNRO_BREAKS_TIES, "AP": MNRO_BREAKS_TIES["MNRO"], "MNRO": DIFFERENT["AP"]}
    found = said("NMRR-AP", *FOR_AP, orders=swapped)
    assert (found.preferred, found.preferred_for) == ("AP", "ties")
    assert "AP is preferred to NMRR for showing no ties, by 69.4 points" in found.sentence
    assert "69.4 come from 7 questions in which AP only breaks NMRR's ties" in found.sentence


def test_identical_orders_everywhere_leave_nothing_to_compare():
    found = said("MNRO-NMRR", "MMNA", "MAMA", "NNAM", orders=NMRR_IS_MNRO)
    assert found.preferred is None
    assert found.sentence == (
        "No preference can be inferred between MNRO and NMRR: the observed difference, MNRO − "
        "NMRR, is 0.0 points of the responses, and it has no interval, as all participants have "
        "the same mean. Identical orders give neither an advantage; they order the lists alike in "
        "every question, so no vote can tell them apart."
    )


def test_a_lead_that_identical_orders_explain_is_no_preference():
    votes = ("MMNAMMA", "MAMAMNN", "NNAMAMM", "AMMMAMM", "MNAMMAM", "MAMAMMN", "NMMAAMM")
    found = said("NMRR-AP", *votes, orders=NMRR_IS_MNRO)
    assert found.preferred is None
    assert found.sentence == (
        "The votes do not decide between NMRR and AP: the observed difference, NMRR − AP, is "
        "42.9 points of the responses, and its 95 % interval is 10.6 to 75.2 for questions of "
        "this kind (for all 3 comparisons together), but the label permutation does not show more "
        "than random clicking gives (p = .546). Orders are identical in every question, so random "
        "clicking alone gives NMRR a 33.3-point lead; observed: 42.9."
    )


def test_a_lead_that_is_not_beyond_identical_orders_for_the_kind_says_so():
    votes = ("NNMMMNM", "MNNMANM", "MNNMAMM", "NMMMNNN", "NANMAMM", "NAMMANM", "NMNNMAA")
    found = said("NMRR-AP", *votes, orders=NMRR_IS_MNRO)
    assert (found.preferred, found.population) == ("NMRR", T2)
    assert found.sentence == (
        "For questions of this kind, NMRR is preferred to AP by 67.3 points of the responses "
        "(95 % interval 28.7 to 100.0; p = .016, corrected for 3 comparisons). With what random "
        "clicking gives taken from each vote, the lead is 34.0 points and not beyond chance "
        "(p = .184, corrected for 3 comparisons): identical orders may have made it. Orders are "
        "identical in every question, so random clicking alone gives NMRR a 33.3-point lead; "
        "observed: 67.3."
    )
    [row] = answer_rows([Row(found, None, None)])
    assert row.rest == "Identical orders may have made the lead."


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
    votes = ("NNNANN", "NNNNNA", "NANNNN", "NNANNN", "ANNNNN", "NNNNAN")
    found = said("NMRR-AP", *votes, measures=MEASURES[:2])
    assert (found.scope, found.preferred) == ("kind", "NMRR")
    assert found.sentence == (
        "For questions of this kind, NMRR is preferred to AP by 66.7 points of the responses "
        "(95 % interval 41.1 to 92.2; p = .0312, the only comparison). Identical orders give "
        "neither an advantage."
    )


def test_four_people_are_too_few_for_any_preference():
    found = said("NMRR-AP", "NNNA", "NNNN", "NANN", "NNAN", measures=MEASURES[:2])
    assert found.sentence == (
        "The votes do not decide between NMRR and AP: the observed difference, NMRR − AP, is 62.5 "
        "points of the responses, and its 95 % interval is 8.6 to 100.0 for questions of this kind "
        "and 22.7 to 100.0 for these 4 questions alone, but p = .125 for the kind and p = .125 for "
        "these: with 4 participants no p is below .125; it takes 6. Identical orders give neither "
        "an advantage."
    )


def test_unanimous_votes_are_a_preference():
    found = said("MNRO-AP", *["MMMMMMMMMM"] * 30)
    assert (found.scope, found.preferred) == ("kind", "MNRO")
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to AP by 100.0 points of the responses. "
        "All participants have the same mean, so there is no interval; by the signs of "
        "participants and questions p = .002, corrected for 3 comparisons. Identical orders give "
        "neither an advantage."
    )
    second = said("MNRO-AP", *["AAAAAAAAAA"] * 30)
    assert "AP is preferred to MNRO by 100.0 points" in second.sentence
    assert "by the signs of participants and questions p = .002" in second.sentence


def test_one_answer_that_disagrees_makes_no_claim_wider():
    scopes = [
        said("MNRO-AP", *["M" * questions] * 29, "M" * (questions - 1) + last).scope
        for questions in (3, 5, 6, 10)
        for last in "MA"
    ]
    assert scopes == ["these"] * 4 + ["kind"] * 4


def test_unanimous_votes_on_few_questions_say_nothing_of_others():
    found = said("MNRO-AP", *["MMMMM"] * 30)
    assert (found.scope, found.preferred) == ("these", "MNRO")
    assert found.sentence == (
        "For these 5 questions alone, MNRO is preferred to AP by 100.0 points of the responses. "
        "All participants have the same mean, so there is no interval; by exact sign flips of "
        "participants p < .001, corrected for 3 comparisons. Of questions of this kind nothing can "
        "be said: with 5 questions no p is below .0625; it takes 6. Identical orders give neither "
        "an advantage."
    )
    alone = said("MNRO-AP", *["M"] * 30)
    assert (alone.scope, alone.preferred) == ("these", "MNRO")
    assert (
        "Of other questions nothing can be said: with 1 question no p is below 1; it takes 6. "
        in alone.sentence
    )


def test_two_participants_cannot_be_unanimous_enough():
    assert said("MNRO-AP", "MMM", "MMM").sentence == (
        "No preference can be inferred between MNRO and AP: the observed difference, MNRO − "
        "AP, is 100.0 points of the responses, and it has no interval, as all participants have "
        "the same mean; corrected for 3 comparisons p = .500 for the kind and p = 1 for these: "
        "with 2 participants no p is below .5 for the kind and, for these, below 1; it takes 7. "
        "Identical orders give neither an advantage."
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
        "within (two one-sided tests of this pair by itself, p = .013; .038 corrected). Identical "
        "orders give neither an advantage."
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
        "alone (for all 3 comparisons together)."
    )


def test_a_p_is_printed_as_in_papers_and_never_rounded_onto_the_level():
    printed = {0.0234: "p = .023", 0.0496: "p = .0496", 0.05: "p = .050", 0.9996: "p = 1"}
    printed |= {0.5: "p = .500", 1 / 16: "p = .0625", 1 / 32: "p = .0312", 1 / 64: "p = .016"}
    assert {p: p_text(p) for p in printed} == printed
    assert (p_text(0.0004), p_text(0.9994), p_text(None)) == ("p < .001", "p = .999", "no p value")


@pytest.mark.parametrize(("number", "least"), [(4, ".125"), (5, ".0625")])
def test_no_p_is_printed_below_the_least_that_so_few_can_show(number, least):
    found = said("MNRO-AP", *["M" * number] * number)
    assert f"p = {least.ljust(4, '0')} for the kind" in found.sentence
    of_these = {4: ".375", 5: ".188"}[number]
    assert (
        f"with {number} participants no p is below {least} for the kind and, for these, below "
        f"{of_these}; it takes 7"
    ) in found.sentence
