"""Compare what two versions of the survey make of the frozen bundles, byte by byte.

``python -m tests.cases.compare /path/to/another/checkout/.venv/bin/survey`` says for each bundle of
tests/cases/released what differs: the analysis as JSON and as text, the report, and the files of
the bundle that comes out of an import. Codebooks say the same in other words at times, so they are
left out, and so is study.json's name of the version.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.progress import track

BUNDLES = sorted((Path(__file__).parent / "released").glob("*/*.zip"))
OURS = Path(sys.executable).with_name("survey")
IN_OTHER_WORDS = ("codebook.csv", "SHA256SUMS")


def outputs_of(survey: Path, bundle: Path) -> dict[str, bytes]:
    """Return all that a version makes of a bundle, by what it is."""
    with TemporaryDirectory() as folder:
        place = Path(folder)

        def run(*words: str | Path) -> bytes:
            environment = os.environ | {"SURVEY_INSTANCE": str(place / "instance")}
            done = subprocess.run(
                [survey, *words], env=environment, capture_output=True, check=False
            )
            return done.stdout + done.stderr if done.returncode else done.stdout

        found = {
            "analysis as JSON": run("analyse", bundle, "--json"),
            "analysis as text": run("analyse", bundle),
        }
        run("analyse", bundle, "--to", place / "report")
        for file in sorted((place / "report").rglob("*.csv")):
            found[f"report: {file.name}"] = file.read_bytes()
        run("init")
        run("researcher", "add", "ada")
        run("import", bundle, "--owner", "ada", "--as", "copy")
        found["export"] = run("export", "copy", "--to", place / "copy.zip").replace(
            str(place).encode(), b""
        )
        return found | dict(_files_in(place / "copy.zip"))


def _files_in(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.exists():
        return
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "study.json":
                study = {**json.loads(content), "versions": None, "closed_at": None}
                content = json.dumps(study).encode()
            if name not in IN_OTHER_WORDS:
                yield f"exported again: {name}", content


def differences(one: Path, other: Path, bundle: Path) -> list[str]:
    """Return what two versions make differently of a bundle."""
    first, second = outputs_of(one, bundle), outputs_of(other, bundle)
    names = sorted(first.keys() | second.keys())
    return [name for name in names if first.get(name) != second.get(name)]


def main(other: Path) -> int:
    """Print the differences of all bundles; return 1 where there are some."""
    found = {
        bundle: differences(OURS, other, bundle)
        for bundle in track(BUNDLES, "Comparing", transient=True)
    }
    for bundle, names in found.items():
        place = bundle.relative_to(bundle.parents[2])
        click.echo(f"{place}: {', '.join(names) or 'the same to the byte'}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
