"""Download a file from an address that someone else chose: over https, never from a private one.

The addresses of a host are looked up once, all are checked, and the connection goes to one of
these. So a name that leads elsewhere at its second look-up cannot reach this machine's network.
"""

import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPSConnection
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import IO
from urllib.parse import urljoin, urlsplit

from survey.errors import SurveyError

MOST_REDIRECTS = 3
TIMEOUT = 30.0  # seconds without a byte
LONGEST = 1_800.0  # seconds of a download
CHUNK = 1 << 16  # bytes
REDIRECTS = (301, 302, 303, 307, 308)
IN_IPV4 = IPv6Network("64:ff9b::/96")  # whose last 32 bits are an address of IPv4


class DownloadError(SurveyError):
    """A file that cannot be downloaded, or may not; the text says why."""


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet, not of a network inside."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = (
            ip_address(int(ip) & 0xFFFFFFFF) if ip in IN_IPV4 else ip.ipv4_mapped or ip.sixtofour
        )
        if ip.teredo or (inner and not is_public(str(inner))):
            return False
        ip = ip.ipv4_mapped or ip
    return ip.is_global and not ip.is_multicast


def download(
    address: str,
    target: IO[bytes],
    largest: int,
    on_bytes: Callable[[int], object] = lambda _: None,
    is_allowed: Callable[[str], bool] = is_public,
) -> None:
    """Write the file at an address of https to ``target``.

    ``largest``: how many bytes it may have; ``on_bytes``: called with the number of each chunk.
    ``is_allowed``: of an IP address. Raises DownloadError.
    """
    end = time.monotonic() + LONGEST
    for _ in range(MOST_REDIRECTS + 1):
        host, port, path = _parts(address)
        connection = _CheckedConnection(host, port, is_allowed)
        try:
            connection.request("GET", path, headers={"Accept-Encoding": "identity"})
            response = connection.getresponse()
            if response.status in REDIRECTS:
                address = urljoin(address, response.headers.get("Location", ""))
                continue
            if response.status != 200:
                raise DownloadError(f"{address}: {host} answers {response.status}.")
            size = 0
            while chunk := response.read(CHUNK):
                size += len(chunk)
                if size > largest:
                    raise DownloadError(
                        f"{address}: more than {largest:,} bytes; this is the limit."
                    )
                if time.monotonic() > end:
                    raise DownloadError(
                        f"{address}: not complete after {LONGEST / 60:.0f} minutes."
                    )
                target.write(chunk)
                on_bytes(len(chunk))
            if response.length:
                raise DownloadError(f"{address}: {response.length:,} bytes are missing.")
            return
        except (OSError, HTTPException, UnicodeError) as error:
            raise DownloadError(f"{address}: {host} cannot be reached ({error}).") from None
        finally:
            connection.close()
    raise DownloadError(f"{address}: redirected more than {MOST_REDIRECTS} times.")


def _parts(address: str) -> tuple[str, int, str]:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or 443
    except ValueError:
        host, port = "", 0
    if not host or parts.scheme != "https" or parts.username:
        raise DownloadError(
            f"{address[:200]}: an address is needed that begins with https://HOST/."
        )
    return host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class _CheckedConnection(HTTPSConnection):
    """Connects to an address of a host after all its addresses were checked."""

    def __init__(self, host: str, port: int, is_allowed: Callable[[str], bool]) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(host, port, timeout=TIMEOUT, context=self._tls)
        self._is_allowed = is_allowed

    def connect(self) -> None:
        """Look the host up, check its addresses, connect to the first that answers."""
        answers = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        places = [str(place[4][0]) for place in answers]
        for place in places:
            if not self._is_allowed(place):
                raise DownloadError(
                    f"{self.host} is at {place}, a private address; only public ones are allowed."
                )
        fault = OSError("no address")
        for place in places:
            try:
                plain = socket.create_connection((place, self.port), TIMEOUT)
            except OSError as error:
                fault = error
                continue
            self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)
            return
        raise fault
