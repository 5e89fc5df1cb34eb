"""``survey power`` and ``simulate``: how large a study has to be, and bots that try it."""

import csv
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from survey.cli.command import (
    JSON_OPTION,
    OUTPUT_FILE,
    STUDY_NAME,
    command,
    open_study,
    refuse_inputs,
    with_options,
)
from survey.cli.terminal import print_json, print_result, print_table, print_text, progress_bar, say
from survey.services.planning.power_fields import (
    FIELDS,
    MACHINE_FIELDS,
    Choice,
    Numbers,
    usual_of,
)

if TYPE_CHECKING:
    from flask import Flask

    from survey.core.agreement.power_model import Power
    from survey.services.analysis.results import PastVotes


def _metavar(rule: Numbers | Choice) -> str:
    """Return how the help writes the values of an option."""
    if isinstance(rule, Numbers):
        return "NUMBER,…" if rule.several else "NUMBER"
    return "YES/NO" if "yes" in rule.allowed else "NAME"


@command(
    examples=(
        "survey power --participants 30 --questions 10 --pool 30,50 --difference .10",
        "survey power --study five-systems --workers 4 --to power.csv",
        "survey power --from-bundle five-systems.zip --participants 30,60,100",
        "survey power --replicates 100000 --cluster tcp://10.0.0.1:8786",
        "survey power --machine-correlation .8 --pool-size 4000 --judged 100,200",
    )
)
@with_options(
    [
        click.option(
            f"--{name.replace('_', '-')}",
            metavar=_metavar(rule),
            help=f"{rule.help} ({usual_of(rule)})",
        )
        for name, rule in {**FIELDS, **MACHINE_FIELDS}.items()
    ]
)
@click.option(
    "--study",
    "slug",
    type=STUDY_NAME,
    metavar="SLUG",
    help="Plan for the questions of this study, of kind ordering.",
)
@click.option(
    "--from-bundle",
    "bundle",
    type=click.Path(exists=True, path_type=Path),
    help="A past study: estimate spreads, share that decides and drop-outs from its answers.",
)
@click.option("--pair", help="Of --study and --from-bundle, the measure ahead first (MNRO-NMRR).")
@click.option(
    "--workers", default=1, type=click.IntRange(1, 256), help="How many processes compute."
)
@click.option(
    "--cluster", metavar="ADDRESS", help="Compute on a Dask cluster: the address of its scheduler."
)
@click.option("--to", "target", type=OUTPUT_FILE, help="Also write the figures as CSV.")
@JSON_OPTION
def power(
    slug: str | None,
    bundle: Path | None,
    pair: str | None,
    workers: int,
    cluster: str | None,
    target: Path | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Simulate how likely a study's verdict is to find a difference.

    The difference is between two of its measures, for questions of this kind. Separate several
    values by commas; every combination is one study. Everyone answers all questions, or the same
    number from a pool. The verdict is that of `survey analyse`, corrected for all pairs. With
    --study, that study's plan and questions replace the defaults. Then comes what gives a power of
    80 %. The figures depend on the seed, not on where or by how many workers they are computed.

    With --machine-correlation, --pool-size, --judged or --spread nothing is simulated: it is
    computed what a machine saves that judges a whole pool, of which people judge a random sample.
    With --from-bundle, correlation and spread are those of its machine.
    """
    from survey.services.planning import power

    texts = {name: text for name, text in options.items() if text is not None}
    if MACHINE_FIELDS.keys() & texts.keys():
        _print_savings(texts, bundle, {"--study": slug, "--pair": pair}, target, as_json=as_json)
        return
    compared, question_types, unseen = None, None, ""
    if pair and bundle is None and slug is None:
        raise click.UsageError("--pair names measures of --study or --from-bundle; give one.")
    if target is not None and bundle is not None:
        refuse_inputs(target, bundle)
    if bundle is not None:
        texts = power.texts_from(_past_votes(bundle), pair) | texts
    if slug is not None:
        from survey.services.studies.lifecycle import counted_questions

        with open_study(slug) as (_, study):
            compared, question_types = power.compared_in(study.plan, counted_questions(study), pair)
            texts = power.grid_texts(study.plan, compared) | texts
            unseen = power.without_methods(study.plan)
    if target is not None and not target.parent.is_dir():
        raise click.UsageError(f"There is no folder {target.parent} to write {target.name} to.")
    try:
        grid = power.read_grid(texts, question_types)
    except power.GridError as error:
        raise click.UsageError(f"{error}.") from error
    pool = power.processes(workers) if cluster is None else power.cluster(cluster)
    with pool as executor:
        with progress_bar("Simulating", total=grid.cost) as progress:
            powers = power.simulate_power(
                grid.studies,
                seed=grid.seed,
                replicates=grid.replicates,
                executor=executor,
                on_progress=progress.advance,
            )
        with progress_bar("Searching for enough power"):
            ways = power.find_ways(grid, powers, executor)
    if as_json:
        print_json(power.power_json(grid, powers, ways))
    else:
        what_decides = power.what_decides(powers[0], compared)
        _print_powers(powers, [what_decides, *power.advice(powers, ways), unseen])
    if target is not None:
        _write_csv(target, power.power_rows(powers))


def _print_savings(
    texts: Mapping[str, str],
    bundle: Path | None,
    others: Mapping[str, object],
    target: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print what a machine saves; ``others``: options that do not go with it."""
    from survey.services.planning.machine_saving import savings, texts_of
    from survey.services.planning.power import GridError

    simulated = [f"--{name.replace('_', '-')}" for name in texts if name not in MACHINE_FIELDS]
    if refused := [*simulated, *(name for name, value in others.items() if value)]:
        raise click.UsageError(f"{refused[0]} is about simulated studies, not about a machine.")
    try:
        known = {} if bundle is None else texts_of(_past_estimates(bundle))
        made = savings({**known, **texts})
    except GridError as error:
        raise click.UsageError(f"{error}.") from error
    rows = [saving._asdict() for saving in made]
    print_result({"savings": rows}, *(saving.sentence for saving in made), as_json=as_json)
    if target is not None:
        _write_csv(target, rows)


def _past_estimates(bundle: Path) -> Mapping[str, Any]:
    """Return the estimates of a bundle's first machine, empty where it has none."""
    from survey.services.analysis.study_results import AnalysisOptions
    from survey.services.exchange.bundle_reader import read_bundle
    from survey.services.exchange.input_files import open_files
    from survey.services.machines.estimates import estimates_of

    with progress_bar("Reading"):
        content, _ = read_bundle(open_files(bundle, str(bundle)))
    options = AnalysisOptions(include_test=content.include_test)
    return estimates_of(content, content.machines[0], options) if content.machines else {}


def _past_votes(bundle: Path) -> "PastVotes":
    from survey.services.analysis.study_results import AnalysisOptions
    from survey.services.exchange.bundle_reader import analyse_files
    from survey.services.exchange.input_files import open_files

    with progress_bar("Reading"):
        results = analyse_files(open_files(bundle, str(bundle)), AnalysisOptions())
    if results.past_votes is None:
        raise click.ClickException(f"{bundle} is no study in which people order lists.")
    return results.past_votes


@command(
    examples=(
        "survey simulate five-systems --participants 30",
        "survey simulate five-systems --participants 30 --seed 7 \\\n"
        "  --prefer MNRO=.5,NMRR=.3,AP=.1,OTHER=.1",
    )
)
@click.argument("slug", type=STUDY_NAME)
@click.option(
    "--participants", required=True, type=click.IntRange(1, 100_000), help="How many take part."
)
@click.option(
    "--prefer",
    help="How often they choose each measure, like MNRO=.5,NMRR=.3,AP=.1,OTHER=.1. By default "
    "OTHER is .1 and all measures are chosen equally often. Of labelling: how many of the "
    "first are relevant, or a file of judgements, and the share of errors, 5:0.1. Of grouping: how "
    "many groups, or a file of them, and the share of errors, truth.txt:0.1. Of preference: a "
    "measure whose difference decides, and the noise added to it, AP:0.2. With arms also for some "
    "of them: MNRO=.5,AP=.5; early: AP=1.",
)
@click.option(
    "--careless",
    default=0,
    type=click.IntRange(0),
    metavar="NUMBER",
    help="How many of them answer at random, and at once, to try attention checks and flags.",
)
@click.option(
    "--seed", default=1, type=click.IntRange(0), help="The same seed gives the same votes."
)
@JSON_OPTION
def simulate(
    slug: str, participants: int, prefer: str | None, careless: int, seed: int, as_json: bool
) -> None:
    """Send simulated participants through an open study's pages.

    Their answers go through real HTTP requests. They are marked as test data; analyses leave
    them out unless you ask for them.
    """
    from survey import tokens
    from survey.app import create_app
    from survey.services.collections import items
    from survey.services.planning import simulation

    with open_study(slug) as (session, study):
        if study.status != "open":
            remedy = f"`survey study open {slug}` lets participants in"
            if study.status == "closed":  # that it opens again is stored for ever
                remedy = f"copy it: `survey study copy {slug} {slug}-try`, and open the copy"
            raise click.ClickException(f"{slug} is {study.status}; {remedy}.")
        plan = study.plan
        shown = items.shown(session, study)
        preferences = simulation.preferences_for(plan, prefer, shown)
        random = simulation.preferences_for(plan, simulation.bot_of(plan).careless(plan), shown)
    app = create_app()
    token = tokens.test_run_token(str(app.secret_key), slug)
    with local_server(app) as address, progress_bar("Simulating", total=participants) as progress:
        simulation.simulate(
            f"{address}/s/{slug}?test={token}",
            plan,
            participants,
            preferences,
            seed,
            on_finished=progress.advance,
            careless=[random] * careless,
        )
    others = preferences.pop("")
    in_arms = {arm: each.as_json() for arm, each in preferences.items()}
    content = {
        "study": slug,
        "participants": participants,
        "questions_each": plan.asked,
        "seed": seed,
        "prefer": others.as_json(),
        **({"careless": min(careless, participants)} if careless else {}),
        **({"prefer_in_arms": in_arms} if in_arms else {}),
    }
    people = f"{participants} simulated participant{'s' * (participants != 1)}"
    questions = f"{plan.asked} question{'s' * (plan.asked != 1)}"
    sentence = f"{people} answered {questions} each."
    if plan.queue_arm:
        sentence = (
            f"{people} took part. Each first assessor answers {questions}; a third assessor, only "
            "what the first two did not agree on."
        )
    count_them = f"Count them with `survey analyse {slug} --include-test`."
    print_result(content, sentence, count_them, as_json=as_json)


@contextmanager
def local_server(app: "Flask") -> Iterator[str]:
    """Serve the application on a free local port while the block runs; yield its address."""
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line per request
    server = make_server("127.0.0.1", 0, app, threaded=True)
    # It checks for shutdown this often; with the default, ending takes half a second.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        with app.app_context():
            app.extensions["sqlalchemy"].engine.dispose()


def _print_powers(powers: "Sequence[Power]", sentences: Sequence[str]) -> None:
    from survey.services.planning import power

    rows = [
        [
            result.participants,
            power.asked(result),
            result.answers,
            power.points(result.difference),
            f"{100 * result.power:.1f} %",
            f"{100 * result.interval[0]:.1f} to {100 * result.interval[1]:.1f} %",
            f"{100 * result.for_order:.1f} %",
            "–" if result.equal is None else f"{100 * result.equal:.1f} %",
            "–" if result.half_width is None else f"±{100 * result.half_width:.1f} points",
        ]
        for result in powers
    ]
    columns = ["participants", "questions for each", "answers", "difference"]
    columns += ["power", "Monte Carlo 95 %", "for its order", "equal if none", "mean half-width"]
    title = f"How often the verdict finds the difference, {powers[0].replicates} simulated runs"
    print_table(title, columns, rows)
    print_text(f"How to read the first line: {power.reading(powers[0])}")
    for sentence in filter(None, sentences):
        print_text(sentence)
    say("\nNot covered:")
    for sentence in power.NOT_COVERED:
        print_text(sentence, "- ", "  ")


def _write_csv(target: Path, rows: Sequence[Mapping[str, object]]) -> None:
    try:
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}.") from None
    say(f"Written: {target}", err=True)
