"""How participants answered attention checks, whom that flags, and what random answers would do."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import comb
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.plan_flags import RuleFlags
from survey.core.agreement.quality import Flag
from survey.core.studies.plan import Check, Plan

PlanT = TypeVar("PlanT", bound=Plan)

FAILED = "attention check wrong"


@dataclass(frozen=True)
class Scores:
    """The participants ``ids`` who answered a check: how often rightly, of how many answers."""

    check: Check
    ids: NDArray[np.str_]
    right: NDArray[np.int64]
    asked: NDArray[np.int64]

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Whether each has more answers wrong than anyone may: a third, and of two one."""
        return self.asked - self.right > np.maximum(self.asked // 3, self.asked > 1)

    @property
    def flagged(self) -> frozenset[str]:
        """The participants who fail the check."""
        return frozenset(self.ids[self.failed].tolist())

    @property
    def passed_by_chance(self) -> NDArray[np.float64] | None:
        """How likely each would pass by random answers: a sum of the binomial distribution.

        None where the share of random answers that are right is unknown.
        """
        if (p := self.check.by_chance) is None:
            return None
        return np.array([chance_to_pass(p, count) for count in self.asked.tolist()])


@dataclass(frozen=True)
class Attention:
    """The answers to each attention check of a study, and whom its other rules flag."""

    scores: tuple[Scores, ...]
    rules: tuple[RuleFlags, ...] = ()

    @classmethod
    def of(
        cls,
        plan: PlanT,
        questions: Iterable[Any],
        people: Iterable[tuple[str, Mapping[int, Any]]],
        are_right: Callable[[PlanT, Check, Sequence[tuple[Any, Any]]], Iterable[bool]],
    ) -> "Attention":
        """Judge the answers of ``people``: the id of each, and the answers by question's number.

        ``are_right``: of the plan's kind.
        """
        by_number = {question.number: question for question in questions}
        rows: dict[str, list[tuple[str, int, int]]] = {check.name: [] for check in plan.checks}
        for person, answers in people:
            for check in plan.checks:
                numbers = (check.again, plan.number_of(check.name))
                needed = (
                    [number for number in numbers if number] if check.is_question else [*answers]
                )
                if needed and answers.keys() >= {*needed}:
                    pairs = [(by_number[number], answers[number]) for number in needed]
                    judged = [*are_right(plan, check, pairs)]
                    rows[check.name] += [(person, sum(judged), len(judged))] if judged else []
        return cls(tuple(_scores(check, rows[check.name]) for check in plan.checks))

    @cached_property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many answers to all checks are right, and of how many, by participant."""
        counts: dict[str, tuple[int, int]] = {}
        for scores in self.scores:
            rows = zip(
                scores.ids.tolist(), scores.right.tolist(), scores.asked.tolist(), strict=True
            )
            for person, right, asked in rows:
                before = counts.get(person, (0, 0))
                counts[person] = before[0] + right, before[1] + asked
        return counts

    @cached_property
    def flags(self) -> tuple[Flag, ...]:
        """A flag of each participant for each check that they fail and each rule."""
        flags = []
        for scores in self.scores:
            for row in np.flatnonzero(scores.failed).tolist():
                reason = f"{scores.check.name}: {scores.right[row]} of {scores.asked[row]} right"
                flags.append(Flag(str(scores.ids[row]), FAILED, reason))
        for rule in self.rules:
            flags += [Flag(person, rule.name, reason) for person, reason in rule.reasons.items()]
        return tuple(sorted(flags, key=lambda flag: flag.participant))

    @cached_property
    def flagged(self) -> frozenset[str]:
        """The participants who fail a check, or whom another rule flags."""
        return frozenset(flag.participant for flag in self.flags)

    @cached_property
    def failing(self) -> frozenset[str]:
        """The participants who fail a check."""
        return frozenset(chain.from_iterable(scores.flagged for scores in self.scores))

    @cached_property
    def flagged_by(self) -> dict[str, frozenset[str]]:
        """Of each check and each rule, by name, the participants whom it flags."""
        by_check = {scores.check.name: scores.flagged for scores in self.scores}
        return by_check | {rule.name: frozenset(rule.reasons) for rule in self.rules}

    def flags_of(self, participant: str) -> str:
        """Return the names of the checks and rules that flag someone, "" for none."""
        by_name = self.flagged_by.items()
        return "; ".join(name for name, flagged in by_name if participant in flagged)

    def sentence(self, participant: str) -> str:
        """Return how many checks a participant has right, and which rules flag them, in words."""
        words = [rule.name for rule in self.rules if participant in rule.reasons]
        if participant in self.counts:
            right, asked = self.counts[participant]
            words.insert(0, f"{right} of {asked} attention check{'s' * (asked != 1)} right")
        return ", ".join(words)

    @property
    def passed_by_chance(self) -> float | None:
        """How many of those who were asked would pass all checks by random answers, in [0, 1].

        None where that is unknown of a check, or no one has answered one.
        """
        chances = dict.fromkeys(self.counts, 1.0)
        for scores in self.scores:
            of_check = scores.passed_by_chance
            if of_check is None:
                return None
            for person, chance in zip(scores.ids.tolist(), of_check.tolist(), strict=True):
                chances[person] *= chance
        return sum(chances.values()) / len(chances) if chances else None


def _scores(check: Check, rows: Sequence[tuple[str, int, int]]) -> Scores:
    ids, right, asked = zip(*rows, strict=True) if rows else ((), (), ())
    numbers = (np.array(counts, dtype=np.int64) for counts in (right, asked))
    return Scores(check, np.array(ids, dtype=np.str_), *numbers)


def chance_to_pass(by_chance: float, asked: int) -> float:
    """Return how likely random answers pass a check that is asked so often.

    P(X ≥ n − ⌊n / 3⌋) of X ~ Binomial(n, p), and of two answers P(X ≥ 1); ``by_chance``: p, the
    chance of one right answer.
    """
    fewest = asked - max(asked // 3, asked > 1)
    return sum(
        comb(asked, right) * by_chance**right * (1 - by_chance) ** (asked - right)
        for right in range(fewest, asked + 1)
    )
