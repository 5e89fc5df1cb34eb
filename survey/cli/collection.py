"""``survey collection`` and ``receipt``: secret judgements, and runs that are sent to them."""

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from survey.cli.command import (
    FORCE_OPTION,
    INPUT_FILE,
    JSON_OPTION,
    MEASURE_NAMES,
    RUN_FILE,
    CommandGroup,
    MultiWordCommand,
    NamedFile,
    check_writable,
    open_session,
)
from survey.cli.terminal import print_json, print_result, print_sheet, print_table, say

if TYPE_CHECKING:
    from survey.db.models import StoredCollection

NAME_ARGUMENT = click.argument("name")


@click.group(
    cls=CommandGroup,
    examples=(
        "survey collection publish new-album --qrels album.txt --secret secret.txt",
        'survey collection group add our-album "University of Example"',
        "survey collection list",
    ),
)
def collection() -> None:
    """Publish judgements of which some stay secret; score the runs that groups send."""


@collection.command(
    cls=MultiWordCommand,
    examples=(
        "survey collection publish new-album --qrels album.txt --secret secret.txt",
        "survey collection publish winter --qrels album.txt --secret secret.txt \\\n"
        '  --title "Winter album" --measures AP nDCG@10 --baseline album-run.txt',
    ),
)
@NAME_ARGUMENT
@click.option("--qrels", type=INPUT_FILE, required=True, help="Judgements of all topics.")
@click.option(
    "--secret",
    type=INPUT_FILE,
    required=True,
    help="The topics whose judgements stay secret, one a line. Those of all others are public.",
)
@click.option("--topics-file", type=INPUT_FILE, help="A CSV with the topics' texts: topic,text.")
@click.option(
    "--measures",
    type=MEASURE_NAMES,
    multiple=True,
    metavar="NAME...",
    help="One to three, such as AP nDCG@10, which are the usual ones.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=RUN_FILE,
    metavar="FILE...",
    help="Runs against which the others are tested. NAME=FILE names one.",
)
@click.option(
    "--closes",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="The last day (UTC) on which runs are taken, like 2027-01-31.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="Of the split into open and final topics, secret too; a random one by default.",
)
@click.option("--title", default="", help="The page's title; the name by default.")
@JSON_OPTION
def publish(
    name: str,
    qrels: Path,
    secret: Path,
    topics_file: Path | None,
    measures: tuple[str, ...],
    baselines: tuple[NamedFile, ...],
    closes: datetime | None,
    seed: int | None,
    title: str,
    as_json: bool,
) -> None:
    """Publish a collection, with the checksum of its secret judgements.

    Half of the secret topics, drawn at random, give groups feedback on their runs; the other half
    gives the final scores, which are shown once the collection is closed.
    """
    from survey.services.collections import secret as service

    new = service.NewCollection(
        name=name,
        qrels=qrels,
        secret=secret,
        topics_file=topics_file,
        measures=measures or service.DEFAULT_MEASURES,
        baselines=[(baseline.path, baseline.name) for baseline in baselines],
        closes=closes.date() if closes else None,
        seed=seed,
        title=title,
    )
    with open_session() as session:
        published = service.publish(session, new)
        facts = _facts(published)
    print_result(
        facts,
        f"Published at /collections/{name}: {facts['open_topics']} secret topics give feedback, "
        f"{facts['final_topics']} final scores, {facts['public_topics']} are public.",
        "SHA-256 of the salted secret judgements, which is public from now on:",
        f"  {facts['digest']}",
        f"Add a group: survey collection group add {name} GROUP",
        as_json=as_json,
    )


def _facts(published: "StoredCollection") -> dict[str, object]:
    from survey.services.collections.secret import is_closed

    hidden = len(published.open_topics) + len(published.final_topics)
    return {
        "name": published.name,
        "title": published.title,
        "status": "closed" if is_closed(published) else "open",
        "closes": published.closes.isoformat() if published.closes else None,
        "revealed": published.is_revealed,
        "measures": published.measures,
        "public_topics": len(published.topics) - hidden,
        "open_topics": len(published.open_topics),
        "final_topics": len(published.final_topics),
        "digest": published.digest,
        "groups": {group.name: len(group.submissions) for group in published.groups},
    }


@collection.command("list", examples=("survey collection list",))
@JSON_OPTION
def list_(as_json: bool) -> None:
    """List the collections, with their groups and how many runs these sent."""
    from survey.services.collections.secret import all_collections

    with open_session() as session:
        facts = [_facts(stored) for stored in all_collections(session)]
    if as_json:
        print_json(facts)
    elif facts:
        columns = ("name", "status", "closes", "public_topics", "open_topics", "final_topics")
        rows = [
            [
                *(fact[column] for column in columns),
                ", ".join(f"{group}: {runs}" for group, runs in fact["groups"].items()),  # type: ignore[attr-defined] # a dict
            ]
            for fact in facts
        ]
        headings = [*(column.replace("_", " ") for column in columns), "runs by group"]
        print_table("Collections", headings, rows)
    else:
        say("There is no collection yet: `survey collection publish NAME` publishes one.")


@collection.group(
    cls=CommandGroup,
    examples=('survey collection group add our-album "University of Example"',),
)
def group() -> None:
    """Add groups that may send runs."""


@group.command(examples=('survey collection group add our-album "University of Example"',))
@NAME_ARGUMENT
@click.argument("group_name", metavar="GROUP")
@click.option("--new-token", is_flag=True, help="For a group that lost its token.")
@JSON_OPTION
def add(name: str, group_name: str, new_token: bool, as_json: bool) -> None:
    """Add a group, and print the token with which it sends runs.

    The token is printed once. A group has ten submissions, one a day.
    """
    from survey.services.collections import secret as service

    with open_session() as session:
        stored = service.find_collection(session, name)
        token = service.add_group(session, stored, group_name, new_token=new_token)
    print_result(
        {"collection": name, "group": group_name, "token": token},
        f"{group_name} sends runs to {name} with this token, which is not shown again:",
        f"  {token}",
        as_json=as_json,
    )


@collection.command(examples=("survey collection close our-album",))
@NAME_ARGUMENT
@JSON_OPTION
def close(name: str, as_json: bool) -> None:
    """Take no more runs, show the final scores on the page, and print them.

    Without it a collection closes after its closing day.
    """
    from survey.services.collections import secret as service
    from survey.services.collections.submissions import results_sheet

    with open_session() as session:
        stored = service.find_collection(session, name)
        service.close(session, stored)
        sheet = results_sheet(stored)
    if as_json:
        final = [
            {
                "name": row[0],
                "means": dict(zip(sheet.columns[1:], row[1:], strict=True)),
                "stars": {
                    of: getattr(mean, "stars", "")
                    for of, mean in zip(sheet.columns[1:], row[1:], strict=True)
                },
            }
            for row in sheet.rows
        ]
        print_json({"name": name, "title": sheet.title, "final": final, "note": sheet.note})
    else:
        say(f"{name} is closed.")
        print_sheet(sheet)


@collection.command(examples=("survey collection reveal last-album",))
@NAME_ARGUMENT
@JSON_OPTION
def reveal(name: str, as_json: bool) -> None:
    """Publish the secret judgements of a closed collection, with their salt.

    The page then has the file whose SHA-256 was published first, so that anyone can check that no
    judgement was changed. A collection that shall be used again stays unrevealed.
    """
    from survey.services.collections import secret as service

    with open_session() as session:
        stored = service.find_collection(session, name)
        service.reveal(session, stored)
        digest = stored.digest
    print_result(
        {"name": name, "digest": digest},
        f"The page of {name} has the file now. `sha256sum secret-judgements.txt` prints:",
        f"  {digest}",
        as_json=as_json,
    )


@collection.command(examples=("survey collection remove our-album --yes",))
@NAME_ARGUMENT
@click.option("--yes", is_flag=True, help="Remove without asking.")
@JSON_OPTION
def remove(name: str, yes: bool, as_json: bool) -> None:
    """Delete a collection with its judgements, groups and what they sent."""
    from survey.services.collections import secret as service

    if as_json and not yes:
        raise click.UsageError("--json asks nothing, so it needs --yes.")
    with open_session() as session:
        stored = service.find_collection(session, name)
        if not yes:
            click.confirm(f"Remove {name} with all that groups sent?", abort=True)
        service.remove(session, stored)
    print_result({"removed": name}, f"{name} is removed.", as_json=as_json)


@collection.command(
    examples=("survey collection submit https://example.org/collections/our-album run.txt",)
)
@click.argument("url")
@click.argument("run", type=INPUT_FILE)
@FORCE_OPTION
@JSON_OPTION
def submit(url: str, run: Path, force: bool, as_json: bool) -> None:
    """Send a run to a collection's page; print the feedback and save the receipt.

    The token is that of the environment, SURVEY_COLLECTION_TOKEN. The receipt is saved beside the
    run, as RUN.receipt.json. A run with faults does not use up a submission, and the same run sent
    again gets its receipt again.
    """
    from survey.services.collections import receipts, sending

    token = os.environ.get(sending.TOKEN_VARIABLE, "")
    if not token:
        raise click.UsageError(f"{sending.TOKEN_VARIABLE} is not set; the organiser has the token.")
    target = run.with_name(f"{run.name}.receipt.json")
    check_writable(target, force=force)
    receipt = sending.send_run(url, run, token)
    target.write_text(receipts.receipt_text(receipt), encoding="utf-8")
    print_result(
        receipt,
        *receipts.shown_sentences(receipt),
        f"This is submission {receipt['number']}. The receipt is in {target}.",
        as_json=as_json,
    )


@click.group(
    cls=CommandGroup,
    examples=("survey receipt check run.txt.receipt.json",),
)
def receipt() -> None:
    """Check receipts of runs."""


@receipt.command(
    examples=("survey receipt check run.txt.receipt.json",),
)
@click.argument("file", type=INPUT_FILE)
@click.option("--key", help="The public key of the collection's page.")
@JSON_OPTION
def check(file: Path, key: str | None, as_json: bool) -> None:
    """Say whether a receipt is as it was signed, and for what.

    Without --key it may be signed by anyone: compare the key that is printed with that of the page.
    """
    from survey.services.collections import receipts

    read = receipts.read_receipt(file)
    if fault := receipts.fault_of(read, key):
        raise click.ClickException(f"{file} is not valid: {fault}.")
    state = "is valid" if key else "is as it was signed"
    print_result(
        {"valid": True, **read},
        f"{file} {state}: {read['group']} sent this run to {read['collection']} on {read['day']}.",
        f"SHA-256 of the run, unpacked: {read['run_sha256']}",
        f"SHA-256 of the collection: {read['digest']}",
        *receipts.shown_sentences(read),
        f"Signed by the key {read['public_key']}{'' if key else '; compare it with the page'}.",
        as_json=as_json,
    )
