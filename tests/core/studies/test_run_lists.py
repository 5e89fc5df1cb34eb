"""Judgements and runs of a test collection, read as lists of positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.studies.own_lists import OwnLists
from survey.core.studies.run_lists import Reading, TextFile, read_trec
from survey.core.text_input import FaultyFilesError

QRELS = "q1 0 d1 1\nq1 0 d2 2\nq1 0 d3 0\nq2 0 d1 1\nq3 0 d9 0\n"


def run_of(*orders, tag="tag"):
    """A run that returns the documents of each (topic, documents) in the order given."""
    return "".join(
        f"{topic} Q0 d{document} 1 {-rank / 2} {tag}\n"
        for topic, documents in orders
        for rank, document in enumerate(documents)
    )


RUNS = (
    run_of(("q1", "1234"), ("q2", "1"), ("q3", "9")),
    run_of(("q1", "3412"), ("q2", "21"), ("q3", "9")),
    run_of(("q1", "3142"), ("q2", "231"), ("q3", "9")),
)


def read(runs=RUNS, qrels=QRELS, size=100, **options):
    named = [TextFile(f"run{number}.txt", text) for number, text in enumerate(runs, 1)]
    return read_trec(TextFile("qrels.txt", qrels), named, collection_size=size, **options)


def faults_of(*args, **options):
    with pytest.raises(FaultyFilesError) as caught:
        read(*args, **options)
    return caught.value.faults


def test_files_without_a_common_topic_are_named_where_the_size_is_unknown():
    fault = "No topic is in both files: “q1” is one of the runs', “q8” of the judgements'"
    assert faults_of(qrels="q8 0 d1 1\n", size=None) == (fault,)


def test_lists_are_the_positions_of_relevant_documents_in_each_run():
    assert read() == OwnLists(
        (((1, 2), (3, 4), (2, 4)), ((1,), (2,), (3,))),
        100,
        topics=("q1", "q2"),
        documents=(
            (("d1", "d2", "d3", "d4"), ("d3", "d4", "d1", "d2"), ("d3", "d1", "d4", "d2")),
            (("d1",), ("d2", "d1"), ("d2", "d3", "d1")),
        ),
    )


def test_ids_and_names_with_signs_that_are_not_seen_are_refused():
    runs = [*RUNS[:2], RUNS[2].replace("d9", "d\u202e9")]
    assert faults_of(runs, qrels=QRELS + "q3 0 d2 1\n", missing_last=True) == (
        "topic 'q3', run C (run3.txt): 'd<U+202E>9' has a sign that cannot be seen; take it out",
    )
    assert read([run.replace("d9", "größe-٣-猫") for run in RUNS]).topics == ("q1", "q2")
    assert "the run 'a<U+0085>b' has a sign that cannot be seen" in " ".join(
        faults_of(names=["a\x85b", "two", "three"])
    )


def test_chosen_topics_are_the_questions_in_the_order_given():
    assert read(topics=["q2", "q1"]).topics == ("q2", "q1")
    assert read(topics=["q2", "q1"]).questions[0] == ((1,), (2,), (3,))


def test_topics_that_a_run_lacks_are_left_out_unless_chosen():
    runs = [*RUNS[:2], run_of(("q2", "231"))]
    assert read(runs).topics == ("q2",)
    assert faults_of(runs, topics=["q1"]) == (
        "topic 'q1' is missing in run C (run3.txt); every run needs every topic",
    )


def test_equal_scores_go_by_docid_descending_and_the_rank_column_is_ignored():
    lines = [("d10", 1, "2.0"), ("d9", 2, "2"), ("d1", 3, "2e0"), ("d3", 4, "+7.")]
    run = "".join(f"q1 Q0 {name} {rank} {score} t\n" for name, rank, score in lines)
    # d3 has the highest score; of the others d9 comes first, then d10, then d1
    assert read([run, RUNS[0]], "q1 0 d10 1\nq1 0 d1 1\n", missing_last=True).questions == (
        ((3, 4), (1, 100)),
    )


@given(st.permutations("123456"), st.permutations("123456"), st.sets(st.sampled_from("123456")))
def test_positions_are_those_of_the_order_written(one, other, relevant):
    qrels = "".join(f"q1 0 d{name} {int(name in relevant)}\n" for name in "123456")
    expected = [
        tuple(rank for rank, name in enumerate(order, 1) if name in relevant)
        for order in (one, other)
    ]
    runs = [run_of(("q1", one)), run_of(("q1", other))]
    if expected[0] == expected[1]:
        assert "q1" in faults_of(runs, qrels, topics=["q1"])[0]
    else:
        assert read(runs, qrels).questions == (tuple(expected),)


@given(st.permutations(RUNS[0].splitlines()))
def test_the_order_of_lines_does_not_matter(lines):
    assert read(["\n".join(lines), *RUNS[1:]]) == read()


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n", "  \n# a comment\n"])
def test_other_line_ends_empty_lines_comments_and_byte_order_marks_are_forgiven(end):
    runs = ["\ufeff" + run.replace("\n", end).replace(" ", "\t") for run in RUNS]
    assert read(runs, "\ufeff" + QRELS.replace("\n", end)) == read()


def test_missing_relevant_documents_are_a_fault_or_stand_last():
    qrels = QRELS + "q1 0 d7 1\nq1 0 d8 1\n"
    assert faults_of(qrels=qrels, topics=["q1"], missing_last=False)[1] == (
        "topic 'q1', run B (run2.txt): 2 of 4 relevant documents missing; every one needs a "
        "position. Without --no-missing-last they are put at the end of the collection"
    )
    lists = read(qrels=qrels, topics=["q1"])
    assert (lists.questions[0][1], lists.unreturned) == ((3, 4, 99, 100), ((2, 2, 2),))
    assert read(qrels=qrels, topics=["q1"], size=None).collection_size == 6


def test_the_last_positions_must_be_free():
    qrels = QRELS + "q1 0 d7 1\nq1 0 d8 1\n"
    assert read(qrels=qrels, missing_last=True, size=6).questions[0][1] == (3, 4, 5, 6)
    assert faults_of(qrels=qrels, missing_last=True, size=5)[0] == (
        "topic 'q1', run A (run1.txt): 4 documents found and 2 relevant ones missing; the last "
        "positions of a collection of 5 are taken, so a larger collection size is needed"
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "q1 Q0 d5 5 0.1",
            "5 fields found, 'q1 Q0 d5 5 0.1'; 6 are allowed: topic Q0 document rank score tag",
        ),
        ("q1 Q0 d5 5 high t", "score 'high' found; a number is allowed"),
        ("q1 Q0 d5 5 nan t", "score 'nan' found; a number is allowed"),
        ("q1 Q0 d5 5 1_0 t", "score '1_0' found; a number is allowed"),
        (
            "q1 Q0 d2 5 0.1 t",
            "document 'd2' of topic 'q1' found again, as in line 2; a run may return it once",
        ),
    ],
)
def test_a_faulty_line_of_a_run_is_named(line, fault):
    runs = [RUNS[0], run_of(("q1", "12")) + line, RUNS[2]]
    assert faults_of(runs) == (f"run2.txt, line 3: {fault}",)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "q1 0 d5",
            "3 fields found, 'q1 0 d5'; 4 are allowed: topic iteration document relevance",
        ),
        ("q1 0 d5 yes", "relevance 'yes' found; a whole number is allowed"),
        (
            "q1 0 d2 0",
            "document 'd2' of topic 'q1' found again, as in line 2; one judgement for each is "
            "allowed",
        ),
    ],
)
def test_a_faulty_line_of_the_judgements_is_named(line, fault):
    assert faults_of(qrels=QRELS + line) == (f"qrels.txt, line 6: {fault}",)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            {"topics": ["q7"], "runs": [run_of(("q7", "1")), run_of(("q7", "21"))]},
            "topic 'q7' is not in qrels.txt; choose topics that are judged there",
        ),
        (
            {"topics": ["q3"]},
            "topic 'q3' has no relevant document in qrels.txt; at least one is needed",
        ),
        ({"topics": ["q1", "q1"]}, "topic 'q1' is chosen 2 times; once is allowed"),
        (
            {"runs": [RUNS[0], RUNS[1], RUNS[0]], "topics": ["q1"]},
            "topic 'q1': the runs run1 and run3 have the relevant documents at the same positions; "
            "the two lists look the same, so another topic or run is needed",
        ),
        (
            {"runs": [run_of(("q1", "1234")), run_of(("q1", "21"))], "size": 3},
            "topic 'q1', run A (run1.txt): 4 documents found; 3 are allowed",
        ),
        (
            {"qrels": ""},
            "qrels.txt: no line found; a line for each document is needed: topic iteration "
            "document relevance",
        ),
        (
            {"qrels": "q1 0 d1 0\n"},
            "qrels.txt: no document is relevant (the only grade is 0)",
        ),
        (
            {"qrels": "q1 0 d1 0\nq8 0 d1 1\n"},
            "no topic has a relevant document in qrels.txt and occurs in every run; 1 is needed",
        ),
        ({"runs": RUNS[:1]}, "runs found: 1; 2 to 10 are allowed, a list from each"),
        ({"runs": RUNS[:1] * 11}, "runs found: 11; 2 to 10 are allowed, a list from each"),
        ({"size": 1}, "the collection size is 1; 2 to 100000000 is allowed"),
    ],
)
def test_what_keeps_a_topic_or_a_run_from_being_used_is_said(options, fault):
    assert fault in faults_of(**options)


def test_more_than_fifty_topics_must_be_chosen_from():
    names = [f"q{number}" for number in range(51)]
    qrels = "".join(f"{name} 0 d1 1\n" for name in names)
    runs = [run_of(*((name, order) for name in names)) for order in ("1", "21")]
    assert faults_of(runs, qrels) == ("topics found: 51; choose at most 50, a question from each",)
    assert read(runs, qrels, topics=names[1:]).topics == tuple(names[1:])


def test_faults_of_all_files_are_told_together():
    assert [fault.split(":")[0] for fault in faults_of(["a b", *RUNS[1:]], QRELS + "c")] == [
        "qrels.txt, line 6",
        "run1.txt, line 1",
    ]


CLUSTERS = TextFile(
    "clusters.txt", "q1 d1 sea lion\nq1 d1 C++ words\nq1 d2 unknown\nq2 d1 sea lion\n"
)


def test_grades_above_one_are_marks_in_the_order_of_the_positions():
    # q1: d1 has grade 1, d2 grade 2; run 1 returns 12.., run 2 3412, run 3 3142
    graded = read(graded=True)
    assert graded.questions == read().questions
    assert [marks.grades for marks in graded.marks] == [
        ((1, 2), (1, 2), (1, 2)),
        ((1,), (1,), (1,)),
    ]
    flipped = read([RUNS[0], run_of(("q1", "3421"), ("q2", "21"))], graded=True, topics=["q1"])
    assert flipped.marks[0].grades == ((1, 2), (2, 1))


def test_without_a_grade_above_one_in_the_topics_chosen_there_are_no_marks():
    assert read(graded=True, topics=["q2"]).marks == ()
    assert read(topics=["q1"]).marks == ()


def test_missing_documents_stand_last_with_the_highest_grades_first():
    qrels = QRELS + "q1 0 d7 1\nq1 0 d8 3\n"
    marked = read(qrels=qrels, missing_last=True, graded=True, topics=["q1"])
    assert marked.questions[0][0] == (1, 2, 99, 100)
    assert marked.marks[0].grades[0] == (1, 2, 3, 1)


def test_a_grade_above_the_highest_is_a_fault_where_grades_count():
    assert read(qrels=QRELS + "q1 0 d9 31\n", missing_last=True)
    assert faults_of(qrels=QRELS + "q1 0 d9 31\n", graded=True) == (
        "qrels.txt, line 6: relevance '31' found; a whole number up to 30 is allowed",
    )


def test_clusters_are_marks_written_as_one_word_each():
    marked = read(clusters=CLUSTERS).marks
    assert [marks.types for marks in marked] == [("clusters",)] * 2
    assert marked[0].clusters == ((("C--_words", "sea_lion"), ()),) * 3
    assert marked[1].clusters == ((("sea_lion",),),) * 3
    assert read(clusters=CLUSTERS, graded=True).marks[0].types == ("grades", "clusters")


def test_marks_can_be_scored():
    marked = read(clusters=CLUSTERS, graded=True)
    lists = marked.marks[0].lists(marked.questions[0], 100)
    assert lists.grades.tolist() == [[1, 2]] * 3


def test_a_chosen_topic_without_clusters_is_named():
    only = TextFile("clusters.txt", "q1 d1 a\nq2 d1 unknown\nq2 d2 b\n")
    assert faults_of(clusters=only) == (
        "topic 'q2': no relevant document has a cluster in clusters.txt; at least one is needed",
    )
    assert faults_of(clusters=TextFile("clusters.txt", "q1\n"))[0].startswith(
        "clusters.txt, line 1: 1 fi"
    )


def test_clusters_that_would_be_written_alike_are_a_fault():
    text = "".join(f"q1 d1 {'x' * 40}{end}\n" for end in "ab") + "q1 d2 +\nq2 d1 y\n"
    assert faults_of(clusters=TextFile("clusters.txt", text)) == (
        f"topic 'q1': 2 clusters of clusters.txt are all written '{'x' * 40}'; their first "
        "40 characters, with + as -, must differ",
    )
    assert read(clusters=TextFile("c", "q1 d1 +\nq2 d1 y\n")).marks[0].clusters[0] == (("--",), ())


def test_lists_with_the_same_positions_are_told_apart_by_their_marks_only():
    runs = [run_of(("q1", "12")), run_of(("q1", "21"))]
    lists = read(runs, graded=True, topics=["q1"])
    assert len(set(lists.questions[0])) == 1
    assert lists.marks[0].of_list(0) != lists.marks[0].of_list(1)
    assert "the two lists look the same" in faults_of(runs, topics=["q1"])[0]


FIELDS = st.sampled_from(["q1", "q2", "Q0", "d1", "d2", "d3", "1", "0", "-2.5", "inf", "\x1c", "é"])
FILES = st.text() | st.lists(
    st.lists(FIELDS, min_size=3, max_size=7).map(" ".join), max_size=6
).map("\n".join)


@pytest.mark.slow
@given(
    FILES | st.just(QRELS),
    st.lists(FILES | st.sampled_from(RUNS), max_size=4),
    st.booleans(),
    st.none() | FILES | st.just(CLUSTERS[1]),
)
def test_any_files_are_read_or_refused_with_sentences(qrels, runs, missing_last, clusters):
    more = (
        {} if clusters is None else {"clusters": TextFile("clusters.txt", clusters), "graded": True}
    )
    try:
        lists, faults = read(runs, qrels, size=4, missing_last=missing_last, **more), ()
    except FaultyFilesError as error:
        lists, faults = None, error.faults
    assert len(faults) <= 20
    assert bool(lists) != bool(faults)
    if lists and clusters is not None:
        for question, marks in zip(lists.questions, lists.marks, strict=True):
            assert marks.types
            assert marks.lists(question, 4).clusters is not None


def test_a_topic_whose_lists_look_the_same_is_left_out():
    runs = [RUNS[0], RUNS[1], run_of(("q1", "1234"), ("q2", "231"), ("q3", "9"))]
    lists = read(runs)
    assert lists.topics == ("q2",)
    assert (len(lists.questions), len(lists.documents)) == (1, 1)
    [left_out] = [each for each in lists.warnings if each.code == "question-left-out"]
    assert left_out.text == "Topic “q1” is left out: runs run1 and run3 look the same"
    assert left_out.example == ("run1", "run3")


def codes_of(lists):
    return {warning.code: warning for warning in lists.warnings}


def test_topics_that_are_no_questions_are_said_unless_they_were_chosen():
    qrels = QRELS + "q4 0 d1 1\n"
    runs = [*RUNS[:2], RUNS[2].replace("q2", "q5")]
    warnings = codes_of(read(runs, qrels))
    assert warnings["topics-not-judged"].text == (
        "Run run3: 1 of 3 topics is not judged (first: “q5”). It is left out"
    )
    missing = [each.text for each in read(runs, qrels).warnings if each.code == "topics-missing"]
    assert missing == [
        "Run run1 returned nothing for 1 of 3 judged topics (first: “q4”). It is left out",
        "Run run2 returned nothing for 1 of 3 judged topics (first: “q4”). It is left out",
        "Run run3 returned nothing for 2 of 3 judged topics (first: “q2”). They are left out",
    ]
    assert not {"topics-not-judged", "topics-missing"} & {
        *codes_of(read(runs, qrels, topics=["q1"]))
    }


def distances(*documents):
    return "".join(f"q1 Q0 d{each} {rank} {rank / 10} t\n" for rank, each in enumerate(documents))


def test_a_list_that_is_read_backwards_stops_a_study():
    runs = [distances(1, 3, 2), distances(3, 1, 2)]
    lists = read(runs, missing_last=True)
    stops = [(each.code, each.of) for each in lists.warnings if each.level == "stop"]
    assert stops == [("ranks-reversed", "run1"), ("ranks-reversed", "run2")]
    assert lists.questions[0][0] == (1, 3)
    meant = read(runs, missing_last=True, reading=Reading(distances=True))
    assert "ranks-reversed" not in codes_of(meant)
    text = codes_of(lists)["ranks-reversed"].text
    assert "make the study again with `survey study new … --scores distances`" in text
    falling = [run.replace(" 0.", " -0.") for run in runs]
    wrong = read(falling, missing_last=True, reading=Reading(distances=True))
    text = codes_of(wrong)["ranks-reversed"].text
    assert "Leave --scores distances out: make the study again without it" in text
    assert meant.questions[0] == ((1, 3), (2, 3))


def test_documents_below_a_level_are_not_relevant_unless_grades_are_shown():
    level, two = Reading(relevant_from=2), RUNS[:2]
    plain = read(two, reading=level)  # q2 has no document of grade 2
    assert (plain.topics, plain.questions) == (("q1",), (((2,), (4,)),))
    graded = read(two, graded=True, reading=level)
    assert (graded.topics, graded.questions) == (("q1",), (((1, 2), (3, 4)),))


def test_ids_are_read_without_what_they_differ_by():
    named = [run.replace(" d", " img/D") for run in RUNS]
    reading = Reading(ids=("without-folder", "any-case"))
    assert read(named, reading=reading) == read()
    strange = codes_of(read(named, missing_last=True, paired=True))["ids-differ"]
    assert "`--ids without-folder any-case` reads them so" in strange.text


def test_topics_that_differ_are_said_in_place_of_no_topic():
    runs = [run.replace("q", "Q") for run in RUNS]
    assert faults_of(runs) == (
        "No topic is in both files. Topics of runs and judgements differ by upper and lower case: "
        "“Q1” and “q1”",
    )


def test_ids_that_do_not_meet_are_the_cause_of_documents_that_seem_to_be_missing():
    qrels = "".join(f"q1 0 d{number} 1\n" for number in range(1, 5))
    other = RUNS[0].replace(" d", " D")
    assert faults_of([other, RUNS[1]], qrels, topics=["q1"], missing_last=False) == (
        "Run run1: 4 of 4 documents are not judged under their ids, and would be without upper and "
        "lower case (run “D1”, judgements “d1”). They count as not relevant. `--ids any-case` "
        "reads them so",
    )
    strange = RUNS[0].replace(" d", " x")
    [fault] = faults_of([strange, RUNS[1]], topics=["q1"], missing_last=False)
    assert fault.startswith("Run run1: none of its 4 documents is judged (run “x1”, judgements “d1")


def test_clusters_that_divide_no_topic_are_warned_of():
    clusters = TextFile("clusters.txt", "q1 d1 all\nq1 d3 all\n")
    assert "one-cluster" in codes_of(read(topics=["q1"], clusters=clusters))
