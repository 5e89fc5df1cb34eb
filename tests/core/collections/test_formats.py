"""Judgements, runs and clusters in the forms in which other tools write them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.runs import (
    read_clusters,
    read_judgements,
    read_run,
    read_run_and_facts,
    read_weights,
    run_name,
    run_tag,
)
from survey.core.text_input import FileFaults, lines_of, visible

JUDGED = {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}
TREC = "1 0 d1 2\n1 0 d2 0\n2 0 d1 1\n"


def read(reader, text):
    faults = FileFaults()
    content = reader("file", lines_of(text), faults)
    return content, faults.sentences


@pytest.mark.parametrize(
    "text",
    [
        TREC,
        "\ufeff" + TREC,
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n2\td1\t1\n",
        "topic,document,relevance,comment\n1,d1,2.0,\n1,d2,0,x\n2,d1,1,\n",
        "sep=|\nqid|docno|grade\n1|d1|2\n1|d2|0\n2|d1|1\n",
        "Rel;DocNo;QID\n2;d1;1\n0;d2;1\n1;d1;2\n",
        '{"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}',
        '{\n  "1": {"d1": 2.0,\n "d2": 0}, "2": {"d1": 1}\n}\n',
        '{"qid": "1", "docid": "d1", "rel": 2}\n{"qid": "1", "docid": "d2", "rel": 0}\n'
        '{"qid": "2", "docid": "d1", "rel": 1}\n',
        '[{"topic": 1, "document": "d1", "relevance": 2},'
        ' {"topic": 1, "document": "d2", "relevance": 0},'
        ' {"topic": 2, "document": "d1", "relevance": 1}]',
    ],
)
def test_judgements_of_other_tools_are_read(text):
    assert read(read_judgements, text) == (JUDGED, [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("topic,document,relevance\n1,d1,0.5\n", "file, row 2: relevance '0.5' found; a whole"),
        ('{"1": {"d1": 0.5}}', "file, topic '1', document 'd1': relevance '0.5' found; a whole"),
        ('{"1": {"d1": "high"}}', "topic '1', document 'd1': '\"high\"' found; a number is needed"),
        ('{"1": {"d1": 1}, "1": {"d2": 1}}', "the name '1' occurs twice in an object"),
        ("topic,document,relevance\n1,d1,\n", "file, row 2, column relevance: nothing found"),
        ("topic,document,relevance\n1,d1,1\n1,d1,1\n", "found again, as in row 2"),
        ("1 1 d1 1\n1 2 d1 0\n", "file: these are judgements by sub-topic. Give them to --clus"),
    ],
)
def test_what_is_wrong_with_them_is_said_in_one_sentence(text, fault):
    _, [sentence] = read(read_judgements, text)
    assert fault in sentence


def test_a_document_that_is_judged_twice_is_no_judgement_by_sub_topic():
    _, [sentence] = read(read_judgements, "1 0 d1 1\n1 0 d1 0\n")
    assert sentence.startswith("file, line 2: document 'd1' of topic '1' found again, as in line 1")


RUN = {"1": {"d1": 3.0, "d2": 1.5}}


@pytest.mark.parametrize(
    "text",
    [
        "1 Q0 d1 1 3 t\n1 Q0 d2 2 1.5 t\n",
        "1\tQ0\td1\t1\t3\tt\n# a comment\n\n1  Q0 d2\t2 1.5 t\n",
        '{"1": {"d1": 3, "d2": 1.5}}',
        "topic,document,score\n1,d1,3\n1,d2,1.5\n",
        "topic;document;rank;score\n1;d1;1;3\n1;d2;2;1,5\n".replace(",", "."),
    ],
)
def test_runs_of_other_tools_are_read(text):
    assert read(read_run, text) == (RUN, [])


def test_a_run_of_ms_marco_is_read_by_its_ranks():
    run, faults = read(read_run, "1\td1\t1\n1\td2\t2\n")
    assert (run, faults) == ({"1": {"d1": -1.0, "d2": -2.0}}, [])
    assert read(read_run, "1 d1 1\n1 d2 0.5\n")[1] == [
        "file, line 2: rank '0.5' found; a whole number from 1 is allowed"
    ]


def test_fields_after_the_tag_are_reserved_and_counted():
    faults = FileFaults()
    text = "1 Q0 d1 1 3 t\n1 Q0 d2 2 1.5 t more junk at\n1 Q0 d3 3 1 last end of lines.\n"
    run, facts = read_run_and_facts("file", lines_of(text), faults)
    assert not faults
    assert run == {"1": {"d1": 3.0, "d2": 1.5, "d3": 1.0}}
    assert (facts.tag, facts.longer_lines, facts.after_tag) == ("last", 2, "more junk at")
    assert facts.order == {"1": ("d1", "d2", "d3")}
    assert run_tag(lines_of("1 Q0 d1 1 3 t more\n")) == "t"


@pytest.mark.parametrize(
    "line",
    [
        "1 Q0 a picture 3 2.5 t",  # blanks in ids
        "1 Q0 d 12 3 2.5 t",
        "1 Q0 12 13 14 3 2.5 t",
        "1 Q0 d 12 13 x 3 2.5 t",
        "my 1 Q0 7 3 2.5 t",
        "1 Q0 d1 3 0.5 2.5 t",  # two columns of scores
        "1 Q0 d1 3 good t more",
        "1 Q0 d1 1 3 t 1 Q0 d2 2 2.5 t",  # two lines in one
        "1 Q0 d1 1 3 t1 Q0 d2 2 2.5 t",
        "1 Q0 d 12 3 2.5 t more",
    ],
)
def test_a_longer_line_whose_columns_are_shifted_is_a_fault(line):
    content, [sentence] = read(read_run, f"1 Q0 d0 0 9 t\n{line}\n")
    assert content == {"1": {"d0": 9.0}}
    assert sentence.startswith(f"file, line 2: {len(line.split())} fields found, ")


def test_judgements_have_four_fields_as_in_trec_eval():
    _, [sentence] = read(read_judgements, "1 0 d1 1 more\n")
    assert "5 fields found" in sentence


def test_the_ranks_of_a_table_are_noted_too():
    faults = FileFaults()
    text = "topic,document,rank,score\n1,d2,1,1\n1,d1,2,3\n"
    _, facts = read_run_and_facts("file", lines_of(text), faults)
    assert facts.order == {"1": ("d2", "d1")}


@pytest.mark.parametrize(
    "text",
    [
        "1 d1 a\n1 d2 a\n1 d2 b\n",
        "topic,document,cluster\n1,d1,a\n1,d2,a\n1,d2,b\n",
    ],
)
def test_clusters_are_read_from_lines_and_tables(text):
    content, faults = read(read_clusters, text)
    assert content == {"1": {"d1": frozenset("a"), "d2": frozenset("ab")}}
    assert faults == []


def test_judgements_by_sub_topic_are_clusters():
    content, faults = read(read_clusters, "1 1 d1 1\n1 1 d2 0\n1 2 d1 1\n1 2 d3 2\n")
    assert content == {"1": {"d1": frozenset("12"), "d3": frozenset("2")}}
    assert faults == []


def test_a_cluster_with_a_number_in_its_name_stays_one():
    content, _ = read(read_clusters, "1 5 group 1\n1 6 group 2\n")
    assert content == {"1": {"5": frozenset(["group 1"]), "6": frozenset(["group 2"])}}


def test_weights_are_read_from_a_table():
    assert read(read_weights, "topic,document,weight\n1,d1,.5\n") == ({"1": {"d1": 0.5}}, [])


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2009"])
def test_only_spaces_and_tabs_separate(blank):
    run, faults = read(read_run, f"1 Q0 d{blank}3 1 2 t\n")
    assert (run, faults) == ({"1": {f"d{blank}3": 2.0}}, [])
    _, [sentence] = read(read_run, f"1{blank}Q0{blank}d3 1 2 t\n")
    assert f"4 fields found, '1<U+{ord(blank):04X}>Q0" in sentence


@given(st.text(st.characters(categories=["L", "M"]), min_size=1, max_size=6))
def test_ids_are_equal_in_every_unicode_form(name):
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    runs = [read(read_run, f"1 Q0 {form} 1 2 t\n")[0] for form in forms]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("bm25.txt", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("k1_0.9", "k1_0.9"),
        ("input.uogtr.gz", "input.uogtr"),
        ("a.b.RES", "a.b"),
        ("run.v2.jsonl.gz", "run.v2"),
        (".txt", ".txt"),
    ],
)
def test_only_known_endings_are_no_part_of_a_name(file, name):
    assert run_name(file) == name


def test_the_tag_is_that_of_the_first_line():
    assert run_tag(lines_of("# x\n\n1 Q0 d1 1 2 bm25\n1 Q0 d2 2 1 other\n")) == "bm25"
    assert run_tag(lines_of("1 d1 1\n")) == run_tag([]) == ""


def test_signs_that_cannot_be_seen_are_named():
    assert visible("d3\u00a0x\u200b") == "d3<U+00A0>x<U+200B>"
    assert visible("Größe 東京") == "Größe 東京"
