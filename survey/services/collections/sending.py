"""Send a run to a collection's page, as `survey collection submit` does.

The token comes from the environment; it is in no option, file, message or log.
"""

import gzip
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import requests

from survey.errors import SurveyError
from survey.services.collections.receipts import Receipt, fault_of
from survey.services.collections.submissions import LARGEST_FILE

TOKEN_VARIABLE = "SURVEY_COLLECTION_TOKEN"  # noqa: S105 # nosec B105 # the name of a variable
TIMEOUT = (10, 180)  # seconds to connect, and to answer
GZIPPED = b"\x1f\x8b"


def send_run(address: str, path: Path, token: str) -> Receipt:
    """Send a run, gzipped, to the page with this address; return its receipt.

    Raises SurveyError with what the server says, or why it cannot be asked.
    """
    host = _host_of(address)
    content = path.read_bytes()
    if not content.startswith(GZIPPED):
        content = gzip.compress(content, mtime=0)
    if len(content) > LARGEST_FILE:
        raise SurveyError(
            f"{path} takes {len(content):,} bytes gzipped; {LARGEST_FILE:,} at most are allowed. "
            "Leave out the topics that are not secret."
        )
    with requests.Session() as sender:
        sender.trust_env = False  # ~/.netrc would replace the token
        try:
            response = sender.post(
                f"{address.rstrip('/')}/runs",
                data=content,
                headers={
                    "Authorization": f"Bearer {token}",
                    "Content-Type": "application/gzip",
                    "Accept": "application/json",
                },
                timeout=TIMEOUT,
                allow_redirects=False,
            )
        except requests.RequestException as error:
            raise SurveyError(
                f"{host} does not answer ({type(error).__name__}). The same run can be sent again: "
                "it counts once."
            ) from None
    return _receipt_in(response, host)


def _receipt_in(response: requests.Response, host: str) -> Receipt:
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if isinstance(answer, dict) and response.status_code == 200 and not fault_of(answer):
        return answer
    if isinstance(answer, dict) and isinstance(answer.get("error"), str):
        raise SurveyError(answer["error"])
    raise SurveyError(
        f"{host} answered with status {response.status_code} and no receipt; the address is that "
        "of the collection's page, like https://HOST/collections/NAME."
    )


def _host_of(address: str) -> str:
    """Return an address's host; raises SurveyError where a token would travel unencrypted."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.username:
        raise SurveyError(
            f"{address!r} is not the address of a collection's page; it is written like "
            "https://HOST/collections/NAME."
        )
    if parts.scheme == "http" and not _is_local(host):
        raise SurveyError(f"{host} would get run and token unencrypted; use https.")
    return host


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
