"""The machines that judged a study's questions beside people: their records, and what they show.

No page asks a machine: `survey judge` does.
"""

from typing import Any

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey.services.machines import stored
from survey.services.machines.machine_results import results_beside
from survey.services.machines.stored import StoredRecord
from survey.services.operations.database import snapshot
from survey.services.studies import lifecycle
from survey.web.forms import Form, form_page
from survey.web.requests import in_own_process, session
from survey.web.researcher.pages import STUDY_ADDRESS, blueprint
from survey.web.researcher.results import (
    options_in_query,
    query_of,
    require_results,
    shown_results,
)


@blueprint.get(f"{STUDY_ADDRESS}/machines")
@in_own_process
def machines() -> ResponseReturnValue:
    """List the records; once results may be seen, show one of them beside people."""
    shows_results = lifecycle.shows_results(g.study)
    records = stored.stored_records(session(), g.study.id)
    shown: dict[str, Any] = {}
    if shows_results and records:
        require_results()
        shown = _shown(records)
    return form_page(
        "researcher/machines.html",
        Form(formdata=None),
        records=records,
        is_hidden=bool(records) and not shows_results,
        **shown,
    )


def _shown(records: list[StoredRecord]) -> dict[str, Any]:
    machines = [each.record for each in records]
    name = request.args.get("machine", machines[0].name)
    machine, options = stored.named(machines, name), options_in_query()
    results = results_beside(session(), g.study, machine.name, options)
    snapshot(session())
    return {
        "machine": machine,
        "has_options": False,
        "contents": [(each.name, each.short) for each in results.sections],
        **shown_results(results, options),
        "query": {**query_of(options), "machine": machine.name},
    }


@blueprint.post(f"{STUDY_ADDRESS}/machines/<name>/remove")
def remove_machine(name: str) -> ResponseReturnValue:
    """Ask, then delete a machine's record."""
    record = stored.named(stored.machines_of(session(), g.study.id), name)
    if Form().validate_on_submit():
        if request.form.get("sure") != "yes":
            return form_page("researcher/remove_machine.html", record=record)
        stored.remove(session(), g.study, record.name, g.researcher.name)
        session().commit()
        flash(f"The record {record.name} of {record.model} is removed.")
    return redirect(url_for("researcher.machines"), 303)
