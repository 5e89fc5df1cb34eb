"""Analyses as plain values, under the keys that scripts rely on."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from survey.core.agreement.agreement import Concordance, Difference, ShareInterval, Variant
from survey.core.agreement.answers import Spread, Table3
from survey.core.agreement.bias import Bias
from survey.core.agreement.concordance import HumanRates, MeanAgreement
from survey.core.agreement.credits import Shares, Table4
from survey.core.agreement.quality import RULES
from survey.core.statistics.results import Statistic
from survey.services.analysis.study_results import Analysis, StudyAnalysis


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Return an analysis under the keys that scripts rely on.

    A statistic that is undefined is None beside a "why".
    """
    found = analysis.agreement
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
        **counts_as_json(found.table4, found.shares, found.first_or_tied, found.first_outright),
        "share_intervals": {
            name: _share_interval(interval) for name, interval in found.share_intervals.items()
        },
        "differences": [_difference(one) for one in found.differences],
        "verdicts": [dict(vars(one)) for one in analysis.verdicts],
        "cochran_q": {
            "distinct": plain(found.cochran_distinct),
            "all": plain(found.cochran_all),
        },
        "friedman": {
            "approvals": plain(found.friedman_approvals),
            "tau_b": plain(found.friedman_tau_b),
        },
        "concordance": _concordance(found.concordance),
        "bias": _bias(found.bias),
        "quality": _quality(analysis),
        "sensitivity": [_variant(one) for one in analysis.sensitivity],
    }


def _participation(analysis: Analysis) -> dict[str, Any]:
    """Return Table 3 where participants are known, and not only their votes."""
    if not isinstance(analysis, StudyAnalysis):
        return {}
    return {"table3": table3_as_json(analysis.table3)}


def plain(statistic: Statistic) -> dict[str, Any]:
    """Return a statistic's fields; "why" only where something is undefined."""
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
    """Return Table 3 as plain values."""
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
    """Return Table 4, the shares and the first places under the keys that scripts rely on."""
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


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "pair": str(one.pair),
        "lead": one.lead,
        "mean": one.mean,
        **({} if one.mean is not None else {"why": one.two_way.why}),
        "two_way": plain(one.two_way),
        "participants": plain(one.participants),
        "label_permutation": plain(one.label_permutation),
        "mcnemar": plain(one.mcnemar),
        "questions": plain(one.questions),
    }


def _concordance(found: Concordance) -> dict[str, Any]:
    return {
        "tau_b": _means(found.tau_b),
        "tau_b_custom": _means(found.tau_b_custom),
        "spearman": _means(found.spearman),
        "tau_b_undefined": dict(found.tau_b.undefined),
        "agreement_rate": {"strict": _means(found.strict), "half": _means(found.half)},
        "human": {**_human(found.human), "half": _human(found.human_half)},
        "kendall_w": plain(found.kendall_w),
        "krippendorff_alpha": plain(found.krippendorff_alpha),
        "fleiss_kappa": found.fleiss_kappa.kappa,
        "n": {
            "responses": found.tau_b.n,
            "custom_rankings": found.tau_b_custom.n,
            "participants": found.human.n,
            "fleiss_kappa_questions": list(found.fleiss_kappa.questions),
        },
        **({} if found.fleiss_kappa.why is None else {"why": found.fleiss_kappa.why}),
    }


def _means(agreement: MeanAgreement) -> dict[str, Any]:
    return dict(agreement.means) | ({} if agreement.why is None else {"why": agreement.why})


def _human(rates: HumanRates) -> dict[str, Any]:
    return {name: getattr(rates, name) for name in ("best", "median", "worst")} | (
        {} if rates.why is None else {"why": rates.why}
    )


def _bias(found: Bias) -> dict[str, Any]:
    unknown = found.column_clicks is None
    return {
        "label_clicks": dict(found.label_clicks),
        "column_clicks": None if unknown else list(found.column_clicks or ()),
        **({"why": "no response says how its columns stood"} if unknown else {}),
        "conditional_logit": plain(found.conditional_logit),
        "positions": [
            {**vars(one), **({"why": "no times are known"} if one.seconds is None else {})}
            for one in found.positions
        ],
        "fatigue": plain(found.fatigue),
    }


def _quality(analysis: Analysis) -> dict[str, Any]:
    return {
        "rules": RULES,
        "flags": [dict(vars(flag)) for flag in analysis.flags],
        "flagged_left_out": analysis.left_out.flagged,
    }


def _variant(one: Variant) -> dict[str, Any]:
    return {
        "choice": one.name,
        "responses": one.responses,
        "differences": [
            {
                "pair": str(effect.pair),
                "mean": effect.mean,
                "ci95": effect.two_way.ci95 and list(effect.two_way.ci95),
                "p": effect.two_way.p,
                **({"why": effect.two_way.why} if effect.two_way.why else {}),
            }
            for effect in one.effects
        ],
    }


def _spread(spread: Spread) -> dict[str, Any]:
    content: dict[str, Any] = dict(vars(spread))
    if spread.sd is None:
        content["why"] = "a mean needs one value, a standard deviation two"
    return content
