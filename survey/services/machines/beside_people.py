"""What a machine's answers show beside people's; they enter no count of people."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from survey.core.agreement.machine_estimates import RunRanking, rank_runs
from survey.core.agreement.machine_replacement import Replacement, replacement
from survey.core.agreement.machines import (
    CLUSTERS,
    GRADED,
    ONE_LIST,
    ORDER,
    Comparison,
    UnitError,
    agreement,
    compare_groupings,
    compare_labels,
    compare_orders,
    confusion,
    errors_by_agreement,
    errors_by_topic,
    position_bias,
    unit_errors,
    worst_units,
)
from survey.core.kinds import KINDS
from survey.core.statistics.annotator_test import AnnotatorTest
from survey.core.statistics.beside_people import calibration
from survey.core.studies.plan import EPSILON
from survey.core.studies.rankings import Ranking
from survey.core.text_input import Json
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.tables import Content
from survey.services.machines.estimates import estimates_of
from survey.services.machines.records import (
    ANSWERED,
    FIRST,
    STATUSES,
    SWAPPED,
    MachineRecord,
    most_frequent,
)
from survey.services.machines.requests import drawn_for

UNDECIDED = "undecided"  # the answer of a machine that answers otherwise in the other order
NO_LIST = "no list"  # the answer to a preference question of who finds no list better
LEAST_SAMPLES = 5  # of a calibration
MOST_CATEGORIES = 12  # of a confusion table
UNITS = {GRADED: "documents", CLUSTERS: "topics"}  # what is judged, by similarity; else questions

Unit = tuple[int, str]  # the number of a question, and the document that is asked about, or ""


class Beside(NamedTuple):
    """People's and a machine's answers as values that are compared, by unit.

    ``value``: reads an answer's text as such a value; ``topics``: the topic of each question, ""
    without one; ``units``: what they are called.
    """

    people: Mapping[str, Mapping[Unit, Any]]
    machine: Mapping[Unit, Any]
    value: Callable[[Unit, str], Any]
    topics: Mapping[int, str]
    units: str
    comparison: Comparison


def figures_of(
    content: Content, machine: MachineRecord, options: AnalysisOptions
) -> dict[str, Any]:
    """Return all figures of a machine beside the people who count, as plain values."""
    both = beside(content, machine, options)
    seed = int(machine.digest[:8], 16)
    agreed = agreement(both.comparison, seed)
    epsilon = EPSILON[content.plan.expertise]
    decision = replacement(both.comparison, agreed, epsilon, units=both.units)
    judged = both.comparison.answered[:, :-1].sum(axis=1) > 1
    missing = judged & ~both.comparison.answered[:, -1]
    figures = {
        "kind": content.plan.kind,
        "model": machine.model,
        "simulated": machine.is_simulated,
        "units": both.units,
        "people": len(both.people),
        "answers": {status: machine.counts[status] for status in STATUSES},
        "missing": {"units": int(missing.sum()), "of": int(judged.sum())},
        "decision": _decision(decision),
        "agreement": {
            "coefficient": agreed.coefficient,
            **{name: asdict(getattr(agreed, name)) for name in ("hm", "hh", "difference")},
            "sampled": agreed.sampled,
            "number": agreed.number,
        },
        "alpha": {
            "people": agreed.alpha,
            "with_machine": agreed.alpha_with_machine,
            "hm": asdict(agreed.hm_alpha),
            "hh": asdict(agreed.hh_alpha),
        },
        "test": {
            "epsilon": epsilon,
            "q": decision.test.q,
            **_test(decision.test, both.comparison.people),
            "clustered": decision.clustered and _test(decision.clustered, both.comparison.people),
        },
        "calibration": _calibration(machine, both, seed),
        "position_bias": _position_bias(content, machine),
        "confusion": _confusion(both.comparison),
        "errors": _errors(both),
        "runs": _runs(content, both, options, seed),
    }
    estimates = estimates_of(content, machine, options)
    return figures | ({"estimates": estimates} if estimates else {})


def beside(content: Content, machine: MachineRecord, options: AnalysisOptions) -> Beside:
    """Return people's and a machine's answers, compared as the study's kind says."""
    kind: Any = KINDS[content.plan.kind]
    similarity = kind.similarity_in(content.plan)
    questions = {question.number: question for question in content.questions}
    known: dict[Any, Any] = {}

    def value(unit: Unit, text: str) -> Any:
        # Few texts are different, and parsing an order takes longer than all else.
        key = (unit[0], text) if similarity == ORDER else text
        if key not in known:
            known[key] = _value(similarity, questions[unit[0]], text)
        return known[key]

    people = {
        name: {unit: value(unit, text) for unit, text in texts.items()}
        for name, texts in sorted(kind.people_answers(content, options).items())
    }
    verdicts = {
        unit: value(unit, text)
        for unit, text in machine.verdicts(UNDECIDED).items()
        if unit[0] in questions
    }
    topics = {number: kind.topic_of(question) for number, question in questions.items()}
    units = UNITS.get(kind.similarity, "questions")
    comparison = _compared(similarity, people, verdicts, topics)
    return Beside(people, verdicts, value, topics, units, comparison)


def _value(similarity: str, question: Any, text: str) -> Any:
    if similarity == GRADED:
        return int(text)
    if similarity == ONE_LIST:
        return text if text in question.lists else NO_LIST
    if similarity == CLUSTERS:
        clusters = json.loads(text)
        return {document: frozenset(groups) for document, groups in clusters.items()}
    if similarity == ORDER:
        ranks = Ranking.parse(text, question.lists).midranks
        return tuple(ranks[name] for name in question.lists)
    return text


def _compared(
    similarity: str,
    people: Mapping[str, Mapping[Unit, Any]],
    machine: Mapping[Unit, Any],
    topics: Mapping[int, str],
) -> Comparison:
    if similarity == CLUSTERS:
        return compare_groupings(people, machine)
    units = {*machine}.union(*people.values())
    of_units = {unit: topics[unit[0]] or f"question {unit[0]}" for unit in units}
    searched = of_units if any(topics.values()) else None
    if similarity == ORDER:
        return compare_orders(people, machine, searched)
    return compare_labels(people, machine, searched, graded=similarity == GRADED)


def _decision(decision: Replacement) -> dict[str, Json]:
    return {
        "may_replace": decision.may_replace,
        "unmet": decision.unmet,
        "sentence": decision.sentence,
        "more": {"answers": decision.more_answers, "sentence": decision.more},
    }


def _test(test: AnnotatorTest, people: Sequence[str]) -> dict[str, Any]:
    return {
        "passes": test.passes,
        "winning_rate": test.winning_rate,
        "advantage": test.advantage,
        "people": [
            {"participant": name, **asdict(person)}
            for name, person in zip(people, test.people, strict=True)
        ],
    }


def _calibration(machine: MachineRecord, both: Beside, seed: int) -> dict[str, Any] | None:
    """Return how often samples agree beside how many people do, of the order asked first."""
    samples = int(machine.about["samples"])
    if samples < LEAST_SAMPLES or both.units == UNITS[CLUSTERS]:  # groups' names are free
        return None
    given: dict[Unit, list[Any]] = {}
    for answers in both.people.values():
        for unit, answer in answers.items():
            given.setdefault(unit, []).append(answer)
    equal, shares, topics = [], [], []
    for unit, samples_of in sorted(machine.by_unit.items()):
        values = [both.value(unit, each.answer) for each in samples_of if each.order == FIRST]
        verdict = most_frequent(values)
        if verdict is not None and unit in given:
            equal.append(values.count(verdict))
            shares.append(given[unit].count(verdict) / len(given[unit]))
            topics.append(both.topics[unit[0]])
    if not equal:
        return None
    searched = None if both.comparison.topics is None else topics
    return calibration(
        samples_equal=equal, people_share=shares, samples=samples, topics=searched, seed=seed
    )


def _position_bias(content: Content, machine: MachineRecord) -> dict[str, Any] | None:
    """Return how often the machine prefers a side; None where it met none, as in a file.

    Sides are drawn for each sample, so that without a bias each answer falls on either side with
    the same chance, whatever the machine prefers.
    """
    kind: Any = KINDS[content.plan.kind]
    if not kind.has_sides or not machine.replies:
        return None
    questions = {question.number: question for question in content.questions}
    sides = Counter[str]()
    for answer in machine.answers:
        if answer.status == ANSWERED:
            question = questions[answer.question]
            drawn = drawn_for(content, question, answer.sample, answer.order)
            sides[kind.side_of(drawn, answer.answer)] += 1
    unchanged = []
    for answers in machine.by_unit.values():
        first, swapped = (
            most_frequent([each.answer for each in answers if each.order == order])
            for order in (FIRST, SWAPPED)
        )
        if first is not None and swapped is not None:
            unchanged.append(first == swapped)
    bias = position_bias(sides["left"], sides["right"], sum(unchanged), len(unchanged))
    return asdict(bias)


def _confusion(comparison: Comparison) -> dict[str, Any] | None:
    """Return the table of people's answers, in rows, by the machine's, in columns."""
    if comparison.answers is None or len(comparison.categories) > MOST_CATEGORIES:
        return None
    table = confusion(comparison)
    names = comparison.categories
    return {
        "answers": [*names],
        "people_by_machine": [[table[row, column] for column in names] for row in names],
    }


def _errors(both: Beside) -> dict[str, Any]:
    """Return errors in all, by topic and by people's agreement, and the ten worst items."""
    errors = unit_errors(both.comparison)
    number = len(errors)
    return {
        "units": number,
        "machine": float(np.mean([each.machine for each in errors])) if number else None,
        "person": float(np.mean([each.person for each in errors])) if number else None,
        "topics": [asdict(each) for each in errors_by_topic(errors)],
        "agreement": [asdict(each) for each in errors_by_agreement(errors)],
        "worst": [_worst(both, each) for each in worst_units(errors)],
    }


def _worst(both: Beside, error: UnitError) -> dict[str, Any]:
    """Return an item on which the machine errs most, and where answers are words, these."""
    question, document = error.unit
    row: dict[str, Any] = {
        "question": question,
        "topic": both.topics[question],
        "document": document,
        "machine": error.machine,
        "person": error.person,
        "people": error.people,
    }
    if both.comparison.answers is not None:
        given = Counter(
            str(answers[error.unit]) for answers in both.people.values() if error.unit in answers
        )
        row["machine_answer"] = str(both.machine[error.unit])
        row["people_answers"] = {answer: given[answer] for answer in sorted(given)}
    return row


def _runs(
    content: Content, both: Beside, options: AnalysisOptions, seed: int
) -> dict[str, Any] | None:
    """Return how the machine's judgements rank a pool's runs; None where there are none."""
    kind: Any = KINDS[content.plan.kind]
    values = kind.runs_judged(content, options, both.machine)
    if values is None:
        return None
    measure, runs, people, machine = values
    # Of no topics, as before anyone counts, the tables have no columns by themselves.
    by_people, by_machine = (np.reshape(each, (-1, len(runs))) for each in (people, machine))
    ranking: RunRanking = rank_runs(runs, by_people, by_machine, seed)
    return {"measure": measure, **asdict(ranking)}
