"""The files of a bundle: what stands where, and that nothing else does."""

import csv
import hashlib
import io
import json
import statistics
import zipfile
from collections import defaultdict

import pytest

from survey.errors import NotFoundError
from survey.services.exchange import bundle
from survey.services.exchange.bundle import stream_zip
from survey.services.exchange.description import LICENCE
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.studies import lifecycle
from tests.builders import a_plan
from tests.services.exchange import changes
from tests.services.exchange.changes import (
    DESCRIPTIONS,
    described,
    rows_of,
    steps_of,
    summed,
    with_cell,
    with_json,
)
from tests.services.exchange.conftest import (
    ANOTHER,
    DECLINED,
    EXCLUDED,
    FINISHED,
    UNFINISHED,
    a_study,
    handed_out,
)

# As the contract with those who read them has it.
COUNTING = "is_test,excluded,flagged,arm"
COLUMNS = {
    "questions.csv": "question,list,ranks,collection_size,topic",
    "list_items.csv": "question,list,run,position,document,relevance",
    "rankings.csv": "question,measure,ranking,values,displayed",
    "values.csv": "question,list,measure,value,place,displayed",
    "responses.csv": "study,participant,question,topic,position,label_order,column_order,"
    "list_order,clicked,custom_ranking,shown_at,submitted_at,active_seconds,revisions,"
    f"{COUNTING},asked,contradicts,typed,scores_seen",
    "votes.csv": "study,participant,question,topic,measure,label,place,ranking,clicked,credited,"
    f"{COUNTING}",
    "participants.csv": "participant,status,age,education,remark,consent_version,started_at,"
    "completed_at,minutes,is_test,excluded,exclude_reason,understood,arm",
    "table3.csv": "quantity,value",
    "table4.csv": "question,AP,NMRR,MNRO,OTHER,choice",
    "long.csv": f"study,participant,question,topic,position,seconds,pair,d,contrast,{COUNTING}",
    "codebook.csv": "file,column,type,allowed,meaning",
}
MORE = {
    "first_rankings.csv": f"study,participant,question,topic,ranking,submitted_at,asked,{COUNTING}",
    "identities.csv": "participant,external_id,parameters,arrived_at",
}


@pytest.fixture
def fuller(session):
    """A bundle with all files there are."""
    study = a_study(session, columns="after")
    return handed_out(session, study, with_identities=True)


def headings(files):
    return {
        name: content.decode().partition("\n")[0]
        for name, content in files.items()
        if name.endswith(".csv")
    }


def test_places_on_the_page_have_a_row_each(session):
    study = a_study(session, shuffle_lists=True)
    files = handed_out(session, study)
    heading = f"study,participant,question,topic,list,place,{COUNTING}"
    assert headings(files)["shown_lists.csv"] == heading
    lists, columns = defaultdict(list), defaultdict(list)
    for row in rows_of(files, "shown_lists.csv"):
        lists[row["participant"], row["question"]].append(row["list"])
        assert row["place"] == str(len(lists[row["participant"], row["question"]]))
    for row in rows_of(files, "votes.csv"):
        place = int(row["place"]), row["label"].removeprefix("Method")
        columns[row["participant"], row["question"]].append(place)
    orders = set()
    for row in rows_of(files, "responses.csv"):
        answer = row["participant"], row["question"]
        assert lists.pop(answer) == row["list_order"].split()
        places = [label for _, label in sorted(columns.pop(answer, []))]
        assert places in (row["column_order"].split(), [])  # none of those who are left out
        orders |= {row["list_order"]}
    assert (lists, columns) == ({}, {})
    assert len(orders) > 1


def test_the_files_and_their_columns_are_those_of_the_contract(bundle, fuller):
    assert headings(bundle) == COLUMNS
    assert headings(fuller) == COLUMNS | MORE
    others = {"study.json", "analysis.json", "analysis.R", "SHA256SUMS"}
    assert set(bundle) - set(COLUMNS) == others | {*DESCRIPTIONS} - {LICENCE}


def test_the_codebook_tells_of_every_column_of_every_file(fuller):
    told = rows_of(fuller, "codebook.csv")
    columns = [
        (name, column) for name, line in headings(fuller).items() for column in line.split(",")
    ]
    assert sorted((row["file"], row["column"]) for row in told) == sorted(columns)
    assert all(row["type"] and row["meaning"].strip() for row in told)
    by_column = {(row["file"], row["column"]): row for row in told}
    assert by_column["participants.csv", "status"]["allowed"] == (
        "started, declined, screened_out, stopped, complete"
    )
    assert by_column["participants.csv", "age"]["allowed"] == "18 to 99"
    assert by_column["participants.csv", "age"]["meaning"] == "asked: Your age"
    assert by_column["participants.csv", "remark"]["allowed"].endswith("may be empty")
    assert by_column["responses.csv", "active_seconds"]["allowed"].endswith("may be empty")


@pytest.mark.slow
def test_study_json_says_what_the_tables_do_not(session, study):
    told = json.loads(handed_out(session, study)["study.json"])
    assert told["digest"] == study.digest
    assert told["plan"]["seed"] == told["seed"] == 5
    assert told["measures"] == ["AP", "NMRR", "MNRO"]
    assert sorted(told["practice"]) == list("ABCDE")
    assert [one["version"] for one in told["consent"]] == [1]
    assert {"survey", "commit", "python", "numpy"} <= set(told["versions"])
    moments = {name for name in told if name.endswith("_at")}
    assert moments == {"opened_at", "closed_at", "unblinded_at"}  # and not when it was exported


def test_the_same_database_gives_the_same_zip_byte_for_byte(session, study):
    first, second = (b"".join(bundle.stream_bundle(session, study)) for _ in range(2))
    assert first == second
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.testzip() is None
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.create_system for entry in archive.infolist()} == {3}


def test_the_sums_are_those_that_sha256sum_prints(bundle):
    *lines, last = bundle["SHA256SUMS"].decode().splitlines()
    names = sorted(name for name in bundle if name != "SHA256SUMS")
    assert lines == [f"{hashlib.sha256(bundle[name]).hexdigest()}  {name}" for name in names]
    above = "".join(f"{line}\n" for line in lines).encode()
    assert last == f"# SHA-256 of the lines above: {hashlib.sha256(above).hexdigest()}"


def test_rows_stand_in_the_order_of_participants_and_questions(session):
    study = a_study(session, shuffle_questions=True)
    files = handed_out(session, study, include_test=True)
    people = [row["participant"] for row in rows_of(files, "participants.csv")]
    assert people == sorted(people)
    answers = [
        (row["participant"], int(row["question"])) for row in rows_of(files, "responses.csv")
    ]
    assert answers == sorted(answers)
    positions = {
        person: sorted(
            row["position"]
            for row in rows_of(files, "responses.csv")
            if row["participant"] == person
        )
        for person in (FINISHED, ANOTHER)
    }
    assert set(map(tuple, positions.values())) == {("1", "2", "3")}


def test_an_own_ranking_a_tick_and_several_ticks_stand_apart(bundle):
    answers = {
        (row["participant"], row["question"]): row for row in rows_of(bundle, "responses.csv")
    }
    assert answers[FINISHED, "1"]["clicked"] == "1"
    assert answers[FINISHED, "2"]["clicked"] == "1 3"
    own = answers[FINISHED, "3"]
    assert (own["clicked"], own["custom_ranking"]) == ("", "B>A=C>D>E")
    assert answers[FINISHED, "2"]["active_seconds"] == ""
    assert answers[FINISHED, "3"]["active_seconds"] == "5.5"
    assert (EXCLUDED, "1") in answers
    assert answers[EXCLUDED, "1"]["excluded"] == "1"


def test_credits_follow_from_the_other_files_alone(bundle):
    """As someone else's program would do it, with nothing of the survey's own."""
    orders = {
        (row["question"], row["measure"]): row["ranking"] for row in rows_of(bundle, "rankings.csv")
    }
    expected = []
    counting = ("is_test", "excluded", "flagged", "arm")
    for row in rows_of(bundle, "responses.csv"):
        if row["excluded"] == "1":
            continue
        labels = row["label_order"].split()
        approved = {
            orders[row["question"], labels[int(label) - 1]] for label in row["clicked"].split()
        }
        for measure in ("AP", "NMRR", "MNRO"):
            order, label = orders[row["question"], measure], labels.index(measure) + 1
            expected.append(
                {
                    **{name: row[name] for name in ("study", "participant", "question", "topic")},
                    "measure": measure,
                    "label": f"Method{label}",
                    "place": str(row["column_order"].split().index(str(label)) + 1),
                    "ranking": order,
                    "clicked": str(int(str(label) in row["clicked"].split())),
                    "credited": str(int(order in approved)),
                    **{name: row[name] for name in counting},
                }
            )
    assert rows_of(bundle, "votes.csv") == expected


def test_table_4_counts_the_credits(bundle):
    votes, answers = rows_of(bundle, "votes.csv"), rows_of(bundle, "responses.csv")
    rows = rows_of(bundle, "table4.csv")
    for row in rows:
        for measure in ("AP", "NMRR", "MNRO"):
            credited = sum(
                vote["credited"] == "1"
                for vote in votes
                if (vote["question"], vote["measure"]) == (row["question"], measure)
            )
            assert int(row[measure]) == credited
        own = [
            one
            for one in answers
            if one["question"] == row["question"]
            and one["custom_ranking"]
            and one["excluded"] == "0"
        ]
        assert int(row["OTHER"]) == len(own)
        most = max(int(row[name]) for name in ("AP", "NMRR", "MNRO"))
        assert row["choice"].split("-") == [
            name for name in ("AP", "NMRR", "MNRO") if int(row[name]) == most
        ]
    assert [row["question"] for row in rows] == ["1", "2", "3"]


def test_table_3_tells_who_answered_and_was_counted(bundle):
    ages, minutes = [22, 35, 41], [601 / 60, 661 / 60]
    assert [tuple(row.values()) for row in rows_of(bundle, "table3.csv")] == [
        ("participants", "3"),
        ("questions_per_participant", "3"),
        ("age_mean", f"{statistics.fmean(ages):.4f}"),
        ("age_sd", f"{statistics.stdev(ages):.4f}"),
        ("education: School", "1"),
        ("education: -none-", "1"),
        ("education: A, B; or\u2028C", "1"),
        ("minutes_mean", f"{statistics.fmean(minutes):.4f}"),
        ("minutes_sd", f"{statistics.stdev(minutes):.4f}"),
    ]


def test_whoever_declined_or_did_not_finish_is_a_row_without_an_end(bundle):
    people = {row["participant"]: row for row in rows_of(bundle, "participants.csv")}
    assert [people[one]["status"] for one in (FINISHED, UNFINISHED, DECLINED)] == [
        "complete",
        "started",
        "declined",
    ]
    for one in (UNFINISHED, DECLINED):
        assert (people[one]["completed_at"], people[one]["minutes"]) == ("", "")
    assert people[DECLINED]["consent_version"] == people[DECLINED]["age"] == ""
    assert people[FINISHED]["started_at"] == "2026-03-01T09:00:00Z"


def test_no_cell_of_any_file_starts_a_formula(fuller):
    for name in [one for one in fuller if one.endswith(".csv")]:
        for row in csv.reader(io.StringIO(fuller[name].decode(), newline=""), strict=True):
            for cell in row:
                if cell[:1] and cell[0] in "=+-@\t\r＝＋－＠":
                    float(cell)  # numbers stay numbers


def test_identities_stand_in_their_own_file_only(session, study):
    files = handed_out(session, study, with_identities=True)
    row = rows_of(files, "identities.csv")[0]
    assert row["external_id"] == f"'={FINISHED}"
    assert json.loads(row["parameters"])["STUDY_ID"] == 'a "b", c'
    assert [name for name in files if b"STUDY_ID" in files[name]] == ["identities.csv"]
    assert not any(b"STUDY_ID" in one for one in handed_out(session, study).values())
    with pytest.raises(NotFoundError):
        bundle.stream_file(session, study, "identities.csv")


@pytest.mark.slow
def test_one_file_by_itself_is_the_bundles(session, study):
    files = handed_out(session, study)
    for name in bundle.file_names(session, study):
        assert "".join(bundle.stream_file(session, study, name)).encode() == files[name]
    with pytest.raises(NotFoundError, match=r"A bundle has no file 'nothing\.csv'"):
        bundle.stream_file(session, study, "nothing.csv")


def test_the_estimated_lines_are_about_those_written(session, study):
    written = []
    for _ in bundle.stream_bundle(session, study, on_lines=written.append):
        pass
    assert 0.5 < sum(written) / bundle.estimate_lines(session, study) < 2


def test_pieces_leave_before_the_last_line_is_made():
    """Neither a file nor the zip is ever held as a whole."""
    made = []

    def lines():
        for number in range(20_000):
            made.append(number)
            yield hashlib.sha256(str(number).encode()).hexdigest() + "\n"

    pieces, after = [], []
    for piece in stream_zip([("long.csv", lines())]):
        pieces.append(len(piece))
        after.append(len(made))
    assert len(pieces) > 5
    assert after[0] < 5_000
    assert max(pieces) < 200_000


@pytest.mark.parametrize("name", [*COLUMNS, "study.json", "analysis.json", "SHA256SUMS"])
def test_a_byte_that_changed_inside_a_zip_is_told_with_its_file(bundle, name):
    content = bundle[name]
    half = len(content) // 2
    flipped = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
    files = open_files(io.BytesIO(changes.zipped({**bundle, name: flipped})), "my.zip")
    with pytest.raises(BundleError, match=f"^{name} was changed"):
        steps_of(files)
    # The same bit, in what the zip holds compressed, where its own checksum tells.
    whole = bytearray(changes.zipped(bundle))
    with zipfile.ZipFile(io.BytesIO(bytes(whole))) as archive:
        entry = archive.getinfo(name)
    whole[entry.header_offset + 30 + len(name) + entry.compress_size // 2] ^= 1
    with pytest.raises(BundleError, match=f"^{name} is damaged"):
        open_files(io.BytesIO(bytes(whole)), "my.zip")


def test_a_draft_that_nobody_has_answered_replicates(session):
    draft = lifecycle.create_study(session, "draft", a_plan())
    files = handed_out(session, draft)
    assert "0 answers of 0 participants can be read" in steps_of(files)
    assert rows_of(files, "votes.csv") == []


@pytest.mark.parametrize(
    ("column", "cell", "told"),
    [
        ("participant", "P-X", "participants.csv has no participant of that id"),
        ("parameters", "[]", "a JSON object is needed"),
        ("parameters", "{", "a JSON object is needed"),
    ],
)
def test_identities_that_cannot_be_are_told_with_their_place(session, study, column, cell, told):
    files = handed_out(session, study, with_identities=True)
    with pytest.raises(BundleError) as error:
        steps_of(with_cell(files, "identities.csv", 2, column, cell))
    assert str(error.value).startswith(f"identities.csv, row 2, column {column}: {cell!r} found")
    assert told in str(error.value)


def test_a_disagreement_with_another_version_says_so(bundle):
    older = with_json(bundle, "study.json", lambda study: study["versions"].update(survey="0.0.1"))
    assert steps_of(older)
    with pytest.raises(BundleError, match=r"recomputed '3'\. The bundle was made by 0\.0\.1"):
        steps_of(with_cell(older, "table3.csv", 2, "value", "4"))


def test_a_plan_may_leave_out_what_an_earlier_version_did_not_know(bundle):
    def older(study):
        del study["plan"]["columns"]

    assert steps_of(described(with_json(bundle, "study.json", older)))


def test_numbers_beyond_all_bounds_are_told_and_not_repeated_in_full(bundle):
    many = bundle["analysis.json"].replace(b'"missing": ', b'"missing": 1' + b"0" * 999, 1)
    with pytest.raises(BundleError, match=r"analysis\.json, n, missing: 10+…") as error:
        steps_of(summed({**bundle, "analysis.json": many}))
    assert len(str(error.value)) < 400
