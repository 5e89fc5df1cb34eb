"""“New study”: a card for each way in, the files that it takes, and the draft that they make."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, Field, HiddenField, SelectChoice, SelectField, StringField
from wtforms.validators import DataRequired, Length

from survey.core.studies.fields import Fault, PlanError
from survey.core.studies.plan import Plan, text_rules
from survey.core.text_input import FaultyFilesError, parse_whole, shortened, split_names
from survey.errors import NotFoundError, SurveyError
from survey.services import accounts, new_studies
from survey.services.collections import items as collection
from survey.services.collections.item_files import is_table_name, is_table_of, tidy_path
from survey.services.collections.pools import (
    DEEPEST_POOL,
    USUAL_DEPTH,
    PooledFields,
    pool_fields,
)
from survey.services.exchange.input_files import open_files
from survey.services.new_studies import AddItems, Sources, Study, WayIn
from survey.services.operations.database import begin_reading
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import PlanFile, PlanFileError, read_plan
from survey.services.studies.recruitment import Recruitment
from survey.web.forms import Form, form_page, language_choices, slug_field, storable
from survey.web.requests import attachment, in_own_process, session
from survey.web.researcher.pages import (
    LARGEST_UPLOAD_UNPACKED,
    blueprint,
    has_valid_token,
    put_beside,
    uploaded_files,
    uploaded_text,
)
from survey.web.uploads import (
    UploadField,
    UploadsField,
    chosen_files,
    is_uploaded,
    keep,
    stage_sent,
)

FIRST = "mnro-verbatim"  # the card that is chosen where none is
CONTACT_FIELDS = ("asked_by", "contact")
FIELD_OF = {"topics": "topics_file"}  # of a form has another meaning elsewhere
HELP = {  # of the fields, in place of a description
    "judgements": "TREC qrels: lines of topic, iteration, document, relevance.",
    "runs": "Two to ten: lines of topic, Q0, document, rank, score, tag.",
    "lists": "A row for each list: question,list,ranks,collection_size.",
    "items": "items.csv with title, url, snippet or text, or pictures named by their documents, "
    "or a zip of these. They can also be added later.",
    "topics_file": "topics.csv: topic, text, and description, narrative or image where there are "
    "some.",
    "folder": "A zip in which each class has a folder, with two pictures or more.",
    "study": "Closed, or with its results shown.",
    "pool": "One to ten: lines of topic, Q0, document, rank, score, tag.",
    "pool_file": "In place of runs: topic, document; or TREC qrels, or one run.",
    "pool_depth": "1 to 1,000. What several runs return early is judged once.",
    "judged": "Optional, TREC qrels. The plan says whether judged documents are asked again.",
    "gold": "Optional: topic, document, relevance, reason. They are mixed in to check people, and "
    "count in no judgements.",
    "sample_documents": "How many, drawn at random, where a machine judges all. Empty: all.",
    "plan": "Like the one that you can download from a study's page “Plan”.",
    "bundle": "Of this survey, from the page “Export” or from a paper.",
    "collection_size": "How many. Empty if you do not know: measures that need it are left out. A "
    "relevant document that a run did not return counts as the last, and is shown as “not "
    "returned”.",
    "contrast": "Optional, like AP, RR: only pairs on which one of these contradicts the others "
    "are asked, balanced. Empty: all pairs of runs for each topic.",
}


def contact_field(name: str) -> Field:
    """Return the field of a text that says who asks, or whom participants can ask."""
    rule = text_rules(Plan)[name]  # type: ignore[type-abstract] # as in every kind
    return StringField(rule.label, validators=[Length(max=rule.longest), storable])


def _studies_to_begin_with() -> list[SelectChoice]:
    way = request.values.get("start")
    studies = [study for study, _ in accounts.studies_of(session(), g.researcher)]
    usable = new_studies.can_judge if way != "copy" else lambda study: study.is_readable
    return [SelectChoice(study.slug, study.slug) for study in studies if usable(study)]


class NewStudyForm(Form):
    """What a new study starts from, its address, and who asks."""

    start = HiddenField(default=FIRST)
    judgements = UploadField("Judgements (TREC qrels)")
    runs = UploadsField("Runs")
    lists = UploadField("CSV of lists")
    items = UploadsField("Documents: pictures or texts")
    topics_file = UploadField("Topics")
    folder = UploadsField("Pictures in folders")
    pool = UploadsField("Runs")
    pool_file = UploadField("A file of the pool")
    judged = UploadField("Earlier judgements")
    gold = UploadField("Gold documents: known answers")
    pool_depth = StringField("How many first documents of each run are judged")
    sample_documents = StringField("Documents that people judge")
    study = SelectField("Study", choices=_studies_to_begin_with, validate_choice=False)
    plan = UploadField("Plan file")
    bundle = UploadField("Bundle")
    collection_size = StringField("Documents that the runs searched")
    contrast = StringField("Measures that contradict each other")
    show_items = BooleanField("Show pictures or texts, which you add next, instead of positions")
    slug = slug_field("Address", DataRequired("Give the study an address."))
    asked_by = contact_field("asked_by")
    contact = contact_field("contact")
    language = SelectField(
        "Language of its texts and pages", choices=language_choices, validate_choice=False
    )

    @property
    def way(self) -> tuple[str, WayIn]:
        """The kind and the card that are chosen."""
        ways = new_studies.ways_in()
        return ways.get(str(self.start.data), ways[FIRST])


class Beginning(NamedTuple):
    """The plan to start from, and what adds its documents."""

    plan_file: PlanFile
    add_items: tuple[AddItems, ...] = ()
    sentences: tuple[str, ...] = ()  # about the files, for the researcher


@blueprint.route("/new", methods=["GET", "POST"])
@in_own_process
def new() -> ResponseReturnValue:
    """Show the cards, and the form of one of them; create a draft and go on to its plan."""
    chosen = {"start": request.args.get("start", FIRST), "pool_depth": USUAL_DEPTH}
    form = NewStudyForm(data={**_usual_contact(), **chosen})
    faults: tuple[str, ...] = ()
    suggestion = ""
    form.slug.data = request.form.get("suggested") or form.slug.data
    if request.method == "POST":
        keep(form)  # before it is checked, so that no fault costs the files
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the files are read
        try:
            study = _make(form, new_studies.address_of(form.slug.data))
        except PlanFileError as error:
            form.plan.errors = ["The plan in the file cannot be used; see below."]
            faults = error.faults
        except ValueError as error:
            faults = _put_beside(form, error)
        except SurveyError as error:
            field = form.slug if hasattr(error, "suggestion") else _first_field(form)
            first, *others = str(error).splitlines()
            field.errors, faults = [first], tuple(others)
            suggestion = getattr(error, "suggestion", "")
        else:
            flash(_draft_sentence(study))
            return redirect(url_for("researcher.plan", slug=study.slug), 303)
    _, way = form.way
    return form_page(
        "researcher/new.html",
        form,
        faults=faults,
        groups=_cards(),
        way=way,
        asked=_fields_of(way),
        help=HELP,
        is_chosen=request.method == "POST" or "start" in request.args,
        suggestion=suggestion,
    )


@blueprint.post("/stage")
@in_own_process
def stage_files() -> ResponseReturnValue:
    """Stage files as they are chosen, and return their entries below the field, with reports."""
    if not has_valid_token():
        raise NotFoundError("The page had been open for too long.")
    name = request.form.get("field", "")
    staged = stage_sent("files")
    begin_reading(session())
    if not staged:
        raise SurveyError("No file could be kept.")
    return form_page("researcher/staged.html", name=name, files=staged)


@blueprint.get("/examples/<name>")
def example(name: str) -> ResponseReturnValue:
    """Return an example file, which works as it is."""
    content = new_studies.example_content(name)
    if content is None:
        raise NotFoundError("There is no such example.")
    return attachment(iter([content]), new_studies.example_type(name), name)


def _cards() -> dict[str, list[WayIn]]:
    """Return the cards below each heading; the survey's kinds before those of other packages."""
    ways = [way for _, way in new_studies.ways_in().values()]
    groups = dict.fromkeys([*new_studies.GROUPS, *(way.group for way in ways)])
    return {group: [way for way in ways if way.group == group] for group in groups}


def _fields_of(way: WayIn) -> list[str]:
    """Return the names of the form's fields that a card asks for."""
    own = {"copy": ["study"], "file": ["plan"], "bundle": ["bundle"]}.get(way.name, [])
    return [*own, *(FIELD_OF.get(name, name) for name in (*way.takes, *way.asks))]


def _first_field(form: NewStudyForm) -> Field:
    """Return the field beside which to show what is wrong with the files."""
    return form[next(iter(_fields_of(form.way[1])), "slug")]


def _draft_sentence(study: Study) -> str:
    """Say at which address the draft is, and what to do next."""
    sentence = (
        f"The draft is created at /s/{study.slug}. Go through its plan, then check its questions."
    )
    warnings = lifecycle.warnings_of(session(), study, so_far=True)
    left = [f"{warned.text}." for warned in warnings if warned.code == "measures-left-out"]
    return " ".join([sentence, *left])


def _put_beside(form: NewStudyForm, error: ValueError) -> tuple[str, ...]:
    """Show an error beside the field that it is about; return the faults of files, to be listed."""
    first = _first_field(form)
    if isinstance(error, FaultyFilesError):
        for field in _fields_at_fault(form, error) or [first]:
            field.errors = ["The files cannot be used; see below."]
        return error.faults
    if isinstance(error, PlanError):
        put_beside(form, error.faults, first.name)
    else:
        first.errors = [str(error)]
    return ()


def _fields_at_fault(form: NewStudyForm, error: FaultyFilesError) -> list[Field]:
    """Return the fields of files with whose names a fault begins."""
    return [
        form[name]
        for name in _fields_of(form.way[1])
        if isinstance(form[name], UploadField)
        and any(
            fault.startswith(str(file.filename))
            for file in chosen_files(name, several=True)
            for fault in error.faults
        )
    ]


def _usual_contact() -> dict[str, str]:
    """Return who asks, and whom participants can ask, in the researcher's newest study."""
    studies = [study for study, _ in accounts.studies_of(session(), g.researcher)]
    for study in sorted(studies, key=lambda study: study.created_at, reverse=True):
        if study.is_readable and not plans.contact_faults(study.plan):
            return {name: getattr(study.plan, name) for name in CONTACT_FIELDS}
    return {}


def _make(form: NewStudyForm, slug: str) -> Study:
    """Make the draft that the form describes."""
    kind, way = form.way
    if way.name == "copy":
        copied = _chosen_study(form)
        return lifecycle.copy_study(session(), copied, slug, g.researcher)
    with TemporaryDirectory() as folder:
        beginning = _beginning(form, kind, way, Path(folder))
        study, _ = new_studies.make(
            session(),
            g.researcher,
            slug,
            beginning.plan_file,
            add_items=beginning.add_items,
            who=g.researcher.name,
        )
    for sentence in beginning.sentences:
        flash(sentence)
    return study


def _beginning(form: NewStudyForm, kind: str, way: WayIn, folder: Path) -> Beginning:
    if way.name == "file":
        uploaded = uploaded_text("plan")
        if uploaded is None:
            raise ValueError("Choose the YAML file with the plan. No study was made.")
        return Beginning(read_plan(*uploaded))
    if way.name == "bundle":
        return Beginning(*_design())
    given = {name for name in way.takes if is_uploaded(FIELD_OF.get(name, name))}
    given |= {"study"} if form.study.data else set()
    if len(chosen_files("runs", several=True)) < 2:
        given.discard("runs")
    given |= {"pool"} if "pool_file" in given else set()
    if missing := way.missing(given):
        raise ValueError(missing)
    sources, add_items = _sources(form, way, folder)
    typed = {name: form[name].data for name in CONTACT_FIELDS if form[name].data}
    changes: dict[str, Any] = {"seed": plans.fresh_seed(), **typed}
    if contrast := split_names(form.contrast.data or "") if "contrast" in way.asks else []:
        changes |= {"selection": "discriminative", "contrast": contrast, "measures": contrast}
    pooled = _pooled(form, sources) if "pool" in way.takes else PooledFields({}, ())
    changes |= pooled.fields
    try:
        plan = plans.begin_plan(
            kind, sources, changes, preset=way.preset, language=form.language.data or "en"
        )
    except SurveyError as error:
        raise ValueError(str(error)) from None
    warned = [f"{each}." for each in collection.warning_sentences(pooled.warnings)]
    return Beginning(PlanFile(plan, Recruitment()), add_items, (*pooled.sentences, *warned))


def _pooled(form: NewStudyForm, sources: Sources) -> PooledFields:
    """Return the fields of a plan whose annotators judge the first documents of runs."""
    text = (form.pool_depth.data or "").strip()
    depth = parse_whole(text) if text else USUAL_DEPTH
    if depth is None or not 1 <= depth <= DEEPEST_POOL:
        found = f"{shortened(text)} found; a whole number from 1 to {DEEPEST_POOL:,} is needed"
        raise PlanError([Fault(("pool_depth",), found)])
    runs = uploaded_files("pool", several=True)
    pool_file, judged, gold = (
        next(iter(uploaded_files(name)), None) for name in ("pool_file", "judged", "gold")
    )
    if runs and pool_file:
        both = "runs and a file of the pool both say what is judged; choose one of them"
        raise PlanError([Fault(("pool_file",), both)])
    pooled = pool_fields(
        runs=runs,
        pool_file=pool_file,
        depth=depth if runs else None,
        known_topics=sources.known_topics,
        judged=judged,
        gold=gold,
    )
    if not (sample := (form.sample_documents.data or "").strip()):
        return pooled
    if parse_whole(sample) is None:
        found = f"{shortened(sample)} found; a whole number is needed, or nothing"
        raise PlanError([Fault(("sample_documents",), found)])
    return replace(pooled, fields={**pooled.fields, "sample": {"documents": parse_whole(sample)}})


def _design() -> tuple[PlanFile, tuple[AddItems, ...]]:
    """Return the plan of the uploaded bundle, and what adds its documents."""
    upload = next(iter(chosen_files("bundle")), None)
    if upload is None:
        raise ValueError("Choose the zip file of a bundle. No study was made.")
    name = str(upload.filename)
    bundle = open_files(BytesIO(upload.read()), name, LARGEST_UPLOAD_UNPACKED)
    plan_file, add_items = new_studies.design_of(bundle, name)
    return plan_file, (add_items,)


def _sources(form: NewStudyForm, way: WayIn, folder: Path) -> tuple[Sources, tuple[AddItems, ...]]:
    """Return what the study is made of, and what adds its documents."""
    if "folder" in way.takes:
        uploads = {str(file.filename): file.stream for file in chosen_files("folder", several=True)}
        collected = new_studies.collect(uploads, folder)
        return collected.sources, (collected.add_items,)
    size, judged = form.collection_size.data or "", None
    add_items: list[AddItems] = []
    if "study" in way.takes:
        labelled = _chosen_study(form)
        judged, size = new_studies.judgements_and_size(session(), labelled)
        add_items.append(lambda session, study: lifecycle.copy_items(session, labelled, study))
    elif "judgements" in way.takes:
        judged = next(iter(uploaded_files("judgements")), None)
    lists = uploaded_text("lists") if "lists" in way.takes else None
    topics = chosen_files("topics_file") if "topics" in way.takes else []
    documents = chosen_files("items", several=True) if "items" in way.takes else []
    if topics or documents:
        add_items.append(lambda session, study: _take_in(session, study, documents, topics))
    sources = Sources(
        judgements=judged,
        runs=tuple(uploaded_files("runs", several=True)) if "runs" in way.takes else (),
        lists=plans.read_lists_csv(*lists) if lists else None,
        known_topics=_known_topics(documents, topics),
        collection_size=size,
        may_follow=True,
        shows_documents=bool(documents or form.show_items.data or "study" in way.takes),
    )
    return sources, tuple(add_items)


def _chosen_study(form: NewStudyForm) -> Study:
    choices = {choice.value for choice in _studies_to_begin_with()}
    if form.study.data not in choices:
        raise ValueError("Choose a study. No study was made.")
    return lifecycle.find_study(session(), form.study.data)


@contextmanager
def _opened(
    documents: list[Any], topics: list[Any], needed: collection.Needed
) -> Iterator[collection.Source]:
    """Open the uploaded documents and topics, whatever their tables are called."""
    uploads: dict[str, IO[bytes]] = {}
    tables = {}
    for file in documents:
        path = tidy_path(str(file.filename))
        uploads[path] = file.stream
        if is_table_name(path) and not is_table_of(path, "topics"):
            tables["items"] = path
    for file in topics:
        tables["topics"] = f"topics/{tidy_path(str(file.filename))}"
        uploads[tables["topics"]] = file.stream
    for stream in uploads.values():
        stream.seek(0)
    with collection.open_uploads(uploads, needed=needed, tables_at=tables) as source:
        yield source


def _known_topics(documents: list[Any], topics: list[Any]) -> tuple[str, ...]:
    """Return the ids of the topics of the uploaded files."""
    tables = [file for file in documents if is_table_of(str(file.filename), "topics")]
    read = [
        topic.topic
        for file in (*topics, *tables)
        for topic in collection.read_topics(file.read(), str(file.filename), collection.Intake())
    ]
    for file in (*topics, *tables):
        file.seek(0)
    return tuple(dict.fromkeys(read))


def _take_in(
    database: Any, study: Study, documents: list[Any], topics: list[Any]
) -> collection.Intake:
    needed = collection.needed_items(database, study)
    with _opened(documents, topics, needed) as source:
        intake = collection.take_in(
            *(database, study, source.files, source.items, g.researcher.name),
            topics=source.topics,
            intake=source.intake,
        )
    for report in intake.files:
        flash(report.sentence())
    for sentence in collection.warning_sentences(intake.warnings):
        flash(f"{sentence}.")
    for refusal in intake.refusals[:5]:
        flash(f"Not taken: {refusal.name}: {refusal.reason}.")
    return intake
