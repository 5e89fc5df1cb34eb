"""People who come by HTTPS under the survey's name: a browser without scripts, and bare bytes."""

import ssl
from contextlib import ExitStack
from http.cookies import SimpleCookie
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

from tests.guides.proxies import NAME, Proxy, connected


class Browser:
    """What ``Visitor`` needs of a test client, on a real connection by HTTPS."""

    def __init__(self, proxy: Proxy) -> None:
        self.pool = urllib3.HTTPSConnectionPool(
            *("127.0.0.1", proxy.port),
            **{"server_hostname": NAME, "assert_hostname": NAME, "ca_certs": str(proxy.authority)},
        )
        self.host, self.cookies = f"{NAME}:{proxy.port}", SimpleCookie()

    def get(self, path: str, follow_redirects: bool = False) -> Any:
        """Ask for a page."""
        return self._ask("GET", path, "", follow_redirects)

    def post(self, path: str, data: dict[str, str], follow_redirects: bool = False) -> Any:
        """Send a form."""
        return self._ask("POST", path, urlencode(data, doseq=True), follow_redirects)

    def _ask(self, method: str, path: str, body: str, follow: bool) -> Any:
        kept = "; ".join(f"{name}={one.value}" for name, one in self.cookies.items())
        headers = {"Host": self.host, "Cookie": kept, "Origin": f"https://{self.host}"}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        answer = self.pool.request(method, path, body=body, headers=headers, redirect=False)
        for given in answer.headers.getlist("Set-Cookie"):
            self.cookies.load(given)
        if follow and answer.status in (302, 303):
            leads = urlsplit(answer.headers["Location"])
            return self._ask("GET", f"{leads.path}?{leads.query}".rstrip("?"), "", follow)
        return SimpleNamespace(
            status_code=answer.status,
            request=SimpleNamespace(path=path.partition("?")[0]),
            get_data=lambda **_: answer.data.decode(),
        )


class Bytes:
    """A connection on which bytes can be sent as slowly as one likes, and under any name."""

    def __init__(self, proxy: Proxy, name: str = NAME) -> None:
        context = ssl.create_default_context(cafile=str(proxy.authority))
        with ExitStack() as if_refused:
            plain = if_refused.enter_context(connected(proxy))
            self.socket = context.wrap_socket(plain, server_hostname=name)
            if_refused.pop_all()
        self.host = f"{NAME}:{proxy.port}"

    def send(self, text: str) -> None:
        """Send bytes, and wait for nothing."""
        self.socket.sendall(text.replace("\n", "\r\n").encode())

    def receive(self) -> str:
        """Read to the end."""
        with self.socket, self.socket.makefile("rb") as file:
            return file.read().decode()

    def get(self, path: str, *headers: str) -> str:
        """Ask for a page, and return all that came."""
        said = "".join(f"{one}\n" for one in (f"Host: {self.host}", *headers, "Connection: close"))
        self.send(f"GET {path} HTTP/1.1\n{said}\n")
        return self.receive()
