"""The misprints of the other four documents: each check computes what shows one of them."""

import math
from functools import partial

import numpy as np

from survey.core.measures import score
from survey.paper.reproduction import Check, Checks

# The ImageCLEF paper, Section 4.4 and Tables 1 and 2.
JUDGED, UNIQUE, IN_TWO, IN_THREE = 2401, 2130, 107, 19
MEAN_JUDGED = 61.6
TOPICS_OF_TYPES = {
    **{"country": 12, "city": 5, "region / state": 5, "animal": 4, "sport": 2, "vehicle": 2},
    **{"composition": 2, "weather condition": 1, "venue / tourist attraction / landmark": 4},
    **{"religious statue": 1, "volcano": 1},
}
TYPES_IN_TABLE_2 = (
    *("statue", "animal", "location", "landmark", "animal", "tourist attraction"),
    *("location", "vehicle type"),
)
SUBTOPICS_OF_DOCUMENTS = ({"1", "2"}, {"2", "3"})

# The lecture's example: relevant documents at 1, 2 and 5, and the recall printed there.
HITS = [1, 2, 5]
PRINTED_RECALL = ["0.01", "0.02", "0.03"]

# The protocol's collection and queries.
IMAGES, QUERIES, PUBLIC_QUERIES, SECRET_QUERIES = 10_009, 200, 160, 40


def checks_of_sources() -> Checks:
    """Recompute what can be recomputed of the other documents' slips."""
    return {**_checks_of_diversity(), **_checks_of_lecture(), **_checks_of_definitions()}


def _checks_of_diversity() -> Checks:
    unique, topics = JUDGED - IN_TWO - 2 * IN_THREE, sum(TOPICS_OF_TYPES.values())
    union = set.union(*SUBTOPICS_OF_DOCUMENTS)
    added = sum(map(len, SUBTOPICS_OF_DOCUMENTS))
    types = dict.fromkeys(TYPES_IN_TABLE_2)
    shared = [name for name in types if name in TOPICS_OF_TYPES]
    clusters = [[[*subtopics] for subtopics in SUBTOPICS_OF_DOCUMENTS]]
    both = score(["S-precision@1"], np.array([[1, 2]]), clusters=clusters).item()
    return {
        "unique_images": Check(
            unique != UNIQUE and topics == 39 and round(JUDGED / topics, 1) == MEAN_JUDGED,
            judged=JUDGED,
            twice=IN_TWO,
            thrice=IN_THREE,
            unique=unique,
            printed=UNIQUE,
            judged_then=UNIQUE + IN_TWO + 2 * IN_THREE,
            topics=topics,
            mean=JUDGED / topics,
        ),
        "subtopics": Check(
            added > len(union), of_sets=len(union) / len(union), of_numbers=added / len(union)
        ),
        "full_recall": Check(both == 1, cover=len(SUBTOPICS_OF_DOCUMENTS)),
        "cluster_types": Check(len(shared) < len(types), types=types, shared=shared),
    }


def _checks_of_lecture() -> Checks:
    average = partial(score, ["AP"], np.array([HITS]))
    counts = [
        count
        for count in range(3, 1_000)
        if [f"{number / count:.2f}" for number in (1, 2, 3)] == PRINTED_RECALL
    ]
    with_3, with_100 = (average(relevant=count).item() for count in (len(HITS), 100))
    by_rank = sum(sum(hit <= rank for hit in HITS) / rank for rank in (1, 2, 3)) / 3
    at_rank = [score(["DCGlog2@5", "DCGlin@5"], np.array([[rank]]))[0] for rank in (1, 2)]
    return {
        "recall_of_hits": Check(
            len(HITS) not in counts,
            step=1 / len(HITS),
            least=min(counts),
            most=max(counts),
            with_3=with_3,
            with_100=with_100,
        ),
        "precision_by_rank": Check(abs(by_rank - with_3) > 1e-9, by_rank=by_rank, with_3=with_3),
        "first_rank": Check(math.log2(1) == 0, first=math.log2(1)),
        "second_rank": Check(
            at_rank[0][0] == at_rank[1][0] and at_rank[0][1] > at_rank[1][1],
            at_1=at_rank[0][0],
            at_2=at_rank[1][0],
            other_1=at_rank[0][1],
            other_2=at_rank[1][1],
        ),
    }


def _checks_of_definitions() -> Checks:
    code = np.ones(8)
    half_off = np.where(np.arange(8) < 4, -1.0, 1.0)
    identical, squared, opposite = (_distance(code, other) for other in (code, half_off, -code))
    root = len(code) / 4 * math.sqrt(4 * squared / len(code))
    by_cosine = len(code) / 2 * (1 - code @ half_off / len(code))
    first_relevance = 2  # of type 1, in Section 1.2
    without = score(["AP@5"], np.array([[6, 7, 8]])).item()
    return {
        "ranked_by_distance": Check(identical < opposite, identical=identical, opposite=opposite),
        "squared": Check(
            math.isclose(squared, by_cosine) and not math.isclose(root, by_cosine),
            squared=squared,
            by_cosine=by_cosine,
            unsquared=root,
        ),
        "relevance": Check(first_relevance / 1 > 1, precision=first_relevance / 1),
        "nothing_relevant": Check(without == 0, without=without),
        "length_of_lists": Check(
            PUBLIC_QUERIES + SECRET_QUERIES == QUERIES != IMAGES,
            images=IMAGES,
            queries=QUERIES,
            public=PUBLIC_QUERIES,
            secret=SECRET_QUERIES,
        ),
    }


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    """Return Eq. 1's left side: K/4 times the square of the normalised distance."""
    apart = first / np.linalg.norm(first) - second / np.linalg.norm(second)
    return float(len(first) / 4 * (apart @ apart))
