"""Commands of a server in a story: this checkout's ``survey``, and a ``sudo`` without rights."""

import sys
from pathlib import Path

# As the real one, it forgets what was exported; the rest of a story is typed by an administrator.
SUDO = """#!/bin/sh
[ "$1" = -u ] || exit 2
user=$2
shift 2
exec env -i PATH="$PATH" PYTHONPATH="$PYTHONPATH" STORY_USER="$user" "$@"
"""
ID = """#!/bin/sh
[ "$*" = -un ] || exit 2
echo "${STORY_USER:-administrator}"
"""
SURVEY = f"""#!/bin/sh
exec {sys.executable} -m survey "$@"
"""


def make_stand_ins(folder: Path) -> None:
    """Write the commands that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("survey", SURVEY), ("sudo", SUDO), ("id", ID)):
        if not (folder / name).exists():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
