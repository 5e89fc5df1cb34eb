"""Lines and numbers that people type, the faults of a file as one error, and cells of CSV files.

Cells are escaped so that no spreadsheet runs them as a formula. A spreadsheet takes a cell for one
when, after what it skips, it begins with one of SIGNS; an apostrophe there makes it a text. Where
a file is opened with a separator other than the comma, as Excel does in much of Europe, a cell
begins after each semicolon, tab or line break too, even inside quotes; so an apostrophe is put
there as well. An added apostrophe is among the characters that are skipped, so a cell that begins
with some gets one more, and removing one at each place restores the text.
"""

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TypeAlias
from unicodedata import category, combining, normalize

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MOST_FAULTS = 20
STEERING = ("Cc", "Cf", "Zl", "Zp")  # categories of Unicode
LEAST_ALIKE = 0.7  # of names: difflib's ratio, so that colour is not taken for columns
MOST_NAMED = 5  # names in a sentence
MOST_ALIKE = 5  # faults that differ in numbers and quoted words only
DIFFERING = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”|[0-9]+")

# A study's address, /s/SLUG: small letters, digits and hyphens.
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
LONGEST_SLUG = 64
# Letters in ASCII of those that no Unicode form takes apart.
IN_ASCII = str.maketrans(
    {
        **dict(zip("αβγδεζηικλμνξοπρστυφωςəıłøđðħ", "avgdeziiklmnxoprstyfosailoddh", strict=True)),
        **{"θ": "th", "χ": "ch", "ψ": "ps", "æ": "ae", "œ": "oe", "þ": "th"},
    }
)
WHOLE = re.compile(r"[0-9]{1,19}")
SIGNED_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

# What starts a formula, also in the wide and the small forms of East Asian fonts. | and %
# start none today, but did in older programs.
SIGNS = r"=+\-@|%＝＋－＠｜％﹦﹢﹣﹫﹪"
# All blanks, quotes, and characters without width or shape.
UNSEEN = (
    r"\x00-\x08\x0e-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    r"\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
SKIPPED = rf" \x0b\x0c{UNSEEN}\"'"
FIRST_SIGN = rf"(?=[{SKIPPED}\t\r\n]*[{SIGNS}\t\r\n])"
LATER_SIGN = rf"(?=[{SKIPPED}]*[{SIGNS}])"

BEFORE_FORMULA = re.compile(rf"\A{FIRST_SIGN}|(?<=[;\t\r\n]){LATER_SIGN}")
ESCAPED = re.compile(rf"\A'{FIRST_SIGN}|(?<=[;\t\r\n])'{LATER_SIGN}")
BETWEEN_NAMES = re.compile(r"[,\s]+(?![^()]*\))")
NOT_SEEN = re.compile(rf"(?![\x00-\x1f])[{UNSEEN}]")
UNSEEN_ENDS = re.compile(rf"\A[\s{UNSEEN}]+|[\s{UNSEEN}]+\Z")


class FaultyFilesError(ValueError):
    """Files that cannot be used; ``faults`` holds a sentence for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class FileFaults:
    """Faults of files, collected so that one error names them all.

    ``error`` makes the error from the sentences. It holds the first MOST_ALIKE of those that are
    alike, and ``most`` at most; its last sentence counts the rest. ``columns_not_read``: no
    faults, but to be known: of each file the columns of its table that are not read.
    """

    def __init__(
        self,
        faults: Iterable[str] = (),
        *,
        error: Callable[[tuple[str, ...]], Exception] = FaultyFilesError,
        most: int = MOST_FAULTS,
    ) -> None:
        self._faults = [(0, fault) for fault in faults]
        self._error, self._most = error, most
        self.columns_not_read: dict[str, Sequence[str]] = {}

    def __len__(self) -> int:
        return len(self._faults)

    @property
    def sentences(self) -> list[str]:
        """All faults, in the order of their rows."""
        return [fault for _, fault in sorted(self._faults, key=lambda fault: fault[0])]

    def add(self, fault: str, row: int = 0) -> None:
        """Add a sentence; faults with a lower ``row`` come first in the error."""
        self._faults.append((row, fault))

    def extend(self, faults: Iterable[str]) -> None:
        """Add several sentences."""
        for fault in faults:
            self.add(fault)

    @contextmanager
    def collect(self, error: type[Exception]) -> Iterator[None]:
        """Add the text of an error that ends the ``with`` block, and continue after the block."""
        try:
            yield
        except error as fault:
            self.add(str(fault))

    def raise_any(self) -> None:
        """Raise the error if a fault was added."""
        faults = self.sentences
        alike = Counter[str]()
        shown = []
        for fault in faults:
            alike[pattern := DIFFERING.sub("", fault)] += 1
            if alike[pattern] <= MOST_ALIKE:
                shown.append(fault)
        if len(shown) < len(faults) or len(shown) > self._most:
            shown = shown[: self._most - 1]
            shown.append(f"and {len(faults) - len(shown)} more like these")
        if shown:
            raise self._error(tuple(shown))


def lines_of(text: str) -> Iterable[str]:
    """Split a text at \\n, \\r\\n and \\r, as a file is, and not at other line separators."""
    return io.StringIO(text, newline=None)


def without_unseen_ends(text: str) -> str:
    """Remove blanks and characters without width from both ends."""
    return UNSEEN_ENDS.sub("", text)


def without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object of JSON that has these names and values.

    For ``json.loads``, as its object_pairs_hook. Raises ValueError for a name that occurs twice:
    readers differ in which of its values they take.
    """
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shortened(twice)} occurs twice in an object")
    return content


def split_names(text: str) -> list[str]:
    """Return names of measures that commas or blanks separate, unless in brackets: AP(rel=2)."""
    return [name for name in BETWEEN_NAMES.split(text) if name]


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that another was probably meant to be, None where none is like it."""
    by_case = {each.casefold(): each for each in names}
    alike = get_close_matches(name.casefold(), by_case, 1, LEAST_ALIKE)
    return by_case[alike[0]] if alike else None


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return, in sentences, which name was probably meant and the first of those that there are."""
    meant = closest(name, names)
    first = f"Did you mean {meant}? " if meant else ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{first}There are: {', '.join(names[:MOST_NAMED])}{more}."


def visible(text: str) -> str:
    """Return a text in which blanks and signs that cannot be seen are named: d3<U+00A0>x."""
    return NOT_SEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def is_steering(text: str) -> bool:
    """Return whether a text has signs that are not seen and steer what shows it.

    Control and format characters: escapes, marks that turn the direction, joiners, line ends.
    """
    return not text.isprintable() and any(category(sign) in STEERING for sign in text)


def steering_in(value: object) -> str | None:
    """Return the first text within a JSON value that is steering, None without one."""
    if isinstance(value, str):
        return value if is_steering(value) else None
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if not isinstance(value, list | tuple):
        return None
    return next((sign for part in value if (sign := steering_in(part)) is not None), None)


def shortened(text: str) -> str:
    """Quote a text for a message, at most 40 characters of it."""
    return repr(visible(text if len(text) <= 40 else f"{text[:39]}…"))


def parse_whole(
    text: str, lowest: int | None = None, highest: int | None = None, *, signed: bool = False
) -> int | None:
    """Return the whole number that a text is, or None where it is none within the bounds.

    Only the digits 0 to 9 count, at most 19 of them; a sign only where ``signed``. What
    ``int`` takes beyond these (1_000, ٣, blanks) is None.
    """
    if not (SIGNED_WHOLE if signed else WHOLE).fullmatch(text):
        return None
    number = int(text)
    if (lowest is not None and number < lowest) or (highest is not None and number > highest):
        return None
    return number


def parse_number(text: str) -> float | None:
    """Return the finite number that a text is, like -0.5 or 2e3, or None where it is none."""
    number = float(text) if NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def escaped(cell: str) -> str:
    """Insert an apostrophe wherever a spreadsheet would begin to run a formula."""
    return BEFORE_FORMULA.sub("'", cell)


def unescaped(cell: str) -> str:
    """Remove the apostrophes that ``escaped`` inserted."""
    return ESCAPED.sub("", cell)


def csv_line(cells: Iterable[str]) -> str:
    """Return a line of CSV (RFC 4180) from cells that are escaped already.

    The csv module leaves a lone carriage return unquoted where lines end in \\n, and
    reads it back as the end of a row.
    """
    return ",".join(map(quoted, cells)) + "\n"


def quoted(cell: str) -> str:
    """Return a cell, in quotes where commas, quotes or line breaks need them."""
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[",\r\n]', cell) else cell


def as_slug(text: str) -> str:
    """Return a text as an address may be written, "" where no letter or digit is left of it.

    "My Étude 2026" becomes my-etude-2026.
    """
    letters = normalize("NFKD", text.casefold()).translate(IN_ASCII)
    words = re.findall(r"[a-z0-9]+", "".join(each for each in letters if not combining(each)))
    while len(slug := "-".join(words)) > LONGEST_SLUG and len(words) > 1:
        words.pop()
    return slug[:LONGEST_SLUG]
