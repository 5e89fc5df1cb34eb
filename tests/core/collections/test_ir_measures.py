"""Measures agree with ir-measures and the programs behind it, on 50 topics × 1000 documents."""

import json
import shutil

import ir_measures
import numpy as np
import pytest
from click.testing import CliRunner

from survey.cli import survey
from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth, ranking, read_judgements, read_run
from survey.core.measures import measure_named
from survey.core.text_input import FileFaults, lines_of
from tests.core.collections.random_runs import real_sized

pytestmark = pytest.mark.slow
NO_PERL = shutil.which("perl") is None


@pytest.fixture(scope="module")
def collection():
    """Graded judgements and a run; ties are broken beforehand, since programs differ in these."""
    judgements, texts = real_sized()
    faults = FileFaults()
    judged = read_judgements("qrels", lines_of(judgements), faults)
    scored = read_run("run", lines_of(texts[0]), faults)
    run = {
        topic: {name: -float(rank) for rank, name in enumerate(ranking(scores))}
        for topic, scores in scored.items()
    }
    return judged, run


def ours(name, truth, run):
    measure = measure_named(name)
    found = evaluate(truth, {"run": run}, [measure])
    return dict(zip(found.queries, found.values["run"][measure.name], strict=True))


def theirs(measure, qrels, run):
    return {found.query_id: found for found in ir_measures.iter_calc([measure], qrels, run)}


def assert_equal(name, found, expected, **tolerance):
    assert found.keys() == expected.keys()
    assert len(found) == 50
    values = [expected[topic].value for topic in found]
    assert [*found.values()] == pytest.approx(values, **tolerance), name


@pytest.mark.parametrize("persistence", [0.5, 0.8, 0.95])
def test_rank_biased_precision(collection, persistence):
    judged, run = collection
    expected = theirs(ir_measures.RBP(p=persistence, rel=1), judged, run)
    assert_equal("RBP", ours(f"RBP@{persistence}", GroundTruth(judged), run), expected, abs=1e-6)


def test_average_precision_of_condensed_lists(collection):
    judged, run = collection
    # pytrec_eval counts a negative relevance as judged there, and as not relevant.
    at_least_0 = {
        topic: {name: grade for name, grade in grades.items() if grade >= 0}
        for topic, grades in judged.items()
    }
    expected = theirs(ir_measures.AP(judged_only=True), at_least_0, run)
    assert_equal("AP", ours("cAP", GroundTruth(judged), run), expected, abs=1e-6)


@pytest.mark.skipif(NO_PERL, reason="no perl, in which gdeval is written")
@pytest.mark.parametrize("cutoff", [5, 20, 1000])
def test_expected_reciprocal_rank(collection, cutoff):
    judged, run = collection
    expected = theirs(ir_measures.ERR @ cutoff, judged, run)
    # gdeval prints five decimals.
    assert_equal("ERR", ours(f"ERR@{cutoff}", GroundTruth(judged), run), expected, abs=5.001e-6)


@pytest.mark.parametrize("wanted", [1, 3, 10])
def test_inst(collection, wanted):
    judged, run = collection
    binary = {
        topic: {name: min(grade, 1) for name, grade in grades.items()}
        for topic, grades in judged.items()
    }
    found = ours(f"INST@{wanted}", GroundTruth(judged), run)
    expected = theirs(ir_measures.INST(T=float(wanted), max_rel=1), binary, run)
    for topic, value in found.items():
        # C/W/L divides by the weights of 1,000 positions; ours go on to infinity.
        relevant = [binary[topic].get(name, 0) > 0 for name in ranking(run[topic])]
        needed = np.arange(1, 1001) + 2 * wanted - np.cumsum(relevant)
        weights = np.cumprod(np.append(1, ((needed - 1) / needed) ** 2))
        within, beyond = weights[:-1].sum(), weights[-1] * (needed[-1] + 0.5)
        share = within / (within + beyond)
        assert value == pytest.approx(expected[topic].value * share, abs=1e-6)


@pytest.mark.parametrize("persistence", [0.8, 0.95])
def test_compatibility(collection, persistence):
    judged, run = collection
    # It takes a document that was not returned as one of score 0.
    positive = {
        topic: {name: 2000 + score for name, score in scores.items()}
        for topic, scores in run.items()
    }
    expected = theirs(ir_measures.Compat(p=persistence), judged, positive)
    assert_equal("Compat", ours(f"Compat-p{persistence}", GroundTruth(judged), run), expected)


FROM_GRADE_2 = {
    "AP(rel=2)": ir_measures.AP(rel=2),
    "P(rel=2)@10": ir_measures.P(rel=2) @ 10,
    "R(rel=2)@100": ir_measures.R(rel=2) @ 100,
    "Rprec(rel=2)": ir_measures.Rprec(rel=2),
    "RR(rel=2)": ir_measures.RR(rel=2),
    "Bpref(rel=2)": ir_measures.Bpref(rel=2),
    "RBP(p=0.8,rel=2)": ir_measures.RBP(p=0.8, rel=2),
}


@pytest.mark.parametrize("name", FROM_GRADE_2)
def test_from_a_grade_on(collection, name):
    judged, run = collection
    found = ours(name, GroundTruth(judged), run)
    assert_equal(name, found, theirs(FROM_GRADE_2[name], judged, run), abs=1e-6)


def clustered(collection, most, graded=False):
    """The truth, the run and the judgements by cluster, up to ``most`` clusters a document."""
    judged, run = collection
    rng = np.random.default_rng(3)
    clusters, grades_of, renamed, qrels = {}, {}, {}, []
    for topic, grades in judged.items():
        # Named by their sub-topics, so that ndeval's order of equal documents is ours.
        names = {}
        for name, grade in grades.items():
            if grade > 0:
                topics = sorted(rng.choice([*"abcdefgh"], rng.integers(1, most + 1), replace=False))
                names[name] = f"{'-'.join(topics)}_{name}"
                clusters.setdefault(topic, {})[names[name]] = frozenset(topics)
                grades_of.setdefault(topic, {})[names[name]] = grade if graded else 1
                qrels += [ir_measures.Qrel(topic, names[name], 1, str(one)) for one in topics]
        renamed[topic] = {names.get(name, name): score for name, score in run[topic].items()}
    return GroundTruth(grades_of, clusters=clusters), renamed, qrels


# With alpha .8 and several clusters, ndeval breaks ties by the last digit of a float.
@pytest.mark.parametrize(
    ("alpha", "cutoff", "most"), [("", 5, 1), ("", 20, 3), ("", 20, 1), ("0.8", 20, 1)]
)
def test_alpha_ndcg(collection, alpha, cutoff, most):
    truth, run, qrels = clustered(collection, most)
    measure = ir_measures.alpha_nDCG(alpha=float(alpha or 0.5)) @ cutoff
    found = ours(f"alpha{alpha}-nDCG@{cutoff}", truth, run)
    assert_equal("alpha-nDCG", found, theirs(measure, qrels, run), abs=1e-6)


DIVERSE = {
    "ERR_IA@10": ir_measures.ERR_IA @ 10,
    "ERR_IA@20": ir_measures.ERR_IA @ 20,
    "AP_IA": ir_measures.AP_IA,
    "P_IA@10": ir_measures.P_IA @ 10,
    "I-rec@20": ir_measures.StRecall @ 20,
    "NRBP(alpha=0.5,beta=0.5)": ir_measures.NRBP(alpha=0.5, beta=0.5),
    "NRBP(alpha=0.3,beta=0.8)": ir_measures.NRBP(alpha=0.3, beta=0.8),
}


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("name", DIVERSE)
def test_measures_of_clusters_are_those_of_ndeval(collection, name, most):
    truth, run, qrels = clustered(collection, most)
    assert_equal(name, ours(name, truth, run), theirs(DIVERSE[name], qrels, run), abs=1e-6)


@pytest.mark.parametrize("most", [1, 3])
def test_d_ndcg_is_trec_evals_ndcg_of_global_gains(collection, most):
    truth, run, _ = clustered(collection, most, graded=True)
    gains = {
        topic: {name: grade * len(truth.clusters[topic][name]) for name, grade in grades.items()}
        for topic, grades in truth.judgements.items()
    }
    found = ours("D-nDCG@10", truth, run)
    assert_equal("D-nDCG", found, theirs(ir_measures.nDCG @ 10, gains, run), abs=1e-6)


def test_the_commands_measure_and_evaluate_print_the_same(tmp_path):
    """50 topics × 1000 documents, of which twelve are relevant, in one of three sub-topics."""
    rng = np.random.default_rng(8)
    topics = [str(number) for number in range(1, 51)]
    ranks = {topic: sorted(rng.choice(300, 12, replace=False) + 1) for topic in topics}
    grades = {topic: rng.integers(1, 4, 12).tolist() for topic in topics}
    clusters = {topic: rng.choice([*"abc"], 12).tolist() for topic in topics}
    run = {topic: {f"d{place}": 1000.0 - place for place in range(1, 1001)} for topic in topics}
    rows = [
        (topic, f"d{rank}", grade, cluster)
        for topic in topics
        for rank, grade, cluster in zip(ranks[topic], grades[topic], clusters[topic], strict=True)
    ]
    graded = [ir_measures.Qrel(topic, name, grade) for topic, name, grade, _ in rows]
    nested = [ir_measures.Qrel(topic, name, 1, cluster) for topic, name, _, cluster in rows]
    same = {
        "AP": (ir_measures.AP, graded, 1e-6),
        "nDCGlin@10": (ir_measures.nDCG @ 10, graded, 1e-6),
        "RBP@0.8": (ir_measures.RBP(p=0.8, rel=1), graded, 1e-6),
        "alpha-nDCG@10": (ir_measures.alpha_nDCG @ 10, nested, 1e-6),
    }
    if not NO_PERL:
        same["ERR@20"] = (ir_measures.ERR @ 20, graded, 5.001e-6)
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {grade}\n" for t, d, grade, _ in rows))
    (tmp_path / "clusters").write_text("".join(f"{t} {d} {each}\n" for t, d, _, each in rows))
    (tmp_path / "run").write_text(
        "".join(f"{t} Q0 {d} 1 {score} x\n" for t, docs in run.items() for d, score in docs.items())
    )
    names = ",".join(same)
    options = ["--collection-size", "1000", "--measures", names, "--json"]
    files = {name: str(tmp_path / name) for name in ("qrels", "run", "clusters")}
    evaluated = printed("evaluate", *(f"--{name}={file}" for name, file in files.items()), *options)
    for name, (measure, qrels, tolerance) in same.items():
        expected = {topic: found.value for topic, found in theirs(measure, qrels, run).items()}
        per_query = evaluated["runs"]["run"]["per_query"]
        found = {topic: per_query[topic][name] for topic in topics}
        assert found == pytest.approx(expected, abs=tolerance), name
        for topic in topics[:3]:
            marks = [f"--grades={commas(grades[topic])}", f"--clusters={commas(clusters[topic])}"]
            measured = printed("measure", commas(ranks[topic]), *marks, *options)
            assert measured["lists"]["A"][name] == pytest.approx(found[topic], abs=1e-12)


def commas(values):
    return ",".join(map(str, values))


def printed(*words):
    done = CliRunner().invoke(survey, words)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)
