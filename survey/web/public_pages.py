"""Pages without a study or a sign-in.

Table 4 names the measures, so no page that participants are led through links to it.
"""

from flask import Blueprint, Response, current_app, render_template, url_for
from flask.typing import ResponseReturnValue

from survey import __version__
from survey.paper.slips import slips_by_document
from survey.paper.studies import included_studies, included_study
from survey.paper.table4 import table4 as reproduce_table4
from survey.services.analysis.sheets import printed_table
from survey.services.exchange.tables import stored_tables
from survey.services.operations import demo, guides
from survey.services.operations.backups import COPIES_KEPT
from survey.services.operations.database import begin_reading, reason_not_ready
from survey.services.studies import publications
from survey.web.requests import engine, session

home_blueprint = Blueprint("home", __name__)
health_blueprint = Blueprint("health", __name__)
stored_blueprint = Blueprint("stored", __name__)
paper_blueprint = Blueprint("paper", __name__, url_prefix="/paper")
help_blueprint = Blueprint("help", __name__, url_prefix="/help")
BLUEPRINTS = (
    *(home_blueprint, health_blueprint, stored_blueprint, paper_blueprint),
    help_blueprint,
)


@home_blueprint.get("/")
def home() -> ResponseReturnValue:
    """Tell visitors without a study's link what to do; link to published studies, if any.

    Only `survey serve --demo` lists studies, and only the demo's: others are known by link alone.
    """
    begin_reading(session())
    studies = demo.stored_studies(session()) if current_app.config["DEMO"] else []
    has_published = bool(publications.all_public(session()))
    return render_template("home.html", demo_studies=studies, has_published=has_published)


@health_blueprint.get("/healthz")
def alive() -> ResponseReturnValue:
    """Answer as long as the process runs."""
    return {"status": "ok"}


@health_blueprint.get("/readyz")
def ready() -> ResponseReturnValue:
    """Answer 503 where an answer could not be saved now, or what is due is not deleted."""
    reason = reason_not_ready(engine(), current_app.config["INSTANCE"])
    return ({"status": reason}, 503) if reason else ({"status": "ready"}, 200)


@stored_blueprint.get("/what-is-stored", endpoint="page")
def what_is_stored() -> ResponseReturnValue:
    """List every column of every table, its purpose and how long it is kept."""
    return render_template("stored.html", tables=stored_tables(), days_kept=COPIES_KEPT.days)


@paper_blueprint.get("/table4")
def table4() -> ResponseReturnValue:
    """Show the paper's Table 4, tests of its counts, and which claims they support."""
    return render_template("paper/table4.html", judged=reproduce_table4())


@paper_blueprint.get("/study/<name>")
def study(name: str) -> ResponseReturnValue:
    """Show which of its claims a published study's numbers support."""
    return render_template("paper/study.html", judged=included_study(name))


@paper_blueprint.get("/slips")
def slips() -> ResponseReturnValue:
    """Show the misprints of the paper and of the other sources."""
    return render_template("paper/slips.html", documents=slips_by_document())


@paper_blueprint.context_processor
def study_links() -> dict[str, object]:
    """Give the pages the titles of the included studies, and how to print a table."""
    titles = {name: included_study(name).content["study"]["title"] for name in included_studies()}
    return {"studies": titles, "printed": printed_table}


@help_blueprint.get("")
def index() -> ResponseReturnValue:
    """List the guides."""
    return _guide_page(guides.INDEX)


@help_blueprint.get("/<path:name>")
def guide(name: str) -> ResponseReturnValue:
    """Show a guide."""
    return _guide_page(name)


@help_blueprint.get("/files/<path:name>")
def file(name: str) -> ResponseReturnValue:
    """Return a picture or an example of the guides."""
    path, media_type = guides.file_of_guides(name)
    return Response(path.read_bytes(), mimetype=media_type)


def _guide_page(name: str) -> ResponseReturnValue:
    found = guides.read_guide(name, url_for("help.index"))
    return render_template(
        "help.html", guide=found, is_index=name == guides.INDEX, version=__version__
    )
