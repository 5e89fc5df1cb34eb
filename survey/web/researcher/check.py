"""Looking at a study's questions before anyone else does."""

from flask import g
from flask.typing import ResponseReturnValue

from survey.services import checks, previews
from survey.web.researcher.pages import STUDY, blueprint, page


@blueprint.get(f"{STUDY}/check")
def check() -> ResponseReturnValue:
    """Show each question's values and orders, and what the questions can tell."""
    return page(
        "check",
        findings=checks.check_study(g.study),
        questions=checks.question_checks(g.study),
        chance=checks.chance_advantage(g.study),
        headings=checks.headings(g.study),
        labels=previews.default_labels(g.study),
    )
