"""Estimates from few people and many machine answers, each beside that from people alone.

They are made where the plan says beforehand what people judge of all that a machine judges
(``sample``); a kind of question says which figures these are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from survey.core.agreement.machine_estimates import assumptions, estimate_sentence, estimate_values
from survey.core.kinds import KINDS
from survey.core.statistics.significance import Interval
from survey.services.analysis.sheets import Cell, Sheet
from survey.services.analysis.study_results import AnalysisOptions

COLUMNS = (
    *("estimate of", "with the machine", "from", "to", "people alone", "95 % from", "95 % to"),
    *("judged by people", "by the machine", "weight", "correlation"),
)
NOTE = (
    "Weight: how far the machine's answers correct people's, 0 to 1. Correlation: of the two where "
    "both answered; `survey power --machine-correlation` says what it saves. Each rests on this: "
    "{assumptions}"
)


class Counts(NamedTuple):
    """How many judgements of people and of the machine an estimate rests on."""

    human: int
    machine: int


@dataclass(frozen=True)
class Estimate:
    """An estimate: of what, ``figures`` of ``beside_people``, and the answers behind them.

    ``figures``: only ``missing`` where people answered too little for any figure. ``values``:
    people's and the machine's, of the units that both judged. ``percent``: whether it is a share.
    """

    name: str
    title: str
    figures: Mapping[str, Any]
    counts: Counts
    values: tuple[Sequence[float], Sequence[float]] = ((), ())
    percent: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values; with the machine only where nothing is missing."""
        figures = self.figures
        about = {
            "name": self.name,
            "title": self.title,
            "percent": self.percent,
            **self.counts._asdict(),
        }
        if "n" not in figures:
            sentence = f"There is no estimate yet: {'; '.join(figures['missing'])}."
            return {**about, "missing": [*figures["missing"]], "sentence": sentence}
        both, alone = (self._side(is_alone=is_alone) for is_alone in (False, True))
        return {
            **about,
            **{name: figures[name] for name in ("n", "M", "weight") if name in figures},
            **correlation_of(*self.values),
            **({} if figures["missing"] else {"with_machine": both}),
            "people_alone": alone,
            "missing": [*figures["missing"]],
            "sentence": estimate_sentence(
                figures,
                human=self.counts.human,
                machine=self.counts.machine,
                percent=self.percent,
            ),
        }

    def _side(self, *, is_alone: bool) -> dict[str, Any]:
        """Return an estimate with its interval for the pool; where known, for units of this kind.

        Where people are drawn too there is one interval, of people and units of this kind.
        """
        figures = self.figures
        (value, interval), (_, of_kind) = (
            estimate_values(figures, population)[is_alone] for population in ("pool", "kind")
        )
        side: dict[str, Any] = {"estimate": value, "ci95": _listed(interval)}
        if "count" in figures:
            counted = figures["people_alone"] if is_alone else figures
            return side | {
                "count": counted["count"],
                "count_ci95": _listed(counted["count_ci95"]),
            }
        return side if of_kind == interval else side | {"kind_ci95": _listed(of_kind)}


@dataclass(frozen=True)
class Estimates:
    """What a kind estimates from the sample of a plan; ``unit``: what was drawn."""

    unit: str
    drawn: int
    answered: int
    pool: int
    made: Sequence[Estimate]


def gaps(unit: str, drawn: int, answered: int, asked: int, pool: int) -> list[str]:
    """Return what breaks the assumptions: drawn units without answers, units not asked about."""
    missing = []
    if answered < drawn:
        missing.append(
            f"{drawn - answered:,} of the {drawn:,} drawn {unit} have no complete answer, so those "
            "that have one are no random sample"
        )
    if asked < pool:
        missing.append(f"the machine was asked about {asked:,} of the {pool:,} {unit}, not all")
    return missing


def correlation_of(people: Sequence[float], machine: Sequence[float]) -> dict[str, float]:
    """Return Pearson's correlation, and the standard deviation of people's values.

    Empty where one side does not vary.
    """
    y, f = (np.array(values, dtype=np.float64) for values in (people, machine))
    if len(y) < 2 or not np.ptp(y) or not np.ptp(f):
        return {}
    return {"correlation": float(np.corrcoef(y, f)[0, 1]), "spread": float(y.std(ddof=1))}


def estimates_of(content: Any, machine: Any, options: AnalysisOptions) -> dict[str, Any]:
    """Return the estimates as plain values; empty where people judged no sample of the plan."""
    kind: Any = KINDS[content.plan.kind]
    estimates: Estimates | None = kind.machine_estimates(content, machine, options)
    if estimates is None:
        return {}
    sizes = {"n": estimates.drawn, "M": estimates.pool}
    return {
        "sample": {
            "unit": estimates.unit,
            "drawn": estimates.drawn,
            "answered": estimates.answered,
            "pool": estimates.pool,
        },
        "assumptions": [*assumptions(sizes)],
        "figures": [estimate.as_json() for estimate in estimates.made],
    }


def estimate_sheets(figures: Mapping[str, Any]) -> list[Sheet]:
    """Return the table of estimates, below it each as a sentence, and the assumptions.

    ``figures``: of ``estimates_of``.
    """
    if not figures or not figures["figures"]:
        return []
    sentences = [f"{each['title']}: {each['sentence']}" for each in figures["figures"]]
    note = NOTE.format(assumptions=" ".join(figures["assumptions"]))
    title = "Estimates from few people and many machine answers"
    rows = tuple(map(_row, figures["figures"]))
    return [Sheet("machine-estimates", title, COLUMNS, rows, " ".join([*sentences, note]))]


def _row(estimate: Mapping[str, Any]) -> tuple[Cell, ...]:
    cells: list[Cell] = [estimate["title"]]
    for side in ("with_machine", "people_alone"):
        values = estimate.get(side, {"estimate": None, "ci95": None})
        cells += [values["estimate"], *(values["ci95"] or (None, None))]
    cells += [estimate.get(name) for name in ("n", "M", "weight", "correlation")]
    return tuple(cells)


def _listed(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [*interval]
