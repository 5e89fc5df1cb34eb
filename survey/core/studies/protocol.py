"""What a study measures and tests, as its plan decides it before anyone answers."""

from dataclasses import dataclass

NO_POWER = (
    "Power is not simulated for this kind of question. In its place stand the numbers of "
    "participants and questions, and the intervals that are reported with each result."
)


@dataclass(frozen=True)
class Protocol:
    """The analysis that follows from a plan, in parts of sentences for registrations and papers.

    ``outcome``: what is measured; ``conditions``: what varies within participants; ``randomised``:
    what is drawn for each participant; ``pairs``: whose differences are tested, like MNRO-AP;
    ``primary``: the one tested first and by itself, "" without one; ``smallest``: the smallest
    difference that matters, in points; ``scope``: for what results hold; ``instead``: what is said
    where power is not simulated.
    """

    outcome: str = "the participants' answers"
    conditions: str = "none"
    randomised: str = ""
    pairs: tuple[str, ...] = ()
    primary: str = ""
    smallest: int | None = None
    scope: str = "these questions and participants"
    test: str = "none, answers are counted"
    correction: str = "none"
    instead: str = NO_POWER
