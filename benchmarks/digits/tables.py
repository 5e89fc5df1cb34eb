"""The tables of the page, in Markdown."""

from collections.abc import Sequence

from benchmarks.digits.comparison import COMPARED, Comparison
from benchmarks.digits.designs import DESIGNS, Design
from benchmarks.digits.findings import Findings
from benchmarks.digits.outcome import Outcome
from benchmarks.digits.reading import MEANS, deviations, signed, span
from benchmarks.digits.retrieval import PRINTED

IN_TABLE_2 = ("AP", "P@10", "NMRR", "NAR", "MNRO", PRINTED)


def summary(findings: Findings) -> str:
    """One row for each design: deviations from A to C over all descriptors."""
    rows = [
        (
            design.letter,
            "yes" if design.copies else "no",
            str(design.relevant),
            " to ".join(f"{design.generalities[place]:.4f}" for place in (0, 2)),
            *(span(deviations(findings, [design], name)) for name in IN_TABLE_2),
        )
        for design in DESIGNS
    ]
    head = ("Design", "Copies", "NG", "g, A to C", *_in_percent())
    return markdown(head, rows, "llr" + "r" * (len(head) - 3))


def table_2(findings: Findings, design: Design) -> str:
    """One row for each measure, with the first descriptor."""
    one = findings.of(design)[0]
    rows = [
        (
            MEANS[name],
            f"{one.mean(name, 0):.4f}",
            *_beside_deviation(one, name, 1),
            *_beside_deviation(one, name, 2),
            signed(findings.span_moved(design, name)),
        )
        for name in IN_TABLE_2
    ]
    head = ("Mean", "A", "B", "Dev. %", "C", "Dev. %", "C − A, % of span")
    return markdown(head, rows, "lrrrrrr")


def _beside_deviation(one: Outcome, name: str, place: int) -> tuple[str, str]:
    low, high = one.interval(name, place)
    interval = f"({signed(low)} to {signed(high)})"
    return f"{one.mean(name, place):.4f}", f"{signed(one.deviation(name, place))} {interval}"


def others(findings: Findings) -> str:
    """One row for each design and descriptor but the first: deviations from A to C."""
    rows = [
        (
            design.letter,
            one.descriptor,
            f"{one.mean('AP', 0):.3f}",
            f"{one.mean('MNRO', 0):.3f}",
            *(signed(one.deviation(name, 2)) for name in IN_TABLE_2),
        )
        for design in DESIGNS
        for one in findings.of(design)[1:]
    ]
    head = ("Design", "Descriptor", "MAP in A", "AMNRO in A", *_in_percent())
    return markdown(head, rows, "ll" + "r" * (len(head) - 2))


def widest(findings: Findings, name: str) -> float:
    """Return half the width of the widest interval of a deviation from A to C."""
    ends = [one.interval(name, 2) for one in findings.outcomes]
    return max(high - low for low, high in ends) / 2


def _in_percent() -> list[str]:
    return [f"{MEANS[name]} %" for name in IN_TABLE_2]


def table_5(found: Comparison) -> str:
    """One row for each descriptor: means, intervals, ranks by three measures."""
    ranks = [found.ranks(name) for name in COMPARED]
    rows = [
        (
            name,
            *(_with_interval(found, one, place) for one in ("AP", "P@10", "P@20", "NMRR", "MNRO")),
            *(f"{each[place]:.0f}" for each in ranks),
        )
        for place, name in enumerate(found.names)
    ]
    by = (f"by {MEANS[name]}" for name in COMPARED)
    head = ("Descriptor", "MAP", "P(10)", "P(20)", "ANMRR", "AMNRO", *by)
    return markdown(head, rows, "lrrrrrrrr")


def _with_interval(found: Comparison, measure: str, place: int) -> str:
    low, high = found.interval(measure, place)
    return f"{found.mean(measure)[place]:.4f} ({low:.3f}–{high:.3f})"


def table_8(found: Comparison) -> str:
    """One row for each two neighbours by MAP: in per cent of the smaller mean, with stars."""
    rows = []
    for place in range(len(found.names) - 1):
        cells = []
        for measure in COMPARED:
            first, second = found.mean(measure)[place : place + 2]
            percent = 100 * (max(first, second) / min(first, second) - 1)
            stars = found.stars(measure, place, place + 1).replace("*", r"\*")
            cells.append(f"{percent:.1f} % {stars}".rstrip())
        rows.append((*found.names[place : place + 2], *cells))
    head = ("Better by MAP", "than", *(MEANS[name] for name in COMPARED))
    return markdown(head, rows, "llrrr")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> str:
    """Write a table whose columns stand below each other in the source; ``sides``: l or r each."""
    whole = [head, *rows]
    widths = [max(3, *map(len, column)) for column in zip(*whole, strict=True)]
    justified = [
        [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ]
        for row in whole
    ]
    rule = [
        "-" * (width - 1) + (":" if side == "r" else "-")
        for width, side in zip(widths, sides, strict=True)
    ]
    lines = (justified[0], rule, *justified[1:])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
