"""The settings of a planned study whose power is simulated: bounds, defaults and help of each.

It imports little, so that the command's help, which needs it each time, is quick.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from survey.core.studies.fields import MOST_QUESTIONS, Rule
from survey.core.studies.fields import Choice as Choice

MOST_FIELD_VALUES = 10
NO_POOL = "none"


@dataclass(frozen=True)
class Numbers(Rule):
    """Rule of a number, or of ``several`` separated by commas, as a text.

    ``usual``: the default; ``whole``: whether only whole numbers are allowed; ``word``: a word that
    is allowed in place of numbers, like none.
    """

    lowest: float = 0
    highest: float = 1
    usual: str = field(kw_only=True)
    whole: bool = field(default=False, kw_only=True)
    several: bool = field(default=False, kw_only=True)
    word: str = field(default="", kw_only=True)

    @property
    def allowed(self) -> str:
        """The words for the values that are allowed."""
        what = "whole number" if self.whole else "share"
        many = f"one to {MOST_FIELD_VALUES} {what}s" if self.several else f"a {what}"
        also = f", or {self.word} alone," if self.word else ""
        bounds = f"{many} from {self.lowest} to {self.highest}"
        return f"{bounds}{also} can be asked for, like {self.usual}"

    def parse(self, name: str, text: str) -> list[float]:
        """Return the numbers of a text, sorted, [] for the word; raises ValueError for others."""
        parts = [part.strip() for part in text.split(",")]
        if self.word and self.word in map(str.lower, parts):
            if len(parts) > 1:
                raise ValueError(f"{name} is {text[:40]!r}; {self.allowed}")
            return []
        if len(parts) > (MOST_FIELD_VALUES if self.several else 1):
            raise ValueError(f"{name} has {len(parts)} values; {self.allowed}")
        values: list[float] = []
        for part in parts:
            try:
                values.append(int(part) if self.whole else float(part))
            except ValueError:
                raise ValueError(f"{name} is {part[:40]!r}; {self.allowed}") from None
            if not self.lowest <= values[-1] <= self.highest:
                raise ValueError(f"{name} is {part[:40]}; {self.allowed}")
        return sorted(set(values))


PEOPLE = Numbers(
    "Participants", 2, 1000, usual="30,60", whole=True, several=True, help="How many take part."
)
FIELDS: Mapping[str, Numbers | Choice] = {
    "participants": PEOPLE,
    "questions": Numbers(
        "Questions for each",
        2,
        MOST_QUESTIONS,
        usual="10",
        whole=True,
        several=True,
        help="How many questions each answers.",
    ),
    "pool": Numbers(
        "Questions in a pool",
        2,
        MOST_QUESTIONS,
        usual="30",
        whole=True,
        several=True,
        word=NO_POOL,
        help="Questions in the pool they are drawn from; none for no pool.",
    ),
    "difference": Numbers(
        "Differences to find",
        0,
        1,
        usual=".10",
        several=True,
        help="Differences that matter, as shares: .10 is 10 points; 0 is none.",
    ),
    "measures": Numbers(
        "Measures", 2, 6, usual="3", whole=True, help="How many measures are compared, 2 to 6."
    ),
    "decided": Numbers(
        "Share of responses that decide",
        0.05,
        1,
        usual=".68",
        help="Share of responses that credit only one of the two measures.",
    ),
    "between_questions": Numbers(
        "Spread between questions",
        0,
        1,
        usual=".15",
        help="Standard deviation of the difference between questions.",
    ),
    "between_participants": Numbers(
        "Spread between participants",
        0,
        1,
        usual=".05",
        help="Standard deviation of the difference between participants.",
    ),
    "dropouts": Numbers(
        "Share who stop early", 0, 0.9, usual="0", help="Share of participants who stop early."
    ),
    "random_clickers": Numbers(
        "Share who click at random",
        0,
        0.9,
        usual="0",
        help="Share of participants who click at random.",
    ),
    "replicates": Numbers(
        "Replicates", 100, 100_000, usual="2000", whole=True, help="Simulated runs of each study."
    ),
    "seed": Numbers(
        "Seed", 0, 2**32 - 1, usual="1", whole=True, help="The same seed gives the same figures."
    ),
    "generator": Choice(
        "What draws the questions",
        allowed={"discriminative": "Discriminative", "random": "Random"},
        help="What draws the questions: discriminative or random.",
    ),
    "primary": Choice(
        "The plan's primary pair",
        allowed={"no": "No", "yes": "Yes"},
        help="Whether the two are the plan's primary pair, tested by itself.",
    ),
}
# Of a machine that judges beside people; nothing is simulated with these.
MACHINE_FIELDS: Mapping[str, Numbers] = {
    "machine_correlation": Numbers(
        "Correlation of machine and people",
        usual=".8",
        help="Beside a machine: how its answers correlate with people's, 0 to 1.",
    ),
    "pool_size": Numbers(
        "Judged by the machine",
        *(8, 1_000_000),
        usual="1000",
        whole=True,
        help="Beside a machine: how many documents, topics or questions it judges.",
    ),
    "judged": Numbers(
        "Judged by people",
        *(4, 1_000_000),
        usual="50,100,200",
        whole=True,
        several=True,
        help="Beside a machine: how many of these people judge, drawn at random.",
    ),
    "spread": Numbers(
        "Spread of people's values",
        usual=".5",
        help="Beside a machine: the standard deviation of people's values; .5 is that of a share "
        "of one half.",
    ),
}


def usual_of(rule: Numbers | Choice) -> str:
    """Return a setting's default as a text; of a choice it is the first one."""
    return rule.usual if isinstance(rule, Numbers) else next(iter(rule.allowed))
