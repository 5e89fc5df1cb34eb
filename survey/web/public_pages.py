"""The address without a study.

Is the process alive; can it serve?

What is stored: a page for participants, researchers and whoever has to approve a study.

What the paper's own counts support: public, linked where researchers come in.

It names the measures, so nothing that leads a participant through a study points here.
"""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from survey.services.exchange.codebook import stored_tables
from survey.services.operations.database import is_ready
from survey.services.paper.table4 import LIMITS, read_table4
from survey.web.requests import engine

home_blueprint = Blueprint("home", __name__)


@home_blueprint.get("/")
def home() -> ResponseReturnValue:
    """Tell someone who lost their link what to do."""
    return render_template("home.html")


health_blueprint = Blueprint("health", __name__)


@health_blueprint.get("/healthz")
def alive() -> ResponseReturnValue:
    """Answer as long as the process runs."""
    return {"status": "ok"}


@health_blueprint.get("/readyz")
def ready() -> ResponseReturnValue:
    """Answer 503 until the database can be reached and has the right schema."""
    if is_ready(engine()):
        return {"status": "ready"}
    return {"status": "the database cannot be used yet"}, 503


stored_blueprint = Blueprint("stored", __name__)


@stored_blueprint.get("/what-is-stored")
def page() -> ResponseReturnValue:
    """List every field of every table with its purpose and period."""
    return render_template("stored.html", tables=stored_tables())


paper_blueprint = Blueprint("paper", __name__, url_prefix="/paper")


@paper_blueprint.get("/table4")
def table4() -> ResponseReturnValue:
    """Show Table 4, the tests over its sets, and what the claims about it are worth."""
    return render_template("paper/table4.html", reading=read_table4(), limits=LIMITS)
