"""How a pair of lists is shown, and which of them a participant prefers."""

from dataclasses import dataclass
from typing import NamedTuple

from survey.core.collections.items import Result, ShownItem
from survey.core.studies.fields import Choice, Declared, Whole, declared
from survey.errors import marked
from survey.kinds.preference.plan import EQUAL, LEFT, LIST_LETTERS, NEITHER, RIGHT

LESS_SATISFYING = "satisfaction"  # asked back: the preferred list satisfies less
PREFERENCES = {
    LEFT: marked("List 1"),
    RIGHT: marked("List 2"),
    EQUAL: marked("Equally good"),
    NEITHER: marked("Neither"),
}
STRENGTHS = {1: marked("slightly"), 2: marked("clearly"), 3: marked("by far")}
MOST_SATISFIED = 5  # of 1, not at all, to 5, very


@dataclass(frozen=True)
class PreferencePresentation(Declared):
    """How one participant is shown one pair of lists."""

    left_list: str = declared(
        Choice(
            allowed=dict(zip(LIST_LETTERS, LIST_LETTERS, strict=True)),
            doc="the letter of the list that is shown at the left",
        )
    )

    @property
    def sides(self) -> tuple[str, str]:
        """The letters from left to right."""
        return LIST_LETTERS if self.left_list == LIST_LETTERS[0] else LIST_LETTERS[::-1]


@dataclass(frozen=True)
class PreferenceAnswer(Declared):
    """Which of two lists a participant prefers."""

    preferred: str = declared(
        Choice(
            "Which list is better?",
            allowed=PREFERENCES,
            doc="which list is better, or neither",
            missing=marked("Please choose one of the four answers."),
        )
    )
    strength: int | None = declared(
        Choice(
            "How much better is it?",
            allowed=STRENGTHS,
            doc="how much better, where it is asked: 1 slightly, 2 clearly, 3 by far",
            missing=marked("Please say how much better the list is."),
            only_with=("preferred", LEFT, RIGHT),
            asked_by="ask_strength",
        ),
        None,
    )
    satisfaction_left: int | None = declared(
        Whole(
            "List 1",
            *(1, MOST_SATISFIED),
            doc="satisfaction with the list at the left, from 1 (not at all) to 5 (very), where "
            "asked",
            missing=marked("Please rate list 1."),
            asked_by="ask_satisfaction",
        ),
        None,
    )
    satisfaction_right: int | None = declared(
        Whole(
            "List 2",
            *(1, MOST_SATISFIED),
            doc="satisfaction with the list at the right, likewise",
            missing=marked("Please rate list 2."),
            asked_by="ask_satisfaction",
        ),
        None,
    )

    @property
    def contradicts(self) -> bool:
        """Whether the preferred list satisfies less than the other one."""
        left, right = self.satisfaction_left, self.satisfaction_right
        if left is None or right is None:
            return False
        return (self.preferred == LEFT and left < right) or (
            self.preferred == RIGHT and right < left
        )


class Side(NamedTuple):
    """A list as participants see it: positions as numbers, or its first results, or both.

    ``unreturned``: how many of the last positions are of documents that were not returned.
    """

    positions: tuple[int, ...]
    results: tuple[Result, ...] = ()
    unreturned: int = 0


class PreferenceView(NamedTuple):
    """All that a participant may see of a pair, from left to right.

    ``left_list``: the letter of the one at the left, to look its results up; no page has it.
    """

    left_list: str
    sides: tuple[Side, Side]
    topic: ShownItem | None = None

    @property
    def opens_larger(self) -> bool:
        """Whether a result has a picture that can be enlarged, or a text that may be cut."""
        items = [result.item for side in self.sides for result in side.results]
        return any(item and (item.picture or item.name) for item in items)
