"""The self-check: is it safe to run the survey as it is set up?

Each ``check_…`` function looks at a setting, a file or the database, and returns its result;
``run_checks`` returns the results of all of them.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from smtplib import SMTPException
from typing import Any, Literal

from flask.helpers import get_debug_flag
from sqlalchemy import Engine, inspect
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.config import LOCAL, SHORTEST_KEY, Settings
from survey.core.kinds import KINDS
from survey.core.measures import MEASURES
from survey.db import migration, queries
from survey.db.engine import WAL_IS_SAFE_FROM
from survey.errors import SchemaError
from survey.services.collections.receipts import KEY_FILE
from survey.services.operations.backups import WORK
from survey.services.operations.database import encoding_fault, require_current_schema
from survey.services.operations.upkeep import reason_late
from survey.services.studies import invitations

Level = Literal["ok", "warning", "DANGER"]

ADVISED_FREE_BYTES = 500_000_000
MOUNTS = Path("/proc/mounts")
SYNCHRONOUS_FULL = 2  # PRAGMA synchronous: 0 OFF, 1 NORMAL, 2 FULL, 3 EXTRA

# On these, locks and shared memory do not work as SQLite needs them.
NETWORK_FILE_SYSTEMS = {
    *("nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "9p", "ceph"),
    *("lustre", "glusterfs", "beegfs", "davfs", "fuse.sshfs", "fuse.davfs2", "fuse.glusterfs"),
    *("fuse.rclone", "fuse.s3fs", "fuse.ceph", "fuse.smbnetfs", "fuse.curlftpfs"),
}

FEWEST_KEY_CHARACTERS = 8  # different ones in a server key
# Words of keys that were copied from a page or typed for a trial.
KNOWN_WORDS = (
    *("changeme", "changethis", "replaceme", "replacethis", "yoursecret", "mysecret", "thesecret"),
    *("secretkey", "supersecret", "topsecret", "notsosecret", "password", "placeholder"),
    *("insecure", "devkey", "development", "qwerty", "0123456789", "abcdefgh"),
)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of a check; unless the level is ok, ``text`` says what to do."""

    check: str
    level: Level
    text: str


def run_checks(
    engine: Engine, settings: Settings, host: str, *, thorough: bool = True
) -> list[CheckResult]:
    """Return the results of all checks.

    ``host``: where the server listens. ``thorough`` looks for missing triggers too, and compares
    the indexes of SQLite with their tables: slow in a large database.
    """
    return [
        *_check_settings(settings, host),
        *([check_mail_server(settings)] if thorough and settings.smtp else []),
        *_check_files(engine, settings),
        *_check_database(engine, thorough=thorough),
    ]


def restrict_access(engine: Engine, instance: Path) -> None:
    """Deny other users of the machine access to the instance folder, the key and the database."""
    if os.name == "posix":
        existing = filter(Path.exists, _private_files(engine, instance))
        make_private(instance, [*_database_files(engine)[:1], *existing])


@contextmanager
def no_database_after_error(engine: Engine) -> Iterator[None]:
    """Remove, after an error, an SQLite database that was not there before and has no tables."""
    new = [path for path in _database_files(engine)[:1] if not path.exists()]
    try:
        yield
    except BaseException:
        if any(map(Path.exists, new)) and not inspect(engine).get_table_names():
            engine.dispose()
            for path in _database_files(engine):
                path.unlink(missing_ok=True)
        raise


def make_private(folder: Path, files: Iterable[Path]) -> None:
    """Remove other users' permissions on a folder and on files, if this user owns them.

    A missing file is created, so that a new database is never readable by others.
    """
    for path in [folder, *files]:
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077 and path.stat().st_uid == os.getuid():
            path.chmod(mode & 0o700)


def ok(check: str, text: str) -> CheckResult:
    """Return the result of a check that passed."""
    return CheckResult(check, "ok", text)


def warning(check: str, text: str) -> CheckResult:
    """Return a result that should be mended, although the survey can run."""
    return CheckResult(check, "warning", text)


def danger(check: str, text: str) -> CheckResult:
    """Return a result for which `survey serve` refuses to start."""
    return CheckResult(check, "DANGER", text)


def check_key(key: str) -> CheckResult:
    """Check that the server key is hard to guess."""
    plain = re.sub(r"[^a-z0-9]", "", key.lower())
    common = [word for word in KNOWN_WORDS if word in plain]
    if len(key) < SHORTEST_KEY:
        fault = f"it has {len(key)} characters, and {SHORTEST_KEY} random ones are needed"
    elif common:
        fault = f"it holds {common[0]!r}, which others would try"
    elif len(set(key)) < FEWEST_KEY_CHARACTERS:
        fault = f"it has only {len(set(key))} different characters"
    else:
        return ok("server key", "long and varied")
    return danger(
        "server key",
        f"The server key can be guessed: {fault}; remove SURVEY_SECRET_KEY, and the survey makes "
        "a new one.",
    )


def check_key_matches(key: str, stored: str | None) -> CheckResult:
    """Check that the key in use is that of the instance folder, if a key is stored there."""
    if stored is None or stored == key:
        return ok("one key", "the key in use is the only one")
    return warning(
        "one key",
        "SURVEY_SECRET_KEY differs from the key in the instance folder: links and codes made with "
        "either key do not work with the other; remove the key that is not to be used.",
    )


def check_debugging(*, debug: bool) -> CheckResult:
    """Check that debugging is off: its error pages show code and data to participants."""
    if debug:
        return danger("debugging", "Debugging is switched on; unset FLASK_DEBUG.")
    return ok("debugging", "off")


def check_proxies(host: str, trusted_proxies: int) -> CheckResult:
    """Check that a server reachable by others has a proxy with HTTPS in front."""
    if trusted_proxies:
        return ok("proxies", f"the headers of {trusted_proxies} in front are believed")
    if _is_loopback(host):
        return ok("proxies", "none; set SURVEY_TRUSTED_PROXIES to the number of proxies in front")
    return warning(
        "proxies",
        f"The server listens on {host} with no proxy in front, so answers travel without HTTPS; "
        "put a proxy with HTTPS in front and say so with SURVEY_TRUSTED_PROXIES=1.",
    )


def check_address(host: str, trusted_proxies: int, address: str) -> CheckResult:
    """Check that links do not begin with whatever host a request names."""
    if address:
        return ok("address", f"links begin with {address}; requests for other hosts are refused")
    if not trusted_proxies and _is_loopback(host):
        return ok("address", "not set; only this computer reaches the server")
    return warning(
        "address",
        "SURVEY_ADDRESS is not set, so links begin with the host that a request names, and "
        "requests for any host are answered; set it to the address that people type.",
    )


def check_mail(settings: Settings) -> CheckResult:
    """Check that invitations have an address to lead to, and do not show a password on the way."""
    smtp = settings.smtp
    if smtp is None:
        return ok("mail", "SURVEY_SMTP_HOST is not set; the server sends no invitations")
    if not settings.address:
        text = "SURVEY_SMTP_HOST is set and SURVEY_ADDRESS is not: set the address with which links"
        return warning("mail", f"{text} in mails begin; until then no invitation is sent.")
    if smtp.security == "none" and smtp.host not in LOCAL:
        text = f"Mails and the password go to {smtp.host} unencrypted; set SURVEY_SMTP_SECURITY"
        return warning("mail", f"{text} to starttls or tls.")
    return ok("mail", f"invitations go through {smtp.host}, from {smtp.sender}")


def check_mail_server(settings: Settings) -> CheckResult:
    """Check that the mail server answers and lets the survey sign in; nothing is sent."""
    if settings.smtp is None:
        return ok("mail server", "none")
    try:
        with invitations.connection(settings.smtp):
            return ok("mail server", "answers")
    except (OSError, SMTPException) as error:
        return warning("mail server", invitations.connection_fault(settings.smtp, error))


def check_plugins(faults: Sequence[str]) -> CheckResult:
    """Check that the measures of installed packages could be registered."""
    return _registered("measures", faults, "all that other packages bring are registered")


def check_kinds(packages: Mapping[str, str], faults: Sequence[str]) -> CheckResult:
    """Name the kinds of question of installed packages, and those that could not be registered.

    ``packages``: by kind.
    """
    brought = ", ".join(f"{kind} of {package}" for kind, package in packages.items())
    return _registered("kinds", faults, brought or "no other package brings one")


def _registered(check: str, faults: Sequence[str], text: str) -> CheckResult:
    """Return a warning with the faults of other packages, or without any ok with ``text``."""
    if faults:
        reason = "; ".join(faults)
        return warning(check, f"{reason[0].upper()}{reason[1:]}; repair or remove the package.")
    return ok(check, text)


def check_file_access(files: Iterable[Path]) -> CheckResult:
    """Check that other users can neither read nor change the key, the database and its log."""
    exposed = [path for path in files if path.exists() and _others_can_read(path)]
    if exposed:
        return danger(
            "file access",
            f"Other users of this machine can read or change {', '.join(map(str, exposed))}; run "
            f"`chmod go= {' '.join(map(str, exposed))}`.",
        )
    return ok("file access", "no other user can read key or database")


def check_folder(folder: Path) -> CheckResult:
    """Check that other users can neither list nor change the instance folder."""
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        return danger(
            "instance folder",
            f"Any user of this machine can change what is in {folder}; run `chmod go= {folder}`.",
        )
    if mode & (stat.S_IROTH | stat.S_IXOTH):
        return warning(
            "instance folder",
            f"Other users of this machine can look into {folder}; run `chmod go= {folder}`.",
        )
    return ok("instance folder", "closed to others")


def check_leftovers(folder: Path) -> CheckResult:
    """Check that no interrupted restore left a copy of personal data behind."""
    leftovers = sorted(str(path) for path in folder.glob(f"{WORK}*"))
    if leftovers:
        return warning(
            "leftovers",
            "An interrupted restore left copies of personal data behind; unless one is running, "
            f"run `rm -r {' '.join(leftovers)}`.",
        )
    return ok("leftovers", "none of interrupted restores")


def check_upkeep(folder: Path) -> CheckResult:
    """Check that no deletion of personal data is late, as participants were promised."""
    if reason := reason_late(folder):
        text = f"{reason[0].upper()}{reason[1:]}. `survey serve` deletes it while it runs."
        return warning("deletions", text)
    return ok("deletions", "personal data that were due are deleted")


def check_file_system(folder: Path, mounts: str) -> CheckResult:
    """Check that the database is on a disk of this machine.

    ``mounts``: the content of /proc/mounts.
    """
    file_system = file_system_of(folder, mounts)
    if file_system in NETWORK_FILE_SYSTEMS:
        return danger(
            "file system",
            f"The database is in {folder}, on a network file system ({file_system}), where SQLite "
            "can lose answers; move it to a disk of this machine or use PostgreSQL.",
        )
    return ok("file system", file_system or "not known on this system")


def check_free_space(free: int) -> CheckResult:
    """Check that the disk has room for more answers."""
    if free < ADVISED_FREE_BYTES:
        return warning(
            "free space",
            f"{free / 1e6:,.0f} MB are free where the database is, "
            f"{ADVISED_FREE_BYTES / 1e6:,.0f} MB are advised: on a full disk no answer can be "
            "saved; make room.",
        )
    return ok("free space", f"{free / 1e9:,.1f} GB")


def file_system_of(folder: Path, mounts: str) -> str:
    """Return the type of the file system a folder is on, "" if it is unknown."""
    file_systems = {}
    for line in mounts.splitlines():
        _, folder_name, file_system, *_ = line.split(" ")
        # A blank in a name is written \040, in octal; a later mount hides an earlier one.
        file_systems[re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), folder_name)] = (
            file_system
        )
    upwards = (folder.resolve(), *folder.resolve().parents)
    return next((file_systems[str(path)] for path in upwards if str(path) in file_systems), "")


def check_stored_measures(plans: Iterable[tuple[str, Mapping[str, Any]]]) -> CheckResult:
    """Check that all measures of the stored studies are registered."""
    missing = [
        f"{slug} compares {name}"
        for slug, plan in plans
        for name in plan.get("measures", ())
        if name not in MEASURES
    ]
    if missing:
        return warning(
            "studies' measures",
            f"Not registered here: {'; '.join(missing)}. Their answers are kept and counted, but "
            "nothing can be recomputed; install the package that brings the measure.",
        )
    return ok("studies' measures", "all are registered")


def check_stored_plans(faults: Sequence[str]) -> CheckResult:
    """Check that this program can read the plans of all stored studies."""
    if faults:
        return warning(
            "studies' plans",
            f"{' '.join(faults)} Lists leave these studies out, and people cannot take part in "
            "them.",
        )
    return ok("studies' plans", "all can be read")


def check_library(settings: Mapping[str, str]) -> CheckResult:
    """Check that this version of SQLite does not corrupt databases in WAL mode."""
    version = settings["library"]
    needed = ".".join(map(str, WAL_IS_SAFE_FROM))
    is_old = tuple(int(part) for part in version.split(".")) < WAL_IS_SAFE_FROM
    if is_old and settings["journal_mode"] == "wal":
        return danger(
            "SQLite",
            f"SQLite {version} can corrupt a database in WAL mode, {needed} is needed; stop all "
            "programs that have the database open, or install the package pysqlite3.",
        )
    journal = "with a rollback journal, since it is older than " + needed if is_old else "with WAL"
    return ok("SQLite", f"{version}, {journal}")


def check_durability(settings: Mapping[str, str]) -> CheckResult:
    """Check that an answer is on the disk before it is acknowledged."""
    synchronous = settings.get("synchronous")  # None on PostgreSQL
    off = [name for name, value in settings.items() if value == "off"]
    if synchronous is not None and int(synchronous) < SYNCHRONOUS_FULL:
        return danger(
            "durability",
            f"PRAGMA synchronous is {synchronous}, below FULL: answers that were acknowledged can "
            "be lost when the power fails; let the survey open its database itself.",
        )
    if synchronous is None and off:
        return danger(
            "durability",
            f"PostgreSQL runs with {' and '.join(off)} off: answers that were acknowledged can be "
            "lost when it stops; switch it on in postgresql.conf.",
        )
    return ok("durability", "every answer is on the disk before it is acknowledged")


def check_encoding(encoding: str) -> CheckResult:
    """Check that the database can store every text."""
    if fault := encoding_fault(encoding):
        return danger("encoding", fault)
    return ok("encoding", "every text can be stored")


def check_integrity(faults: Sequence[str]) -> CheckResult:
    """Return a danger with the first fault that SQLite reports of its file, ok without any."""
    if faults:
        return danger(
            "integrity",
            f"The database is damaged ({faults[0]}); stop the server, keep a copy of the file, "
            "and restore a backup into an empty database.",
        )
    return ok("integrity", "no damage found")


def check_references(settings: Mapping[str, str], broken: Sequence[str]) -> CheckResult:
    """Check that foreign keys are enforced, and that no row refers to a missing row."""
    if broken:
        return danger(
            "references",
            f"Rows of {', '.join(broken)} refer to missing rows; a program other than the survey "
            "has changed the database: restore a backup.",
        )
    if settings.get("foreign_keys") == "0":
        return danger(
            "references",
            "SQLite does not enforce references (PRAGMA foreign_keys is 0); let the survey open "
            "its database itself.",
        )
    return ok("references", "all in order")


def check_triggers(missing: Sequence[str]) -> CheckResult:
    """Check that the database itself keeps opened studies unchanged, and counts slots."""
    if missing:
        return danger(
            "triggers",
            f"The database lacks triggers ({', '.join(missing)}); a program other than the survey "
            "has removed them: make a backup, and restore it into a new, empty database.",
        )
    return ok("triggers", "all there: opened studies cannot change, and slots are counted")


def _check_settings(settings: Settings, host: str) -> Iterator[CheckResult]:
    stored = settings.instance / "secret_key"
    yield check_key(settings.secret_key)
    yield check_key_matches(
        settings.secret_key, stored.read_text().strip() if stored.exists() else None
    )
    yield check_debugging(debug=get_debug_flag())
    yield check_proxies(host, settings.trusted_proxies)
    yield check_address(host, settings.trusted_proxies, settings.address)
    yield check_mail(settings)
    yield check_plugins(MEASURES.faults)
    yield check_kinds(KINDS.packages, KINDS.faults)


def _check_files(engine: Engine, settings: Settings) -> Iterator[CheckResult]:
    if os.name == "posix":  # Windows has other permissions
        yield check_file_access(_private_files(engine, settings.instance))
        yield check_folder(settings.instance)
    yield check_leftovers(settings.instance)
    yield check_upkeep(settings.instance)
    for path in filter(Path.exists, _database_files(engine)[:1]):
        mounts = MOUNTS.read_text() if MOUNTS.exists() else ""
        yield check_file_system(path.parent, mounts)
        yield check_free_space(shutil.disk_usage(path.parent).free)


def _check_database(engine: Engine, *, thorough: bool) -> Iterator[CheckResult]:
    if not all(map(Path.exists, _database_files(engine)[:1])):  # opening a missing file creates it
        yield danger("schema", "There is no survey database here yet; run `survey init`.")
        return
    try:
        require_current_schema(engine)
        yield ok("schema", "fits this version of the survey")
        with Session(engine) as session:
            studies = queries.all_studies(session)
            yield check_stored_measures([(study.slug, study.plan_json) for study in studies])
            yield check_stored_plans([fault for study in studies if (fault := study.plan_fault)])
    except SchemaError as error:
        yield danger("schema", str(error))
    try:
        with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
            settings = migration.durability_settings(connection)
            if "library" in settings:
                yield check_library(settings)
            yield check_durability(settings)
            yield check_encoding(migration.text_encoding(connection))
            newest = migration.newest_revision()
            if thorough and migration.current_revision(connection) == newest:
                yield check_triggers(migration.missing_triggers(connection))
            yield check_integrity(migration.integrity_faults(connection, thorough=thorough))
            yield check_references(settings, migration.broken_references(connection))
    except DatabaseError as error:
        if engine.dialect.name == "sqlite":  # most probably the file is damaged
            yield check_integrity([str(error.orig)])
        else:
            yield danger("database", f"It cannot be read now: {error.orig}")


def _private_files(engine: Engine, instance: Path) -> list[Path]:
    return [instance / "secret_key", instance / KEY_FILE, *_database_files(engine)]


def _database_files(engine: Engine) -> list[Path]:
    """Return SQLite's database file and those that exist beside it while it is open."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return []
    file = Path(engine.url.database).absolute()
    return [file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))]


def _others_can_read(path: Path) -> bool:
    """Return whether a file's permissions, and those of all folders above it, let others in."""
    if not path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        return False
    return all(above.stat().st_mode & stat.S_IXOTH for above in path.resolve().parents)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
