"""Tables and plans as people have them: of each file of tests/cases/field, what is right."""

from pathlib import Path

import pytest

from survey.core.collections.keywords import read_keywords
from survey.core.text_input import FaultyFilesError, FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.collections.items import Intake, read_topics
from survey.services.exchange.input_files import read_text
from survey.services.studies.plans import read_plan
from survey.services.studies.recruitment import read_guests

FIELD = Path(__file__).parents[1] / "cases/field"


def guests_in(path):
    names, warnings = read_guests(read_text(path), path.name)
    return [*names], warnings


def keywords_in(path):
    faults = FileFaults()
    read = read_keywords(path.name, lines_of(read_text(path)), faults)
    faults.raise_any()
    return read


def topics_in(path):
    return {each.topic: each.text for each in read_topics(path.read_bytes(), path.name, Intake())}


def plan_in(path):
    plan = read_plan(read_text(path), path.name).plan
    return plan.title, plan.topics


READERS = {"g01": guests_in, "k01": keywords_in, "t01": topics_in, "y01": plan_in}
TITLE = "Which match?"
RIGHT = {
    "g01/Name.csv": (["Bert"], []),
    "g01/comma.csv": "comma.csv, row 2: 2 cells found, the last of them 'Eva'; the heading has 1. "
    "A cell that holds commas needs quotation marks around it",
    "g01/cp1252.csv": "cp1252.csv, row 2: not UTF-8. In Excel, save as “CSV UTF-8”",
    "g01/email.csv": "email.csv: no column name. Columns found: email, firstname, lastname",
    "g01/formula.csv": (['=HYPERLINK("x")'], []),
    "g01/mac.csv": (["Fritz", "Gina"], []),
    "g01/nfd.csv": "nfd.csv, row 3: 'Jürgen' is in row 2 already",
    "g01/sep.csv": (["Cleo"], []),
    "g01/trail.csv": (["Dora"], []),
    "g01/twins.csv": "twins.csv, row 3: 'Anna Muster' is in row 2 already",
    "g01/utf16.csv": (["Anna"], []),
    "g01/vorname.csv": "vorname.csv: no column name. Columns found: Vorname, Nachname, E-Mail",
    "g01/x.xlsx": "x.xlsx is a spreadsheet or a document. Save it as “CSV UTF-8”",
    "k01/bom.csv": {"d1": {"cat": 1}, "d2": {"cat": 1}},
    "k01/caps.csv": {"d1": {"cat": 0.57}},
    "k01/pct.csv": "pct.csv, row 2: weight '57%' found; a share above 0 and up to 1 is allowed",
    "k01/semi.csv": {"d1": {"cat": 0.57}},
    "k01/trail.csv": {"d1": {"cat": 0.57}, "d2": {"cat": 1}},
    "t01/caps.csv": {"1": "a"},
    "t01/good.csv": {"1": 'a red, "square"'},
    "t01/queries.jsonl": {"1": "a red square"},
    "t01/queries.tsv": {"1": "a red square", "2": "blue"},
    "t01/semi.csv": {"1": "a red square"},
    "t01/topics.trec": "topics.trec is a file of TREC topics. Write it as a table with the "
    "columns topic and text",
    "t01/unquoted.csv": "unquoted.csv, row 2: 3 cells found, the last of them 'square'; the "
    "heading has 2. A cell that holds commas needs quotation marks around it",
    "t01/zeros.csv": {"001": "a red square"},
    "y01/colon.yaml": "colon.yaml, line 2: a text that holds a colon needs quotation marks "
    "around it",
    "y01/crlf.yaml": (TITLE, ("t1",)),
    "y01/date.yaml": (TITLE, ("2024-01-02",)),
    "y01/dupkey.yaml": "dupkey.yaml, line 10: batch occurs twice, again on line 13",
    "y01/exp.yaml": (TITLE, ("1e3", "73928e03")),
    "y01/float.yaml": (TITLE, ("1.10", "1.2")),
    "y01/ints.yaml": (TITLE, ("101", "102")),
    "y01/latin1.yaml": "latin1.yaml, row 2: not UTF-8. Save it as UTF-8",
    "y01/null.yaml": "null.yaml, line 9, topics 1: nothing found; an id is needed, and in YAML "
    "null and ~ need quotes to be one",
    "y01/octal.yaml": (TITLE, ("012", "077", "101")),
    "y01/percent.yaml": "percent.yaml, line 2: a text that begins with a sign needs "
    "quotation marks around it",
    "y01/sexa.yaml": (TITLE, ("12:30", "1:20")),
    "y01/smart.yaml": ("“Which match?”", ("t1",)),
    "y01/tabs.yaml": "tabs.yaml, line 11: blanks are needed before a line in place of tabs",
    "y01/titleno.yaml": ("No", ("t1",)),
    "y01/under.yaml": (TITLE, ("1_000",)),
    "y01/utf16.yaml": (TITLE, ("t1",)),
}


def test_every_file_has_its_right_behaviour():
    files = {f"{folder}/{path.name}" for folder in READERS for path in (FIELD / folder).iterdir()}
    assert files == RIGHT.keys()


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_written_is_what_is_read(case):
    path, right = FIELD / case, RIGHT[case]
    read = READERS[path.parent.name]
    if not isinstance(right, str):
        assert read(path) == right
        return
    with pytest.raises((FaultyFilesError, SurveyError)) as error:
        read(path)
    first = str(error.value).splitlines()[0].removesuffix(".")
    assert first.removeprefix(f"{path.parent}/") == right
