"""Analyses as JSON values, under the keys that scripts rely on."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from survey.core.agreement.agreement import Concordance, Difference, ShareInterval, Variant
from survey.core.agreement.answers import Spread, Table3
from survey.core.agreement.bias import Bias
from survey.core.agreement.concordance import HumanRates, MeanAgreement
from survey.core.agreement.credits import Shares, Table4
from survey.core.agreement.quality import RULES
from survey.core.statistics.significance import Statistic
from survey.services.analysis.study_results import Analysis, StudyAnalysis


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Convert an analysis; an undefined statistic is None beside a "why"."""
    agreement = analysis.agreement
    return {
        "study": dict(analysis.study),
        "choices": dict(vars(analysis.choices)),
        "n": {
            "participants": analysis.participants,
            "questions": analysis.questions,
            "responses": analysis.responses,
            "missing": analysis.missing,
            "excluded": analysis.left_out.excluded,
            "flagged_left_out": analysis.left_out.flagged,
            "test_left_out": analysis.left_out.test,
            "test_counted": analysis.simulated,
        },
        **_participation(analysis),
        **counts_as_json(
            agreement.table4, agreement.shares, agreement.first_or_tied, agreement.first_outright
        ),
        "share_intervals": {
            name: _share_interval(interval) for name, interval in agreement.share_intervals.items()
        },
        "differences": [_difference(each) for each in agreement.differences],
        "verdicts": [{**vars(verdict), "pair": str(verdict.pair)} for verdict in analysis.verdicts],
        "cochran_q": {
            "distinct": plain(agreement.cochran_distinct),
            "all": plain(agreement.cochran_all),
        },
        "friedman": {
            "approvals": plain(agreement.friedman_approvals),
            "tau_b": plain(agreement.friedman_tau_b),
        },
        "concordance": _concordance(agreement.concordance),
        "bias": _bias(agreement.bias),
        "quality": _quality(analysis),
        "sensitivity": [_variant(variant) for variant in analysis.sensitivity],
    }


def _participation(analysis: Analysis) -> dict[str, Any]:
    """Return Table 3 under its key, or nothing where only the votes are known."""
    if not isinstance(analysis, StudyAnalysis):
        return {}
    return {"table3": table3_as_json(analysis.table3)}


def plain(statistic: Statistic) -> dict[str, Any]:
    """Convert a statistic's fields; "why" only where something is undefined."""
    content = {field.name: getattr(statistic, field.name) for field in fields(statistic)}
    for name, value in content.items():
        if isinstance(value, tuple):
            content[name] = list(value)
        elif isinstance(value, Mapping):
            content[name] = dict(value)
    if statistic.why is None:
        del content["why"]
    return content


def table3_as_json(table: Table3) -> dict[str, Any]:
    """Convert Table 3: participants, personal fields, minutes."""
    return {
        "participants": table.participants,
        "completed": table.completed,
        "questions_per_participant": table.questions_per_participant,
        "numbers": {name: _spread(spread) for name, spread in table.numbers.items()},
        "counts": {name: dict(counts) for name, counts in table.counts.items()},
        "minutes": _spread(table.minutes),
    }


def counts_as_json(
    table: Table4, parts: Shares, or_tied: Mapping[str, int], outright: Mapping[str, int]
) -> dict[str, Any]:
    """Convert Table 4, the shares and the first places."""
    return {
        "table4": {
            "rows": [
                {
                    "question": row.question,
                    **row.votes,
                    "choice": list(row.choice),
                    "identical": [list(group) for group in row.identical],
                    "merged": row.merged,
                }
                for row in table.rows
            ],
            "totals": table.totals,
        },
        "shares": _shares(parts),
        "first": {"or_tied": dict(or_tied), "outright": dict(outright)},
    }


def _shares(parts: Shares) -> dict[str, Any]:
    content: dict[str, Any] = {name: part and dict(part) for name, part in vars(parts).items()}
    if parts.of_responses is None:
        content["why"] = "there are no responses"
    elif parts.distinct_questions is None:
        content["why"] = "no response was given to a question whose orders all differ"
    return content


def _share_interval(interval: ShareInterval) -> dict[str, Any]:
    return {
        "share": interval.share,
        **({} if interval.share is not None else {"why": interval.two_way.why}),
        **{
            name: {
                key: test[key] for key in ("estimand", "n", "unit", "ci95", "why") if key in test
            }
            for name, test in (
                ("two_way", plain(interval.two_way)),
                ("participants", plain(interval.participants)),
            )
        },
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "pair": str(difference.pair),
        "lead": difference.lead,
        "mean": difference.mean,
        **({} if difference.mean is not None else {"why": difference.two_way.why}),
        "two_way": plain(difference.two_way),
        "participants": plain(difference.participants),
        "label_permutation": plain(difference.label_permutation),
        "mcnemar": plain(difference.mcnemar),
        "questions": plain(difference.questions),
    }


def _concordance(concordance: Concordance) -> dict[str, Any]:
    return {
        "tau_b": _means(concordance.tau_b),
        "tau_b_custom": _means(concordance.tau_b_custom),
        "spearman": _means(concordance.spearman),
        "tau_b_undefined": dict(concordance.tau_b.undefined),
        "agreement_rate": {"strict": _means(concordance.strict), "half": _means(concordance.half)},
        "human": {**_human(concordance.human), "half": _human(concordance.human_half)},
        "kendall_w": plain(concordance.kendall_w),
        "krippendorff_alpha": plain(concordance.krippendorff_alpha),
        "fleiss_kappa": concordance.fleiss_kappa.kappa,
        "n": {
            "responses": concordance.tau_b.n,
            "custom_rankings": concordance.tau_b_custom.n,
            "participants": concordance.human.n,
            "fleiss_kappa_questions": list(concordance.fleiss_kappa.questions),
        },
        **({} if concordance.fleiss_kappa.why is None else {"why": concordance.fleiss_kappa.why}),
    }


def _means(agreement: MeanAgreement) -> dict[str, Any]:
    return dict(agreement.means) | ({} if agreement.why is None else {"why": agreement.why})


def _human(rates: HumanRates) -> dict[str, Any]:
    return {name: getattr(rates, name) for name in ("best", "median", "worst")} | (
        {} if rates.why is None else {"why": rates.why}
    )


def _bias(bias: Bias) -> dict[str, Any]:
    unknown = bias.column_clicks is None
    return {
        "label_clicks": dict(bias.label_clicks),
        "column_clicks": None if unknown else list(bias.column_clicks or ()),
        **({"why": "no response says how its columns stood"} if unknown else {}),
        "conditional_logit": plain(bias.conditional_logit),
        "positions": [
            {**vars(at), **({"why": "no times are known"} if at.seconds is None else {})}
            for at in bias.positions
        ],
        "fatigue": plain(bias.fatigue),
    }


def _quality(analysis: Analysis) -> dict[str, Any]:
    return {
        "rules": RULES,
        "flags": [dict(vars(flag)) for flag in analysis.flags],
        "flagged_left_out": analysis.left_out.flagged,
    }


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "choice": variant.name,
        "responses": variant.responses,
        "differences": [
            {
                "pair": str(effect.pair),
                "mean": effect.mean,
                "ci95": effect.two_way.ci95 and list(effect.two_way.ci95),
                "p": effect.two_way.p,
                **({"why": effect.two_way.why} if effect.two_way.why else {}),
            }
            for effect in variant.effects
        ],
    }


def _spread(spread: Spread) -> dict[str, Any]:
    content: dict[str, Any] = dict(vars(spread))
    if spread.sd is None:
        content["why"] = "a mean needs one value, a standard deviation two"
    return content
