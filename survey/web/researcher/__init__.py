"""Researchers' pages: /research/…, after signing in.

pages: which study, and with which role · studies: the list, new studies, overview, check, how
large a study has to be · plan: the plan and the study's own lists · people: participants'
progress, researchers' roles, links, platforms · results: what comes out.
"""

from survey.web.researcher import people, plan, results, studies
from survey.web.researcher.pages import blueprint

__all__ = ["blueprint", "people", "plan", "results", "studies"]
