"""What a check finds.

Checks of files: who can read them, on what they are stored, and how much room there is.

Checks of the database: its library, its settings, its schema, its soundness.

Checks of settings: the server key, debugging, proxies.

All checks, one after the other.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from survey.core.measures import MEASURES
from survey.db import migration, study_queries
from survey.db.engine import WAL_IS_SAFE_FROM
from survey.errors import SchemaError
from survey.services.operations.database import require_current_schema

Level = Literal["ok", "warning", "DANGER"]


@dataclass(frozen=True)
class Finding:
    """The outcome of one check; ``text`` says what was found and, unless ok, what to do."""

    check: str
    level: Level
    text: str


def ok(check: str, text: str) -> Finding:
    """Return that a check found nothing wrong."""
    return Finding(check, "ok", text)


def warning(check: str, text: str) -> Finding:
    """Return what should be mended, although the survey can run."""
    return Finding(check, "warning", text)


def danger(check: str, text: str) -> Finding:
    """Return that with which no survey should be served."""
    return Finding(check, "DANGER", text)


FREE_WANTED = 500_000_000

# Where locks and shared memory do not work as SQLite needs them.
NETWORK_FILE_SYSTEMS = {
    *("nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "9p", "ceph"),
    *("lustre", "glusterfs", "beegfs", "davfs", "fuse.sshfs", "fuse.davfs2", "fuse.glusterfs"),
    *("fuse.rclone", "fuse.s3fs", "fuse.ceph", "fuse.smbnetfs", "fuse.curlftpfs"),
}


def make_private(folder: Path, files: Iterable[Path]) -> None:
    """Keep others from the instance folder and from these files, where they are ours.

    A file that is not there yet, a new database, is made so that it never was open to them.
    """
    for path in [folder, *files]:
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077 and path.stat().st_uid == os.getuid():
            path.chmod(mode & 0o700)


def check_readers(files: Iterable[Path]) -> Finding:
    """Are key, database and its log readable by their owner only?"""
    open_to = [path for path in files if path.exists() and _others_can_read(path)]
    if open_to:
        return danger(
            "file access",
            f"Other users of this machine can read or change {', '.join(map(str, open_to))}; run "
            f"`chmod go= {' '.join(map(str, open_to))}`.",
        )
    return ok("file access", "no other user can read key or database")


def check_folder(folder: Path) -> Finding:
    """Is the instance folder closed to others?"""
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


def check_leftovers(folder: Path) -> Finding:
    """Did an interrupted restore leave a copy of personal data behind?"""
    left = sorted(str(path) for path in folder.glob(".restore-*"))
    if left:
        return warning(
            "leftovers",
            "An interrupted restore left copies of personal data behind; unless one is running, "
            f"run `rm -r {' '.join(left)}`.",
        )
    return ok("leftovers", "none of interrupted restores")


def check_file_system(folder: Path, mounts: str) -> Finding:
    """Is the database on a disk of this machine? ``mounts``: as in /proc/mounts."""
    kind = file_system_of(folder, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        return danger(
            "file system",
            f"The database is in {folder}, on a network file system ({kind}), where SQLite can "
            "lose answers; move it to a disk of this machine or use PostgreSQL.",
        )
    return ok("file system", kind or "not known on this system")


def check_free_space(free: int) -> Finding:
    """Is there room for more answers?"""
    if free < FREE_WANTED:
        return warning(
            "free space",
            f"{free / 1e6:,.0f} MB are free where the database is, {FREE_WANTED / 1e6:,.0f} MB "
            "are advised: on a full disk no answer can be saved; make room.",
        )
    return ok("free space", f"{free / 1e9:,.1f} GB")


def file_system_of(folder: Path, mounts: str) -> str:
    """Return the kind of file system a folder is on, "" if it cannot be told."""
    kinds = {}
    for line in mounts.splitlines():
        _, place, kind, *_ = line.split(" ")
        # Blanks and the like stand there as octal numbers; what is mounted later covers.
        kinds[re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), place)] = kind
    return next((kinds[str(path)] for path in _upwards(folder) if str(path) in kinds), "")


def _others_can_read(path: Path) -> bool:
    """Tell whether the file and every folder above it let others in."""
    if not path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        return False
    return all(above.stat().st_mode & stat.S_IXOTH for above in path.resolve().parents)


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder.resolve()
    yield from folder.resolve().parents


FULL = 2  # PRAGMA synchronous: 0 OFF, 1 NORMAL, 2 FULL, 3 EXTRA


def check_library(settings: Mapping[str, str]) -> Finding:
    """Is SQLite too old for the way in which it keeps its log?"""
    found = settings["library"]
    needed = ".".join(map(str, WAL_IS_SAFE_FROM))
    is_old = tuple(int(part) for part in found.split(".")) < WAL_IS_SAFE_FROM
    if is_old and settings["journal_mode"] == "wal":
        return danger(
            "SQLite",
            f"SQLite {found} can corrupt a database in WAL mode, {needed} is needed; stop what has "
            "the database open, or install the package pysqlite3.",
        )
    how = "with a rollback journal, since it is older than " + needed if is_old else "with WAL"
    return ok("SQLite", f"{found}, {how}")


def check_durability(settings: Mapping[str, str]) -> Finding:
    """Has an acknowledged answer reached the disk?"""
    if "synchronous" in settings:
        if int(settings["synchronous"]) < FULL:
            return danger(
                "durability",
                f"PRAGMA synchronous is {settings['synchronous']}, below FULL: answers that were "
                "acknowledged can be lost when the power fails; let the survey open its database "
                "itself.",
            )
        return ok("durability", "every answer is on the disk before it is acknowledged")
    off = [name for name, value in settings.items() if value == "off"]
    if off:
        return danger(
            "durability",
            f"PostgreSQL runs with {' and '.join(off)} off: answers that were acknowledged can be "
            "lost when it stops; switch it on in postgresql.conf.",
        )
    return ok("durability", "every answer is on the disk before it is acknowledged")


def check_schema(fault: str) -> Finding:
    """Do database and survey fit together? ``fault``: what is said when they do not."""
    return danger("schema", fault) if fault else ok("schema", "fits this version of the survey")


def check_soundness(damaged: Sequence[str]) -> Finding:
    """Is the database's file undamaged?"""
    if damaged:
        return danger(
            "integrity",
            f"The database is damaged ({damaged[0]}); stop the server, keep a copy of the file, "
            "and restore a backup into an empty database.",
        )
    return ok("integrity", "no damage found")


def check_references(settings: Mapping[str, str], broken: Sequence[str]) -> Finding:
    """Does everything refer to something that is there?"""
    if broken:
        return danger(
            "references",
            f"Rows of {', '.join(broken)} refer to what is not there; something else than the "
            "survey has changed the database: restore a backup.",
        )
    if settings.get("foreign_keys") == "0":
        return danger(
            "references",
            "SQLite does not watch over references (PRAGMA foreign_keys is 0); let the survey "
            "open its database itself.",
        )
    return ok("references", "all in order")


def check_stored_measures(plans: Iterable[tuple[str, Mapping[str, Any]]]) -> Finding:
    """Are all measures that studies compare registered here?"""
    missing = [
        f"{slug} compares {name}"
        for slug, plan in plans
        for name in plan["measures"]
        if name not in MEASURES
    ]
    if missing:
        return warning(
            "studies' measures",
            f"Not registered here: {'; '.join(missing)}. Their answers are kept and counted, but "
            "nothing can be recomputed; install the package that brings the measure.",
        )
    return ok("studies' measures", "all are registered")


SHORTEST_KEY = 32
FEWEST_SIGNS = 8
# What stands in keys that were copied from a page or typed for a trial.
KNOWN_WORDS = (
    *("changeme", "changethis", "replaceme", "replacethis", "yoursecret", "mysecret", "thesecret"),
    *("secretkey", "supersecret", "topsecret", "notsosecret", "password", "placeholder"),
    *("insecure", "devkey", "development", "qwerty", "0123456789", "abcdefgh"),
)

MAKE_A_KEY = "remove SURVEY_SECRET_KEY, and one is made for you"


def check_key(key: str) -> Finding:
    """Is the server key one that nobody guesses?"""
    plain = re.sub(r"[^a-z0-9]", "", key.lower())
    known = [word for word in KNOWN_WORDS if word in plain]
    if len(key) < SHORTEST_KEY:
        fault = f"it has {len(key)} characters, and {SHORTEST_KEY} random ones are needed"
    elif known:
        fault = f"it holds {known[0]!r}, which others would try"
    elif len(set(key)) < FEWEST_SIGNS:
        fault = f"it has only {len(set(key))} different characters"
    else:
        return ok("server key", "long and varied")
    return danger("server key", f"The server key can be guessed: {fault}; {MAKE_A_KEY}.")


def check_key_is_one(key: str, stored: str | None) -> Finding:
    """Is the key that is used the one that the instance folder keeps?"""
    if stored is None or stored == key:
        return ok("one key", "the key in use is the only one")
    return warning(
        "one key",
        "SURVEY_SECRET_KEY is another key than the one in the instance folder: what was handed out "
        "under the one opens nothing under the other; remove the one that is not to be used.",
    )


def check_debugging(*, debug: bool) -> Finding:
    """Is debugging off, which shows the survey's inside to whoever meets an error?"""
    if debug:
        return danger("debugging", "Debugging is switched on; unset FLASK_DEBUG.")
    return ok("debugging", "off")


def check_proxies(host: str, trusted_proxies: int) -> Finding:
    """Is there something in front that speaks HTTPS, where others can reach the server?"""
    if trusted_proxies:
        return ok("proxies", f"the headers of {trusted_proxies} in front are believed")
    if _is_loopback(host):
        return ok("proxies", "none; SURVEY_TRUSTED_PROXIES says how many stand in front")
    return warning(
        "proxies",
        f"The server listens on {host} with no proxy in front, so answers travel without HTTPS; "
        "put a proxy with HTTPS in front and say so with SURVEY_TRUSTED_PROXIES=1.",
    )


def check_measures(faults: Sequence[str]) -> Finding:
    """Could the measures that other packages bring be registered?"""
    if faults:
        told = "; ".join(faults)
        return warning("measures", f"{told[0].upper()}{told[1:]}; repair or remove the package.")
    return ok("measures", "all that other packages bring are registered")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True)
class Circumstances:
    """How a survey is run: its folder and key, and where it listens."""

    instance: Path
    secret_key: str
    trusted_proxies: int
    debug: bool
    host: str = "127.0.0.1"


def examine(engine: Engine, how: Circumstances, *, thorough: bool = True) -> list[Finding]:
    """Make all checks; without ``thorough`` a large database is looked through less closely."""
    return [
        *_of_settings(how),
        *_of_files(engine, how),
        *_of_the_database(engine, thorough=thorough),
    ]


def close_to_others(engine: Engine, instance: Path) -> None:
    """Keep other users of the machine from the instance folder, key and database."""
    if os.name == "posix":
        named = _database_files(engine)[:1]
        made = [path for path in _private_files(engine, instance) if path.exists()]
        make_private(instance, dict.fromkeys([*named, *made]))


def _of_settings(how: Circumstances) -> Iterator[Finding]:
    stored = how.instance / "secret_key"
    yield check_key(how.secret_key)
    yield check_key_is_one(how.secret_key, stored.read_text().strip() if stored.exists() else None)
    yield check_debugging(debug=how.debug)
    yield check_proxies(how.host, how.trusted_proxies)
    yield check_measures(MEASURES.faults)


def _of_files(engine: Engine, how: Circumstances) -> Iterator[Finding]:
    if os.name == "posix":  # elsewhere these bits say nothing
        yield check_readers(_private_files(engine, how.instance))
        yield check_folder(how.instance)
    yield check_leftovers(how.instance)
    for path in filter(Path.exists, _database_files(engine)[:1]):
        mounts = MOUNTS.read_text() if MOUNTS.exists() else ""
        yield check_file_system(path.parent, mounts)
        yield check_free_space(shutil.disk_usage(path.parent).free)


def _of_the_database(engine: Engine, *, thorough: bool) -> Iterator[Finding]:
    if not all(map(Path.exists, _database_files(engine)[:1])):  # opening it would make it
        yield check_schema("There is no survey database here yet; run `survey init`.")
        return
    try:
        require_current_schema(engine)
        yield check_schema("")
        with Session(engine) as session:
            yield check_stored_measures(study_queries.stored_plans(session))
    except SchemaError as error:
        yield check_schema(str(error))
    try:
        with engine.execution_options(sqlite_begin="DEFERRED").connect() as connection:
            found = migration.settings_of(connection)
            if "library" in found:
                yield check_library(found)
            yield check_durability(found)
            damaged = migration.damage(connection, thorough=thorough)
            yield check_soundness(damaged)
            yield check_references(found, migration.broken_references(connection))
    except DatabaseError as error:
        yield check_soundness([str(error.orig)])


def _private_files(engine: Engine, instance: Path) -> list[Path]:
    return [instance / "secret_key", *_database_files(engine)]


def _database_files(engine: Engine) -> list[Path]:
    """Return SQLite's database and what stands beside it while it is open; none on a server."""
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return []
    file = Path(engine.url.database).absolute()
    return [file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))]
