"""What few people's preferences and many of a machine's say together of measures."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.beside_people import preference_crossed, preference_share
from survey.core.studies.questions import Question
from survey.kinds.preference.plan import LIST_LETTERS, PreferencePlan, sign_of
from survey.services.machines.estimates import Counts, Estimate, Estimates, gaps

FEWEST_QUESTIONS, FEWEST_PEOPLE = 3, 2  # for an interval
SIGNS = dict(zip(LIST_LETTERS, (1, -1), strict=True))  # others prefer neither list
SHARE = "preferences that agree with {}"
LEAD = "{} agrees more often than {}"

Numbers = NDArray[np.float64]


class PreferenceEstimates:
    """The estimates of sampled pairs of lists.

    ``people``: participant → question → letter, or another word where neither list is preferred;
    ``machine``: the same of the machine; ``asked``: the questions that it was asked.
    """

    def __init__(
        self,
        plan: PreferencePlan,
        questions: Sequence[Question],
        people: Mapping[str, Mapping[int, str]],
        asked: frozenset[int],
        machine: Mapping[int, str],
    ) -> None:
        self._plan = plan
        self._questions = [each for each in questions if 1 <= each.number <= plan.questions]
        numbers = [each.number for each in self._questions]
        drawn = {*plan.sampled}
        answered = {number for own in people.values() for number in own}
        self._labelled = [
            place for place, each in enumerate(numbers) if each in drawn and each in answered
        ]
        rows = [[own.get(numbers[place]) for place in self._labelled] for own in people.values()]
        self._people = _signs([row for row in rows if any(row)], len(self._labelled))
        # What it could not read or refused is no preference.
        self._machine = _signs([[machine.get(number, "") for number in numbers]], len(numbers))[0]
        self._sizes = len(drawn), len(self._labelled)
        self._missing = gaps("questions", *self._sizes, len(asked & {*numbers}), len(numbers))
        self._counts = Counts(
            int(np.isfinite(self._people).sum()), sum(number in machine for number in numbers)
        )

    def estimates(self) -> Estimates:
        """Return each measure's share of agreeing preferences, and of each two the difference."""
        made = [*self._shares(), *self._leads()]
        return Estimates("questions", *self._sizes, len(self._questions), made)

    def _agreement(self, measure: str) -> Numbers:
        return np.array([sign_of(each, measure) for each in self._questions], dtype=np.float64)

    def _shares(self) -> Iterator[Estimate]:
        """Yield the shares of preferences, of those that the measure does not tie."""
        for measure in self._plan.measures:
            signs = self._agreement(measure)
            own = signs[self._labelled]
            known = np.isfinite(self._people)
            counts = np.maximum(known.sum(axis=0), 1)
            sides = {
                "people_agree": (self._people * own > 0).sum(axis=0) / counts,
                "people_prefer": (known & (self._people * own != 0)).sum(axis=0) / counts,
                "machine_agree": (self._machine * signs > 0).astype(float),
                "machine_prefer": (self._machine * signs != 0).astype(float),
            }
            why = self._too_few(FEWEST_PEOPLE - 1)
            if not why and not sides["people_prefer"].any():
                why = [f"no preference on a pair that {measure} does not tie"]
            figures: dict[str, Any] = {"missing": [*self._missing, *why]}
            if not why:
                lists: dict[str, Any] = {name: each.tolist() for name, each in sides.items()}
                figures = preference_share(**lists, labelled=self._labelled)
                figures["missing"] = [*self._missing, *figures["missing"]]
            values = (
                (sides["people_agree"] * 2 - sides["people_prefer"]).tolist(),
                (self._machine * signs)[self._labelled].tolist(),
            )
            title = SHARE.format(measure)
            yield Estimate(measure, title, figures, self._counts, values)

    def _leads(self) -> Iterator[Estimate]:
        """Yield differences of agreement over all answers; one without a preference counts 0."""
        for first, second in combinations(self._plan.measures, 2):
            signs, others = (self._agreement(name) for name in (first, second))
            machine = _lead(signs, others, self._machine)
            people = _lead(signs[self._labelled], others[self._labelled], self._people)
            why = self._too_few(FEWEST_PEOPLE)
            figures: dict[str, Any] = {"missing": [*self._missing, *why]}
            if not why:
                rows = [[None if np.isnan(each) else each for each in row] for row in people]
                figures = preference_crossed(
                    people=rows, machine=machine.tolist(), labelled=self._labelled
                )
                figures["missing"] = [*self._missing, *figures["missing"]]
            means = np.nanmean(people, axis=0).tolist() if len(people) else []
            values = means, machine[self._labelled].tolist() if means else []
            title = LEAD.format(first, second)
            name = f"{first}-{second}"
            yield Estimate(name, title, figures, self._counts, values)

    def _too_few(self, people: int) -> list[str]:
        """Return why nothing can be computed, in words."""
        why = []
        if len(self._labelled) < FEWEST_QUESTIONS:
            why.append(f"{FEWEST_QUESTIONS} questions with answers are needed for an interval")
        if len(self._people) < people:
            why.append(f"{people} people are needed for an interval")
        known = np.isfinite(self._people)
        if not why and people > 1 and known.sum() <= sum(known.shape) - 1:
            why.append("too few people answered the same questions")
        return why


def _signs(rows: Sequence[Sequence[str | None]], columns: int) -> Numbers:
    """Return 1 where list A is preferred, -1 for list B, 0 for neither, NaN without an answer."""
    signs = [[np.nan if each is None else SIGNS.get(each, 0) for each in row] for row in rows]
    return np.array(signs, dtype=np.float64).reshape(len(rows), columns)


def _lead(first: Numbers, second: Numbers, person: Numbers) -> Numbers:
    """Return how much more one measure's signs agree; 0 where neither list is preferred."""
    lead: Numbers = 0.5 * (first - second) * person  # see ``agreement_of``
    return lead
