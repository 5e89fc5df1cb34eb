"""The files with which the survey is deployed have no fault that their linters know."""

import os
import re
import socket
import subprocess
import sys
from contextlib import closing

import pytest
import yaml

from survey.request_limits import IDLE_SECONDS
from tests.builders import SLUG, Visitor
from tests.guides.pages import ROOT, blocks_of, page_named
from tests.guides.proxies import require
from tests.promises.tracing import require_strace
from tests.serving import OverHttp, Server, free_port

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())


def checked(name, *arguments):
    """Run a linter; one that is not installed is told of, and in CI it is a fault."""
    done = subprocess.run([require(name), *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_container_file_passes_hadolint():
    checked("hadolint", "--failure-threshold", "info", "Containerfile")


@pytest.mark.slow
def test_the_compose_file_fits_the_specification():
    checked("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")


SERVICE, HTTPS = ROOT / "deploy/survey.service", ROOT / "deploy/survey-https.conf"
INSTALLED = {
    SERVICE: "/etc/systemd/system/survey.service",
    HTTPS: "/etc/systemd/system/survey.service.d/https.conf",
    **{path: f"/etc/nginx/{path.name}" for path in sorted((ROOT / "deploy/nginx").iterdir())},
}


@pytest.fixture(params=[False, True], ids=["nginx", "https"])
def unit(request, tmp_path):
    """The service as it is installed, without or with the file for HTTPS."""
    require("systemd-analyze")
    installed = tmp_path / "survey.service"
    for file in (SERVICE, HTTPS)[: 1 + request.param]:
        path = installed if file == SERVICE else tmp_path / "survey.service.d" / "https.conf"
        path.parent.mkdir(exist_ok=True)
        path.write_text(file.read_text().replace("/opt/survey/bin/survey", "/bin/true"))
    return installed


def test_the_service_passes_systemds_own_check(unit):
    assert "/opt/survey/bin/survey serve" in SERVICE.read_text()
    checked("systemd-analyze", "verify", "--man=no", str(unit))


def test_the_service_is_exposed_below_4_by_systemds_own_count(unit):
    checked("systemd-analyze", "security", "--offline=true", "--threshold=39", str(unit))


def allowed_calls():
    """Return the system calls that the service's filter lets through."""
    listed = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True)
    groups = {}
    for line in listed.stdout.splitlines():
        if line.startswith("@"):
            members = groups.setdefault(line.strip(), [])
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())

    def calls(name):
        return set().union(*map(calls, groups[name])) if name.startswith("@") else {name}

    allowed = set()
    for names in re.findall("^SystemCallFilter=(.*)$", SERVICE.read_text(), re.MULTILINE):
        named = set().union(*map(calls, names.removeprefix("~").split()))
        allowed = allowed - named if names.startswith("~") else allowed | named
    return allowed


@pytest.mark.slow
def test_the_survey_does_its_work_within_the_limits_of_the_service(tmp_path):
    """With the system calls that it may use, and without memory to write and to execute."""
    require("systemd-analyze")
    require_strace()
    trace = tmp_path / "trace"
    start = "import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) and sys.exit(1); "
    start += "os.execv(sys.executable, [sys.executable, '-m', 'survey', *sys.argv[1:]])"
    traced = ("strace", "-f", "-qq", "-o", str(trace), sys.executable, "-c", start)
    server = Server(tmp_path, free_port(), command=traced, workers=1)
    server.open_study(SLUG)
    server.start()
    try:
        Visitor(OverHttp(server.address), SLUG).take_part()
    finally:
        server.kill()
    used = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.MULTILINE))
    assert "execve" in used
    # SQLite gives its files to the folder's owner where root runs it.
    assert used - allowed_calls() <= ({"fchown"} if os.geteuid() == 0 else set())


@pytest.mark.parametrize("file", INSTALLED, ids=lambda file: file.name)
def test_the_guide_links_each_file_and_installs_it(file):
    page = page_named("thousand-participants.md")
    name = str(file.relative_to(ROOT))
    assert f"](../{name})" in page.read_text()
    copies = [
        command.split()
        for block in blocks_of(page)
        for command in block.commands
        if command.startswith(("sudo cp ", "sudo install "))
    ]
    [target] = [words[-1] for words in copies if name in words]
    assert INSTALLED[file] == target + (file.name if target.endswith("/") else "")


def test_nginx_closes_a_connection_to_the_survey_before_the_survey_does():
    text = (ROOT / "deploy/nginx/nginx.conf").read_text()
    [seconds] = re.findall(r"keepalive_timeout (\d+)s;", text)
    assert int(seconds) < IDLE_SECONDS


def test_the_compose_file_asks_the_survey_itself_whether_it_is_ready():
    """Where the service runs: with the words of the compose file, and the survey's port."""
    [_, *command] = COMPOSE["services"]["survey"]["healthcheck"]["test"]
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        command[-1] = command[-1].replace(":8000", f":{listener.getsockname()[1]}")
        asking = subprocess.Popen([sys.executable, *command[1:]])
        with closing(listener.accept()[0]) as line:
            assert line.recv(100).startswith(b"GET /readyz ")
            line.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
        assert asking.wait(30) != 0


def test_images_name_their_major_version():
    base = (ROOT / "Containerfile").read_text().partition("\nFROM ")[2].split()[0]
    for image in (base, *(one["image"] for one in COMPOSE["services"].values() if "image" in one)):
        name, _, version = image.partition(":")
        assert version[:1].isdigit(), image
        assert name.startswith("docker.io/library/"), image


def test_the_compose_file_holds_no_secret_and_the_example_names_each():
    asked = {
        word.partition("}")[0].partition(":")[0]
        for word in (ROOT / "compose.yaml").read_text().split("${")[1:]
    }
    example = (ROOT / "deploy" / "env.example").read_text()
    named = {line.partition("=")[0] for line in example.splitlines() if "=" in line[:30]}
    assert asked == named
    assert "\nPOSTGRES_PASSWORD=\n" in example


def test_only_the_proxy_is_reached_from_outside():
    assert [name for name, one in COMPOSE["services"].items() if "ports" in one] == ["proxy"]


def test_no_container_can_gain_rights_and_the_surveys_has_none():
    for one in COMPOSE["services"].values():
        assert one["security_opt"] == ["no-new-privileges:true"]
        assert one["cap_drop"] == ["ALL"]
    assert "cap_add" not in COMPOSE["services"]["survey"]
    assert "\nUSER 10001\n" in (ROOT / "Containerfile").read_text()


def test_the_container_makes_or_upgrades_the_database_and_serves():
    last = (ROOT / "Containerfile").read_text().strip().splitlines()[-1]
    assert "survey init && exec survey serve --host 0.0.0.0 --port 8000" in last
