"""A researcher's own lists: the CSV they come in, and what is said when it is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.studies.own_lists import OwnLists, read_lists_csv
from survey.core.text_input import FaultyFilesError

HEADER = "question,list,ranks,collection_size"
GOOD = f"""{HEADER}
1,A,1 4 9,100
1,B,2 3 100,100
1,C,5 6 7,100
2,A,1,100
2,B,2,100
2,C,3,100
"""
READ = OwnLists((((1, 4, 9), (2, 3, 100), (5, 6, 7)), ((1,), (2,), (3,))), 100)


def faults_of(text, file="lists.csv"):
    with pytest.raises(FaultyFilesError) as caught:
        read_lists_csv(text, file)
    return caught.value.faults


def with_row(number, row):
    """The good file with one row (the header is row 1) put in the place of its own."""
    lines = GOOD.splitlines()
    lines[number - 1] = row
    return "\n".join(lines)


@st.composite
def own_lists(draw):
    size = draw(st.integers(12, 100_000_000))
    lists = draw(st.integers(3, 10))
    one_list = st.integers(1, 3).flatmap(
        lambda relevant: st.lists(
            st.sets(st.integers(1, size), min_size=relevant, max_size=relevant).map(
                lambda ranks: tuple(sorted(ranks))
            ),
            min_size=lists,
            max_size=lists,
            unique=True,
        )
    )
    questions = draw(st.lists(one_list.map(tuple), min_size=1, max_size=4))
    return OwnLists(tuple(questions), size)


def to_csv(lists):
    """The file that holds these lists."""
    return "\n".join(
        [
            HEADER,
            *(
                f"{number},{letter},{' '.join(map(str, ranks))},{lists.collection_size}"
                for number, question in enumerate(lists.questions, 1)
                for letter, ranks in zip("ABCDEFGHIJ", question, strict=False)
            ),
        ]
    )


def test_a_file_is_read_question_by_question():
    assert read_lists_csv(GOOD) == READ


@pytest.mark.slow
@given(own_lists())
def test_what_is_written_is_read_back(lists):
    assert read_lists_csv(to_csv(lists)) == lists


@pytest.mark.slow
@given(own_lists(), st.randoms(use_true_random=False), st.sampled_from(",;"))
def test_rows_columns_and_ranks_may_stand_in_any_order(lists, random, delimiter):
    header, *rows = [line.split(",") for line in to_csv(lists).splitlines()]
    order = random.sample(range(4), 4)
    random.shuffle(rows)
    for row in rows:
        ranks = row[2].split()
        random.shuffle(ranks)
        row[2] = " ".join(ranks)
    lines = [delimiter.join(row[index] for index in order) for row in (header, *rows)]
    assert read_lists_csv("\n".join(lines)) == lists


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", ", "),
        GOOD.replace("1 4 9", '"9\n4 1"'),
        GOOD.replace("\n2,A", "\n\n,,,\n2,A"),
        GOOD.rstrip("\n"),
    ],
)
def test_spreadsheet_habits_are_forgiven(text):
    assert read_lists_csv(text) == READ


@given(st.text())
def test_any_text_is_read_or_refused_with_sentences(text):
    with pytest.raises(FaultyFilesError) as caught:  # no text drawn blindly holds three lists
        read_lists_csv(text)
    assert 1 <= len(caught.value.faults) <= 20
    assert str(caught.value) == "\n".join(caught.value.faults)


CELLS = st.sampled_from(["", "0", "1", "2", "3", "A", "B", "C", "1 2", "2 1", "x", '"', "9" * 30])


@pytest.mark.slow
@given(st.lists(st.lists(CELLS, min_size=3, max_size=5).map(",".join)).map("\n".join))
def test_any_rows_are_read_or_refused_with_sentences(rows):
    faults = ()
    try:
        read_lists_csv(f"{HEADER}\n{rows}")
    except FaultyFilesError as error:
        faults = error.faults
    first = [fault for fault in faults if not fault.endswith(" more like these")]
    assert all(fault.startswith(("the file, row ", "the file: no row")) for fault in first)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            with_row(3, "1,B,2 x 0,100"),
            "row 3, column ranks: 'x', '0' found; whole numbers from 1 to 100, "
            "separated by spaces, are allowed",
        ),
        (
            with_row(3, "1,B,2 3 101,100"),
            "row 3, column ranks: '101' found; whole numbers from 1 to 100, "
            "separated by spaces, are allowed",
        ),
        (
            with_row(3, "1,B,2 3 2,100"),
            "row 3, column ranks: 2 found more than once; each position may occur once",
        ),
        (
            with_row(3, "1,B,,100"),
            "row 3, column ranks: nothing found; at least one position is needed",
        ),
        (
            with_row(3, "1,B,2,100"),
            "row 3, column ranks: 1 rank found, but 3 ranks in row 2; "
            "all lists of a question need equally many",
        ),
        (
            with_row(4, "1,C,9 4 1,100"),
            "row 4, column ranks: lists A (row 2) and C of question 1 are identical; no two may be",
        ),
        (
            with_row(4, "1,B,5 6 7,100"),
            "row 4, column list: list B of question 1 is in row 3 too; each list may occur once",
        ),
        (
            with_row(4, "1,D,5 6 7,100"),
            "row 4, column list: question 1 has the lists A, B, D, but no C; "
            "letters without gaps from A are allowed",
        ),
        (
            with_row(4, "1,K,5 6 7,100"),
            "row 4, column list: 'K' found; a letter from A to J is allowed",
        ),
        (
            GOOD + "2,D,4,100\n",
            "row 8, column list: question 2 has 4 lists, question 1 3; "
            "all questions need equally many",
        ),
        (
            f"{HEADER}\n1,A,1,9\n",
            "row 2, column list: lists found in question 1: 1; 2 to 10 are allowed",
        ),
        (
            GOOD.replace("\n2,", "\n3,"),
            "row 5, column question: 3 found, but there is no question 2; "
            "numbers without gaps from 1 are allowed",
        ),
        (
            with_row(2, "51,A,1 4 9,100"),
            "row 2, column question: '51' found; a whole number from 1 to 50 is allowed",
        ),
        (
            with_row(3, "1,B,2 3 100,200"),
            "row 3, column collection_size: 200 found, but 100 in row 2; "
            "one for the whole file is allowed",
        ),
        (
            with_row(3, "1,B,2 3 100,1e3"),
            "row 3, column collection_size: '1e3' found; "
            "a whole number from 2 to 100000000 is allowed",
        ),
        (
            with_row(3, "1,B,2,3,100,100"),
            "row 3: 6 cells found, the last of them '100'; the heading has 4. "
            "A cell that holds commas needs quotation marks around it",
        ),
        (
            with_row(3, '1,B,"2 3 100,100'),
            "row 3: a quotation mark is not closed, or is closed before its cell ends. "
            "Quotation marks enclose a whole cell; a mark within it is written twice",
        ),
    ],
)
def test_a_fault_names_file_row_and_column_and_what_is_allowed(text, fault):
    assert faults_of(text) == (f"lists.csv, {fault}",)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", " is empty. Columns needed: question, list, ranks, collection_size"),
        (
            HEADER,
            ": no row found below the heading; a row for each list of each question is needed",
        ),
        (
            GOOD.replace(HEADER, f"{HEADER},weigths"),
            ": column not known: weigths. Columns allowed: "
            "question, list, ranks, collection_size, grades, weights, clusters",
        ),
        (
            GOOD.replace(HEADER, "Question,positions,n"),
            ": no columns list, ranks, collection_size. Columns found: Question, positions, n",
        ),
        (
            GOOD.replace(HEADER, f"{HEADER},List"),
            ": list found twice in the heading. "
            "Columns found: question, list, ranks, collection_size, List",
        ),
    ],
)
def test_a_fault_of_the_heading_is_one_sentence(text, fault):
    assert faults_of(text) == (f"lists.csv{fault}",)


def test_all_faults_are_told_in_the_order_of_the_rows():
    faults = faults_of(with_row(7, "2,C,x,100").replace("1,A,1 4 9", "0,A,0"))
    places = [fault.split(":")[0] for fault in faults]
    assert places == [
        "lists.csv, row 2, column question",
        "lists.csv, row 2, column ranks",
        "lists.csv, row 7, column ranks",
    ]


def test_of_many_faults_the_last_sentence_counts_the_rest():
    faults = faults_of(HEADER + "\n1,A,x,100" * 30)  # 30 times x, 29 times A again
    assert len(faults) == 11  # five of each kind
    assert faults[-1] == "and 49 more like these"


def test_a_position_as_large_as_the_collection_and_many_of_them_are_read():
    ranks = [" ".join(map(str, range(start, start + 10_000))) for start in (1, 2, 99_990_001)]
    rows = [f"1,{letter},{r},100000000" for letter, r in zip("ABC", ranks, strict=True)]
    lists = read_lists_csv("\n".join([HEADER, *rows]))
    assert lists.questions[0][2][-1] == 100_000_000
