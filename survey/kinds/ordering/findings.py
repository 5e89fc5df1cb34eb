"""What researchers should know of ordering questions before the study opens."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb

from survey.core.agreement.fewest import too_few_to_decide
from survey.core.measures import MEASURES, measure_named
from survey.core.measures.nmrr_mnro import mnro_horizon, nmrr_horizon
from survey.core.studies.fields import Finding, list_words
from survey.core.studies.questions import Question
from survey.core.studies.rankings import Ranking, identical_groups
from survey.kinds.ordering.plan import NEVER, OrderingPlan

# A phone shows no more columns beside the lists.
PHONE_COLUMNS = 3


def design(plan: OrderingPlan) -> Iterator[Finding]:
    """Yield findings on marks that measures lack or that none reads, and on width and sizes."""
    if missing := [name for name in plan.measures if name not in MEASURES]:
        fault = f"{list_words(missing)}: not registered here, so nothing can be drawn or recomputed"
        text = f"{fault}; install the package that brings it"
        yield Finding(None, text, failed=True, mend="measures")
    else:
        read = [(name, mark) for name in plan.measures for mark in measure_named(name).marks]
        for name, mark_type in read:
            if mark_type not in plan.marked:
                yield Finding(
                    None,
                    f"the lists have no {mark_type} for {name} to read, so it takes every match as "
                    "equally relevant",
                    mend="lists" if plan.own_lists else mark_type,
                )
        types_read = {mark_type for _, mark_type in read}
        if unread := [mark_type for mark_type in plan.marked if mark_type not in types_read]:
            text = f"participants see {list_words(unread)}, which no measure reads"
            yield Finding(None, text, mend="measures")
    if len(plan.measures) > PHONE_COLUMNS:
        yield Finding(
            None,
            f"{len(plan.measures)} columns and one's own do not fit on phones and tablets: the "
            "table scrolls sideways there, and a column that is not seen is not ticked",
            mend="measures",
        )
    if plan.primary:
        yield Finding(None, f"primary pair: {plan.primary} is tested first, and by itself")
    if plan.provenance and not plan.shuffle_letters:
        named = zip(plan.letters, plan.provenance.runs, strict=True)
        letters = list_words([f"{letter} is {run}" for letter, run in named])
        yield Finding(
            None,
            f"letters are the same in every question ({letters}), so people can learn which run "
            "is good; shuffle_letters in the plan deals them by chance",
            mend="shuffle_letters",
        )
    if len(plan.sizes) > 1:
        yield Finding(
            None,
            f"the questions have from {plan.sizes[0]} to {plan.sizes[-1]} relevant items per list; "
            f"look whether a text names one number, such as “the {plan.sizes[-1]} relevant items”",
        )


def sizes(plan: OrderingPlan) -> Iterator[Finding]:
    """Yield findings on verdicts that need more questions or participants than are planned."""
    comparisons = 1 if plan.primary else comb(len(plan.measures), 2)
    mend = "lists" if plan.own_lists else "questions"
    yield from too_few_to_decide(plan.participants, plan.questions, comparisons, mend)


def obvious_order(question: Question) -> Ranking:
    """Return the order of lists of which each beats the next at every position."""
    return Ranking.by_key({letter: ranks[0] for letter, ranks in question.lists.items()})


def horizons(plan: OrderingPlan) -> Iterator[Finding]:
    """Yield findings on K, the last position that NMRR and MNRO count as retrieved.

    K depends on the number of relevant items, so questions may differ in it.
    """
    size, gmt, literal = plan.collection_size, plan.gmt, plan.literal_eq15
    functions: dict[str, Callable[[int], float]] = {
        "NMRR": lambda relevant: nmrr_horizon(relevant, gmt),
        "MNRO": lambda relevant: mnro_horizon(relevant, size, literal_eq15=literal),
    }
    for name in [name for name in functions if name in plan.measures]:
        values = [functions[name](relevant) for relevant in plan.sizes]
        least, most = min(values), max(values)
        horizon = (
            f"{least:g}" if least == most else f"{least:g} to {most:g}, by the relevant items,"
        )
        beyond = ", so every position counts as retrieved" if least >= size else ""
        yield Finding(None, f"{name}: K = {horizon} of {size} positions{beyond}")


def measures_alike(plan: OrderingPlan, questions: Sequence[Question]) -> Iterator[Finding]:
    """Yield findings on measures that order the lists of some or all questions identically."""
    consequence = (
        "people's orders agree with them equally"
        if plan.columns == NEVER
        else "a vote for one counts for each"
    )
    same_counts = {
        pair: sum(each.rankings[pair[0]] == each.rankings[pair[1]] for each in questions)
        for pair in combinations(questions[0].rankings, 2)
    }
    remedy = "Use other runs or topics" if plan.own_lists else "Use another seed or generator"
    for (first, second), count in same_counts.items():
        text = f"{first} and {second} put the lists in the same order in "
        if count == len(questions):
            where = {1: "the only question", 2: "both questions"}.get(
                count, f"all {count} questions"
            )
            text += f"{where}, so this study cannot compare {first} with {second}"
        else:
            text += f"{count} of {len(questions)} questions, which cannot compare them"
        if count and plan.draws_as_the_paper:  # nothing to mend: the paper's sets were like that
            yield Finding(None, f"{text}, as in the paper")
        elif count:
            mend = "lists" if plan.own_lists else "generator"
            yield Finding(None, f"{text}. {remedy}, or leave one out", mend=mend)
    if not any(same_counts.values()):
        yield Finding(None, "in every question all the measures' orders differ")
    for question in questions:
        for group in identical_groups(question.rankings):
            if any(same_counts[pair] < len(questions) for pair in combinations(group, 2)):
                alike = f"{list_words(group)} order the lists alike ({question.rankings[group[0]]})"
                yield Finding(question.number, f"{alike}: {consequence}")
