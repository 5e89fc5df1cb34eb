"""Which version of the survey this is, and which commit its code is of."""

import subprocess  # nosec B404 # for git alone
from functools import cache
from pathlib import Path
from typing import Any

from survey import __version__

PACKAGE = Path(__file__).parent
IN_WHEEL = PACKAGE / "COMMIT"  # written when a wheel is built, by hatch_build.py
GIT = ("git", "--no-optional-locks", "describe", "--always", "--exclude=*", "--abbrev=40")
MODIFIED = "-modified"  # behind the commit where files differ from it
UNKNOWN = "unknown"
NO_COMMIT = "the code is neither in a checkout that git can read nor of a wheel built from one"


def commit_of(checkout: Path) -> str | None:
    """Return the commit of a checkout, with MODIFIED behind it; None where git knows none."""
    if not (checkout / ".git").exists():  # a folder around it may be another project's checkout
        return None
    try:
        done = subprocess.run(  # noqa: S603 # nosec B603 # constant words
            [*GIT, f"--dirty={MODIFIED}"],
            cwd=checkout,
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


@cache
def made_by() -> dict[str, Any]:
    """Return version and commit as bundles hold them, the same as long as the process runs."""
    written = IN_WHEEL.read_text().strip() if IN_WHEEL.exists() else commit_of(PACKAGE.parent)
    commit = (written or UNKNOWN).removesuffix(MODIFIED)
    return {"survey": __version__, "commit": commit, "modified": commit != (written or UNKNOWN)}


def described() -> str:
    """Return version and commit as `survey --version` prints them."""
    maker = made_by()
    if maker["commit"] == UNKNOWN:
        return f"{maker['survey']} (commit unknown: {NO_COMMIT})"
    changed = ", with changed files" if maker["modified"] else ""
    return f"{maker['survey']} (commit {maker['commit']}{changed})"
