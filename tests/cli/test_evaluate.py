"""``survey evaluate``, as its user meets it."""

import csv
import gzip
import io
import json
import os

import pytest
from click.testing import CliRunner

from survey.cli import survey

# Two relevant documents in q1 (d1 the better one), one in q2, none in q3.
QRELS = "q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 1\nq3 0 d1 0\n"
CLUSTERS = "q1 d1 sea lion\nq1 d2 seal\nq2 d9 unknown\nq2 d1 otter\n"
WEIGHTS = "q1 d1 1\nq1 d2 0.5\nq2 d1 1\n"


def run_of(**orders):
    return "".join(
        f"{topic} Q0 d{document} 1 {10 - rank} tag\n"
        for topic, documents in orders.items()
        for rank, document in enumerate(documents)
    )


BASE = run_of(q1="3412", q2="21")
BETTER = run_of(q1="1342", q2="1")


@pytest.fixture
def evaluate(tmp_path):
    """Run a command where the files lie; no application, no database."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "base.txt").write_text(BASE)
    (tmp_path / "better.run.gz").write_bytes(gzip.compress(BETTER.encode()))
    (tmp_path / "clusters.txt").write_text(CLUSTERS)
    (tmp_path / "weights.txt").write_text(WEIGHTS)

    def invoke(*arguments, status=0, command="evaluate", stream="stdout"):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            words = [command, "--qrels", "qrels.txt", *map(str, arguments)]
            result = CliRunner().invoke(survey, words)
        assert result.exit_code == status, result.output
        assert "Traceback" not in result.output
        return getattr(result, stream)

    invoke.folder = tmp_path
    return invoke


BOTH = ("--run", "base.txt", "better.run.gz")


def refusal(evaluate, *arguments, status):
    return " ".join(evaluate(*arguments, status=status, stream="stderr").split())


def test_json_holds_means_values_and_comparisons(evaluate):
    measures = ("--measures", "AP,NMRR", "nDCG@2")
    found = json.loads(evaluate(*BOTH, *measures, "--baseline", "base", "--json"))
    assert found["queries"] == ["q1", "q2"]
    assert list(found["runs"]) == ["base", "better"]
    # q1: (1/3 + 2/4)/2 = 5/12; q2: 1/2. better: (1 + 2/4)/2 = 3/4 and 1.
    assert found["runs"]["base"]["per_query"]["q1"]["AP"] == pytest.approx(5 / 12)
    assert found["runs"]["base"]["mean"]["AP"] == pytest.approx(11 / 24)
    assert found["runs"]["better"]["mean"]["AP"] == pytest.approx(7 / 8)
    ap, nmrr, _ = found["significance"]
    assert list(ap) == [
        *("run", "measure", "difference", "percent", "p", "p_holm"),
        *("p_t", "p_t_holm", "p_randomisation", "p_randomisation_holm", "stars"),
        *("p_two_sided", "p_two_sided_holm", "topics_needed"),
    ]
    assert (ap["run"], ap["measure"]) == ("better", "AP")
    assert ap["difference"] == pytest.approx(10 / 24)
    assert ap["percent"] == pytest.approx(100 * 10 / 11)
    # NMRR of q1: K = 8, mean rank 3.5 and 2.5 less 1.5, over 10 − 1.5; q2: K = 4, 1 and 0 over 4
    assert nmrr["difference"] == pytest.approx(((1 / 8.5 + 0) - (2 / 8.5 + 1 / 4)) / 2)
    # Of two queries' four resamples only the one that repeats the larger difference reaches t
    assert ap["p"] == pytest.approx(1 / 4, abs=0.02)
    assert (ap["p_holm"], ap["stars"]) == (pytest.approx(3 * ap["p"], abs=0.1), "")
    assert found["mean_names"]["NMRR"] == "ANMRR"
    assert found["settings"] == {
        "collection_size": None,
        "gmt": None,
        "literal_eq15": False,
        "resamples": 10000,
        "seed": 20080501,
    }
    assert found["notes"] == [
        "Left out: 1 topic (q3) without a relevant document; trec_eval counts such topics as 0.",
        "nDCG@2: the gain is 2^grade − 1. trec_eval's ndcg_cut_k takes the grade as the gain, as "
        "nDCGlin@k does.",
    ]


def test_an_undefined_p_is_null_and_says_why(evaluate):
    (evaluate.folder / "same.txt").write_text(BASE)
    run = ("--run", "base.txt", "same.txt", "--measures", "AP", "--baseline", "base.txt")
    (found,) = json.loads(evaluate(*run, "--json"))["significance"]
    assert (found["p"], found["p_holm"], found["stars"]) == (None, None, "")
    assert found["why"] == "the two runs have the same value for every query"
    assert "No p for AP of same: the two runs have" in " ".join(evaluate(*run).split())


def test_without_a_baseline_nothing_is_compared(evaluate):
    found = json.loads(evaluate(*BOTH, "--json"))
    assert (found["baseline"], found["significance"]) == (None, [])


def test_options_take_words_up_to_the_next_one_and_may_be_repeated(evaluate):
    once = evaluate(*BOTH, "--measures", "AP", "RR", "--json")
    twice = ("--run=base.txt", "--measures", "AP,RR", "--json", "--run", "better.run.gz")
    assert evaluate(*twice) == once
    assert "Option '--measures' requires an argument" in refusal(
        evaluate, *BOTH, "--measures", "--json", status=2
    )


def test_the_usual_measures_depend_on_what_is_given(evaluate):
    def names(*options):
        return list(json.loads(evaluate(*BOTH, *options, "--json"))["mean_names"])

    usual = ["AP", "P@10", "P@20", "Rprec", "RR", "bpref", "nDCG@10", "NMRR"]
    assert names() == usual
    assert names("--collection-size", 100) == [*usual, "MNRO", "NAR"]
    assert names("--weights", "weights.txt") == [*usual, "wP@10", "wP@10-100"]
    assert names("--clusters", "clusters.txt") == [*usual[:3], "S-recall@20", *usual[3:]]


def test_clusters_and_weights_are_read(evaluate):
    files = ("--clusters", "clusters.txt", "--weights", "weights.txt")
    measures = ("--measures", "S-recall@1", "S-recall@3", "wP@4")
    found = json.loads(evaluate(*BOTH, *files, *measures, "--json"))["runs"]["base"]["per_query"]
    assert found["q1"] == {"S-recall@1": 0, "S-recall@3": 0.5, "wP@4": 1.5 / 4}
    assert found["q2"] == {"S-recall@1": 0, "S-recall@3": 1, "wP@4": 1 / 4}


def test_tables_show_means_by_their_names_and_differences_with_stars(evaluate):
    (evaluate.folder / "qrels.txt").write_text("".join(f"q{n} 0 d1 1\n" for n in range(30)))
    for name, first in (("base", 9), ("better", 2)):
        orders = {f"q{n}": "2345678"[: first - 2 + n % 2] + "1" for n in range(30)}
        (evaluate.folder / f"{name}.txt").write_text(run_of(**orders))
    printed = evaluate("--run", "base.txt", "better.txt", "--baseline", "base", "--per-query")
    assert "Means over 30 queries" in printed
    assert "MAP" in printed
    assert "ANMRR" in printed
    # RR is 1/8 in every query of base; 1 and 1/2 by turns in better
    assert "0.7500 (***)" in printed
    assert "500.00 (***)" in printed
    assert "< .001" in printed
    assert "Values for each query" in printed


def test_csv_has_a_row_for_each_run_and_measure_or_query(evaluate):
    measures = ("--measures", "AP", "RR", "--baseline", "base", "--csv")
    rows = list(csv.DictReader(io.StringIO(evaluate(*BOTH, *measures))))
    assert [(row["run"], row["measure"], row["queries"]) for row in rows] == [
        *(("base", "AP", "2"), ("base", "RR", "2"), ("better", "AP", "2"), ("better", "RR", "2"))
    ]
    assert float(rows[2]["mean"]) == pytest.approx(7 / 8)
    assert rows[0]["p"] == ""
    assert 0 < float(rows[2]["p"]) <= float(rows[2]["p_holm"]) <= 1
    rows = list(csv.DictReader(io.StringIO(evaluate(*BOTH, *measures, "--per-query"))))
    assert list(rows[0]) == ["run", "query", "measure", "value"]
    assert len(rows) == 2 * 2 * 2
    assert rows[1] == {"run": "base", "query": "q1", "measure": "RR", "value": repr(1 / 3)}


def test_latex_holds_both_tables(evaluate):
    printed = evaluate(*BOTH, "--measures", "AP", "--baseline", "base", "--latex")
    assert r"run & MAP \\" in printed
    assert r"base & 0.4583 \\" in printed
    assert r"in\nobreakspace{}\%" in printed
    assert printed.count(r"\begin{table") == printed.count(r"\label{tab:evaluation-") == 2


def test_gmt_is_a_number_or_the_largest_there_is(evaluate):
    options = ("--measures", "NMRR", "--json")
    assert json.loads(evaluate(*BOTH, *options, "--gmt", "max"))["settings"]["gmt"] == 2
    assert json.loads(evaluate(*BOTH, *options, "--gmt", "7"))["settings"]["gmt"] == 7
    assert "'many' found; a whole number from 1, or max, is allowed." in refusal(
        evaluate, *BOTH, "--gmt", "many", status=2
    )
    assert "2 relevant documents found, and GMT is 1" in refusal(
        evaluate, *BOTH, *options, "--gmt", "1", status=1
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--measures", "AP", "MNRO"), "MNRO needs the collection size; give --collection-size as"),
        (("--measures", "S-recall@20"), "S-recall@20 needs clusters; give --clusters as well."),
        (("--measures", "wP@10"), "wP@10 needs weights; give --weights as well."),
        (("--measures", "ABC"), "there is no measure 'ABC'; known are AP, NMRR, MNRO"),
        (("--baseline", "nobody"), "the baseline 'nobody' is none of the runs; these are base, b"),
        (("--clusters", "nowhere.txt"), "'nowhere.txt' does not exist"),
        (("--resamples", "5"), "5 is not in the range"),
        (
            ("--run", "base.txt"),
            "the same file is given twice: base.txt",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_wrong_usage(evaluate, arguments, message):
    assert message in refusal(evaluate, *BOTH, *arguments, status=2)


def names_of(evaluate, *runs):
    return [*json.loads(evaluate("--run", *runs, "--json"))["runs"]]


def test_files_of_one_stem_are_called_by_their_tags_or_their_whole_names(evaluate):
    folder = evaluate.folder
    (folder / "base.run.gz").write_bytes(gzip.compress(BETTER.encode()))
    assert names_of(evaluate, "base.txt", "base.run.gz") == ["base.txt", "base.run.gz"]
    (folder / "base.run").write_text(BETTER.replace("tag", "bm25"))
    assert names_of(evaluate, "base.txt", "base.run") == ["tag", "bm25"]
    assert names_of(evaluate, "first=base.txt", "base.run") == ["first", "base"]


def test_a_typed_name_takes_the_place_of_the_files(evaluate):
    (evaluate.folder / "k1=0.9").write_text(BETTER)  # a file of which the name holds a =
    assert names_of(evaluate, "my run=base.txt", "k1=0.9") == ["my run", "k1=0.9"]
    content = json.loads(
        evaluate("--run", "old=base.txt", "new=better.run.gz", "--baseline", "old", "--json")
    )
    assert content["baseline"] == "old"
    twice = refusal(evaluate, "--run", "a=base.txt", "a=better.run.gz", status=2)
    assert "base.txt and better.run.gz would both be the run 'a'. Name one: --run NAME=" in twice


def test_documents_are_compared_without_what_their_ids_differ_by(evaluate):
    (evaluate.folder / "named.txt").write_text(BETTER.replace(" d", " images/D"))
    run = ("--run", "named.txt", "--measures", "AP", "--json")
    warning = json.loads(evaluate(*run))["warnings"][0]
    assert "--ids without-folder any-case` reads them so" in warning["text"]
    changed = json.loads(evaluate(*run, "--ids", "without-folder", "any-case"))
    plain = json.loads(evaluate("--run", "better.run.gz", "--measures", "AP", "--json"))
    assert changed["runs"]["named"] == plain["runs"]["better"]
    assert [each["code"] for each in changed["warnings"]] == [
        each["code"] for each in plain["warnings"]
    ]


def test_ids_that_a_change_makes_equal_are_refused(evaluate):
    (evaluate.folder / "twins.txt").write_text("q1 Q0 d1.png 1 2 t\nq1 Q0 d1.jpg 2 1 t\n")
    told = refusal(evaluate, "--run", "twins.txt", "--ids", "without-extension", status=1)
    assert (
        "run twins: --ids without-extension makes “d1.png” and “d1.jpg” of topic “q1” one" in told
    )


def test_distances_are_scores_of_which_the_smallest_is_the_best(evaluate):
    lines = [f"q1 Q0 d{document} {rank} {rank / 10} t\n" for rank, document in enumerate((2, 1, 3))]
    (evaluate.folder / "near.txt").write_text("".join(lines))
    run = ("--run", "near.txt", "--measures", "RR", "--json")
    told = json.loads(evaluate(*run))
    assert [each["code"] for each in told["warnings"]][:2] == ["topics-missing", "ranks-reversed"]
    assert told["runs"]["near"]["mean"]["RR"] == 0.5
    meant = json.loads(evaluate(*run, "--scores", "distances"))
    assert "ranks-reversed" not in [each["code"] for each in meant["warnings"]]
    assert meant["runs"]["near"]["mean"]["RR"] == 1


def test_a_level_changes_binary_measures_alone(evaluate):
    run = ("--run", "base.txt", "--per-query", "--json", "--measures")
    names = ("AP", "AP(rel=2)", "P-rel2@10", "RBP(p=0.8,rel=2)", "nDCG@5", "AP3")
    plain = json.loads(evaluate(*run, *names))
    level = json.loads(evaluate(*run, *names, "--relevant-from", 2))
    assert [*plain["mean_names"]] == ["AP", "AP-rel2", "P-rel2@10", "RBP-rel2@0.8", "nDCG@5", "AP3"]
    q1, q2 = (plain["runs"]["base"]["per_query"][topic] for topic in ("q1", "q2"))
    assert q1["AP-rel2"] == pytest.approx(1 / 3)  # d1 alone, the third
    assert q2["AP-rel2"] == 0 != q2["AP"]
    from_2 = level["runs"]["base"]["per_query"]
    for topic, values in (("q1", q1), ("q2", q2)):
        assert from_2[topic]["AP"] == from_2[topic]["AP-rel2"] == values["AP-rel2"]
        assert from_2[topic]["nDCG@5"] == values["nDCG@5"]
    assert from_2["q2"]["AP3"] == 0
    assert (plain["relevant_from"], level["relevant_from"]) == (1, 2)
    assert level["notes"][-3:-1] == [
        "Binary measures take documents as relevant from grade 2 on.",
        "No document of 1 topic (q2) has a grade of 2 or more, so such measures have their worst "
        "value there.",
    ]


def test_measures_in_brackets_keep_their_commas_and_columns_are_asked_for(evaluate):
    names = "AP,RBP-RS(p=0.9,gamma=0.3)@4,NRBP(alpha=0.5,beta=0.5)"
    run = ("--run", "base.txt", "--clusters", "clusters.txt", "--measures", names)
    row_skipping = "RBP-RS-p0.9-gamma0.3@4"
    told = refusal(evaluate, *run, status=2)
    assert f"{row_skipping} needs columns; give --columns as well." in told
    found = json.loads(evaluate(*run, "--columns", 2, "--json"))
    assert [*found["mean_names"]] == ["AP", row_skipping, "NRBP"]
    assert found["settings"]["columns"] == 2


def test_an_empty_result_costs_no_effort(evaluate):
    (evaluate.folder / "half.txt").write_text(run_of(q1="1"))
    words = ("--run", "base.txt", "half.txt", "--clusters", "clusters.txt", "--per-query")
    found = json.loads(evaluate(*words, "--measures", "RBU(p=0.5,e=0.1)@10", "--json"))
    queries = found["runs"]["half"]["per_query"]
    assert queries["q2"]["RBU-p0.5-e0.1@10"] == 0
    # d1 has grade 2 of 4, so R = 3/16, and one of two clusters; one document was returned.
    assert queries["q1"]["RBU-p0.5-e0.1@10"] == pytest.approx(0.5 * (3 / 16 / 2 - 0.1))


def test_grades_above_1_are_noted_where_a_measure_is_binary(evaluate):
    def codes(*measures):
        content = json.loads(evaluate("--run", "base.txt", "--measures", *measures, "--json"))
        return {each["code"]: each for each in content["warnings"]}

    assert codes("AP")["level"]["level"] == "note"
    assert "level" not in codes("nDCG@5", "AP-rel2")
    told = evaluate("--run", "base.txt", "--measures", "AP", stream="stderr")
    assert "Note: Grades are 0 to 2. Binary measures count 1 and more; --relevant-from 2" in told


def test_what_is_left_out_is_said_once(evaluate):
    told = evaluate("--run", "base.txt", stream="stderr")
    assert told.count("Warning: MNRO, NAR left out: give --collection-size.") == 1
    assert "left out: give" not in evaluate(
        "--run", "base.txt", "--measures", "AP", stream="stderr"
    )


def test_all_runs_are_compared_at_once_and_stars_are_the_papers_if_asked(evaluate):
    topics = [f"q{number}" for number in range(12)]
    (evaluate.folder / "qrels.txt").write_text("".join(f"{name} 0 d1 1\n" for name in topics))
    for name, order in (("base", "21"), ("best", "12"), ("like", "21")):
        orders = {**dict.fromkeys(topics, order), "q0": "21"}  # one topic without a difference
        (evaluate.folder / f"{name}.txt").write_text(run_of(**orders))
    options = ("--run", "base.txt", "best.txt", "like.txt", "--measures", "AP")
    found = json.loads(evaluate(*options, "--all-runs", "--json"))["all_runs"]
    assert [(one["first"], one["second"]) for one in found] == [
        ("base", "best"),
        ("base", "like"),
        ("best", "like"),
    ]
    assert found[1]["p"] == 1
    assert max(found[0]["p"], found[2]["p"]) < 0.05
    printed = " ".join(evaluate(*options, "--all-runs").split())
    assert "Every two runs compared at once" in printed
    assert json.loads(evaluate(*options, "--json"))["all_runs"] == []
    baseline = ("--baseline", "base")
    assert "two-sided randomisation test" in " ".join(evaluate(*options, *baseline).split())
    of_paper = " ".join(evaluate(*options, *baseline, "--paper-stars").split())
    assert "one-tailed paired bootstrap" in of_paper


def test_all_runs_of_few_topics_are_not_compared_or_said_to_say_little(evaluate):
    def compared(topics):
        names = [f"q{number}" for number in range(topics)]
        (evaluate.folder / "qrels.txt").write_text("".join(f"{name} 0 d1 1\n" for name in names))
        for name, order in (("base", "21"), ("best", "12")):
            (evaluate.folder / f"{name}.txt").write_text(run_of(**dict.fromkeys(names, order)))
        options = ("--run", "base.txt", "best.txt", "--measures", "AP", "--all-runs")
        content = json.loads(evaluate(*options, "--json"))
        said = [each["text"] for each in content["warnings"] if each["code"] == "few-topics"]
        return content, said, " ".join(evaluate(*options, "--latex").split())

    content, said, printed = compared(4)
    assert (content["all_runs"], content["all_runs_why"]) == ([], "4 topics; it takes 5")
    assert said == ["Only 4 topics: tests say little, so runs are not compared"]
    assert "No two runs are compared: 4 topics; it takes 5." in printed
    content, said, printed = compared(20)
    assert len(content["all_runs"]) == 1
    assert "all_runs_why" not in content
    assert said == ["Only 20 topics: tests say little"]
    assert "Only 20 topics: tests say little." in printed
    assert "tests say little" not in compared(25)[2]


def test_few_topics_are_tested_without_stars(evaluate):
    def compared(topics):
        orders = {f"q{number}": "5432"[3 - number % 4 :] + "1" for number in range(topics)}
        qrels = "".join(f"q{number} 0 d1 1\n" for number in range(topics))
        (evaluate.folder / "qrels.txt").write_text(qrels)
        (evaluate.folder / "base.txt").write_text(run_of(**orders))
        (evaluate.folder / "best.txt").write_text(run_of(**dict.fromkeys(orders, "12")))
        options = ("--run", "base.txt", "best.txt", "--measures", "AP", "--baseline", "base")
        content = json.loads(evaluate(*options, "--json"))
        [comparison] = content["significance"]
        said = [each["text"] for each in content["warnings"] if each["code"] == "few-topics"]
        return comparison["p"], comparison["stars"], said, evaluate(*options)

    p, stars, said, printed = compared(4)
    assert p < 0.05
    assert stars == ""
    assert said == ["Only 4 topics: tests say little, so there are no stars"]
    assert "No stars: 4 topics are too few." in " ".join(printed.split())
    p, stars, said, printed = compared(24)
    assert stars == "***"
    # Beside the stars, in a table for a paper too.
    assert " ".join(printed.split()).count("(Holm). Only 24 topics: tests say little.") == 2
    assert said == ["Only 24 topics: tests say little"]
    assert compared(25)[2] == []


def test_strict_makes_a_warning_a_failure_and_a_note_none(evaluate):
    run = ("--run", "base.txt", "--measures", "AP", "--strict")
    (evaluate.folder / "base.txt").write_text(BASE.replace(" d", " D"))
    assert "MAP" in evaluate(*run, status=1)
    (evaluate.folder / "base.txt").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")
    assert "Note: Grades are 0 to 2" in evaluate(*run, stream="stderr")


@pytest.mark.parametrize("name", [b"b\xff.run", b"b\n.run"])
def test_a_run_whose_name_no_table_can_hold_is_refused(evaluate, name):
    path = evaluate.folder / os.fsdecode(name)
    path.write_text(BETTER)
    message = "its name holds an unprintable character, so rename it"
    assert message in refusal(evaluate, "--run", str(path), status=2)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("base.txt", b"q1 Q0 d1 1 9\n", "base.txt, line 1: 5 fields found, 'q1 Q0 d1 1 9'"),
        ("base.txt", b"\xff\xff", "base.txt, row 1: not UTF-8. Save it as UTF-8"),
        (
            "base.txt",
            b"# none\n",
            "base.txt: no line found; a line for each document is needed: topic Q0",
        ),
        (
            "better.run.gz",
            gzip.compress(b"q1 Q0 d1 1 9 t", mtime=0)[:-9],
            "better.run.gz begins like a gzip file, but is none",
        ),
        ("better.run.gz", b"\x1f\x8bnot so", "better.run.gz begins like a gzip file, but is none"),
        ("qrels.txt", b"q1 0 d1 31\n", "qrels.txt, line 1: relevance '31' found; a whole number"),
        (
            "qrels.txt",
            b"q9 0 d1 1\n",
            "No topic is in both files: “q1” is one of the runs', “q9” of the judgements'",
        ),
        ("weights.txt", b"q1 d1 7\n", "weights.txt, line 1: weight '7' found; a share above 0"),
        ("clusters.txt", b"q1 d1\n", "clusters.txt, line 1: 2 fields found, 'q1 d1'; 3 or more"),
    ],
)
def test_a_broken_file_ends_in_sentences_that_name_it(evaluate, file, content, message):
    (evaluate.folder / file).write_bytes(content)
    both = ("--weights", "weights.txt", "--clusters", "clusters.txt")
    assert message in refusal(evaluate, *BOTH, *both, status=1)


def test_faults_of_all_files_are_told_together(evaluate):
    (evaluate.folder / "base.txt").write_text("x\n")
    (evaluate.folder / "qrels.txt").write_text(QRELS + "y\n")
    told = refusal(evaluate, *BOTH, status=1)
    assert "qrels.txt, line 6" in told
    assert "base.txt, line 1" in told


def test_a_run_larger_than_the_collection_is_a_fault(evaluate):
    assert "topic 'q1', run base: 4 documents found; the collection size is 3" in refusal(
        evaluate, *BOTH, "--collection-size", 3, status=1
    )


def test_every_row_of_the_csv_has_every_cell_and_says_why_there_is_no_p(evaluate, tmp_path):
    (tmp_path / "same.txt").write_bytes((tmp_path / "base.txt").read_bytes())
    said = evaluate(
        *("--qrels", "qrels.txt", "--run", "base.txt", "same.txt", "--baseline", "base"),
        *("--measures", "AP", "--csv"),
    )
    rows = list(csv.reader(io.StringIO(said[said.index("run,measure") :])))
    assert {len(row) for row in rows} == {17}
    assert rows[2][9] == "the two runs have the same value for every query"


def test_a_baseline_without_another_run_is_refused(evaluate):
    one = ("--qrels", "qrels.txt", "--run", "base.txt", "--baseline", "base")
    assert "a baseline is compared with other runs" in refusal(evaluate, *one, status=2)


@pytest.mark.slow
def test_tables_and_graphs_are_written_and_what_cannot_be_drawn_is_told(evaluate):
    options = ("--clusters", "clusters.txt", "--collection-size", 50, "--baseline", "base")
    told = evaluate(*BOTH, *options, "--to", "paper", stream="stderr")
    assert told.splitlines()[:-2] == ["Tables and graphs are in paper."]
    folder = evaluate.folder / "paper"
    graphs = ["precision-by-generality", "precision-recall", "precision-recall-11"]
    graphs += ["roc", "s-recall", "s-precision"]
    names = {path.name for path in (folder / "figures").iterdir()}
    graphs += sorted({name.split(".")[0] for name in names if name.startswith("mean-")})
    assert "mean-AP" in graphs
    assert names == {f"{name}.{ending}" for name in graphs for ending in ("pdf", "png", "svg")}
    tables = {path.name for path in (folder / "tables").iterdir()}
    sheets = [*graphs, "means", "comparisons", "queries"]
    assert tables == {f"{name}.{ending}" for name in sheets for ending in ("csv", "md", "tex")}
    rows = list(csv.reader((folder / "tables" / "precision-recall.csv").read_text().splitlines()))
    assert rows[0] == [
        "k",
        *(f"{run}: {what}" for run in ("base", "better") for what in ("recall", "precision")),
    ]
    # base: relevant at 3 and 4 of q1, 2 of q2; after 2: recall 0 and 1, precision 0 and 1/2.
    assert [float(cell) for cell in rows[2][:3]] == [2, 0.5, 0.25]
    content = json.loads((folder / "evaluation.json").read_text())
    assert content == json.loads(evaluate(*BOTH, *options, "--json"))
    again = (folder / "figures" / "roc.svg").read_bytes()
    evaluate(*BOTH, *options, "--to", "paper")
    assert (folder / "figures" / "roc.svg").read_bytes() == again


@pytest.mark.slow
def test_graphs_that_need_the_size_of_the_collection_say_so(evaluate):
    told = evaluate(*BOTH, "--to", "paper", stream="stderr").splitlines()
    reason = "since the size of the collection is not known."
    assert told[1:-2] == [
        f"Not drawn: roc, {reason}",
        f"Not drawn: precision-by-generality, {reason}",
    ]
    names = {path.stem for path in (evaluate.folder / "paper" / "figures").iterdir()}
    graphs = {name for name in names if not name.startswith("mean-")}
    assert graphs == {"precision-recall", "precision-recall-11"}


def test_keywords_take_the_place_of_judgements(run, tmp_path):
    rows = ["document,keyword,weight", "a,tiger,1", "a,grass,.5", "b,tiger,.5", "b,water,1"]
    keywords, ranked = tmp_path / "keywords.csv", tmp_path / "run.txt"
    keywords.write_text("\n".join([*rows, "c,sand,1", "d,tiger,1", "d,grass,.5"]))
    ranked.write_text("".join(f"a Q0 {each} 1 {-n} x\n" for n, each in enumerate("acbd")))
    content = json.loads(run("evaluate", "--keywords", keywords, "--run", ranked, "--json"))
    # Without a itself: c (0), b (.5 / 2.5 = .2), d (1).
    means = content["runs"]["run"]["mean"]
    expected = {"P@10": 2 / 10, "wP@10": 1.2 / 10, "rwP@10": (9 * 0.2 + 8) / 55}
    assert {name: means[name] for name in expected} == pytest.approx(expected)
    run("evaluate", "--run", ranked, status=2)
    run("evaluate", "--keywords", keywords, "--qrels", keywords, "--run", ranked, status=2)


@pytest.mark.parametrize(
    "forms", [("--json", "--csv"), ("--csv", "--json"), ("--csv", "--latex"), ("--latex", "--json")]
)
def test_two_forms_of_output_are_refused(evaluate, forms):
    printed = refusal(evaluate, *forms, status=2)
    assert "are two forms; one is allowed." in printed
    assert all(form in printed for form in forms)


def test_keywords_are_compared_with_runs_too(run, tmp_path):
    rows = ["document,keyword,weight", "a,tiger,1", "a,grass,.5", "b,tiger,.5", "c,water,1"]
    keywords, ranked = tmp_path / "keywords.csv", tmp_path / "run.txt"
    keywords.write_text("\n".join(rows))
    ranked.write_text("a Q0 b.jpg 1 2 t\na Q0 c.jpg 2 1 t\n")
    words = ("evaluate", "--keywords", keywords, "--run", ranked)
    told = " ".join(run(*words).split())
    assert (
        "Warning: Run run: 2 of 2 documents have no keywords under their ids, and would have some "
        "without the extension (run “b.jpg”, keywords “b”). They count as not relevant."
    ) in told
    ranked.write_text("A Q0 b 1 2 t\n")
    told = " ".join(run(*words, status=1).split())
    assert "Topics of runs and keywords differ by upper and lower case: “A” and “a”" in told


def test_weights_and_clusters_are_compared_with_judgements(evaluate):
    folder = evaluate.folder
    (folder / "weights.txt").write_text(WEIGHTS.replace(" d", " D"))
    (folder / "clusters.txt").write_text(CLUSTERS.replace(" d", " img/d"))
    told = refusal(evaluate, *BOTH, "--weights", "weights.txt", status=1)
    assert told.count("weights.txt") == 1
    assert "File weights.txt: 3 of 3 documents are not judged under their ids, and would" in told
    told = refusal(evaluate, *BOTH, "--clusters", "clusters.txt", "--measures", "AP", status=0)
    assert "Warning: File clusters.txt: 3 of 4 documents are not judged under their ids" in told


def test_columns_of_judgements_that_are_not_read_are_named(evaluate):
    rows = [line.split() for line in QRELS.splitlines()]
    table = "".join(f"{topic};{doc};{grade};x\n" for topic, _, doc, grade in rows)
    (evaluate.folder / "qrels.txt").write_text(f"topic;document;relevance;remark\n{table}")
    told = evaluate("--run", "base.txt", "--measures", "AP", stream="stderr")
    assert "Warning: qrels.txt: columns not read: remark." in told


@pytest.mark.parametrize(
    ("file", "content", "options", "cause"),
    [
        (
            "qrels.txt",
            "q1 0 d1 0\nq2 0 d1 -1\n",
            (),
            "no document is relevant (all 2 grades are 0 or",
        ),
        (
            "clusters.txt",
            "q1 x1 a\nq1 x2 b\n",
            ("--clusters", "clusters.txt"),
            "clusters.txt: none of its 2 documents is relevant in the judgements (clusters: “x1”, ",
        ),
        (
            "clusters.txt",
            "x1 d1 a\nx1 d2 b\n",
            ("--clusters", "clusters.txt"),
            "clusters.txt: none of its 2 documents is relevant in the judgements (clusters: “x1”,",
        ),
        (
            "clusters.txt",
            BASE,
            ("--clusters", "clusters.txt"),
            "clusters.txt has 6 columns like a run, not 3 like clusters. Were the two swapped?",
        ),
        (
            "clusters.txt",
            "q1 d1 unknown\nq2 d1 unknown\n",
            ("--clusters", "clusters.txt"),
            "clusters.txt: its relevant documents are all “unknown”, which is no cluster",
        ),
        (
            "qrels.txt",
            "q1 0 d1 0\nq9 0 d1 1\n",
            (),
            "a topic with a relevant document; one such topic is needed (judgements: “q9”, runs",
        ),
    ],
)
def test_a_collection_without_a_topic_to_score_says_its_cause(
    evaluate, file, content, options, cause
):
    (evaluate.folder / file).write_text(content)
    assert cause in refusal(evaluate, *BOTH, *options, status=1)


def test_keywords_of_one_document_each_make_nothing_relevant(run, tmp_path):
    keywords, ranked = tmp_path / "keywords.csv", tmp_path / "run.txt"
    keywords.write_text("document,keyword,weight\na,tiger,1\nb,water,1\n")
    ranked.write_text("a Q0 b 1 2 t\n")
    told = " ".join(run("evaluate", "--keywords", keywords, "--run", ranked, status=1).split())
    cause = "no other document shares a keyword with a topic of the runs, so nothing is relevant"
    assert f"keywords.csv: {cause}" in told


def test_judgements_as_clusters_and_changed_ids_do_not_pass_in_silence(evaluate):
    told = evaluate(*BOTH, "--clusters", "qrels.txt", "--measures", "S-recall@5", stream="stderr")
    assert "Warning: Clusters: in each of 2 topics all documents are in one cluster" in told
    (evaluate.folder / "qrels.txt").write_text(QRELS.replace("d2", "02.01.2024"))
    told = evaluate(*BOTH, "--measures", "AP", stream="stderr")
    assert "Warning: Judgements: " in told
    assert "(“02.01.2024”)" in told


def test_a_decimal_grade_is_not_read_as_another_number(evaluate):
    (evaluate.folder / "qrels.txt").write_text("q1 0 d1 1.05\n")
    assert "relevance '1.05' found" in refusal(evaluate, *BOTH, status=1)
