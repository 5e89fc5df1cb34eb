"""Parts of pages that many people see alike: rendered once, and kept.

A template says what such a part depends on, all of it: ``{% call part(NAME, …) %}…{%
endcall %}``. The language is always part of it, and there are no addresses in it, which
depend on the prefix of the request.
"""

from collections.abc import Callable, Hashable
from typing import Any

from flask import Flask

from survey.web.language import page_language

# In characters, most of them in texts of two bytes each. A question's page takes 11,000, and
# its table 7,000 more: the paper's study, in all its labellings and columns, 7 million.
MOST = 20_000_000


class Kept(dict[tuple[Hashable, ...], Any]):
    """What was rendered, by all it depends on; emptied before it takes more than MOST."""

    size = 0

    def keep(self, key: tuple[Hashable, ...], rendered: str) -> None:
        """Keep a part for whoever sees it next."""
        if self.size + len(rendered) > MOST:
            self.clear()
            self.size = 0
        if len(rendered) <= MOST:
            self[key] = rendered
            self.size += len(rendered)


_kept = Kept()


def init_app(app: Flask) -> None:
    """Make them available to templates."""
    app.add_template_global(part)


def part(*depends_on: Hashable, caller: Callable[[], str]) -> str:
    """Return what stands in the call block, rendered for the first who sees it."""
    key = (page_language(), *depends_on)
    rendered = _kept.get(key)
    if rendered is None:
        rendered = caller()
        _kept.keep(key, rendered)
    return rendered
