"""The application, put together."""

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from survey.config import Settings, folder
from survey.db import db
from survey.db.engine import database_url, engine_options, prepare
from survey.web import (
    auth,
    errors,
    housekeeping,
    language,
    participant,
    parts,
    preview,
    public_pages,
    requests,
    researcher,
    security,
    static_files,
    wording,
)


def create_app(settings: Settings | None = None) -> Flask:
    """Make the application for these settings, by default those of the environment.

    Raises MissingInstanceError and UnsafeSettingsError as ``from_environment`` does.
    """
    settings = settings or Settings.from_environment()
    app = Flask(__name__, template_folder=folder("templates"), static_folder=folder("static"))
    app.config.from_mapping(settings.for_flask())
    _believe_proxies(app, settings.trusted_proxies)
    _open_database(app, settings.database_uri)
    requests.count_bodies(app)
    security.watch_for_proxies(app)
    security.add_headers(app)
    security.use_cookies(app)
    requests.add_page_address(app)
    static_files.init_app(app)
    errors.init_app(app)
    security.refuse_foreign_forms(app)
    language.init_app(app)
    wording.init_app(app)
    parts.init_app(app)
    app.register_blueprint(public_pages.home_blueprint)
    app.register_blueprint(public_pages.health_blueprint)
    app.register_blueprint(participant.blueprint)
    app.register_blueprint(auth.pages.blueprint)
    app.register_blueprint(auth.pages.account_blueprint)
    app.register_blueprint(researcher.blueprint)
    app.register_blueprint(preview.blueprint)
    app.register_blueprint(public_pages.paper_blueprint)
    app.register_blueprint(public_pages.stored_blueprint)
    return app


def create_served_app() -> Flask:
    """Make the application for a server's process, with what it does beside answering."""
    app = create_app()
    housekeeping.start(app)
    return app


def _believe_proxies(app: Flask, count: int) -> None:
    """Take scheme, host and prefix from so many proxies; without any, their headers are forged."""
    if count:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign] # how Flask says to do it
            app.wsgi_app, x_for=0, x_proto=count, x_host=count, x_prefix=count
        )


def _open_database(app: Flask, uri: str) -> None:
    url = database_url(uri)
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = engine_options(url)
    db.init_app(app)
    with app.app_context():
        prepare(db.engine)
