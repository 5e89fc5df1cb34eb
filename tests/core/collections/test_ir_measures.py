"""RBP, INST, ERR, α-nDCG and condensed AP agree with ir-measures on 50 topics × 1000 documents."""

import ir_measures
import numpy as np
import pytest

from survey.core.collections.evaluation import evaluate
from survey.core.collections.runs import GroundTruth, ranking, read_judgements, read_run
from survey.core.measures import measure_named
from survey.core.text_input import FileFaults, lines_of
from tests.core.collections.random_runs import real_sized

pytestmark = pytest.mark.slow


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
    assert_equal("AP", ours("AP-condensed", GroundTruth(judged), run), expected, abs=1e-6)


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


# With alpha .8 and several clusters, ndeval breaks ties by the last digit of a float.
@pytest.mark.parametrize(
    ("alpha", "cutoff", "most"), [("", 5, 1), ("", 20, 3), ("", 20, 1), ("0.8", 20, 1)]
)
def test_alpha_ndcg(collection, alpha, cutoff, most):
    judged, run = collection
    rng = np.random.default_rng(3)
    clusters, renamed, qrels = {}, {}, []
    for topic, grades in judged.items():
        # Named by their sub-topics, so that ndeval's order of equal documents is ours.
        names = {}
        for name, grade in grades.items():
            if grade > 0:
                topics = sorted(rng.choice([*"abcdefgh"], rng.integers(1, most + 1), replace=False))
                names[name] = f"{'-'.join(topics)}_{name}"
                clusters.setdefault(topic, {})[names[name]] = frozenset(topics)
                qrels += [ir_measures.Qrel(topic, names[name], 1, str(one)) for one in topics]
        renamed[topic] = {names.get(name, name): score for name, score in run[topic].items()}
    truth = GroundTruth(
        {topic: dict.fromkeys(documents, 1) for topic, documents in clusters.items()},
        clusters=clusters,
    )
    measure = ir_measures.alpha_nDCG(alpha=float(alpha or 0.5)) @ cutoff
    found = ours(f"alpha{alpha}-nDCG@{cutoff}", truth, renamed)
    assert_equal("alpha-nDCG", found, theirs(measure, qrels, renamed), abs=1e-6)
