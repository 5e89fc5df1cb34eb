"""The participant's cookie: for this survey only, and by HTTPS only where that is spoken.

Both are known with the request alone: one server may be reached with and without a proxy.
"""

from flask import Flask, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin

from survey.web.addresses import prefix


class Cookies(SecureCookieSessionInterface):
    """Flask's signed cookies, with attributes that fit the request."""

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002 - Flask's signature
        """Keep two surveys under two prefixes of a host apart."""
        return prefix() or "/"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 - Flask's signature
        """Never send by HTTP what was given out by HTTPS."""
        return request.is_secure

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:  # noqa: ARG002 - Flask's signature
        """Give a cookie for the first time, and renew it with each form that is sent.

        None goes along with a static file: caches may keep that for everybody.
        """
        if request.endpoint == "static":
            return False
        return session.modified or (session.permanent and request.method == "POST")


def init_app(app: Flask) -> None:
    """Use these cookies."""
    app.session_interface = Cookies()
