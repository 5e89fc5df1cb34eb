"""The script with which make installs: it says every few seconds how far it is."""

import subprocess
import sys
from pathlib import Path

import pytest

import install_packages
from install_packages import CompileProgress, PipProgress, pins_in, run

ROOT = Path(__file__).parents[1]
# As pip 23 and 26 print them.
LINES = """\
Obtaining file:///home/ada/survey
  Installing build dependencies: started
Collecting numpy>=2.0 (from ranking-survey==0.2.0)
  Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl.metadata (6.6 kB)
Collecting argon2-cffi>=25.1
  Using cached argon2_cffi-25.1.0-py3-none-any.whl (14 kB)
Requirement already satisfied: click>=8.5 in ./lib
Downloading numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl (16.9 MB)
"""


def progress_of(text, progress):
    for line in text.splitlines(keepends=True):
        progress.read(line)
    return str(progress)


def test_packages_are_counted_as_pip_finds_downloads_and_installs_them(tmp_path):
    progress = PipProgress(tmp_path)
    assert str(progress) == "looking for packages"
    assert progress_of("Collecting numpy>=2.0\n", progress) == "1 packages found, now numpy"
    told = progress_of(LINES, progress)
    assert told == "3 packages found, 1 downloaded, now numpy (16.9 MB)"
    chosen = "Installing collected packages: pytz, numpy, scipy\n"
    assert progress_of(chosen, progress) == "0 of 3 packages installed, now pytz"
    for name in ("pytz-2026.6", "numpy-2.4.6"):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / "INSTALLER").write_text("pip\n")
    assert str(progress) == "2 of 3 packages installed, now scipy"


def test_packages_that_were_there_before_do_not_count_as_installed(tmp_path):
    (tmp_path / "pip-23.dist-info").mkdir()
    (tmp_path / "pip-23.dist-info" / "INSTALLER").write_text("pip\n")
    progress = PipProgress(tmp_path)
    progress.started += 10
    assert progress_of("Installing collected packages: pytz\n", progress) == (
        "0 of 1 packages installed, now pytz"
    )


def test_a_silent_command_is_spoken_of_while_it_works(tmp_path, capsys):
    (tmp_path / "a.py").touch()
    silent = "import time; print(\"Compiling 'a.py'...\"); time.sleep(1)"
    status, lines = run([sys.executable, "-c", silent], CompileProgress(tmp_path), 0.2)
    said = capsys.readouterr().out.splitlines()
    assert (status, lines) == (0, ["Compiling 'a.py'...\n"])
    assert len(said) >= 3
    assert said[-1] == "  1 s: 1 of 1 modules compiled"


def test_a_quick_command_is_not_spoken_of(tmp_path, capsys):
    assert run([sys.executable, "-c", "print(1)"], CompileProgress(tmp_path)) == (0, ["1\n"])
    assert capsys.readouterr().out == ""


def test_why_pip_fails_is_printed_and_its_status_returned(tmp_path):
    pip_fails = [sys.executable, "install_packages.py", "requirements.lock", "--no-index"]
    failed = subprocess.run(
        [*pip_fails, "--target", str(tmp_path), f"{tmp_path}/absent-1.0-py3-none-any.whl"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1
    assert failed.stderr == ""
    said = failed.stdout.splitlines()
    assert said[0].startswith(f"Installing about {pins_in(ROOT / 'requirements.lock')} packages")
    assert any(line.startswith("ERROR") and "absent-1.0" in line for line in said)
    assert said[-1] == "The packages could not be installed; pip says why above."


def test_the_pins_of_a_file_are_counted(tmp_path):
    (tmp_path / "pins").write_text("a==1 \\\n    --hash=sha256:00\nb==2\n# c\n")
    assert pins_in(tmp_path / "pins") == 2


def test_lines_come_more_often_than_every_five_seconds():
    assert install_packages.SECONDS_BETWEEN < 5


@pytest.mark.parametrize("file", ["Makefile", "install_packages.py"])
def test_no_file_that_installs_names_an_index(file):
    text = (ROOT / file).read_text()
    assert "index-url" not in text.replace("--no-emit-index-url", "")
    assert "find-links" not in text.replace("--no-emit-find-links", "")
