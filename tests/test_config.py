"""Settings come from the environment and the instance folder; unsafe ones are refused."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import url_for

from survey.app import create_app, db
from survey.cli.command import open_engine
from survey.config import MissingInstanceError, Settings, UnsafeSettingsError


def test_the_instance_folder_is_chosen_by_the_environment(tmp_path):
    settings = Settings.from_environment({"SURVEY_INSTANCE": str(tmp_path / "here")}, make=True)
    assert settings.instance == tmp_path / "here"
    assert settings.database_uri == f"sqlite:///{tmp_path / 'here' / 'survey.sqlite3'}"


def test_without_a_choice_it_is_instance_in_the_present_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Settings.from_environment({}, make=True).instance == tmp_path / "instance"


def test_no_folder_is_made_where_none_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInstanceError, match=r"no survey in .*instance; make one with"):
        Settings.from_environment({})
    assert list(tmp_path.iterdir()) == []


def test_another_database_and_key_can_be_given(tmp_path):
    settings = Settings.from_environment(
        {
            "SURVEY_INSTANCE": str(tmp_path),
            "SURVEY_DATABASE_URI": "postgresql://h/d",
            "SURVEY_SECRET_KEY": "k" * 32,
        }
    )
    assert (settings.database_uri, settings.secret_key) == ("postgresql://h/d", "k" * 32)
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.parametrize("uri", ["sqlite:///mine.sqlite3", "sqlite+pysqlite:///a/mine.sqlite3"])
def test_a_relative_file_is_in_the_instance_folder_for_commands_and_pages(
    tmp_path, monkeypatch, uri
):
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("SURVEY_INSTANCE", str(tmp_path))
    monkeypatch.setenv("SURVEY_DATABASE_URI", uri)
    expected = str(tmp_path / uri.split(":///")[1])
    with open_engine() as (_, engine):
        assert engine.url.database == expected
    with create_app().app_context():
        assert db.engine.url.database == expected


def test_an_absolute_file_and_memory_stay_as_they_are(tmp_path):
    for uri in ("sqlite:////srv/survey.sqlite3", "sqlite:///:memory:", "sqlite://"):
        environment = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_DATABASE_URI": uri}
        assert Settings.from_environment(environment).database_uri == uri


def test_a_key_that_could_be_guessed_is_refused(tmp_path):
    with pytest.raises(UnsafeSettingsError, match="the secret key has 3 characters"):
        Settings.from_environment({"SURVEY_INSTANCE": str(tmp_path), "SURVEY_SECRET_KEY": "dev"})


def test_many_that_start_at_once_share_one_key(tmp_path):
    environment = {"SURVEY_INSTANCE": str(tmp_path)}
    with ThreadPoolExecutor(16) as pool:
        keys = {one.secret_key for one in pool.map(Settings.from_environment, [environment] * 64)}
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_registries_are_addresses_of_https(tmp_path):
    environment = {
        "SURVEY_INSTANCE": str(tmp_path),
        "SURVEY_REGISTRIES": " https://a/r  https://b ",
    }
    assert Settings.from_environment(environment).registries == ("https://a/r", "https://b")
    environment["SURVEY_REGISTRIES"] = "http://a/r"
    with pytest.raises(UnsafeSettingsError, match="SURVEY_REGISTRIES has 'http://a/r'"):
        Settings.from_environment(environment)


@pytest.mark.parametrize(("count", "link"), [(0, "http://localhost"), (1, "https://x.example")])
def test_forwarded_headers_are_believed_only_of_trusted_proxies(tmp_path, count, link):
    uri = f"sqlite:///{tmp_path / 'survey.sqlite3'}"
    app = create_app(Settings(tmp_path, uri, "k" * 40, count))

    @app.get("/where")
    def where():
        return url_for("home.home", _external=True)

    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "x.example"}
    assert app.test_client().get("/where", headers=forwarded).text == f"{link}/"


@pytest.mark.parametrize(
    "typed",
    ["survey.example.org", "ftp://x.org", "https://", "https://a b.org", "https://x.org/?q"],
)
def test_an_address_that_is_none_is_refused(tmp_path, typed):
    environment = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_ADDRESS": typed}
    with pytest.raises(UnsafeSettingsError, match="SURVEY_ADDRESS is"):
        Settings.from_environment(environment)


def test_a_number_of_proxies_that_is_none_is_refused(tmp_path):
    environment = {"SURVEY_INSTANCE": str(tmp_path), "SURVEY_TRUSTED_PROXIES": "yes"}
    with pytest.raises(UnsafeSettingsError, match="SURVEY_TRUSTED_PROXIES is 'yes'"):
        Settings.from_environment(environment)
