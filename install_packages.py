"""Install packages into the environment that runs this, and say every few seconds how far it is.

    .venv/bin/python install_packages.py requirements.lock --editable .

The first argument is a file of pins, which tells about how many packages there will be; the others
are pip's. Its modules are compiled afterwards, on all processors. The Makefile runs this, before
any package is there.
"""

import os
import re
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from time import monotonic, time

SECONDS_BETWEEN = 3.0  # lines, where they cannot be replaced
SECONDS_BETWEEN_ON_TERMINAL = 0.5
LINES_OF_FAILURE = 40
PIP = (
    *("-m", "pip", "install", "--no-compile", "--disable-pip-version-check"),
    *("--progress-bar", "off", "--constraint", "constraints.txt"),
)
# What cannot be compiled is reported when it is imported.
COMPILE = ("-W", "ignore", "-m", "compileall", "-j", "0")
COLLECTED = re.compile(r" *(?:Collecting|Requirement already satisfied:) ([\w.-]+)")
DOWNLOADED = re.compile(r" *Downloading (?:\S*/)?([A-Za-z0-9_.]+)-[0-9]\S*(?<!\.metadata) \((.+)\)")
CHOSEN = re.compile(r"Installing collected packages: (.+)")
AT_ONCE = re.compile(r"WARNING: Retrying|ERROR")  # lines of pip that are shown as they come


class PipProgress:
    """How far pip is, by its lines and by what it has written."""

    def __init__(self, packages: Path) -> None:
        self.packages = packages
        self.collected: set[str] = set()
        self.downloaded: set[str] = set()
        self.latest = ""
        self.chosen: list[str] = []
        self.started = time()

    def read(self, line: str) -> None:
        """Take in a line of pip."""
        if match := COLLECTED.match(line):
            self.latest = match[1]
            self.collected.add(match[1])
        elif match := DOWNLOADED.match(line):
            self.latest = f"{match[1]} ({match[2]})"
            self.downloaded.add(match[1])
        elif match := CHOSEN.match(line):
            self.chosen = match[1].split(", ")

    @property
    def installed(self) -> int:
        """How many packages are installed now; pip writes INSTALLER last but one."""
        written = (path.stat().st_mtime for path in self.packages.glob("*.dist-info/INSTALLER"))
        return sum(moment >= self.started for moment in written)

    def __str__(self) -> str:
        if self.chosen:
            done = min(self.installed, len(self.chosen))
            now = f", now {self.chosen[done]}" if done < len(self.chosen) else ""
            return f"{done} of {len(self.chosen)} packages installed{now}"
        if not self.collected:
            return "looking for packages"
        downloaded = f", {len(self.downloaded)} downloaded" if self.downloaded else ""
        return f"{len(self.collected)} packages found{downloaded}, now {self.latest}"


class CompileProgress:
    """How many of the modules in a folder are compiled."""

    def __init__(self, packages: Path) -> None:
        self.total = sum(1 for _ in packages.rglob("*.py"))
        self.compiled = 0

    def read(self, line: str) -> None:
        """Take in a line of compileall."""
        self.compiled += line.startswith("Compiling")

    def __str__(self) -> str:
        return f"{self.compiled:,} of {self.total:,} modules compiled"


def run(
    command: Sequence[str],
    progress: PipProgress | CompileProgress,
    seconds_between: float | None = None,
) -> tuple[int, list[str]]:
    """Run a command, and print its progress now and then; return its exit status and its lines.

    On a terminal, a line of progress replaces the one before.
    """
    replaces = sys.stdout.isatty()
    if seconds_between is None:
        seconds_between = SECONDS_BETWEEN_ON_TERMINAL if replaces else SECONDS_BETWEEN
    begin, end = ("\r\x1b[K", "") if replaces else ("", "\n")
    queue: Queue[str | None] = Queue()
    started = printed = monotonic()
    lines: list[str] = []
    with subprocess.Popen(  # noqa: S603 - the Makefile's own arguments
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},  # else lines come hundreds at a time
        text=True,
        errors="replace",
    ) as process:
        threading.Thread(target=_queue_lines, args=(process, queue), daemon=True).start()
        while (line := _next(queue, printed + seconds_between - monotonic())) is not None:
            if line:
                lines.append(line)
                progress.read(line)
            if AT_ONCE.match(line):
                say(f"{begin}{line.rstrip()}")
            if monotonic() - printed >= seconds_between:
                say(f"{begin}  {monotonic() - started:.0f} s: {progress}", end)
                printed = monotonic()
    if replaces:
        say(begin, "")
    return process.returncode, lines


def _queue_lines(process: "subprocess.Popen[str]", queue: "Queue[str | None]") -> None:
    """Put the lines of a process into a queue, and None at their end."""
    for line in process.stdout or ():
        queue.put(line)
    queue.put(None)


def _next(queue: "Queue[str | None]", seconds: float) -> str | None:
    """Return the next line, "" if none comes in these seconds, and None at the end."""
    try:
        return queue.get(timeout=max(seconds, 0.01))
    except Empty:
        return ""


def say(text: str, end: str = "\n") -> None:
    """Print a text at once, also where stdout is a pipe."""
    sys.stdout.write(f"{text}{end}")
    sys.stdout.flush()


def pins_in(file: Path) -> int:
    """Count the packages that a file of requirements pins."""
    return sum(1 for line in file.read_text(encoding="utf-8").splitlines() if "==" in line)


def main(pins: str, *arguments: str) -> int:
    """Install and compile; return pip's exit status."""
    started = monotonic()
    packages = Path(sysconfig.get_path("purelib"))
    environment = os.path.relpath(sys.prefix)
    count = pins_in(Path(pins))
    say(f"Installing about {count} packages into {environment} (about a minute, once) ...")
    pip = PipProgress(packages)
    status, lines = run([sys.executable, *PIP, *arguments], pip)
    if status:
        say("".join(lines[-LINES_OF_FAILURE:]), "")
        say("The packages could not be installed; pip says why above.")
        return status
    say("Compiling their modules (a few seconds, once) ...")
    run([sys.executable, *COMPILE, str(packages)], CompileProgress(packages))
    say(f"Installed {len(pip.chosen)} packages in {monotonic() - started:.0f} seconds.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        say("\nStopped. `make` goes on from here.")
        sys.exit(130)
