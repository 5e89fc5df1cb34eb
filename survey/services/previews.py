"""A study's questions as a participant would see them, drawn for nobody."""

from survey.core.stimuli.blinding import BlindedQuestion, Blinding, blind
from survey.db.models import Study
from survey.services.errors import NotFoundError


def default_labels(study: Study) -> str:
    """Return the label order in which the plan's first measure is Method 1, and so on."""
    return "".join(str(number) for number in range(1, len(study.plan.measures) + 1))


def preview_question(study: Study, number: int, labels: str) -> BlindedQuestion:
    """Blind a question with this label order: "213" puts the plan's second measure first.

    Raises NotFoundError for a question or an order that the study does not have.
    """
    measures = study.plan.measures
    if sorted(labels) != sorted(default_labels(study)):
        raise NotFoundError(f"{labels!r} is no order of {default_labels(study)}.")
    question = next((one.content for one in study.questions if one.number == number), None)
    if question is None:
        raise NotFoundError("This study has no such question.")
    blinding = Blinding(
        label_order=tuple(measures[int(label) - 1] for label in labels),
        column_order=tuple(range(1, len(measures) + 1)),
        list_order=study.plan.letters,
    )
    shown = [question.columns[measure].shown for measure in blinding.label_order]
    return blind(question, blinding, shown)
