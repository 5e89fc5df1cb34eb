"""Numbers as people write them in files and forms."""

import math
import re

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
