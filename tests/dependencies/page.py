"""Write DEPENDENCIES.md: every package, its licence, and by whom it is asked for.

Run by ``make dependencies``, from what is installed; a test compares it with what is pinned.
"""

import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "DEPENDENCIES.md"
# What for → the list of pyproject.toml; a package stands where it is needed first.
GROUPS = {"Run time": "", "Tests": "test", "Checks": "check"}
# Packages whose metadata do not say; they bring the texts of their licences along.
LICENCES = {"axe-playwright-python": "MIT, axe-core in it MPL-2.0", "pysqlite3": "Zlib"}
HEAD = """# Dependencies

Written by `make dependencies` from what the packages say of themselves; `constraints.txt`
pins them. Why the direct ones are here: docs/decisions/0011-dependencies.md.

psycopg and psycopg-binary, the driver of PostgreSQL, are libraries under the LGPL. The survey
uses them as they are, from their own wheels, which can be replaced; its own licence stays MIT.
"""


def dependencies() -> dict[str, dict[str, set[str]]]:
    """For each group: which packages, and which others ask for them (none, for a direct one)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = {
        group: project["optional-dependencies"][extra] if extra else project["dependencies"]
        for group, extra in GROUPS.items()
    }
    found: dict[str, dict[str, set[str]]] = {}
    for group, texts in listed.items():
        brought = found[group] = {}
        direct = {_find(Requirement(text), brought) for text in texts}
        for name in direct & set(brought):
            brought[name] = set()
    return found


def _find(requirement: Requirement, found: dict[str, set[str]], extra: str = "") -> str:
    """Add a package and all that it asks for to what was found; return its name."""
    if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
        return ""
    package = distribution(requirement.name)
    is_new = package.name not in found
    found.setdefault(package.name, set())
    for asked in requirement.extras | ({""} if is_new else set()):
        for text in package.requires or ():
            name = _find(Requirement(text), found, asked)
            if name:
                found[name].add(package.name)
    return package.name


def licence_of(package: Distribution) -> str:
    """Return a package's licence: its expression, its short name, or that of its classifier."""
    said = package.metadata
    short = said.get("License", "")
    if said.get("License-Expression"):
        return str(said["License-Expression"])
    if 0 < len(short) <= 30 and "\n" not in short:
        return short
    classified = [one.rpartition(" :: ")[2] for one in classifiers_of(package)]
    return ", ".join(classified) or LICENCES[package.name]


def classifiers_of(package: Distribution) -> list[str]:
    """Return the classifiers that name a licence."""
    known = package.metadata.get_all("Classifier") or []
    return [one for one in known if one.startswith("License ::")]


def written() -> str:
    """Return the page for what is installed; a package stands in the group that needs it first."""
    parts, shown = [HEAD], set[str]()
    for group, brought in dependencies().items():
        new = sorted(set(brought) - shown, key=str.lower)
        shown |= set(new)
        direct = sum(not brought[name] for name in new)
        parts.append(
            f"## {group}\n\n{direct} asked for directly, {len(new)} with what they need.\n"
        )
        parts.append("| Package | Version | Licence | Asked for by |\n|---|---|---|---|")
        parts.extend(_row(distribution(name), brought[name]) for name in new)
        parts.append("")
    return "\n".join(parts)


def _row(package: Distribution, asked_by: set[str]) -> str:
    by = ", ".join(sorted(asked_by, key=str.lower)) or "the survey"
    return f"| {package.name} | {package.version} | {licence_of(package)} | {by} |"


if __name__ == "__main__":
    PAGE.write_text(written())
