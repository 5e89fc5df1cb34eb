"""Where a study's ranked lists come from: seeded generators with golden values."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from numpy.random import PCG64, SeedSequence

from survey.core.measures import Setting
from survey.core.stimuli.questions import Question, build_question

# Part of the study digest. Raise it whenever a generator would draw other lists
# from the same seed; the golden values in the tests say when that is so.
GENERATOR_VERSION = 1

# A set that keeps being refused after so many draws will not come out at all.
MOST_DRAWS = 10_000


class Positions:
    """A seeded stream of positions.

    Reads the raw 64-bit output of PCG64, which numpy keeps stable from release to
    release, and not the methods of ``Generator``, which it does not: a study's
    lists must come out of its seed in ten years' time as well.
    """

    def __init__(self, seed: int, question: int) -> None:
        self._bits = PCG64(SeedSequence(seed, spawn_key=(question,)))

    def below(self, bound: int) -> int:
        """Draw a whole number from 0…bound−1, each equally likely."""
        limit = 2**64 - 2**64 % bound
        while True:
            raw = int(self._bits.random_raw())
            if raw < limit:
                return raw % bound

    def sample(self, relevant: int, collection_size: int) -> list[int]:
        """Draw ``relevant`` distinct positions from 1…collection_size, sorted."""
        drawn: set[int] = set()
        while len(drawn) < relevant:
            drawn.add(1 + self.below(collection_size))
        return sorted(drawn)


def random_question(
    number: int,
    *,
    seed: int,
    lists: int,
    relevant: int,
    measures: Sequence[str],
    setting: Setting,
) -> Question:
    """Draw a question as the paper did: positions uniform, without replacement.

    Refused and drawn again are only a set in which a list occurs twice and a set
    in which some measure ties all its lists. Each question has a stream of its
    own, so question 3 of a seed is the same in a study of 5 and of 50 questions.

    Raises ValueError when the numbers leave no such set (MNRO paper, Section 5.3).
    """
    positions = Positions(seed, number)
    for _ in range(MOST_DRAWS):
        drawn = [positions.sample(relevant, setting.collection_size) for _ in range(lists)]
        if len({tuple(row) for row in drawn}) < lists:
            continue
        question = build_question(number, drawn, measures, setting)
        if not any(ranking.all_tied for ranking in question.rankings.values()):
            return question
    raise ValueError(
        f"no set of {lists} different lists of {relevant} positions among "
        f"{setting.collection_size} came up in {MOST_DRAWS} draws that every measure can order; "
        "ask for fewer lists, fewer relevant items or a larger collection"
    )


Generator = Callable[..., Question]

GENERATORS: Mapping[str, Generator] = MappingProxyType({"random": random_question})
"""Generators by the name that ``survey study new --generator`` takes."""
