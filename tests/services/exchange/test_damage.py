"""Whatever happened to a bundle on its way, `survey replicate` says what it is and what to do."""

import csv
import gzip
import io
import json
import os
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from survey.cli import survey
from survey.core.kinds import KINDS
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange import damage
from survey.services.exchange.bundle import SUMS, stable_json
from survey.services.exchange.bundle_reader import analyse_files, replicate
from survey.services.exchange.differences import differences
from survey.services.exchange.input_files import BundleError, open_files
from tests.freeze import RELEASED
from tests.services.exchange.changes import summed, zipped

AGREES = "The bundle agrees in everything that can be recomputed."
FORMAT = "only the format changed"
TAKE = "Take these files from the published bundle again"
LITTER = {
    "__MACOSX/._votes.csv": b"\0",
    ".DS_Store": b"\0",
    "Thumbs.db": b"\xd0\xcf\x11\xe0",
    "desktop.ini": b"[x]",
}
LOGIN = b"\n<!DOCTYPE html>\n<html><head><title>Log in &middot; X</title></head></html>"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"
XML = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'


def replicated(path):
    """Exit status and output of the command."""
    result = CliRunner().invoke(survey, ["replicate", str(path)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


# The container: bytes of the bundle's zip, changed.


def in_tar(content, mode="w"):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode=mode) as archive:
        entry = tarfile.TarInfo("study.json")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return sink.getvalue()


def with_fields(content, place, value):
    """A zip in which a field of two bytes of each entry is another, in both of its headers."""
    changed = bytearray(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            struct.pack_into("<H", changed, entry.header_offset + 4 + place, value)
    at = changed.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<H", changed, at + 6 + place, value)
        at = changed.find(b"PK\x01\x02", at + 4)
    return bytes(changed)


def last_part(content):
    changed = bytearray(content)
    struct.pack_into("<H", changed, content.rindex(b"PK\x05\x06") + 4, 2)
    return bytes(changed[len(changed) // 2 :])


def with_link(name):
    sink, entry = io.BytesIO(), zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(entry, "../elsewhere")
    return sink.getvalue()


BEGINNING = "my.zip is the beginning of a zip; its end is missing. Download it again"
UNPACK = "Unpack it, and name the folder that comes out"
NO_BUNDLE = "my.zip is not a bundle: a bundle is the zip, or the unpacked folder, that"
CONTAINERS = {
    "cut in half": (lambda whole: whole[: len(whole) // 2], BEGINNING),
    "cut in its directory": (lambda whole: whole[:-40], BEGINNING),
    "cut in its last bytes": (lambda whole: whole[:-1], "Download it again"),
    "cut after two bytes": (lambda whole: whole[:2], BEGINNING),
    "empty": (lambda _: b"", "my.zip is empty. Download it again"),
    "without its beginning": (
        lambda whole: whole[-300:],
        "my.zip is the end of a zip; its beginning is missing. Download it again",
    ),
    "a hole in its directory": (
        lambda whole: whole.replace(b"PK\x01\x02", b"\0\0\0\0"),
        "my.zip is a zip that was damaged on its way. Download it again",
    ),
    "a byte of a file": (
        lambda whole: whole[:60] + bytes([whole[60] ^ 1]) + whole[61:],
        "questions.csv is damaged or cannot be read (",
    ),
    "a login page": (
        lambda _: LOGIN,
        "my.zip is a web page (“Log in · X”), not the bundle. Open the address in a browser",
    ),
    "a page that says 404": (
        lambda _: b"<html><title>404 Not Found</title><body>gone</body></html>",
        "my.zip is a web page (“404 Not Found”), not the bundle.",
    ),
    "a message in JSON": (
        lambda _: b'{"message": "Bad credentials", "status": "401"}',
        "my.zip is a server's message in JSON (“Bad credentials”), not the bundle.",
    ),
    "a message in XML": (
        lambda _: XML,
        "my.zip is a server's message in XML (“NoSuchKey”), not the bundle.",
    ),
    "a pointer of Git LFS": (lambda _: LFS, "Run `git lfs pull` in its folder"),
    "packed by gzip": (
        gzip.compress,
        "my.zip is a zip that was packed again, by gzip. Unpack it, and name the zip",
    ),
    "a tar archive": (lambda _: in_tar(b"{}"), f"my.zip is a tar archive, and not a zip. {UNPACK}"),
    "a tar.gz": (
        partial(in_tar, mode="w:gz"),
        f"my.zip is a tar archive, packed by gzip. {UNPACK}",
    ),
    "7-Zip": (
        lambda whole: b"7z\xbc\xaf\x27\x1c" + whole[40:-40],
        f"my.zip is packed with 7-Zip, and not a zip. {UNPACK}",
    ),
    "RAR": (lambda _: b"Rar!\x1a\x07\1\0" * 9, "my.zip is packed with RAR, and not a zip."),
    "Zstandard": (lambda _: b"\x28\xb5\x2f\xfd" * 9, "my.zip is packed with Zstandard,"),
    "a PDF": (lambda _: b"%PDF-1.7\n%" * 9, "my.zip is a PDF, not a bundle. Name the zip"),
    "an old document of Word": (
        lambda _: b"\xd0\xcf\x11\xe0" * 9,
        "my.zip is an old Excel or Word file, not a bundle.",
    ),
    "a document of Word": (
        lambda _: zipped({"[Content_Types].xml": b"", "word/document.xml": b""}),
        "my.zip is a spreadsheet or a document, not a bundle. Name the zip",
    ),
    "a text": (lambda _: b"the bundle is on the other server\n", NO_BUNDLE),
    "a zip of other files": (lambda _: zipped({"a.txt": b"a"}), NO_BUNDLE),
    "a zip in a zip": (
        lambda whole: zipped({"spring.zip": whole}),
        "my.zip holds another zip, spring.zip. Unpack it, and name the zip inside",
    ),
    "a zip beside a note": (
        lambda whole: zipped({"spring.zip": whole, "README.txt": b"read this"}),
        "my.zip holds another zip, spring.zip. Unpack it, and name the zip inside",
    ),
    "two zips in a zip": (
        lambda whole: zipped({"a/spring.zip": whole, "autumn.zip": whole}),
        "my.zip holds several zips, a/spring.zip and autumn.zip. Unpack it, and name the one",
    ),
    "a bundle within other files": (
        lambda _: zipped({"repo-main/README.md": b"", "repo-main/data/study.json": b"{}"}),
        "my.zip holds a bundle in repo-main/data, and others beside it. Unpack it, and name this",
    ),
    "zeros": (lambda whole: bytes(len(whole)), "my.zip holds only zeros, as a download that was"),
    "a link": (
        lambda _: with_link("votes.csv"),
        "my.zip holds votes.csv as a link, without the file that it leads to. Take the zip",
    ),
    "locked": (
        lambda whole: with_fields(whole, 2, 1),
        "my.zip is locked with a password. Unpack it with that, and name the folder",
    ),
    "Deflate64": (
        lambda whole: with_fields(whole, 4, 9),
        "my.zip is a zip packed by Deflate64, which cannot be unpacked here. Unpack it with "
        "another program, such as 7-Zip",
    ),
    "an unknown compression": (lambda whole: with_fields(whole, 4, 90), "packed by method 90"),
    "patches in place of files": (
        lambda whole: with_fields(whole, 2, 1 << 5),
        "is damaged or cannot be read (compressed patched data",
    ),
    "the last of several parts": (last_part, "my.zip is one part of a zip that was split"),
    "the first of several parts": (
        lambda whole: b"PK\x07\x08" + whole[: len(whole) // 2],
        "my.zip is one part of a zip that was split into several. Put all of them into one folder",
    ),
    "a machine's folder only": (
        lambda _: zipped({"machines/m/record.json": b"{}", "machines/m/answers.csv": b""}),
        "my.zip holds only a folder of a bundle. Name the zip, or the folder, of all its files",
    ),
    "two bundles": (
        lambda _: zipped({f"{name}/study.json": b"{}" for name in ("a", "b")}),
        "my.zip holds several bundles, in a and b. Unpack it, and name one of them",
    ),
}


@pytest.mark.parametrize("damage", CONTAINERS)
def test_a_file_that_is_no_bundle_is_named_as_what_it_is(bundle, tmp_path, damage):
    change, sentence = CONTAINERS[damage]
    path = tmp_path / "my.zip"
    path.write_bytes(change(zipped(bundle)))
    status, output = replicated(path)
    assert (status, output.startswith("Error: ")) == (1, True)
    assert sentence in output
    assert output.count("\n") == 1


# Packed again: the same files, otherwise named, in other folders, with others beside them.


def renamed(old, new):
    return lambda files: {new if name == old else name: content for name, content in files.items()}


def in_folder(folder):
    return lambda files: {f"{folder}{name}": content for name, content in files.items()}


def beside(added):
    return lambda files: {**added, **files}


def without(*names):
    return lambda files: {name: content for name, content in files.items() if name not in names}


def sums_changed(change):
    return lambda files: {**files, SUMS: change(files[SUMS])}


NO_LAST_LINE = f"{SUMS} was changed: its last line is not the sum of those above it. Take it from"
REPACKED = {
    "as it is": (dict, AGREES),
    "in another order": (lambda files: dict(reversed(files.items())), AGREES),
    "by a Mac": (beside(LITTER), "– not part of the bundle, and left out: "),
    "Thumbs.db": (
        beside({"Thumbs.db": b"\0"}),
        "– not part of the bundle, and left out: Thumbs.db\n",
    ),
    "a folder too many": (
        in_folder("spring/"),
        "– not part of the bundle, and left out: spring/\n",
    ),
    "two folders too many": (
        in_folder("spring/five-systems/"),
        "– not part of the bundle, and left out: spring/five-systems/\n",
    ),
    "a file renamed by a copy": (
        renamed("votes.csv", "votes (1).csv"),
        "Error: votes (1).csv is votes.csv under another name. Rename it\n",
    ),
    "a file renamed": (
        renamed("votes.csv", "x.csv"),
        "Error: x.csv is votes.csv under another name. Rename it\n",
    ),
    "a file renamed and saved": (
        lambda files: {
            **without("votes.csv")(files),
            "Votes - Copy.csv": files["votes.csv"].replace(b"\n", b"\r\n"),
        },
        f"votes.csv: {FORMAT} (line ends); every value is as published\n"
        "Votes - Copy.csv is votes.csv under another name. Rename it\n",
    ),
    "all names in upper case": (
        lambda files: {name.upper(): content for name, content in files.items()},
        " more under another name. Rename them\n",
    ),
    "the list of sums renamed": (
        renamed(SUMS, f"{SUMS}.txt"),
        f"Error: {SUMS}.txt is {SUMS} under another name. Rename it\n",
    ),
    "a file is missing": (
        without("votes.csv"),
        f"Error: votes.csv is missing; {SUMS} lists it\n{TAKE}",
    ),
    "two files are missing": (
        without("votes.csv", "study.json"),
        f"study.json and votes.csv are missing; {SUMS} lists them\n",
    ),
    "a file was added": (
        beside({"notes.txt": b"mine"}),
        "Error: notes.txt does not belong to the bundle: SHA256SUMS does not list it. Take it",
    ),
    "no list of sums": (
        without(SUMS),
        f"bundle has no {SUMS}, the list of checksums of a bundle's files. Take it from the",
    ),
    "a sum was changed": (sums_changed(lambda sums: b"0" + sums[1:]), NO_LAST_LINE),
    "some sums only": (sums_changed(lambda sums: sums[:300]), NO_LAST_LINE),
    "sums without a last line": (
        sums_changed(lambda sums: sums[: sums.rindex(b"#")]),
        NO_LAST_LINE,
    ),
    "sums with other line ends": (
        sums_changed(lambda sums: sums.replace(b"\n", b"\r\n")),
        f"{SUMS}: {FORMAT} (line ends); every value is as published\nOnly the format changed.",
    ),
}


def packed(files, folder, form):
    """A bundle as a zip or as a folder."""
    path = folder / "bundle"
    if form == "zip":
        path.write_bytes(zipped(files))
        return path
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


@pytest.mark.parametrize("form", ["zip", "folder"])
@pytest.mark.parametrize("change", REPACKED)
def test_a_bundle_packed_again_is_read_or_says_why_not(bundle, tmp_path, change, form):
    make, sentence = REPACKED[change]
    path = packed(make(dict(bundle)), tmp_path, form)
    if sentence is AGREES and form == "folder":
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    status, output = replicated(path)
    agrees = sentence is AGREES or sentence.startswith("–")
    assert status == (0 if agrees else 1), output
    assert sentence in output
    assert (AGREES in output) == agrees


def test_paths_with_backslashes_are_read(bundle, tmp_path):
    path = packed(in_folder("spring\\")(bundle), tmp_path, "zip")
    status, output = replicated(path)
    assert (status, "left out: spring/\n" in output) == (0, True)


def test_a_folder_that_holds_the_zip_says_so(bundle, tmp_path):
    path = packed({"spring.zip": zipped(bundle)}, tmp_path, "folder")
    assert replicated(path) == (
        1,
        "Error: bundle holds another zip, spring.zip. Name the zip inside\n",
    )


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            {"a.zip": b"", "b.zip": b"", "notes.txt": b""},
            "holds several zips, a.zip and b.zip. Name",
        ),
        ({"a/study.json": b"", "b/study.json": b""}, "holds several bundles, in a and b. Name one"),
        ({"notes.txt": b"", "a/b/study.json": b""}, "holds a bundle in a/b, and others beside it."),
    ],
)
def test_a_folder_with_bundles_in_it_says_where(tmp_path, files, sentence):
    assert sentence in replicated(packed(files, tmp_path, "folder"))[1]


def test_a_file_of_an_unpacked_bundle_names_its_folder(bundle, tmp_path):
    path = packed(bundle, tmp_path, "folder")
    for name in ("votes.csv", "study.json", "README.md"):
        assert replicated(path / name) == (
            1,
            f"Error: {name} is one file of a bundle. Name the folder it is in\n",
        )
    (tmp_path / "study.json").write_bytes(bundle["study.json"])
    assert "study.json is not a bundle: " in replicated(tmp_path / "study.json")[1]


def test_folders_beside_a_bundles_files_are_left_out_and_named(bundle, tmp_path):
    path = packed({**bundle, "more/x.txt": b"", ".git/config": b""}, tmp_path, "folder")
    assert "left out: .git and more/\n" in replicated(path)[1]
    files = {**bundle, ".git/config": b""}
    (tmp_path / "my.zip").write_bytes(zipped(files))
    assert "left out: .git/config\n" in replicated(tmp_path / "my.zip")[1]


def test_tables_from_elsewhere_may_have_a_zip_beside_them(tmp_path):
    path = packed({"responses.csv": b"a,b\n", "old.zip": b""}, tmp_path, "folder")
    assert {*open_files(path, "x")} == {"responses.csv", "old.zip"}


def test_a_bundle_behind_other_bytes_or_packed_otherwise_is_read(bundle, tmp_path):
    for number, method in enumerate((zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)):
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in bundle.items():
                archive.writestr(name, content)
        assert open_files(path, "my.zip") == bundle
    path.write_bytes(b"MZ starts itself" + zipped(bundle))
    assert replicated(path)[0] == 0


def test_a_path_that_leads_nowhere_or_may_not_be_read_is_named(tmp_path):
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    for name in ("gone", "broken"):
        assert replicated(tmp_path / name)[0] == 2
    locked = tmp_path / "locked.zip"
    locked.write_bytes(b"PK")
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user reads every file")
    assert "cannot be read: Permission denied" in replicated(locked)[1]


# Saved by another program: each value is the same.


def rows_of(content, **form):
    return [*csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), **form)]


def written(rows, **form):
    sink = io.StringIO(newline="")
    csv.writer(sink, **{"lineterminator": "\n", **form}).writerows(rows)
    return sink.getvalue().encode()


def of_rows(change, **form):
    """What changes a table's rows, without the heading, and writes them in a form."""

    def changed(content):
        heading, *rows = rows_of(content)
        return written(change([heading, *rows]), **form)

    return changed


def as_excel(content):
    return b"\xef\xbb\xbf" + written(rows_of(content), delimiter=";", lineterminator="\r\n")


def cells(change):
    return lambda rows: [rows[0], *([*map(change, row)] for row in rows[1:])]


def decimal_comma(cell):
    try:
        float(cell)
    except ValueError:
        return cell
    return cell.replace(".", ",")


def by_column(column, change):
    def changed(rows):
        place = rows[0].index(column)
        for row in rows[1:]:
            row[place] = change(row[place])
        return rows

    return changed


SEMICOLONS = "semicolons instead of commas"
REWRITTEN = {
    "line ends of Windows": (lambda content: content.replace(b"\n", b"\r\n"), "line ends"),
    "line ends of an old Mac": (lambda content: content.replace(b"\n", b"\r"), "line ends"),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, "a byte order mark"),
    "no last line end": (lambda content: content[:-1], "the end of the last line"),
    "empty lines at the end": (lambda content: content + b"\n\n", "the end of the last line"),
    "UTF-16": (lambda content: content.decode().encode("utf-16"), "UTF-16 instead of UTF-8"),
}
TABLE_REWRITTEN = {
    **REWRITTEN,
    "Excel": (as_excel, f"(a byte order mark, line ends and {SEMICOLONS});"),
    "Excel with sep=": (lambda content: b"sep=;\r\n" + as_excel(content)[3:], SEMICOLONS),
    "Excel, with decimal commas": (
        of_rows(cells(decimal_comma), delimiter=";", lineterminator="\r\n"),
        SEMICOLONS,
    ),
    "tabs": (of_rows(list, delimiter="\t"), "tabs instead of commas"),
    "LibreOffice, each cell in quotes": (of_rows(list, quoting=csv.QUOTE_ALL), "quotation marks"),
    "R, each text in quotes": (of_rows(list, quoting=csv.QUOTE_NONNUMERIC), "quotation marks"),
    "empty rows and columns": (
        of_rows(lambda rows: [*([*row, "", ""] for row in rows), [""] * (len(rows[0]) + 2)]),
        "empty rows or columns",
    ),
    "rows in another order": (of_rows(lambda rows: [rows[0], *rows[:0:-1]]), "the order of rows"),
    "columns in another order": (
        of_rows(lambda rows: [row[::-1] for row in rows]),
        "the order of columns",
    ),
}


def refused(files):
    with pytest.raises(BundleError) as error:
        [*replicate(files)]
    return str(error.value)


def format_only(files, name, change, what):
    message = refused({**files, name: change(files[name])})
    assert message.startswith(f"{name}: {FORMAT} ("), message
    assert what in message
    assert message.splitlines()[1].startswith("Only the format changed. Unpack the published zip")


@pytest.mark.parametrize("change", TABLE_REWRITTEN)
@pytest.mark.parametrize("name", ["responses.csv", "votes.csv", "questions.csv"])
def test_a_table_saved_by_another_program_holds_the_same_values(bundle, change, name):
    format_only(bundle, name, *TABLE_REWRITTEN[change])


@pytest.mark.parametrize("change", REWRITTEN)
@pytest.mark.parametrize("name", ["study.json", "analysis.json"])
def test_a_json_file_saved_by_another_program_holds_the_same_values(bundle, change, name):
    format_only(bundle, name, *REWRITTEN[change])


@pytest.mark.parametrize("indent", [None, 4])
def test_json_in_another_layout_holds_the_same_values(bundle, indent):
    def dumped(content):
        return json.dumps(json.loads(content), indent=indent).encode()

    format_only(bundle, "analysis.json", dumped, "the layout of JSON")


def test_letters_in_the_encoding_of_windows_are_told(bundle):
    def encoded(content):
        return content.decode().encode("cp1252")

    files = summed({**bundle, "words.csv": "word\nÉtude\n".encode()})
    format_only(files, "words.csv", encoded, "Windows-1252 instead of UTF-8")


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("excluded", lambda cell: "TRUE" if cell == "1" else "FALSE"),
        ("question", lambda cell: f"{cell}.0"),
        ("submitted_at", lambda cell: cell.replace("T", " ").removesuffix("Z")),
        ("submitted_at", lambda cell: f"{cell[8:10]}.{cell[5:7]}.{cell[:4]} {cell[11:19]}"),
    ],
)
def test_flags_numbers_and_times_written_otherwise_are_told(bundle, column, change):
    what = "numbers, times or flags written otherwise"
    format_only(bundle, "responses.csv", of_rows(by_column(column, change)), what)


def test_numbers_of_a_recomputed_table_written_otherwise_are_told(bundle):
    table = of_rows(cells(lambda cell: cell and f"{cell}.0" if cell.isdigit() else cell))
    format_only(bundle, "table4.csv", table, "numbers")


def test_missing_values_as_r_writes_them_are_told(bundle):
    def changed(rows):
        columns = [*zip(*rows, strict=True)]
        of_texts = [any(cell.strip("0123456789.") for cell in column[1:]) for column in columns]
        return [
            [cell if cell or is_text else "NA" for cell, is_text in zip(row, of_texts, strict=True)]
            for row in rows
        ]

    assert b",NA," in of_rows(changed)(bundle["participants.csv"])
    format_only(
        bundle, "participants.csv", of_rows(changed), "numbers, times or flags written otherwise"
    )


def test_all_that_was_put_back_is_told_where_rows_are_in_another_order(bundle):
    table = of_rows(lambda rows: [rows[0], *rows[:0:-1]], delimiter=";")
    format_only(bundle, "long.csv", table, f"({SEMICOLONS} and the order of rows)")


def test_pointers_of_git_lfs_are_told_of_a_whole_folder(bundle):
    assert refused(dict.fromkeys(bundle, LFS)) == (
        f"{SUMS} is a pointer of Git LFS. Run `git lfs pull` in its folder"
    )


@pytest.mark.parametrize("number", [True, 2.0, "2", 0, None])
def test_a_format_that_is_no_number_is_not_taken_for_a_later_one(bundle, number):
    changed = edited(lambda study: study.update(format=number))
    files = summed({**bundle, "study.json": changed(bundle["study.json"])})
    assert refused(files).startswith(f"study.json, format: {number!r} found; 1 or 2 is needed")


def test_all_files_with_other_line_ends_are_one_sentence(bundle):
    message = refused({name: content.replace(b"\n", b"\r\n") for name, content in bundle.items()})
    first, remedy = message.splitlines()
    assert first.endswith(f" more: {FORMAT} (line ends); every value is as published")
    assert remedy.startswith("Only the format changed")


# Changed: a value is another, with the place and what it leads to.


def one_row(number, change):
    def changed(rows):
        rows[number - 1] = change(dict(zip(rows[0], rows[number - 1], strict=True)))
        return [row if isinstance(row, list) else [*row.values()] for row in rows]

    return of_rows(changed)


def another(**values):
    return lambda row: {**row, **values}


def less(number):
    return of_rows(lambda rows: rows[: number - 1] + rows[number:])


def twice(number):
    return of_rows(lambda rows: [*rows, rows[number - 1]])


def turned(row):
    return {**row, "credited": str(1 - int(row["credited"]))}


def other_ticks(row):
    return {**row, "clicked": "2" if row["clicked"] == "1" else "1", "custom_ranking": ""}


def edited(change):
    def changed(content):
        content = json.loads(content)
        change(content)
        return stable_json(content).encode()

    return changed


CHANGED = {
    "an answer": (
        *("responses.csv", one_row(2, other_ticks)),
        "responses.csv was changed: row 2 leads to another value of ",
    ),
    "a credit": (
        *("votes.csv", one_row(5, turned)),
        "votes.csv was changed: row 5, column credited: ",
    ),
    "a participant's age": (
        *("participants.csv", one_row(2, another(age="98"))),
        "participants.csv was changed: what it holds does not fit: table3.csv, row ",
    ),
    "a participant left out": (
        *("participants.csv", less(2)),
        "participants.csv was changed: what it holds does not fit: responses.csv, row 2, column "
        "participant: ",
    ),
    "every participant": (
        *("participants.csv", of_rows(lambda rows: rows[:1])),
        "participants.csv was changed: what it holds does not fit: responses.csv, row 2, column "
        "participant: ",
    ),
    "a digit at the end of a cell": (
        *("rankings.csv", one_row(2, lambda row: {**row, "values": f"{row['values']} 0.5"})),
        "rankings.csv was changed: row 2, column values: …'",
    ),
    "a participant excluded": (
        *("participants.csv", one_row(2, another(excluded="1", exclude_reason="late"))),
        "participants.csv was changed: what it holds does not fit: responses.csv, row 2, column "
        "excluded: '0' found; participants.csv says 1",
    ),
    "a time that cannot be": (
        *("responses.csv", one_row(2, another(shown_at="yesterday"))),
        "responses.csv was changed: row 2, column shown_at: 'yesterday' found; a time like",
    ),
    "something on which nothing rests": (
        *("responses.csv", one_row(2, another(revisions="7"))),
        "responses.csv was changed: what is recomputed from it agrees, so no result depends on",
    ),
    "a row twice": (
        *("responses.csv", twice(2)),
        "column question: '1' found; each question is allowed once for a participant",
    ),
    "a vote twice": (*("votes.csv", twice(2)), " was not published"),
    "a row left out": (
        *("votes.csv", less(3)),
        "votes.csv was changed: the published row 3 is missing",
    ),
    "a table cut off": (
        *("votes.csv", lambda content: content[:100]),
        "votes.csv was changed: its end is missing, after 100 of ",
    ),
    "answers cut off": (
        *("responses.csv", lambda content: content[: content.rindex(b",")]),
        " cells found; ",
    ),
    "an empty file": (
        *("votes.csv", lambda _: b""),
        "votes.csv was changed: it is empty. Download it again",
    ),
    "a column left out": (
        *("votes.csv", of_rows(lambda rows: [row[:-1] for row in rows])),
        "votes.csv was changed: the column ",
    ),
    "a column added": (
        *("votes.csv", of_rows(lambda rows: [[*row, "note"] for row in rows])),
        "votes.csv was changed: the column 'note' was added",
    ),
    "a pointer of Git LFS": (*("votes.csv", lambda _: LFS), "Run `git lfs pull` in its folder"),
    "packed by gzip": (*("votes.csv", gzip.compress), "it is packed by gzip now"),
    "UTF-16 without a mark": (
        *("votes.csv", lambda content: content.decode().encode("utf-16-le")),
        "it cannot be read as text in UTF-8",
    ),
    "another file": (
        *("votes.csv", lambda _: b"name,e-mail\nAda,a@example.org\n"),
        "row 1 is not the heading: 'name,e-mail' found",
    ),
    "row numbers of pandas": (
        *("votes.csv", of_rows(lambda rows: [["", *rows[0]], *(["1", *row] for row in rows[1:])])),
        "a column without a heading was added, such as row numbers",
    ),
    "times without seconds": (
        "responses.csv",
        of_rows(by_column("submitted_at", lambda cell: f"{cell[:10]} {cell[11:16]}")),
        "no result depends on what differs; another program saved it (numbers, times or flags",
    ),
    "a spreadsheet": (
        *("votes.csv", lambda _: zipped({"[Content_Types].xml": b""})),
        "votes.csv was changed: it is a spreadsheet or a document now",
    ),
    "lists": (
        *("questions.csv", one_row(2, another(ranks="1 2 3 4 5"))),
        "questions.csv was changed: question 1, list A: 1 2 3 4 5 found",
    ),
    "the digest": (
        *("study.json", edited(lambda study: study.update(digest="0" * 64))),
        f"study.json was changed: digest: {'0' * 64} found; recomputed ",
    ),
    "the plan": (
        *("study.json", edited(lambda study: study["plan"].update(scenario="Choose."))),
        "study.json was changed: digest: ",
    ),
    "a seed": (
        *("study.json", edited(lambda study: study["plan"].update(seed=7))),
        "study.json was changed: practice: the seed gives other lists",
    ),
    "a text": (
        *("study.json", edited(lambda study: study["consent"][0].update(text="Agree."))),
        "study.json was changed: consent 1: not the digest of its text",
    ),
    "no JSON": (
        *("study.json", lambda content: content[:50]),
        "study.json was changed: this is no JSON (",
    ),
    "a figure": (
        *("analysis.json", edited(lambda figures: figures["n"].update(participants=99))),
        "analysis.json was changed: n, participants: 99 found; 3 was published",
    ),
    "the codebook": (
        *("codebook.csv", one_row(3, another(meaning="another"))),
        "codebook.csv was changed: row 3, column meaning: 'another' found; ",
    ),
    "the script": (
        *("analysis.R", lambda content: content.replace(b"lmer(", b"lm(")),
        "analysis.R was changed: line ",
    ),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_changed_value_is_told_with_its_place_and_what_it_leads_to(bundle, change):
    name, make, sentence = CHANGED[change]
    message = refused({**bundle, name: make(bundle[name])})
    assert message.startswith(f"{name} was changed: ")
    assert sentence in message
    assert message.splitlines()[1].startswith(TAKE)
    assert len(message.splitlines()) == 2


def test_a_changed_answer_leads_to_another_credit(bundle):
    pattern = (
        r"responses\.csv was changed: row [0-9] leads to another value of [a-z, ]*credited[a-z, ]*"
        r" in votes\.csv, row [0-9]+, column [a-z]+: '[01]' recomputed; '[01]' was published"
    )
    content = bundle["responses.csv"]
    changed = [one_row(number, other_ticks)(content) for number in range(2, 8)]
    assert any(
        re.match(pattern, refused({**bundle, "responses.csv": content})) for content in changed
    )


def test_a_row_is_named_only_where_it_is_the_only_one(bundle):
    files = dict(bundle)
    files["responses.csv"] = one_row(2, other_ticks)(bundle["responses.csv"])
    files["votes.csv"] = one_row(5, turned)(bundle["votes.csv"])
    message = refused(files)
    # table4.csv has a row for a question, and so has no row of an answer.
    assert not re.search("leads to another value of .* in table4", message)
    assert [line.split()[0] for line in message.splitlines()[:-1]] == ["responses.csv", "votes.csv"]


@pytest.mark.parametrize(
    ("cell", "original", "column"),
    [
        ("1.1", "1.10", "topic"),
        ("1.2E+35", "12e34", "document"),
        ("123456789012345000", "123456789012345678", "document"),
        ("123456789012345000", "123456789012345678", "order_seed"),
    ],
)
def test_an_id_or_a_long_number_that_a_spreadsheet_rounds_is_another_value(cell, original, column):
    current, published = (f"question,{column}\n1,{value}\n" for value in (cell, original))
    unequal, _ = differences("x.csv", current, published, ["question", "order_seed"])
    assert unequal == [f"row 2, column {column}: '{cell}' found; '{original}' was published"]


def test_a_long_number_that_javascript_rounds_is_another_value():
    current, published = ('{"seed": 9007199254740992}', '{"seed": 9007199254740993}')
    unequal, _ = differences("x.json", current, published)
    assert unequal == ["seed: 9007199254740992 found; 9007199254740993 was published"]


def test_numbers_that_are_written_otherwise_are_the_same_values():
    compared = differences("x.csv", "d,e\n1.50,2\n1e-05,\n", "d,e\n1.5,2.0\n0.00001,\n", ["d", "e"])
    assert compared == ([], ["how numbers are written"])


def test_several_damages_are_told_at_once(bundle):
    files = {
        **without("table3.csv")(bundle),
        "questions.csv": as_excel(bundle["questions.csv"]),
        "votes.csv": one_row(5, turned)(bundle["votes.csv"]),
        "responses.csv": one_row(2, other_ticks)(bundle["responses.csv"]),
        "notes.txt": b"mine",
    }
    message = refused(files)
    for sentence in (
        f"questions.csv: {FORMAT} (a byte order mark, ",
        f"table3.csv is missing; {SUMS} lists it",
        "notes.txt does not belong",
        "responses.csv was changed: ",
        "votes.csv was changed: ",
        TAKE,
    ):
        assert sentence in message
    message = refused({name: b"x" if name != SUMS else content for name, content in bundle.items()})
    assert len(message.splitlines()) <= 11


def test_files_too_large_to_compare_are_named(bundle, monkeypatch):
    monkeypatch.setattr(damage, "LARGEST_COMPARED", 2_000)
    files = {**bundle, "votes.csv": one_row(5, turned)(bundle["votes.csv"]) * 3}
    assert "votes.csv was changed: " in refused(files)
    monkeypatch.setattr(damage, "LARGEST_COMPARED", 100)
    assert refused(files) == f"{SUMS} is larger than 100 bytes"


# Bundles of other kinds, of an earlier version.


def released(name):
    path = RELEASED / "0.2.0" / f"{name}.zip"
    return open_files(path, path.name)


OF_ANY_KIND: dict[str, tuple[Callable, str]] = {
    "Excel": (as_excel, f"{FORMAT} (a byte order mark, "),
    "rows in another order": (TABLE_REWRITTEN["rows in another order"][0], f"{FORMAT} (the order"),
    "a row left out": (less(3), " was changed: "),
    "cut off": (lambda content: content[: len(content) // 2], " was changed: "),
}


@pytest.mark.parametrize("damage", OF_ANY_KIND)
@pytest.mark.parametrize("kind", ["labelling", "grouping-public", "preference", "of-runs-public"])
def test_answers_of_each_kind_are_told_from_their_format(kind, damage):
    files, (change, sentence) = released(kind), OF_ANY_KIND[damage]
    name = KINDS[json.loads(files["study.json"])["plan"].get("kind", "ordering")].answers_file
    message = refused({**files, name: change(files[name])})
    assert message.startswith(name)
    assert sentence in message


@pytest.mark.parametrize("kind", ["labelling", "grouping"])
def test_a_file_of_judgements_is_compared_line_by_line(kind):
    files = released(kind)
    name = next(name for name in files if name.startswith("judgements/"))
    lines = files[name].splitlines(keepends=True)
    message = refused({**files, name: b"".join([b"x" + lines[0], *lines[1:]])})
    assert message.startswith(f"{name} was changed: line 1: 'x")
    message = refused({**files, name: files[name].replace(b"\n", b"\r\n")})
    assert message.startswith(f"{name}: {FORMAT} (line ends)")


@pytest.mark.parametrize("kind", ["ordering", "labelling", "grouping", "preference", "of-runs"])
def test_a_bundle_of_an_earlier_release_is_read_as_that(tmp_path, kind):
    status, output = replicated(RELEASED / "0.2.0" / f"{kind}.zip")
    assert (status, "0.2.0" in output) == (0, True)


def test_a_bundle_of_a_later_release_says_what_to_install(bundle, tmp_path):
    later = edited(lambda study: study.update(format=99, versions={"survey": "99.1"}))
    files = summed({**bundle, "study.json": later(bundle["study.json"])})
    status, output = replicated(packed(files, tmp_path, "zip"))
    assert status == 1
    assert "install ranking-survey 99.1 or later to read it" in output
    unnamed = edited(lambda study: study.update(format=99))
    files = summed({**bundle, "study.json": unnamed(bundle["study.json"])})
    assert "Install the latest ranking-survey to read it" in refused(files)


# Any other damage.

ONCE = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.slow
@ONCE
@given(st.data())
def test_no_changed_byte_passes_or_ends_in_a_traceback(bundle, data):
    name = data.draw(st.sampled_from(sorted(bundle)))
    content = bundle[name]
    place = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    assert refused({**bundle, name: content[:place] + bytes([byte]) + content[place + 1 :]})


@pytest.mark.slow
@ONCE
@given(st.data())
def test_no_file_cut_anywhere_passes_or_ends_in_a_traceback(bundle, data):
    name = data.draw(st.sampled_from(sorted(bundle)))
    place = data.draw(st.integers(0, len(bundle[name]) - 1))
    assert refused({**bundle, name: bundle[name][:place]})


def test_a_zip_cut_anywhere_is_the_beginning_of_one(bundle):
    whole = zipped(bundle)
    for place in {*range(0, len(whole), 211), *range(len(whole) - 120, len(whole))}:
        with pytest.raises(BundleError, match="Download it again"):
            open_files(io.BytesIO(whole[:place]), "my.zip")


def test_an_analysis_that_cannot_read_a_bundle_says_the_same(bundle):
    files = {**bundle, "responses.csv": as_excel(bundle["responses.csv"])}
    with pytest.raises(BundleError, match=rf"^responses\.csv: {FORMAT} \("):
        analyse_files(files, AnalysisOptions())
