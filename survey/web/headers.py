"""What every response carries: what a browser may load, keep and pass on."""

from flask import Flask, Response, request

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


def init_app(app: Flask) -> None:
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
