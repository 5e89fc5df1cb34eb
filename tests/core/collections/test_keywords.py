"""Documents' keywords: their file, how alike two documents are, and what is relevant by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.keywords import read_keywords, similarity, truth_by_keywords
from survey.core.given_tables import LONGEST_CELL
from survey.core.text_input import FileFaults

FILE = """document,keyword,weight
a,tiger,1
a,grass,0.5
b,tiger,0.5
b,water,1
c,"grass, dry",1

d,grass,0.5
d,tiger,1
"""
weights = st.dictionaries(st.sampled_from("vwxyz"), st.floats(0.01, 1), max_size=4)


def read(text):
    faults = FileFaults()
    return read_keywords("k.csv", text.splitlines(), faults), faults.sentences


def test_similarity_by_hand():
    known, faults = read(FILE)
    assert faults == []
    # a and b: min 0.5 of max 1 + 0.5 + 1
    assert similarity(known["a"], known["b"]) == pytest.approx(0.5 / 2.5)
    assert similarity(known["a"], known["c"]) == 0
    assert similarity(known["a"], known["d"]) == 1
    assert similarity({}, {}) == 0


@given(weights, weights)
def test_similarity_is_symmetric_and_1_only_for_equal_weights(first, second):
    share = similarity(first, second)
    assert share == similarity(second, first)
    assert 0 <= share <= 1
    assert (share > 0) == bool(first.keys() & second.keys())
    if first:
        assert similarity(first, first) == 1
        assert (share == 1) <= (first == pytest.approx(second))


@given(st.dictionaries(st.sampled_from("abcdef"), weights))
def test_what_shares_a_keyword_is_relevant_but_for_the_document_itself(keywords):
    truth = truth_by_keywords(keywords, [*"abcdefg"])
    assert {*truth.judgements} == {*keywords}
    for topic, shares in truth.weights.items():
        expected = {
            each: similarity(keywords[topic], keywords[each])
            for each in keywords
            if each != topic and keywords[topic].keys() & keywords[each].keys()
        }
        assert shares == expected
        assert truth.relevant(topic) == sorted(expected)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("a,tiger,2", "weight '2' found; a share above 0 and up to 1 is allowed"),
        ("a,tiger", "row 2, column weight: nothing found; a value is needed"),
        (",tiger,1", "row 2, column document: nothing found; a value is needed"),
        ("a,x,1\na,x,1", "row 3: document 'a' with 'x' found again; once is allowed"),
    ],
)
def test_a_faulty_row_is_named(row, fault):
    [found] = read(f"document,keyword,weight\n{row}\n")[1]
    assert found.startswith("k.csv, row ")
    assert fault in found
    assert read("a,b\n")[1] == ["k.csv: no columns document, keyword, weight. Columns found: a, b"]


@pytest.mark.parametrize(
    "text",
    [
        "document;keyword;weight\na;tiger;0,57\n",
        "Weight\tKEYWORD\tDocument\n0.57\ttiger\ta\n",
        "document,keyword,weight,,\na,tiger,.57,,\n,,,,\n",
    ],
)
def test_the_dialects_of_spreadsheets_are_read(text):
    assert read(text) == ({"a": {"tiger": 0.57}}, [])


def test_a_column_that_is_not_known_is_named():
    faults = FileFaults()
    text = "document,keyword,weight,note\na,tiger,1,x\n"
    assert read_keywords("k.csv", text.splitlines(keepends=True), faults) == {"a": {"tiger": 1}}
    assert (faults.sentences, faults.columns_not_read) == ([], {"k.csv": ["note"]})


def test_a_cell_that_csv_cannot_hold_is_a_fault_of_its_line():
    longer = "k" * (LONGEST_CELL + 1)
    [found] = read(f"document,keyword,weight\na,tiger,1\na,{longer},1\n")[1]
    assert found.startswith("k.csv, row 3: a cell has more than 20,000,000 characters")
    [found] = read(f"{longer}\n")[1]
    assert found.startswith("k.csv, row 1: a cell has more than")
