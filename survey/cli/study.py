"""``survey study``: plans, checks and the life of studies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from survey.cli import archive, drafts, members, people, publication
from survey.cli.command import (
    INPUT_FILE,
    JSON_OPTION,
    LISTS_OPTIONS,
    MEASURE_NAMES,
    READING_OPTIONS,
    RESEARCHER,
    SLUG_ARGUMENT,
    STUDY_NAME,
    CommandGroup,
    MultiWordCommand,
    NamedFile,
    TaskKind,
    check_together,
    named_study,
    open_session,
    open_study,
    with_options,
)
from survey.cli.invite import invite
from survey.cli.preregister import preregister
from survey.cli.recruitment import recruit
from survey.cli.terminal import (
    NO_BREAK_SPACE,
    print_heading,
    print_json,
    print_result,
    print_table,
    print_text,
    print_warnings,
    progress_bar,
    say,
)
from survey.services.studies.languages import languages

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from survey.core.collections.items import Topic
    from survey.core.preflight import Warned
    from survey.core.studies.fields import Finding
    from survey.core.studies.question_checks import QuestionCheck
    from survey.core.studies.questions import Question
    from survey.db.models import Study
    from survey.services.collections.pools import PooledFields
    from survey.services.studies.plans import PlanFile, PlanText, Sources, TextFile

ASKED_BY = click.option("--asked-by", help="Who runs the study, as participants read it.")
CONTACT_OPTION = click.option(
    "--contact", help="Where participants can ask, for example an e-mail address."
)
MINUTES_OPTION = click.option(
    "--minutes",
    type=click.IntRange(1, 600),
    help="How long it takes, as participants read it; computed by default.",
)
INPUT = click.Path(exists=True, path_type=Path)
TOPICS_FILE = click.option(
    "--topics-file",
    type=INPUT_FILE,
    help="What was searched for, a CSV: topic,text,description,narrative,image,cluster_type,lang.",
)
FEATURES = click.option(
    "--features",
    type=INPUT_FILE,
    help="Vectors to compare documents by: CSV, JSON Lines, or .npy with its ids in a .txt beside.",
)
CUT_TEXTS = click.option(
    "--cut-texts", is_flag=True, help="Cut texts that are longer than allowed."
)
# Headings in tables for names in JSON, as pages call them.
HEADINGS = {"slug": "address", "started": "begun", "target": "participants wanted"}
ADMISSION = ("admission_ended_at", "closes_at")
OWN_ROWS = ("slug", "participants", "minutes", "quotas")  # which `study show` prints otherwise
RUN_OPTIONS = ("topics", "graded", "clusters", "missing_last")


# Headings of `survey study --help`; commands that no heading has come last.
SECTIONS = {
    "Make a study": (
        "new",
        "items",
        "lists",
        "set",
        "undo",
        "rename",
        "copy",
        "plan",
        "schema",
        "preregister",
    ),
    "Look at studies": ("list", "show", "check", "preview", "people"),
    "Run it": ("open", "recruit", "invite", "code", "unblind", "close"),
    "Participants": ("exclude", "include", "release", "readmit", "erase"),
    "Others": ("share", "unshare", "publish", "unpublish", "archive", "unarchive", "delete"),
}


class StudyGroup(CommandGroup):
    """The commands of a study by what they are for."""

    def sections(self) -> Mapping[str, Iterable[str]]:
        """Return the commands below their headings."""
        placed = {name for names in SECTIONS.values() for name in names}
        more = [name for name in self.commands if name not in placed]
        return {**SECTIONS, **({"More": more} if more else {})}


@click.group(
    cls=StudyGroup,
    examples=(
        "survey study new my-study --questions 10",
        "survey study check my-study",
        "survey study open my-study --asked-by us --contact ir@example.org",
        "survey study close my-study",
    ),
)
def study() -> None:
    """Do with studies all that researchers' pages do."""


@study.command(
    cls=MultiWordCommand,
    examples=(
        'survey study new first-pilot --seed 42 --asked-by "the IR group of X"',
        "survey study new second-pilot --from plan.yaml",
        "survey study new two-systems --qrels qrels.txt --run a.txt b.txt.gz --graded \\\n"
        "  --collection-size 20000 --measures AP,nDCG@10,MNRO",
        "survey study new better --kind preference --qrels qrels.txt \\\n"
        "  --run a.txt b.txt.gz --collection-size 20000 --contrast AP,RR",
        "survey study new ordered --judgements-of which-match --run a.txt b.txt.gz",
        "survey study new lab --kind labelling --run a.txt b.txt.gz --pool-depth 20",
    ),
)
@click.argument("slug")
@click.option(
    "--from", "file", type=INPUT_FILE, help="A plan as a YAML file; the options below override it."
)
@click.option(
    "--kind",
    type=TaskKind(),
    help="What people do: order lists (ordering, by default), label documents (labelling), sort "
    "them into groups (grouping), say which of two lists is better (preference), or what another "
    "package's kind is.",
)
@click.option(
    "--preset",
    type=click.Choice(["mnro", "mnro-verbatim", "mnro-discriminative", "runs", "pictures"]),
    help="The texts and design to begin with (mnro).",
)
@click.option(
    "--own-lists",
    type=INPUT_FILE,
    help="Your own ranked lists, a CSV: question,list,ranks,collection_size.",
)
@click.option(
    "--measures",
    type=MEASURE_NAMES,
    metavar="NAMES",
    help="Two to six, with commas between, like AP,nDCG@10,MNRO.",
)
@click.option(
    "--contrast",
    type=MEASURE_NAMES,
    metavar="NAMES",
    help="Of preference: only pairs on which one of these contradicts the others are asked.",
)
@click.option(
    "--ask",
    "asked",
    type=click.Choice(["strength", "satisfaction"]),
    multiple=True,
    help="Of preference: ask how much better a list is, or how satisfying each is; repeatable.",
)
@click.option("--grades", help="Grades for the positions of random lists, like 3,2,2,1,1.")
@with_options(LISTS_OPTIONS)
@with_options(READING_OPTIONS)
@click.option("--topics", help="Topics with commas between; all by default.")
@click.option(
    "--judgements-of",
    "labelled",
    type=STUDY_NAME,
    metavar="SLUG",
    help="Take judgements and items of this labelling study, instead of --qrels and --items.",
)
@click.option(
    "--include-test", is_flag=True, help="With --judgements-of: count simulated annotators too."
)
@click.option("--graded", is_flag=True, help="Use the judgements' grades; participants see them.")
@click.option(
    "--clusters",
    type=INPUT_FILE,
    help="Lines of topic, document and cluster; participants see the clusters.",
)
@click.option(
    "--depth", type=int, help="How many first documents of each run the bundle holds (10)."
)
@click.option(
    "--items", type=INPUT, help="Pictures and texts of the documents: a folder, a zip or a CSV."
)
@TOPICS_FILE
@FEATURES
@CUT_TEXTS
@click.option(
    "--pool-depth",
    type=click.IntRange(1, 1_000),
    metavar="K",
    help="Of labelling with --run: people judge the first K documents of each run (20).",
)
@click.option(
    "--pool",
    "pool_file",
    type=INPUT_FILE,
    help="Of labelling: the documents to judge, a table of topic and document, judgements or a "
    "run.",
)
@click.option(
    "--judged",
    type=INPUT_FILE,
    help="Of labelling: earlier judgements of the pool; with `ask: unjudged` these are not asked.",
)
@click.option(
    "--gold",
    type=INPUT_FILE,
    help="Of labelling: documents with known answers, a table: topic,document,relevance,reason.",
)
@click.option(
    "--sample-documents",
    type=click.IntRange(1),
    help="Of a pool: how many documents people judge, drawn at random; a machine judges all.",
)
@click.option(
    "--sample-topics",
    type=click.IntRange(1),
    help="Of a pool: how many topics people judge, drawn at random; a machine judges all.",
)
@click.option(
    "--sample-questions",
    type=click.IntRange(1),
    help="Of preference: how many pairs people are asked, drawn at random; a machine judges all.",
)
@click.option("--keywords", type=INPUT_FILE, help="Of labelling: a keyword per line, a query each.")
@click.option(
    "--missing-last/--no-missing-last",
    default=True,
    help="Put relevant documents that a run did not return at the end, as “not returned”; refuse "
    "them with --no-missing-last.",
)
@click.option(
    "--owner",
    type=RESEARCHER,
    metavar="NAME",
    help="The researcher who owns the study; by default the only one.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Seed of the lists; random by default, or 1 with a plan file without preset.",
)
@click.option(
    "--generator",
    type=click.Choice(["random", "discriminative"]),
    help="How lists are drawn (random).",
)
@click.option("--questions", type=int, help="How many questions (10).")
@click.option("--lists", type=int, help="Ranked lists per question (5).")
@click.option("--relevant", type=int, help="Relevant items per list (5).")
@click.option("--collection-size", type=int, help="Items in the collection (100).")
@click.option(
    "--columns",
    type=click.Choice(["before", "after", "never"]),
    help="When people see the methods' orderings: before or after their own, or never (before).",
)
@click.option(
    "--layout",
    type=click.Choice(["strip", "grid", "list", "numbers"]),
    help="Results one after another, in a grid with the same rows on every screen, one below the "
    "other, or positions only; of the preset pictures grid (strip).",
)
@click.option("--grid-columns", type=int, help="Pictures in a row of the grid (5).")
@click.option("--arms", help="Draw participants evenly among two or three of these: before,after.")
@click.option("--participants", type=int, help="How many participants you want (30).")
@click.option(
    "--language", type=click.Choice(languages()), help="Language of participants' pages (en)."
)
@click.option("--title", help="The title that participants read.")
@ASKED_BY
@CONTACT_OPTION
@MINUTES_OPTION
@JSON_OPTION
def new(
    slug: str,
    file: Path | None,
    kind: str | None,
    keywords: Path | None,
    preset: str | None,
    own_lists: Path | None,
    qrels: Path | None,
    runs: tuple[NamedFile, ...],
    ids: tuple[str, ...],
    score_type: str | None,
    relevant_from: int,
    strict: bool,
    labelled: str | None,
    include_test: bool,
    pool_depth: int | None,
    pool_file: Path | None,
    judged: Path | None,
    gold: Path | None,
    items: Path | None,
    topics_file: Path | None,
    features: Path | None,
    cut_texts: bool,
    owner: str | None,
    contrast: str | None,
    asked: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Make a study as a draft, to be checked and opened later.

    SLUG is its address, /s/SLUG: small letters, digits and hyphens, and no measure's name.
    Without options it is the MNRO paper's study with newly drawn lists. A study with other
    measures, lists or marks hides the methods' scores, unless --preset mnro asks for them.
    """
    from survey.services import accounts
    from survey.services.collections.items import topics_in
    from survey.services.exchange.input_files import read_file, read_text
    from survey.services.studies import lifecycle
    from survey.services.studies.plans import (
        KINDS,
        Reading,
        Sources,
        kind_name,
        read_lists_csv,
        read_plan_text,
    )

    run_options = {name: options.pop(name) for name in RUN_OPTIONS}
    written = None if file is None else read_plan_text(read_text(file), file.name)
    sampled, sampled_file = _sample(options, written, file)
    pool_file = pool_file or sampled_file
    fields = _plan_fields(options) | _preference_fields(options, contrast, asked) | sampled
    kind = kind or (None if written is None else written.kind)
    declared = KINDS.get(kind or kind_name({}))  # none of a kind that a file alone knows
    takes = declared.takes if declared else ()
    if labelled and (qrels or items or topics_file):
        raise click.UsageError("--judgements-of replaces --qrels, --items and --topics-file.")
    planned = () if written is None else written.values
    judgements, known_fields = _judgements(qrels, labelled, planned, include_test=include_test)
    fields = known_fields | fields if "runs" in takes else fields
    chosen_topics = (run_options["topics"] or "").replace(",", " ").split()
    pool = PoolFiles(runs, pool_depth, pool_file, judged, gold)
    pooled = pool.fields(takes, written, file, chosen_topics, items, topics_file)
    fields |= pooled.fields
    if pooled.fields:
        runs = ()  # their first documents are in the fields
        fields |= {"relevant_from": relevant_from} if relevant_from > 1 else {}
    _check_runs(run_options, takes, judgements, runs, labelled)
    keyword_topics = _keyword_topics(keywords, takes)
    known_topics = []
    if "topics" in takes and not pooled.fields:
        # Keywords alone mean these alone, whatever topics are beside the pictures.
        in_files = [] if keyword_topics and topics_file is None else topics_in(items, topics_file)
        known_topics = [topic.topic for topic in (*in_files, *keyword_topics)]
    clusters = run_options["clusters"]
    sources = Sources(
        judgements=judgements,
        runs=tuple(read_file(run.path)._replace(run=run.name) for run in runs),
        lists=read_lists_csv(read_text(own_lists), own_lists.name) if own_lists else None,
        topics=tuple(chosen_topics),
        known_topics=tuple(known_topics),
        collection_size=str(fields.get("collection_size", "")),
        clusters=None if clusters is None else read_file(clusters),
        graded=run_options["graded"],
        missing_last=run_options["missing_last"],
        reading=Reading(ids, score_type == "distances", relevant_from),
        # Lists that can be positions alone are shown as such, unless --preset pictures.
        shows_documents=not preset and bool(labelled or (items and "lists" not in takes)),
    )
    has_lists = bool(sources.lists or runs or (written and written.values.get("own_lists")))
    if "lists" in takes and has_lists:
        _refuse_beside_lists(fields)
    plan_file = _read_plan(written, preset, fields, kind, sources)
    with open_session() as session:
        with progress_bar("Drawing the questions"):
            study = lifecycle.create_study_for(
                session, owner, slug, plan_file.plan, plan_file.recruitment
            )
        sentences = [f"The study {slug!r} is made, with seed {plan_file.plan.seed}."]
        sentences += pooled.sentences
        if keyword_topics:
            first = " and ".join(f"“{topic.text}”" for topic in keyword_topics[:2])
            sentences.append(f"Queries of {keywords and keywords.name}, first: {first}.")
        item_files = (items, topics_file, features)
        file_reports, item_sentences, warnings = _add_items(
            session, study, labelled, *item_files, keyword_topics, cut_texts=cut_texts
        )
        lifecycle.follow_items(session, study, accounts.COMMAND_LINE)
        if not plan_file.has_minutes:
            lifecycle.promise_expected_minutes(session, study)
        sentences += [*item_sentences, *_what_to_do_next(session, study)]
        warnings += lifecycle.warnings_of(session, study, so_far=True)
        warnings += pooled.warnings
        content = lifecycle.describe(study) | file_reports
        content["warnings"] = [warning.as_json() for warning in warnings]
        print_result(content, *sentences, as_json=as_json)
    _print_warnings_of_files(warnings, strict=strict)


SAMPLE_OPTIONS = ("documents", "topics", "questions")


class PoolFiles(NamedTuple):
    """The files of documents to judge, of earlier judgements and of gold documents."""

    runs: tuple[NamedFile, ...]
    depth: int | None
    pool: Path | None
    judged: Path | None
    gold: Path | None

    def fields(
        self,
        takes: Sequence[str],
        written: "PlanText | None",
        file: Path | None,
        topics: Sequence[str],
        items: Path | None,
        topics_file: Path | None,
    ) -> "PooledFields":
        """Return the fields of a plan that the files decide; none where nothing is pooled.

        Of a plan's file, ``pool`` says depth and order, and ``judged`` and ``gold`` may name files
        beside it. Raises UsageError for options that do not go together.
        """
        from survey.services.collections.items import topics_in
        from survey.services.collections.pools import PooledFields, pool_fields
        from survey.services.exchange.input_files import read_file

        values: Mapping[str, Any] = {} if written is None else written.values
        settings = values.get("pool")
        planned: Mapping[str, Any] = settings if isinstance(settings, dict) else {}
        is_planned = bool(planned.get("runs") or planned.get("documents"))
        is_pooled = "pool" in takes and bool(self.runs or self.pool or is_planned)
        self._check(takes, is_pooled=is_pooled)
        if not is_pooled:
            return PooledFields({}, ())
        judged, gold = (
            read_file(path) if path else None
            for path in (
                self.judged or _beside_plan(file, values, "judged"),
                self.gold or _beside_plan(file, values, "gold"),
            )
        )
        return pool_fields(
            runs=[read_file(run.path)._replace(run=run.name) for run in self.runs],
            pool_file=None if self.pool is None else read_file(self.pool),
            depth=self.depth or planned.get("depth"),
            order=planned.get("order", "random"),
            topics=topics or values.get("topics") or (),
            known_topics={topic.topic for topic in topics_in(_tables(items), topics_file)},
            judged=judged,
            gold=gold,
        )

    def _check(self, takes: Sequence[str], *, is_pooled: bool) -> None:
        options = {
            "--pool-depth": self.depth,
            "--pool": self.pool,
            "--judged": self.judged,
            "--gold": self.gold,
        }
        named = next((name for name, value in options.items() if value is not None), None)
        if named and "pool" not in takes:
            raise click.UsageError(f"{named} is about documents to judge: --kind labelling.")
        if named and not is_pooled:
            raise click.UsageError(f"{named} needs a pool: --run, or --pool FILE.")
        if self.runs and self.pool:
            raise click.UsageError("--run and --pool both say what is judged; give one of them.")


def _beside_plan(file: Path | None, values: Mapping[str, Any], name: str) -> Path | None:
    """Return the path of a file that a plan names in a field; None where it names none."""
    value = values.get(name)
    if file is None or not isinstance(value, str) or not value:
        return None
    path = file.parent / value
    if not path.is_file():
        raise click.UsageError(f"{file.name}, {name}: there is no file {value} beside the plan.")
    return path


def _tables(items: Path | None) -> Path | None:
    """Return where topics may be beside items: not in a table of documents, which may be large."""
    from survey.services.collections.items import is_table

    return None if items is None or is_table(items) else items


def _check_runs(
    run_options: Mapping[str, Any],
    takes: Sequence[str],
    judged: object,
    runs: Sequence[NamedFile],
    labelled: str | None,
) -> None:
    """Raise UsageError where judgements, runs and the options that need them are not together."""
    needing_runs = {
        f"--{name}": run_options[name]
        for name in ("topics", "graded", "clusters")
        if name != "topics" or "runs" in takes
    }
    takes_alone = "judgements" in takes and "runs" not in takes and not runs
    if takes_alone and not any(needing_runs.values()):
        return
    judging = "--judgements-of" if labelled else "--qrels"
    is_alone = judged is not None and not labelled and not runs
    hint = "Without runs, --qrels is for groups (--kind grouping)." if is_alone else ""
    together = {judging: judged, "--run": runs, **needing_runs}
    check_together(together, (judging, "--run"), hint)


def _print_warnings_of_files(warnings: "Sequence[Warned]", *, strict: bool) -> None:
    """Print warnings, without those about unread columns: the sentence about a file names these.

    Exits as ``print_warnings`` does.
    """
    print_warnings(
        [warning for warning in warnings if warning.code != "columns-not-read"], strict=strict
    )


def _what_to_do_next(session: "Session", study: "Study") -> list[str]:
    """Return sentences that say what to do with a new study."""
    from survey.services import accounts
    from survey.services.analysis.sheets import count_of
    from survey.services.studies.plans import contact_faults

    sentences = [
        f"Look at it with `survey study check {study.slug}`, then open it.",
        f"Participants read that it takes about {count_of(study.plan.minutes, 'minute')} "
        "(--minutes).",
    ]
    if contact_faults(study.plan):
        sentences.append(
            "It opens once participants read who asks and whom they can ask: "
            "--asked-by and --contact of `survey study open` say it."
        )
    if not accounts.members_of(session, study):
        sentences.append(
            "It has no owner, so no researcher sees it in the browser: "
            f"`survey study share {study.slug} NAME` adds an owner."
        )
    return sentences


def _keyword_topics(file: Path | None, takes: Sequence[str]) -> "list[Topic]":
    """Return a topic for each keyword of the file, none without a file."""
    from survey.services.collections.items import keyword_topics
    from survey.services.exchange.input_files import read_text

    if file is None:
        return []
    if "keywords" not in takes:
        raise click.UsageError("--keywords are queries to label documents for: --kind labelling.")
    return keyword_topics(read_text(file), file.name)


@study.command(
    examples=(
        "survey study items spring-study photographs/",
        "survey study items spring-study items.csv --topics-file topics.csv",
    ),
)
@SLUG_ARGUMENT
@click.argument("source", required=False, type=INPUT)
@TOPICS_FILE
@FEATURES
@CUT_TEXTS
@click.option("--strict", is_flag=True, help="Exit with status 1 if there is a warning.")
@click.option("--remove", is_flag=True, help="Remove all items, topics and pictures of the draft.")
@JSON_OPTION
def items(
    slug: str,
    source: Path | None,
    topics_file: Path | None,
    features: Path | None,
    cut_texts: bool,
    strict: bool,
    remove: bool,
    as_json: bool,
) -> None:
    """Add what documents and topics stand for: pictures, texts, what was searched for.

    SOURCE is a folder or a zip of pictures, each named by the id of its document, or a table
    (CSV, JSON Lines) with the columns document, title, url, snippet, text, html, file, alt, lang
    beside the pictures. HTML is reduced to text and its layout. Where the study's questions name
    documents, only these are taken. Pictures are stored in two small sizes,
    without metadata, in sRGB, and on light grey where they are transparent. An item replaces one
    of the same document. features.csv, or features.npy and features.txt, beside them are vectors to
    compare documents by.
    """
    from survey.services import accounts
    from survey.services.collections import items as collection
    from survey.services.studies import lifecycle

    if (source is None and topics_file is None and features is None) != remove:
        raise click.UsageError(
            "Name a folder, a zip or a CSV, --topics-file or --features; or --remove."
        )
    with open_study(slug) as (session, study):
        sentences = ["All items, topics and pictures are removed."]
        warnings: list[Warned] = []
        content: dict[str, Any] = {}
        if remove:
            collection.remove_all(session, study, accounts.COMMAND_LINE)
        else:
            files = (source, topics_file, features)
            content, sentences, warnings = _take_items(session, study, *files, cut_texts=cut_texts)
            warnings += lifecycle.compared_items(session, study)
            content["warnings"] = [warning.as_json() for warning in warnings]
        content |= collection.items_summary(session, study)
        print_result({"study": slug, **content}, *sentences, as_json=as_json)
    _print_warnings_of_files(warnings, strict=strict)
    if content.get("refused") and not (content["items"] and any(content["taken"].values())):
        raise click.exceptions.Exit(1)


def _take_items(
    session: "Session",
    study: "Study",
    source: Path | None,
    topics_file: Path | None,
    features: Path | None,
    keywords: "Sequence[Topic]" = (),
    *,
    cut_texts: bool = False,
) -> "tuple[dict[str, Any], list[str], list[Warned]]":
    """Add items, topics and vectors from files to a study, and commit.

    ``source``: a folder, a zip or a table; ``keywords``: topics to add to those of the file.
    Returns a report as JSON, the same in sentences, and warnings.
    """
    from survey.services import accounts
    from survey.services.analysis.sheets import count_of
    from survey.services.collections import items as collection

    needed = collection.needed_items(session, study, cut_texts=cut_texts)
    size = source.stat().st_size if source is not None and source.is_file() else None
    with ExitStack() as stack:
        with progress_bar(f"Reading {source.name if source else 'files'}", total=size) as reading:
            opened = stack.enter_context(
                collection.open_source(source, topics_file, features, needed, reading.advance)
            )
        progress = stack.enter_context(progress_bar("Taking in", total=len(opened.items)))
        topics = opened.topics
        if keywords:
            topics = [*(topics or ()), *keywords]
        intake = collection.take_in(
            session,
            study,
            opened.files,
            opened.items,
            accounts.COMMAND_LINE,
            topics=topics,
            on_item=progress.advance,
            intake=opened.intake,
        )
    content = {
        "taken": {"items": intake.items, "topics": intake.topics, "vectors": intake.vectors},
        "files": [vars(report) for report in intake.files],
        "refused": [refusal._asdict() for refusal in intake.refusals],
        "repeated": [each._asdict() for each in intake.repeated],
        "warnings": [warned.as_json() for warned in intake.warnings],
    }
    counts = {"item": intake.items} | ({"topic": intake.topics} if topics else {})
    counts |= {"vector": intake.vectors} if intake.vectors else {}
    *before, last = [count_of(count, noun) for noun, count in counts.items()]
    taken = f"{', '.join(before)} and {last}" if before else last
    if intake.replaced:
        taken += f", in place of the {count_of(intake.replaced, 'topic')} that were there"
    sentences = [f"Taken: {taken}."]
    sentences += [report.sentence() for report in intake.files]
    sentences += [f"Not taken: {refusal.name}: {refusal.reason}." for refusal in intake.refusals]
    sentences += [f"Taken, but {each.name} is {each.reason}." for each in intake.repeated]
    return content, sentences, intake.warnings


@study.command("list", examples=("survey study list", "survey study list --json"))
@JSON_OPTION
def list_(as_json: bool) -> None:
    """List all studies."""
    from survey.services.studies import lifecycle

    with open_session() as session:
        studies = lifecycle.all_studies(session)
        contents = [(lifecycle.listed(session, study), study) for study in studies]
        faults = [study.plan_fault for study in studies if not study.is_readable]
    for fault in faults:
        say(fault, err=True)
    if as_json:
        print_json([content | lifecycle.admission(study) for content, study in contents])
    elif contents:
        columns = [HEADINGS.get(name, name) for name in contents[0][0]]
        rows = [
            [*(content | {"status": study.status_label}).values()] for content, study in contents
        ]
        print_table("Studies", columns, rows)
    else:
        say("There is no study yet: make one with `survey study new`.")


@study.command(examples=("survey study show five-systems",))
@SLUG_ARGUMENT
@JSON_OPTION
def show(slug: str, as_json: bool) -> None:
    """Show a study's design, digest and progress, with the people in each group with a quota."""
    from survey.services.participation import participant_list
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        content = lifecycle.describe(study) | {"participants": lifecycle.progress(session, study)}
        status, taken = study.status_label, lifecycle.time_taken(session, study)
        quotas = participant_list.list_quotas(session, study)
    content["minutes"] = vars(taken)
    if quotas:
        content["quotas"] = {
            label: {group.name: {"people": group.people, "most": group.most} for group in groups}
            for label, groups in quotas.items()
        }
    if as_json:
        print_json(content)
        return
    rows = [
        (
            HEADINGS.get(name, name.replace("_", " ")),
            ("no", "yes")[value] if isinstance(value, bool) else value,
        )
        for name, value in (content | {"status": status}).items()
        if name not in OWN_ROWS and (value is not None or name not in ADMISSION)
    ]
    rows.append(("minutes", taken.sentence or f"promised {taken.promised}"))
    rows += [
        (f"participants, {HEADINGS.get(name, name)}", count)
        for name, count in content["participants"].items()
    ]
    rows += [
        (f"quota of “{label}”, {group.name}", group.sentence)
        for label, groups in quotas.items()
        for group in groups
    ]
    print_table(f"The study {slug}", ["", "value"], rows)


@study.command(examples=("survey study check five-systems",))
@SLUG_ARGUMENT
@click.option("--strict", is_flag=True, help="Exit with status 1 if there is a warning of files.")
@JSON_OPTION
def check(slug: str, strict: bool, as_json: bool) -> None:
    """Check a study: print a verdict and a summary, then every question.

    The summary warns of identical orders, values that tie as printed, and measures' cut-offs
    (K). The exit status is 1 if an opened study no longer has the digest it was opened with, or if
    its files cannot be what was meant: ranks reversed, no document judged, nothing to show.
    """
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        findings = lifecycle.check_study(session, study)
        questions = lifecycle.counted_questions(study)
        checks = [each for each in lifecycle.question_checks(study) if each.question.number]
        printed_names = lifecycle.headings(study)
        verdict = lifecycle.check_verdict(study, findings)
        warnings = lifecycle.warnings_of(session, study)
        pairs = lifecycle.pair_counts(study, checks)
    content = []
    if as_json and not checks:  # a kind whose questions measures do not order
        content = [{"question": each.number, **each.as_json()} for each in questions]
    elif as_json:
        content = [
            {
                "question": question.number,
                "lists": {letter: list(ranks) for letter, ranks in question.lists.items()},
                "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
                "contradictions": {
                    "-".join(pair.names): pair.contradictions for pair in checked.pairs
                },
                "balanced": {"-".join(pair.names): pair.balanced for pair in checked.pairs},
                "odd_one_out": checked.outlier,
                **(
                    {"topic": question.source.topic, "runs": question.source.runs}
                    if question.source
                    else {}
                ),
            }
            for question, checked in zip(questions, checks, strict=True)
        ]
    if as_json:
        listed = [vars(finding) | {"if_left": lifecycle.if_left(finding)} for finding in findings]
        warned = [warning.as_json() for warning in warnings]
        counts = [pair.as_json() for pair in pairs]
        remarks = {"findings": listed, "warnings": warned}
        print_json({"verdict": verdict, "questions": content, "pairs": counts, **remarks})
    else:
        print_text(verdict)
        _print_summary(checks, findings, [pair.sentence for pair in pairs])
        for question in questions if checks else ():
            _print_question(question, printed_names)
    is_stopped = any(warning.level == "stop" for warning in warnings)
    if is_stopped or any(finding.failed for finding in findings) or (strict and warnings):
        raise click.exceptions.Exit(1)


@study.command(
    examples=(
        "survey study plan five-systems > plan.yaml",
        "survey study new second-round --from plan.yaml",
    ),
)
@SLUG_ARGUMENT
@JSON_OPTION
def plan(slug: str, as_json: bool) -> None:
    """Print a study's plan as YAML.

    `survey study new --from` makes the same study from it.
    """
    from survey.services.studies.plans import plan_values, write_plan
    from survey.services.studies.recruitment import recruitment_of

    with open_study(slug) as (_, study):
        recruitment = recruitment_of(study)
        if as_json:
            print_json(plan_values(study.plan, recruitment))
        else:
            say(write_plan(study.plan, recruitment), nl=False)


@study.command(examples=("survey study schema > plan.schema.json",))
def schema() -> None:
    """Print the JSON Schema of plan files.

    An editor that reads it completes and checks a plan file that begins with the line
    # yaml-language-server: $schema=plan.schema.json
    """
    from survey.services.studies.plan_schema import plan_schema

    print_json(plan_schema())


@study.command(
    "open",
    examples=('survey study open spring-study --asked-by "IR group" --contact ir@example.org',),
)
@SLUG_ARGUMENT
@ASKED_BY
@CONTACT_OPTION
@MINUTES_OPTION
@click.option("--reason", default="", help="Why a closed study opens again; it is exported.")
@click.option(
    "--anyway",
    default="",
    metavar="REASON",
    help="Why a draft opens though its check finds what stops it; it is logged.",
)
@JSON_OPTION
def open_(slug: str, as_json: bool, reason: str, anyway: str, **changes: object) -> None:
    """Freeze a study under its digest and let participants in.

    From then on no text, list, value or order of it can change. A closed study opens again; that
    its results could be seen meanwhile is stored, exported and printed beside the verdicts.
    A draft does not open before it says who asks and whom participants can ask, nor while
    something that its questions show is missing. A study that admits no one new (`study close
    --let-finish`) admits people again.
    """
    from survey.services import accounts
    from survey.services.studies import lifecycle, plans

    changes = _plan_fields(changes)
    with open_study(slug) as (session, study):
        if changes:
            try:
                plan = plans.parse_plan({**study.plan.as_json(), **changes})
            except ValueError as error:
                raise click.UsageError(f"{error}.") from error
            lifecycle.change_plan(session, study, plan, accounts.COMMAND_LINE)
        if study.status == "draft":
            _require_can_open(session, study, anyway)
            _warn_of_changes(session, study)
        was_open = study.status == "open"
        warnings = lifecycle.warnings_of(session, study) if study.status == "draft" else []
        lifecycle.open_study(session, study, reason=reason[:500], anyway=anyway[:500])
        print_result(
            lifecycle.describe(study),
            f"The study {slug!r} {'admits people again' if was_open else 'is open'} at /s/{slug}.",
            f"Its digest, for a preregistration: {study.digest}",
            "Participants reach it while `survey serve` runs.",
            as_json=as_json,
        )
    # As warnings: at a stop, which --anyway overruled, print_warnings would exit with status 1.
    print_warnings(
        [replace(warned, level=warned.level.replace("stop", "warning")) for warned in warnings]
    )


def _warn_of_changes(session: "Session", study: "Study") -> None:
    """Print what of a draft is not as it was preregistered."""
    from survey.services.studies import lifecycle

    for finding in lifecycle.check_study(session, study):
        if finding.code == lifecycle.NOT_REGISTERED:
            say(f"Warning: {finding.text}.", err=True)


def _require_can_open(session: "Session", study: "Study", anyway: str) -> None:
    """Raise an error that names all that stops a draft from opening, and what to do about each.

    A UsageError where options of the command can mend all of it, else CannotOpenError. Returns
    where nothing stops it, or where ``anyway`` is a reason and may overrule it.
    """
    from survey.errors import CannotOpenError
    from survey.services.studies import lifecycle

    stops = lifecycle.stops_of(lifecycle.check_study(session, study))
    may = lifecycle.can_open_anyway(stops)
    if not stops or (may and anyway.strip()):
        return
    options = {"asked_by": "--asked-by", "contact": "--contact", "minutes": "--minutes"}
    named = [options[finding.mend] for finding in stops if finding.mend in options]
    ways = [f"Give {' and '.join(named)}."] if named else []
    if any(finding.mend == "items" for finding in stops):
        ways.append(f"Add pictures and texts with `survey study items {study.slug} FOLDER`.")
    if may:
        ways.append("Or say why it opens in spite of that: --anyway REASON.")
    reasons = "; ".join(finding.text for finding in stops)
    text = f"The study {study.slug!r} cannot open: {reasons}. {' '.join(ways)}"
    raise click.UsageError(text) if len(named) == len(stops) else CannotOpenError(text)


@study.command(
    examples=("survey study close five-systems --let-finish", "survey study close five-systems")
)
@SLUG_ARGUMENT
@click.option(
    "--let-finish",
    is_flag=True,
    help="Admit no one new, and let those under way finish; the study then closes by itself.",
)
@click.option(
    "--hours",
    type=click.IntRange(1, 8760),
    help="With --let-finish: how long they have until it closes. Default: 48.",
)
@JSON_OPTION
def close(slug: str, as_json: bool, let_finish: bool, hours: int | None) -> None:
    """Stop taking answers.

    Those who are under way cannot finish then, unless --let-finish. `survey study open` opens the
    study again, or admits people again.
    """
    from survey.services.participation import participants
    from survey.services.studies import lifecycle

    if hours is not None and not let_finish:
        raise click.UsageError("--hours needs --let-finish: a study closes at once without it.")
    hours = hours or lifecycle.HOURS_TO_FINISH
    with open_study(slug) as (session, study):
        under_way = participants.count_under_way(session, study)
        people = f"{under_way} {'person' if under_way == 1 else 'people'}"
        if let_finish:
            lifecycle.end_admission(session, study, hours=hours)
            sentences = [
                f"The study {slug!r} admits no one new; {people} under way can finish.",
                f"The study closes by itself after the last of them, or after {hours} "
                f"hour{'s' * (hours != 1)}. Next: `survey study show {slug}`.",
            ]
        else:
            lifecycle.close_study(session, study)
            sentences = [f"The study {slug!r} is closed."]
            if under_way:
                kept = f"{people} under way cannot finish; what they saved is kept."
                sentences.append(f"{kept} `survey study open {slug}` lets them go on.")
            sentences.append(
                f"Next: `survey analyse {slug}`, `survey export {slug} --to {slug}.zip`."
            )
        content = lifecycle.describe(study) | {"under_way": under_way}
        print_result(content, *sentences, as_json=as_json)


@study.command(examples=("survey study rename spring-study autumn-study",))
@SLUG_ARGUMENT
@click.argument("new_slug")
@JSON_OPTION
def rename(slug: str, new_slug: str, as_json: bool) -> None:
    """Give a draft the address NEW_SLUG; an opened study keeps its own."""
    from survey.services import accounts
    from survey.services.studies import lifecycle

    with open_study(slug) as (session, study):
        lifecycle.rename(session, study, new_slug, accounts.COMMAND_LINE)
        done = f"The study {slug!r} is now at /s/{new_slug}."
        print_result(lifecycle.describe(study), done, as_json=as_json)


@study.command(examples=("survey study copy five-systems second-round",))
@SLUG_ARGUMENT
@click.argument("new_slug")
@click.option("--owner", type=RESEARCHER, metavar="NAME", help="The researcher who owns the copy.")
@JSON_OPTION
def copy(slug: str, new_slug: str, owner: str | None, as_json: bool) -> None:
    """Make a draft with the same plan under the slug NEW_SLUG."""
    from survey.services.studies import lifecycle
    from survey.services.studies.recruitment import recruitment_of

    with open_study(slug) as (session, study):
        draft = lifecycle.create_study_for(
            session, owner, new_slug, study.plan, recruitment_of(study)
        )
        lifecycle.copy_items(session, study, draft)
        done = f"{new_slug!r} is a draft with the plan of {slug!r}."
        print_result(lifecycle.describe(draft), done, as_json=as_json)


for _command in (
    *(invite, preregister, recruit, *people.COMMANDS, *members.COMMANDS),
    *(*drafts.COMMANDS, *publication.COMMANDS, *archive.COMMANDS),
):
    study.add_command(_command)


def _plan_fields(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set, as fields of a plan."""
    from survey.services.studies.plans import split_names

    fields = {name: value for name, value in options.items() if value is not None}
    if "measures" in fields:
        fields["measures"] = split_names(fields["measures"])
    if "arms" in fields:
        fields["arms"] = fields["arms"].replace(",", " ").split()
    if "grades" in fields:
        fields["marks"] = {"grades": fields.pop("grades").replace(",", " ")}
    return fields


def _preference_fields(
    options: Mapping[str, object], contrast: str | None, asked: Sequence[str]
) -> dict[str, object]:
    """Return --contrast and --ask as fields of a plan of preferences."""
    from survey.services.studies.plans import split_names

    fields: dict[str, object] = {f"ask_{name}": True for name in asked}
    if contrast is not None:
        measures = split_names(contrast)
        fields |= {"selection": "discriminative", "contrast": measures}
        if options.get("measures") is None:
            fields["measures"] = measures
    return fields


def _sample(
    options: dict[str, Any], written: "PlanText | None", file: Path | None
) -> tuple[dict[str, object], Path | None]:
    """Return the field of a plan that the options of a sample say, and the file of its pool.

    The options are taken out. Of a plan's file, ``sample`` may name the file beside it in ``pool``.
    """
    options_of = {name: options.pop(f"sample_{name}") for name in SAMPLE_OPTIONS}
    chosen = {name: number for name, number in options_of.items() if number is not None}
    if len(chosen) > 1:
        named = " and ".join(f"--sample-{name}" for name in chosen)
        raise click.UsageError(f"{named} both say what people judge; give one of them.")
    planned = None if written is None else written.values.get("sample")
    if not isinstance(planned, dict) or "pool" not in planned:
        return ({"sample": chosen} if chosen else {}), None
    others = {name: value for name, value in planned.items() if name != "pool"}
    return {"sample": chosen or others}, _beside_plan(file, planned, "pool")


def _refuse_beside_lists(fields: Mapping[str, object]) -> None:
    """Raise UsageError for options that own lists, of files or of a plan, already decide."""
    for name in ("questions", "lists", "relevant", "generator", "marks"):
        if name in fields:
            option = "grades" if name == "marks" else name
            raise click.UsageError(
                f"--{option} cannot be combined with your own lists, which decide it."
            )


def _judgements(
    qrels: Path | None, labelled: str | None, planned: Collection[str], *, include_test: bool
) -> "tuple[TextFile | None, dict[str, Any]]":
    """Return the judgements of a file or of a labelling study, and the plan's fields they decide.

    Without either: None and no fields. Of a labelling study, contact and language are taken over
    too, unless they are among the ``planned`` fields of a file.
    """
    from survey.services.collections.items import items_summary
    from survey.services.exchange.bundle import judgements_of
    from survey.services.exchange.input_files import read_file

    if labelled is None:
        return (None if qrels is None else read_file(qrels)), {}
    with open_study(labelled) as (session, study):
        if study.status == "draft":
            text = f"{labelled} is still a draft and has no judgements"
            raise click.ClickException(f"{text}; open it and collect them first.")
        judged = judgements_of(session, study, include_test=include_test)
        names = {"asked_by", "contact", "language"}.difference(planned)
        same = {name: getattr(study.plan, name) for name in names}
        return judged, {"collection_size": items_summary(session, study)["items"], **same}


def _add_items(
    session: "Session",
    study: "Study",
    labelled: str | None,
    items: Path | None,
    topics_file: Path | None,
    features: Path | None,
    keywords: "Sequence[Topic]",
    *,
    cut_texts: bool,
) -> "tuple[dict[str, Any], list[str], list[Warned]]":
    """Add items to a new study, of a labelling study and of files; return as ``_take_items`` does.

    Deletes the study if that fails, so that the same command can be tried again.
    """
    from survey.services import accounts
    from survey.services.studies import lifecycle

    try:
        if labelled is not None:
            lifecycle.copy_items(session, named_study(session, labelled), study)
        if items is None and topics_file is None and features is None and not keywords:
            return {"files": []}, [], []
        files = (items, topics_file, features)
        content, sentences, warnings = _take_items(
            session, study, *files, keywords, cut_texts=cut_texts
        )
        return {"files": content["files"]}, sentences, warnings
    except BaseException:  # Ctrl-C too
        session.rollback()
        lifecycle.delete(session, study, accounts.COMMAND_LINE)
        raise


def _read_plan(
    written: "PlanText | None",
    preset: str | None,
    fields: dict[str, Any],
    kind: str | None,
    sources: "Sources",
) -> "PlanFile":
    """Return the plan of the file, or of a preset with a random seed, changed by ``fields``.

    Raises UsageError where file, preset and kind do not go together.
    """
    from survey.services.studies.plans import (
        KINDS,
        PlanFile,
        begin_plan,
        fresh_seed,
        kind_name,
        plan_from_text,
        preset_values,
    )
    from survey.services.studies.recruitment import Recruitment

    if written is not None and preset is not None:
        raise click.UsageError("Use --from or --preset, not both; a plan file may name a preset.")
    declared: Any = KINDS.get(kind or kind_name({}))  # none of a kind that a file alone knows
    if written is not None:
        planned = {"questions": None, **written.values, **fields}  # the file says how many
        has_topics = written.values.get("topics") and not (sources.topics or sources.judgements)
        if declared and not has_topics:
            fields = fields | declared.begin(sources, planned)
        plan_file = plan_from_text(written, **fields)
        if kind not in (None, plan_file.plan.kind):
            raise click.UsageError(
                f"--kind is {kind}; {written.file} is a plan of {plan_file.plan.kind}."
            )
        return plan_file
    if preset is not None and declared.name != (of := kind_name(preset_values(preset))):
        raise click.UsageError(f"--preset {preset} is of the kind {of}; leave it out, or --kind.")
    if not (declared.preset or declared.texts):
        raise click.UsageError(f"There are no general texts of the kind {kind}; add --from.")
    values = {"seed": fresh_seed(), **fields}
    if preset is None:
        values |= declared.unless_preset(fields)
    language = values.pop("language", None) or "en"
    plan = begin_plan(declared.name, sources, values, preset=preset or "", language=language)
    return PlanFile(plan, Recruitment(), "minutes" in fields)


def _print_summary(
    checks: "Sequence[QuestionCheck]", findings: "Sequence[Finding]", pair_sentences: Sequence[str]
) -> None:
    """Print warnings, the other findings, and on how many list pairs measures contradict.

    ``pair_sentences``: one for each pair of measures, or "".
    """
    from survey.services.studies.lifecycle import if_left, to_mend

    if faulty := to_mend(findings):
        print_heading("Warnings")
        for finding in faulty:
            where = "" if finding.question is None else f"question {finding.question}: "
            mend = f" ({finding.mend})" if finding.mend else ""
            failure = "FAILED: " if finding.failed else ""
            print_text(f"{failure}{where}{finding.text}{mend}. {if_left(finding)}", "", "  ")
    remarks = [finding for finding in findings if finding not in faulty]
    # Findings about the whole study come first, or they would be lost among those on questions.
    remarks.sort(key=lambda finding: finding.question is not None)
    if checks or remarks:
        print_heading("Summary")
    for sentence in filter(None, pair_sentences):
        print_text(f"all: {sentence}", "", "  ")
    for finding in remarks:
        where = "all" if finding.question is None else f"question {finding.question}"
        print_text(f"{where}: {finding.text}", "", "  ")
    say()
    if not checks:
        return
    rows = [
        [check.question.number, *(pair.summary for pair in check.pairs), check.outlier or "–"]
        for check in checks
    ]
    pairs = ["-".join(pair.names) for pair in checks[0].pairs]
    print_table(
        "How contested: on how many pairs of lists two measures contradict each other",
        ["question", *pairs, "odd one out"],
        rows,
    )


def _print_question(question: "Question", printed_names: Mapping[str, str]) -> None:
    source = question.source
    print_heading(f"Question {question.number}{f', topic {source.topic}' if source else ''}")
    runs = {letter: f" ({run})" for letter, run in source.runs.items()} if source else {}
    lists = (
        f"{letter}{runs.get(letter, '')} {question.written(letter)}" for letter in question.lists
    )
    print_text("   ".join(text.replace(" ", NO_BREAK_SPACE) for text in lists))
    rows = [
        (name, printed_names[name], " ".join(column.shown), column.ranking)
        for name, column in question.columns.items()
    ]
    print_table("", ["measure", "printed as", "values", "order"], rows)
