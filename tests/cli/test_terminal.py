"""What commands print in a real terminal, and what into a pipe."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SURVEY = (sys.executable, "-m", "survey")
CODES = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
GREEN = "\x1b[32m"

# Several commands in one process, which is quicker; each with the variables before it.
SEVERAL = """
import os, shlex, sys
from survey.cli import survey

kept = dict(os.environ)
for line in sys.argv[1:]:
    for stream in (sys.stdout, sys.stderr):
        print(f"== {line}", file=stream, flush=True)
    words = shlex.split(line)
    name = words.index("survey")
    os.environ.update(word.split("=") for word in words[:name])
    survey.main(words[name + 1:], prog_name="survey", standalone_mode=False)
    os.environ.clear()
    os.environ.update(kept)
"""


def settings(**others):
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    return known | {"SURVEY_INSTANCE": "instance"} | others


def in_terminal(command, folder, columns=80, **others):
    """Run a command in a terminal; return what appeared there.

    With ``stdout=PIPE`` only what it tells on stderr appears, and both are returned.
    """
    screen, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    stdout = others.pop("stdout", side)
    with subprocess.Popen(
        command, cwd=folder, env=settings(**others), stdin=side, stdout=stdout, stderr=side
    ) as ran:
        os.close(side)
        seen = b"".join(iter(lambda: read(screen), b"")).decode().replace("\r\n", "\n")
        told = ran.stdout.read().decode() if ran.stdout else None
    os.close(screen)
    assert ran.returncode == 0, seen
    return seen if told is None else (seen, told)


def read(screen):
    """Read on; a terminal that nobody writes to any more raises on Linux and ends elsewhere."""
    try:
        return os.read(screen, 65_536)
    except OSError:
        return b""


def in_pipe(command, folder, **others):
    return subprocess.run(
        command, cwd=folder, env=settings(**others), capture_output=True, text=True, check=True
    )


def several(*lines):
    return (sys.executable, "-c", SEVERAL, *lines)


def by_line(text):
    """What each of several commands printed."""
    return dict(part.split("\n", 1) for part in text.split("== ")[1:])


def words_of(text):
    """The words without codes and rules, in their order but for how lines are broken."""
    return CODES.sub("", text).replace("─", "").split()


def test_colours_are_for_terminals_and_repeat_what_words_say(desk):
    asked = "survey paper table1"
    ways = {way: f"{way} {asked}".strip() for way in ("", "NO_COLOR=1", "TERM=dumb")}
    shown = by_line(in_terminal(several(*ways.values()), desk.folder, columns=120))
    lit, plain, dumb = (shown[line] for line in ways.values())
    assert re.search(rf"{re.escape(GREEN)} *yes", lit)
    codes = {code for told, kind in CODES.findall(plain) if kind == "m" for code in told.split(";")}
    assert codes <= {"0", "1"}, "bold is no colour"
    assert "\x1b" not in dumb
    forced = f"FORCE_COLOR=1 {asked}"
    piped = in_pipe(several(asked, forced), desk.folder)
    told = by_line(piped.stdout)
    assert "\x1b" not in told[asked]
    assert piped.stderr == f"== {asked}\n== {forced}\n", "no bar where nobody looks on"
    assert GREEN in told[forced]
    assert words_of(told[forced]) == words_of(told[asked])
    for seen in (lit, plain, dumb):
        assert words_of(told[asked])[-40:] == words_of(seen)[-40:]


def test_a_narrow_terminal_breaks_no_number_and_a_pipe_no_line(desk):
    lines = ("survey paper table5", "survey study show five-systems")
    narrow = CODES.sub("", in_terminal(several(*lines), desk.folder, columns=60))
    table, study = by_line(narrow).values()
    shown = table[table.index("Table 5.") :]
    assert max(map(len, shown.splitlines())) <= 60
    piped = by_line(in_pipe(several(*lines), desk.folder, COLUMNS="60").stdout)[lines[0]]
    numbers = r"(?<![\d.])\d\.\d{4}(?![\d.])"
    assert sorted({*re.findall(numbers, shown)}) == sorted({*re.findall(numbers, piped)})
    assert max(map(len, piped.splitlines())) > 100
    [line] = [line for line in piped.splitlines() if line.startswith("Tamura") and "P(" not in line]
    assert len(line.split()) == 2 + 8
    digest = json.loads(desk.run("survey study show five-systems --json").stdout)["digest"]
    assert digest in "".join(line.split()[-1] for line in study.splitlines() if line)


def test_whatever_takes_long_draws_a_bar_and_leaves_stdout_alone(desk):
    lines = {
        "survey simulate five-systems --participants 1 --json": "Simulating",
        "survey upgrade": "Upgrading",
        "survey doctor": "Checking",
        "survey study new third --questions 2": "Drawing the questions",
        "survey power --participants 20 --questions 4 --pool none --replicates 100": "Simulating",
        "survey analyse five-systems --include-test": "Analysing",
        "survey analyse five-systems --include-test --to paper": "Writing",
        "survey export five-systems --to x.zip --include-test": "Writing",
        "survey replicate x.zip": "Recomputing",
        "survey import x.zip --as again --owner researcher": "Recomputing",
        "survey backup x.sqlite3": "Copying",
        "survey restore x.sqlite3 --replace": "Restoring",
        "survey evaluate --qrels qrels.txt --run base.txt new.txt.gz": "Scoring",
        "survey feedback --qrels qrels.txt --run round0.txt round1.txt": "Scoring",
        "survey collect albums --to albums-again": "Describing",
        "survey assess merge ann.txt bob.txt --to merged": "Merging",
        "survey assess compare one.txt two.txt": "Comparing",
        "survey assess gold one.txt two.txt --to gold.txt": "Joining",
        "survey paper table8 --to paper-again": "Recomputing",
    }
    desk.run("survey researcher add researcher")
    seen, told = in_terminal(several(*lines), desk.folder, stdout=subprocess.PIPE)
    for line, word in lines.items():
        assert word in by_line(seen)[line], line
        assert word not in by_line(told)[line], "stdout is for results"
    assert json.loads(by_line(told)[next(iter(lines))])["participants"] == 1


@pytest.mark.parametrize("columns", [80, 120])
def test_helps_fit_terminals_and_grow_no_wider_than_is_readable(desk, columns):
    seen = in_terminal((*SURVEY, "--help"), desk.folder, columns=columns)
    assert max(map(len, seen.splitlines())) <= 80
