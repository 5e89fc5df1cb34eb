"""Which collections grow, and what should come of it."""

from dataclasses import dataclass

from survey.core.measures.nmrr_mnro import mnro_horizon

SETS = "ABC"
QUERY_DIGITS = 4
QUERIES_PER_DIGIT = 5  # 20 queries in all, as in Section 5.2
THIRD = 356  # no six digits have fewer than 3 × 356 images
COPIES = 5  # an image and its four shifted ones


@dataclass(frozen=True)
class Design:
    """``relevant``: NG of each query; ``copies``: whether shifted copies join the others.

    ``expected``: what should come out, written down before the first run, from Eqs. 6 and
    14–15 alone: where K grows with N a relevant image keeps its place relative to K, and
    where it does not, the image falls behind.
    """

    letter: str
    title: str
    relevant: int
    copies: bool
    expected: str

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of images N in A, B and C."""
        first = QUERY_DIGITS * self.relevant + self.third
        return first, first + self.third, first + 2 * self.third

    @property
    def third(self) -> int:
        """How many images that show other digits each set has more than the one before."""
        return THIRD * (COPIES if self.copies else 1)

    @property
    def generalities(self) -> tuple[float, ...]:
        """NG/N in A, B and C."""
        return tuple(self.relevant / size for size in self.sizes)

    def horizons(self, *, literal_eq15: bool) -> list[float]:
        """MNRO's K in A, B and C."""
        return [mnro_horizon(self.relevant, n, literal_eq15=literal_eq15) for n in self.sizes]


DESIGNS = (
    Design(
        "a",
        "Generality below .01 in all three, as in the paper",
        3,
        False,
        "K is a multiple of N in both readings: MAP falls, both AMNRO stay put.",
    ),
    Design(
        "b",
        "Generality falls below .01 between A and B",
        5,
        False,
        "AMNRO rises a little to B, since K grows less than N, and stays; as printed it "
        "falls at B, where K jumps, and stays.",
    ),
    Design(
        "c",
        "Generality falls below .01 between B and C",
        10,
        False,
        "AMNRO rises, since K hardly grows; as printed it rises to B and falls below A at C.",
    ),
    Design(
        "d",
        "Generality above .01 in all three",
        20,
        False,
        "K is 4 NG throughout, the two readings are one, and AMNRO rises as ANMRR does.",
    ),
    Design(
        "e",
        "With shifted copies, three relevant images",
        3,
        True,
        "As in a.",
    ),
    Design(
        "f",
        "With shifted copies, ten relevant images",
        10,
        True,
        "As in a; as printed K is .4 N, so that hardly anything is late.",
    ),
)
