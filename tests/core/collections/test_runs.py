"""TREC's files and ours, line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.runs import (
    ranking,
    read_clusters,
    read_judgements,
    read_run,
    read_weights,
)
from survey.core.text_input import FileFaults, lines_of


def read(reader, text, **options):
    faults = FileFaults()
    return reader("file.txt", lines_of(text), faults, **options), faults.sentences


def test_negative_relevance_is_kept_for_what_it_is():
    assert read(read_judgements, "q 0 a -1\nq 0 b 0\nq 0 c 3\n") == (
        {"q": {"a": -1, "b": 0, "c": 3}},
        [],
    )


def test_a_relevance_above_the_highest_is_a_fault_where_there_is_one():
    assert read(read_judgements, "q 0 a 31\n") == ({"q": {"a": 31}}, [])
    assert read(read_judgements, "q 0 b 30\nq 0 a 31\n", highest=30)[1] == [
        "file.txt, line 2: relevance '31' found; a whole number up to 30 is allowed"
    ]


def test_a_cluster_is_the_rest_of_the_line_and_a_document_may_have_several():
    text = "q a sea lion\nq a  two   words \nq b Unknown\nq c sea lion\n"
    assert read(read_clusters, text) == (
        {
            "q": {
                "a": frozenset({"sea lion", "two words"}),
                "b": frozenset(),
                "c": frozenset({"sea lion"}),
            }
        },
        [],
    )


def test_a_line_without_a_cluster_is_named():
    assert read(read_clusters, "q a x\n\nq a\n")[1] == [
        "file.txt, line 3: 2 fields found, 'q a'; 3 or more are allowed: topic document cluster"
    ]


@pytest.mark.parametrize(
    ("names", "first"), [(("0.33", "0.67", "1"), "0.33"), (("1.0", "1"), "1.0")]
)
def test_weights_given_as_clusters_are_called_so(names, first):
    lines = "".join(f"q d{number} {name}\n" for number, name in enumerate(names))
    assert read(read_clusters, lines)[1] == [
        f"file.txt: the clusters are called {first} and other shares from 0 to 1, like weights. "
        "Give weights to --weights; clusters need names, like “aerial view”"
    ]


@pytest.mark.parametrize("names", [("0.5", "sea lion"), ("1", "0"), ("1.10", "2.3"), ("unknown",)])
def test_clusters_with_numbers_in_their_names_are_read(names):
    lines = "".join(f"q d{number} {name}\n" for number, name in enumerate(names))
    assert read(read_clusters, lines)[1] == []


@pytest.mark.parametrize("weight", ["0", "-0.5", "1.01", "half", "nan", "1e-400"])
def test_a_weight_that_is_no_share_is_named(weight):
    assert read(read_weights, f"# seven annotators\nq a 1\nq b {weight}\n")[1] == [
        f"file.txt, line 3: weight '{weight}' found; a share above 0 and up to 1 is allowed"
    ]


def test_a_second_weight_of_a_document_is_named():
    found, faults = read(read_weights, "q a .5\np a 1\nq a .5\n")
    assert found == {"q": {"a": 0.5}, "p": {"a": 1.0}}
    assert faults == [
        "file.txt, line 3: document 'a' of topic 'q' found again, as in line 1; one weight for "
        "each is allowed"
    ]


@given(st.text())
def test_text_is_split_at_line_ends_only(text):
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(lines_of(text)) == unix
    assert len(list(lines_of(unix + "x"))) == unix.count("\n") + 1


@given(st.dictionaries(st.text("abé1"), st.sampled_from([0.0, -0.0, 1.5, -3.0])))
def test_a_ranking_falls_by_score_and_then_by_docid_in_bytes(scores):
    order = ranking(scores)
    keys = [(scores[document], document.encode()) for document in order]
    assert keys == sorted(keys, reverse=True)
    assert set(order) == set(scores)


def test_runs_that_are_no_numbers_are_named():
    text = "q Q0 a 1 1e999 t\nq Q0 b 2 .5 t\nq Q0 b 3 .5 t\n"
    assert read(read_run, text) == (
        {"q": {"b": 0.5}},
        [
            "file.txt, line 1: score '1e999' found; a number is allowed",
            "file.txt, line 3: document 'b' of topic 'q' found again, as in line 2; a run may "
            "return it once",
        ],
    )
