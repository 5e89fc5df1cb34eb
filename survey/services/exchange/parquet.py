"""A bundle's tables as Parquet files, for those who read them with other programs.

They are made of the lines of the CSV files, so that both say the same: with types, texts as
they were written (no spreadsheet runs them), and nothing where a cell is empty. pyarrow is the
extra ``parquet`` of the package; only this module needs it.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from survey.db.engine import snapshot
from survey.db.models import StoredResponse, Study
from survey.errors import SurveyError
from survey.services.exchange.bundle import OnLines, tables_in
from survey.services.exchange.codebook import codebook_of, told_of
from survey.services.exchange.content import Content, IdentityRecord, content_of, identities_of
from survey.services.exchange.csv_tables import Column, Table, batched
from survey.services.exchange.study_file import STUDY, study_lines
from survey.services.spreadsheets import unescaped

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv
except ModuleNotFoundError as error:
    raise SurveyError(
        "Parquet files need pyarrow, which comes with the extra parquet: pip install '.[parquet]'"
    ) from error

COUNTED = ("table3.csv", "table4.csv")  # from the others, by whoever reads them
PIECES = 50  # of a thousand lines, in a group of rows


def write_parquet(
    session: Session,
    study: Study,
    folder: Path,
    *,
    with_identities: bool = False,
    include_test: bool = False,
    on_lines: OnLines = lambda _: None,
) -> None:
    """Write a study's answers, people and questions into a folder, as ``stream_bundle`` does."""
    snapshot(session)
    content = content_of(session, study, include_test=include_test)
    people = identities_of(session, study, include_test=include_test) if with_identities else None
    write_folder(content, people, folder, on_lines)


def write_folder(
    content: Content, identities: Iterable[IdentityRecord] | None, folder: Path, on_lines: OnLines
) -> None:
    """Write into a new folder the tables that are not counted from others, and what tells of
    them: study.json and codebook.csv.
    """
    tables = [
        replace(table, name=table.name.replace(".csv", ".parquet"))
        for table in tables_in(content, identities)
        if table.name not in COUNTED
    ]
    folder.mkdir()
    for table in tables:
        _write(table, content, folder / table.name, on_lines)
    book = codebook_of(tables)
    for name, lines in ((book.name, book.lines(content)), (STUDY, study_lines(content))):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)


def _write(table: Table, content: Content, path: Path, on_lines: OnLines) -> None:
    schema = pa.schema([(column.name, _type_of(column)) for column in table.columns])
    pieces = table.lines(content)
    next(pieces)  # the names of the columns
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for some in batched(pieces, PIECES):
            writer.write_table(pa.concat_tables(_typed(piece, schema) for piece in some))
            on_lines(sum(piece.count("\n") for piece in some))


def _type_of(column: Column) -> pa.DataType:
    kind, allowed, _ = told_of(column)
    if kind == "whole number":
        return pa.bool_() if allowed.startswith("0 or 1") else pa.int64()
    # Codebooks call seconds a text, and bundles that are out there hold them to it.
    if column.source is StoredResponse.active_seconds:
        return pa.float64()
    types = {"number": pa.float64(), "time": pa.timestamp("ms", tz="UTC")}
    return types.get(kind, pa.string())


def _typed(lines: str, schema: pa.Schema) -> pa.Table:
    """Read whole lines of CSV."""
    read = csv.read_csv(
        pa.BufferReader(lines.encode()),
        csv.ReadOptions(column_names=schema.names, use_threads=False),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            true_values=["1"],
            false_values=["0"],
        ),
    )
    return pa.table([_as_written(column) for column in read.columns], schema)


def _as_written(column: pa.ChunkedArray) -> pa.Array:
    """Take off texts what keeps spreadsheets from running them."""
    if column.type != pa.string():
        return column
    encoded = column.combine_chunks().dictionary_encode()
    texts = [unescaped(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)
