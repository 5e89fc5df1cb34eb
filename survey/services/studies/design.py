"""What a plan decides, in sentences for registrations and for the methods of a paper."""

from collections.abc import Iterator

from survey.core.kinds import kind_of
from survey.core.studies.fields import list_words
from survey.core.studies.plan import Plan

ONE_BY_ONE = "Researchers leave out single people only with a reason, which is exported."
MISSING = (
    "Missing answers are not replaced. What someone answered counts, also if they did not finish."
)
NO_LOOKS = "when the wanted number has finished"
OR_A_LOOK = f"{NO_LOOKS}, or at a planned look"


def design_of(plan: Plan) -> dict[str, str]:
    """Return a paragraph of each part: materials, procedure, design and so on."""
    protocol = kind_of(plan).protocol(plan)
    equal = protocol.smallest and f"Differences below {protocol.smallest} points do not matter."
    parts = {
        "outcome": [f"The outcome is {protocol.outcome}."],
        "conditions": [f"Varied within participants: {protocol.conditions}."],
        "equality": [equal] if equal else [],
        "materials": _materials(plan),
        "procedure": _procedure(plan),
        "design": _design(plan),
        "randomisation": _randomisation(plan),
        "blinding": _blinding(),
        "exclusion": _exclusion(plan),
        "missing": [MISSING],
        "stopping": _stopping(plan),
    }
    return {name: " ".join(sentences) for name, sentences in parts.items()}


def exclusion_rules(plan: Plan) -> list[str]:
    """Return whom a plan leaves out by a rule, each as a part of a sentence."""
    rules = []
    screening = [
        item.name
        for item in plan.personal_fields
        if item.screen_out or item.screen_below is not None
    ]
    if screening:
        rules.append(f"people who are screened out by {list_words(screening)} take no part")
    if plan.exclude_failed_check:
        rules.append("people whose first answer to the practice's check is wrong are left out")
    return rules


def stopping_rule(plan: Plan) -> str:
    """Return when a study of the plan stops, in half a sentence without its numbers."""
    return OR_A_LOOK if plan.looks else NO_LOOKS


def _materials(plan: Plan) -> Iterator[str]:
    yield f"The study has {plan.questions} {kind_of(plan).noun}, the same for everyone."
    if plan.origin:
        yield plan.origin
    else:
        yield f"All that is drawn is drawn with the seed {plan.seed}."


def _procedure(plan: Plan) -> Iterator[str]:
    steps = ["read a consent text and agree to it"]
    if plan.personal_fields:
        names = list_words([item.name for item in plan.personal_fields])
        steps.append(f"say about themselves: {names}")
    steps.append("read the scenario")
    if plan.practice:
        steps.append("practise")
    asked = "1 question" if plan.asked == 1 else f"{plan.asked} questions"
    beside = [item.name for item in plan.ask] + ["reason"] * bool(plan.reason_question)
    steps.append(f"answer {asked}" + (f", beside each: {list_words(beside)}" if beside else ""))
    if plan.asked_at_end:
        names = list_words([item.name for item in plan.asked_at_end])
        steps.append(f"answer closing questions: {names}")
    yield f"Participants take part on web pages. They {'; '.join(steps)}."
    yield f"They read that it takes about {plan.minutes} minutes."
    if plan.checks:
        checks = [f"{check.text} ({check.name})" for check in plan.checks]
        yield f"Attention checks: {'; '.join(checks)}."


def _design(plan: Plan) -> Iterator[str]:
    if plan.design == "pool":
        yield (
            f"Each participant answers {plan.counted} of {plan.questions} {kind_of(plan).noun}, "
            "dealt so that each gets about equally many answers."
        )
    else:
        yield f"Every participant answers all {plan.questions} {kind_of(plan).noun}."
    if plan.queue_arm:
        yield f"Arms: {list_words(plan.arms)}; {plan.queue_arm} is asked where the others differ."
    elif plan.arms:
        yield f"Varied between participants: the arms {list_words(plan.arms)}."
    yield f"{plan.participants} participants are wanted."


def _randomisation(plan: Plan) -> Iterator[str]:
    drawn = kind_of(plan).protocol(plan).randomised
    if drawn:
        yield f"Drawn anew for each participant and question: {drawn}."
    order = "is shuffled for each participant" if plan.shuffle_questions else "is the same for all"
    yield f"The order of {kind_of(plan).noun} {order}."
    if plan.arms and not plan.queue_arm:
        yield "Participants are drawn evenly among the arms."


def _blinding() -> Iterator[str]:
    yield "Participants do not read the names of what is compared."
    yield (
        "Researchers see no results before the study is closed; a look before is stored with its "
        "reason, and exported."
    )


def _exclusion(plan: Plan) -> Iterator[str]:
    if rules := exclusion_rules(plan):
        text = "; ".join(rules)
        yield f"{text[0].upper()}{text[1:]}."
    if plan.checks or plan.has_flag_rules:
        yield "Flags leave no one out; the analysis is repeated without those who are flagged."
    yield ONE_BY_ONE


def _stopping(plan: Plan) -> Iterator[str]:
    yield f"The study stops {stopping_rule(plan)}: {plan.participants} participants."
    if plan.looks:
        counts = list_words([*map(str, plan.looks)])
        yield f"Results are looked at when {counts} have finished, and at the end."
    else:
        yield "Results are not looked at before."
