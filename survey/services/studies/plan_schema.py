"""The JSON Schema of plan files, with which an editor completes and checks them."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

from survey.core.kinds import KINDS, kind_name
from survey.core.studies.fields import BOUNDS, PersonalField, rules_of
from survey.core.studies.plan import FIELD_LISTS, MOST_FIELDS
from survey.core.text_input import Json
from survey.services.studies.plans import PRESETS
from survey.services.studies.recruitment import Recruitment

DRAFT = "http://json-schema.org/draft-07/schema#"  # that of most editors
TEXTS_SCHEMA: dict[str, Json] = {"type": "array", "items": {"type": "string"}}
# Names alone, or with the fields of the plan that differ in an arm.
ARMS_SCHEMA: dict[str, Json] = {
    "type": "array",
    "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["name"]}]},
}
# Of fields whose plan checks them itself.
BY_TYPE: dict[object, dict[str, Json]] = {
    **{str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"}},
    **{
        tuple[str, ...]: TEXTS_SCHEMA,
        tuple[int, ...]: {"type": "array", "items": {"type": "integer"}},
        tuple[tuple[str, int], ...]: {
            "type": "object",
            "additionalProperties": {"type": "integer", "minimum": 0},
            "description": "How many people of a group can take part, like 18-29: 10.",
        },
    },
}


def plan_schema() -> dict[str, Json]:
    """Return the schema of a plan file of any kind that is registered.

    A field of several kinds may hold what one of them allows; what depends on other fields is
    checked by the survey alone.
    """
    ruled: dict[str, list[dict[str, Json]]] = {}
    others: dict[str, dict[str, Json]] = {}
    for kind in KINDS.values():
        rules = rules_of(kind.plan)
        for name, schema in _properties(kind.plan).items():
            if name == "arm_settings":
                continue  # within the arms
            if name not in rules:
                others.setdefault(name, schema)
            elif schema not in ruled.setdefault(name, []):
                ruled[name].append(schema)
    lists = {name: _list_of(fields_of) for name, fields_of in FIELD_LISTS.items()}
    properties: dict[str, Json] = {
        "kind": {
            "enum": [*KINDS],
            "default": kind_name({}),
            "description": "What people do.",
        },
        "preset": {
            "enum": [*PRESETS],
            "description": "Fills in what the file leaves out.",
        },
        **others,
        "arms": ARMS_SCHEMA,
        **{
            name: known[0] if len(known) == 1 else {"anyOf": known} for name, known in ruled.items()
        },
        **lists,
        "recruitment": _object(_properties(Recruitment)),
    }
    return {"$schema": DRAFT, "title": "Plan of a survey", **_object(properties)}


def _properties(settings: Any) -> dict[str, dict[str, Json]]:
    """Return the schema of each field of a dataclass of settings."""
    rules, hints = rules_of(settings), get_type_hints(settings)
    properties = {}
    for item in fields(settings):
        rule = rules.get(item.name)
        schema = (rule.schema if rule else {}) or BY_TYPE.get(hints[item.name], {})
        label, help_text = (rule.label, rule.help) if rule else ("", "")
        ended = label if label.endswith("?") else f"{label}." * bool(label)
        description = " ".join(filter(None, (ended, help_text)))
        properties[item.name] = {**schema, **({"description": description} if description else {})}
        if isinstance(item.default, str | int | bool) and item.default != "":
            properties[item.name]["default"] = item.default
    return properties


def _object(properties: Mapping[str, Json], required: Iterable[str] = ()) -> dict[str, Json]:
    needed = {"required": [*required]} if required else {}
    closed = {"additionalProperties": False}
    return {"type": "object", "properties": properties, **needed, **closed}


def _list_of(field: type[PersonalField]) -> dict[str, Json]:
    """Return the schema of a list of fields that people are asked for."""
    properties = _properties(field)
    properties |= {short: properties[name] for short, name in BOUNDS.items()}
    needed = [item.name for item in fields(field) if item.default is MISSING]
    return {"type": "array", "maxItems": MOST_FIELDS, "items": _object(properties, needed)}
