"""Every statistic against the small case on which two or more libraries agree."""

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers
from tests.core.agreement.cases import MEASURES, S1, rankings, responses

EXPECTED = S1["expected"]
PAIRS = ("MNRO-NMRR", "MNRO-AP", "NMRR-AP")


@pytest.fixture(scope="module")
def found():
    return analyse_answers(Answers.of(responses()), rankings(), MEASURES, asked=4)


@pytest.fixture(scope="module")
def differences(found):
    return {str(one.pair): one for one in found.differences}


def close(expected):
    return pytest.approx(expected, abs=1e-9)


def test_the_pairs_come_later_measure_first(found):
    assert [str(one.pair) for one in found.differences] == list(PAIRS)


def test_credits_and_shares(found):
    assert dict(found.table4.totals) == EXPECTED["credits_total"]
    split = [votes / 24 for votes in EXPECTED["split_votes"]]
    assert list(found.shares.split.values()) == close(split)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_two_way_test_is_that_of_statsmodels(differences, pair):
    found, expected = differences[pair].two_way, EXPECTED["two_way_cluster"][pair]["statsmodels"]
    assert (found.se, found.t, found.df, found.p, list(found.ci95)) == (
        *(close(expected[key]) for key in ("se", "t", "df", "p", "ci95")),
    )
    assert differences[pair].mean == close(EXPECTED["two_way_cluster"][pair]["mean"])


@pytest.mark.parametrize("pair", PAIRS)
def test_the_other_tests_of_a_pair(differences, pair):
    found, expected = differences[pair], EXPECTED["pairwise"][pair]
    assert (found.mcnemar.n10, found.mcnemar.n01) == (expected["n10"], expected["n01"])
    assert found.mcnemar.p == close(expected["mcnemar_exact_p"])
    assert found.participants.sign_flip_p == close(expected["signflip_participants_exact_p"])
    assert found.questions.sign_flip_p == close(expected["signflip_sets_exact_p"])
    won, lost, tied = expected["sign_test_sets"][:3]
    assert (found.questions.won, found.questions.lost, found.questions.tied) == (won, lost, tied)
    permuted = expected["label_permutation"]
    assert found.label_permutation.lead == permuted["obs"]
    assert found.label_permutation.null_mean == close(permuted["null_mean"])
    assert found.label_permutation.null_sd == close(permuted["null_sd"])
    assert found.label_permutation.p == close(permuted["p_two"])
    assert found.label_permutation.method == "exact"


def test_holm_over_the_pairs(found):
    assert [one.mcnemar.p_holm for one in found.differences] == close(
        EXPECTED["holm_mcnemar_exact"]
    )


def test_cochrans_q(found):
    for q, key in (
        (found.cochran_all, "cochran_q_all_blocks"),
        (found.cochran_distinct, "cochran_q_distinct_sets"),
    ):
        expected = EXPECTED[key]
        assert (q.blocks, q.df) == (expected["n_blocks"], expected["df"])
        assert (q.q, q.p) == (close(expected["Q"]), close(expected["p"]))


def test_friedman_over_participants(found):
    expected = EXPECTED["friedman_participant_approval_counts"]
    approvals = found.friedman_approvals
    assert (approvals.chi2, approvals.df, approvals.p, approvals.w) == (
        *(close(expected[key]) for key in ("chi2", "df", "p", "kendall_W")),
    )
    expected = EXPECTED["friedman_participant_mean_tau_b"]
    assert (found.friedman_tau_b.chi2, found.friedman_tau_b.p) == (
        close(expected["chi2"]),
        close(expected["p"]),
    )
    for row, means in zip(expected["table"], found.concordance.tau_b_of_participants, strict=True):
        assert means.tolist() == close(row)


def test_agreement_with_the_measures(found):
    together = found.concordance
    for agreement, key in (
        (together.tau_b, "tau_b_mean"),
        (together.tau_b_custom, "tau_b_mean_custom_only"),
        (together.spearman, "spearman_mean"),
        (together.strict, "PAR_strict_mean"),
        (together.half, "PAR_half_mean"),
    ):
        assert agreement.means == close(EXPECTED[key]), key
    assert together.tau_b.undefined == EXPECTED["tau_b_undefined"]


def test_agreement_among_participants(found):
    together, by_set = found.concordance, EXPECTED["by_set_agreement"]
    assert together.kendall_w.by_question == close([one["W"] for one in by_set])
    assert together.kendall_w.mean == close(EXPECTED["mean_W"])
    alphas = [one["krippendorff_alpha_ordinal"] for one in by_set]
    assert together.krippendorff_alpha.by_question == close(alphas)
    assert together.krippendorff_alpha.pooled == close(
        EXPECTED["krippendorff_alpha_ordinal_pooled"]
    )
    assert together.fleiss_kappa.kappa == close(EXPECTED["fleiss_kappa"]["kappa"])


def test_clicks_by_label_and_column(found):
    assert found.bias.label_clicks == {
        label: EXPECTED["label_clicks"][label] for label in ("Method1", "Method2", "Method3")
    }
    assert list(found.bias.column_clicks) == EXPECTED["column_clicks"]["counts"]
