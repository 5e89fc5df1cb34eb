"""The participant's cookie: for this survey only, and by HTTPS only where that is spoken.

Both are known with the request alone: one server may be reached with and without a proxy.
"""

from datetime import UTC, datetime, timedelta

from flask import Flask, Request, Response, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from itsdangerous import BadSignature, URLSafeTimedSerializer

from survey.web.addresses import prefix

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


def init_app(app: Flask) -> None:
    """Use these cookies."""
    app.session_interface = Cookies()
