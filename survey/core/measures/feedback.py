"""Relevance feedback in the MiAlbum protocol: its measures and its examples.

A system ranks the collection for a query (round 0), is given examples, and ranks again
(round 1, 2, …). The gain of a round is M(round) − M(round 0), averaged over queries, for
each measure M of ``MEASURES``: it can be negative, and higher is better.

Source: MiAlbum protocol, Section 2.2.
"""

from collections.abc import Collection, Sequence
from itertools import islice

MEASURES = ("P@10-100", "wP@10-100", "R@100")
"""Average Precision, Weighted Average Precision and R100 of the protocol, by their names in
the registry."""


def positive_examples(ground_truth: Sequence[str], round_number: int, images: int) -> list[str]:
    """Return r_{(t−1)m+1} … r_{tm}, the positive examples added in round t.

    ``ground_truth``: the query's relevant items r_1, r_2, …, the most relevant first (by
    weight, then by grade); ``round_number``: t ≥ 1; ``images``: m ≥ 1. Fewer than m, or
    none, when the ground truth is used up.

    The protocol puts r_1 … r_m into the system first, "then … r_{m+1} … r_{2m} as the second
    positive example set". We read that as examples taken from the ground truth, not from
    what the system retrieved, and of each round as an addition to those of the rounds before.

    Source: MiAlbum protocol, Section 2.2, positive feedback.
    """
    return list(ground_truth[(round_number - 1) * images : round_number * images])


def negative_examples(
    ranked: Sequence[str], relevant: Collection[str], round_number: int
) -> list[str]:
    """Return the first t items of a list that are not relevant: round t's negative examples.

    ``ranked``: the list of round 0, best first; ``relevant``: the query's relevant items;
    ``round_number``: t ≥ 1. Fewer than t where the list ends before.

    The protocol takes the first item that is not in the ground truth; "after the first
    round … the first two negative examples from the result list", then 3, 4 and so on. We
    read "the result list" as the one it defined, L(q) of round 0, so that each round's
    examples contain those of the round before. An item without a judgement is not in the
    ground truth, and so counts as not relevant.

    Source: MiAlbum protocol, Section 2.2, negative feedback.
    """
    return list(islice((item for item in ranked if item not in relevant), round_number))
