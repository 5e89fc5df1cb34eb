"""``survey measure``: score lists from the command line."""

from typing import TYPE_CHECKING

import click

from survey.cli.context import AS_JSON, print_json, print_table
from survey.services.scoring import printed_values, score_lists

if TYPE_CHECKING:
    from survey.core.stimuli.questions import Question

MOST_LISTS = 26


@click.command()
@click.argument("lists", nargs=-1, required=True, metavar="LIST...")
@click.option("--collection-size", default=100, show_default=True, type=click.IntRange(1))
@click.option("--gmt", type=click.IntRange(1), help="Cap NMRR's K by 2 GMT (Eq. 6).")
@click.option("--literal-eq15", is_flag=True, help="Take MNRO's Eq. 15 as printed.")
@AS_JSON
def measure(
    lists: tuple[str, ...],
    collection_size: int,
    gmt: int | None,
    literal_eq15: bool,
    as_json: bool,
) -> None:
    """Score ranked lists with every measure, and order them.

    A LIST is the positions of its relevant items, like 1,3,4,5,6.

    \b
    Example (the paper's Table 1):
      survey measure 1,2,3,4,5 1,3,4,5,6 1,2,3,4,100 1,2,3,30,31 1,2,3,40,41
    """
    if len(lists) > MOST_LISTS:
        raise click.UsageError(f"{len(lists)} lists given; {MOST_LISTS} (A to Z) are allowed.")
    ranks = [_positions(number, text) for number, text in enumerate(lists, 1)]
    try:
        question = score_lists(ranks, collection_size, gmt, literal_eq15=literal_eq15)
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
