"""The researcher's pages: /research/…, for those who are signed in.

pages: who asks for which study · studies: the list, new ones · overview: a study's
life · plan, plan_form, lists: its content · check: its questions · invite: links and
codes · progress: who is where · results, hand_out: what came out · people: who may see it ·
planning: how large a study has to be.
"""

from survey.web.researcher import (
    check,
    hand_out,
    invite,
    lists,
    overview,
    people,
    plan,
    planning,
    progress,
    results,
    studies,
)
from survey.web.researcher.pages import blueprint

__all__ = [
    "blueprint",
    "check",
    "hand_out",
    "invite",
    "lists",
    "overview",
    "people",
    "plan",
    "planning",
    "progress",
    "results",
    "studies",
]
