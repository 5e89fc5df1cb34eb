"""Promise 8: each check of the doctor, and what makes it fire."""

import os
import stat
import tempfile

import pytest

from survey.config import Settings
from survey.services.operations import doctor
from tests.builders import KEY

SAFE = {"library": "3.53.4", "journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}
MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /srv nfs4 rw 0 0
/dev/sdb1 /srv/local ext4 rw 0 0
me@host: /home/me/two\\040words fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("short", "it has 5 characters, and 32 random ones are needed"),
        ("k" * 40, "it has only 1 different characters"),
        ("please-Change_Me-please-Change_Me-please", "it holds 'changeme'"),
        ("a-Super-Secret_key-for-our-small-survey!", "it holds 'secretkey'"),
        ("0123456789abcdef0123456789abcdef", "it holds '0123456789'"),
    ],
)
def test_a_key_that_others_would_try_is_dangerous(key, fault):
    found = doctor.check_key(key)
    assert found.level == "DANGER"
    assert fault in found.text


def test_keys_made_by_the_survey_and_for_these_tests_are_fine(tmp_path):
    for number in range(500):
        made = Settings.from_environment(
            {"SURVEY_INSTANCE": str(tmp_path / str(number))}, make=True
        )
        assert doctor.check_key(made.secret_key).level == "ok"
    assert doctor.check_key(KEY).level == "ok"


def test_a_second_key_beside_the_stored_one_is_warned_of():
    assert doctor.check_key_matches(KEY, "another").level == "warning"
    assert doctor.check_key_matches(KEY, KEY).level == "ok"
    assert doctor.check_key_matches(KEY, None).level == "ok"


def test_debugging_is_dangerous():
    assert doctor.check_debugging(debug=True).level == "DANGER"
    assert doctor.check_debugging(debug=False).level == "ok"


@pytest.mark.parametrize(
    ("host", "proxies", "level"),
    [
        ("0.0.0.0", 0, "warning"),
        ("192.168.1.5", 0, "warning"),
        ("::", 0, "warning"),
        ("survey.example", 0, "warning"),
        ("0.0.0.0", 1, "ok"),
        ("127.0.0.1", 0, "ok"),
        ("::1", 0, "ok"),
        ("localhost", 0, "ok"),
    ],
)
def test_serving_others_without_a_proxy_is_warned_of(host, proxies, level):
    assert doctor.check_proxies(host, proxies).level == level


@pytest.mark.parametrize(
    ("host", "proxies", "address", "level"),
    [
        ("127.0.0.1", 0, "", "ok"),
        ("127.0.0.1", 1, "", "warning"),
        ("0.0.0.0", 0, "", "warning"),
        ("0.0.0.0", 1, "https://survey.example", "ok"),
    ],
)
def test_serving_others_without_an_address_of_its_own_is_warned_of(host, proxies, address, level):
    assert doctor.check_address(host, proxies, address).level == level


@pytest.mark.parametrize(
    ("folder", "kind", "level"),
    [
        ("/home/me", "ext4", "ok"),
        ("/srv/survey", "nfs4", "DANGER"),
        ("/srv/local/survey", "ext4", "ok"),
        ("/home/me/two words/x", "fuse.sshfs", "DANGER"),
        ("/srvother", "ext4", "ok"),
    ],
)
def test_a_database_on_a_network_file_system_is_dangerous(folder, kind, level):
    folder = doctor.Path(folder)
    assert doctor.file_system_of(folder, MOUNTS) == kind
    assert doctor.check_file_system(folder, MOUNTS).level == level
    assert doctor.check_file_system(folder, "").level == "ok"


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"])
def test_the_usual_network_file_systems_are_known(kind):
    assert doctor.check_file_system(doctor.Path("/srv"), f"x / {kind} rw 0 0").level == "DANGER"


def test_little_room_is_warned_of():
    assert doctor.check_free_space(499_000_000).level == "warning"
    assert "499 MB are free" in doctor.check_free_space(499_000_000).text
    assert doctor.check_free_space(500_000_000).level == "ok"


@pytest.fixture
def open_folder():
    """A folder into which others can look, as a repository's checkout has it."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield doctor.Path(name)


def test_a_file_that_others_can_read_is_dangerous(open_folder):
    key = open_folder / "secret_key"
    for mode, level in ((0o644, "DANGER"), (0o602, "DANGER"), (0o600, "ok"), (0o640, "ok")):
        key.touch()
        key.chmod(mode)
        assert doctor.check_file_access([key, open_folder / "missing"]).level == level, oct(mode)
    key.chmod(0o644)
    open_folder.chmod(0o700)
    assert doctor.check_file_access([key]).level == "ok", "nobody else gets that far"


def test_a_folder_others_can_look_into_is_warned_of_one_they_can_change_is_dangerous(open_folder):
    for mode, level in ((0o755, "warning"), (0o777, "DANGER"), (0o750, "ok"), (0o700, "ok")):
        open_folder.chmod(mode)
        assert doctor.check_folder(open_folder).level == level, oct(mode)


def test_what_was_open_to_others_is_closed_and_a_new_database_is_never_open(open_folder):
    (open_folder / "secret_key").touch(mode=0o644)
    before = os.umask(0)
    doctor.make_private(open_folder, [open_folder / "secret_key", open_folder / "new.sqlite3"])
    os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in open_folder.iterdir()}
    assert modes == {"secret_key": 0o600, "new.sqlite3": 0o600}
    assert stat.S_IMODE(open_folder.stat().st_mode) == 0o700


def test_what_an_interrupted_restore_left_is_warned_of(tmp_path):
    assert doctor.check_leftovers(tmp_path).level == "ok"
    (tmp_path / ".restore-x1").mkdir()
    found = doctor.check_leftovers(tmp_path)
    assert found.level == "warning"
    assert f"rm -r {tmp_path / '.restore-x1'}" in found.text


def test_an_old_sqlite_is_dangerous_with_wal_only():
    assert doctor.check_library(SAFE).level == "ok"
    assert doctor.check_library({**SAFE, "library": "3.51.2"}).level == "DANGER"
    old = {**SAFE, "library": "3.40.1", "journal_mode": "delete"}
    assert doctor.check_library(old).level == "ok"


@pytest.mark.parametrize(
    ("synchronous", "level"), [(0, "DANGER"), (1, "DANGER"), (2, "ok"), (3, "ok")]
)
def test_synchronous_below_full_is_dangerous(synchronous, level):
    found = doctor.check_durability({**SAFE, "synchronous": str(synchronous)})
    assert found.level == level


@pytest.mark.parametrize("name", ["fsync", "synchronous_commit", "full_page_writes"])
def test_a_postgresql_that_does_not_sync_is_dangerous(name):
    safe = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    assert doctor.check_durability(safe).level == "ok"
    found = doctor.check_durability({**safe, name: "off"})
    assert found.level == "DANGER"
    assert f"runs with {name} off" in found.text


def test_damage_and_broken_references_are_dangerous():
    assert doctor.check_integrity(["row 3 missing from index"]).level == "DANGER"
    assert doctor.check_integrity([]).level == "ok"
    assert doctor.check_references(SAFE, ["response"]).level == "DANGER"
    assert doctor.check_references({**SAFE, "foreign_keys": "0"}, []).level == "DANGER"
    assert doctor.check_references(SAFE, []).level == "ok"


def test_a_missing_trigger_is_dangerous():
    assert doctor.check_triggers([]).level == "ok"
    assert doctor.check_triggers(["slot_filled"]).level == "DANGER"
