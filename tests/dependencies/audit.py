"""Look the pinned packages up in the advisories, strictly, where there is a network.

Run by ``make audit``. pip-audit brings more packages than the survey's own tests do, so it
gets an environment of its own, with its own pins. Without the advisories nothing fails, but
it is said that nothing was audited; with REQUIRE_AUDIT=1 that fails too.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOL = ROOT / "build" / "audit" / "bin" / "pip-audit"
STRICTLY = ("--strict", "--disable-pip", "--no-deps", "--progress-spinner", "off")
# A release with advisories since 2014: who does not know of them knows of none.
KNOWN_TO_BE_BAD = "jinja2==2.4.1"


def audit(tool: Path = TOOL) -> int:
    """Audit with this pip-audit; return 0, or 1 where something is found or cannot be looked up."""
    if not tool.exists() and not _install(tool):
        return _not_audited("pip-audit could not be installed")
    if not _is_answered(tool):
        return _not_audited("no advisories could be reached")
    return subprocess.run([tool, *STRICTLY, "-r", ROOT / "constraints.txt"]).returncode and 1


def _install(tool: Path) -> bool:
    venv.create(tool.parents[1], with_pip=True)
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command = [tool.with_name("python"), *install, "-r", HERE / "audit.txt"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def _is_answered(tool: Path) -> bool:
    """Whether the advisories know what everybody knows: a mirror may answer without them."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "known.txt")
        listed.write_text(f"{KNOWN_TO_BE_BAD}\n")
        asked = [tool, *STRICTLY, "--format", "json", "-r", listed]
        answer = subprocess.run(asked, capture_output=True, text=True)
    try:
        return any(one.get("vulns") for one in json.loads(answer.stdout)["dependencies"])
    except ValueError:
        return False


def _not_audited(why: str) -> int:
    sys.stdout.write(f"NOT AUDITED: no network, it seems ({why}).\n")
    return int(os.environ.get("REQUIRE_AUDIT") == "1")


if __name__ == "__main__":
    sys.exit(audit())
