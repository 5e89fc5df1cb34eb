"""Bundles in a test's hands: taken apart, changed, put together with new sums."""

import csv
import io
import json
import re
import zipfile

from survey.services.exchange.bundle import SUMS, csv_tables, sha256_of, sums_text
from survey.services.exchange.bundle_reader import read_bundle, replicate
from survey.services.exchange.description import DESCRIPTIONS, FileFacts, description_files

# What names the address of a study in other ways than as a cell, or follows from its other files.
OF_THE_ADDRESS = {"study.json", SUMS, *DESCRIPTIONS}


def unzipped(bundle):
    """The files of a zip, as another program sees them."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files):
    """A zip as another program makes it; ``files``: names and bytes."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def summed(files):
    """The files with sums that fit, as whoever changes a bundle on purpose leaves them."""
    rest = {name: content for name, content in files.items() if name != SUMS}
    sums = {name: sha256_of(content) for name, content in rest.items()}
    return {**rest, SUMS: sums_text(sums).encode()}


def described(files):
    """The files with descriptions and sums that fit, as the version that made them has them."""
    content, study = read_bundle(files)
    rest = {name: text for name, text in files.items() if name not in {*DESCRIPTIONS, SUMS}}
    facts = {name: FileFacts(len(text), sha256_of(text)) for name, text in rest.items()}
    for name, lines in description_files(content, csv_tables(content), facts, study["versions"]):
        rest[name] = "".join(lines).encode()
        facts[name] = FileFacts(len(rest[name]), sha256_of(rest[name]))
    return summed(rest)


def with_rows(files, name, change):
    """The files with the rows of one changed (a list of dicts, changed in place or returned)."""
    rows = rows_of(files, name)
    rows = change(rows) or rows
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return summed({**files, name: sink.getvalue().encode()})


def with_cell(files, name, row, column, cell):
    """The files with one cell changed; ``row`` as a spreadsheet counts, the heading being 1."""
    return with_rows(files, name, lambda rows: rows[row - 2].__setitem__(column, cell))


def with_json(files, name, change):
    """The files with a JSON file changed in place."""
    content = json.loads(files[name])
    change(content)
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    return summed({**files, name: text.encode()})


def readdressed(again, files):
    """The files of a study that was imported under another address, with the first one's."""
    old, new = (json.loads(content["study.json"])["slug"].encode() for content in (again, files))
    return {
        name: re.sub(rb"^" + old + b",", new + b",", content, flags=re.MULTILINE)
        if content.startswith(b"study,")
        else content
        for name, content in again.items()
    }


def rows_of(files, name):
    """The rows of a CSV file as another program reads them."""
    return list(csv.DictReader(io.StringIO(files[name].decode(), newline="")))


def steps_of(files):
    """The sentences of all checks of a replication."""
    return [*replicate(files)]
