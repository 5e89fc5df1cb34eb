"""The most memory that this process has held."""

import re
import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_mb() -> float:
    """Return it in MB of a million bytes.

    Linux tells it of the program that runs. What getrusage tells counts, on Linux, also what
    the process held before it began this program: all of whoever started it.
    """
    if STATUS.exists():
        [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
        return int(kilobytes) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
