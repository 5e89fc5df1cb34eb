"""A download from an address that someone else chose reaches no private network."""

import io
import shutil
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from survey.services.exchange.download import DownloadError, download, is_public
from tests.mail_server import make_certificate

CONTENT = b"x" * 100_000


class Answers(BaseHTTPRequestHandler):
    """Answers by what the path asks for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/file":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT[:10])
        elif self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path[4:])
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(404)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    return make_certificate(tmp_path_factory.mktemp("tls"), "localhost")


@pytest.fixture
def server(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    server.asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def got(server, path, largest=10**6, is_allowed=lambda _: True):
    target, counts = io.BytesIO(), []
    address = f"https://localhost:{server.server_address[1]}{path}"
    download(address, target, largest, counts.append, is_allowed)
    assert sum(counts) == len(target.getvalue())
    return target.getvalue()


def test_a_file_is_downloaded_over_a_redirect_too(server):
    assert got(server, "/file") == CONTENT
    assert got(server, "/to?/file") == CONTENT


@pytest.mark.parametrize(
    ("path", "largest", "fault"),
    [
        ("/none", 10**6, "localhost answers 404"),
        ("/file", 99_999, "more than 99,999 bytes"),
        ("/cut", 10**6, "bytes are missing|cannot be reached"),
        ("/to?http://localhost/file", 10**6, "begins with https://HOST/"),
        ("/to?file:///etc/passwd", 10**6, "begins with https://HOST/"),
        ("/to?/to?/to?/to?/to?/file", 10**6, "redirected more than 3 times"),
    ],
)
def test_what_cannot_be_downloaded_is_told(server, path, largest, fault):
    with pytest.raises(DownloadError, match=fault):
        got(server, path, largest)


def test_a_private_address_is_never_connected_to(server):
    with pytest.raises(DownloadError, match=r"localhost is at (127\.0\.0\.1|::1), a private"):
        got(server, "/file", is_allowed=is_public)
    assert server.asked == []


def test_a_redirect_to_a_private_address_is_not_followed(server):
    port = server.server_address[1]
    seen = []

    def only_first(place):
        seen.append(place)
        return len(seen) <= first

    first = len(socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM))
    with pytest.raises(DownloadError, match="a private address"):
        got(server, "/to?/file", is_allowed=only_first)
    assert server.asked == ["/to?/file"]


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(server, monkeypatch):
    """A name that leads elsewhere at its second look-up is looked up once."""
    look_up, asked = socket.getaddrinfo, []

    def changing(host, *arguments, **named):
        if host == "localhost":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "192.0.2.1"
        return look_up(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    assert got(server, "/file") == CONTENT
    assert asked == ["localhost"]


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/a",
        "https:///a",
        "https://user@example.org/a",
        "https://[::1",
        "https://example.org:99999/a",
        "ftp://example.org",
        "registry.jsonl",
        "",
    ],
)
def test_only_https_is_asked(address):
    with pytest.raises(DownloadError, match="begins with https"):
        download(address, io.BytesIO(), 10)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "ff02::1"),
        "2001:0:0:0:0:0:f5ff:fffe",
    ],
)
def test_addresses_of_networks_inside_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)
