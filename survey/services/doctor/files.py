"""Checks of files: who can read them, on what they are stored, and how much room there is."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from survey.services.doctor.findings import Finding, danger, ok, warning

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
