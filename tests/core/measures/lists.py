"""Ranked lists for tests, with grades, weights and clusters for the measures that read them."""

from hypothesis import strategies as st

from survey.core.measures import Setting, as_lists, measure_named

N = 100
SETTING = Setting(N)


@st.composite
def several_lists(draw, most=12):
    """Ranks of up to six lists with equally many relevant items, and what is known of these."""
    relevant = draw(st.integers(1, most))
    positions = st.lists(st.integers(1, N), min_size=relevant, max_size=relevant, unique=True).map(
        sorted
    )
    ranks = draw(st.lists(positions, min_size=1, max_size=6))
    return ranks, [draw(items(relevant)) for _ in ranks]


@st.composite
def items(draw, relevant):
    """Grade, weight and clusters of each of a list's items; one item has a cluster at least."""
    marks = st.tuples(
        st.integers(1, 3),
        st.sampled_from([1 / 7, 3 / 7, 1.0]),
        st.frozensets(st.sampled_from("abcd"), max_size=2),
    )
    found = draw(st.lists(marks, min_size=relevant, max_size=relevant))
    grade, weight, clusters = found[0]
    return [(grade, weight, clusters or frozenset("a")), *found[1:]]


def lists_of(ranks, marks=None, relevant=None):
    """Lists as measures take them; without marks, items are alike and each its own cluster."""
    count = relevant or len(ranks[0])
    plain = [(1, 1.0, frozenset({f"c{item}"})) for item in range(count)]
    rows = marks or [plain] * len(ranks)
    return as_lists(
        ranks,
        N,
        relevant=relevant,
        grades=[[one[0] for one in row] for row in rows],
        weights=[[one[1] for one in row] for row in rows],
        clusters=[[one[2] for one in row] for row in rows],
    )


def values_of(name, ranks, marks=None):
    """A measure's values for lists of a collection of 100."""
    return measure_named(name).compute(lists_of(ranks, marks), SETTING)


def goodness(name, lists):
    """A measure's values turned so that higher is better."""
    measure = measure_named(name)
    sign = 1 if measure.better == "higher" else -1
    return sign * measure.compute(lists, SETTING)
