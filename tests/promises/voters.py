"""People at a question of a study that asks for a text about themselves, and what they post."""

from typing import Any

from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from survey.db.models import Study
from tests.builders import SLUG, Visitor, an_open_study

REMARK = {"name": "remark", "label": "Remark", "kind": "text"}


def a_study_with_a_remark(session: Session) -> Study:
    """Open a study of two questions that asks for a text."""
    return an_open_study(session, questions=2, personal_fields=[REMARK])


def a_voter(client: FlaskClient) -> Visitor:
    """Come as far as question 1."""
    voter = Visitor(client)
    voter.start()
    return voter


def post(visitor: Visitor, path: str, **fields: Any) -> Any:
    """Send fields with a good token and key, and take whatever page comes back."""
    known = {}
    for name in ("csrf_token", "submission_key"):
        if field := visitor.page.select_one(f"[name={name}]"):
            known[name] = field["value"]
    return visitor.client.post(f"/s/{SLUG}{path}", data={**known, **fields})
