"""Create the Flask application, and the background work of a server process."""

from contextlib import closing
from itertools import islice
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from jinja2 import ChoiceLoader, FileSystemLoader
from werkzeug.middleware.proxy_fix import ProxyFix

from survey.config import Settings, folder
from survey.core.kinds import KINDS
from survey.db.engine import database_url, engine_options, prepare
from survey.db.models.base import Base
from survey.services.analysis.report import load_libraries as load_report_libraries
from survey.services.operations import gauges, upkeep
from survey.services.operations.backups import delete_old_copies
from survey.services.participation import own_data, participants
from survey.services.studies import invitations, languages
from survey.web import (
    api,
    auth,
    collections,
    errors,
    language,
    links,
    participant,
    preview,
    public_pages,
    published,
    requests,
    researcher,
    uploads,
)
from survey.web.errors import DATABASE_FAULTS

# For a command, which may import the application but not its pages.
from survey.web.preview_files import PreviewFiles as PreviewFiles
from survey.web.requests import session

db = SQLAlchemy(model_class=Base, disable_autonaming=True)

BLUEPRINTS = (
    *public_pages.BLUEPRINTS,
    published.blueprint,
    collections.blueprint,
    participant.blueprint,
    *auth.BLUEPRINTS,
    researcher.blueprint,
    preview.blueprint,
    api.blueprint,
)

SECONDS_BETWEEN_DELETIONS = upkeep.BETWEEN.total_seconds()
SECONDS_UNTIL_RETRY = 5.0
MAILS_AT_A_TIME = 20


def create_app(settings: Settings | None = None, *, demo: bool = False) -> Flask:
    """Create the application with these settings, by default those of the environment.

    ``demo``: list the demo's studies on the page `/`, which lists no study otherwise.
    Raises MissingInstanceError and UnsafeSettingsError as ``Settings.from_environment`` does.
    """
    settings = settings or Settings.from_environment()
    app = Flask(__name__, template_folder=folder("templates"), static_folder=folder("static"))
    app.config.from_mapping(settings.for_flask(), DEMO=demo)
    app.url_map.strict_slashes = False  # a link with a slash added at its end still works
    _trust_proxies(app, settings.trusted_proxies)
    _connect_database(app, settings.database_uri)
    requests.init_app(app)
    links.init_app(app)
    errors.init_app(app)
    language.init_app(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    for kind in KINDS.values():
        _take_files_of(app, kind)
    return app


def _take_files_of(app: Flask, kind: Any) -> None:
    """Let pages find templates, static files and translations of a kind of another package.

    A file that bears the name of one that is there already is left out.
    """
    if (templates := kind.folder / "templates").is_dir():
        loaders = [app.jinja_loader, FileSystemLoader(templates)]
        app.jinja_loader = ChoiceLoader([loader for loader in loaders if loader])
    files: dict[str, requests.StaticFile] = app.extensions["static_files"]
    for path in sorted((kind.folder / "static").glob("*.*")):
        files.setdefault(path.name, requests.StaticFile.read(path))
    if (translations := kind.folder / "translations").is_dir():
        languages.OTHER_FOLDERS.setdefault(translations)


def load_templates(app: Flask, *, of_researchers: bool = False) -> None:
    """Compile the templates of researchers' pages, or of all others, before a page needs them.

    Otherwise the first page takes twice as long.
    """
    for name in app.jinja_env.list_templates():
        if name.startswith("researcher/") == of_researchers:
            app.jinja_env.get_template(name)


def route_names(app: Flask) -> set[str]:
    """Return the routes, as requests are counted and logged."""
    return {requests.route_name(rule.rule) for rule in app.url_map.iter_rules()}


def current_gauges(app: Flask) -> gauges.Gauges:
    """Return the numbers to watch; without those of the database where it cannot be read now."""
    values = gauges.of_background_work(app.config["INSTANCE"])
    with app.app_context():
        try:
            values |= gauges.of_database(session())
        except DATABASE_FAULTS:
            app.logger.warning("The metrics lack the database, which could not be read.")
    return values


def load_page_libraries(app: Flask) -> None:
    """Load the libraries and templates that only researchers' pages need."""
    load_report_libraries()
    load_templates(app, of_researchers=True)


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
    app.teardown_appcontext(_end_transaction)
    with app.app_context():
        prepare(db.engine)


def _end_transaction(_: BaseException | None) -> None:
    """Close the session after a request, without an error where its connection was lost.

    Flask-SQLAlchemy would raise one, and a participant whose answer is stored already would see
    a page that says it is not.
    """
    try:
        session().close()
    except DATABASE_FAULTS:
        db.session().invalidate()


def delete_due_data(app: Flask) -> None:
    """Run for ever: each hour, delete the personal data of studies whose date for that has passed.

    Also files of forms, which are kept for a day, and copies that restoring left.

    Every few seconds, close the studies whose last participants have finished, send some of the
    mails that are due, try again what the busy database prevented, and empty its write-ahead log if
    that may still hold deleted data. Nothing that goes wrong ends it, and ``upkeep`` knows when
    everything was done last.
    """
    next_deletion = monotonic()
    upkeep.note_begun(app.config["INSTANCE"])
    while True:
        with app.app_context():
            try:
                if monotonic() >= next_deletion:
                    _delete_all_due(app.config["INSTANCE"])
                    next_deletion = monotonic() + SECONDS_BETWEEN_DELETIONS
                own_data.empty_log(session())
                participants.close_ended(session())
                _send_due_mail(app)
            except DATABASE_FAULTS:
                app.logger.warning("The database was busy. What is to be deleted is deleted later.")
            except Exception:
                app.logger.exception("What is to be deleted could not be. It is tried each hour.")
                next_deletion = monotonic() + SECONDS_BETWEEN_DELETIONS
        sleep(SECONDS_UNTIL_RETRY)


def _send_due_mail(app: Flask) -> None:
    """Send the next mails to guests; few, since what is to be deleted waits meanwhile."""
    smtp, address = app.config["SMTP"], app.config["ADDRESS"]
    if smtp and address:
        mails = invitations.send_due(session(), smtp, str(app.secret_key), address)
        with closing(mails):
            for _ in islice(mails, MAILS_AT_A_TIME):
                pass


def _delete_all_due(instance: Path) -> None:
    failed = own_data.drop_due(session()).failed
    uploads.delete_old(instance)
    delete_old_copies(instance)
    upkeep.note_done(instance, failed)
