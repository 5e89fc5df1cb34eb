"""Promise 8: a backup holds everything, and a restore brings everything back."""

import os
import shutil
import sqlite3
import stat

import pytest
from click.testing import CliRunner
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from survey.app import create_app, db
from survey.cli import survey
from survey.config import Settings
from survey.core.kinds import KINDS
from survey.db import migration
from survey.errors import BackupError, SchemaError
from survey.services.operations.backups import restore_backup, write_backup
from survey.services.studies import lifecycle
from tests.builders import KEY, Visitor, a_plan
from tests.promises.filled import FILLED_TABLES, everything_in, exported, opened_file
from tests.promises.schemas import revisions
from tests.tasks import words

pytestmark = pytest.mark.slow

ON_SQLITE = pytest.mark.parametrize("database_uri", ["sqlite"], indirect=True)


@pytest.fixture
def backup(filled, tmp_path):
    write_backup(filled, tmp_path / "backup.sqlite3")
    return tmp_path / "backup.sqlite3"


@pytest.fixture(params=["sqlite", "postgresql"])
def elsewhere(request, tmp_path_factory):
    """A new, empty instance of either kind: engine and folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    uri = f"sqlite:///{folder / 'survey.sqlite3'}"
    if request.param == "postgresql":
        uri = request.getfixturevalue("another_postgresql")
    with create_app(Settings(folder, uri, KEY)).app_context():
        yield db.engine, folder
        db.engine.dispose()


def test_the_survey_of_these_tests_has_something_in_every_table(filled):
    found = everything_in(filled)
    assert {name for name, rows in found.items() if rows} >= FILLED_TABLES


def test_a_backup_is_one_private_file_that_any_sqlite_reads(filled, backup):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.glob("*backup*")] == [backup.name]
    with sqlite3.connect(backup) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()
    anyone = opened_file(backup)
    assert everything_in(anyone) == everything_in(filled)
    anyone.dispose()


def test_the_drill_backup_to_an_empty_folder_to_the_same_export(
    filled, backup, elsewhere, measured
):
    engine, folder = elsewhere
    before = exported(filled)
    content, safety_backup, _ = restore_backup(engine, backup, folder)
    assert safety_backup is None
    assert exported(engine) == before
    assert everything_in(engine) == everything_in(filled)
    rows = sum(content.rows.values())
    kinds = f"{filled.dialect.name} to {engine.dialect.name}"
    measured(
        f"A backup restored into an empty folder, {kinds}: {rows} rows in "
        f"{len(content.rows)} tables the same, the study's export the same byte by byte."
    )


@pytest.fixture
def backup_with_words(filled, tmp_path, monkeypatch):
    """A backup with rows of a kind from outside, whose tables no migration makes."""
    words.register(monkeypatch)
    words.METADATA.create_all(filled)
    with filled.begin() as connection:
        first = connection.execute(text("SELECT min(id) FROM presentation")).scalar_one()
        connection.execute(
            words.TABLES.presentation.insert(), {"presentation_id": first, "swapped": True}
        )
    write_backup(filled, tmp_path / "words.sqlite3")
    yield tmp_path / "words.sqlite3"
    words.METADATA.drop_all(filled)


def test_the_program_that_knows_a_kind_from_outside_restores_it(
    filled, backup_with_words, elsewhere
):
    engine, folder = elsewhere
    restore_backup(engine, backup_with_words, folder)
    assert everything_in(engine) == everything_in(filled)
    assert len(everything_in(engine)["words_presentation"]) == 1


def test_a_backup_of_an_unknown_kind_is_refused_before_a_table_is_made(
    backup_with_words, elsewhere, monkeypatch
):
    engine, folder = elsewhere
    monkeypatch.delitem(KINDS, "words")
    tables = "words_presentation, words_response, words_revision"
    with pytest.raises(BackupError, match=rf"words\.sqlite3 has tables .* not know: {tables}\."):
        restore_backup(engine, backup_with_words, folder)
    with engine.connect() as connection:
        assert migration.table_names(connection) == []


@pytest.mark.parametrize("database_uri", ["postgresql"], indirect=True)
def test_tables_of_an_unknown_kind_are_not_left_out_of_a_backup(
    filled, backup_with_words, tmp_path, monkeypatch
):
    monkeypatch.delitem(KINDS, "words")
    with pytest.raises(BackupError, match=r"The database has tables .* not know: words_present"):
        write_backup(filled, tmp_path / "another.sqlite3")
    assert not (tmp_path / "another.sqlite3").exists()


@ON_SQLITE
def test_a_backup_without_a_kind_replaces_a_database_with_its_tables(
    filled, backup, tmp_path, backup_with_words
):
    old = {**everything_in(filled), "words_presentation": []}
    restore_backup(filled, backup, tmp_path, replace=True)
    assert everything_in(filled) == old


def test_tables_of_other_programs_are_left_alone(filled, tmp_path, elsewhere):
    ours = everything_in(filled)
    engine, folder = elsewhere
    for each in (filled, engine):
        with each.begin() as connection:
            connection.execute(text("CREATE TABLE wiki_page (title TEXT)"))  # without a key
            connection.execute(text('CREATE TABLE "wiki; link" (id INTEGER PRIMARY KEY)'))
            connection.execute(text("INSERT INTO wiki_page VALUES ('a page of the wiki')"))
    theirs = {"wiki_page": everything_in(filled)["wiki_page"], "wiki; link": []}
    content = write_backup(filled, tmp_path / "b.sqlite3")
    assert {*content.rows} == {*ours} - {"alembic_version"}
    for target, into in ((engine, folder), (filled, tmp_path)):
        restore_backup(target, tmp_path / "b.sqlite3", into, replace=target is filled)
        assert everything_in(target) == {**ours, **theirs}


@ON_SQLITE
def test_a_restored_survey_goes_on(backup, elsewhere):
    engine, folder = elsewhere
    restore_backup(engine, backup, folder)
    engine.dispose()
    app = create_app(Settings(folder, engine.url.render_as_string(hide_password=False), KEY))
    with engine.connect() as connection:
        before = migration.row_counts(connection)["participant"]
    Visitor(app.test_client()).take_part()
    with engine.connect() as connection:
        assert migration.row_counts(connection)["participant"] == before + 1
        with pytest.raises(IntegrityError, match="a study that was opened cannot change"):
            connection.execute(text("UPDATE study SET slug = 'x' WHERE status = 'open'"))
    with app.app_context():
        db.engine.dispose()


def test_a_database_that_holds_something_is_not_replaced_unasked(filled, backup, tmp_path):
    before = everything_in(filled)
    with pytest.raises(BackupError, match="not empty: it holds 2 studies, 2 participants"):
        restore_backup(filled, backup, tmp_path)
    assert everything_in(filled) == before


def test_what_is_replaced_is_backed_up_first(filled, backup, session, tmp_path):
    old = everything_in(filled)
    lifecycle.create_study(session, "later", a_plan())
    session.rollback()
    newer = everything_in(filled)
    _, safety_backup, _ = restore_backup(filled, backup, tmp_path, replace=True)
    assert everything_in(filled) == old
    anyone = opened_file(safety_backup)
    assert everything_in(anyone) == newer
    anyone.dispose()


@ON_SQLITE
def test_the_backup_of_an_older_version_is_upgraded_on_the_way(
    filled, tmp_path, elsewhere, next_release
):
    wanted, old = exported(filled), tmp_path / "old.sqlite3"
    assert write_backup(filled, old).revision == revisions()[-2]
    before = old.read_bytes()
    restore_backup(elsewhere[0], old, elsewhere[1])
    assert exported(elsewhere[0]) == wanted
    assert old.read_bytes() == before


@ON_SQLITE
def test_the_backup_of_a_newer_version_is_refused(backup, filled, tmp_path):
    with sqlite3.connect(backup) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(BackupError, match="revision 9999, made by a newer version of the survey"):
        restore_backup(filled, backup, tmp_path, replace=True)


def test_a_database_of_a_newer_version_is_not_backed_up(filled, tmp_path):
    with filled.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="revision 9999, made by a newer version"):
        write_backup(filled, tmp_path / "new.sqlite3")
    assert not (tmp_path / "new.sqlite3").exists()


@ON_SQLITE
def test_a_damaged_backup_is_refused_before_anything_is_touched(backup, filled, tmp_path):
    whole, before = backup.read_bytes(), everything_in(filled)
    pages = len(whole) // 4096
    for page in (0, 1, pages // 3, pages // 2, pages - 1):
        at = page * 4096
        backup.write_bytes(whole[:at] + os.urandom(4096) + whole[at + 4096 :])
        with pytest.raises(BackupError, match=r"backup\.sqlite3 is"):
            restore_backup(filled, backup, tmp_path, replace=True)
    # No longer what its index says:
    one_letter = whole.replace(b"a-draft", b"b-draft", 1)
    for content in (
        one_letter,
        whole[: len(whole) // 2],
        b"",
        b"no database",
        b"SQLite format 3\0",
    ):
        backup.write_bytes(content)
        with pytest.raises(BackupError, match=r"backup\.sqlite3 is"):
            restore_backup(filled, backup, tmp_path, replace=True)
    assert everything_in(filled) == before


@ON_SQLITE
def test_a_backup_that_fails_leaves_no_file_and_spoils_none(filled, tmp_path, monkeypatch):
    target = tmp_path / "backup.sqlite3"
    target.write_text("an earlier backup")
    monkeypatch.setattr("survey.services.operations.backups.inspect_backup", lambda _: None)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(BackupError, match="differs from the database"):
        write_backup(filled, target)
    assert target.read_text() == "an earlier backup"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@ON_SQLITE
def test_the_commands_say_what_a_backup_holds_and_what_was_replaced(run, filled, tmp_path):
    file = tmp_path / "b.sqlite3"
    told = run("backup", file)
    assert "b.sqlite3 holds 2 studies, 2 participants, 4 answers and 1 researcher" in told
    assert "The server key is not in it" in told
    assert "b.sqlite3 is there already; --force replaces it." in run("backup", file, status=1)
    run("backup", file, "--force")
    assert "There is no folder" in run("backup", tmp_path / "no" / "b.sqlite3", status=1)
    assert "--replace makes a backup of it" in run("restore", file, status=1)
    told = run("restore", file, "--replace")
    assert "Restored: the database holds 2 studies, 2 participants, 4 answers" in told
    (kept,) = tmp_path.glob("before-restore-*.sqlite3")
    assert f"What it held before is in {kept}." in told
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@ON_SQLITE
def test_a_refused_restore_leaves_no_database_where_there_was_none(
    backup_with_words, tmp_path, monkeypatch
):
    monkeypatch.delitem(KINDS, "words")
    damaged = tmp_path / "damaged.sqlite3"
    damaged.write_bytes(backup_with_words.read_bytes()[:20_000])
    new = tmp_path / "new"
    environment = {"SURVEY_INSTANCE": str(new), "SURVEY_SECRET_KEY": KEY}
    for file, fault in ((damaged, "is damaged"), (backup_with_words, "does not know")):
        result = CliRunner().invoke(survey, ["restore", str(file)], env=environment)
        assert (result.exit_code, fault in result.output) == (1, True), result.output
        assert [*new.iterdir()] == []
        (new / "survey.sqlite3").touch()
        CliRunner().invoke(survey, ["restore", str(file)], env=environment)
        assert (new / "survey.sqlite3").exists()
        shutil.rmtree(new)


@ON_SQLITE
def test_the_database_itself_is_never_taken_for_a_backup(run, filled):
    for command in (("backup", filled.url.database, "--force"), ("restore", filled.url.database)):
        assert "is the survey's database itself" in run(*command, status=1)
