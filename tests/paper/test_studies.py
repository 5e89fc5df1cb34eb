"""Published studies from folders: verdicts follow from the numbers, faults name their place."""

import csv
from importlib.resources import files

import numpy as np
import pytest
import yaml
from scipy import stats

from survey.errors import NotFoundError, SurveyError
from survey.paper.claim_kinds import KINDS
from survey.paper.reproduction import CANNOT_BE_TOLD, HOLDS, IN_PART, NOT_SUPPORTED
from survey.paper.studies import included_studies, included_study, judged_study

FACTS = {name: f"the {name}" for name in ("title", "authors", "source", "table", "numbers", "read")}
VOTES = "set,A,B,C\nx,70,40,65\n"
RATES = "measure,agreed,compared\nA,160,252\nB,127,241\nC,150,252\n"
PREFERRED = {"kind": "preferred", "first": "A", "than": "B"}
MORE = {"kind": "agrees_more", "first": "A", "than": "B", "count": "agreed", "of": "compared"}
SHARE = {"kind": "share", "count": "A", "of": ["A", "B"], "more_than": 0.5}
LEADS = {"kind": "leads", "by": "m", "first": "A", "sets": "s", "value": "v"}
CORRELATES = {"kind": "correlates_more", "first": "A", "than": "B", "r": "r", "n": "n"}
LED = "m,s,v\nA,1,5\nB,1,4\nA,2,5\nB,2,5\nA,3,7\nB,3,6\n"


@pytest.fixture
def judged(tmp_path):
    """Judge a claim by a table; the claim's other texts are filled in."""

    def judge(table, *claims, **facts):
        listing = [{"claim": "A is better", "place": "Section 1", **claim} for claim in claims]
        content = yaml.safe_dump({**FACTS, "claims": listing, **facts}, allow_unicode=True)
        (tmp_path / "study.yaml").write_text(content, encoding="utf-8")
        (tmp_path / "counts.csv").write_text(table, encoding="utf-8")
        return judged_study(tmp_path)

    return judge


@pytest.mark.parametrize(
    ("first", "second"),
    [(70, 40), (40, 70), (50, 40), (10, 0), (5, 0), (60, 41), (61, 41), (5000, 1)],
)
def test_a_preference_holds_as_scipys_binomial_test_decides(judged, first, second):
    (claim,) = judged(f"set,A,B\nx,{first},{second}\n", PREFERRED).claims
    decided = stats.binomtest(first, first + second).pvalue < 0.05 and first > second
    assert claim.verdict == (HOLDS if decided else NOT_SUPPORTED)
    assert bool(claim.condition) == decided


def test_a_preference_over_two_holds_in_part_where_one_is_close(judged):
    (claim,) = judged(VOTES, PREFERRED | {"than": ["B", "C"]}).claims
    assert claim.verdict == IN_PART
    p = 2 * stats.binomtest(70, 110).pvalue  # Holm's, the smaller of two
    assert f"A 70, B 40, p = .{round(1000 * p):03}; A 70, C 65" in claim.why


def test_with_six_rows_the_rows_are_the_units(judged):
    # One row gives all of A's lead: the answers alone would decide, the rows do not.
    table = "set,A,B\n" + "x,90,10\n" + "y,10,10\n" * 5
    (claim,) = judged(table, PREFERRED).claims
    assert claim.verdict == NOT_SUPPORTED
    assert "With the 6 rows as units" in claim.why


def test_table_4s_votes_in_a_folder_have_table_4s_verdicts(judged):
    source = files("survey.paper") / "printed" / "table4.csv"
    over = [("MNRO", "AP", HOLDS), ("MNRO", "NMRR", NOT_SUPPORTED), ("NMRR", "AP", NOT_SUPPORTED)]
    claims = [{"kind": "preferred", "first": first, "than": other} for first, other, _ in over]
    study = judged(source.read_text(encoding="utf-8"), *claims)
    assert [claim.verdict for claim in study.claims] == [verdict for *_, verdict in over]
    assert "p = .008" in study.claims[0].why  # before Holm's correction, as in its table


@pytest.mark.parametrize(
    ("changes", "verdict", "condition"),
    [
        ({}, HOLDS, "if the two measures go together at least as much as chance has it, and"),
        ({"first": "B", "than": "A"}, NOT_SUPPORTED, ""),
        ({"than": "C"}, CANNOT_BE_TOLD, ""),  # those 150 could be among the 160
        ({"than": ["B", "C"]}, IN_PART, ""),
        ({"kind": "no_difference"}, NOT_SUPPORTED, ""),
    ],
)
def test_agreement_of_which_the_pairing_is_not_printed(judged, changes, verdict, condition):
    table = RATES.replace("127,241", "100,241") if changes.get("kind") else RATES
    (claim,) = judged(table, MORE | changes).claims
    assert claim.verdict == verdict
    assert claim.condition.startswith(condition)


@pytest.mark.parametrize(
    ("row", "limit", "verdict"),
    [
        ("70,40", {"more_than": 0.5}, HOLDS),
        ("70,40", {"less_than": 0.5}, NOT_SUPPORTED),
        ("57,50", {"more_than": 0.5}, NOT_SUPPORTED),
        ("70,40\ny,57,50", {"more_than": 0.5}, IN_PART),
        ("70,40\ny,57,50", {"more_than": 0.5, "rows": "x"}, HOLDS),
    ],
)
def test_a_share_is_tested_in_each_row(judged, row, limit, verdict):
    claim = {**SHARE, **limit}
    if "less_than" in limit:
        del claim["more_than"]
    (judgement,) = judged(f"set,A,B\nx,{row}\n", claim).claims
    assert judgement.verdict == verdict


def test_the_condition_is_how_many_answers_still_decide(judged):
    (claim,) = judged("set,A,B\nx,80,40\n", SHARE).claims
    percent = int(claim.condition.split(" %")[0].rsplit(" ", 1)[1])
    fewer = round(1.2 * percent)
    assert stats.binomtest(round(fewer * 2 / 3), fewer).pvalue < 0.07
    assert stats.binomtest(round(0.9 * fewer * 2 / 3), round(0.9 * fewer)).pvalue > 0.05


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, IN_PART),  # alone in 2 of 3, tied in the third
        ({"at_least": "almost all"}, HOLDS),
        ({"at_least": "most"}, HOLDS),
        ({"best": "lowest"}, NOT_SUPPORTED),
    ],
)
def test_leading_is_counted_set_by_set(judged, changes, verdict):
    (claim,) = judged(LED, LEADS | changes).claims
    assert claim.verdict == verdict


@pytest.mark.parametrize(
    ("second", "changes", "verdict"),
    [
        (0.1, {}, HOLDS),
        (0.45, {}, CANNOT_BE_TOLD),
        (0.45, {"between": 0.2}, NOT_SUPPORTED),
        (0.45, {"between": 0.99}, HOLDS),
        (0.6, {}, NOT_SUPPORTED),
    ],
)
def test_correlations_are_compared_by_what_is_known_between_them(judged, second, changes, verdict):
    (claim,) = judged(f"m,r,n\nA,.5,200\nB,{second},200\n", CORRELATES | changes).claims
    assert claim.verdict == verdict


def test_scores_by_query_are_correlated_here(judged):
    drawn = np.random.Generator(np.random.PCG64(3)).normal(size=(60, 3))
    satisfied = drawn[:, 0] + 0.3 * drawn[:, 2]
    table = "query,A,B,satisfied\n" + "".join(
        f"{n},{a:.6f},{b:.6f},{s:.6f}\n"
        for n, ((a, b, _), s) in enumerate(zip(drawn, satisfied, strict=True))
    )
    claim = {"kind": "scores_correlate_more", "first": "A", "than": "B", "with": "satisfied"}
    better, worse = judged(table, claim, claim | {"first": "B", "than": "A"}).claims
    assert (better.verdict, worse.verdict) == (HOLDS, NOT_SUPPORTED)
    r = [stats.pearsonr(drawn[:, column], satisfied).statistic for column in (0, 1)]
    assert f"A {r[0]:.3f}, B {r[1]:.3f}".replace("-", "−") in better.why.replace("-", "−")


def test_scores_in_six_rows_are_the_units(judged):
    table = "query,A,B\n" + "".join(f"{n},.{n + 3},.1\n" for n in range(6))
    (claim,) = judged(table, PREFERRED).claims
    assert (claim.verdict, claim.condition) == (HOLDS, "")
    assert "p = .031" in claim.why  # 2/64: all six signs alike


def test_what_the_table_lacks_cannot_be_told(judged):
    (claim,) = judged(VOTES, {"kind": "needs", "columns": ["participant"]}).claims
    assert claim.verdict == CANNOT_BE_TOLD
    assert "does not have: participant" in claim.why


FAULTS = [
    (VOTES, {"kind": "prefered"}, "claim 1, field kind: 'prefered' found; one of these is needed"),
    (VOTES, PREFERRED | {"first": "D"}, "claim 1, field first: 'D' found; one of these is needed"),
    (VOTES, PREFERRED | {"than": None}, "claim 1, field than: nothing found; one or more of these"),
    (VOTES, PREFERRED | {"tan": "B"}, "claim 1, field tan: 'B' found; preferred has no such field"),
    (VOTES, PREFERRED | {"place": ""}, "claim 1, field place: '' found; a text is needed"),
    (
        VOTES.replace("40", "forty"),
        PREFERRED,
        "counts.csv, row 2, column B: 'forty' found; a whole number is needed",
    ),
    (VOTES + "y,1,2\n", PREFERRED, "counts.csv, row 3: 3 cells found; 4 are needed"),
    ("set,A,B\n", PREFERRED, "counts.csv: no row found"),
    (
        RATES.replace("252", "100"),
        MORE,
        "counts.csv, row 2, column agreed: '160' found; at most compared together, 100, is",
    ),
    (RATES + "A,1,2\n", MORE, "counts.csv, column measure: 'A' found 2 times; one row is needed"),
    (VOTES, SHARE | {"more_than": 50}, "field more_than: '50' found; a number between 0 and 1"),
    (VOTES, SHARE | {"rows": "z"}, "claim 1, field rows: 'z' found; one or more of these"),
    (
        LED + "A,3,1\n",
        LEADS,
        "counts.csv, row 8, column m: 'A' found; one row for each s is needed",
    ),
    ("m,s,v\nA,1,5\nB,2,4\n", LEADS, "field sets: 's' found; a column with sets of A and others"),
    (
        "m,r,n\nA,2,9\nB,.1,9\n",
        CORRELATES,
        "row 2, column r: '2' found; a number is needed, -1 to 1",
    ),
    ("m,r,n\nA,.9,9\nB,.8,9\n", CORRELATES | {"between": -0.9}, "field between: '-0.9' found"),
    (
        VOTES,
        {"kind": "scores_correlate_more", "first": "A", "than": "B", "with": "C"},
        "field with: 'C' found; four rows",
    ),
    (VOTES, {"kind": "needs", "columns": "A"}, "field columns: 'A' found; columns that counts.csv"),
]


@pytest.mark.parametrize(("table", "claim", "fault"), FAULTS)
def test_a_fault_names_file_place_and_field(judged, table, claim, fault):
    claim = {name: value for name, value in claim.items() if value is not None}
    with pytest.raises(SurveyError) as error:
        judged(table, claim)
    assert fault in str(error.value)


def test_all_faults_of_the_claims_come_at_once(judged):
    with pytest.raises(SurveyError) as error:
        judged(VOTES, {"kind": "x"}, PREFERRED | {"first": "D"})
    assert [line.split(",")[1] for line in str(error.value).splitlines()] == [
        " claim 1",
        " claim 2",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("title: [", "study.yaml, line 1: this is not YAML"),
        ("title: x\n", "study.yaml, field authors: '' found; a text is needed"),
        ("titel: x\n", "study.yaml, field titel: there is no such field. Did you mean title?"),
        ("claims: 3\n", "study.yaml, field claims: a list is needed"),
        (
            "claims: []\n",
            "study.yaml, field claims: a list is needed, each with claim, place, kind",
        ),
        ("remarks: 3\n", "study.yaml, field remarks: a list of sentences is needed"),
        ("3", "study.yaml, field title"),
    ],
)
def test_a_file_that_is_not_a_study_is_said_with_its_faults(tmp_path, text, fault):
    (tmp_path / "study.yaml").write_text(text)
    (tmp_path / "counts.csv").write_text(VOTES)
    with pytest.raises(SurveyError, match=r"study\.yaml") as error:
        judged_study(tmp_path)
    assert fault in str(error.value)


def test_a_folder_without_the_files_is_said(tmp_path):
    with pytest.raises(SurveyError, match=r"study\.yaml cannot be read: No such file"):
        judged_study(tmp_path)


def test_braces_in_a_claim_are_its_own(judged):
    (claim,) = judged(VOTES, PREFERRED | {"claim": "{A} beats {B[0]}"}).claims
    assert claim.statement == "{A} beats {B[0]}"


GOLDEN = {
    "urbano-2012": [IN_PART, HOLDS, IN_PART, NOT_SUPPORTED, HOLDS, CANNOT_BE_TOLD],
    "urbano-2015": [HOLDS, IN_PART, HOLDS, NOT_SUPPORTED, HOLDS, NOT_SUPPORTED],
}


@pytest.mark.parametrize("name", included_studies())
def test_the_verdicts_on_an_included_study(name):
    study = included_study(name)
    assert [claim.verdict for claim in study.claims] == GOLDEN[name]
    assert all(claim.why and claim.source for claim in study.claims)
    assert study.agrees


def test_every_claim_of_an_included_study_is_of_a_kind_there_is():
    folder = files("survey.paper") / "studies"
    used = set()
    for name in included_studies():
        facts = yaml.safe_load((folder / name / "study.yaml").read_text(encoding="utf-8"))
        used |= {claim["kind"] for claim in facts["claims"]}
        assert "28 November 2026" in facts["read"]
    assert {"share", "preferred", "needs", "leads", "correlates_more"} == used <= KINDS.keys()


def test_the_guide_names_every_kind_of_claim():
    text = (files("survey.paper") / "studies" / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{kind}` |" in text for kind in KINDS)


def test_the_counted_answers_are_the_archives_totals():
    source = files("survey.paper") / "studies" / "urbano-2012" / "counts.csv"
    rows = [*csv.DictReader(source.read_text(encoding="utf-8").splitlines())]
    total = {name: sum(int(row[name]) for row in rows) for name in rows[0] if name != "AG@5"}
    # 440 "equally good", 444 "equally bad"; of the 2,200, 200 differ in nothing (60 prefer one)
    assert (total["satisfied"], total["dissatisfied"]) == (440, 444)
    assert total["better"] + total["worse"] == 701 + 615 - 60
    assert total["better"] + total["worse"] + total["neither"] == 2_200 - 200


def test_a_name_that_is_none_is_not_found():
    with pytest.raises(NotFoundError, match=r"'x' is not a study\. There are: urbano-2012"):
        included_study("x")
