"""A folder with questions.csv and responses.csv made elsewhere: what is read, what is refused."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import MEASURES, Setting
from survey.core.studies.questions import build_question, rankings_of
from survey.core.studies.rankings import Ranking, letters_for
from survey.kinds.ordering.files import unknown_study
from survey.kinds.ordering.reader import (
    ANSWER_COLUMNS,
    AnswerRecord,
    ForeignFolder,
    read_foreign,
)
from survey.services.exchange.input_files import BundleError, open_files
from survey.services.exchange.tables import row_line, spaced
from tests.services.exchange.changes import zipped

QUESTIONS = """question,list,ranks,collection_size
1,A,1 2 9,100
1,B,2 3 4,100
1,C,30 31 5,100
2,A,1 2,50
2,B,1 40,50
"""
RESPONSES = f"""{",".join(ANSWER_COLUMNS)}
P1,1,1,NMRR AP,2 1,B A C,1 2,
P1,2,2,AP NMRR,1 2,A B,,B=A
P2,1,,AP NMRR,,,2,
P2,2,,,,,,
"""
OPTIONAL = ("shown_at", "submitted_at", "active_seconds", "revisions", "is_test", "excluded")
GOOD = {"questions.csv": QUESTIONS, "responses.csv": RESPONSES}


def read(files):
    return read_foreign({name: text.encode() for name, text in files.items()})


def refused(files):
    with pytest.raises(BundleError) as error:
        read(files)
    return str(error.value)


def with_line(name, number, line):
    """The good files, one line of one of them changed; the heading is line 1."""
    lines = GOOD[name].splitlines()
    lines[number - 1 : number] = [line]
    return {**GOOD, name: "\n".join(lines)}


def with_columns(*rows):
    """The good files with the optional columns; ``rows``: their cells in each row."""
    heading, *lines = RESPONSES.splitlines()
    ends = [",".join(OPTIONAL), *rows]
    joined = [f"{line},{end}" for line, end in zip([heading, *lines], ends, strict=True)]
    return {**GOOD, "responses.csv": "\n".join(joined)}


def test_the_least_that_suffices_is_read():
    votes = read(GOOD)
    assert votes.measures == ("AP", "NMRR")
    assert votes.questions[0].lists == {"A": (1, 2, 9), "B": (2, 3, 4), "C": (5, 30, 31)}
    assert {name: str(order) for name, order in rankings_of(votes.questions)[1].items()} == {
        "AP": "A>B>C",
        "NMRR": "B>A>C",
    }
    assert len(votes.questions) == 2
    first, own, other = votes.answers
    assert (first.label_order, first.column_order) == (("NMRR", "AP"), (2, 1))
    assert (first.list_order, first.clicked) == (("B", "A", "C"), {1, 2})
    assert (own.own, own.clicked) == (Ranking((("A", "B"),)), frozenset())
    assert (other.position, other.column_order, other.list_order) == (None, None, tuple("ABC"))
    assert (other.shown_at, other.active_seconds, other.revisions) == (None, None, None)
    assert not other.is_test
    assert not other.excluded


def test_a_row_with_neither_label_nor_ranking_is_a_missing_answer():
    assert [(one.participant, one.question) for one in read(GOOD).answers] == [
        ("P1", 1),
        ("P1", 2),
        ("P2", 1),
    ]


def test_what_is_not_known_of_the_study_is_none_and_says_why():
    facts = unknown_study(read(GOOD))
    assert facts["digest"] is facts["seed"] is facts["collection_size"] is None
    assert facts["measures"] == ["AP", "NMRR"]
    assert facts["why"] == (
        "there is no study.json, which would say what the study was; the collection_size is not "
        "the same in all questions"
    )


def test_the_columns_that_may_be_there_are_read():
    votes = read(
        with_columns(
            "2026-01-31T13:00:00+01:00,2026-01-31T12:00:09Z,7.5,2,false,TRUE",
            ",,,,0,1",
            ",,,,1,",
            ",,,,,",
        )
    )
    first, second, other = votes.answers
    assert first.shown_at == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert (first.active_seconds, first.revisions) == (7.5, 2)
    assert [(one.is_test, one.excluded) for one in (first, second, other)] == [
        (False, True),
        (False, True),
        (True, False),
    ]
    assert first.response.seconds == 7.5


def test_what_a_spreadsheet_does_to_a_file_changes_no_vote():
    as_saved = {
        name: "\ufeff" + text.replace("\n", "\r\n") + "\r\n,,,\r\n\r\n"
        for name, text in GOOD.items()
    }
    assert read(as_saved) == read(GOOD)
    assert read({**GOOD, "responses.csv": RESPONSES.replace(",", " , ")}) == read(GOOD)


def test_the_apostrophe_before_what_looks_like_a_formula_is_taken_off():
    votes = read({**GOOD, "responses.csv": RESPONSES.replace("P1", "'=P1")})
    assert {one.participant for one in votes.answers} == {"=P1", "P2"}


def test_rows_may_stand_in_any_order():
    def shuffled(text):
        heading, *rows = text.splitlines()
        return "\n".join([heading, *reversed(rows)])

    assert read({name: shuffled(text) for name, text in GOOD.items()}) == read(GOOD)


def test_a_folder_and_a_zip_of_it_are_read_alike(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name, text in GOOD.items():
        (folder / name).write_text(text)
    (folder / "notes.txt").write_text("of no importance")
    (tmp_path / "elsewhere.zip").write_bytes(zipped(GOOD))
    zipped_alike = tmp_path / "elsewhere.zip"
    assert read_foreign(open_files(folder, "it")) == read(GOOD)
    assert read_foreign(open_files(zipped_alike, "it")) == read(GOOD)


def test_a_folder_without_the_files_says_which_are_needed(tmp_path):
    with pytest.raises(BundleError, match=r"^questions\.csv is missing; study\.json and the rest"):
        read_foreign(open_files(tmp_path, "it"))
    assert refused({"questions.csv": QUESTIONS}).startswith("responses.csv is missing")


def test_orders_that_agree_with_the_lists_may_stand_beside_them():
    orders = "question,measure,ranking\n1,AP,A>B>C\n1,NMRR,B>A>C\n2,AP,A>B\n2,NMRR,A > B\n"
    assert read({**GOOD, "rankings.csv": orders}) == read(GOOD)


@pytest.mark.parametrize(
    ("orders", "told"),
    [
        (
            "1,AP,A>C>B",
            "rankings.csv, row 2, column ranking: 'A>C>B' found; the lists in questions.csv give "
            "A>B>C",
        ),
        ("3,AP,A>B", "column question: '3' found; questions.csv has no such question"),
        ("1,MNRO,A>B>C", "column measure: 'MNRO' found; compared are AP NMRR"),
        ("1,AP,A>B>C\n1,AP,A>B>C", "row 3, column measure: 'AP' found; each measure is allowed"),
        ("1,AP,A>B>C", "rankings.csv: no row for NMRR in question 1 found"),
    ],
)
def test_orders_that_disagree_with_the_lists_are_told(orders, told):
    assert told in refused({**GOOD, "rankings.csv": f"question,measure,ranking\n{orders}\n"})


@pytest.mark.parametrize(
    ("number", "line", "told"),
    [
        (1, "question,list,ranks", "row 1: question,list,ranks found; the heading must start"),
        (1, "question,list,ranks,collection_size,x,x", "each column may be there once"),
        (2, "1,A,1 2 9", "row 2: 3 cells found; 4 are needed, as in the heading"),
        (2, "0,A,1 2 9,100", "column question: '0' found; a whole number from 1 on is needed"),
        (2, "1,a,1 2 9,100", "column list: 'a' found; a letter from A to J is needed"),
        (3, "1,A,2 3 4,100", "column list: 'A' found; row 2 has this list of the question already"),
        (4, "1,D,5 6 7,100", "question 1 has the lists A B D; letters from A without gaps"),
        (6, "3,A,1 2,50", "question 2 has no other list; 2 to 10 are needed"),
        (2, "1,A,,100", "column ranks: '' found; at least one position is needed"),
        (2, "1,A,1;2,100", "column ranks: '1;2' found; whole numbers separated by spaces"),
        (2, "1,A,0 2 9,100", "column ranks: '0 2 9' found; 0 is none of the positions 1 to 100"),
        (2, "1,A,1 2 101,100", "101 is none of the positions 1 to 100"),
        (2, "1,A,1 2 2,100", "column ranks: '1 2 2' found; each position may occur once"),
        (3, "1,B,2 3,100", "'2 3' found; 3 positions as in row 2, of the same question, are"),
        (3, "1,B,2 3 4,99", "column collection_size: '99' found; 100 as in row 2, of the same"),
        (2, "1,A,1 2 9,1", "column collection_size: '1' found; 2 to 100000000 are allowed"),
    ],
)
def test_a_list_that_cannot_be_is_told_with_its_place(number, line, told):
    message = refused(with_line("questions.csv", number, line))
    assert message.startswith("questions.csv, row ")
    assert told in message


@pytest.mark.parametrize(
    ("number", "line", "told"),
    [
        (1, ",".join(ANSWER_COLUMNS[:-1]), "the heading must start with participant,question,"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,1", "row 2: 7 cells found; 8 are needed"),
        (2, ",1,1,NMRR AP,2 1,B A C,1,", "column participant: '' found; a value is needed"),
        (2, "P1,3,1,NMRR AP,2 1,B A C,1,", "column question: '3' found; questions.csv has the "),
        (3, "P1,1,2,AP NMRR,1 2,A B C,1,", "for a participant; row 2 has 'P1' answer it already"),
        (2, "P1,1,0,NMRR AP,2 1,B A C,1,", "column position: '0' found; a whole number from 1 on"),
        (2, "P1,1,1,,2 1,B A C,1,", "column label_order: '' found; 2 to 6 measures"),
        (2, "P1,1,1,NMRR MAP,2 1,B A C,1,", "'NMRR MAP' found; 'MAP' is no measure; known are AP"),
        (2, "P1,1,1,AP AP,2 1,B A C,1,", "'AP AP' found; each measure may have one label"),
        (
            3,
            "P1,2,2,AP MNRO,1 2,A B,1,",
            "column label_order: 'AP MNRO' found; an order of NMRR AP is needed, as in row 2",
        ),
        (2, "P1,1,1,NMRR AP,1 1,B A C,1,", "column column_order: '1 1' found; an order of 1 2 is"),
        (2, "P1,1,1,NMRR AP,2 1,B A,1,", "column list_order: 'B A' found; an order of A B C is"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,3,", "'3' found; label numbers from 1 to 2 are needed"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,x,", "column clicked: 'x' found; whole numbers separated by"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,,A>B", "column custom_ranking: 'A>B' found; list C is"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,,A>B=D>C", "has an unknown list D"),
        (2, "P1,1,1,NMRR AP,2 1,B A C,,A>B>B>C", "list B occurs more than once"),
        (
            2,
            "P1,1,1,NMRR AP,2 1,B A C,1,A>B>C",
            "clicked holds labels; an answer is one of the two",
        ),
    ],
)
def test_an_answer_that_cannot_be_is_told_with_its_place(number, line, told):
    message = refused(with_line("responses.csv", number, line))
    assert message.startswith("responses.csv, row ")
    assert told in message


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ("noon,,,,,", "column shown_at: 'noon' found; a time with its zone, like 2026"),
        (",2026-01-31T12:00:00,,,,", "column submitted_at: '2026-01-31T12:00:00' found; a time"),
        ("0001-01-01T00:00:00+14:00,,,,,", "column shown_at: '0001-01-01T00:00:00+14:00' found"),
        (",,-1,,,", "column active_seconds: '-1' found; a number from 0 on is needed"),
        (",,,half,,", "column revisions: 'half' found; a whole number is needed"),
        (",,,,maybe,", "column is_test: 'maybe' found; 0, 1, true or false is needed"),
        (",,,,,1", "row 3, column excluded: '' found; it is the participant's, and row 2 says"),
    ],
)
def test_an_optional_cell_that_cannot_be_is_told_with_its_place(cells, told):
    assert told in refused(with_columns(cells, ",,,,,", ",,,,,", ",,,,,"))


def test_files_without_a_list_or_an_answer_are_told():
    headings = {name: text.splitlines()[0] for name, text in GOOD.items()}
    assert refused({**GOOD, "questions.csv": headings["questions.csv"]}).startswith(
        "questions.csv holds no list"
    )
    assert refused({**GOOD, "responses.csv": headings["responses.csv"]}).startswith(
        "responses.csv holds no answer"
    )


def test_the_faults_of_all_rows_are_told_up_to_five():
    rows = [f"P{number},9,,AP NMRR,,,1," for number in range(12)]
    *told, last = refused({**GOOD, "responses.csv": RESPONSES + "\n".join(rows)}).splitlines()
    assert [line.split(",")[1] for line in told] == [f" row {6 + index}" for index in range(5)]
    assert last == "and 7 more like these"


@st.composite
def questions(draw):
    """A question's lists as anyone may have drawn them; two may be alike."""
    size = draw(st.integers(2, 200))
    relevant = draw(st.integers(1, min(size, 6)))
    ranks = st.sets(st.integers(1, size), min_size=relevant, max_size=relevant).map(sorted)
    return size, draw(st.lists(ranks, min_size=2, max_size=10))


@st.composite
def answers(draw, participant, question, measures, letters, is_test):
    """An answer to a question, with all or nothing known of how it was shown."""
    labels = draw(st.permutations(measures))
    clicked = draw(st.frozensets(st.integers(1, len(labels))))
    places = draw(st.tuples(*[st.integers(1, 3) for _ in letters]))
    seconds = st.integers(0, 4_000_000_000).map(lambda since: datetime.fromtimestamp(since, UTC))
    return AnswerRecord(
        participant=participant,
        question=question,
        position=draw(st.none() | st.integers(1, 50)),
        label_order=tuple(labels),
        column_order=draw(st.none() | st.permutations(range(1, len(labels) + 1)).map(tuple)),
        list_order=tuple(draw(st.permutations(letters))),
        clicked=clicked,
        own=None if clicked else Ranking.by_key(dict(zip(letters, places, strict=True))),
        shown_at=draw(st.none() | seconds),
        submitted_at=draw(st.none() | seconds),
        active_seconds=draw(st.none() | st.floats(0, 1e6)),
        revisions=draw(st.none() | st.integers(0, 9)),
        is_test=is_test,
        excluded=draw(st.just(not is_test)),
    )


WITHOUT_CLUSTERS = [name for name in MEASURES if "clusters" not in MEASURES[name].needs]


@st.composite
def some_votes(draw):
    """Votes as a folder made elsewhere may hold them; some answers are missing."""
    chosen = draw(st.sets(st.sampled_from(WITHOUT_CLUSTERS), min_size=2, max_size=6))
    measures = tuple(name for name in MEASURES if name in chosen)
    asked = draw(st.dictionaries(st.integers(1, 60), questions(), min_size=1, max_size=3))
    built = {
        number: build_question(number, lists, measures, Setting(size))
        for number, (size, lists) in sorted(asked.items())
    }
    names = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda one: one == one.strip())
    people = draw(st.dictionaries(names, st.booleans(), min_size=1, max_size=3))
    given = [
        draw(answers(who, number, measures, letters_for(len(question.lists)), is_test))
        for who, is_test in sorted(people.items())
        for number, question in built.items()
        if draw(st.integers(0, 4)) > 0
    ]
    sizes = {number: size for number, (size, _) in asked.items()}
    votes = ForeignFolder(
        measures=measures,
        collection_size=min(sizes.values()) if len({*sizes.values()}) == 1 else None,
        questions=tuple(built.values()),
        answers=tuple(given),
    )
    return sizes, votes


def as_files(sizes, votes):
    """The two files that say all this."""
    lists = [
        (question.number, letter, spaced(ranks), sizes[question.number])
        for question in votes.questions
        for letter, ranks in question.lists.items()
    ]
    rows = [
        (
            *(one.participant, one.question, one.position, spaced(one.label_order)),
            *(spaced(one.column_order or ()), spaced(one.list_order), spaced(sorted(one.clicked))),
            *(one.own and str(one.own), one.shown_at, one.submitted_at, one.active_seconds),
            *(one.revisions, one.is_test, one.excluded),
        )
        for one in votes.answers
    ]
    headings = ("question", "list", "ranks", "collection_size"), (*ANSWER_COLUMNS, *OPTIONAL)
    return {
        name: "".join(map(row_line, [heading, *content]))
        for name, heading, content in zip(GOOD, headings, (lists, rows), strict=True)
    }


@pytest.mark.slow
@settings(max_examples=60)
@given(some_votes().filter(lambda drawn: drawn[1].answers))
def test_votes_that_are_written_are_read_back(drawn):
    sizes, votes = drawn
    assert read(as_files(sizes, votes)) == votes


@given(
    st.sampled_from(sorted(GOOD)),
    st.integers(0, 4),
    st.integers(0, 7),
    st.text() | st.text("0123456789 ABCDNMRP=>'.-\"\r\n", max_size=12),
)
def test_no_cell_ends_in_anything_but_votes_or_a_sentence(name, line, place, cell):
    lines = [row.split(",") for row in GOOD[name].splitlines()]
    lines[line][place % len(lines[line])] = cell
    changed = "\n".join(map(",".join, lines)).encode(errors="surrogatepass")
    files = {**{one: text.encode() for one, text in GOOD.items()}, name: changed}
    try:
        votes = read_foreign(files)
    except BundleError:
        return
    assert all(one.response.question in rankings_of(votes.questions) for one in votes.answers)
