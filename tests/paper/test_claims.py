"""Published studies of agreement: claims judged by the tables, against scipy and statsmodels."""

import numpy as np
import pytest
import scipy
import yaml

from survey.errors import SurveyError
from survey.paper.claims import judge_study, williams
from survey.paper.table4 import published_counts, table4


@pytest.fixture
def study(tmp_path):
    """Writes a study's folder and judges it; returns (verdict, why) of each claim."""

    def judge(data, table, claims, measures=("AP", "RR", "nDCG"), **more):
        content = {
            **{"title": "A study", "source": "Somebody, 2020, Table 1", "data": data},
            **{"table": "table.csv", "measures": [*measures], **more},
            "claims": [{"said": "So it is.", "place": "p. 1", **claim} for claim in claims],
        }
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(content, allow_unicode=True))
        (tmp_path / "table.csv").write_text(table)
        return [(claim.verdict, claim.why) for claim in judge_study(tmp_path).claims]

    return judge


VOTES = "unit,AP,RR,nDCG\n" + "".join(f"{n},{2 + n % 2},{3 - n % 2},{9 + n}\n" for n in range(9))


def test_table_4_has_the_tests_of_its_own_page():
    verdicts = {claim.statement: claim for claim in judge_study().claims}
    assert [each.verdict for each in verdicts.values()] == [
        *("holds", "not supported", "holds in part", "holds in part", "not supported"),
        "cannot be told",
    ]
    counts = np.array(published_counts().votes)
    p = scipy.stats.permutation_test(
        (counts[:, 2] - counts[:, 1],), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    own = next(each for each in table4().claims if each.name == "mnro_over_nmrr")
    assert f"p = {p:.3f}".replace("0.", ".") in own.why
    assert any(f"p = {p:.3f}".replace("0.", ".") in each.why for each in verdicts.values())


def test_votes_are_tested_over_the_rows(study):
    ahead, tied, order, first, most = study(
        "votes",
        VOTES,
        [
            {"that": "preferred", "first": "nDCG", "second": "AP"},
            {"that": "preferred", "first": "RR", "second": "AP"},
            {"that": "order", "order": ["nDCG", "RR", "AP"]},
            {"that": "first in most", "first": "nDCG"},
            {"that": "majority", "first": "nDCG"},
        ],
    )
    assert ahead[0] == "holds"
    assert "p = .004" in ahead[1]  # 2 / 2^9
    assert tied[0] == "not supported"
    assert order[0] == "holds in part"
    assert first == ("holds", "nDCG is first in 9 of 9, and first or tied in 9.")
    assert most[0] == "holds"


def test_preferences_on_the_same_pairs_may_be_open(study):
    agreed = "measure,agree,against\nAP,60,40\nRR,50,50\nnDCG,90,10\n"
    better, open_, chance, none = study(
        "preferences",
        agreed,
        [
            {"that": "preferred", "first": "nDCG", "second": "RR"},
            {"that": "preferred", "first": "AP", "second": "RR"},
            {"that": "agrees", "first": "AP"},
            {"that": "agrees", "first": "RR"},
        ],
    )
    assert better[0] == "holds"
    # All ten differ in one direction, p = .002; or 50 against 40, p = .343.
    least, greatest = (scipy.stats.binomtest(k, n).pvalue for k, n in ((10, 10), (50, 90)))
    assert open_[0] == "cannot be told"
    assert f"{least:.3f}"[1:] in open_[1]
    assert f"{greatest:.3f}"[1:] in open_[1]
    assert chance[0] == "not supported"
    assert f"{scipy.stats.binomtest(60, 100).pvalue:.3f}"[1:] in chance[1]
    assert none[0] == "not supported"


def test_scores_are_tested_as_dependent_correlations(study):
    rng = np.random.default_rng(2)
    human = rng.normal(size=60)
    columns = {"AP": human + rng.normal(size=60), "RR": rng.normal(size=60)}
    columns["nDCG"] = columns["AP"] + 0.1 * rng.normal(size=60)
    names = ["human", *columns]
    rows = zip(human, *columns.values(), strict=True)
    table = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
    better, alike, related, unrelated, order = study(
        "scores",
        table,
        [
            {"that": "preferred", "first": "AP", "second": "RR"},
            {"that": "preferred", "first": "AP", "second": "nDCG"},
            {"that": "correlates", "first": "AP"},
            {"that": "correlates", "first": "RR"},
            {"that": "order", "order": ["RR", "AP"]},
        ],
    )
    assert [each[0] for each in (better, related)] == ["holds", "holds"]
    assert alike[0] == "not supported"
    assert unrelated[0] == "not supported"
    assert order[0] == "not supported"
    assert f"{np.corrcoef(human, columns['AP'])[0, 1]:.3f}" in related[1]


def test_williams_t_is_that_of_the_literature_and_keeps_its_level():
    # The R package psych, r.test(103, .4, .5, .1): t = −0.89, p < .38
    lead, p = williams(np.array([[1, 0.4, 0.5], [0.4, 1, 0.1], [0.5, 0.1, 1]]), 103)
    assert (lead, p) == pytest.approx((-0.1, 0.375), abs=0.001)
    rng = np.random.default_rng(1)
    common = rng.normal(size=(3_000, 3, 40))
    equal = np.stack([common[:, 0], common[:, 0] + common[:, 1], common[:, 0] + common[:, 2]], 1)
    p = np.array([williams(np.corrcoef(each), 40)[1] for each in equal])
    assert abs((p < 0.05).mean() - 0.05) < 0.012


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"data": "stars"}, "data is 'stars'; votes, preferences, scores are allowed"),
        ({"claims": [{"that": "prefered"}]}, "claim 1: that is 'prefered'.*Did you mean preferred"),
        ({"claims": [{"that": "correlates", "first": "AP"}]}, "claim 1: that is 'correlates'"),
        ({"claims": [{"that": "majority", "first": "MAP"}]}, "'MAP' is no measure of it"),
        ({"claims": [{"that": "preferred", "first": "AP"}]}, "claim 1: second is missing"),
        ({"table": "unit,AP,RR,nDCG\n1,2,x,4\n"}, "line 2, column RR: 'x' found; a number"),
        ({"table": "unit,AP,RR\n1,2,3\n"}, "has no column nDCG; it has unit, AP, RR"),
    ],
)
def test_a_wrong_folder_is_told_with_file_and_place(study, changes, fault):
    values = {"data": "votes", "table": VOTES, "claims": [{"that": "majority", "first": "AP"}]}
    with pytest.raises(SurveyError, match=fault):
        study(**(values | changes))
