"""A little reverse proxy: it serves the survey below a path prefix, as nginx does, or changed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

# What concerns one connection only (RFC 9110, 7.6.1), or is set anew.
HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
SET_ANEW = {"content-length", "date", "server"}


def unchanged(_: str, content: bytes) -> bytes:
    """Return a content as it is."""
    return content


@contextmanager
def serving_below(
    prefix: str, port: int, change: Callable[[str, bytes], bytes] = unchanged
) -> Iterator[str]:
    """Serve what a port of this machine serves below a prefix; give the public address.

    ``change``: makes what is served of a content and its type.
    """

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            if not self.path.startswith(f"{prefix}/"):
                self.send_error(502, "outside the prefix")
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept = {name: value for name, value in self.headers.items() if _passes(name)}
            told = {"Accept-Encoding": "identity"}
            if prefix:
                told |= {
                    "X-Forwarded-Proto": "http",
                    "X-Forwarded-Host": self.headers["Host"],
                    "X-Forwarded-Prefix": prefix,
                }
            inner = HTTPConnection("127.0.0.1", port, timeout=60)
            inner.request(self.command, self.path.removeprefix(prefix), body, kept | told)
            answer = inner.getresponse()
            content = change(answer.headers.get_content_type(), answer.read())
            inner.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if _passes(name):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_HEAD = pass_on  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}{prefix}"
    server.shutdown()
    server.server_close()


def _passes(name: str) -> bool:
    return name.lower() not in HOP_BY_HOP | SET_ANEW
