"""The address without a study."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

blueprint = Blueprint("home", __name__)


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """Tell someone who lost their link what to do."""
    return render_template("home.html")
