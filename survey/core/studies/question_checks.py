"""How measures order the lists of each question, and in how many questions two differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from survey.core.collections.items import Item
from survey.core.studies.fields import Finding, list_words
from survey.core.studies.plan import GRID
from survey.core.studies.questions import Question
from survey.core.studies.rankings import contradictions, is_balanced


@dataclass(frozen=True)
class OrderPair:
    """A comparison of two measures' orders of a question's lists.

    ``contradictions``: how many pairs of lists they put in opposite orders. If there are none
    and the orders differ, a measure only breaks ties of the other. ``balanced``: whether they
    contradict each other and tie as many lists, so that no tie explains a preference.
    """

    names: tuple[str, str]
    identical: bool
    contradictions: int
    balanced: bool

    @property
    def summary(self) -> str:
        """The comparison in a few words, for a table."""
        if self.identical:
            return "identical"
        return f"contradict on {self.contradictions}" if self.contradictions else "ties only"


@dataclass(frozen=True)
class QuestionCheck:
    """A question with comparisons of its measures, and findings."""

    question: Question
    pairs: tuple[OrderPair, ...]
    findings: tuple[Finding, ...]

    @property
    def separated(self) -> str:
        """Which measures the question can tell apart: "all", "some" or "none"."""
        identical = sum(pair.identical for pair in self.pairs)
        return "all" if not identical else "none" if identical == len(self.pairs) else "some"

    @property
    def outlier(self) -> str | None:
        """The measure that contradicts the others most; None among two, or if several do."""
        sums = {
            name: sum(pair.contradictions for pair in self.pairs if name in pair.names)
            for name in self.question.columns
        }
        most = [name for name, count in sums.items() if count == max(sums.values())]
        return most[0] if len(sums) > 2 and len(most) == 1 else None


def compare_orders(questions: Iterable[Question]) -> list[QuestionCheck]:
    """Return for each question the comparisons of every two measures' orders, and findings."""
    checks = []
    for question in questions:
        pairs = []
        for (first, a), (second, b) in combinations(question.rankings.items(), 2):
            count = contradictions(a, b)
            pairs.append(OrderPair((first, second), a == b, count, count > 0 and is_balanced(a, b)))
        checks.append(QuestionCheck(question, tuple(pairs), tuple(printing_findings(question))))
    return checks


@dataclass(frozen=True)
class PairCounts:
    """In how many ``questions`` a pair's orders contradict each other, and how else they differ.

    ``balanced``: how many of the contradicting ones are; these alone show whether a lead is for
    the order. ``smallest``: the smallest lead for the order that they show in most studies of this
    size, a share in [0, 1]; None where they show none, ``why`` being the reason.
    """

    pair: str
    names: tuple[str, str]
    questions: int
    contradicting: int
    balanced: int
    ties_only: int
    identical: int
    smallest: float | None
    why: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the counts and the sentence; ``why`` only where there is no smallest lead."""
        counts = {name: value for name, value in vars(self).items() if name != "why" or value}
        return {**counts, "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """What the questions can tell of the pair; empty where all its orders are identical."""
        if not self.contradicting and not self.ties_only:
            return ""
        text = (
            f"{list_words(self.names)} contradict each other in {self.contradicting} of "
            f"{self.questions} question{'s' * (self.questions != 1)}"
        )
        text += self._for_order if self.contradicting else ""
        if self.ties_only:
            text += f"; in {self.ties_only} they differ only in lists that one of them ties"
        if self.ties_only > self.contradicting:
            text += ", so people may favour one of them only because it shows no ties"
        return text

    @property
    def _for_order(self) -> str:
        """The half sentence on what the balanced questions can show."""
        number = {0: "none", self.contradicting: "all"}.get(self.balanced, str(self.balanced))
        in_these = f", in {number} of which both tie as many lists"
        if self.balanced + self.identical == self.questions:
            return f"{in_these}: a lead is one for the order"
        if not self.balanced:
            return f"{in_these}: whether a lead is for the order or for showing no ties stays open"
        if self.smallest is None:
            return f"{in_these}: too few to show whether a lead is for the order"
        return (
            f"{in_these}: these show in most studies of this size that a lead is for the order if "
            f"it is {100 * self.smallest:.0f} points or more there"
        )


def count_pairs(
    checks: Sequence[QuestionCheck], smallest: Callable[[int], float | None]
) -> list[PairCounts]:
    """Count, for each pair of measures, the questions by how the pair's orders compare.

    Practice is left out. ``smallest``: returns ``PairCounts.smallest`` for a number of balanced
    questions.
    """
    counted = []
    for pairs in zip(*(check.pairs for check in checks if check.question.number), strict=True):
        contradicting = sum(pair.contradictions > 0 for pair in pairs)
        balanced = sum(pair.balanced for pair in pairs)
        identical = sum(pair.identical for pair in pairs)
        least = smallest(balanced)
        counted.append(
            PairCounts(
                pair="-".join(pairs[0].names),
                names=pairs[0].names,
                questions=len(pairs),
                contradicting=contradicting,
                balanced=balanced,
                ties_only=len(pairs) - contradicting - identical,
                identical=identical,
                smallest=least,
                why="too few balanced questions" if least is None else None,
            )
        )
    return counted


def printing_findings(question: Question) -> Iterator[Finding]:
    """Yield findings on values that need more digits than usual, and on lists that are tied."""
    for name, column in question.columns.items():
        texts = zip(column.ranking.letters, column.shown, strict=True)
        if longer := [letter for letter, text in texts if len(text.partition(".")[2]) > 4]:
            yield Finding(
                question.number,
                f"{name}: {list_words(longer)} would print alike at 4 decimals though they rank "
                "apart, so they are printed with more",
            )
        if tied := ["=".join(group) for group in column.ranking.groups if len(group) > 1]:
            yield Finding(question.number, f"{name} ties {list_words(tied)}")


def texts_in_grid(layout: str, items: Iterable[Item]) -> Iterator[Finding]:
    """Yield how many documents have texts, where the layout is a grid of pictures."""
    texts = sum(item.has_text for item in items) if layout == GRID else 0
    if texts:
        documents = "1 document has" if texts == 1 else f"{texts} documents have"
        text = (
            f"{documents} a text, and a grid is for pictures: a list with texts is shown as a "
            "strip, and measures that know rows read others; choose the layout strip or list"
        )
        yield Finding(None, text, mend="layout", code="texts-in-grid")
