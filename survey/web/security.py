"""Forms come from our own pages only: what a browser says of where a request began.

Say once in the log that a proxy stands in front which nobody has told the survey of.

What every response carries: what a browser may load, keep and pass on.

The participant's cookie: for this survey only, and by HTTPS only where that is spoken.

Both are known with the request alone: one server may be reached with and without a proxy.
"""

from datetime import UTC, datetime, timedelta

from flask import Flask, Request, Response, abort, current_app, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeTimedSerializer

from survey.web.requests import prefix

# "none" is a person's own doing: an address typed, a page reloaded. Browsers from before
# 2023 say nothing; every form carries a token anyway.
OURS = ("same-origin", "none")


def refuse_foreign_forms(app: Flask) -> None:
    """Refuse forms that a page of another site sends."""
    app.before_request(_refuse_foreign_forms)


def _refuse_foreign_forms() -> None:
    """Judge by Sec-Fetch-Site, never by Referer or Origin, which proxies and settings drop."""
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    if changes and request.headers.get("Sec-Fetch-Site", "none") not in OURS:
        abort(403)


FORWARDED = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded")


def watch_for_proxies(app: Flask) -> None:
    """Watch for headers of proxies where none is trusted."""
    if not app.config["TRUSTED_PROXIES"]:
        app.before_request(_look_for_proxies)


def _look_for_proxies() -> None:
    found = next((name for name in FORWARDED if name in request.headers), None)
    if found is not None and not current_app.extensions.get("proxy_noticed"):
        current_app.extensions["proxy_noticed"] = True
        current_app.logger.warning(
            "A request came with the header %s, but SURVEY_TRUSTED_PROXIES is not set; if a proxy "
            "stands in front, set it to 1, so that links and cookies carry its address.",
            found,
        )


POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    # Nothing is inline and nothing comes from elsewhere, so no nonce is needed.
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": a study link must not leak, but our own forms keep theirs.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
}
# Not for subdomains: they may belong to somebody else.
BY_HTTPS_FROM_NOW_ON = "max-age=31536000"


def add_headers(app: Flask) -> None:
    """Add the headers to every response, errors included."""
    app.after_request(_add)


def _add(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = BY_HTTPS_FROM_NOW_ON
    # Only static files say for themselves how long they may be kept.
    if request.endpoint != "static" or "Cache-Control" not in response.headers:
        # Back must ask the server again: it shows the answer as stored, and no
        # one else's page on a shared computer.
        response.headers["Cache-Control"] = "no-store"
        # For caches that store all the same: the cookie says whose page it is.
        response.vary.add("Cookie")
    return response


RENEWED_AFTER = timedelta(days=1)


class Cookie(SecureCookieSession):
    """What a cookie holds, and when it was given."""

    given_at: datetime | None = None

    @property
    def is_old(self) -> bool:
        """Whether it should be given anew, so that it lasts from now on."""
        return self.given_at is not None and datetime.now(UTC) - self.given_at > RENEWED_AFTER


class Cookies(SecureCookieSessionInterface):
    """Flask's signed cookies, with attributes that fit the request."""

    def __init__(self) -> None:
        self._signer: URLSafeTimedSerializer | None = None

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """Make what signs, once: an application has one of these, and one key."""
        self._signer = self._signer or super().get_signing_serializer(app)
        return self._signer

    def open_session(self, app: Flask, request: Request) -> Cookie | None:
        """Read the cookie; one that was changed, or is too old, is none."""
        signer = self.get_signing_serializer(app)
        if signer is None:
            return None
        written = request.cookies.get(self.get_cookie_name(app), "")
        longest = int(app.permanent_session_lifetime.total_seconds())
        try:
            held, given_at = signer.loads(written, max_age=longest, return_timestamp=True)
        except BadSignature:
            return Cookie()
        cookie = Cookie(held)
        cookie.given_at = given_at
        return cookie

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Give a cookie anew that was given by HTTP, the first time it comes by HTTPS."""
        by_https = request.is_secure and request.endpoint != "static"
        if by_https and session.permanent and not session.get("by_https"):
            session["by_https"] = True
        super().save_session(app, session, response)

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002 - Flask's signature
        """Keep two surveys under two prefixes of a host apart."""
        return prefix() or "/"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        """Never send by HTTP what was given out by HTTPS."""
        return request.is_secure

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:  # noqa: ARG002 - Flask's signature
        """Give a cookie for the first time, and renew it with a form that is sent, once a day.

        None goes along with a static file: caches may keep that for everybody.
        """
        if request.endpoint == "static":
            return False
        is_old = isinstance(session, Cookie) and session.is_old
        return session.modified or (request.method == "POST" and session.permanent and is_old)


def use_cookies(app: Flask) -> None:
    """Use these cookies."""
    app.session_interface = Cookies()
