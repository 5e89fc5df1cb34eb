"""What ``survey serve --demo`` prints, and the page that it leads to."""

import os
import signal
import subprocess
import sys

import pytest
import requests

from survey.services.operations.demo import DEMO_STUDIES
from tests.serving import free_port

pytestmark = pytest.mark.slow

TO_TRY = "Studies to try, and what to do in each:"


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "SURVEY_INSTANCE": str(tmp_path / "instance"), "NO_PROXY": "*"}


def started(environment, port):
    """What a start prints to a pipe, and its first page."""
    process = subprocess.Popen(
        [sys.executable, "-m", "survey", "serve", "--demo", "--port", str(port)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if "Stop with Ctrl-C." in line:
                break
        return lines, requests.get(f"http://127.0.0.1:{port}/", timeout=60).text
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        process.stdout.close()


def test_the_first_start_says_what_it_makes_and_the_next_ones_little(environment):
    port = free_port()
    lines, page = started(environment, port)
    assert lines[0] == "Starting the survey ..."
    assert lines[1].startswith("Database: sqlite:///")
    making = lines.index("Making 6 studies to try (a few seconds, once):")
    assert lines[making + 1 : making + 7] == [f"  {each.kind}" for each in DEMO_STUDIES]
    assert lines[lines.index(TO_TRY) + 1] == f"  http://127.0.0.1:{port}/"
    assert "/research/welcome/" in lines[-2]
    assert lines[-1].startswith("Ready after ")
    for each in DEMO_STUDIES:
        assert f'href="/s/{each.slug}"' in page

    subprocess.run(
        [sys.executable, "-m", "survey", "study", "close", "five-systems"],
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    lines, page = started(environment, port)
    assert len(lines) == 8
    assert lines[4] == "Closed: five-systems. “Open again” on a study's page opens it."
    assert 'href="/s/five-systems"' not in page
    assert 'href="/s/five-systems-in-pictures"' in page


def test_a_real_survey_is_served_with_its_own_links_alone(environment):
    """Also where --demo is given to it by mistake."""
    for words in (
        ("init",),
        ("study", "new", "ours", "--asked-by", "the group of X", "--contact", "ada@x.org"),
        ("study", "open", "ours"),
    ):
        command = [sys.executable, "-m", "survey", *words]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    port = free_port()
    lines, page = started(environment, port)
    assert f"  http://127.0.0.1:{port}/s/ours" in lines
    assert TO_TRY not in lines
    assert "ours" not in page
