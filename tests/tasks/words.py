"""A kind of question that only the tests know: pick one of two words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest

from survey.core.kinds import KINDS
from survey.core.studies.fields import Choice, Fault, Finding, Nested, Switch, Text, declared
from survey.core.studies.plan import Plan
from survey.kinds import Declared, DeclaredQuestion, Kind
from survey.services.analysis.results import Results


@dataclass(frozen=True)
class WordsPlan(Plan):
    """Pairs of words, one for each question."""

    kind: ClassVar[str] = "words"
    one_each: ClassVar[str] = "pairs"

    pairs: tuple[tuple[str, str], ...] = declared(Nested("Pairs of words", step="what"), ())

    def draw_questions(self):
        practice = [WordsQuestion(0, "cat", "dog")] if self.practice else []
        asked = [WordsQuestion(number, *pair) for number, pair in enumerate(self.pairs, 1)]
        return [*practice, *asked]

    @classmethod
    def _read(cls, values, faults):
        pairs = values.get("pairs", ())
        if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
            text = f"pairs is {str(pairs)[:40]!r}; a list of lists of two words is allowed"
            faults.append(Fault(("pairs",), text))
            pairs = ()
        values["pairs"] = tuple(map(tuple, pairs))


def _is_pair(value):
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    return all(isinstance(word, str) and word for word in value)


@dataclass(frozen=True)
class WordsQuestion(DeclaredQuestion):
    first: str = declared(Text("first word"))
    second: str = declared(Text("second word"))


@dataclass(frozen=True)
class WordsPresentation(Declared):
    """How one participant is shown a pair of words."""

    swapped: bool = declared(Switch(doc="whether the second word is shown above the first"))


@dataclass(frozen=True)
class WordsAnswer(Declared):
    """Which word a participant picked."""

    side: int = declared(
        Choice("Which word", {1: "word 1", 2: "word 2"}, doc="1: the upper", missing="Pick a word.")
    )


@dataclass(frozen=True)
class WordsResults(Results):
    """How often each word was picked, and by whom."""

    picked: Counter[str]
    people: Sequence[str]

    @property
    def participants(self):
        return self.people

    @property
    def headline(self):
        [(word, count)] = self.picked.most_common(1) or [("no word", 0)]
        return f"Most often picked: {word}, {count} times."

    def as_json(self):
        return {"picked": dict(sorted(self.picked.items()))}


class Words(Kind):
    name = noun = "words"
    plan, question = WordsPlan, WordsQuestion
    presentation, answer = WordsPresentation, WordsAnswer
    questions_file, answers_file = "words.csv", "choices.csv"
    variant_words = ("Order of words", "as-planned.")

    def draw(self, plan, question, chance):
        return WordsPresentation(chance.random() < 0.5)

    def show(self, question, presentation):
        words = (question.first, question.second)
        return words[::-1] if presentation.swapped else words

    def analyse(self, content, answers, options):
        words = {each.number: (each.first, each.second) for each in content.questions}
        picked = Counter(
            words[each.question][(each.answer.side == 2) != each.drawn.swapped] for each in answers
        )
        people = [*dict.fromkeys(each.participant for each in answers)]
        return WordsResults(picked, people, **content.known(options))

    def facts(self, plan, generator_version):
        return {"pairs": len(plan.pairs)}

    def findings(self, plan, questions):
        return [Finding(each.number, "equal") for each in questions if each.first == each.second]


WORDS = Words()
METADATA, TABLES = Words.metadata, WORDS.tables


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring the kind in, as an installed package does."""
    monkeypatch.setitem(KINDS, "words", WORDS)
