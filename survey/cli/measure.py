"""``survey measure``: score lists from the command line."""

from typing import TYPE_CHECKING

import click

from survey.cli.command import Command
from survey.cli.context import AS_JSON
from survey.cli.kinds import MEASURES
from survey.cli.printing import print_json
from survey.cli.tables import print_table
from survey.services.scoring import THE_PAPERS, printed_values, score_lists

if TYPE_CHECKING:
    from survey.core.stimuli.questions import Question

MOST_LISTS = 26


@click.command(
    cls=Command,
    examples=(
        "survey measure 1,2,3,4,5 1,3,4,5,6 1,2,3,4,100  # of the paper's Table 1",
        "survey measure 1,4,5 2,3,4 --grades 2,1,1 --measures nDCG@5,gMNRO",
        "survey measure 2,30 --collection-size 1000 --json",
    ),
)
@click.argument("lists", nargs=-1, required=True, metavar="LIST...")
@click.option(
    "--collection-size",
    default=100,
    show_default=True,
    type=click.IntRange(1),
    help="How many items were ranked.",
)
@click.option(
    "--measures",
    "names",
    type=MEASURES,
    metavar="NAMES",
    default=",".join(THE_PAPERS),
    show_default=True,
    help="Names with commas between, like AP,nDCG@5,S-recall@3.",
)
@click.option("--grades", multiple=True, help="Like 2,1,1,1,3: how relevant each item is.")
@click.option("--weights", multiple=True, help="Like 1,.57,.29: how many annotators chose it.")
@click.option("--clusters", multiple=True, help="Like a,b,a+c: the sub-topics of each item.")
@click.option("--gmt", type=click.IntRange(1), help="Cap NMRR's K by 2 GMT (Eq. 6).")
@click.option("--literal-eq15", is_flag=True, help="Take MNRO's Eq. 15 as printed.")
@AS_JSON
def measure(
    lists: tuple[str, ...],
    collection_size: int,
    names: str,
    gmt: int | None,
    literal_eq15: bool,
    as_json: bool,
    **marks: tuple[str, ...],
) -> None:
    """Score ranked lists with measures, and order them.

    A LIST is the positions of its relevant items, like 1,3,4,5,6. Grades, weights and
    clusters are given once for all lists, or once for each, in the order of the positions.
    """
    if len(lists) > MOST_LISTS:
        raise click.UsageError(f"{len(lists)} lists given; {MOST_LISTS} (A to Z) are allowed.")
    ranks = [_positions(number, text) for number, text in enumerate(lists, 1)]
    try:
        question = score_lists(
            ranks,
            collection_size,
            [name.strip() for name in names.split(",") if name.strip()],
            _marks(len(lists), marks),
            gmt,
            literal_eq15=literal_eq15,
        )
    except ValueError as error:
        # as_ranks counts rows from 1, as the lists stand on the command line.
        raise click.UsageError(f"{str(error).replace('row ', 'list ')}.") from error
    if as_json:
        print_json(_as_json(question, collection_size))
    else:
        _print(question)


def _positions(number: int, text: str) -> list[int]:
    """Read one LIST, or say which part of it is no position."""
    positions = []
    for place, part in enumerate(text.replace(" ", ",").split(","), 1):
        if part == "":
            continue
        if not (part.isascii() and part.removeprefix("-").isdecimal() and len(part) < 19):
            raise click.UsageError(
                f"list {number}, position {place}: {part!r} found; "
                "a list is whole numbers separated by commas, like 1,3,4,5,6."
            )
        positions.append(int(part))
    return positions


def _marks(lists: int, found: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return each list's marks as words; an option given once holds for all lists."""
    cells: list[dict[str, str]] = [{} for _ in range(lists)]
    for kind, given in found.items():
        if len(given) not in (0, 1, lists):
            raise click.UsageError(
                f"--{kind} is given {len(given)} times for {lists} lists; once for all or once "
                "for each is allowed."
            )
        for cell, text in zip(cells, given * lists if len(given) == 1 else given, strict=False):
            cell[kind] = text.replace(",", " ")
    return cells


def _as_json(question: "Question", collection_size: int) -> dict[str, object]:
    return {
        "collection_size": collection_size,
        "lists": {
            letter: {"ranks": list(ranks)}
            | {name: column.values[index] for name, column in question.columns.items()}
            for index, (letter, ranks) in enumerate(question.lists.items())
        },
        "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
    }


def _print(question: "Question") -> None:
    rows, values = [], printed_values(question)
    for index, (letter, ranks) in enumerate(question.lists.items()):
        cells: list[object] = [letter, " ".join(map(str, ranks))]
        for name, column in question.columns.items():
            cells += [values[name][index], column.ranking.places[letter]]
        rows.append(cells)
    headings = [part for name in question.columns for part in (name, "place")]
    print_table("Values and places (1 is best)", ["list", "positions", *headings], rows)
    orders = [(name, ranking) for name, ranking in question.rankings.items()]
    print_table("Orders, best first", ["measure", "order"], orders)
