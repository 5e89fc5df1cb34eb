"""From clicks on labels to credits for measures."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.stimuli.rankings import Ranking


@dataclass(frozen=True)
class Response:
    """One participant's answer to one question, as it was given.

    ``label_order``: the measures behind Method1, Method2, … in this presentation;
    ``clicked``: the label numbers that were ticked; ``own``: the custom ranking,
    when none was. Exactly one of the two is there, else ValueError. How it was shown,
    where known: ``column_order``, the label numbers from left to right; ``position``
    of the question in the participant's session, from 1; ``seconds`` taken.
    """

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int] = frozenset()
    own: Ranking | None = None
    column_order: tuple[int, ...] | None = None
    position: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if bool(self.clicked) == (self.own is not None):
            raise ValueError(
                f"participant {self.participant}, question {self.question}: "
                "an answer is one or more columns, or an own ranking"
            )
        for label in self.clicked:
            if not 1 <= label <= len(self.label_order):
                raise ValueError(
                    f"participant {self.participant}, question {self.question}: Method{label} "
                    f"was clicked; there are Method1 to Method{len(self.label_order)}"
                )


@dataclass(frozen=True)
class Credits:
    """Which measures each response credits.

    ``measures``: names of the columns; ``participants``, ``questions``: for each
    response, shape (responses,); ``credited``: bool (responses, measures);
    ``other``: bool (responses,), true for a custom ranking; ``clicks``: int
    (responses,), columns ticked, 0 for a custom ranking; ``weight``: float
    (responses,), what each credit of a response counts; ``shared``: what became of
    votes that credit several measures, which redrawn labels have to do likewise.
    """

    measures: tuple[str, ...]
    participants: NDArray[np.str_]
    questions: NDArray[np.int64]
    credited: NDArray[np.bool_]
    other: NDArray[np.bool_]
    clicks: NDArray[np.int64]
    weight: NDArray[np.float64]
    shared: Literal["kept", "split", "dropped"] = "kept"

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def votes(self) -> NDArray[np.float64]:
        """Credits times their weight, shape (responses, measures)."""
        weighed: NDArray[np.float64] = self.credited * self.weight[:, np.newaxis]
        return weighed

    def within(self, chosen: NDArray[np.bool_]) -> "Credits":
        """Return the credits of some of the responses only."""
        return replace(
            self,
            participants=self.participants[chosen],
            questions=self.questions[chosen],
            credited=self.credited[chosen],
            other=self.other[chosen],
            clicks=self.clicks[chosen],
            weight=self.weight[chosen],
        )

    def split(self) -> "Credits":
        """Return one vote for each response, shared equally among the measures credited."""
        weight = 1 / np.maximum(self.credited.sum(axis=1), 1)
        return replace(self, weight=weight, shared="split")

    def single(self) -> "Credits":
        """Return the responses that credit one measure or none, without the shared votes."""
        return replace(self.within(self.credited.sum(axis=1) < 2), shared="dropped")


def credited_measures(
    label_order: Sequence[str], clicked: Collection[int], rankings: Mapping[str, Ranking]
) -> frozenset[str]:
    """Return the measures whose order equals that of a clicked column.

    A vote for either of two identical orders counts for both. Labels are read
    through this response's own ``label_order`` and never through another's. With
    nothing clicked (a custom ranking, even one that equals an offered order) no
    measure is credited.
    """
    approved = {rankings[label_order[label - 1]] for label in clicked}
    return frozenset(measure for measure in label_order if rankings[measure] in approved)


def chance_credits(
    rankings: Mapping[int, Mapping[str, Ranking]], measures: Sequence[str]
) -> dict[str, float]:
    """Return how often each measure is credited per response when one column is clicked blindly.

    1 / (number of measures) where all orders differ; a measure that shares its order
    with another is credited for the other's clicks too, so identical orders give it an
    advantage that has nothing to do with agreement. ``rankings``: question → measure
    → order. In [0, 1]; the null mean of the label-permutation test for single clicks.
    """
    label_order = tuple(measures)
    blind = [
        credited_measures(label_order, [label], orders)
        for orders in rankings.values()
        for label in range(1, len(label_order) + 1)
    ]
    return {name: sum(name in credited for credited in blind) / len(blind) for name in measures}


def tally_credits(
    responses: Sequence[Response],
    rankings: Mapping[int, Mapping[str, Ranking]],
    measures: Sequence[str],
) -> Credits:
    """Credit every response; ``rankings``: question number → measure → order.

    Raises ValueError for a response to a question that has no rankings, or shown
    with other measures than the study's.
    """
    credited = np.zeros((len(responses), len(measures)), dtype=bool)
    for row, response in enumerate(responses):
        if response.question not in rankings:
            raise ValueError(
                f"participant {response.participant} answered question {response.question}, "
                "which the study does not have"
            )
        if sorted(response.label_order) != sorted(measures):
            raise ValueError(
                f"participant {response.participant}, question {response.question}: shown were "
                f"{' '.join(response.label_order)}; the study compares {' '.join(measures)}"
            )
        for measure in credited_measures(
            response.label_order, response.clicked, rankings[response.question]
        ):
            credited[row, measures.index(measure)] = True
    return Credits(
        measures=tuple(measures),
        participants=np.array([response.participant for response in responses], dtype=str),
        questions=np.array([response.question for response in responses], dtype=np.int64),
        credited=credited,
        other=np.array([response.own is not None for response in responses], dtype=bool),
        clicks=np.array([len(response.clicked) for response in responses], dtype=np.int64),
        weight=np.ones(len(responses)),
    )
