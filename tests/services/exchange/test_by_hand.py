"""The few lines of docs/publish-a-study.md read a bundle in pandas and in R."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.guides.pages import block_of, page_named
from tests.services.exchange.changes import rows_of
from tests.services.exchange.test_analysis_in_r import INSTALL, unpacked

pytestmark = pytest.mark.slow
PAGE = page_named("publish-a-study.md")
LINES = 5


def shares(bundle):
    """The share of the votes in which each measure is credited."""
    credited = {}
    for row in rows_of(bundle, "votes.csv"):
        credited.setdefault(row["measure"], []).append(int(row["credited"]))
    return {name: sum(cells) / len(cells) for name, cells in credited.items()}


def printed(command, script, bundle, folder):
    """The numbers by measure that a script of the page prints beside an unpacked bundle."""
    text = block_of(PAGE, script)
    assert len(text.splitlines()) == LINES
    unpacked(bundle, folder / "five-systems")
    (folder / script).write_text(text)
    done = subprocess.run(
        [*command, script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return {name: float(cell) for name, cell in re.findall(r"\b([A-Z]+) +(0\.\d+)", done.stdout)}


def test_pandas_reads_a_bundle(bundle, tmp_path):
    read = printed([sys.executable, "-W", "error"], "read.py", bundle, tmp_path)
    assert read == pytest.approx(shares(bundle), abs=1e-5)
    assert len(read) == 3


def test_r_reads_a_bundle(bundle, tmp_path):
    program = shutil.which("Rscript")
    if program is None and os.environ.get("REQUIRE_R") == "1":
        pytest.fail(f"R is not installed, and REQUIRE_R=1 ({INSTALL})")
    if program is None:
        pytest.skip(f"R is not installed; {INSTALL}")
    read = printed([program], "read.R", bundle, tmp_path)
    assert read == pytest.approx(shares(bundle), abs=1e-5)
    assert len(read) == 3
