"""Files that people write: their lines, and sentences about what is wrong in them."""

import io
from collections.abc import Iterable, Iterator, Sequence

MOST_FAULTS = 20


class FaultyFilesError(ValueError):
    """Files that cannot be used; ``faults`` says everything that is wrong, a sentence each.

    Of more than 20 faults the first 19 are kept, and the last sentence counts the rest.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        found = tuple(faults)
        if len(found) > MOST_FAULTS:
            kept = found[: MOST_FAULTS - 1]
            found = (*kept, f"and {len(found) - len(kept)} more faults like these")
        self.faults: tuple[str, ...] = found
        super().__init__("\n".join(found))


def stop_if_any(faults: Sequence[str]) -> None:
    """Raise FaultyFilesError if there is a fault."""
    if faults:
        raise FaultyFilesError(faults)


def lines_of(text: str) -> Iterable[str]:
    """Split a text as a file is: at \\n, \\r\\n and \\r, and nowhere else."""
    return io.StringIO(text, newline=None)


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Give lines with their numbers from 1; without blanks around, empty ones and comments (#)."""
    for number, line in enumerate(lines, 1):
        stripped = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def malformed(where: str, line: str, allowed: str, more: str = "") -> str:
    """Say that a line has another number of fields than ``allowed`` names."""
    fields = line.split()
    count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
    needed = f"{len(allowed.split())} {more}are allowed"
    return f"{where}: {count} found, {shortened(' '.join(fields))}; {needed}: {allowed}"


def shortened(found: str) -> str:
    """Quote what was found, as much of it as a message has room for."""
    return repr(found if len(found) <= 40 else f"{found[:39]}…")
