"""Fit the texts of presets to what a study shows: positions, pictures, passages or documents."""

from dataclasses import replace
from typing import Any

from survey.core.kinds import kind_of
from survey.core.studies.plan import Plan, text_rules
from survey.services.studies.plans import preset_texts, texts_for

SIZE = "{collection_size} "  # before a noun, in every language


def fitted(plan: Plan, items: str) -> Plan:
    """Return the plan with its presets' texts as they are for such items.

    ``items``: one of POSITIONS, PICTURES, PASSAGES and DOCUMENTS. A text that a researcher has
    changed stays. Where the collection's size is unknown, texts do not speak of it.
    """
    preset = kind_of(plan).fitted_preset(plan)
    if not preset:
        return plan
    provenance = getattr(plan, "provenance", None)
    unsized = provenance is not None and provenance.size_unknown
    wanted = texts_for(preset, items, plan.language)
    changes: dict[str, Any] = {}
    for name in text_rules(type(plan)):
        text = getattr(plan, name)
        known = preset_texts(plan.kind, name, plan.language)
        if name in wanted and text in {*known, *(each.replace(SIZE, "") for each in known)}:
            changes[name] = wanted[name].replace(SIZE, "") if unsized else wanted[name]
    return replace(plan, **changes, registered=False)
