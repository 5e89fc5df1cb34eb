"""``survey evaluate --from trec_eval`` prints what trec_eval prints, line by line."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey.cli import survey

CASES = Path(__file__).parents[1] / "cases" / "trec_eval"
OWN_TESTS = os.environ.get("TREC_EVAL_TESTS")
# What trec_eval prints of all_trec, and the survey does not have.
NOT_HERE = {
    *("infAP", "Rprec_mult", "utility", "binG", "G", "ndcg_rel", "Rndcg", "relative_P", "set_P"),
    *("set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret", "rbp"),
    *("rbp_resid", "unj"),
}


def invoke(qrels, run, *words, status=0):
    words = ["evaluate", "--qrels", str(qrels), "--run", str(run), *words]
    result = CliRunner().invoke(survey, words)
    assert result.exit_code == status, result.output
    return result


def printed(qrels, run, *words):
    return invoke(qrels, run, "--from", "trec_eval", *words).stdout.splitlines()


def family(line):
    name = line.partition("\t")[0].strip()
    return name if name in NOT_HERE else name.rstrip("0123456789.").removesuffix("_")


def expected(path):
    """Return the lines of a file without those of measures that are not here."""
    return [line for line in path.read_text().splitlines() if family(line) not in NOT_HERE]


ALL = ("--measures", "all_trec")
COMPLETE = ("--complete", "--per-query")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("out.ac.txt", ("--complete", *ALL)),
        ("out.qc.txt", COMPLETE),
        ("out.qcl2.txt", (*COMPLETE, "--relevant-from", "2")),
        ("out.m.txt", (*COMPLETE, "--measures", "success", "ndcg_cut_7,P_3")),
    ],
)
def test_every_line_is_trec_evals(file, words):
    lines = printed(CASES / "qrels.txt", CASES / "run.txt", *words)
    assert lines == expected(CASES / file)
    assert len(lines) > 25


def test_without_complete_topics_that_the_run_did_not_return_are_left_out():
    lines = printed(CASES / "qrels.txt", CASES / "run.txt")
    assert lines == expected(CASES / "out.txt")
    assert "num_q                 \tall\t6" in lines


def test_measures_that_are_not_here_are_known():
    lines = (CASES / "out.ac.txt").read_text().splitlines()
    assert {family(line) for line in lines} >= NOT_HERE


@pytest.mark.skipif(not OWN_TESTS, reason="TREC_EVAL_TESTS is the folder test of trec_eval")
@pytest.mark.parametrize(
    ("file", "qrels", "run", "words"),
    [
        ("out.test", "qrels.test", "results.test", ()),
        ("out.test", "qrels.test.with-comments", "results.test", ()),
        ("out.comment.test", "qrels.comment.test", "results.comment.test", ()),
        ("out.test.a", "qrels.test", "results.test", ALL),
        ("out.test.aq", "qrels.test", "results.test", (*ALL, "--per-query")),
        ("out.test.aqc", "qrels.test", "results.trunc", (*ALL, *COMPLETE)),
        (
            *("out.test.aql", "qrels.rel_level", "results.test"),
            (*ALL, "--per-query", "--relevant-from", "2"),
        ),
    ],
)
def test_trec_evals_own_tests_are_met(file, qrels, run, words):
    folder = Path(OWN_TESTS)
    lines = [line for line in expected(folder / file) if not line.startswith("relstring")]
    assert printed(folder / qrels, folder / run, *words) == lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--json",), "--from trec_eval has no --json; leave one of the two out."),
        (("--baseline", "run"), "--from trec_eval has no --baseline; leave one of the two out."),
        (("--all-runs",), "--from trec_eval has no --all-runs; leave one of the two out."),
        (("--gmt", "3"), "--from trec_eval has no --gmt; leave one of the two out."),
        (("--to", "x"), "--from trec_eval has no --to; leave one of the two out."),
        (("--run", str(CASES / "qrels.txt")), "trec_eval scores a single run; give one --run."),
        (("--measures", "P_0"), "P_0 is not one of trec_eval's measures that are here"),
        (("--measures", "mapp"), "(did you mean map?)"),
        (("--measures", "map_"), "map_ is not one of"),
        (("--measures", "iprec_at_recall_0.15"), "iprec_at_recall_0.15 is not one of"),
    ],
)
def test_what_trec_eval_has_not_is_wrong_usage(words, message):
    run = CASES / "run.txt"
    result = invoke(CASES / "qrels.txt", run, "--from", "trec_eval", *words, status=2)
    assert message in " ".join(result.stderr.split())


def test_a_run_without_tags_is_called_by_its_name(tmp_path):
    run = tmp_path / "bm25.tsv"
    run.write_text("1\td1\t1\n")
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    lines = printed(tmp_path / "qrels", run, "--measures", "runid,map")
    assert lines == ["runid                 \tall\tbm25", "map                   \tall\t1.0000"]


def test_warnings_do_not_mix_with_the_lines():
    result = invoke(CASES / "qrels.txt", CASES / "run.txt", "--from", "trec_eval")
    assert "Note: run: fields after the tag were not read in 10 lines" in result.stderr


def notes(*words):
    result = invoke(CASES / "qrels.txt", CASES / "run.txt", "--json", *words)
    return json.loads(result.stdout)


def test_topics_that_no_run_returned_count_with_complete():
    names = ("--measures", "AP")
    usual, complete = notes(*names), notes(*names, "--complete")
    assert usual["queries"] == ["1", "2", "10", "x-3", "6"]
    assert complete["queries"] == [*usual["queries"], "8"]
    assert (usual["complete"], complete["complete"]) == (False, True)
    mean = usual["runs"]["run"]["mean"]["AP"]
    assert complete["runs"]["run"]["mean"]["AP"] == pytest.approx(mean * 5 / 6)
    no_run = (
        "that no run returned anything for; --complete counts such topics, as trec_eval -c does."
    )
    assert f"Left out: 1 topic (8) {no_run}" in usual["notes"]
    assert complete["notes"] == [
        "Left out: 1 topic (5) without a relevant document; trec_eval counts such topics as 0.",
        "Left out: 1 topic (not-judged) without judgements.",
        "Run run returned nothing for 1 topic (8); scored as having retrieved nothing, as by "
        "trec_eval -c.",
    ]
    missing = [
        warned["text"] for warned in complete["warnings"] if warned["code"] == "topics-missing"
    ]
    assert missing == [
        "Run run returned nothing for 1 of 6 judged topics (first: “8”). It counts as 0"
    ]


def test_each_measure_that_trec_eval_computes_otherwise_is_noted_once():
    names = ("AP@5", "AP@10", "nDCG@10", "nDCGlin@10", "P@5", "R@5", "RR", "Rprec", "bpref", "AP11")
    texts = [note for note in notes("--measures", *names)["notes"] if "trec_eval" in note][2:]
    assert [text.partition(":")[0] for text in texts] == ["AP@5, AP@10", "AP11", "nDCG@10"]
    assert "for each topic it is AP@k × R@k." in texts[0]
    result = invoke(CASES / "qrels.txt", CASES / "run.txt", "--csv", "--measures", "AP@5")
    assert result.stderr.count("trec_eval's map_cut_k") == 1


def test_a_map_cut_is_our_value_times_recall():
    values = notes("--measures", "AP@10,R@10", "--per-query")["runs"]["run"]["per_query"]
    lines = printed(
        *(CASES / "qrels.txt", CASES / "run.txt"), "--measures", "map_cut_10", "--per-query"
    )
    cut = {line.split("\t")[1]: line.split("\t")[2] for line in lines}
    for topic, of_topic in values.items():
        assert cut[topic] == f"{of_topic['AP@10'] * of_topic['R@10']:.4f}"
