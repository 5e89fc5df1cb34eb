"""Questions that are answered in many small steps: the answer says that a question is done."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Done:
    """That a question is done; ``steps``: how many steps there were, so that a change shows."""

    steps: int

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; a question that is done has some")
