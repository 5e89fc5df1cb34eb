"""``survey judge``: a machine answers a study's questions beside people."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    INPUT_FILE,
    JSON_OPTION,
    STUDY_OR_FILE,
    check_writable,
    command,
    confirm,
    named_study,
    open_session,
    refuse_inputs,
)
from survey.cli.results import EARLY_LOOK_NOTE, print_results
from survey.cli.terminal import (
    print_heading,
    print_json,
    print_result,
    print_text,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from survey.services.exchange.tables import Content
    from survey.services.machines.endpoint import Endpoint
    from survey.services.machines.judging import Budget, Judging, Progress, ReplyCache
    from survey.services.machines.records import MachineRecord

ANY_ORDER = {"one": ("first",), "both": ("first", "swapped")}


@command(
    examples=(
        "survey judge five-systems --endpoint http://localhost/v1 --model m --dry-run",
        "survey judge five-systems --simulate MNRO=.9,AP=.1 --samples 5",
        "survey judge five-systems --file answers.csv --model NAME",
        "survey judge five-systems.zip --simulate MNRO=1 --to judged.zip",
        "survey judge five-systems --show",
    )
)
@click.argument("target", type=STUDY_OR_FILE)
@click.option("--endpoint", metavar="URL", help="An OpenAI-compatible address, mostly ending /v1.")
@click.option(
    "--file", "answers_file", type=INPUT_FILE, help="Judgements that a machine made elsewhere."
)
@click.option(
    "--simulate",
    metavar="PREFERENCE",
    help="Ask a simulated machine, which prefers as a bot of `survey simulate --prefer`.",
)
@click.option("--model", help="The model's name, as the endpoint knows it.")
@click.option(
    "--samples", type=click.IntRange(1, 25), default=1, help="How often each question is asked."
)
@click.option(
    "--orders",
    type=click.Choice([*ANY_ORDER]),
    help="Ask about two lists once, or in both orders (both); other kinds have one.",
)
@click.option(
    "--pool",
    "pool_file",
    type=INPUT_FILE,
    help="Of labelling: the documents to judge, a table of topic and document, judgements or a "
    "run; by default the study's pool, or what people looked at.",
)
@click.option(
    "--include-test", is_flag=True, help="Ask about what only simulated annotators looked at, too."
)
@click.option("--to", "copy", type=click.Path(path_type=Path), help="Of a bundle: the new bundle.")
@click.option("--dry-run", is_flag=True, help="Print one prompt and the numbers; send nothing.")
@click.option("--most-requests", type=click.IntRange(1), help="Stop after this number of requests.")
@click.option(
    "--most-minutes", type=click.FloatRange(0, min_open=True), help="Stop after this time."
)
@click.option("--most-cost", type=click.FloatRange(0, min_open=True), help="Stop at this cost.")
@click.option("--price-in", type=click.FloatRange(0), help="Price of a million tokens sent.")
@click.option("--price-out", type=click.FloatRange(0), help="Price of a million tokens received.")
@click.option(
    "--show", is_flag=True, help="Ask no machine: print what the records show beside people."
)
@click.option("--remove", metavar="RECORD", help="Delete a record of a study, by its name.")
@click.option("--yes", is_flag=True, help="Send to another machine, or remove, without asking.")
@JSON_OPTION
def judge(
    target: str,
    endpoint: str | None,
    answers_file: Path | None,
    simulate: str | None,
    model: str | None,
    samples: int,
    orders: str | None,
    pool_file: Path | None,
    include_test: bool,
    copy: Path | None,
    dry_run: bool,
    show: bool,
    remove: str | None,
    yes: bool,
    as_json: bool,
    **budget: Any,
) -> None:
    """Let a machine answer a study's questions, from exactly what participants see.

    TARGET is a study's slug or a bundle. The answers are stored beside people's and count nowhere
    among them. A key for the endpoint is read from SURVEY_JUDGE_KEY, and stored nowhere. After
    Ctrl-C, or a budget that is used up, the same command goes on where it stopped.
    """
    from survey.services.exchange.input_files import read_file
    from survey.services.machines.answers_file import record_of_file

    _check_act(endpoint, answers_file, simulate, remove, show or None)
    if show:
        _show(target, include_test=include_test, as_json=as_json)
        return
    if remove is not None:
        _remove(target, remove, yes=yes, as_json=as_json)
        return
    model = "simulated machine" if simulate is not None and model is None else model
    if model is None:
        raise click.UsageError("Name the model with --model; its answers are kept under it.")
    limits = _budget(budget)
    _check_target(target, copy, dry_run=dry_run)
    with _content_of(target, include_test=include_test) as (content, pictures):
        if answers_file is not None:
            record = record_of_file(content, read_file(answers_file), model)
        else:
            judging = _judging(content, pictures, model, samples, orders, pool_file, simulate)
    if answers_file is None:
        if dry_run:
            _print_dry_run(judging, limits, as_json=as_json)
            return
        cache = _cache(judging)
        record = _judged(judging, cache, endpoint, simulate, limits, yes=yes)
    _store(target, content, record, copy)
    if answers_file is None:
        cache.remove()
    counts = {status: record.counts[status] for status in ("answered", "unreadable", "refused")}
    done = f"{counts['answered']:,} answers of {record.model} are stored as {record.name}"
    rest = f"; {counts['unreadable']} could not be read, {counts['refused']} were refused"
    more = rest if counts["unreadable"] or counts["refused"] else ""
    shown = "They are shown beside people's once the study is closed."
    place = f"Wrote {copy}." if copy else shown
    print_result({"record": record.name, **counts}, f"{done}{more}.", place, as_json=as_json)


def _check_act(*acts: object) -> None:
    if sum(act is not None for act in acts) != 1:
        raise click.UsageError("Name one of --endpoint, --file, --simulate, --show and --remove.")


def _check_target(target: str, copy: Path | None, *, dry_run: bool) -> None:
    if _is_path(target) and not dry_run:
        _check_copy(target, copy)
    if copy is not None and not _is_path(target):
        raise click.UsageError("--to is of a bundle; the record of a study is stored with it.")


def _show(target: str, *, include_test: bool, as_json: bool) -> None:
    """Print what each record shows beside people; of an open study, log that results were seen."""
    from survey.services.analysis.study_results import AnalysisOptions
    from survey.services.machines.machine_results import results_of_machine

    with _judged_content(target) as content:
        options = AnalysisOptions(include_test=include_test)
        results = [results_of_machine(content, machine, options) for machine in content.machines]
    if as_json:
        print_json([shown.all_json() for shown in results])
        return
    if not results:
        say("No machine has judged yet.")
    for shown in results:
        record = shown.record
        name = "simulated machine" if record.is_simulated else record.model
        print_heading(f"{record.name}: {name}")
        if shown.nothing:
            print_text(f"There is nothing to compare. {shown.nothing}")
        else:
            print_results(shown)


@contextmanager
def _judged_content(target: str) -> "Iterator[Content]":
    """Yield the content of a study or bundle, once its results may be seen."""
    from survey.services import accounts
    from survey.services.exchange.bundle import content_of
    from survey.services.exchange.bundle_reader import read_bundle
    from survey.services.exchange.input_files import open_files
    from survey.services.operations.database import begin_reading
    from survey.services.studies import lifecycle

    if _is_path(target):
        yield read_bundle(open_files(Path(target), target))[0]
        return
    with open_session() as session:
        study = named_study(session, target)
        what = "shown beside a machine"
        if lifecycle.log_early_results(session, study, accounts.COMMAND_LINE, what):
            say(EARLY_LOOK_NOTE, err=True)
        begin_reading(session)
        yield content_of(session, study, include_test=True)


def _remove(target: str, name: str, *, yes: bool, as_json: bool) -> None:
    """Delete a record of a study, after asking."""
    from survey.services import accounts
    from survey.services.machines import stored

    if _is_path(target):
        raise click.UsageError("A bundle is not changed; --remove is of a study.")
    with open_session() as session:
        study = named_study(session, target)
        record = stored.named(stored.machines_of(session, study.id), name)
        answers = f"{len(record.answers):,} answers of {record.model}"
        confirm(f"Remove {record.name}, {answers}?", yes=yes, as_json=as_json)
        stored.remove(session, study, record.name, accounts.COMMAND_LINE)
        session.commit()
    sentence = f"Removed {record.name}. People's answers are as they were."
    print_result({"removed": record.name}, sentence, as_json=as_json)


def _is_path(target: str) -> bool:
    return "/" in target or Path(target).exists()


def _check_copy(target: str, copy: Path | None) -> None:
    if copy is None:
        raise click.UsageError("A bundle is not changed; name a new one with --to.")
    check_writable(copy, force=False)
    refuse_inputs(copy, Path(target))


@contextmanager
def _content_of(target: str, *, include_test: bool) -> "Iterator[tuple[Content, dict[str, bytes]]]":
    """Yield a study's content, and its small pictures by their SHA-256.

    Answers are read from the database while the block runs: after it no transaction may be open.
    """
    from survey.services.exchange.bundle_reader import read_bundle, replicate
    from survey.services.exchange.input_files import open_files
    from survey.services.machines.stored import content_to_judge, small_pictures
    from survey.services.operations.database import begin_reading

    if _is_path(target):
        files = open_files(Path(target), target)
        for _ in replicate(files):
            continue
        content, _study = read_bundle(files)
        yield content, small_pictures(content)
        return
    with open_session() as session:
        study = named_study(session, target)
        session.rollback()
        begin_reading(session)
        content = content_to_judge(session, study, include_test=include_test)
        yield content, small_pictures(content)


def _judging(
    content: "Content",
    pictures: dict[str, bytes],
    model: str,
    samples: int,
    orders: str | None,
    pool_file: Path | None,
    simulate: str | None,
) -> "Judging":
    from survey.services.collections.pools import read_pool_file
    from survey.services.exchange.input_files import read_file
    from survey.services.machines.judging import Judging, Settings, usual_orders

    pool = read_pool_file(read_file(pool_file)) if pool_file else {}
    asked_in = ANY_ORDER[orders] if orders else usual_orders(content)
    if orders == "both" and usual_orders(content) == ANY_ORDER["one"]:
        raise click.UsageError("--orders both is of studies of two lists; this one has no sides.")
    return Judging(content, Settings(model, samples, asked_in, pool, simulate or ""), pictures)


def _budget(options: dict[str, Any]) -> "Budget":
    from survey.services.machines.judging import Budget

    if options["most_cost"] is not None and not (options["price_in"] or options["price_out"]):
        raise click.UsageError("--most-cost needs --price-in and --price-out, per million tokens.")
    return Budget(
        options["most_requests"],
        options["most_minutes"],
        options["most_cost"],
        options["price_in"] or 0.0,
        options["price_out"] or 0.0,
    )


def _print_dry_run(judging: "Judging", budget: "Budget", *, as_json: bool) -> None:
    """Print the first prompt, and what all of them amount to."""
    estimate, request = judging.estimate()
    cost = budget.price_of(estimate.tokens_in, estimate.tokens_out)
    content = {
        **estimate._asdict(),
        "cost": cost or None,
        "prompt": {"system": request.system, "user": request.message},
    }
    sentences = [
        request.system,
        request.message,
        "",
        f"{estimate.requests:,} requests like this one, with {estimate.pictures:,} pictures; about "
        f"{estimate.tokens_in:,} tokens sent and {estimate.tokens_out:,} received.",
    ]
    if cost:
        amount = f"about {cost:,.2f}" if cost >= 0.01 else "less than 0.01"
        sentences.append(f"At these prices {amount}.")
    print_result(content, *sentences, "Nothing was sent.", as_json=as_json)


def _cache(judging: "Judging") -> "ReplyCache":
    """Return the replies that earlier starts have left, in the instance folder."""
    from survey.config import Settings
    from survey.services.machines.judging import ReplyCache, cache_path

    instance = Settings.from_environment(make=True).instance
    return ReplyCache(cache_path(instance, judging.content, judging.settings))


def _judged(
    judging: "Judging",
    cache: "ReplyCache",
    endpoint: str | None,
    simulate: str | None,
    budget: "Budget",
    *,
    yes: bool,
) -> "MachineRecord":
    """Ask all that is not asked yet, and return the record; end the command if that is not all."""
    from survey.services.machines.endpoint import Endpoint
    from survey.services.machines.fake_endpoint import FakeEndpoint, planted, serving

    simulated = FakeEndpoint(planted(judging, simulate)) if simulate is not None else None
    with serving(simulated) if simulated else nullcontext(str(endpoint)) as url:
        asked = Endpoint(url, judging.schema)
        estimate, _ = judging.estimate()
        if not asked.is_local and not yes:
            click.confirm(
                f"{estimate.pictures:,} pictures and {estimate.requests:,} texts go to "
                f"{asked.host}. Continue?",
                abort=True,
                err=True,
            )
        ended = _ask(judging, asked, cache, budget, estimate.requests)
    if ended:
        raise click.ClickException(
            f"{ended}. What was answered is kept; the same command goes on from there."
        )
    return judging.record(cache)


def _ask(
    judging: "Judging",
    endpoint: "Endpoint",
    cache: "ReplyCache",
    budget: "Budget",
    total: int,
) -> str:
    """Ask under a progress bar, which says what failed and what was spent; see ``Judging.ask``."""
    with progress_bar("Asking the machine", total=total) as bar:

        def show(progress: "Progress") -> None:
            bar.update(progress.done, total)
            cost = budget.price_of(progress.tokens_in, progress.tokens_out)
            parts = [f"{progress.done:,} of {total:,}"]
            parts += [f"{progress.failed} failed"] * bool(progress.failed)
            parts += [f"{cost:.2f} spent"] * bool(cost)
            bar.describe(f"Asking the machine ({', '.join(parts)})")

        try:
            return judging.ask(endpoint, cache, budget, show)
        except KeyboardInterrupt:
            say(
                "Stopped. What was answered is kept; the same command goes on from there.", err=True
            )
            raise click.exceptions.Exit(130) from None


def _store(target: str, content: "Content", record: "MachineRecord", copy: Path | None) -> None:
    """Store a record with its study, or write the bundle with it."""
    from survey.services import accounts
    from survey.services.machines import stored

    if copy is not None:
        with copy.open("wb") as file:
            file.writelines(stored.bundle_with(content, record))
        return
    with open_session() as session:
        study = named_study(session, target)
        stored.store(session, study, record, accounts.COMMAND_LINE)
        accounts.log(session, study, accounts.COMMAND_LINE, "machine judged", record.name)
        session.commit()
