"""Protect pages: cross-site forms, response headers, the participant's cookie.

Whether HTTPS is used, and below which prefix, is asked of each request: one server can be
reached both through a proxy and directly.
"""

from datetime import UTC, datetime, timedelta

from flask import Flask, Request, Response, abort, current_app, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeTimedSerializer

from survey.web.requests import prefix

FORWARDED = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded")

# "none": the person typed the address or reloaded the page. Browsers from before 2023 do not
# send the header at all; every form carries a token anyway.
ALLOWED_ORIGINS = ("same-origin", "none")

CONTENT_POLICY = "; ".join(
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
    # No script or style is inline or from another host, so no nonce is needed.
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": a study's link must not leak, but our own forms need theirs.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
}
# Without "includeSubDomains": a subdomain may belong to someone else.
HTTPS_ONLY = "max-age=31536000"

RENEWED_AFTER = timedelta(days=1)


def init_app(app: Flask) -> None:
    """Reject cross-site forms, add headers to every response, and set cookies by HTTPS only."""
    if not app.config["TRUSTED_PROXIES"]:
        app.before_request(_warn_of_unknown_proxy)
    app.before_request(_reject_cross_site_forms)
    app.after_request(_add_headers)
    app.session_interface = ParticipantCookies()


def _warn_of_unknown_proxy() -> None:
    """Log once that a proxy's headers arrive although the settings trust no proxy."""
    header = next((name for name in FORWARDED if name in request.headers), None)
    if header is not None and not current_app.extensions.get("proxy_noticed"):
        current_app.extensions["proxy_noticed"] = True
        current_app.logger.warning(
            "A request came with the header %s, but SURVEY_TRUSTED_PROXIES is not set. If there "
            "is a proxy, set it to 1, so that links and cookies carry the proxy's address.",
            header,
        )


def _reject_cross_site_forms() -> None:
    """Judge by Sec-Fetch-Site, not by Referer or Origin, which proxies and settings remove."""
    changes = request.method not in ("GET", "HEAD", "OPTIONS")
    if changes and request.headers.get("Sec-Fetch-Site", "none") not in ALLOWED_ORIGINS:
        abort(403)


def _add_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = HTTPS_ONLY
    # Only static files set a cache time of their own.
    if request.endpoint != "static" or "Cache-Control" not in response.headers:
        # "Back" must ask the server again: a cached page would show an outdated answer or, on a
        # shared computer, another person's page.
        response.headers["Cache-Control"] = "no-store"
        # For caches that store the page all the same: it depends on the cookie.
        response.vary.add("Cookie")
    return response


class ParticipantCookie(SecureCookieSession):
    """The content of a participant's cookie, and when it was issued."""

    issued_at: datetime | None = None

    @property
    def is_old(self) -> bool:
        """Whether to issue it again, so that its lifetime starts from now."""
        return self.issued_at is not None and datetime.now(UTC) - self.issued_at > RENEWED_AFTER


class ParticipantCookies(SecureCookieSessionInterface):
    """Flask's signed cookies, with attributes that fit the request."""

    def __init__(self) -> None:
        self._signer: URLSafeTimedSerializer | None = None

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """Return the signer, made once: an application has one key."""
        self._signer = self._signer or super().get_signing_serializer(app)
        return self._signer

    def open_session(self, app: Flask, request: Request) -> ParticipantCookie | None:
        """Read the cookie; return an empty one if it was changed or has expired."""
        signer = self.get_signing_serializer(app)
        if signer is None:
            return None
        signed = request.cookies.get(self.get_cookie_name(app), "")
        lifetime = int(app.permanent_session_lifetime.total_seconds())
        try:
            content, issued_at = signer.loads(signed, max_age=lifetime, return_timestamp=True)
        except BadSignature:
            return ParticipantCookie()
        cookie = ParticipantCookie(content)
        cookie.issued_at = issued_at
        return cookie

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Issue a cookie that was issued by HTTP again, the first time it arrives by HTTPS."""
        by_https = request.is_secure and request.endpoint != "static"
        if by_https and session.permanent and not session.get("by_https"):
            session["by_https"] = True
        super().save_session(app, session, response)

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002 - Flask's signature
        """Return the prefix, so that two surveys on one host do not share a cookie."""
        return prefix() or "/"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        """Whether the browser must send the cookie by HTTPS only, as it was issued."""
        return request.is_secure

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:  # noqa: ARG002 - Flask's signature
        """Whether to send the cookie: when it is new or changed, and once a day with a form.

        Never with a static file: a shared cache could give it to other people.
        """
        if request.endpoint == "static":
            return False
        is_old = isinstance(session, ParticipantCookie) and session.is_old
        return session.modified or (request.method == "POST" and session.permanent and is_old)
