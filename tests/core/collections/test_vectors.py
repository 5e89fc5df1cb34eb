"""Vectors that a researcher gives: as CSV or as an array, and what is wrong with them."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from survey.core.collections.likeness import LENGTH
from survey.core.collections.vectors import MOST_NUMBERS, read_vectors, vectors_digest
from survey.core.text_input import FaultyFilesError

KNOWN = ["a", "b", "c"]


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def read(**files):
    named = {name.replace("_", "."): lambda text=text: text for name, text in files.items()}
    vectors = read_vectors(named, KNOWN)
    return {name: np.frombuffer(vector, "<i2").tolist() for name, vector in vectors.items()}


def faults_of(**files):
    with pytest.raises(FaultyFilesError) as caught:
        read(**files)
    return [*caught.value.faults]


def test_a_csv_and_an_array_give_the_same_whole_numbers():
    expected = {"a": [614, 819], "b": [0, -LENGTH], "c": [0, 0]}
    assert read(features_csv=b"document,x,y\na,3,4\n\nb,0,-1e-200\nc,0,0\n") == expected
    array = npy(np.array([[3, 4], [0, -1e-200], [0, 0]]))
    assert read(features_npy=array, features_txt=b"a\nb\nc\n") == expected
    assert read(other_csv=b"") == {}


def test_json_lines_give_the_same_as_a_csv():
    expected = read(features_csv=b"document,x,y\na,3,4\nb,0,-1\n")
    keys = b'{"document": "a", "x": 3, "y": 4}\n\n{"docno": "b", "x": 0, "y": -1}\n'
    assert read(features_csv=keys.replace(b"docno", b"document")) == expected
    lists = b'{"document": "a", "vector": [3, 4.0]}\n{"document": "b", "vector": [0, -1]}\n'
    assert read(features_csv=gzip.compress(lists)) == expected
    [fault] = faults_of(features_csv=b'{"document": "a", "x": true}\n')
    assert fault == "features.csv, row 1: number 1 is 'True'; a finite number is needed"
    [fault] = faults_of(features_csv=b'{"id2": "a", "x": 1}\n')
    assert fault.startswith("features.csv, row 1: no document; an object with document")


def test_ids_are_the_same_in_either_unicode_form():
    array = npy(np.ones((1, 2)))
    for known in ("J\xfcrgen", "Ju\u0308rgen"):
        for written in ("J\xfcrgen", "Ju\u0308rgen"):
            files = {
                "features.npy": lambda: array,
                "features.txt": lambda text=written: f"{text}\n".encode("utf-16"),
            }
            assert [*read_vectors(files, [known])] == [known]


@given(arrays(np.float32, (3, 5), elements=st.floats(-(2.0**90), 2.0**90, width=32)))
def test_every_vector_has_the_same_length_and_the_direction_that_it_had(array):
    vectors = read(features_npy=npy(array), features_txt=b"a\nb\nc")
    for name, row in zip("abc", array.astype(float), strict=True):
        length = np.linalg.norm(row / max(np.abs(row).max(), 1e-300))
        expected = row / max(np.abs(row).max(), 1e-300) / max(length, 1e-300) * LENGTH
        assert np.abs(np.array(vectors[name]) - expected).max() <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("id,x\na,1\n", ": no column document. Columns found: id, x"),
        ("document,x,y\na,1,\nb,1,2\n", "row 2: number 2 is ''; a finite number is needed"),
        ("document,x,y\na,1,2\nb,1,2,3\n", "row 3: 3 numbers found; 2, as in the first row, are"),
        ('document,x\na,"0,5"\n', "row 2: number 1 is '0,5'; a finite number is needed"),
        ("document;x\na;0,5,5\n", "row 2: number 1 is '0.5,5'; a finite number is needed"),
        ("document,x\na,1\nd,1\n", "row 3: 'd' found; the id of an item is needed"),
        ("document,x\na,1\na,2\n", "row 3: 'a' found; a row above has it already"),
        ("document,x,y\na,1,2\nb,1\n", "row 3: 1 numbers found; 2, as in the first row, are"),
        ("document,x,y\na,1,nan\n", "row 2: number 2 is 'nan'; a finite number is needed"),
        ("document,x,y\na,1,one\n", "row 2: number 2 is 'one'; a finite number is needed"),
        ("document\na\n", "row 2: no number found; 1 to 2048 are allowed"),
        ("document,x\n", "no row found"),
        (f"document\na{',1' * (MOST_NUMBERS + 1)}\n", "row 2: 2049 numbers found; 2048 are"),
    ],
)
def test_a_fault_of_a_csv_has_its_place_and_what_is_allowed(text, fault):
    [found] = faults_of(features_csv=text.encode())
    assert found.startswith("features.csv")
    assert fault in found


@pytest.mark.parametrize(
    ("array", "ids", "fault"),
    [
        (np.ones((2, 3)), "a\nb\nc\n", "features.txt: 3 ids found; features.npy has 2 rows"),
        (np.ones(3), "a\nb\nc\n", "features.npy: float64 (3,) found"),
        (np.array([["x"]]), "a\n", "features.npy: <U1 (1, 1) found"),
        (np.array([[1, np.inf]]), "a\n", "features.npy, row 1: number 2 is 'inf'"),
        (np.ones((2, 3)), "a\nd\n", "features.txt, row 2: 'd' found"),
    ],
)
def test_a_fault_of_an_array_has_its_place_and_what_is_allowed(array, ids, fault):
    [found] = faults_of(features_npy=npy(array), features_txt=ids.encode())
    assert fault in found


def test_files_that_cannot_be_read_are_named():
    array = npy(np.ones((1, 2)))
    objects = npy(np.array([[{}]], dtype=object))
    assert "found without features.txt" in faults_of(features_npy=array)[0]
    zipped = b"PK\x03\x04 is how an archive begins"
    for content in (array[:-4], objects, b"no array", b"", zipped, array[:20]):
        assert "no array" in faults_of(features_npy=content, features_txt=b"a")[0]
    assert "UTF-16 that is damaged" in faults_of(features_csv=b"\xff\xfe\x00")[0]
    assert "is a picture" in faults_of(features_npy=array, features_txt=b"\x89PNG")[0]
    assert "one of them" in faults_of(features_csv=b"", features_npy=array)[0]


def test_the_digest_depends_on_documents_and_numbers_only():
    vectors = {"a": b"\1\0", "b": b"\2\0"}
    assert vectors_digest(vectors) == vectors_digest(dict(reversed(vectors.items())))
    assert vectors_digest(vectors) != vectors_digest({"a": b"\2\0", "b": b"\1\0"})
    assert vectors_digest({}) is None
