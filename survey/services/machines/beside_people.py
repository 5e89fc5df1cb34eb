"""What a machine's answers show beside people's; they enter no count of people."""

from typing import Any

from survey.core.kinds import KINDS
from survey.core.text_input import Json
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.tables import Content
from survey.services.machines.estimates import estimates_of
from survey.services.machines.records import STATUSES, MachineRecord

UNDECIDED = "undecided"  # the answer of a machine that answers otherwise in the other order


def figures_of(
    content: Content, machine: MachineRecord, options: AnalysisOptions
) -> dict[str, Any]:
    """Return all figures of a machine beside the people who count, as plain values."""
    kind: Any = KINDS[content.plan.kind]
    people = kind.people_answers(content, options)
    verdicts = machine.verdicts(UNDECIDED)
    shared = [len(answers.keys() & verdicts.keys()) for answers in people.values()]
    answers: dict[str, Json] = {status: machine.counts[status] for status in STATUSES}
    figures = {"answers": answers, "people": len(people), "answered by both": sum(shared)}
    estimates = estimates_of(content, machine, options)
    return figures | ({"estimates": estimates} if estimates else {})
