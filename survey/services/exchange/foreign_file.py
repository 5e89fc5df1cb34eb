"""Say what a file is that cannot be opened as a bundle, and what to do with it."""

import html
import json
import re
import zipfile
import zlib
from collections.abc import Iterable
from typing import IO

from survey.core.given_tables import GZIPPED, HTML, TAR, UNPACK, foreign_file
from survey.core.studies.fields import list_words

READ_AT_ENDS = 70_000  # bytes: a zip's directory ends in the last 65,557
ZIP_START = b"PK\x03\x04"
ZIP_END = b"PK\x05\x06"
FIRST_PART = b"PK\x07\x08"
GIT_LFS = b"version https://git-lfs.github.com/"
AGAIN = "Download it again"
UNPACK_BUNDLE = "Unpack it, and name the folder that comes out"
ZIP_ITSELF = "and save the zip itself"
# Keys under which servers put their messages.
MESSAGE_KEYS = ("message", "error", "detail", "title", "errors")
BUNDLE_KEYS = ("digest", "resources")  # of study.json, of datapackage.json
METHODS = {9: "Deflate64", 93: "Zstandard", 95: "xz", 98: "PPMd"}
UNPACKED_METHODS = (
    *(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA),
    getattr(zipfile, "ZIP_ZSTANDARD", None),  # from Python 3.14 on
)
MOST_NAMES = 5

# What systems and programs add to a folder, beside files whose names begin with a dot.
LITTER = ("thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx")
OFFICE_NAMES = ("[Content_Types].xml", "mimetype")


def is_litter(parts: Iterable[str]) -> bool:
    """Return whether a path is of a file that a system adds by itself, such as Thumbs.db."""
    return any(
        part.lower() in LITTER or (part.startswith((".", "~$")) and part != "..") for part in parts
    )


def describe_file(file: IO[bytes], name: str) -> str | None:
    """Return the sentence about a file that zipfile cannot open; None for no known sort."""
    end = _end_of(file)
    start = _start_of(file)
    if not start:
        return f"{name} is empty. {AGAIN}"
    if not (start + end).strip(b"\0"):
        return f"{name} holds only zeros, as a download that was broken off leaves it. {AGAIN}"
    return _describe_zip(start, end, name) or _describe_text(start, name) or _packed(start, name)


def _start_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(READ_AT_ENDS)


def _end_of(file: IO[bytes]) -> bytes:
    file.seek(max(0, file.seek(0, 2) - READ_AT_ENDS))
    return file.read()


def _is_part(end: bytes) -> bool:
    """Return whether the directory at the end of a zip says that it was split into several."""
    directory = end.rfind(ZIP_END)
    disk = end[directory + 4 : directory + 6]
    return directory >= 0 and len(disk) == 2 and disk not in (b"\0\0", b"\xff\xff")


def _split(name: str) -> str:
    return (
        f"{name} is one part of a zip that was split into several. Put all of them into one "
        "folder, unpack them with a program that joins them, such as 7-Zip, and name the "
        "folder that comes out"
    )


def _describe_zip(start: bytes, end: bytes, name: str) -> str | None:
    if start.startswith(FIRST_PART) or _is_part(end):
        return _split(name)
    has_directory = ZIP_END in end
    begins = start.startswith(ZIP_START) or ZIP_START.startswith(start)
    if begins and has_directory:
        return f"{name} is a zip that was damaged on its way. {AGAIN}"
    if begins:
        return f"{name} is the beginning of a zip; its end is missing. {AGAIN}"
    if has_directory:
        return f"{name} is the end of a zip; its beginning is missing. {AGAIN}"
    return None


def _describe_text(start: bytes, name: str) -> str | None:
    if start.startswith(GIT_LFS):
        return (
            f"{name} is a pointer of Git LFS, which only says where the bundle is. Run "
            "`git lfs pull` in its folder"
        )
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if foreign_file(text.encode(), name) == HTML or re.search("<html[ >]", text[:4_000].lower()):
        title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
        words = " ".join(html.unescape(title[1]).split())[:80] if title else ""
        return (
            f"{name} is a web page{f' (“{words}”)' if words else ''}, not the bundle. Open the "
            "address in a browser: it may ask you to sign in, or say that the file has moved; "
            "then download the zip itself"
        )
    if text.startswith("<?xml"):
        return _message("XML", re.sub(r"<[^>]*>", " ", text), name)
    if text[:1] in ("{", "["):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict):
            message = next((content[key] for key in MESSAGE_KEYS if content.get(key)), None)
            if message is not None and not {*BUNDLE_KEYS} & {*content}:
                return _message("JSON", str(message), name)
    return None


def _message(form: str, words: str, name: str) -> str:
    words = " ".join(words.split())[:80]
    return (
        f"{name} is a server's message in {form} (“{words}”), not the bundle. Open the page where "
        f"the bundle is published, {ZIP_ITSELF}"
    )


def _packed(start: bytes, name: str) -> str | None:
    if start.startswith(GZIPPED):
        try:
            inside = zlib.decompressobj(31).decompress(start, 600)
        except zlib.error:
            inside = b""
        if inside.startswith(ZIP_START):
            return f"{name} is a zip that was packed again, by gzip. Unpack it, and name the zip"
        what = "a tar archive, packed by gzip" if inside[257:262] == b"ustar" else "a gzip file"
        return f"{name} is {what}. {UNPACK_BUNDLE}"
    if not (description := foreign_file(start, name)):
        return None
    what, remedy = description
    if description == TAR or remedy == UNPACK:
        return f"{name} is {what}, and not a zip. {UNPACK_BUNDLE}"
    return f"{name} is {what}, not a bundle. Name the zip or the unpacked folder of the bundle"


def describe_zip(archive: zipfile.ZipFile, names: Iterable[str], name: str) -> str | None:
    """Return the sentence about a zip that is none of a bundle's files, or cannot be unpacked.

    ``names``: of its files, without what systems add.
    """
    files = [*names]
    if archive.fp and (
        _start_of(archive.fp).startswith(FIRST_PART) or _is_part(_end_of(archive.fp))
    ):
        return _split(name)
    if inside := describe_inside(files, name):
        return inside
    if any(office_name in files for office_name in OFFICE_NAMES):
        return (
            f"{name} is a spreadsheet or a document, not a bundle. Name the zip or the unpacked "
            "folder of the bundle"
        )
    if any(entry.flag_bits & 1 for entry in archive.infolist()):
        return f"{name} is locked with a password. Unpack it with that, and name the folder"
    for method in (entry.compress_type for entry in archive.infolist()):
        if method not in UNPACKED_METHODS:
            return (
                f"{name} is a zip packed by {METHODS.get(method, f'method {method}')}, which "
                "cannot be unpacked here. Unpack it with another program, such as 7-Zip, and name "
                "the folder that comes out"
            )
    return None


def describe_inside(
    paths: Iterable[str], name: str, unpack: str = "Unpack it, and name"
) -> str | None:
    """Return the sentence about a zip or a folder with bundles in it.

    None for a bundle itself, and for tables from elsewhere. ``unpack``: how the remedy begins.
    """
    files = [*paths]
    if any(re.fullmatch(r"study\.json|SHA256SUMS|[^/]+\.csv", file) for file in files):
        return None
    folders = sorted({path.rpartition("/")[0] for path in files if path.endswith("/study.json")})
    zips = sorted(path for path in files if path.lower().endswith(".zip"))
    if len(folders) > 1:
        return f"{name} holds several bundles, in {name_some(folders)}. {unpack} one of them"
    if folders and any(not path.startswith(f"{folders[0]}/") for path in files):
        return f"{name} holds a bundle in {folders[0]}, and others beside it. {unpack} this folder"
    if folders or not zips:
        return None
    if len(zips) > 1:
        return f"{name} holds several zips, {name_some(zips)}. {unpack} the one with the bundle"
    return f"{name} holds another zip, {zips[0][:80]}. {unpack} the zip inside"


def name_some(names: Iterable[str]) -> str:
    """Return the first names as words of a sentence, and how many there are beside them."""
    shown = [*names]
    more = len(shown) - MOST_NAMES
    return list_words(shown[:MOST_NAMES] + ([f"{more} more"] if more > 0 else []))
