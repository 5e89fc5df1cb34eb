"""What a spreadsheet makes of a CSV file, by rules of our own or by LibreOffice itself.

Modelled on how Excel and LibreOffice take a CSV in, and stricter than either: what cannot
be seen is skipped wherever it stands, quotes too, and wide signs count as narrow ones.
"""

import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

STARTS = "=+-@|%"
# Format characters that are written, not skipped: signs before numbers in Arabic and the like.
WRITTEN = set(range(0x600, 0x606)) | {0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
WRITTEN |= set(range(0x13430, 0x13440))
BLANK = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
BLANK |= {*range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def cells_of(text, separator=","):
    """Cut a file into cells as a spreadsheet does: a quote counts only where a cell begins."""
    cells, cell, at, quoted = [], [], 0, False
    while at < len(text):
        sign, follows = text[at], text[at + 1 : at + 2]
        if quoted and sign == '"' and follows == '"':
            cell.append('"')
            at += 1
        elif sign == '"' and (quoted or not cell):
            quoted = not quoted
        elif not quoted and sign in (separator, "\r", "\n"):
            cells.append("".join(cell))
            cell = []
        else:
            cell.append(sign)
        at += 1
    return [*cells, "".join(cell)]


def is_formula(cell):
    """Tell whether a spreadsheet would run a cell."""
    seen = cell.lstrip("".join(filter(is_unseen, set(cell))))
    if not seen or NUMBER.match(seen.strip()):
        return False
    first = unicodedata.normalize("NFKC", seen[0])
    is_wide = unicodedata.east_asian_width(seen[0]) in "FW"
    return first in STARTS and (seen[0].isascii() or is_wide)


def is_unseen(sign):
    """Tell whether a sign is a blank, a quote, or nothing on paper."""
    code, kind = ord(sign), unicodedata.category(sign)
    if kind == "Cf":
        return code not in WRITTEN
    return sign == '"' or kind in ("Zs", "Zl", "Zp", "Cc") or code in BLANK


def formulas_in(text):
    """Return the cells that would run, whichever separator the file is opened with."""
    return [
        cell
        for separator in (",", ";", "\t")
        for cell in cells_of(text, separator)
        if is_formula(cell)
    ]


def libreoffice():
    """Return LibreOffice's command where it is installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def formulas_in_libreoffice(files, folder):
    """Return which of these CSV files hold a formula once LibreOffice has taken them in."""
    paths = [Path(folder, name) for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        path.write_bytes(content)
    home = f"-env:UserInstallation=file://{folder}/home"
    command = [libreoffice(), home, "--headless", "--convert-to", "fods", "--outdir", str(folder)]
    # Comma and semicolon, quotes, UTF-8, from row 1, and formulas run where there are any.
    opened = "--infilter=CSV:44/59,34,76,1,,0,false,true,false,false,false,0,true"
    subprocess.run([*command, opened, *map(str, paths)], check=True, timeout=300)
    return [path.name for path in paths if "table:formula" in path.with_suffix(".fods").read_text()]
