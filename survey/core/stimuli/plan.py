"""The plan of a study: everything a researcher decides before the first participant comes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from survey.core.measures import Setting, measure_named
from survey.core.stimuli.generators import GENERATORS
from survey.core.stimuli.questions import Question
from survey.core.stimuli.rankings import letters_for

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class PersonalField:
    """One field of the page "About you".

    ``kind``: "number" (whole, between ``lowest`` and ``highest``), "choice" (one of
    ``options``) or "text". ``name``: its column in exports, a lower-case word.
    """

    name: str
    label: str
    kind: Literal["number", "choice", "text"]
    required: bool = True
    help: str = ""
    options: tuple[str, ...] = ()
    lowest: int | None = None
    highest: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise ValueError(
                f"the personal field {self.name!r} cannot be a column; "
                "lower-case letters, digits and _ are allowed"
            )
        if self.kind not in ("number", "choice", "text"):
            raise ValueError(
                f"the personal field {self.name} is of kind {self.kind!r}; "
                "number, choice and text are allowed"
            )
        if self.kind == "choice" and len(self.options) < 2:
            raise ValueError(f"the personal field {self.name} needs at least two options")


@dataclass(frozen=True)
class Plan:
    """A study's design and texts; frozen, with the lists, when the study opens.

    ``title``, ``asked_by``, ``purpose``, ``contact``, ``minutes``: the entry page.
    ``consent``, ``scenario``, ``reminder``, ``question_text``: shown texts, with blank
    lines between paragraphs. ``list_noun``: what a ranked list stands for ("system").
    ``personal_fields``: the page "About you". ``measures`` to ``shuffle_lists``: the
    design; see ``Setting`` for ``gmt`` and ``literal_eq15``. ``practice``: whether a
    practice question comes first. ``participants``: how many are wanted.

    Raises ValueError naming the field, what was found and what is allowed.
    """

    title: str
    asked_by: str
    purpose: str
    consent: str
    scenario: str
    reminder: str
    question_text: str
    list_noun: str = "system"
    contact: str = ""
    minutes: int = 20
    personal_fields: tuple[PersonalField, ...] = ()
    measures: tuple[str, ...] = ("AP", "NMRR", "MNRO")
    questions: int = 10
    lists: int = 5
    relevant: int = 5
    collection_size: int = 100
    generator: str = "random"
    seed: int = 1
    gmt: int | None = None
    literal_eq15: bool = False
    shuffle_lists: bool = False
    practice: bool = True
    participants: int = 30

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", tuple(self.measures))
        object.__setattr__(self, "personal_fields", tuple(self.personal_fields))
        for name, lowest, highest in (
            ("questions", 1, 50),
            ("lists", 3, 10),
            ("relevant", 1, 10_000),
            ("collection_size", 2, 100_000_000),
            ("participants", 1, 10_000_000),
            ("minutes", 1, 600),
            ("seed", 0, 2**63 - 1),
        ):
            self._whole_between(name, lowest, highest)
        if self.relevant > self.collection_size:
            raise ValueError(
                f"relevant is {self.relevant}, more than the collection_size {self.collection_size}"
            )
        if not 2 <= len(set(self.measures)) == len(self.measures) <= 6:
            raise ValueError(
                f"measures is {', '.join(self.measures) or 'empty'}; "
                "2 to 6 different ones are allowed"
            )
        for measure in self.measures:
            measure_named(measure)
        if self.generator not in GENERATORS:
            raise ValueError(f"generator is {self.generator!r}; allowed is {', '.join(GENERATORS)}")
        for name in ("title", "asked_by", "purpose", "consent", "scenario", "question_text"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty; participants read it, so it needs a text")

    def _whole_between(self, name: str, lowest: int, highest: int) -> None:
        number = getattr(self, name)
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{name} is {number!r}; a whole number is needed")
        if not lowest <= number <= highest:
            raise ValueError(f"{name} is {number}; {lowest} to {highest} are allowed")

    @property
    def setting(self) -> Setting:
        """What the measures may know beside the ranks."""
        return Setting(self.collection_size, self.gmt, self.literal_eq15)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the lists of a question."""
        return letters_for(self.lists)

    def draw_questions(self) -> list[Question]:
        """Draw the study's questions from its seed, the practice question (0) first if any."""
        generate = GENERATORS[self.generator]
        return [
            generate(
                number,
                seed=self.seed,
                lists=self.lists,
                relevant=self.relevant,
                measures=self.measures,
                setting=self.setting,
            )
            for number in range(0 if self.practice else 1, self.questions + 1)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain lists and dictionaries, for storage and the digest."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Plan":
        """Make a plan from plain values.

        Raises ValueError for a field that no plan has, and where the plan cannot be.
        """
        values = dict(stored)
        known = {one.name for one in fields(cls)}
        for name in values:
            if name not in known:
                raise ValueError(f"a plan has no field {name!r}; it has {', '.join(sorted(known))}")
        personal = values.pop("personal_fields", ())
        return cls(personal_fields=tuple(PersonalField(**one) for one in personal), **values)


def fill_numbers(text: str, design: Mapping[str, int]) -> str:
    """Put the design's numbers into a text: {lists}, {relevant}, {collection_size}, {letters}.

    Numbers up to ten become words. Raises ValueError for another placeholder.
    """
    words = {name: in_words(number) for name, number in design.items()}
    words["letters"] = and_join(letters_for(design["lists"]))
    try:
        return text.format_map(words)
    except KeyError as unknown:
        raise ValueError(
            f"{{{unknown.args[0]}}} found in a text; allowed are "
            + ", ".join(f"{{{name}}}" for name in words)
        ) from None


def in_words(number: int) -> str:
    """Write a small number as a word, a large one in figures."""
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else str(number)


def and_join(parts: Sequence[str]) -> str:
    """Join words as a sentence does: A, B and C."""
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), *parts[-1:]])
