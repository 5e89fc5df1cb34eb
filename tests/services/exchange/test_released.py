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
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.exchange.public_bundle import stream_public_bundle
from survey.services.operations.database import upgrade_database
from tests.databases import ON_SQLITE
from tests.freeze import DATABASE, PUBLIC, RELEASED, SUMS, sums_in
from tests.services.exchange.changes import steps_of, with_cell

VERSIONS = sorted(path for path in RELEASED.iterdir() if path.is_dir())
BUNDLES = sorted(RELEASED.glob("*/*.zip"))
# Made by the last commit that wrote format 1, with attention checks, arms, rules, people left out.
LAST_OF_FORMAT_1 = sorted((RELEASED.parent / "format_1").glob("*.zip"))
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


@pytest.mark.parametrize("path", [*BUNDLES, *LAST_OF_FORMAT_1], ids=in_version)
def test_a_bundle_of_a_released_version_replicates(path):
    assert "analysis.json: every figure recomputed" in steps_of(open_files(path, path.name))


@pytest.mark.parametrize("path", LAST_OF_FORMAT_1, ids=in_version)
def test_all_that_the_last_bundles_of_format_1_hold_is_compared_by_its_rules(path):
    steps = steps_of(open_files(path, path.name))
    [sentence] = [step for step in steps if "is in format 1" in step]
    assert sentence.startswith("the bundle is in format 1, made by release 0.2.0")
    beside = ("not in", "not compared, as this", "in other words")
    assert not [step for step in steps if step.startswith(beside)]


@pytest.mark.parametrize(
    ("name", "file", "row", "column", "cell", "fault"),
    [
        ("ordering", "table4.csv", 6, "MNRO", "77", "'77' found; recomputed"),
        ("labelling", "labels.csv", 2, "query", "t9", "'t9' found; recomputed 't"),
        ("pooled", "gold.csv", 2, "topic", "t9", "'t9' found; recomputed 't"),
        ("grouping", "groups.csv", 2, "group", "x", "'x' found; recomputed"),
        ("preference", "beside.csv", 2, "sure", "9", "'9' found; allowed is 1"),
    ],
)
def test_a_changed_cell_of_format_1_is_named_as_before(name, file, row, column, cell, fault):
    [path] = [bundle for bundle in LAST_OF_FORMAT_1 if bundle.stem == name]
    with pytest.raises(BundleError, match=f"{file}, row {row}, column {column}: {fault}"):
        steps_of(with_cell(open_files(path, path.name), file, row, column, cell))


@ON_SQLITE
@pytest.mark.parametrize("path", [*BUNDLES, *LAST_OF_FORMAT_1], ids=in_version)
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
