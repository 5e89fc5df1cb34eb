"""Cache rendered parts of pages that look the same to many people.

In a template, ``{% call part(NAME, …) %}…{% endcall %}`` lists everything that the part depends
on; the language is always added. A part holds no addresses, since these depend on the prefix of
the request.
"""

from collections.abc import Callable, Hashable
from typing import Any

from flask import Flask

from survey.web.language import page_language

# In characters, most of them in texts of two bytes each. A question's page takes 11,000, and
# its table 7,000 more; all labels and columns of the paper's study take 7 million.
MAX_CHARACTERS = 20_000_000


class PartCache(dict[tuple[Hashable, ...], Any]):
    """Rendered parts by what they depend on; emptied before it exceeds ``MAX_CHARACTERS``."""

    characters = 0

    def store(self, key: tuple[Hashable, ...], rendered: str) -> None:
        """Store a part, unless it alone is larger than the cache may be."""
        if self.characters + len(rendered) > MAX_CHARACTERS:
            self.clear()
            self.characters = 0
        if len(rendered) <= MAX_CHARACTERS:
            self[key] = rendered
            self.characters += len(rendered)


_cache = PartCache()


def init_app(app: Flask) -> None:
    """Let templates call ``part``."""
    app.add_template_global(part)


def part(*depends_on: Hashable, caller: Callable[[], str]) -> str:
    """Return the content of the call block, from the cache if it was rendered before."""
    key = (page_language(), *depends_on)
    rendered = _cache.get(key)
    if rendered is None:
        rendered = caller()
        _cache.store(key, rendered)
    return rendered
