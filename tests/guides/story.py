"""Follow a page of the documentation from top to bottom, as a reader would, in a fresh folder."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.guides.in_process import run_survey
from tests.guides.pages import ROOT, Block
from tests.guides.stand_ins import make_stand_ins
from tests.guides.unrun import reason_not_to_run
from tests.serving import free_port

# Folders of a server that pages name; in a story they lie in its own folder.
ELSEWHERE = re.compile(r"(?<![\w.~*-])/(?=(?:srv|backups|etc|opt|tmp|usr/local)\b)")
PORTS = re.compile(r"(?<=--port )\d{4}\b|(?<=127\.0\.0\.1:)\d{4}\b")
DATABASE = re.compile(r"postgresql://survey:PASSWORD@\S+")
# Who may not read a file finds out when the shell is to read it.
GUARDS = {"/etc/survey.env": '[ "$(id -un)" = survey ] || { echo "not for you" >&2; exit 13; }\n'}
FOR_THE_SHELL = re.compile(r"[|;&$*]")


@dataclass
class Story:
    """A folder with what a page has made so far, its environment and its server.

    ``database_uri`` stands in for the one that a page exports, of a server that is not there.
    ``fewer``: what a page says, and what is run in its place to spare time. ``meanwhile``: what
    people do before a command.
    """

    folder: Path
    database_uri: str = ""
    fewer: dict[str, str] = field(default_factory=dict)
    meanwhile: "dict[str, Callable[[Story], None]]" = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    said: dict[str, str] = field(default_factory=dict)
    server: subprocess.Popen[bytes] | None = None

    def tell(self, block: Block) -> None:
        """Write the file that a block is, or run the commands in it."""
        if block.name:
            file = self.folder / block.name.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(GUARDS.get(block.name, "") + self.placed(block.text))
            file.chmod(0o755 if block.text.startswith("#!") else 0o644)
        elif block.language == "sh":
            for command in block.commands:
                self.run(command)

    def run(self, command: str) -> None:
        """Run one command as it stands, but for its folders, its port and what takes long."""
        if reason_not_to_run(command):
            subprocess.run(["bash", "-n", "-c", command], check=True)
            return
        if (act := self.meanwhile.pop(command, None)) is not None:
            act(self)
        meant = self.placed(command.replace(".venv/bin/survey", "survey"))
        for long, short in self.fewer.items():
            meant = meant.replace(long, short)
        if meant.startswith(("export ", "set -a")):
            self.set(meant)
        elif meant.startswith(("survey serve", "make run")):
            self.serve(meant.replace("make run", "survey serve --demo"))
        elif meant.startswith("pip install"):
            self.install(meant.split()[-1])
        elif self.in_this_process(meant):
            self.said[command] = run_survey(meant, self.environment, self.folder)
        else:
            self.said[command] = self.shell(meant)

    def in_this_process(self, command: str) -> bool:
        """Whether it is nothing but this checkout's ``survey``, as it was loaded."""
        plain = re.match(r"(\w+=\S* )*survey ", command) and not FOR_THE_SHELL.search(command)
        return bool(plain) and not self.site.exists() and not self.wrapper.exists()

    def install(self, package: str) -> None:
        """Install a package of the page into a folder that ``survey`` then sees."""
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        where = ["--target", str(self.site), package]
        subprocess.run([*pip, *where], cwd=self.folder, check=True)

    @property
    def site(self) -> Path:
        """Where a page's own packages are installed."""
        return self.folder / "site"

    def placed(self, text: str) -> str:
        """Name the story's folder where a page names a server's, its port and its database."""
        here = PORTS.sub(str(self.port), ELSEWHERE.sub(f"{self.folder}/", text))
        return DATABASE.sub(lambda _: self.database_uri, here)

    def set(self, command: str) -> None:
        """Remember the settings that a command leaves behind."""
        for line in self.shell(f"{command}; env -0").split("\0"):
            name, _, value = line.partition("=")
            if name.startswith("SURVEY_") or name == "PERSON":
                self.environment[name] = value

    def shell(self, command: str) -> str:
        """Run a command in bash, ``survey`` being this checkout's."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            env=self.settings,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    @property
    def settings(self) -> dict[str, str]:
        """The environment of what is started."""
        seen = f"{ROOT}{os.pathsep}{self.site}"
        return {**os.environ, "PYTHONPATH": seen, **self.environment, "PATH": self._path()}

    @property
    def wrapper(self) -> Path:
        """Where a page may put a command ``survey`` of its own."""
        return self.folder / "usr" / "local" / "bin" / "survey"

    def _path(self) -> str:
        """Put commands ``survey``, ``sudo`` and ``id`` first where commands are looked for."""
        installed = self.folder / "opt" / "survey" / "bin"
        make_stand_ins(installed)
        return f"{self.wrapper.parent}:{installed}:{os.environ['PATH']}"

    def serve(self, command: str) -> None:
        """Start the server in place of the one before, and go on once it can serve."""
        self.end()
        command = command.partition("  #")[0]
        if "--port" not in command:
            command += f" --port {self.port}"
        self.server = subprocess.Popen(
            shlex.split(command),
            executable=shutil.which("survey", path=self._path()),
            env=self.settings,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(300):
            assert self.server.poll() is None, f"{command} ended at once"
            try:
                if requests.get(f"http://127.0.0.1:{self.port}/readyz", timeout=2).ok:
                    return
            except (requests.ConnectionError, requests.Timeout):
                time.sleep(0.1)
        raise AssertionError(f"{command} did not become ready")

    def end(self) -> None:
        """Stop the server."""
        if self.server is not None:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
            self.server = None
