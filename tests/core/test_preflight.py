"""What a researcher is warned of before anything is scored: ids, topics, ranks, ties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.cli.command import ID_CHANGES
from survey.core.collections.runs import read_run_and_facts
from survey.core.preflight import (
    CHANGED_BY_SPREADSHEETS,
    CHANGES,
    Showable,
    changed_ids,
    clusters_checked,
    items_checked,
    none_relevant_fault,
    run_as_meant,
    runs_checked,
    topics_fault,
)
from survey.core.text_input import FaultyFilesError, FileFaults


def codes(warnings):
    return [each.code for each in warnings]


def run_of(text):
    faults = FileFaults()
    run, facts = read_run_and_facts("a.run", text.splitlines(keepends=True), faults)
    faults.raise_any()
    return run, facts


def checked(judgements, text):
    run, facts = run_of(text)
    return runs_checked(judgements, {"a": run}, {"a": facts})


JUDGED = {"1": {f"d{number}": number % 2 for number in range(1, 9)}}
FINE = "".join(f"1 Q0 d{number} {number} {9 - number} a\n" for number in range(1, 9))


def test_fields_after_the_tag_are_noted_once():
    [warned] = checked(JUDGED, FINE.replace(" a\n", " a more junk\n"))
    assert (warned.code, warned.level, warned.count) == ("fields-not-read", "note", 8)
    assert warned.text == "a: fields after the tag were not read in 8 lines (first: “more junk”)"


def test_of_files_that_agree_nothing_is_said():
    assert checked(JUDGED, FINE) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("d", "D"), "upper and lower case"),
        (lambda text: text.replace("Q0 d", "Q0 images/d"), "the folder"),
        (lambda text: text.replace("Q0 d", "Q0 d00"), "leading zeros"),
        (lambda text: text.replace(" d", " D").replace("Q0 D", "Q0 x\\D"), "the folder and upper"),
    ],
)
def test_ids_that_differ_are_told_with_the_cause_and_one_of_each_side(change, words):
    [warned] = [each for each in checked(JUDGED, change(FINE)) if each.code == "ids-differ"]
    assert words in warned.text
    assert (warned.count, warned.total) == (8, 8)
    assert warned.example[1] in JUDGED["1"]
    assert all(each in warned.text for each in warned.example)


def test_a_change_that_makes_two_ids_one_is_no_cause():
    judged = {"1": {"d1": 1, "D1": 1, "d2": 0}}
    assert "ids-differ" not in codes(checked(judged, "1 Q0 D2 1 2 a\n1 Q0 d1 2 1 a\n"))


def test_where_none_is_judged_it_is_said_and_not_again_that_few_are():
    warned = checked(JUDGED, FINE.replace(" d", " other"))
    assert codes(warned) == ["no-document-judged"]
    assert "none of its 8 documents is judged (run “other1”, judgements “d1”)" in warned[0].text


def test_few_judged_documents_are_told_beside_the_best_run():
    many = "".join(f"1 Q0 x{number} {number} {30 - number} a\n" for number in range(1, 9))
    few, facts = run_of(many + "1 Q0 d1 9 1 a\n1 Q0 d2 10 .5 a\n")
    fine, of_fine = run_of(FINE)
    warned = runs_checked(JUDGED, {"few": few, "fine": fine}, {"few": facts, "fine": of_fine})
    [told] = [each for each in warned if each.code == "few-judged"]
    assert told.of == "few"
    assert "20 % of its first 10 documents are judged, of fine's 100 %" in told.text


def test_lists_that_are_read_backwards_are_told_and_no_single_conflict():
    backwards = "".join(f"1 Q0 d{number} {number} {number} a\n" for number in range(1, 9))
    warned = checked(JUDGED, backwards)
    assert codes(warned) == ["ranks-reversed"]
    assert "scores rise with the ranks in 1 of 1 topic" in warned[0].text
    one = FINE.replace("1 Q0 d3 3 6 a", "1 Q0 d3 3 9 a")
    [conflict] = checked(JUDGED, one)
    assert (conflict.code, conflict.count, conflict.total) == ("rank-conflict", 1, 7)


@pytest.mark.parametrize("rank", ["9" * 5_000, "x", "-1", "²"])
def test_a_rank_that_is_no_number_is_left_out_as_trec_eval_does(rank):
    warned = checked(JUDGED, FINE.replace("1 Q0 d3 3 6 a", f"1 Q0 d3 {rank} 6 a"))
    assert warned == []


def test_equal_scores_comments_and_topics_that_lack_are_told():
    equal = FINE.replace(" 8 a", " 7 a") + "# a comment\n2 Q0 d1 1 1 a\n"
    warned = {each.code: each for each in checked({**JUDGED, "3": {"d1": 1}}, equal)}
    assert warned["tied-scores"].count == 2
    assert warned["comments"].text == "a: 1 line that starts with # was skipped"
    assert warned["topics-missing"].example == ("3",)
    assert warned["topics-not-judged"].example == ("2",)


@pytest.mark.parametrize(
    ("judged", "of_runs", "words"),
    [
        (["051"], ["51"], "leading zeros: “51” and “051”"),
        (["q51"], ["Q51"], "upper and lower case: “Q51” and “q51”"),
        (["1"], ["x"], "“x” is one of the runs', “1” of the judgements'"),
    ],
)
def test_topics_that_do_not_meet_at_all_are_told(judged, of_runs, words):
    assert words in topics_fault(judged, of_runs)
    assert topics_fault([*judged, "same"], [*of_runs, "same"]) == ""


IDS = st.text(st.sampled_from("aA01.x/"), min_size=1, max_size=4)


@given(st.dictionaries(IDS, st.integers(0, 1), min_size=1), st.dictionaries(IDS, st.floats(0, 1)))
def test_whatever_the_ids_are_counts_are_within_their_total(grades, scores):
    for each in runs_checked({"t": grades}, {"r": {"t": scores}}, {}):
        assert 0 < each.count <= each.total or each.code == "few-judged"


def test_a_run_without_a_relevant_document_has_its_reason():
    warned = checked(JUDGED, "1 Q0 d2 1 2 a\n1 Q0 d4 2 1 a\n")
    assert [(each.code, each.text) for each in warned] == [
        ("none-relevant", "Run a: none of its 2 documents is relevant. All values are 0")
    ]


def test_the_command_offers_every_change_of_ids():
    assert [*CHANGES] == [*ID_CHANGES]


@given(
    st.dictionaries(
        st.text("abcxyz0123.jpgJPG/_- \u00a0", min_size=1, max_size=8),
        st.integers(0, 3),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([*CHANGES]),
)
def test_ids_that_a_change_makes_equal_are_never_merged(documents, change):
    changed_names = {CHANGES[change].apply(document) for document in documents}
    if len(changed_names) < len(documents):
        with pytest.raises(FaultyFilesError, match=change):
            changed_ids({"1": documents}, [change], "a.run")
    else:
        changed = changed_ids({"1": documents}, [change], "a.run")
        assert [*changed["1"].values()] == [*documents.values()]


def texts(warnings):
    return [each.text for each in warnings]


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        (
            {"1": {"d1": "0", "d2": "0"}, "2": {"d1": "0", "d3": "0"}},
            [
                "Clusters: in each of 2 topics all documents are in one cluster (“0”), so measures "
                "of sub-topics say nothing"
            ],
        ),
        ({"1": {"d1": "a", "d2": "a"}, "2": {"d1": "a", "d3": "b"}}, []),
        ({"1": {"d1": "a"}, "2": {"d1": "b"}}, []),
        ({"1": {"d1": "1", "d2": "2"}}, []),
    ],
)
def test_clusters_that_say_nothing_of_sub_topics_are_warned_of(clusters, expected):
    of_documents = {
        topic: {doc: frozenset({name}) for doc, name in documents.items()}
        for topic, documents in clusters.items()
    }
    assert texts(clusters_checked("c.txt", of_documents)) == expected


def test_documents_that_could_not_be_placed_are_in_no_cluster_with_others():
    unplaced = {"1": {"d1": frozenset({"a"}), "d2": frozenset()}}
    assert clusters_checked("c.txt", unplaced) == []


def test_ids_that_a_spreadsheet_changed_are_told_of_either_side():
    changed = {"1": {"06.01.2024" if doc == "d6" else doc: 1 for doc in JUDGED["1"]}}
    [warned] = [each for each in checked(changed, FINE) if each.code == "spreadsheet-ids"]
    assert warned.text.startswith(
        "Judgements: 1 document has an id like dates or numbers in scientific notation "
        "(“06.01.2024”) and is in no run. Did a spreadsheet change it?"
    )
    run = FINE.replace("d6", "1.2E+05").replace("d7", "6-Jan")
    [warned] = [each for each in checked(JUDGED, run) if each.code == "spreadsheet-ids"]
    assert "Run a: 2 documents have ids like dates" in warned.text
    assert "(“1.2E+05”, “6-Jan”) and are not judged" in warned.text


def test_dates_that_are_ids_of_both_sides_are_no_fault():
    judged = {"1": {"2024-01-06": 1, "2024-01-07": 0, "d1": 1}}
    assert "spreadsheet-ids" not in codes(checked(judged, "1 Q0 2024-01-06 1 2 a\n1 Q0 d1 2 1 a\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((each, True) for each in ("06.01.2024", "1/6/24", "2024-01-06", "06. Jan", "Jan-24")),
        *((each, True) for each in ("1.2E+05", "1,2E+05", "5e-07", "6-Sept", "2024-01-06 00:00")),
        *((each, False) for each in ("d6", "12e4", "1-2-3", "11-4", "may", "2024", "1.5", "mar-1")),
    ],
)
def test_what_spreadsheets_make_of_ids_is_recognised(text, expected):
    assert bool(CHANGED_BY_SPREADSHEETS.fullmatch(text)) == expected


def swapped(shift=0.5):
    return "".join(f"1 Q0 d{rank} {9 - rank + shift} {rank} a\n" for rank in range(1, 9))


def test_a_rank_column_that_holds_scores_is_told_and_stops_a_study():
    [warned] = checked(JUDGED, swapped())
    assert (warned.code, warned.level) == ("columns-swapped", "warning")
    assert warned.text.startswith(
        "Run a: the rank column holds 8.5, 7.5, … and the score column 1, 2, …. Are they swapped?"
    )
    run, facts = run_of(swapped())
    [warned] = runs_checked(JUDGED, {"a": run}, {"a": facts}, of_study=True)
    assert warned.level == "stop"


def lines_of(ranks, scores, topic="1"):
    columns = zip(ranks, scores, strict=True)
    return "".join(f"{topic} Q0 d{n} {r} {s} a\n" for n, (r, s) in enumerate(columns, 1))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("ranks", [range(80, 72, -1), [9, 9, 7, 7, 5, 5, 5, 1]])
def test_swapped_columns_of_whole_numbers_stop_a_study_too(ranks, first):
    run, facts = run_of(lines_of(ranks, range(first, first + 8)))
    [warned] = runs_checked(JUDGED, {"a": run}, {"a": facts}, of_study=True)
    assert (warned.code, warned.level) == ("columns-swapped", "stop")
    read = f"holds {ranks[0]}, {ranks[1]}, … and the score column {first}, {first + 1}, …."
    assert read in warned.text


@pytest.mark.parametrize(
    ("ranks", "scores"),
    [
        (range(1, 9), range(8, 0, -1)),  # 1, 2, 3 … as scores too, which fall
        (range(1, 9), range(1, 9)),  # read backwards
        ([0] * 8, range(1, 9)),  # no ranks at all
        ([1, 3, 5, 7, 9, 11, 13, 15], range(8, 0, -1)),  # others left out, scores counted anew
    ],
)
def test_whole_numbers_that_may_be_ranks_and_scores_are_not_swapped(ranks, scores):
    assert "columns-swapped" not in codes(checked(JUDGED, lines_of(ranks, scores)))


def test_swapped_columns_are_those_of_most_topics():
    swapped_topic = lines_of(range(80, 72, -1), range(1, 9))
    others = [lines_of(range(1, 9), range(80, 72, -1), topic) for topic in "23"]
    assert "columns-swapped" not in codes(checked(JUDGED, swapped_topic + "".join(others)))


def test_ranks_that_are_means_beside_true_scores_are_no_fault():
    assert checked(JUDGED, FINE.replace(" 3 6 a", " 2.5 6.2 a").replace(" 2 7 a", " 2.5 7 a")) == []
    assert checked(JUDGED, FINE.replace(" 3 6 a", " 3.0 6 a")) == []


def test_a_topic_that_no_run_has_is_left_out_and_one_that_others_have_counts_as_0():
    judged = {**JUDGED, "2": {"d1": 1}, "3": {"d1": 1}}
    alone = checked(judged, FINE)
    assert texts(alone) == [
        "Run a returned nothing for 2 of 3 judged topics (first: “2”). They are left out"
    ]
    assert alone[0].of == "a"
    run, _ = run_of(FINE)
    other = {**run, "2": {"d1": 1.0}}
    assert texts(runs_checked(judged, {"a": run, "b": other}, {})) == [
        "No run returned anything for 1 of 3 judged topics (first: “3”). It is left out",
        "Run a returned nothing for 1 of 3 judged topics (first: “2”). It counts as 0",
    ]


def test_a_topic_that_differs_by_zeros_alone_has_its_cause():
    judged = {**JUDGED, "2": {"d1": 1}, "9": {"d1": 1}}
    assert texts(checked(judged, FINE + "02 Q0 d1 1 1 a\n001 Q0 d1 1 1 a\n")) == [
        "Run a returned nothing for 2 of 3 judged topics (first: “2”; the runs have “02”: leading "
        "zeros). They are left out",
        "Run a: 2 of 3 topics are not judged (first: “001”; for “02” the judgements have “2”: "
        "leading zeros). They are left out",
    ]


def test_similarities_read_as_distances_are_told_to_be_similarities():
    run, facts = run_as_meant(*run_of(FINE), (), "a", distances=True)
    [warned] = runs_checked(JUDGED, {"a": run}, {"a": facts})
    assert warned.text == (
        "Run a: with --scores distances its order is the opposite of its ranks in 1 of 1 topic; "
        "the scores look like similarities. Leave --scores distances out"
    )


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ((0, 0), "q: no document is relevant (all 2 grades are 0)"),
        ((0, -1), "q: no document is relevant (all 2 grades are 0 or less)"),
        ((0, 1), ""),
    ],
)
def test_judgements_without_a_relevant_document_have_their_fault(grades, expected):
    judged = {"1": dict(zip("ab", grades, strict=True))}
    assert none_relevant_fault("q", judged) == expected


def test_one_document_is_not_spoken_of_as_several():
    [warned] = checked(JUDGED, FINE.replace("d8", "D8"))
    assert warned.text == (
        "Run a: 1 of 8 documents is not judged under its id, and would be without upper and lower "
        "case (run “D8”, judgements “d8”). It counts as not relevant. `--ids any-case` reads them "
        "so"
    )


def test_blanks_that_are_not_ascii_are_named():
    text = FINE.replace("d7", "d7\u00a0x").replace("d8", "d8\u3000x")
    [warned] = checked(JUDGED, text)
    assert warned.text == (
        "Run a: 2 of 8 documents are not judged, and their ids hold a no-break space, U+00A0 "
        "(“d7<U+00A0>x”)"
    )


def test_a_topic_whose_text_is_under_another_id_has_its_cause():
    shown = Showable({"001": ["a", "b"]}, {"a"}, {"a"}, {"1"}, {"1"})
    lacking = "1 of 1 topic has no text or picture (first: “001”; topics have “1”: leading zeros)"
    spare = "1 of 1 topic is in no question (first: “1”)"
    missing = "1 of 2 documents of the lists has no item (first: “b”)"
    assert texts(items_checked(shown, needed=True)) == [missing, lacking, spare]
    not_shown = " (not shown in this kind of study)"
    assert texts(items_checked(shown, needed=False)) == [
        f"{missing}{not_shown}",
        f"{lacking}{not_shown}",
        spare,
    ]
