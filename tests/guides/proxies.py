"""The proxies of the guides as processes before a server: nginx as Debian has it, and Caddy."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.speed.rush.servers import install_nginx
from tests.guides.pages import ROOT
from tests.serving import free_port

AUTHORITY = Path("caddy/pki/authorities/local/root.crt")  # of Caddy, in its folder
# Caddy makes the certificates of such names itself.
NAME = "survey.localhost"
# The address from which people come in the tests; Linux has all of 127.0.0.0/8.
SOMEBODY = "127.0.0.77"


@dataclass(frozen=True)
class Proxy:
    """Where it serves HTTPS, the certificate that vouches for it, and its folder."""

    port: int
    authority: Path
    folder: Path

    @property
    def address(self) -> str:
        """What people type, if nobody has changed the port."""
        return f"https://{NAME}:{self.port}"


def command(name: str) -> str | None:
    """Find a command, beside Python's own or where Debian keeps those of administrators."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin"
    return shutil.which(name, path=path)


def require(name: str) -> str:
    """Return where a command is; without it the test is skipped, and in CI it fails."""
    found = command(name)
    if found is None:
        skip_unless_required(f"{name} is not installed")
    return str(found)


def skip_unless_required(why: str) -> None:
    """Skip the test, or fail it where all the deployment is to be tested."""
    if os.environ.get("REQUIRE_PROXIES") == "1":
        pytest.fail(f"{why}, and REQUIRE_PROXIES=1")
    pytest.skip(why)


@contextmanager
def nginx(folder: Path, *behind: int, with_tls: bool = True) -> Iterator[Proxy]:
    """Run nginx with the guide's file before servers, the certificate being one of our own."""
    port = free_port()
    make_certificate(folder)
    name = f"listen 127.0.0.1:{port};\nserver_name 127.0.0.1;\n"
    if with_tls:
        name = nginx_name(folder, port)
    machine = (ROOT / "deploy/nginx/survey-machines.conf").read_text().splitlines()[-1] + "\n"
    machines = "".join(machine.replace(":8000", f":{server}") for server in behind)
    run = install_nginx(folder, name, machines)
    checked = subprocess.run([*run, "-t"], capture_output=True, text=True)
    assert "test is successful" in checked.stderr, checked.stderr
    assert "warn" not in checked.stderr, checked.stderr
    with _running(run, port, folder, {}, with_tls=with_tls):
        yield Proxy(port, folder / "fullchain.pem", folder)


def nginx_name(folder: Path, port: int) -> str:
    """Return the guide's file with the survey's name, with this machine's ports and folders."""
    text = (ROOT / "deploy/nginx/survey-name.conf").read_text()
    for meant, here in (
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/letsencrypt/live/survey.example.org", str(folder)),
        ("survey.example.org", NAME),
    ):
        assert meant in text, meant
        text = text.replace(meant, here)
    return text


def make_certificate(folder: Path) -> None:
    """Make a key and a certificate that vouches for itself."""
    files = ["-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"]
    name = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    subprocess.run([*made, *files, *name], check=True, capture_output=True)


@contextmanager
def caddy(folder: Path, behind: int) -> Iterator[Proxy]:
    """Run Caddy with the repository's file, vouched for by an authority of its own."""
    port, environment = free_port(), {}
    environment |= {"SURVEY_HOST": NAME, "SURVEY_BEHIND": f"127.0.0.1:{behind}"}
    environment |= {"SURVEY_HTTPS_PORT": str(port), "SURVEY_HTTP_PORT": str(free_port())}
    environment |= {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    run = [str(command("caddy")), "run", "--config", str(ROOT / "deploy/Caddyfile")]
    with _running(run, port, folder, environment):
        yield Proxy(port, folder / AUTHORITY, folder)


@contextmanager
def _running(
    run: list[str],
    port: int,
    folder: Path,
    environment: dict[str, str],
    *,
    with_tls: bool = True,
) -> Iterator[None]:
    """Run a proxy from when it listens; what it says is kept in its folder, as a service's is."""
    with (folder / "said.log").open("wb") as said:
        process = subprocess.Popen(
            run,
            env={**os.environ, **environment},
            stdout=said,
            stderr=said,
        )
    try:
        while not _listens(port, with_tls=with_tls):
            assert process.poll() is None, f"{run[0]} ended at once"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _listens(port: int, *, with_tls: bool) -> bool:
    """Whether it listens, and has a certificate by now."""
    trusting = ssl._create_unverified_context()
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain:
            if with_tls:
                trusting.wrap_socket(plain, server_hostname=NAME).close()
    except OSError:
        return False
    return True


def connected(proxy: Proxy) -> socket.socket:
    """Return a connection to a proxy's port."""
    return socket.create_connection(("127.0.0.1", proxy.port), 20, source_address=(SOMEBODY, 0))
