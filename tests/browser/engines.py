"""Chromium, Firefox and WebKit as people have them, with a real pointer and real keys.

All three speak the commands of WebDriver: Chromium and WebKit by the driver that comes with them
(Debian's ``chromium-driver`` and ``webkit2gtk-driver``), Firefox by itself, through Marionette. So
none needs a download of its own. WebKit draws on a screen, which ``xvfb`` is. Without a browser its
tests are skipped, unless REQUIRE_BROWSER=1.
"""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import IO, Any, Protocol

import pytest
import requests

from tests.serving import free_port

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element
KEYS = {
    "Tab": "\ue004",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Backspace": "\ue003",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
# The buttons of WebKit's little browser are wider than a phone unless their letters are small.
SMALL_BUTTONS = "headerbar *, toolbar *, button, entry { min-width: 0; padding: 0; font-size: 1px }"


class LeftError(Exception):
    """The page that a command was sent to was left before it answered."""


class Wire(Protocol):
    """How the commands of WebDriver get to a browser, and its results back."""

    def send(self, command: str, values: Mapping[str, Any]) -> Any:
        """Send a command and return its result."""


class OverHttp:
    """A driver's session, by its address."""

    def __init__(self, session: str) -> None:
        self.session, self.client = session, requests.Session()

    def send(self, command: str, values: Mapping[str, Any]) -> Any:
        """Post a command, or delete what it names; return its result."""
        method = "DELETE" if not values and command == "cookie" else "POST"
        path = command.replace("element/", f"element/{values.get('id')}/")
        address = f"{self.session}/{path}"
        answer = self.client.request(method, address, json=dict(values), timeout=60)
        if "unload event" in answer.text:
            raise LeftError(command)
        assert answer.ok, answer.text[:500]
        return answer.json()["value"]


NAMES = {  # of WebDriver's commands, in Marionette
    "url": "Navigate",
    "execute/sync": "ExecuteScript",
    "actions": "PerformActions",
    "cookie": "AddCookie",
    "window/rect": "SetWindowRect",
    "element/value": "ElementSendKeys",
}


class Marionette:
    """Firefox's own protocol: WebDriver's commands, each as JSON after its length."""

    def __init__(self, port: int) -> None:
        for _ in range(300):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
                break
            except ConnectionRefusedError:
                time.sleep(0.1)  # Firefox does not listen yet
        self.stream: IO[bytes] = self.socket.makefile("rwb")
        self._read()  # who it is
        self.number = 0

    def send(self, command: str, values: Mapping[str, Any]) -> Any:
        """Send a command and return its result."""
        name = NAMES.get(command, command)
        if command == "cookie" and not values:
            name = "DeleteAllCookies"
        self.number += 1
        full = name if ":" in name else f"WebDriver:{name}"
        sent = json.dumps([0, self.number, full, dict(values)]).encode()
        self.stream.write(b"%d:%b" % (len(sent), sent))
        self.stream.flush()
        _, _, error, result = self._read()
        assert not error, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def _read(self) -> Any:
        length = b""
        while (digit := self.stream.read(1)) != b":":
            assert digit, "Firefox has ended"
            length += digit
        return json.loads(self.stream.read(int(length)))


class Window:
    """A browser's window, and the person before it: who opens pages, points, and presses keys."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def send(self, command: str, **values: Any) -> Any:
        """Send a command of WebDriver and return its result."""
        return self.wire.send(command, values)

    def open(self, address: str) -> None:
        """Load a page."""
        self.send("url", url=address)

    def resize(self, width: int, height: int = 800) -> None:
        """Make the page's area as wide as this, in pixels of CSS."""
        self.send("window/rect", x=0, y=0, width=width, height=height)
        self.wait_until(f"innerWidth === {width}")

    def run(self, script: str, *values: Any) -> Any:
        """Return what a function body returns on the page, for these ``arguments``."""
        return self.send("execute/sync", script=script, args=[*values])

    def click(self, selector: str) -> None:
        """Move the pointer onto what is seen of a control, press and let go."""
        press = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        self._point(selector, press[0], {"type": "pause", "duration": 30}, press[1])

    def hover(self, selector: str) -> None:
        """Move the pointer onto what is seen of an element."""
        self._point(selector)

    def tap(self, selector: str) -> None:
        """Touch what is seen of an element with a finger."""
        touch = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        self._point(selector, *touch, pointer="touch")

    def choose(self, selector: str, *files: Path) -> None:
        """Choose files in a field, as in the window that the browser opens for it."""
        element = self.run("return document.querySelector(arguments[0])", selector)
        self.send("element/value", id=element[ELEMENT], text="\n".join(map(str, files)))

    def _point(self, selector: str, *then: Mapping[str, Any], pointer: str = "mouse") -> None:
        move = {
            "type": "pointerMove",
            "duration": 0,
            "x": 0,
            "y": 0,
            "origin": self._seen(selector),
        }
        kind = {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}}
        self.send("actions", actions=[{**kind, "actions": [move, *then]}])

    def _seen(self, selector: str) -> Any:
        """Return what is seen of a control, scrolled into view.

        One that is hidden below its label is pressed by the label, as a person does. One that the
        page's script has not shown yet is waited for; so is a scroll, as Firefox would still press
        what was in that place before.
        """
        for _ in range(100):
            element, has_moved = self.run(
                """const found = document.querySelector(arguments[0]);
                if (!found) return [null, false];
                const isSeen = (one) => one.checkVisibility?.() !== false
                    && one.offsetWidth > 8 && getComputedStyle(one).opacity !== "0";
                const seen = [found, ...(found.labels ?? [])].find(isSeen);
                if (!seen) return [null, false];
                const before = seen.getBoundingClientRect().top;
                seen.scrollIntoView({block: "center"});
                return [seen, Math.abs(seen.getBoundingClientRect().top - before) > 1];""",
                selector,
            )
            if element is not None and not has_moved:
                return element
            time.sleep(0.05)
        raise AssertionError(f"nothing to press: {selector}")

    def press(self, *keys: str) -> None:
        """Press keys one after the other: letters, or names as in KEYS."""
        self._press((way, key) for key in keys for way in ("keyDown", "keyUp"))

    def press_together(self, *keys: str) -> None:
        """Press keys in this order, the last of them while the others are held."""
        downs = [("keyDown", key) for key in keys]
        self._press([*downs, *(("keyUp", key) for key in reversed(keys))])

    def _press(self, moves: Iterable[tuple[str, str]]) -> None:
        actions = [{"type": way, "value": KEYS.get(key, key)} for way, key in moves]
        self.send("actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def wait_until(self, condition: str, seconds: int = 10) -> None:
        """Wait until an expression is true on the page, also across a navigation."""
        for _ in range(20 * seconds):
            with suppress(LeftError):
                if self.run(f"return Boolean({condition})"):
                    return
            time.sleep(0.05)
        where = self.run("return location.pathname + ': ' + document.body.innerText.slice(0, 300)")
        raise AssertionError(f"not within {seconds} seconds at {where}: {condition}")


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


@contextmanager
def _driven(driver: str, wanted: Mapping[str, Any], **environment: str) -> Iterator[Window]:
    """A window of the browser that a driver starts with these capabilities."""
    port = free_port()
    with _started(driver, f"--port={port}", env={**os.environ, **environment}):
        address = f"http://127.0.0.1:{port}/session"
        for _ in range(100):
            try:
                sent = {"capabilities": {"alwaysMatch": wanted}}
                answer = requests.post(address, json=sent, timeout=60)
                break
            except requests.ConnectionError:
                time.sleep(0.1)  # the driver does not listen yet
        else:
            raise AssertionError(f"{driver} did not start")
        assert answer.ok, answer.text[:500]
        session = f"{address}/{answer.json()['value']['sessionId']}"
        wire = OverHttp(session)
        with wire.client:
            yield Window(wire)
            wire.client.delete(session, timeout=60)


@contextmanager
def webkit(folder: Path) -> Iterator[Window]:
    """A window of WebKit, the engine of Safari."""
    browser = next(iter(glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")), "")
    _require("WebKitWebDriver", "Xvfb", browser)
    for version in ("gtk-3.0", "gtk-4.0"):
        (folder / version).mkdir()
        (folder / version / "gtk.css").write_text(SMALL_BUTTONS)
        (folder / version / "settings.ini").write_text("[Settings]\ngtk-font-name=Sans 1\n")
    (folder / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{folder}"\n')
    screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24"]
    with _started(*screen, stdout=subprocess.PIPE) as shown:
        assert shown.stdout
        display = f":{shown.stdout.readline().decode().strip()}"
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options}
        surroundings = {"DISPLAY": display, "XDG_CONFIG_HOME": str(folder)}
        with _driven("WebKitWebDriver", wanted, **surroundings) as window:
            yield window


@contextmanager
def chromium(folder: Path) -> Iterator[Window]:
    """A window of Chromium that is drawn on no screen."""
    _require("chromedriver", "chromium")
    arguments = ["--headless=new", "--disable-gpu", "--disable-background-networking"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    binary = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    options = {"binary": binary, "args": arguments}
    with _driven("chromedriver", {"goog:chromeOptions": options}) as window:
        allowed = {"behavior": "allow", "downloadPath": str(folder)}
        window.send("goog/cdp/execute", cmd="Browser.setDownloadBehavior", params=allowed)
        yield window


@contextmanager
def firefox(folder: Path) -> Iterator[Window]:
    """A window of Firefox that is drawn on no screen."""
    binary = "firefox-esr" if shutil.which("firefox-esr") else "firefox"
    _require(binary)
    port = free_port()
    preferences = {
        "marionette.port": port,
        "browser.download.folderList": 2,  # the folder that is named
        "browser.download.dir": str(folder),
    }
    lines = [
        f"user_pref({json.dumps(each)}, {json.dumps(preferences[each])});" for each in preferences
    ]
    (folder / "user.js").write_text("\n".join(lines))
    # With access to its own window, which is else wider than a phone.
    how = ["--marionette", "--headless", "-remote-allow-system-access", "--no-remote"]
    with _started(binary, *how, "--profile", str(folder), stdout=subprocess.DEVNULL):
        wire = Marionette(port)
        with wire.socket, wire.stream:
            wire.send("NewSession", {"capabilities": {"alwaysMatch": {}}})
            window = Window(wire)
            wire.send("Marionette:SetContext", {"value": "chrome"})
            window.run("document.documentElement.style.setProperty('min-width', '0', 'important')")
            wire.send("Marionette:SetContext", {"value": "content"})
            yield window


ENGINES = {"chromium": chromium, "firefox": firefox, "webkit": webkit}


def _require(*programs: str) -> None:
    missing = [program or "MiniBrowser" for program in programs if not shutil.which(program)]
    if missing and os.environ.get("REQUIRE_BROWSER") == "1":
        raise AssertionError(f"missing on this machine: {', '.join(missing)}")
    if missing:
        pytest.skip(f"missing on this machine: {', '.join(missing)}")
