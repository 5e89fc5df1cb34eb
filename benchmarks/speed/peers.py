"""The peers' own environment, build/peers: nothing of theirs is ever beside the survey."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "peers"
PINNED = Path(__file__).with_name("peers.txt")


def python() -> Path:
    """Return the Python of the peers' environment, made (or made anew) when needed."""
    interpreter = FOLDER / "bin" / "python"
    stamp = FOLDER / "installed.txt"
    if not stamp.exists() or stamp.read_text() != PINNED.read_text():
        # No shell, and nothing but this repository's own file is installed.
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)  # noqa: S603
        subprocess.run(  # noqa: S603
            [interpreter, "-m", "pip", "install", "--quiet", "--requirement", PINNED], check=True
        )
        stamp.write_text(PINNED.read_text())
    return interpreter
