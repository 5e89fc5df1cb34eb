"""Checks of the database: its library, its settings, its schema, its soundness."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from survey.core.measures import MEASURES
from survey.db.engine import WAL_IS_SAFE_FROM
from survey.services.doctor.findings import Finding, danger, ok, warning

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


def check_measures(plans: Iterable[tuple[str, Mapping[str, Any]]]) -> Finding:
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
