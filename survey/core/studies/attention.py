"""Attention checks of a plan: what is asked only to learn whether people look."""

from dataclasses import dataclass
from typing import Any

# Columns of participants.csv in studies with attention checks.
ATTENTION_NAMES = ("checks_right", "checks_asked", "flagged")
FLAGS = "flags"  # and in those whose plan has other rules too: which rules flag someone

NO, YES = "No", "Yes"
# The closing question that a plan can switch on; ``survey.web`` has it in participants' languages.
PROGRAM_QUESTION: dict[str, Any] = {
    "name": "program_answered",
    "label": "Did a program answer for you?",
    "kind": "choice",
    "required": False,
    "help": "For example an AI model or a script. It has no effect on your payment.",
    "options": (NO, YES),
}


@dataclass(frozen=True)
class Check:
    """An attention check, which is part of the plan.

    ``name``: in files and tables. ``text``: what is asked, for researchers; ``rule``: when an
    answer is right. ``by_chance``: the share of random answers that are right; None where that
    depends on how they are random. ``again``: the number of the question that it repeats, which
    comes first. ``is_question``: whether it is a question of its own, numbered on after those that
    count; else it is a part of these.
    """

    name: str
    text: str
    rule: str
    by_chance: float | None = None
    again: int | None = None
    is_question: bool = True
