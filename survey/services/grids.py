"""The studies that a planner compares: participants × questions × difference."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from survey.core.agreement.planning import PlannedStudy, decided_share
from survey.core.stimuli.faults import Fault
from survey.core.stimuli.plan import BOUNDS, Plan
from survey.services.errors import SurveyError

MOST_VALUES = 10
MOST_QUESTIONS = BOUNDS["questions"][1]
NO_POOL = "none"

DEFAULTS: Mapping[str, str] = {
    "participants": "20,30,50",
    "questions": "10,20",
    "pool": "30",
    "difference": ".05,.10,.15",
    "decided": ".68",
    "between_questions": ".15",
    "between_participants": ".05",
    "replicates": "2000",
    "seed": "1",
}
WHOLE_NUMBERS = {  # lowest and highest
    "participants": (2, 1000),
    "questions": (2, MOST_QUESTIONS),
    "pool": (2, MOST_QUESTIONS),
    "replicates": (100, 100_000),
    "seed": (0, 2**32 - 1),
}
SHARES = {
    "difference": (0, 1),
    "decided": (0.05, 1),
    "between_questions": (0, 1),
    "between_participants": (0, 1),
}
SEVERAL = ("participants", "questions", "pool", "difference")


class GridError(SurveyError):
    """A grid that cannot be; ``faults`` holds everything that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.text for fault in self.faults))


@dataclass(frozen=True)
class Grid:
    """Planned studies, by difference, participants and questions, and how to simulate them.

    ``texts``: the fields as they were asked for.
    """

    studies: tuple[PlannedStudy, ...]
    replicates: int
    seed: int
    texts: Mapping[str, str]

    @property
    def cost(self) -> int:
        """What simulating all of it costs, as ``simulate_power`` counts its progress."""
        return sum(study.cost for study in self.studies) * self.replicates


def read_grid(given: Mapping[str, str]) -> Grid:
    """Make a grid from texts like "20,30,50"; what is not given is as in ``DEFAULTS``.

    ``pool`` may be "none". Raises GridError with every fault, its place being the field.
    """
    texts = {name: given.get(name, usual).strip() for name, usual in DEFAULTS.items()}
    faults: list[Fault] = []
    values: dict[str, list[float]] = {}
    for name, text in texts.items():
        try:
            values[name] = _numbers(name, text)
        except ValueError as error:
            faults.append(Fault((name,), str(error)))
    faults = faults or list(_disagreements(values))
    if faults:
        raise GridError(faults)
    try:
        studies = tuple(_studies(values))
    except ValueError as error:  # too few answers for the pool; all else fits by now
        raise GridError([Fault(("pool",), str(error))]) from error
    return Grid(studies, int(values["replicates"][0]), int(values["seed"][0]), texts)


def texts_of(plan: Plan) -> dict[str, str]:
    """Return the fields that a study's plan decides."""
    return {
        "participants": str(plan.participants),
        "questions": str(plan.asked),
        "pool": str(plan.questions) if plan.asked < plan.questions else NO_POOL,
        "decided": f"{decided_share(len(plan.measures)):.2f}",
    }


def _numbers(name: str, text: str) -> list[float]:
    if name == "pool" and text.lower() == NO_POOL:
        return []
    kind = int if name in WHOLE_NUMBERS else float
    lowest, highest = (WHOLE_NUMBERS | SHARES)[name]
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > (MOST_VALUES if name in SEVERAL else 1):
        raise ValueError(f"{name} has {len(parts)} values; {_allowed(name)}")
    values: list[float] = []
    for part in parts:
        try:
            values.append(kind(part))
        except ValueError:
            raise ValueError(f"{name} is {part[:40]!r}; {_allowed(name)}") from None
        if not lowest <= values[-1] <= highest:
            raise ValueError(f"{name} is {part[:40]}; {_allowed(name)}")
    return sorted(set(values))


def _allowed(name: str) -> str:
    lowest, highest = (WHOLE_NUMBERS | SHARES)[name]
    what = "whole number" if name in WHOLE_NUMBERS else "share"
    many = f"one to {MOST_VALUES} {what}s" if name in SEVERAL else f"a {what}"
    also = f", or {NO_POOL}," if name == "pool" else ""
    return f"{many} from {lowest} to {highest}{also} can be asked for, like {DEFAULTS[name]}"


def _disagreements(values: Mapping[str, Sequence[float]]) -> Iterable[Fault]:
    fewest, decided = int(min(values["questions"])), values["decided"][0]
    if values["pool"] and max(values["pool"]) <= fewest:
        yield Fault(
            ("pool",),
            f"pool is {max(values['pool'])}; it must hold more than the {fewest} questions that "
            f"each participant answers, or be {NO_POOL}",
        )
    if max(values["difference"]) > decided:
        yield Fault(
            ("difference",),
            f"difference is {max(values['difference']):g}; where a share of {decided:g} of the "
            f"responses decides between two measures, it can be {decided:g} at most",
        )


def _studies(values: Mapping[str, Sequence[float]]) -> Iterable[PlannedStudy]:
    spread = (values["decided"][0], values["between_questions"][0])
    for difference in values["difference"]:
        for people in map(int, values["participants"]):
            for asked in map(int, values["questions"]):
                pools = [int(pool) for pool in values["pool"] if pool > asked]
                for questions in (asked, *pools):
                    yield PlannedStudy(
                        people,
                        asked,
                        questions,
                        difference,
                        *spread,
                        values["between_participants"][0],
                    )
