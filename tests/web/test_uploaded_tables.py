"""Tables and plans that are uploaded: read as on the command line, whatever program wrote them."""

import gzip
import io
from pathlib import Path

import pytest

from survey.db.models import Guest, Study
from survey.services.studies import lifecycle
from tests.databases import ON_SQLITE
from tests.web.desk import STUDY

pytestmark = ON_SQLITE
FIELD = Path(__file__).parents[1] / "cases/field"
LISTS = (
    "Ranks\tList\tQuestion\tCollection_size\r\n1 2\tA\t1\t50\r\n3 9\tB\t1\t50\r\n7 8\tC\t1\t50\r\n"
)
OFFICE = "x.xlsx is a spreadsheet or a document. Save it as “CSV UTF-8”"


def uploaded(content, name):
    return (io.BytesIO(content), name)


def names_of(session):
    session.expire_all()
    return [guest.name for guest in session.query(Guest).order_by(Guest.id)]


def test_guests_come_in_the_dialects_of_spreadsheets(desk, session, study):
    contents = {
        "utf16.csv": (FIELD / "g01/utf16.csv").read_bytes(),
        "sep.csv.gz": gzip.compress((FIELD / "g01/sep.csv").read_bytes()),
        "trail.csv": (FIELD / "g01/trail.csv").read_bytes(),
    }
    for name, content in contents.items():
        desk.open(f"{STUDY}/invite")
        desk.send(f"{STUDY}/invite/guests", files={"guests": uploaded(content, name)})
        assert "1 personal link is ready to be sent." in desk.text
        assert "columns not read" not in desk.text
    assert names_of(session) == ["Anna", "Cleo", "Dora"]


def test_a_guest_list_that_cannot_be_read_is_named_and_what_was_typed_stays(desk, session, study):
    desk.open(f"{STUDY}/invite")
    for name, fault in [
        ("x.xlsx", OFFICE),
        ("vorname.csv", "vorname.csv: no column name. Columns found: Vorname, Nachname, E-Mail."),
        ("cp1252.csv", "cp1252.csv, row 2: not UTF-8. In Excel, save as “CSV UTF-8”."),
    ]:
        file = uploaded((FIELD / "g01" / name).read_bytes(), name)
        desk.send(f"{STUDY}/invite/guests", names="Eva", files={"guests": file})
        assert fault in desk.text
        assert desk.page.select_one("textarea[name=names]").text.strip() == "Eva"
    assert names_of(session) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_own_lists_come_in_the_dialects_of_spreadsheets(desk, session, study, pack):
    desk.open(f"{STUDY}/lists")
    content = pack(LISTS.encode("utf-16"))
    desk.send(f"{STUDY}/lists", files={"lists": uploaded(content, "lists.csv")})
    assert desk.address == f"{STUDY}/check"
    session.expire_all()
    assert session.get(Study, study.id).plan.own_lists == (((1, 2), (3, 9), (7, 8)),)


@pytest.mark.parametrize(
    ("content", "name", "fault"),
    [
        (b"PK\x03\x04junk", "x.xlsx", OFFICE),
        (b"PK\x03\x04junk", "lists.zip", "lists.zip is a zip. Unpack it, or pack it with gzip"),
        (b"a,b\n", "l.csv", "l.csv: no columns question, list, ranks, collection_size. Columns f"),
    ],
)
def test_own_lists_that_cannot_be_read_are_one_fault(desk, study, content, name, fault):
    desk.open(f"{STUDY}/lists")
    desk.send(f"{STUDY}/lists", files={"lists": uploaded(content, name)})
    assert desk.status == 400
    assert fault in desk.text


def test_a_plan_file_has_its_topics_as_they_are_written(desk, session):
    for name, topics in (("octal", ("012", "077", "101")), ("utf16", ("t1",))):
        content = (FIELD / f"y01/{name}.yaml").read_bytes()
        desk.open("/research/new")
        file = uploaded(content, f"{name}.yaml")
        desk.send("/research/new", files={"plan": file}, start="file", slug=f"of-{name}")
        session.expire_all()
        assert lifecycle.find_study(session, f"of-{name}").plan.topics == topics
        session.rollback()
    desk.open("/research/new")
    null = uploaded((FIELD / "y01/null.yaml").read_bytes(), "null.yaml")
    desk.send("/research/new", files={"plan": null}, start="file", slug="of-null")
    assert "null.yaml, line 9, topics 1: nothing found; an id is needed" in desk.text
