"""A study whose pages are drawn alike each time: fixed chance, fonts and, nearly, time.

Screenshots of it change only when a page does.
"""

import random
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest
from playwright.sync_api import Browser, Page
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.utils import send_file
from werkzeug.wrappers import Response

from survey.db.models import base
from survey.services.planning import simulation
from tests.serving import Server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

BEGINNING = datetime(2026, 3, 2, 10, 0, 30, tzinfo=UTC)
SLOWER = 1000
# Glyphs are placed and filled in alike whatever the machine's settings say. Only the headless shell
# reads the hinting; the whole browser draws as it does with this one.
ARGUMENTS = [
    "--font-render-hinting=slight",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
]
FONTS = Path(mpl.get_data_path(), "fonts", "ttf")
FACES = "".join(
    f"@font-face {{ font-family: 'Still {family}'; font-weight: {weight};"
    f" src: url(/static/fonts/{file}.ttf) }}\n"
    for family, weight, file in [
        ("Sans", 400, "DejaVuSans"),
        ("Sans", 700, "DejaVuSans-Bold"),
        ("Mono", 400, "DejaVuSansMono"),
        ("Mono", 700, "DejaVuSansMono-Bold"),
    ]
)
STYLES = f"""
{FACES}
:root {{ --bs-body-font-family: "Still Sans"; --bs-font-monospace: "Still Mono" }}
.code {{ font-family: "Still Mono" }}
"""


class SlowTime:
    """A clock that starts at the same moment each time, and hardly moves."""

    def __init__(self) -> None:
        self.start = monotonic()

    def now(self, zone: tzinfo) -> datetime:
        """Return a later moment at each call, as what is stored is ordered by it."""
        passed = timedelta(seconds=monotonic() - self.start)
        return (BEGINNING + passed / SLOWER).astimezone(zone)


@contextmanager
def fixed_chance_and_time() -> Iterator[None]:
    """Draw the same labels, columns and codes each time; bots come one after the other."""
    stream = random.Random(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "SystemRandom", lambda: stream)
        patch.setattr(secrets, "choice", stream.choice)
        patch.setattr(secrets, "randbelow", stream.randrange)
        patch.setattr(
            secrets,
            "token_urlsafe",
            lambda size=32: urlsafe_b64encode(stream.randbytes(size)).decode().rstrip("="),
        )
        patch.setattr(base, "datetime", SlowTime())
        patch.setattr(simulation, "BOTS_AT_ONCE", 1)
        yield


class QuietHandler(WSGIRequestHandler):
    """Answer without writing a log."""

    def log_request(self, *_: object) -> None:
        """Write nothing."""


class StillServer(Server):
    """The survey in a thread of this process, where chance and time can be fixed.

    It serves fonts that come with matplotlib, and pages draw all text in them.
    """

    running: BaseWSGIServer

    def start(self) -> None:
        """Serve until it is killed."""
        self.running = make_server(
            "127.0.0.1", self.port, self._with_fonts, threaded=True, request_handler=QuietHandler
        )
        Thread(target=self.running.serve_forever, daemon=True).start()

    def _with_fonts(self, environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        folder, _, name = environ["PATH_INFO"].rpartition("/")
        if folder == "/static/fonts":
            response = send_file(FONTS / name, environ, max_age=3600)
        else:
            response = Response.from_app(self.app, environ)
            if response.mimetype == "text/css":
                response.set_data(response.get_data() + STYLES.encode())
        return response(environ, start)

    def kill(self) -> None:
        """Stop serving."""
        self.running.shutdown()
        self.running.server_close()


def open_window(browser: Browser, size: tuple[int, int], theme: str = "light") -> Page:
    """Open a window of this size and theme."""
    width, height = size
    return browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=theme, bypass_csp=True
    )
