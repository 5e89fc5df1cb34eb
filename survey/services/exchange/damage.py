"""Say what became of a bundle's files since their sums were written, and what to do.

The sums prove more than that a file differs. A file whose format another program changed has the
listed sum again when line ends, separators and the like are put back. What is recomputed from the
other files often has that sum too, and then the published values are known.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from survey.core.given_tables import GZIPPED, foreign_file
from survey.core.studies.fields import list_words
from survey.services.exchange.bundle import LAST_LINE, SUMS, sha256_of
from survey.services.exchange.description import FileFacts
from survey.services.exchange.differences import (
    NUMBERS_ONLY,
    RowPair,
    differences,
    row_about,
    table_of,
    unequal_cells,
    unequal_rows,
    unlike,
)
from survey.services.exchange.file_format import CELLS, rewritings
from survey.services.exchange.foreign_file import AGAIN, GIT_LFS, name_some
from survey.services.exchange.input_files import (
    BundleError,
    Files,
    StreamedFile,
    opened,
    read_chunks,
)

LARGEST_COMPARED = 200_000_000  # bytes of a file whose values are compared
MOST_FAULTS = 9  # lines
COPIES = re.compile(r"^copy of |[ _-]*(\([0-9]+\)|copy|kopie)(?=\.|$)")
FORMAT_REMEDY = (
    "Only the format changed. Unpack the published zip again, and read its files without saving "
    "them in another program"
)
VALUE_REMEDY = (
    "Take these files from the published bundle again; where they come from there, ask its authors"
)
LFS_POINTER = "a pointer of Git LFS. Run `git lfs pull` in its folder"
PACKED = {GZIPPED: ("packed by gzip",)}
NO_RESULT = "what is recomputed from it agrees, so no result depends on what differs"


@dataclass
class Damage:
    """What differs between a bundle's files and their sums.

    ``files``: with the published names, and in the published format as far as possible.
    ``changed``: a sentence for each file whose values may differ, "" until it is known.
    ``rewritten``: of these, what of their format was put back.
    """

    files: dict[str, bytes | StreamedFile]
    sums: Mapping[str, str]
    reformatted: dict[Sequence[str], list[str]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    changed: dict[str, str] = field(default_factory=dict)
    rewritten: dict[str, Sequence[str]] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        """Whether anything differs."""
        return any((self.reformatted, self.renamed, self.missing, self.added, self.changed))

    @property
    def unexplained(self) -> list[str]:
        """The changed files of which it is not known what differs."""
        return [name for name, sentence in self.changed.items() if not sentence]

    @property
    def facts(self) -> dict[str, FileFacts]:
        """Size and sum of each file that the sums list, as it is now."""
        listed = [name for name in self.sums if name in self.files]
        sums = {**self.sums, **{name: _sum_of(self.files, name) for name in self.changed}}
        return {name: FileFacts(_size(self.files[name]), sums[name]) for name in listed}

    def reformat(self, name: str, changes: Sequence[str]) -> None:
        """Note that only the format of a file was changed."""
        self.changed.pop(name, None)
        self.reformatted.setdefault(tuple(changes), []).append(name)

    def compare(
        self, recomputed: Mapping[str, Iterable[str]], numbers: Mapping[str, Container[str]]
    ) -> None:
        """Find the values that differ, by what is recomputed from ``files``.

        ``numbers``: of each table, the columns that hold numbers.
        """
        texts = {name: "".join(lines) for name, lines in recomputed.items()}
        other = [
            name for name, text in texts.items() if sha256_of(text.encode()) != self.sums.get(name)
        ]
        for name in self.unexplained:
            is_comparable = _size(self.files[name]) <= LARGEST_COMPARED
            if is_comparable and name in texts and name not in other:
                self._compare_with_published(name, texts[name], numbers.get(name, ()))
        sources = self.unexplained
        results = [name for name in other if name not in self.changed and name in self.sums]
        for name in sources:
            self.changed[name] = self._consequence(name, results, texts, numbers)

    def _compare_with_published(self, name: str, published: str, numbers: Container[str]) -> None:
        text, size = _text(self.files, name), len(published.encode())
        beginning = text.removesuffix("\n")
        if published.startswith(beginning):
            available = len(beginning.encode())
            self.changed[name] = f"its end is missing, after {available:,} of {size:,} bytes"
            return
        unequal, changes = differences(name, text, published, numbers)
        if unequal:
            more = len(unequal) - 1
            self.changed[name] = unequal[0] + (f" (and {more} more like this)" if more else "")
        else:
            known = self.rewritten.get(name, ())
            others = [
                change for change in changes if not (change == NUMBERS_ONLY and CELLS in known)
            ]
            self.reformat(name, [*dict.fromkeys([*known, *others])])

    def _consequence(
        self,
        name: str,
        results: Iterable[str],
        texts: Mapping[str, str],
        numbers: Mapping[str, Container[str]],
    ) -> str:
        """Return what the values of a changed table lead to in tables that are as published."""
        if not name.endswith(".csv") or _size(self.files[name]) > LARGEST_COMPARED:
            return ""
        table = table_of(_text(self.files, name))
        for result in results:
            is_table = result.endswith(".csv") and result in self.files
            if not is_table or _size(self.files[result]) > LARGEST_COMPARED:
                continue
            published = table_of(_text(self.files, result))
            recomputed = table_of(texts[result])
            if recomputed[0] != published[0]:
                continue  # another version wrote it with other columns
            heading, columns = published[0], numbers.get(result, ())
            pairs = unequal_rows(recomputed, published, columns)
            rows = [
                row_about(table, heading, pair.published or pair.current or []) for pair in pairs
            ]
            if row := next(filter(None, rows), None):
                led_to = [pair for pair, about in zip(pairs, rows, strict=True) if about == row]
                others = len({*rows} - {None, row})
                more = f" (and {others} more rows do so)" if others else ""
                return f"row {row} leads to {_led_to(heading, led_to, result, columns)}{more}"
        return ""

    def error(self) -> BundleError:
        """Return the error with a line for each sort of difference, and what to do."""
        lines = []
        for changes, names in self.reformatted.items():
            what = f" ({list_words(changes)})" if changes else ""
            lines.append(
                f"{name_some(names)}: only the format changed{what}; every value is as published"
            )
        if self.renamed:
            names = [f"{other} is {name}" for name, other in self.renamed.items()]
            them = "it" if len(names) == 1 else "them"
            lines.append(f"{name_some(names)} under another name. Rename {them}")
        if self.missing:
            are, them = ("is", "it") if len(self.missing) == 1 else ("are", "them")
            lines.append(f"{name_some(self.missing)} {are} missing; {SUMS} lists {them}")
        if self.added:
            do, them = ("does", "it") if len(self.added) == 1 else ("do", "them")
            lines.append(
                f"{name_some(self.added)} {do} not belong to the bundle: {SUMS} does not list "
                f"{them}. Take {them} out"
            )
        for name, sentence in self.changed.items():
            unknown = f"it does not have the sum that {SUMS} gives"
            lines.append(f"{name} was changed: {sentence or unknown}")
        if len(lines) > MOST_FAULTS:
            lines[MOST_FAULTS:] = [f"and {len(lines) - MOST_FAULTS} more files were changed"]
        if self.changed or self.missing:
            lines.append(VALUE_REMEDY)
        elif self.reformatted:
            lines.append(FORMAT_REMEDY)
        return BundleError("\n".join(lines))


def _led_to(
    heading: Sequence[str], pairs: Sequence[RowPair], result: str, numbers: Container[str]
) -> str:
    """Return which values of a table that is as published a changed row leads to."""
    cells = [(pair, *cell) for pair in pairs for cell in unequal_cells(heading, pair, numbers)]
    if not cells:
        return f"{'fewer' if pairs[0].current is None else 'more'} rows than {result} has"
    columns = list_words([*dict.fromkeys(column for _, column, _, _ in cells)])
    pair, column, value, wanted = cells[0]
    return (
        f"another value of {columns} in {result}, row {pair.published_number}, column {column}: "
        f"{unlike(value, wanted, 'recomputed')}"
    )


def sums_name(files: Files) -> str | None:
    """Return the name of the list of sums, which may be renamed as a file is; None for none."""
    if SUMS in files:
        return SUMS
    return next((name for name in files if _plain(name) == _plain(SUMS)), None)


def find_damage(files: Files) -> Damage:
    """Compare files with their sums; raise BundleError where the list of sums is of no use."""
    listed_as = sums_name(files) or SUMS
    sums, changes = _read_sums(_content(files, listed_as))
    damage = Damage({name: files[name] for name in files if name in sums}, sums)
    if listed_as != SUMS:
        damage.renamed[SUMS] = listed_as
    if changes:
        damage.reformat(SUMS, changes)
    digests = {name: _sum_of(files, name) for name in files if name != listed_as}
    damage.added = [name for name in digests if name not in sums]
    for name in [listed for listed in sums if listed not in files]:
        alike = [added for added in damage.added if digests[added] == sums[name]] or [
            added for added in damage.added if _plain(added) == _plain(name)
        ]
        if alike:
            damage.added.remove(alike[0])
            damage.renamed[name] = alike[0]
            damage.files[name] = files[alike[0]]
            digests[name] = digests[alike[0]]
        else:
            damage.missing.append(name)
    for name in damage.files:
        if digests[name] != sums[name]:
            _restore(damage, name)
    damage.files[SUMS] = files[listed_as]
    return damage


def _plain(name: str) -> str:
    """Return a name without what copying and downloading add, and without the case of letters."""
    return COPIES.sub("", name.lower()).removesuffix(".txt")


def _read_sums(content: bytes) -> tuple[dict[str, str], Sequence[str]]:
    """Return the sum of each file, and what of the list's format was changed."""
    if content.startswith(GIT_LFS):
        raise BundleError(f"{SUMS} is {LFS_POINTER}")
    written = (
        (text.splitlines(keepends=True) or [""], changes)
        for text, changes in rewritings(content, SUMS)
    )
    lines, changes = next(
        (
            (lines, changes)
            for lines, changes in written
            if lines[-1] == f"{LAST_LINE}{sha256_of(''.join(lines[:-1]).encode())}\n"
        ),
        ([], []),
    )
    if not lines:
        raise BundleError(
            f"{SUMS} was changed: its last line is not the sum of those above it. Take it from "
            "the published bundle again: without it nothing shows what was changed"
        )
    sums = {}
    for number, line in enumerate(lines[:-1], 1):
        digest, _, name = line.rstrip("\n").partition("  ")
        if len(digest) != 64 or not name:
            raise BundleError(f"{SUMS}, line {number}: a sum and a file's name are needed")
        sums[name] = digest
    return sums, changes


def _sum_of(files: Files, name: str) -> str:
    digest = hashlib.sha256()
    for chunk in read_chunks(files, name):
        digest.update(chunk)
    return digest.hexdigest()


def _size(file: bytes | StreamedFile) -> int:
    return len(file) if isinstance(file, bytes) else file.size


def _content(files: Files, name: str) -> bytes:
    with opened(files, name) as file:
        content = file.read(LARGEST_COMPARED + 1)
    if len(content) > LARGEST_COMPARED:
        raise BundleError(f"{name} is larger than {LARGEST_COMPARED:,} bytes")
    return content


def _text(files: Files, name: str) -> str:
    return _content(files, name).decode("utf-8", "surrogateescape")


def _restore(damage: Damage, name: str) -> None:
    """Put a file back into the format that it was published in; note what is known of it."""
    size = _size(damage.files[name])
    damage.changed[name] = ""
    if not size:
        damage.changed[name] = f"it is empty. {AGAIN}"
    if not size or size > LARGEST_COMPARED:
        return
    content = _content(damage.files, name)
    if content.startswith(GIT_LFS):
        damage.changed[name] = f"it is {LFS_POINTER}"
        return
    if description := foreign_file(content, name) or PACKED.get(content[:2]):
        damage.changed[name] = f"it is {description[0]} now"
        return
    for text, changes in rewritings(content, name):
        damage.files[name] = restored = text.encode("utf-8", "surrogateescape")
        damage.rewritten[name] = changes
        if sha256_of(restored) == damage.sums[name]:
            damage.reformat(name, changes)
            return


def explain(damage: Damage, recompute: Callable[[Damage], None]) -> BundleError:
    """Return the error about damage, after its values are compared where they can be.

    ``recompute``: compares what follows from the restored files; raises BundleError where these
    do not fit together.
    """
    if damage.unexplained:
        try:
            recompute(damage)
        except BundleError as error:
            if not str(error).startswith(tuple(damage.missing)):
                _blame(damage, str(error))
        else:
            for name in damage.unexplained:
                changes = damage.rewritten.get(name)
                saved = f"; another program saved it ({list_words(changes)})" if changes else ""
                damage.changed[name] = f"{NO_RESULT}{saved}"
    return damage.error()


def _blame(damage: Damage, error: str) -> None:
    """Say of the changed files why they cannot be read, or with what they do not fit."""
    first, *more = error.splitlines()
    first += f" (and {len(more)} more like this)" if more else ""
    for name in damage.unexplained:
        if match := re.match(rf"{re.escape(name)}(,|:| (?!and ))\s*(.*)", first):
            damage.changed[name] = f"it {match[2]}" if match[1] == " " else match[2]
            return
    for name in damage.unexplained:
        damage.changed[name] = f"what it holds does not fit: {first}"
