"""Create the Flask application."""

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from werkzeug.middleware.proxy_fix import ProxyFix

from survey.config import Settings, folder
from survey.db.engine import database_url, engine_options, prepare
from survey.db.models import Base
from survey.web import (
    auth,
    cache,
    errors,
    language,
    participant,
    preview,
    public_pages,
    requests,
    researcher,
)

db = SQLAlchemy(model_class=Base, disable_autonaming=True)

BLUEPRINTS = (
    *public_pages.BLUEPRINTS,
    participant.blueprint,
    *auth.BLUEPRINTS,
    researcher.blueprint,
    preview.blueprint,
)


def create_app(settings: Settings | None = None) -> Flask:
    """Create the application with these settings, by default those of the environment.

    Raises MissingInstanceError and UnsafeSettingsError as ``Settings.from_environment`` does.
    """
    settings = settings or Settings.from_environment()
    app = Flask(__name__, template_folder=folder("templates"), static_folder=folder("static"))
    app.config.from_mapping(settings.for_flask())
    _trust_proxies(app, settings.trusted_proxies)
    _connect_database(app, settings.database_uri)
    requests.init_app(app)
    cache.init_app(app)
    errors.init_app(app)
    language.init_app(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app


def create_served_app() -> Flask:
    """Create the application for a server process, with its background work."""
    app = create_app()
    public_pages.start(app)
    return app


def _trust_proxies(app: Flask, count: int) -> None:
    """Take scheme, host and prefix from this number of proxies.

    Without a proxy these headers come from the browser, which could forge the survey's address.
    """
    if count:
        app.wsgi_app = ProxyFix(  # type: ignore[method-assign] # how Flask says to do it
            app.wsgi_app, x_for=0, x_proto=count, x_host=count, x_prefix=count
        )


def _connect_database(app: Flask, uri: str) -> None:
    url = database_url(uri)
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = engine_options(url)
    db.init_app(app)
    with app.app_context():
        prepare(db.engine)
