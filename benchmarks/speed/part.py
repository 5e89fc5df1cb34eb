"""What one part of the speed runs found, as it is kept in a file and shown on a page."""

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path(__file__).parent / "results"
OURS = ("numpy", "scipy", "sqlalchemy", "flask", "waitress")


@dataclass(frozen=True)
class Finding:
    """One thing that was measured, in every round.

    ``what``: in words, with its size; ``rounds``: its value in each round, all the same run;
    ``unit``: "s", "MB", "× the time of copying the input"; ``target``: what was to be
    reached, "≤ 5" or "≥ 12", empty where nothing was; ``note``: what a reader must know;
    ``headline``: whether it is among the figures that matter most.
    """

    what: str
    rounds: Sequence[float]
    unit: str
    target: str = ""
    note: str = ""
    headline: bool = False

    @property
    def value(self) -> float:
        """The median of the rounds."""
        return median(self.rounds)

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        if not self.target:
            return None
        found = re.fullmatch(r"([≤≥]) ([\d.,]+)", self.target)
        if found is None:
            raise ValueError(f"the target is {self.target!r}; something like ≤ 5 is needed")
        limit = float(found[2].replace(",", ""))
        return self.value <= limit if found[1] == "≤" else self.value >= limit


@dataclass(frozen=True)
class Growth:
    """How a cost grows: ``values`` of ``unit`` at each of the ``sizes`` of ``grows``."""

    what: str
    grows: str
    sizes: Sequence[int]
    values: Sequence[float]
    unit: str


@dataclass(frozen=True)
class Part:
    """One part's findings. ``said``: sentences on how it was measured, and what a profile shows.

    ``versions``: of the peers and servers, beside those of our own packages.
    """

    name: str
    title: str
    findings: Sequence[Finding]
    growth: Sequence[Growth] = ()
    said: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


def keep(part: Part, *, on: str, folder: Path = RESULTS) -> Path:
    """Write a part's figures to its file; ``on``: the day of the run."""
    path = folder / f"{part.name}.json"
    content = {"on": on, "machine": machine(), **asdict(part)}
    content["versions"] = {name: version(name) for name in OURS} | dict(part.versions)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def kept(name: str, folder: Path = RESULTS) -> tuple[Part, dict[str, Any]]:
    """Read a part's file: the part, and when and on what machine it ran."""
    content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    run = {key: content.pop(key) for key in ("on", "machine")}
    content["findings"] = [Finding(**one) for one in content["findings"]]
    content["growth"] = [Growth(**one) for one in content["growth"]]
    return Part(**content), run


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processors, memory, system, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processors": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_gb": round(memory / 1e9),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return named[1] if named else platform.machine()
