"""Score runs of a test collection in the browser, as ``survey evaluate`` does; store no scores."""

import re
from dataclasses import asdict
from pathlib import Path

from flask import request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, StringField

from survey.core.text_input import FaultyFilesError, split_names
from survey.errors import SurveyError
from survey.services.analysis.paper_files import (
    FIGURE_INCHES,
    PAPER,
    TABLE_POINTS,
    PaperLook,
    read_look,
)
from survey.services.analysis.results import as_svg
from survey.services.analysis.sheets import printed_table
from survey.services.collections import run_report
from survey.services.collections.items import warning_sentences
from survey.services.collections.run_evaluation import (
    Report,
    Request,
    RequestError,
    evaluate_runs,
)
from survey.services.exchange.bundle import stream_zip_of_bytes
from survey.services.operations.database import begin_reading
from survey.web.forms import Form, form_page
from survey.web.requests import attachment, in_own_process, session
from survey.web.researcher.pages import (
    ReadingFields,
    blueprint,
    uploaded_files,
    whole_number_in,
)
from survey.web.uploads import UploadField, UploadsField, keep

LARGEST_COLLECTION = 10**12
MOST_COLUMNS = 1_000


class EvaluationForm(Form, ReadingFields):
    """The files of a test collection, and by what its runs are scored."""

    qrels = UploadField("Judgements")
    runs = UploadsField("Runs")
    clusters = UploadField("Sub-topics")
    weights = UploadField("Weights")
    measures = StringField("Measures")
    collection_size = StringField("Size of the collection")
    columns = StringField("Pictures in a row")
    baseline = StringField("Baseline")
    complete = BooleanField("Also count topics that no run returned anything for")
    all_runs = BooleanField("Also compare every two runs at once (Tukey's HSD)")


@blueprint.get("/evaluation")
def evaluation() -> ResponseReturnValue:
    """Ask for judgements and runs."""
    return _page(EvaluationForm(formdata=None))


@blueprint.post("/evaluation")
@in_own_process
def evaluate() -> ResponseReturnValue:
    """Score the uploaded runs; show tables and graphs, or return all of them as a zip."""
    form = EvaluationForm()
    try:
        look = read_look(request.form)
    except SurveyError as error:
        keep(form)
        return _page(form, status=400, look_fault=str(error))
    report = _report_of(form) if form.validate_on_submit() else None
    if report is None:
        return _page(form, look)
    graphs = run_report.graphs(report)
    if "download" in request.form:
        chunks = stream_zip_of_bytes(run_report.run_report_files(report, graphs, look))
        return attachment(chunks, "application/zip", "evaluation.zip")
    keep(form)  # else "Download a zip" would need the files to be chosen again
    return _page(
        form,
        look,
        warnings=warning_sentences(report.warnings),
        sheets=run_report.tables(report),
        graphs=graphs,
        as_svg=as_svg,
        printed=printed_table,
        command=_command(report.request, look),
    )


def _page(
    form: EvaluationForm, look: PaperLook = PAPER, status: int | None = None, **content: object
) -> ResponseReturnValue:
    """Show the form, with how files for a paper look."""
    widths = {"figure_inches": FIGURE_INCHES, "table_points": TABLE_POINTS}
    return form_page("researcher/evaluation.html", form, status, look=look, **widths, **content)


def _report_of(form: EvaluationForm) -> Report | None:
    """Return the scores of the uploaded runs; None after adding errors to the form's fields."""
    texts: dict[Path, str] = {}
    paths: dict[str, tuple[Path, ...]] = {}
    for field in (form.qrels, form.runs, form.clusters, form.weights):
        try:
            files = uploaded_files(field.name, several=field is form.runs)
        except ValueError as error:
            field.errors = [f"{error}."]
            continue
        paths[field.name] = tuple(Path(Path(file.name).name) for file in files)
        for path, file in zip(paths[field.name], files, strict=True):
            if path in texts:
                field.errors = [f"Two files are named {path}; rename one."]
            texts[path] = file.text
        if not files and field in (form.qrels, form.runs):
            field.errors = ["Choose a file."]
    size = whole_number_in(form.collection_size, LARGEST_COLLECTION)
    columns = whole_number_in(form.columns, MOST_COLUMNS)
    reading = form.reading()
    if form.problems:
        return None
    session().rollback()  # else participants' answers would wait until all runs are scored
    scoring = Request(
        qrels=paths["qrels"][0],
        runs=paths["runs"],
        measures=tuple(split_names(form.measures.data or "")),
        collection_size=size,
        clusters=next(iter(paths["clusters"]), None),
        weights=next(iter(paths["weights"]), None),
        baseline=(form.baseline.data or "").strip() or None,
        all_runs=form.all_runs.data,
        columns=columns,
        complete=form.complete.data,
        **reading._asdict(),
    )
    try:
        return evaluate_runs(scoring, read=texts.__getitem__)
    except RequestError as error:
        _add_request_error(form, str(error))
    except FaultyFilesError as error:
        _add_file_faults(form, error.faults, paths)
    finally:
        begin_reading(session())
    return None


def _add_request_error(form: EvaluationForm, text: str) -> None:
    """Add the message of a RequestError to the field that its wording is about."""
    about = {"the baseline": form.baseline, "a baseline": form.baseline}
    field = next((field for start, field in about.items() if text.startswith(start)), None)
    if field is None:
        field = form.runs if "would both be the run" in text else form.measures
    # The end of a message names an option of the command line, which the page does not have.
    field.errors = [f"{re.sub('; give --.*', '', text)}."]


def _add_file_faults(
    form: EvaluationForm, faults: tuple[str, ...], paths: dict[str, tuple[Path, ...]]
) -> None:
    """Add each fault to the field of the file that it names, others to the judgements."""
    for fault in faults:
        named = (name for name, files in paths.items() if fault.startswith(tuple(map(str, files))))
        field = form[next(named, "qrels")]
        field.errors = [*field.errors, f"{fault}."]


def _command(scoring: Request, look: PaperLook) -> str:
    """Return the command ``survey evaluate`` that scores the same files in the same way."""
    options = {
        "qrels": [scoring.qrels],
        "run": scoring.runs,
        "clusters": [scoring.clusters],
        "weights": [scoring.weights],
        "measures": scoring.measures,
        "collection-size": [scoring.collection_size],
        "columns": [scoring.columns],
        "baseline": [scoring.baseline],
        "ids": scoring.ids,
        "scores": ["distances" if scoring.distances else None],
        "relevant-from": [scoring.relevant_from if scoring.relevant_from > 1 else None],
        **{
            name.replace("_", "-"): [f"{value:g}" if isinstance(value, float) else value]
            for name, value in asdict(look).items()
            if value != getattr(PAPER, name)
        },
    }
    words = [
        f"--{name} {' '.join(str(value) for value in values)}"
        for name, values in options.items()
        if any(values)
    ]
    words += ["--all-runs"] if scoring.all_runs else []
    words += ["--complete"] if scoring.complete else []
    return f"survey evaluate {' '.join(words)} --to FOLDER"
