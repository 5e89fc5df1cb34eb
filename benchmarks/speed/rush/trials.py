"""Two trials of a server: as many answers as it takes at once, and a class at its own pace."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np

from benchmarks.speed.rush.people import Crowd, Survey
from benchmarks.speed.rush.servers import Place
from benchmarks.speed.rush.wire import attend


@dataclass
class Trial:
    """What people met. ``answers``: acknowledged; ``stored``: rows counted afterwards.

    ``milliseconds``: of each page, sorted; ``rate``: pages a second; ``generator``: the share
    of a processor that playing the people took.
    """

    answers: int
    rate: float
    milliseconds: list[float]
    generator: float
    stored: int = -1

    @property
    def p99(self) -> float:
        """What one page in a hundred takes longer than, in milliseconds."""
        return self.milliseconds[int(0.99 * len(self.milliseconds))]


def rush(place: Place, survey: Survey, people: int, at_once: int, seconds: float) -> Trial:
    """Let people answer without a pause, so many at once; they are at question 1 before it counts.

    It ends after ``seconds``, or when fewer than ``at_once`` are left of them; they have twice
    that time to come.
    """
    crowd = Crowd(survey)
    attend(crowd.coming(people), place.address, at_once, 2 * seconds)
    return _timed(crowd, lambda: attend(crowd.answering(), place.address, at_once, seconds))


def class_of(
    place: Place, survey: Survey, people: int, seconds: float, thinking: tuple[float, float]
) -> Trial:
    """Let so many come, read and answer, and others in their stead once they are done.

    ``thinking``: the least and the most seconds before each page, drawn evenly.
    """
    chance = np.random.default_rng(300)
    crowd = Crowd(survey, lambda: float(chance.uniform(*thinking)))
    return _timed(crowd, lambda: attend(crowd.taking_part(), place.address, people, seconds))


def _timed(crowd: Crowd, run: Callable[[], float]) -> Trial:
    spent, begun = process_time(), perf_counter()
    lasted = run()
    spent, whole = process_time() - spent, perf_counter() - begun
    within = sum(moment - begun <= lasted for moment in crowd.moments)
    return Trial(
        answers=len(crowd.seconds),
        rate=within / lasted,
        milliseconds=sorted(1000 * one for one in crowd.seconds),
        generator=spent / whole,
    )
