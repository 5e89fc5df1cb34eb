"""``survey measure``, ``evaluate`` and ``feedback``: scores of lists and of runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from survey.cli.command import (
    INPUT_FILE,
    JSON_OPTION,
    MEASURE_NAMES,
    OUTPUT_FOLDER,
    PAPER_OPTIONS,
    READING_OPTIONS,
    RUN_FILE,
    MultiWordCommand,
    NamedFile,
    command,
    paper_look,
    with_options,
    write_files,
)
from survey.cli.terminal import (
    print_json,
    print_sheet,
    print_table,
    print_warnings,
    progress_bars,
    say,
)

if TYPE_CHECKING:
    from rich.progress import TaskID

    from survey.core.studies.questions import Question
    from survey.services.analysis.paper_files import PaperLook
    from survey.services.analysis.sheets import Sheet
    from survey.services.collections.run_evaluation import OnProgress, Report, Request

MAX_LISTS = 26  # a letter for each

Format = Literal["json", "csv", "latex"]
FORMS: dict[Format, str] = {
    "json": "Print JSON, for scripts.",
    "csv": "Print CSV, a row for each figure.",
    "latex": "Print LaTeX tables.",
}


def _choose_format(context: click.Context, option: click.Parameter, chosen: bool) -> None:
    """Pass the option's format to the command as ``output``; raise UsageError for a second one."""
    other = context.params.setdefault("output", None)
    if chosen and other:
        raise click.UsageError(f"--{other} and --{option.name} are two forms; one is allowed.")
    if chosen:
        context.params["output"] = option.name


LITERAL_OPTION = click.option("--literal-eq15", is_flag=True, help="Take MNRO's Eq. 15 as printed.")
COLUMNS_OPTION = click.option(
    "--columns", type=click.IntRange(1), help="Pictures in a row, which RBP-RS needs."
)
INPUT_OPTIONS = (
    click.option(
        "--qrels",
        type=INPUT_FILE,
        help="Judgements: topic iteration document relevance.",
    ),
    click.option(
        "--run",
        "runs",
        multiple=True,
        type=RUN_FILE,
        metavar="FILE...",
        help="Runs: topic Q0 document rank score tag. NAME=FILE names one; else its file does.",
    ),
    click.option(
        "--weights",
        type=INPUT_FILE,
        help="Shares of annotators: topic document weight, above 0 and up to 1.",
    ),
)
OUTPUT_OPTIONS = (
    click.option(
        "--resamples",
        default=10_000,
        type=click.IntRange(99, 1_000_000),
        help="How many resamples of the queries the bootstrap draws.",
    ),
    click.option(
        "--seed",
        default=20_080_501,
        type=click.IntRange(0, 2**63 - 1),
        help="Seed of the bootstrap.",
    ),
    *(
        click.option(
            f"--{name}", is_flag=True, expose_value=False, callback=_choose_format, help=text
        )
        for name, text in FORMS.items()
    ),
)


@command(
    examples=(
        "survey measure 1,2,3,4,5 1,3,4,5,6 1,2,3,4,100  # of the paper's Table 1",
        "survey measure 1,4,5 2,3,4 --grades 2,1,1 --measures nDCG@5,gMNRO",
        "survey measure 2,30 --collection-size 1000 --json",
    )
)
@click.argument("lists", nargs=-1, required=True, metavar="LIST...")
@click.option(
    "--collection-size", default=100, type=click.IntRange(1), help="How many items were ranked."
)
@click.option(
    "--measures",
    "names",
    type=MEASURE_NAMES,
    metavar="NAMES",
    default="AP,NMRR,MNRO",
    help="Names with commas between, like AP,nDCG@5,S-recall@3.",
)
@click.option("--grades", multiple=True, help="How relevant each item is, like 2,1,1,1,3.")
@click.option(
    "--weights", multiple=True, help="Share of annotators who chose each item, like 1,.57,.29."
)
@click.option("--clusters", multiple=True, help="The sub-topics of each item, like a,b,a+c.")
@click.option("--gmt", type=click.IntRange(1), help="Cap NMRR's K by 2 GMT (Eq. 6).")
@LITERAL_OPTION
@COLUMNS_OPTION
@JSON_OPTION
def measure(
    lists: tuple[str, ...],
    collection_size: int,
    names: str,
    gmt: int | None,
    literal_eq15: bool,
    columns: int | None,
    as_json: bool,
    **marks: tuple[str, ...],
) -> None:
    """Score ranked lists by measures, and order the lists by each measure.

    A LIST is the positions of its relevant items, like 1,3,4,5,6. Give grades, weights and
    clusters once for all lists, or once for each, in the order of the positions.
    """
    from survey.services.collections.list_scores import score_lists, split_names

    if len(lists) > MAX_LISTS:
        raise click.UsageError(f"{len(lists)} lists given; {MAX_LISTS} (A to Z) are allowed.")
    positions = [_parse_positions(number, text) for number, text in enumerate(lists, 1)]
    try:
        question = score_lists(
            positions,
            collection_size,
            split_names(names),
            _marks_by_list(len(lists), marks),
            gmt,
            literal_eq15=literal_eq15,
            columns=columns,
        )
    except ValueError as error:
        # The error counts rows from 1, in the order of the lists on the command line.
        raise click.UsageError(f"{str(error).replace('row ', 'list ')}.") from error
    if as_json:
        print_json(_scores_json(question, collection_size))
    else:
        _print_scores(question)


def _parse_positions(number: int, text: str) -> list[int]:
    """Return the whole numbers of a LIST; raise UsageError for a part that is not one."""
    positions = []
    for index, part in enumerate(text.replace(",", " ").split(), 1):
        if not (part.isascii() and part.removeprefix("-").isdecimal() and len(part) < 19):
            raise click.UsageError(
                f"list {number}, position {index}: {part!r} found; "
                "a list is whole numbers separated by commas, like 1,3,4,5,6."
            )
        positions.append(int(part))
    return positions


def _marks_by_list(lists: int, marks: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return each list's marks, with spaces for commas.

    An option that is given once holds for all lists. Raises UsageError for one that is given
    neither once nor once for each list.
    """
    cells: list[dict[str, str]] = [{} for _ in range(lists)]
    for mark_type, texts in marks.items():
        if len(texts) not in (0, 1, lists):
            raise click.UsageError(
                f"--{mark_type} is given {len(texts)} times for {lists} lists; once for all or "
                "once for each is allowed."
            )
        for cell, text in zip(cells, texts * lists if len(texts) == 1 else texts, strict=False):
            cell[mark_type] = text.replace(",", " ")
    return cells


def _scores_json(question: "Question", collection_size: int) -> dict[str, object]:
    return {
        "collection_size": collection_size,
        "lists": {
            letter: {"ranks": list(ranks)}
            | {name: column.values[index] for name, column in question.columns.items()}
            for index, (letter, ranks) in enumerate(question.lists.items())
        },
        "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
    }


def _print_scores(question: "Question") -> None:
    from survey.services.collections.list_scores import printed_values

    rows, values = [], printed_values(question)
    for index, (letter, ranks) in enumerate(question.lists.items()):
        cells: list[object] = [letter, " ".join(map(str, ranks))]
        for name, column in question.columns.items():
            cells += [values[name][index], column.ranking.places[letter]]
        rows.append(cells)
    headings = [part for name in question.columns for part in (name, "place")]
    print_table("Values and places (1 is best)", ["list", "positions", *headings], rows)
    print_table("Orders, best first", ["measure", "order"], [*question.rankings.items()])


def _parse_gmt(_: click.Context, __: click.Parameter, text: str | None) -> int | str | None:
    """Return GMT: a whole number, "max" or None; raise BadParameter for anything else."""
    if text is None or text == "max":
        return text
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise click.BadParameter(f"{text!r} found; a whole number from 1, or max, is allowed.")
    return int(text)


@command(
    cls=MultiWordCommand,
    examples=(
        "survey evaluate --qrels qrels.txt --run base.txt --measures AP P@10",
        "survey evaluate --qrels qrels.txt --run base.txt new.txt.gz --baseline base \\\n"
        "  --measures AP nDCG@10 MNRO --collection-size 10000",
        "survey evaluate --qrels qrels.txt --run base.txt --per-query --csv",
        "survey evaluate --qrels qrels.txt --run base.txt new.txt.gz --to graphs",
        "survey evaluate --qrels qrels.txt --run base.txt --from trec_eval --complete",
        "survey evaluate --keywords keywords.csv --run base.txt",
    ),
)
@with_options(INPUT_OPTIONS)
@click.option(
    "--keywords",
    type=INPUT_FILE,
    help="A CSV in place of judgements: document,keyword,weight. Topics are named as documents.",
)
@click.option(
    "--clusters", type=INPUT_FILE, help="Sub-topics: topic document cluster, or the word unknown."
)
@click.option(
    "--measures",
    type=MEASURE_NAMES,
    multiple=True,
    metavar="NAME...",
    help="Such as AP nDCG@10 MNRO; the usual ones by default.",
)
@click.option("--collection-size", type=click.IntRange(1), help="N, which MNRO and NAR need.")
@click.option("--gmt", callback=_parse_gmt, metavar="N|max", help="Cap NMRR's K by 2 GMT (Eq. 6).")
@LITERAL_OPTION
@COLUMNS_OPTION
@click.option("--baseline", metavar="RUN", help="Test whether the other runs are better.")
@click.option("--all-runs", is_flag=True, help="Also compare every two runs at once (Tukey's HSD).")
@click.option(
    "--paper-stars",
    is_flag=True,
    help="Stars as in the MNRO paper: one-tailed and not corrected for several runs.",
)
@click.option("--per-query", is_flag=True, help="Print the value for each query as well.")
@click.option(
    "--complete",
    is_flag=True,
    help="Count topics that no run returned anything for, as trec_eval -c does.",
)
@click.option(
    "--from",
    "tool",
    type=click.Choice(["trec_eval"]),
    help="Score one run as trec_eval does: its measures (official, P_10, …), topics and output.",
)
@click.option(
    "--to",
    "folder",
    type=OUTPUT_FOLDER,
    help="Write tables and graphs (means, precision-recall, ROC, …) for a paper into this folder.",
)
@with_options(PAPER_OPTIONS)
@with_options(READING_OPTIONS)
@with_options(OUTPUT_OPTIONS)
def evaluate(
    measures: tuple[str, ...],
    per_query: bool,
    folder: Path | None,
    output: Format | None,
    strict: bool,
    tool: str | None,
    **options: Any,
) -> None:
    """Score the runs of a test collection, in TREC's formats.

    Files may be gzipped. Queries are the topics with a relevant document for which any run
    returned something, with --complete all that have one; a run without results for a query
    scores as having retrieved nothing.
    Documents are ordered as trec_eval orders them. With --keywords, documents that share a keyword
    with a topic are relevant to it, weighted by how alike their keywords are. One, two or three
    stars mark a run as better than the baseline at .05, .01 or .001, by a two-sided randomisation
    test that is corrected for the number of runs.
    """
    from survey.services.collections import run_evaluation as evaluation

    look = paper_look(folder, options)
    names = tuple(name for words in measures for name in evaluation.split_names(words))
    if tool is not None:
        _refuse_beside_trec_eval({**options, "to": folder, output or "": output})
        _print_as_trec_eval(_request(measures=names, **options), per_query=per_query, strict=strict)
        return
    with _scoring_bars() as on_progress:
        report = evaluation.evaluate_runs(_request(measures=names, **options), on_progress)
    if folder is not None:
        _write_report(folder, report, look)
    sheets = [evaluation.means_sheet(report)]
    sheets += [evaluation.comparisons_sheet(report)] if report.comparisons else []
    sheets += [evaluation.all_runs_sheet(report)] if report.request.all_runs else []
    sheets += [evaluation.queries_sheet(report)] if per_query else []
    content = evaluation.evaluation_json(report)
    _print_report(output, report, content, sheets, per_query=per_query)
    print_warnings(report.warnings, strict=strict)


def _refuse_beside_trec_eval(options: Mapping[str, object]) -> None:
    """Raise UsageError for an option that trec_eval's output has no place for."""
    names = (
        *("keywords", "weights", "clusters", "baseline", "all_runs", "paper_stars"),
        *("collection_size", "gmt", "literal_eq15", "to", *FORMS),
    )
    if chosen := [name for name in names if options.get(name)]:
        option = chosen[0].replace("_", "-")
        raise click.UsageError(f"--from trec_eval has no --{option}; leave one of the two out.")


def _print_as_trec_eval(request: "Request", *, per_query: bool, strict: bool) -> None:
    """Score a run and print what trec_eval prints; warnings go to stderr as usual."""
    from survey.services.collections.run_report import evaluate_as_trec_eval, trec_eval_lines

    with _scoring_bars() as on_progress:
        report = evaluate_as_trec_eval(request, on_progress)
    for line in trec_eval_lines(report, request.measures, per_topic=per_query):
        say(line)
    print_warnings(report.warnings, strict=strict)


@command(
    cls=MultiWordCommand,
    examples=(
        "survey feedback --qrels qrels.txt --run round0.txt round1.txt round2.txt",
        "survey feedback --qrels qrels.txt --run round0.txt round1.txt \\\n"
        "  --weights weights.txt --examples positive --images 3",
        "survey feedback --qrels judgements/qrels.txt --rounds judgements/runs",
    ),
)
@with_options(INPUT_OPTIONS)
@click.option(
    "--rounds",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="In place of --run: a folder with a folder for each annotator: round0.txt, round1.txt, …",
)
@click.option(
    "--examples",
    type=click.Choice(["positive", "negative"]),
    help="Also print which items are given to the system as examples in each round.",
)
@click.option("--images", type=click.IntRange(1), help="Positive examples a round, by default 1.")
@with_options(READING_OPTIONS)
@with_options(OUTPUT_OPTIONS)
def feedback(
    rounds: Path | None,
    examples: Literal["positive", "negative"] | None,
    images: int | None,
    output: Format | None,
    strict: bool,
    **options: Any,
) -> None:
    """Measure what rounds of relevance feedback gain over round 0.

    As in MiAlbum (Section 2.2), the first run is round 0, the others are rounds 1, 2, … in this
    order. The measures are mean precision at 10, 20, … 100, the same weighted (with --weights),
    and recall at 100. Items that were examples count in every round like others. With --rounds, a
    query's value is the mean over the annotators who did it.
    """
    from survey.services.collections import run_evaluation as evaluation

    if examples and output == "csv":
        raise click.UsageError("--csv has no place for examples; use --json, or leave out --csv.")
    if images and examples != "positive":
        raise click.UsageError("--images is the number of --examples positive; give them too.")
    with _scoring_bars() as on_progress:
        report, shown = evaluation.evaluate_feedback(
            _request(**options), examples, images or 1, on_progress, rounds
        )
    content = evaluation.evaluation_json(report)
    content |= {"rounds": [*report.runs], "examples": shown}
    sheets = [evaluation.means_sheet(report), evaluation.comparisons_sheet(report, "gain")]
    sheets += [evaluation.examples_sheet(shown)] if shown else []
    _print_report(output, report, content, sheets)
    print_warnings(report.warnings, strict=strict)


def _request(runs: tuple[NamedFile, ...], score_type: str | None, **options: Any) -> "Request":
    """Return the request that the options of a command make."""
    from survey.services.collections.run_evaluation import Request

    paths = tuple(run.path for run in runs)
    names = tuple(run.name for run in runs)
    return Request(runs=paths, names=names, distances=score_type == "distances", **options)


@contextmanager
def _scoring_bars() -> "Iterator[OnProgress]":
    """Yield a callback that draws progress bars; raise UsageError for a wrong request."""
    from survey.services.collections.run_evaluation import RequestError

    with progress_bars() as progress:
        tasks: dict[str, TaskID] = {}

        def update(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total)
            progress.update(tasks[label], completed=done)

        try:
            yield update
        except RequestError as error:
            raise click.UsageError(f"{error}.") from error


def _write_report(folder: Path, report: "Report", look: "PaperLook") -> None:
    """Write tables and graphs, and print which graphs cannot be drawn."""
    from survey.services.collections import run_report

    graphs = run_report.graphs(report)
    write_files(
        folder,
        run_report.run_report_files(report, graphs, look),
        run_report.run_report_file_count(report, graphs),
    )
    say(f"Tables and graphs are in {folder}.", err=True)
    for graph in graphs:
        if graph.why:
            say(f"Not drawn: {graph.name}, since {graph.why}.", err=True)


def _print_report(
    output: Format | None,
    report: "Report",
    content: Mapping[str, object],
    sheets: "Sequence[Sheet]",
    *,
    per_query: bool = False,
) -> None:
    """Print the sheets as text or LaTeX, or ``content`` as JSON, or CSV.

    The CSV has a row for each run and measure, with ``per_query`` also for each query. Its notes
    go to stderr.
    """
    from survey.services.analysis.latex import as_latex
    from survey.services.analysis.sheets import as_csv
    from survey.services.collections import run_evaluation as evaluation

    if output == "json":
        print_json(content)
    elif output == "csv":
        as_rows = evaluation.long_queries_sheet if per_query else evaluation.long_sheet
        say(as_csv(as_rows(report)), nl=False)
        for note in report.evaluation.notes:
            say(note, err=True)
    else:
        for sheet in sheets:
            if output == "latex":
                say(as_latex(sheet, "evaluation"))
            else:
                print_sheet(sheet)
