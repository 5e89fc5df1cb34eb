"""Grades and clusters beside positions: what participants read, what researchers set."""

import gzip
import io
import re

import pytest

from survey.core.measures import Setting
from survey.core.studies.questions import Marks, build_question
from survey.db.models import Study
from survey.errors import SurveyError
from survey.services.studies import lifecycle
from tests.builders import Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.web.desk import STUDY, a_file

GRADES = {"grades": "3 2 2 1 1"}
CLUSTERS = {"clusters": "dolphin dolphin turtle harbour_bridge+opera -"}


def rows_of(page):
    """For each list the text of its positions, spaces evened out."""
    return [
        re.sub(r"\s+", " ", row.select_one(".ranks").text).strip()
        for row in page.select("[data-list]")
    ]


@pytest.fixture
def visitor(client):
    return Visitor(client)


@ON_SQLITE
def test_a_position_stands_with_its_grade_and_the_page_says_what_it_is(session, visitor):
    study = an_open_study(session, marks=GRADES, measures=["AP", "nDCG@10", "gMNRO"])
    question = lifecycle.questions_of(study)[0]
    visitor.start()
    assert rows_of(visitor.page) == [question.written(letter) for letter in "ABCDE"]
    assert re.fullmatch(r"(\d+ \([123]\) ){4}\d+ \([123]\)", rows_of(visitor.page)[0])
    assert (
        "The brackets after each position show how well the match fits (the higher, the better)."
        in visitor.text
    )


@pytest.mark.slow
@ON_SQLITE
def test_practice_is_marked_as_the_questions_are(session, visitor):
    an_open_study(session, marks=GRADES)
    visitor.prepare()
    assert visitor.path == "/practice"
    assert all("(3)" in row for row in rows_of(visitor.page))
    assert "how well the match fits" in visitor.text


@ON_SQLITE
def test_the_best_possible_list_has_the_highest_grades_first(session, visitor):
    an_open_study(session, marks=GRADES, measures=["AP", "nDCG@10"], show_ideal=True)
    visitor.start()
    ideal = re.sub(r"\s+", " ", visitor.page.select_one(".ideal").text).strip()
    assert ideal == "The best possible list: 1 (3) 2 (2) 3 (2) 4 (1) 5 (1)"


def test_a_best_possible_list_needs_grades_that_the_lists_share():
    with pytest.raises(SurveyError, match="show_ideal needs grades, which the lists do not have"):
        a_plan(show_ideal=True)
    shared, apart = (
        build_question(1, [[1, 4], [2, 3]], ["nDCG@5"], Setting(), Marks(grades=grades)).ideal
        for grades in (((1, 2), (2, 1)), ((1, 2), (2, 2)))
    )
    assert (shared, apart) == (((1, "2"), (2, "1")), ())


@ON_SQLITE
def test_a_cluster_has_the_same_colour_wherever_it_is(session, visitor):
    an_open_study(session, marks=CLUSTERS, measures=["AP", "S-recall@20"])
    visitor.start()
    colours = {}
    for item in visitor.page.select(".ranks .item"):
        dots = tuple(dot["class"][-1] for dot in item.select(".dot"))
        colours.setdefault(item.select_one(".mark").text.strip("()"), set()).add(dots)
    assert colours == {
        "dolphin": {("of-1",)},
        "harbour bridge + opera": {("of-2", "of-3")},
        "turtle": {("of-4",)},
        "-": {()},
    }


@ON_SQLITE
def test_clusters_are_read_as_words(session, visitor):
    an_open_study(session, marks=CLUSTERS, measures=["AP", "S-recall@20"])
    visitor.start()
    for row in rows_of(visitor.page):
        assert sorted(re.findall(r"\((.*?)\)", row)) == [
            *("-", "dolphin", "dolphin", "harbour bridge + opera", "turtle")
        ]
    told = "The brackets after each position show what kind of match it is. A dash means that"
    assert told in visitor.text


@ON_SQLITE
def test_grades_and_clusters_stand_together(session, visitor):
    an_open_study(session, marks={**GRADES, "clusters": "a a b b c"})
    visitor.start()
    assert all(re.search(r"\(3, a\)", row) for row in rows_of(visitor.page))
    assert (
        "The brackets after each position show how well the match fits (the higher, the better) "
        "and what kind of match it is." in visitor.text
    )


@ON_SQLITE
def test_a_weight_has_the_decimal_sign_of_the_study_and_a_cluster_keeps_its_points(
    session, visitor
):
    marks = {"weights": "1 0.75 0.75 0.5 0.25", "clusters": "v1.2 v1.2 b b c"}
    an_open_study(session, language="el", marks=marks)
    visitor.start()
    assert all("(0,75, v1.2)" in row for row in rows_of(visitor.page))


@ON_SQLITE
def test_who_ranks_first_sees_the_marks_then(session, visitor):
    an_open_study(session, marks=GRADES, columns="after", practice=False)
    visitor.prepare()
    assert not visitor.page.select(".method")
    assert all("(3)" in row for row in rows_of(visitor.page))
    assert "how well the match fits" in visitor.text


@ON_SQLITE
def test_a_study_without_marks_speaks_of_no_brackets(session, visitor):
    an_open_study(session)
    visitor.start()
    assert "brackets" not in visitor.text
    assert not visitor.page.select(".mark")


@ON_SQLITE
def test_marks_and_other_cut_offs_are_set_on_the_plan_page(desk, session, study):
    desk.open(f"{STUDY}/plan")
    desk.send(
        f"{STUDY}/plan",
        measures=["AP", "nDCG@10"],
        other_measures="P@7, nDCG@3",
        grades="2 2 1 1 1",
    )
    assert desk.address == f"{STUDY}/check", desk.text
    assert re.search(r"A \d+ \([12]\) \d+ \([12]\)", desk.text)
    session.expire_all()
    plan = session.get(Study, study.id).plan
    assert plan.measures == ("AP", "P@7", "nDCG@3", "nDCG@10")
    assert plan.marks.grades == ((2, 2, 1, 1, 1),)
    desk.open(f"{STUDY}/plan")
    assert desk.page.select_one("[name=grades]")["value"] == "2 2 1 1 1"
    assert desk.page.select_one("[name=other_measures]")["value"] == "P@7 nDCG@3"
    desk.send(f"{STUDY}/plan", grades="", other_measures="")
    session.expire_all()
    plan = session.get(Study, study.id).plan
    assert (plan.measures, plan.marks.types) == (("AP", "nDCG@10"), ())


@ON_SQLITE
@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ({"grades": "2 1"}, "grades", "2 grades found in each row; one for each of the 5"),
        ({"grades": "2 1 1 1 high"}, "grades", "a number for every relevant item is allowed"),
        (
            {"other_measures": "MAP"},
            "measures",
            "There is no measure 'MAP' (did you mean AP? MAP is the mean of AP); known are",
        ),
        ({"measures": ["AP", "S-recall@20"]}, "measures", "needs to know the clusters"),
        ({"clusters": "a b c d e,f"}, "clusters", "clusters of 6 items found; 5 are relevant"),
    ],
)
def test_marks_that_cannot_be_are_told_beside_their_field(desk, study, typed, field, told):
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", **typed)
    assert desk.status == 400
    assert told in desk.text
    for name, value in typed.items():
        if isinstance(value, str):
            assert desk.page.select_one(f"[name={name}]")["value"] == value


@ON_SQLITE
def test_lists_of_ones_own_bring_their_marks_and_keep_them(desk, session, study):
    desk.open(f"{STUDY}/lists")
    rows = (
        "question,list,ranks,collection_size,grades,clusters\n"
        "1,A,9 3,50,2 1,a b\n1,B,3 9,50,2 1,a b\n1,C,7 8,50,1 1,a a+b\n"
    )
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    assert desk.address == f"{STUDY}/check", desk.text
    assert "A 3 (1, b) 9 (2, a)" in desk.text
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", title="Still marked", measures=["AP", "S-recall@20", "gNMRR"])
    session.expire_all()
    plan = session.get(Study, study.id).plan
    assert plan.own_marks[0].grades == ((1, 2), (2, 1), (1, 1))
    assert plan.marked == ("grades", "clusters")


@ON_SQLITE
@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("1,B,3 8,50,2", "row 3, column grades: 1 grades found for 2 ranks; one each is needed"),
        ("1,B,3 8,50,2 x", "row 3, column grades: 'x' found; a whole number for each rank"),
        ("1,B,3 8,50,", "row 3, column grades: nothing found; every row needs them where one has"),
        ("1,B,3 9,50,1 2", "lists A (row 2) and B of question 1 are identical"),
        ("1,B,3 8,50,2 0", "row 2, grade 2: 0 found; a whole number from 1 to 30 is allowed"),
    ],
)
def test_marks_in_a_file_that_cannot_be_are_told_with_their_row(desk, study, row, told):
    desk.open(f"{STUDY}/lists")
    rows = f"question,list,ranks,collection_size,grades\n1,A,3 9,50,1 2\n{row}\n"
    desk.send(f"{STUDY}/lists", files={"lists": a_file(rows, "lists.csv")})
    assert desk.status == 400
    assert told in desk.text


@ON_SQLITE
def test_runs_bring_grades_and_clusters_if_asked(desk, session, study):
    qrels = "t1 0 d1 2\nt1 0 d2 1\n"
    runs = ["t1 Q0 d1 0 9 r\nt1 Q0 d2 0 8 r\n", "t1 Q0 d2 0 9 r\nt1 Q0 d1 0 8 r\n"]
    desk.open(f"{STUDY}/lists")
    desk.send(
        f"{STUDY}/lists/trec",
        files={
            "qrels": a_file(qrels, "qrels.txt"),
            "runs": [a_file(text, f"run{n}") for n, text in enumerate(runs)],
            "clusters": a_file("t1 d1 red\nt1 d2 blue\n", "clusters.txt"),
        },
        collection_size="100",
        graded="y",
    )
    assert desk.address == f"{STUDY}/check", desk.text
    assert "run0 1 (2, red) 2 (1, blue)" in desk.text
    assert "run1 1 (1, blue) 2 (2, red)" in desk.text


@ON_SQLITE
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"measures": ["AP", "nDCG@10"]},
            "The lists have no grades for nDCG@10 to read, so it takes every match as equally",
        ),
        (
            {"measures": ["AP", "D-nDCG@10"], "clusters": "a a b b c"},
            "The lists have no grades for D-nDCG@10 to read",
        ),
        ({"measures": ["AP", "MNRO"], "grades": "2 1 1 1 1"}, "see grades, which no measure reads"),
    ],
)
def test_the_check_says_where_measures_and_marks_do_not_fit(desk, study, changes, told):
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", **changes)
    assert told in desk.text


@ON_SQLITE
def test_dealt_weights_stay_when_something_else_is_changed(desk, session, study):
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", weights="1 .8571 .4286 .4286 .1429", measures=["AP", "wP@10"])
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", title="Still weighted")
    session.expire_all()
    plan = session.get(Study, study.id).plan
    assert plan.marks.weights == ((1, 0.8571, 0.4286, 0.4286, 0.1429),)


@ON_SQLITE
def test_a_cluster_that_names_a_measure_is_refused(desk, study):
    desk.open(f"{STUDY}/plan")
    desk.send(f"{STUDY}/plan", clusters="a AP c d e")
    assert desk.status == 400
    assert "The cluster AP holds the name of a measure (AP)" in desk.text


@ON_SQLITE
def test_gzipped_runs_are_unpacked_and_broken_ones_named(desk, session, study):
    qrels = "t1 0 d1 1\nt1 0 d2 1\n"
    runs = ["t1 Q0 d1 0 9 r\nt1 Q0 d2 0 8 r\n", "t1 Q0 x 0 9 r\nt1 Q0 d1 0 8 r\nt1 Q0 d2 0 7 r\n"]
    packed = [gzip.compress(text.encode()) for text in runs]
    broken = "run1.gz begins like a gzip file, but is none, or is cut off"
    for second, told in ((packed[1][:-6], broken), (packed[1], "")):
        desk.open(f"{STUDY}/lists")
        desk.send(
            f"{STUDY}/lists/trec",
            files={
                "qrels": a_file(qrels, "qrels.txt"),
                "runs": [(io.BytesIO(packed[0]), "run0.gz"), (io.BytesIO(second), "run1.gz")],
            },
            collection_size="100",
        )
        assert told in desk.text
    session.expire_all()
    assert session.get(Study, study.id).plan.own_lists == (((1, 2), (2, 3)),)
