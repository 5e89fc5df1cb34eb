"""WebKit, the engine of Safari, with a real pointer: WebKitGTK by the protocol of WebDriver.

Playwright's WebKit is a download of its own. This one comes with a system: Debian's
``webkit2gtk-driver`` and, as it draws on a screen, ``xvfb``. Without them its tests are skipped.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from typing import Any

import pytest
import requests

from tests.serving import free_port

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element


@dataclass(frozen=True)
class WebKit:
    """A window of WebKit; ``session``: its address at the driver."""

    session: str

    def send(self, command: str, **values: Any) -> Any:
        """Send a command and return its result."""
        answer = requests.post(f"{self.session}/{command}", json=values, timeout=60)
        answer.raise_for_status()
        return answer.json()["value"]

    def open(self, address: str) -> None:
        """Load a page."""
        self.send("url", url=address)

    def run(self, script: str) -> Any:
        """Return what a function body returns on the page."""
        return self.send("execute/sync", script=script, args=[])

    def find(self, selector: str) -> dict[str, str]:
        """Find an element; fail if there is none."""
        found = self.send("element", using="css selector", value=selector)
        return {ELEMENT: found[ELEMENT]}

    def click(self, selector: str) -> None:
        """Move the pointer onto an element, press and let go: what a person does."""
        element = self.find(selector)
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        actions = [
            {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": element},
            {"type": "pointerDown", "button": 0},
            {"type": "pause", "duration": 50},
            {"type": "pointerUp", "button": 0},
        ]
        self.send("actions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def wait_until(self, condition: str) -> None:
        """Wait until an expression is true on the page, also across a navigation."""
        for _ in range(200):
            if self.run(f"return Boolean({condition})"):
                return
            time.sleep(0.05)
        raise AssertionError(f"not within ten seconds: {condition}")


@contextmanager
def _started(*command: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture
def webkit() -> Iterator[WebKit]:
    """A window of WebKit on a screen that nobody sees."""
    browsers = glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
    if not browsers or not all(map(shutil.which, ("WebKitWebDriver", "Xvfb"))):
        pytest.skip("no WebKit on this machine: webkit2gtk-driver and xvfb")
    port = free_port()
    screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24"]
    with _started(*screen, stdout=subprocess.PIPE) as shown:
        assert shown.stdout
        display = f":{shown.stdout.readline().decode().strip()}"
        with _started("WebKitWebDriver", f"--port={port}", env={**os.environ, "DISPLAY": display}):
            options = {"binary": browsers[0], "args": ["--automation"]}
            window = _open_window(f"http://127.0.0.1:{port}/session", options)
            yield window
            requests.delete(window.session, timeout=60)


def _open_window(address: str, options: dict[str, Any]) -> WebKit:
    wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
    for _ in range(100):
        try:
            answer = requests.post(address, json=wanted, timeout=60)
        except requests.ConnectionError:
            time.sleep(0.1)  # the driver does not listen yet
            continue
        answer.raise_for_status()
        return WebKit(f"{address}/{answer.json()['value']['sessionId']}")
    raise AssertionError("the driver of WebKit did not start")
