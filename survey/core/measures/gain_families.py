"""The families of cumulative gain: CG, and DCG and nDCG in the three ways in use."""

from survey.core.measures import gain
from survey.core.measures.families import Family, by_cutoff
from survey.core.measures.measure import Summed


def _gain(prefix: str, label: str, how: gain.Discounting, source: str) -> Family:
    """Return CG or a form of DCG, which have no upper bound of their own."""
    return by_cutoff(
        f"{prefix}@k",
        label,
        lambda k: Summed(
            lambda *_: gain.binary_gain(k, how),
            lambda lists, _: gain.cumulative_gain(lists.ranks, lists.grades, k, how),
        ),
        source,
        (10,),
        needs=lambda _: ("grades",),
        highest=lambda _: float("inf"),
        largest=lambda k: lambda lists, _: float(gain.ideal_gain(lists.grades, k, how).max()),
    )


def _discounted(suffix: str, words: str, how: gain.Discounting, source: str) -> tuple[Family, ...]:
    """Return DCG and nDCG of one form of gain and discount."""
    return (
        _gain(f"DCG{suffix}", f"discounted cumulative gain{words}", how, source),
        by_cutoff(
            f"nDCG{suffix}@k",
            f"normalised discounted cumulative gain{words}",
            lambda k: Summed(
                lambda relevant, _: gain.normalised_binary_gain(relevant, k, how),
                lambda lists, _: gain.normalised_gain(lists.ranks, lists.grades, k, how),
            ),
            source,
            (10,),
            needs=lambda _: ("grades",),
        ),
    )


GAINS = (
    _gain("CG", "cumulative gain", gain.UNDISCOUNTED, "lecture"),
    *_discounted("", "", gain.EXPONENTIAL, "mAP/nDCG definitions, Eqs. 4–5"),
    *_discounted("lin", " of linear grades", gain.LINEAR, "trec_eval"),
    *_discounted(
        "log2",
        " by log2 of the rank",
        gain.FROM_RANK_2,
        "lecture (Järvelin and Kekäläinen 2002)",
    ),
)
"""In the order in which tables list them."""
