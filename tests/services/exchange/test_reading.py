"""Every fault of a bundle is told in a sentence that names its place."""

import csv
import io
import json
import struct
import warnings
import zipfile

import pytest

from survey.services.exchange import input_files
from survey.services.exchange.bundle_reader import read_bundle, read_identities, replicate
from survey.services.exchange.input_files import (
    LARGEST,
    BundleError,
    json_of,
    open_files,
    stream_files,
)
from tests.services.exchange.changes import (
    rows_of,
    summed,
    with_cell,
    with_json,
    with_rows,
    zipped,
)
from tests.services.exchange.conftest import a_study, handed_out


def refused(files):
    with pytest.raises(BundleError) as error:
        read_bundle(files)
    return str(error.value)


def not_opened(content):
    with pytest.raises(BundleError) as error:
        open_files(io.BytesIO(content), "my.zip")
    return str(error.value)


def test_a_zip_its_folder_and_a_zip_of_the_folder_are_the_same_bundle(bundle, tmp_path):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    for name, content in bundle.items():
        (folder / name).write_bytes(content)
    (folder / ".DS_Store").write_bytes(b"left behind by a file manager")
    (tmp_path / "my.zip").write_bytes(zipped(bundle))
    assert open_files(folder, "unpacked") == bundle
    assert open_files(tmp_path / "my.zip", "my.zip") == bundle
    inside = {f"unpacked/{name}": content for name, content in bundle.items()}
    assert open_files(io.BytesIO(zipped(inside)), "my.zip") == bundle
    for whole in (bundle, inside):  # as a Mac zips them
        added = {".DS_Store": b"\0", "__MACOSX/._votes.csv": b"\0", "__MACOSX/a/._b": b"\0"}
        assert open_files(io.BytesIO(zipped({**added, **whole})), "my.zip") == bundle


def test_what_is_no_zip_is_told(tmp_path):
    assert "my.zip is not a bundle: a bundle is the zip, or the unpacked" in not_opened(b"PK no")
    begun = not_opened(b"PK\x03\x04 and no end")
    assert begun == "my.zip is the beginning of a zip; its end is missing. Download it again"
    with pytest.raises(BundleError, match=r"there is no gone\.zip"):
        open_files(tmp_path / "gone.zip", "gone.zip")


def test_a_folder_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    def denied(path, mode):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "questions.csv").write_text("")
    monkeypatch.setattr(type(tmp_path), "open", denied)  # who tests may be root
    with pytest.raises(
        BundleError, match=r"questions.csv is damaged or cannot be read .*Permission denied"
    ):
        open_files(tmp_path, "my-folder")
    with pytest.raises(BundleError, match="File name too long"):
        open_files(tmp_path / ("x" * 5000), "xxx")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a/x.csv": b"", "b/x.csv": b""}, "holds folders"),
        ({"../a/x.csv": b""}, "holds folders"),
        ({"x.csv": b"", "a/b/x.csv": b""}, "holds folders"),
        ({"x.csv": b"", "judgements/a/x.txt": b""}, "holds folders"),
        ({"x.csv": b"", "judgements/../x.txt": b""}, "holds folders"),
        ({f"{n}.csv": b"" for n in range(60)}, "holds more than a bundle does"),
    ],
)
def test_a_zip_of_something_else_is_refused(files, told):
    assert told in not_opened(zipped(files))


def test_a_zip_that_grows_beyond_all_bounds_is_refused_unopened():
    bomb = bytearray(zipped({"votes.csv": b"0" * 1000}))
    size = bomb.rindex(b"PK\x01\x02") + 24  # as its directory gives it
    assert struct.unpack_from("<I", bomb, size) == (1000,)
    struct.pack_into("<I", bomb, size, LARGEST + 1)
    assert "holds more than 1,000,000,000 bytes unpacked" in not_opened(bytes(bomb))


def test_a_zip_that_holds_more_than_it_says_is_damaged():
    liar = bytearray(zipped({"votes.csv": b"0" * 1000}))
    struct.pack_into("<I", liar, liar.rindex(b"PK\x01\x02") + 24, 10)
    assert "votes.csv is damaged" in not_opened(bytes(liar))


def test_two_files_of_one_name_are_refused():
    sink = io.BytesIO(zipped({"votes.csv": b"one"}))
    with zipfile.ZipFile(sink, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns, and does it
        archive.writestr("votes.csv", b"other")
    assert not_opened(sink.getvalue()) == (
        "my.zip holds votes.csv twice. Take the zip from where it is published again"
    )


def test_no_flipped_bit_of_a_zip_ends_in_anything_but_a_sentence():
    files = {"votes.csv": b"participant,question\nP-A,1\n" * 20, "study.json": b"{}\n"}
    whole = zipped(files)
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            try:
                found = open_files(io.BytesIO(flipped), "my.zip")
            except BundleError:
                continue
            # Names may change, and files become folders: the sums tell that. Content may not.
            assert set(found.values()) <= set(files.values())


@pytest.mark.parametrize(
    ("name", "row", "column", "cell", "told"),
    [
        ("questions.csv", 2, "collection_size", "50", "'50' found; the plan says 100"),
        ("questions.csv", 3, "list", "C", "'C' found; lists A B C D E are needed, in this order"),
        ("questions.csv", 3, "ranks", "1 x", "'1 x' found; whole numbers separated by spaces"),
        ("participants.csv", 2, "participant", "", "'' found; a value is needed"),
        ("participants.csv", 3, "participant", "P-AAAAAAAA", "each participant is allowed once"),
        ("participants.csv", 2, "participant", "P\x1eA", "printable characters are allowed"),
        ("participants.csv", 4, "status", "asleep", "allowed are started, declined, screened_out"),
        ("participants.csv", 2, "age", "17", "'17' found; allowed is 18 to 99"),
        ("participants.csv", 2, "age", "1_0", "'1_0' found; a whole number is needed"),
        ("participants.csv", 2, "education", "Nobel", "'Nobel' found; allowed are School, -none-"),
        ("participants.csv", 2, "consent_version", "7", "study.json has the versions 1"),
        ("participants.csv", 2, "started_at", "", "'' found; a time is needed"),
        (
            "participants.csv",
            2,
            "completed_at",
            "",
            "'' found; a time where the status is complete",
        ),
        ("participants.csv", 4, "completed_at", "2026-03-02T00:00:00Z", "only there"),
        ("participants.csv", 2, "completed_at", "2020-01-01T00:00:00Z", "begun was at 2026-03"),
        ("participants.csv", 2, "is_test", "1", "study.json says that test data are left out"),
        ("participants.csv", 5, "exclude_reason", "", "a reason is needed"),
        (
            "responses.csv",
            2,
            "participant",
            "P-X",
            "participants.csv has no participant of that id",
        ),
        ("responses.csv", 2, "question", "4", "'4' found; 1 to 3 are allowed"),
        ("responses.csv", 3, "question", "1", "'1' found; each question is allowed once"),
        ("responses.csv", 2, "position", "9", "'9' found; 1 to 3 are allowed"),
        ("responses.csv", 2, "position", "2", "'2' found; the plan does not shuffle questions"),
        ("responses.csv", 2, "label_order", "AP AP MNRO", "an order of AP NMRR MNRO is needed"),
        ("responses.csv", 2, "column_order", "1 2", "'1 2' found; an order of 1 2 3 is needed"),
        ("responses.csv", 2, "list_order", "A B C D F", "an order of A B C D E is needed"),
        ("responses.csv", 2, "list_order", "B A C D E", "the plan does not shuffle lists"),
        ("responses.csv", 2, "clicked", "4", "Method4 was clicked; there are Method1 to Method3"),
        ("responses.csv", 2, "clicked", "", "an answer is one or more columns, or an own ranking"),
        ("responses.csv", 2, "custom_ranking", "A>B>C>D>E", "column clicked: '1' found"),
        ("responses.csv", 4, "custom_ranking", "A>B", "list C is missing in the ranking 'A>B'"),
        ("responses.csv", 2, "active_seconds", "inf", "'inf' found; a number from 0 on is needed"),
        ("responses.csv", 2, "excluded", "1", "'1' found; participants.csv says 0"),
    ],
)
def test_a_cell_that_cannot_be_is_told_with_its_place(bundle, name, row, column, cell, told):
    found = refused(with_cell(bundle, name, row, column, cell))
    place = f"{name}, row {row}"
    assert found.startswith(place), found
    assert told in found
    assert f"column {column}" in found or "column clicked" in found


def test_the_faults_of_all_rows_of_a_file_are_told_together(bundle):
    files = with_rows(
        bundle, "responses.csv", lambda rows: [{**row, "clicked": "9"} for row in rows]
    )
    rows = rows_of(files, "responses.csv")
    places = [line.split(", column")[0] for line in refused(files).splitlines()]
    assert len(rows) == 10
    assert places == [f"responses.csv, row {number}" for number, _ in enumerate(rows, 2)]
    more = with_rows(files, "responses.csv", lambda rows: [*rows, rows[0], rows[0]])
    assert refused(more).splitlines()[10:] == ["and 2 more like these"]


def test_a_wrong_letter_is_the_only_fault_of_its_question(bundle):
    assert refused(with_cell(bundle, "questions.csv", 3, "list", "C")) == (
        "questions.csv, row 3, column list: 'C' found; lists A B C D E are needed, in this order"
    )


def test_whoever_is_complete_has_answered_everything(bundle):
    assert refused(with_rows(bundle, "responses.csv", lambda rows: rows[1:])) == (
        "participants.csv, row 2, column status: 'complete' found; responses.csv has 2 answers of 3"
    )


def test_a_question_has_all_lists_of_the_plan_and_no_question_is_missing(bundle):
    assert refused(with_rows(bundle, "questions.csv", lambda rows: rows[:-1])) == (
        "questions.csv, question 3: 4 lists found; the plan says 5"
    )
    assert refused(with_rows(bundle, "questions.csv", lambda rows: rows[:-5])) == (
        "questions.csv has not the questions 1 to 3 in order"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"format": 3},
            "study.json, format: 3 found; this version of the survey reads format",
        ),
        ({"status": "over"}, "study.json, status: 'over' found; allowed are draft, open, closed"),
        ({"slug": None}, "study.json, slug: None found, or it is missing"),
        ({"plan": {}}, "study.json, plan: title is empty"),
        ({"consent": [{"version": 1}]}, "study.json, consent: version, text and digest are needed"),
        ({"practice": {"A": None}}, "study.json, practice: "),
        ({"practice": {"A": [1.5], "B": [2]}}, "study.json, practice: "),
        ({"opened_at": "yesterday"}, "column opened_at: 'yesterday' found; a time like"),
    ],
)
def test_a_study_that_cannot_be_is_told(bundle, changes, told):
    assert told in refused(with_json(bundle, "study.json", lambda study: study.update(changes)))


def test_a_plan_of_odd_kinds_is_told(bundle):
    def odd(study):
        study["plan"]["measures"] = [["AP"]]

    assert refused(with_json(bundle, "study.json", odd)).startswith("study.json, plan: ")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("study.json", b"{", "study.json: this is no JSON"),
        ("study.json", b"[" * 100_000, "study.json: this is no JSON"),
        ("study.json", b"[]", "study.json: an object with names is needed"),
        ("participants.csv", b"\xff", "participants.csv, byte 1: this is no UTF-8"),
        ("participants.csv", b"participant\n", "participants.csv, row 1: the columns participant"),
        ("responses.csv", None, "responses.csv is missing"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(bundle, name, content, told):
    files = {one: found for one, found in {**bundle, name: content}.items() if found is not None}
    assert refused(files).startswith(told)


def test_columns_after_custom_ranking_may_be_empty_or_missing(bundle):
    after = ("shown_at", "submitted_at", "active_seconds", "revisions", "is_test", "excluded")

    def emptied(rows):
        return [row | dict.fromkeys(after, "") for row in rows]

    def without(rows):
        return [{name: row[name] for name in row if name not in after} for row in rows]

    for change in (emptied, without):
        files = with_rows(bundle, "responses.csv", change)
        answers = list(read_bundle(files)[0].answers.rows())
        assert len(answers) == len(rows_of(bundle, "responses.csv"))
        assert {one.active_seconds for one in answers} == {None}
        assert [one.excluded for one in answers] == [False] * 7 + [True] * 3


def test_a_file_that_a_spreadsheet_saved_is_read(bundle):
    saved = {
        **bundle,
        "responses.csv": "\ufeff".encode() + bundle["responses.csv"].replace(b"\n", b"\r\n"),
    }
    found, known = (read_bundle(files)[0] for files in (saved, bundle))
    assert list(found.answers.rows()) == list(known.answers.rows())


def test_a_first_ranking_is_read_with_its_place(session):
    bundle = handed_out(session, a_study(session, columns="after"))
    for column, cell, told in (
        ("participant", "P-X", "participants.csv has no participant of that id"),
        ("question", "9", "1 to 3 are allowed"),
        ("ranking", "", "a ranking is needed"),
        ("ranking", "A>B", "list C is missing"),
    ):
        found = refused(with_cell(bundle, "first_rankings.csv", 2, column, cell))
        assert found.startswith(f"first_rankings.csv, row 2, column {column}: ")
        assert told in found
    doubled = with_rows(bundle, "first_rankings.csv", lambda rows: [rows[0], *rows])
    assert "row 3, column question: '1' found; each question is allowed once" in refused(doubled)


def test_what_people_said_is_read_as_they_said_it(bundle):
    content = read_bundle(bundle)[0]
    told = {one.public_id: one.personal for one in content.participants()}
    assert told["P-AAAAAAAA"]["remark"] == "=1+1"
    assert told["P-BBBBBBBB"] == {
        "age": 35,
        "education": "A, B; or\u2028C",
        "remark": '"so", he\r\nsaid\rlow',
    }
    assert told["P-DDDDDDDD"]["remark"] == "'＝quoted already"
    assert told["P-FFFFFFFF"] == {}
    reasons = [one.exclude_reason for one in content.participants() if one.excluded]
    assert reasons == ["+ clicked\nthrough"]


def test_rows_mean_the_same_in_whatever_order_they_stand(bundle):
    untouched = read_bundle(bundle)[0]
    files = bundle
    for name in ("participants.csv", "responses.csv"):
        files = with_rows(files, name, lambda rows: rows[::-1])
    read = read_bundle(files)[0]
    assert list(read.answers.rows()) == list(untouched.answers.rows())
    assert list(read.participants()) == list(untouched.participants())


def with_half_a_pair(value):
    """Yield the value with each of its texts, names included, ending in half a surrogate pair."""
    if isinstance(value, str):
        yield f"{value}\ud800"
    for place, part in enumerate(value) if isinstance(value, list) else ():
        yield from ([*value[:place], new, *value[place + 1 :]] for new in with_half_a_pair(part))
    for name, part in value.items() if isinstance(value, dict) else ():
        yield from ({**value, name: new} for new in with_half_a_pair(part))
        yield {**value, f"{name}\ud800": part}


def test_half_a_surrogate_pair_in_a_text_is_refused_in_a_sentence(bundle):
    changed = [*with_half_a_pair(json.loads(bundle["study.json"]))]
    assert len(changed) > 50
    for content in changed:
        files = {"study.json": json.dumps(content).encode()}
        with pytest.raises(BundleError, match=r"^study\.json: this is no JSON") as refusal:
            json_of(files, "study.json")
        str(refusal.value).encode()  # a page can show it
    assert "study.json: this is no JSON" in refused(summed({**bundle, **files}))


def test_half_a_surrogate_pair_in_what_a_platform_sent_is_refused_in_a_sentence(bundle):
    rows = 'participant,external_id,parameters\nP-AAAAAAAA,x,"{""a"": ""\\ud800""}"\n'
    files = {"identities.csv": rows.encode()}
    with pytest.raises(BundleError, match=r"parameters: .*a JSON object is needed"):
        read_identities(files, [])


def test_a_bundle_replicates_from_a_stream_as_from_memory(bundle, tmp_path):
    path, read = tmp_path / "my.zip", []
    path.write_bytes(zipped(bundle))
    files = stream_files(path, "my.zip", read.append)
    assert [*replicate(files)] == [*replicate(bundle)]
    assert sum(read) > sum(map(len, bundle.values()))


def test_a_bundle_may_hold_files_that_are_too_large_for_memory(bundle, tmp_path, monkeypatch):
    (tmp_path / "my.zip").write_bytes(zipped(bundle))
    files = stream_files(tmp_path / "my.zip", "my.zip")
    monkeypatch.setattr(input_files, "LARGEST", len(bundle["votes.csv"]) - 1)
    lines = input_files.read_lines(files, "votes.csv")
    assert "".join(lines).encode() == bundle["votes.csv"]
    with pytest.raises(BundleError, match=r"votes\.csv is larger than"):
        input_files.file_text(files, "votes.csv")


def test_rows_of_participants_and_answers_may_be_in_any_order(bundle):
    changed = dict(bundle)
    for name in ("participants.csv", "responses.csv"):
        rows = list(csv.reader(io.StringIO(bundle[name].decode(), newline="")))
        sink = io.StringIO()
        csv.writer(sink).writerows([rows[0], *reversed(rows[1:])])
        changed[name] = sink.getvalue().encode()
    (content, _), (expected, _) = read_bundle(changed), read_bundle(bundle)
    assert [*content.participants()] == [*expected.participants()]
    assert [*content.answers.rows()] == [*expected.answers.rows()]
    assert content.results.as_json() == expected.results.as_json()
