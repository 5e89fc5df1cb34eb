"""Researchers' pages: /research/…, after signing in.

pages: which study, and with which role · studies: the list, new studies, overview, check ·
plan, lists: content · invite: links, codes, platforms · people: participants' progress,
researchers' roles · results, export: what comes out · planning: how large a study has to be.
"""

from survey.web.researcher import export, lists, people, plan, planning, results, studies
from survey.web.researcher.pages import blueprint

__all__ = [
    "blueprint",
    "export",
    "invite",
    "lists",
    "people",
    "plan",
    "planning",
    "results",
    "studies",
]
