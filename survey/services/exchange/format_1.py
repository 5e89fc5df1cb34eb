"""Tables as format 1 of a bundle has them: with fewer columns, some of them under other names."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import compress

from survey.core.text_input import quoted
from survey.services.exchange.tables import Content, Table


def former_tables(tables: Iterable[Table]) -> list[Table]:
    """Return those of a bundle's tables that format 1 has, as it has them."""
    return [_former(table) for table in tables if not table.is_twin]


def _former(table: Table) -> Table:
    are_old = [column.since == 1 for column in table.columns]
    columns = [
        replace(column, name=column.former or column.name, twin="")
        for column in compress(table.columns, are_old)
    ]
    if all(are_old):
        return replace(table, columns=columns)

    def lines(content: Content) -> Iterator[str]:
        for text in table.body(content):
            for cells in csv.reader(io.StringIO(text, newline="")):
                yield ",".join(map(quoted, compress(cells, are_old))) + "\n"

    return replace(table, columns=columns, body=lines)
