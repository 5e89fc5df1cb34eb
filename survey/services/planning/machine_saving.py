"""What a machine that judges a whole pool saves people who judge a sample of it."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from survey.core.statistics.beside_people import LEAST_POOL, LEAST_UNITS, planned_width
from survey.core.statistics.significance import rounded
from survey.core.studies.fields import Fault
from survey.services.planning.power import GridError
from survey.services.planning.power_fields import MACHINE_FIELDS

DEFAULTS = {name: rule.usual for name, rule in MACHINE_FIELDS.items()}


class Saving(NamedTuple):
    """What a machine saves ``n`` people's units of a ``pool``; widths are half of an interval.

    ``people_needed``: how many units people alone would have to judge for the same width.
    """

    n: int
    pool: int
    correlation: float
    half_width: float
    people_alone: float
    people_needed: int
    saved: int

    @property
    def sentence(self) -> str:
        """The figures in words."""
        width, alone = (
            f"±{rounded(each, 3).replace('0.', '.', 1)}"
            for each in (self.half_width, self.people_alone)
        )
        text = (
            f"With {self.n:,} judged by people and {self.pool:,} by a machine the 95 % interval is "
            f"{width}; with people alone {alone}."
        )
        if self.saved:
            text += (
                f" People alone would have to judge {self.people_needed:,} for that: the machine "
                f"saves {self.saved:,}."
            )
        else:
            text += " The machine saves nothing."
        if self.n < LEAST_UNITS or self.pool < LEAST_POOL * self.n:
            text += (
                f" Estimates use a machine only from {LEAST_UNITS} units of people on, and where "
                f"it judges {LEAST_POOL} times as many."
            )
        return text


def savings(texts: Mapping[str, str]) -> list[Saving]:
    """Return what a machine saves at each number that people judge.

    ``texts``: of some of MACHINE_FIELDS; others are as in DEFAULTS, ``judged`` at most the pool's
    size. Raises GridError with all faults.
    """
    faults: list[Fault] = []
    values: dict[str, list[float]] = {}
    for name, rule in MACHINE_FIELDS.items():
        try:
            values[name] = rule.parse(name, texts.get(name, DEFAULTS[name]))
        except ValueError as error:
            faults.append(Fault((name,), str(error)))
    if not faults and "judged" not in texts:
        pool_size = values["pool_size"][0]
        values["judged"] = sorted({min(each, pool_size) for each in values["judged"]})
    if not faults and values["judged"][-1] > values["pool_size"][0]:
        most = f"{values['pool_size'][0]:,}, what the machine judges"
        text = f"judged is {values['judged'][-1]:,}; it is at most {most}"
        faults.append(Fault(("judged",), text))
    if faults:
        raise GridError(faults)
    [correlation], [pool], [spread] = (
        values[name] for name in ("machine_correlation", "pool_size", "spread")
    )
    return [*_savings(values["judged"], int(pool), correlation, spread)]


def _savings(judged: list[float], pool: int, correlation: float, spread: float) -> Iterator[Saving]:
    for n in map(int, judged):
        widths = planned_width(n=n, pool=pool, correlation=correlation, spread=spread)
        yield Saving(n, pool, correlation, **widths)


def texts_of(figures: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that a machine's record tells, of ``estimates_of``; those of one estimate.

    The first one whose correlation is known. Raises GridError where there is none.
    """
    for figure in figures.get("figures", ()):
        if (
            figure.get("correlation", -1) >= 0
            and figure["spread"] <= MACHINE_FIELDS["spread"].highest
        ):
            return {
                "machine_correlation": str(figure["correlation"]),
                "spread": str(figure["spread"]),
                "pool_size": str(figures["sample"]["pool"]),
                "judged": str(figures["sample"]["drawn"]),
            }
    text = "no machine's answers to a sample of this study correlate with people's"
    raise GridError([Fault(("machine_correlation",), text)])
