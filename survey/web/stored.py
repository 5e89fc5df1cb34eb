"""What is stored: a page for participants, researchers and whoever has to approve a study."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from survey.services.stored_fields import stored_tables

blueprint = Blueprint("stored", __name__)


@blueprint.get("/what-is-stored")
def page() -> ResponseReturnValue:
    """List every field of every table with its purpose and period."""
    return render_template("stored.html", tables=stored_tables())
