"""One reader for all tables: the same rows from whatever dialect a program writes."""

import csv
import gzip
import io
import json
import re
import unicodedata
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.given_tables import Columns, read_table, stream_table
from survey.core.text_input import FaultyFilesError

COLUMNS = Columns(
    ("document", "text"),
    ("title", "weight"),
    {"docno": "document", "contents": "text", "_id": "document"},
    bare=("document", "text"),
)
ROWS = [
    {"document": "d1", "text": "one; two, three", "title": 'A "quoted" title'},
    {"document": "d2", "text": "a line\nand another", "title": ""},
    {"document": "ü", "text": "=1+1", "title": "Καλημέρα"},
]


def written(rows, names, separator=",", *, encoding="utf-8", ends="\r\n", extra=0):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=separator, lineterminator=ends)
    writer.writerow([*names, *[""] * extra])
    for row in rows:
        writer.writerow([*(row.get(name.strip().lower(), "") for name in names), *[""] * extra])
    writer.writerows([[""] * (len(names) + extra)] * extra)
    return stream.getvalue().encode(encoding)


def cells_of(table):
    names = ("document", "text", "title")
    return [{name: row[name].replace("\r\n", "\n") for name in names} for row in table.rows]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize("names", [("document", "text", "title"), ("Title ", "TEXT", "Document")])
@pytest.mark.parametrize("packed", [False, True])
def test_the_dialects_of_spreadsheets_are_one(separator, encoding, ends, extra, names, packed):
    content = written(ROWS, names, separator, encoding=encoding, ends=ends, extra=extra)
    table = read_table(gzip.compress(content) if packed else content, "items.csv", COLUMNS)
    assert [
        {key: value.replace("\r\n", "\n") for key, value in row.items()} for row in cells_of(table)
    ] == ROWS
    assert table.columns_not_read == []


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20).map(
    lambda text: unicodedata.normalize("NFC", text.strip()) or "x"
)


@given(
    st.lists(st.fixed_dictionaries({"document": TEXTS, "text": TEXTS, "title": TEXTS}), min_size=1),
    st.sampled_from([",", ";", "\t"]),
    st.permutations(["document", "text", "title"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_cells_come_back_from_any_dialect(rows, separator, names, encoding):
    table = read_table(written(rows, names, separator, encoding=encoding), "a.csv", COLUMNS)
    assert cells_of(table) == rows


@pytest.mark.parametrize("as_lines", [True, False])
def test_json_lines_and_arrays_are_tables(as_lines):
    values = [{"_id": "d1", "contents": "a", "metadata": {"x": 1}}, {"_id": 2, "contents": "b"}]
    text = "\n".join(map(json.dumps, values)) if as_lines else json.dumps(values)
    table = read_table(text.encode(), "corpus.jsonl", COLUMNS)
    assert [(row["document"], row["text"]) for row in table.rows] == [("d1", "a"), ("2", "b")]
    assert table.columns_not_read == ["metadata"]


def test_a_line_that_names_the_separator_is_obeyed_and_counted():
    table = read_table(b"sep=;\r\ndocument;text\r\nd,1;a\r\n", "a.csv", COLUMNS)
    assert [(row.number, row["document"]) for row in table.rows] == [(3, "d,1")]


def test_two_columns_with_tabs_need_no_heading():
    table = read_table(b"q1\tred shoes\nq2\tblue, shoes\n", "queries.tsv", COLUMNS)
    assert [(row.number, row["document"], row["text"]) for row in table.rows] == [
        (1, "q1", "red shoes"),
        (2, "q2", "blue, shoes"),
    ]


def test_queries_without_a_heading_may_hold_quotation_marks():
    table = read_table(b'q1\t"red" shoes\nq2\t"blue\nq3\tx\n', "queries.tsv", COLUMNS)
    assert [row["text"] for row in table.rows] == ['"red" shoes', '"blue', "x"]


@pytest.mark.parametrize("line", ["sep=|\r\n", '"sep=|"\n', "SEP=|\r", "sep=\r\n", "sep=,,,\n"])
def test_a_line_that_names_the_separator_is_read_as_programs_write_it(line):
    text = line + "document|text\nd,1|a\n"
    if "|" not in line:
        text = text.replace(",1|", "1|").replace("|", ",")
    table = read_table(text.encode(), "a.csv", COLUMNS)
    assert [(row.number, row["text"]) for row in table.rows] == [(3, "a")]


def test_a_heading_with_tabs_in_which_a_column_is_missing_is_no_row():
    with pytest.raises(FaultyFilesError, match="no column document"):
        read_table(b"query\ttext\nq1\tred shoes\n", "queries.tsv", COLUMNS)


def test_a_quotation_mark_that_is_not_closed_takes_no_rows_in():
    with pytest.raises(FaultyFilesError, match="row 3: a quotation mark is not closed"):
        read_table(b'document,text\na,b\nc,"d\ne,f\n', "a.csv", COLUMNS)


def test_columns_that_are_not_read_may_be_there_twice():
    table = read_table(b"document,note,text,note\na,1,b,2\n", "a.csv", COLUMNS)
    assert (len(table.rows), table.columns_not_read) == (1, ["note", "note"])


def test_spreadsheets_are_named_by_what_is_in_them_or_by_their_ending():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.csv", "document,text\n")
    office = "is a spreadsheet or a document. Save it as “CSV UTF-8”"
    for content, file, fault in [
        (stream.getvalue(), "a.csv", office),
        (b"PK\x03\x04junk", "a.XLSX", office),
        (zipped.getvalue(), "a.csv", "is a zip. Unpack it, or pack it with gzip"),
        (b"\n<top>\n<num> Number: 1\n", "a.trec", "is a file of TREC topics. Write it as a table"),
    ]:
        with pytest.raises(FaultyFilesError) as error:
            read_table(content, file, COLUMNS)
        assert error.value.faults[0].startswith(f"{file} {fault}")


def test_the_row_that_is_not_utf_8_is_counted_with_any_line_ends():
    for end in (b"\n", b"\r\n", b"\r"):
        with pytest.raises(FaultyFilesError, match="row 3: not UTF-8"):
            read_table(end.join([b"document,text", b"a,b", b"\xfc,c"]), "a.csv", COLUMNS)


def test_decimal_commas_are_numbers_where_no_comma_separates():
    table = read_table(b"document;text;weight\nd;t;0,57\n", "a.csv", COLUMNS)
    assert table.rows[0].number_in("weight") == 0.57
    table = read_table(b'document,text,weight\nd,t,"0,57"\n', "a.csv", COLUMNS)
    assert table.rows[0].number_in("weight") is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "a.csv is empty. Columns needed: document, text"),
        (
            b"headline,link\nx,y\n",
            "a.csv: no columns document, text. Columns found: headline, link",
        ),
        (b"document;link\nx;y\n", "a.csv: no column text. Columns found: document, link"),
        (b"document,text,Text\na,b,c\n", "a.csv: text found twice in the heading."),
        (
            b"document,text\na,b,c\n",
            "a.csv, row 2: 3 cells found, the last of them 'c'; the heading has 2.",
        ),
        (b"document,text,\na,b,c\n", "a.csv, row 2: 'c' found in a column without a heading"),
        ("document,text\na,b\nü,c\n".encode("cp1252"), "a.csv, row 3: not UTF-8. In Excel, save"),
        (b"BZh91AY", "a.csv is packed with bzip2. Unpack it, or pack it with gzip"),
        (b"7z\xbc\xaf\x27\x1c", "a.csv is packed with 7-Zip."),
        (b"\x28\xb5\x2f\xfd", "a.csv is packed with Zstandard."),
        (b"\xfd7zXZ\0", "a.csv is packed with xz."),
        (b"PK\x03\x04xx", "a.csv is a zip."),
        (b"%PDF-1.4", "a.csv is a PDF."),
        (b"\n<!DOCTYPE html><p>", "a.csv is a web page. Save the file itself"),
        (b"\x1f\x8b\x08\0cut", "a.csv begins like a gzip file, but is none, or is cut off"),
        (b'{"document": "d"', "a.csv, row 1: cannot be read as JSON"),
        (b'{"document": "d"}\n', "a.csv: no column text. Columns found: document"),
        (
            b'{"document": ["d"], "text": "t"}',
            "column document: '[\"d\"]' found; a text or a number",
        ),
        (b"[1]", "a.csv"),
    ],
)
def test_what_is_no_such_table_is_one_fault_that_says_what_to_do(content, fault):
    with pytest.raises(FaultyFilesError) as error:
        read_table(content, "a.csv", COLUMNS)
    assert len(error.value.faults) == 1
    assert fault in error.value.faults[0]


def test_columns_that_are_not_read_are_named():
    table = read_table(b"document,Caption,text,score\nd,c,t,1\n", "items.csv", COLUMNS)
    assert table.columns_not_read == ["Caption", "score"]


STREAMED = [("a", "one"), ("b", "two, or\nthree"), ("ä", "vier"), ("d", "five")]
STREAMS = {
    "rows.jsonl": "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in STREAMED),
    "rows.csv": '"document","text","more"\n' + "".join(f'{i},"{t}",\n' for i, t in STREAMED),
    "rows.tsv": "".join(f"{i}\t{t.splitlines()[0]}\n" for i, t in STREAMED),
}


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_the_rows_of_a_table_that_are_kept_and_counts_the_others(name, is_packed):
    columns = Columns(("document",), ("text",), {"_id": "document"}, bare=("document", "text"))
    content = STREAMS[name].encode()
    content = gzip.compress(content) if is_packed else content
    whole = read_table(content, name, columns)
    stream = stream_table(io.BytesIO(content), name, columns, {"b", "ä"}.__contains__)
    assert stream.rows == [row for row in whole.rows if row["document"] in ("b", "ä")]
    assert (stream.skipped, stream.first_skipped) == (2, "a")
    assert (stream.read_as, stream.columns_not_read) == (whole.read_as, whole.columns_not_read)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"document,text\na,\xff\n", "rows.csv, row 2: not UTF-8. Save it as UTF-8"),
        (b"name,text\na,b\n", "rows.csv: no column document. Columns found: name, text"),
        (b"BZh91AY", "rows.csv is packed with bzip2. Unpack it, or pack it with gzip"),
        (gzip.compress(b"document\n" * 99)[:20], "rows.csv begins like a gzip file, but is none"),
    ],
)
def test_what_cannot_be_streamed_is_named_as_elsewhere(content, fault):
    with pytest.raises(FaultyFilesError, match=re.escape(fault)):
        stream_table(io.BytesIO(content), "rows.csv", Columns(("document",)), bool)
