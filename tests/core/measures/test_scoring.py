"""Many lists at once: as by the formulas, in blocks, from tables where they pay."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import (
    MEASURES,
    Lists,
    Measure,
    RankSum,
    Setting,
    Summed,
    as_ranks,
    score,
    scoring,
)
from survey.core.measures.lists import as_columns
from survey.core.measures.scoring import score_many

WITHOUT_CLUSTERS = [one for one in MEASURES.values() if "clusters" not in one.needs]
SUMS = [one for one in MEASURES.values() if isinstance(one.compute, Summed)]


def some_lists(count, relevant, collection_size, seed=1):
    """Lists drawn at random, (lists, relevant); from a thousand on, they come again."""
    chance = np.random.default_rng(seed)
    rows = [chance.permutation(collection_size)[:relevant] + 1 for _ in range(min(count, 1000))]
    return np.resize(np.sort(np.array(rows, dtype=np.int64), axis=1), (count, relevant))


def by_formula(measures, ranks, setting):
    return np.column_stack([one.compute(Lists(ranks), setting) for one in measures])


def spied(part=lambda places, ranks: ranks / places):
    """A measure that is a sum, and the numbers of ranks that its part was asked for at once."""
    asked = []

    def noting(places, ranks):
        asked.append(ranks.size)
        return part(places, ranks)

    summed = Summed(lambda *_: RankSum(noting, lambda total: total))
    return Measure("spied", "spied on", summed, "lower", "this test"), asked


@settings(max_examples=25)
@given(
    size=st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))),
    measures=st.lists(st.sampled_from(WITHOUT_CLUSTERS), min_size=1, max_size=6),
    paired=st.booleans(),
    literal=st.booleans(),
    seed=st.integers(0, 9),
)
def test_many_lists_score_as_by_the_formula(size, measures, paired, literal, seed):
    relevant, last = size
    count = scoring.LISTS_PER_PAIR * last**2 if paired else scoring.LISTS_PER_RANK * last
    ranks, setting = some_lists(count, relevant, last, seed), Setting(last, None, literal)
    found = score_many(measures, ranks, setting)
    assert np.abs(found - by_formula(measures, ranks, setting)).max() <= 1e-14


@pytest.mark.parametrize(
    ("count", "relevant", "last"), [(4000, 50, 1000), (1100, 200, 256), (60_000, 5, 10_000)]
)
def test_long_lists_and_large_collections_score_as_by_the_formula(count, relevant, last):
    ranks, setting = some_lists(count, relevant, last), Setting(last, gmt=relevant)
    found = score_many(SUMS, ranks, setting)
    assert np.abs(found - by_formula(SUMS, ranks, setting)).max() <= 1e-14


def test_lists_that_tie_in_whole_numbers_tie_from_tables_too():
    names = ["NMRR", "P@5", "R@10", "F1@10", "g@10", "NAR", "RR", "Rprec"]
    ranks = some_lists(170_000, 5, 100)
    measures = [MEASURES[name] for name in names]
    assert (score(names, ranks) == by_formula(measures, ranks, Setting(100))).all()


def test_the_ends_of_blocks_change_nothing(monkeypatch):
    ranks, setting = some_lists(2000, 4, 9), Setting(9)
    for pairs in (scoring.PAIR_TABLE_BYTES, 0):
        monkeypatch.setattr(scoring, "PAIR_TABLE_BYTES", pairs)
        whole = score_many(WITHOUT_CLUSTERS, ranks, setting)
        monkeypatch.setattr(scoring, "TABLE_BLOCK_LISTS", 7)
        monkeypatch.setattr(scoring, "FORMULA_BLOCK_RANKS", 44)
        assert (score_many(WITHOUT_CLUSTERS, ranks, setting) == whole).all()


def test_a_part_is_asked_once_for_each_item_and_rank_however_many_lists_there_are():
    measure, asked = spied()
    for count in (400, 200_000):
        score_many([measure], some_lists(count, 5, 100), Setting(100))
    assert asked == [5 * 100, 5 * 100]


def test_few_lists_and_large_tables_are_left_to_the_formula(monkeypatch):
    measure, asked = spied()
    score_many([measure], some_lists(399, 5, 100), Setting(100))
    assert asked == [399 * 5]
    asked.clear()
    score_many([measure], some_lists(800, 200, 200), Setting(200))
    assert asked == [200 * 200]
    asked.clear()
    monkeypatch.setattr(scoring, "TABLE_BYTES", 8 * 200 * 200)  # and not rank 0 as well
    score_many([measure], some_lists(800, 200, 200), Setting(200))
    assert sum(asked) == 800 * 200


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.uint8, np.uint64, ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_of_any_kind_score_alike(dtype, order):
    ranks = some_lists(2000, 5, 100)
    kind = np.array(ranks, dtype=dtype, order=order)
    assert (score(["AP", "MNRO"], kind) == score(["AP", "MNRO"], ranks)).all()
    assert (score(["AP"], kind[::3, 1:]) == score(["AP"], ranks[::3, 1:])).all()


def test_columns_of_bytes_are_taken_as_they_are():
    columns = some_lists(1000, 5, 100).astype(np.uint8, order="F")
    assert np.shares_memory(as_columns(columns, 100), columns)


@pytest.mark.parametrize(
    ("place", "rank"), [(0, 0), (0, -3), (4, 101), (2, 258), (2, 1), (2, 2), (3, -250), (1, 2**40)]
)
def test_a_rank_that_cannot_be_is_named_among_many_lists(place, rank):
    ranks = np.tile(np.array([1, 2, 3, 50, 100]), (40_000, 1))
    ranks[35_000, place] = rank
    with pytest.raises(ValueError, match="row 35001, position") as slowly:
        as_ranks(ranks, 100)
    for names in (["AP"], ["AP11"], []):  # from a table, by formula, not at all
        with pytest.raises(ValueError, match="row 35001, position") as told:
            score(names, ranks)
        assert str(told.value) == str(slowly.value)


def test_a_rank_that_cannot_be_is_told_before_what_a_measure_refuses():
    ranks = some_lists(30_000, 5, 100)
    with pytest.raises(ValueError, match="GMT is 3, but a list has 5"):
        score(["NMRR"], ranks, gmt=3)
    with pytest.raises(ValueError, match="clusters are needed"):
        score(["AP", "S-recall@5"], ranks)
    ranks[-1] = 7
    for names in (["NMRR"], ["AP", "S-recall@5"]):
        with pytest.raises(ValueError, match="row 30000, position 2: 7 found"):
            score(names, ranks, gmt=3)


def test_a_measure_that_is_no_sum_is_scored_beside_those_that_are():
    screen = Measure(
        "screen", "the screen", lambda lists, _: (lists.ranks <= 12).mean(axis=1), "higher", "here"
    )
    ranks = some_lists(50_000, 5, 100)
    found = score_many([MEASURES["AP"], screen, MEASURES["NMRR"]], ranks, Setting(100))
    assert (found[:, 1] == (ranks <= 12).mean(axis=1)).all()
    assert (found[:, ::2] == score(["AP", "NMRR"], ranks)).all()


def test_items_of_one_grade_score_as_items_without_grades():
    ranks, setting = some_lists(50, 5, 100), Setting(100)
    alike = Lists(ranks, np.ones_like(ranks), condensed=ranks, judged=100)
    for measure in SUMS:
        assert (measure.compute(alike, setting) == measure.compute(Lists(ranks), setting)).all()


def test_what_is_known_of_the_items_of_many_lists_counts():
    ranks = some_lists(1000, 5, 100)
    grades = np.tile([3, 1, 2, 1, 1], (1000, 1))
    found = score(["nDCG@10", "wP@10", "bpref"], ranks, grades=grades, weights=grades / 3)
    few = [
        score(["nDCG@10", "wP@10", "bpref"], [row], grades=[grade], weights=[grade / 3])[0]
        for row, grade in zip(ranks[:20], grades, strict=False)
    ]
    assert (found[:20] == few).all()
    assert (found[:, 0] != score(["nDCG@10"], ranks)[:, 0]).any()
    assert (score(["R@100"], ranks, relevant=10) == 0.5).all()


def beside_the_result(names, ranks, last=100):
    """The most memory in bytes that scoring takes at once beyond its result."""
    tracemalloc.start()
    try:
        result = score(names, ranks, last)
        return tracemalloc.get_traced_memory()[1] - result.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("names", [["AP", "NMRR", "MNRO"], ["AP", "bpref", "AP11"]])
def test_memory_beside_the_result_stays_flat(names):
    some, more = (beside_the_result(names, some_lists(n, 5, 100)) for n in (200_000, 400_000))
    assert more <= some + 100_000 <= 10e6


@pytest.mark.parametrize(("count", "relevant", "last"), [(60, 3000, 10_000), (4000, 500, 1000)])
def test_long_lists_take_little_memory_beside_the_result(count, relevant, last):
    assert beside_the_result(["AP", "NMRR", "MNRO"], some_lists(count, relevant, last), last) < 40e6


def test_a_collection_size_of_one_byte_is_a_number_like_any_other():
    rows = some_lists(2_000, 5, 101).astype(np.uint8)
    assert (score(["AP"], rows, rows.max()) == score(["AP"], rows, int(rows.max()))).all()


def test_a_part_is_asked_only_for_ranks_that_an_item_can_have():
    margins = []

    def part(places, ranks):
        margins.extend([(ranks - places).min(), (20 - ranks - (5 - places)).min()])
        return np.log(ranks - places + 1.0)

    measure, _ = spied(part)
    assert np.isfinite(score_many([measure], some_lists(5_000, 5, 20), Setting(20))).all()
    assert min(margins) == 0
