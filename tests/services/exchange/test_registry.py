"""A registry of replications: its lines, its bundles, and this site's copy."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.errors import SurveyError
from survey.services.exchange.download import DownloadError
from survey.services.exchange.input_files import BundleError
from survey.services.exchange.registry import (
    FIELDS,
    LARGEST_REGISTRY,
    STORED,
    Run,
    RunDetails,
    RunsOfStudy,
    add_run,
    check_run,
    is_address,
    mark_runs,
    read_registry,
    read_runs,
    runs_of_study,
    stored_runs,
    update_copy,
)
from tests.services.exchange.changes import zipped

RELEASED = Path(__file__).parents[2] / "cases" / "released" / "0.2.0"
DETAILS = RunDetails(("Lovelace, Ada",), "10.5281/zenodo.1", "2026-05")
RUN = Run(
    digest="a" * 64,
    address="https://x.org/a.zip",
    sha256="b" * 64,
    title="A study",
    authors=("Ada",),
    month="2026-05",
    participants=12,
    software="survey 0.2.0",
    licence="CC0-1.0",
    doi="",
    results={"MNRO-AP": 18.0},
)


@pytest.fixture
def folder(tmp_path):
    for kind in ("ordering", "preference"):
        shutil.copy(RELEASED / f"{kind}-public.zip", tmp_path / f"{kind}.zip")
    return tmp_path


def run_of(number, **changes):
    return replace(RUN, sha256=f"{number:064}", address=f"https://x.org/{number}.zip", **changes)


def added(folder, kind="ordering"):
    name = f"{kind}.zip"
    return add_run(folder / "registry.jsonl", folder / name, name, DETAILS)


def refused(line, **changes):
    with pytest.raises(BundleError) as error:
        read_runs(json.dumps({**json.loads(line), **changes}), "r")[1].raise_any()
    return str(error.value)


@pytest.mark.parametrize("kind", ["ordering", "preference"])
def test_a_bundle_that_replicates_is_added_with_what_it_says_of_itself(folder, kind):
    run = added(folder, kind)
    assert read_registry(folder / "registry.jsonl") == {1: run}
    assert (run.participants, run.software, run.month) == (4, "survey 0.2.0", "2026-05")
    assert run.results
    assert list(json.loads(run.line))[:10] == [name for name in FIELDS if name != "results"]
    check_run(run, folder)


def test_a_bundle_is_added_once_and_to_the_end_of_the_file(folder):
    first = added(folder)
    registry = folder / "registry.jsonl"
    registry.write_text(registry.read_text().rstrip("\n"))  # an editor may have removed it
    second = added(folder, "preference")
    assert registry.read_text() == first.line + second.line
    with pytest.raises(SurveyError, match="line 1 has this bundle or address already"):
        added(folder)
    assert registry.read_text() == first.line + second.line


def test_what_does_not_replicate_or_is_personal_is_not_added(folder):
    content = (folder / "ordering.zip").read_bytes()
    (folder / "ordering.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(BundleError):
        added(folder)
    with pytest.raises(SurveyError, match="does not say when people took part; add --month"):
        add_run(folder / "r", folder / "preference.zip", "p.zip", RunDetails())
    with pytest.raises(SurveyError, match="--doi: “10” is not a DOI"):
        add_run(folder / "r", folder / "preference.zip", "p.zip", DETAILS._replace(doi="10"))
    with pytest.raises(SurveyError, match="--address: '/etc/passwd' found; an address"):
        add_run(folder / "r", folder / "preference.zip", "/etc/passwd", DETAILS)
    with pytest.raises(BundleError, match="is a folder; the zip is needed"):
        add_run(folder / "r", folder, "p.zip", DETAILS)
    assert not (folder / "r").exists()
    assert not (folder / "registry.jsonl").exists()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"digest": "a" * 63}, "line 1, field digest: "),
        ({"address": "http://x.org/a.zip"}, "field address: 'http://x.org/a.zip' found; an addr"),
        ({"address": "../a.zip"}, "field address: "),
        ({"address": "file:///etc/passwd"}, "field address: "),
        ({"address": "javascript:alert(1)"}, "field address: "),
        ({"address": "https://u:p@x.org/a"}, "field address: "),
        ({"title": "a\u202eb"}, "field title: "),
        ({"authors": "Ada"}, "field authors: 'Ada' found; a list of texts is needed"),
        ({"month": "2026-13"}, "a month like 2026-05 is needed"),
        ({"participants": True}, "field participants: 'true' found"),
        ({"participants": -1}, "field participants: '-1' found"),
        ({"doi": '10.1/"><script>'}, "field doi: "),
        ({"results": {"a": 101}}, "field results: "),
        ({"results": {"a": "9"}}, "field results: "),
        ({"replicates": "yes"}, "field replicates: true or false"),
    ],
)
def test_a_malformed_line_is_told_with_number_and_field(changes, fault):
    assert fault in refused(RUN.line, **changes)


def test_lines_that_are_no_runs_are_told_and_the_others_are_read():
    text = f"{RUN.line}\n[1]\n{{\n{RUN.line}" + '{"digest": "' + "a" * 64 + '"}\n'
    runs, faults = read_runs(text, "r")
    assert runs == {1: RUN}
    assert [fault.partition(":")[0] for fault in faults.sentences] == [
        "r, line 3",
        "r, line 4",
        "r, line 5",
        "r, line 6, field address",
    ]


@given(st.text(max_size=300))
def test_whatever_a_registry_holds_it_is_read_or_told(text):
    runs, faults = read_runs(text, "r")
    assert len(runs) + len(faults) == sum(bool(line.strip()) for line in text.split("\n"))


@given(st.text(st.characters(max_codepoint=127), max_size=30))
def test_an_address_leads_nowhere_but_to_https_or_below_the_registry(text):
    for address in (text, f"https://{text}", f"{text}/../../etc", f"//{text}"):
        if is_address(address):
            assert address.lower().startswith("https://") or not address.startswith("/")
            assert ".." not in address.split("/") or address.lower().startswith("https://")


def test_a_changed_bundle_fails_the_check_and_is_marked(folder):
    added(folder)
    run = added(folder, "preference")
    registry = folder / "registry.jsonl"
    before = registry.read_text()
    with (folder / "preference.zip").open("ab") as bundle:
        bundle.write(b" ")
    with pytest.raises(BundleError, match="its SHA-256 is"):
        check_run(run, folder)
    for changes, fault in (
        ({"digest": "c" * 64}, "field digest"),
        ({"participants": 5}, "field participants: '5' found; recomputed '4'"),
        ({"results": {"alpha-beta": 75.0}}, "field results"),
    ):
        first = read_registry(registry)[1]
        with pytest.raises(BundleError, match=fault):
            check_run(replace(first, **changes), folder)
    with pytest.raises(DownloadError, match="no such file beside the registry"):
        check_run(replace(run, address="other.zip"), folder)
    mark_runs(registry, {1: True, 2: False})
    assert [run.replicates for run in read_registry(registry).values()] == [True, False]
    mark_runs(registry, {})
    unmarked = registry.read_text().replace(', "replicates": true', "")
    assert unmarked.replace(', "replicates": false', "") == before


def fetched(files):
    """What fetches these files."""

    def fetch(address, target, largest):
        assert largest == LARGEST_REGISTRY
        if files.get(address) is None:
            raise DownloadError(f"{address}: gone.")
        target.write(files[address])

    return fetch


def test_the_copy_holds_what_was_fetched_and_keeps_what_cannot_be(tmp_path):
    first, second = "https://a.org/r/registry.jsonl", "https://b.org/registry.jsonl"
    below = replace(run_of(1), address="bundles/1.zip")
    files = {first: below.line.encode(), second: run_of(2).line.encode() + b"[]\n"}
    count, faults = update_copy(tmp_path, [first, second], fetched(files))
    assert count == 2
    assert faults == [f"{second}, line 2: '[]' found; an object is needed"]
    runs = stored_runs(tmp_path, RUN.digest)
    assert [run.address for run in runs] == ["https://a.org/r/bundles/1.zip", run_of(2).address]
    files[first], files[second] = None, run_of(3).line.encode()
    count, faults = update_copy(tmp_path, [first, second], fetched(files))
    assert count == 2
    assert faults == [f"{first}: not fetched; its earlier lines stay. {first}: gone."]
    runs = stored_runs(tmp_path, RUN.digest)
    assert {run.sha256 for run in runs} == {run_of(1).sha256, run_of(3).sha256}
    assert stored_runs(tmp_path, "c" * 64) == []
    assert update_copy(tmp_path, [], fetched({})) == (0, [])
    assert (tmp_path / STORED).read_text() == ""
    assert stored_runs(tmp_path, RUN.digest) == []


def test_a_bundle_of_two_registries_is_one_run(tmp_path):
    addresses = ["https://a.org/r", "https://b.org/r"]
    line = run_of(1).line.encode()
    assert update_copy(tmp_path, addresses, fetched(dict.fromkeys(addresses, line)))[0] == 2
    assert len(stored_runs(tmp_path, RUN.digest)) == 1


@pytest.mark.parametrize(
    ("own", "others", "sentence"),
    [
        ({"MNRO-AP": 9.0}, [(5, None), (-5, True), (2, True)], "run 4 times; 3 agree."),
        ({"MNRO-AP": 9.0}, [(-5, None)], "run 2 times; 1 agrees."),
        ({"MNRO-AP": -9.0}, [(-5, None), (-1, False)], "run 3 times; 2 agree. 1 of the bundles d"),
        ({"MNRO-AP": 0.0}, [(5, None)], "run 2 times; 0 agree."),
        ({}, [(5, None)], "run 2 times; 0 agree."),
        ({"MNRO-NMRR": 1.0}, [(5, None)], "run 2 times; 1 agrees."),
    ],
)
def test_a_study_says_how_often_it_was_run_and_how_many_agree(own, others, sentence):
    runs = [
        run_of(number, results={"MNRO-AP": points}, replicates=mark)
        for number, (points, mark) in enumerate(others)
    ]
    assert sentence in RunsOfStudy(own, runs).sentence


def stored(instance, *runs):
    (instance / STORED).write_text("".join(run.line for run in runs))
    return stored_runs(instance, RUN.digest)


def test_versions_of_a_bundle_at_one_address_or_doi_are_one_run(tmp_path):
    other = replace(run_of(2), address=run_of(1).address)
    assert len(stored(tmp_path, run_of(1), other, run_of(3))) == 2
    dois = [run_of(4, doi="10.5281/ZENODO.7"), run_of(5, doi="10.5281/zenodo.7")]
    assert len(stored(tmp_path, *dois, run_of(6))) == 2


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({}, None),  # the same people and leads: the bundle in an archive
        ({"participants": 13}, 1),
        ({"results": {"MNRO-AP": 18.1}}, 1),
        ({"participants": 13, "doi": "10.5281/Zenodo.7"}, None),
        ({"participants": 13, "address": "https://X.org/own.zip"}, None),
    ],
)
def test_the_studys_own_bundle_is_no_other_run_wherever_it_is(tmp_path, changes, number):
    stored(tmp_path, replace(run_of(1), **changes))
    places = ["https://x.org/own.zip", "10.5281/zenodo.7", ""]
    runs = runs_of_study(tmp_path, RUN.digest, {"MNRO-AP": 18.004}, 12, places)
    assert (runs and len(runs.runs)) == number


def test_a_doi_is_typed_in_any_way_and_a_month_that_is_none_is_named(folder):
    bundle, details = (
        folder / "ordering.zip",
        DETAILS._replace(doi="https://doi.org/10.5281/zenodo.7"),
    )
    for wrong, fault in (({"month": "May"}, "--month: 'May' found"), ({"doi": "x"}, "--doi: “x”")):
        with pytest.raises(SurveyError, match=fault):
            add_run(folder / "r.jsonl", bundle, "a.zip", details._replace(**wrong))
    run = add_run(folder / "r.jsonl", bundle, "a.zip", details)
    assert run.doi == "10.5281/zenodo.7"


def test_a_registry_that_windows_saved_is_read_and_marked(folder):
    run = added(folder)
    registry = folder / "registry.jsonl"
    registry.write_bytes(b"\xef\xbb\xbf" + registry.read_bytes().replace(b"\n", b"\r\n"))
    assert read_registry(registry) == {1: run}
    mark_runs(registry, {1: True})
    assert read_registry(registry) == {1: replace(run, replicates=True)}


def test_a_bundle_without_authors_has_none_in_its_line(bundle, folder):
    (folder / "b.zip").write_bytes(zipped(bundle))
    details = DETAILS._replace(authors=())
    assert b"Authors not named yet" in bundle["CITATION.cff"]
    assert add_run(folder / "r.jsonl", folder / "b.zip", "b.zip", details).authors == ()
