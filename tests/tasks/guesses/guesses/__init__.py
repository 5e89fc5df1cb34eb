"""A kind in a package of its own, for tests: guess how many items a list holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from survey.kinds import (
    Declared,
    DeclaredQuestion,
    Kind,
    Lines,
    Plan,
    Results,
    Switch,
    Text,
    Whole,
    declared,
)


@dataclass(frozen=True)
class GuessesPlan(Plan):
    """Names of lists, and whether people say if they are sure."""

    kind: ClassVar[str] = "guesses"
    one_each: ClassVar[str] = "names"

    names: tuple[str, ...] = declared(Lines("Lists", step="what"), ())
    ask_sure: bool = declared(Switch("Ask whether people are sure"), True)
    practice: bool = False

    def draw_questions(self):
        return [GuessesQuestion(number, name) for number, name in enumerate(self.names, 1)]


@dataclass(frozen=True)
class GuessesQuestion(DeclaredQuestion):
    name: str = declared(Text("name of the list"))


@dataclass(frozen=True)
class GuessesPresentation(Declared):
    """How one participant is shown a list."""

    upper: bool = declared(Switch(doc="whether the name is in upper case"))


@dataclass(frozen=True)
class Guess(Declared):
    """How many items a participant guesses."""

    items: int = declared(Whole("How many items?", 0, 1_000, missing="Give a number to 1000."))
    sure: bool | None = declared(Switch("Are you sure?", asked_by="ask_sure"), None)
    remark: str | None = declared(Text("What else?", 200, needed=False), None)


@dataclass(frozen=True)
class GuessesResults(Results):
    """The guesses, and by whom."""

    items: Sequence[int]
    people: Sequence[str]

    @property
    def participants(self):
        return self.people

    @property
    def headline(self):
        return f"The median of {len(self.items)} guesses is {median(self.items):g}."

    def as_json(self):
        return {"items": sorted(self.items)}


class GuessesKind(Kind):
    """Guess how many."""

    name = noun = "guesses"
    plan, question = GuessesPlan, GuessesQuestion
    presentation, answer = GuessesPresentation, Guess

    def draw(self, plan, question, chance):
        return GuessesPresentation(chance.random() < 0.5)

    def show(self, question, presentation):
        return (question.name.upper() if presentation.upper else question.name,)

    def analyse(self, content, answers, options):
        items = [each.answer.items for each in answers]
        people = [*dict.fromkeys(each.participant for each in answers)]
        return GuessesResults(items, people, **content.known(options))
