"""Researchers' pages: /research/…, after signing in.

pages: which study, and with which role · studies: the list, new studies, overview, check, how
large a study has to be · plan: the plan and the study's own lists · items: pictures and topics ·
people: participants' progress, researchers' roles, links, platforms · mails: to guests · results:
what comes out · machines: that judged beside people · publish: a closed study's public
page · evaluation: runs of a test collection ·
pool: several studies together.
"""

from survey.web.researcher import (
    evaluation,
    items,
    machines,
    mails,
    new_study,
    people,
    plan,
    pool,
    preregister,
    publish,
    results,
    studies,
)
from survey.web.researcher.pages import blueprint

__all__ = [
    "blueprint",
    "evaluation",
    "items",
    "machines",
    "mails",
    "new_study",
    "people",
    "plan",
    "pool",
    "preregister",
    "publish",
    "results",
    "studies",
]
