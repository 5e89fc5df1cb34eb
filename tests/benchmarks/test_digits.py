"""What benchmarks/digits.md rests on, and slices of its figures."""

import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.digits import descriptors, retrieval
from benchmarks.digits.__main__ import main
from benchmarks.digits.comparison import Comparison, compare, evaluate, hold_out
from benchmarks.digits.descriptors import DESCRIPTORS, FLOOR
from benchmarks.digits.designs import DESIGNS
from benchmarks.digits.findings import Findings, find, steps
from benchmarks.digits.generality import draw, repeat
from benchmarks.digits.outcome import Outcome
from benchmarks.digits.page import page
from benchmarks.digits.reading import signed, stays_put
from benchmarks.digits.resampling import middle, resampled, stream
from benchmarks.digits.retrieval import COLUMNS, PRINTED, distances, load, nested_ranks
from benchmarks.digits.tables import markdown, table_2, table_5, table_8

COMMITTED = (Path(__file__).parents[2] / "benchmarks" / "digits.md").read_text()
# What `make digits` takes if nothing is said; the committed page was made with it.
DRAWS, SEED = 300, 1
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=10, deadline=None)

digits = cache(load)
copied = cache(lambda: retrieval.shifted(digits()))
compared = cache(lambda: compare(digits(), DESCRIPTORS, seed=SEED))


def images_for(design):
    return copied() if design.copies else digits()


def the_label():
    """Features of a perfect descriptor: the digit itself."""
    return digits().labels[:, None].astype(float)


@FEW
@given(SEEDS)
def test_queries_are_ten_of_each_digit_and_never_in_the_collection(seed):
    labels = digits().labels
    split = hold_out(labels, 10, stream(seed))
    assert np.bincount(labels[split.queries]).tolist() == [10] * 10
    both = np.concatenate([split.queries, split.collection])
    assert sorted(both.tolist()) == list(range(1797))


@FEW
@given(SEEDS, st.sampled_from(DESIGNS))
def test_collections_are_nested_and_the_first_holds_all_that_is_relevant(seed, design):
    labels = images_for(design).labels
    trial = draw(design, images_for(design), stream(seed))
    queried = labels[trial.queries]
    assert sorted(np.bincount(queried, minlength=10).tolist()) == [0] * 6 + [5] * 4
    assert not set(trial.queries.tolist()) & set(trial.items.tolist())
    assert len(set(trial.items.tolist())) == len(trial.items)
    for place, size in enumerate(design.sizes):
        assert (trial.since <= place).sum() == size
    same_digit = labels[trial.items] == queried[:, None]
    assert (trial.relevant == same_digit).all()
    assert trial.relevant.sum(axis=1).tolist() == [design.relevant] * 20
    assert (trial.since[trial.relevant.any(axis=0)] == 0).all()


def test_only_images_of_other_digits_are_shifted_copies():
    design = next(one for one in DESIGNS if one.copies)
    trial = draw(design, copied(), stream(1))
    assert trial.queries.max() < 1797
    assert trial.items[trial.relevant.any(axis=0)].max() < 1797
    assert trial.items.max() >= 1797


def test_a_copy_is_the_image_moved_by_one_pixel():
    five = copied().images.reshape(5, 1797, 8, 8)
    one = digits().images[7]
    assert (five[0, 7] == one).all()
    assert (five[1, 7][:, 1:] == one[:, :-1]).all()
    assert (five[2, 7][:, :-1] == one[:, 1:]).all()
    assert (five[3, 7][1:] == one[:-1]).all()
    assert (five[4, 7][:-1] == one[1:]).all()
    assert not any((five[1, 7][:, 0].any(), five[4, 7][-1].any()))


def test_ranks_in_nested_collections_by_hand():
    # Items at distances 5 1 3 1 4; the second and fourth tie, the second stands first.
    # In A: items 1, 3 and 5 → order 3 5 1, the relevant 3 and 1 at 1 and 3.
    # In B: all → order 2 4 3 5 1, the relevant ones at 3 and 5.
    apart = np.array([[5.0, 1, 3, 1, 4]])
    relevant = np.array([[True, False, True, False, False]])
    ranks = nested_ranks(apart, relevant, np.array([0, 1, 0, 1, 0]), 2)
    assert ranks.tolist() == [[[1, 3]], [[3, 5]]]


@given(SEEDS)
def test_each_collection_is_ranked_as_if_it_stood_alone(seed):
    chance = np.random.default_rng(seed)
    apart = chance.integers(0, 6, (3, 20)).astype(float)  # many ties
    relevant = np.zeros((3, 20), dtype=bool)
    for row in relevant:
        row[chance.choice(20, 4, replace=False)] = True
    since = np.where(relevant.any(axis=0), 0, chance.integers(0, 3, 20))
    ranks = nested_ranks(apart, relevant, since, 3)
    for place in range(3):
        inside = np.flatnonzero(since <= place)
        for query in range(3):
            order = sorted(inside, key=lambda item: (apart[query, item], item))
            expected = [at for at, item in enumerate(order, 1) if relevant[query, item]]
            assert ranks[place, query].tolist() == expected


def test_a_perfect_descriptor_has_map_1_and_amnro_0_in_both_experiments():
    labels = digits().labels
    found = evaluate(the_label(), labels, hold_out(labels, 10, stream(1)))
    apart = distances(the_label(), the_label())
    grown = repeat(DESIGNS[1], digits(), apart, draws=3, seed=1)
    for values in (found, grown.reshape(-1, len(COLUMNS))):
        assert (values[:, COLUMNS.index("AP")] == 1).all()
        for name in ("NMRR", "NAR", "MNRO", PRINTED):
            assert (values[:, COLUMNS.index(name)] == 0).all()


def test_a_random_order_has_the_map_of_chance():
    # E[AP] = (1/N) ((NG − 1)/(N − 1) (N − H_N) + H_N), H_N the harmonic number: near g.
    n, ng = 1697, 1697 / 10
    harmonic = (1 / np.arange(1, n + 1)).sum()
    expected = ((ng - 1) / (n - 1) * (n - harmonic) + harmonic) / n
    place = compared().names.index(FLOOR)
    values = compared().of("AP")[place]
    assert values.mean() == pytest.approx(expected, abs=4 * values.std() / 10)
    assert values.mean() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_a_descriptor_gives_each_image_finite_features_of_its_own(name):
    first, blank = digits().images[:5], np.zeros((1, 8, 8))
    features = DESCRIPTORS[name](np.concatenate([first, blank]))
    assert features.shape[0] == 6
    assert features.ndim == 2
    assert np.isfinite(features).all()
    assert np.allclose(DESCRIPTORS[name](first), features[:5])
    assert (DESCRIPTORS[name](first) == DESCRIPTORS[name](first.copy())).all()


def test_descriptors_have_the_lengths_they_say():
    lengths = {name: each(digits().images[:2]).shape[1] for name, each in DESCRIPTORS.items()}
    assert lengths == {
        **{"pixels": 64, "black and white": 64, "zones": 16, "projections": 16},
        **{"low frequencies": 16, "spectrum": 40, "gradients in cells": 32, "gradients": 8},
        **{"binary patterns": 256, "ellipse": 5, "intensities": 17, "amount of ink": 1},
        **{"random projection": 6, FLOOR: 8},
    }


def test_what_descriptors_are_blind_to():
    shown, chance = digits().images[:50], np.random.default_rng(1)
    turned = np.roll(shown, (2, 3), axis=(1, 2))
    stirred = chance.permuted(shown.reshape(50, 64), axis=1).reshape(shown.shape)
    faint = shown / 4
    for name, other in (
        ("spectrum", turned),
        ("intensities", stirred),
        ("amount of ink", stirred),
        ("binary patterns", faint + 1),
        ("gradients", shown + 1),
        ("gradients in cells", shown + 1),
        ("black and white", np.where(shown >= 8, 16.0, 0.0)),
        ("projections", shown + _square()),
        ("ellipse", faint),
        (FLOOR, turned),
    ):
        assert np.allclose(DESCRIPTORS[name](shown), DESCRIPTORS[name](other)), name
    assert not np.allclose(descriptors.pixels(shown), descriptors.pixels(stirred))


def _square():
    """+1 and −1 at the corners of a square: no row and no column changes its sum."""
    square = np.zeros((8, 8))
    square[2, 2] = square[5, 6] = 1
    square[2, 6] = square[5, 2] = -1
    return square


def test_an_ellipse_by_hand():
    # Ink at (1, 2) and (3, 6), equally: centre (2, 4), deviations 1 and 2, covariance 2.
    image = np.zeros((1, 8, 8))
    image[0, 1, 2] = image[0, 3, 6] = 5
    assert descriptors.ellipse(image)[0] == pytest.approx([2, 4, 1, 2, 2**0.5])


def test_gradients_point_where_it_darkens():
    # Level 2x at column x: a gradient of 2 to the right everywhere, direction 0 of 8.
    ramp = np.tile(2.0 * np.arange(8), (1, 8, 1))
    assert descriptors.gradients(ramp)[0].tolist() == [128, 0, 0, 0, 0, 0, 0, 0]
    down = ramp.swapaxes(1, 2)  # rows are counted downwards: a quarter turn is direction 2
    assert descriptors.gradients(down)[0].tolist() == [0, 0, 128, 0, 0, 0, 0, 0]
    assert descriptors.gradients_in_cells(ramp)[0].tolist() == [32, 0, 0, 0, 0, 0, 0, 0] * 4


def test_patterns_of_an_even_image_are_all_ones():
    counted = descriptors.binary_patterns(np.full((1, 8, 8), 3.0))[0]
    assert (counted[255], counted.sum()) == (36, 36)


def test_a_resample_has_as_many_units_as_there_are():
    weights = resampled(7, 50, stream(1))
    assert weights.shape == (7, 50)
    assert weights.sum(axis=0) == pytest.approx(1)
    assert middle(np.arange(1001)) == (25, 975)


def by_hand():
    """Four queries; by MAP first < second, by MNRO the reverse, sure by neither."""
    found = np.zeros((3, 4, len(COLUMNS)))
    found[0, :, COLUMNS.index("AP")] = [0.9, 0.1, 0.5, 0.7]
    found[1, :, COLUMNS.index("AP")] = [0.4, 0.6, 0.5, 0.6]
    found[0, :, COLUMNS.index("MNRO")] = [0.2, 0.9, 0.4, 0.5]
    found[1, :, COLUMNS.index("MNRO")] = [0.3, 0.1, 0.6, 0.4]
    return Comparison(("one", "other", FLOOR), found, (1, 1), 10, seed=1, resamples=99)


def test_opposite_orders_are_found_and_the_floor_is_left_out():
    compared = by_hand()
    # MAP .55 and .525; AMNRO .5 and .35, where less is better.
    assert compared.ranks("AP").tolist() == [1, 2, 3]
    assert compared.ranks("MNRO").tolist() == [3, 2, 1]
    assert compared.disagree("AP", "MNRO") == [(0, 1)]
    assert compared.tau("AP", "MNRO")[0] == -1
    assert compared.stars("AP", 0, 1) == ""


def test_the_tables_of_section_5_4_are_those_of_the_committed_page():
    for table in (table_5(compared()), table_8(compared())):
        assert table in COMMITTED
    assert (compared().of("MNRO") == compared().of(PRINTED)).all()


@pytest.mark.slow
def test_table_2_of_the_first_design_is_that_of_the_committed_page():
    features = {name: DESCRIPTORS[name](digits().images) for name in ("pixels", FLOOR)}
    outcomes = [
        repeat(DESIGNS[0], digits(), distances(each, each), draws=DRAWS, seed=SEED)
        for each in features.values()
    ]
    assert table_2(_findings(*outcomes), DESIGNS[0]) in COMMITTED


def _findings(best, floor, design=DESIGNS[0]):
    """What came of two descriptors in one design."""
    outcomes = (Outcome(design, "pixels", best, SEED), Outcome(design, FLOOR, floor, SEED))
    return Findings(by_hand(), outcomes, ("pixels", FLOOR), len(best), SEED)


def grown(*means):
    """Means in A, B and C of AP, the same in each of 20 draws; all else at .5."""
    found = np.full((20, 3, len(COLUMNS)), 0.5)
    found[:, :, COLUMNS.index("AP")] = means
    return found


def test_deviations_are_in_per_cent_of_a_and_spans_of_what_is_told_apart():
    found = _findings(grown(0.8, 0.6, 0.4), grown(0.05, 0.05, 0.05))
    one = found.outcomes[0]
    # .6 / .8 − 1 and .4 / .8 − 1; (.4 − .8) / (.8 − .05).
    assert one.deviation("AP", 1) == pytest.approx(-25)
    assert one.deviation("AP", 2) == pytest.approx(-50)
    assert one.interval("AP", 2) == pytest.approx((-50, -50))
    assert found.span_moved(DESIGNS[0], "AP") == pytest.approx(-100 * 0.4 / 0.75)
    assert one.moves_less("MNRO", "AP") == 1
    assert one.moves_less("AP", "MNRO") == 0


def test_a_measure_stays_put_if_no_descriptor_moves_it_by_more_than_five_per_cent():
    still, moving = grown(0.5, 0.524, 0.476), grown(0.5, 0.53, 0.5)  # 4.8 % at most; 6 % in B
    assert stays_put(_findings(still, still), DESIGNS[0], "AP")
    assert not stays_put(_findings(still, moving), DESIGNS[0], "AP")


def test_k_in_both_readings():
    a, c = DESIGNS[0], DESIGNS[2]
    # a: .04 N, and NG = 3 times that. c: 4 NG = 40 as long as 100 NG = 1,000 ≥ N.
    assert a.sizes == (368, 724, 1080)
    assert a.horizons(literal_eq15=False) == pytest.approx([14.72, 28.96, 43.2])
    assert a.horizons(literal_eq15=True) == pytest.approx([44.16, 86.88, 129.6])
    assert c.sizes == (396, 752, 1108)
    assert c.horizons(literal_eq15=False) == pytest.approx([40, 40, 44.32])
    assert c.horizons(literal_eq15=True) == pytest.approx([40, 40, 443.2])


@pytest.mark.slow
def test_the_page_has_the_rows_of_the_committed_one():
    done = []
    two = ("pixels", FLOOR)
    found = find(digits(), draws=20, seed=SEED, growing=two, on_step=lambda: done.append(1))
    assert steps(20) == len(DESCRIPTORS) + 6 * len(DESIGNS) * 20
    assert len(done) == len(DESCRIPTORS) + 2 * len(DESIGNS) * 20
    today = page(found)
    assert [line for line in today.splitlines() if line.startswith("#")] == [
        line for line in COMMITTED.splitlines() if line.startswith("#")
    ]
    assert first_cells(today) <= first_cells(COMMITTED)
    assert max(len(line) for line in today.splitlines() if not line.startswith("|")) <= 100


def first_cells(text):
    return {
        line.split("|")[1].strip()
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("| --")
    }


def test_the_answer_at_the_top_is_that_of_the_tables():
    # | a | no | 3 | g | MAP | P(10) | ANMRR | NAR | AMNRO | AMNRO printed |
    rows = re.findall(r"^\| ([a-f]) +\| (?:yes|no) .*$", COMMITTED, re.MULTILINE)
    assert rows == list("abcdef")
    answer = " ".join(COMMITTED.split("- **")[1].split())
    for place, name in ((9, "default"), (10, "printed")):
        ends = {}
        for line in COMMITTED.splitlines():
            if re.match(r"\| [a-f] +\| (yes|no)", line):
                cells = [cell.strip().replace("−", "-") for cell in line.split("|")]
                ends[cells[1]] = [float(end) for end in cells[place].split(" to ")]
        said = re.search(rf"{name}.*?\(([a-f, ]+)\)", answer)[1].split(", ")
        for letter in said:
            assert max(map(abs, ends[letter])) <= 5, (name, letter)


def test_numbers_have_their_sign_and_zero_is_never_negative():
    assert [signed(x) for x in (-0.04, 0.04, -3.25, 12)] == ["+0.0", "+0.0", "−3.2", "+12.0"]


def test_columns_of_a_table_stand_below_each_other():
    assert markdown(("a", "b"), [("long one", "1")], "lr") == (
        "| a        |   b |\n| -------- | --: |\n| long one |   1 |"
    )


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 1
    assert "scikit-learn, which is not installed: pip install" in result.output
    assert "Traceback" not in result.output


def test_a_folder_that_is_not_there_is_told_before_anything_is_ranked(tmp_path):
    result = CliRunner().invoke(main, ["--to", str(tmp_path / "nowhere" / "page.md")])
    assert result.exit_code == 2
    assert "there is no folder" in result.output


def test_the_images_are_those_the_page_speaks_of():
    found = digits()
    assert found.images.shape == (1797, 8, 8)
    assert (found.images.min(), found.images.max()) == (0, 16)
    assert set(found.labels.tolist()) == set(range(10))
