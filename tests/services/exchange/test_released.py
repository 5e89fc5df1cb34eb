"""What a released version made replicates, is taken in and upgraded in every later version."""

import gzip
import io

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from survey.db.engine import sqlite_engine
from survey.db.models import Study
from survey.services import accounts
from survey.services.exchange.bundle import stream_bundle
from survey.services.exchange.bundle_import import import_bundle
from survey.services.exchange.bundle_reader import read_bundle
from survey.services.exchange.input_files import open_files
from survey.services.exchange.public_bundle import stream_public_bundle
from survey.services.operations.database import upgrade_database
from tests.databases import ON_SQLITE
from tests.freeze import DATABASE, PUBLIC, RELEASED, SUMS, sums_in
from tests.services.exchange.changes import steps_of

VERSIONS = sorted(path for path in RELEASED.iterdir() if path.is_dir())
BUNDLES = sorted(RELEASED.glob("*/*.zip"))
KINDS = ("ordering", "labelling", "grouping", "preference")


def in_version(path):
    return f"{path.parent.name}/{path.stem}"


def test_no_frozen_file_is_changed_removed_or_added_without_its_sum():
    recorded = dict(reversed(line.split()) for line in SUMS.read_text().splitlines())
    frozen = {name: sum_ for name, sum_ in sums_in(RELEASED).items() if "/" in name}
    assert frozen == recorded


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_each_version_has_each_kind_of_question_in_both_forms(folder):
    kinds = {
        (read_bundle(open_files(path, path.name))[0].plan.kind, path.stem.endswith(PUBLIC))
        for path in folder.glob("*.zip")
    }
    assert kinds == {(kind, is_public) for kind in KINDS for is_public in (True, False)}


@pytest.mark.parametrize("path", BUNDLES, ids=in_version)
def test_a_bundle_of_a_released_version_replicates(path):
    assert "analysis.json: every figure recomputed" in steps_of(open_files(path, path.name))


@ON_SQLITE
@pytest.mark.parametrize("path", BUNDLES, ids=in_version)
def test_a_bundle_of_a_released_version_is_taken_in(session, path):
    ada, _ = accounts.add_researcher(session, "Ada")
    files = open_files(path, path.name)
    study = import_bundle(session, files, path.name, "taken-in", ada)
    assert study.digest == read_bundle(files)[0].digest


@pytest.mark.slow
@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_database_of_a_released_version_is_upgraded_with_its_studies(folder, tmp_path):
    file = tmp_path / "survey.sqlite3"
    file.write_bytes(gzip.decompress((folder / DATABASE).read_bytes()))
    engine = sqlite_engine(file)
    upgrade_database(engine)
    with Session(engine) as session:
        studies = session.scalars(select(Study)).all()
        assert len(studies) >= len(KINDS)
        for study in studies:
            frozen = open_files(folder / f"{study.slug}.zip", "frozen")
            assert study.digest == read_bundle(frozen)[0].digest
            for stream in (stream_bundle, stream_public_bundle):
                bundle = io.BytesIO(b"".join(stream(session, study)))
                assert steps_of(open_files(bundle, "now.zip"))
    engine.dispose()
