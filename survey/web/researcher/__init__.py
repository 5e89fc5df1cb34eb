"""The researcher's pages: /research/…, for those who are signed in.

pages: who asks for which study · studies: the list, new ones, a study's life, its questions
checked · plan, lists: its content · invite: links and codes · progress: who is where, who may
see it · results, export: what came out · planning: how large a study has to be.
"""

from survey.web.researcher import export, invite, lists, plan, planning, progress, results, studies
from survey.web.researcher.pages import blueprint

__all__ = [
    "blueprint",
    "export",
    "invite",
    "lists",
    "plan",
    "planning",
    "progress",
    "results",
    "studies",
]
