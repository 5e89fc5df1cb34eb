"""The server's log: a line of text or of JSON for each event, with its time and level.

No line names a participant, a code, a token or an internet address: a request is logged by its
route, such as ``/s/<slug>/q/<position>``, not by its path.
"""

import json
import logging
import re
import time
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

What = Literal["errors", "requests"]
TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
# What waitress says of errors that no page has handled, with a path or an address.
PATH_OR_ADDRESS = re.compile(r"(?<=while serving )/.*|(?<=closing channel )<.*?>")
log = logging.getLogger(__name__)


class LineFormatter(logging.Formatter):
    """Format records as lines of text."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {message}", TIME_FORMAT, style="{")
        self.converter = time.gmtime


class JsonLines(LineFormatter):
    """Format records as JSON, one a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as an object of JSON; a request's has its parts."""
        entry = {"time": self.formatTime(record, TIME_FORMAT), "level": record.levelname}
        entry |= {"message": record.getMessage(), **getattr(record, "request", {})}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


def set_up_logs(what: What, *, as_json: bool) -> None:
    """Log what goes wrong to stderr, and with ``requests`` each request."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else LineFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("waitress").addFilter(_remove_names)
    log.setLevel(logging.INFO if what == "requests" else logging.WARNING)


def _remove_names(record: logging.LogRecord) -> bool:
    record.msg, record.args = PATH_OR_ADDRESS.sub("…", record.getMessage()), ()
    return True


def log_request(environ: "WSGIEnvironment", status: str, seconds: float) -> None:
    """Log a request that was answered."""
    parts = {"method": environ["REQUEST_METHOD"], "route": environ.get("survey.route", "other")}
    parts |= {"status": int(status), "milliseconds": round(1000 * seconds)}
    log.info(
        "{method} {route} {status} {milliseconds} ms".format_map(parts), extra={"request": parts}
    )
