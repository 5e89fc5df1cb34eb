"""What the digits show, in sentences that are made from the figures."""

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby

import numpy as np

from benchmarks.digits.comparison import COMPARED
from benchmarks.digits.descriptors import FLOOR
from benchmarks.digits.designs import DESIGNS, Design
from benchmarks.digits.findings import Findings
from benchmarks.digits.retrieval import PRINTED

STAYS_PUT = 5.0  # per cent of the value in A, at most, for every descriptor, in B and in C
PAPERS_MAP = (0.0375, 0.0184)  # Table 2, sets A and C
PAPERS_AMNRO = (0.8356, 0.8360)
MEANS = {
    "AP": "MAP",
    "P@10": "P(10)",
    "P@20": "P(20)",
    "NMRR": "ANMRR",
    "NAR": "NAR",
    "MNRO": "AMNRO",
    PRINTED: "AMNRO printed",
}
"""The means over queries, as the paper's tables call them."""


def reading(findings: Findings) -> Iterator[str]:
    """Say what the tables show, the answer first."""
    yield _answer(findings)
    for where, group in groupby(sorted(DESIGNS, key=_where), _where):
        yield _where_generality_is(findings, where[1], list(group))
    yield _of_nar(findings)
    yield _of_zero(findings)
    yield _of_the_end_of_the_scale(findings)
    yield _of_single_draws(findings)
    yield _of_orders(findings)
    yield _of_opposite_orders(findings)
    yield _of_stars(findings)


def stays_put(findings: Findings, design: Design, name: str) -> bool:
    """Tell whether a measure stays put in a design, for every descriptor."""
    return max(map(abs, deviations(findings, [design], name, (1, 2)))) <= STAYS_PUT


def deviations(
    findings: Findings, designs: list[Design], name: str, places: tuple[int, ...] = (2,)
) -> list[float]:
    """Return the deviations from A of every descriptor, in these designs and sets."""
    return [
        one.deviation(name, place)
        for design in designs
        for one in findings.of(design)
        for place in places
    ]


def _answer(findings: Findings) -> str:
    said = []
    for name, called in (("MNRO", "in the default reading of Eq. 15"), (PRINTED, "as printed")):
        put = [one for one in DESIGNS if stays_put(findings, one, name)]
        said.append(f"{called} in {len(put)} of {len(DESIGNS)} designs ({_letters(put)})")
    of_map = [one for one in DESIGNS if stays_put(findings, one, "AP")]
    return (
        f"**Does AMNRO stay put while MAP moves?** It does {said[0]}, {said[1]}; MAP in "
        f"{len(of_map)}. To stay put is to move by {STAYS_PUT:.0f} % at most."
    )


def _where(design: Design) -> tuple[int, str]:
    """Where a design's generality lies; what crosses .01 stands alone."""
    if max(design.generalities) < 0.01:
        return 0, "Generality below .01 in A, B and C, as in the paper"
    if min(design.generalities) >= 0.01:
        return 2, "Generality of .01 or more in A, B and C"
    return 1, design.title


def _where_generality_is(findings: Findings, where: str, group: list[Design]) -> str:
    verdicts = []
    for name in ("MNRO", PRINTED):
        put = [stays_put(findings, one, name) for one in group]
        verdicts.append("stays put" if all(put) else "mixed" if any(put) else "moves")
    names = ("AP", "NMRR", "NAR", "MNRO", PRINTED)
    spans = (f"{MEANS[name]} {span(deviations(findings, group, name))} %" for name in names)
    return (
        f"**{where} ({_letters(group)}): AMNRO {verdicts[0]}, as printed it {verdicts[1]}.** "
        f"From A to C, over all descriptors: {', '.join(spans)}."
    )


def _of_nar(findings: Findings) -> str:
    cases = [one for one in findings.outcomes if one.descriptor != FLOOR]
    wins = sum(abs(one.deviation("NAR", 2)) < abs(one.deviation("MNRO", 2)) for one in cases)
    return (
        f"NAR moves less than AMNRO (default), from A to C, in {wins} of {len(cases)} pairs of a "
        "design and a descriptor, the random order left out. In the paper it moves more."
    )


def _of_zero(findings: Findings) -> str:
    design = DESIGNS[0]
    shares = ", ".join(
        f"{MEANS[name]} {signed(findings.span_moved(design, name))} %"
        for name in ("AP", "NMRR", "NAR", "MNRO", PRINTED)
    )
    return (
        "Percentages of a value depend on where its zero is. Without it, in per cent of the "
        f"distance between {findings.of(design)[0].descriptor} and the random order in A, the "
        f"change to C in design {design.letter} is: {shares}."
    )


def _of_the_end_of_the_scale(findings: Findings) -> str:
    design = DESIGNS[0]
    floor = findings.outcome(design, FLOOR)
    missed = [1 - floor.mean("AP", place) for place in (0, 2)]
    papers = [1 - each for each in PAPERS_MAP]
    return (
        f"Near the end of its scale a measure has nowhere to go: with the random order (AMNRO "
        f"{floor.mean('MNRO', 0):.2f} in A of design {design.letter}) AMNRO moves by "
        f"{signed(floor.deviation('MNRO', 2), 2)} %, MAP by {signed(floor.deviation('AP', 2))} %, "
        f"but 1 − MAP by {signed(_percent(missed), 2)} %. The paper's Table 2 lies near that end: "
        f"AMNRO {PAPERS_AMNRO[0]:.2f} in A moves by {signed(_percent(PAPERS_AMNRO), 2)} %, MAP by "
        f"{signed(_percent(PAPERS_MAP))} %, 1 − MAP by {signed(_percent(papers), 2)} %."
    )


def _percent(ends: Sequence[float]) -> float:
    return 100 * (ends[1] / ends[0] - 1)


def _of_single_draws(findings: Findings) -> str:
    design = DESIGNS[0]
    least = 100 * min(one.moves_less("MNRO", "AP") for one in findings.of(design))
    share = "all" if least == 100 else f"at least {least:.1f} % of"
    return (
        f"A single draw has 20 queries, as the paper's experiment. In design {design.letter} AMNRO "
        f"(default) deviates less than MAP, in per cent, from A to C, in {share} "
        f"{findings.draws} draws, whatever the descriptor."
    )


def _of_orders(findings: Findings) -> str:
    compared = findings.comparison
    taus = []
    for one, other in combinations(COMPARED, 2):
        tau, (low, high) = compared.tau(one, other)
        taus.append(f"{MEANS[one]} and {MEANS[other]} {tau:.2f} ({low:.2f} to {high:.2f})")
    return (
        f"**Do the measures order {len(compared.apart_from_floor)} descriptors alike?** Kendall's "
        f"tau-b, 1 for the same order, with its 95 % interval: {'; '.join(taus)}. (The paper "
        "concludes from its Table 8 that AMNRO “is not directly highly correlated” with the "
        "other two.)"
    )


def _of_opposite_orders(findings: Findings) -> str:
    compared = findings.comparison
    said = []
    for one, other in combinations(COMPARED, 2):
        pairs = compared.disagree(one, other)
        sure = sum(all(compared.stars(name, *pair) for name in (one, other)) for pair in pairs)
        named = ", ".join(" with ".join(compared.names[at] for at in pair) for pair in pairs)
        said.append(
            f"{MEANS[one]} and {MEANS[other]} {len(pairs)}{f' ({named})' if named else ''}, "
            f"{sure} of them beyond chance"
        )
    return (
        f"Of {len(compared.pairs)} pairs of descriptors, in opposite orders by {'; '.join(said)}. "
        "Beyond chance: both measures have stars (p ≤ .05), in opposite directions."
    )


def _of_stars(findings: Findings) -> str:
    compared = findings.comparison
    different = sum(
        len({compared.stars(name, *pair) for name in COMPARED}) > 1 for pair in compared.pairs
    )
    alike = np.array_equal(compared.of("MNRO"), compared.of(PRINTED))
    least = compared.relevant[0] / compared.collection
    return (
        f"MAP, ANMRR and AMNRO give unequal stars, as in the paper's Table 8, to {different} of "
        f"{len(compared.pairs)} pairs. The two readings of Eq. 15 are "
        f"{'the same' if alike else 'not the same'} in every query there (generality at least "
        f"{least:.2f})."
    )


def _letters(designs: list[Design]) -> str:
    return ", ".join(one.letter for one in designs) or "none"


def span(found: list[float]) -> str:
    """Print the smallest and the largest of some deviations."""
    return f"{signed(min(found))} to {signed(max(found))}"


def signed(number: float, decimals: int = 1) -> str:
    """Print a number with its sign, and nothing that rounds to zero as negative."""
    rounded = round(number, decimals) + 0.0
    return f"{rounded:+.{decimals}f}".replace("-", "−")
