"""``survey measure``: scores of lists typed on the command line."""

from typing import TYPE_CHECKING

import click

from survey.cli.command import JSON_OPTION, MEASURES, Command
from survey.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from survey.core.studies.questions import Question

MAX_LISTS = 26  # a letter for each


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
    default="AP,NMRR,MNRO",
    show_default=True,
    help="Names with commas between, like AP,nDCG@5,S-recall@3.",
)
@click.option("--grades", multiple=True, help="How relevant each item is, like 2,1,1,1,3.")
@click.option(
    "--weights", multiple=True, help="Share of annotators who chose each item, like 1,.57,.29."
)
@click.option("--clusters", multiple=True, help="The sub-topics of each item, like a,b,a+c.")
@click.option("--gmt", type=click.IntRange(1), help="Cap NMRR's K by 2 GMT (Eq. 6).")
@click.option("--literal-eq15", is_flag=True, help="Take MNRO's Eq. 15 as printed.")
@JSON_OPTION
def measure(
    lists: tuple[str, ...],
    collection_size: int,
    names: str,
    gmt: int | None,
    literal_eq15: bool,
    as_json: bool,
    **marks: tuple[str, ...],
) -> None:
    """Score ranked lists with any measures, and order them.

    A LIST is the positions of its relevant items, like 1,3,4,5,6. Give grades, weights and
    clusters once for all lists, or once for each, in the order of the positions.
    """
    from survey.services.collections.run_evaluation import score_lists

    if len(lists) > MAX_LISTS:
        raise click.UsageError(f"{len(lists)} lists given; {MAX_LISTS} (A to Z) are allowed.")
    positions = [_parse_positions(number, text) for number, text in enumerate(lists, 1)]
    try:
        question = score_lists(
            positions,
            collection_size,
            [name.strip() for name in names.split(",") if name.strip()],
            _marks_by_list(len(lists), marks),
            gmt,
            literal_eq15=literal_eq15,
        )
    except ValueError as error:
        # The error counts rows from 1, in the order of the lists on the command line.
        raise click.UsageError(f"{str(error).replace('row ', 'list ')}.") from error
    if as_json:
        print_json(_question_json(question, collection_size))
    else:
        _print_question(question)


def _parse_positions(number: int, text: str) -> list[int]:
    """Return the positions of a LIST; raise UsageError with the part that is no position."""
    positions = []
    for index, part in enumerate(text.replace(" ", ",").split(","), 1):
        if part == "":
            continue
        if not (part.isascii() and part.removeprefix("-").isdecimal() and len(part) < 19):
            raise click.UsageError(
                f"list {number}, position {index}: {part!r} found; "
                "a list is whole numbers separated by commas, like 1,3,4,5,6."
            )
        positions.append(int(part))
    return positions


def _marks_by_list(lists: int, marks: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return each list's marks, separated by spaces; a single mark option is for all lists."""
    cells: list[dict[str, str]] = [{} for _ in range(lists)]
    for kind, texts in marks.items():
        if len(texts) not in (0, 1, lists):
            raise click.UsageError(
                f"--{kind} is given {len(texts)} times for {lists} lists; once for all or once "
                "for each is allowed."
            )
        for cell, text in zip(cells, texts * lists if len(texts) == 1 else texts, strict=False):
            cell[kind] = text.replace(",", " ")
    return cells


def _question_json(question: "Question", collection_size: int) -> dict[str, object]:
    return {
        "collection_size": collection_size,
        "lists": {
            letter: {"ranks": list(ranks)}
            | {name: column.values[index] for name, column in question.columns.items()}
            for index, (letter, ranks) in enumerate(question.lists.items())
        },
        "rankings": {name: str(ranking) for name, ranking in question.rankings.items()},
    }


def _print_question(question: "Question") -> None:
    from survey.services.collections.run_evaluation import printed_values

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
