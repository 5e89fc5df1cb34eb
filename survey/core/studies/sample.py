"""A sample: the part of a pool that people judge, drawn at random, where a machine judges all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from survey.core.collections.pools import by_chance
from survey.core.studies.fields import Fault, Nested, list_words
from survey.core.text_input import Json, parse_whole

SAMPLE_STREAM = 0x7361_6D70  # "samp" in ASCII: random numbers unrelated to those of other draws
FILE = "pool"  # of a plan's file: the file beside it from which the units come
Sample = Mapping[str, int]
"""What is drawn, like documents → how many of them; one entry."""


@dataclass(frozen=True)
class SampleRule(Nested):
    """Rule of a sample; ``units``: what can be drawn."""

    units: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Json]:
        """One of the units with its number, and in a plan's file the file of the pool."""
        counts: dict[str, Json] = {unit: {"type": "integer", "minimum": 1} for unit in self.units}
        file: dict[str, Json] = {FILE: {"type": "string"}} if "documents" in self.units else {}
        return {
            "type": "object",
            "properties": {**counts, **file},
            "additionalProperties": False,
        }


def read_sample(stored: object, units: Sequence[str], faults: list[Fault]) -> Sample | None:
    """Parse the sample of a plan and add its faults."""
    if not stored:
        return None
    form = " or ".join(f"{{{unit}: 30}}" for unit in units)
    if isinstance(stored, Mapping) and FILE in stored:
        text = "sample.pool names a file; `survey study new --from` reads it beside the plan"
        faults.append(Fault(("sample",), text))
    elif not isinstance(stored, Mapping) or len(stored) != 1 or {*stored} - {*units}:
        text = f"sample is {_shown(stored)}; it is written like {form}"
        if isinstance(stored, Mapping) and "machine" in stored:
            text += ". Units are drawn at random; a machine's answers cannot choose them"
        faults.append(Fault(("sample",), text))
    else:
        [(unit, written)] = stored.items()
        # A plan's file has what is under "documents" or "topics" as texts, as it does with ids.
        number = parse_whole(written) if isinstance(written, str) else written
        if type(number) is int and number >= 1:
            return {unit: number}
        text = f"sample has {written} {unit}; a whole number from 1 is needed"
        faults.append(Fault(("sample",), text))
    return None


def _shown(stored: object) -> str:
    if not isinstance(stored, Mapping):
        return repr(stored)
    return f"{{{', '.join(f'{name}: {value}' for name, value in stored.items())}}}"


def size_faults(sample: Sample, population: int) -> Iterable[Fault]:
    """Yield a fault of a sample that is not smaller than the pool it is drawn from."""
    [(unit, number)] = sample.items()
    if number >= population:
        text = f"sample has {number:,} {unit} of {population:,}; fewer are drawn, or leave it out"
        yield Fault(("sample",), text)


def refused_beside(settings: Mapping[str, Any], why: str) -> Iterable[Fault]:
    """Yield a fault where a plan with a sample has settings that do not go with it."""
    if settings:
        named = list_words([f"{name}: {value}" for name, value in settings.items()])
        yield Fault(("sample",), f"sample does not go with {named}; {why}")


def drawn(names: Iterable[str], number: int, seed: int) -> frozenset[str]:
    """Draw a simple random sample of names, the same for the same seed on every machine."""
    return frozenset(by_chance(names, seed, SAMPLE_STREAM)[:number])


def sample_sentence(sample: Sample, population: int) -> str:
    """Return what people judge and what a machine does, without a full stop."""
    [(unit, number)] = sample.items()
    return (
        f"people judge {number:,} of {population:,} {unit}, drawn at random; a machine judges all"
    )
