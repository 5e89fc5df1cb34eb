"""`survey deposit` and `survey export --psych-ds`: a study as archives and programs want it."""

import csv
import json
import re

import pytest

from survey.db.models import Event, Publication
from survey.services.exchange.psych_ds import file_name, write_psych_ds
from survey.services.studies import publications
from survey.services.studies.publications import Details
from tests.databases import ON_SQLITE
from tests.services.exchange.changes import rows_of, steps_of, unzipped
from tests.services.exchange.conftest import a_study, handed_out
from tests.services.exchange.test_public_bundle import KINDS

pytestmark = ON_SQLITE
DOI = "10.5281/zenodo.1234567"
NAME = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")


@pytest.fixture
def published(session):
    """A published study."""
    study = a_study(session)
    publications.publish(session, study, "Ada", Details("Five", "Lovelace, Ada", "CC0-1.0"))
    session.commit()
    return study


def test_it_writes_what_an_archive_asks_for(run, published, tmp_path):
    printed = run("deposit", "five-systems", "--to", tmp_path / "deposit")
    assert {path.name for path in (tmp_path / "deposit").iterdir()} == {
        "five-systems.zip",
        "fields.txt",
    }
    files = unzipped((tmp_path / "deposit" / "five-systems.zip").read_bytes())
    assert steps_of(files)
    assert "LICENSE" in files
    fields = (tmp_path / "deposit" / "fields.txt").read_text()
    for text in ("title\nFive\n", "authors\nLovelace, Ada\n", "licence\nCC0-1.0\n"):
        assert text in fields
    assert published.plan.question_text.split("{")[0] in fields
    assert "survey deposit five-systems --doi" in printed
    run("deposit", "five-systems", "--to", tmp_path / "deposit", status=1)


def test_the_doi_is_stored_and_logged_and_can_be_removed(run, published, session, tmp_path):
    fields = json.loads(run("deposit", "five-systems", "--doi", f"doi:{DOI}", "--json"))
    assert fields == {
        "study": "five-systems",
        "title": "Five",
        "authors": "Lovelace, Ada",
        "licence": "CC0-1.0",
        "description": fields["description"],
        "doi": DOI,
        "written": None,
    }
    session.expire_all()
    assert session.query(Publication).one().doi == DOI
    run("deposit", "five-systems", "--to", tmp_path / "deposit")
    files = unzipped((tmp_path / "deposit" / "five-systems.zip").read_bytes())
    assert f"doi: {DOI}\n" in files["CITATION.cff"].decode()
    run("deposit", "five-systems", "--doi", "")
    session.expire_all()
    assert session.query(Publication).one().doi == ""
    kinds = [(event.kind, event.detail) for event in session.query(Event).order_by(Event.id)]
    assert kinds[-2:] == [("DOI stored", DOI), ("DOI removed", "")]


def test_a_study_that_is_not_public_and_a_doi_that_is_none_are_refused(run, published, session):
    wrong = run("deposit", "five-systems", "--doi", "10.1/x", status=1)
    assert "“10.1/x” is not a DOI, such as 10.5281/zenodo.1234567." in wrong
    publications.take_back(session, published, "Ada")
    assert "is not public. Publish it first" in run("deposit", "five-systems", status=1)
    run("deposit", "nothing", status=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_psych_ds_have_its_names_and_every_heading(app, session, kind, tmp_path):
    study = KINDS[kind](app, session)
    folder = tmp_path / "dataset"
    write_psych_ds(session, study, folder, with_identities=True)
    description = json.loads((folder / "dataset_description.json").read_text())
    assert description["@context"] == "https://schema.org/"
    assert description["@type"] == "Dataset"
    assert description["name"]
    assert description["description"]
    bundle = handed_out(session, study, with_identities=True)
    tables = {name: text for name, text in bundle.items() if name.endswith(".csv")}
    written = {path.name: path for path in (folder / "data").iterdir()}
    assert written.keys() == {file_name(study.slug, name) for name in tables}
    headings = set()
    for name, text in tables.items():
        path = written[file_name(study.slug, name)]
        assert NAME.fullmatch(path.name)
        assert path.read_bytes() == text
        with path.open(newline="") as file:
            headings |= {*next(csv.reader(file))}
    assert headings == {*description["variableMeasured"]}


def test_the_command_writes_a_dataset(run, published, tmp_path):
    run("export", "five-systems", "--psych-ds", tmp_path / "dataset")
    assert (tmp_path / "dataset" / "dataset_description.json").is_file()
    table = tmp_path / "dataset" / "data" / "study-fiveSystems_table-participants_data.csv"
    assert rows_of({"people": table.read_bytes()}, "people")
    pictures = ("--psych-ds", tmp_path / "other", "--with-pictures")
    run("export", "five-systems", *pictures, status=2)
