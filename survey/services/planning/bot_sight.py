"""How bots tell what a page shows: a picture by its random name, a text by its words."""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

NAME = re.compile(r"/([^/]+)\.webp$")


class Sight:
    """Finds documents, or topics, on a page.

    ``shown``: for each the random name of its picture, or else its text. Of several that are
    shown alike it finds the last by their ids.
    """

    def __init__(self, shown: Mapping[str, str]) -> None:
        self._ids = {_in_one_line(text): each for each, text in sorted(shown.items()) if text}

    def find(self, shown: str) -> str:
        """Return what is shown so, "" where nothing is."""
        return self._ids.get(_in_one_line(shown), "")

    def find_in(self, part: LexborNode | None) -> str:
        """Return what a part of a page shows, "" where it shows nothing that is known."""
        image = part.css_first("img") if part else None
        if image is not None:
            name = NAME.search(str(image.attributes["src"]))
            return self.find(name[1]) if name else ""
        words = part.css_first(".words, .lead, .text p, p.text") if part else None
        return self.find(words.text()) if words else ""


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
