"""Every measure that comes with the survey: single ones, and families like P@5, P@10, …"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import gain, precision, subtopics
from survey.core.measures.lists import Clusters, Lists, Ranks, RankSum, Values
from survey.core.measures.measure import (
    BETA,
    CUTOFF,
    LEVEL_PATTERN,
    SHARE_PATTERN,
    Compute,
    Family,
    Measure,
    Setting,
    Summed,
    cutoff_family,
)
from survey.core.measures.nmrr_mnro import (
    mnro,
    mnro_sum,
    nmrr,
    nmrr_exact,
    nmrr_sum,
    normalised_average_rank,
)


def _interpolated(name: str, points: str, tenths: tuple[int, ...], source: str) -> Measure:
    return Measure(
        name=name,
        label=f"{points}-point interpolated average precision",
        compute=lambda lists, _: precision.interpolated_average_precision(lists.ranks, tenths),
        exact=lambda ranks, _: precision.interpolated_average_precision_exact(ranks, tenths),
        better="higher",
        source=source,
    )


def _f_measure(beta: str, cutoff: str) -> Measure:
    weight, k = Fraction(beta), int(cutoff)
    return Measure(
        name=f"F{float(weight):g}@{k}",
        label=f"F measure with beta {float(weight):g} at {k}",
        compute=Summed(lambda relevant, _: precision.f_measure(relevant, k, weight)),
        better="higher",
        source="MNRO paper, Eqs. 1–2 (with 1 + β²)",
    )


def _rank_biased(text: str) -> Measure:
    persistence = float(text)
    return Measure(
        name=f"RBP@{persistence:g}",
        label=f"rank-biased precision with persistence {persistence:g}",
        compute=Summed(lambda *_: precision.rank_biased_precision(persistence)),
        better="higher",
        source="Moffat and Zobel 2008",
    )


def _expected_reciprocal_rank(form: str, highest: str | None, cutoff: str) -> Measure:
    (scale, words, top), k = _scale(form, highest), int(cutoff)
    return Measure(
        name=f"ERR{scale}@{k}",
        label=f"expected reciprocal rank{words} at {k}",
        compute=lambda lists, _: gain.expected_reciprocal_rank(
            lists.ranks, _stops(lists, "ERR", form, top), k
        ),
        better="higher",
        source="NTCIREVAL" if form else "Chapelle et al. 2009; TREC's gdeval",
        needs=("grades",),
    )


def _intentwise_utility(
    form: str, highest: str | None, parameters: str, cutoff: str
) -> Measure | None:
    (scale, words, top), k = _scale(form, highest), int(cutoff)
    if (read := _parameters(parameters, {"p": 0.99})) is None:
        return None
    (p,) = read.values
    return Measure(
        name=f"iRBU{scale}{read.suffix}@{k}",
        label=f"intentwise rank-biased utility{words}{read.words} at {k}",
        compute=lambda lists, _: gain.intentwise_rank_biased_utility(
            lists.ranks, _stops(lists, "iRBU", form, top), k, p
        ),
        better="higher",
        source="Sakai and Zeng 2021, as we read it",
        needs=("grades",),
    )


def _compatibility(parameters: str) -> Measure | None:
    read = _parameters(parameters, {"p": 0.95})
    if read is None or not 0.1 <= (p := read.values[0]) <= 0.99:
        return None
    return Measure(
        name=f"Compat{read.suffix}",
        label=f"compatibility with an ideal list{read.words}",
        compute=Summed(
            lambda relevant, _: gain.binary_compatibility(relevant, p),
            lambda lists, _: gain.compatibility(lists.ranks, lists.grades, p),
        ),
        better="higher",
        source="Clarke, Vtyurina and Smucker 2021",
        needs=("grades",),
    )


def _row_skipping(parameters: str, cutoff: str) -> Measure | None:
    k = int(cutoff)
    if (read := _parameters(parameters, {"p": None, "gamma": None})) is None:
        return None
    p, skipping = read.values

    def weights(ranks: Ranks, setting: Setting) -> NDArray[np.float64]:
        if setting.columns is None:
            raise ValueError("it needs to know in how many columns pictures are shown")
        return gain.row_skipping_weights(ranks, k, setting.columns, p, skipping)

    def largest(lists: Lists, setting: Setting) -> float:
        ideal = weights(np.arange(1, lists.grades.shape[1] + 1), setting)
        return float((-np.sort(-lists.grades, axis=1) * ideal).sum(axis=1).max())

    return Measure(
        name=f"RBP-RS{read.suffix}@{k}",
        label=f"rank-biased precision with row skipping{read.words} at {k}",
        compute=Summed(
            lambda _, setting: RankSum(lambda _, ranks: weights(ranks, setting), np.asarray),
            lambda lists, setting: (lists.grades * weights(lists.ranks, setting)).sum(axis=1),
        ),
        better="higher",
        source="Xie et al. 2019, the authors' program",
        needs=("grades", "columns"),
        highest=float("inf"),
        largest=largest,
    )


def _condensed(measure: Measure) -> Measure:
    """Return a measure of condensed lists, from which the items without a judgement are removed.

    The collection is then that of the judged items, so its size is their number. Where every
    item is judged it is the measure itself.

    Source: Sakai 2007 (AP′); for NMRR and MNRO ours, after the MNRO paper's Section 6.
    """

    def compute(lists: Lists, setting: Setting) -> Values:
        if lists.condensed is None or lists.judged is None:
            return measure.compute(Lists(lists.ranks), setting)
        judged = replace(setting, collection_size=lists.judged)
        return measure.compute(Lists(lists.condensed), judged)

    return Measure(
        name=f"c{measure.name}",
        label=f"{measure.label} among judged items",
        compute=compute,
        better=measure.better,
        source="Sakai 2007" if measure.name == "AP" else "ours, after the MNRO paper's Section 6",
    )


def _bpref(lists: Lists, setting: Setting) -> Values:
    ranks = lists.ranks if lists.condensed is None else lists.condensed
    return precision.bpref(ranks.shape[1], lists.judged or setting.collection_size).values(ranks)


def _gain(prefix: str, label: str, form: gain.Discounting, source: str) -> Family:
    """Return CG or a form of DCG, which have no fixed upper bound."""
    return cutoff_family(
        f"{prefix}@k",
        lambda k: Measure(
            name=f"{prefix}@{k}",
            label=f"{label} at {k}",
            compute=Summed(
                lambda *_: gain.binary_gain(k, form),
                lambda lists, _: gain.cumulative_gain(lists.ranks, lists.grades, k, form),
            ),
            better="higher",
            source=source,
            needs=("grades",),
            highest=float("inf"),
            largest=lambda lists, _: float(gain.ideal_gain(lists.grades, k, form).max()),
        ),
        listed=(10,),
    )


def _discounted(suffix: str, words: str, form: gain.Discounting, source: str) -> tuple[Family, ...]:
    """Return DCG and nDCG of one form of gain and discount."""
    return (
        _gain(f"DCG{suffix}", f"discounted cumulative gain{words}", form, source),
        cutoff_family(
            f"nDCG{suffix}@k",
            lambda k: Measure(
                name=f"nDCG{suffix}@{k}",
                label=f"normalised discounted cumulative gain{words} at {k}",
                compute=Summed(
                    lambda relevant, _: gain.normalised_binary_gain(relevant, k, form),
                    lambda lists, _: gain.normalised_gain(lists.ranks, lists.grades, k, form),
                ),
                better="higher",
                source=source,
                needs=("grades",),
            ),
            listed=(10,),
        ),
    )


def _s_precision(text: str) -> Measure:
    level = Fraction(text)
    return Measure(
        name=f"S-precision@{float(level):g}",
        label=f"sub-topic precision at recall {float(level):g}",
        compute=lambda lists, _: subtopics.s_precision(lists.ranks, _clusters(lists), level),
        better="higher",
        source="ImageCLEF 2008 diversity paper, Section 5",
        needs=("clusters",),
    )


def _alpha_ndcg(alpha: str | None, cutoff: str) -> Measure:
    share, k = float(alpha or TREC_ALPHA), int(cutoff)
    is_trecs = share == TREC_ALPHA
    return Measure(
        name=f"alpha{'' if is_trecs else f'{share:g}'}-nDCG@{k}",
        label=f"novelty-biased nDCG{'' if is_trecs else f' with alpha {share:g}'} at {k}",
        compute=lambda lists, _: subtopics.alpha_ndcg(lists.ranks, _clusters(lists), k, share),
        better="higher",
        source="Clarke et al. 2008; TREC's ndeval",
        needs=("clusters",),
    )


def _novelty_rank_biased(parameters: str) -> Measure | None:
    if (read := _parameters(parameters, {"alpha": 0.5, "beta": 0.5})) is None:
        return None
    alpha, beta = read.values
    return Measure(
        name=f"NRBP{read.suffix}",
        label=f"novelty- and rank-biased precision{read.words}",
        compute=lambda lists, _: subtopics.novelty_rank_biased_precision(
            lists.ranks, _clusters(lists), alpha, beta
        ),
        better="higher",
        source="Clarke, Kolla and Vechtomova 2009; TREC's ndeval",
        needs=("clusters",),
    )


def _rank_biased_utility(highest: str | None, parameters: str, cutoff: str) -> Measure | None:
    (scale, words, top), k = _scale("", highest), int(cutoff)
    if (read := _parameters(parameters, {"p": 0.8, "e": 0.03})) is None:
        return None
    p, effort = read.values

    def compute(lists: Lists, setting: Setting) -> Values:
        whole = np.full(len(lists.ranks), setting.collection_size)
        return subtopics.rank_biased_utility(
            lists.ranks,
            _clusters(lists),
            _stops(lists, "RBU", "", top),
            np.minimum(k, whole if lists.lengths is None else lists.lengths),
            p,
            effort,
        )

    return Measure(
        name=f"RBU{scale}{read.suffix}@{k}",
        label=f"rank-biased utility{words}{read.words} at {k}",
        compute=compute,
        better="higher",
        source="Amigó, Spina and Carrillo-de-Albornoz 2018",
        needs=("clusters", "grades"),
        lowest=-effort,
    )


def _d_ndcg(lists: Lists, cutoff: int) -> Values:
    gains = subtopics.subtopic_gains(lists.grades, _clusters(lists))
    return gain.normalised_gain(lists.ranks, gains, cutoff, gain.LINEAR)


def _d_sharp(lists: Lists, cutoff: int) -> Values:
    covered = subtopics.s_recall(lists.ranks, _clusters(lists), cutoff)
    return np.asarray((covered + _d_ndcg(lists, cutoff)) / 2)


def _stops(lists: Lists, stem: str, form: str, highest: int) -> NDArray[np.float64]:
    return gain.stop_chances(lists.grades, highest, f"{stem}{form}", linear=bool(form))


def _scale(form: str, highest: str | None) -> tuple[str, str, int]:
    """Return how a name and a label write form and highest grade of a scale, and the grade."""
    top = int(highest or TREC_HIGHEST)
    is_trecs = top == TREC_HIGHEST
    linear = " of linear chances" if form else ""
    return (
        f"{form}{'' if is_trecs else top}",
        f"{linear}{'' if is_trecs else f' of grades up to {top}'}",
        top,
    )


class Parameters(NamedTuple):
    """Values of a name's parameters, and how name and label write those that are no default."""

    values: Sequence[float]
    suffix: str
    words: str


def _parameters(text: str, defaults: Mapping[str, float | None]) -> Parameters | None:
    """Read "-p0.9-e0.05", in any order; None where one occurs twice or is missing."""
    pairs = re.findall(r"-([a-z]+)([0-9.]+)", text)
    written = {name: float(number) for name, number in pairs}
    values = {name: written.get(name, default) for name, default in defaults.items()}
    numbers = [value for value in values.values() if value is not None]
    if len(written) < len(pairs) or len(numbers) < len(values):
        return None
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    suffix = "".join(f"-{name}{value:g}" for name, value in changed.items())
    words = " and ".join(f"{name} {value:g}" for name, value in changed.items())
    return Parameters(numbers, suffix, f" with {words}" if words else "")


def _parameter_pattern(*names: str) -> str:
    """Return the pattern of parameters between 0 and 1; those of MAY_BE_0 also 0."""
    share = SHARE_PATTERN[1:-1]
    forms = [f"{name}(?:{share}{'|0' if name in MAY_BE_0 else ''})" for name in names]
    return f"((?:-(?:{'|'.join(forms)}))*)"


def _from_grade(stem: str, level: str, cutoff: str | None) -> Measure | None:
    """Return a binary measure for which items from a grade on are relevant: AP-rel2, P-rel2@10."""
    name = f"{stem}{cutoff or ''}"
    for entry in BUILT_IN_MEASURES:
        single = entry if isinstance(entry, Measure) and entry.name == name else None
        binary = entry.find(name) if isinstance(entry, Family) else single
        if binary is not None:
            return replace(
                binary,
                name=_with_level(binary.name, level),
                label=f"{binary.label}, relevant from grade {level} on",
                compute=_without_tables(binary.compute),
                mean_name=_with_level(binary.mean_name, level),
                needs=("grades",),
                level=int(level),
            )
    return None


def _without_tables(compute: Compute) -> Compute:
    """Return the compute of a measure that is never made a table of positions, without grades."""
    return lambda lists, setting: compute(lists, setting)


def _with_level(name: str, level: str) -> str:
    stem, at, cutoff = name.partition("@")
    return f"{stem}-rel{level}{at}{cutoff}"


def _clusters(lists: Lists) -> Clusters:
    if lists.clusters is None:
        raise ValueError("clusters are needed, and these lists have none")
    return lists.clusters


TREC_HIGHEST = 4  # grade of the web track's scale, on which ERR was defined
TREC_ALPHA = 0.5
SCALE = "([1-9]|[12][0-9]|30)?"  # the highest grade
MAY_BE_0 = ("e", "gamma")

AP = Measure(
    name="AP",
    label="average precision",
    compute=Summed(lambda relevant, _: precision.average_precision_sum(relevant)),
    exact=lambda ranks, _: precision.average_precision_exact(ranks),
    better="higher",
    mean_name="MAP",
    source="TREC; MNRO paper, Eq. 3",
)
NMRR = Measure(
    name="NMRR",
    label="normalised modified retrieval rank",
    compute=Summed(lambda relevant, setting: nmrr_sum(relevant, setting.gmt)),
    exact=lambda ranks, setting: nmrr_exact(ranks, setting.gmt),
    better="lower",
    mean_name="ANMRR",
    source="MPEG-7; MNRO paper, Eqs. 5–8",
)
MNRO = Measure(
    name="MNRO",
    label="mean normalised retrieval order",
    compute=Summed(
        lambda relevant, setting: mnro_sum(
            relevant, setting.collection_size, literal_eq15=setting.literal_eq15
        )
    ),
    better="lower",
    mean_name="AMNRO",
    source="MNRO paper, Eqs. 14–18",
    needs=("collection size",),
)
BUILT_IN_MEASURES: tuple[Measure | Family, ...] = (
    AP,
    NMRR,
    MNRO,
    cutoff_family(
        "AP@p",
        lambda p: Measure(
            name=f"AP@{p}",
            label=f"average precision at {p}",
            compute=lambda lists, _: precision.average_precision_at(lists.ranks, p),
            exact=lambda ranks, _: precision.average_precision_at_exact(ranks, p),
            better="higher",
            mean_name=f"MAP@{p}",
            source="mAP/nDCG definitions, Eqs. 2–3",
            monotone=False,
        ),
        listed=(10,),
    ),
    _interpolated("AP3", "three", precision.THREE_LEVELS, "MNRO paper, Section 2"),
    _interpolated(
        "AP11", "eleven", precision.ELEVEN_LEVELS, "lecture; TREC's 11pt_avg, with exact levels"
    ),
    cutoff_family(
        "P@k",
        lambda k: Measure(
            name=f"P@{k}",
            label=f"precision at {k}",
            compute=Summed(lambda *_: precision.precision(k)),
            better="higher",
            source="TREC; lecture; MNRO paper, Section 2",
        ),
        listed=(5, 10, 20),
    ),
    cutoff_family(
        "R@k",
        lambda k: Measure(
            name=f"R@{k}",
            label=f"recall at {k}",
            compute=Summed(lambda relevant, _: precision.recall(relevant, k)),
            better="higher",
            source="TREC; lecture; MNRO paper, Section 2; MiAlbum protocol, Eq. 6 (k = 100)",
        ),
        listed=(10, 100),
    ),
    Family("Fβ@k", f"F{BETA}@{CUTOFF}", _f_measure, ("F0.5@10", "F1@10", "F2@10")),
    Measure(
        name="Rprec",
        label="R-precision",
        compute=Summed(lambda relevant, _: precision.r_precision(relevant)),
        better="higher",
        source="TREC; MNRO paper, Section 2 (R-value)",
    ),
    Measure(
        name="RR",
        label="reciprocal rank",
        compute=Summed(lambda *_: precision.reciprocal_rank()),
        better="higher",
        mean_name="MRR",
        source="TREC",
    ),
    Measure(
        name="bpref",
        label="binary preference",
        compute=Summed(
            lambda relevant, setting: precision.bpref(relevant, setting.collection_size), _bpref
        ),
        better="higher",
        source="TREC (Buckley and Voorhees 2004); MNRO paper, Section 5.4",
    ),
    Family("RBP@p", f"RBP@?{SHARE_PATTERN}", _rank_biased, ("RBP@0.8",)),
    cutoff_family(
        "INST@T",
        lambda wanted: Measure(
            name=f"INST@{wanted}",
            label=f"INST of a user who wants {wanted}",
            compute=lambda lists, _: precision.inst(lists.ranks, wanted),
            better="higher",
            source="Moffat et al. 2015, as in C/W/L",
        ),
        listed=(1,),
    ),
    *(_condensed(measure) for measure in (AP, NMRR, MNRO)),
    cutoff_family(
        "g@k",
        lambda k: Measure(
            name=f"g@{k}",
            label=f"generality at {k}",
            compute=Summed(lambda _, setting: precision.generality(k, setting.collection_size)),
            better="higher",
            source="MNRO paper, Section 2",
            needs=("collection size",),
        ),
        listed=(10,),
    ),
    Measure(
        name="NAR",
        label="normalised average rank",
        compute=Summed(
            lambda relevant, setting: normalised_average_rank(relevant, setting.collection_size)
        ),
        better="lower",
        mean_name="ANAR",
        source="MNRO paper, Eqs. 10–11",
        needs=("collection size",),
    ),
    _gain("CG", "cumulative gain", gain.UNDISCOUNTED, "lecture"),
    *_discounted("", "", gain.EXPONENTIAL, "mAP/nDCG definitions, Eqs. 4–5"),
    *_discounted("lin", " of linear grades", gain.LINEAR, "trec_eval"),
    *_discounted(
        "log2", " by log2 of the rank", gain.FROM_RANK_2, "lecture (Järvelin and Kekäläinen 2002)"
    ),
    *(
        Family(
            f"ERR{form}@k",
            f"ERR{form}{SCALE}@{CUTOFF}",
            partial(_expected_reciprocal_rank, form),
            (f"ERR{form}@20",),
        )
        for form in ("", "lin")
    ),
    *(
        Family(
            f"iRBU{form}@k",
            f"iRBU{form}{SCALE}{_parameter_pattern('p')}@{CUTOFF}",
            partial(_intentwise_utility, form),
            (f"iRBU{form}@20",),
        )
        for form in ("", "lin")
    ),
    Family("Compat", f"Compat{_parameter_pattern('p')}", _compatibility, ("Compat",)),
    Family(
        "RBP-RS-p…-gamma…@k",
        f"RBP-RS{_parameter_pattern('p', 'gamma')}@{CUTOFF}",
        _row_skipping,
        (),
    ),
    Measure(
        name="Q",
        label="Q-measure",
        compute=lambda lists, _: gain.q_measure(lists.ranks, lists.grades),
        better="higher",
        source="Sakai 2004, with beta 1",
        needs=("grades",),
    ),
    Measure(
        name="gAP",
        label="graded average precision",
        compute=lambda lists, _: gain.graded_average_precision(lists.ranks, lists.grades),
        better="higher",
        source="Robertson, Kanoulas and Yilmaz 2010",
        needs=("grades",),
    ),
    Measure(
        name="gNMRR",
        label="graded normalised modified retrieval rank",
        compute=lambda lists, setting: gain.mean_over_thresholds(
            lambda ranks: nmrr(ranks, setting.gmt), lists.ranks, lists.grades
        ),
        better="lower",
        mean_name="gANMRR",
        source="ours, after the MNRO paper's Section 6",
        needs=("grades",),
    ),
    Measure(
        name="gMNRO",
        label="graded mean normalised retrieval order",
        compute=lambda lists, setting: gain.mean_over_thresholds(
            lambda ranks: mnro(ranks, setting.collection_size, literal_eq15=setting.literal_eq15),
            lists.ranks,
            lists.grades,
        ),
        better="lower",
        mean_name="gAMNRO",
        source="ours, after the MNRO paper's Section 6",
        needs=("collection size", "grades"),
    ),
    cutoff_family(
        "wP@k",
        lambda k: Measure(
            name=f"wP@{k}",
            label=f"weighted precision at {k}",
            compute=lambda lists, _: precision.weighted_precision(lists.ranks, lists.weights, k),
            better="higher",
            source="MiAlbum protocol, Eq. 3",
            needs=("weights",),
        ),
        listed=(10,),
    ),
    cutoff_family(
        "rwP@k",
        lambda k: Measure(
            name=f"rwP@{k}",
            label=f"weighted precision at {k} with rank consideration",
            compute=lambda lists, _: precision.rank_weighted_precision(
                lists.ranks, lists.weights, k
            ),
            better="higher",
            source="ours, after MiAlbum protocol, Eq. 12",
            needs=("weights",),
        ),
        listed=(10,),
    ),
    Measure(
        name="P@10-100",
        label="mean precision at 10, 20, … 100",
        compute=lambda lists, _: precision.mean_precision(lists.ranks),
        better="higher",
        source="MiAlbum protocol, Eq. 4",
    ),
    Measure(
        name="wP@10-100",
        label="mean weighted precision at 10, 20, … 100",
        compute=lambda lists, _: precision.mean_weighted_precision(lists.ranks, lists.weights),
        better="higher",
        source="MiAlbum protocol, Eq. 5",
        needs=("weights",),
    ),
    cutoff_family(
        "S-recall@k",
        lambda k: Measure(
            name=f"S-recall@{k}",
            label=f"sub-topic recall at {k}",
            compute=lambda lists, _: subtopics.s_recall(lists.ranks, _clusters(lists), k),
            better="higher",
            source="ImageCLEF 2008 diversity paper, Section 5",
            needs=("clusters",),
        ),
        listed=(20,),
    ),
    Family("S-precision@r", f"S-precision@{LEVEL_PATTERN}", _s_precision, ("S-precision@0.5",)),
    Family("alpha-nDCG@k", f"alpha{SHARE_PATTERN}?-nDCG@{CUTOFF}", _alpha_ndcg, ("alpha-nDCG@10",)),
    cutoff_family(
        "D-nDCG@k",
        lambda k: Measure(
            name=f"D-nDCG@{k}",
            label=f"nDCG over sub-topics at {k}",
            compute=lambda lists, _: _d_ndcg(lists, k),
            better="higher",
            source="Sakai and Song 2011",
            needs=("clusters", "grades"),
        ),
        listed=(10,),
    ),
    cutoff_family(
        "Dsharp-nDCG@k",
        lambda k: Measure(
            name=f"Dsharp-nDCG@{k}",
            label=f"mean of sub-topic recall and nDCG over sub-topics at {k}",
            compute=lambda lists, _: _d_sharp(lists, k),
            better="higher",
            source="Sakai and Song 2011, with γ = ½",
            needs=("clusters", "grades"),
        ),
        listed=(10,),
    ),
    cutoff_family(
        "ERR-IA@k",
        lambda k: Measure(
            name=f"ERR-IA@{k}",
            label=f"intent-aware expected reciprocal rank at {k}",
            compute=lambda lists, _: subtopics.intent_aware_reciprocal_rank(
                lists.ranks, _clusters(lists), k
            ),
            better="higher",
            source="Chapelle et al. 2009; TREC's ndeval",
            needs=("clusters",),
        ),
        listed=(20,),
    ),
    Measure(
        name="AP-IA",
        label="intent-aware average precision",
        compute=lambda lists, _: subtopics.intent_aware_average_precision(
            lists.ranks, _clusters(lists)
        ),
        better="higher",
        mean_name="MAP-IA",
        source="Agrawal et al. 2009; TREC's ndeval",
        needs=("clusters",),
    ),
    cutoff_family(
        "P-IA@k",
        lambda k: Measure(
            name=f"P-IA@{k}",
            label=f"intent-aware precision at {k}",
            compute=lambda lists, _: subtopics.intent_aware_precision(
                lists.ranks, _clusters(lists), k
            ),
            better="higher",
            source="Agrawal et al. 2009; TREC's ndeval",
            needs=("clusters",),
        ),
        listed=(10,),
    ),
    Family("NRBP", f"NRBP{_parameter_pattern('alpha', 'beta')}", _novelty_rank_biased, ("NRBP",)),
    Family(
        "RBU@k",
        f"RBU{SCALE}{_parameter_pattern('p', 'e')}@{CUTOFF}",
        _rank_biased_utility,
        ("RBU@20",),
    ),
    Family(
        "AP-relN",
        rf"(AP|Rprec|RR|bpref|P|R|F{BETA[1:-1]}|RBP)-rel([2-9]|[12][0-9]|30)(@.+)?",
        _from_grade,
        (),
    ),
)
"""In the order in which tables list them; the paper's three come first."""
