"""Every table that researchers give, in every dialect that programs write it in.

READERS has each with a plain file; the others must give what that file gives.
"""

import csv
import gzip
import io
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections import keywords
from survey.core.collections.vectors import read_vectors
from survey.core.given_tables import text_in
from survey.core.studies.own_lists import read_lists_csv
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.collections.items import Intake, read_items, read_topics
from survey.services.studies.recruitment import links_csv, read_guests


def keywords_in(content, file="keywords.csv"):
    faults = FileFaults()
    read = keywords.read_keywords(file, lines_of(text_in(content, file)), faults)
    faults.raise_any()
    return read


def vectors_in(content, file="features.csv"):
    return read_vectors({file: lambda: content}, ["a", "é"])


class Reader(NamedTuple):
    """What reads a table; its plain file; the columns whose order among them means something."""

    read: object
    plain: str
    in_order: tuple = ()


READERS = {
    "own lists": Reader(
        lambda content: read_lists_csv(text_in(content, "a.csv"), "a.csv"),
        "question,list,ranks,collection_size,grades,clusters\n"
        "1,A,1 4,100,2 1,sea+sky -\n1,B,2 3,100,1 1,- sky\n",
    ),
    "guests": Reader(
        lambda content: [*read_guests(text_in(content, "a.csv"), "a.csv")[0]],
        'e-mail,name\na@x,"Papadaki, Maria; Dr"\nb@x,"Bob ""the"" Builder"\n,Jürgen\n',
    ),
    "features": Reader(vectors_in, "document,x,y\na,3,4.5\né,-1e2,0\n", ("x", "y")),
    "keywords": Reader(
        keywords_in, 'document,keyword,weight\na,"grass, dry",0.5\na,"sea; sky",1\né,x,1\n'
    ),
    "items": Reader(
        lambda content: read_items(content, "a.csv", Intake()),
        'document,text,alt\na,"one, two; ""three""",\né,"a line\nand another",ä\n',
    ),
    "topics": Reader(
        lambda content: read_topics(content, "a.csv", Intake()),
        'topic,text,image,cluster_type\n001,"red, ""square""",x.png,\n2,blue;,,colour\n',
    ),
}


@dataclass(frozen=True)
class Dialect:
    """How a program writes a table."""

    separator: str
    names_separator: bool
    encoding: str
    ends: str
    quotes: int
    case: object
    empty: int
    packed: bool

    def write(self, rows):
        stream = io.StringIO(newline="")
        # Before Python 3.13 the writer quotes no line break but its own.
        quotes = csv.QUOTE_ALL if self.ends == "\r" else self.quotes
        writer = csv.writer(
            stream, delimiter=self.separator, lineterminator=self.ends, quoting=quotes
        )
        width = len(rows[0]) + self.empty
        empty = [[""] * width] * self.empty
        heading, *others = [[*row, *[""] * self.empty] for row in rows]
        writer.writerows([*empty, [self.case(cell) for cell in heading], *empty, *others, *empty])
        first = f"sep={self.separator}{self.ends}" if self.names_separator else ""
        content = (first + stream.getvalue()).encode(self.encoding)
        return gzip.compress(content) if self.packed else content


DIALECTS = st.builds(
    Dialect,
    separator=st.sampled_from([",", ";", "\t"]),
    names_separator=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    ends=st.sampled_from(["\n", "\r\n", "\r"]),
    quotes=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    case=st.sampled_from([str, str.upper, str.title, " {} ".format]),
    empty=st.integers(0, 2),
    packed=st.booleans(),
)


@pytest.mark.parametrize("name", READERS)
@given(dialect=DIALECTS, data=st.data())
def test_any_dialect_gives_what_the_plain_file_gives(name, dialect, data):
    reader = READERS[name]
    rows = [*csv.reader(io.StringIO(reader.plain, newline=""))]
    names = data.draw(st.permutations(rows[0]))
    ordered = iter(reader.in_order)
    names = [next(ordered) if each in reader.in_order else each for each in names]
    written = [
        names,
        *([dict(zip(rows[0], row, strict=True))[n] for n in names] for row in rows[1:]),
    ]
    assert reader.read(dialect.write(written)) == reader.read(reader.plain.encode())


@pytest.mark.parametrize("name", ["keywords", "features"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_numbers_where_no_commas_separate(name, separator):
    reader = READERS[name]
    rows = [*csv.reader(io.StringIO(reader.plain, newline=""))]
    rows = [[cell.replace("0.5", "0,5").replace("4.5", "4,5") for cell in row] for row in rows]
    assert rows[1][2] in ("0,5", "4,5")
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator).writerows(rows)
    assert reader.read(stream.getvalue().encode()) == reader.read(reader.plain.encode())


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "is empty. Columns needed: "),
        (b"a;b;c\n1;2;3\n", "Columns found: a, b, c"),
        (
            b"PK\x03\x04[Content_Types].xml",
            "is a spreadsheet or a document. Save it as “CSV UTF-8”",
        ),
        (b"PK\x03\x04", "is a zip. Unpack it, or pack it with gzip"),
        (b"BZh9", "is packed with bzip2. Unpack it, or pack it with gzip"),
        (b"\x1f\x8b\x08", "begins like a gzip file"),
        (b"<!doctype html>", "is a web page. Save the file itself"),
        (b"a,b\n\xfc,1\n", "row 2: not UTF-8. In Excel, save as “CSV UTF-8”"),
        (b"\xff\xfea", "UTF-16 that is damaged or cut off"),
    ],
)
def test_what_cannot_be_a_table_is_one_fault_that_says_what_to_do(name, content, fault):
    with pytest.raises((FaultyFilesError, SurveyError)) as error:
        READERS[name].read(content)
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


class Link(NamedTuple):
    """A personal link, as far as a file of links needs it."""

    name: str
    link: str = "https://x.example/s/a?guest=b"
    status: str = "not started"
    email: str = ""


NAMES = (
    st.text(max_size=30)
    .map(lambda name: " ".join(unicodedata.normalize("NFC", name).split()))
    .filter(lambda name: name and "\0" not in name)
)


@given(st.lists(NAMES, min_size=1, unique=True))
def test_the_file_of_links_gives_the_names_that_it_was_written_from(names):
    written = links_csv([Link(name) for name in names])
    read, warnings = read_guests(written, "g.csv")
    assert [*read] == names
    assert warnings == ["g.csv: columns not read: link, status."]
