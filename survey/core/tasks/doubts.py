"""Answers that may not mean what they say: a page asks back once before it saves them."""

from typing import NamedTuple


class Doubt(NamedTuple):
    """What a page asks back about an answer; sending the answer again settles it.

    ``kind``: what may not be meant; stored with the answer that is saved then, changed or not.
    """

    kind: str
