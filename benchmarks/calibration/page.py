"""The calibration as a page in Markdown: what it says in plain words, and a table for each part."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.calibration.cells import Answer, Cell, Mean, Rate, Target, rate_of
from benchmarks.calibration.plan import PARTS

Counts = Mapping[str, Mapping[str, Sequence[int]]]
"""Cell → what is counted → how often it happened, and of how many replicates.

Of sizes: their sum, the number of replicates, the sum of squares."""

HEAD = ("Simulated", "Counted", "Should be, %", "Is, %", "95 %", "Replicates", "Verdict")
SIDES = "llrrrrl"
WORDS: Mapping[Answer, str] = {
    "met": "met",
    "not met": "**not met**",
    "not decided": "not decided by so many replicates",
}


class Row(NamedTuple):
    """A row of the page."""

    cell: Cell
    what: str
    target: Target
    rate: Rate | Mean

    @property
    def answer(self) -> Answer:
        """Whether the target is met."""
        return self.target.judge(self.rate)

    @property
    def text(self) -> str:
        """Return the rate with its Monte Carlo interval, as docs quote it."""
        return f"{percent(self.rate.share)} % ({interval(self.rate)})"


def rows(cells: Sequence[Cell], counts: Counts) -> list[Row]:
    """Return all rows; raises KeyError for a cell that has not been simulated."""
    return [
        Row(cell, what, target, rate_of(counts[cell.name][what]))
        for cell in cells
        for what, target in cell.targets.items()
    ]


def page(cells: Sequence[Cell], counts: Counts, *, seed: int, versions: str) -> str:
    """Write the page."""
    every = rows(cells, counts)
    text = [
        "# Calibration: how often verdicts are wrong, and right, where the truth is known",
        "",
        "Written by `make calibrate`. Studies are simulated whose truth is known, and the analysis'"
        " own functions judge them. Each row has the rate that should come out, written down "
        "before the run; the rate that did, with the interval that so many simulated studies leave "
        "(95 %, Wilson); and whether the rate is as it should be. *Met*: the whole interval is "
        "where it should be. *Not met*: none of it is. *Not decided*: more simulated studies would "
        "be needed to tell. Rows that 8,000 studies had left undecided were given more; no target "
        "was changed.",
        "",
        f"Designs are people × questions, or people × questions each of a pool. Seed {seed}; each "
        "simulated study has a random stream of its own, so that no figure depends on the number "
        f"of processes. {versions}.",
        "",
        "## In plain words",
        "",
        *_in_plain_words(every),
    ]
    for part, truth in PARTS.items():
        of_part = [row for row in every if row.cell.finding == part]
        text += ["", f"## {part}", "", truth, "", *_table(of_part)]
        for line in _follows(of_part):
            text += ["", line]
    return "\n".join(text) + "\n"


def _in_plain_words(every: Sequence[Row]) -> Iterator[str]:
    answers = Counter(row.answer for row in every)
    yield (
        f"- {answers['met']} of {len(every)} rates are as they should be, {answers['not met']} are "
        f"not, and {answers['not decided']} are too near to their target to tell."
    )
    for part in PARTS:
        failed = [row for row in every if row.cell.finding == part and row.answer == "not met"]
        for follows in dict.fromkeys(row.target.follows for row in failed):
            rates = [row for row in failed if row.target.follows == follows]
            yield f"- **Not as it should be**: {part}, {_reach(rates)}. {follows}"
    for part in PARTS:
        of_part = [row for row in every if row.cell.finding == part]
        for what in dict.fromkeys(row.what for row in of_part):
            yield f"- {part}: {what}: {_reach([row for row in of_part if row.what == what])}."


def _reach(of_kind: Sequence[Row]) -> str:
    """Return from where to where some rates reach, and what they should be."""
    shares = [row.rate.share for row in of_kind]
    ends = dict.fromkeys(percent(end) for end in (min(shares), max(shares)))
    should = " or ".join(dict.fromkeys(str(row.target) for row in of_kind))
    return f"{' to '.join(ends)} % (should be {should})"


def _table(of_part: Sequence[Row]) -> Iterator[str]:
    rule = ["---:" if side == "r" else "---" for side in SIDES]
    lines = [
        (
            row.cell.truth,
            row.what,
            str(row.target),
            percent(row.rate.share),
            interval(row.rate),
            f"{row.rate.of:,}",
            WORDS[row.answer],
        )
        for row in of_part
    ]
    for line in (HEAD, rule, *lines):
        yield "| " + " | ".join(line) + " |"


def _follows(of_part: Sequence[Row]) -> Iterator[str]:
    """Yield what follows from the rows that are not met, or not decided."""
    for answer, start in (("not met", "Not met"), ("not decided", "Not decided")):
        failed = [row for row in of_part if row.answer == answer]
        for follows in dict.fromkeys(row.target.follows for row in failed):
            where = "; ".join(
                f"{row.cell.truth}, {row.text}" for row in failed if row.target.follows == follows
            )
            yield f"*{start}:* {where}. *What follows:* {follows}"


def percent(share: float) -> str:
    """Print a share in per cent."""
    return f"{100 * share:.1f}"


def interval(rate: Rate | Mean) -> str:
    """Print a rate's Monte Carlo interval in per cent."""
    return "{}–{}".format(*map(percent, rate.interval))
