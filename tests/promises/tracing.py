"""strace: to see the system calls of an answer, and to let one of them fail."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.promises.one_answer import FILE


def require_strace() -> None:
    """Skip the test where strace is missing or may not trace."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("processes may not be traced on this machine")


def files_of(folder: Path) -> list[Path]:
    """Return what SQLite writes or syncs in an instance folder, there already or not."""
    return [folder, *(folder / f"{FILE}{end}" for end in ("", "-wal", "-shm", "-journal"))]


@dataclass(frozen=True)
class Told:
    """What became of an answer: what came back each time it was sent; how the process ended."""

    statuses: tuple[int, ...]
    ended: int


class Answerer:
    """The process of one_answer.py, and folders for it to answer in."""

    def __init__(self, process: subprocess.Popen[str], prepared: Path, folders: Path) -> None:
        self.process, self.prepared, self.folders, self.made = process, prepared, folders, 0

    def fresh_folder(self) -> Path:
        """Copy the prepared instance."""
        self.made += 1
        return Path(shutil.copytree(self.prepared, self.folders / f"instance-{self.made}"))

    def answer(self, folder: Path, options: Sequence[str] = (), log: Path | None = None) -> Told:
        """Send the answer there; under strace with these options if there is a log for it."""
        self._say(str(folder))
        pid = self.listen("ready")
        tracer = self._attach(pid, folder, options, log) if log else None
        self._say("go")
        statuses: list[int] = []
        while not (line := self.process.stdout.readline()).startswith("ended"):
            assert line.startswith("status"), f"the answering process said {line!r}"
            statuses.append(int(line.split()[1]))
        if tracer:
            tracer.communicate(timeout=600)
        return Told(tuple(statuses), int(line.split()[1]))

    def _attach(
        self, pid: str, folder: Path, options: Sequence[str], log: Path
    ) -> subprocess.Popen[str]:
        paths = [word for path in files_of(folder) for word in ("-P", str(path))]
        command = ["strace", "-f", "-o", str(log), *paths, *options, "-p", pid]
        tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = tracer.stderr.readline()
        assert "attached" in said, said
        return tracer

    def _say(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def listen(self, word: str) -> str:
        """Wait for a line that begins with this word; return the rest of it."""
        line = self.process.stdout.readline()
        assert line.startswith(word), f"the answering process said {line!r}, not {word}"
        return line.removeprefix(word).strip()


@contextmanager
def answerer(folders: Path, mode: str) -> Iterator[Answerer]:
    """Start the answering process."""
    prepared = folders / "prepared"
    prepared.mkdir()
    command = [sys.executable, "-m", "tests.promises.one_answer", str(prepared), mode]
    with (
        (folders / "faults.log").open("w") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        started = Answerer(process, prepared, folders)
        started.listen("prepared")
        yield started
        process.stdin.close()
