"""Scores that are rescaled to 0–100: in the measure's order, and without its numbers."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from survey.core.measures.measure import Setting
from survey.core.studies.questions import build_question
from survey.core.studies.rankings import Ranking, printed, rescaled

NAMES = ("AP", "NMRR", "MNRO")
LISTS = st.lists(
    st.lists(st.integers(1, 100), min_size=5, max_size=5, unique=True).map(sorted),
    min_size=3,
    max_size=5,
)


@given(LISTS)
def test_rescaled_scores_are_in_the_order_of_the_measure(lists):
    plain, scaled = (
        build_question(1, lists, NAMES, Setting(100, rescaled=each)) for each in (False, True)
    )
    for name in NAMES:
        column = scaled.columns[name]
        numbers = dict(zip(column.ranking.letters, map(Fraction, column.shown), strict=True))
        assert Ranking.by_key(numbers) == column.ranking == plain.columns[name].ranking
        assert min(numbers.values()) == 0
        assert max(numbers.values()) == (0 if column.ranking.all_tied else 100)
        assert column.values == plain.columns[name].values


def test_scores_are_whole_numbers_unless_two_lists_would_print_alike():
    values = [Fraction(1, 2), Fraction(1), Fraction(3, 4), Fraction(1, 2)]
    assert printed(rescaled(values), 0) == ("0", "100", "50", "0")
    values = [Fraction(0), Fraction(1), Fraction(1, 1000)]
    assert printed(rescaled(values), 0) == ("0.0", "100", "0.1")
