"""Say once in the log that a proxy stands in front which nobody has told the survey of."""

from flask import Flask, current_app, request

FORWARDED = ("X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-For", "Forwarded")


def init_app(app: Flask) -> None:
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
