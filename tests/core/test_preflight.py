"""What a researcher is warned of before anything is scored: ids, topics, ranks, ties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.cli.command import ID_CHANGES
from survey.core.collections.runs import read_run_and_facts
from survey.core.preflight import CHANGES, changed_ids, runs_checked, topics_fault
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
    assert "scores rise with the ranks in 1 of 1 topics" in warned[0].text
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
