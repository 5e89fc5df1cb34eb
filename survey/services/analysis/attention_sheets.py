"""What results say of attention checks: who fails, and how random answers would do."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from survey.core.agreement.attention import Attention, Scores
from survey.core.agreement.plan_flags import RuleFlags
from survey.core.text_input import Json
from survey.services.analysis.sheets import Cell, Sheet, count_of

CHECKS_NOTE = (
    "A participant is flagged who has more than a third of the answers to a check wrong (of two: "
    "both). A flag excludes no participant. What is asked only as a check counts nowhere else."
)
FLAG_NOTE = (
    "A flag is a reason to look, no proof, and excludes no participant. Programs that act like "
    "people get none: an agent passed 99.8 % of 6,000 attention checks (Westwood, PNAS 2025)."
)
BY_CHANCE_NOTE = (
    "At random: how many of 100 random answers are right, and how many of 100 people who give only "
    "such would pass (binomial, with as many answers as people gave here)."
)


def attention_sentence(attention: Attention) -> str:
    """Return how many participants fail a check and would by random answers, or rules flag."""
    sentences = [_checks_sentence(attention)] if attention.scores else []
    if attention.rules:
        flagged = frozenset(chain.from_iterable(rule.reasons for rule in attention.rules))
        sentences.append(f"The plan's rules flag {count_of(len(flagged), 'participant')}.")
    return " ".join(sentences)


def _checks_sentence(attention: Attention) -> str:
    asked, flagged = len(attention.counts), len(attention.failing)
    verb = "fails" if flagged == 1 else "fail"
    sentence = f"{flagged} of {count_of(asked, 'participant')} {verb} an attention check"
    if not asked:
        return "No participant has answered an attention check yet."
    if (chance := attention.passed_by_chance) is None:
        return f"{sentence}."
    passing = f"about {100 * chance:.0f} would pass all"
    return f"{sentence}. Of 100 people who answer at random {passing}."


def attention_sheet(attention: Attention) -> Sheet:
    """Return the table of the checks: answers, right ones, flagged people, and random answers."""
    rules = [
        f"{scores.check.name.capitalize()}: {scores.check.text}; right: {scores.check.rule}."
        for scores in attention.scores
    ]
    return Sheet(
        name="attention",
        title="Attention checks",
        columns=(
            *("check", "people", "answers", "right", "flagged"),
            *("right at random, %", "pass at random, %"),
        ),
        rows=tuple(map(_row, attention.scores)),
        note=" ".join([*rules, CHECKS_NOTE, BY_CHANCE_NOTE]),
        decimals=0,
    )


def _row(scores: Scores) -> tuple[Cell, ...]:
    by_chance, passed = scores.check.by_chance, scores.passed_by_chance
    return (
        *(scores.check.name, len(scores.ids), int(scores.asked.sum()), int(scores.right.sum())),
        int(scores.failed.sum()),
        None if by_chance is None else 100 * by_chance,
        None if passed is None or not len(passed) else 100 * float(passed.mean()),
    )


def flags_sheet(attention: Attention) -> Sheet:
    """Return the table of flagged participants, in which flags of other sorts may be too."""
    rows = tuple((flag.participant, flag.kind, flag.reason) for flag in attention.flags)
    return Sheet("flags", "Quality flags", ("participant", "flag", "reason"), rows)


def attention_json(attention: Attention, by_rule: Mapping[str, str]) -> dict[str, Json]:
    """Return the figures of the tables, with the flags; ``by_rule``: see ``repeat_without``."""
    rules: list[Json] = [_rule_json(each, by_rule) for each in attention.rules]
    return {
        "checks": [dict(_figures(scores)) for scores in attention.scores],
        **({"rules": rules} if rules else {}),
        "flags": [
            {"participant": flag.participant, "kind": flag.kind, "reason": flag.reason}
            for flag in attention.flags
        ],
    }


def _rule_json(rule: RuleFlags, by_rule: Mapping[str, str]) -> dict[str, Json]:
    return {
        "flag": rule.name,
        "rule": rule.rule,
        "people": rule.people,
        "flagged": len(rule.reasons),
        **({"why": rule.why} if rule.why else {}),
        **({"without": by_rule[rule.name]} if rule.name in by_rule else {}),
    }


def _figures(scores: Scores) -> Iterator[tuple[str, Json]]:
    names = ("check", "people", "answers", "right", "flagged", "right_by_chance", "pass_by_chance")
    for name, cell in zip(names, _row(scores), strict=True):
        yield name, cell / 100 if isinstance(cell, float) else cell


def repeat_without(
    results: Any,
    attention: Attention,
    analysed: Callable[[frozenset[str]], Any],
    everyone: frozenset[str] = frozenset(),
) -> tuple[str, dict[str, str]]:
    """Return what results say without the flagged participants, and by rule without its own.

    ``analysed``: returns the results without some participants; ``everyone``: all who are flagged,
    where results have flags of other sorts too. By rule only where a plan has other rules than
    attention checks.
    """
    said: dict[frozenset[str], str] = {}

    def repeated(flagged: frozenset[str]) -> str:
        if flagged not in said:
            said[flagged] = without_flagged(len(flagged), results, analysed(flagged))
        return said[flagged]

    by_rule = attention.flagged_by.items() if attention.rules else ()
    return repeated(everyone or attention.flagged), {
        name: repeated(flagged) for name, flagged in by_rule if flagged
    }


def without_flagged(flagged: int, results: Any, others: Any) -> str:
    """Return what ``others``, without some participants, say beside the results with them.

    The verdict is the same where the headline, how far it holds, and which pairs are decided are.
    """
    who = f"Without the {count_of(flagged, 'flagged participant')}"
    if others.nothing:
        return f"{who}: {others.nothing}"
    if _verdict(results) == _verdict(others):
        return f"{who} the verdict is the same: {others.headline}"
    before = {each.of: each.is_decided for each in results.sentences}
    changed = [
        each.text
        for each in others.sentences
        if each.is_decided is not None and each.is_decided != before.get(each.of)
    ]
    return " ".join([f"{who}: {others.headline}", *changed])


def _verdict(results: Any) -> tuple[Any, ...]:
    chip = results.chip.text if results.chip else ""
    decided = tuple((each.of, each.is_decided) for each in results.sentences)
    return results.headline, chip, decided


def rules_sheet(attention: Attention, by_rule: Mapping[str, str]) -> Sheet:
    """Return the table of the plan's rules and checks: people, flagged, and what holds without."""
    people = {each.check.name: len(each.ids) for each in attention.scores}
    people |= {rule.name: rule.people for rule in attention.rules}
    why = {rule.name: f"Not judged: {rule.why}." for rule in attention.rules if rule.why}
    rows = [
        (name, people[name], len(flagged), by_rule.get(name, "") or why.get(name, ""))
        for name, flagged in attention.flagged_by.items()
    ]
    rules = [f"{rule.name.capitalize()}: {rule.rule}." for rule in attention.rules]
    return Sheet(
        name="flag-rules",
        title="Participants by flag",
        columns=("flag", "people", "flagged", "without them"),
        rows=tuple(rows),
        note=" ".join([*rules, FLAG_NOTE]),
        decimals=0,
    )
