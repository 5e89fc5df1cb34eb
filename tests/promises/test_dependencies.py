"""Dependencies are few, pinned and listed with their licences; the code is looked through."""

import re
import subprocess
import sys
from importlib.metadata import distribution, metadata

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.dependencies import page
from tests.dependencies.audit import KNOWN_TO_BE_BAD, audit

ROOT = page.ROOT
PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][A-Za-z0-9.+!]*)")
# "with exceptions" is what a library linked into a wheel says; MPL binds changed files only.
COPYLEFT = re.compile(r"GPL|GNU|Affero|SSPL|EUPL|CeCILL|Sleepycat|Commons Clause|Proprietary", re.I)
# Libraries under the LGPL, which are used as they are: the survey's own licence stays.
LIBRARIES = {"psycopg", "psycopg-binary"}
VULNERABLE = '{"dependencies": [{"name": "jinja2", "version": "2.4.1", "vulns": [{"id": "X-1"}]}]}'


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    found = [PIN.fullmatch(line) for line in lines]
    assert all(found), "a line of constraints.txt is no pin"
    return {one["name"]: one["version"] for one in found}


@pytest.mark.slow
def test_everything_that_is_installed_is_pinned_and_nothing_else():
    needed = {name for brought in page.dependencies().values() for name in brought}
    assert {name: distribution(name).version for name in needed} == pins()


@pytest.mark.slow
def test_every_pinned_package_runs_on_the_oldest_python_that_the_survey_runs_on():
    """Debian 12 has 3.11.2, on which one that needs 3.11.5 left the tests without a package."""
    oldest = f"{metadata('ranking-survey')['Requires-Python'].removeprefix('>=')}.0"
    # Not by [ ]: once another package has imported importlib_metadata, none is an error.
    needs = {name: (metadata(name).get_all("Requires-Python") or [""])[0] for name in pins()}
    assert [name for name, need in needs.items() if not SpecifierSet(need).contains(oldest)] == []


def test_a_server_installs_the_pinned_versions_and_knows_the_hash_of_each_file():
    lines = (ROOT / "requirements.lock").read_text().replace("\\\n", "").splitlines()
    locked = {}
    for line in lines:
        found = PIN.match(line)
        assert found, line
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), line
        locked[found["name"].lower()] = found["version"]
    known = {canonicalize_name(name): version for name, version in pins().items()}
    assert locked.items() <= known.items(), "run make lock"
    direct = {name for name, asked in page.dependencies()["Run time"].items() if not asked}
    assert {canonicalize_name(name) for name in direct} <= locked.keys(), "run make lock"


def test_no_index_is_named():
    pinned = (
        "constraints.txt",
        "requirements.lock",
        "tests/dependencies/audit.txt",
        "tests/dependencies/rocrate.txt",
        "benchmarks/speed/peers.txt",
    )
    for name in (*pinned, "pyproject.toml", "Makefile", "Containerfile", ".ci/run"):
        text = (ROOT / name).read_text()
        assert "://" not in text.replace("http://127.0.0.1", ""), name


@pytest.mark.slow
def test_nothing_at_run_time_is_copyleft(measured):
    groups = page.dependencies()
    for name in groups["Run time"]:
        package = distribution(name)
        said = [page.licence_of(package), *page.classifiers_of(package)]
        is_library = name in LIBRARIES and said == ["LGPL-3.0-only"]
        assert is_library or not any(COPYLEFT.search(one) for one in said), (name, said)
    direct = sum(not asked for asked in groups["Run time"].values())
    measured(
        f"At run time {direct} packages are asked for directly, {len(groups['Run time'])} with "
        f"what they need; all {len(pins())} of run time, tests and checks are pinned; of those "
        "at run time only PostgreSQL's driver, a library under the LGPL that is used as it is, "
        "has a GPL-like licence."
    )


def test_the_check_would_see_the_one_gpl_package_that_the_tests_have():
    assert COPYLEFT.search(page.licence_of(distribution("krippendorff")))


def test_every_direct_dependency_has_its_reason_in_a_decision():
    reasons = (ROOT / "docs" / "decisions" / "0011-dependencies.md").read_text()
    named = {name.lower() for name in re.findall(r"[\w-]+", reasons)}
    direct = {name for name, asked in page.dependencies()["Run time"].items() if not asked}
    assert {name.lower() for name in direct} <= named


@pytest.mark.skipif(sys.platform != "linux", reason="pysqlite3 is for Linux only")
@pytest.mark.slow
def test_the_page_of_dependencies_is_up_to_date():
    assert page.PAGE.read_text() == page.written(), "run make dependencies"


@pytest.mark.trial  # `make check` runs it every time
def test_bandit_finds_nothing(measured):
    command = [sys.executable, "-m", "bandit", "--recursive", "--format", "txt", "survey"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "No issues identified." in done.stdout
    lines = re.search(r"Total lines of code: (\d+)", done.stdout)[1]
    assert "Files skipped (0)" in done.stdout
    excepted = sum("# nosec" in path.read_text() for path in (ROOT / "survey").rglob("*.py"))
    measured(
        f"bandit, all levels, over {int(lines):,} lines: 0 findings; exceptions in {excepted} "
        "files, each with its reason."
    )


def test_every_exception_from_bandit_names_its_rule_and_its_reason():
    for path in (ROOT / "survey").rglob("*.py"):
        before = ""
        for line in path.read_text().splitlines():
            if "nosec" in line:
                rule = re.search(r"# nosec B\d{3}(?: # (?P<reason>.+))?$", line)
                assert rule, (path, line)
                assert rule["reason"] or before.strip().startswith("# "), (path, line)
            before = line


@pytest.fixture
def tool(tmp_path):
    """A program in the place of pip-audit, whose answers are known."""

    def made(known, pinned):
        script = tmp_path / "pip-audit"
        script.write_text(
            f"#!/bin/sh\ncase $* in *known.txt*) {known} ;; *constraints.txt) {pinned} ;; esac\n"
        )
        script.chmod(0o755)
        return script

    return made


def test_what_is_vulnerable_fails_the_audit_and_what_is_not_passes(tool, capfd):
    answered = f"echo '{VULNERABLE}'; exit 1"
    assert audit(tool(answered, "echo 'No known vulnerabilities found'")) == 0
    assert audit(tool(answered, "echo 'Found 1 known vulnerability'; exit 1")) == 1
    assert "NOT AUDITED" not in capfd.readouterr().out
    assert KNOWN_TO_BE_BAD == "jinja2==2.4.1"


@pytest.mark.parametrize(
    "silence",
    ["echo 'connection refused' >&2; exit 1", "echo '{\"dependencies\": []}'", "exit 2"],
    ids=["no network", "a mirror without advisories", "broken"],
)
def test_where_no_advisories_are_reached_it_is_said_that_nothing_was_audited(
    tool, capfd, monkeypatch, silence
):
    program = tool(silence, "exit 1")
    monkeypatch.delenv("REQUIRE_AUDIT", raising=False)
    assert audit(program) == 0
    assert capfd.readouterr().out.startswith("NOT AUDITED: no network")
    monkeypatch.setenv("REQUIRE_AUDIT", "1")
    assert audit(program) == 1
