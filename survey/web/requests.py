"""What holds for every request: database session, addresses, body, headers, cookie, caches.

Whether HTTPS is used, and below which prefix, is asked of each request: one server can be
reached both through a proxy and directly.

In a template, ``{% call part(NAME, …) %}…{% endcall %}`` caches a part of a page and lists
everything that the part depends on; the language is always added. A part that holds addresses
depends on one of them: they differ with the prefix of the request, and in a preview.

Static files have a hash of their content in their names: question.3f9a1c2b5d7e.js. They are
read once, when the server starts, so that a hash always names the content that was hashed. A
browser may cache a file under its current name without asking again. A name with no hash, or an
outdated one, gets the current content, which the browser has to revalidate. So a page that was
open during an upgrade keeps its looks; its scripts are optional anyway.
"""

import gzip
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, wraps
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from flask import (
    Blueprint,
    Flask,
    Request,
    Response,
    abort,
    current_app,
    g,
    request,
    stream_with_context,
    url_for,
)
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionMixin
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import Engine
from sqlalchemy.orm import Session
from werkzeug.exceptions import NotFound

from survey import tokens
from survey.core.text_input import Json
from survey.errors import NotAllowedError
from survey.web.language import page_language

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


View = Callable[..., ResponseReturnValue]

FORWARDED = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded")

# "none": the person typed the address or reloaded the page. Browsers from before 2023 do not
# send the header at all; every form carries a token anyway.
ALLOWED_ORIGINS = ("same-origin", "none")

HEADERS = {
    # No script or style is inline or from another host, so no nonce is needed.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": a study's link must not leak, but our own forms need theirs.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
}
# Of a page that shows another of our pages in a frame, and of a page that may be shown in one.
WITH_OWN_FRAMES = f"{HEADERS['Content-Security-Policy']}; frame-src 'self'"
IN_OWN_FRAMES = {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}
# Without "includeSubDomains": a subdomain may belong to someone else.
HTTPS_ONLY = "max-age=31536000"

RENEWED_AFTER = timedelta(days=1)

TOO_MUCH_WORK = (
    "This takes too long or too much memory for a page. The command `survey` on the server has no "
    "such limit."
)

# In characters, most of them in texts of two bytes each. A question's page takes 11,000, and
# its table 7,000 more; all labels and columns of the paper's study take 7 million.
MAX_CHARACTERS = 20_000_000

HASHED = re.compile(r"(?P<stem>.+)\.(?P<hash>[0-9a-f]{12})(?P<ending>\.\w+)")
FONT_ADDRESS = re.compile(rb"url\(([\w.-]+\.woff2)\)")
CACHED_ENDPOINTS = (
    *("static", "participant.picture", "preview.picture"),
    *("researcher.drawing", "researcher.arrivals"),
    *("published.page", "published.bundle", "published.cff", "published.bibtex"),
    *("api.studies", "api.study", "api.progress", "api.results", "api.bundle"),
)
CACHE_FOR_A_YEAR = "public, max-age=31536000, immutable"
REVALIDATE = "no-cache"


def init_app(app: Flask) -> None:
    """Check every request, add headers and the cookie, serve static files, cache parts of pages."""
    app.before_request(_note_route)
    app.wsgi_app = _check_body_length(app.wsgi_app)  # type: ignore[method-assign,assignment] # Flask's way
    if not app.config["TRUSTED_PROXIES"]:
        app.before_request(_warn_of_unknown_proxy)
    app.before_request(_reject_cross_site_forms)
    app.after_request(_add_headers)
    app.session_interface = ParticipantCookies()
    app.config["SESSION_COOKIE_NAME"] = tokens.cookie_name(str(app.secret_key), "survey")
    paths = [path for path in Path(str(app.static_folder)).iterdir() if path.is_file()]
    files = {path.name: StaticFile.read(path) for path in paths}
    app.extensions["static_files"] = {name: file.with_hashes(files) for name, file in files.items()}
    app.view_functions["static"] = _send_static
    for called in (current_path, external_address, asset, part):
        app.add_template_global(called)


def session() -> Session:
    """Return the database session of this request."""
    return cast("Session", current_app.extensions["sqlalchemy"].session)


def engine() -> Engine:
    """Return the application's database engine."""
    return cast("Engine", current_app.extensions["sqlalchemy"].engine)


def secret_key() -> str:
    """Return the server key, from which codes and personal links are derived."""
    return str(current_app.secret_key)


def attachment(
    content: str | Iterator[bytes], media_type: str, name: str, expected: int | None = None
) -> Response:
    """Return content as a file to save; ``expected``: about its bytes, for the progress bar."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if expected is not None:
        headers["X-Expected-Bytes"] = str(expected)
    body = content if isinstance(content, str) else stream_with_context(content)
    return Response(body, mimetype=media_type, headers=headers)


def external_address(endpoint: str, **values: Any) -> str:
    """Return the address of a page for people elsewhere; it begins with SURVEY_ADDRESS if set."""
    address = current_app.config["ADDRESS"]
    if not address:
        return url_for(endpoint, **values, _external=True)
    return str(address) + url_for(endpoint, **values).removeprefix(request.script_root)


def bearer_token() -> str:
    """Return the token in the header Authorization, "" without one; “bearer” is in any case."""
    sent = request.authorization
    return (sent.token or "") if sent and sent.type == "bearer" else ""


def settled_address(endpoint: str) -> str:
    """Return the address of a study's page as SURVEY_ADDRESS has it, "" where that is not set.

    A bundle holds no address of a request, so that it is the same however it is downloaded.
    """
    return external_address(endpoint, slug=g.study.slug) if current_app.config["ADDRESS"] else ""


def current_path() -> str:
    """Return the path of this request as the browser has to ask for it, prefix included."""
    return f"{request.script_root}{request.path}"


def current_address() -> str:
    """Return the path of this request with its query."""
    return f"{request.script_root}{request.full_path}".rstrip("?")


def researcher_address(address: str | None) -> str:
    """Return an address if it is one of the researcher's pages, else that of their studies.

    So a forged link to the sign-in page cannot lead to another site.
    """
    try:
        parts = urlsplit(address or "")
    except ValueError:  # not an address, like //[
        return url_for("researcher.home")
    if parts.scheme or parts.netloc or not _is_for_researchers(parts.path):
        return url_for("researcher.home")
    return parts.geturl()


def _is_for_researchers(path: str) -> bool:
    # A browser resolves "..", which would lead out of the prefix to other pages of the host.
    resolves = ".." in unquote(path) or "\\" in path
    return not resolves and f"{path}/".startswith(f"{request.script_root}/research/")


def in_own_process(view: View) -> View:
    """Decorate a view that may take long or much memory: a process of its own answers it.

    Only ``survey serve`` has such processes; elsewhere the view is called as usual.
    """

    @wraps(view)
    def passed_on(**values: object) -> ResponseReturnValue:
        pass_on = request.environ.get("survey.pass_on")
        if pass_on is None:
            return view(**values)
        current_app.extensions["sqlalchemy"].session.remove()  # its connection is free meanwhile
        try:
            status, headers, body = pass_on()
        except (EOFError, OSError) as error:
            raise NotAllowedError(TOO_MUCH_WORK) from error
        return Response(body, status, headers)

    return passed_on


def take_slug(blueprint: Blueprint) -> None:
    """Put the slug of a blueprint's addresses into ``g.slug``; ``url_for`` adds it by itself."""

    @blueprint.url_value_preprocessor
    def take(_: str | None, values: dict[str, object] | None) -> None:
        g.slug = (values or {}).pop("slug", None)

    @blueprint.url_defaults
    def put(endpoint: str, values: dict[str, object]) -> None:
        if current_app.url_map.is_endpoint_expecting(endpoint, "slug"):
            values.setdefault("slug", g.get("slug"))


def read_form() -> None:
    """Read the whole form, so that a slow sender does not hold the database's write lock.

    A chunked body, which no browser sends for a form, has no announced length, so it could
    be incomplete without a sign of it; it is answered with 411.
    """
    if request.headers.get("Transfer-Encoding"):
        abort(411)
    request.form  # noqa: B018 - reading it is the point


@cache
def route_name(rule: str) -> str:
    """Return a route without the types of its parts: /s/<slug>/q/<position>."""
    return re.sub(r"<[^<>]*:", "<", rule)


def _note_route() -> None:
    """Note the route for the server, which logs and counts requests without what is in a path."""
    if request.url_rule is not None:
        request.environ["survey.route"] = route_name(request.url_rule.rule)


def _check_body_length(application: "WSGIApplication") -> "WSGIApplication":
    """Have Werkzeug compare a body's length with the announced one.

    The server says that its stream ends with the body. But it also ends when a connection
    breaks, and half a form can be a different answer.
    """

    def checked(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        environ.pop("wsgi.input_terminated", None)
        return application(environ, start_response)

    return checked


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
    if "Content-Security-Policy" in response.headers:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
    else:  # as on most pages; looking each of them up would take longer than adding them
        response.headers.extend(HEADERS)
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = HTTPS_ONLY
    # Only static files, pictures, drawings and public pages say themselves how they are cached.
    if request.endpoint not in CACHED_ENDPOINTS or "Cache-Control" not in response.headers:
        # "Back" must ask the server again: a cached page would show an outdated answer or, on a
        # shared computer, another person's page.
        response.headers["Cache-Control"] = "no-store"
        # For caches that store the page all the same: it depends on the cookie.
        response.vary.add("Cookie")
    return response


class ParticipantCookie(SecureCookieSession):
    """The content of a participant's cookie; an old one is issued again."""

    is_old = False


class ParticipantCookies(SecureCookieSessionInterface):
    """Flask's signed cookies, with attributes that fit the request."""

    def __init__(self) -> None:
        self._signer: URLSafeTimedSerializer | None = None

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """Return the signer, made once: an application has one key."""
        self._signer = self._signer or super().get_signing_serializer(app)
        return self._signer

    def open_session(self, app: Flask, request: Request) -> ParticipantCookie | None:
        """Read the cookie; return an empty one if its signature is not ours.

        The date in it does not decide: a clock that was set back, or is a second behind that of
        another server, would have the cookie replaced, and with it the participant lost. Browsers
        delete the cookie when its time is over.
        """
        signer = self.get_signing_serializer(app)
        if signer is None:
            return None
        try:
            content, issued_at = _verify(signer, request.cookies.get(self.get_cookie_name(app), ""))
        except BadSignature:
            return ParticipantCookie()
        cookie = ParticipantCookie(content)
        cookie.is_old = abs(datetime.now(UTC) - issued_at) > RENEWED_AFTER
        return cookie

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Issue a cookie that was issued by HTTP again, the first time it arrives by HTTPS."""
        by_https = request.is_secure and request.endpoint != "static"
        if by_https and session.permanent and not session.get("by_https"):
            session["by_https"] = True
        super().save_session(app, session, response)

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002 - Flask's signature
        """Return the prefix, so that two surveys on one host do not share a cookie."""
        return request.script_root or "/"

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


@lru_cache(maxsize=2_000)
def _verify(signer: URLSafeTimedSerializer, signed: str) -> tuple[Mapping[str, Json], datetime]:
    """Return a cookie's content and date, verified once: a browser sends it with each request."""
    content, issued_at = signer.loads(signed, return_timestamp=True)
    return MappingProxyType(content), issued_at


class PartCache(dict[tuple[Hashable, ...], str]):
    """Rendered parts by what they depend on; emptied before it exceeds ``MAX_CHARACTERS``."""

    characters = 0

    def store(self, key: tuple[Hashable, ...], rendered: str) -> None:
        """Store a part, unless it alone is larger than the cache may be."""
        if self.characters + len(rendered) > MAX_CHARACTERS:
            self.clear()
            self.characters = 0
        if len(rendered) <= MAX_CHARACTERS:
            self[key] = rendered
            self.characters += len(rendered)


_cache = PartCache()


def part(*depends_on: Hashable, caller: Callable[[], str]) -> str:
    """Return the content of the call block, from the cache if it was rendered before."""
    key = (page_language(), *depends_on)
    rendered = _cache.get(key)
    if rendered is None:
        rendered = caller()
        _cache.store(key, rendered)
    return rendered


@dataclass(frozen=True)
class StaticFile:
    """A file's content, Content-Type and hash; ``gzipped``: the content, None if not smaller."""

    content: bytes
    content_type: str
    hash: str
    gzipped: bytes | None = None

    @classmethod
    def read(cls, path: Path) -> "StaticFile":
        """Read a file, guess its media type by its name, and hash it."""
        media_type = guess_type(path.name)[0] or "application/octet-stream"
        if media_type.startswith("text/") or media_type == "image/svg+xml":
            media_type += "; charset=utf-8"
        return cls.of(path.read_bytes(), media_type)

    @classmethod
    def of(cls, content: bytes, content_type: str) -> "StaticFile":
        """Hash and compress a content."""
        gzipped = gzip.compress(content, mtime=0)
        is_smaller = len(gzipped) < len(content) * 0.9  # a picture or a typeface is compressed
        digest = sha256(content).hexdigest()[:12]
        return cls(content, content_type, digest, gzipped if is_smaller else None)

    def with_hashes(self, files: Mapping[str, "StaticFile"]) -> "StaticFile":
        """Return a style sheet whose fonts have their hashes in their addresses, else the file."""
        if not self.content_type.startswith("text/css"):
            return self

        def hashed(match: re.Match[bytes]) -> bytes:
            name = match[1].decode()
            return f"url({_hashed_name(name, files[name])})".encode()

        return self.of(FONT_ADDRESS.sub(hashed, self.content), self.content_type)


def asset(name: str) -> str:
    """Return the address of a static file, with its hash."""
    hashed = _hashed_name(name, _files()[name])
    # The result of url_for, without its cost: each page has five of them.
    return f"{request.script_root}{current_app.static_url_path}/{hashed}"


def _hashed_name(name: str, file: StaticFile) -> str:
    stem, _, ending = name.rpartition(".")
    return f"{stem}.{file.hash}.{ending}"


def _send_static(filename: str) -> Response:
    match = HASHED.fullmatch(filename)
    file = _files().get(match["stem"] + match["ending"] if match else filename)
    if file is None:
        raise NotFound
    takes_gzip = file.gzipped is not None and request.accept_encodings["gzip"] > 0
    content = file.gzipped if takes_gzip else file.content
    response = Response(content, content_type=file.content_type)
    if file.gzipped is not None:
        response.headers["Vary"] = "Accept-Encoding"
    if takes_gzip:
        response.headers["Content-Encoding"] = "gzip"
    is_current = match is not None and match["hash"] == file.hash
    response.headers["Cache-Control"] = CACHE_FOR_A_YEAR if is_current else REVALIDATE
    response.set_etag(f"{file.hash}-gzip" if takes_gzip else file.hash)
    response.make_conditional(request)
    return response


def _files() -> dict[str, StaticFile]:
    files: dict[str, StaticFile] = current_app.extensions["static_files"]
    return files
