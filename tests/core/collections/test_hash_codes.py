"""Hash codes: what their files hold, and documents in the order of Hamming distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.hash_codes import (
    codes_of_array,
    rank_by_distance,
    read_codes,
    read_real_codes,
    real_codes_of_array,
)
from survey.core.collections.runs import ranking
from survey.core.text_input import FileFaults, lines_of


def codes_in(text):
    faults = FileFaults()
    codes = read_codes("codes.txt", lines_of(text), faults)
    return codes if not len(faults) else faults.sentences


def ranked(queries, collection, depth=None):
    found = rank_by_distance(codes_in(queries), codes_in(collection), depth)
    return [(each.query, each.documents, each.distances, each.tied) for each in found]


def test_the_nearest_come_first_and_equally_near_ones_by_their_ids_the_last_first():
    collection = "a 000\nb 001\nc 010\n# a comment\nd 111\n"
    assert ranked("q 000", collection) == [("q", ["a", "c", "b", "d"], [0, 1, 1, 3], 2)]
    # c is as near as b, which the list has no room for.
    assert ranked("q 000", collection, 2) == [("q", ["a", "c"], [0, 1], 1)]


def test_a_document_of_the_querys_own_id_is_left_out():
    assert ranked("b 111\nq 111", "a 000\nb 001") == [
        ("b", ["a"], [3], 0),
        ("q", ["b", "a"], [2, 3], 0),
    ]


codes = st.integers(1, 40).flatmap(
    lambda bits: st.lists(st.text("01", min_size=bits, max_size=bits), min_size=2, max_size=20)
)


@given(codes=codes)
def test_the_order_is_that_of_equation_1_and_of_trec_eval(codes):
    signs = np.array([[1 if bit == "1" else -1 for bit in code] for code in codes], dtype=float)
    bits = signs.shape[1]
    lines = [f"d{number} {code}" for number, code in enumerate(codes[1:])]
    (found,) = rank_by_distance(codes_in(f"q {codes[0]}"), codes_in("\n".join(lines)))
    # Both sides of Eq. 1, with the codes as they are defined there.
    scaled = signs / np.sqrt(bits)
    left = bits / 4 * ((scaled[1:] - scaled[0]) ** 2).sum(axis=1)
    right = bits / 2 * (1 - scaled[1:] @ scaled[0])
    by_id = dict(zip(found.documents, found.distances, strict=True))
    expected = [by_id[f"d{number}"] for number in range(len(codes) - 1)]
    assert left == pytest.approx(expected)
    assert right == pytest.approx(expected)
    assert found.documents == ranking({name: -distance for name, distance in by_id.items()})
    distances = [*by_id.values()]
    assert found.tied == sum(distances.count(distance) > 1 for distance in distances)


def real_codes_in(text):
    faults = FileFaults()
    found = read_real_codes("values.txt", lines_of(text), faults)
    return found if not len(faults) else faults.sentences


def test_values_before_the_sign_are_ranked_by_both_sides_of_equation_1():
    values = np.random.default_rng(3).normal(size=(9, 16)) * 10.0 ** np.arange(9)[:, np.newaxis]
    lines = [f"d{place} {' '.join(map(repr, row))}" for place, row in enumerate(values.tolist())]
    collection, query = real_codes_in("\n".join(lines[1:])), real_codes_in(lines[0])
    (found,) = rank_by_distance(query, collection)
    scaled = values / np.linalg.norm(values, axis=1, keepdims=True)
    left = 16 / 4 * ((scaled[1:] - scaled[0]) ** 2).sum(axis=1)
    right = 16 / 2 * (1 - scaled[1:] @ scaled[0])
    assert left == pytest.approx(right)
    by_id = dict(zip(found.documents, found.distances, strict=True))
    assert [by_id[f"d{number}"] for number in range(1, 9)] == pytest.approx(right, abs=1e-8)
    assert found.documents == [f"d{place + 1}" for place in np.argsort(right)]


@given(codes=codes)
def test_values_that_are_signs_are_ranked_as_their_bits(codes):
    lines = [f"d{number} {code}" for number, code in enumerate(codes)]
    signs = [
        f"d{number} {' '.join('1' if bit == '1' else '-1' for bit in code)}"
        for number, code in enumerate(codes)
    ]
    by_bits = rank_by_distance(codes_in(lines[0]), codes_in("\n".join(lines[1:])))
    by_values = rank_by_distance(real_codes_in(signs[0]), real_codes_in("\n".join(signs[1:])))
    for bits, values in zip(by_bits, by_values, strict=True):
        assert values.documents == bits.documents
        assert values.distances == pytest.approx(bits.distances)
        assert values.tied == bits.tied


def test_each_fault_of_values_has_its_place():
    assert real_codes_in("a .5 -2\nb 1\nc 1 x\na 1 1\nd 0 0\n") == [
        "values.txt, line 2: 1 values found; line 1 has 2",
        "values.txt, line 4: document 'a' found again; one code is allowed",
        "values.txt, line 3: a value that is no finite number found; numbers are needed, and one "
        "that is not 0",
        "values.txt, line 5: values that are all 0 found; numbers are needed, and one that is not "
        "0",
    ]
    faults = FileFaults()
    real_codes_of_array("v.npy", np.array([[1.5, np.inf]]), ["a"], "v.ids", faults)
    assert "v.npy, row 1: a value that is no finite number found" in faults.sentences[0]


def test_each_fault_of_a_text_has_its_line_and_what_was_found():
    assert codes_in("a 0101\nb 01x1\nc 010\na 1111\nd\n") == [
        "codes.txt, line 2: code '01x1' found; the digits 0 and 1 are allowed",
        "codes.txt, line 3: 3 digits found; line 1 has 4",
        "codes.txt, line 4: document 'a' found again, as in line 1; one code is allowed",
        "codes.txt, line 5: 1 field found, 'd'; 2 are allowed: document code",
    ]
    assert codes_in("") == [
        "codes.txt: no line found; a line for each document is needed: document code"
    ]


def array_codes(rows, ids):
    faults = FileFaults()
    codes = codes_of_array("codes.npy", np.array(rows), ids, "codes.ids", faults)
    return codes if not len(faults) else faults.sentences


@pytest.mark.parametrize("rows", [[[0, 1, 1], [1, 0, 1]], [[-1, 1, 1], [1, -1, 1]]])
@pytest.mark.parametrize("kind", [np.int8, np.float32])
def test_an_array_is_read_as_the_text_is(rows, kind):
    from_array = array_codes(np.array(rows, dtype=kind), ["a", "b"])
    from_text = codes_in("a 011\nb 101")
    assert from_array.ids == from_text.ids
    assert from_array.bits == from_text.bits
    assert from_array.packed.tolist() == from_text.packed.tolist()


@pytest.mark.parametrize(
    ("rows", "ids", "faults"),
    [
        ([[0, 2]], ["a"], ["codes.npy, row 1, column 2: 2 found; 0 or 1 is allowed"]),
        ([[-1, 1, 0]], ["a"], ["codes.npy, row 1, column 3: 0 found; -1 or 1 is allowed"]),
        (
            [[0.5, np.nan]],
            ["a"],
            [
                "codes.npy, row 1, column 1: 0.5 found; 0 or 1 is allowed",
                "codes.npy, row 1, column 2: nan found; 0 or 1 is allowed",
            ],
        ),
        ([[0], [1]], ["a"], ["codes.ids: 1 ids found; codes.npy has 2 rows"]),
        (
            [[0], [1], [1]],
            ["a", "a b", "a"],
            [
                "codes.ids, line 2: 'a b' found; an id without blanks is needed",
                "codes.ids, line 3: document 'a' found again, as in line 1; one row is allowed",
            ],
        ),
    ],
)
def test_each_fault_of_an_array_has_its_place(rows, ids, faults):
    assert array_codes(rows, ids) == faults


@pytest.mark.parametrize("rows", [[0, 1], [[]], [["a"]]])
def test_what_is_no_table_of_numbers_is_refused(rows):
    (fault,) = array_codes(rows, ["a"])
    assert fault.startswith("codes.npy: an array of shape (")
    assert fault.endswith("numbers of shape (documents, bits) are needed")
