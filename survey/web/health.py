"""Is the process alive; can it serve?"""

from flask import Blueprint
from flask.typing import ResponseReturnValue

from survey.services.database import is_ready
from survey.web.database import engine

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def alive() -> ResponseReturnValue:
    """Answer as long as the process runs."""
    return {"status": "ok"}


@blueprint.get("/readyz")
def ready() -> ResponseReturnValue:
    """Answer 503 until the database can be reached and has the right schema."""
    if is_ready(engine()):
        return {"status": "ready"}
    return {"status": "the database cannot be used yet"}, 503
