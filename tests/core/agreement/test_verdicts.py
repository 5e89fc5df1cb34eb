"""What is said of a pair of measures, word for word, in constructed situations."""

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.differences import T1, T2
from survey.core.agreement.verdicts import p_text, verdict
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
INITIALS = {"A": "AP", "N": "NMRR", "M": "MNRO"}
DIFFERENT = dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True))
NMRR_IS_MNRO = {**DIFFERENT, "NMRR": DIFFERENT["MNRO"]}


def said(pair, *votes, orders=DIFFERENT, measures=MEASURES):
    """The verdict on a pair; a participant's votes are the initials of the measures ticked.

    "O" is a custom ranking, "-" no answer; all questions have the same orders.
    """
    responses = [
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
    ]
    rankings = {
        question: {name: orders[name] for name in measures}
        for question in range(1, max(map(len, votes)) + 1)
    }
    found = analyse_answers(Answers.of(responses), rankings, measures, asked=len(rankings))
    one = next(one for one in found.differences if str(one.pair) == pair)
    return verdict(one, len(found.differences), len(rankings))


def test_a_preference_for_questions_of_this_kind_that_survives_holm():
    found = said("MNRO-NMRR", "MMNM", "MMMA", "MNMM", "MMMM", "MAMO", "MMMM")
    assert (found.preferred, found.population, found.survives_holm) == ("MNRO", T2, True)
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 70.8 points of the responses "
        "(95 % interval 48.7 to 93.0); this survives Holm's correction over 3 comparisons "
        "(p = .006). Identical orders give neither an advantage."
    )


def test_a_preference_for_questions_of_this_kind_that_does_not_survive_holm():
    found = said("MNRO-NMRR", "MMNM", "AMAN", "MAMM", "AMMA", "MNMA", "NMAM")
    assert (found.preferred, found.population, found.survives_holm) == ("MNRO", T2, False)
    assert found.sentence == (
        "For questions of this kind, MNRO is preferred to NMRR by 37.5 points of the responses "
        "(95 % interval 3.4 to 71.6); this does not survive Holm's correction over 3 comparisons "
        "(p = .118). Identical orders give neither an advantage."
    )


def test_a_preference_on_these_questions_that_hangs_on_one_of_them():
    found = said("MNRO-NMRR", "MMMN", "MMNN", "MMMN", "MMMA", "MMMN", "MMAN")
    assert (found.preferred, found.population, found.survives_holm) == ("MNRO", T1, True)
    assert found.sentence == (
        "For these 4 questions alone, MNRO is preferred to NMRR by 41.7 points of a "
        "participant's responses (95 % interval 14.6 to 68.8); this survives Holm's correction "
        "over 3 comparisons (p = .022). For questions of this kind it stays open: there the "
        "interval is −88.1 to 100.0. Identical orders give neither an advantage."
    )


def test_votes_that_decide_nothing():
    found = said("MNRO-NMRR", "MNAM", "NMMN", "ANMM", "MNNA", "MMNO")
    assert (found.preferred, found.population, found.survives_holm) == (None, None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, "
        "is 10.0 points of the responses, and its 95 % interval is −31.1 to 51.1 for questions of "
        "this kind and −17.8 to 37.8 for these 4 questions alone. Identical orders give neither "
        "an advantage."
    )


def test_one_question_says_nothing_of_others():
    found = said("MNRO-NMRR", "M", "M", "M", "N", "M", "M", "M", "M", "A")
    assert (found.preferred, found.population) == ("MNRO", T1)
    assert found.sentence == (
        "For the one question of this study, MNRO is preferred to NMRR by 66.7 points of a "
        "participant's responses (95 % interval 12.3 to 100.0); this does not survive Holm's "
        "correction over 3 comparisons (p = .067). Of other questions nothing can be said: a "
        "two-way test needs two participants and two questions. Identical orders give neither "
        "an advantage."
    )


def test_the_second_of_a_pair_wins_with_its_interval_turned_round():
    found = said("NMRR-AP", "AANA", "AAAM", "ANAA", "AAAA", "AMAO", "AAAA")
    assert (found.preferred, found.population) == ("AP", T2)
    assert found.sentence == (
        "For questions of this kind, AP is preferred to NMRR by 70.8 points of the responses "
        "(95 % interval 48.7 to 93.0); this survives Holm's correction over 3 comparisons "
        "(p = .006). Identical orders give neither an advantage."
    )


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
        "40.0 points of the responses, and its 95 % interval is 3.3 to 76.7 for questions of this "
        "kind and 12.2 to 67.8 for these 4 questions alone, but the label permutation does not "
        "show more than random clicking gives (p = .818). Orders are identical in every question, "
        "so random clicking alone gives NMRR a 33.3-point lead; observed: 40.0."
    )


def test_a_lead_beyond_what_identical_orders_give_is_one():
    found = said("NMRR-AP", "MMNM", "MNMA", "NNMM", "MMMM", "MNAM", orders=NMRR_IS_MNRO)
    assert (found.preferred, found.population, found.survives_holm) == ("NMRR", T2, True)
    assert found.sentence.endswith(
        "Orders are identical in every question, so random clicking alone gives NMRR "
        "a 33.3-point lead; observed: 80.0."
    )


def test_the_only_comparison_needs_no_correction():
    found = said("NMRR-AP", "NNNA", "NNNN", "NANN", "NNAN", measures=MEASURES[:2])
    assert (found.preferred, found.survives_holm) == ("NMRR", True)
    assert found.sentence == (
        "For questions of this kind, NMRR is preferred to AP by 62.5 points of the responses "
        "(95 % interval 22.7 to 100.0); p = .015, the only comparison, so nothing has to be "
        "corrected. Identical orders give neither an advantage."
    )


def test_unanimous_votes_are_told_but_have_no_interval():
    assert said("MNRO-AP", "MMM", "MMM").sentence == (
        "No preference can be inferred between MNRO and AP: the observed difference, MNRO − "
        "AP, is 100.0 points of the responses, and it has no interval: all participants have the "
        "same mean. Identical orders give neither an advantage."
    )


def test_no_responses():
    found = said("MNRO-AP", "---")
    assert found.preferred is None
    assert found.sentence == "MNRO and AP cannot be compared: there are no responses."


def test_the_mean_of_the_responses_decides_where_most_answers_are_one_participants():
    # Most responses are one participant's, for AP; most participants are for MNRO.
    found = said("MNRO-AP", *["M---------"] * 5, "AAAAAAAAMM")
    assert (found.preferred, found.population) == (None, None)
    assert "is −6.7 points of the responses" in found.sentence


def test_an_interval_for_the_kind_alone_is_no_preference():
    # With few questions the two-way interval may be short by chance.
    found = said("MNRO-NMRR", "AAM", "MAN", "AMM", "ANM", "MAA")
    assert (found.preferred, found.population) == (None, None)
    assert found.sentence == (
        "The votes do not decide between MNRO and NMRR: the observed difference, MNRO − NMRR, "
        "is 26.7 points of the responses, and its 95 % interval is 19.0 to 34.3 for questions of "
        "this kind and −8.0 to 61.3 for these 3 questions alone, and what holds of the kind would "
        "have to hold of these. Identical orders give neither an advantage."
    )


def test_a_p_is_printed_as_in_papers_and_never_rounded_onto_the_level():
    printed = {0.0234: "p = .023", 0.0496: "p = .0496", 0.05: "p = .050", 0.9996: "p = 1"}
    assert {p: p_text(p) for p in printed} == printed
    assert (p_text(0.0004), p_text(0.9994), p_text(None)) == ("p < .001", "p = .999", "no p value")
