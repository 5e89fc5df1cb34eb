"""Platforms' parameters, codes and ways back; guest lists and their links."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.studies.fields import PlanError
from survey.core.text_input import FaultyFilesError, escaped, unescaped
from survey.errors import NotFoundError
from survey.services.studies import recruitment
from survey.services.studies.recruitment import PLATFORMS, Recruitment, parse_recruitment
from tests.builders import KEY, an_open_study

PROLIFIC = Recruitment(
    code_complete="C1", return_url="https://app.prolific.com/submissions/complete?cc={code}"
)


def test_what_prolific_sends_is_kept_without_being_asked_for():
    query = {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1", "utm_source": "mail"}
    assert Recruitment().select_parameters(query) == {
        "PROLIFIC_PID": "p1",
        "STUDY_ID": "s1",
        "SESSION_ID": "x1",
    }


def test_upper_and_lower_case_count_alike_and_what_is_not_configured_is_not_kept():
    settings = Recruitment(id_parameter="workerId", capture=("hitId",))
    assert settings.select_parameters({"WORKERID": " w1 ", "hitid": "h", "assignmentId": "a"}) == {
        "workerId": "w1",
        "hitId": "h",
    }


def test_a_value_without_end_is_cut():
    assert (
        len(Recruitment().select_parameters({"PROLIFIC_PID": "x" * 10_000})["PROLIFIC_PID"]) == 200
    )


def test_the_way_back_carries_the_code():
    assert (
        PROLIFIC.return_address("C1", {}) == "https://app.prolific.com/submissions/complete?cc=C1"
    )


def test_the_way_back_echoes_what_sona_wants_and_nothing_breaks_out_of_the_address():
    settings = parse_recruitment({**PLATFORMS["sona"], "code_complete": "X"})
    address = settings.return_address("X", {"survey_code": "12&credit_token=evil"})
    assert address.endswith("survey_code=12%26credit_token%3Devil")


@pytest.mark.parametrize("captured", ["study_id", "STUDY_ID", "Study_Id", "hitId", "hitid"])
def test_the_way_back_carries_the_study_by_whatever_name_it_was_captured(captured):
    settings = Recruitment(capture=(captured,), return_url="https://x.example/?study={study_id}")
    kept = settings.select_parameters({"STUDY_ID": "s 1", "hitId": "s 1"})
    assert settings.return_address("", kept) == "https://x.example/?study=s%201"


def test_the_way_back_carries_the_session_and_other_captured_values():
    settings = Recruitment(
        capture=("session_id", "wave"), return_url="https://x.example/{session_id}/{wave}"
    )
    assert settings.return_address("", {"session_id": "x1", "wave": "2"}).endswith("/x1/2")
    assert settings.return_address("", {}).endswith(".example//")


def test_without_an_address_there_is_no_way_back():
    assert Recruitment(code_complete="C1").return_address("C1", {}) is None


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"access": "all"}, "access is 'all'; allowed is public, personal"),
        ({"slot_minutes": 4}, "slot_minutes is 4; 5 to 525600"),
        ({"return_url": "javascript:alert(1)"}, "must begin with https://"),
        ({"return_url": "https://x.example/{who}"}, "{who} found in return_url; allowed are"),
        ({"return_url": "https://x.example/{}"}, "{} found in return_url"),
        ({"return_url": "https://x.example/{code!x}"}, "{code!x} found in return_url"),
        ({"return_url": "https://["}, "return_url is no address"),
        ({"code_complete": "MNRO-AP"}, "holds the name of a measure"),
        ({"return_url": "https://x.example/{"}, "single { or }"),
        ({"return_url": "https://x.example/{code}"}, "code_complete cannot be empty"),
        ({"id_parameter": "a b"}, "'a b' found in id_parameter"),
        ({"id_parameter": "1abc"}, "'1abc' found in id_parameter; a parameter's name begins with"),
        ({"capture": ["x" * 41]}, "found in capture; a parameter's name begins with a letter and"),
        ({"capture": ["x" * 41]}, "has at most 40 characters: letters A to Z, digits, - and _"),
        ({"capture": ["x"] * 9}, "at most 8"),
        ({"capture": "abc"}, "capture is a list of names"),
        ({"capture": [1]}, "1 found in capture; a parameter's name"),
        ({"return_url": 3}, "return_url is 3; a text is needed"),
        ({"colour": 1}, "there is no field “colour”; recruitment has"),
    ],
)
def test_settings_that_cannot_be_are_refused(values, told):
    with pytest.raises(PlanError) as error:
        parse_recruitment(values)
    assert told in str(error.value)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platforms_settings_only_lack_codes(platform):
    assert parse_recruitment({**PLATFORMS[platform], "code_complete": "C1"})


def names_in(text):
    return [*recruitment.read_guests(text)[0]]


def test_a_guest_list_has_a_column_called_name_or_one_column():
    assert names_in("email,name\na@x,Ann\nb@x, Bob  B \n\n") == ["Ann", "Bob B"]
    assert names_in("\ufeffann@x.example\r\nbob@x.example\r\n") == [
        "ann@x.example",
        "bob@x.example",
    ]


def test_other_columns_of_a_guest_list_are_named():
    names, warnings = recruitment.read_guests("E-Mail,Name,tel\na@x,Ann,1\n", "guests.csv")
    assert names == {"Ann": "a@x"}
    assert warnings == ["guests.csv: columns not read: tel."]
    assert recruitment.read_guests("Ann\n") == ({"Ann": ""}, [])


def test_what_is_no_address_is_named_with_its_row():
    with pytest.raises(FaultyFilesError, match="row 3, column e-mail: 'bob' is not an"):
        recruitment.read_guests("name,email\nAnn,a@x.org\nBob,bob\n", "g.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_guest_list_may_be_separated_as_spreadsheets_do_it(separator):
    rows = [["e, mail", '"name"'], ["a@x", "Ann"], ["b@x", '"Papadaki, Maria; Dr"', ""]]
    text = "\ufeff" + "\r\n".join(separator.join(["x", *row]) for row in rows)
    text = text.replace("e, mail", '"e, mail"')
    assert names_in(text) == ["Ann", "Papadaki, Maria; Dr"]


@pytest.mark.parametrize("blank", ["\n", " \r\n", ",\n\n"])
def test_blank_rows_before_the_heading_of_a_guest_list_are_skipped(blank):
    assert names_in(f"{blank}name\nAnn\n") == ["Ann"]
    assert names_in(f"{blank}Ann\n\nBob\n") == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "g.csv is empty. Columns needed: name"),
        ("name\n", "g.csv: no row found below the heading; one name per row is needed"),
        ("a,b\n1,2\n", "g.csv: no column name. Columns found: a, b"),
        ("Ho, Ann\n", "g.csv: no column name. Columns found: Ho, Ann"),
        (
            "name\nAnn\nPapadaki, Maria\n",
            "g.csv, row 3: 2 cells found, the last of them 'Maria'; the heading has 1. A cell that "
            "holds commas needs quotation marks around it",
        ),
        ("mail;name\nx;Ho; Ann\n", "row 2: 3 cells found, the last of them 'Ann'"),
        ("Ann\nHo, Bob\n", "row 2: 2 cells found, the last of them 'Bob'"),
        ("name\nAnn\nAnn\n", "row 3: 'Ann' is in row 2 already"),
        ("name,x\n,1\n", "row 2: no name found"),
        ("name\nJ\xfcrgen\nJu\u0308rgen\n", "row 3: 'Jürgen' is in row 2 already"),
        ("\nname\nAnn\n\nAnn\n", "row 5: 'Ann' is in row 3 already"),
        ("name\n" + "x" * 201, "row 2: 201 characters; 200 allowed"),
        ("name\nAnn\n" + "x" * 131_073, "row 3: 131073 characters; 200 allowed"),
    ],
)
def test_a_guest_list_that_cannot_be_says_which_row(text, fault):
    with pytest.raises(FaultyFilesError) as error:
        recruitment.read_guests(text, "g.csv")
    assert len(error.value.faults) == 1
    assert fault in error.value.faults[0]


def test_of_many_faults_of_a_guest_list_five_are_shown():
    with pytest.raises(FaultyFilesError) as error:
        recruitment.read_guests("name\n" + "Ann\n" * 30)
    assert len(error.value.faults) == 6
    assert error.value.faults[-1] == "and 24 more like these"


def test_typed_names_are_one_in_each_line_and_faults_name_the_line_that_was_typed():
    typed = "name\r\n\r\n Papadaki,  Maria \r\n'=1+1"
    assert recruitment.read_names(typed) == ["name", "Papadaki, Maria", "'=1+1"]
    assert recruitment.read_names("") == []
    with pytest.raises(FaultyFilesError, match="the list, row 4: 'Bob' is in row 1 already"):
        recruitment.read_names("Bob\nAnn\n\nBob\n")


def test_links_are_made_once_per_name_and_stay_the_same(session):
    study = an_open_study(session)
    assert recruitment.add_guests(session, study, ["Ann", "=Bob"]) == 2
    assert recruitment.add_guests(session, study, ["Ann", "Carl"]) == 1
    listed, address = recruitment.guests_of(session, study), "https://x.example/s/five-systems"
    first = recruitment.personal_links(listed, KEY, address)
    assert first == recruitment.personal_links(listed, KEY, address)
    rows = list(csv.DictReader(io.StringIO(recruitment.links_csv(first))))
    assert [row["name"] for row in rows] == ["Ann", "'=Bob", "Carl"]
    assert {row["status"] for row in rows} == {"not started"}
    token = rows[0]["link"].rpartition("=")[2]
    assert recruitment.find_guest(session, study, KEY, token.lower()).name == "Ann"


@pytest.mark.parametrize("change", [slice(0, -1), slice(1, None), slice(0, 12)])
def test_a_link_that_is_not_whole_is_nobodys(session, change):
    study = an_open_study(session)
    recruitment.add_guests(session, study, ["Ann"])
    token = recruitment.link_token(KEY, recruitment.guests_of(session, study)[0])
    for wrong in (token[change], "", "ü" * 24):
        with pytest.raises(NotFoundError, match="personal link is not complete"):
            recruitment.find_guest(session, study, KEY, wrong)


def test_a_link_of_another_study_is_nobodys_here(session):
    study, other = an_open_study(session), an_open_study(session, "another")
    recruitment.add_guests(session, study, ["Ann"])
    token = recruitment.link_token(KEY, recruitment.guests_of(session, study)[0])
    with pytest.raises(NotFoundError):
        recruitment.find_guest(session, other, KEY, token)


@given(st.text())
def test_a_cell_made_harmless_comes_back(cell):
    harmless = escaped(cell)
    assert unescaped(harmless) == cell
    assert harmless[:1] not in set("=+-@\t\r＝＋－＠")
