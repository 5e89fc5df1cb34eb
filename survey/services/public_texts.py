"""What participants can see of the words that researchers chose."""

from collections.abc import Iterator

from survey.core.measures import measure_in
from survey.core.stimuli.plan import TEXTS
from survey.db.models import Study
from survey.services.recruitment import recruitment_of


def giveaways(study: Study) -> Iterator[tuple[str, str]]:
    """Find what names a measure: (what, which measure). The study's address cannot."""
    for what, text in _public_texts(study):
        if measure := measure_in(text):
            yield what, measure


def _public_texts(study: Study) -> Iterator[tuple[str, str]]:
    """What the pages show, and what stands in their source and in their addresses."""
    for name in TEXTS:
        yield name, getattr(study.plan, name)
    for field in study.plan.personal_fields:
        said = (field.name, field.label, field.help, *field.options)
        yield f"personal field {field.name}", "\n".join(said)
    marks = (study.plan.marks, *study.plan.own_marks)
    names = {name for one in marks for row in one.clusters for item in row for name in item}
    yield "clusters", "\n".join(name.replace("_", " ") for name in sorted(names))
    settings = recruitment_of(study)
    yield "return_url", settings.return_url
    yield "id_parameter", settings.id_parameter
    yield "capture", "\n".join(settings.capture)
