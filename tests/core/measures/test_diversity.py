"""Measures of users who stop, of an ideal list, of clusters and of rows: how they are related."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import MEASURES, Lists, Setting, as_lists, measure_named, score
from tests.core.measures.lists import SETTING, N, lists_of, several_lists

FEW = settings(max_examples=20)
SHARES = st.sampled_from([0.3, 0.5, 0.85, 0.9, 0.99])
# Grades 3, 2, 1 at the positions 1, 3, 4 of five, with clusters a, b and a + b.
EXAMPLE = {
    "iRBU3@5": 0.9211,
    "iRBUlin3@5": 0.8938,
    "Compat": 0.8889,
    "D-nDCG@5": 0.9239,
    "Dsharp-nDCG@2": 0.6020,
    "ERR-IA@5": 0.5749,
    "AP-IA": 0.5833,
    "P-IA@5": 0.4,
    "NRBP": 0.5156,
    "RBU3@5": 0.0961,
    "AP-rel2": 0.8333,
    "RBP-RS-p0.9-gamma0.3@5": 1.3304,
}


def marked(drawn):
    """Ranks of several lists with their grades and clusters, as arguments of ``score``."""
    ranks, marks = drawn
    grades = [[grade for grade, _, _ in row] for row in marks]
    return ranks, {"grades": grades, "clusters": [[names for _, _, names in row] for row in marks]}


def test_the_worked_example():
    marks = {"grades": [[3, 2, 1]], "clusters": [["a", "b", ("a", "b")]]}
    values = score([*EXAMPLE], [[1, 3, 4]], 5, columns=2, **marks)
    assert values[0].tolist() == pytest.approx([*EXAMPLE.values()], abs=5e-5)


@FEW
@given(drawn=several_lists(), p=SHARES)
def test_an_ideal_list_is_compatible_by_1_and_none_by_more(drawn, p):
    ranks, marks = marked(drawn)
    assert (score([f"Compat-p{p}"], ranks, grades=marks["grades"]) <= 1 + 1e-12).all()
    falling = sorted(marks["grades"][0], reverse=True)
    ideal = [[*range(1, len(falling) + 1)]]
    assert score([f"Compat-p{p}"], ideal, grades=[falling])[0, 0] == pytest.approx(1)


@FEW
@given(drawn=several_lists(), p=SHARES)
def test_compat_is_the_largest_overlap_with_an_ideal_list_as_defined(drawn, p):
    ranks, marks = marked(drawn)
    values = score([f"Compat-p{p}"], ranks, grades=marks["grades"])[:, 0]
    for row, grades, value in zip(ranks, marks["grades"], values, strict=True):
        ideal = sorted(zip(row, grades, strict=True), key=lambda item: (-item[1], item[0]))

        def overlap(order, ideal=ideal, end=2500):
            """Σ p^(d − 1) |first d of both| / d: relevant items may be anywhere in the list."""
            joined = np.zeros(end)
            for place, (rank, _) in enumerate(ideal, 1):
                joined[max(place, order(place, rank)) - 1 :] += 1
            depths = np.arange(1, end + 1)
            return (p ** (depths - 1) * joined / depths).sum()

        expected = overlap(lambda _, rank: rank) / overlap(lambda place, _: place)
        assert value == pytest.approx(expected, abs=1e-9)


def test_lists_that_differ_only_far_down_tie_in_compat():
    measure = measure_named("Compat-p0.8")
    near, far = (
        measure.values(as_lists(rows, 1000), Setting(1000))
        for rows in ([[1, 50], [1, 51]], [[1, 200], [1, 201]])
    )
    assert near[0] > near[1]
    assert far[0] == far[1]


@FEW
@given(drawn=several_lists(), p=st.sampled_from([0.5, 0.8, 0.99]))
def test_irbu_is_rbu_of_a_single_cluster_without_effort(drawn, p):
    ranks, marks = marked(drawn)
    marks["clusters"] = [["a"] * len(row) for row in ranks]
    both = score([f"iRBU3-p{p}@20", f"RBU3-p{p}-e0@20"], ranks, **marks)
    assert both[:, 0] == pytest.approx(both[:, 1] * p / (1 - p), abs=1e-12)


@FEW
@given(drawn=several_lists())
def test_with_a_single_cluster_diverse_measures_are_the_plain_ones(drawn):
    ranks, marks = marked(drawn)
    marks["clusters"] = [["a"] * len(row) for row in ranks]
    names = ["AP-IA", "AP", "P-IA@10", "P@10", "D-nDCG@10", "nDCGlin@10"]
    values = score(names, ranks, **marks)
    assert values[:, ::2] == pytest.approx(values[:, 1::2], abs=1e-12)
    # Half the chance to go on after each item: ERR with R = 1/2, over its largest value.
    largest = sum(0.5 ** (rank - 1) / rank for rank in range(1, 11))
    stopped = score(["ERR1@10"], ranks)[:, 0]
    assert score(["ERR-IA@10"], ranks, **marks)[:, 0] == pytest.approx(2 * stopped / largest)


@FEW
@given(drawn=several_lists())
def test_d_sharp_is_the_mean_of_its_two_parts(drawn):
    ranks, marks = marked(drawn)
    values = score(["Dsharp-nDCG@10", "S-recall@10", "D-nDCG@10"], ranks, **marks)
    assert values[:, 0] == pytest.approx(values[:, 1:].mean(axis=1))


@FEW
@given(drawn=several_lists())
def test_intent_aware_measures_are_means_over_the_clusters(drawn):
    ranks, marks = marked(drawn)
    values = score(["AP-IA", "P-IA@10"], ranks, **marks)
    for row, items, found in zip(ranks, marks["clusters"], values, strict=True):
        own = [
            [rank for rank, names in zip(row, items, strict=True) if name in names]
            for name in sorted(frozenset().union(*items))
        ]
        parts = [score(["AP", "P@10"], [cluster])[0] for cluster in own]
        assert found.tolist() == pytest.approx(np.mean(parts, axis=0))


@FEW
@given(drawn=several_lists(), columns=st.integers(1, 8), cutoff=st.integers(1, 40))
def test_row_skipping_adds_up_the_chances_to_stop(drawn, columns, cutoff):
    ranks, marks = marked(drawn)
    p, skipping = 0.9, 0.3
    stops, looks, reached = [], [], 1.0
    for start in range(0, cutoff, columns):
        length = min(columns, cutoff - start)
        look = 1 - skipping if start else 1.0
        stops += [reached * look * p**j * (1 - p) for j in range(length)]
        looks += [look] * length
        reached *= skipping + (1 - skipping) * p**length if start else p**length
    weights = [look * sum(stops[index:]) for index, look in enumerate(looks)]
    name = f"RBP-RS-p{p}-gamma{skipping}@{cutoff}"
    values = score([name], ranks, columns=columns, grades=marks["grades"])[:, 0]
    for row, grades, value in zip(ranks, marks["grades"], values, strict=True):
        items = zip(row, grades, strict=True)
        expected = sum(grade * weights[rank - 1] for rank, grade in items if rank <= cutoff)
        assert value == pytest.approx(expected, abs=1e-12)
    # Of equal grades it is a sum over positions, by which many lists are scored at once.
    plain, alike = (
        score([name], ranks, columns=columns, **known)
        for known in ({}, {"grades": np.ones_like(ranks)})
    )
    assert plain == pytest.approx(alike)


@FEW
@given(drawn=several_lists(), cutoff=st.integers(1, 40))
def test_row_skipping_in_a_single_row_is_graded_rbp_up_to_k(drawn, cutoff):
    ranks, marks = marked(drawn)
    values = score(
        [f"RBP-RS-p0.8-gamma0.3@{cutoff}"], ranks, columns=cutoff, grades=marks["grades"]
    )[:, 0]
    for row, grades, value in zip(ranks, marks["grades"], values, strict=True):
        items = zip(row, grades, strict=True)
        seen = sum(
            grade * (0.8 ** (rank - 1) - 0.8**cutoff) for rank, grade in items if rank <= cutoff
        )
        assert value == pytest.approx(seen)


@FEW
@given(drawn=several_lists(), columns=st.integers(1, 8), data=st.data())
def test_row_skipping_is_monotone_and_shown_below_its_largest_value(drawn, columns, data):
    ranks, marks = drawn
    worse = ranks[0]
    place = data.draw(st.integers(0, len(worse) - 1))
    above = worse[place - 1] if place else 0
    better = [*worse[:place], data.draw(st.integers(above + 1, worse[place])), *worse[place + 1 :]]
    measure = measure_named("RBP-RS-p0.9-gamma0.3@20")
    shown = measure.shown(lists_of([better, worse], marks[:1] * 2), Setting(N, columns=columns))
    assert 0 <= shown[0] <= shown[1]


def test_row_skipping_without_columns_says_so():
    with pytest.raises(ValueError, match=r"RBP-RS-p0\.9-gamma0\.3@5: .* how many columns"):
        score(["RBP-RS-p0.9-gamma0.3@5"], [[1, 2]])


def test_rbu_charges_for_what_was_returned_and_nothing_for_an_empty_list():
    clusters = [[frozenset("a")]] * 3
    ranks = np.array([[1.0], [1.0], [np.inf]])
    lists = Lists(ranks, clusters=clusters, lengths=np.array([3, 100, 0]))
    values = measure_named("RBU1@10").checked(lists, SETTING)
    effort = [0.03 * (1 - 0.8**count) for count in (3, 10, 0)]
    assert values == pytest.approx(np.array([0.1, 0.1, 0]) - effort)


@pytest.mark.parametrize("name", ["iRBU2@5", "iRBUlin2@5", "ERRlin2@5", "RBU2@5"])
def test_a_grade_above_the_scale_is_refused(name):
    form = name.partition("2")[0]
    with pytest.raises(ValueError, match=f"grade 3 found; {form}2@k takes .* {form}3@k up to 3"):
        score([name], [[1, 3]], grades=[[3, 1]], clusters=[["a", "b"]])


@pytest.mark.parametrize(
    "name", ["D-nDCG@5", "Dsharp-nDCG@5", "ERR-IA@5", "AP-IA", "P-IA@5", "NRBP", "RBU@5"]
)
def test_measures_of_clusters_need_a_cluster(name):
    with pytest.raises(ValueError, match="clusters are needed"):
        score([name], [[1, 2]])
    lists = Lists(np.array([[1, 2]]), clusters=[[frozenset(), frozenset()]])
    with pytest.raises(ValueError, match="at least one needs one"):
        measure_named(name).checked(lists, SETTING)


@FEW
@given(drawn=several_lists(), level=st.integers(2, 3))
@pytest.mark.parametrize("name", ["AP", "P@10", "R@10", "F1@10", "Rprec", "RR", "bpref", "RBP@0.8"])
def test_from_a_grade_on_it_is_the_measure_of_the_items_of_that_grade(name, drawn, level):
    ranks, marks = marked(drawn)
    stem, at, rest = name.partition("@")
    measure = measure_named(f"{stem}-rel{level}{at}{rest}")
    assert measure.level == level
    values = measure.checked(as_lists(ranks, N, **marks), SETTING)
    for row, grades, value in zip(ranks, marks["grades"], values, strict=True):
        counted = [rank for rank, grade in zip(row, grades, strict=True) if grade >= level]
        assert value == (score([name], [counted])[0, 0] if counted else 0)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Compat(p=0.9)", "Compat-p0.9"),
        ("Compat(p=0.95)", "Compat"),
        ("Compat-p.95", "Compat"),
        ("NRBP(beta=0.8,alpha=0.3)", "NRBP-alpha0.3-beta0.8"),
        ("NRBP-beta0.50-alpha0.3", "NRBP-alpha0.3"),
        ("iRBU4@10", "iRBU@10"),
        ("iRBU3(p=0.9)@5", "iRBU3-p0.9@5"),
        ("ERRlin4@7", "ERRlin@7"),
        ("ERR_IA@10", "ERR-IA@10"),
        ("AP_IA", "AP-IA"),
        ("D#-nDCG@5", "Dsharp-nDCG@5"),
        ("D♯-nDCG@5", "Dsharp-nDCG@5"),
        ("D_nDCG@5", "D-nDCG@5"),
        ("I-rec@5", "S-recall@5"),
        ("alpha_nDCG@5", "alpha-nDCG@5"),
        ("RBU2(p=0.9,e=0.05)@20", "RBU2-p0.9-e0.05@20"),
        ("RBU-e0@20", "RBU-e0@20"),
        ("RBP(rel=2,p=0.8)", "RBP-rel2@0.8"),
        ("RBP-RS(gamma=0,p=0.9)@20", "RBP-RS-p0.9-gamma0@20"),
    ],
)
def test_another_spelling_has_the_canonical_name(spelling, name):
    assert measure_named(spelling).name == name
    assert measure_named(name).name == name
    assert MEASURES.in_order([spelling])[0] in (name, spelling)


@pytest.mark.parametrize(
    "name",
    [
        "Compat-p0.05",
        "Compat-p0.995",
        "Compat-p1",
        "Compat-p0",
        "iRBU-p0.0@5",
        "alpha0.00-nDCG@5",
        "Compat@5",
        "Compat-p0.9-p0.8",
        "NRBP-p0.5",
        "iRBU31@5",
        "iRBU-e0.1@5",
        "RBU-p0@20",
        "RBP-RS@5",
        "RBP-RS-p0.9@5",
        "RBP-RS-p0.9-gamma1@5",
        "AP_IA@5",
    ],
)
def test_parameters_that_are_unknown_or_out_of_range_make_no_measure(name):
    with pytest.raises(ValueError, match="no measure"):
        measure_named(name)


@given(name=st.from_regex(r"NRBP(-(alpha|beta)0\.[1-9]{1,4}){0,3}", fullmatch=True))
def test_a_canonical_name_is_its_own(name):
    try:
        canonical = measure_named(name).name
    except ValueError:
        assert name.count("alpha") > 1 or name.count("beta") > 1
    else:
        assert measure_named(canonical).name == canonical
