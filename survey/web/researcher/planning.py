"""Plan a study's size: simulate the power of several studies and compare them."""

import re

from flask import request
from flask.typing import ResponseReturnValue
from wtforms import StringField

from survey.services.operations.database import begin_reading
from survey.services.planning import power
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import blueprint, page

# Questions to simulate. A worker serves one request at a time, so a page may take only a second
# or two. The command line has no such limit; it has a progress bar and several processes.
MAX_COST = 40_000_000
REPLICATES = "1000"


def _field(name: str, label: str) -> StringField:
    return StringField(label, default=power.DEFAULTS[name].replace(",", ", "))


class PlanningForm(Form):
    """The studies to compare; sent by GET, so that a page of figures can be bookmarked."""

    class Meta:
        """No token against forgery: the form changes nothing."""

        csrf = False

    participants = _field("participants", "Participants")
    questions = _field("questions", "Questions for each")
    pool = _field("pool", "Questions in a pool")
    difference = _field("difference", "Differences to find")
    decided = _field("decided", "Share of responses that decide")
    between_questions = _field("between_questions", "Spread between questions")
    between_participants = _field("between_participants", "Spread between participants")
    replicates = StringField("Replicates", default=REPLICATES)
    seed = _field("seed", "Seed")


@blueprint.get("/planning")
def planning() -> ResponseReturnValue:
    """Ask for the studies to compare, and show how often each finds a difference."""
    form = PlanningForm(request.args or None)
    grid = _grid(form) if request.args else None
    if grid is None:
        return page("planning", form=form, status=400 if form.problems else 200)
    session().rollback()  # else participants' answers wait for the simulation
    powers = power.simulate_power(grid.studies, seed=grid.seed, replicates=grid.replicates)
    begin_reading(session())
    return page(
        "planning",
        form=form,
        grid=grid,
        powers=powers,
        rows=power.side_by_side(powers),
        advice=power.advice(powers),
        command=power.command(grid.texts),
        words=power,
    )


def _grid(form: PlanningForm) -> power.Grid | None:
    """Return the studies to compare; None after adding errors to the form's fields."""
    try:
        grid = power.read_grid({field.name: field.data or "" for field in form})
    except power.GridError as error:
        for fault in error.faults:
            field = form[str(fault.place[0])]
            # The fault names the option of the command line; the page shows the field's label.
            text = re.sub(rf"^{field.name}\b", field.label.text, fault.text)
            field.errors = [f"{text}."]
        return None
    if grid.cost <= MAX_COST:
        return grid
    form.replicates.errors = [
        f"These {len(grid.studies)} studies are too much for this page: "
        f"{grid.cost / 1e6:,.0f} million questions to simulate, {MAX_COST / 1e6:.0f} are allowed. "
        f"Ask for fewer, or on the command line: {power.command(grid.texts)}"
    ]
    return None
