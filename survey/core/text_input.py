"""Lines and numbers of texts that people type, and the faults of a file as one error."""

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

MOST_FAULTS = 20


class FaultyFilesError(ValueError):
    """Files that cannot be used; ``faults`` holds a sentence for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class FileFaults:
    """Faults of files, collected so that one error names them all.

    ``error`` makes the error from the sentences. Of more than ``most`` faults the error
    holds the first ``most`` − 1, and its last sentence counts the rest.
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
        if len(faults) > self._most:
            shown = faults[: self._most - 1]
            faults = [*shown, f"and {len(faults) - len(shown)} more faults like these"]
        if faults:
            raise self._error(tuple(faults))


def lines_of(text: str) -> Iterable[str]:
    """Split a text at \\n, \\r\\n and \\r, as a file is, and not at other line separators."""
    return io.StringIO(text, newline=None)


def shortened(text: str) -> str:
    """Quote a text for a message, at most 40 characters of it."""
    return repr(text if len(text) <= 40 else f"{text[:39]}…")


WHOLE = re.compile(r"[0-9]{1,19}")
SIGNED_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


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
