"""A bundle's tables as Parquet files: typed, texts unescaped, null where a cell is empty.

They are made from the lines of the CSV files, so that both hold the same. Only this module needs
pyarrow, which is the extra ``parquet`` of the package.
"""

from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from survey.core.text_input import unescaped
from survey.db.engine import snapshot
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services.exchange.bundle import OnLines, content_of, study_lines, tables_in
from survey.services.exchange.tables import (
    STUDY_FILE,
    Column,
    Content,
    Table,
    batched,
    codebook_of,
    describe_column,
)

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv
except ModuleNotFoundError as error:
    raise SurveyError(
        "Parquet files need pyarrow, which comes with the extra parquet: pip install '.[parquet]'"
    ) from error

COUNTABLE_TABLES = ("table3.csv", "table4.csv")  # can be counted from the others
BATCHES = 50  # of a thousand lines each, in a group of rows


def write_parquet(
    session: Session,
    study: Study,
    folder: Path,
    *,
    with_identities: bool = False,
    include_test: bool = False,
    on_lines: OnLines = lambda _: None,
) -> None:
    """Write a study's tables, study.json and codebook.csv into a new folder.

    The options are those of ``stream_bundle``.
    """
    snapshot(session)
    content = content_of(session, study, include_test=include_test, with_identities=with_identities)
    tables = [
        replace(table, name=table.name.replace(".csv", ".parquet"))
        for table in tables_in(content)
        if table.name not in COUNTABLE_TABLES
    ]
    folder.mkdir()
    for table in tables:
        _write_table(table, content, folder / table.name, on_lines)
    book = codebook_of(tables)
    for name, lines in ((book.name, book.lines(content)), (STUDY_FILE, study_lines(content))):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)


def _write_table(table: Table, content: Content, path: Path, on_lines: OnLines) -> None:
    schema = pa.schema([(column.name, _type_of(column)) for column in table.columns])
    texts = table.lines(content)
    next(texts)  # the heading
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batched(texts, BATCHES):
            writer.write_table(pa.concat_tables(_typed(text, schema) for text in batch))
            on_lines(sum(text.count("\n") for text in batch))


def _type_of(column: Column) -> pa.DataType:
    value_type, allowed, _ = describe_column(column)
    if value_type == "whole number":
        return pa.bool_() if allowed.startswith("0 or 1") else pa.int64()
    types = {"number": pa.float64(), "time": pa.timestamp("ms", tz="UTC")}
    return types.get(value_type, pa.string())


def _typed(lines: str, schema: pa.Schema) -> pa.Table:
    table = csv.read_csv(
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
    return pa.table([_unescaped(column) for column in table.columns], schema)


def _unescaped(column: pa.ChunkedArray) -> pa.Array:
    if column.type != pa.string():
        return column
    encoded = column.combine_chunks().dictionary_encode()
    texts = [unescaped(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)
