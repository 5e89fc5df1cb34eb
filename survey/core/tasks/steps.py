"""Questions that are answered in many small steps: the answer says that a question is done."""

from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Done:
    """That a question is done; ``steps``: how many steps there were, so that a change shows."""

    steps: int

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; a question that is done has some")


class InSteps:
    """The parts of ``Task`` that are the same for all such kinds.

    ``presentation``: the kind's type, made of the seed from which the order of documents follows.
    """

    presentation: type[Any]
    answer: type[Any] = Done

    def draw(self, plan: Any, question: Any, chance: Random) -> Any:
        """Draw the seed of the order in which a participant meets the documents."""
        return self.presentation(chance.getrandbits(31))

    def usual_variant(self, plan: Any) -> str:
        """Name the seed with which a preview orders documents."""
        return "1"

    def draw_variant(self, plan: Any, question: Any, variant: str) -> Any:
        """Return how a participant with this seed meets the question."""
        if not (variant.isascii() and variant.isdecimal() and len(variant) < 10):
            raise ValueError(f"{variant!r} is no whole number")
        return self.presentation(int(variant))

    def describe_answer(self, answer: Done) -> dict[str, Any]:
        """Return after how many steps the question was done."""
        return {"done_after_steps": answer.steps}
