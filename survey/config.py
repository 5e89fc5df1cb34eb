"""Settings from the environment and the instance folder, and the folder of the templates."""

import contextlib
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

SHORTEST_KEY = 32
PUBLIC_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*")
# By these names the server's own health checks reach it; no other browser can be sent to them.
LOCAL = ("localhost", "127.0.0.1")
RELATIVE_FILE = re.compile(r"(sqlite(?:\+\w+)?:///)(?!/|:memory:|file:)(?=.)")


class UnsafeSettingsError(Exception):
    """A setting is too unsafe to run a study; the text says which and what to do."""


class MissingInstanceError(Exception):
    """The instance folder does not exist; the text says what to do."""


SECURITIES = ("starttls", "tls", "none")  # of the way to the mail server


@dataclass(frozen=True)
class Smtp:
    """The mail server that sends invitations, from SURVEY_SMTP_….

    ``sender``: the address in From. ``security``: "starttls", "tls" from the first byte, or "none".
    """

    host: str
    sender: str
    port: int = 587
    user: str = ""
    password: str = field(default="", repr=False)
    security: str = "starttls"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Smtp | None":
        """Read the settings; None without a host. Raises UnsafeSettingsError for a wrong one."""
        host = environment.get("SURVEY_SMTP_HOST", "").strip()
        if not host:
            return None
        sender = environment.get("SURVEY_SMTP_FROM", "").strip()
        if not re.fullmatch(r"[^\r\n]*[^@\s]+@[^@\s]+", sender):
            raise UnsafeSettingsError(
                f"SURVEY_SMTP_FROM is {sender!r}; the address from which invitations come is "
                "needed, such as survey@example.org"
            )
        security = environment.get("SURVEY_SMTP_SECURITY") or "starttls"
        if security not in SECURITIES:
            raise UnsafeSettingsError(
                f"SURVEY_SMTP_SECURITY is {security!r}; allowed are {', '.join(SECURITIES)}"
            )
        port = environment.get("SURVEY_SMTP_PORT") or ("465" if security == "tls" else "587")
        if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
            raise UnsafeSettingsError(f"SURVEY_SMTP_PORT is {port!r}; 1 to 65535 are allowed")
        user = environment.get("SURVEY_SMTP_USER", "")
        password = environment.get("SURVEY_SMTP_PASSWORD", "")
        return cls(host, sender, int(port), user, password, security)


@dataclass(frozen=True)
class Settings:
    """The settings that come from the environment.

    ``instance``: the folder of the database and the key. ``database_uri``: an SQLite
    file in it, unless SURVEY_DATABASE_URI names another database; a relative SQLite path is
    relative to ``instance``. ``secret_key``: the
    server key, from SURVEY_SECRET_KEY or the instance folder. ``trusted_proxies``: how many
    reverse proxies are in front, from SURVEY_TRUSTED_PROXIES; the X-Forwarded headers of that
    many are trusted. ``address``: where people reach the survey, from SURVEY_ADDRESS; links begin
    with it, and requests for another host are refused. Without it, both come from the request.
    ``smtp``: the mail server for invitations, None without SURVEY_SMTP_HOST. ``registries``: the
    addresses of registries of replications, from SURVEY_REGISTRIES.
    """

    instance: Path
    database_uri: str
    secret_key: str
    trusted_proxies: int = 0
    address: str = ""
    smtp: Smtp | None = None
    registries: tuple[str, ...] = ()

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ, *, make: bool = False
    ) -> "Settings":
        """Read the settings; with ``make``, first create the instance folder.

        Raises MissingInstanceError where there is no instance folder, and
        UnsafeSettingsError for a key that others could guess and for a setting that is none.
        """
        instance = Path(environment.get("SURVEY_INSTANCE") or "instance").resolve()
        if make:
            instance.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not instance.is_dir():
            raise MissingInstanceError(
                f"There is no survey in {instance}; make one with `survey init`, "
                "or name the folder of yours in SURVEY_INSTANCE."
            )
        key = environment.get("SURVEY_SECRET_KEY") or stored_key(instance / "secret_key")
        if len(key) < SHORTEST_KEY:
            raise UnsafeSettingsError(
                f"the secret key has {len(key)} characters; at least {SHORTEST_KEY} random ones "
                "are needed (remove SURVEY_SECRET_KEY, and the survey makes a new one)"
            )
        address = environment.get("SURVEY_DATABASE_URI") or "sqlite:///survey.sqlite3"
        # Flask-SQLAlchemy and SQLAlchemy begin a relative path at different folders.
        address = RELATIVE_FILE.sub(lambda match: f"{match[1]}{instance}/", address)
        proxies = environment.get("SURVEY_TRUSTED_PROXIES") or "0"
        if proxies not in tuple("0123456789"):
            raise UnsafeSettingsError(
                f"SURVEY_TRUSTED_PROXIES is {proxies!r}; the number of reverse proxies in front "
                "of the survey is needed, 0 to 9"
            )
        public_address = (environment.get("SURVEY_ADDRESS") or "").rstrip("/")
        if public_address and not PUBLIC_ADDRESS.fullmatch(public_address):
            raise UnsafeSettingsError(
                f"SURVEY_ADDRESS is {public_address!r}; an address such as "
                "https://survey.example.org is needed, with the path prefix if there is one"
            )
        smtp = Smtp.from_environment(environment)
        registries = tuple(environment.get("SURVEY_REGISTRIES", "").split())
        for registry in registries:
            if not registry.startswith("https://"):
                raise UnsafeSettingsError(
                    f"SURVEY_REGISTRIES has {registry!r}; addresses that begin with https:// are "
                    "needed, with blanks between them"
                )
        return cls(instance, address, key, int(proxies), public_address, smtp, registries)

    def for_flask(self) -> dict[str, object]:
        """Return the settings under the names that Flask and its extensions use."""
        return {
            "TRUSTED_PROXIES": self.trusted_proxies,
            "ADDRESS": self.address,
            "SMTP": self.smtp,
            "TRUSTED_HOSTS": [urlsplit(self.address).hostname, *LOCAL] if self.address else None,
            "SECRET_KEY": self.secret_key,
            "INSTANCE": self.instance,
            # A participant may close the browser and come back.
            "PERMANENT_SESSION_LIFETIME": timedelta(days=90),
            "SESSION_COOKIE_HTTPONLY": True,
            "SESSION_COOKIE_SAMESITE": "Lax",
            # A form works as long as the session: else a long break would cost an answer.
            "WTF_CSRF_TIME_LIMIT": None,
            "MAX_CONTENT_LENGTH": 64 * 1024,
            "MAX_FORM_PARTS": 200,
        }


def stored_key(path: Path) -> str:
    """Read the key from a file, or create the file, readable by this user only.

    The file is written under another name and then linked, which fails if the file exists:
    of several processes that start together, all use the key of the first.
    """
    if not path.exists():
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(SHORTEST_KEY))
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def folder(name: str) -> Path:
    """Return a folder that comes with the package, such as "templates", also in a checkout."""
    package = Path(__file__).parent
    installed = package / name
    return installed if installed.is_dir() else package.parent / name
