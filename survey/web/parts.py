"""Parts of pages that many people see alike: rendered once, and kept.

A template says what such a part depends on, all of it: ``{% call part(NAME, …) %}…{%
endcall %}``. The language is always part of it, and there are no addresses in it, which
depend on the prefix of the request.
"""

from collections.abc import Callable, Hashable
from typing import Any

from flask import Flask

from survey.web.language import page_language

# Some 600 bytes each; a study of ten questions has a hundred of them.
MOST = 5000

_kept: dict[tuple[Hashable, ...], Any] = {}


def init_app(app: Flask) -> None:
    """Make them available to templates."""
    app.add_template_global(part)


def part(*depends_on: Hashable, caller: Callable[[], str]) -> str:
    """Return what stands in the call block, rendered for the first who sees it."""
    key = (page_language(), *depends_on)
    rendered = _kept.get(key)
    if rendered is None:
        if len(_kept) >= MOST:
            _kept.clear()
        rendered = _kept[key] = caller()
    return rendered
