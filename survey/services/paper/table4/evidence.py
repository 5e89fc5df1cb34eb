"""What the paper's sentences about Table 4 are held against, and the words to say it in."""

from collections.abc import Iterable
from dataclasses import dataclass

from survey.core.agreement.counts import Table4Row
from survey.core.agreement.differences import MeanTest
from survey.core.agreement.set_level import PairOverSets, SetLevel
from survey.core.agreement.verdicts import rounded
from survey.services.paper.table4.recount import PARTICIPANTS, Recount

LEVEL = 0.05


@dataclass(frozen=True)
class Evidence:
    """Table 4 counted again, and tested with its sets as units."""

    recount: Recount
    level: SetLevel

    @property
    def rows(self) -> tuple[Table4Row, ...]:
        """The rows of Table 4."""
        return self.recount.table.rows

    @property
    def responses(self) -> int:
        """Answers, one for each participant and set."""
        return PARTICIPANTS * len(self.rows)

    @property
    def credits(self) -> str:
        """The sum of all cells."""
        return whole(sum(self.recount.table.totals.values()))

    def pair(self, name: str) -> PairOverSets:
        """Return a pair by its name, such as MNRO-AP."""
        return next(one for one in self.level.pairs if str(one.pair) == name)

    def share(self, name: str, kind: str = "of_responses") -> float:
        """Return a measure's share of the votes, by what it is a share of."""
        share: float = getattr(self.recount.shares, kind)[name]
        return share


def is_settled(one: PairOverSets) -> bool:
    """Whether the lead survives Holm's correction in every test, identical orders in or out."""
    p = [one.exchange.p_holm]
    for scope in (one.all_sets, one.free, one.distinct):
        p += [scope.mean.p_holm, scope.questions.sign_flip_p_holm]
    return all(value is not None and value < LEVEL for value in p)


def percent(share: float) -> str:
    """Print a share: 45.0 %."""
    return f"{100 * share:.1f} %"


def whole(count: float) -> str:
    """Print a count that is a whole number."""
    return f"{count:.0f}"


def points(share: float | None) -> str:
    """Print a difference of shares in percentage points, a dash where it is undefined."""
    return "–" if share is None else rounded(100 * share)


def votes(count: float) -> str:
    """Print a lead in votes with its sign: +26, −8.7, 0."""
    text = f"{count:+.1f}".removesuffix(".0").replace("-", "−")
    return "0" if text in {"+0", "−0"} else text


def interval(test: MeanTest) -> str:
    """Print a 95 % interval in points: −6.1 to 23.5."""
    return f"{points(test.ci95[0])} to {points(test.ci95[1])}" if test.ci95 else "–"


def listed(parts: Iterable[object]) -> str:
    """Join as a sentence does: 3, 4 and 9."""
    *before, last = map(str, parts)
    return f"{', '.join(before)} and {last}" if before else last


def of_sets(numbers: Iterable[int]) -> str:
    """Name sets: set 4; sets 3 and 9."""
    known = tuple(numbers)
    return "no set" if not known else f"set{'s' if len(known) > 1 else ''} {listed(known)}"
