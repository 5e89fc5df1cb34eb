"""Where a page stands: below the path prefix that a reverse proxy may have taken off."""

from urllib.parse import unquote, urlsplit

from flask import Flask, request, url_for


def init_app(app: Flask) -> None:
    """Make the address of the page available to templates."""
    app.add_template_global(here)


def prefix() -> str:
    """Return the path under which the whole survey is served; empty at the top of its host."""
    return request.script_root


def here() -> str:
    """Return the path of the address that was asked for, as a browser has to ask for it."""
    return f"{prefix()}{request.path}"


def here_in_full() -> str:
    """Return what ``here`` does, with the query."""
    return f"{prefix()}{request.full_path}".rstrip("?")


def own_address(address: str | None) -> str:
    """Return an address within the researcher's pages, whatever was asked for."""
    try:
        parts = urlsplit(address or "")
    except ValueError:  # no address at all, like //[
        return url_for("researcher.home")
    if parts.scheme or parts.netloc or not _is_for_researchers(parts.path):
        return url_for("researcher.home")
    return parts.geturl()


def _is_for_researchers(path: str) -> bool:
    # A browser walks up at "..", out of the prefix to whatever else the host serves.
    walks = ".." in unquote(path) or "\\" in path
    return not walks and f"{path}/".startswith(f"{prefix()}/research/")
