"""Forms come from our own pages only: what a browser says of where a request began."""

from flask import Flask, abort, request

# "none" is a person's own doing: an address typed, a page reloaded. Browsers from before
# 2023 say nothing; every form carries a token anyway.
OURS = ("same-origin", "none")


def init_app(app: Flask) -> None:
    """Refuse forms that a page of another site sends."""
    app.before_request(_refuse_foreign_forms)


def _refuse_foreign_forms() -> None:
    """Judge by Sec-Fetch-Site, never by Referer or Origin, which proxies and settings drop."""
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    if changes and request.headers.get("Sec-Fetch-Site", "none") not in OURS:
        abort(403)
