"""What the paper's own counts support: public, linked where researchers come in.

It names the measures, so nothing that leads a participant through a study points here.
"""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from survey.services.paper.table4 import LIMITS, read_table4

blueprint = Blueprint("paper", __name__, url_prefix="/paper")


@blueprint.get("/table4")
def table4() -> ResponseReturnValue:
    """Show Table 4, the tests over its sets, and what the claims about it are worth."""
    return render_template("paper/table4.html", reading=read_table4(), limits=LIMITS)
