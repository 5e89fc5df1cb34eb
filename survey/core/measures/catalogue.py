"""Every measure that comes with the survey: single ones, and families like P@5, P@10, …"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from survey.core.measures import gain, precision
from survey.core.measures.average_precision import (
    ELEVEN_LEVELS,
    THREE_LEVELS,
    average_precision,
    average_precision_at,
    average_precision_at_exact,
    average_precision_exact,
    interpolated_average_precision,
    interpolated_average_precision_exact,
)
from survey.core.measures.diversity import Clusters, s_precision, s_recall
from survey.core.measures.graded import by_thresholds
from survey.core.measures.lists import Lists
from survey.core.measures.measure import Measure, Setting
from survey.core.measures.mnro import mnro
from survey.core.measures.nar import normalised_average_rank
from survey.core.measures.nmrr import nmrr, nmrr_exact
from survey.core.measures.ranks import Ranks, Values
from survey.core.measures.weighted import (
    mean_precision,
    mean_weighted_precision,
    weighted_precision,
)

CUTOFF = r"([1-9][0-9]{0,8})"
LEVEL = r"(0\.(?!0+$)[0-9]{1,4}|1(?:\.0{1,4})?)"
BETA = r"([0-9]{1,2}(?:\.[0-9]{1,2})?)"


@dataclass(frozen=True)
class Family:
    """Measures that differ by a number in their name.

    ``pattern``: matches their names, with the numbers as groups; ``make``: the numbers as
    texts → the measure; ``listed``: the names that lists of measures show; ``form``: how a
    message writes the name.
    """

    form: str
    pattern: str
    make: Callable[..., Measure]
    listed: tuple[str, ...]

    def find(self, name: str) -> Measure | None:
        """Return the measure of that name, if it is one of these."""
        match = re.fullmatch(self.pattern, name)
        return self.make(*match.groups()) if match else None


def _mnro(ranks: Ranks, setting: Setting) -> Values:
    return mnro(ranks, setting.collection_size, literal_eq15=setting.literal_eq15)


def _bpref(lists: Lists, setting: Setting) -> Values:
    condensed = lists.ranks if lists.condensed is None else lists.condensed
    return precision.bpref(condensed, lists.judged or setting.collection_size)


def _clusters(lists: Lists) -> Clusters:
    if lists.clusters is None:
        raise ValueError("clusters are needed, and these lists have none")
    return lists.clusters


AP = Measure(
    name="AP",
    label="average precision",
    compute=lambda lists, _: average_precision(lists.ranks),
    exact=lambda ranks, _: average_precision_exact(ranks),
    better="higher",
    mean_name="MAP",
    source="TREC; MNRO paper, Eq. 3",
)
NMRR = Measure(
    name="NMRR",
    label="normalised modified retrieval rank",
    compute=lambda lists, setting: nmrr(lists.ranks, setting.gmt),
    exact=lambda ranks, setting: nmrr_exact(ranks, setting.gmt),
    better="lower",
    mean_name="ANMRR",
    source="MPEG-7; MNRO paper, Eqs. 5–8",
)
MNRO = Measure(
    name="MNRO",
    label="mean normalised retrieval order",
    compute=lambda lists, setting: _mnro(lists.ranks, setting),
    better="lower",
    mean_name="AMNRO",
    source="MNRO paper, Eqs. 14–18",
    needs=("collection size",),
)


def _ap_at(cutoff: str) -> Measure:
    p = int(cutoff)
    return Measure(
        name=f"AP@{p}",
        label=f"average precision at {p}",
        compute=lambda lists, _: average_precision_at(lists.ranks, p),
        exact=lambda ranks, _: average_precision_at_exact(ranks, p),
        better="higher",
        mean_name=f"MAP@{p}",
        source="mAP/nDCG definitions, Eqs. 2–3",
        monotone=False,
    )


def _interpolated(name: str, points: str, tenths: tuple[int, ...], source: str) -> Measure:
    return Measure(
        name=name,
        label=f"{points}-point interpolated average precision",
        compute=lambda lists, _: interpolated_average_precision(lists.ranks, tenths),
        exact=lambda ranks, _: interpolated_average_precision_exact(ranks, tenths),
        better="higher",
        source=source,
    )


AP3 = _interpolated("AP3", "three", THREE_LEVELS, "MNRO paper, Section 2")
AP11 = _interpolated("AP11", "eleven", ELEVEN_LEVELS, "lecture; TREC's 11pt_avg")


def _precision(cutoff: str) -> Measure:
    k = int(cutoff)
    return Measure(
        name=f"P@{k}",
        label=f"precision at {k}",
        compute=lambda lists, _: precision.precision(lists.ranks, k),
        better="higher",
        source="TREC; lecture; MNRO paper, Section 2",
    )


def _recall(cutoff: str) -> Measure:
    k = int(cutoff)
    return Measure(
        name=f"R@{k}",
        label=f"recall at {k}",
        compute=lambda lists, _: precision.recall(lists.ranks, k),
        better="higher",
        source="TREC; lecture; MNRO paper, Section 2; MiAlbum protocol, Eq. 6 (k = 100)",
    )


def _f_measure(beta: str, cutoff: str) -> Measure:
    weight, k = Fraction(beta), int(cutoff)
    return Measure(
        name=f"F{float(weight):g}@{k}",
        label=f"F measure with beta {float(weight):g} at {k}",
        compute=lambda lists, _: precision.f_measure(lists.ranks, k, weight),
        better="higher",
        source="MNRO paper, Eqs. 1–2 (with 1 + β²)",
    )


def _generality(cutoff: str) -> Measure:
    k = int(cutoff)
    return Measure(
        name=f"g@{k}",
        label=f"generality at {k}",
        compute=lambda lists, setting: precision.generality(
            lists.ranks, k, setting.collection_size
        ),
        better="higher",
        source="MNRO paper, Section 2",
        needs=("collection size",),
    )


R_PRECISION = Measure(
    name="Rprec",
    label="R-precision",
    compute=lambda lists, _: precision.r_precision(lists.ranks),
    better="higher",
    source="TREC; MNRO paper, Section 2 (R-value)",
)
RECIPROCAL_RANK = Measure(
    name="RR",
    label="reciprocal rank",
    compute=lambda lists, _: precision.reciprocal_rank(lists.ranks),
    better="higher",
    mean_name="MRR",
    source="TREC",
)
BPREF = Measure(
    name="bpref",
    label="binary preference",
    compute=_bpref,
    better="higher",
    source="TREC (Buckley and Voorhees 2004); MNRO paper, Section 5.4",
)
NAR = Measure(
    name="NAR",
    label="normalised average rank",
    compute=lambda lists, setting: normalised_average_rank(lists.ranks, setting.collection_size),
    better="lower",
    mean_name="ANAR",
    source="MNRO paper, Eqs. 10–11",
    needs=("collection size",),
)


def _dcg(prefix: str, form: str, how: gain.Discounting, source: str) -> Family:
    def make(cutoff: str) -> Measure:
        k = int(cutoff)
        return Measure(
            name=f"{prefix}@{k}",
            label=f"{form} at {k}",
            compute=lambda lists, _: gain.cumulative_gain(lists.ranks, lists.grades, k, how),
            better="higher",
            source=source,
            needs=("grades",),
            highest=float("inf"),
            largest=lambda lists, _: float(gain.ideal_gain(lists.grades, k, how).max()),
        )

    return Family(f"{prefix}@k", f"{prefix}@{CUTOFF}", make, (f"{prefix}@10",))


def _ndcg(prefix: str, form: str, how: gain.Discounting, source: str) -> Family:
    def make(cutoff: str) -> Measure:
        k = int(cutoff)
        return Measure(
            name=f"{prefix}@{k}",
            label=f"{form} at {k}",
            compute=lambda lists, _: gain.normalised_gain(lists.ranks, lists.grades, k, how),
            better="higher",
            source=source,
            needs=("grades",),
        )

    return Family(f"{prefix}@k", f"{prefix}@{CUTOFF}", make, (f"{prefix}@10",))


GRADED_NMRR = Measure(
    name="gNMRR",
    label="graded normalised modified retrieval rank",
    compute=lambda lists, setting: by_thresholds(
        lambda ranks: nmrr(ranks, setting.gmt), lists.ranks, lists.grades
    ),
    better="lower",
    mean_name="gANMRR",
    source="ours, after the MNRO paper's Section 6",
    needs=("grades",),
)
GRADED_MNRO = Measure(
    name="gMNRO",
    label="graded mean normalised retrieval order",
    compute=lambda lists, setting: by_thresholds(
        lambda ranks: _mnro(ranks, setting), lists.ranks, lists.grades
    ),
    better="lower",
    mean_name="gAMNRO",
    source="ours, after the MNRO paper's Section 6",
    needs=("collection size", "grades"),
)


def _weighted_precision(cutoff: str) -> Measure:
    n = int(cutoff)
    return Measure(
        name=f"wP@{n}",
        label=f"weighted precision at {n}",
        compute=lambda lists, _: weighted_precision(lists.ranks, lists.weights, n),
        better="higher",
        source="MiAlbum protocol, Eq. 3",
        needs=("weights",),
    )


MEAN_PRECISION = Measure(
    name="P@10-100",
    label="mean precision at 10, 20, … 100",
    compute=lambda lists, _: mean_precision(lists.ranks),
    better="higher",
    source="MiAlbum protocol, Eq. 4",
)
MEAN_WEIGHTED_PRECISION = Measure(
    name="wP@10-100",
    label="mean weighted precision at 10, 20, … 100",
    compute=lambda lists, _: mean_weighted_precision(lists.ranks, lists.weights),
    better="higher",
    source="MiAlbum protocol, Eq. 5",
    needs=("weights",),
)


def _s_recall(cutoff: str) -> Measure:
    k = int(cutoff)
    return Measure(
        name=f"S-recall@{k}",
        label=f"sub-topic recall at {k}",
        compute=lambda lists, _: s_recall(lists.ranks, _clusters(lists), k),
        better="higher",
        source="ImageCLEF 2008 diversity paper, Section 5",
        needs=("clusters",),
    )


def _s_precision(text: str) -> Measure:
    level = Fraction(text)
    return Measure(
        name=f"S-precision@{float(level):g}",
        label=f"sub-topic precision at recall {float(level):g}",
        compute=lambda lists, _: s_precision(lists.ranks, _clusters(lists), level),
        better="higher",
        source="ImageCLEF 2008 diversity paper, Section 5",
        needs=("clusters",),
    )


OURS: tuple[Measure | Family, ...] = (
    AP,
    NMRR,
    MNRO,
    Family("AP@p", f"AP@{CUTOFF}", _ap_at, ("AP@10",)),
    AP3,
    AP11,
    Family("P@k", f"P@{CUTOFF}", _precision, ("P@5", "P@10", "P@20")),
    Family("R@k", f"R@{CUTOFF}", _recall, ("R@10", "R@100")),
    Family("Fβ@k", f"F{BETA}@{CUTOFF}", _f_measure, ("F0.5@10", "F1@10", "F2@10")),
    R_PRECISION,
    RECIPROCAL_RANK,
    BPREF,
    Family("g@k", f"g@{CUTOFF}", _generality, ("g@10",)),
    NAR,
    _dcg("CG", "cumulative gain", gain.UNDISCOUNTED, "lecture"),
    _dcg(
        "DCG",
        "discounted cumulative gain",
        gain.EXPONENTIAL,
        "mAP/nDCG definitions, Eq. 4",
    ),
    _ndcg(
        "nDCG",
        "normalised discounted cumulative gain",
        gain.EXPONENTIAL,
        "mAP/nDCG definitions, Eq. 5",
    ),
    _dcg("DCGlin", "discounted cumulative gain, linear", gain.LINEAR, "trec_eval"),
    _ndcg("nDCGlin", "normalised discounted cumulative gain, linear", gain.LINEAR, "trec_eval"),
    _dcg(
        "DCGlog2",
        "discounted cumulative gain from rank 2",
        gain.FROM_RANK_2,
        "lecture (Järvelin and Kekäläinen 2002)",
    ),
    _ndcg(
        "nDCGlog2",
        "normalised discounted cumulative gain from rank 2",
        gain.FROM_RANK_2,
        "lecture (Järvelin and Kekäläinen 2002)",
    ),
    GRADED_NMRR,
    GRADED_MNRO,
    Family("wP@k", f"wP@{CUTOFF}", _weighted_precision, ("wP@10",)),
    MEAN_PRECISION,
    MEAN_WEIGHTED_PRECISION,
    Family("S-recall@k", f"S-recall@{CUTOFF}", _s_recall, ("S-recall@20",)),
    Family("S-precision@r", f"S-precision@{LEVEL}", _s_precision, ("S-precision@0.5",)),
)
"""In the order in which tables list them; the paper's three come first."""
