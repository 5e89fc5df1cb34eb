"""The page in Markdown: what was found, what was done, and the tables."""

import platform
from collections.abc import Iterable
from importlib.metadata import version
from textwrap import TextWrapper

from benchmarks.digits import comparison as many
from benchmarks.digits import designs as growing
from benchmarks.digits.comparison import Comparison
from benchmarks.digits.descriptors import DESCRIPTORS
from benchmarks.digits.designs import DESIGNS, Design
from benchmarks.digits.findings import Findings
from benchmarks.digits.reading import STAYS_PUT, reading
from benchmarks.digits.tables import others, summary, table_2, table_5, table_8, widest
from survey import __version__

WIDTH = 100  # of a line of the page; tables are as wide as they are


def page(findings: Findings) -> str:
    """Write the page."""
    compared = findings.comparison
    parts = [
        "# Digits: the measures on real images",
        paragraph(
            "Sections 5.2 and 5.4 of the MNRO paper in small, written by `make digits`: plain "
            "descriptors rank 1,797 images of handwritten digits. Letters a to f are designs, see "
            "[below](#collections-that-grow-section-52-table-2)."
        ),
        "## In plain words",
        bullets(reading(findings)),
        "## What was done, and how it differs from the paper",
        bullets(_what(findings)),
        "## Collections that grow (Section 5.2, Table 2)",
        *map(paragraph, _growing(findings)),
        summary(findings),
        *(text for design in DESIGNS for text in _design(findings, design)),
        "### The other descriptors",
        paragraph(_others(findings)),
        others(findings),
        "## Many descriptors (Section 5.4, Tables 5 and 8)",
        paragraph(_many(compared)),
        table_5(compared),
        paragraph(
            "Neighbours by MAP, in per cent of the smaller mean as in Table 8, with its stars: "
            "\\* p ≤ .05, \\*\\* p ≤ .01, \\*\\*\\* p ≤ .001."
        ),
        table_8(compared),
        "## The descriptors",
        bullets(
            f"*{name}*: {(describe.__doc__ or '').splitlines()[0]}"
            for name, describe in DESCRIPTORS.items()
        ),
    ]
    return "\n\n".join(parts) + "\n"


def paragraph(text: str, first: str = "", further: str = "") -> str:
    """Break a text into lines; ``first`` and ``further`` stand at their beginnings."""
    lines = TextWrapper(
        WIDTH,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
    # No line begins with a per cent sign.
    return lines.fill(text.replace(" %", "\N{NO-BREAK SPACE}%")).replace("\N{NO-BREAK SPACE}", " ")


def bullets(texts: Iterable[str]) -> str:
    """Write a list of texts."""
    return "\n".join(paragraph(text, "- ", "  ") for text in texts)


def _what(findings: Findings) -> tuple[str, ...]:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        "*Images*: 8 × 8 pixels, 17 grey levels, ten digits by 13 writers (a part of UCI's "
        "“Optical Recognition of Handwritten Digits”, as it ships in scikit-learn). The paper has "
        "237,434 photos from Wikipedia, and descriptors of colour and texture.",
        "*Relevant* is what shows the same digit, *not relevant* another digit. The paper's topics "
        "are vaguer and its retrieval is harder: its MAP is .04 in A.",
        "*Queries* are in no collection, as in Section 5.2.",
        "*Ranking* by the Euclidean distance of features; nothing is trained. Of equally distant "
        "images one drawn at random comes first.",
        "*Measures*: mean average precision (MAP), mean precision at 10 and 20 (P(10), P(20)): "
        "higher is better. Means of NMRR, NAR and MNRO (ANMRR, NAR, AMNRO): lower is better. NG is "
        "the number of a query's relevant images, N that of all images of the collection, g = NG/N "
        "the generality.",
        "*The two readings of Eq. 15*: from g = .01 on, MNRO's K is 4 NG in both. Below, the "
        "default is K = .04 N, the printed one K = .04 N · NG.",
        "*Evidence*: all intervals are of 95 %, percentile bootstraps. Over draws (Section 5.2) "
        "they say how the figures would vary if more such draws were made from the same 1,797 "
        "images; over queries (Section 5.4), with other queries of this kind. Neither speaks for "
        "other images, larger collections or better descriptors. No p value is corrected for the "
        "number of pairs, and the side of each test is the one seen.",
        f"*Versions*: survey {__version__}, Python {platform.python_version()}, {packages}; seed "
        f"{findings.seed}.",
    )


def _growing(findings: Findings) -> tuple[str, str, str]:
    return (
        f"In each of {findings.draws} draws {growing.QUERY_DIGITS} digits are chosen, of each "
        f"{growing.QUERIES_PER_DIGIT} images as queries and NG as relevant images; what is left "
        f"of them is put aside. A holds all relevant images and {growing.THIRD} of the six other "
        "digits, B and C as many more each. *With copies*, each image of another digit is there "
        f"{growing.COPIES} times, as it is and moved by one pixel to each side: a larger "
        "collection, of less variety. All descriptors see the same draws: "
        f"{', '.join(findings.growing)}. Figures are means over draws; deviations are from A, in "
        "per cent of A, as in Table 2. A measure *stays put* in a design if no deviation, with any "
        f"descriptor, in B or C, is above {STAYS_PUT:.0f} %, a bound of ours, set after a first "
        "look. What is *expected* was written down before the first run.",
        "Where K grows as N does, AMNRO may fall a little: the relevant images that stand ahead "
        "of another one do not become more, so its rank grows a little less than K.",
        "From A to C, the smallest and the largest deviation over the descriptors:",
    )


def _design(findings: Findings, design: Design) -> tuple[str, str, str]:
    sizes = ", ".join(f"{size:,}" for size in design.sizes)
    generalities = ", ".join(f"{g:.4f}" for g in design.generalities)
    default, printed = (
        ", ".join(f"{k:,.0f}" for k in design.horizons(literal_eq15=literal))
        for literal in (False, True)
    )
    return (
        f"### {design.letter}. {design.title}",
        paragraph(
            f"NG = {design.relevant}. In A, B, C: N = {sizes}; g = {generalities}; K = {default}, "
            f"as printed {printed}. *Expected*: {design.expected} Shown: {findings.growing[0]}; "
            "its span is its distance from the random order in A."
        ),
        table_2(findings, design),
    )


def _others(findings: Findings) -> str:
    return (
        "Deviations from A to C. The widest interval, of all designs and descriptors, is "
        f"± {widest(findings, 'AP'):.1f} points for MAP and ± {widest(findings, 'MNRO'):.1f} "
        "for AMNRO."
    )


def _many(found: Comparison) -> str:
    least, most = found.relevant
    return (
        f"{many.QUERIES_PER_DIGIT} queries of each digit, against the {found.collection:,} other "
        f"images, of which {least} to {most} are relevant (g about "
        f"{least / found.collection:.1f}; NMRR's K is 2 NG). Sorted by MAP, with intervals over "
        f"queries ({found.resamples:,} resamples), and the ranks that three measures give. The "
        "random order is left out of tau-b and of the pairs counted above."
    )
