"""A seeded stream of positions, the same on every machine and under every numpy."""

from collections.abc import Iterator

from numpy.random import PCG64, SeedSequence


class Positions:
    """A seeded stream of positions.

    Reads the raw 64-bit output of PCG64, which numpy keeps stable from release to
    release, and not the methods of ``Generator``, which it does not: a study's
    lists must come out of its seed in ten years' time as well.

    ``generator``: further spawn keys, so that generators do not share a stream.
    """

    def __init__(self, seed: int, question: int, *generator: int) -> None:
        self._words = _words_of(PCG64(SeedSequence(seed, spawn_key=(question, *generator))))

    def below(self, bound: int) -> int:
        """Draw a whole number from 0…bound−1, each equally likely."""
        limit = 2**64 - 2**64 % bound
        while True:
            raw = next(self._words)
            if raw < limit:
                return raw % bound

    def sample(self, relevant: int, collection_size: int) -> list[int]:
        """Draw ``relevant`` distinct positions from 1…collection_size, sorted."""
        drawn: set[int] = set()
        while len(drawn) < relevant:
            drawn.add(1 + self.below(collection_size))
        return sorted(drawn)

    def order(self, items: int) -> list[int]:
        """Draw an order of 0…items−1, each equally likely (Fisher and Yates)."""
        drawn = list(range(items))
        for last in range(items - 1, 0, -1):
            other = self.below(last + 1)
            drawn[last], drawn[other] = drawn[other], drawn[last]
        return drawn


def _words_of(bits: PCG64) -> Iterator[int]:
    """Give the raw output one by one; a single call to numpy for many of them is faster."""
    while True:
        yield from bits.random_raw(256).tolist()


def most_draws(draws: int, positions: int, lists: int, relevant: int, collection_size: int) -> int:
    """Return how many sets are drawn before a search gives up: the same on every machine.

    At most ``draws``, and as many as take ``positions`` positions on average, counting
    those that are drawn twice in a list, which is many where nearly all of a
    collection is relevant.
    """
    per_list = sum(collection_size / (collection_size - k) for k in range(relevant))
    return max(1, min(draws, int(positions / (lists * per_list))))
