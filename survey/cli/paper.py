"""``survey paper``: the paper's tables beside their print."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from survey.cli.context import AS_JSON, print_json, print_table
from survey.cli.tables import print_sheet
from survey.services import reports
from survey.services.paper.printed import Comparison, printed
from survey.services.paper.table1 import table1
from survey.services.paper.table4 import reading as table4
from survey.services.paper.table4.recount import recount_table4

TABLES = ("table1", "table3", "table4")


@click.command()
@click.argument("name", type=click.Choice([*TABLES, "all"]))
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write NAME.csv there as well; of Table 4 also what it supports, in table4-claims.md.",
)
@AS_JSON
def paper(name: str, to: Path | None, as_json: bool) -> None:
    """Recompute a table of the MNRO paper beside the printed values.

    Exit status 1 when something that can be recomputed does not agree.
    """
    wanted = TABLES if name == "all" else (name,)
    found = {one: REPRODUCED[one]() for one in wanted}
    if as_json:
        print_json(found if name == "all" else found[name])
    else:
        for one in wanted:
            PRINTED[one]()
            _print_comparisons(one, found[one]["comparisons"])
    if to is not None:
        _write(to, found)
    if not all(row["agrees"] for one in found.values() for row in one["comparisons"]):
        raise click.exceptions.Exit(1)


def _table1() -> dict[str, Any]:
    question, comparisons = table1()
    return {
        "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
        "comparisons": _plain(comparisons),
    }


def _table3() -> dict[str, Any]:
    return {
        "printed": {row["quantity"]: row["value"] for row in printed("table3")},
        "comparisons": [],
        "why": "the participants' own data were not published, so nothing can be recomputed",
    }


def _table4() -> dict[str, Any]:
    recount = recount_table4()
    return {
        **reports.counts_as_json(
            recount.table, recount.shares, recount.first_or_tied, recount.first_outright
        ),
        **table4.as_json(table4.read_table4()),
        "comparisons": _plain(recount.comparisons),
    }


def _print_table1() -> None:
    question, _ = table1()
    rows = [(name, ranking) for name, ranking in question.rankings.items()]
    print_table("Table 1. Orders of the five lists, best first", ["measure", "order"], rows)


def _print_table3() -> None:
    rows = [(row["quantity"], row["value"]) for row in printed("table3")]
    print_table("Table 3. As printed", ["", "value"], rows)
    click.echo(f"Printed only: {_table3()['why']}.")


def _print_table4() -> None:
    found = table4.read_table4()
    for sheet in (*found.counts, *found.tests):
        print_sheet(sheet)
    _print_claims(found)


def _print_claims(found: table4.Reading) -> None:
    click.echo("What Table 4 supports, claim by claim\n")
    for claim in found.claims:
        said = f"{claim.verdict.upper()}: {claim.said} ({claim.place})"
        click.echo(click.wrap_text(said, 98))
        click.echo(click.wrap_text(claim.why, 98, "  ", "  ") + "\n")
    click.echo("How far this goes")
    for limit in table4.LIMITS:
        click.echo(click.wrap_text(limit, 98, "- ", "  "))
    click.echo()


REPRODUCED = {"table1": _table1, "table3": _table3, "table4": _table4}
PRINTED = {"table1": _print_table1, "table3": _print_table3, "table4": _print_table4}


def _plain(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    return [{**vars(one), "agrees": one.agrees} for one in comparisons]


def _print_comparisons(name: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    cells = [
        (row["row"], row["name"], row["computed"], row["printed"], "yes" if row["agrees"] else "NO")
        for row in rows
    ]
    headings = ["", "what", "recomputed", "printed", "agrees"]
    print_table(f"{name}: recomputed beside the print", headings, cells)
    agreeing = sum(row["agrees"] for row in rows)
    click.echo(f"{agreeing} of {len(rows)} printed values agree.")


def _write(folder: Path, found: dict[str, dict[str, Any]]) -> None:
    """Write each table's comparisons, or its printed values, as CSV; of Table 4 the claims too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in found.items():
        rows = content["comparisons"] or [
            {"quantity": quantity, "printed": value}
            for quantity, value in content["printed"].items()
        ]
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\r\n")
            writer.writeheader()
            writer.writerows(rows)
        click.echo(f"Wrote {folder / name}.csv", err=True)
    if "table4" in found:
        claims = folder / "table4-claims.md"
        claims.write_text(table4.as_markdown(table4.read_table4()), encoding="utf-8", newline="\n")
        click.echo(f"Wrote {claims}", err=True)
