"""The files that describe a bundle are valid for the programs that read them, whatever the kind."""

import json
import re
import subprocess
import sys
from datetime import date
from importlib.resources import files as resources
from pathlib import Path

import frictionless
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from rocrate.rocrate import ROCrate

from survey.services.exchange.bundle import SUMS, sha256_of, stream_bundle
from survey.services.exchange.description import CRATE, DATA_PACKAGE, LICENCE, README, left_out
from survey.services.exchange.input_files import BundleError
from survey.services.exchange.psych_ds import file_name
from survey.services.exchange.public_bundle import stream_public_bundle
from survey.services.studies import lifecycle, publications
from survey.services.studies.citation import LICENCES
from survey.services.studies.publications import Details
from tests.builders import a_plan
from tests.services.exchange.changes import rows_of, steps_of, summed, unzipped
from tests.services.exchange.conftest import FIELDS, handed_out
from tests.services.exchange.test_analysis_in_r import unpacked
from tests.services.exchange.test_public_bundle import KINDS

WORDS = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
TABLE = re.compile(r"[a-z]+([_/][a-z0-9]+)*\.csv")
OF_PSYCH_DS = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
DOI = "10.5281/zenodo.1234567"
ADDRESS = "https://survey.example.org/studies/five-systems"
CFF_SCHEMA = json.loads(
    resources("check_jsonschema")
    .joinpath("builtin_schemas", "vendor", "citation-file-format.json")
    .read_text("utf-8")
)
VALIDATOR = Path(sys.prefix, "rocrate", "bin", "python")
# What RO-Crate recommends and a bundle does not say.
NOT_SAID = {
    "affiliation": "nobody is asked for the authors'",
    "datePublished": "to the day, which may tell when people took part; only to the month",
    "publisher": "the archive that it is uploaded to",
    "url": "nobody is asked for a group's",
}
DETAILS = Details("Five & more\tsystems", "Lovelace, Ada\nThe {Group}", "CC-BY-4.0")


def publish(session, study, details=DETAILS):
    """Publish a study of any number of participants, with a DOI."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publications, "FEWEST_PEOPLE", 1)
        publications.publish(session, study, "Ada", details)
        publications.store_doi(session, study, "Ada", f"https://doi.org/{DOI}")


def stream(session, study, form):
    """The files of a bundle in one of its forms."""
    if form == "public":
        return unzipped(b"".join(stream_public_bundle(session, study, ADDRESS)))
    more = {"with_identities": True, "with_pictures": True} if form == "full" else {}
    return unzipped(b"".join(stream_bundle(session, study, address=ADDRESS, **more)))


def entities(files):
    return {entity["@id"]: entity for entity in json.loads(files[CRATE])["@graph"]}


LATER = [pytest.param(name, marks=[pytest.mark.slow] * (name != "ordering")) for name in KINDS]
UNNAMED = {"title": "T", "address": "", "doi": "", "licence": "", "day": "2026-01-01"}


@pytest.fixture(params=LATER)
def any_study(request, app, session):
    """A closed study of each kind."""
    return KINDS[request.param](app, session)


@pytest.fixture(params=["private", "full", "public", "published", "cited"])
def files(request, session, any_study):
    """The files of a bundle, for researchers and for everyone, before and after it is public."""
    if request.param in ("published", "cited"):
        publish(session, any_study)
    form = {"published": "public", "cited": "private"}.get(request.param, request.param)
    return stream(session, any_study, form)


def test_every_program_reads_it_without_an_error(files, tmp_path):
    folder = unpacked(files, tmp_path / "bundle")
    report = frictionless.validate(str(folder / DATA_PACKAGE))
    assert report.flatten(["title", "note"]) == []
    assert report.valid
    package = json.loads(files[DATA_PACKAGE])
    assert {resource["path"] for resource in package["resources"]} == {
        name for name in files if name.endswith(".csv")
    }
    for resource in package["resources"]:
        assert resource["bytes"] == len(files[resource["path"]])
        assert resource["hash"] == f"sha256:{sha256_of(files[resource['path']])}"
    Draft7Validator(CFF_SCHEMA).validate(yaml.load(files["CITATION.cff"], yaml.BaseLoader))
    check_crate(files)
    read = ROCrate(folder)
    assert read.root_dataset["name"] == entities(files)["./"]["name"]
    assert {entity.id for entity in read.data_entities} == {*files} - {SUMS, CRATE}


def check_crate(files):
    """Check the rules of RO-Crate 1.1 for a root dataset and what it refers to."""
    crate = json.loads(files[CRATE])
    assert crate["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    by_id = entities(files)
    assert len(by_id) == len(crate["@graph"])
    metadata, root = by_id[CRATE], by_id["./"]
    assert metadata["@type"] == "CreativeWork"
    assert metadata["about"] == {"@id": "./"}
    assert metadata["conformsTo"]["@id"].startswith("https://w3id.org/ro/crate/1.1")
    assert root["@type"] == "Dataset"
    assert re.fullmatch(r"\d{4}-\d{2}", root["datePublished"])
    for name in ("name", "description", "license", "author", "identifier", "variableMeasured"):
        assert root[name], name
    for entity in by_id.values():
        assert entity["@type"]
        for reference in references_in(entity):
            assert reference in by_id or reference.startswith("https://w3id.org/"), reference
    parts = {part["@id"] for part in root["hasPart"]}
    assert parts == {*files} - {SUMS, CRATE}
    for name in parts:
        entity = by_id[name]
        assert entity["@type"] == "File"
        assert entity["contentSize"] == str(len(files[name]))
        assert entity["sha256"] == sha256_of(files[name])
        assert entity["description"]
        assert "/" in entity["encodingFormat"]
    software = by_id["#ranking-survey"]
    versions = json.loads(files["study.json"])["versions"]
    assert software["version"] == versions["survey"]
    assert versions["commit"] in software["identifier"]


def validated(*folders):
    """For each folder, what is wrong with its crate: severity, property, rule."""
    assert VALIDATOR.exists(), "make .venv/test installs the validator of RO-Crates"
    script = Path(__file__).with_name("validate_crates.py")
    done = subprocess.run([VALIDATOR, script, *folders], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_validator_of_crates_misses_only_what_is_not_known(session, any_study, tmp_path):
    private = unpacked(stream(session, any_study, "full"), tmp_path / "private")
    session.rollback()  # what was begun to read
    publish(session, any_study)
    public = unpacked(stream(session, any_study, "public"), tmp_path / "public")
    for issues in validated(private, public):
        assert [issue for issue in issues if issue[0] == "REQUIRED"] == []
        assert [issue for issue in issues if issue[1] not in NOT_SAID] == []


@pytest.mark.slow
def test_the_validator_of_crates_misses_what_is_taken_away(bundle, tmp_path):
    crate, names, folders = json.loads(bundle[CRATE]), ["name", "license", "datePublished"], []
    for name in names:
        graph = [{key: entity[key] for key in entity if key != name} for entity in crate["@graph"]]
        changed = json.dumps({**crate, "@graph": graph}).encode()
        folders.append(unpacked({**bundle, CRATE: changed}, tmp_path / name))
    for name, issues in zip(names, validated(*folders), strict=True):
        assert ["REQUIRED", name] in [issue[:2] for issue in issues], (name, issues)


def references_in(entity):
    """The ids that an entity refers to."""
    for value in entity.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                assert item.keys() == {"@id"}  # all entities are flat
                yield item["@id"]


def test_it_replicates_and_is_the_same_each_time(session, any_study):
    publish(session, any_study)
    for form in ("private", "full", "public"):
        files = stream(session, any_study, form)
        steps = steps_of(files)
        assert any("ro-crate-metadata.json: as the other files have it" in step for step in steps)
        assert not [step for step in steps if step.startswith("not compared")]
        assert stream(session, any_study, form) == files


def test_every_column_is_typed_and_described_as_in_the_codebook(bundle):
    fields = {
        (resource["path"], field["name"]): field
        for resource in json.loads(bundle[DATA_PACKAGE])["resources"]
        for field in resource["schema"]["fields"]
    }
    codebook = rows_of(bundle, "codebook.csv")
    assert [*fields] == sorted(fields, key=lambda key: key[0])
    assert {*fields} == {(row["file"], row["column"]) for row in codebook}
    for row in codebook:
        assert fields[row["file"], row["column"]]["description"].startswith(row["meaning"])
    field = fields["participants.csv", "started_at"]
    assert (field["type"], field["constraints"]) == ("datetime", {"required": True})
    field = fields["participants.csv", "education"]
    assert field["constraints"] == {"enum": ["School", "'-none-", "A, B; or\u2028C"]}
    field = fields["responses.csv", "is_test"]
    assert (field["type"], field["constraints"]["enum"]) == ("integer", [0, 1])
    assert fields["responses.csv", "active_seconds"]["type"] == "number"
    assert "required" not in fields["responses.csv", "active_seconds"].get("constraints", {})
    assert fields["responses.csv", "clicked"]["type"] == "string"


def test_a_program_finds_a_cell_that_is_not_allowed(bundle, tmp_path):
    rows = bundle["participants.csv"].replace(b",complete,", b",perhaps,")
    folder = unpacked({**bundle, "participants.csv": rows}, tmp_path)
    errors = frictionless.validate(str(folder / DATA_PACKAGE)).flatten(["type"])
    assert ["constraint-error"] in errors
    assert ["hash-count"] in errors


@pytest.mark.parametrize("name", ["README.md", "CITATION.cff", DATA_PACKAGE, CRATE])
def test_a_description_that_was_changed_is_found_out(bundle, name):
    changed = bundle[name].replace(b"study" if name == "CITATION.cff" else b"urvey", b"stone", 1)
    assert changed != bundle[name]
    with pytest.raises(BundleError, match=name):
        steps_of(summed({**bundle, name: changed}))
    rest = {other: content for other, content in bundle.items() if other != name}
    with pytest.raises(BundleError, match=f"{name} is missing"):
        steps_of(summed(rest))


def test_the_readme_tells_what_is_personal_and_in_public_what_was_removed(session, study):
    publish(session, study)
    private, public = (stream(session, study, form) for form in ("private", "public"))
    text = private[README].decode()
    assert "## What is personal\n\nAge, education, remark and the day and hour" in text
    assert LICENCE not in private
    text = public[README].decode()
    assert "## What was removed\n\nAge, education, remark and the day and hour" in text
    assert f"https://doi.org/{DOI}" in text
    assert f"survey replicate {study.slug}.zip" in text
    assert study.digest in text
    for name in public:
        assert f"- `{name}`:" in text
    assert study.plan.question_text.split("{")[0] in text
    month = f"{date.today():%Y-%m}"
    assert f"opened in {month} and closed in {month}" in text
    assert all(field["name"] in left_out(study.plan) for field in FIELDS)
    assert json.loads(public["study.json"])["closed_at"] == month


@pytest.mark.parametrize("licence", LICENCES)
def test_the_public_bundle_has_the_text_of_the_licence(session, study, licence):
    publish(session, study, Details("Title", "Ada", licence))
    files = stream(session, study, "public")
    text = files[LICENCE].decode()
    root = entities(files)["./"]
    if licence:
        assert len(text) > 5000
        assert root["license"] == {"@id": f"https://spdx.org/licenses/{licence}"}
        assert json.loads(files[DATA_PACKAGE])["licenses"][0]["name"] == licence
    else:
        assert text == "Ask the authors first.\n"
        entity = entities(files)[root["license"]["@id"]]
        assert entity["name"] == "No licence"
        assert entity["description"] == "ask the authors first"


def test_the_doi_is_wherever_the_study_is_cited(session, study):
    publish(session, study)
    for form in ("private", "public"):
        files = stream(session, study, form)
        assert yaml.safe_load(files["CITATION.cff"])["doi"] == DOI
        assert json.loads(files[DATA_PACKAGE])["id"] == f"https://doi.org/{DOI}"
        assert f"https://doi.org/{DOI}" in entities(files)["./"]["identifier"]
        assert json.loads(files["study.json"])["publication"]["doi"] == DOI


@pytest.mark.parametrize(
    "publication",
    [
        "a title",
        {"title": "T"},
        {**UNNAMED, "authors": []},
        {**UNNAMED, "authors": [1]},
        {**UNNAMED, "authors": ["A"], "licence": "WTF"},
        {**UNNAMED, "authors": ["A"], "doi": "11.1/x"},
        {**UNNAMED, "authors": ["A"], "day": "May"},
    ],
)
def test_a_publication_that_cannot_be_is_refused(bundle, publication):
    study = json.loads(bundle["study.json"]) | {"publication": publication}
    changed = summed({**bundle, "study.json": json.dumps(study).encode()})
    with pytest.raises(BundleError, match=r"study\.json, publication: "):
        steps_of(changed)


def test_a_draft_is_described_too(session):
    draft = lifecycle.create_study(session, "draft", a_plan())
    files = handed_out(session, draft)
    assert "The study was not opened yet." in files[README].decode()
    check_crate(files)
    assert steps_of(files)


@given(
    st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True), st.from_regex(TABLE, fullmatch=True)
)
def test_a_name_of_psych_ds_has_no_hyphen_within_a_value(slug, table):
    assert OF_PSYCH_DS.fullmatch(file_name(slug, table))
