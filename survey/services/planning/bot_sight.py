"""How bots tell what a page shows: a document by random names, a topic's text by its words."""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from survey.core.collections.items import PictureAndText

PICTURE_NAME = re.compile(r"/([^/]+)\.webp$")


class Sight:
    """Finds documents, or topics, on a page.

    ``shown``: what pages show of each. Of several that are shown alike it finds the last by
    their ids.
    """

    def __init__(self, shown: Mapping[str, PictureAndText]) -> None:
        self._ids = {_tidied(both): each for each, both in sorted(shown.items()) if any(both)}

    def find(self, picture: str, text: str) -> str:
        """Return what is shown so, "" where nothing is."""
        return self._ids.get(_tidied((picture, text)), "")

    def find_in(self, part: LexborNode | None) -> str:
        """Return what a part of a page shows, "" where it shows nothing that is known."""
        if part is None:
            return ""
        image, texts, words = map(part.css_first, ("img", "[data-text]", ".lead, .typed strong"))
        name = PICTURE_NAME.search(str(image.attributes["src"])) if image else None
        text = str(texts.attributes["data-text"]) if texts else words.text() if words else ""
        return self.find(name[1] if name else "", text)


def _tidied(shown: PictureAndText) -> PictureAndText:
    picture, text = shown
    return picture, " ".join(text.split())
