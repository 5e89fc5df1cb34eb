"""``survey feedback``, as its user meets it."""

import json

import pytest
from click.testing import CliRunner

from survey.cli import survey

# Four relevant documents in q1, weighted; two in q2.
QRELS = "".join(f"q1 0 r{n} 1\n" for n in "1234") + "q2 0 r1 1\nq2 0 r2 2\n"
WEIGHTS = "q1 r1 0.5\nq1 r2 1\nq1 r3 0.25\nq1 r4 1\nq2 r1 1\nq2 r2 1\n"


def run_of(**orders):
    return "".join(
        f"{topic} Q0 {document} 1 {-rank} tag\n"
        for topic, documents in orders.items()
        for rank, document in enumerate(documents.split())
    )


@pytest.fixture
def feedback(tmp_path, monkeypatch):
    """Run the command beside its files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "weights.txt").write_text(WEIGHTS)
    late = " ".join(f"x{n}" for n in range(10))
    (tmp_path / "r0.txt").write_text(run_of(q1=f"r1 {late} r2", q2="x1 r1 x2 r2"))
    (tmp_path / "r1.txt").write_text(run_of(q1=f"r1 r2 r3 {late}", q2="r1 r2"))
    (tmp_path / "r2.txt").write_text(run_of(q1="r1 r2 r3 r4", q2="r1 r2"))

    def invoke(*arguments, status=0):
        words = ["feedback", "--qrels", "qrels.txt", *map(str, arguments)]
        result = CliRunner().invoke(survey, words)
        assert result.exit_code == status, result.output
        assert "Traceback" not in result.output
        return result.stderr if status else result.stdout

    return invoke


ROUNDS = ("--run", "r0.txt", "r1.txt", "r2.txt")


def test_gains_are_differences_from_round_0(feedback):
    found = json.loads(feedback(*ROUNDS, "--weights", "weights.txt", "--json"))
    assert found["rounds"] == ["r0", "r1", "r2"]
    assert found["baseline"] == "r0"
    gains = {(one["run"], one["measure"]): one["difference"] for one in found["significance"]}
    # R@100 of q1: 2/4, 3/4 and 4/4; of q2 always 1
    assert gains["r1", "R@100"] == pytest.approx((1 / 4 + 0) / 2)
    assert gains["r2", "R@100"] == pytest.approx((2 / 4 + 0) / 2)
    # P@10 of q1 is 1/10 in round 0, P@20 2/20 and so on; 3/10, 3/20, … in round 1
    harmonic = sum(1 / n for n in range(10, 101, 10))
    before = (1 / 10 + 2 * (harmonic - 1 / 10)) / 10
    assert gains["r1", "P@10-100"] == pytest.approx((3 * harmonic / 10 - before) / 2)
    # weights of q1: r1 .5, r2 1, r3 .25
    before = (0.5 / 10 + 1.5 * (harmonic - 1 / 10)) / 10
    assert gains["r1", "wP@10-100"] == pytest.approx((1.75 * harmonic / 10 - before) / 2)


def test_without_weights_the_weighted_measure_is_left_out(feedback):
    printed = feedback(*ROUNDS)
    assert "mean P@10-100" in printed
    assert "gain" in printed
    assert "wP" not in printed
    assert "Examples" not in printed


def test_positive_examples_are_relevant_documents_by_weight_then_grade(feedback):
    asked = ("--examples", "positive", "--images", 3, "--weights", "weights.txt", "--json")
    assert json.loads(feedback(*ROUNDS, *asked))["examples"] == {
        "q1": [["r2", "r4", "r1"], ["r3"]],
        "q2": [["r2", "r1"], []],
    }


def test_negative_examples_are_what_round_0_got_wrong(feedback):
    assert json.loads(feedback(*ROUNDS, "--examples", "negative", "--json"))["examples"] == {
        "q1": [["x0"], ["x0", "x1"]],
        "q2": [["x1"], ["x1", "x2"]],
    }
    lines = [
        " ".join(line.split()) for line in feedback(*ROUNDS, "--examples", "negative").splitlines()
    ]
    assert "q1 2 x0 x1" in lines


def test_csv_and_latex_are_those_of_evaluate(feedback):
    assert feedback(*ROUNDS, "--csv").startswith("run,measure,mean,queries,difference")
    latex = feedback(*ROUNDS, "--latex")
    assert r"\label{tab:evaluation-means}" in latex
    assert r"run & mean & gain & in" in latex


def test_examples_are_not_left_out_of_a_csv_without_a_word(feedback):
    asked = (*ROUNDS, "--examples", "negative", "--csv")
    assert "--csv has no place for examples" in feedback(*asked, status=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--run", "r0.txt"), "one run given; --run is needed with a run of round 0 and one of"),
        ((), "no run given; --run is needed with a run of round 0 and one of each round"),
        ((*ROUNDS, "--images", 3), "--images is the number of --examples positive; give them"),
        ((*ROUNDS, "--examples", "negative", "--images", 3), "--images is the number of"),
    ],
)
def test_wrong_usage_is_named(feedback, arguments, message):
    assert message in feedback(*arguments, status=2)


def test_someone_without_a_relevant_document_leaves_the_rounds_of_the_others(feedback, tmp_path):
    for person, topics in (("ann", {"q1": "r1 x r2"}), ("bob", {"q9": "x y"})):
        folder = tmp_path / "people" / person
        folder.mkdir(parents=True)
        (folder / "round0.txt").write_text(run_of(**topics))
    (tmp_path / "people" / "ann" / "round1.txt").write_text(run_of(q1="r1 r2 r3 r4"))
    pooled = json.loads(feedback("--rounds", "people", "--json"))
    assert pooled["queries"] == ["q1"]
    assert [*pooled["runs"]] == ["round0", "round1"]
    (tmp_path / "qrels.txt").write_text("q8 0 r1 1\n")
    assert "no run returned anything for a topic with a relevant document" in feedback(
        "--rounds", "people", status=1
    )


@pytest.mark.parametrize("options", [ROUNDS, ("--rounds", "."), ()])
def test_judgements_are_needed(feedback, options):
    result = CliRunner().invoke(survey, ["feedback", *options])
    assert result.exit_code == 2
    assert "no judgements given; --qrels is needed." in result.output
